// What all formats share: see array_file.h.
#include "runtime/files/array_file.h"

#include <algorithm>

#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace df {

size_t BytesOf(FileElement element) {
  switch (element) {
    case FileElement::Float32:
    case FileElement::Int32: return 4;
    case FileElement::Float64:
    case FileElement::Int64: return 8;
    case FileElement::Bool:
    case FileElement::Byte: return 1;
    case FileElement::Other: return 0;
  }
  return 0;
}

std::unique_ptr<ArrayFile> ArrayFile::Open(std::string bytes, std::string* error) {
  if (llvm::StringRef(bytes).starts_with(kNpyMagic)) return OpenNpy(std::move(bytes), error);
  // A zip begins with its first entry, or without entries with its end.
  if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) return OpenNpz(std::move(bytes), error);
  constexpr size_t kLength = 8;  // of a safetensors header, in front of it
  if (bytes.size() > kLength && bytes[kLength] == '{') return OpenSafetensors(std::move(bytes), error);
  *error = "the file is no .npy, .npz or .safetensors file";
  return nullptr;
}

const FileArray* ArrayFile::Find(std::string_view name) const {
  auto at = llvm::lower_bound(arrays_, name, [](const FileArray& array, std::string_view n) { return array.name < n; });
  return at != arrays_.end() && at->name == name ? &*at : nullptr;
}

bool ArrayFile::HasBelow(std::string_view name) const {
  if (name.empty()) return !arrays_.empty();
  if (Find(name)) return true;
  std::string prefix = std::string(name) + ".";
  auto at = llvm::lower_bound(arrays_, prefix, [](const FileArray& array, const std::string& p) { return array.name < p; });
  return at != arrays_.end() && at->name.starts_with(prefix);
}

bool ArrayFile::Finish(std::string* error) {
  llvm::sort(arrays_, [](const FileArray& a, const FileArray& b) { return a.name < b.name; });
  for (size_t i = 0; i < arrays_.size(); ++i) {
    const FileArray& array = arrays_[i];
    if (i > 0 && arrays_[i - 1].name == array.name) {
      *error = fmt::format("the file is damaged: it has two arrays `{}`", array.name);
      return false;
    }
    std::string who = array.name.empty() ? "" : fmt::format(" of `{}`", array.name);
    int64_t count = ir::ElementCount(array.dims);
    size_t each = BytesOf(array.element);
    if (count < 0) *error = fmt::format("the file is damaged: the shape{} has too many elements", who);
    else if (each != 0 && array.size != static_cast<uint64_t>(count) * each)
      *error = fmt::format("the file is damaged: {} bytes of elements{}, want {}", array.size, who, static_cast<uint64_t>(count) * each);
    else continue;
    return false;
  }
  return true;
}

}  // namespace df
