// Matches on literals: a few are compared one after the other, of many the one is searched for that the scrutinee may be equal to.
// See build.h.
#include <algorithm>
#include <cstring>

#include "llvm/ADT/StringRef.h"
#include "lower/build/build.h"

namespace df::mono {
namespace {

// So many comparisons are made one after the other. A search makes fewer from here on, but for scrutinees that are equal to the first ones.
constexpr size_t kFew = 8;
// Nodes of an alternative for all other values that stands at each end of the search.
constexpr uint32_t kMostCopied = 2;

bool IsSearched(ir::TypeKind kind) {
  switch (kind) {
    case ir::TypeKind::Char:
    case ir::TypeKind::Int:
    case ir::TypeKind::Integer:
    case ir::TypeKind::Float:
    case ir::TypeKind::Double: return true;
    default: return false;
  }
}

double AsDouble(ir::TypeKind kind, int64_t word) {
  if (kind == ir::TypeKind::Double) {
    double value;
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  float value;
  std::memcpy(&value, &word, sizeof value);  // the low half: words are little-endian here
  return value;
}

// Whether the first is less, of two constants of one type that is searched. 0.0 and -0.0 are equal; no literal is NaN.
bool IsLess(ir::TypeKind kind, const ir::Constant& a, const ir::Constant& b) {
  switch (kind) {
    case ir::TypeKind::Float:
    case ir::TypeKind::Double: return AsDouble(kind, a.word) < AsDouble(kind, b.word);
    case ir::TypeKind::Integer: {
      llvm::StringRef x(a.text), y(b.text);
      const bool negative = x.starts_with("-");
      if (negative != y.starts_with("-")) return negative;
      if (negative) std::swap(x, y);
      return x.size() != y.size() ? x.size() < y.size() : x < y;
    }
    default: return a.word < b.word;
  }
}

// Whether nothing lies between the two.
bool IsNext(ir::TypeKind kind, const ir::Constant& a, const ir::Constant& b) {
  switch (kind) {
    case ir::TypeKind::Float:
    case ir::TypeKind::Double: return false;
    case ir::TypeKind::Integer: {
      int64_t x, y;
      return !llvm::StringRef(a.text).getAsInteger(10, x) && !llvm::StringRef(b.text).getAsInteger(10, y) && x != INT64_MAX && x + 1 == y;
    }
    default: return a.word != INT64_MAX && a.word + 1 == b.word;
  }
}

}  // namespace

// The last alternative is for all values that are left.
Builder::Yield Builder::LiteralCase(const Expr* expr, fg::Value scrutinee, Shape shape, bool tail, Guards guards) {
  std::vector<Choice> choices;
  for (const Alt& alt : expr->alts) {
    const Alt* taken = &alt;
    if (alt.kind == core::AltKind::Default || taken == &expr->alts.back()) {
      const Choosing how{scrutinee, [=, this] { return Build(taken->body, shape, tail, {}); }, SizeOf(alt.body, 11), shape, expr->type, tail, expr->pos};
      if (choices.empty()) return Build(alt.body, shape, tail, std::move(guards));
      return ChooseAmong(std::move(choices), how, std::move(guards));
    }
    choices.push_back({alt.constant, [=, this] { return Build(taken->body, shape, tail, {}); }});
  }
  return Impossible(expr, shape, tail);
}

fg::Value Builder::Compare(ir::Op op, ir::ConstId constant, const Choosing& how) {
  fg::Value literal = Constant(constant, how.pos);
  return Op(op, {how.scrutinee, literal}, {Builtin(ir::TypeKind::Bool), false}, 0, how.pos);
}

// A number is compared by Eq, so that a float's zeros and NaN behave.
Builder::Yield Builder::OneByOne(llvm::ArrayRef<Choice> choices, const Choosing& how, Guards guards) {
  fg::Value equal = Compare(ir::Op::Eq, choices[0].constant, how);
  std::vector<std::function<Yield()>> sides = {choices[0].side, [&] {
                                                 return choices.size() == 1 ? how.otherwise() : OneByOne(choices.drop_front(), how, {});
                                               }};
  return Branch(equal, sides, how.shape, how.type, how.tail, guards, how.pos);
}

// Of equal constants the first one counts.
Builder::Yield Builder::ChooseAmong(std::vector<Choice> choices, const Choosing& how, Guards guards) {
  const ir::TypeKind kind = p_.ir_types.Kind(p_.constants[choices[0].constant].type);
  if (choices.size() <= kFew || !options_.Does(Optimisation::Search) || !IsSearched(kind)) return OneByOne(choices, how, std::move(guards));
  auto less = [&](const Choice& a, const Choice& b) { return IsLess(kind, p_.constants[a.constant], p_.constants[b.constant]); };
  std::stable_sort(choices.begin(), choices.end(), less);
  choices.erase(std::unique(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) { return !less(a, b); }), choices.end());
  // Literals that follow each other without a gap.
  std::vector<std::pair<ir::ConstId, ir::ConstId>> runs;
  for (const Choice& choice : choices) {
    if (!runs.empty() && IsNext(kind, p_.constants[runs.back().second], p_.constants[choice.constant])) runs.back().second = choice.constant;
    else runs.emplace_back(choice.constant, choice.constant);
  }
  // Either each end of the search makes sure, or it is known before that there is one: then the alternative for all other values stands
  // in one place.
  if (how.size <= kMostCopied && 2 * runs.size() > choices.size()) return Search(choices, how, /*surely=*/false, std::move(guards));
  std::vector<std::function<Yield()>> sides = {[&] { return Search(choices, how, /*surely=*/true, {}); }, how.otherwise};
  return Branch(IsAmong(runs, how), sides, how.shape, how.type, how.tail, guards, how.pos);
}

// Halves, until one is left: `surely` the right one.
Builder::Yield Builder::Search(llvm::ArrayRef<Choice> choices, const Choosing& how, bool surely, Guards guards) {
  if (choices.size() == 1) return surely ? choices[0].side() : OneByOne(choices, how, std::move(guards));
  const size_t middle = choices.size() / 2;
  fg::Value below = Compare(ir::Op::Lt, choices[middle].constant, how);
  std::vector<std::function<Yield()>> sides = {[&] { return Search(choices.take_front(middle), how, surely, {}); },
                                               [&] { return Search(choices.drop_front(middle), how, surely, {}); }};
  return Branch(below, sides, how.shape, how.type, how.tail, guards, how.pos);
}

// Whether the scrutinee lies in one of the runs, each from its first to its last constant.
fg::Value Builder::IsAmong(llvm::ArrayRef<std::pair<ir::ConstId, ir::ConstId>> runs, const Choosing& how) {
  const df::TypeId truth = p_.core.types.Scalar(df::Builtin::Bool);
  auto branch = [&](fg::Value predicate, llvm::ArrayRef<std::function<Yield()>> sides) {
    return Branch(predicate, sides, Shape::Single, truth, /*tail=*/false, {}, how.pos).values[0];
  };
  auto yield = [](fg::Value value) {
    Yield it;
    it.values.push_back(value);
    return it;
  };
  if (runs.size() > 1) {
    const size_t middle = runs.size() / 2;
    return branch(Compare(ir::Op::Lt, runs[middle].first, how),
                  {[&] { return yield(IsAmong(runs.take_front(middle), how)); }, [&] { return yield(IsAmong(runs.drop_front(middle), how)); }});
  }
  if (runs[0].first == runs[0].second) return Compare(ir::Op::Eq, runs[0].first, how);
  return branch(Compare(ir::Op::Lt, runs[0].first, how),
                {[&] { return yield(Constant(p_.Intern({Builtin(ir::TypeKind::Bool), 0, ""}), how.pos)); },
                 [&] { return yield(Compare(ir::Op::Le, runs[0].second, how)); }});
}

}  // namespace df::mono
