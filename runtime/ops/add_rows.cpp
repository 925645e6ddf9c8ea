#include "runtime/ops/add_rows.h"

#include <cstring>
#include <vector>

#include "backends/cpu/elementwise.h"
#include "llvm/ADT/DenseMap.h"
#include "runtime/base/by_element.h"

namespace df {
namespace {

constexpr size_t kNone = SIZE_MAX;

// Where a row of the sum comes from: a row of x, of y, or one of each.
struct Source {
  int64_t index;
  size_t x = kNone, y = kNone;
};

std::vector<Source> SourcesOf(TensorRows& x, TensorRows& y) {
  std::vector<Source> sources;
  sources.reserve(x.count + y.count);
  llvm::DenseMap<int64_t, size_t> place;
  for (size_t k = 0; k < x.count; ++k) {
    place[x.indices()[k]] = k;
    sources.push_back({x.indices()[k], k, kNone});
  }
  for (size_t k = 0; k < y.count; ++k) {
    auto it = place.find(y.indices()[k]);
    if (it != place.end()) sources[it->second].y = k;
    else sources.push_back({y.indices()[k], kNone, k});
  }
  return sources;
}

}  // namespace

TensorRows* AddRows(TensorRows& x, TensorRows& y, ir::TypeKind element) {
  std::vector<Source> sources = SourcesOf(x, y);
  TensorRows* sum = TensorRows::New(sources.size(), x.row_bytes);
  ForReals(element, [&](auto t) {
    using T = decltype(t);
    const cpu::BinaryLoop<T> add = cpu::BinaryLoopOf<T>(ir::Op::Add);
    const size_t columns = x.row_bytes / sizeof(T);
    for (size_t k = 0; k < sources.size(); ++k) {
      const Source& source = sources[k];
      sum->indices()[k] = source.index;
      auto* to = reinterpret_cast<T*>(sum->row(k));
      auto* of_x = source.x == kNone ? nullptr : reinterpret_cast<const T*>(x.row(source.x));
      auto* of_y = source.y == kNone ? nullptr : reinterpret_cast<const T*>(y.row(source.y));
      if (!of_x || !of_y) std::memset(to, 0, x.row_bytes);
      add(of_x ? of_x : to, of_y ? of_y : to, to, columns);
    }
  });
  return sum;
}

}  // namespace df
