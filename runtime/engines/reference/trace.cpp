// What the reference engine shows of itself: a line per firing, and what is left when nothing moves any more.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "runtime/engines/reference/reference.h"
#include "runtime/text/show.h"

namespace df::reference {

// "%12 Add  tag [1 0]  3 4 -> 7": operands that are not there yet are "_".
void ReferenceExecution::TraceFiring(ir::NodeId node, const TagRef& tag, llvm::ArrayRef<Value> operands) {
  if (!run_.trace) return;
  trace_line_.clear();
  trace_results_.clear();
  llvm::raw_string_ostream out(trace_line_);
  out << '%' << node.index << ' ' << llvm::StringRef(ir::InfoOf(graph_.nodes[node].op).name) << "  tag ";
  PrintTag(tag.get(), out);
  out << ' ';
  llvm::ArrayRef<ir::Edge> edges = graph_.InputsOf(node);
  const Waiting* waiting = nullptr;
  if (auto it = at_->waiting.find({node.index, tag}); it != at_->waiting.end() && operands.data() == it->second.operands.data())
    waiting = &it->second;
  for (size_t k = 0; k < operands.size(); ++k) {
    out << ' ';
    // A firing on one token of many inputs shows that one; its type is that of any input of the same kind.
    ir::Edge edge = edges[operands.size() == 1 && edges.size() > 1 ? trace_input_ : k];
    if (waiting && !waiting->present[k]) out << '_';
    else PrintDatum(graph_, graph_.TypeOf(edge), operands[k], out);
  }
}

void ReferenceExecution::TraceResult(ir::NodeId node, uint32_t port, const TagRef& from, const TagRef& tag,
                                     const Value& value) {
  if (trace_line_.empty()) return;
  llvm::raw_string_ostream out(trace_results_);
  if (!trace_results_.empty()) out << ',';
  out << ' ';
  PrintDatum(graph_, graph_.TypeOf({node, port}), value, out);
  if (!(tag == from)) {
    out << " at ";
    PrintTag(tag.get(), out);
  }
}

void ReferenceExecution::TraceEnd() {
  if (!run_.trace || trace_line_.empty()) return;
  *run_.trace << trace_line_;
  if (!trace_results_.empty()) *run_.trace << " ->" << trace_results_;
  *run_.trace << '\n';
  trace_line_.clear();
}

// Whether all that a node misses under a tag is, or is made of, cotangents of delayed calls that nobody has forced.
bool ReferenceExecution::MayWait(uint32_t node, const TagRef& tag, std::map<uint32_t, bool>& known) const {
  auto [done, fresh] = known.try_emplace(node, false);
  if (!fresh) return done->second;  // in a cycle: not so
  const ir::Node& n = graph_.nodes[ir::NodeId(node)];
  if (n.op == ir::Op::Return)
    return done->second = n.num_results && graph_.sites[ir::SiteId(n.attr)].kind == ir::SiteKind::Delay;
  const Waiting* waiting = WaitingAt(node, tag);
  bool misses = false;
  for (uint32_t k = 0; k < n.num_inputs; ++k) {
    if (waiting && waiting->present[k]) continue;
    misses = true;
    ir::Edge from = graph_.InputsOf(ir::NodeId(node))[k];
    if (graph_.nodes[from.node].scope != n.scope || !MayWait(from.node.index, tag, known)) return false;
  }
  return done->second = misses;
}

const Waiting* ReferenceExecution::WaitingAt(uint32_t node, const TagRef& tag) const {
  auto it = at_->waiting.find({node, tag});
  return it == at_->waiting.end() ? nullptr : &it->second;
}

std::string ReferenceExecution::LeftWaiting(const char* kind, uint32_t node, const TagRef& tag) const {
  std::string what;
  llvm::raw_string_ostream out(what);
  out << kind << " %" << node << " (" << llvm::StringRef(ir::InfoOf(graph_.nodes[ir::NodeId(node)].op).name)
      << ") under tag ";
  PrintTag(tag.get(), out);
  return what;
}

std::string ReferenceExecution::Leftovers(const Store& store) const {
  auto left = std::find_if(store.waiting.begin(), store.waiting.end(), [&](const auto& entry) {
    std::map<uint32_t, bool> known;
    return !MayWait(entry.first.id, entry.first.tag, known);
  });
  if (left != store.waiting.end()) return LeftWaiting("operands are left waiting at node", left->first.id, left->first.tag);
  if (!store.outer_waiting.empty())
    return LeftWaiting("nothing answers node", store.outer_waiting.begin()->first.id, store.outer_waiting.begin()->second.front());
  return "";
}

std::string ReferenceExecution::Leftovers() const {
  std::string what = Leftovers(whole_);
  for (DelayCell* cell = first_cell_; cell && what.empty(); cell = cell->next)
    if (!cell->waiters.empty()) what = LeftWaiting("nothing answers node", cell->waiters.front().first.index, cell->waiters.front().second);
  return what;
}

}  // namespace df::reference
