// Values of the language, made of what a host program has.
#include <algorithm>
#include <cstring>
#include <exception>

#include "fmt/format.h"
#include "runtime/embed/embed_impl.h"
#include "runtime/files/input_file.h"
#include "runtime/files/value_file.h"
#include "runtime/text/show.h"
#include "runtime/value/tensor.h"
#include "runtime/value/text_list.h"
#include "runtime/value/value_type.h"

namespace df {

using ir::TypeKind;

size_t BytesOf(ElementType element) {
  switch (element) {
    case ElementType::Float32: return 4;
    case ElementType::Bool: return 1;
    default: return 8;
  }
}

namespace embed {

namespace {

struct ElementInfo {
  TypeKind kind;
  FileElement file;
  const char* name;
};
const ElementInfo& InfoOf(ElementType element) {
  static constexpr ElementInfo kInfos[] = {{TypeKind::Float, FileElement::Float32, "float32"},
                                           {TypeKind::Double, FileElement::Float64, "float64"},
                                           {TypeKind::Int, FileElement::Int64, "int64"},
                                           {TypeKind::Bool, FileElement::Bool, "bool"}};
  return kInfos[static_cast<size_t>(element)];
}

// Copies elements that lie anywhere, the last axis innermost.
void Gather(const ArrayIn& array, size_t bytes, size_t axis, const char* from, char*& to) {
  if (axis == array.shape.size()) {
    std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  for (int64_t i = 0; i < array.shape[axis]; ++i) Gather(array, bytes, axis + 1, from + i * array.strides[axis], to);
}

bool IsRowMajor(const ArrayIn& array, size_t bytes) {
  auto wanted = static_cast<int64_t>(bytes);
  for (size_t k = array.strides.size(); k-- > 0;) {
    if (array.shape[k] != 1 && array.strides[k] != wanted) return false;
    wanted *= array.shape[k];
  }
  return true;
}

// Whether the elements may be looked at where they are.
bool FitsAsItIs(const ArrayIn& array) {
  const size_t bytes = BytesOf(array.element);
  return IsRowMajor(array, bytes) && reinterpret_cast<uintptr_t>(array.data) % bytes == 0;
}

// "" or what is wrong with the description.
std::string FaultOf(const ArrayIn& array) {
  if (!array.strides.empty() && array.strides.size() != array.shape.size()) return "an array has a stride for each of its dimensions";
  int64_t count = 1;
  for (int64_t dim : array.shape)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return "the shape of an array is too large";
  if (!array.data && count > 0) return "an array has no elements";
  return "";
}

// What a host program has in memory, as if it were a file.
class MemoryArrays : public ArrayFile {
 public:
  explicit MemoryArrays(const std::vector<NamedArray>& parts) : ArrayFile("") {
    for (const NamedArray& part : parts) {
      const ElementInfo& info = InfoOf(part.array.element);
      FileArray& array = arrays_.emplace_back();
      array.name = part.name;
      array.element = info.file;
      array.element_name = info.name;
      array.dims = part.array.shape;
      array.size = BytesOf(part.array.element);
      for (int64_t dim : part.array.shape) array.size *= static_cast<uint64_t>(dim);
      array.begin = static_cast<uint64_t>(&part - parts.data());  // which
    }
    parts_ = &parts;
  }
  bool Ready(std::string* error) { return Finish(error); }
  bool Read(const FileArray& array, llvm::MutableArrayRef<char> to, std::string*) override {
    const ArrayIn& from = PartOf(array);
    if (from.strides.empty()) {
      std::memcpy(to.data(), from.data, to.size());
    } else {
      char* at = to.data();
      Gather(from, BytesOf(from.element), 0, static_cast<const char*>(from.data), at);
    }
    return true;
  }

 private:
  const ArrayIn& PartOf(const FileArray& array) const { return (*parts_)[array.begin].array; }
  const std::vector<NamedArray>* parts_ = nullptr;
};

// The rest of a list that a host program gives as it is asked for.
struct Feed {
  Run::Next next;
  const ir::Graph& graph;
  ir::Port element;
  ir::ListType list;
};
struct FeedCell : HostCell {
  explicit FeedCell(std::shared_ptr<Feed> f) : feed(std::move(f)) {}
  Value Supply() override;
  std::shared_ptr<Feed> feed;
};

Value Fail(std::string what) {
  return Value::Adopt(ValueKind::Error, new ErrorObject(ErrorCode::User, std::move(what), {}, {}));
}

Value FeedCell::Supply() {
  Element::Impl impl{InputMaker(feed->graph, feed->element), std::nullopt};
  Element element = Element::Impl::Of(impl);
  bool more;
  try {
    more = feed->next(element);
  } catch (const std::exception& thrown) {
    return Fail(thrown.what());
  } catch (...) {
    return Fail("the program that gives the input gave it up");
  }
  if (!more) return Value::Word(feed->list.nil);
  if (!impl.value) return Fail("an element of the input was not set");
  Value rest = Value::Adopt(ValueKind::Reference, new FeedCell(feed));
  return Cons(feed->list, std::move(*impl.value), std::move(rest));
}

}  // namespace

std::optional<Value> InputMaker::Refuse(const char* what, std::string* error) const {
  if (error) *error = "the input `" + port_.name + "` does not take " + what;
  return std::nullopt;
}

std::optional<Value> InputMaker::Int(int64_t value, std::string* error) const {
  switch (graph_.types.Kind(port_.type.type)) {
    case TypeKind::Int:
    case TypeKind::Integer: return Value::Word(value);
    case TypeKind::Double: return Value::Double(static_cast<double>(value));
    case TypeKind::Float: return Value::Float(static_cast<float>(value));
    default: return Refuse("a whole number", error);
  }
}

std::optional<Value> InputMaker::Real(double value, std::string* error) const {
  switch (graph_.types.Kind(port_.type.type)) {
    case TypeKind::Double: return Value::Double(value);
    case TypeKind::Float: return Value::Float(static_cast<float>(value));
    default: return Refuse("a floating-point number", error);
  }
}

std::optional<Value> InputMaker::Bool(bool value, std::string* error) const {
  if (graph_.types.Kind(port_.type.type) != TypeKind::Bool) return Refuse("a Bool", error);
  return Value::Word(value);
}

std::optional<Value> InputMaker::Text(std::string_view text, std::string* error) const {
  std::string reason;
  std::optional<Value> value = ParseInput(graph_, port_.type, text, &reason);
  if (!value && error) *error = reason;
  return value;
}

std::optional<Value> InputMaker::String(std::string_view utf8, std::string* error) const {
  if (std::string fault = Utf8Fault(utf8); !fault.empty()) {
    if (error) *error = "the input `" + port_.name + "`: " + fault;
    return std::nullopt;
  }
  if (graph_.types.Kind(port_.type.type) == TypeKind::Text) return Value::Adopt(ValueKind::Object, new TextObject(utf8));
  ir::ListType list;
  if (!ir::IsText(graph_.types, port_.type.type, &list)) return Refuse("a text", error);
  std::vector<uint32_t> chars;
  for (uint32_t c; !utf8.empty() && TakeChar(utf8, &c) == Decoded::Char;) chars.push_back(c);
  return TextList(list, chars, Value::Word(list.nil));
}

std::optional<Value> InputMaker::Array(const ArrayIn& array, bool* shared, std::string* error) const {
  const ir::Type& type = graph_.types[port_.type.type];
  const bool whole = type.kind == TypeKind::Tensor && type.element == InfoOf(array.element).kind && type.dims == array.shape;
  if (shared && whole && array.element != ElementType::Bool && array.data && FitsAsItIs(array)) {
    *shared = true;
    return Value::Adopt(ValueKind::Object, new TensorObject(type, static_cast<char*>(const_cast<void*>(array.data))));
  }
  return Parts({{"", array}}, error);
}

std::optional<Value> InputMaker::Parts(const std::vector<NamedArray>& parts, std::string* error) const {
  std::string reason;
  for (const NamedArray& part : parts)
    if (reason = FaultOf(part.array); !reason.empty()) break;
  std::optional<Value> value;
  if (MemoryArrays arrays(parts); reason.empty() && arrays.Ready(&reason))
    value = ReadValue(graph_, port_.type.type, arrays, port_.name, &reason);
  if (!value && error) *error = "the input `" + port_.name + "`: " + reason;
  return value;
}

std::optional<Value> InputMaker::List(Run::Next next, std::string* error) const {
  ir::ListType list;
  const ir::TypeId element = ListElement(graph_.types, port_.type.type, &list);
  if (!element.valid()) return Refuse("a list", error);
  auto feed = std::make_shared<Feed>(Feed{std::move(next), graph_, {port_.name, {element, false}}, list});
  return Value::Adopt(ValueKind::Reference, new FeedCell(std::move(feed)));
}

}  // namespace embed

// ---------------------------------------------------------------- elements

namespace {

bool Take(std::optional<Value>& to, std::optional<Value> value) {
  if (value) to = std::move(value);
  return to.has_value();
}

}  // namespace

bool Element::Set(int64_t value, std::string* error) { return Take(impl_.value, impl_.maker.Int(value, error)); }
bool Element::Set(double value, std::string* error) { return Take(impl_.value, impl_.maker.Real(value, error)); }
bool Element::Set(bool value, std::string* error) { return Take(impl_.value, impl_.maker.Bool(value, error)); }
bool Element::SetText(std::string_view text, std::string* error) { return Take(impl_.value, impl_.maker.Text(text, error)); }
bool Element::SetString(std::string_view utf8, std::string* error) { return Take(impl_.value, impl_.maker.String(utf8, error)); }
bool Element::SetArray(const ArrayIn& array, std::string* error) { return Take(impl_.value, impl_.maker.Array(array, nullptr, error)); }
bool Element::SetParts(const std::vector<NamedArray>& parts, std::string* error) { return Take(impl_.value, impl_.maker.Parts(parts, error)); }

}  // namespace df
