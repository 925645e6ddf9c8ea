// typecheck/solve/dims.h
//
// Equations of dimensions that wait, and sizes that several uses share.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Of a definition without parameters, which sizes of tensors all its uses share.
enum class Sizes : uint8_t { Free, FreeUnlessSums, Shared };

// What is computed once has one size: in `(gate, rest) = T.split x` nothing but the uses of `gate` say where x is split, so
// these have to tell it of `rest` too. At the top level a tensor of any size is as often meant for all of them, as
// `start = T.zeros` is: there only the sizes are shared of which a sum or a product is made. A function has no size.
void ShareSizes(State& s, TypeId type, Sizes sizes);
// Looks again at equations of dimensions that were left open.
void SettleDims(State& s);
// Reports those that are still open and speak of a variable in `metas`; all, if that is null.
void ReportOpenDims(State& s, const llvm::SmallVectorImpl<MetaId>* metas);

}  // namespace df::check
