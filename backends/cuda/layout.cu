// Moving elements without looking at them.
#include "backends/cuda/launch.h"

namespace df::cuda {
namespace {

constexpr unsigned kThreads = 256, kSide = 32;

// `words` words a block; a thread for each word.
template <typename Word>
DF_KERNEL CopyKernel(DF_PARAMETER Blocks copy, size_t words, size_t all) {
  size_t at = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  if (at >= all) return;
  size_t row = at / (words * copy.blocks), in_row = at % (words * copy.blocks);
  size_t block = in_row / words, word = in_row % words;
  auto* from = reinterpret_cast<const Word*>(RowOf(copy.x, row) + block * copy.from_stride);
  auto* to = reinterpret_cast<Word*>(copy.out + row * copy.out_stride + block * copy.to_stride);
  to[word] = from[word];
}

template <typename Word>
DF_KERNEL TransposeKernel(DF_PARAMETER Rows x, DF_PARAMETER Order order, size_t each, size_t all, Word* out) {
  size_t at = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  if (at >= all) return;
  size_t rest = at % each, from = 0;
  for (uint32_t axis = order.rank; axis-- > 0;) {
    from += rest % order.dims[axis] * order.strides[axis];
    rest /= order.dims[axis];
  }
  out[at] = reinterpret_cast<const Word*>(RowOf(x, at / each))[from];
}

// A square at a time, through the block's memory, so that rows of both are read and written along.
template <typename Word>
DF_KERNEL TurnKernel(const Word* x, size_t rows, size_t columns, Word* out) {
  DF_SHARED Word square[kSide][kSide + 1];
  size_t across = (columns + kSide - 1) / kSide;
  size_t row = BlockIndex() / across * kSide, column = BlockIndex() % across * kSide;
  unsigned i = ThreadIndex() % kSide, first = ThreadIndex() / kSide;
  for (unsigned j = first; j < kSide; j += kThreads / kSide)
    if (row + j < rows && column + i < columns) square[j][i] = x[(row + j) * columns + column + i];
  Barrier();
  for (unsigned j = first; j < kSide; j += kThreads / kSide)
    if (column + j < columns && row + i < rows) out[(column + j) * rows + row + i] = square[i][j];
}

template <typename Word>
DF_KERNEL SetElementKernel(DF_PARAMETER Rows words, DF_PARAMETER Rows element, char* out, size_t out_stride, size_t rows) {
  size_t row = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  if (row >= rows) return;
  int64_t at = *reinterpret_cast<const int64_t*>(RowOf(words, row));
  reinterpret_cast<Word*>(out + row * out_stride)[at] = *reinterpret_cast<const Word*>(RowOf(element, row));
}

template <typename T>
DF_KERNEL OneHotKernel(DF_PARAMETER Rows indices, size_t per_row, size_t size, T* out, size_t all) {
  size_t at = static_cast<size_t>(BlockIndex()) * kThreads + ThreadIndex();
  if (at >= all) return;
  size_t line = at / size;
  int64_t index = reinterpret_cast<const int64_t*>(RowOf(indices, line / per_row))[line % per_row];
  out[at] = T(index == static_cast<int64_t>(at % size));
}

template <typename F>
void ForWords(size_t bytes, F f) {
  if (bytes == 1) f(uint8_t{});
  else if (bytes == 4) f(uint32_t{});
  else f(uint64_t{});
}

}  // namespace

void Copy(const Blocks& copy, size_t rows, Stream stream) {
  if (copy.bytes == 0 || copy.blocks == 0 || rows == 0) return;
  ForWords(copy.element_bytes == 1 ? 1 : 4, [&](auto word) {
    using Word = decltype(word);
    size_t words = copy.bytes / sizeof(Word), all = words * copy.blocks * rows;
    Launch(CopyKernel<Word>, Cover(all, kThreads), kThreads, 0, stream, copy, words, all);
  });
}

void Transpose(const Rows& x, const Order& order, size_t element_bytes, char* out, size_t rows, Stream stream) {
  size_t each = 1;
  for (uint32_t axis = 0; axis < order.rank; ++axis) each *= order.dims[axis];
  if (each * rows == 0) return;
  ForWords(element_bytes, [&](auto word) {
    using Word = decltype(word);
    Launch(TransposeKernel<Word>, Cover(each * rows, kThreads), kThreads, 0, stream, x, order, each, each * rows, reinterpret_cast<Word*>(out));
  });
}

void Turn(const char* x, size_t rows, size_t columns, size_t element_bytes, char* out, Stream stream) {
  if (rows * columns == 0) return;
  ForWords(element_bytes, [&](auto word) {
    using Word = decltype(word);
    Launch(TurnKernel<Word>, Cover(rows, kSide) * Cover(columns, kSide), kThreads, 0, stream, reinterpret_cast<const Word*>(x), rows, columns,
           reinterpret_cast<Word*>(out));
  });
}

void SetElement(const Rows& words, const Rows& element, size_t element_bytes, char* out, size_t out_stride, size_t rows, Stream stream) {
  if (rows == 0) return;
  ForWords(element_bytes, [&](auto word) {
    Launch(SetElementKernel<decltype(word)>, Cover(rows, kThreads), kThreads, 0, stream, words, element, out, out_stride, rows);
  });
}

void OneHot(Element element, const Rows& indices, size_t per_row, size_t size, char* out, size_t rows, Stream stream) {
  size_t all = rows * per_row * size;
  if (all == 0) return;
  ForNumbers(element, [&](auto t) {
    using T = decltype(t);
    Launch(OneHotKernel<T>, Cover(all, kThreads), kThreads, 0, stream, indices, per_row, size, reinterpret_cast<T*>(out), all);
  });
}

}  // namespace df::cuda
