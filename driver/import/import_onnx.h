// driver/import/import_onnx.h
//
// An ONNX model as a module of the language: text, and the weights beside it as arrays, the fields of one record. docs/onnx.md.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/files/array_file.h"

namespace df {

struct ImportedArray {
  std::string name;
  FileElement element = FileElement::Other;
  std::vector<int64_t> dims;
  std::string bytes;  // little-endian, row-major
};

struct ImportedModel {
  std::string module;
  std::vector<ImportedArray> weights;
};

// So many bytes of the file of that name beside the model, from an offset on; nullopt, and what is wrong. A length of -1: to its end.
using ReadBeside = std::function<std::optional<std::string>(const std::string& file, int64_t offset, int64_t length, std::string* error)>;

// The bytes may come from anywhere. `name` is the module's; `weights_file` what its comment says that they are in. `sizes`: of dimensions that
// the model leaves open, by their names. On failure nullopt, and `error` says what is wrong or missing.
std::optional<ImportedModel> ImportOnnx(const std::string& bytes, const std::string& name, const std::string& weights_file,
                                        const std::map<std::string, int64_t>& sizes, ReadBeside read_beside, std::string* error);

}  // namespace df
