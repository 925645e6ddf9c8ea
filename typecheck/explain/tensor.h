// typecheck/explain/tensor.h
//
// Clashes of tensors: what is usual elsewhere and said by name here.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Whether the variable stands for a dimension in the type.
bool IsSize(State& s, TypeId var, TypeId type);
// The number of dimensions of a tensor, if it is known.
std::optional<size_t> RankOf(State& s, TypeId type);
// What is usual elsewhere and said by name here: numbers and rows that are spread over a tensor, rows by their index. Either type may
// be invalid: then it is a number of a type that is not known yet.
bool HintAtTensor(State& s, TypeId expected, TypeId actual, Span span, const Reason& why);
// Axes and shapes that other libraries take as arguments.
bool HintAtSurplus(State& s, const Reason& callee, llvm::ArrayRef<const ast::Expr*> args);
// An optimiser that keeps something from step to step takes that and gives it, and not the weights alone.
bool HintAtOptimiser(State& s, TypeId expected, TypeId actual);
// The type is there without the module that has its numbers and arithmetic.
bool HintAtTensorModule(State& s, TypeId head);
bool HintAtProduct(State& s);

}  // namespace df::check
