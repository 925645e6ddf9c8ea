// driver/files.h
//
// Reading sources and graphs, and writing files so that nobody ever sees half of one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lang/diagnostics.h"

namespace df {

// Of the files that hold sources. The last is literate (parser/literate.h).
inline constexpr std::string_view kSourceEndings[] = {".df", ".hs", ".lhs"};

inline constexpr uint64_t kMaxSourceBytes = uint64_t{512} << 20;  // spans count 32 bits, and tokens take room
inline constexpr uint64_t kMaxGraphBytes = (uint64_t{2} << 30) - 1;  // as far as protobuf goes

inline constexpr uint64_t kMaxInputBytes = uint64_t{1} << 40;  // what there is memory for

// The whole file, or standard input for "-". Reports what is wrong and returns nullopt.
std::optional<std::string> ReadFile(const std::string& path, uint64_t max_bytes, Diagnostics& diags);

// Writes beside the target and renames, so that the target is the old file or the whole new one. Devices and pipes
// are written directly; "-" is standard output. Reports what is wrong and returns false.
bool WriteFile(const std::string& path, std::string_view bytes, Diagnostics& diags);

// Whether WriteFile can write there, as far as one can know beforehand: what takes hours to compute is not to be lost for a
// misspelt folder. Reports what is wrong.
bool CanWriteFile(const std::string& path, Diagnostics& diags);

// The name of `path` in messages.
std::string DisplayName(const std::string& path);

}  // namespace df
