// runtime/run/device_errors.h
//
// What a device throws: a run knows how it ends by them, without knowing devices.
#pragma once

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace df {

// No room is left on a device. The batcher frees what it can and tries again, with fewer rows.
class DeviceFull : public std::bad_alloc {
 public:
  explicit DeviceFull(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// A device does not do what it was told, or was told what makes no sense: a run cannot go on, and ends as Stop::Internal.
struct DeviceFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace df
