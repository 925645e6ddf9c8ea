// A model's inputs, constants and nodes, one after the other: see import_onnx.h.
#include "driver/import/import_onnx.h"

#include <algorithm>
#include <deque>
#include <set>

#include "driver/import/node.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "lang/budget.h"

namespace df {
namespace from_onnx {
namespace {

// No name of a model may be one of these, and all others may.
constexpr const char* kImports = "import Prelude (Bool (..), Double, Float, Floating (..), Fractional (..), Int, Integral (..), Num (..), RealFrac (..), fromIntegral, (^))";
constexpr const char* kHalvesNote = "--\n-- Elements of 16 bits and less are Floats here: what the model computes is rounded to them only where it says so by a Cast.\n";
constexpr int kMostNodes = 100'000;
constexpr int64_t kOldestOpset = 7, kNewestOpset = 28;
constexpr size_t kDeepestBody = 20;

const Handlers& AllHandlers() {
  static const Handlers all = [] {
    Handlers made;
    AddElementwiseOps(made);
    AddShapeOps(made);
    AddReductions(made);
    AddLayers(made);
    AddWindows(made);
    AddRecurrent(made);
    AddPlaces(made);
    AddPictures(made);
    AddOrders(made);
    AddBodies(made);
    AddAttention(made);
    AddLosses(made);
    AddBits(made);
    AddQuantised(made);
    AddSignals(made);
    AddGrids(made);
    return made;
  }();
  return all;
}

class Importer : private Bodies {
 public:
  Importer(const std::string& name, const std::string& weights_file, const std::map<std::string, int64_t>& sizes, ReadBeside read_beside) : name_(name), weights_file_(weights_file), sizes_(sizes) {
    w_.read_beside = std::move(read_beside);
  }

  ImportedModel Run(const std::string& bytes) {
    onnx::ModelProto model;
    if (!model.ParseFromString(bytes) || !model.has_graph()) throw Fault{"it is damaged or truncated, or no ONNX model"};
    ReadOpset(model);
    const onnx::GraphProto& graph = model.graph();
    for (const onnx::FunctionProto& function : model.functions())
      if (!functions_.emplace(std::pair(function.domain(), function.name()), &function).second) throw Fault{fmt::format("it has two functions `{}`", OneLine(function.name()))};
    Constants(graph);
    std::vector<std::pair<std::string, std::string>> params;
    for (const onnx::ValueInfoProto& input : graph.input())
      if (!names_.contains(input.name())) params.push_back(Input(input));
    Nodes(graph);
    if (graph.output_size() == 0) throw Fault{"it has no outputs"};
    std::vector<std::string> types, results;
    for (const onnx::ValueInfoProto& output : graph.output()) {
      const auto found = names_.find(output.name());
      if (found == names_.end()) throw Fault{fmt::format("nothing gives its output `{}`", output.name())};
      results.push_back(w_.Use(found->second));
      types.push_back(TypeText(found->second.element, found->second.dims));
    }
    return {Text(graph, params, types, results), std::move(w_.weights)};
  }

 private:
  void Constants(const onnx::GraphProto& graph) {
    if (graph.sparse_initializer_size() != 0) throw Fault{"it has sparse constants"};
    for (const onnx::TensorProto& tensor : graph.initializer()) {
      if (tensor.name().empty()) throw Fault{"a constant has no name"};
      Define(tensor.name(), ConstantOf(tensor, tensor.name(), w_));
    }
  }

  void Nodes(const onnx::GraphProto& graph) {
    nodes_ += graph.node_size();
    if (nodes_ > kMostNodes) throw Fault{fmt::format("it has {} nodes, and may have {}, with each round of a loop", nodes_, kMostNodes)};
    for (int i = 0; i < graph.node_size(); ++i) Write(graph.node(i), i);
  }

  // Its own names are forgotten behind it.
  std::vector<Bound> Body(const onnx::GraphProto& graph, const std::vector<Bound>& inputs) override {
    if (++deep_ > kDeepestBody) throw Fault{fmt::format("graphs stand in each other more than {} deep", kDeepestBody)};
    if (static_cast<size_t>(graph.input_size()) != inputs.size()) throw Fault{fmt::format("the graph `{}` has {} inputs, and gets {}", OneLine(graph.name()), graph.input_size(), inputs.size())};
    const size_t before = defined_.size();
    for (size_t i = 0; i < inputs.size(); ++i) Define(graph.input(static_cast<int>(i)).name(), inputs[i]);
    Constants(graph);
    Nodes(graph);
    std::vector<Bound> results;
    for (const onnx::ValueInfoProto& output : graph.output()) {
      const auto found = names_.find(output.name());
      if (found == names_.end()) throw Fault{fmt::format("nothing gives the output `{}` of the graph `{}`", OneLine(output.name()), OneLine(graph.name()))};
      results.push_back(found->second);
    }
    for (; defined_.size() > before; defined_.pop_back()) names_.erase(defined_.back());
    --deep_;
    return results;
  }

  // A node of a function of the model's own, which is written where it is called. It sees nothing but its operands.
  void Call(const onnx::NodeProto& call, const onnx::FunctionProto& function, const std::string& what) {
    if (++deep_ > kDeepestBody) throw Fault{fmt::format("functions stand in each other more than {} deep", kDeepestBody)};
    if (call.input_size() > function.input_size() || call.output_size() > function.output_size()) throw Fault{what + " does not have the operands and results of its function"};
    nodes_ += function.node_size();
    if (nodes_ > kMostNodes) throw Fault{fmt::format("it has {} nodes, and may have {}, with each call", nodes_, kMostNodes)};
    std::map<std::string, Bound, std::less<>> own;
    for (int i = 0; i < call.input_size(); ++i)
      if (!call.input(i).empty() && !left_out_.contains(call.input(i)) && !own.emplace(function.input(i), Given(call.input(i), what)).second) throw Fault{what + ": its function has an operand twice"};
    const size_t defined = defined_.size();
    const int64_t opset = opset_;
    for (const auto& import : function.opset_import())
      if (import.domain().empty() || import.domain() == "ai.onnx") opset_ = import.version();
    if (opset_ < kOldestOpset || opset_ > kNewestOpset) throw Fault{fmt::format("{}: its opset is {}", what, opset_)};
    names_.swap(own);
    std::set<std::string, std::less<>> outside;
    outside.swap(left_out_);
    // What is left out in the call is left out in the nodes that take it.
    for (int i = 0; i < function.input_size(); ++i)
      if (!names_.contains(function.input(i))) left_out_.insert(function.input(i));
    for (int i = 0; i < function.node_size(); ++i) Write(WithAttributes(function.node(i), call, function, what), i);
    std::vector<Bound> results;
    for (int i = 0; i < call.output_size(); ++i) results.push_back(Given(function.output(i), what));
    left_out_.swap(outside);
    names_.swap(own);
    defined_.resize(defined);
    opset_ = opset;
    --deep_;
    for (int i = 0; i < call.output_size(); ++i)
      if (!call.output(i).empty()) Define(call.output(i), results[static_cast<size_t>(i)]);
  }

  // The node with what the call says of attributes that it takes from its function's.
  const onnx::NodeProto& WithAttributes(const onnx::NodeProto& node, const onnx::NodeProto& call, const onnx::FunctionProto& function, const std::string& what) {
    if (std::none_of(node.attribute().begin(), node.attribute().end(), [](const onnx::AttributeProto& each) { return !each.ref_attr_name().empty(); })) return node;
    kept_.push_back(node);
    onnx::NodeProto& made = kept_.back();
    made.clear_attribute();
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *made.add_attribute() = attribute;
        continue;
      }
      const auto named = [&](const onnx::AttributeProto& each) { return each.name() == attribute.ref_attr_name(); };
      const auto given = std::find_if(call.attribute().begin(), call.attribute().end(), named);
      if (given != call.attribute().end()) {
        *made.add_attribute() = *given;
        made.mutable_attribute(made.attribute_size() - 1)->set_name(attribute.name());
      } else if (std::find(function.attribute().begin(), function.attribute().end(), attribute.ref_attr_name()) == function.attribute().end()) {
        throw Fault{fmt::format("{} leaves out `{}`, for which its function has a value of its own", what, OneLine(attribute.ref_attr_name()))};
      }
    }
    return made;
  }

  const Bound& Given(const std::string& name, const std::string& what) const {
    const auto found = names_.find(name);
    if (found == names_.end()) throw Fault{fmt::format("{} uses `{}`, which nothing before it gives", what, name)};
    return found->second;
  }

  void ReadOpset(const onnx::ModelProto& model) {
    for (const auto& import : model.opset_import())
      if (import.domain().empty() || import.domain() == "ai.onnx") opset_ = import.version();
    // Older ops say otherwise what is broadcast; those on Bools alone did not change.
    const bool plain = std::all_of(model.graph().node().begin(), model.graph().node().end(), [](const onnx::NodeProto& node) { return node.op_type() == "Not"; });
    if (plain && opset_ == 1) return;
    if (opset_ < kOldestOpset || opset_ > kNewestOpset) throw Fault{fmt::format("its opset is {}, and {} to {} are known", opset_, kOldestOpset, kNewestOpset)};
  }

  void Define(const std::string& name, Bound bound) {
    if (!names_.emplace(name, std::move(bound)).second) throw Fault{fmt::format("`{}` is given twice", name)};
    defined_.push_back(name);
  }

  std::pair<std::string, std::string> Input(const onnx::ValueInfoProto& input) {
    const std::string what = fmt::format("the input `{}`", input.name());
    if (!input.type().has_tensor_type()) throw Fault{what + " is no tensor"};
    const auto& type = input.type().tensor_type();
    Width width;
    const Element element = ElementOf(type.elem_type(), what, &width);
    w_.has_halves |= IsSmallFloat(type.elem_type());
    if (!type.has_shape()) throw Fault{what + " has no shape"};
    Dims dims;
    for (const auto& dim : type.shape().dim()) {
      if (dim.has_dim_value() && dim.dim_value() >= 0) {
        dims.push_back(dim.dim_value());
        continue;
      }
      const auto given = sizes_.find(dim.dim_param());
      if (given == sizes_.end() || dim.dim_param().empty())
        throw Fault{dim.dim_param().empty() ? fmt::format("{} has a dimension without a size", what)
                                            : fmt::format("{} has the open dimension `{}`: `--size {}=N` says how large it is", what, dim.dim_param(), dim.dim_param())};
      dims.push_back(given->second);
    }
    const std::string type_text = TypeText(element, dims), variable = w_.Fresh(input.name());
    Define(input.name(), {variable, element, dims, std::nullopt, width, IsSmallFloat(type.elem_type()) ? type.elem_type() : 0});
    return {variable, type_text};
  }

  void Write(const onnx::NodeProto& proto, int index) {
    CheckBudget();
    const std::string what = fmt::format("the op `{}` (node {}{})", proto.op_type(), index, proto.name().empty() ? "" : fmt::format(", `{}`", proto.name()));
    if (const auto function = functions_.find(std::pair(proto.domain(), proto.op_type())); function != functions_.end()) return Call(proto, *function->second, what);
    if (!proto.domain().empty() && proto.domain() != "ai.onnx") throw Fault{fmt::format("{} is of the domain `{}`", what, proto.domain())};
    const auto handler = AllHandlers().find(proto.op_type());
    if (handler == AllHandlers().end()) throw Fault{what + " is not known"};
    Node node(proto, w_, *this, opset_);
    for (const std::string& name : proto.input()) {
      if (name.empty() || left_out_.contains(name)) node.in.emplace_back();
      else node.in.emplace_back(Given(name, what));
    }
    try {
      CheckWidths(node);
      handler->second(node);
      SetWidths(node);
    } catch (const Fault& fault) {
      throw Fault{fmt::format("{}: {}", what, fault.text)};
    }
    for (int i = 0; i < proto.output_size(); ++i) {
      if (!node.Wanted(i)) continue;
      if (static_cast<size_t>(i) >= node.out.size()) throw Fault{fmt::format("{}: its result {} is asked for", what, i)};
      Define(proto.output(i), node.out[static_cast<size_t>(i)]);
    }
  }

  // What the model says of itself goes into a comment, on one line.
  static std::string OneLine(const std::string& text) {
    std::string line;
    for (char c : text)
      if (c >= ' ' && c < 127) line += c;
    return line.substr(0, 100);
  }

  std::string Text(const onnx::GraphProto& graph, llvm::ArrayRef<std::pair<std::string, std::string>> params, const std::vector<std::string>& types,
                   const std::vector<std::string>& results) const {
    std::string names, signature, command = fmt::format("dfc run {}.df", name_);
    if (!w_.weights.empty()) {
      names += " weights";
      signature += "Weights -> ";
      command += fmt::format(" --input weights=@{}", weights_file_);
    }
    for (const auto& [name, type] : params) {
      names += " " + name;
      signature += type + " -> ";
      command += fmt::format(" --input {0}=@{0}.npy", name);
    }
    const auto tuple = [](const std::vector<std::string>& all) { return all.size() == 1 ? all[0] : fmt::format("({})", fmt::join(all, ", ")); };
    signature += tuple(types);
    std::string text = fmt::format("{}-- The ONNX model `{}`, as `dfc import` wrote it.\n--\n--   {}\n{}module {} where\n\n{}\nimport qualified Tensor as T\n\n", w_.has_loops ? "{-# LANGUAGE BangPatterns #-}\n" : "", OneLine(graph.name()),
                                   command, w_.has_halves ? kHalvesNote : "", name_, w_.has_bits ? std::string(kImports) + "\nimport Data.Bits (Bits ((.&.), (.|.), xor, shiftL, shiftR))" : kImports);
    if (!w_.weights.empty()) {
      text += "data Weights = Weights\n";
      const char* before = "  { ";
      for (const ImportedArray& weight : w_.weights) {
        const Element element = weight.element == FileElement::Float32   ? Element::Float
                                : weight.element == FileElement::Float64 ? Element::Double
                                : weight.element == FileElement::Int64   ? Element::Int
                                                                         : Element::Bool;
        text += fmt::format("{}{} :: {}\n", before, weight.name, TypeText(element, weight.dims));
        before = "  , ";
      }
      text += "  }\n\n";
    }
    text += fmt::format("net :: {}\nnet{} = {}\n", signature, names, tuple(results));
    if (!w_.bindings.empty()) text += "  where\n" + w_.bindings;
    text += fmt::format("\nmain :: {}\nmain{} = net{}\n", signature, names, names);
    return text;
  }

  const std::string name_, weights_file_;
  const std::map<std::string, int64_t>& sizes_;
  ModuleWriter w_;
  std::map<std::string, Bound, std::less<>> names_;
  std::vector<std::string> defined_;  // in their order
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;  // by domain and name
  std::set<std::string, std::less<>> left_out_;  // operands of the function that is written
  std::deque<onnx::NodeProto> kept_;             // nodes of functions with the attributes of their calls
  int64_t opset_ = 0, nodes_ = 0;
  size_t deep_ = 0;
};

}  // namespace
}  // namespace from_onnx

std::optional<ImportedModel> ImportOnnx(const std::string& bytes, const std::string& name, const std::string& weights_file,
                                        const std::map<std::string, int64_t>& sizes, ReadBeside read_beside, std::string* error) {
  try {
    return from_onnx::Importer(name, weights_file, sizes, std::move(read_beside)).Run(bytes);
  } catch (const from_onnx::Fault& fault) {
    *error = fault.text;
    return std::nullopt;
  }
}

}  // namespace df
