// driver/cluster/report_processes.h
//
// What `--stats` says of each process of a run on several: for people tables, for programs a list within the JSON object.
#pragma once

#include <vector>

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/peers/report.h"

namespace df {

void PrintProcesses(const std::vector<PeerReport>& processes, llvm::raw_ostream& out);
void PrintProcesses(const std::vector<PeerReport>& processes, llvm::json::OStream& json);

}  // namespace df
