// driver/onnx/model.h
//
// `--emit=onnx`: the program as an ONNX model of standard ops (lower/onnx), or a message that says what of it is none.
#pragma once

#include <optional>
#include <string>

#include "driver/onnx/open_sizes.h"
#include "driver/pipeline.h"

namespace df {

// What lowering leaves out for models: nobody takes a part of a loop, and nobody prints.
LowerOptions LowerOptionsOfModels(LowerOptions options);
// The bytes of the model. nullopt after errors.
// `with_dfc_op`: what standard ops cannot say is one op with the whole graph.
std::optional<std::string> OnnxModelOf(Pipeline& pipeline, const fg::Program& functions, const LowerOptions& options, bool with_dfc_op);
// The same for all sizes that the entry leaves open: `programs`, of which the first is the pipeline's own, are it at the sizes of OpenEntry::ValuesOf.
std::optional<std::string> OnnxModelOf(Pipeline& pipeline, const OpenEntry& entry, const std::vector<fg::Program>& programs);

}  // namespace df
