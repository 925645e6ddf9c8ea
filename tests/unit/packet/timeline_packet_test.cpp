#include "runtime/packet/timeline_packet.h"

#include <random>

#include "tests/unit/catch.h"
#include "tests/unit/packet/timeline_graph.h"

using namespace df;

namespace {

using What = TimelineSpan::What;

ProcessTimeline Sample() {
  ProcessTimeline process;
  process.tracks = {{{{What::Root, 0, 0, 0, 900}, {What::Call, 0, 0, 20, 30}, {What::Loop, 2, 7, 10, 800}, {What::Unknown, 0, 1000000, 5, 850}}, 10, 2, 5000},
                    {{}, 0, 0, 5000}};
  process.calls = {{TimelineCall::What::Given, 0, 3, 1024, 15}, {TimelineCall::What::Done, 1, 3, 1024, 700}, {TimelineCall::What::Taken, 1, UINT32_MAX, UINT64_MAX, -5}};
  process.calls_dropped = 4;
  process.spans_left_out = 5;
  return process;
}

}  // namespace

TEST_CASE("what a process did comes back the same") {
  const ir::Graph graph = test::TimelineGraph();
  const std::string bytes = PackTimeline(Sample());
  const std::optional<ProcessTimeline> read = ReadTimeline(graph, bytes);
  REQUIRE(read);
  CHECK(PackTimeline(*read) == bytes);
  REQUIRE((read->tracks.size() == 2 && read->tracks[0].spans.size() == 4 && read->calls.size() == 3));
  const TimelineSpan& loop = read->tracks[0].spans[2];
  CHECK((loop.what == What::Loop && loop.id == 2 && loop.number == 7 && loop.from == 10 && loop.to == 800));
  CHECK((read->tracks[0].spans[3].number == 1000000 && read->tracks[0].moments == 10 && read->tracks[1].period == 5000));
  CHECK((read->calls[2].peer == UINT32_MAX && read->calls[2].ticket == UINT64_MAX && read->calls[2].time == -5));
  CHECK((read->calls_dropped == 4 && read->spans_left_out == 5));
}

TEST_CASE("of too many spans the longest are kept, and it is said how many are not") {
  ProcessTimeline process = Sample();
  for (int64_t i = 0; i < 100000; ++i) process.tracks[i % 2].spans.push_back({What::Call, 0, 0, i * 1000000, i * 1000000 + 1 + i % 1000});
  const std::string bytes = PackTimeline(process);
  CHECK(bytes.size() <= kMostTimelineBytes);
  const std::optional<ProcessTimeline> read = ReadTimeline(test::TimelineGraph(), bytes);
  REQUIRE(read);
  const size_t kept = read->tracks[0].spans.size() + read->tracks[1].spans.size();
  CHECK((kept <= kMostSpans && kept > kMostSpans * 9 / 10));
  CHECK(kept + read->spans_left_out == 100004 + 5);
  for (const TimelineSpan& span : read->tracks[1].spans) CHECK(span.to - span.from > 700);
}

TEST_CASE("what is no timeline of the graph is refused") {
  const ir::Graph graph = test::TimelineGraph();
  const std::string bytes = PackTimeline(Sample());
  for (size_t size = 0; size < bytes.size(); ++size) CHECK_FALSE(ReadTimeline(graph, std::string_view(bytes).substr(0, size)));
  CHECK_FALSE(ReadTimeline(graph, bytes + "x"));
  CHECK_FALSE(ReadTimeline(graph, std::string(kMostTimelineBytes + 1, '\0')));
  const auto refused = [&](auto change) {
    ProcessTimeline process = Sample();
    change(process);
    return !ReadTimeline(graph, PackTimeline(std::move(process)));
  };
  CHECK(refused([](ProcessTimeline& p) { p.tracks[0].spans[1].id = 1; }));   // a site that the graph does not have
  CHECK(refused([](ProcessTimeline& p) { p.tracks[0].spans[2].id = 9; }));   // a scope
  CHECK(refused([](ProcessTimeline& p) { p.calls[0].track = 2; }));
  CHECK(refused([](ProcessTimeline& p) { p.tracks.resize(300); }));
  CHECK(refused([](ProcessTimeline& p) { p.calls[0].time = INT64_MAX / 2; }));
}

TEST_CASE("bytes at random are read or refused") {
  const ir::Graph graph = test::TimelineGraph();
  const std::string bytes = PackTimeline(Sample());
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    std::string changed = bytes;
    for (size_t change = 1 + random() % 3; change-- > 0;) changed[random() % changed.size()] = static_cast<char>(random());
    if (std::optional<ProcessTimeline> read = ReadTimeline(graph, changed)) {
      const std::string again = PackTimeline(*read);
      REQUIRE(ReadTimeline(graph, again));
    }
  }
}
