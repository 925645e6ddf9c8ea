// driver/test/test_options.h
//
// The command lines of `dfc test` and `dfc bench`. For options.cpp alone.
#pragma once

#include "driver/options.h"

namespace CLI {
class App;
}

namespace df {
CLI::App* AddTestOptions(CLI::App& main, Options& options);
CLI::App* AddBenchOptions(CLI::App& main, Options& options);
// What is wrong with it is told before anything is compiled: throws what CLI11 reports as wrong usage.
void FinishTestOptions(Options& options);

}  // namespace df
