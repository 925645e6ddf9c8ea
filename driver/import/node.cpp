// See node.h. Whatever a model says is checked here before it is used.
#include "driver/import/node.h"

#include <cstring>

#include "fmt/format.h"

namespace df::from_onnx {
namespace {

// How many numbers are folded, for shapes and indices.
constexpr int64_t kMostKnown = 100'000;

template <typename To, typename From>
std::string BytesOfAll(const From& from) {
  std::string bytes;
  for (const auto& each : from) {
    const To value = static_cast<To>(each);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

}  // namespace

Element ElementOf(int32_t code, const std::string& what) {
  switch (code) {
    case onnx::TensorProto::FLOAT: return Element::Float;
    case onnx::TensorProto::DOUBLE: return Element::Double;
    case onnx::TensorProto::INT64: return Element::Int;
    case onnx::TensorProto::BOOL: return Element::Bool;
    default: {
      const std::string name = onnx::TensorProto::DataType_IsValid(code) ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(code)) : std::to_string(code);
      throw Fault{fmt::format("{} has elements of type {}, and a Tensor has Float, Double, Int (INT64) or Bool", what, name)};
    }
  }
}

Bound BoundOf(const onnx::TensorProto& tensor, const std::string& name, ModuleWriter& w) {
  const std::string what = fmt::format("the constant `{}`", name);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL || tensor.external_data_size() != 0) throw Fault{what + " is in another file"};
  if (tensor.has_segment()) throw Fault{what + " is in pieces"};
  const bool narrow = tensor.data_type() == onnx::TensorProto::INT32;
  const Element element = narrow ? Element::Int : ElementOf(tensor.data_type(), what);
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = CountOf(dims);
  const size_t width = narrow ? 4 : ir::ElementBytes(element);
  std::string bytes;
  if (tensor.has_raw_data()) bytes = tensor.raw_data();
  else if (element == Element::Float) bytes = BytesOfAll<float>(tensor.float_data());
  else if (element == Element::Double) bytes = BytesOfAll<double>(tensor.double_data());
  else if (narrow) bytes = BytesOfAll<int32_t>(tensor.int32_data());
  else if (element == Element::Int) bytes = BytesOfAll<int64_t>(tensor.int64_data());
  else bytes = BytesOfAll<char>(tensor.int32_data());
  if (bytes.size() != static_cast<size_t>(count) * width) throw Fault{fmt::format("{} has {} bytes, and its shape {} says {}", what, bytes.size(), ir::ShapeText(dims), static_cast<size_t>(count) * width)};
  if (element == Element::Bool)
    for (char each : bytes)
      if (each != 0 && each != 1) throw Fault{what + " has a Bool that is neither 0 nor 1"};
  if (element != Element::Int) return w.Weight(name, element, dims, std::move(bytes));
  if (count > kMostKnown && !narrow) return w.Weight(name, element, dims, std::move(bytes));
  if (count > kMostKnown) throw Fault{what + " has elements of type INT32"};
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) {
    int32_t small = 0;
    if (narrow) std::memcpy(&small, bytes.data() + 4 * i, 4), values[i] = small;
    else std::memcpy(&values[i], bytes.data() + 8 * i, 8);
  }
  return w.Ints(dims, std::move(values));
}

const Bound& Node::In(size_t i) const {
  if (!Has(i)) throw Fault{fmt::format("operand {} is missing", i)};
  return *in[i];
}

std::vector<Bound> Node::All() const {
  std::vector<Bound> all;
  for (size_t i = 0; i < in.size(); ++i) all.push_back(In(i));
  if (all.empty()) throw Fault{"it has no operands"};
  return all;
}

const std::vector<int64_t>& Node::KnownInts(size_t i, const char* what) const {
  if (!In(i).known) throw Fault{fmt::format("its {} are computed while the model runs, and the language has a type for each shape", what)};
  return *in[i]->known;
}

void Node::OnlyFirst() const {
  for (int i = 1; i < proto_.output_size(); ++i)
    if (Wanted(i)) throw Fault{fmt::format("its result {} is asked for", i)};
}

const onnx::AttributeProto* Node::Find(const char* name) const {
  for (const onnx::AttributeProto& attribute : proto_.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

int64_t Node::Int(const char* name, int64_t otherwise) const {
  const auto* found = Find(name);
  return found ? found->i() : otherwise;
}
double Node::Real(const char* name, double otherwise) const {
  const auto* found = Find(name);
  return found ? static_cast<double>(found->f()) : otherwise;
}
std::string Node::Text(const char* name, const std::string& otherwise) const {
  const auto* found = Find(name);
  return found ? found->s() : otherwise;
}
std::vector<int64_t> Node::Ints(const char* name, const std::vector<int64_t>& otherwise) const {
  const auto* found = Find(name);
  return found ? std::vector<int64_t>(found->ints().begin(), found->ints().end()) : otherwise;
}
std::vector<std::string> Node::Texts(const char* name) const {
  const auto* found = Find(name);
  return found ? std::vector<std::string>(found->strings().begin(), found->strings().end()) : std::vector<std::string>();
}
const onnx::TensorProto* Node::Tensor(const char* name) const {
  const auto* found = Find(name);
  return found && found->has_t() ? &found->t() : nullptr;
}

size_t Node::Axis(int64_t axis, size_t rank) const {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) throw Fault{fmt::format("there is no axis {} of {}", axis, rank)};
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

void Node::Real(const Bound& x) const {
  if (x.element != Element::Float && x.element != Element::Double) throw Fault{"it is of Floats and Doubles here"};
}

}  // namespace df::from_onnx
