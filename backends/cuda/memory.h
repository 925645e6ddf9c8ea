// backends/cuda/memory.h
//
// What the host does with the card besides launching kernels: its memory, copies, streams, marks in a stream. memory.cpp does it by the CUDA
// runtime, emulation_memory.cpp on the host. Throws DeviceFull where there is no memory, and DeviceFault for all else.
#pragma once

#include <cstddef>
#include <string>

#include "backends/cuda/kernels.h"
#include "runtime/run/device_errors.h"

struct CUevent_st;

namespace df::cuda {

using Event = CUevent_st*;

// Makes the card ready. Else says why there is none that can be used.
struct Card {
  std::string name;    // of the chip
  std::string missing;  // if it is not empty
  size_t memory = 0;    // bytes
};
Card FindCard();

char* AllocateMemory(size_t bytes);
void FreeMemory(char* memory) noexcept;
// The host's memory, of which the card can read while the host goes on.
char* AllocatePinned(size_t bytes);
void FreePinned(char* memory) noexcept;

Stream NewStream();
void FreeStream(Stream stream) noexcept;
// `from` and `to` of the host may be pageable; then the host waits where it has to.
void CopyToCard(char* to, const void* from, size_t bytes, Stream stream);
void CopyToHost(void* to, const char* from, size_t bytes, Stream stream);
void FillWithZeros(char* to, size_t bytes, Stream stream);
void Synchronise(Stream stream);

Event NewEvent();
void FreeEvent(Event event) noexcept;
void Record(Event event, Stream stream);
void WaitFor(Event event);

}  // namespace df::cuda
