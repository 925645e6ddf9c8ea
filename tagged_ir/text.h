// tagged_ir/text.h
//
// The tagged graph as text, printed and read back: Parse(Print(g)) is g. One line a node, scopes in order.
// docs/graph.md describes the form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llvm/Support/raw_ostream.h"
#include "tagged_ir/graph.h"

namespace df::ir {

struct PrintOptions {
  std::string only;  // the scope of this name only (and its loops)
  bool positions = true;

  // Whether the scope of this name is to be printed: `f` and its instances `f@Int`; with `parts` also `f.x`, what was
  // delayed in it or lifted out of it.
  bool Chooses(std::string_view scope, bool parts = false) const;
};
void Print(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options = {});
// The line of one node.
void PrintNode(const Graph& graph, NodeId node, llvm::raw_ostream& out, const PrintOptions& options = {});

// Whether this begins like a graph's text, comments skipped: `tagged "name"`. No source does.
bool LooksLikeGraphText(std::string_view text);

// On failure returns nullopt and sets `error` to "line 3: ..." . The result is verified.
std::optional<Graph> ParseText(std::string_view text, std::string* error);

// What is lazy, and why: a line for each Delay, in the order of the source.
void PrintDelays(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options = {});

// Graphviz, of a valid graph: clusters per scope, control edges dashed, as the figures of the paper.
void PrintDot(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options = {});

}  // namespace df::ir
