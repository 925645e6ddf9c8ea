// typecheck/state/parts.h
//
// What the checker keeps of types, places and bindings while it goes through a module.
#pragma once

#include "lang/render.h"
#include "llvm/ADT/DenseSet.h"
#include "parser/ast.h"
#include "typecheck/state/env.h"
#include "typecheck/types/unify.h"

namespace df::check {

using core::ClassId;
using core::ConId;
using core::InstanceId;
using core::VarId;

using TypeArgs = llvm::SmallVector<TypeId, 4>;

// Why a type is expected where it is.
struct Reason {
  enum Kind : uint8_t {
    None,
    Signature,
    Annotation,
    Branch,
    Alternative,
    Clause,
    Argument,
    Operand,
    Condition,
    Guard,
    Element,
    Scrutinee,
    Parameter,
    PatternValue,
    Statement,
    Generator,
    Part,
    Field,
    Generated
  };
  Kind kind = None;
  Span span;                      // where the other half stands
  Symbol name;                    // of the function, operator, field
  uint32_t index = 0;             // of the argument, from 0
  VarId var;                      // Argument, Operand: the function
  ConId con;                      // or the constructor
  Span sibling;                   // Operand: the other one
  const Reason* outer = nullptr;  // why the whole application has its type; Part: the whole list or tuple
};

// What a constraint comes from.
struct Origin {
  enum Kind : uint8_t {
    Use,
    Number,
    Fraction,
    LiteralPattern,
    String,
    Sequence,
    Do,
    Negation,
    Instance,
    Deriving,
    Printing
  };
  Kind kind = Use;
  Span span;
  Symbol name;
  VarId var;   // Use: the variable
  Span asked;  // Use: what in its definition or signature asks for the constraint
};

// Where a unification variable got its type: for messages that tell where the other half of a clash comes from.
struct Place {
  Span span;          // the expression or pattern
  TypeId type;        // its type, or the one that was expected of it
  bool used = false;  // the type came from outside: the expression was used at it
  Reason::Kind why = Reason::None;
  Span why_span;
  Symbol why_name;
};

struct Wanted {
  ClassId cls;
  TypeId type;
  Origin origin;
};

using ScopedTypes = std::vector<std::pair<Symbol, std::pair<TypeId, KindId>>>;

// Type variables while a type is read: those in scope, and those that it quantifies.
struct TypeVarScope {
  ScopedTypes names;
  std::vector<TyVarId> fresh;  // quantified here, in order of appearance
  bool implicit = true;        // an unknown variable is quantified; otherwise it is an error
};

// A signature: its scheme and where it stands.
struct Signature {
  core::Scheme scheme;
  Span name_span, type_span;
  ScopedTypes scoped;  // the variables of an explicit forall
  bool used = false;
};

// One binding of a declaration list: a function or variable, or a pattern with several binders.
struct Binding {
  const ast::FunctionDecl* function = nullptr;
  const ast::PatBindDecl* pattern = nullptr;
  std::vector<VarId> binders;      // a pattern's: in order of appearance
  VarId tuple;                     // of a pattern binding: the value that the selectors take apart
  Signature* signature = nullptr;  // a function's
  std::vector<uint32_t> uses;      // bindings of the same list that it mentions
  Span span() const { return function ? function->name.span : pattern->pat->span; }
};

// One strongly connected group, elaborated.
struct BoundGroup {
  bool recursive = false;
  std::vector<core::Binding> bindings;
  std::vector<std::pair<VarId, const core::Pat*>> strict;  // `!p = e`: forced before the body
};

// A derived instance whose context is still to be found: of which types the class is needed, and which others of the
// whole type.
struct DerivedContext {
  InstanceId instance;
  std::vector<TypeId> needs;
  std::vector<ClassId> superclasses;
};

// `_` or `_name` as an expression. What it stands for is told when the module's types are known.
struct TypedHole {
  Symbol name;
  Span span;
  TypeId type;
  std::vector<VarId> locals;  // innermost first
  std::vector<std::pair<ClassId, TypeId>> givens;
};

// A use of runST, runSTArray or runSTUArray: its `s` is a type of its own, which what it gives must not have (docs/references.md).
struct StateUse {
  const core::VarExpr* use;
  TyConId own;
};

inline constexpr std::string_view kOwnQualifier = "%own";  // of a derived instance's constructors: no program writes it

// Where a list of rows is given to `fromList`, which takes elements.
inline constexpr char kRowsAreATensor[] =
    "rows in brackets are a tensor by themselves where a type says so: `[[1, 2], [3, 4]] :: Tensor Float [2, 2]`; "
    "of a list of lists `xs` it is `fromList (concat xs)`";

inline constexpr char kStackOfTensors[] = "`stack xs` of `Tensor` puts a list of tensors one behind the other along a new first axis";

// In place of a definition (State::reported): of a type constructor whose instance, or the deriving of it, is refused.
inline constexpr uint32_t kNowhere = UINT32_MAX;

// Larger types than this are not told in messages.
constexpr uint32_t kShownSize = 5000;

// The expression within parentheses.
inline const ast::Expr* StripParens(const ast::Expr* expr) {
  while (const auto* paren = llvm::dyn_cast<ast::ParenExpr>(expr)) expr = paren->expr;
  return expr;
}

}  // namespace df::check
