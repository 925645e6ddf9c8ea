// `--emit=lazy`: every Delay of a graph, where it comes from and why it is one.
#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "tagged_ir/text.h"

namespace df::ir {

bool PrintOptions::Chooses(std::string_view scope, bool parts) const {
  if (only.empty() || scope == only) return true;
  if (!scope.starts_with(only)) return false;
  char next = scope[only.size()];
  return next == '@' || (parts && next == '.');
}

void PrintDelays(const Graph& graph, llvm::raw_ostream& out, const PrintOptions& options) {
  std::vector<const Site*> delays;
  for (const Site& site : graph.sites)
    if (site.kind == SiteKind::Delay && options.Chooses(graph.scopes[site.caller].name, true)) delays.push_back(&site);
  auto place = [&](const Site* site) {
    Pos pos = graph.positions.Contains(site->pos) ? graph.positions[site->pos] : Pos{};
    return std::tuple(pos.file, pos.line, pos.column);
  };
  std::stable_sort(delays.begin(), delays.end(), [&](const Site* a, const Site* b) { return place(a) < place(b); });
  for (const Site* site : delays) {
    auto [file, line, column] = place(site);
    if (line) out << fmt::format("{}:{}:{}: ", graph.files[file], line, column);
    out << fmt::format("`{}` in `{}`", graph.scopes[site->callee].name, graph.scopes[site->caller].name);
    // A part of the library, or code that was inlined: the user's place is where the chain ends.
    if (graph.positions.Contains(site->pos)) {
      PosId at = graph.positions[site->pos].inlined_at;
      for (; graph.positions.Contains(at); at = graph.positions[at].inlined_at) {
        const Pos& outer = graph.positions[at];
        if (outer.line) out << fmt::format(", inlined at {}:{}:{}", graph.files[outer.file], outer.line, outer.column);
      }
    }
    out << ": " << (site->reason.empty() ? "no reason is recorded" : site->reason) << '\n';
  }
  if (delays.empty()) out << "nothing is lazy\n";
}

}  // namespace df::ir
