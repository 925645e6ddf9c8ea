// The demand engine's run: the results are asked for, and then whatever the printing forces.
#include "runtime/demand.h"

#include <new>

#include <fmt/format.h>

namespace df::demand {

namespace {

constexpr uint64_t kForcesPerCheck = 256;

}  // namespace

DemandExecution::DemandExecution(const ir::Graph& graph, const RunOptions& options)
    : graph_(graph), options_(options), limits_(options.limits), code_(Compile(graph)) {
  delay_of_site_.resize(graph.sites.size());
  for (uint32_t n = 0; n < graph.nodes.size(); ++n)
    if (graph.nodes[ir::NodeId(n)].op == ir::Op::Delay) delay_of_site_[graph.nodes[ir::NodeId(n)].attr] = ir::NodeId(n);
  constants_.resize(graph.constants.size());
  constant_made_.resize(graph.constants.size());
  results_.resize(graph.graph_results.size());
  collect_at_ = 1 << 16;
}

DemandExecution::~DemandExecution() {
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
  std::vector<Activation*> activations;
  std::vector<Value> cells, contents;
  for (Activation* at = newest_; at; at = at->older) activations.push_back(Hold(at));
  for (DemandCell* cell = newest_cell_; cell; cell = cell->older) {
    ++cell->refs;
    cells.push_back(Value::Adopt(ValueKind::Reference, cell));
    contents.push_back(std::move(cell->value));
  }
  contents.clear();
  for (Activation* at : activations) Clear(at);
  cells.clear();
  for (Activation* at : activations) Release(at);
  // What somebody outside still holds must not come back here.
  while (newest_cell_) {
    DemandCell* cell = newest_cell_;
    newest_cell_ = cell->older;
    cell->owner = nullptr;
    if (Activation* at = std::exchange(cell->at, nullptr)) Release(at);
  }
  if (root_) Release(root_);
}

// Runs `work` within the limits, and says how it ended.
template <typename Work>
Outcome DemandExecution::Guarded(Work work) {
  if (ended_) return last_;
  try {
    memory::LimitScope scope(limits_.base(), limits_.max_memory());
    work();
  } catch (const std::bad_alloc&) {
    return Ended(Stop::MemoryLimit, limits_.Detail(Stop::MemoryLimit));
  } catch (const Stopped& stopped) {
    return Ended(stopped.stop, limits_.Detail(stopped.stop));
  } catch (const BrokenRule& broken) {
    return Ended(Stop::Internal, broken.what);
  }
  return {};
}

Outcome DemandExecution::Start(llvm::ArrayRef<Value> inputs) {
  if (inputs.size() != graph_.graph_inputs.size()) return Ended(Stop::Internal, "not as many inputs as the graph has");
  inputs_.assign(inputs.begin(), inputs.end());
  Outcome outcome = Guarded([&] {
    root_ = NewActivation({}, 0, nullptr);
    for (size_t i = 0; i < results_.size(); ++i) results_[i] = Evaluate(code_.results[i], root_);
  });
  if (!outcome.ok()) return outcome;
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    const ir::Node& node = graph_.nodes[ir::NodeId(n)];
    if (node.op != ir::Op::Result || !results_[node.attr].is_error()) continue;
    if (static_cast<ErrorObject*>(results_[node.attr].object())->code == ErrorCode::Loop)
      return NoProgress(ir::NodeId(n), node.pos, root_);
  }
  return {};
}

Outcome DemandExecution::Force(Value& value) {
  // Printing a large value that is all there forces nothing, and is to end in time as well.
  if (++forces_ % kForcesPerCheck == 0 && !ended_) {
    Stop stop = limits_.Check(live_);
    if (stop != Stop::Done) return Ended(stop, limits_.Detail(stop));
  }
  if (value.is_reference()) {
    Value reference = value;  // the cell lives while it runs
    DemandCell* cell = CellOf(reference);
    uint32_t site = cell->what == DemandCell::Delay ? cell->id : kNone;
    Activation* at = cell->at;
    if (at) Hold(at);
    Outcome outcome;
    while (outcome.ok() && value.is_reference()) {
      cell = CellOf(value);
      if (cell->full) value = Value(cell->value);
      else outcome = Guarded([&] { value = EvaluateCell(cell); });
    }
    // Whoever waits for himself is reported as the reference engine does: by the delayed call that was wanted.
    bool loop = outcome.ok() && value.is_error() && static_cast<ErrorObject*>(value.object())->code == ErrorCode::Loop;
    if (loop && site != kNone && at)
      outcome = NoProgress(delay_of_site_[site], graph_.sites[ir::SiteId(site)].pos, at);
    if (at) Release(at);
    if (!outcome.ok()) return outcome;
  }
  return value.is_error() ? FailedWith(value) : Outcome{};
}

Outcome DemandExecution::Ended(Stop stop, std::string detail) {
  ended_ = true;
  last_ = {};
  last_.stop = stop;
  last_.detail = std::move(detail);
  last_.error.message = last_.detail;
  for (size_t i = stack_.size(); i-- > 0;) {
    if (stack_[i].node == kNone) continue;
    last_.error.node = ir::NodeId(stack_[i].node);
    last_.error.pos = graph_.nodes[last_.error.node].pos;
    FillPath(TagOf(stack_[i].at), last_.error);
    break;
  }
  return last_;
}

Outcome DemandExecution::FailedWith(const Value& value) const {
  const auto* error = static_cast<ErrorObject*>(value.object());
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.code = error->code;
  outcome.error.message = error->message;
  outcome.error.pos = error->pos;
  outcome.error.node = error->node;
  const auto* tag = error->tag ? static_cast<DemandCell*>(static_cast<Cell*>(error->tag)) : nullptr;
  FillPath(tag ? TagOf(tag->at) : nullptr, outcome.error);
  return outcome;
}

Outcome DemandExecution::NoProgress(ir::NodeId node, ir::PosId pos, const Activation* at) const {
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.code = ErrorCode::Loop;
  outcome.error.message = "<<loop>>";
  outcome.error.node = node;
  outcome.error.pos = pos;
  FillPath(TagOf(at), outcome.error);
  return outcome;
}

Stats DemandExecution::stats() const {
  Stats stats = stats_;
  stats.peak_memory = static_cast<uint64_t>(std::max<int64_t>(0, memory::counters.peak - limits_.base()));
  return stats;
}

}  // namespace df::demand

namespace df {

std::unique_ptr<Execution> MakeDemandExecution(const ir::Graph& graph, const RunOptions& options) {
  return std::make_unique<demand::DemandExecution>(graph, options);
}

}  // namespace df
