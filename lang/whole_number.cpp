#include "lang/whole_number.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"

namespace df {

std::string DecimalDigits(std::string_view text) {
  std::string digits;
  bool negative = !text.empty() && text[0] == '-';
  for (char c : text.substr(negative ? 1 : 0))
    if (c != '_') digits += c;
  unsigned radix = 10;
  if (digits.size() > 2 && digits[0] == '0' && !llvm::isDigit(digits[1])) {
    char kind = llvm::toLower(digits[1]);
    radix = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (radix != 10) digits.erase(0, 2);
  }
  if (radix != 10) {
    llvm::APInt value(static_cast<unsigned>(digits.size() * 4 + 1), digits, radix);
    llvm::SmallString<64> decimal;
    value.toStringUnsigned(decimal);
    digits = decimal.str().str();
  }
  size_t zeros = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  digits.erase(0, zeros);
  return negative && digits != "0" ? "-" + digits : digits;
}

int64_t WrappedToWord(std::string_view digits) {
  uint64_t value = 0;
  for (char c : digits)
    if (c != '-') value = value * 10 + static_cast<uint64_t>(c - '0');
  return static_cast<int64_t>(digits[0] == '-' ? 0 - value : value);
}

}  // namespace df
