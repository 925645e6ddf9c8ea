// lang/whole_number.h
//
// Whole numbers as the source writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace df {

// An integer literal, 0x, 0o and 0b, underscores and a minus in front included, as decimal digits with a sign.
std::string DecimalDigits(std::string_view text);

// The number modulo 2^64, as GHC's fromInteger gives it, of what DecimalDigits gave.
int64_t WrappedToWord(std::string_view digits);

}  // namespace df
