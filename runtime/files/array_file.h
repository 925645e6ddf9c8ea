// runtime/files/array_file.h
//
// Files of arrays: numpy's .npy (one array) and .npz (a zip of them), and .safetensors. What is read may come from anywhere:
// names, shapes, sizes and places are checked before anything is believed, and nothing is taken apart before somebody asks
// for it with room of the size that the program expects.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "tagged_ir/tensor_type.h"

namespace df {

// What an array's elements are in a file. Others are kept by name, for messages.
enum class FileElement : uint8_t { Float32, Float64, Int64, Int32, Bool, Byte, Other };

// Bytes of an element; 0 of Other.
size_t BytesOf(FileElement element);

struct FileArray {
  std::string name;  // "layer1.weight"; of a .npy file ""
  FileElement element = FileElement::Other;
  std::string element_name;  // as the file says it: "<f4", "BF16"
  std::vector<int64_t> dims;
  bool column_major = false;
  uint64_t begin = 0, size = 0;  // of its elements, in bytes: from the beginning of the file, of a .npz from that of the entry
  uint64_t entry = 0;            // .npz: which
};

class ArrayFile {
 public:
  // The format is recognised by the first bytes. On failure null, and `error` says what is wrong.
  static std::unique_ptr<ArrayFile> Open(std::string bytes, std::string* error);
  virtual ~ArrayFile() = default;

  // Ordered by name; no name is there twice. The sizes are those of the shapes.
  llvm::ArrayRef<FileArray> arrays() const { return arrays_; }
  const FileArray* Find(std::string_view name) const;
  // Whether there is an array of this name, or one whose name begins with it and a dot. Every array is below "".
  bool HasBelow(std::string_view name) const;
  // The elements, little-endian and in the order of the file; `to` has the array's size.
  virtual bool Read(const FileArray& array, llvm::MutableArrayRef<char> to, std::string* error) = 0;

 protected:
  explicit ArrayFile(std::string bytes) : bytes_(std::move(bytes)) {}
  // Orders the arrays. False if a name is there twice, or an element count is too large.
  bool Finish(std::string* error);

  std::string bytes_;
  std::vector<FileArray> arrays_;
};

// ---------------------------------------------------------------- writing

struct ArrayToWrite {
  std::string name;
  FileElement element;
  std::vector<int64_t> dims;
  std::string_view bytes;  // little-endian, row-major
};

// Whole files. The same arrays give the same bytes. The names are different ones.
std::string WriteNpy(const ArrayToWrite& array);
std::string WriteNpz(llvm::ArrayRef<ArrayToWrite> arrays);  // stored, as numpy.savez does; after CanUseZip
std::string WriteSafetensors(llvm::ArrayRef<ArrayToWrite> arrays);

// False, and why: libzip, which .npz files need, cannot be loaded.
bool CanUseZip(std::string* error);

// ---------------------------------------------------------------- of one format

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

// Reads the header at the beginning of a .npy file or entry of `size` bytes, of which `prefix` holds the first. If it ends
// before the header does, `needed` says how long it would have to be.
bool ReadNpyHeader(std::string_view prefix, uint64_t size, FileArray* array, size_t* needed, std::string* error);

std::unique_ptr<ArrayFile> OpenNpy(std::string bytes, std::string* error);
std::unique_ptr<ArrayFile> OpenNpz(std::string bytes, std::string* error);
std::unique_ptr<ArrayFile> OpenSafetensors(std::string bytes, std::string* error);

}  // namespace df
