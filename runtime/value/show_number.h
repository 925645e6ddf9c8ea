// runtime/value/show_number.h
//
// Numbers and characters as Haskell's `show` prints them.
#pragma once

#include <cstdint>
#include <string>

namespace df {

// A character in quotes.
std::string ShowChar(uint32_t code);
std::string ShowDouble(double value);
std::string ShowFloat(float value);

}  // namespace df
