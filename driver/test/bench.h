// driver/test/bench.h
//
// What `dfc bench` and `dfc test` share.
#pragma once

#include <string>
#include <vector>

#include "driver/commands.h"
#include "driver/options.h"
#include "driver/test/find_tests.h"

namespace df::test {

// The files of the command line, and those in its folders that have tests. False, and reported: one is not there.
bool FilesOf(const Options& options, std::vector<std::string>& files, Console& console);
// `dfc bench`. Limits are set.
ExitCode BenchCommand(const Options& options, Console& console);
// By `--filter`.
bool Fits(const Options& options, const std::string& path, const Test& test);

}  // namespace df::test
