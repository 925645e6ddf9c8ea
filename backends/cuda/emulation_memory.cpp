// See memory.h. The card is the host: nothing is asynchronous.
#include <cstdlib>
#include <cstring>
#include <new>

#include "backends/cuda/memory.h"

namespace df::cuda {

Card FindCard() { return {"emulated", "", size_t{1} << 30}; }

char* AllocateMemory(size_t bytes) {
  auto* memory = static_cast<char*>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  if (!memory) throw std::bad_alloc();
  std::memset(memory, 0xA5, bytes);  // nothing known is in it
  return memory;
}
void FreeMemory(char* memory) noexcept { std::free(memory); }
char* AllocatePinned(size_t bytes) { return AllocateMemory(bytes); }
void FreePinned(char* memory) noexcept { std::free(memory); }

Stream NewStream() { return nullptr; }
void FreeStream(Stream) noexcept {}
void CopyToCard(char* to, const void* from, size_t bytes, Stream) {
  if (bytes) std::memcpy(to, from, bytes);
}
void CopyToHost(void* to, const char* from, size_t bytes, Stream) {
  if (bytes) std::memcpy(to, from, bytes);
}
void FillWithZeros(char* to, size_t bytes, Stream) { std::memset(to, 0, bytes); }
void Synchronise(Stream) {}

Event NewEvent() { return nullptr; }
void FreeEvent(Event) noexcept {}
void Record(Event, Stream) {}
void WaitFor(Event) {}

}  // namespace df::cuda
