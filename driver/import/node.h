// driver/import/node.h
//
// One node of a model while it is written as bindings, and the tables of what is known: a function for each op of ONNX, by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/import/module_writer.h"
#include "onnx/onnx.pb.h"

namespace df::from_onnx {

class Node {
 public:
  Node(const onnx::NodeProto& proto, ModuleWriter& w, int64_t opset) : w(w), opset(opset), proto_(proto) {}

  ModuleWriter& w;
  const int64_t opset;
  std::vector<std::optional<Bound>> in;
  std::vector<Bound> out;

  std::string_view op() const { return proto_.op_type(); }
  bool Has(size_t i) const { return i < in.size() && in[i]; }
  // An operand that has to be there.
  const Bound& In(size_t i) const;
  std::vector<Bound> All() const;
  // Elements of an operand that have to be known now.
  const std::vector<int64_t>& KnownInts(size_t i, const char* what) const;
  bool Wanted(int output) const { return output < proto_.output_size() && !proto_.output(output).empty(); }
  // Only the first of its results can be had.
  void OnlyFirst() const;

  bool HasAttribute(const char* name) const { return Find(name) != nullptr; }
  int64_t Int(const char* name, int64_t otherwise) const;
  double Real(const char* name, double otherwise) const;
  std::string Text(const char* name, const std::string& otherwise) const;
  std::vector<int64_t> Ints(const char* name, const std::vector<int64_t>& otherwise) const;
  std::vector<std::string> Texts(const char* name) const;
  const onnx::TensorProto* Tensor(const char* name) const;
  // From the end if negative.
  size_t Axis(int64_t axis, size_t rank) const;
  void Real(const Bound& x) const;  // its elements have to be Float or Double

 private:
  const onnx::AttributeProto* Find(const char* name) const;
  const onnx::NodeProto& proto_;
};

using Handler = void (*)(Node&);
using Handlers = std::map<std::string, Handler, std::less<>>;
void AddElementwiseOps(Handlers& all);
void AddShapeOps(Handlers& all);
void AddReductions(Handlers& all);
void AddLayers(Handlers& all);
void AddWindows(Handlers& all);
void AddRecurrent(Handlers& all);

// A constant of the model: known numbers, or a weight.
Bound BoundOf(const onnx::TensorProto& tensor, const std::string& name, ModuleWriter& w);
Element ElementOf(int32_t code, const std::string& what);

}  // namespace df::from_onnx
