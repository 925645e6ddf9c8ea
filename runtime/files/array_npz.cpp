// numpy's archives (.npz): a zip file with an entry NAME.npy for each array, stored or deflated. libzip knows zip.
#include <algorithm>
#include <memory>

#include "fmt/format.h"
#include "llvm/ADT/StringRef.h"
#include "runtime/files/array_file.h"
#include "runtime/files/zip_library.h"

namespace df {
namespace {

constexpr const char* kSuffix = ".npy";

// After CanUseZip.
const ZipLibrary& Zip() {
  std::string why;
  static const ZipLibrary& library = *LoadZip(&why);
  return library;
}

struct CloseEntry {
  void operator()(zip_file_t* file) const { Zip().zip_fclose(file); }
};
struct DiscardArchive {
  void operator()(zip_t* zip) const { Zip().zip_discard(zip); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

std::string TextOf(const zip_error_t& error) {
  zip_error_t copy = error;
  return Zip().zip_error_strerror(&copy);
}

// Reads until `to` is full or the entry ends; how much, or -1.
int64_t ReadUpTo(zip_file_t* file, char* to, uint64_t size) {
  uint64_t done = 0;
  while (done < size) {
    zip_int64_t got = Zip().zip_fread(file, to + done, size - done);
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<uint64_t>(got);
  }
  return static_cast<int64_t>(done);
}

class NpzFile : public ArrayFile {
 public:
  explicit NpzFile(std::string bytes) : ArrayFile(std::move(bytes)) {}

  bool ReadHeaders(std::string* error) {
    zip_error_t reason;
    Zip().zip_error_init(&reason);
    zip_source_t* source = Zip().zip_source_buffer_create(bytes_.data(), bytes_.size(), 0, &reason);
    if (source) zip_.reset(Zip().zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &reason));
    if (!zip_) {
      if (source) Zip().zip_source_free(source);
      *error = "the file is damaged: " + TextOf(reason);
      Zip().zip_error_fini(&reason);
      return false;
    }
    Zip().zip_error_fini(&reason);
    zip_int64_t count = Zip().zip_get_num_entries(zip_.get(), 0);
    for (zip_int64_t i = 0; i < count; ++i)
      if (!ReadEntry(static_cast<uint64_t>(i), error)) return false;
    return Finish(error);
  }

  bool Read(const FileArray& array, llvm::MutableArrayRef<char> to, std::string* error) override {
    Entry file(Zip().zip_fopen_index(zip_.get(), array.entry, 0));
    // The header again, then the elements; that nothing follows is read too, since libzip compares the checksum at the end.
    std::string header(array.begin, '\0');
    char more;
    if (file && ReadUpTo(file.get(), header.data(), header.size()) == static_cast<int64_t>(header.size()) &&
        ReadUpTo(file.get(), to.data(), to.size()) == static_cast<int64_t>(to.size()) && Zip().zip_fread(file.get(), &more, 1) == 0)
      return true;
    *error = fmt::format("the file is damaged: `{}` cannot be unpacked", array.name);
    return false;
  }

 private:
  bool ReadEntry(uint64_t index, std::string* error) {
    constexpr uint64_t kMostHeader = 1 << 20;
    zip_stat_t stat;
    if (Zip().zip_stat_index(zip_.get(), index, 0, &stat) != 0 || !(stat.valid & ZIP_STAT_NAME) || !(stat.valid & ZIP_STAT_SIZE)) {
      *error = "the file is damaged: an entry has no name or no size";
      return false;
    }
    llvm::StringRef name(stat.name);
    if (!name.consume_back(kSuffix)) {
      *error = fmt::format("the file has an entry `{}`, which is no array: their names end in .npy", name.str());
      return false;
    }
    FileArray array;
    array.name = name.str();
    array.entry = index;
    std::string header;
    size_t needed = 128;  // of most headers
    std::string reason;
    for (;;) {
      uint64_t size = std::min<uint64_t>(needed, stat.size);
      Entry file(Zip().zip_fopen_index(zip_.get(), index, 0));
      header.resize(size);
      if (size > kMostHeader || !file || ReadUpTo(file.get(), header.data(), size) != static_cast<int64_t>(size)) {
        *error = fmt::format("the file is damaged: `{}` cannot be unpacked", array.name);
        return false;
      }
      if (ReadNpyHeader(header, stat.size, &array, &needed, &reason)) break;
      if (needed > size) continue;
      *error = fmt::format("`{}`: {}", array.name, reason);
      return false;
    }
    arrays_.push_back(std::move(array));
    return true;
  }

  Archive zip_;
};

}  // namespace

bool CanUseZip(std::string* error) { return LoadZip(error) != nullptr; }

std::unique_ptr<ArrayFile> OpenNpz(std::string bytes, std::string* error) {
  if (!CanUseZip(error)) return nullptr;
  auto file = std::make_unique<NpzFile>(std::move(bytes));
  if (!file->ReadHeaders(error)) return nullptr;
  return file;
}

std::string WriteNpz(llvm::ArrayRef<ArrayToWrite> arrays) {
  // Nothing here fails but for want of memory: it is all in memory.
  auto need = [](bool done) {
    if (!done) throw std::bad_alloc();
  };
  zip_error_t reason;
  Zip().zip_error_init(&reason);
  zip_source_t* target = Zip().zip_source_buffer_create(nullptr, 0, 0, &reason);
  need(target);
  Zip().zip_source_keep(target);
  std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> kept(target, Zip().zip_source_free);
  Archive zip(Zip().zip_open_from_source(target, ZIP_TRUNCATE, &reason));
  need(zip != nullptr);
  std::vector<std::string> files;  // until the archive is closed
  for (const ArrayToWrite& array : arrays) files.push_back(WriteNpy(array));
  for (size_t i = 0; i < arrays.size(); ++i) {
    zip_source_t* source = Zip().zip_source_buffer(zip.get(), files[i].data(), files[i].size(), 0);
    need(source);
    zip_int64_t index = Zip().zip_file_add(zip.get(), (arrays[i].name + kSuffix).c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) Zip().zip_source_free(source);
    need(index >= 0);
    auto entry = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01: the same arrays give the same bytes
    need(Zip().zip_set_file_compression(zip.get(), entry, ZIP_CM_STORE, 0) == 0 &&
         Zip().zip_file_set_dostime(zip.get(), entry, 0, kFirstDay, 0) == 0);
  }
  if (arrays.empty()) return std::string("PK\5\6", 4) + std::string(18, '\0');  // libzip writes no archive without entries
  need(Zip().zip_close(zip.get()) == 0);
  static_cast<void>(zip.release());
  need(Zip().zip_source_open(target) == 0);
  std::string bytes;
  zip_stat_t stat;
  need(Zip().zip_source_stat(target, &stat) == 0 && (stat.valid & ZIP_STAT_SIZE));
  bytes.resize(stat.size);
  need(Zip().zip_source_read(target, bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size()));
  Zip().zip_source_close(target);
  return bytes;
}

}  // namespace df
