#include "lang/budget.h"
#include "typecheck/types/kinds.h"

namespace df {

Kinds::Kinds() {
  for (Form form : {Form::Star, Form::Dim, Form::Shape}) rows_.push_back({form, KindId(), KindId()});
}

KindId Kinds::Arrow(KindId from, KindId to) {
  rows_.push_back({Form::Arrow, from, to});
  return KindId(static_cast<uint32_t>(rows_.size() - 1));
}

KindId Kinds::Arrows(uint32_t params) {
  KindId kind = Star();
  for (uint32_t i = 0; i < params; ++i) kind = Arrow(Star(), kind);
  return kind;
}

KindId Kinds::Fresh() {
  rows_.push_back({Form::Unknown, KindId(), KindId()});
  return KindId(static_cast<uint32_t>(rows_.size() - 1));
}

KindId Kinds::Prune(KindId kind) const {
  while (rows_[kind.index].form == Form::Unknown && rows_[kind.index].a.valid()) kind = rows_[kind.index].a;
  return kind;
}

bool Kinds::IsArrow(KindId kind, KindId* from, KindId* to) const {
  const Row& row = rows_[Prune(kind).index];
  if (row.form != Form::Arrow) return false;
  if (from) *from = row.a;
  if (to) *to = row.b;
  return true;
}

bool Kinds::IsOpen(KindId kind) const { return rows_[Prune(kind).index].form == Form::Unknown; }

bool Kinds::Occurs(KindId unknown, KindId in) const {
  in = Prune(in);
  if (in == unknown) return true;
  const Row& row = rows_[in.index];
  return row.form == Form::Arrow && (Occurs(unknown, row.a) || Occurs(unknown, row.b));
}

bool Kinds::Unify(KindId a, KindId b) {
  CheckBudget();
  a = Prune(a);
  b = Prune(b);
  if (a == b) return true;
  if (rows_[a.index].form != Form::Unknown) std::swap(a, b);
  Row& left = rows_[a.index];
  if (left.form == Form::Unknown) {
    if (Occurs(a, b)) return false;
    left.a = b;
    return true;
  }
  const Row& right = rows_[b.index];
  if (left.form != right.form) return false;
  if (left.form != Form::Arrow) return true;
  KindId from = right.a, to = right.b;
  return Unify(left.a, from) && Unify(rows_[a.index].b, to);
}

void Kinds::Default(KindId kind) {
  kind = Prune(kind);
  Row& row = rows_[kind.index];
  if (row.form == Form::Unknown) row.a = Star();
  if (row.form == Form::Arrow) {
    KindId to = row.b;
    Default(row.a);
    Default(to);
  }
}

uint32_t Kinds::Params(KindId kind) const {
  uint32_t count = 0;
  KindId to;
  while (IsArrow(kind, nullptr, &to)) {
    ++count;
    kind = to;
  }
  return count;
}

std::string Kinds::Print(KindId kind) const {
  KindId from, to;
  if (!IsArrow(kind, &from, &to)) {
    Form form = rows_[Prune(kind).index].form;
    return form == Form::Dim ? "Dim" : form == Form::Shape ? "Shape" : "*";
  }
  std::string left = Print(from);
  if (IsArrow(from)) left = "(" + left + ")";
  return left + " -> " + Print(to);
}

}  // namespace df
