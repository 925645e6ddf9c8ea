// The demand engine's run: the results are asked for, and then whatever the printing forces.
#include "runtime/engines/demand/demand.h"

#include <new>

#include <fmt/format.h>

namespace df::demand {

DemandExecution::DemandExecution(const ir::Graph& graph, const RunOptions& options)
    : EngineRun(graph, options), code_(Compile(graph)) {
  delay_of_site_.resize(graph.sites.size());
  for (uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[ir::NodeId(n)].op == ir::Op::Delay) delay_of_site_[graph.nodes[ir::NodeId(n)].attr] = ir::NodeId(n);
  constants_.resize(graph.constants.size());
  constant_made_.resize(graph.constants.size());
  collect_at_ = 1 << 16;
}

DemandExecution::~DemandExecution() {
  FreeLeftOver();
  results_.clear();
  values_.clear();
  while (!stack_.empty()) {
    Frame frame = stack_.back();
    stack_.pop_back();
    Release(frame.at);
    if (frame.inside) Release(frame.inside);
    if (frame.cell) Value last = Value::Adopt(ValueKind::Reference, frame.cell);
  }
  // What is left holds itself in circles: all of it is emptied before any of it goes.
  Queue();
  DeadObjects dead;
  for (Activation* at = newest_; at; at = at->older) Clear(at, dead);
  for (DemandCell* cell = newest_cell_; cell; cell = cell->older) cell->DropChildren(dead);
  dead.FreeAll();
  Drain();
  // What somebody outside still holds must not come back here.
  while (newest_cell_) {
    DemandCell* cell = newest_cell_;
    newest_cell_ = cell->older;
    cell->owner = nullptr;
    if (Activation* at = std::exchange(cell->at, nullptr)) Release(at);
  }
  if (root_) Release(root_);
}

Outcome DemandExecution::Start(std::vector<Value> inputs) {
  if (Outcome refused = TakeInputs(std::move(inputs)); !refused.ok()) return refused;
  Outcome outcome = Guarded([&] {
    root_ = NewActivation({}, 0, nullptr);
    for (size_t i = 0; i < results_.size(); ++i) results_[i] = Evaluate(code_.results[i], root_);
  });
  if (!outcome.ok()) return outcome;
  return MissingResult([&](uint32_t index) {
    const Value& value = results_[index];
    return !value.is_error() || static_cast<ErrorObject*>(value.object())->code != ErrorCode::Loop;
  });
}

Outcome DemandExecution::Force(Value& value) {
  if (Outcome outcome = CheckForce(); !outcome.ok()) return outcome;
  if (value.is_reference() && HostCellIn(value.object())) {
    Outcome outcome = Guarded([&] { AskHost(value); });
    if (!outcome.ok()) return outcome;
  } else if (value.is_reference()) {
    Value reference = value;  // the cell lives while it runs
    DemandCell* cell = CellOf(reference);
    uint32_t site = cell->what == DemandCell::Delay ? cell->id : kNone;
    Activation* at = cell->at;
    if (at) Hold(at);
    Outcome outcome;
    while (outcome.ok() && value.is_reference()) {
      if (HostCellIn(value.object())) {
        outcome = Guarded([&] { AskHost(value); });
        continue;
      }
      cell = CellOf(value);
      if (cell->full) value = Value(cell->value);
      else outcome = Guarded([&] { value = EvaluateCell(cell); });
    }
    // Whoever waits for himself is reported as the reference engine does: by the delayed call that was wanted.
    bool loop = outcome.ok() && value.is_error() && static_cast<ErrorObject*>(value.object())->code == ErrorCode::Loop;
    if (loop && site != kNone && at) {
      outcome = NoProgress(delay_of_site_[site], graph_.sites[ir::SiteId(site)].pos);
      FillPathOf(at, outcome.error);
    }
    if (at) Release(at);
    if (!outcome.ok()) return outcome;
  }
  LookIntoTensor(value);
  if (!value.is_error()) return {};
  Outcome outcome = FailedWith(value);
  FillPath(TagOfError(value), outcome.error);
  return outcome;
}

// Of an activation that is still there; makes nothing.
void DemandExecution::FillPathOf(const Activation* at, RuntimeError& error) const {
  PathEnds ends;
  if (at != root_) ends.Add(EntryOf(at->label));
  AddTag(at->outer, ends);
  ends.Fill(error, at->depth);
}

void DemandExecution::Where(RuntimeError& error) const {
  for (size_t i = stack_.size(); i-- > 0;) {
    if (stack_[i].node == kNone) continue;
    error.node = ir::NodeId(stack_[i].node);
    FillPathOf(stack_[i].at, error);
    break;
  }
}

}  // namespace df::demand

namespace df {

std::unique_ptr<Execution> MakeDemandExecution(const ir::Graph& graph, const RunOptions& options) {
  return std::make_unique<demand::DemandExecution>(graph, options);
}

}  // namespace df
