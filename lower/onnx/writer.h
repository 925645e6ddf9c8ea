// lower/onnx/writer.h
//
// An ONNX model as it grows: tensors by name, constants as initialisers, and graphs in each other, which If and Loop have as attributes. A
// node goes into the graph that is current; while an inner one is being made, an outer one may still get nodes, since the If or Loop that has
// the inner one comes behind them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lang/id.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "lower/onnx/sizes.h"
#include "onnx/onnx.pb.h"

namespace df::to_onnx {

// What a tensor holds: ONNX's int64, bool, float and double.
enum class Element : uint8_t { Int, Bool, Float, Double };
size_t BytesOf(Element element);

using Dims = llvm::SmallVector<int64_t, 4>;

struct Tensor {
  uint32_t id = kNoIndex;
  Element element = Element::Int;
  Dims dims;
  std::optional<int64_t> known;  // of a constant Int or Bool without dimensions

  bool valid() const { return id != kNoIndex; }
};

// A graph that is being made; of the model, or of an If or Loop in `outer`.
struct Subgraph {
  Subgraph(Subgraph* outer, const std::string& name) : outer(outer), depth(outer ? outer->depth + 1 : 0) { proto.set_name(name); }
  Subgraph* outer;
  uint32_t depth;  // of the model's own: 0
  onnx::GraphProto proto;
};

struct Attribute {
  const char* name;
  std::variant<int64_t, float, std::vector<int64_t>, const char*, Subgraph*> value;
};

class Writer {
 public:
  Writer(const std::string& name, const OpenSizes& sizes) : sizes_(sizes), bound_(sizes.names.size()), root_(nullptr, name), current_(&root_) {}

  // A graph in the current one, for an If or Loop of that.
  Subgraph* Inner(const std::string& name) { return InnerOf(current_, name); }
  Subgraph* InnerOf(Subgraph* outer, const std::string& name) { return &inner_.emplace_back(outer, name); }
  Subgraph* current() { return current_; }
  void SetCurrent(Subgraph* graph) { current_ = graph; }

  // A new input of the current graph; of the model's own by that name, else the name is made.
  Tensor Input(Element element, llvm::ArrayRef<int64_t> dims, const std::string& name = "");
  // The next output of `graph`.
  void Output(Subgraph* graph, const Tensor& tensor);
  // An output of the model by that name.
  void NamedOutput(const std::string& name, const Tensor& tensor);

  // Elements in row-major order, little-endian, a Bool as one byte. Equal ones are once in the model.
  Tensor Constant(Element element, llvm::ArrayRef<int64_t> dims, std::string bytes);
  Tensor Int(int64_t value);
  Tensor Ints(llvm::ArrayRef<int64_t> values);
  Tensor Bool(bool value);
  Tensor Real(Element element, double value);
  Tensor Zero(Element element, llvm::ArrayRef<int64_t> dims);

  // Sizes: numbers, but for those that the model leaves open, which it computes from those of its inputs.
  bool IsOpen(int64_t dim) const { return sizes_.sizes.contains(dim); }
  bool IsOpen(llvm::ArrayRef<int64_t> dims) const { return llvm::any_of(dims, [&](int64_t dim) { return IsOpen(dim); }); }
  Tensor SizeOf(int64_t dim);                    // without dimensions
  Tensor CountOf(llvm::ArrayRef<int64_t> dims);  // of the elements
  Tensor ShapeOf(llvm::ArrayRef<int64_t> dims);  // of one dimension
  // An input of the model: a dimension that is just an open size says what that is.
  void BindSizes(const Tensor& input);
  // An open size that no input has said.
  std::optional<std::string> Unbound() const;
  // A Bool that is true where the inputs have sizes that are not as they have to be, or are not positive; not valid if none is open.
  Tensor CheckSizes();
  // The constant of the program by that index, if it is made of open sizes.
  std::optional<Tensor> NumberOf(uint32_t constant, Element element);

  // A node with one result.
  Tensor Node(const char* op, llvm::ArrayRef<Tensor> operands, Element element, llvm::ArrayRef<int64_t> dims,
              llvm::ArrayRef<Attribute> attributes = {});
  // One with a result for each of `results`, of which elements and dimensions are given. An operand may be left out.
  std::vector<Tensor> Nodes(const char* op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results,
                            llvm::ArrayRef<Attribute> attributes);

  // A tensor of `home` that a node will give that is made later, by NodeInto.
  Tensor Declare(const Subgraph* home, Element element, llvm::ArrayRef<int64_t> dims) { return Make(home, element, dims); }
  void NodeInto(const char* op, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<Tensor> results, llvm::ArrayRef<Attribute> attributes);

  // Whether nodes of `graph` may use the tensor.
  bool Visible(const Tensor& tensor, const Subgraph* graph) const;
  size_t nodes() const { return nodes_; }
  // Of all constants together.
  uint64_t constant_bytes() const { return constant_bytes_; }

  // The whole model. It is made once.
  std::string Finish(int64_t opset);

 private:
  Tensor Make(const Subgraph* home, Element element, llvm::ArrayRef<int64_t> dims, std::string name = "");
  Tensor Computed(const Size& size);
  void Describe(onnx::ValueInfoProto* info, const std::string& name, const Tensor& tensor) const;

  const OpenSizes& sizes_;
  std::vector<Tensor> bound_;                        // of each open size
  std::vector<std::pair<int64_t, Tensor>> given_;    // other open dimensions of inputs
  std::map<int64_t, Tensor> computed_;               // by the number that stands for it
  std::map<std::vector<int64_t>, Tensor> shapes_;   // with open sizes
  Subgraph root_;
  Subgraph* current_;
  std::deque<Subgraph> inner_;            // also those that nobody took
  std::vector<std::string> names_;        // of tensors, by id
  std::vector<const Subgraph*> homes_;    // where they are defined
  std::map<std::string, Tensor> constants_;  // by elements, dimensions and bytes
  size_t nodes_ = 0;
  uint64_t constant_bytes_ = 0;
};

}  // namespace df::to_onnx
