// driver/test/watch.h
//
// `dfc test --watch`: what a change reaches is tested again.
#pragma once

#include <functional>

#include "driver/test/bench.h"
#include "driver/test/children.h"

namespace df::test {

// Runs the tests of `files`, which `find` gives, and after each change those whose file, or a module of it, has changed. Reports each time.
// Ends when the process is told to: by Ctrl-C, or a closed output.
ExitCode Watch(const Options& options, const std::function<std::vector<std::string>()>& find, Console& console);

}  // namespace df::test
