// parser/unicode.h
//
// UTF-8 decoding and the lexical classes of characters (Haskell 2010 section 2.1, as GHC reads it).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace df {

enum class CharClass : uint8_t {
  Other,     // cannot stand outside comments and literals
  Upper,     // begins a constructor or module name
  Lower,     // begins a variable; letters without case are these too
  Continue,  // digits, marks and modifiers: inside a name only
  Symbol,    // part of an operator
  Space,
};

// The class of an ASCII character.
inline CharClass AsciiClass(char c) {
  if (c >= 'a' && c <= 'z') return CharClass::Lower;
  if (c == '_') return CharClass::Lower;
  if (c >= 'A' && c <= 'Z') return CharClass::Upper;
  if ((c >= '0' && c <= '9') || c == '\'') return CharClass::Continue;
  if (c != '\0' && std::string_view("!#$%&*+./<=>?@\\^|-~:").find(c) != std::string_view::npos)
    return CharClass::Symbol;
  if (c == ' ' || (c >= '\t' && c <= '\r')) return CharClass::Space;
  return CharClass::Other;
}

// The class of a character beyond ASCII.
CharClass ClassOf(char32_t c);

// The character at text[at] and its length in bytes; length 0 if it is not valid UTF-8 (overlong forms,
// surrogates and what lies beyond U+10FFFF are not).
struct Decoded {
  char32_t code = 0;
  uint32_t length = 0;
};
Decoded DecodeUtf8(std::string_view text, size_t at);

// Appends `code` as UTF-8. Surrogates, which a Haskell Char may be, get the three bytes that the scheme
// would give them.
void AppendUtf8(std::string& to, char32_t code);

}  // namespace df
