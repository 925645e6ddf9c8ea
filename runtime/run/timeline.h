// runtime/run/timeline.h
//
// What a run did when, for a picture: at moments some microseconds apart a worker notes the call path that it is in. A path is a
// tag, and a tag names one activation, so the same labels at the same depth of two moments are the same call: calls become
// spans, each from the first moment that saw it to the first one that did not.
//
// Each worker has a track of its own, which only it writes while the run goes on: no lock, no atomic. A track is bounded: when it
// is full, every other moment is dropped and they are taken half as often. So a run of any length gives a file that opens.
// Batches of ops on tensors have a track of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/run/engine.h"

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
  static constexpr std::chrono::microseconds kCheap{200};  // what it takes to find a path of some ten thousand labels

 private:
  std::vector<Moment> moments_;
  Clock::time_point next_;
  std::chrono::nanoseconds period_{std::chrono::microseconds(5)};
  uint64_t dropped_ = 0;
};

// The batches of a run, in their order: waves of activations that were computed together. Bounded as a track is.
class TimelineBatches {
 public:
  using Clock = TimelineTrack::Clock;
  struct Batch {
    Clock::time_point begin, end;
    uint32_t region;
    uint32_t rows;
    double depth;  // of their tags, in the mean
  };
  // `name` is asked for the first time that a region comes.
  void Add(const Batch& batch, llvm::function_ref<std::string()> name);

  const std::vector<Batch>& batches() const { return batches_; }
  uint64_t dropped() const { return dropped_; }
  // The ops of a region.
  const std::string& Name(uint32_t region) const { return names_[region]; }

 private:
  std::vector<Batch> batches_;
  std::vector<std::string> names_;
  uint64_t stride_ = 1, skip_ = 0, dropped_ = 0;
};

class Timeline {
 public:
  explicit Timeline(unsigned workers = 1);
  TimelineTrack& track(unsigned worker) { return *tracks_[worker]; }
  TimelineBatches& batches() { return batches_; }
  // The run is over; nobody writes any more.
  void End() { end_ = TimelineTrack::Clock::now(); }
  // Chrome's trace-event JSON, which Perfetto and chrome://tracing read.
  void Write(const ir::Graph& graph, llvm::raw_ostream& out) const;

 private:
  TimelineTrack::Clock::time_point begin_, end_;
  std::vector<std::unique_ptr<TimelineTrack>> tracks_;
  TimelineBatches batches_;
};

}  // namespace df
