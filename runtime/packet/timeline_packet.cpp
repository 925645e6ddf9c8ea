#include "runtime/packet/timeline_packet.h"

#include <algorithm>

#include "runtime/packet/layout.h"
#include "runtime/run/limits.h"

namespace df {

using packet::Reader;

namespace {

using SpanWhat = TimelineSpan::What;

// As far as a time may be from where the timeline began: a century.
constexpr int64_t kFarthest = int64_t{1} << 61;
constexpr size_t kLeastSpan = 4, kLeastCall = 5, kLeastTrack = 4;  // bytes

void Put(std::string& out, uint64_t number) {
  char bytes[packet::kMostVarint];
  out.append(bytes, packet::PutVarint(bytes, number));
}
void PutDifference(std::string& out, int64_t number) { Put(out, static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63)); }

bool GetDifference(Reader& in, int64_t* time) {
  uint64_t raw;
  if (!in.Varint(&raw)) return false;
  const auto difference = static_cast<int64_t>(raw >> 1 ^ (~(raw & 1) + 1));
  return !__builtin_add_overflow(*time, difference, time) && *time >= -kFarthest && *time <= kFarthest;
}

bool GetSmall(Reader& in, uint32_t* number) {
  uint64_t wide;
  if (!in.Varint(&wide) || wide > UINT32_MAX) return false;
  *number = static_cast<uint32_t>(wide);
  return true;
}

// A number of entries of which each has at least so many bytes.
bool GetCount(Reader& in, size_t least, uint64_t* count) { return in.Varint(count) && *count <= in.left() / least; }

bool HasNumber(SpanWhat what) { return what == SpanWhat::Loop || what == SpanWhat::Unknown; }

// Keeps the longest; the others are too short to be seen.
void LeaveOutShort(ProcessTimeline& process) {
  std::vector<int64_t> lengths;
  for (const ProcessTimeline::Track& track : process.tracks)
    for (const TimelineSpan& span : track.spans) lengths.push_back(span.to - span.from);
  if (lengths.size() <= kMostSpans) return;
  std::nth_element(lengths.begin(), lengths.begin() + kMostSpans, lengths.end(), std::greater<>());
  const int64_t shortest = lengths[kMostSpans];
  for (ProcessTimeline::Track& track : process.tracks)
    process.spans_left_out += std::erase_if(track.spans, [&](const TimelineSpan& span) { return span.to - span.from <= shortest; });
}

bool GetSpan(const ir::Graph& graph, Reader& in, int64_t* last, TimelineSpan* span) {
  uint8_t what;
  uint64_t length;
  if (!in.Byte(&what) || what > static_cast<uint8_t>(SpanWhat::Unknown) || !GetSmall(in, &span->id)) return false;
  span->what = static_cast<SpanWhat>(what);
  if (HasNumber(span->what) && !in.Varint(&span->number)) return false;
  if (!in.Varint(&length) || length > kFarthest || !GetDifference(in, last)) return false;
  span->to = *last;
  span->from = *last - static_cast<int64_t>(length);
  if (span->what == SpanWhat::Loop) return graph.scopes.Contains(ir::ScopeId(span->id));
  if (span->what != SpanWhat::Call) return true;
  return graph.sites.Contains(ir::SiteId(span->id)) && graph.scopes.Contains(graph.sites[ir::SiteId(span->id)].callee);
}

bool GetTrack(const ir::Graph& graph, Reader& in, ProcessTimeline::Track* track) {
  uint64_t count;
  if (!in.Varint(&track->moments) || !in.Varint(&track->dropped) || !in.Varint(&track->period) || !GetCount(in, kLeastSpan, &count)) return false;
  track->spans.resize(count);
  int64_t last = 0;
  for (TimelineSpan& span : track->spans)
    if (!GetSpan(graph, in, &last, &span)) return false;
  return true;
}

bool GetCall(Reader& in, size_t tracks, int64_t* last, TimelineCall* call) {
  uint8_t what;
  if (!in.Byte(&what) || what > static_cast<uint8_t>(TimelineCall::What::Done)) return false;
  call->what = static_cast<TimelineCall::What>(what);
  if (!GetSmall(in, &call->track) || call->track >= tracks || !GetSmall(in, &call->peer) || !in.Varint(&call->ticket) || !GetDifference(in, last)) return false;
  call->time = *last;
  return true;
}

}  // namespace

std::string PackTimeline(ProcessTimeline process) {
  LeaveOutShort(process);
  std::string out;
  Put(out, process.tracks.size());
  for (const ProcessTimeline::Track& track : process.tracks) {
    for (uint64_t number : {track.moments, track.dropped, track.period, uint64_t{track.spans.size()}}) Put(out, number);
    int64_t last = 0;
    for (const TimelineSpan& span : track.spans) {
      out += static_cast<char>(span.what);
      Put(out, span.id);
      if (HasNumber(span.what)) Put(out, span.number);
      Put(out, static_cast<uint64_t>(span.to - span.from));
      PutDifference(out, span.to - last);
      last = span.to;
    }
  }
  Put(out, process.calls.size());
  int64_t last = 0;
  for (const TimelineCall& call : process.calls) {
    out += static_cast<char>(call.what);
    Put(out, call.track);
    Put(out, call.peer);
    Put(out, call.ticket);
    PutDifference(out, call.time - last);
    last = call.time;
  }
  Put(out, process.calls_dropped);
  Put(out, process.spans_left_out);
  return out;
}

std::optional<ProcessTimeline> ReadTimeline(const ir::Graph& graph, std::string_view bytes) {
  Reader in(bytes);
  ProcessTimeline process;
  uint64_t count;
  if (bytes.size() > kMostTimelineBytes || !GetCount(in, kLeastTrack, &count) || count > kMostThreads) return std::nullopt;
  process.tracks.resize(count);
  for (ProcessTimeline::Track& track : process.tracks)
    if (!GetTrack(graph, in, &track)) return std::nullopt;
  if (!GetCount(in, kLeastCall, &count)) return std::nullopt;
  process.calls.resize(count);
  int64_t last = 0;
  for (TimelineCall& call : process.calls)
    if (!GetCall(in, process.tracks.size(), &last, &call)) return std::nullopt;
  if (!in.Varint(&process.calls_dropped) || !in.Varint(&process.spans_left_out) || in.left() > 0) return std::nullopt;
  return process;
}

}  // namespace df
