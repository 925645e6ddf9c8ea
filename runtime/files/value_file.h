// runtime/files/value_file.h
//
// Values of any type that holds no function as the arrays of a file, and back. docs/files.md has the rules by which names of
// arrays follow from the type.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/files/array_file.h"
#include "runtime/files/array_names.h"
#include "runtime/run/engine.h"

namespace df {

// The value of this type in the file. `name` is what a value that is one array is called, if it is not the only one. All of
// the file has to be used, unless `unused` takes the arrays that are not. On failure nullopt, and `error` says what is missing, too much or
// of another shape. Throws std::bad_alloc beyond the memory limit.
std::optional<Value> ReadValue(const ir::Graph& graph, ir::TypeId type, ArrayFile& file, std::string_view name,
                               std::string* error, std::vector<SurplusArray>* unused = nullptr);

// An array of a value: owns its elements or holds the tensor that they are in.
struct ValueArray {
  std::string name;
  FileElement element = FileElement::Other;
  std::vector<int64_t> dims;
  Value tensor;
  std::string bytes;  // if it is no tensor's
};

// Evaluates all of `value` and takes it apart. If something in it has no place in such a file, the outcome is fine and
// `fault` says what. What is in `arrays` needs no execution any more.
Outcome TakeApart(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, std::string_view name,
                  std::vector<ValueArray>* arrays, std::string* fault);
std::vector<ArrayToWrite> ToWrite(llvm::ArrayRef<ValueArray> arrays);

}  // namespace df
