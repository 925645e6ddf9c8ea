// See node.h. Whatever a model says is checked here before it is used.
#include "driver/import/node.h"

#include <charconv>
#include <cstring>

#include "fmt/format.h"

namespace df::from_onnx {
namespace {

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

Element ElementOf(int32_t code, const std::string& what, Width* width) {
  *width = {};
  switch (code) {
    case onnx::TensorProto::FLOAT: return Element::Float;
    case onnx::TensorProto::DOUBLE: return Element::Double;
    case onnx::TensorProto::BOOL: return Element::Bool;
    case onnx::TensorProto::INT64: return Element::Int;
    case onnx::TensorProto::INT32: *width = {32, true}; return Element::Int;
    case onnx::TensorProto::INT16: *width = {16, true}; return Element::Int;
    case onnx::TensorProto::INT8: *width = {8, true}; return Element::Int;
    case onnx::TensorProto::UINT32: *width = {32, false}; return Element::Int;
    case onnx::TensorProto::UINT16: *width = {16, false}; return Element::Int;
    case onnx::TensorProto::UINT8: *width = {8, false}; return Element::Int;
    case onnx::TensorProto::UINT64: *width = {64, false}; return Element::Int;
    // Newer than some versions of the format's own header.
    case 21: *width = {4, false}; return Element::Int;
    case 22: *width = {4, true}; return Element::Int;
    case 25: *width = {2, false}; return Element::Int;
    case 26: *width = {2, true}; return Element::Int;
    default: {
      if (IsSmallFloat(code)) return Element::Float;
      const std::string name = onnx::TensorProto::DataType_IsValid(code) ? onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(code)) : std::to_string(code);
      throw Fault{fmt::format("{} has elements of type {}, and a Tensor has Float, Double, Int (INT64 and narrower ones) or Bool", what, name)};
    }
  }
}

namespace {

// The bytes of a constant, little-endian, each element as wide as in the model.
std::string BytesOf(const onnx::TensorProto& tensor, const std::string& what, size_t width, ModuleWriter& w) {
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    std::string file, error;
    int64_t offset = 0, length = -1;
    for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
      auto number = [&](int64_t& to) {
        const char* end = entry.value().data() + entry.value().size();
        if (auto [rest, fault] = std::from_chars(entry.value().data(), end, to); fault != std::errc() || rest != end || to < 0) throw Fault{fmt::format("{}: `{}` is no {}", what, entry.value(), entry.key())};
      };
      if (entry.key() == "location") file = entry.value();
      else if (entry.key() == "offset") number(offset);
      else if (entry.key() == "length") number(length);
    }
    if (file.empty() || file[0] == '/' || file.find("..") != std::string::npos || file.find('\\') != std::string::npos || file.find('\0') != std::string::npos)
      throw Fault{fmt::format("{} is in another file, which is not beside the model", what)};
    std::optional<std::string> bytes = w.read_beside ? w.read_beside(file, offset, length, &error) : std::nullopt;
    if (!bytes) throw Fault{fmt::format("{} is in another file, `{}`: {}", what, file, error)};
    return std::move(*bytes);
  }
  if (tensor.has_raw_data()) return tensor.raw_data();
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT: return BytesOfAll<float>(tensor.float_data());
    case onnx::TensorProto::DOUBLE: return BytesOfAll<double>(tensor.double_data());
    case onnx::TensorProto::INT64: return BytesOfAll<int64_t>(tensor.int64_data());
    case onnx::TensorProto::UINT32: return BytesOfAll<uint32_t>(tensor.uint64_data());
    case onnx::TensorProto::UINT64: return BytesOfAll<uint64_t>(tensor.uint64_data());
    default: break;
  }
  return width == 4 ? BytesOfAll<int32_t>(tensor.int32_data()) : width == 2 ? BytesOfAll<int16_t>(tensor.int32_data()) : BytesOfAll<int8_t>(tensor.int32_data());
}

int64_t ElementAt(const std::string& bytes, size_t i, Width width) {
  uint64_t bits = 0;
  const size_t size = static_cast<size_t>(width.bits) / 8;
  if (width.bits < 8) bits = static_cast<uint8_t>(bytes[i * static_cast<size_t>(width.bits) / 8]) >> (i * static_cast<size_t>(width.bits) % 8);  // packed
  else std::memcpy(&bits, bytes.data() + i * size, size);  // little-endian
  const int unused = 64 - width.bits;
  return width.has_sign ? static_cast<int64_t>(bits << unused) >> unused : static_cast<int64_t>(bits << unused >> unused);
}

}  // namespace

Bound BoundOf(const onnx::TensorProto& tensor, const std::string& name, ModuleWriter& w) {
  const std::string what = fmt::format("the constant `{}`", name);
  if (tensor.has_segment()) throw Fault{what + " is in pieces"};
  Width width;
  const Element element = ElementOf(tensor.data_type(), what, &width);
  const Dims dims(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = CountOf(dims);
  const bool half = IsSmallFloat(tensor.data_type());
  const size_t bits = half ? static_cast<size_t>(SmallFloatBits(tensor.data_type())) : element == Element::Int ? static_cast<size_t>(width.bits) : 8 * ir::ElementBytes(element);
  const size_t size = bits / 8, wanted = (static_cast<size_t>(count) * bits + 7) / 8;
  std::string bytes = BytesOf(tensor, what, std::max<size_t>(1, size), w);
  if (bytes.size() != wanted) throw Fault{fmt::format("{} has {} bytes, and its shape {} says {}", what, bytes.size(), ir::ShapeText(dims), wanted)};
  if (half) {
    w.has_halves = true;
    Bound made = w.Weight(name, element, dims, Widened(bytes, tensor.data_type(), count));
    made.half = tensor.data_type();
    return made;
  }
  if (element == Element::Bool)
    for (char each : bytes)
      if (each != 0 && each != 1) throw Fault{what + " has a Bool that is neither 0 nor 1"};
  if (element == Element::Float || element == Element::Double || (count > kMostKnown && size == ir::ElementBytes(element))) return w.Weight(name, element, dims, std::move(bytes));
  std::vector<int64_t> values(static_cast<size_t>(count));
  if (element == Element::Bool) width = {8, true};
  for (size_t i = 0; i < values.size(); ++i) values[i] = ElementAt(bytes, i, width);
  Bound made;
  if (count <= kMostKnown) {
    made = w.Known(element, dims, std::move(values));
  } else {
    bytes.resize(values.size() * 8);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    made = w.Weight(name, element, dims, std::move(bytes));
  }
  if (element == Element::Int) made.width = width;
  return made;
}

Bound ConstantOf(const onnx::TensorProto& tensor, const std::string& name, ModuleWriter& w) {
  const auto found = w.constants.find(&tensor);
  if (found != w.constants.end()) return found->second;
  return w.constants[&tensor] = BoundOf(tensor, name, w);
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
  if (In(i).known && In(i).element != Element::Int) throw Fault{fmt::format("its {} are no Ints", what)};
  if (!In(i).known) throw Fault{fmt::format("its {} are computed while the model runs, and the language has a type for each shape", what)};
  return *in[i]->known;
}

std::vector<double> Node::KnownReals(size_t i, const char* what) const {
  const Bound& x = In(i);
  std::vector<double> values;
  if (x.known) return {x.known->begin(), x.known->end()};
  for (const ImportedArray& weight : w.weights) {
    if (x.variable != fmt::format("({} weights)", weight.name)) continue;
    const bool narrow = weight.element == FileElement::Float32;
    if (!narrow && weight.element != FileElement::Float64) break;
    const size_t size = narrow ? 4 : 8;
    for (size_t at = 0; at < weight.bytes.size(); at += size) {
      float small = 0;
      double value = 0;
      if (narrow) std::memcpy(&small, weight.bytes.data() + at, size), value = static_cast<double>(small);
      else std::memcpy(&value, weight.bytes.data() + at, size);
      values.push_back(value);
    }
    return values;
  }
  if (CountOf(x.dims) == 0) return {};
  throw Fault{fmt::format("its {} are computed while the model runs, and the language has a type for each shape", what)};
}

void Node::OnlyFirst() const {
  for (int i = 1; i < proto_.output_size(); ++i)
    if (Wanted(i)) throw Fault{fmt::format("its result {} is asked for", i)};
}

const onnx::AttributeProto* Node::Find(const char* name) const {
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() != name) continue;
    if (!attribute.ref_attr_name().empty()) throw Fault{fmt::format("its attribute `{}` is one of a function around it", name)};
    return &attribute;
  }
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

const onnx::GraphProto& Node::Graph(const char* name) const {
  const auto* found = Find(name);
  if (!found || !found->has_g()) throw Fault{fmt::format("it has no graph `{}`", name)};
  return found->g();
}
std::vector<double> Node::Reals(const char* name) const {
  const auto* found = Find(name);
  return found ? std::vector<double>(found->floats().begin(), found->floats().end()) : std::vector<double>();
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
