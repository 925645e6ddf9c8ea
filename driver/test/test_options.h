// driver/test/test_options.h
//
// The command lines of `dfc test` and `dfc bench`. For options.cpp alone.
#pragma once

#include "driver/options.h"

#include <chrono>
#include <string>

namespace CLI {
class App;
}

namespace df {
namespace test {

// What the command line of this process says for these two commands alone.
struct CommandMode {
  bool bench = false;  // it is `dfc bench`
  bool differential = false;  // every engine, every switch
  bool coverage = false;      // tell which places ran
  std::string coverage_html;  // the same as a file; "": none
  bool watch = false;  // run again what a change reaches
  std::chrono::milliseconds bench_time{1000};  // for each way of each expression
};
CommandMode& Mode();

}  // namespace test


CLI::App* AddTestOptions(CLI::App& main, Options& options);
CLI::App* AddBenchOptions(CLI::App& main, Options& options);
// What is wrong with it is told before anything is compiled: throws what CLI11 reports as wrong usage.
void FinishTestOptions(Options& options);

}  // namespace df
