#include "tagged_ir/tensor_type.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "fmt/format.h"
#include "tagged_ir/text_format.h"

namespace df::ir {

bool IsElement(TypeKind kind) {
  return kind == TypeKind::Float || kind == TypeKind::Double || kind == TypeKind::Int || kind == TypeKind::Bool;
}

int64_t ElementCount(llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (dim < 0) return -1;
    // A zero dimension makes no room for a huge one beside it: strides have to fit as well.
    if (dim > 1 && count > kMaxElements / dim) return -1;
    if (dim > 0) count *= dim;
  }
  for (int64_t dim : dims)
    if (dim == 0) return 0;
  return count;
}

std::string ShapeText(llvm::ArrayRef<int64_t> dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

namespace {

constexpr std::pair<TypeKind, std::string_view> kElements[] = {
    {TypeKind::Float, "Float"}, {TypeKind::Double, "Double"}, {TypeKind::Int, "Int"}, {TypeKind::Bool, "Bool"}};

std::string_view ElementName(TypeKind element) {
  for (auto [kind, name] : kElements)
    if (kind == element) return name;
  return "?";
}

}  // namespace

std::string TensorName(TypeKind element, llvm::ArrayRef<int64_t> dims) {
  return fmt::format("Tensor {} {}", ElementName(element), ShapeText(dims));
}

bool ParseTensorName(std::string_view name, TypeKind* element, std::vector<int64_t>* dims) {
  llvm::StringRef rest(name);
  if (!rest.consume_front("Tensor ")) return false;
  bool known = false;
  for (auto [kind, text] : kElements) {
    if (known || !rest.consume_front(text)) continue;
    *element = kind;
    known = true;
  }
  if (!known || !rest.consume_front(" [") || !rest.consume_back("]")) return false;
  dims->clear();
  while (!rest.empty()) {
    if (!dims->empty() && !rest.consume_front(", ")) return false;
    int64_t dim = 0;
    if (dims->size() == kMaxRank || rest.consumeInteger(10, dim)) return false;
    dims->push_back(dim);
  }
  return ElementCount(*dims) >= 0 && TensorName(*element, *dims) == name;
}

std::string TensorTypeFault(const Type& type) {
  if (!IsElement(type.element)) return "its elements are of no type that a tensor can have";
  if (type.dims.size() > kMaxRank) return fmt::format("{} dimensions, at most {} are possible", type.dims.size(), kMaxRank);
  if (ElementCount(type.dims) < 0) return "its shape is negative or too large";
  if (!type.constructors.empty()) return "a tensor has no constructors";
  if (type.name != TensorName(type.element, type.dims)) return "its name is not that of its shape";
  return "";
}

std::string TensorConstantFault(const Type& type, std::string_view bytes) {
  size_t want = BytesOf(type);
  if (bytes.size() != want) return fmt::format("{} bytes, a `{}` has {}", bytes.size(), type.name, want);
  if (type.element == TypeKind::Bool)
    for (char c : bytes)
      if (c != 0 && c != 1) return "a Bool is 0 or 1";
  return "";
}

namespace {

std::string ElementText(TypeKind element, const char* at) {
  switch (element) {
    case TypeKind::Bool: return *at ? "True" : "False";
    case TypeKind::Int: {
      int64_t word;
      std::memcpy(&word, at, 8);
      return std::to_string(word);
    }
    case TypeKind::Float: {
      uint32_t bits;
      std::memcpy(&bits, at, 4);
      return text::FloatText(bits, false);
    }
    default: {
      int64_t bits;
      std::memcpy(&bits, at, 8);
      return text::FloatText(bits, true);
    }
  }
}

}  // namespace

std::string TensorText(const Type& type, std::string_view bytes) {
  size_t each = ElementBytes(type.element);
  int64_t count = ElementCount(type.dims);
  if (count < 0 || bytes.size() != static_cast<size_t>(count) * each) return "<bad tensor>";
  if (type.dims.empty()) return ElementText(type.element, bytes.data());
  std::string out;
  // One bracket opens or closes per dimension whose block begins or ends at element i. A shape with a zero in it has no
  // elements and is written as the empty list, its type says the rest.
  if (count == 0) return "[]";
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    int64_t block = 1;
    size_t opening = 0, closing = 0;
    for (size_t d = type.dims.size(); d-- > 0;) {
      block *= type.dims[d];
      opening += i % block == 0;
      closing += (i + 1) % block == 0;
    }
    out.append(opening, '[');
    out += ElementText(type.element, bytes.data() + static_cast<size_t>(i) * each);
    out.append(closing, ']');
  }
  return out;
}

namespace {

bool ReadElement(TypeKind element, llvm::StringRef text, std::string* bytes) {
  int64_t word = 0;
  switch (element) {
    case TypeKind::Bool:
      word = text == "True";
      if (word == 0 && text != "False") return false;
      break;
    case TypeKind::Int:
      if (text.getAsInteger(10, word)) return false;
      break;
    default:
      if (!text::ReadFloat(text, element == TypeKind::Double, &word)) return false;
  }
  // The machines that this runs on are little-endian.
  bytes->append(reinterpret_cast<const char*>(&word), ElementBytes(element));
  return true;
}

// Brackets and commas only.
std::string Nesting(llvm::StringRef text) {
  std::string out;
  for (char c : text)
    if (c == '[' || c == ']' || c == ',') out += c;
  return out;
}

}  // namespace

bool ParseTensorText(const Type& type, std::string_view text, std::string* bytes) {
  int64_t count = ElementCount(type.dims);
  bytes->clear();
  for (llvm::StringRef rest(text); !rest.empty();) {
    rest = rest.ltrim("[], ");
    if (rest.empty()) break;
    size_t end = std::min(rest.find_first_of("[], "), rest.size());
    if (!ReadElement(type.element, rest.take_front(end), bytes)) return false;
    rest = rest.drop_front(end);
  }
  if (count < 0 || bytes->size() != static_cast<size_t>(count) * ElementBytes(type.element)) return false;
  return Nesting(text) == Nesting(TensorText(type, *bytes));
}

}  // namespace df::ir
