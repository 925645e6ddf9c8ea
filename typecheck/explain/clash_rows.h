// typecheck/explain/clash_rows.h
//
// The rows of HintAtClash (hint.h): each is one mistake that is often made, known by the two types and by what stands there.
// A file of rows is one subject; of a clash the first row that applies is told.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "typecheck/state/state.h"

namespace df::check {

// A clash, as the rows look at it. Either type may be invalid: then it is a number of a type that is not known yet.
struct ClashView {
  ClashView(State& s, TypeId expected, TypeId actual, Span span, const Reason& why);

  // The constructor at the head of a type; invalid if it is none.
  TyConId Head(TypeId type) const;
  Builtin BuiltinAt(TypeId type) const { return BuiltinOf(Head(type)); }
  Builtin BuiltinOf(TyConId con) const { return con.valid() ? s.types.cons[con].builtin : Builtin::None; }
  bool IsNamed(TyConId con, std::string_view name) const;
  // The last argument of a type; invalid if it has none.
  TypeId ArgumentOf(TypeId type) const;
  // Whether the type is a function; `to` is its result.
  bool IsFun(TypeId type, TypeId* to = nullptr) const { return s.unify.IsFun(type, nullptr, to); }
  // The name of the constructor that is there, and of the one that is wanted.
  std::string_view Have() const { return Text(s.types.cons[have].name); }
  std::string_view Want() const { return Text(s.types.cons[want].name); }

  State& s;
  TypeId expected, actual;
  Span span;  // what has the type `actual`
  const Reason& why;
  std::string_view text;  // of `span`
  TyConId want, have;     // the heads of the two types
  Builtin wanted, found;
  bool is_operator;        // it is an operand:
  std::string_view op;     // of this operator
  std::string_view other;  // with this beside it
  bool wants_string, has_string;
};

inline bool IsWhole(Builtin b) { return b == Builtin::Int || b == Builtin::Integer; }
inline bool IsFraction(Builtin b) { return b == Builtin::Float || b == Builtin::Double; }

// The hint. Nothing: the row does not apply. Empty: it does, and no more is to be said.
using RowHint = std::optional<std::string>;
using ClashRow = RowHint (*)(const ClashView&);

// In the order in which they are looked at.
llvm::ArrayRef<ClashRow> StackRows();     // clash_stacks.cpp: stacks of monads, statements, guards
llvm::ArrayRef<ClashRow> FunctionRows();  // clash_functions.cpp: functions and their arguments
llvm::ArrayRef<ClashRow> TextRows();      // clash_numbers.cpp: characters and strings, then numbers
llvm::ArrayRef<ClashRow> HolderRows();    // clash_holders.cpp: a value and what holds it, actions, lists

// That functions bind more tightly than operators: one that was meant for the whole of `left op right`.
std::string BindingHint(std::string_view function, std::string_view left, std::string_view op, std::string_view right);

}  // namespace df::check
