#include "backends/cuda/staging.h"

namespace df::cuda {

Staging::Staging(Stream stream) : stream_(stream) {
  for (Buffer& buffer : buffers_) {
    buffer.host = AllocatePinned(kBytes);
    buffer.read = NewEvent();
  }
  card_ = AllocateMemory(kBytes);
}

Staging::~Staging() {
  for (Buffer& buffer : buffers_) {
    if (buffer.read) FreeEvent(buffer.read);
    if (buffer.host) FreePinned(buffer.host);
  }
  FreeMemory(card_);
}

Staging::Buffer& Staging::Next() {
  Buffer& buffer = buffers_[at_];
  at_ = (at_ + 1) % kBuffers;
  if (buffer.in_use) WaitFor(buffer.read);
  buffer.in_use = false;
  return buffer;
}

void Staging::Begin() {
  open_ = &Next();
  used_ = 0;
}

char* Staging::Take(size_t bytes, char** on_card) {
  size_t room = (bytes + 15) / 16 * 16;
  if (used_ + room > kBytes) return nullptr;
  *on_card = card_ + used_;
  char* place = open_->host + used_;
  used_ += room;
  return place;
}

void Staging::Send() {
  if (used_ == 0) return;
  CopyToCard(card_, open_->host, used_, stream_);
  Record(open_->read, stream_);
  open_->in_use = true;
}

void Staging::SendTo(char* to, const void* from, size_t bytes) {
  Buffer& buffer = Next();
  std::memcpy(buffer.host, from, bytes);
  CopyToCard(to, buffer.host, bytes, stream_);
  Record(buffer.read, stream_);
  buffer.in_use = true;
}

}  // namespace df::cuda
