// lower/onnx/dfc_op.h
//
// A model of one custom op that is a whole graph of dfc: for programs that standard ops cannot say, where the Python package dfc is. docs/onnx.md.
#pragma once

#include <string>

#include "lower/onnx/export.h"

namespace df {

// The ops' domain: that of onnxruntime-extensions for functions of Python.
inline constexpr const char* kPythonOpDomain = "ai.onnx.contrib";

// `graph`: the program's tagged graph as a file. Inputs and outputs are named as ExportOnnx names them, and have to be what it takes.
OnnxModel ExportDfcOp(const fg::Program& program, const std::string& graph);

}  // namespace df
