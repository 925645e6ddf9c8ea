// lower/onnx/sizes.h
//
// Sizes that a program leaves open, in a model that is for all of them. Function graphs have a number for each size: so the program is compiled
// at several, and what each number of the first one stands for is found from how it changes: a polynomial of the open sizes. Programs that
// change in anything else have no such model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lower/onnx/refusal.h"
#include "lower/graph/function_graph.h"

namespace df {

// One program at several sizes of its inputs.
struct SizedPrograms {
  std::vector<std::string> names;              // of the open sizes
  std::vector<std::vector<int64_t>> values;    // of each program, of each size
  std::vector<const fg::Program*> programs;    // the model is written of the first
};

namespace to_onnx {

// factor * variable * variable ..; variables are indices of open sizes, sorted. Without any: the number.
struct SizeTerm {
  int64_t factor = 0;
  std::vector<uint32_t> variables;
};
using Size = std::vector<SizeTerm>;

// "2*n + m", as dimensions in models are called.
std::string PrintSize(const Size& size, const std::vector<std::string>& names);

struct OpenSizes {
  std::vector<std::string> names;
  std::map<int64_t, Size> sizes;  // by the number that the program has for it; a number that is not here is one
  // Constants of the program that are made of sizes, as the 1 / n in the gradient of a mean; by their index.
  struct Number {
    Size size;
    bool inverse = false;
  };
  std::map<uint32_t, Number> numbers;
};

// Throws a Refusal.
OpenSizes FindSizes(const SizedPrograms& sized);

}  // namespace to_onnx
}  // namespace df
