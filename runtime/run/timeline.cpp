// From the moments of a track to spans.
#include "runtime/run/timeline.h"

#include <algorithm>

#include <fmt/format.h>

#include "llvm/Support/JSON.h"

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

Timeline::Timeline(unsigned workers) : begin_(TimelineTrack::Clock::now()), end_(begin_) {
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

class Writer {
 public:
  Writer(const ir::Graph& graph, Clock::time_point begin, llvm::json::OStream& json)
      : graph_(graph), begin_(begin), json_(json) {}

  void Track(const TimelineTrack& track, unsigned worker, Clock::time_point end) {
    worker_ = worker;
    Event("M", "thread_name", [&] {
      json_.attributeObject("args", [&] { json_.attribute("name", fmt::format("worker {}", worker)); });
    });
    if (worker == 0) Span(graph_.scopes[ir::ScopeId(0)].name, begin_, end, {});
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

  void Batches(const TimelineBatches& batches, unsigned track) {
    if (batches.batches().empty()) return;
    worker_ = track;
    Event("M", "thread_name", [&] { json_.attributeObject("args", [&] { json_.attribute("name", "batches"); }); });
    for (const TimelineBatches::Batch& batch : batches.batches()) {
      Event("X", batches.Name(batch.region), [&] {
        json_.attribute("ts", Microseconds(batch.begin));
        json_.attribute("dur", Microseconds(batch.end) - Microseconds(batch.begin));
        json_.attributeObject("args", [&] {
          json_.attribute("region", static_cast<int64_t>(batch.region));
          json_.attribute("rows", static_cast<int64_t>(batch.rows));
          json_.attribute("depth", batch.depth);
        });
      });
    }
  }

 private:
  struct Open {
    Level level;
    Clock::time_point begin;
  };

  double Microseconds(Clock::time_point time) const {
    return std::chrono::duration<double, std::micro>(time - begin_).count();
  }

  template <typename More>
  void Event(llvm::StringRef phase, llvm::StringRef name, More more) {
    json_.object([&] {
      json_.attribute("ph", phase);
      json_.attribute("name", llvm::json::fixUTF8(name));
      json_.attribute("pid", 1);
      json_.attribute("tid", static_cast<int64_t>(worker_));
      more();
    });
  }

  void Span(llvm::StringRef name, Clock::time_point from, Clock::time_point to, ir::PosId pos, uint64_t iteration = 0) {
    Event("X", name, [&] {
      json_.attribute("ts", Microseconds(from));
      json_.attribute("dur", Microseconds(to) - Microseconds(from));
      bool known = graph_.positions.Contains(pos) && graph_.positions[pos].line;
      if (!known && !iteration) return;
      json_.attributeObject("args", [&] {
        if (known) {
          const ir::Pos& at = graph_.positions[pos];
          std::string file = at.file < graph_.files.size() ? graph_.files[at.file] : "";
          json_.attribute("at", llvm::json::fixUTF8(fmt::format("{}:{}:{}", file, at.line, at.column)));
        }
        if (iteration) json_.attribute("iteration", static_cast<int64_t>(iteration));
      });
    });
  }

  void CloseDownTo(size_t depth, Clock::time_point now) {
    for (; open_.size() > depth; open_.pop_back()) {
      const Level& level = open_.back().level;
      Clock::time_point from = open_.back().begin;
      if (level.unknown) {
        Span(fmt::format("... {} more call{} ...", level.unknown, level.unknown == 1 ? "" : "s"), from, now, {});
      } else if (level.entry.loop.valid()) {
        const ir::Scope& loop = graph_.scopes[level.entry.loop];
        Span(loop.name, from, now, loop.pos, level.entry.iteration);
      } else {
        const ir::Site& site = graph_.sites[level.entry.site];
        Span(graph_.scopes[site.callee].name, from, now, site.pos);
      }
    }
  }

  const ir::Graph& graph_;
  Clock::time_point begin_;
  llvm::json::OStream& json_;
  unsigned worker_ = 0;
  std::vector<Open> open_;
};

}  // namespace

void Timeline::Write(const ir::Graph& graph, llvm::raw_ostream& out) const {
  llvm::json::OStream json(out);
  json.object([&] {
    json.attributeArray("traceEvents", [&] {
      for (unsigned i = 0; i < tracks_.size(); ++i) Writer(graph, begin_, json).Track(*tracks_[i], i, end_);
      Writer(graph, begin_, json).Batches(batches_, static_cast<unsigned>(tracks_.size()));
    });
    json.attribute("displayTimeUnit", "ns");
    // What is not in the picture.
    json.attributeObject("otherData", [&] {
      json.attribute("program", llvm::json::fixUTF8(graph.name));
      for (unsigned i = 0; i < tracks_.size(); ++i) {
        std::string worker = fmt::format("worker {} ", i);
        json.attribute(worker + "moments", static_cast<int64_t>(tracks_[i]->moments().size()));
        json.attribute(worker + "moments dropped", static_cast<int64_t>(tracks_[i]->dropped()));
        json.attribute(worker + "microseconds between moments, at least",
                       std::chrono::duration<double, std::micro>(tracks_[i]->period()).count());
      }
      if (batches_.batches().empty()) return;
      json.attribute("batches", static_cast<int64_t>(batches_.batches().size()));
      json.attribute("batches dropped", static_cast<int64_t>(batches_.dropped()));
    });
  });
  out << '\n';
}

}  // namespace df
