// lower/graph/offer_rest.h
//
// Loops that others may take the rest of. In
//
//   total acc []       = acc
//   total acc (x : xs) = total (acc + x) xs
//
// an element that takes long is waited for before the next one is looked at. The sum of the rest does not need it: where the engine has somebody
// to give that to (ir::Op::Offer), the iteration is
//
//   acc + x + total 0 xs
//
// and what the loop gives is the same to the bit, as it is a sum of Ints (docs/lowering.md).
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void OfferRestOfLoops(Program& program);

}  // namespace df::fg
