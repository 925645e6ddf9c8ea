#include "backends/cpu/layout.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "llvm/ADT/SmallVector.h"
#include "runtime/base/interruptible_loops.h"

namespace df::cpu {
namespace {

template <typename Word>
void TransposeWords(const char* from, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> strides, char* to) {
  auto* x = reinterpret_cast<const Word*>(from);
  auto* out = reinterpret_cast<Word*>(to);
  size_t rank = dims.size();
  llvm::SmallVector<int64_t, 8> at(rank, 0);
  int64_t row = 0;  // where the current innermost row begins
  int64_t moved = 0;
  while (true) {
    if ((moved += dims[rank - 1]) >= static_cast<int64_t>(kPiece)) {
      GiveUpIfAsked();
      moved = 0;
    }
    for (int64_t i = 0; i < dims[rank - 1]; ++i) *out++ = x[row + i * strides[rank - 1]];
    size_t axis = rank - 1;
    while (axis-- > 0) {
      row += strides[axis];
      if (++at[axis] < dims[axis]) break;
      row -= strides[axis] * dims[axis];
      at[axis] = 0;
      if (axis == 0) return;
    }
    if (axis == SIZE_MAX) return;
  }
}

}  // namespace

void Transpose(const char* x, llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<uint8_t> order, size_t size, char* out) {
  size_t rank = dims.size();
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  if (count == 0) return;
  if (rank < 2) {
    CopyInPieces(out, x, static_cast<size_t>(count) * size);
    return;
  }
  llvm::SmallVector<int64_t, 8> stride(rank, 1), to_dims, to_strides;
  for (size_t i = rank - 1; i-- > 0;) stride[i] = stride[i + 1] * dims[i + 1];
  for (uint8_t axis : order) {
    to_dims.push_back(dims[axis]);
    to_strides.push_back(stride[axis]);
  }
  switch (size) {
    case 1: return TransposeWords<uint8_t>(x, to_dims, to_strides, out);
    case 4: return TransposeWords<uint32_t>(x, to_dims, to_strides, out);
    default: return TransposeWords<uint64_t>(x, to_dims, to_strides, out);
  }
}

void CopyBlocks(const char* x, size_t from_stride, char* out, size_t to_stride, size_t bytes, size_t count) {
  if (bytes == 0) return;
  for (size_t i = 0; i < count; ++i) {
    if (i % kPiece == kPiece - 1) GiveUpIfAsked();
    CopyInPieces(out + i * to_stride, x + i * from_stride, bytes);
  }
}

namespace {

// A square of 4 by 4 Floats, in registers.
typedef float Four __attribute__((vector_size(16)));

void TurnSquare(const float* x, size_t stride, float* out, size_t out_stride) {
  Four row[4], half[4];
  for (size_t r = 0; r < 4; ++r) std::memcpy(&row[r], x + r * stride, sizeof(Four));
  for (size_t k = 0; k < 2; ++k) {  // columns 0 and 1, columns 2 and 3; of two rows
    half[k] = __builtin_shufflevector(row[2 * k], row[2 * k + 1], 0, 4, 1, 5);
    half[k + 2] = __builtin_shufflevector(row[2 * k], row[2 * k + 1], 2, 6, 3, 7);
  }
  for (size_t k = 0; k < 2; ++k) {
    Four even = __builtin_shufflevector(half[2 * k], half[2 * k + 1], 0, 1, 4, 5);
    Four odd = __builtin_shufflevector(half[2 * k], half[2 * k + 1], 2, 3, 6, 7);
    std::memcpy(out + 2 * k * out_stride, &even, sizeof(Four));
    std::memcpy(out + (2 * k + 1) * out_stride, &odd, sizeof(Four));
  }
}

}  // namespace

template <typename T>
void Turn(const T* x, size_t stride, size_t rows, size_t columns, T* out) {
  constexpr size_t kSide = 16;  // of squares that stay in the cache
  // Down the rows, so that what is written follows what was: of lines that are far apart, those that are read cost less.
  for (size_t j = 0; j < columns; j += kSide)
    for (size_t i = 0; i < rows; i += kSide) {
      const size_t to_i = std::min(i + kSide, rows), to_j = std::min(j + kSide, columns);
      auto one_by_one = [&](size_t r, size_t c, size_t c_end) {
        for (; c < c_end; ++c)
          for (size_t at = r; at < to_i; ++at) out[c * rows + at] = x[at * stride + c];
      };
      size_t c = j;
      if constexpr (std::is_same_v<T, float>)
        for (; c + 4 <= to_j; c += 4) {
          size_t r = i;
          for (; r + 4 <= to_i; r += 4) TurnSquare(x + r * stride + c, stride, out + c * rows + r, rows);
          one_by_one(r, c, c + 4);
        }
      one_by_one(i, c, to_j);
    }
}
template void Turn<float>(const float*, size_t, size_t, size_t, float*);
template void Turn<double>(const double*, size_t, size_t, size_t, double*);
template void Turn<int64_t>(const int64_t*, size_t, size_t, size_t, int64_t*);

}  // namespace df::cpu
