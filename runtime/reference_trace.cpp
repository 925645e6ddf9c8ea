// What the reference engine shows of itself: a line per firing, and what is left when nothing moves any more.
#include <fmt/format.h>

#include "runtime/reference.h"
#include "runtime/show.h"

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
  if (auto it = waiting_.find({node.index, tag}); it != waiting_.end() && operands.data() == it->second.operands.data())
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

std::string ReferenceExecution::Leftovers() const {
  std::string what;
  llvm::raw_string_ostream out(what);
  auto say = [&](const char* kind, uint32_t node, const TagRef& tag) {
    out << kind << " %" << node << " (" << llvm::StringRef(ir::InfoOf(graph_.nodes[ir::NodeId(node)].op).name)
        << ") under tag ";
    PrintTag(tag.get(), out);
  };
  if (!waiting_.empty()) {
    const Key& key = waiting_.begin()->first;
    say("operands are left waiting at node", key.id, key.tag);
  } else if (!outer_waiting_.empty()) {
    say("nothing answers node", outer_waiting_.begin()->first.id, outer_waiting_.begin()->second.front());
  } else {
    for (DelayCell* cell = first_cell_; cell; cell = cell->next)
      if (!cell->waiters.empty()) {
        say("nothing answers node", cell->waiters.front().first.index, cell->waiters.front().second);
        break;
      }
  }
  return what;
}

}  // namespace df::reference
