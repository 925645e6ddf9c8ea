// See text.h.
#include "runtime/value/text.h"

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "lang/utf8.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/value/integer.h"
#include "runtime/value/show_number.h"

namespace df::text {
namespace {

using ir::TypeKind;

size_t DigitsAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && llvm::isDigit(text[end])) ++end;
  return end - at;
}

// The number modulo 2^64, as GHC's fromInteger gives it.
int64_t Wrapped(std::string_view digits, bool negative) {
  uint64_t value = 0;
  for (char c : digits) value = value * 10 + static_cast<uint64_t>(c - '0');
  return static_cast<int64_t>(negative ? 0 - value : value);
}

// digits [. digits] [e [+-] digits], and nothing else.
bool IsFraction(std::string_view text) {
  size_t at = DigitsAt(text, 0);
  if (at == 0) return false;
  if (at < text.size() && text[at] == '.') {
    size_t digits = DigitsAt(text, at + 1);
    if (digits == 0) return false;
    at += 1 + digits;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    size_t digits = DigitsAt(text, at);
    if (digits == 0) return false;
    at += digits;
  }
  return at == text.size();
}

template <typename T>
std::optional<T> ReadReal(std::string_view text, bool negative) {
  T value;
  if (text == "NaN") value = std::numeric_limits<T>::quiet_NaN();
  else if (text == "Infinity") value = std::numeric_limits<T>::infinity();
  else if (!IsFraction(text)) return std::nullopt;
  else if constexpr (sizeof(T) == 8) value = std::strtod(std::string(text).c_str(), nullptr);
  else value = std::strtof(std::string(text).c_str(), nullptr);
  return negative ? -value : value;
}

}  // namespace

int64_t StartOf(std::string_view text, int64_t offset) {
  if (offset <= 0) return 0;
  if (static_cast<uint64_t>(offset) >= text.size()) return static_cast<int64_t>(text.size());
  while (offset > 0 && IsUtf8Continuation(text[static_cast<size_t>(offset)])) --offset;
  return offset;
}

std::optional<uint32_t> CharAt(std::string_view text, int64_t offset) {
  if (offset < 0 || static_cast<uint64_t>(offset) >= text.size()) return std::nullopt;
  size_t at = static_cast<size_t>(offset);
  if (static_cast<signed char>(text[at]) >= 0) return static_cast<uint32_t>(text[at]);  // ASCII
  if (IsUtf8Continuation(text[at])) return std::nullopt;
  return NextUtf8(text, &at);
}

int64_t Move(std::string_view text, int64_t offset, int64_t characters) {
  auto at = static_cast<size_t>(StartOf(text, offset));
  for (; characters > 0 && at < text.size(); --characters) {
    ++at;
    while (at < text.size() && IsUtf8Continuation(text[at])) ++at;
  }
  for (; characters < 0 && at > 0; ++characters) {
    --at;
    while (at > 0 && IsUtf8Continuation(text[at])) --at;
  }
  return static_cast<int64_t>(at);
}

int64_t LengthOf(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !IsUtf8Continuation(c); });
}

int64_t Find(std::string_view text, std::string_view part, int64_t offset) {
  auto from = static_cast<size_t>(StartOf(text, offset));
  // Of memmem the time is in proportion to the lengths, whatever the texts are.
  const void* found = part.empty() ? text.data() + from : memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found ? static_cast<const char*>(found) - text.data() : -1;
}

int64_t Span(std::string_view text, std::string_view set, int64_t offset, bool among) {
  std::bitset<128> ascii;
  for (char c : set)
    if (static_cast<unsigned char>(c) < 128) ascii.set(static_cast<unsigned char>(c));
  auto at = static_cast<size_t>(StartOf(text, offset));
  while (at < text.size()) {
    size_t next = at;
    uint32_t c = NextUtf8(text, &next);
    bool has = c < 128 ? ascii.test(c) : set.find(text.substr(at, next - at)) != std::string_view::npos;
    if (has == among) break;
    at = next;
  }
  return static_cast<int64_t>(at);
}

std::string ShowNumber(TypeKind type, const Value& number) {
  switch (type) {
    case TypeKind::Integer: return integer::ToString(number);
    case TypeKind::Float: return ShowFloat(number.as_float());
    case TypeKind::Double: return ShowDouble(number.as_double());
    default: return std::to_string(number.word());
  }
}

std::optional<Value> ReadNumber(TypeKind type, std::string_view text) {
  bool negative = text.starts_with('-');
  std::string_view rest = text.substr(negative);
  switch (type) {
    case TypeKind::Float:
      if (std::optional<float> value = ReadReal<float>(rest, negative)) return Value::Float(*value);
      return std::nullopt;
    case TypeKind::Double:
      if (std::optional<double> value = ReadReal<double>(rest, negative)) return Value::Double(*value);
      return std::nullopt;
    default: break;
  }
  if (rest.empty() || DigitsAt(rest, 0) != rest.size()) return std::nullopt;
  if (type == TypeKind::Int) return Value::Word(Wrapped(rest, negative));
  Value value;
  if (!integer::Parse(text, &value)) return std::nullopt;
  return value;
}

}  // namespace df::text
