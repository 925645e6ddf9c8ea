// runtime/run/timeline.h
//
// What a run did when, for a picture: at moments some microseconds apart a worker notes the call path that it is in. A path is a
// tag, and a tag names one activation, so the same labels at the same depth of two moments are the same call: calls become
// spans, each from the first moment that saw it to the first one that did not.
//
// Each worker has a track of its own, which only it writes while the run goes on: no lock, no atomic. A track is bounded: when it
// is full, every other moment is dropped and they are taken half as often. So a run of any length gives a file that opens.
// Batches of ops on tensors have a track of their own.
//
// A run on several processes has a timeline in each; what it saw goes to the root as spans (runtime/packet/timeline_packet.h), which puts all
// on one axis.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
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

// Times below: nanoseconds since a timeline began.

// A call that went to another process, at one of its four moments: two there, two here.
struct TimelineCall {
  enum class What : uint8_t { Given, Taken, Answered, Done } what = What::Given;
  uint32_t track = 0;
  uint32_t peer = 0;    // the other process
  uint64_t ticket = 0;  // of who gave it
  int64_t time = 0;
};

// Calls to and from other processes, by any worker. Bounded: when it is full every other ticket is dropped, the same ones in all processes.
class TimelineCalls {
 public:
  explicit TimelineCalls(TimelineTrack::Clock::time_point begin) : begin_(begin) {}
  void Note(TimelineCall::What what, uint32_t track, uint32_t peer, uint64_t ticket);
  const std::vector<TimelineCall>& calls() const { return calls_; }
  uint64_t dropped() const { return dropped_; }
  static constexpr size_t kMost = 8192;

 private:
  const TimelineTrack::Clock::time_point begin_;
  std::mutex mutex_;  // calls are few
  std::vector<TimelineCall> calls_;
  uint64_t mask_ = 0, dropped_ = 0;
};

// Time in which a call was seen.
struct TimelineSpan {
  enum class What : uint8_t {
    Root,     // all of the run
    Call,     // `id`: the site
    Loop,     // `id`: its scope; `number`: the iteration
    Unknown,  // `number` calls whose labels are not known
  } what = What::Root;
  uint32_t id = 0;
  uint64_t number = 0;
  int64_t from = 0, to = 0;
};

// What one process did.
struct ProcessTimeline {
  struct Track {
    std::vector<TimelineSpan> spans;  // in the order in which they end
    uint64_t moments = 0, dropped = 0, period = 0;
  };
  uint32_t rank = 0;
  std::string name;
  std::vector<Track> tracks;
  std::vector<TimelineCall> calls;   // `peer` is a rank
  uint64_t calls_dropped = 0, spans_left_out = 0;
  int64_t began = 0;                 // on the clock of the process that writes the file, since its own timeline began
  std::optional<uint64_t> error;     // of that: at most so much; nothing: it is the same clock
};

class Timeline {
 public:
  explicit Timeline(unsigned workers = 1);
  TimelineTrack& track(unsigned worker) { return *tracks_[worker]; }
  TimelineBatches& batches() { return batches_; }
  TimelineCalls& calls() { return calls_; }
  // The run is over; nobody writes any more.
  void End() { end_ = TimelineTrack::Clock::now(); }
  TimelineTrack::Clock::time_point begin() const { return begin_; }
  // What this process did. The root of a run has a span for all of it. Of a call's peers the ranks are asked for.
  ProcessTimeline Spans(bool root, llvm::function_ref<uint32_t(uint32_t)> rank_of = [](uint32_t peer) { return peer; }) const;
  // Chrome's trace-event JSON, which Perfetto and chrome://tracing read: of this process, `here`, and of others.
  void Write(const ir::Graph& graph, const ProcessTimeline& here, llvm::ArrayRef<ProcessTimeline> others, llvm::raw_ostream& out) const;

 private:
  TimelineTrack::Clock::time_point begin_, end_;
  std::vector<std::unique_ptr<TimelineTrack>> tracks_;
  TimelineBatches batches_;
  TimelineCalls calls_;
};

}  // namespace df
