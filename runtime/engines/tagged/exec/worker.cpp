// One thing after the other: the entry on top of the stack, until nothing is left or the result is there.
#include "runtime/engines/tagged/exec/worker.h"

#include "runtime/base/memory.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/text/show.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

Worker::Worker(TaggedExecution& execution, uint32_t index)
    : execution_(execution),
      program_(execution.program_),
      graph_(execution.graph_),
      run_(execution.run_),
      budget_(run_.stress ? 1 : kStepsPerCheck),
      index_(index),
      pause_(50),
      random_((run_.stress + 1) * 0x9E3779B97F4A7C15 + index) {
  uint32_t largest_cell = 0;
  for (const SiteCode& site : program_.sites) largest_cell = std::max(largest_cell, site.cell_bytes);
  cells_.Prepare(largest_cell);
  Link();
  words_rest_.assign(program_.scopes.size(), 0);
  size_t most_results = 1;
  for (const ScopeCode& scope : program_.scopes) most_results = std::max<size_t>(most_results, scope.num_results);
  given_.reserve(most_results);  // while results are taken out of a frame nothing may fail
}

// What frames and calls need of the program's code, as far as it is made.
void Worker::Link() {
  uint32_t largest = 0;
  for (const ScopeCode& scope : program_.scopes) largest = std::max(largest, scope.frame_bytes);
  pool_.Prepare(largest, !program_.fast);
  direct_calls_.clear();
  direct_calls_.reserve(program_.sites.size());
  for (const SiteCode& site : program_.sites) {
    DirectCall call;
    call.site = &site;
    if (site.callee) {
      call.free = pool_.FreeList(site.callee->frame_bytes);
      call.head = HeadOf(kLive | kDirect | kDirectCaller, site.callee->num_slots);
      if (site.callee->direct != kNone) call.start = program_.direct.code.data() + site.callee->direct;
    }
    direct_calls_.push_back(call);
  }
}

// Values out of frames and entries of the stack, so that nothing is held by what waits. The proxies go.
void Worker::GiveUpValues(DeadObjects& dead) {
  while (mail_) mail_.reset(std::exchange(mail_->next, nullptr));
  for (Item& item : stack_)
    if (item.cell) dead.Drop(item.cell);
  stack_.clear();
  for (std::vector<Value>* left : {&given_, &operands_}) {
    for (Value& value : *left) dead.Drop(value);
    left->clear();
  }
  pool_.ForEachLive([&](Frame* frame) {
    if (WordsOf(frame)) frame->flags &= ~kObjects;
    else if (frame->flags & kDirect) RestoreStates(frame);
    if (frame->flags & kObjects)
      for (uint32_t i = 0; i < frame->scope().num_slots; ++i)
        if (frame->IsCounted(i)) {
          Value value = frame->Take(i);
          dead.Drop(value);
        }
    if (frame->flags & kHasTag) DropTag(frame->tag);
    if (frame->flags & kTagParent) DropTag(frame->parent_tag);
  });
  for (Proxy* proxy : proxies_) {
    DropTag(proxy->tag);
    delete proxy;
  }
  proxies_.clear();
}

// What cells hold.
void Worker::GiveUpCells(DeadObjects& dead) {
  cells_.ForEachLive([&](DelayCell* cell) { cell->DropChildren(dead); });
}

void Worker::StepCheck() {
  budget_ = run_.stress ? static_cast<uint32_t>(1 + Random() % 4) : kStepsPerCheck;
  pool_.NotePeak();
  live_published_.store(pool_.live(), std::memory_order_relaxed);
  cells_published_.store(live_cells_, std::memory_order_relaxed);
  if (index_ == 0) {
    execution_.CollectIfDue();
    ++checks_;
    if (!program_.fast) execution_.WarmUp(checks_);
    if (!team_ && run_.threads > 1 && program_.fast && (run_.stress || checks_ >= kChecksBeforeTeam)) execution_.StartTeam();
  }
  if (team_) CheckTeam();
  if (now_ && now_->flags & kDirectCaller) DropTailCallers(now_);
  if (memory::counters.current > give_back_at_ || (run_.stress && Random() % 32 == 0)) [[unlikely]] GiveBackChunks();
  execution_.CheckLimits();
  execution_.NoteMoment(index_, [this](RuntimeError& error) { Where(error); });
}

// The entry on top of the stack.
void Worker::Step() {
  if (--budget_ == 0) {
    StandAt(stack_.back().frame);  // what ran before may be gone
    StepCheck();
  }
  if (poll_due_) Poll();
  if (!unpins_.empty()) DrainUnpins();
  Item item = stack_.back();
  stack_.pop_back();
  if (item.cell) {
    Value counted = Value::Adopt(ValueKind::Reference, item.cell);
    StandAt(nullptr);
    return StartCell(item.cell);
  }
  if (item.frame->flags & kDirect) {
    if (item.frame == interrupted_) interrupted_ = nullptr;
    --item.frame->refs;
    return RunDirect(item.frame);
  }
  now_ = item.frame;
  if (!program_.fast) ++item.frame->scope().steps;
  if (item.pc == kNone) RunReady(item.frame);
  else RunTail(item.frame, item.pc);
  Unref(item.frame);
}

void Worker::Where(RuntimeError& error) {
  const Frame* at = now_;
  if (!at && !stack_.empty() && stack_.back().cell) {
    const DelayCell* cell = stack_.back().cell;  // about to be started
    error.pos = graph_.sites[ir::SiteId(cell->site->label)].pos;
    return execution_.FillPathOf(cell, error);
  }
  // With nothing to do it waits for what others do for its innermost frame.
  if (!at)
    pool_.ForEachLive([&](const Frame* frame) {
      if (frame->refs && (!at || frame->depth > at->depth)) at = frame;
    });
  if (now_pc_ != kNone) error.node = program_.node_of[now_pc_];
  // Direct code does not say which node it is at.
  if (!error.node.valid() && at) error.pos = graph_.scopes[InnermostScope(at).id].pos;
  constexpr uint64_t kSoonWalked = 1 << 20;
  FillPath(at, error, execution_.WasEnded() ? kSoonWalked : UINT64_MAX);
}

// After a run to the end, frames may only be left for their tags: something else forgot to go.
std::string Worker::Leftovers(const Frame* root) {
  std::string what;
  pool_.ForEachLive([&](Frame* frame) {
    if (frame == root || frame->refs == 0 || !what.empty()) return;
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

// "%12 Add  tag [1 0]  3 4 -> 7", as the reference engine traces; operands that are not there are "_".
void Worker::Trace(Frame* frame, NodeId id, uint32_t result_slot) {
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
