// A run as a whole: start, forcing what results refer to, limits, the end.
#include "runtime/tagged_engine.h"

#include <fmt/format.h>

#include "runtime/memory.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

TaggedExecution::TaggedExecution(const ir::Graph& graph, const RunOptions& run, const Options& options)
    : EngineRun(graph, run), options_(options) {
  if (run_.trace) options_.direct = options_.move = false;  // every firing is shown, with its operands
  refused_ = Compile(graph_, options_, &program_);
  for (SiteCode& site : program_.sites) {
    site.owner = this;
    if (site.callee) site.free_list = FramePool::ListOf(site.callee->frame_bytes);
    if (site.type == SiteType::Delay) DelayCell::Measure(site);
  }
  worker_ = std::make_unique<Worker>(*this);
  have_.assign(results_.size(), false);
  missing_ = static_cast<uint32_t>(results_.size());
}

// What waits is dropped: values out of frames and cells first, so that no cycle through cells keeps anything.
TaggedExecution::~TaggedExecution() {
  std::vector<Value> held, cells;
  worker_->GiveUpValues(held);
  worker_->GiveUpCells(cells, held);
  held.clear();
  results_.clear();
  cells.clear();
  worker_->unpins_.clear();
}

void TaggedExecution::SetResult(uint32_t index, Value value) {
  if (have_[index]) return;
  have_[index] = true;
  results_[index] = std::move(value);
  --missing_;
}

Outcome TaggedExecution::Start(llvm::ArrayRef<Value> inputs) {
  if (!refused_.empty()) return Ended(Stop::Internal, refused_);
  if (Outcome refused = TakeInputs(inputs); !refused.ok()) return refused;
  worker_->stats_.calls = 1;
  Outcome outcome = Guarded([&] {
    root_ = worker_->NewFrame(&program_.RootSite(), nullptr);
    worker_->Fire(root_, program_.RootSite().callee->activation);
  });
  return outcome.ok() ? Run(nullptr) : outcome;
}

Outcome TaggedExecution::Force(Value& value) {
  if (Outcome outcome = CheckForce(); !outcome.ok()) return outcome;
  while (value.is_reference()) {
    if (HostCellIn(value.object())) {
      Outcome outcome = Guarded([&] { AskHost(value); });
      if (!outcome.ok()) return outcome;
      continue;
    }
    auto* cell = static_cast<DelayCell*>(value.object());
    if (cell->state != DelayCell::State::Full) {
      Value keep = value;  // the cell lives while it runs
      Outcome outcome = Guarded([&] {
        if (!worker_->Release(cell)) return;
        worker_->stack_.push_back({nullptr, cell, 0});
        cell->refs.Retain();
      });
      if (outcome.ok()) outcome = Run(cell);
      if (!outcome.ok()) return outcome;
    }
    value = Value(cell->value());
  }
  if (!value.is_error()) return {};
  Outcome outcome = FailedWith(value);
  FillPath(TagOfError(value), outcome.error);
  return outcome;
}

Outcome TaggedExecution::Run(const DelayCell* goal) {
  worker_->goal_ = goal;
  Outcome outcome = Guarded([&] {
    do {
      while (!worker_->stack_.empty() && (run_.run_dry || !Reached(goal))) worker_->Step();
    } while (!Reached(goal) && worker_->LeaveAllDirect());
  });
  if (!outcome.ok()) return outcome;
  worker_->now_ = nullptr;
  if (!Reached(goal)) {
    if (!goal) return MissingResult([&](uint32_t index) { return have_[index]; });
    outcome = NoProgress(goal->site->trigger, graph_.sites[ir::SiteId(goal->site->label)].pos);
    FillPathOf(goal, outcome.error);
    return outcome;
  }
  if (run_.run_dry) {
    std::string left = worker_->Leftovers(root_);
    if (!left.empty()) return Ended(Stop::Internal, left);
  }
  return {};
}

// The call path of a Delay whose cell is not full.
void TaggedExecution::FillPathOf(const DelayCell* cell, RuntimeError& error) const {
  const Frame* body = cell->state == DelayCell::State::Running ? cell->body : nullptr;
  if (cell->site->needs_outer) FillPath(body ? body->parent_frame() : cell->home, error);
  else FillPath(body ? body->parent_tag : cell->tag, error);
}

Stats TaggedExecution::stats() const {
  Stats stats = EngineRun::stats();
  const Stats& work = worker_->stats_;
  stats.firings = work.firings;
  stats.regions = work.regions;
  stats.calls = work.calls;
  stats.loops = work.loops;
  stats.delays = work.delays;
  stats.released = work.released;
  stats.max_depth = work.max_depth;
  stats.peak_frames = worker_->pool_.peak();
  return stats;
}

}  // namespace df::tagged

namespace df {

std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options) {
  tagged::Options how;
  how.count = options.count;
  return std::make_unique<tagged::TaggedExecution>(graph, options, how);
}

}  // namespace df
