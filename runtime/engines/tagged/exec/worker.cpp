// One thing after the other: the entry on top of the stack, until nothing is left or the result is there.
#include "runtime/engines/tagged/exec/worker.h"

#include "runtime/base/memory.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/far.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/event_interpreter.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/scheduled_interpreter.h"
#include "runtime/engines/tagged/exec/tail.h"
#include "runtime/engines/tagged/exec/work_sharing.h"
#include "runtime/run/progress.h"
#include "runtime/text/show.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

Worker::Worker(TaggedExecution& owner, uint32_t number)
    : Asker(/*far=*/false),
      execution(owner),
      program(owner.program()),
      constants(owner.constants()),
      graph(owner.graph_),
      run(owner.run_),
      index(number),
      budget(run.stress ? 1 : kStepsPerCheck),
      pause(50),
      random((run.stress + 1) * 0x9E3779B97F4A7C15 + number) {
  uint32_t largest_cell = 0;
  for (const SiteCode& site : program.sites) largest_cell = std::max(largest_cell, site.cell_bytes);
  cells.Prepare(largest_cell);
  Link();
  unboxed_rest.assign(program.scopes.size(), 0);
  size_t most_results = 1;
  for (const ScopeCode& scope : program.scopes) most_results = std::max<size_t>(most_results, scope.num_results);
  given.reserve(most_results);  // while results are taken out of a frame nothing may fail
}

// What frames and calls need of the program's code, as far as it is made.
void Worker::Link() {
  uint32_t largest = 0;
  for (const ScopeCode& scope : program.scopes) largest = std::max(largest, scope.frame_bytes);
  pool.Prepare(largest, !program.fast);
  scheduled_calls.clear();
  scheduled_calls.reserve(program.sites.size());
  for (const SiteCode& site : program.sites) {
    ScheduledCall call;
    call.site = &site;
    if (site.callee) {
      call.free = pool.FreeList(site.callee->frame_bytes);
      call.head = HeadOf(kLive | kScheduled | kScheduledCaller, site.callee->num_slots);
      if (site.callee->scheduled != kNone) call.start = program.scheduled.code.data() + site.callee->scheduled;
    }
    scheduled_calls.push_back(call);
  }
}

// Values out of frames and entries of the stack, so that nothing is held by what waits. The proxies go.
void Worker::GiveUpValues(DeadObjects& dead) {
  while (mail) mail.reset(std::exchange(mail->next, nullptr));
  // What came when the run had ended may hold delayed calls, which go back to the pools of their workers.
  for (Message* left = mailbox.TakeAll(); left;) delete std::exchange(left, left->next);
  for (Item& item : stack)
    if (item.cell) dead.Drop(item.cell);
  stack.clear();
  for (std::vector<Value>* left : {&given, &operands}) {
    for (Value& value : *left) dead.Drop(value);
    left->clear();
  }
  pool.ForEachLive([&](Frame* frame) {
    if (UnboxedOf(frame)) frame->flags &= ~kObjects;
    else if (frame->flags & kScheduled) GiveUpScheduled(*this, frame);
    if (frame->flags & kObjects)
      for (uint32_t i = 0; i < frame->scope().num_slots; ++i)
        if (frame->IsCounted(i)) {
          Value value = frame->Take(i);
          dead.Drop(value);
        }
    if (frame->flags & kHasTag) DropTag(frame->tag);
    if (frame->flags & kTagParent) DropTag(frame->parent_tag);
  });
  for (Proxy* proxy : proxies) {
    DropTag(proxy->tag);
    delete proxy;
  }
  proxies.clear();
  away.clear();
  for (FarCall* call : far_calls) delete call;
  far_calls.clear();
  for (auto& [name, call] : spread_calls) {
    for (Value& argument : call->arguments) dead.Drop(argument);
    for (SpreadRange& range : call->ranges) dead.Drop(range.list);
  }
  spread_calls.clear();
}

// What cells hold.
void Worker::GiveUpCells(DeadObjects& dead) {
  cells.ForEachLive([&](DelayCell* cell) { cell->DropChildren(dead); });
}

void Worker::Renew(DeadObjects& dead) {
  constexpr size_t kFew = 64 << 10;  // bytes of frames that are walked to find those that are left
  if (pool.live() > 0 || live_cells > 0 || !stack.empty()) {
    GiveUpValues(dead);
    GiveUpCells(dead);
  }
  for (std::vector<Value>* left : {&given, &operands}) {
    for (Value& value : *left) dead.Drop(value);
    left->clear();
  }
  dead.FreeAll();
  unpins.clear();
  if (pool.live() > 0) pool.Clear(/*walk=*/pool.bytes() <= kFew);
  if (live_cells != 0) cells.Clear(), live_cells = 0;
  if (!waiters.empty()) waiters.clear();
  if (!tailed.empty()) tailed.clear();
  if (!outer_waiters.empty()) outer_waiters.clear();
  questions.clear();
  candidates.clear();
  tails.clear();
  stats = {};
  budget = run.stress ? 1 : kStepsPerCheck;
  checks = 0;
  goal = nullptr;
  StandAt(nullptr);
  interrupted = nullptr;
  first_ready = 0;
  event_code_calls = 0;
  pinning_cells = 0;
  made_late = poll_due = false;
  live_published.store(0, std::memory_order_relaxed);
  cells_published.store(0, std::memory_order_relaxed);
}

void Worker::StepCheck() {
  budget = run.stress ? static_cast<uint32_t>(1 + Random(*this) % 4) : kStepsPerCheck;
  pool.NotePeak();
  live_published.store(pool.live(), std::memory_order_relaxed);
  cells_published.store(live_cells, std::memory_order_relaxed);
  if (index == 0) {
    NoteProgress();
    execution.CollectIfDue();
    ++checks;
    if (!program.fast) execution.WarmUp(checks);
    if (!team && (run.threads > 1 || run.peers) && program.fast && (run.stress || checks >= kChecksBeforeTeam)) execution.StartTeam();
  }
  if (team) CheckTeam(*this);
  if (now && now->flags & kScheduledCaller) DropTailCallers(*this, now);
  if (memory::counters.current > give_back_at || (run.stress && Random(*this) % 32 == 0)) [[unlikely]] GiveBackChunks(*this);
  execution.CheckLimits();
  execution.NoteMoment(index, [this](RuntimeError& error) { Where(error); });
}

// A frame that has given its results may have Forces left that nobody needs any more. They would stay on the stack below all that goes on with
// the results, and keep the frame and what it holds: of a program that reads its input all that it has written. So they go, if
// they are all that the frame is at work for; the entry that runs is one more.
void Worker::DropNeedless(Frame* frame) {
  size_t needless = 0;
  for (size_t i = stack.size(); i-- > 0; ++needless) {
    const Item& item = stack[i];
    if (item.frame != frame || item.cell || item.pc == kNone || program.code[item.pc].code != Code::Wait) break;
  }
  if (needless == 0 || frame->refs != needless + 1 || frame->pins != 0 || frame->site == &program.RootSite()) return;
  stack.resize(stack.size() - needless);
  frame->refs = 1;
}

// The entry on top of the stack.
void Worker::Step() {
  if (--budget == 0) {
    StandAt(stack.back().frame);  // what ran before may be gone
    StepCheck();
  }
  if (poll_due) Poll(*this);
  if (!unpins.empty()) DrainUnpins(*this);
  Item item = stack.back();
  stack.pop_back();
  if (item.cell) {
    Value counted = Value::Adopt(ValueKind::Reference, item.cell);
    StandAt(nullptr);
    return StartCell(*this, item.cell);
  }
  if (item.frame->flags & kScheduled) {
    if (item.frame == interrupted) interrupted = nullptr;
    --item.frame->refs;
    return RunScheduled(*this, item.frame);
  }
  now = item.frame;
  if (!program.fast) ++item.frame->scope().steps;
  if (item.pc == kNone) RunReady(*this, item.frame);
  else RunTail(*this, item.frame, item.pc);
  if (item.frame->refs > 1 && !stack.empty() && stack.back().frame == item.frame) DropNeedless(item.frame);
  Unref(item.frame);
}

void Worker::Where(RuntimeError& error) {
  const Frame* at = now;
  if (!at && !stack.empty() && stack.back().cell) {
    const DelayCell* cell = stack.back().cell;  // about to be started
    error.pos = graph.sites[ir::SiteId(cell->site->label)].pos;
    return execution.FillPathOf(cell, error);
  }
  // With nothing to do it waits for what others do for its innermost frame.
  if (!at)
    pool.ForEachLive([&](const Frame* frame) {
      if (frame->refs && (!at || frame->depth > at->depth)) at = frame;
    });
  if (now_pc != kNone) error.node = program.node_of[now_pc];
  // Scheduled code does not say which node it is at.
  if (!error.node.valid() && at) error.pos = graph.scopes[InnermostScope(at).id].pos;
  constexpr uint64_t kSoonWalked = 1 << 20;
  FillPath(at, error, execution.WasEnded() ? kSoonWalked : UINT64_MAX);
}

// After a run to the end, frames may only be left for their tags: something else forgot to go.
std::string Worker::Leftovers(const Frame* root) {
  std::string what;
  pool.ForEachLive([&](Frame* frame) {
    if (frame == root || frame->refs == 0 || !what.empty()) return;
    llvm::raw_string_ostream out(what);
    out << "frame of `" << graph.scopes[frame->scope().id].name << "` is left with " << frame->refs
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
  llvm::raw_ostream& out = *run.trace;
  out << '%' << id.index << ' ' << llvm::StringRef(ir::InfoOf(graph.nodes[id].op).name) << "  tag ";
  PrintTag(frame, out);
  out << ' ';
  Op op = graph.nodes[id].op;
  // The operands of these stand in another frame.
  if (op != Op::Call && op != Op::Return && op != Op::Enter && op != Op::Exit && op != Op::Outer) {
    for (ir::Edge edge : graph.InputsOf(id)) {
      uint32_t slot = SlotOf(edge);
      out << ' ';
      if (slot == kNone) out << "()";
      else if (!IsAvailable(*this, frame, edge)) out << '_';
      else PrintDatum(graph, graph.TypeOf(edge), Read(frame, slot), out);
    }
  }
  if (result_slot != kNone && frame->Has(result_slot)) {
    out << " -> ";
    PrintDatum(graph, graph.TypeOf({id, 0}), frame->Get(result_slot), out);
  }
  out << '\n';
}

}  // namespace df::tagged
