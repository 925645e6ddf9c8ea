// runtime/utf8.h
//
// Characters to bytes.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace df
