// driver/system/descriptor.h
//
// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

namespace df {

struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd > STDERR_FILENO) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

}  // namespace df
