// lower/gradient/through.h
//
// Cotangents that come out of a call as they went in. Of
//
//   total acc [] = acc
//   total acc (x : xs) = total (acc + loss x) xs
//
// the cotangent of `acc` is that of the result, whatever the list is. So the cotangent of each `loss x` is known before the list's
// end is reached, and each gradient can be computed while what it needs is still at hand: the call's operand takes the place of
// its result. Internal to the gradient passes.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

// A function with its gradient in one body: the parameters from `first_param` on are cotangents that come in, the results from
// `first_result` on those that go out.
struct PairedFunction {
  FunctionId function;
  uint32_t first_param, first_result;
};

// Of the calls of these functions. What used a result that is a parameter of the callee for all it may be given uses the operand. (That
// the call may fail, or not end, changes nothing: the gradient waits for the value, as there is none where there is no value.)
void PassCotangentsThrough(Program& program, llvm::ArrayRef<PairedFunction> paired);

}  // namespace df::fg
