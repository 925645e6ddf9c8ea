// runtime/device/batch_plan.h
//
// Which ops of a region the host computes together, when the graph is loaded (docs/batching.md, "Strips").
//
// A chain is what stands between products: each of its ops needs, of a row, that row of its operands alone. A strip of a few rows
// goes through all of them before the next strip, so that what only the chain looks at is never written to memory that is larger than a
// first-level cache. Of long rows the strips are parts of a row, and then only ops of elements are in chains.
#pragma once

#include "runtime/device/batch_region.h"

namespace df {

// Whether the op's result is a part of its first operand, or that operand in another shape: nothing is computed.
bool IsPartOfOperand(const BatchRegion& region, const BatchRegion::Item& item);
// Whether it has a loop over elements, each of which comes from the operands' elements at the same place.
bool HasLoopOfElements(const BatchRegion& region, const BatchRegion::Item& item);
// Fills wholes and parts. Results must be known.
void FindParts(BatchRegion& region);
// Adds to overwrites, and finds `large`. Stages must be known.
void FindOverwrites(BatchRegion& region);
// Fills stages and homes. Steps and results must be known.
void PlanStrips(BatchRegion& region);

}  // namespace df
