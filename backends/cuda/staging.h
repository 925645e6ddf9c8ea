// backends/cuda/staging.h
//
// Small things on their way to the card: places of rows and indices, which the kernels of a batch read. They are put together in pinned memory
// and go over in one copy; the host goes on meanwhile. There are several such buffers, so that it need not wait for a copy.
#pragma once

#include <array>
#include <cstring>

#include "backends/cuda/memory.h"

namespace df::cuda {

class Staging {
 public:
  static constexpr size_t kBytes = 1 << 20;  // a buffer
  explicit Staging(Stream stream);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // Begins with an empty buffer.
  void Begin();
  // Room for so many bytes, and where they will be on the card; null if the buffer is full.
  char* Take(size_t bytes, char** on_card);
  // Sends what was taken. Kernels that are launched later find it there.
  void Send();
  // Of memory that is the caller's again: by way of a buffer, which has room for it.
  void SendTo(char* to, const void* from, size_t bytes);

 private:
  static constexpr size_t kBuffers = 16;
  struct Buffer {
    char* host = nullptr;
    Event read = nullptr;  // the copy is done
    bool in_use = false;
  };
  Buffer& Next();

  const Stream stream_;
  std::array<Buffer, kBuffers> buffers_;
  size_t at_ = 0;
  char* card_ = nullptr;  // one buffer's worth: what a batch has sent has been read when the next batch's is written
  Buffer* open_ = nullptr;
  size_t used_ = 0;
};

}  // namespace df::cuda
