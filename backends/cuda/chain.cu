// Chains of elementwise ops: a small interpreter. A thread has kEach elements; the values between the steps are in the block's memory, a
// place for each thread, so that the number of a slot need not be known when this is compiled. What a step costs besides its op, reading
// it and finding its slots, is shared by the elements of a thread; and a chain reads its inputs and writes its results once.
#include <type_traits>

#include "backends/cuda/functions.h"
#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

using ir::Op;

constexpr unsigned kThreads = 128;

template <typename T>
DF_DEVICE T LoadElement(const char* row, size_t i, Element element) {
  return element == Element::Bool ? static_cast<T>(reinterpret_cast<const uint8_t*>(row)[i]) : reinterpret_cast<const T*>(row)[i];
}

template <typename T>
DF_DEVICE T Apply(Op op, T x, T y, T z) {
  switch (op) {
    case Op::Eq: return T(x == y);
    case Op::Ne: return T(x != y);
    case Op::Lt: return T(x < y);
    case Op::Le: return T(x <= y);
    case Op::Gt: return T(x > y);
    case Op::Ge: return T(x >= y);
    case Op::Not: return T(x == T(0));
    case Op::Where: return x != T(0) ? y : z;
    default: break;
  }
  if constexpr (std::is_same_v<T, int64_t>) {
    // They wrap.
    const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    switch (op) {
      case Op::Add: return static_cast<int64_t>(a + b);
      case Op::Sub: return static_cast<int64_t>(a - b);
      case Op::Mul: return static_cast<int64_t>(a * b);
      case Op::Neg: return static_cast<int64_t>(0 - a);
      case Op::Min: return x < y ? x : y;
      case Op::Max: return x > y ? x : y;
      case Op::Abs: return x < 0 ? static_cast<int64_t>(0 - a) : x;
      case Op::Signum: return x > 0 ? T(1) : x < 0 ? T(-1) : T(0);
      default: break;
    }
  } else {
    const T v = x, w = y;
    switch (op) {
#define REAL T
#define DF_LOOP(name, ...) \
  case Op::name: return __VA_ARGS__;
#define DF_LOOP_OWN(name, ...) \
  case Op::name: return __VA_ARGS__;
#define DF_LOOP_OWN_FLOATS(name, ...)                                  \
  case Op::name:                                                       \
    if constexpr (std::is_same_v<T, float>) return __VA_ARGS__;        \
    break;
#define DF_LOOP_OF_TWO(name, ...) \
  case Op::name: return __VA_ARGS__;
#include "backends/cpu/elementwise.def"
#undef REAL
      case Op::Min: return SmallerOf(x, y);
      case Op::Max: return LargerOf(x, y);
      case Op::Signum: return x > 0 ? T(1) : x < 0 ? T(-1) : x;
      default: break;
    }
  }
  return x;
}

template <typename T, int kEach>
DF_KERNEL ChainKernel(DF_PARAMETER Chain chain) {
  auto* slots = reinterpret_cast<T*>(DynamicShared()) + ThreadIndex();
  auto slot = [&](unsigned s, int e) -> T& { return slots[(s * kEach + static_cast<unsigned>(e)) * kThreads]; };
  const size_t count = chain.rows * chain.length;
  const size_t first = static_cast<size_t>(BlockIndex()) * (kThreads * kEach) + ThreadIndex();
  size_t row[kEach];
  uint32_t column[kEach];
  DF_UNROLL
  for (int e = 0; e < kEach; ++e) {
    size_t at = first + static_cast<size_t>(e) * kThreads;
    if (at >= count) at = 0;  // computed for nobody
    row[e] = at / chain.length;
    column[e] = static_cast<uint32_t>(at % chain.length);
  }
  for (uint32_t s = 0; s < chain.num_steps; ++s) {
    const Chain::Step step = chain.steps[s];
    if (step.kind == Chain::Kind::Load) {
      const Chain::Input& input = chain.inputs[step.in[0]];
      DF_UNROLL
      for (int e = 0; e < kEach; ++e) {
        uint32_t i = input.period == chain.length ? column[e] : input.period == 1 ? 0 : column[e] % input.period;
        slot(step.out, e) = LoadElement<T>(RowOf(input.rows, row[e]), i, input.element);
      }
    } else if (step.kind == Chain::Kind::Store) {
      const Chain::Output& output = chain.outputs[step.out];
      DF_UNROLL
      for (int e = 0; e < kEach; ++e) {
        if (first + static_cast<size_t>(e) * kThreads >= count) continue;
        char* to = output.base + row[e] * output.stride;
        T value = slot(step.in[0], e);
        if (output.element == Element::Bool) reinterpret_cast<uint8_t*>(to)[column[e]] = value != T(0);
        else reinterpret_cast<T*>(to)[column[e]] = value;
      }
    } else {
      T x[kEach], y[kEach], z[kEach];
      DF_UNROLL
      for (int e = 0; e < kEach; ++e) {
        x[e] = slot(step.in[0], e);
        y[e] = slot(step.in[1], e);
        z[e] = slot(step.in[2], e);
      }
      DF_UNROLL
      for (int e = 0; e < kEach; ++e) slot(step.out, e) = Apply(step.op, x[e], y[e], z[e]);
    }
  }
}

// A thread for each element.
template <typename From, typename To>
DF_KERNEL ConvertKernel(DF_PARAMETER Rows x, To* out, size_t rows, size_t count) {
  size_t at = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  if (at >= rows * count) return;
  From value = reinterpret_cast<const From*>(RowOf(x, at / count))[at % count];
  if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, int64_t>) out[at] = TruncateToInt(value);
  else out[at] = static_cast<To>(value);
}

}  // namespace

void Run(const Chain& chain, Stream stream) {
  size_t count = chain.rows * chain.length;
  if (count == 0) return;
  ForNumbers(chain.element, [&](auto t) {
    using T = decltype(t);
    // Several elements a thread where all multiprocessors have work even so.
    constexpr int kMany = sizeof(T) == 4 ? 4 : 2;
    constexpr size_t kManyFrom = 132 * 8 * kThreads * kMany;
    if (count >= kManyFrom && chain.num_slots * kThreads * kMany * sizeof(T) <= 48 << 10)
      Launch(ChainKernel<T, kMany>, Cover(count, kThreads * kMany), kThreads, chain.num_slots * kThreads * kMany * sizeof(T), stream, chain);
    else
      Launch(ChainKernel<T, 1>, Cover(count, kThreads), kThreads, chain.num_slots * kThreads * sizeof(T), stream, chain);
  });
}

void Convert(const Rows& x, Element from, Element to, char* out, size_t rows, size_t count, Stream stream) {
  if (rows * count == 0) return;
  ForNumbers(from, [&](auto f) {
    ForNumbers(to, [&](auto t) {
      using From = decltype(f);
      using To = decltype(t);
      if constexpr (!std::is_same_v<From, To>)
        Launch(ConvertKernel<From, To>, Cover(rows * count, kThreads), kThreads, 0, stream, x, reinterpret_cast<To*>(out), rows, count);
    });
  });
}

}  // namespace df::cuda
