#include "backends/cpu/random.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/interruptible_loops.h"

namespace df::cpu {

std::array<uint32_t, 4> Philox(uint64_t key, uint64_t counter, uint64_t counter_high) {
  constexpr uint32_t kMultiplier[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t kWeyl[] = {0x9E3779B9, 0xBB67AE85};
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32),
                               static_cast<uint32_t>(counter_high), static_cast<uint32_t>(counter_high >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t p0 = uint64_t{kMultiplier[0]} * c[0], p1 = uint64_t{kMultiplier[1]} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += kWeyl[0];
    k1 += kWeyl[1];
  }
  return c;
}

namespace {

constexpr double kDoubleUnit = 0x1p-53;

uint64_t Join(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }
double ToDouble(uint32_t low, uint32_t high) { return static_cast<double>(Join(low, high) >> 11) * kDoubleUnit; }

}  // namespace

template <>
void Uniform<float>(uint64_t key, float* out, size_t count) {
  for (size_t i = 0; i < count; i += 4) {
    if (i % kPiece == 0) GiveUpIfAsked();
    auto words = Philox(key, i / 4);
    for (size_t k = 0; k < std::min<size_t>(4, count - i); ++k) out[i + k] = static_cast<float>(words[k] >> 8) * 0x1p-24f;
  }
}

template <>
void Uniform<double>(uint64_t key, double* out, size_t count) {
  for (size_t i = 0; i < count; i += 2) {
    if (i % kPiece == 0) GiveUpIfAsked();
    auto words = Philox(key, i / 2);
    out[i] = ToDouble(words[0], words[1]);
    if (i + 1 < count) out[i + 1] = ToDouble(words[2], words[3]);
  }
}

template <typename T>
void Normal(uint64_t key, T* out, size_t count) {
  constexpr double kTwoPi = 6.283185307179586;
  for (size_t i = 0; i < count; i += 2) {
    if (i % kPiece == 0) GiveUpIfAsked();
    auto words = Philox(key, i / 2);
    // 1 - u is in (0, 1], so that its logarithm is a number.
    double radius = std::sqrt(-2 * std::log(1 - ToDouble(words[0], words[1])));
    double angle = kTwoPi * ToDouble(words[2], words[3]);
    out[i] = static_cast<T>(radius * std::cos(angle));
    if (i + 1 < count) out[i + 1] = static_cast<T>(radius * std::sin(angle));
  }
}
template void Normal<float>(uint64_t, float*, size_t);
template void Normal<double>(uint64_t, double*, size_t);

uint64_t DeriveKey(uint64_t key, uint64_t number) {
  auto words = Philox(key, number, 1);
  return Join(words[0], words[1]);
}

}  // namespace df::cpu
