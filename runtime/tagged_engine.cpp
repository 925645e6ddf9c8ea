// A run as a whole: start, forcing what results refer to, limits, the end.
#include "runtime/tagged_engine.h"

#include <fmt/format.h>

#include "runtime/memory.h"
#include "runtime/show.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

namespace {

constexpr uint32_t kStepsPerCheck = 1024;

}  // namespace

TaggedExecution::TaggedExecution(const ir::Graph& graph, const RunOptions& run, const Options& options)
    : EngineRun(graph, run), options_(options) {
  if (run_.trace) options_.direct = options_.move = false;  // every firing is shown, with its operands
  refused_ = Compile(graph_, options_, &program_);
  uint32_t largest = 0;
  for (const ScopeCode& scope : program_.scopes) largest = std::max(largest, scope.frame_bytes);
  pool_.Prepare(largest);
  uint32_t largest_cell = 0;
  for (SiteCode& site : program_.sites) {
    site.owner = this;
    if (site.callee) {
      site.direct.free = pool_.FreeList(site.callee->frame_bytes);
      site.direct.site = &site;
      if (site.callee->direct != kNone) site.direct.start = program_.direct.code.data() + site.callee->direct;
    }
    direct_calls_.push_back(site.direct);
    if (site.type == SiteType::Delay) largest_cell = std::max(largest_cell, site.cell_bytes = DelayCell::BytesFor(site));
  }
  cells_.Prepare(largest_cell);
  have_.assign(results_.size(), false);
  missing_ = static_cast<uint32_t>(results_.size());
  budget_ = kStepsPerCheck;
}

// What waits is dropped: values out of frames and cells first, so that no cycle through cells keeps anything.
TaggedExecution::~TaggedExecution() {
  std::vector<Value> held;
  for (Item& item : stack_)
    if (item.cell) held.push_back(Value::Adopt(ValueKind::Reference, item.cell));
  pool_.ForEachLive([&](Frame* frame) {
    if (frame->flags & kDirect) RestoreStates(frame);
    if (frame->flags & kObjects)
      for (uint32_t i = 0; i < frame->scope().num_slots; ++i)
        if (frame->IsCounted(i)) held.push_back(frame->Take(i));
    if (frame->flags & kHasTag) DropTag(frame->tag);
    if (frame->flags & kTagParent) DropTag(frame->parent_tag);
  });
  // Counted while their contents go, so that none is destroyed under the walk.
  std::vector<Value> cells;
  cells_.ForEachLive([&](DelayCell* cell) {
    cells.push_back(Value::Retain(ValueKind::Reference, cell));
    cell->CollectChildren(held);
  });
  held.clear();
  results_.clear();
  cells.clear();
  unpins_.clear();
}

void TaggedExecution::StepCheck() {
  budget_ = kStepsPerCheck;
  if (live_cells_ > collect_at_) CollectCycles();
  CheckLimits();
}

Outcome TaggedExecution::Start(llvm::ArrayRef<Value> inputs) {
  if (!refused_.empty()) return Ended(Stop::Internal, refused_);
  if (Outcome refused = TakeInputs(inputs); !refused.ok()) return refused;
  stats_.calls = 1;
  Outcome outcome = Guarded([&] {
    root_ = NewFrame(&program_.RootSite(), nullptr);
    Fire(root_, program_.RootSite().callee->activation);
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
    auto* cell = static_cast<DelayCell*>(static_cast<Cell*>(value.object()));
    if (cell->state != DelayCell::State::Full) {
      Value keep = value;  // the cell lives while it runs
      Outcome outcome = Guarded([&] {
        if (!Release(cell)) return;
        stack_.push_back({nullptr, cell, 0});
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
  Outcome outcome = Guarded([&] {
    do {
      while (!stack_.empty() && (run_.run_dry || !Reached(goal))) {
        if (--budget_ == 0) StepCheck();
        Step();
        if (!unpins_.empty()) DrainUnpins();
      }
    } while (!Reached(goal) && LeaveAllDirect());
  });
  if (!outcome.ok()) return outcome;
  now_ = nullptr;
  if (!Reached(goal)) {
    if (!goal) return MissingResult([&](uint32_t index) { return have_[index]; });
    outcome = NoProgress(goal->site->trigger, graph_.sites[ir::SiteId(goal->site->label)].pos);
    FillPathOf(goal, outcome.error);
    return outcome;
  }
  if (run_.run_dry) {
    std::string left = Leftovers();
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

// The entry on top of the stack.
void TaggedExecution::Step() {
  Item item = stack_.back();
  stack_.pop_back();
  if (item.cell) {
    Value counted = Value::Adopt(ValueKind::Reference, item.cell);
    return StartCell(item.cell);
  }
  if (item.frame->flags & kDirect) {
    --item.frame->refs;
    return RunDirect(item.frame);
  }
  now_ = item.frame;
  if (item.pc == kNone) RunReady(item.frame);
  else RunTail(item.frame, item.pc);
  Unref(item.frame);
}

// After a run to the end, frames may only be left for their tags: something else forgot to go.
std::string TaggedExecution::Leftovers() {
  std::string what;
  pool_.ForEachLive([&](Frame* frame) {
    if (frame == root_ || frame->refs == 0 || !what.empty()) return;
    llvm::raw_string_ostream out(what);
    out << "frame of `" << graph_.scopes[frame->scope().id].name << "` is left with " << frame->refs
        << " refs under tag ";
    PrintTag(frame, out);
    out << ", waiting for";
    const ScopeCode& scope = frame->scope();
    for (size_t r = 0; r < scope.regions.size(); ++r)
      if (scope.regions[r].mask != kNone)
        for (size_t i = 0; i < scope.regions[r].events.size(); ++i)
          if (frame->masks()[scope.regions[r].mask] & (1 << i)) out << " e" << scope.regions[r].events[i];
  });
  return what;
}

void TaggedExecution::Where(RuntimeError& error) const {
  if (now_pc_ != kNone) error.node = program_.node_of[now_pc_];
  // Direct code does not say which node it is at.
  if (!error.node.valid() && now_) error.pos = graph_.scopes[now_->scope().id].pos;
  FillPath(now_, error);
}

Stats TaggedExecution::stats() const {
  Stats stats = EngineRun::stats();
  stats.peak_frames = pool_.peak();
  return stats;
}

// "%12 Add  tag [1 0]  3 4 -> 7", as the reference engine traces; operands that are not there are "_".
void TaggedExecution::Trace(Frame* frame, NodeId id, uint32_t result_slot) {
  llvm::raw_ostream& out = *run_.trace;
  out << '%' << id.index << ' ' << llvm::StringRef(ir::InfoOf(graph_.nodes[id].op).name) << "  tag ";
  PrintTag(frame, out);
  out << ' ';
  Op op = graph_.nodes[id].op;
  // The operands of these stand in another frame.
  if (op != Op::Call && op != Op::Return && op != Op::Enter && op != Op::Exit && op != Op::Outer) {
    for (ir::Edge edge : graph_.InputsOf(id)) {
      uint32_t slot = SlotOf(edge);
      out << ' ';
      if (slot == kNone) out << "()";
      else if (!IsAvailable(frame, edge)) out << '_';
      else PrintDatum(graph_, graph_.TypeOf(edge), Read(frame, slot), out);
    }
  }
  if (result_slot != kNone && frame->Has(result_slot)) {
    out << " -> ";
    PrintDatum(graph_, graph_.TypeOf({id, 0}), frame->Get(result_slot), out);
  }
  out << '\n';
}

}  // namespace df::tagged

namespace df {

std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options) {
  return std::make_unique<tagged::TaggedExecution>(graph, options, tagged::Options{});
}

}  // namespace df
