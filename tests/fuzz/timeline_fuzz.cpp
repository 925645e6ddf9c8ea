// Reads whatever bytes as what another process says that it did when (runtime/packet/timeline_packet.h). What is accepted is packed and read again,
// and written as a trace.
#include <cstdlib>
#include <string>

#include "llvm/Support/raw_ostream.h"
#include "runtime/packet/timeline_packet.h"
#include "tests/unit/packet/timeline_graph.h"

using namespace df;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ir::Graph graph = test::TimelineGraph();
  const std::optional<ProcessTimeline> read = ReadTimeline(graph, std::string_view(reinterpret_cast<const char*>(data), size));
  if (!read) return 0;
  if (!ReadTimeline(graph, PackTimeline(*read))) std::abort();
  Timeline timeline;
  timeline.End();
  std::string text;
  llvm::raw_string_ostream out(text);
  timeline.Write(graph, timeline.Spans(true), *read, out);
  return 0;
}
