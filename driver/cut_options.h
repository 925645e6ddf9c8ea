// driver/cut_options.h
//
// The options that say how a graph is cut, and what runs it then (docs/cut.md, docs/devices.md). For options.cpp.
#pragma once

#include <vector>

#include <CLI/CLI.hpp>

#include "driver/options.h"
#include "llvm/ADT/ArrayRef.h"

namespace df {

// How a graph is cut: the same for what shows it and what runs it. `seed`: the option for a cut by chance. Gives that for the number of parts.
CLI::Option* AddCutOptions(CLI::App& app, Options& options, const char* seed);
// What of a cut is shown.
void AddEmitCut(CLI::App& app, Options& options);
// For a run: those that ask for a cut.
std::vector<CLI::Option*> AddCutRun(CLI::App& app, Options& options);
// What was asked for, of a run; throws what CLI11 reports as wrong usage. `given`: from AddCutRun; `has_engine`, `has_seed`: whether `--engine` and
// `--seed` were given.
void FinishCut(Options& options, llvm::ArrayRef<CLI::Option*> given, bool has_engine, bool has_seed);

}  // namespace df
