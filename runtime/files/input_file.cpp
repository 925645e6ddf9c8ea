#include "runtime/files/input_file.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"
#include "runtime/packet/packet_file.h"
#include "runtime/files/value_file.h"
#include "runtime/text/show.h"
#include "runtime/value/text_list.h"
#include "runtime/value/value_type.h"

namespace df {
namespace {

// Arrays come with a zero byte within the first few; a text has none.
bool LooksLikeText(std::string_view bytes) {
  return !bytes.starts_with(kNpyMagic) && !bytes.starts_with("PK\3\4") && !bytes.starts_with("PK\5\6") &&
         bytes.substr(0, 64).find('\0') == std::string_view::npos;
}

}  // namespace

std::optional<Value> ReadInputFile(const ir::Graph& graph, const ir::Port& port, std::string bytes, std::string* error,
                                   std::vector<SurplusArray>* unused, memory::CountedBytes count) {
  if (LooksLikePacket(bytes)) return ReadPacketFile(graph, port.type.type, bytes, error);
  ir::TypeId type = port.type.type, held;
  uint32_t nothing, just;
  held = MaybeElement(graph.types, type, &nothing, &just);
  ir::ListType list;
  ir::TypeId plain = held.valid() ? held : type;
  bool packed = graph.types.Kind(plain) == ir::TypeKind::Text;
  if (packed || ir::IsText(graph.types, plain, &list)) {
    *error = Utf8Fault(bytes);
    if (!error->empty()) return std::nullopt;
    Value text = packed ? Value::Adopt(ValueKind::Object, new TextObject(bytes)) : LazyText(list, std::move(bytes), std::move(count));
    if (!held.valid()) return text;
    Data* some = Data::New(just, 1);
    some->fields()[0] = std::move(text);
    return Value::Adopt(ValueKind::Object, some);
  }
  if (LooksLikeText(bytes)) {
    if (!Utf8Fault(bytes).empty()) {
      *error = "the file is no .packet, .npy, .npz or .safetensors file, and no UTF-8 text";
      return std::nullopt;
    }
    llvm::StringRef text = llvm::StringRef(bytes).rtrim("\r\n");
    if (text.empty()) {
      *error = "the file is empty";
      return std::nullopt;
    }
    return ParseInput(graph, port.type, {text.data(), text.size()}, error);
  }
  std::unique_ptr<ArrayFile> file = ArrayFile::Open(std::move(bytes), error);
  return file ? ReadValue(graph, type, *file, port.name, error, unused) : std::nullopt;
}

std::optional<std::vector<int64_t>> ShapeOfFile(std::string bytes, std::string_view name, std::string* why) {
  if (LooksLikePacket(bytes)) return ShapeOfPacket(bytes, why);
  if (LooksLikeText(bytes)) {
    *why = "it is neither a .npy, .npz or .safetensors file nor nested lists as text";
    return ShapeOfText(bytes);
  }
  std::unique_ptr<ArrayFile> file = ArrayFile::Open(std::move(bytes), why);
  if (!file) return std::nullopt;
  const FileArray* array = file->Find(name);
  if (!array && file->arrays().size() == 1) array = &file->arrays()[0];
  if (array) return array->dims;
  constexpr size_t kMost = 5;
  *why = fmt::format("it holds no array `{}`", name);
  for (size_t i = 0; i < std::min(kMost, file->arrays().size()); ++i) *why += (i ? ", `" : ", but `") + file->arrays()[i].name + "`";
  if (file->arrays().size() > kMost) *why += fmt::format(" and {} more", file->arrays().size() - kMost);
  return std::nullopt;
}

// The length of the first list of each level: `[[1, 2], [3, 4], [5, 6]]` has the shape [3, 2].
std::optional<std::vector<int64_t>> ShapeOfText(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<int64_t> dims;
  for (size_t at = text.find_first_not_of(kBlanks); at < text.size() && text[at] == '['; at = text.find_first_not_of(kBlanks, at + 1)) {
    if (dims.size() == ir::kMaxRank) return std::nullopt;
    int64_t commas = 0, nesting = 0;
    bool any = false;
    size_t end = at + 1;
    for (; end < text.size() && (nesting > 0 || text[end] != ']'); ++end) {
      nesting += text[end] == '[' ? 1 : text[end] == ']' ? -1 : 0;
      commas += nesting == 0 && text[end] == ',';
      any |= kBlanks.find(text[end]) == std::string_view::npos;
    }
    dims.push_back(any ? commas + 1 : 0);
  }
  if (dims.empty()) return std::nullopt;
  return dims;
}

std::optional<Value> DefaultInput(const ir::Graph& graph, const ir::Port& port) {
  uint32_t nothing, just;
  if (!MaybeElement(graph.types, port.type.type, &nothing, &just).valid()) return std::nullopt;
  return Value::Word(nothing);
}

}  // namespace df
