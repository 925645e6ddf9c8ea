// See sum_run.h. The places of all rows go over in one copy. Each part is one kernel: outer products are one product, whose inner dimension are the
// rows; tensors, and rows that go to one row of a table, are added by a thread for each column, in their order.
#include "backends/cuda/sum_run.h"

#include <vector>

#include "backends/cuda/batch_memory.h"
#include "backends/cuda/kernels.h"

namespace df::cuda {
namespace {

// Which terms go to which row: those of each target together, in their order.
struct Targets {
  std::vector<uint32_t> targets, first, order;
};

Targets Sort(const DeviceSum::Part& part, size_t rows) {
  Targets sorted;
  std::vector<uint32_t> next(rows, 0);  // first how many, then the next's place
  for (size_t i = 0; i < part.rows; ++i) ++next[static_cast<size_t>(part.targets[i])];
  uint32_t begin = 0;
  for (size_t row = 0; row < rows; ++row) {
    if (next[row] == 0) continue;
    sorted.targets.push_back(static_cast<uint32_t>(row));
    sorted.first.push_back(begin);
    begin += std::exchange(next[row], begin);
  }
  sorted.first.push_back(begin);
  sorted.order.resize(part.rows);
  for (size_t i = 0; i < part.rows; ++i) sorted.order[next[static_cast<size_t>(part.targets[i])]++] = static_cast<uint32_t>(i);
  return sorted;
}

struct Launcher {
  bool product;
  Product multiply;
  Scatter add;
};

}  // namespace

void RunSum(CudaDevice& device, const DeviceSum& sum) {
  const Element element = sum.element == ir::TypeKind::Float ? Element::Float : Element::Double;
  BatchMemory memory(device);
  std::vector<Launcher> kernels;
  for (const DeviceSum::Part& part : sum.parts) {
    Launcher& kernel = kernels.emplace_back();
    Rows x;
    x.at = memory.Send(part.x, part.rows);
    kernel.product = part.kind == DeviceSum::Kind::Products;
    if (kernel.product) {
      Product& p = kernel.multiply;
      p.element = element;
      p.x = x;
      p.x_turned = true;
      p.y.at = memory.Send(part.y, part.rows);
      p.m = sum.rows, p.k = part.rows, p.n = sum.columns;
      p.out = sum.result;
      p.goes_on = kernels.size() > 1;
      continue;
    }
    Scatter& s = kernel.add;
    s.element = element;
    s.x = x;
    s.out = sum.result;
    if (part.kind == DeviceSum::Kind::Tensors) {
      const uint32_t target = 0, first[] = {0, static_cast<uint32_t>(part.rows)};
      s.columns = sum.rows * sum.columns;
      s.num_targets = 1;
      s.targets = memory.Send(&target, 1);
      s.first = memory.Send(first, 2);
    } else {
      Targets sorted = Sort(part, sum.rows);
      s.columns = sum.columns;
      s.num_targets = static_cast<uint32_t>(sorted.targets.size());
      s.targets = memory.Send(sorted.targets.data(), sorted.targets.size());
      s.first = memory.Send(sorted.first.data(), sorted.first.size());
      s.order = memory.Send(sorted.order.data(), sorted.order.size());
    }
  }
  memory.SendAll();
  // A product that is the first begins with zeros itself.
  if (kernels.empty() || !kernels[0].product) FillWithZeros(sum.result, sum.rows * sum.columns * BytesOf(element), device.stream());
  for (const Launcher& kernel : kernels) {
    if (kernel.product) Run(kernel.multiply, device.stream());
    else Run(kernel.add, device.stream());
  }
}

}  // namespace df::cuda
