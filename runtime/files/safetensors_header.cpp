#include "runtime/files/safetensors_header.h"

#include <cctype>
#include <charconv>
#include <optional>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace df {
namespace {

constexpr const char* kMetadata = "__metadata__";

struct ElementRow {
  const char* name;
  FileElement element;
};
constexpr ElementRow kElements[] = {{"F32", FileElement::Float32}, {"F64", FileElement::Float64}, {"I64", FileElement::Int64},
                                    {"I32", FileElement::Int32},   {"BOOL", FileElement::Bool},   {"U8", FileElement::Byte}};

FileElement ElementNamed(std::string_view name) {
  for (const ElementRow& row : kElements)
    if (name == row.name) return row.element;
  return FileElement::Other;
}

// Each function reads one thing behind blanks; false: it is not there, and `fault` says so.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}
  std::string fault;

  bool Header(std::vector<FileArray>& arrays) {
    const bool read = Object([&](const std::string& name) {
      if (name == kMetadata) return Metadata();
      arrays.emplace_back().name = name;
      return Array(arrays.back());
    });
    if (!read) return false;
    Blanks();
    return at_ == text_.size() || NoJson();
  }

 private:
  bool Metadata() {
    return Object([&](const std::string&) {
      std::string ignored;
      return Text(ignored);
    });
  }

  bool Array(FileArray& array) {
    bool dtype = false, shape = false, place = false;
    const bool read = Object([&](const std::string& key) {
      if (key == "dtype" && !std::exchange(dtype, true)) {
        std::string name;
        if (!Text(name)) return false;
        array.element = ElementNamed(name);
        array.element_name = llvm::StringRef(name).take_front(40).str();
        return true;
      }
      if (key == "shape" && !std::exchange(shape, true)) {
        if (!Numbers(array.dims)) return false;
        return array.dims.size() <= ir::kMaxRank || Fault(fmt::format("`{}` has more than {} dimensions", array.name, ir::kMaxRank));
      }
      if (key == "data_offsets" && !std::exchange(place, true)) return Place(array);
      return Unexpected();
    });
    return read && ((dtype && shape && place) || Fault(fmt::format("`{}` lacks its elements, shape or place", array.name)));
  }

  bool Place(FileArray& array) {
    std::vector<int64_t> ends;
    if (!Numbers(ends)) return false;
    if (ends.size() != 2 || ends[0] > ends[1]) return Fault(fmt::format("the place of `{}` is none", array.name));
    array.begin = static_cast<uint64_t>(ends[0]);
    array.size = static_cast<uint64_t>(ends[1] - ends[0]);
    return true;
  }

  // `member` reads the value of a key.
  template <typename Member>
  bool Object(Member member) {
    if (!Opens('{')) return false;
    if (Takes('}')) return true;
    do {
      std::string key;
      Blanks();
      if (at_ == text_.size() || text_[at_] != '"') return NoJson();
      if (!Text(key)) return false;
      if (!Takes(':')) return NoJson();
      if (!member(key)) return false;
    } while (Takes(','));
    return Takes('}') || NoJson();
  }

  // One more than an array may have dimensions is read, and no more.
  bool Numbers(std::vector<int64_t>& numbers) {
    if (!Opens('[')) return false;
    if (Takes(']')) return true;
    do {
      if (numbers.size() > ir::kMaxRank) return Unexpected();
      Blanks();
      uint64_t number = 0;
      const char* begin = text_.data() + at_;
      auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
      if (error == std::errc::invalid_argument) return Other();
      if (end - begin > 1 && *begin == '0') return NoJson();
      at_ += static_cast<size_t>(end - begin);
      const char next = at_ < text_.size() ? text_[at_] : ' ';
      if (error != std::errc() || number > static_cast<uint64_t>(INT64_MAX) || next == '.' || next == 'e' || next == 'E') return Unexpected();
      numbers.push_back(static_cast<int64_t>(number));
    } while (Takes(','));
    return Takes(']') || NoJson();
  }

  bool Text(std::string& text) {
    Blanks();
    if (at_ == text_.size() || text_[at_] != '"') return Other();
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return NoJson();
    llvm::Expected<llvm::json::Value> value = llvm::json::parse(llvm::StringRef(text_.data() + at_, end + 1 - at_));
    if (!value) return llvm::consumeError(value.takeError()), NoJson();
    text = value->getAsString()->str();
    at_ = end + 1;
    return true;
  }

  void Blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  bool Takes(char c) {
    Blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool Opens(char c) { return Takes(c) || Other(); }

  // Where something else stands: a value that does not belong there, or none.
  bool Other() {
    Blanks();
    const char c = at_ < text_.size() ? text_[at_] : ' ';
    const llvm::StringRef rest(text_.data() + at_, text_.size() - at_);
    const bool number = std::isdigit(static_cast<unsigned char>(c)) || (c == '-' && rest.size() > 1 && std::isdigit(static_cast<unsigned char>(rest[1])));
    const bool value = c == '{' || c == '[' || c == '"' || number || rest.starts_with("true") || rest.starts_with("false") || rest.starts_with("null");
    return value ? Unexpected() : NoJson();
  }
  bool NoJson() { return Fault(fmt::format("its header is no JSON from byte {} on", at_)); }
  bool Unexpected() { return Fault("its header is not that of a safetensors file"); }
  bool Fault(std::string what) {
    if (fault.empty()) fault = std::move(what);
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

bool ReadSafetensorsHeader(std::string_view text, std::vector<FileArray>& arrays, std::string* fault) {
  HeaderReader reader(text);
  if (reader.Header(arrays)) return true;
  *fault = reader.fault;
  return false;
}

std::string_view SafetensorsName(FileElement element) {
  for (const ElementRow& row : kElements)
    if (element == row.element) return row.name;
  return "";
}

}  // namespace df
