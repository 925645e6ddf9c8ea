// driver/test/shrink.h
//
// Of a test of which engines, switches or GHC gave different things: the smallest program, and expression, of which they still do.
#pragma once

#include <string>
#include <vector>

#include "driver/options.h"
#include "driver/test/children.h"

namespace df::test {

// Sets `smallest` of the first tests that differ, each for as long as one run of a test may take. What is tried runs as files do, in processes of its own.
void ShrinkDifferences(const Options& options, std::vector<FileResult>& files);

}  // namespace df::test
