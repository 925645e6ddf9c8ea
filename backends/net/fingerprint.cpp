#include "backends/net/fingerprint.h"

#include <bit>
#include <cmath>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SHA256.h"

namespace df::net {
namespace {

// All that the kernels of scalars take from the library (runtime/ops/kernels.cpp), with arguments for which it is defined.
struct Function {
  double (*of_double)(double);
  float (*of_float)(float);
  double least, most;
};

constexpr Function kFunctions[] = {
    {::sin, ::sinf, -20, 20},   {::cos, ::cosf, -20, 20},   {::tan, ::tanf, -20, 20},     {::asin, ::asinf, -1, 1},     {::acos, ::acosf, -1, 1},
    {::atan, ::atanf, -20, 20}, {::sinh, ::sinhf, -20, 20}, {::cosh, ::coshf, -20, 20},   {::tanh, ::tanhf, -4, 4},     {::asinh, ::asinhf, -20, 20},
    {::acosh, ::acoshf, 1, 20}, {::atanh, ::atanhf, -1, 1}, {::exp, ::expf, -40, 40},     {::log, ::logf, 1e-9, 1e9},
    {::erf, ::erff, -4, 4},
};

// Variants of these functions with and without fused multiplication and addition differ for one argument in some tens up to some
// thousands; so many find each of them.
constexpr int kArguments = 4096;

// A fraction of [0, 1) with all its bits.
double Fraction(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;  // splitmix64
  uint64_t bits = state;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
}

// A float is a double with the same value.
void Add(llvm::SHA256& hash, double result) {
  const uint64_t bits = std::bit_cast<uint64_t>(result);
  uint8_t bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(bits >> (8 * i));
  hash.update(bytes);
}

}  // namespace

Digest LibmFingerprint() {
  llvm::SHA256 hash;
  uint64_t state = 1;
  for (const Function& function : kFunctions)
    for (int i = 0; i < kArguments; ++i) {
      const double argument = function.least + (function.most - function.least) * Fraction(state);
      Add(hash, function.of_double(argument));
      Add(hash, function.of_float(static_cast<float>(argument)));
    }
  for (int i = 0; i < kArguments; ++i) {
    const double x = 10 * Fraction(state), y = 40 * Fraction(state) - 20;
    Add(hash, ::pow(x, y));
    Add(hash, ::powf(static_cast<float>(x), static_cast<float>(y)));
    Add(hash, ::atan2(x - 5, y));
    Add(hash, ::atan2f(static_cast<float>(x - 5), static_cast<float>(y)));
  }
  return hash.final();
}

Digest Sha256(std::string_view bytes) {
  return llvm::SHA256::hash(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace df::net
