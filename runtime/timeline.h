// runtime/timeline.h
//
// What a run did when, for a picture: at moments some microseconds apart a worker notes the call path that it is in. A path is a
// tag, and a tag names one activation, so the same labels at the same depth of two moments are the same call: calls become
// spans, each from the first moment that saw it to the first one that did not.
//
// Each worker has a track of its own, which only it writes while the run goes on: no lock, no atomic. A track is bounded: when it
// is full, every other moment is dropped and they are taken half as often. So a run of any length gives a file that opens.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "runtime/engine.h"

namespace df {

class TimelineTrack {
 public:
  using Clock = std::chrono::steady_clock;
  struct Moment {
    Clock::time_point time;
    RuntimeError where;  // path and node; innermost first
    std::optional<Clock::time_point> rest = std::nullopt;  // since then there was nothing to do
  };

  explicit TimelineTrack(Clock::time_point begin) : next_(begin) {}
  // By the worker itself: whether it is time to Add.
  bool Due(Clock::time_point now) const { return now >= next_; }
  void Add(Clock::time_point now, RuntimeError where);
  // There is nothing to do until the next Add.
  void Rest(Clock::time_point now) {
    if (!moments_.empty() && !moments_.back().rest) moments_.back().rest = now;
  }

  const std::vector<Moment>& moments() const { return moments_; }
  uint64_t dropped() const { return dropped_; }
  std::chrono::nanoseconds period() const { return period_; }

  static constexpr size_t kMost = 4096;

 private:
  std::vector<Moment> moments_;
  Clock::time_point next_;
  std::chrono::nanoseconds period_{std::chrono::microseconds(5)};
  uint64_t dropped_ = 0;
};

class Timeline {
 public:
  explicit Timeline(unsigned workers = 1);
  TimelineTrack& track(unsigned worker) { return *tracks_[worker]; }
  // The run is over; nobody writes any more.
  void End() { end_ = TimelineTrack::Clock::now(); }
  // Chrome's trace-event JSON, which Perfetto and chrome://tracing read.
  void Write(const ir::Graph& graph, llvm::raw_ostream& out) const;

 private:
  TimelineTrack::Clock::time_point begin_, end_;
  std::vector<std::unique_ptr<TimelineTrack>> tracks_;
};

}  // namespace df
