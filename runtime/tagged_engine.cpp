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
    : graph_(graph), run_(run), options_(options), limits_(run.limits) {
  if (run_.trace) options_.fast = false;  // every firing is shown
  refused_ = Compile(graph_, options_, &program_);
  uint32_t largest = 0;
  for (const ScopeCode& scope : program_.scopes) largest = std::max(largest, scope.frame_bytes);
  pool_.Prepare(largest);
  for (SiteCode& site : program_.sites)
    if (site.callee) site.fast.free = pool_.FreeList(site.callee->frame_bytes);
  results_.resize(graph_.graph_results.size());
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
    if (TagBase* base = frame->base(); base && --base->refs == 0) delete base;
    if (!(frame->flags & kObjects)) return;
    for (uint32_t i = 0; i < frame->scope().num_slots; ++i)
      if (frame->IsCounted(i)) held.push_back(frame->Take(i));
  });
  // Counted while their contents go, so that none is destroyed under the walk.
  std::vector<Value> cells;
  for (DelayCell* cell = cells_; cell; cell = cell->next) {
    ++cell->refs;
    cells.push_back(Value::Adopt(ValueKind::Reference, cell));
    cell->home = nullptr;
    cell->CollectChildren(held);
  }
  held.clear();
  results_.clear();
  cells.clear();
  unpins_.clear();
}

void TaggedExecution::CheckLimits() {
  budget_ = kStepsPerCheck;
  Stop stop = limits_.Check(pool_.live());
  if (stop != Stop::Done) throw Stopped{stop};
}

Outcome TaggedExecution::Start(llvm::ArrayRef<Value> inputs) {
  if (!refused_.empty()) return Ended(Stop::Internal, refused_);
  if (inputs.size() != graph_.graph_inputs.size()) return Ended(Stop::Internal, "not one value per input of the graph");
  inputs_.assign(inputs.begin(), inputs.end());
  stats_.calls = 1;
  try {
    memory::LimitScope scope(limits_.base(), limits_.max_memory());
    root_ = NewFrame(&program_.RootSite(), nullptr);
    Fire(root_, program_.RootSite().callee->activation);
  } catch (const std::bad_alloc&) {
    return Ended(Stop::MemoryLimit, limits_.Detail(Stop::MemoryLimit));
  }
  return Run(nullptr);
}

Outcome TaggedExecution::Force(Value& value) {
  while (value.is_reference()) {
    auto* cell = static_cast<DelayCell*>(static_cast<Cell*>(value.object()));
    if (cell->state != DelayCell::State::Full) {
      if (ended_) return last_;
      Value keep = value;  // the cell lives while it runs
      if (cell->state == DelayCell::State::Kept) {
        cell->state = DelayCell::State::Released;
        ++stats_.released;
        if (IsReady(cell)) {
          ++cell->refs;
          stack_.push_back({nullptr, cell, 0});
        }
      }
      Outcome outcome = Run(cell);
      if (!outcome.ok()) return outcome;
    }
    value = Value(cell->value);
  }
  return value.is_error() ? FailedWith(value) : Outcome{};
}

Outcome TaggedExecution::Run(const DelayCell* goal) {
  if (ended_) return last_;
  try {
    memory::LimitScope scope(limits_.base(), limits_.max_memory());
    while (!stack_.empty() && (run_.run_dry || !Reached(goal))) {
      if (--budget_ == 0) CheckLimits();
      Item item = stack_.back();
      stack_.pop_back();
      if (options_.fast && !slow_next_) {
        if (const FastInstr* ip = FastEntry(item)) {
          --item.frame->refs;
          RunFast(item.frame, ip);
          if (!unpins_.empty()) DrainUnpins();
          continue;
        }
      }
      slow_next_ = false;
      if (item.cell) {
        Value counted = Value::Adopt(ValueKind::Reference, item.cell);
        StartCell(item.cell);
      } else {
        now_ = item.frame;
        if (item.pc == kNone) RunReady(item.frame);
        else RunTail(item.frame, item.pc);
        Unref(item.frame);
      }
      if (!unpins_.empty()) DrainUnpins();
    }
  } catch (const std::bad_alloc&) {
    return Ended(Stop::MemoryLimit, limits_.Detail(Stop::MemoryLimit));
  } catch (const Stopped& stopped) {
    return Ended(stopped.stop, limits_.Detail(stopped.stop));
  }
  now_ = nullptr;
  if (!Reached(goal)) {
    if (goal) return NoProgress(goal->site->trigger, graph_.sites[ir::SiteId(goal->site->label)].pos,
                                goal->home ? goal->home : goal->body ? goal->body->parent_frame() : nullptr);
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const ir::Node& node = graph_.nodes[NodeId(n)];
      if (node.op == Op::Result && !have_[node.attr]) return NoProgress(NodeId(n), node.pos, nullptr);
    }
  }
  if (run_.run_dry) {
    std::string left = Leftovers();
    if (!left.empty()) return Ended(Stop::Internal, left);
  }
  return {};
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

Outcome TaggedExecution::Ended(Stop stop, std::string detail) {
  ended_ = true;
  last_ = {};
  last_.stop = stop;
  last_.detail = std::move(detail);
  last_.error.message = last_.detail;
  last_.error.node = now_node_;
  if (now_node_.valid()) {
    const ir::Node& node = graph_.nodes[now_node_];
    last_.error.pos = node.pos;
    // Triggers and merges have no place of their own in the source; their function or loop has.
    if (!graph_.positions.Contains(node.pos) || !graph_.positions[node.pos].line)
      last_.error.pos = graph_.scopes[node.scope].pos;
  } else if (now_) {
    last_.error.pos = graph_.scopes[now_->scope().id].pos;  // fast code does not say which node it is at
  }
  FillPath(now_, last_.error);
  return last_;
}

Outcome TaggedExecution::FailedWith(const Value& value) const {
  const auto* error = static_cast<ErrorObject*>(value.object());
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.code = error->code;
  outcome.error.message = error->message;
  outcome.error.pos = error->pos;
  outcome.error.node = error->node;
  const auto* tag = error->tag ? static_cast<FrameTag*>(static_cast<Cell*>(error->tag)) : nullptr;
  FillPath(tag ? tag->frame : nullptr, outcome.error);
  return outcome;
}

Outcome TaggedExecution::NoProgress(NodeId node, ir::PosId pos, const Frame* frame) const {
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.code = ErrorCode::Loop;
  outcome.error.message = "<<loop>>";
  outcome.error.node = node;
  outcome.error.pos = pos;
  FillPath(frame, outcome.error);
  return outcome;
}

Stats TaggedExecution::stats() const {
  Stats stats = stats_;
  stats.peak_frames = pool_.peak();
  stats.peak_memory = static_cast<uint64_t>(std::max<int64_t>(0, memory::counters.peak - limits_.base()));
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
