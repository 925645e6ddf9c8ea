// Rows added to a table, where several may go to one row of it: which these are is known before, so each element of the table has one thread,
// which adds its terms in their order. There may be thousands of them in one row, the gradient of a bias: so the block looks up the places of
// some rows at once, and each thread has several elements on their way to it before it adds the first.
#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

constexpr unsigned kThreads = 128;
constexpr uint32_t kAtOnce = 16;  // elements on their way

template <typename T>
DF_KERNEL ScatterKernel(DF_PARAMETER Scatter scatter) {
  DF_SHARED const T* places[kThreads];
  size_t across = (scatter.columns + kThreads - 1) / kThreads;
  size_t column = BlockIndex() % across * kThreads + ThreadIndex(), target = BlockIndex() / across;
  const bool mine = column < scatter.columns;
  T* to = reinterpret_cast<T*>(scatter.out) + scatter.targets[target] * scatter.columns + column;
  T sum = mine ? *to : T(0);
  const uint32_t end = scatter.first[target + 1];
  for (uint32_t begin = scatter.first[target]; begin < end; begin += kThreads) {
    const uint32_t rows = end - begin < kThreads ? end - begin : kThreads;
    if (ThreadIndex() < rows) {
      uint32_t term = begin + ThreadIndex();
      places[ThreadIndex()] = reinterpret_cast<const T*>(RowOf(scatter.x, scatter.order ? scatter.order[term] : term));
    }
    Barrier();
    for (uint32_t i = 0; mine && i < rows; i += kAtOnce) {
      T terms[kAtOnce];
      DF_UNROLL
      for (uint32_t j = 0; j < kAtOnce; ++j)
        if (i + j < rows) terms[j] = places[i + j][column];
      DF_UNROLL
      for (uint32_t j = 0; j < kAtOnce; ++j)
        if (i + j < rows) sum = sum + terms[j];
    }
    Barrier();  // before the places of the next rows
  }
  if (mine) *to = sum;
}

}  // namespace

void Run(const Scatter& scatter, Stream stream) {
  if (scatter.num_targets == 0 || scatter.columns == 0) return;
  ForReals(scatter.element, [&](auto t) {
    Launch(ScatterKernel<decltype(t)>, scatter.num_targets * Cover(scatter.columns, kThreads), kThreads, 0, stream, scatter);
  });
}

}  // namespace df::cuda
