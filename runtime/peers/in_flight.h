// runtime/peers/in_flight.h
//
// Bytes of messages on their way that a process holds: what it has packed and the other side has not taken, and what came and the engine has not
// read. They are no values, so no thread's count has them (runtime/base/memory.h); they are counted here, by any thread.
//
// Whoever holds as much as one link may have on its way gives nothing away and asks for nothing until it is less.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/base/raise_to.h"

namespace df {

class InFlight {
 public:
  enum class Way : uint8_t { Sent, Come };
  // `most`: more is too much.
  explicit InFlight(uint64_t most) : most_(static_cast<int64_t>(most)) {}

  void Add(Way way, int64_t bytes) {
    (way == Way::Sent ? sent_ : come_).fetch_add(bytes, std::memory_order_relaxed);
    NotePeak();
  }
  // What a transport holds beside: its thread.
  void SetBeside(uint64_t bytes) {
    beside_.store(static_cast<int64_t>(bytes), std::memory_order_relaxed);
    NotePeak();
  }

  uint64_t now() const { return static_cast<uint64_t>(Now()); }
  uint64_t peak() const { return static_cast<uint64_t>(peak_.load(std::memory_order_relaxed)); }
  bool IsFull() const { return Now() >= most_; }
  // The engine has so much to read that no more is to be taken for it: so little that with what a link holds it is hardly more than that.
  bool HasTooMuchToRead() const { return come_.load(std::memory_order_relaxed) > most_ / 32; }

 private:
  int64_t Now() const {
    return sent_.load(std::memory_order_relaxed) + come_.load(std::memory_order_relaxed) + beside_.load(std::memory_order_relaxed);
  }
  void NotePeak() { RaiseTo(peak_, Now(), std::memory_order_relaxed); }

  const int64_t most_;
  std::atomic<int64_t> sent_{0}, come_{0}, beside_{0}, peak_{0};
};

// A message's bytes, counted while this lives; it may go on any thread.
class Carried {
 public:
  Carried() = default;
  Carried(std::shared_ptr<InFlight> of, InFlight::Way way, uint64_t bytes) : of_(std::move(of)), way_(way), bytes_(static_cast<int64_t>(bytes)) {
    of_->Add(way_, bytes_);
  }
  Carried(Carried&& other) noexcept : of_(std::move(other.of_)), way_(other.way_), bytes_(other.bytes_) {}
  Carried& operator=(Carried&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(way_, other.way_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Carried() {
    if (of_) of_->Add(way_, -bytes_);
  }

 private:
  std::shared_ptr<InFlight> of_;
  InFlight::Way way_ = InFlight::Way::Sent;
  int64_t bytes_ = 0;
};

}  // namespace df
