// Reads whatever bytes as what another process says that it did when (runtime/packet/timeline_packet.h). What is accepted is packed and read again,
// and written as a trace.
#include <cstdlib>
#include <string>

#include "llvm/Support/raw_ostream.h"
#include "runtime/packet/timeline_packet.h"

using namespace df;

namespace {

ir::Graph NewGraph() {
  ir::Graph graph;
  const ir::ScopeId root = graph.scopes.Add({ir::ScopeKind::Root, "main", {}, {}}), f = graph.scopes.Add({ir::ScopeKind::Function, "f", {}, {}});
  graph.scopes.Add({ir::ScopeKind::Loop, "f.loop", f, {}});
  graph.sites.Add({ir::SiteKind::Call, root, f, {}, {}});
  return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ir::Graph graph = NewGraph();
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
