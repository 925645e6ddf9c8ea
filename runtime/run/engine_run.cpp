// How runs end, for all engines.
#include "runtime/run/engine_run.h"

#include "runtime/value/io_error.h"
#include "runtime/value/tensor.h"

#include <algorithm>

namespace df {

namespace {

Outcome Failure(ErrorCode code, std::string message, ir::NodeId node, ir::PosId pos) {
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.code = code;
  outcome.error.message = std::move(message);
  outcome.error.node = node;
  outcome.error.pos = pos;
  return outcome;
}

enum class OnO0 { Optimises, Kept };
constexpr SwitchInfo kSwitches[] = {
#define DF_SWITCH(field, name, kept, description) {name, &RunOptions::field, OnO0::kept == OnO0::Kept, description},
#include "runtime/run/switches.def"
};

}  // namespace

llvm::ArrayRef<SwitchInfo> Switches() { return kSwitches; }

Outcome Execution::Serve() {
  Outcome outcome;
  outcome.stop = Stop::Internal;
  outcome.detail = "this engine works for no other process";
  return outcome;
}

Outcome Execution::ForceEach(Value& value, llvm::function_ref<bool(Value&)> next) {
  for (;;)
    if (Outcome outcome = Force(value); !outcome.ok() || !next(value)) return outcome;
}

void PathEnds::Add(const PathEntry& entry) {
  if (added_ < kInner) inner_.push_back(entry);
  else outer_[added_ % kOuter] = entry;
  ++added_;
}

void PathEnds::Fill(RuntimeError& error, uint64_t length) const {
  error.path = inner_;
  error.path_length = length;
  error.path_gap = length > kInner + kOuter ? kInner : 0;
  uint64_t outer = added_ > kInner ? std::min<uint64_t>(added_ - kInner, kOuter) : 0;
  for (uint64_t i = added_ - outer; i < added_; ++i) error.path.push_back(outer_[i % kOuter]);
}

EngineRun::EngineRun(const ir::Graph& graph, const RunOptions& run) : graph_(graph), run_(run), limits_(run.limits) {
  results_.resize(graph.graph_results.size());
  if (run_.leave) DeadObjects::watch = this;
  if (graph.types.HasTensors()) memory::KeepLargeBlocks();
}

EngineRun::~EngineRun() {
  if (DeadObjects::watch == this) DeadObjects::watch = outer_watch_;
}

// The run ends at the next look at its limits, which is soon: so there are few of them.
bool EngineRun::Take(DeadObjects& left) {
  LeaveAtLimit();
  if (ended_ || left_overs_ == left_over_.size() || limits_.Check(0) == Stop::Done) return false;
  left.MoveTo(left_over_[left_overs_++]);
  return true;
}

void EngineRun::FreeLeftOver() {
  ended_ = true;
  while (left_overs_ > 0) left_over_[--left_overs_].FreeAll();
}

Stats EngineRun::stats() const {
  Stats stats = stats_;
  stats.peak_memory = static_cast<uint64_t>(std::max<int64_t>(0, memory::counters.peak - limits_.base()));
  return stats;
}

Outcome EngineRun::TakeInputs(std::vector<Value> inputs) {
  if (inputs.size() != graph_.graph_inputs.size()) return Ended(Stop::Internal, "not one value per input of the graph");
  inputs_ = std::move(inputs);
  return {};
}

Outcome EngineRun::CheckForce() {
  if (++forces_ % kForcesPerCheck != 0 || ended_) return {};
  Stop stop = limits_.Check(live());
  return stop == Stop::Done ? Outcome{} : Ended(stop);
}

Outcome EngineRun::Ended(Stop stop, std::string detail) {
  ended_ = true;
  last_ = {};
  last_.stop = stop;
  last_.detail = std::move(detail);
  last_.error.message = last_.detail;
  try {
    Where(last_.error);
  } catch (const std::bad_alloc&) {  // then without the place
    last_.error.path.clear();
  }
  ir::NodeId at = last_.error.node;
  if (!at.valid()) return last_;
  const ir::Node& node = graph_.nodes[at];
  last_.error.pos = node.pos;
  // Triggers and merges have no place of their own in the source; their function or loop has.
  if (!graph_.positions.Contains(node.pos) || !graph_.positions[node.pos].line)
    last_.error.pos = graph_.scopes[node.scope].pos;
  return last_;
}

void EngineRun::LookIntoTensor(Value& value) {
  TensorObject* tensor = TensorIn(value);
  if (!tensor) return;
  if (ErrorObject* error = tensor->Failure()) {
    error->refs.Retain();
    value = Value::Adopt(ValueKind::Error, error);
  }
}

Outcome EngineRun::FailedWith(const Value& value) {
  const auto* error = static_cast<ErrorObject*>(value.object());
  Outcome outcome = Failure(error->code, MessageOf(*error), error->node, error->pos);
  if (error->code == ErrorCode::Io) outcome.error.parts = error->message;
  outcome.error.thrown = error->thrown;
  return outcome;
}

Outcome EngineRun::NoProgress(ir::NodeId node, ir::PosId pos) {
  return Failure(ErrorCode::Loop, "<<loop>>", node, pos);
}

}  // namespace df
