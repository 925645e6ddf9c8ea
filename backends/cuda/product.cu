// Matrix products of which each element is one chain of fused multiplications and additions in the order of the inner dimension
// (backends/cpu/product.h). So the inner dimension is never divided among threads: a thread has some elements of the result and goes
// through all of it. What is divided is the result: into tiles, of a size that gives every multiprocessor work.
//
// A block goes through the inner dimension in steps of kDepth. The parts of x and y that a step needs are copied into the block's
// memory, asynchronously, kStages - 1 steps ahead; x is put there with its rows as columns, so that a thread reads the factors of its
// elements side by side. Places beyond the result are zeros, and are not stored. Nothing is put behind the end of the inner dimension:
// a chain that has come to -0 would not be -0 any more.
#include <type_traits>

#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

constexpr int kStages = 3;

// How an operand is given, seen from the place in the result that it stands for (a row of it for x, a column for y).
enum class Given : uint8_t {
  ByPlace,  // a row of the operand for each place: [places, k]
  ByInner,  // a row for each number of the inner dimension: [k, places]
};

// The sizes of a tile: of the result, of a step, and of what a thread has.
template <int kRows_, int kColumns_, int kDepth_, int kThreadRows_, int kThreadColumns_>
struct Tile {
  static constexpr int kRows = kRows_, kColumns = kColumns_, kDepth = kDepth_;
  static constexpr int kThreadRows = kThreadRows_, kThreadColumns = kThreadColumns_;
  static constexpr int kThreads = kRows / kThreadRows * (kColumns / kThreadColumns);
};

// Copies an operand's part of a step. `kWidth` places.
template <typename T, Given kGiven, int kWidth, int kDepth, int kThreads>
struct Part {
  // So that threads write to different banks, and rows begin at multiples of 16 bytes.
  static constexpr int kLine = kWidth + 16 / static_cast<int>(sizeof(T));
  static constexpr int kElements = kLine * kDepth;
  static constexpr int kEach = kWidth * kDepth / kThreads;
  static_assert(kWidth * kDepth % kThreads == 0);

  // Which element of the part the c-th of this thread is: neighbours in memory are of neighbouring threads.
  static DF_MEMBER int PlaceOf(int c) {
    int e = static_cast<int>(ThreadIndex()) + c * kThreads;
    return kGiven == Given::ByPlace ? e / kDepth : e % kWidth;
  }
  static DF_MEMBER int InnerOf(int c) {
    int e = static_cast<int>(ThreadIndex()) + c * kThreads;
    return kGiven == Given::ByPlace ? e % kDepth : e / kWidth;
  }

  const T* row[kEach];  // of each element: its place's row; or the row of the next step

  DF_MEMBER void Begin(const Rows& rows, size_t first, size_t places, size_t k) {
    if constexpr (kGiven == Given::ByInner) {
      Find(rows, 0, k);
    } else {
      DF_UNROLL
      for (int c = 0; c < kEach; ++c) {
        size_t place = first + static_cast<size_t>(PlaceOf(c));
        row[c] = reinterpret_cast<const T*>(RowOf(rows, place < places ? place : first));
      }
    }
  }
  // Rows of the step that begins at `inner`: ahead of their use, as they may have to be looked up.
  DF_MEMBER void Find(const Rows& rows, size_t inner, size_t k) {
    DF_UNROLL
    for (int c = 0; c < kEach; ++c) {
      size_t l = inner + static_cast<size_t>(InnerOf(c));
      row[c] = reinterpret_cast<const T*>(RowOf(rows, l < k ? l : 0));
    }
  }
  DF_MEMBER void Copy(const Rows& rows, T* to, size_t inner, size_t k, size_t first, size_t places) {
    DF_UNROLL
    for (int c = 0; c < kEach; ++c) {
      size_t l = inner + static_cast<size_t>(InnerOf(c)), place = first + static_cast<size_t>(PlaceOf(c));
      bool there = l < k && place < places;
      size_t at = kGiven == Given::ByPlace ? l : place;
      CopyAsync(to + InnerOf(c) * kLine + PlaceOf(c), row[c] + (there ? at : 0), there);
    }
    if (kGiven == Given::ByInner) Find(rows, inner + kDepth, k);
  }
};

// A thread's places among kWidth: groups of 16 bytes, kWidth / groups apart, so that neighbouring threads read neighbouring groups.
template <typename T, int kWidth, int kEach>
struct Places {
  static constexpr int kGroup = kEach * static_cast<int>(sizeof(T)) > 16 ? 16 / static_cast<int>(sizeof(T)) : kEach;
  static constexpr int kGroups = kEach / kGroup;
  static DF_MEMBER int Of(int index, int i) { return i / kGroup * (kWidth / kGroups) + index * kGroup + i % kGroup; }
};

template <typename T, int kCount>
struct alignas(sizeof(T) * kCount) Pack {
  T values[kCount];
};

template <typename T, int kWidth, int kEach>
DF_DEVICE void Read(const T* line, int index, T (&values)[kEach]) {
  using At = Places<T, kWidth, kEach>;
  DF_UNROLL
  for (int g = 0; g < At::kGroups; ++g) {
    auto pack = *reinterpret_cast<const Pack<T, At::kGroup>*>(line + At::Of(index, g * At::kGroup));
    DF_UNROLL
    for (int i = 0; i < At::kGroup; ++i) values[g * At::kGroup + i] = pack.values[i];
  }
}

struct Sizes {
  size_t m, k, n;
};

template <typename T, typename S, Given kX, Given kY>
DF_KERNEL DF_MOST_THREADS(S::kThreads, S::kThreads <= 256 && S::kThreadRows * S::kThreadColumns * sizeof(T) >= 256 ? 2 : 1)
ProductKernel(DF_PARAMETER Rows x, DF_PARAMETER Rows y, T* out, DF_PARAMETER Sizes sizes, bool goes_on) {
  using X = Part<T, kX, S::kRows, S::kDepth, S::kThreads>;
  using Y = Part<T, kY, S::kColumns, S::kDepth, S::kThreads>;
  auto* x_space = reinterpret_cast<T*>(DynamicShared());
  T* y_space = x_space + kStages * X::kElements;
  const size_t m = sizes.m, k = sizes.k, n = sizes.n;
  const size_t row_tiles = (m + S::kRows - 1) / S::kRows;
  const size_t first_row = BlockIndex() % row_tiles * S::kRows, first_column = BlockIndex() / row_tiles * S::kColumns;
  constexpr int kAcross = S::kColumns / S::kThreadColumns;
  const int my_column = static_cast<int>(ThreadIndex()) % kAcross, my_row = static_cast<int>(ThreadIndex()) / kAcross;
  using RowPlaces = Places<T, S::kRows, S::kThreadRows>;
  using ColumnPlaces = Places<T, S::kColumns, S::kThreadColumns>;

  T sum[S::kThreadRows][S::kThreadColumns];
  DF_UNROLL
  for (int r = 0; r < S::kThreadRows; ++r)
    DF_UNROLL
    for (int c = 0; c < S::kThreadColumns; ++c) {
      size_t i = first_row + static_cast<size_t>(RowPlaces::Of(my_row, r)), j = first_column + static_cast<size_t>(ColumnPlaces::Of(my_column, c));
      sum[r][c] = goes_on && i < m && j < n ? out[i * n + j] : T(0);
    }

  X x_part;
  Y y_part;
  x_part.Begin(x, first_row, m, k);
  y_part.Begin(y, first_column, n, k);
  auto copy = [&](size_t step) {
    size_t inner = step * S::kDepth, stage = step % kStages;
    if (inner < k) {
      x_part.Copy(x, x_space + stage * X::kElements, inner, k, first_row, m);
      y_part.Copy(y, y_space + stage * Y::kElements, inner, k, first_column, n);
    }
    EndOfCopies();
  };
  auto add = [&](const T* x_line, const T* y_line) {
    T left[S::kThreadRows], right[S::kThreadColumns];
    Read<T, S::kRows>(x_line, my_row, left);
    Read<T, S::kColumns>(y_line, my_column, right);
    DF_UNROLL
    for (int r = 0; r < S::kThreadRows; ++r)
      DF_UNROLL
      for (int c = 0; c < S::kThreadColumns; ++c) sum[r][c] = Fused(left[r], right[c], sum[r][c]);
  };

  for (size_t step = 0; step < kStages - 1; ++step) copy(step);
  for (size_t step = 0; step * S::kDepth < k; ++step) {
    WaitForCopies<kStages - 2>();
    Barrier();  // what was copied is seen by all, and nobody reads what the next copy writes over
    copy(step + kStages - 1);
    const T* x_line = x_space + step % kStages * X::kElements;
    const T* y_line = y_space + step % kStages * Y::kElements;
    size_t rest = k - step * S::kDepth;
    if (rest >= S::kDepth) {
      DF_UNROLL
      for (int l = 0; l < S::kDepth; ++l) add(x_line + l * X::kLine, y_line + l * Y::kLine);
    } else {
      for (size_t l = 0; l < rest; ++l) add(x_line + l * X::kLine, y_line + l * Y::kLine);
    }
  }

  DF_UNROLL
  for (int r = 0; r < S::kThreadRows; ++r)
    DF_UNROLL
    for (int c = 0; c < S::kThreadColumns; ++c) {
      size_t i = first_row + static_cast<size_t>(RowPlaces::Of(my_row, r)), j = first_column + static_cast<size_t>(ColumnPlaces::Of(my_column, c));
      if (i < m && j < n) out[i * n + j] = sum[r][c];
    }
}

using cuda::Fused;
DF_DEVICE int64_t Fused(int64_t x, int64_t y, int64_t z) {  // wraps
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y) + static_cast<uint64_t>(z));
}

// A thread for each element.
template <typename T>
DF_KERNEL EachProductKernel(DF_PARAMETER EachProduct p) {
  size_t at = static_cast<size_t>(BlockIndex()) * 128 + ThreadIndex();
  if (at >= p.rows * p.m * p.n) return;
  size_t j = at % p.n, i = at / p.n % p.m, row = at / (p.n * p.m);
  auto* left = reinterpret_cast<const T*>(RowOf(p.x, row)) + i * p.k;
  auto* right = reinterpret_cast<const T*>(RowOf(p.y, row)) + (p.y_turned ? j * p.k : j);
  size_t step = p.y_turned ? 1 : p.n;
  T sum = T(0);
  for (size_t l = 0; l < p.k; ++l) sum = Fused(left[l], right[l * step], sum);
  reinterpret_cast<T*>(p.out)[at] = sum;
}

template <typename T, typename S, Given kX, Given kY>
void RunTile(const Product& p, Stream stream) {
  using X = Part<T, kX, S::kRows, S::kDepth, S::kThreads>;
  using Y = Part<T, kY, S::kColumns, S::kDepth, S::kThreads>;
  constexpr size_t kShared = kStages * (X::kElements + Y::kElements) * sizeof(T);
  static_assert(kShared <= 48 << 10);  // what every device gives without being asked
  Launch(ProductKernel<T, S, kX, kY>, Cover(p.m, S::kRows) * Cover(p.n, S::kColumns), S::kThreads, kShared, stream, p.x, p.y,
         reinterpret_cast<T*>(p.out), Sizes{p.m, p.k, p.n}, p.goes_on);
}

// Tiles, the largest first. Of Doubles, which take twice the room, the two largest are left out.
template <typename T, Given kX, Given kY>
void RunSuited(const Product& p, int tile, Stream stream) {
  constexpr bool kFloat = std::is_same_v<T, float>;
  constexpr int kDepth = kFloat ? 16 : 8;
  switch (tile) {
    case 0:
      if constexpr (kFloat) return RunTile<T, Tile<128, 128, 8, 8, 8>, kX, kY>(p, stream);
      [[fallthrough]];
    case 1:
      if constexpr (kFloat) return RunTile<T, Tile<64, 128, 8, 8, 8>, kX, kY>(p, stream);
      [[fallthrough]];
    case 2: return RunTile<T, Tile<64, 64, kDepth, 8, 4>, kX, kY>(p, stream);
    case 3: return RunTile<T, Tile<32, 64, kDepth, 4, 4>, kX, kY>(p, stream);
    case 4: return RunTile<T, Tile<32, 32, kDepth, 4, 2>, kX, kY>(p, stream);
    case 5: return RunTile<T, Tile<16, 32, 2 * kDepth, 2, 2>, kX, kY>(p, stream);
    default: return RunTile<T, Tile<8, 32, 2 * kDepth, 2, 1>, kX, kY>(p, stream);
  }
}

// What a tile costs on an H100, as tests/bench/cuda_products.py --tiles shows it: a block alone takes so many nanoseconds for each number of the
// inner dimension, as it waits for memory and for the chains; and when there are enough blocks, all of them reach so many TFLOP/s.
// On another card the choice may be slower; the bits are the same.
struct TileCost {
  size_t rows, columns;
  double alone, rate;
};
constexpr TileCost kTileCosts[kProductTiles] = {{128, 128, 152, 33}, {64, 128, 92, 28.7}, {64, 64, 53, 25.7}, {32, 64, 38.5, 19.5},
                                                {32, 32, 37, 16.4},  {16, 32, 26, 12},    {8, 32, 21.5, 7.7}};
constexpr size_t kMultiprocessors = 132;

int SuitedTile(size_t m, size_t n) {
  int best = 0;
  double best_time = 0;
  for (int tile = 0; tile < kProductTiles; ++tile) {
    const TileCost& cost = kTileCosts[tile];
    size_t each = Cover(Cover(m, cost.rows) * Cover(n, cost.columns), kMultiprocessors);  // blocks of a multiprocessor
    double together = static_cast<double>(each * kMultiprocessors * cost.rows * cost.columns) * 2e-3 / cost.rate;
    double time = together > cost.alone ? together : cost.alone;
    if (tile > 0 && time >= best_time) continue;
    best = tile;
    best_time = time;
  }
  return best;
}

}  // namespace

void Run(const Product& p, Stream stream) {
  if (p.m == 0 || p.n == 0 || (p.k == 0 && p.goes_on)) return;
  int tile = p.tile < 0 ? SuitedTile(p.m, p.n) : p.tile;
  ForReals(p.element, [&](auto t) {
    using T = decltype(t);
    if (p.x_turned) RunSuited<T, Given::ByInner, Given::ByInner>(p, tile, stream);
    else if (p.y_turned) RunSuited<T, Given::ByPlace, Given::ByPlace>(p, tile, stream);
    else RunSuited<T, Given::ByPlace, Given::ByInner>(p, tile, stream);
  });
}

void Run(const EachProduct& p, Stream stream) {
  size_t all = p.rows * p.m * p.n;
  if (all == 0) return;
  ForNumbers(p.element, [&](auto t) { Launch(EachProductKernel<decltype(t)>, Cover(all, 128), 128, 0, stream, p); });
}

}  // namespace df::cuda
