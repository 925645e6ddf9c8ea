// driver/report_cut.h
//
// What `--stats` says of the run of a graph that is cut.
#pragma once

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/engines/reference/cut_run.h"

namespace df {

void PrintCut(const CutCounts& counts, llvm::raw_ostream& out);
void PrintCut(const CutCounts& counts, llvm::json::OStream& json);

}  // namespace df
