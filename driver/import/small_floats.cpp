// Float types of 16 bits and less, whose elements are Floats in the module: their bits as Floats, and roundings to them. See node.h.
#include <cmath>
#include <cstring>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

// What the largest exponent means, and the zero with a sign.
enum class Special : uint8_t {
  Ieee,      // infinities, and NaNs
  OneNan,    // all digits 1 are a NaN, and there is no infinity
  NoMinus,   // a zero with a sign is the NaN, and there is no infinity
  None,      // all are numbers
};

struct SmallFloat {
  int code, exponent_bits, digits, bias;
  Special special;
  double most;
};
constexpr int kHalf = 10, kBrain = 16, kScale = 24;
constexpr SmallFloat kTypes[] = {
    {kHalf, 5, 10, 15, Special::Ieee, 65504},    {kBrain, 8, 7, 127, Special::Ieee, 3.3895313892515355e38}, {17, 4, 3, 7, Special::OneNan, 448},
    {18, 4, 3, 8, Special::NoMinus, 240},        {19, 5, 2, 15, Special::Ieee, 57344},                      {20, 5, 2, 16, Special::NoMinus, 57344},
    {23, 2, 1, 1, Special::None, 6},             {27, 2, 3, 1, Special::None, 7.5},                         {28, 3, 2, 3, Special::None, 28}};

const SmallFloat* TypeOf(int64_t code) {
  for (const SmallFloat& each : kTypes)
    if (each.code == code) return &each;
  return nullptr;
}

float OfBits(const SmallFloat& type, uint32_t bits) {
  const int all = 1 + type.exponent_bits + type.digits;
  const uint32_t exponent = bits >> type.digits & ((1U << type.exponent_bits) - 1), digits = bits & ((1U << type.digits) - 1), top = (1U << type.exponent_bits) - 1;
  const bool minus = bits >> (all - 1) & 1;
  float size = exponent == 0 ? std::ldexp(static_cast<float>(digits), 1 - type.bias - type.digits)
                             : std::ldexp(static_cast<float>(digits + (1U << type.digits)), static_cast<int>(exponent) - type.bias - type.digits);
  if (type.special == Special::Ieee && exponent == top) size = digits ? NAN : INFINITY;
  if (type.special == Special::OneNan && exponent == top && digits == (1U << type.digits) - 1) size = NAN;
  if (type.special == Special::NoMinus && minus && exponent == 0 && digits == 0) return NAN;
  return minus ? -size : size;
}

// To the nearest of so many binary digits behind the first, ties to even: 2^k + 1 times it, where k digits go, and the rest of that.
Bound Nearest(Node& n, const Bound& x, int digits) {
  const Bound wide = n.w.Elementwise(Element::Float, {x}, fmt::format("{{0}} * {}", (int64_t{1} << (23 - digits)) + 1));
  return n.w.Elementwise(Element::Float, {x, wide}, "{1} - ({1} - {0})");
}

// The powers of two of FLOAT8E8M0: the next one that is not smaller.
Bound PowerOfTwo(Node& n, const Bound& x) {
  const Bound less = n.w.Elementwise(Element::Float, {x}, "T.select (T.greater {0} 1.0e18) ({0} * 5.421010862427522e-20) {0}");
  const Bound next = n.w.Elementwise(Element::Float, {less, Nearest(n, less, 0)}, "T.select (T.less {1} {0}) (2 * {1}) {1}");
  const Bound back = n.w.Elementwise(Element::Float, {x, next}, "T.select (T.greater {0} 1.0e18) ({1} * 18446744073709551616) {1}");
  const std::string most = NumberText(Element::Float, std::ldexp(1.0, 127)), least = NumberText(Element::Float, std::ldexp(1.0, -127));
  return n.w.Elementwise(Element::Float, {x, back}, fmt::format("T.select (T.greater {{0}} {0}) {0} (T.select (T.less {{0}} {1}) {1} {{1}})", most, least));
}

}  // namespace

bool IsSmallFloat(int64_t code) { return TypeOf(code) != nullptr || code == kScale; }

int SmallFloatBits(int64_t code) {
  const SmallFloat* type = TypeOf(code);
  return type ? std::max(1 + type->exponent_bits + type->digits, 4) : 8;
}

std::string Widened(const std::string& bytes, int64_t code, int64_t count) {
  const SmallFloat* type = TypeOf(code);
  const int bits = SmallFloatBits(code);
  std::string wide;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t own = 0;
    if (bits == 16) {
      uint16_t pair;
      std::memcpy(&pair, bytes.data() + 2 * i, sizeof pair);
      own = pair;
    } else {  // packed, the first in the lower bits
      for (int64_t at = i * bits, k = 0; k < bits; ++k) own |= (static_cast<uint32_t>(static_cast<uint8_t>(bytes[static_cast<size_t>((at + k) / 8)])) >> ((at + k) % 8) & 1U) << k;
    }
    const float value = type ? OfBits(*type, own) : own == 255 ? NAN : std::ldexp(1.0F, static_cast<int>(own) - 127);
    wide.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return wide;
}

Bound RoundedTo(Node& n, const Bound& x, int64_t code, bool saturate) {
  if (code == kScale) {
    if (!saturate || n.Text("round_mode", "up") != "up") throw Fault{"its rounding to FLOAT8E8M0 is not upwards"};
    return PowerOfTwo(n, x);
  }
  const SmallFloat& type = *TypeOf(code);
  const Bound near = Nearest(n, x, type.digits);
  if (code == kBrain) {  // near the largest numbers it is done at 2^-24 of the size
    const Bound less = n.w.Elementwise(Element::Float, {x}, "{0} * 5.9604644775390625e-8");
    const Bound large = n.w.Elementwise(Element::Float, {less}, "({0} * 65537 - ({0} * 65537 - {0})) * 16777216");
    return n.w.Elementwise(Element::Float, {x, near, large}, "T.select (T.less (abs ({0} * 65537)) (1 / 0)) {1} (T.select (T.less (abs {0}) (1 / 0)) {2} {0})");
  }
  // The smallest ones have a step, to which the sum with a large number rounds.
  const int least = 1 - type.bias;
  const std::string below = NumberText(Element::Float, std::ldexp(1.0, least)), step = NumberText(Element::Float, std::ldexp(1.5, 23 + least - type.digits));
  const Bound fine = n.w.Elementwise(Element::Float, {x, near}, fmt::format("T.select (T.less (abs {{0}}) {0}) ({{0}} + {1} - {1}) (T.select (T.less (abs {{0}}) 1.0e30) {{1}} {{0}})", below, step));
  const std::string most = NumberText(Element::Float, type.most);
  if (type.special == Special::None) return n.w.Elementwise(Element::Float, {fine}, fmt::format("T.select (T.equal {{0}} {{0}}) (T.max (negate {0}) (T.min {0} {{0}})) 0", most));
  const bool infinite = type.special == Special::Ieee;
  const std::string beyond = code == kHalf || (!saturate && infinite) ? "{0} * (1 / 0)" : saturate ? fmt::format("signum {{0}} * {}", most) : "(0 / 0)";
  return n.w.Elementwise(Element::Float, {fine}, fmt::format("T.select (T.greater (abs {{0}}) {}) ({}) {{0}}", most, beyond));
}

}  // namespace df::from_onnx
