// .safetensors: eight bytes with the length of a header, the header, a JSON object that says of each array its elements, shape and
// place, and the elements of all arrays one after the other.
#include <algorithm>
#include <cstring>
#include <utility>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "runtime/files/safetensors_header.h"
#include "runtime/text/show_json.h"

namespace df {
namespace {

constexpr size_t kLength = 8;
constexpr uint64_t kMostHeader = 100'000'000;  // as the format's own reader has it

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
    std::string fault;
    if (!ReadSafetensorsHeader(std::string_view(bytes_).substr(kLength, length), arrays_, &fault)) return fail(fault);
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
  std::string text = "{";
  uint64_t end = 0;
  for (const ArrayToWrite* array : order) {
    const uint64_t begin = std::exchange(end, end + array->bytes.size());
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", array == order[0] ? "" : ",", JsonString(array->name),
                        SafetensorsName(array->element), fmt::join(array->dims, ","), begin, end);
  }
  text += '}';
  text.append((kLength - text.size() % kLength) % kLength, ' ');
  std::string file;
  file.reserve(kLength + text.size() + end);
  for (size_t i = 0; i < kLength; ++i) file += static_cast<char>(text.size() >> 8 * i);
  file += text;
  for (const ArrayToWrite* array : order) file += array->bytes;
  return file;
}

}  // namespace df
