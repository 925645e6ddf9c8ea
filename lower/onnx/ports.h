// lower/onnx/ports.h
//
// Inputs and outputs of a model, by the types of a program's main: numbers and tensors as they are, tuples and records in parts.
#pragma once

#include <string>
#include <vector>

#include "lower/graph/function_graph.h"
#include "lower/onnx/ops.h"

namespace df::to_onnx {

struct ModelPort {
  std::string name;
  Element element;
  Dims dims;
};

// In order. Both throw a Refusal where a type has no such form.
std::vector<ModelPort> InputsOf(const fg::Program& program);
std::vector<ModelPort> OutputsOf(const fg::Program& program);

// "m.w1": the part of a value that a field is. Of no name, the field's own.
std::string PartName(const std::string& name, const ir::Constructor& constructor, size_t field);
[[noreturn]] void RefusePort(const fg::Program& program, const std::string& name, ir::TypeId type, const char* why, bool input);
// The elements of a type that may go in and out by itself.
std::optional<Element> PortElement(const ir::Type& type);

}  // namespace df::to_onnx
