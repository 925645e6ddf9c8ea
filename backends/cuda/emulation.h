// backends/cuda/emulation.h
//
// Blocks of a kernel on the host (launch.h).
#pragma once

#include <cstddef>
#include <functional>

namespace df::cuda::emulation {

// Where the thread that runs now is in its grid.
struct Place {
  unsigned thread = 0, block = 0, blocks = 0;
  char* shared = nullptr;  // what the launch gave the block besides what the kernel declares
};
extern Place at;

// Runs `kernel` for each thread of each block. Every thread of a block has to meet the same barriers.
void Run(size_t blocks, unsigned threads, size_t shared, const std::function<void()>& kernel);
// At a barrier: the next thread's turn.
void Yield();

}  // namespace df::cuda::emulation
