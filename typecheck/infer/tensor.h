// typecheck/infer/tensor.h
//
// Literals of tensors.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// A list in brackets where a tensor is expected: nested lists as deep as the tensor has dimensions, all of a level equally
// long. It becomes a call of the library on the list of all elements.
core::Expr* CheckTensorLiteral(State& s, const ast::Expr* expr, TypeId expected, const Reason& why);

}  // namespace df::check
