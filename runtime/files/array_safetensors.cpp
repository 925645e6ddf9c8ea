// .safetensors: eight bytes with the length of a header, the header, a JSON object that says of each array its elements, shape and
// place, and the elements of all arrays one after the other.
#include <algorithm>
#include <numeric>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "nlohmann/json.hpp"
#include "runtime/files/array_file.h"

namespace df {
namespace {

using nlohmann::json;

constexpr size_t kLength = 8;
constexpr uint64_t kMostHeader = 100'000'000;  // as the format's own reader has it
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

// Builds nothing: follows the header's text as it is parsed and keeps what it says of arrays. What does not fit ends the parse.
class HeaderReader : public json::json_sax_t {
 public:
  explicit HeaderReader(std::vector<FileArray>& arrays) : arrays_(arrays) {}
  std::string fault;

  bool null() override { return Unexpected(); }
  bool boolean(bool) override { return Unexpected(); }
  bool number_integer(number_integer_t) override { return Unexpected(); }  // a negative one
  bool number_float(number_float_t, const string_t&) override { return Unexpected(); }
  bool binary(binary_t&) override { return Unexpected(); }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ != 3 || !list_) return Unexpected();
    if (value > static_cast<uint64_t>(INT64_MAX) || numbers_.size() > ir::kMaxRank) return Unexpected();
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool string(string_t& value) override {
    if (metadata_) return depth_ == 2 || Unexpected();
    if (depth_ != 2 || key_ != "dtype") return Unexpected();
    arrays_.back().element = ElementNamed(value);
    arrays_.back().element_name = llvm::StringRef(value).take_front(40).str();
    return true;
  }
  bool start_object(std::size_t) override { return (++depth_ <= 2 && !list_) || Unexpected(); }
  bool end_object() override {
    if (--depth_ != 1) return true;
    if (!metadata_ && seen_ != kAll) return Fault(fmt::format("`{}` lacks its elements, shape or place", arrays_.back().name));
    metadata_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    numbers_.clear();
    list_ = true;
    return (++depth_ == 3 && !metadata_ && (key_ == "shape" || key_ == "data_offsets")) || Unexpected();
  }
  bool end_array() override {
    --depth_;
    list_ = false;
    FileArray& array = arrays_.back();
    if (key_ == "shape") {
      array.dims = numbers_;
      return array.dims.size() <= ir::kMaxRank || Fault(fmt::format("`{}` has more than {} dimensions", array.name, ir::kMaxRank));
    }
    if (numbers_.size() != 2 || numbers_[0] > numbers_[1]) return Fault(fmt::format("the place of `{}` is none", array.name));
    array.begin = static_cast<uint64_t>(numbers_[0]);
    array.size = static_cast<uint64_t>(numbers_[1] - numbers_[0]);
    return true;
  }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      seen_ = 0;
      metadata_ = name == kMetadata;
      if (!metadata_) arrays_.emplace_back().name = name;
      return true;
    }
    if (metadata_) return true;
    key_ = name;
    uint8_t bit = name == "dtype" ? 1 : name == "shape" ? 2 : name == "data_offsets" ? 4 : 0;
    if (bit == 0 || (seen_ & bit)) return Unexpected();
    seen_ |= bit;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    return Fault(fmt::format("its header is no JSON from byte {} on", position));
  }

 private:
  static constexpr uint8_t kAll = 7;
  bool Unexpected() { return Fault("its header is not that of a safetensors file"); }
  bool Fault(std::string what) {
    if (fault.empty()) fault = std::move(what);
    return false;
  }

  std::vector<FileArray>& arrays_;
  int depth_ = 0;
  bool metadata_ = false, list_ = false;
  uint8_t seen_ = 0;  // which keys of the array in hand
  std::string key_;
  std::vector<int64_t> numbers_;
};

class SafetensorsFile : public ArrayFile {
 public:
  explicit SafetensorsFile(std::string bytes) : ArrayFile(std::move(bytes)) {}

  bool ReadHeader(std::string* error) {
    auto fail = [&](const std::string& what) {
      *error = "the file is damaged: " + what;
      return false;
    };
    uint64_t length = 0;
    for (size_t i = 0; i < kLength; ++i) length |= uint64_t{static_cast<unsigned char>(bytes_[i])} << 8 * i;
    if (length > kMostHeader) return fail("its header is too long");
    if (length > bytes_.size() - kLength) return fail("its header is longer than the file");
    HeaderReader reader(arrays_);
    auto begin = bytes_.begin() + kLength;
    if (!json::sax_parse(begin, begin + static_cast<ptrdiff_t>(length), &reader))
      return fail(reader.fault.empty() ? "its header is no JSON" : reader.fault);
    uint64_t data = kLength + length;
    if (!Places(bytes_.size() - data, error)) return false;
    for (FileArray& array : arrays_) array.begin += data;
    return Finish(error);
  }

  bool Read(const FileArray& array, llvm::MutableArrayRef<char> to, std::string*) override {
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + array.begin, to.size());
    return true;
  }

 private:
  // The arrays lie one behind the other, and are all that there is.
  bool Places(uint64_t size, std::string* error) const {
    std::vector<const FileArray*> order;
    for (const FileArray& array : arrays_) order.push_back(&array);
    llvm::sort(order, [](const FileArray* a, const FileArray* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->size < b->size;
    });
    uint64_t end = 0;
    for (const FileArray* array : order) {
      if (array->begin + array->size > size) {
        *error = fmt::format("the file is damaged: `{}` ends behind the file", array->name);
        return false;
      }
      if (array->begin != end) {
        *error = fmt::format("the file is damaged: `{}` does not begin where the array before it ends", array->name);
        return false;
      }
      end = array->begin + array->size;
    }
    if (end != size) *error = "the file is damaged: it is longer than its arrays";
    return end == size;
  }
};

}  // namespace

std::unique_ptr<ArrayFile> OpenSafetensors(std::string bytes, std::string* error) {
  auto file = std::make_unique<SafetensorsFile>(std::move(bytes));
  if (!file->ReadHeader(error)) return nullptr;
  return file;
}

std::string WriteSafetensors(llvm::ArrayRef<ArrayToWrite> arrays) {
  // Wide elements first, so that all are aligned; as the format's own writer has it.
  std::vector<const ArrayToWrite*> order;
  for (const ArrayToWrite& array : arrays) order.push_back(&array);
  llvm::sort(order, [](const ArrayToWrite* a, const ArrayToWrite* b) {
    size_t wide = BytesOf(a->element), other = BytesOf(b->element);
    return wide != other ? wide > other : a->name < b->name;
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  auto& rows = header.get_ref<nlohmann::ordered_json::object_t&>();
  uint64_t end = 0;
  for (const ArrayToWrite* array : order) {
    const auto* row = llvm::find_if(kElements, [&](const ElementRow& r) { return r.element == array->element; });
    uint64_t begin = std::exchange(end, end + array->bytes.size());
    rows.emplace_back(array->name, nlohmann::ordered_json{{"dtype", row->name}, {"shape", array->dims}, {"data_offsets", {begin, end}}});
  }
  std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  text.append((kLength - text.size() % kLength) % kLength, ' ');
  std::string file;
  file.reserve(kLength + text.size() + end);
  for (size_t i = 0; i < kLength; ++i) file += static_cast<char>(text.size() >> 8 * i);
  file += text;
  for (const ArrayToWrite* array : order) file += array->bytes;
  return file;
}

}  // namespace df
