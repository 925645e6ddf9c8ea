#include "runtime/npy.h"

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"

namespace df {
namespace {

using ir::TypeKind;

// What the header says: a dictionary as Python writes it, of three entries in any order.
struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;
};

// Recursive descent over the header's text. Each function returns false where the text does not fit.
class HeaderReader {
 public:
  explicit HeaderReader(llvm::StringRef text) : rest_(text) {}

  bool Read(Header* header) {
    bool descr = false, fortran = false, shape = false;
    if (!Take("{")) return false;
    while (!Take("}")) {
      std::string key;
      if (!String(&key) || !Take(":")) return false;
      bool* seen = key == "descr" ? &descr : key == "fortran_order" ? &fortran : key == "shape" ? &shape : nullptr;
      if (!seen || *seen) return false;
      *seen = true;
      if (key == "descr" && !String(&header->descr)) return false;
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

// Bytes of an element in the file; 0 if such elements are not those of the type.
size_t BytesInFile(TypeKind element, llvm::StringRef descr) {
  switch (element) {
    case TypeKind::Float: return descr == "<f4" ? 4 : 0;
    case TypeKind::Double: return descr == "<f8" ? 8 : 0;
    case TypeKind::Int: return descr == "<i8" ? 8 : descr == "<i4" ? 4 : 0;
    default: return descr == "|b1" ? 1 : 0;
  }
}

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint32_t{static_cast<unsigned char>(bytes[i])} << 8 * i;
  return value;
}

}  // namespace

std::optional<Value> ReadNpy(const ir::Type& type, std::string_view bytes, std::string* error) {
  auto fail = [&](std::string message) {
    *error = std::move(message);
    return std::nullopt;
  };
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr size_t kFixed = 8;  // magic and version
  if (!bytes.starts_with(kMagic) || bytes.size() < kFixed + 4) return fail("the file is no array of numpy");
  uint8_t version = static_cast<uint8_t>(bytes[6]);
  if (version < 1 || version > 3) return fail(fmt::format("version {} of numpy's file format is not known", version));
  size_t width = version == 1 ? 2 : 4;
  size_t length = LittleEndian(bytes.substr(kFixed, width)), data = kFixed + width + length;
  if (data > bytes.size()) return fail("the file is damaged: its header is longer than the file");
  Header header;
  if (!HeaderReader(llvm::StringRef(bytes.data() + kFixed + width, length)).Read(&header))
    return fail("the file is damaged: its header is not numpy's");
  size_t each = BytesInFile(type.element, header.descr);
  if (each == 0 || header.shape != type.dims)
    return fail(fmt::format("the file has an array of `{}` with the shape {}, and a {} is expected",
                            llvm::StringRef(header.descr).take_front(40).str(), ir::ShapeText(header.shape), type.name));
  if (header.fortran && type.dims.size() > 1) return fail("the array is in column-major order: write it with numpy.ascontiguousarray");
  size_t count = static_cast<size_t>(ir::ElementCount(type.dims));
  if (bytes.size() - data != count * each)
    return fail(fmt::format("the file is damaged: {} bytes of elements, want {}", bytes.size() - data, count * each));
  Value value = MakeTensor(type.element, type.dims);
  TensorObject& tensor = *TensorIn(value);
  const char* from = bytes.data() + data;
  if (type.element == TypeKind::Int && each == 4) {
    for (size_t i = 0; i < count; ++i) {
      int32_t element;
      std::memcpy(&element, from + i * each, each);
      tensor.as<int64_t>()[i] = element;
    }
  } else {
    std::memcpy(tensor.data(), from, count * each);
  }
  if (type.element == TypeKind::Bool)
    for (size_t i = 0; i < count; ++i)
      if (tensor.as<uint8_t>()[i] > 1) return fail("the file is damaged: a truth value is neither 0 nor 1");
  return value;
}

}  // namespace df
