// lang/utf8.h
//
// Characters to bytes and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace df {

// Appends the character `c` as UTF-8.
inline void AppendUtf8(uint32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>((more == 1 ? 0xC0 : more == 2 ? 0xE0 : 0xF0) | c >> (6 * more));
  while (more-- > 0) out += static_cast<char>(0x80 | (c >> (6 * more) & 63));
}

// Whether a byte is the second or a later one of a character.
inline bool IsUtf8Continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The character that begins at `*at`, which moves behind it. Never reads behind the end; the bytes are UTF-8.
inline uint32_t NextUtf8(std::string_view bytes, size_t* at) {
  unsigned char lead = static_cast<unsigned char>(bytes[(*at)++]);
  int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  uint32_t c = more ? lead & (0x3F >> more) : lead;
  for (; more > 0 && *at < bytes.size(); --more) c = c << 6 | (static_cast<unsigned char>(bytes[(*at)++]) & 63);
  return c;
}

}  // namespace df
