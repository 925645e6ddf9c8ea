// Scheduled code and event code: how a frame goes from one to the other, and what passes between frames of both kinds.
#include <algorithm>
#include <cassert>
#include <cstring>

#include "llvm/ADT/DenseSet.h"
#include "runtime/engines/tagged/code/frameless.h"
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/event_interpreter.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/spread/placed.h"
#include "runtime/engines/tagged/exec/spread/spread.h"
#include "runtime/engines/tagged/exec/tail.h"
#include "runtime/engines/tagged/exec/unboxed_interpreter.h"
#include "runtime/engines/tagged/exec/work_sharing.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// ---------------------------------------------------------------- to event code

bool GoToStep(Worker& w, Frame* frame) {
  const ScheduledCode& scheduled = w.program.scheduled;
  const ScheduledInstr* code = scheduled.code.data();
  for (;; ++frame->resume) {
    const ScheduledInstr& in = *frame->resume;
    if (in.op == Scheduled::Unboxed || scheduled.state_of[static_cast<size_t>(&in - code)] != kNone) return true;
    switch (in.op) {
      case Scheduled::Count:
        ++w.stats.regions;
        w.stats.firings += in.x;
        break;
      case Scheduled::Drop:
        ReleaseBits(frame->slots()[in.a], frame->states()[in.a]);
        break;
      case Scheduled::Load:
        frame->slots()[in.d] = static_cast<uint64_t>(in.imm);
        break;
      case Scheduled::Move:
        frame->slots()[in.d] = frame->slots()[in.a];
        break;
      case Scheduled::Jump:
        frame->resume = code + in.x - 1;
        break;
      default:
        return false;
    }
  }
}

void GiveUpScheduled(Worker& w, Frame* frame) {
  if (GoToStep(w, frame)) {
    RestoreStates(w, frame);
  } else if (const ScheduledInstr& in = *frame->resume; in.op == Scheduled::ReturnOpen) {
    ReleaseBits(frame->slots()[in.a], frame->states()[in.a]);  // all that it still has
  }
}

const ScheduledState& RestoreStates(Worker& w, Frame* frame) {
  const ScheduledCode& scheduled = w.program.scheduled;
  const ScheduledInstr* at = frame->resume;
  size_t pc = at->op == Scheduled::Unboxed ? at->y : static_cast<size_t>(at - scheduled.code.data());
  const ScheduledState& from = scheduled.states[scheduled.state_of[pc]];
  const ScopeCode& scope = frame->scope();
  uint8_t* states = frame->states();
  for (uint32_t i = 0; i < scope.num_slots; ++i)
    if (from.states[i] != kKept) states[i] = from.states[i];
  for (auto [slot, operand] : from.words)
    frame->slots()[slot] = IsConstant(operand) ? static_cast<uint64_t>(w.constants[operand & ~kConstant].word()) : frame->slots()[operand];
  if (scope.cell_slot != kNone && frame->site->type == SiteType::Delay)
    states[scope.cell_slot] = kPresent | static_cast<uint8_t>(ValueKind::Reference);
  std::memset(states + scope.num_slots, 0, scope.num_results + scope.ready_bytes);
  for (uint32_t r = 0; r < scope.num_results && from.stage != Stage::First; ++r)
    if (!scope.IsLastStage(r)) states[scope.first_sent + r] = kPresent;
  if (scope.num_masks) std::memcpy(frame->masks(), from.masks.data(), scope.num_masks);
  for (uint32_t region : from.ready) frame->ready()[region / 8] |= static_cast<uint8_t>(1u << region % 8);
  frame->flags = (frame->flags & ~(kScheduled | kScheduledCaller)) | kObjects;
  if (from.fused != kNone) RunOp(w, frame, w.program.code[from.fused], from.fused, w.program.node_of[from.fused]);
  return from;
}

void LeaveScheduled(Worker& w, Frame* frame) {
  std::vector<Frame*> callers;
  for (Frame* at = frame; at->flags & kScheduledCaller && (at->scope().num_results > 1 || !at->scope().late.empty());) {
    at = at->parent;
    if (!(at->flags & kScheduled)) break;
    callers.push_back(at);
  }
  while (!callers.empty()) {
    Frame* caller = callers.back();
    callers.pop_back();
    SendHeld(w, caller, LeaveOne(w, caller));
  }
  ++frame->refs;
  SendHeld(w, frame, LeaveOne(w, frame));
  w.Unref(frame);
}

// Its callees that wait for late arguments go on in scheduled code, as if event code had called them.
const ScheduledState& LeaveOne(Worker& w, Frame* frame) {
  OutlineCaller(w, frame);
  if (frame->flags & kScheduledCaller) ++frame->parent->refs;  // scheduled code does not count its callees
  [[maybe_unused]] const bool stands = GoToStep(w, frame);
  assert(stands);
  const ScheduledState& from = RestoreStates(w, frame);
  const ScopeCode& scope = frame->scope();
  for (uint32_t slot : from.children) {
    auto* child = reinterpret_cast<Frame*>(frame->slots()[slot]);
    if (!(child->flags & kScheduledCaller)) continue;
    child->flags &= ~kScheduledCaller;
    ++frame->refs;
  }
  frame->refs += static_cast<uint32_t>(std::count(frame->states() + scope.first_sent, frame->states() + scope.first_sent + scope.num_results, 0)) - 1;
  for (uint32_t pc : from.tails) w.Push(frame, pc);
  bool ready = from.pc != kNone || !from.ready.empty();
  if (ready) frame->flags |= kQueued;
  for (const LateParameter& parameter : scope.late)
    if (from.stage != Stage::Last && frame->Has(parameter.slot)) w.Fire(frame, parameter.event);
  if (!ready) return from;
  if (from.pc == kNone) {
    w.Push(frame, kNone);
    return from;
  }
  // In the middle of a region: the rest of it now.
  ++frame->refs;
  w.now = frame;
  RunReady(w, frame, from.pc);
  w.Unref(frame);
  return from;
}

// The results that scheduled code has kept back, to give them with the others.
void SendHeld(Worker& w, Frame* frame, const ScheduledState& from) {
  for (auto [result, operand] : from.held) SendResult(w, frame, result, w.Read(frame, operand));
}

bool LeaveAllScheduled(Worker& w) {
  OutlineAll(w);
  // Who is on the stack goes on anyway: it may have been given what it waited for, and stand where there is no state. So do those that wait for it.
  llvm::DenseSet<Frame*> going;
  for (const Worker::Item& item : w.stack)
    for (Frame* at = item.frame; at && at->flags & kScheduled && going.insert(at).second && at->flags & kScheduledCaller;) at = at->parent;
  std::vector<Frame*> frames;
  w.event_code_calls = w.pool.ForEachLive([&](Frame* frame) {
    if (frame->flags & kScheduled && frame->refs && !going.contains(frame)) frames.push_back(frame);
  });
  std::vector<const ScheduledState*> from;
  for (Frame* frame : frames) {
    ++frame->refs;
    from.push_back(&LeaveOne(w, frame));
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    SendHeld(w, frames[i], *from[i]);
    w.Unref(frames[i]);
  }
  return !frames.empty() || !going.empty();
}

// ---------------------------------------------------------------- frames

Frame* NewCallee(Worker& w, const SiteCode* site, Frame* frame, uint32_t deeper) {
  if (w.budget == 0 || --w.budget == 0) w.StepCheck();
  if (w.poll_due && PollInScheduled(w, frame)) return nullptr;
  return NewScheduled(w, site, frame, frame->depth + deeper, kLive | kScheduled | kScheduledCaller);
}

Frame* NewScheduled(Worker& w, const SiteCode* site, Frame* parent, uint32_t depth, uint32_t flags) {
  if (w.budget == 0 || --w.budget == 0) w.StepCheck();
  Frame* frame = w.pool.Take(site);
  frame->parent = parent;
  frame->refs = 1;
  frame->pins = 0;
  frame->depth = depth;
  frame->flags = flags;
  frame->state_words = site->callee->num_slots;
  frame->resume = w.program.scheduled.code.data() + site->callee->scheduled;
  if (frame->depth > w.stats.max_depth) w.stats.max_depth = frame->depth;
  return frame;
}

// The frame has done its own work, and callees still work for it: what they pass on to delayed calls is wanted although
// their results have come. It stays for them, without values; the last one finishes it.
void Linger(Worker& w, Frame* frame) {
  OutlineCaller(w, frame);
  if (frame->flags & kListed) Unlist(w, frame);
  --frame->refs;
  if (frame->flags & kScheduledCaller) ++frame->parent->refs;  // scheduled code does not count its one callee
  frame->flags &= ~(kScheduled | kScheduledCaller | kObjects);
}

Frame* NextFrame(Worker& w, Frame* frame) {
  Frame* parent = frame->parent;
  Frame* next = NewScheduled(w, frame->site, parent, frame->depth, frame->flags & (kLive | kScheduled | kScheduledCaller));
  uint32_t slot = frame->scope().iteration_slot;
  next->slots()[slot] = frame->slots()[slot] + 1;
  if (!(frame->flags & kScheduledCaller)) ++parent->refs;
  Linger(w, frame);
  return next;
}

void Put(Frame* frame, uint32_t slot, Value value) {
  frame->slots()[slot] = static_cast<uint64_t>(value.word());
  frame->states()[slot] = static_cast<uint8_t>(kPresent | static_cast<uint8_t>(value.kind()));
  if (value.counted()) value.Take();
}

// ---------------------------------------------------------------- calls and results

bool NextIn(Worker& w, Frame* frame, const SiteCode& site) {
  const ScopeCode& scope = *site.callee;
  if (scope.scheduled == kNone || !site.late.empty() || !site.next_late.empty()) return false;
  for (const Delivery& d : site.next_together)
    if (w.KindOf(frame, d.from) == ValueKind::Error) return false;
  ++w.stats.loops;
  Frame* next = NewScheduled(w, &site, frame->parent, frame->depth, kLive | kScheduled);
  ++frame->parent->refs;
  frame->refs -= scope.num_results;  // which the next iteration gives
  for (const Delivery& d : site.next_together) Put(next, d.to, w.Use(frame, d.from, d.last));
  Put(next, scope.iteration_slot, Value::Word(static_cast<int64_t>(frame->slots()[scope.iteration_slot] + 1)));
  w.Push(next, kNone);
  return true;
}

bool CallIn(Worker& w, Frame* frame, const SiteCode& site) {
  if (site.callee->scheduled == kNone || w.StaysInEventCode()) return false;
  for (const Delivery& d : site.together)
    if (w.KindOf(frame, d.from) == ValueKind::Error) return false;
  ++(site.type == SiteType::Loop ? w.stats.loops : w.stats.calls);
  if (site.continues) TagOf(frame);  // first, because it may fail
  Frame* child = NewScheduled(w, &site, frame, frame->depth + 1, kLive | kScheduled);
  if (site.continues) ContinueTag(w, child, frame);
  ++frame->refs;
  for (const Delivery& d : site.together) Put(child, d.to, w.Use(frame, d.from, d.last));
  if (site.type == SiteType::Loop) Put(child, site.callee->iteration_slot, Value::Word(0));
  if (site.child_slot != kNone) {
    frame->Set(site.child_slot, Value::Word(reinterpret_cast<int64_t>(child)));
    for (const LateParameter& parameter : site.callee->late) child->states()[parameter.slot] = 0;
    ++child->resume;  // behind NoneLate: they may come before the callee runs
  }
  w.Push(child, kNone);
  return true;
}

void CallOut(Worker& w, Frame* frame, const SiteCode& site, const uint32_t* operands, const uint64_t* s,
                              const uint8_t* k) {
  if (site.spread_from != SiteCode::kNoPieces) {
    llvm::SmallVector<Value, 8> arguments;
    for (size_t i = 0; i < site.together.size(); ++i) arguments.push_back(w.TakeOperand(s, k, operands[i]));
    ++frame->resume;
    return CallSpread(w, frame, site, arguments);
  }
  if (FarPeer* process = ProcessOf(w, site)) {
    std::vector<Value> arguments;
    for (size_t i = 0; i < site.together.size(); ++i) arguments.push_back(w.TakeOperand(s, k, operands[i]));
    ++frame->resume;
    return CallPlaced(w, frame, site, std::move(arguments), *process);
  }
  ++(site.type == SiteType::Loop ? w.stats.loops : w.stats.calls);
  Frame* child = NewFrame(w, &site, frame);
  if (site.callee->spread) TagOf(child);
  ++frame->refs;
  for (size_t i = 0; i < site.together.size(); ++i) child->Set(site.together[i].to, w.TakeOperand(s, k, operands[i]));
  if (site.type == SiteType::Loop) child->Set(site.callee->iteration_slot, Value::Word(0));
  ++frame->resume;
  Enter(w, child, site, site.together);
}

bool GiveScheduled(Worker& w, Frame* frame, uint32_t slot, Value& value) {
  if (value.is_error()) {
    LeaveScheduled(w, frame);
    return false;
  }
  Put(frame, slot, std::move(value));
  ++frame->resume;
  w.Push(frame, kNone);
  return true;
}

bool DeliverScheduled(Worker& w, Frame* frame, const Delivery& delivery, Value& value) {
  if (value.is_error()) {
    LeaveScheduled(w, frame);
    return false;
  }
  Put(frame, delivery.to, std::move(value));
  if (frame->resume->op == Scheduled::Await && HasAllLate(frame)) {
    ++frame->resume;
    w.Push(frame, kNone);
  }
  return true;
}

bool HasAllLate(Frame* frame) {
  return llvm::all_of(frame->scope().late, [&](const LateParameter& parameter) { return frame->Has(parameter.slot); });
}

void StopListing(Worker& w, Frame* frame) {
  if (frame->flags & kListed) Unlist(w, frame);
  frame->flags &= ~kExamined;
}

void GiveEarly(Worker& w, Frame* frame, const uint32_t* list, uint32_t count) {
  const SiteCode& site = *frame->site;
  StopListing(w, frame);
  if (HasAllLate(frame)) {
    ++frame->resume;
    w.Push(frame, kNone);  // below the caller, which goes first
  }
  Frame* parent = frame->parent;
  ++parent->refs;
  for (uint32_t i = 0; i < count; ++i) {
    const ReturnTo& to = site.returns[list[2 * i + 1]];
    Value value = w.TakeOperand(frame->slots(), frame->states(), list[2 * i]);
    if (to.slot == kNone) continue;
    parent->Set(to.slot, std::move(value));
    w.Fire(parent, to.event);
  }
  w.Unref(parent);
}

Frame* GiveResults(Worker& w, Frame* frame, const uint32_t* list, uint32_t count) {
  const SiteCode& site = *frame->site;
  OutlineCaller(w, frame);
  bool to_scheduled = frame->flags & kScheduledCaller;
  Frame* parent = frame->parent_frame();
  if (frame->flags & kListed) Unlist(w, frame);
  bool lingers = frame->refs > 1;
  if (lingers) Linger(w, frame);
  if (site.type == SiteType::Delay) {
    uint32_t slot = site.callee->cell_slot;
    DelayCell* cell = CellIn(frame, slot);
    Value counted = Value::Adopt(ValueKind::Reference, cell);
    if (lingers) {
      std::memset(frame->states(), 0, site.callee->num_slots);
      frame->Set(slot, Value(counted));
      counted = {};
    } else {
      cell->body = nullptr;
      frame->refs = 0;
      frame->flags &= ~kScheduled;
      FreeFrame(w, frame);
    }
    Fill(w, cell, std::move(w.given[site.cell_result]));
    return nullptr;
  }
  const SiteCode& home = TakeReturnSite(w, frame);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t result = list[2 * i + 1];
    const ReturnTo& to = home.returns[result];
    if (to.slot == kNone) continue;
    if (to_scheduled) {
      Put(parent, to.slot, std::move(w.given[i]));
    } else if (parent->flags & kProxy) {
      SendHome(w, parent, home, result, std::move(w.given[i]));
    } else {
      parent->Set(to.slot, std::move(w.given[i]));
      w.Fire(parent, to.event);
    }
  }
  if (!lingers) {
    if (site.child_slot != kNone && !to_scheduled) parent->slots()[site.child_slot] = 0;
    w.pool.Free(frame);
  }
  if (to_scheduled) {
    ++parent->resume;
    return parent;
  }
  if (!lingers) w.Unref(parent);
  return nullptr;
}

// ---------------------------------------------------------------- delayed calls

bool GoesScheduled(const Worker& w, DelayCell& cell) {
  if (cell.site->callee->scheduled == kNone) return false;
  const Value* operands = cell.operands();
  return std::none_of(operands, operands + cell.num_operands(), [](const Value& v) { return v.is_error(); });
}

void StartBodyScheduled(Worker& w, DelayCell* cell, Value reference, Frame* body) {
  const SiteCode& site = *cell->site;
  Put(body, site.callee->cell_slot, std::move(reference));
  Value* operands = cell->operands();
  for (uint32_t i = 0; i < cell->num_operands(); ++i)
    if (site.together[i].to != kNone) Put(body, site.together[i].to, std::move(operands[i]));
  w.Push(body, kNone);
}

bool DelayFrameless(Worker& w, Frame* frame, const SiteCode& site, const uint32_t* operands, uint32_t slot) {
  uint64_t* slots = frame->slots();
  uint8_t* states = frame->states();
  Value result;
  if (!RunFrameless(w.program, w.constants, site, operands, slots, states, &result)) return false;
  for (uint32_t i = 0; i < site.together.size(); ++i)
    if (!(operands[i] & kConstant) && operands[i] & kLastOperand) w.TakeOperand(slots, states, operands[i]);
  Put(frame, slot, std::move(result));
  return true;
}

void CountFilled(Worker& w, DelayCell* cell) {
  uint64_t depth = DepthOf(cell->tag) + 1;
  if (depth > w.stats.max_depth) w.stats.max_depth = depth;
  ++w.stats.calls;
  ++w.stats.released;
  if (w.budget > 1) --w.budget;
}

Frame* EnterBody(Worker& w, DelayCell* cell, Frame* waiter) {
  const SiteCode* site = cell->site;
  const ScopeCode& scope = *site->callee;
  uint32_t depth = static_cast<uint32_t>(DepthOf(cell->tag)) + 1;
  Frame** free = w.pool.FreeLists() + site->free_list;
  Frame* body = *free;
  if (!body) {
    body = NewScheduled(w, site, nullptr, depth, kLive | kScheduled | kTagParent);
  } else {
    --w.budget;
    *free = body->parent;
    body->site = site;
    body->refs = 1;
    body->pins = 0;
    body->depth = depth;
    body->flags_and_words = FlagsAndWords(kLive | kScheduled | kTagParent, scope.num_slots);
    if (depth > w.stats.max_depth) w.stats.max_depth = depth;
    w.pool.CountNew();
  }
  body->resume = w.program.scheduled.code.data() + scope.scheduled;
  body->parent_tag = cell->tag;  // the count is the body's now
  ++w.stats.calls;
  ++w.stats.released;
  cell->Become(DelayCell::State::Running);
  cell->body = body;
  cell->waiter = waiter;
  cell->waiter_pc = kNone;
  ++waiter->refs;
  cell->refs.Retain();
  uint64_t* slots = body->slots();
  uint8_t* states = body->states();
  slots[scope.cell_slot] = reinterpret_cast<uint64_t>(cell);
  Value* operand = cell->operands();
  for (const Delivery& d : site->together) {
    if (d.to != kNone) {
      slots[d.to] = static_cast<uint64_t>(operand->word());
      states[d.to] = static_cast<uint8_t>(kPresent | static_cast<uint8_t>(operand->kind()));
      operand->Take();
    }
    ++operand;
  }
  return body;
}

void WaitScheduled(Worker& w, Frame* frame, DelayCell* cell) {
  bool start = false;
  if (!Await(w, cell, {frame, kNone}, &start)) return w.Push(frame, kNone);  // the value has come: again
  if (start) StartCell(w, cell);
}

void WakeScheduled(Worker& w, Frame* frame, const Value& value) {
  if (!(frame->flags & kScheduled)) return w.Unref(frame);  // it went on by event code
  if (value.is_error()) {
    LeaveScheduled(w, frame);  // its Wait is done again
    return w.Unref(frame);
  }
  w.Push(frame, kNone);
  --frame->refs;
}

}  // namespace df::tagged
