// Spans, batches and calls as trace events.
#include <map>

#include <fmt/format.h>

#include "llvm/Support/JSON.h"
#include "runtime/run/timeline.h"

namespace df {
namespace {

// The events of one process.
class Writer {
 public:
  Writer(const ir::Graph& graph, const ProcessTimeline& process, llvm::json::OStream& json) : graph_(graph), process_(process), json_(json) {}

  void Name() {
    Event("M", "process_name", 0, [&] { json_.attributeObject("args", [&] { json_.attribute("name", llvm::json::fixUTF8(process_.name)); }); });
  }

  void Tracks() {
    for (unsigned i = 0; i < process_.tracks.size(); ++i) {
      NameTrack(i, fmt::format("worker {}", i));
      for (const TimelineSpan& span : process_.tracks[i].spans) Span(i, span);
    }
  }

  // Of this process, as the clock goes here.
  void Batches(const TimelineBatches& batches, TimelineTrack::Clock::time_point begin) {
    if (batches.batches().empty()) return;
    const auto track = static_cast<unsigned>(process_.tracks.size());
    const auto since = [&](TimelineTrack::Clock::time_point time) { return std::chrono::duration<double, std::micro>(time - begin).count(); };
    NameTrack(track, "batches");
    for (const TimelineBatches::Batch& batch : batches.batches()) {
      Event("X", batches.Name(batch.region), track, [&] {
        json_.attribute("ts", since(batch.begin));
        json_.attribute("dur", since(batch.end) - since(batch.begin));
        json_.attributeObject("args", [&] {
          json_.attribute("region", static_cast<int64_t>(batch.region));
          json_.attribute("rows", static_cast<int64_t>(batch.rows));
          json_.attribute("depth", batch.depth);
        });
      });
    }
  }

  // An end of an arrow. Who takes a call has a span for it soon after.
  void Flow(const TimelineCall& call, bool begins, int64_t number, const char* name) {
    Event(begins ? "s" : "f", name, call.track, [&] {
      json_.attribute("cat", "far");
      json_.attribute("id", number);
      json_.attribute("ts", Microseconds(call.time));
      if (!begins && call.what == TimelineCall::What::Done) json_.attribute("bp", "e");
    });
  }

  // What is not in the picture.
  void OtherData(const std::string& before) {
    for (unsigned i = 0; i < process_.tracks.size(); ++i) {
      const ProcessTimeline::Track& track = process_.tracks[i];
      const std::string worker = fmt::format("{}worker {} ", before, i);
      json_.attribute(worker + "moments", static_cast<int64_t>(track.moments));
      json_.attribute(worker + "moments dropped", static_cast<int64_t>(track.dropped));
      json_.attribute(worker + "microseconds between moments, at least", static_cast<double>(track.period) / 1000);
    }
    if (before.empty()) return;
    json_.attribute(before + "calls dropped", static_cast<int64_t>(process_.calls_dropped));
    json_.attribute(before + "shortest spans left out", static_cast<int64_t>(process_.spans_left_out));
    if (process_.error) json_.attribute(before + "microseconds by which it may be off", static_cast<double>(*process_.error) / 1000);
  }

 private:
  // Of another process both are what it says.
  double Microseconds(int64_t time) const { return (static_cast<double>(process_.began) + static_cast<double>(time)) / 1000; }

  template <typename More>
  void Event(llvm::StringRef phase, llvm::StringRef name, unsigned track, More more) {
    json_.object([&] {
      json_.attribute("ph", phase);
      json_.attribute("name", llvm::json::fixUTF8(name));
      json_.attribute("pid", static_cast<int64_t>(process_.rank) + 1);
      json_.attribute("tid", static_cast<int64_t>(track));
      more();
    });
  }

  void NameTrack(unsigned track, const std::string& name) {
    Event("M", "thread_name", track, [&] { json_.attributeObject("args", [&] { json_.attribute("name", name); }); });
  }

  void Span(unsigned track, const TimelineSpan& span) {
    using What = TimelineSpan::What;
    std::string name;
    ir::PosId pos;
    switch (span.what) {
      case What::Root: name = graph_.scopes[ir::ScopeId(0)].name; break;
      case What::Unknown: name = fmt::format("... {} more call{} ...", span.number, span.number == 1 ? "" : "s"); break;
      case What::Loop:
        name = graph_.scopes[ir::ScopeId(span.id)].name;
        pos = graph_.scopes[ir::ScopeId(span.id)].pos;
        break;
      case What::Call:
        name = graph_.scopes[graph_.sites[ir::SiteId(span.id)].callee].name;
        pos = graph_.sites[ir::SiteId(span.id)].pos;
        break;
    }
    const uint64_t iteration = span.what == What::Loop ? span.number : 0;
    Event("X", name, track, [&] {
      json_.attribute("ts", Microseconds(span.from));
      json_.attribute("dur", Microseconds(span.to) - Microseconds(span.from));
      const bool known = graph_.positions.Contains(pos) && graph_.positions[pos].line;
      if (!known && !iteration) return;
      json_.attributeObject("args", [&] {
        if (known) {
          const ir::Pos& at = graph_.positions[pos];
          const std::string file = at.file < graph_.files.size() ? graph_.files[at.file] : "";
          json_.attribute("at", llvm::json::fixUTF8(fmt::format("{}:{}:{}", file, at.line, at.column)));
        }
        if (iteration) json_.attribute("iteration", static_cast<int64_t>(iteration));
      });
    });
  }

  const ir::Graph& graph_;
  const ProcessTimeline& process_;
  llvm::json::OStream& json_;
};

// Arrows from where a call was given away to where it was taken, and back: those of which both ends are known.
void WriteFlows(const ir::Graph& graph, llvm::ArrayRef<const ProcessTimeline*> processes, llvm::json::OStream& json) {
  using What = TimelineCall::What;
  struct Ends {
    const ProcessTimeline *from = nullptr, *to = nullptr;
    const TimelineCall *begins = nullptr, *ends = nullptr;
  };
  // By who gave it, the ticket, and whether it is the way back.
  std::map<std::tuple<uint32_t, uint64_t, bool>, Ends> arrows;
  for (const ProcessTimeline* process : processes) {
    for (const TimelineCall& call : process->calls) {
      const bool here = call.what == What::Given || call.what == What::Done;
      const bool begins = call.what == What::Given || call.what == What::Answered;
      const bool back = call.what == What::Answered || call.what == What::Done;
      Ends& ends = arrows[{here ? process->rank : call.peer, call.ticket, back}];
      (begins ? ends.from : ends.to) = process;
      (begins ? ends.begins : ends.ends) = &call;
    }
  }
  int64_t number = 0;
  for (const auto& [key, ends] : arrows) {
    if (!ends.begins || !ends.ends) continue;
    const char* name = std::get<2>(key) ? "result" : "call";
    ++number;
    Writer(graph, *ends.from, json).Flow(*ends.begins, true, number, name);
    Writer(graph, *ends.to, json).Flow(*ends.ends, false, number, name);
  }
}

}  // namespace

void Timeline::Write(const ir::Graph& graph, const ProcessTimeline& here, llvm::ArrayRef<ProcessTimeline> others, llvm::raw_ostream& out) const {
  std::vector<const ProcessTimeline*> processes{&here};
  for (const ProcessTimeline& other : others) processes.push_back(&other);
  const bool several = processes.size() > 1;
  llvm::json::OStream json(out);
  json.object([&] {
    json.attributeArray("traceEvents", [&] {
      for (const ProcessTimeline* process : processes) {
        Writer writer(graph, *process, json);
        if (several) writer.Name();
        writer.Tracks();
        if (process == &here) writer.Batches(batches_, begin_);
      }
      if (several) WriteFlows(graph, processes, json);
    });
    json.attribute("displayTimeUnit", "ns");
    json.attributeObject("otherData", [&] {
      json.attribute("program", llvm::json::fixUTF8(graph.name));
      for (const ProcessTimeline* process : processes)
        Writer(graph, *process, json).OtherData(several ? fmt::format("process {} ", process->rank) : "");
      if (batches_.batches().empty()) return;
      json.attribute("batches", static_cast<int64_t>(batches_.batches().size()));
      json.attribute("batches dropped", static_cast<int64_t>(batches_.dropped()));
    });
  });
  out << '\n';
}

}  // namespace df
