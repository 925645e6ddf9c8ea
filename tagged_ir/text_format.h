// tagged_ir/text_format.h
//
// What the printer and the reader of the text form have to agree on: which names stand bare and which are
// quoted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace df::ir::text {

inline bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// `@` may stand inside a name ("fact@Int"), never in front: there it begins a position.
inline bool IsNameChar(char c) {
  return IsNameStart(c) || (c >= '0' && c <= '9') || c == '.' || c == '\'' || c == '@' || c == '#' ||
         c == '~';
}

// Places in places, of positions.
inline constexpr uint32_t kMostNested = 100;

// Words that mean something where a name could stand, and so are quoted as names.
inline bool IsReserved(std::string_view word) {
  return word == "lazy" || word == "strict" || word == "in" || word == "at";
}

inline bool IsBareName(std::string_view name) {
  if (name.empty() || !IsNameStart(name[0]) || IsReserved(name)) return false;
  for (char c : name)
    if (!IsNameChar(c)) return false;
  return true;
}

// Shortest decimal that reads back as the same number; a NaN by its bits, which a decimal would lose. `bits` of a float are
// in the low half. text.cpp, text_parse.cpp
std::string FloatText(int64_t bits, bool is_double);
bool ReadFloat(std::string_view text, bool is_double, int64_t* bits);

// "a\nb" with quotes and escapes. Bytes from 0x80 on stay as they are.
std::string Quote(std::string_view text);
// Bare if it can be.
inline std::string NameText(std::string_view name) {
  return IsBareName(name) ? std::string(name) : Quote(name);
}

}  // namespace df::ir::text
