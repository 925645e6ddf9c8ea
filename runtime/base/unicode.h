// runtime/base/unicode.h
//
// What Data.Char of GHC 9.0 (Unicode 12) says of a character, from the table that unicode_table.hs writes.
#pragma once

#include <cstdint>

namespace df::unicode {

inline constexpr uint32_t kMaxChar = 0x10FFFF;

// The general category as fromEnum counts it: 0 UppercaseLetter ... 29 NotAssigned.
uint32_t GeneralCategory(uint32_t c);
uint32_t ToUpper(uint32_t c);
uint32_t ToLower(uint32_t c);

}  // namespace df::unicode
