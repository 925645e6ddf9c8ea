// Rows of HintAtClash: what was meant as a function far away, stacks of monads, statements, generators, guards.
#include "typecheck/explain/clash_rows.h"
#include "typecheck/explain/hint.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/short_text.h"
#include "typecheck/explain/tensor.h"
#include "typecheck/state/looks.h"

namespace df::check {
namespace {

// In a stack `t (u m) a`, how far below the outermost monad the one of this constructor lies; 0 if it does not.
uint32_t LevelsBelow(State& s, TypeId stack, TyConId monad) {
  llvm::SmallVector<TypeId, 4> args;
  TypeId top = s.unify.Head(stack, &args);
  if (s.types.Kind(top) != TypeKind::Con || args.size() < 2) return 0;
  TypeId inner = args[args.size() - 2];
  KindId kind = s.env.KindOf(s.types.ConOf(top)), of;
  for (size_t i = 0; i + 1 < args.size(); ++i)
    if (!s.env.kinds.IsArrow(kind, &of, &kind)) return 0;
  if (!s.env.kinds.IsArrow(of)) return 0;
  for (uint32_t depth = 1; depth < 8; ++depth) {
    args.clear();
    TypeId head = s.unify.Head(inner, &args);
    if (s.types.Kind(head) != TypeKind::Con) return 0;
    if (s.types.ConOf(head) == monad) return depth;
    if (args.empty()) return 0;
    inner = args.back();
  }
  return 0;
}

// Whether a type has a function in it that takes a function.
bool TakesFunction(State& s, TypeId type, int depth = 6) {
  TypeId from, to;
  if (!type.valid() || depth == 0) return false;
  if (s.unify.IsFun(type, &from, &to)) return s.unify.IsFun(from, nullptr, nullptr) || TakesFunction(s, from, depth - 1) || TakesFunction(s, to, depth - 1);
  llvm::SmallVector<TypeId, 4> args;
  s.unify.Head(type, &args);
  return llvm::any_of(args, [&](TypeId arg) { return TakesFunction(s, arg, depth - 1); });
}

RowHint OfTensors(const ClashView& c) {
  const bool told = HintAtTangent(c.s, c.expected, c.actual) || HintAtOptimiser(c.s, c.expected, c.actual) ||
                    HintAtTensor(c.s, c.expected, c.actual, c.span, c.why);
  return told ? RowHint("") : std::nullopt;
}

// `isEven n = n mod 2 == 0`, found where it is called.
RowHint OperatorAsParameter(const ClashView& c) {
  if (c.s.between.empty() || !(TakesFunction(c.s, c.expected) || TakesFunction(c.s, c.actual))) return std::nullopt;
  // In the function that is called, if one is: the first after its name.
  const Span from = c.why.var.valid() ? c.s.program.vars[c.why.var].span : Span();
  auto site = llvm::find_if(c.s.between, [&](const auto& entry) {
    return from.valid() && entry.first.file == from.file && entry.first.begin > from.begin;
  });
  if (site == c.s.between.end()) site = c.s.between.end() - 1;
  NoteOnce(c.s, site->first, "this is used as a function");
  return site->second;
}

// `f x = x.length`, found where it is called.
RowHint DotAsField(const ClashView& c) {
  if (c.s.dots.empty() || !c.why.var.valid() || !c.IsFun(c.expected) || c.found == Builtin::Function) return std::nullopt;
  auto within = [](const Span& outer, Span inner) { return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end; };
  const Span from = c.s.program.vars[c.why.var].span;
  auto decl = llvm::find_if(c.s.module.decls, [&](const ast::Decl* decl) { return from.valid() && within(decl->span, from); });
  for (const auto& [place, hint] : c.s.dots)
    if (decl != c.s.module.decls.end() && within((*decl)->span, place)) {
      NoteOnce(c.s, place, "this is used as a function");
      return hint;
    }
  return std::nullopt;
}

// An action of a monad that lies below in a stack of transformers.
RowHint ActionBelow(const ClashView& c) {
  if (!c.have.valid() || !c.want.valid() || c.have == c.want) return std::nullopt;
  const uint32_t depth = LevelsBelow(c.s, c.expected, c.have);
  if (depth == 0) return std::nullopt;
  std::string action = IsShort(c.text) ? Parenthesized(c.text) : "..";
  if (c.found == Builtin::IO) return fmt::format("`liftIO {}` is the action here", action);
  std::string lifts;
  for (uint32_t i = 1; i < depth; ++i) lifts += "lift (";
  return fmt::format("`{}lift {}{}` is the action here", lifts, action, std::string(depth - 1, ')'));
}

RowHint ErrorOfEither(const ClashView& c) {
  if (!c.IsNamed(c.want, "Either") || !c.IsNamed(c.have, "ExceptT")) return std::nullopt;
  return "the error of an `Either` is its `Left`";
}

// Operations of mtl look for theirs in a stack that is known; here one was taken for the whole.
RowHint NewtypeAroundStack(const ClashView& c) {
  if (!c.have.valid() || !c.want.valid() || !IsTransformer(c.s, c.have)) return std::nullopt;
  const TyCon& newtype = c.s.types.cons[c.want];
  if (!newtype.is_newtype || !Shown(c.s, newtype.span).valid() || newtype.constructors.empty()) return std::nullopt;
  const TyConId inside = MonadOf(c.s, c.s.program.constructors[newtype.constructors[0]].fields[0].type);
  std::string_view name = c.Have();
  std::string_view cls = name == "StateT" ? "MonadState" : name == "ReaderT" ? "MonadReader" : name == "WriterT" ? "MonadWriter"
                         : name == "ExceptT" ? "MonadError" : "";
  if (!inside.valid() || !IsTransformer(c.s, inside) || cls.empty()) return std::nullopt;
  return fmt::format("it is an action of `{0}` too if that has `deriving ({1} ..)`, by `GeneralizedNewtypeDeriving`", c.Want(), cls);
}

RowHint OtherTransformer(const ClashView& c) {
  if (!c.have.valid() || !c.want.valid() || c.have == c.want || !IsTransformer(c.s, c.have) || !IsTransformer(c.s, c.want)) return std::nullopt;
  llvm::SmallVector<MetaId> open;
  TypeId stack = c.s.unify.Zonk(c.expected);
  if (c.s.types.Kind(stack) == TypeKind::App) c.s.unify.FreeMetas(c.s.types.FnOf(stack), open);
  if (open.empty()) return fmt::format("the stack that is expected has no `{}`", c.Have());
  return "a signature with the whole stack of monads tells both what they are part of";
}

RowHint GeneratorOfNoList(const ClashView& c) {
  if (c.why.kind != Reason::Generator) return std::nullopt;
  return "a generator `x <- xs` goes through a list, `[1 .. 10]` say";
}

RowHint ReturnOfNothing(const ClashView& c) {
  if (c.found != Builtin::Function || c.wanted == Builtin::Function || (c.text != "return" && c.text != "pure")) return std::nullopt;
  return fmt::format("`{} ()` is the action that does nothing", c.text);
}

RowHint StatementOfNoAction(const ClashView& c) {
  if (c.why.kind != Reason::Statement) return std::nullopt;
  llvm::SmallVector<TypeId, 4> args;
  if (c.actual.valid()) c.s.unify.Head(c.actual, &args);
  if (c.found == Builtin::List && c.wanted == Builtin::IO) return "`mapM_` does an action for each element of a list";
  const bool value = !c.actual.valid() || (c.have.valid() && (args.empty() || c.found == Builtin::Tuple));
  return value ? "a value that is no action is named by `let x = ..`" : "";
}

RowHint GuardThatCompares(const ClashView& c) {
  const bool name = c.why.kind == Reason::Guard && c.found != Builtin::Function && IsAtom(c.text) &&
                    std::isalpha(static_cast<unsigned char>(c.text[0]));
  if (!name) return std::nullopt;
  return fmt::format("the guard ends at `=`; `{} == ..` compares", c.text);
}

constexpr ClashRow kStackRows[] = {OfTensors,          OperatorAsParameter, DotAsField,        ActionBelow,     ErrorOfEither,
                              NewtypeAroundStack, OtherTransformer,    GeneratorOfNoList, ReturnOfNothing, StatementOfNoAction,
                              GuardThatCompares};

}  // namespace

llvm::ArrayRef<ClashRow> StackRows() { return kStackRows; }

}  // namespace df::check
