// Direct code and the general code: how a frame goes from one to the other, and what passes between frames of both kinds.
#include <algorithm>
#include <cstring>

#include "runtime/engines/tagged/code/eager.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

// ---------------------------------------------------------------- to the general code

// States, masks and ready bits as the general code would have them where the frame stands.
const DirectState& Worker::RestoreStates(Frame* frame) {
  const DirectCode& direct = program_.direct;
  const DirectInstr* at = frame->resume;
  size_t pc = at->op == Direct::Words ? at->y : static_cast<size_t>(at - direct.code.data());
  const DirectState& from = direct.states[direct.state_of[pc]];
  const ScopeCode& scope = frame->scope();
  uint8_t* states = frame->states();
  for (uint32_t i = 0; i < scope.num_slots; ++i)
    if (from.states[i] != kKept) states[i] = from.states[i];
  for (auto [slot, operand] : from.words)
    frame->slots()[slot] = IsConstant(operand) ? static_cast<uint64_t>(program_.constants[operand & ~kConstant].word()) : frame->slots()[operand];
  if (scope.cell_slot != kNone && frame->site->type == SiteType::Delay)
    states[scope.cell_slot] = kPresent | static_cast<uint8_t>(ValueKind::Reference);
  std::memset(states + scope.num_slots, 0, scope.num_results + scope.ready_bytes);
  for (uint32_t r = 0; r < scope.num_results && from.stage != Stage::First; ++r)
    if (!scope.IsLastStage(r)) states[scope.first_sent + r] = kPresent;
  if (scope.num_masks) std::memcpy(frame->masks(), from.masks.data(), scope.num_masks);
  for (uint32_t region : from.ready) frame->ready()[region / 8] |= static_cast<uint8_t>(1u << region % 8);
  frame->flags = (frame->flags & ~(kDirect | kDirectCaller)) | kObjects;
  if (from.fused != kNone) RunOp(frame, program_.code[from.fused], from.fused, program_.node_of[from.fused]);
  return from;
}

// The general code takes over where the frame stands. It gives results one by one, and a caller in direct code waits for all
// together: with more than one, or late ones, the caller goes over first, and so its callers.
void Worker::LeaveDirect(Frame* frame) {
  std::vector<Frame*> callers;
  for (Frame* at = frame; at->flags & kDirectCaller && (at->scope().num_results > 1 || !at->scope().late.empty());) {
    at = at->parent;
    if (!(at->flags & kDirect)) break;
    callers.push_back(at);
  }
  while (!callers.empty()) {
    Frame* caller = callers.back();
    callers.pop_back();
    SendHeld(caller, LeaveOne(caller));
  }
  ++frame->refs;
  SendHeld(frame, LeaveOne(frame));
  Unref(frame);
}

// Its callees that wait for late arguments go on in direct code, as if the general code had called them.
const DirectState& Worker::LeaveOne(Frame* frame) {
  OutlineCaller(frame);
  if (frame->flags & kDirectCaller) ++frame->parent->refs;  // direct code does not count its callees
  const DirectState& from = RestoreStates(frame);
  const ScopeCode& scope = frame->scope();
  for (uint32_t slot : from.children) {
    auto* child = reinterpret_cast<Frame*>(frame->slots()[slot]);
    if (!(child->flags & kDirectCaller)) continue;
    child->flags &= ~kDirectCaller;
    ++frame->refs;
  }
  frame->refs += static_cast<uint32_t>(std::count(frame->states() + scope.first_sent, frame->states() + scope.first_sent + scope.num_results, 0)) - 1;
  for (uint32_t pc : from.tails) Push(frame, pc);
  bool ready = from.pc != kNone || !from.ready.empty();
  if (ready) frame->flags |= kQueued;
  for (const LateParameter& parameter : scope.late)
    if (from.stage != Stage::Last && frame->Has(parameter.slot)) Fire(frame, parameter.event);
  if (!ready) return from;
  if (from.pc == kNone) {
    Push(frame, kNone);
    return from;
  }
  // In the middle of a region: the rest of it now.
  ++frame->refs;
  now_ = frame;
  RunReady(frame, from.pc);
  Unref(frame);
  return from;
}

// The results that direct code has kept back, to give them with the others.
void Worker::SendHeld(Frame* frame, const DirectState& from) {
  for (auto [result, operand] : from.held) SendResult(frame, result, Read(frame, operand));
}

// Nothing goes on in order: frames that wait in direct code may have something else to do. False if there are none.
// A run may come here again and again, as with gradients of lazy lists whose elements each wait for a cotangent. All frames are looked at, so the general
// code makes as many calls itself before it calls into direct code again.
bool Worker::LeaveAllDirect() {
  OutlineAll();
  std::vector<Frame*> frames;
  general_calls_ = pool_.ForEachLive([&](Frame* frame) {
    if (frame->flags & kDirect && frame->refs) frames.push_back(frame);
  });
  std::vector<const DirectState*> from;
  for (Frame* frame : frames) {
    ++frame->refs;
    from.push_back(&LeaveOne(frame));
  }
  for (size_t i = 0; i < frames.size(); ++i) {
    SendHeld(frames[i], *from[i]);
    Unref(frames[i]);
  }
  return !frames.empty();
}

// ---------------------------------------------------------------- frames

// For a call in direct code, before which `frame` stands. Null: something else goes first.
Frame* Worker::NewCallee(const SiteCode* site, Frame* frame, uint32_t deeper) {
  if (budget_ == 0 || --budget_ == 0) StepCheck();
  if (poll_due_ && PollInDirect(frame)) return nullptr;
  return NewDirect(site, frame, frame->depth + deeper, kLive | kDirect | kDirectCaller);
}

Frame* Worker::NewDirect(const SiteCode* site, Frame* parent, uint32_t depth, uint32_t flags) {
  if (budget_ == 0 || --budget_ == 0) StepCheck();
  Frame* frame = pool_.Take(site);
  frame->parent = parent;
  frame->refs = 1;
  frame->pins = 0;
  frame->depth = depth;
  frame->flags = flags;
  frame->state_words = site->callee->num_slots;
  frame->resume = program_.direct.code.data() + site->callee->direct;
  if (frame->depth > stats_.max_depth) stats_.max_depth = frame->depth;
  return frame;
}

// The frame has done its own work, and callees still work for it: what they pass on to delayed calls is wanted although
// their results have come. It stays for them, without values; the last one finishes it.
void Worker::Linger(Frame* frame) {
  OutlineCaller(frame);
  if (frame->flags & kListed) Unlist(frame);
  --frame->refs;
  if (frame->flags & kDirectCaller) ++frame->parent->refs;  // direct code does not count its one callee
  frame->flags &= ~(kDirect | kDirectCaller | kObjects);
}

// Of the next iteration of a loop, where this one has to stay.
Frame* Worker::NextFrame(Frame* frame) {
  Frame* parent = frame->parent;
  Frame* next = NewDirect(frame->site, parent, frame->depth, frame->flags & (kLive | kDirect | kDirectCaller));
  uint32_t slot = frame->scope().iteration_slot;
  next->slots()[slot] = frame->slots()[slot] + 1;
  if (!(frame->flags & kDirectCaller)) ++parent->refs;
  Linger(frame);
  return next;
}

void Worker::Put(Frame* frame, uint32_t slot, Value value) {
  frame->slots()[slot] = static_cast<uint64_t>(value.word());
  frame->states()[slot] = static_cast<uint8_t>(kPresent | static_cast<uint8_t>(value.kind()));
  if (value.counted()) value.Take();
}

// ---------------------------------------------------------------- calls and results

// An iteration that began when there was no direct code yet: the next one runs it. False if a value has failed, or this one has
// more to pass on.
bool Worker::NextIn(Frame* frame, const SiteCode& site) {
  const ScopeCode& scope = *site.callee;
  if (scope.direct == kNone || !site.late.empty() || !site.next_late.empty()) return false;
  for (const Delivery& d : site.next_together)
    if (KindOf(frame, d.from) == ValueKind::Error) return false;
  ++stats_.loops;
  Frame* next = NewDirect(&site, frame->parent, frame->depth, kLive | kDirect);
  ++frame->parent->refs;
  frame->refs -= scope.num_results;  // which the next iteration gives
  for (const Delivery& d : site.next_together) Put(next, d.to, Use(frame, d.from, d.last));
  Put(next, scope.iteration_slot, Value::Word(static_cast<int64_t>(frame->slots()[scope.iteration_slot] + 1)));
  Push(next, kNone);
  return true;
}

// A call out of the general code into direct code. False if an argument has failed: then the general code goes on.
bool Worker::CallIn(Frame* frame, const SiteCode& site) {
  if (site.callee->direct == kNone || StaysGeneral()) return false;
  for (const Delivery& d : site.together)
    if (KindOf(frame, d.from) == ValueKind::Error) return false;
  ++(site.type == SiteType::Loop ? stats_.loops : stats_.calls);
  Frame* child = NewDirect(&site, frame, frame->depth + 1, kLive | kDirect);
  ++frame->refs;
  for (const Delivery& d : site.together) Put(child, d.to, Use(frame, d.from, d.last));
  if (site.type == SiteType::Loop) Put(child, site.callee->iteration_slot, Value::Word(0));
  if (site.child_slot != kNone) {
    frame->Set(site.child_slot, Value::Word(reinterpret_cast<int64_t>(child)));
    for (const LateParameter& parameter : site.callee->late) child->states()[parameter.slot] = 0;
    ++child->resume;  // behind NoneLate: they may come before the callee runs
  }
  Push(child, kNone);
  return true;
}

// A call out of direct code to a callee that has none.
void Worker::CallOut(Frame* frame, const SiteCode& site, const uint32_t* operands, const uint64_t* s,
                              const uint8_t* k) {
  ++(site.type == SiteType::Loop ? stats_.loops : stats_.calls);
  Frame* child = NewFrame(&site, frame);
  ++frame->refs;
  for (size_t i = 0; i < site.together.size(); ++i) child->Set(site.together[i].to, TakeOperand(s, k, operands[i]));
  if (site.type == SiteType::Loop) child->Set(site.callee->iteration_slot, Value::Word(0));
  ++frame->resume;
  Enter(child, site, site.together);
}

// A result from the general code to a frame that waits in direct code. False if the frame has gone over to the general code.
bool Worker::GiveDirect(Frame* frame, uint32_t slot, Value& value) {
  if (value.is_error()) {
    LeaveDirect(frame);
    return false;
  }
  Put(frame, slot, std::move(value));
  ++frame->resume;
  Push(frame, kNone);
  return true;
}

// A late argument from the general code to a frame in direct code, which goes on when all have come. False if the frame has gone over
// to the general code.
bool Worker::DeliverDirect(Frame* frame, const Delivery& delivery, Value& value) {
  if (value.is_error()) {
    LeaveDirect(frame);
    return false;
  }
  Put(frame, delivery.to, std::move(value));
  if (frame->resume->op == Direct::Await && HasAllLate(frame)) {
    ++frame->resume;
    Push(frame, kNone);
  }
  return true;
}

bool Worker::HasAllLate(Frame* frame) {
  return llvm::all_of(frame->scope().late, [&](const LateParameter& parameter) { return frame->Has(parameter.slot); });
}

// The frame is no longer at work for who waits for it.
void Worker::StopListing(Frame* frame) {
  if (frame->flags & kListed) Unlist(frame);
  frame->flags &= ~kExamined;
}

// Early results of a frame that the general code has called, and that stands at Await now. `list` has pairs of operand and result.
void Worker::GiveEarly(Frame* frame, const uint32_t* list, uint32_t count) {
  const SiteCode& site = *frame->site;
  StopListing(frame);
  if (HasAllLate(frame)) {
    ++frame->resume;
    Push(frame, kNone);  // below the caller, which goes first
  }
  Frame* parent = frame->parent;
  ++parent->refs;
  for (uint32_t i = 0; i < count; ++i) {
    const ReturnTo& to = site.returns[list[2 * i + 1]];
    Value value = TakeOperand(frame->slots(), frame->states(), list[2 * i]);
    if (to.slot == kNone) continue;
    parent->Set(to.slot, std::move(value));
    Fire(parent, to.event);
  }
  Unref(parent);
}

// The results in given_ of a frame that has finished; which ones, `list` says, after each operand. Who goes on in direct code, or
// null.
Frame* Worker::GiveResults(Frame* frame, const uint32_t* list, uint32_t count) {
  const SiteCode& site = *frame->site;
  OutlineCaller(frame);
  bool to_direct = frame->flags & kDirectCaller;
  Frame* parent = frame->parent_frame();
  if (frame->flags & kListed) Unlist(frame);
  bool lingers = frame->refs > 1;
  if (lingers) Linger(frame);
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
      frame->flags &= ~kDirect;
      FreeFrame(frame);
    }
    Fill(cell, std::move(given_[site.cell_result]));
    return nullptr;
  }
  const SiteCode& home = TakeReturnSite(frame);
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t result = list[2 * i + 1];
    const ReturnTo& to = home.returns[result];
    if (to.slot == kNone) continue;
    if (to_direct) {
      Put(parent, to.slot, std::move(given_[i]));
    } else if (parent->flags & kProxy) {
      SendHome(parent, home, result, std::move(given_[i]));
    } else {
      parent->Set(to.slot, std::move(given_[i]));
      Fire(parent, to.event);
    }
  }
  if (!lingers) {
    if (site.child_slot != kNone && !to_direct) parent->slots()[site.child_slot] = 0;
    pool_.Free(frame);
  }
  if (to_direct) {
    ++parent->resume;
    return parent;
  }
  if (!lingers) Unref(parent);
  return nullptr;
}

// ---------------------------------------------------------------- delayed calls

// Whether the body of a cell that is released can run direct code: there is some, and no operand has failed.
bool Worker::GoesDirect(DelayCell& cell) const {
  if (cell.site->callee->direct == kNone) return false;
  const Value* operands = cell.operands();
  return std::none_of(operands, operands + cell.num_operands(), [](const Value& v) { return v.is_error(); });
}

void Worker::StartBodyDirect(DelayCell* cell, Value reference, Frame* body) {
  const SiteCode& site = *cell->site;
  Put(body, site.callee->cell_slot, std::move(reference));
  Value* operands = cell->operands();
  for (uint32_t i = 0; i < cell->num_operands(); ++i)
    if (site.together[i].to != kNone) Put(body, site.together[i].to, std::move(operands[i]));
  Push(body, kNone);
}

// Puts what a delayed body gives into `slot`, if it can be computed at once. Then what the Delay uses for the last time goes.
bool Worker::DelayEager(Frame* frame, const SiteCode& site, const uint32_t* operands, uint32_t slot) {
  uint64_t* slots = frame->slots();
  uint8_t* states = frame->states();
  Value result;
  if (!RunEager(program_, site, operands, slots, states, &result)) return false;
  for (uint32_t i = 0; i < site.together.size(); ++i)
    if (!(operands[i] & kConstant) && operands[i] & kLastOperand) TakeOperand(slots, states, operands[i]);
  Put(frame, slot, std::move(result));
  return true;
}

// A body that was run without a frame counts as a call and as a step of the run.
void Worker::CountFilled(DelayCell* cell) {
  uint64_t depth = DepthOf(cell->tag) + 1;
  if (depth > stats_.max_depth) stats_.max_depth = depth;
  ++stats_.calls;
  ++stats_.released;
  if (budget_ > 1) --budget_;
}

// Starts the body of a cell that starts_direct for a frame that stands at its Force in direct code. No check is due: the
// caller has seen to that.
Frame* Worker::EnterBody(DelayCell* cell, Frame* waiter) {
  const SiteCode* site = cell->site;
  const ScopeCode& scope = *site->callee;
  uint32_t depth = static_cast<uint32_t>(DepthOf(cell->tag)) + 1;
  Frame** free = pool_.FreeLists() + site->free_list;
  Frame* body = *free;
  if (!body) {
    body = NewDirect(site, nullptr, depth, kLive | kDirect | kTagParent);
  } else {
    --budget_;
    *free = body->parent;
    body->site = site;
    body->refs = 1;
    body->pins = 0;
    body->depth = depth;
    body->flags_and_words = FlagsAndWords(kLive | kDirect | kTagParent, scope.num_slots);
    if (depth > stats_.max_depth) stats_.max_depth = depth;
    pool_.CountNew();
  }
  body->resume = program_.direct.code.data() + scope.direct;
  body->parent_tag = cell->tag;  // the count is the body's now
  ++stats_.calls;
  ++stats_.released;
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

void Worker::WaitDirect(Frame* frame, DelayCell* cell) {
  bool start = false;
  if (!Await(cell, {frame, kNone}, &start)) return Push(frame, kNone);  // the value has come: again
  if (start) StartCell(cell);
}

// A frame that waited in direct code for a cell that is full now. The ref of its waiting is given back.
void Worker::WakeDirect(Frame* frame, const Value& value) {
  if (!(frame->flags & kDirect)) return Unref(frame);  // it went on by the general code
  if (value.is_error()) {
    LeaveDirect(frame);  // its Wait is done again
    return Unref(frame);
  }
  Push(frame, kNone);
  --frame->refs;
}

}  // namespace df::tagged
