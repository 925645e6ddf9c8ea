// runtime/batch_run.h
//
// One batch on the CPU: a region's ops, one after another, each over the rows of all activations.
#pragma once

#include "runtime/batch.h"

namespace df {

// Computes the region for all `rows`, whose operands are there, and gives the tensors that somebody still holds their
// elements: of each result, one block for all rows. Throws std::bad_alloc beyond the memory limit, having changed nothing.
void RunBatch(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, TurnedMatrices& turned, BatchStats* times);

}  // namespace df
