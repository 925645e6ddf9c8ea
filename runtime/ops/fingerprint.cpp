// See fingerprint.h.
#include "runtime/ops/fingerprint.h"

#include <type_traits>
#include <vector>

#include "backends/cpu/elementwise.h"
#include "backends/cpu/product.h"
#include "backends/cpu/reduce.h"
#include "backends/linear/linear.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SHA256.h"
#include "runtime/base/interruptible_loops.h"

namespace df {
namespace {

using ir::Op;

// No multiple of what an instruction takes, so that the ends of loops run too.
constexpr size_t kCount = 1003, kRows = 19, kDepth = 37, kColumns = 23, kSquare = 9;

template <typename T>
std::vector<T> Operand(size_t count, uint64_t seed, double scale) {
  std::vector<T> x(count);
  for (T& element : x) {
    seed = seed * 6364136223846793005 + 1442695040888963407;
    element = static_cast<T>(scale * (static_cast<double>(seed >> 11) * 0x1p-52 - 1));
  }
  return x;
}

template <typename T>
void Add(llvm::SHA256& hash, const std::vector<T>& result) {
  hash.update(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(result.data()), result.size() * sizeof(T)));
}

// Where an op on Doubles is the system's function, others look at that (backends/net/fingerprint.h).
template <typename T>
void AddKernels(llvm::SHA256& hash) {
  constexpr bool kFloats = std::is_same_v<T, float>;
  std::vector<T> x = Operand<T>(kCount, 1, 9), y = Operand<T>(kCount, 2, 3), out(kCount), positive = x;
  for (T& element : positive) element = element < 0 ? -element : element + T(1);
#define DF_LOOP(op, ...) \
  cpu::Unary<T>(Op::op, Op::op == Op::Sqrt ? positive.data() : x.data(), out.data(), kCount), Add(hash, out);
#define DF_LOOP_OWN(op, ...) cpu::Unary<T>(Op::op, Op::op == Op::Log ? positive.data() : x.data(), out.data(), kCount), Add(hash, out);
#define DF_LOOP_OWN_FLOATS(op, ...) \
  if constexpr (kFloats) DF_LOOP_OWN(op, )
#define DF_LOOP_OF_TWO(op, ...) cpu::Binary<T>(Op::op, x.data(), y.data(), out.data(), kCount), Add(hash, out);
#include "backends/cpu/elementwise.def"
  std::vector<T> product(kRows * kColumns);
  cpu::MatMul(x.data(), y.data(), product.data(), kRows, kDepth, kColumns);
  Add(hash, product);
  for (cpu::Reduce how : {cpu::Reduce::Sum, cpu::Reduce::Mean, cpu::Reduce::Max, cpu::Reduce::Min}) {
    std::vector<T> reduced(kColumns);
    cpu::ReduceAxis(how, x.data(), {1, kDepth, kColumns}, reduced.data());
    Add(hash, reduced);
    reduced.resize(kDepth);
    cpu::ReduceAxis(how, x.data(), {kDepth, kColumns, 1}, reduced.data());
    Add(hash, reduced);
  }
  cpu::Softmax(x.data(), {kDepth, kColumns, 1}, /*logarithm=*/kFloats, out.data());
  Add(hash, out);
  cpu::LayerNorm(x.data(), kDepth, kColumns, y.data(), y.data() + kColumns, T(1e-3), out.data());
  Add(hash, out);
  std::vector<T> factors((kSquare + 1) * kSquare);
  linear::Lu(x.data(), factors.data(), kSquare);
  Add(hash, factors);
  factors.resize(3 * kSquare * kSquare);
  linear::Qr(x.data(), factors.data(), 2 * kSquare, kSquare);
  Add(hash, factors);
}

}  // namespace

std::array<uint8_t, 32> KernelFingerprint() {
  // Between two runs of a worker nobody catches what an interrupt throws; the run that follows, or does not, answers it.
  static const volatile std::sig_atomic_t nobody_asks = 0;
  WorkFor unasked(&nobody_asks);
  llvm::SHA256 hash;
  AddKernels<float>(hash);
  AddKernels<double>(hash);
  return hash.final();
}

}  // namespace df
