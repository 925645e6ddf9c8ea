// backends/cuda/launch.h
//
// What the kernels are written with: how a kernel is declared and launched, barriers, asynchronous copies to the memory that a block
// shares. Two ways: CUDA's own; and the host's, with which the same sources run where there is no GPU. There a block's threads are
// contexts that take turns on one thread of the host, from barrier to barrier; blocks follow each other; a copy is done at once.
#pragma once

#include <math.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/cuda/kernels.h"

#ifdef __CUDACC__

#include <cuda_runtime.h>

#include "backends/cuda/error.h"

#define DF_KERNEL __global__ void
#define DF_DEVICE static __device__ __forceinline__
#define DF_MEMBER __device__ __forceinline__
#define DF_MOST_THREADS(count, blocks) __launch_bounds__(count, blocks)
#define DF_SHARED __shared__
#define DF_CONSTANTS static __constant__ const
#define DF_PARAMETER __grid_constant__ const
#define DF_UNROLL _Pragma("unroll")

namespace df::cuda {

// `shared`: bytes of the block's memory besides what the kernel declares.
template <typename... P, typename... A>
void Launch(void (*kernel)(P...), size_t blocks, unsigned threads, size_t shared, Stream stream, const A&... arguments) {
  if (blocks == 0) return;
  kernel<<<static_cast<unsigned>(blocks), threads, shared, stream>>>(arguments...);
  Check(cudaGetLastError(), "a kernel");
}

DF_DEVICE unsigned ThreadIndex() { return threadIdx.x; }
DF_DEVICE unsigned BlockIndex() { return blockIdx.x; }
DF_DEVICE unsigned BlockCount() { return gridDim.x; }
DF_DEVICE void Barrier() { __syncthreads(); }
DF_DEVICE char* DynamicShared() {
  extern __shared__ __align__(16) char shared[];
  return shared;
}
// One element to the memory of the block; zero if it is not `there`. Done when a WaitForCopies after the EndOfCopies has returned.
template <typename T>
DF_DEVICE void CopyAsync(T* to, const T* from, bool there) {
  unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(address), "l"(from), "n"(sizeof(T)),
               "r"(there ? static_cast<unsigned>(sizeof(T)) : 0u));
}
DF_DEVICE void EndOfCopies() { asm volatile("cp.async.commit_group;\n" ::); }
// All groups but the last `kOpen` have arrived.
template <int kOpen>
DF_DEVICE void WaitForCopies() { asm volatile("cp.async.wait_group %0;\n" ::"n"(kOpen)); }
DF_DEVICE float Fused(float x, float y, float z) { return __fmaf_rn(x, y, z); }
DF_DEVICE double Fused(double x, double y, double z) { return __fma_rn(x, y, z); }
DF_DEVICE uint32_t HighProduct(uint32_t x, uint32_t y) { return __umulhi(x, y); }

}  // namespace df::cuda

#else

#include "backends/cuda/emulation.h"

#define DF_KERNEL static void
#define DF_DEVICE static inline
#define DF_MEMBER inline
#define DF_MOST_THREADS(count, blocks)
#define DF_SHARED static
#define DF_CONSTANTS static constexpr
#define DF_PARAMETER const
#define DF_UNROLL

namespace df::cuda {

template <typename... P, typename... A>
void Launch(void (*kernel)(P...), size_t blocks, unsigned threads, size_t shared, Stream, const A&... arguments) {
  emulation::Run(blocks, threads, shared, [&] { kernel(arguments...); });
}

DF_DEVICE unsigned ThreadIndex() { return emulation::at.thread; }
DF_DEVICE unsigned BlockIndex() { return emulation::at.block; }
DF_DEVICE unsigned BlockCount() { return emulation::at.blocks; }
DF_DEVICE void Barrier() { emulation::Yield(); }
DF_DEVICE char* DynamicShared() { return emulation::at.shared; }
template <typename T>
DF_DEVICE void CopyAsync(T* to, const T* from, bool there) { *to = there ? *from : T(0); }
DF_DEVICE void EndOfCopies() {}
template <int kOpen>
DF_DEVICE void WaitForCopies() {}
DF_DEVICE float Fused(float x, float y, float z) { return std::fma(x, y, z); }
DF_DEVICE double Fused(double x, double y, double z) { return std::fma(x, y, z); }
DF_DEVICE uint32_t HighProduct(uint32_t x, uint32_t y) { return static_cast<uint32_t>(uint64_t{x} * y >> 32); }

}  // namespace df::cuda

#endif

namespace df::cuda {

DF_DEVICE const char* RowOf(const Rows& rows, size_t i) { return (rows.at ? rows.at[i] : rows.base + i * rows.stride) + rows.offset; }

// How many blocks cover `count` with so many each.
inline size_t Cover(size_t count, size_t each) { return (count + each - 1) / each; }

template <typename F>
void ForReals(Element element, F f) {
  if (element == Element::Double) f(double{});
  else f(float{});
}
template <typename F>
void ForNumbers(Element element, F f) {
  if (element == Element::Int) f(int64_t{});
  else ForReals(element, f);
}

}  // namespace df::cuda
