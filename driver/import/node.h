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

// How many numbers are folded, for shapes and indices.
inline constexpr int64_t kMostKnown = 100'000;

// Writes the graph that is an attribute of a node: its results on these inputs. What is defined outside it sees.
class Bodies {
 public:
  virtual std::vector<Bound> Body(const onnx::GraphProto& graph, const std::vector<Bound>& inputs) = 0;

 protected:
  ~Bodies() = default;
};

class Node {
 public:
  Node(const onnx::NodeProto& proto, ModuleWriter& w, Bodies& bodies, int64_t opset) : w(w), bodies(bodies), opset(opset), proto_(proto) {}

  ModuleWriter& w;
  Bodies& bodies;
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
  // Likewise, of Floats and Doubles that are constants of the model.
  std::vector<double> KnownReals(size_t i, const char* what) const;
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
  const onnx::GraphProto& Graph(const char* name) const;  // that has to be there
  std::vector<double> Reals(const char* name) const;
  int outputs() const { return proto_.output_size(); }
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
void AddPlaces(Handlers& all);
void AddPictures(Handlers& all);
void AddOrders(Handlers& all);
void AddBodies(Handlers& all);
void AddAttention(Handlers& all);
void AddLosses(Handlers& all);
void AddBits(Handlers& all);
void AddQuantised(Handlers& all);
void AddSignals(Handlers& all);
void AddGrids(Handlers& all);

// An op on each element by itself, computed here if all its operands are known: `f` of an element of each.
bool Fold(Node& n, Element result, int64_t (*f)(const std::vector<int64_t>& x));

// Of narrow Ints, before an op is written: refused unless it is known what becomes of them. After it: the results in their range.
void CheckWidths(const Node& n);
void SetWidths(Node& n);
// Brought into the range of that width.
Bound Wrap(ModuleWriter& w, const Bound& x, Width width);

// A constant of the model: known numbers, or a weight.
Bound BoundOf(const onnx::TensorProto& tensor, const std::string& name, ModuleWriter& w);
// The same of one that is part of the model: it is made once, in however many rounds it stands.
Bound ConstantOf(const onnx::TensorProto& tensor, const std::string& name, ModuleWriter& w);
// Those of 16 bits and less are Floats in the module.
Element ElementOf(int32_t code, const std::string& what, Width* width);
bool IsSmallFloat(int64_t code);
// How many bits one takes in a constant, and so many of them as Floats.
int SmallFloatBits(int64_t code);
std::string Widened(const std::string& bytes, int64_t code, int64_t count);
// To the nearest element of that type, ties to even; what is beyond the largest becomes that, or an infinity or NaN.
Bound RoundedTo(Node& n, const Bound& x, int64_t code, bool saturate);
// Along an axis of x a product with a matrix [size, out] of these entries.
Bound ByMatrix(Node& n, const Bound& x, size_t axis, int64_t out, const std::vector<double>& entries);
// A convolution of these, with a node's strides and pads.
Bound Convolved(Node& n, const Bound& x, const Bound& weight, const std::optional<Bound>& bias);

}  // namespace df::from_onnx
