// numpy's files of one array (.npy, format versions 1 to 3).
#include "runtime/files/array_file.h"

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace df {
namespace {

// What the header says: a dictionary as Python writes it, of three entries in any order.
struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

// Recursive descent over the header's text. Each function returns false where the text does not fit.
class NpyHeaderReader {
 public:
  explicit NpyHeaderReader(llvm::StringRef text) : rest_(text) {}

  bool Read(Header* header) {
    bool descr = false, fortran = false, shape = false;
    if (!Take("{")) return false;
    while (!Take("}")) {
      std::string key;
      if (!String(&key) || !Take(":")) return false;
      bool* seen = key == "descr" ? &descr : key == "fortran_order" ? &fortran : key == "shape" ? &shape : nullptr;
      if (!seen || *seen) return false;
      *seen = true;
      if (key == "descr" && !Record(&header->descr) && !String(&header->descr)) return false;
      if (key == "fortran_order" && !Boolean(&header->fortran)) return false;
      if (key == "shape" && !Shape(&header->shape)) return false;
      if (Take(",")) continue;
      if (!Take("}")) return false;
      break;
    }
    return descr && fortran && shape && rest_.trim().empty();
  }

 private:
  bool Take(llvm::StringRef text) {
    rest_ = rest_.ltrim(" \t\n");
    return rest_.consume_front(text);
  }
  bool String(std::string* text) {
    const char* quote = Take("'") ? "'" : Take("\"") ? "\"" : nullptr;
    size_t end = quote ? rest_.find(quote) : llvm::StringRef::npos;
    if (end == llvm::StringRef::npos) return false;
    *text = rest_.take_front(end).str();
    rest_ = rest_.drop_front(end + 1);
    return true;
  }
  // [('x', '<f4'), ('y', '<i8', (2,))]: elements of several fields, kept as they are written.
  bool Record(std::string* text) {
    rest_ = rest_.ltrim(" \t\n");
    if (!rest_.starts_with("[")) return false;
    size_t nesting = 0, end = 0;
    do {
      if (end == rest_.size()) return false;
      if (rest_[end] == '\'') end = rest_.find('\'', end + 1);
      if (end == llvm::StringRef::npos) return false;
      nesting += rest_[end] == '[' ? 1 : rest_[end] == ']' ? -1 : 0;
      ++end;
    } while (nesting > 0);
    *text = rest_.take_front(end).str();
    rest_ = rest_.drop_front(end);
    return true;
  }
  bool Boolean(bool* value) {
    *value = Take("True");
    return *value || Take("False");
  }
  // (3, 4), (3,), ()
  bool Shape(std::vector<int64_t>* shape) {
    if (!Take("(")) return false;
    while (!Take(")")) {
      int64_t dim;
      rest_ = rest_.ltrim(" \t\n");
      if (shape->size() == ir::kMaxRank || rest_.consumeInteger(10, dim) || dim < 0) return false;
      shape->push_back(dim);
      if (Take(",")) continue;
      if (!Take(")")) return false;
      break;
    }
    return true;
  }

  llvm::StringRef rest_;
};

FileElement ElementOfDescription(llvm::StringRef descr) {
  if (descr == "<f4") return FileElement::Float32;
  if (descr == "<f8") return FileElement::Float64;
  if (descr == "<i8") return FileElement::Int64;
  if (descr == "<i4") return FileElement::Int32;
  if (descr == "|b1") return FileElement::Bool;
  if (descr == "|u1") return FileElement::Byte;
  return FileElement::Other;
}

const char* NameOf(FileElement element) {
  switch (element) {
    case FileElement::Float32: return "<f4";
    case FileElement::Float64: return "<f8";
    case FileElement::Int64: return "<i8";
    case FileElement::Int32: return "<i4";
    case FileElement::Bool: return "|b1";
    default: return "|u1";
  }
}

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint32_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  return value;
}

constexpr size_t kFixed = 8;  // magic and version

class NpyFile : public ArrayFile {
 public:
  explicit NpyFile(std::string bytes) : ArrayFile(std::move(bytes)) {}
  bool ReadHeader(std::string* error) {
    size_t needed;
    return ReadNpyHeader(bytes_, bytes_.size(), &arrays_.emplace_back(), &needed, error) && Finish(error);
  }
  bool Read(const FileArray& array, llvm::MutableArrayRef<char> to, std::string*) override {
    if (!to.empty()) std::memcpy(to.data(), bytes_.data() + array.begin, to.size());
    return true;
  }
};

}  // namespace

bool ReadNpyHeader(std::string_view prefix, uint64_t size, FileArray* array, size_t* needed, std::string* error) {
  auto fail = [&](std::string message) {
    *needed = 0;
    *error = std::move(message);
    return false;
  };
  if (!prefix.starts_with(kNpyMagic) || prefix.size() < kFixed + 4) return fail("the file is no array of numpy");
  uint8_t version = static_cast<uint8_t>(prefix[6]);
  if (version < 1 || version > 3) return fail(fmt::format("version {} of numpy's file format is not known", version));
  size_t width = version == 1 ? 2 : 4;
  size_t length = LittleEndian(prefix.substr(kFixed, width)), data = kFixed + width + length;
  if (data > size) return fail("the file is damaged: its header is longer than the file");
  *needed = data;
  if (data > prefix.size()) return false;
  Header header;
  if (!NpyHeaderReader(llvm::StringRef(prefix.data() + kFixed + width, length)).Read(&header))
    return fail("the file is damaged: its header is not numpy's");
  array->element = ElementOfDescription(header.descr);
  array->element_name = llvm::StringRef(header.descr).take_front(40).str();
  array->column_major = header.fortran && header.shape.size() > 1;
  array->dims = std::move(header.shape);
  array->begin = data;
  array->size = size - data;
  return true;
}

std::unique_ptr<ArrayFile> OpenNpy(std::string bytes, std::string* error) {
  auto file = std::make_unique<NpyFile>(std::move(bytes));
  if (!file->ReadHeader(error)) return nullptr;
  return file;
}

std::string WriteNpy(const ArrayToWrite& array) {
  std::string shape;
  for (int64_t dim : array.dims) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", dim);
  if (array.dims.size() == 1) shape += ",";
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", NameOf(array.element), shape);
  // As numpy does it: the elements begin at a multiple of 64 bytes, behind a new line.
  constexpr size_t kAlignment = 64, kVersion1 = kFixed + 2;
  header.append(kAlignment - 1 - (kVersion1 + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string file(kNpyMagic);
  file += {1, 0, static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  file += header;
  file += array.bytes;
  return file;
}

}  // namespace df
