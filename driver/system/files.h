// driver/system/files.h
//
// Reading sources and graphs, and writing files so that nobody ever sees half of one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "lang/diagnostics.h"
#include "runtime/base/memory.h"
#include "runtime/run/engine.h"

namespace df {

// Of the files that hold sources. The last is literate (parser/literate.h).
inline constexpr std::string_view kSourceEndings[] = {".df", ".hs", ".lhs"};

inline constexpr uint64_t kMaxSourceBytes = uint64_t{512} << 20;  // spans count 32 bits, and tokens take room
inline constexpr uint64_t kMaxGraphBytes = (uint64_t{2} << 30) - 1;  // as far as protobuf goes

inline constexpr uint64_t kMaxInputBytes = uint64_t{1} << 40;  // what there is memory for

// What reading one file may take. A device may never end, and a pipe may wait for ever for somebody who writes into it.
struct ReadBounds {
  uint64_t max_memory = 0;               // bytes; 0: as many as a run may have
  std::chrono::milliseconds timeout{0};  // 0: any time
  const std::atomic<bool>* interrupt = nullptr;
};

// While it lives, ReadFile keeps to these bounds.
class ReadBoundsScope {
 public:
  explicit ReadBoundsScope(ReadBounds bounds);
  ~ReadBoundsScope();
  ReadBoundsScope(const ReadBoundsScope&) = delete;
  ReadBoundsScope& operator=(const ReadBoundsScope&) = delete;

 private:
  ReadBounds before_;
};

// A file was not read to its end, since a bound was reached or an interrupt came: no fault of the file.
class ReadingStopped : public std::exception {
 public:
  ReadingStopped(Stop stop, std::string reason, const std::string& path);
  Stop stop() const { return stop_; }
  const std::string& reason() const { return reason_; }  // "the time limit of 1 s is reached"
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  Stop stop_;
  std::string reason_, text_;
};

// The whole file, or standard input for "-": a device and a pipe as far as they end. Reports what is wrong and returns nullopt; throws
// ReadingStopped. With `count` the bytes are counted there, against the limit of the run that they are for.
std::optional<std::string> ReadFile(const std::string& path, uint64_t max_bytes, Diagnostics& diags, memory::CountedBytes* count = nullptr);

// Writes beside the target and renames, so that the target is the old file or the whole new one; what such a write of a process that was
// killed has left beside it goes. Devices and pipes are written directly; "-" is standard output. Reports what is wrong and returns false.
bool WriteFile(const std::string& path, std::string_view bytes, Diagnostics& diags);

// Whether WriteFile can write there, as far as one can know beforehand: what takes hours to compute is not to be lost for a
// misspelt folder. Reports what is wrong.
bool CanWriteFile(const std::string& path, Diagnostics& diags);

// The name of `path` in messages.
std::string DisplayName(const std::string& path);

}  // namespace df
