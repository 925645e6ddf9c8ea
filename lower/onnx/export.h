// lower/onnx/export.h
//
// Function graphs -> an ONNX model of standard ops, for programs that are no more than that: tensors and numbers, branches, loops. docs/onnx.md.
#pragma once

#include <optional>
#include <string>

#include "lower/graph/function_graph.h"
#include "lower/onnx/refusal.h"
#include "lower/onnx/sizes.h"

namespace df {

// Of the models that are written.
inline constexpr int64_t kOnnxModelOpset = 18;

struct OnnxModel {
  std::string bytes;
  std::optional<to_onnx::Refusal> refusal;  // then there are no bytes
};
OnnxModel ExportOnnx(const fg::Program& program);
// One for all sizes that the program leaves open.
OnnxModel ExportOnnx(const SizedPrograms& sized);

}  // namespace df
