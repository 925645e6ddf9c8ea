// Type errors as messages: what clashes, where, and where the other half came from.
#include "typecheck/checker.h"

namespace df::check {
namespace {

const char* Ordinal(uint32_t index) {
  static const char* const kNames[] = {"first", "second",  "third",  "fourth", "fifth",
                                       "sixth", "seventh", "eighth", "ninth",  "tenth"};
  return index < 10 ? kNames[index] : nullptr;
}

std::string OrdinalText(uint32_t index) {
  const char* name = Ordinal(index);
  return name ? name : fmt::format("{}th", index + 1);
}

}  // namespace

// Unknown types are named a, b, c.. anew for each message, avoiding names that signatures use.
std::vector<std::string> Checker::PrintTypes(llvm::ArrayRef<TypeId> types) {
  llvm::SmallVector<MetaId> metas;
  llvm::SmallVector<TyVarId> rigid;
  std::vector<TypeId> zonked;
  for (TypeId type : types) {
    zonked.push_back(unify_.Zonk(type));
    unify_.FreeMetas(zonked.back(), metas);
    types_.FreeVars(zonked.back(), rigid);
  }
  llvm::DenseSet<uint32_t> taken;
  for (TyVarId var : rigid) taken.insert(types_.vars[var].name.index);
  llvm::DenseMap<uint32_t, TypeId> names;
  for (MetaId meta : metas) names[types_.Meta(meta).index] = types_.Var(types_.NewVar(FreshTyVarName(taken)));
  auto replace = [&](auto& self, TypeId type) -> TypeId {
    if (!types_.HasMeta(type)) return type;
    if (types_.Kind(type) == TypeKind::Meta) return names[type.index];
    TypeId fn = self(self, types_.FnOf(type));
    return types_.App(fn, self(self, types_.ArgOf(type)));
  };
  std::vector<std::string> out;
  for (TypeId type : zonked) {
    if (types_.SizeOf(type) > 5000) {
      out.emplace_back("a very large type");
      continue;
    }
    std::string text = types_.Print(replace(replace, type));
    if (text.size() > 300) {
      text.resize(290);
      text += " ...";
    }
    out.push_back(std::move(text));
  }
  return out;
}

bool Checker::Tainted(Span span) const {
  for (const Span& region : tainted_)
    if (region.file == span.file && region.begin <= span.begin && span.end <= region.end) return true;
  return false;
}

// The noun for what is expected: "the condition of `if`".
std::string Checker::Describe(const Reason& why) {
  switch (why.kind) {
    case Reason::Signature: return fmt::format("the result of `{}`", Text(why.name));
    case Reason::Annotation: return "the annotated expression";
    case Reason::Argument:
      return fmt::format("the {} argument of `{}`", OrdinalText(why.index), Text(why.name));
    case Reason::Operand:
      return fmt::format("the {} operand of `{}`", why.index == 0 ? "left" : "right", Text(why.name));
    case Reason::Condition: return "the condition of `if`";
    case Reason::Guard: return "a guard";
    case Reason::Field: return fmt::format("the field `{}`", Text(why.name));
    case Reason::Scrutinee: return "the value of `case`";
    case Reason::PatternValue: return "the right side of this pattern binding";
    case Reason::Statement: return "a statement of this `do`";
    default: return "this expression";
  }
}

// Notes for the last message: where the expectation came from.
void Checker::Explain(const Reason& why) {
  switch (why.kind) {
    case Reason::Signature:
      diags_.Note(why.span, fmt::format("`{}` has this signature", Text(why.name)));
      break;
    case Reason::Annotation: diags_.Note(why.span, "the type is annotated here"); break;
    case Reason::Argument:
    case Reason::Operand: {
      if (!why.var.valid()) break;
      const core::Var& var = program_.vars[why.var];
      if (broken_.count(why.var.index)) break;
      auto signature = signature_of_.find(why.var.index);
      std::string type =
          var.scheme.tyvars.empty() ? PrintType(var.scheme.type) : check::PrintScheme(program_, var.scheme);
      if (signature != signature_of_.end())
        diags_.Note(signature->second->type_span, fmt::format("`{}` has this signature", Text(var.name)));
      else if (var.from_library || !var.span.valid())
        diags_.Note(Span(), fmt::format("`{}` has the type `{}`", Text(var.name), type));
      else
        diags_.Note(var.span, fmt::format("`{}` is defined here, with the type `{}`", Text(var.name), type));
      // What the result has to be settles an operand's type as well: `x + 1 :: String`.
      if (why.outer && why.outer->kind != Reason::None) {
        llvm::SmallVector<TypeId> params;
        TypeId result = types_.SplitFun(var.scheme.type, params);
        if (types_.Kind(result) == TypeKind::Var && why.index < params.size() &&
            params[why.index] == result &&
            (why.outer->kind == Reason::Signature || why.outer->kind == Reason::Annotation))
          Explain(*why.outer);
      }
      break;
    }
    case Reason::Parameter:
      diags_.Note(why.span, fmt::format("the other clauses of `{}` begin here", Text(why.name)));
      break;
    case Reason::Statement: diags_.Note(why.span, "the `do` is here"); break;
    case Reason::Scrutinee: diags_.Note(why.span, "the value that is matched"); break;
    case Reason::Field: diags_.Note(why.span, "the field is declared here"); break;
    default: break;
  }
}

bool Checker::Expect(TypeId expected, TypeId actual, Span span, const Reason& why) {
  UnifyResult result = unify_.Unify(expected, actual);
  if (result.ok()) return true;
  ReportMismatch(result, expected, actual, span, why);
  return false;
}

void Checker::ReportMismatch(const UnifyResult& clash, TypeId expected, TypeId actual, Span span,
                             const Reason& why) {
  std::vector<std::string> text = PrintTypes({expected, actual, clash.left, clash.right});
  if (clash.clash == Clash::Infinite) {
    Error(Diag::InfiniteType, span, text[1], text[0])
        .Note(Span(), fmt::format("`{}` would have to be the same as `{}`", text[2], text[3]));
    Explain(why);
    return;
  }
  if (clash.clash == Clash::Escape) {
    TyVarId var = types_.VarOf(clash.left);
    Error(Diag::EscapingVariable, span, Text(types_.vars[var].name))
        .Note(types_.vars[var].span, "the variable is bound here, and stands for any type");
    return;
  }
  // A variable of a signature stands for every type; what fits only one is too special for it.
  for (TypeId side : {clash.left, clash.right}) {
    if (types_.Kind(side) != TypeKind::Var) continue;
    TyVarId var = types_.VarOf(side);
    if (!types_.vars[var].span.valid()) continue;
    const std::string& other = side == clash.left ? text[3] : text[2];
    TypeId other_type = side == clash.left ? clash.right : clash.left;
    if (types_.Kind(other_type) == TypeKind::Var)
      Error(Diag::RigidVariables, span, text[0], text[1], Text(types_.vars[var].name), other)
          .Note(types_.vars[var].span,
                fmt::format("`{}` stands for any type here", Text(types_.vars[var].name)));
    else
      Error(Diag::SignatureTooGeneral, span, text[0], text[1], Text(types_.vars[var].name), other)
          .Note(types_.vars[var].span,
                fmt::format("the signature promises any type for `{}`", Text(types_.vars[var].name)));
    if (why.kind != Reason::Signature) Explain(why);
    return;
  }
  Diag id = Diag::TypeMismatch;
  switch (why.kind) {
    case Reason::Branch:
      Error(Diag::BranchMismatch, span, text[0], text[1])
          .Note(why.span, fmt::format("the other branch has the type `{}`", text[0]));
      return;
    case Reason::Alternative:
      Error(Diag::AlternativeMismatch, span, text[1], text[0])
          .Note(why.span, fmt::format("the first alternative has the type `{}`", text[0]));
      return;
    case Reason::Clause:
      Error(Diag::ClauseMismatch, span, Text(why.name), text[1], text[0])
          .Note(why.span, fmt::format("the first clause gives `{}`", text[0]));
      return;
    case Reason::Element:
      Error(Diag::ElementMismatch, span, text[1], text[0])
          .Note(why.span, fmt::format("the first element has the type `{}`", text[0]));
      return;
    case Reason::Parameter:
      Error(Diag::PatternMismatch, span, text[1], text[0]);
      Explain(why);
      return;
    case Reason::Condition:
    case Reason::Guard: id = Diag::ConditionMismatch; break;
    case Reason::Argument:
    case Reason::Operand:
    case Reason::Field: id = Diag::ArgumentMismatch; break;
    default: break;
  }
  if (id == Diag::TypeMismatch) Error(id, span, text[1], text[0]);
  else Error(id, span, Describe(why), text[0], text[1]);
  Explain(why);
  TypeId from, to;
  if (unify_.IsFun(actual, &from, &to) && !unify_.IsFun(expected, nullptr, nullptr)) {
    uint32_t missing = 1;
    while (unify_.IsFun(to, nullptr, &to)) ++missing;
    diags_.Hint(
        fmt::format("it is a function: {} missing", missing == 1 ? "an argument is" : "arguments are"));
  } else if (unify_.Prune(expected) != unify_.Prune(clash.left) && text[0].size() + text[1].size() > 60) {
    diags_.Note(Span(), fmt::format("in them, `{}` clashes with `{}`", text[2], text[3]));
  } else if (text[0] == "Double" && text[1] == "Int") {
    diags_.Hint("`fromIntegral` turns an `Int` into a `Double`");
  } else if (text[0] == "Int" && text[1] == "Double") {
    diags_.Hint("`truncate`, `round`, `floor` and `ceiling` turn a `Double` into an `Int`");
  }
}

}  // namespace df::check
