// See memory.h.
#include "backends/cuda/memory.h"

#include <cuda_runtime_api.h>

#include "backends/cuda/error.h"

namespace df::cuda {

Card FindCard() {
  Card card;
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
  cudaDeviceProp properties;
  if (error == cudaSuccess) error = cudaSetDevice(0);
  if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties, 0);
  if (error == cudaSuccess) error = cudaFree(nullptr);  // makes the context
  if (error != cudaSuccess) {
    cudaGetLastError();
    card.missing = cudaGetErrorString(error);
    return card;
  }
  card.name = properties.name;
  card.memory = properties.totalGlobalMem;
  return card;
}

char* AllocateMemory(size_t bytes) {
  void* memory = nullptr;
  Check(cudaMalloc(&memory, bytes), "memory");
  return static_cast<char*>(memory);
}
void FreeMemory(char* memory) noexcept { cudaFree(memory); }
char* AllocatePinned(size_t bytes) {
  void* memory = nullptr;
  Check(cudaMallocHost(&memory, bytes), "pinned memory");
  return static_cast<char*>(memory);
}
void FreePinned(char* memory) noexcept { cudaFreeHost(memory); }

Stream NewStream() {
  Stream stream;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  return stream;
}
void FreeStream(Stream stream) noexcept { cudaStreamDestroy(stream); }
void CopyToCard(char* to, const void* from, size_t bytes, Stream stream) {
  Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "a copy to the card");
}
void CopyToHost(void* to, const char* from, size_t bytes, Stream stream) {
  Check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "a copy to the host");
}
void FillWithZeros(char* to, size_t bytes, Stream stream) { Check(cudaMemsetAsync(to, 0, bytes, stream), "a fill"); }
void Synchronise(Stream stream) { Check(cudaStreamSynchronize(stream), "waiting"); }

Event NewEvent() {
  Event event;
  Check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "an event");
  return event;
}
void FreeEvent(Event event) noexcept { cudaEventDestroy(event); }
void Record(Event event, Stream stream) { Check(cudaEventRecord(event, stream), "an event"); }
void WaitFor(Event event) { Check(cudaEventSynchronize(event), "waiting"); }

}  // namespace df::cuda
