// Tracks, batches and calls, each bounded; from the moments of a track to spans.
#include "runtime/run/timeline.h"

#include <algorithm>

namespace df {

void TimelineTrack::Add(Clock::time_point now, RuntimeError where) {
  if (moments_.size() == kMost) {
    size_t kept = 0;
    for (size_t i = 0; i < moments_.size(); i += 2) {
      if (kept != i) moments_[kept] = std::move(moments_[i]);
      ++kept;
    }
    dropped_ += moments_.size() - kept;
    moments_.resize(kept);
    period_ *= 2;
  }
  moments_.push_back({now, std::move(where)});
  // A path of millions of labels takes long to find: then looking must stay a small part of the run.
  std::chrono::nanoseconds cost = Clock::now() - now;
  next_ = now + (cost < kCheap ? period_ : std::max(period_, 20 * cost));
}

void TimelineBatches::Add(const Batch& batch, llvm::function_ref<std::string()> name) {
  if (batch.region >= names_.size()) names_.resize(batch.region + 1);
  if (names_[batch.region].empty()) names_[batch.region] = name();
  if (skip_ > 0) {
    --skip_;
    ++dropped_;
    return;
  }
  if (batches_.size() == TimelineTrack::kMost) {
    size_t kept = 0;
    for (size_t i = 0; i < batches_.size(); i += 2) batches_[kept++] = batches_[i];
    dropped_ += batches_.size() - kept;
    batches_.resize(kept);
    stride_ *= 2;
  }
  batches_.push_back(batch);
  skip_ = stride_ - 1;
}

void TimelineCalls::Note(TimelineCall::What what, uint32_t track, uint32_t peer, uint64_t ticket) {
  const auto drops = [this](uint64_t number) {  // all bits of a ticket count
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    return ((number ^ number >> 27) & mask_) != 0;
  };
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(TimelineTrack::Clock::now() - begin_).count();
  std::lock_guard lock(mutex_);
  while (calls_.size() >= kMost) {
    mask_ = 2 * mask_ + 1;
    dropped_ += std::erase_if(calls_, [&](const TimelineCall& call) { return drops(call.ticket); });
  }
  if (drops(ticket)) ++dropped_;
  else calls_.push_back({what, track, peer, ticket, time});
}

Timeline::Timeline(unsigned workers) : begin_(TimelineTrack::Clock::now()), end_(begin_), calls_(begin_) {
  for (unsigned i = 0; i < workers; ++i) tracks_.push_back(std::make_unique<TimelineTrack>(begin_));
}

namespace {

using Clock = TimelineTrack::Clock;

// One level of a call path: a label, or how many labels of a long path are not known.
struct Level {
  PathEntry entry;
  uint64_t unknown = 0;
  friend bool operator==(const Level& a, const Level& b) {
    return a.entry.site == b.entry.site && a.entry.loop == b.entry.loop && a.entry.iteration == b.entry.iteration &&
           a.unknown == b.unknown;
  }
};

// Outermost first.
std::vector<Level> LevelsOf(const RuntimeError& where) {
  std::vector<Level> levels;
  for (size_t i = where.path.size(); i-- > 0;) {
    levels.push_back({where.path[i], 0});
    if (where.path_gap != 0 && i == where.path_gap) levels.push_back({{}, where.path_length - where.path.size()});
  }
  return levels;
}

// From the moments of a track to spans.
class SpanMaker {
 public:
  SpanMaker(Clock::time_point begin, std::vector<TimelineSpan>& out) : begin_(begin), out_(out) {}

  void Add(const TimelineTrack& track, Clock::time_point end) {
    for (const TimelineTrack::Moment& moment : track.moments()) {
      std::vector<Level> levels = LevelsOf(moment.where);
      size_t same = 0;
      while (same < std::min(levels.size(), open_.size()) && levels[same] == open_[same].level) ++same;
      // Behind labels that are not known nothing is surely the same call.
      for (size_t i = 0; i < same; ++i)
        if (levels[i].unknown) same = i;
      CloseDownTo(same, moment.time);
      for (size_t i = same; i < levels.size(); ++i) open_.push_back({levels[i], moment.time});
      if (moment.rest) CloseDownTo(0, *moment.rest);
    }
    CloseDownTo(0, end);
  }
  int64_t Time(Clock::time_point time) const { return std::chrono::duration_cast<std::chrono::nanoseconds>(time - begin_).count(); }

 private:
  struct Open {
    Level level;
    Clock::time_point begin;
  };

  void CloseDownTo(size_t depth, Clock::time_point now) {
    using What = TimelineSpan::What;
    for (; open_.size() > depth; open_.pop_back()) {
      const auto& [level, from] = open_.back();
      const PathEntry& entry = level.entry;
      if (level.unknown) out_.push_back({What::Unknown, 0, level.unknown, Time(from), Time(now)});
      else if (entry.loop.valid()) out_.push_back({What::Loop, entry.loop.index, entry.iteration, Time(from), Time(now)});
      else out_.push_back({What::Call, entry.site.index, 0, Time(from), Time(now)});
    }
  }

  const Clock::time_point begin_;
  std::vector<TimelineSpan>& out_;
  std::vector<Open> open_;
};

}  // namespace

ProcessTimeline Timeline::Spans(bool root, llvm::function_ref<uint32_t(uint32_t)> rank_of) const {
  ProcessTimeline process;
  for (const auto& track : tracks_) {
    ProcessTimeline::Track& to = process.tracks.emplace_back();
    to.moments = track->moments().size();
    to.dropped = track->dropped();
    to.period = static_cast<uint64_t>(track->period().count());
    SpanMaker spans(begin_, to.spans);
    if (root && process.tracks.size() == 1) to.spans.push_back({TimelineSpan::What::Root, 0, 0, 0, spans.Time(end_)});
    spans.Add(*track, end_);
  }
  process.calls = calls_.calls();
  for (TimelineCall& call : process.calls) call.peer = rank_of(call.peer);
  process.calls_dropped = calls_.dropped();
  return process;
}

}  // namespace df
