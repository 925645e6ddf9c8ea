// Rows added to a table, where several may go to one row of it: which these are is known before, so each element of the table has one thread,
// which adds its terms in their order.
#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

constexpr unsigned kThreads = 128;

template <typename T>
DF_KERNEL ScatterKernel(DF_PARAMETER Scatter scatter) {
  size_t across = (scatter.columns + kThreads - 1) / kThreads;
  size_t column = BlockIndex() % across * kThreads + ThreadIndex(), target = BlockIndex() / across;
  if (column >= scatter.columns) return;
  T* to = reinterpret_cast<T*>(scatter.out) + scatter.targets[target] * scatter.columns + column;
  T sum = *to;
  for (uint32_t i = scatter.first[target]; i < scatter.first[target + 1]; ++i)
    sum = sum + reinterpret_cast<const T*>(RowOf(scatter.x, scatter.order[i]))[column];
  *to = sum;
}

}  // namespace

void Run(const Scatter& scatter, Stream stream) {
  if (scatter.num_targets == 0 || scatter.columns == 0) return;
  ForReals(scatter.element, [&](auto t) {
    Launch(ScatterKernel<decltype(t)>, scatter.num_targets * Cover(scatter.columns, kThreads), kThreads, 0, stream, scatter);
  });
}

}  // namespace df::cuda
