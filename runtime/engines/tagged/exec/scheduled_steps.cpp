// Steps of scheduled code that are more than a few instructions. Functions of their own: what stands in the interpreter, however
// seldom it runs, takes registers from all that stands there, and the interpreter's own state has to be in registers.
//
// The frame stands before the instruction (Frame::resume). What gives a frame says which one goes on, from its `resume`; null:
// nothing goes on here.
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/frameless_interpreter.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/scheduled_interpreter.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

namespace {

constexpr uint32_t kOnlyResult[] = {kNone, 0};  // of a scope that has one: see GiveResults

}  // namespace

// ---------------------------------------------------------------- ops

bool ApplyAny(Worker& w, Frame* frame, uint8_t* k) {
  if (HasReading(*frame->resume) && ReadScheduled(*frame->resume, w.constants, frame->slots(), k)) return true;
  ScheduledInstr in = *frame->resume;
  uint32_t pc = w.program.scheduled.pc_of[static_cast<size_t>(frame->resume - w.program.scheduled.code.data())];
  bool open = in.op == Scheduled::ApplyOpen || (in.op >= Scheduled::AddZRR && in.op <= Scheduled::ModZKR);
  in.op = open ? Scheduled::ApplyOpen : Scheduled::Apply;
  return ApplyScheduled(w, frame->slots(), k, in, pc);
}

bool DeferScheduled(Worker& w, Frame* frame, uint8_t* k) {
  const ScheduledInstr& in = *frame->resume;
  const TensorGroup& group = w.program.tensor_groups[in.y];
  const uint32_t* from = w.program.scheduled.operands.data() + in.x;
  uint64_t* s = frame->slots();
  for (const BatchRegion::Check& check : group.region.checks) {
    uint32_t operand = from[check.operand];
    int64_t index = operand & kConstant ? w.constants[operand & ~kConstant].word() : static_cast<int64_t>(s[operand & kOperandIndex]);
    if (index < 0 || index > check.most) return false;
  }
  // Operands of a backward pass were noted long ago, and are in no cache: all are asked for before the first is looked at.
  for (uint32_t i = 0; i < group.operands.size(); ++i)
    if (!(from[i] & kConstant)) __builtin_prefetch(reinterpret_cast<const void*>(s[from[i] & kOperandIndex]), 1);
  llvm::SmallVector<Value, 16> results(group.results.size());
  w.execution.batcher().Defer(group.region, frame->depth, [&](uint32_t i) { return w.TakeOperand(s, k, from[i]); }, results.data());
  for (size_t r = 0; r < results.size(); ++r) Put(frame, group.results[r], std::move(results[r]));
  return true;
}

// ---------------------------------------------------------------- delayed calls

void DelayScheduled(Worker& w, Frame* frame, uint8_t* k) {
  if (!w.unpins.empty()) DrainUnpins(w);
  const ScheduledInstr& in = *frame->resume;
  const SiteCode* site = w.scheduled_calls[in.y].site;
  const uint32_t* from = w.program.scheduled.operands.data() + in.x;
  if (site->frameless && !in.a && DelayFrameless(w, frame, *site, from, in.d)) return;
  DelayCell* cell = w.NewScheduledCell(frame, site);
  Value* to = cell->operands();
  if (in.a) {
    // As event code has it, where this frame may go on: the cell counts what is missing, and has a ref of the frame for it.
    w.made_late = true;
    ++frame->refs;
    cell->starts_scheduled = false;
    cell->missing = static_cast<uint16_t>(std::count(from, from + in.b, kNone));
    for (uint32_t i = 0; i < in.b; ++i)
      if (from[i] == kNone) ::new (to + i) Value(Value::Dead());
  }
  for (uint32_t i = 0; i < in.b; ++i)
    if (from[i] != kNone) MakeOperand(w.constants, frame->slots(), k, from[i], to + i);
  frame->slots()[in.d] = reinterpret_cast<uint64_t>(static_cast<Object*>(cell));
  k[in.d] = kReference;
}

void CaptureScheduled(Worker& w, Frame* frame, uint8_t* k) {
  const ScheduledInstr& in = *frame->resume;
  const uint32_t slot = in.a & ~kLastUse;
  DelayCell* cell = CellIn(frame, slot);
  CellOperand(w, frame, *cell->site, slot, in.b, w.TakeOperand(frame->slots(), k, w.program.scheduled.operands[in.x]));
  if (!cell->missing) cell->starts_scheduled = cell->site->callee->scheduled != kNone;
  if (in.a & kLastUse) ReleaseBits(frame->slots()[slot], kReference);
}

Frame* ForceScheduled(Worker& w, Frame* frame) {
  Object* object = ObjectAt(frame->slots()[frame->resume->a & ~kLastUse]);
  if (HostCell* host = HostCellIn(object)) return Ask(w, host, {frame, kNone}) ? frame : nullptr;
  auto* cell = static_cast<DelayCell*>(object);
  if (w.poll_due && PollInScheduled(w, frame)) return YieldScheduled(w, frame);
  // A check may collect, which may fill this very cell: so it is made before the cell is entered.
  if (w.budget <= 1 && cell->Now() == DelayCell::State::Kept) {
    w.StepCheck();
    return frame;
  }
  if (w.budget > 1) {
    if (cell->site->ahead && RunAhead(w, cell)) return frame;  // now it is full
    // Its body runs here and now, and comes back to this instruction.
    CellLock lock(cell);
    if (cell->CanEnter()) return EnterBody(w, cell, frame);
  }
  WaitScheduled(w, frame, cell);
  return nullptr;
}

Frame* ReturnBody(Worker& w, Frame* frame, uint64_t value, uint8_t state) {
  if (frame->refs == 1 && (frame->flags & ~kHasTag) == (kLive | kScheduled | kTagParent)) {
    // A delayed body, and most often one Force in scheduled code that waits for it.
    DelayCell* cell = CellAt(frame->slots()[frame->site->callee->cell_slot]);
    CellLock lock(cell);
    Frame* waiter = cell->waiter;
    if (waiter && waiter->flags & kScheduled && cell->waiter_pc == kNone && cell != w.goal && !cell->more_waiters) {
      if (frame->flags & kHasTag) DropTag(frame->tag);
      DropTag(frame->parent_tag);
      Frame** free = w.pool.FreeLists() + frame->site->free_list;
      frame->flags_and_words = 0;
      frame->parent = *free;
      *free = frame;
      w.pool.CountFree();
      --waiter->refs;
      const ScheduledInstr* ip = waiter->resume++;
      cell->body = nullptr;
      cell->waiter = nullptr;
      cell->refs.Drop();  // the body's; the waiting frame has another one
      bool last = ip->a & kLastUse;
      if (last && cell->refs.IsOne()) {
        cell->state = DelayCell::State::Full;
        lock.Unlock();
        w.FreeUnshared(cell);  // nobody else asks for the value
      } else {
        Count(value, state);
        cell->value() = Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(value));
        cell->Become(DelayCell::State::Full);
        lock.Unlock();
        if (last) ReleaseBits(reinterpret_cast<uint64_t>(static_cast<Object*>(cell)), kReference);  // others may have gone meanwhile
      }
      waiter->slots()[ip->d] = value;
      if (ip->op == Scheduled::Force) waiter->states()[ip->d] = state;
      return waiter;
    }
  }
  w.given.clear();
  w.given.push_back(state == kWord ? Value::Word(static_cast<int64_t>(value))
                                  : Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(value)));
  frame->flags &= ~kScheduled;  // its slots hold nothing any more, whatever fails from here on
  return GiveResults(w, frame, kOnlyResult, 1);
}

// ---------------------------------------------------------------- results and iterations

void GiveTo(Worker& w, Frame* parent, Frame* frame, const uint32_t* list, uint32_t count) {
  const ReturnTo* returns = frame->site->returns.data();
  uint64_t* to = parent->slots();
  uint8_t* states = parent->states();
  for (const uint32_t* end = list + 2 * count; list != end; list += 2) {
    uint32_t slot = returns[list[1]].slot;
    Value value = w.TakeOperand(frame->slots(), frame->states(), list[0]);
    if (slot == kNone) continue;
    to[slot] = BitsOf(value);
    states[slot] = StateOf(value);
    if (value.counted()) value.Take();
  }
}

Frame* ReturnMany(Worker& w, Frame* frame) {
  const ScheduledInstr& in = *frame->resume;
  const uint32_t* list = w.program.scheduled.operands.data() + in.x;
  if (frame->refs == 1 && (frame->flags & ~kHasTag) == (kLive | kScheduled | kScheduledCaller)) {
    Frame* parent = frame->parent;
    GiveTo(w, parent, frame, list, in.b);
    Worker::ForgetTag(frame);
    Frame** free = w.pool.FreeLists() + in.y;
    frame->flags_and_words = 0;
    frame->parent = *free;
    *free = frame;
    w.pool.CountFree();
    ++parent->resume;  // behind GotMany
    return parent;
  }
  w.given.clear();
  for (uint32_t i = 0; i < in.b; ++i) w.given.push_back(w.TakeOperand(frame->slots(), frame->states(), list[2 * i]));
  frame->flags &= ~kScheduled;
  return GiveResults(w, frame, list, in.b);
}

void MoveMany(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in) {
  const uint32_t* list = w.program.scheduled.operands.data() + in.x;
  uint32_t count = in.b;
  uint64_t bits[kMostNext];
  uint8_t states[kMostNext];
  for (uint32_t i = 0; i < count; ++i) {
    Value value = w.TakeOperand(s, k, list[2 * i]);
    bits[i] = BitsOf(value);
    states[i] = StateOf(value);
    if (value.counted()) value.Take();
  }
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t to = list[2 * i + 1];
    s[to & kOperandIndex] = bits[i];
    if (!(to & kPlainOperand)) k[to & kOperandIndex] = states[i];
  }
}

Frame* NextScheduled(Worker& w, Frame* frame, uint8_t* k) {
  if (w.budget == 0 || --w.budget == 0) {
    w.now = frame;
    w.StepCheck();
    if (w.poll_due && PollInScheduled(w, frame)) return YieldScheduled(w, frame);
  }
  if (!w.unpins.empty()) DrainUnpins(w);
  const ScheduledInstr& in = *frame->resume;
  const uint32_t* list = w.program.scheduled.operands.data() + in.x;
  uint32_t count = in.b;
  uint64_t* s = frame->slots();
  if (frame->refs > 1) {
    // Callees are still at work for it: the next iteration gets a frame of its own.
    w.now = frame;
    Frame* next = NextFrame(w, frame);
    uint64_t* ns = next->slots();
    uint8_t* nk = next->states();
    const uint32_t* stays = list + 2 * count;
    for (uint32_t i = 1; i <= stays[0]; ++i) {
      ns[stays[i]] = s[stays[i]];
      nk[stays[i]] = k[stays[i]];
    }
    for (uint32_t i = 0; i < count; ++i) Put(next, list[2 * i + 1] & kOperandIndex, w.TakeOperand(s, k, list[2 * i]));
    return next;
  }
  Worker::ForgetTag(frame);
  MoveMany(w, s, k, in);
  ++s[in.d];
  frame->resume = w.program.scheduled.code.data() + frame->site->callee->scheduled;
  return frame;
}

Frame* YieldScheduled(Worker& w, Frame* frame) {
  w.poll_due = true;
  w.Push(frame, kNone);
  return nullptr;
}

}  // namespace df::tagged
