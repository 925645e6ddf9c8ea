// backends/cpu/level.h
//
// Which instruction set this processor has, of those that the loops are compiled for: DFC_X86_LEVELS says that there are
// others than the plain one.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define DFC_X86_LEVELS 1
#endif

namespace df::cpu {

template <typename T>
T ForThisProcessor(T plain, [[maybe_unused]] T avx2, [[maybe_unused]] T avx512) {
#ifdef DFC_X86_LEVELS
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw"))
    return avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2;
#endif
  return plain;
}

}  // namespace df::cpu
