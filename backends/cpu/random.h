// backends/cpu/random.h
//
// Random numbers that are a function of a key and an index: the counter-based generator Philox4x32-10 of J. Salmon, M. Moraes,
// R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). No state, so any part can be made anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace df::cpu {

// Four words for a 64-bit key and a 128-bit counter.
std::array<uint32_t, 4> Philox(uint64_t key, uint64_t counter, uint64_t counter_high = 0);

// Numbers in [0, 1): of each element i the word i of the stream (Double: the words 2i and 2i + 1), its top 24 (53) bits.
template <typename T>
void Uniform(uint64_t key, T* out, size_t count);
// Standard normal, by Box and Muller from the uniform Doubles 2i and 2i + 1 for the elements 2i and 2i + 1.
template <typename T>
void Normal(uint64_t key, T* out, size_t count);
// A key for each pair, from a stream that Uniform and Normal do not use.
uint64_t DeriveKey(uint64_t key, uint64_t number);

}  // namespace df::cpu
