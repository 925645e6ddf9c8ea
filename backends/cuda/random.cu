// Philox4x32-10, as backends/cpu/random.h has it: a thread makes the four words of a counter.
#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

constexpr unsigned kThreads = 128;

DF_DEVICE void Philox(uint64_t key, uint64_t counter, uint32_t (&c)[4]) {
  constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57, kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  c[0] = static_cast<uint32_t>(counter);
  c[1] = static_cast<uint32_t>(counter >> 32);
  c[2] = c[3] = 0;
  DF_UNROLL
  for (int round = 0; round < 10; ++round) {
    uint32_t high0 = HighProduct(kMultiplier0, c[0]), low0 = kMultiplier0 * c[0];
    uint32_t high1 = HighProduct(kMultiplier1, c[2]), low1 = kMultiplier1 * c[2];
    c[0] = high1 ^ c[1] ^ k0;
    c[1] = low1;
    c[2] = high0 ^ c[3] ^ k1;
    c[3] = low0;
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
}

DF_KERNEL UniformFloatKernel(uint64_t key, float* out, size_t count) {
  size_t counter = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  uint32_t words[4];
  Philox(key, counter, words);
  DF_UNROLL
  for (unsigned k = 0; k < 4; ++k)
    if (counter * 4 + k < count) out[counter * 4 + k] = static_cast<float>(words[k] >> 8) * 0x1p-24f;
}

DF_KERNEL UniformDoubleKernel(uint64_t key, double* out, size_t count) {
  size_t counter = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  uint32_t words[4];
  Philox(key, counter, words);
  DF_UNROLL
  for (unsigned k = 0; k < 2; ++k)
    if (counter * 2 + k < count)
      out[counter * 2 + k] = static_cast<double>((static_cast<uint64_t>(words[2 * k + 1]) << 32 | words[2 * k]) >> 11) * 0x1p-53;
}

}  // namespace

void Uniform(Element element, uint64_t key, char* out, size_t count, Stream stream) {
  if (element == Element::Double)
    Launch(UniformDoubleKernel, Cover(Cover(count, 2), kThreads), kThreads, 0, stream, key, reinterpret_cast<double*>(out), count);
  else
    Launch(UniformFloatKernel, Cover(Cover(count, 4), kThreads), kThreads, 0, stream, key, reinterpret_cast<float*>(out), count);
}

}  // namespace df::cuda
