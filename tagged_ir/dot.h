// tagged_ir/dot.h
//
// What draws a graph for Graphviz: for PrintDot (text.h), and for whoever draws it in another way.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "tagged_ir/text.h"

namespace df::ir {

class Drawer {
 public:
  Drawer(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options)
      : g(graph), out_(out), options_(options) {}
  void Run();

 protected:
  static std::string Escape(llvm::StringRef text);
  bool Chosen(ScopeId id) const { return options_.Chooses(g.scopes[id].name); }
  void Cluster(ScopeId id, int depth);
  void DrawNode(NodeId id, int depth);
  void Begin();
  std::string EdgeStyle(Edge edge) const;
  // Those within one part, if nodes have parts.
  void DrawEdges(llvm::ArrayRef<uint32_t> parts);
  std::string Port(Edge edge) const;
  std::string Label(NodeId id) const;
  std::string SideLabel(NodeId id, uint32_t side) const;
  std::string ConstantLabel(const Constant& constant) const;
  bool GoesBack(NodeId to, Edge edge) const;

  const Graph& g;
  llvm::raw_ostream& out_;
  const PrintOptions& options_;
  std::vector<std::vector<NodeId>> members_;  // of each scope
  std::vector<std::vector<ScopeId>> loops_;   // of each scope: the loops in it
  std::vector<bool> drawn_;                   // of each node
};

}  // namespace df::ir
