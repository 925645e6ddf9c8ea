// tests/unit/packet/timeline_graph.h
//
// A graph of one function with a loop, and a call of it: what a timeline's spans name. For the unit test and the fuzzer.
#pragma once

#include "tagged_ir/graph.h"

namespace df::test {

inline ir::Graph TimelineGraph() {
  ir::Graph graph;
  const ir::ScopeId root = graph.scopes.Add({ir::ScopeKind::Root, "main", {}, {}}), f = graph.scopes.Add({ir::ScopeKind::Function, "f", {}, {}});
  graph.scopes.Add({ir::ScopeKind::Loop, "f.loop", f, {}});
  graph.sites.Add({ir::SiteKind::Call, root, f, {}, {}});
  return graph;
}

}  // namespace df::test
