// Steps of direct code that are more than a few instructions. Functions of their own: what stands in the interpreter, however
// seldom it runs, takes registers from all that stands there, and the interpreter's own state has to be in registers.
//
// The frame stands before the instruction (Frame::resume). What gives a frame says which one goes on, from its `resume`; null:
// nothing goes on here.
#include "runtime/engines/tagged/code/direct_data.h"
#include "runtime/engines/tagged/exec/engine.h"

namespace df::tagged {

namespace {

constexpr uint32_t kOnlyResult[] = {kNone, 0};  // of a scope that has one: see GiveResults

}  // namespace

// ---------------------------------------------------------------- ops

bool Worker::ApplyAny(Frame* frame, uint8_t* k) {
  if (HasReading(*frame->resume) && ReadDirect(*frame->resume, program_.constants, frame->slots(), k)) return true;
  DirectInstr in = *frame->resume;
  uint32_t pc = program_.direct.pc_of[static_cast<size_t>(frame->resume - program_.direct.code.data())];
  bool open = in.op == Direct::ApplyOpen || (in.op >= Direct::AddZRR && in.op <= Direct::ModZKR);
  in.op = open ? Direct::ApplyOpen : Direct::Apply;
  return ApplyDirect(frame->slots(), k, in, pc);
}

bool Worker::DeferDirect(Frame* frame, uint8_t* k) {
  const DirectInstr& in = *frame->resume;
  const TensorGroup& group = program_.tensor_groups[in.y];
  const uint32_t* from = program_.direct.operands.data() + in.x;
  uint64_t* s = frame->slots();
  for (const BatchRegion::Check& check : group.region.checks) {
    uint32_t operand = from[check.operand];
    int64_t index = operand & kConstant ? program_.constants[operand & ~kConstant].word() : static_cast<int64_t>(s[operand & kOperandIndex]);
    if (index < 0 || index > check.most) return false;
  }
  // Operands of a backward pass were noted long ago, and are in no cache: all are asked for before the first is looked at.
  for (uint32_t i = 0; i < group.operands.size(); ++i)
    if (!(from[i] & kConstant)) __builtin_prefetch(reinterpret_cast<const void*>(s[from[i] & kOperandIndex]), 1);
  llvm::SmallVector<Value, 16> results(group.results.size());
  execution_.batcher_->Defer(group.region, frame->depth, [&](uint32_t i) { return TakeOperand(s, k, from[i]); }, results.data());
  for (size_t r = 0; r < results.size(); ++r) Put(frame, group.results[r], std::move(results[r]));
  return true;
}

// ---------------------------------------------------------------- delayed calls

void Worker::DelayDirect(Frame* frame, uint8_t* k) {
  if (!unpins_.empty()) DrainUnpins();
  const DirectInstr& in = *frame->resume;
  const SiteCode* site = direct_calls_[in.y].site;
  const uint32_t* from = program_.direct.operands.data() + in.x;
  if (site->eager && DelayEager(frame, *site, from, in.d)) return;
  DelayCell* cell = NewDirectCell(frame, site);
  Value* to = cell->operands();
  for (uint32_t i = 0; i < in.b; ++i) MakeOperand(program_.constants, frame->slots(), k, from[i], to + i);
  frame->slots()[in.d] = reinterpret_cast<uint64_t>(static_cast<Object*>(cell));
  k[in.d] = kReference;
}

// At a Force of a reference that has no value yet.
Frame* Worker::ForceDirect(Frame* frame) {
  Object* object = ObjectAt(frame->slots()[frame->resume->a & ~kLastUse]);
  if (HostCell* host = HostCellIn(object)) return Ask(host, {frame, kNone}) ? frame : nullptr;
  auto* cell = static_cast<DelayCell*>(object);
  if (poll_due_ && PollInDirect(frame)) return YieldDirect(frame);
  // A check may collect, which may fill this very cell: so it is made before the cell is entered.
  if (budget_ <= 1 && cell->Now() == DelayCell::State::Kept) {
    StepCheck();
    return frame;
  }
  if (budget_ > 1) {
    if (cell->site->ahead && RunAhead(cell)) return frame;  // now it is full
    // Its body runs here and now, and comes back to this instruction.
    CellLock lock(cell);
    if (cell->CanEnter()) return EnterBody(cell, frame);
  }
  WaitDirect(frame, cell);
  return nullptr;
}

// The value of a frame whose caller is not direct code that waits for nothing else.
Frame* Worker::ReturnBody(Frame* frame, uint64_t value, uint8_t state) {
  if (frame->refs == 1 && (frame->flags & ~kHasTag) == (kLive | kDirect | kTagParent)) {
    // A delayed body, and most often one Force in direct code that waits for it.
    DelayCell* cell = CellAt(frame->slots()[frame->site->callee->cell_slot]);
    CellLock lock(cell);
    Frame* waiter = cell->waiter;
    if (waiter && waiter->flags & kDirect && cell->waiter_pc == kNone && cell != goal_ && !cell->more_waiters) {
      if (frame->flags & kHasTag) DropTag(frame->tag);
      DropTag(frame->parent_tag);
      Frame** free = pool_.FreeLists() + frame->site->free_list;
      frame->flags_and_words = 0;
      frame->parent = *free;
      *free = frame;
      pool_.CountFree();
      --waiter->refs;
      const DirectInstr* ip = waiter->resume++;
      cell->body = nullptr;
      cell->waiter = nullptr;
      cell->refs.Drop();  // the body's; the waiting frame has another one
      bool last = ip->a & kLastUse;
      if (last && cell->refs.IsOne()) {
        cell->state = DelayCell::State::Full;
        lock.Unlock();
        FreeUnshared(cell);  // nobody else asks for the value
      } else {
        Count(value, state);
        cell->value() = Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(value));
        cell->Become(DelayCell::State::Full);
        lock.Unlock();
        if (last) ReleaseBits(reinterpret_cast<uint64_t>(static_cast<Object*>(cell)), kReference);  // others may have gone meanwhile
      }
      waiter->slots()[ip->d] = value;
      if (ip->op == Direct::Force) waiter->states()[ip->d] = state;
      return waiter;
    }
  }
  given_.clear();
  given_.push_back(state == kWord ? Value::Word(static_cast<int64_t>(value))
                                  : Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(value)));
  frame->flags &= ~kDirect;  // its slots hold nothing any more, whatever fails from here on
  return GiveResults(frame, kOnlyResult, 1);
}

// ---------------------------------------------------------------- results and iterations

// Results from `frame` to its caller, which waits in direct code; `list` has pairs of operand and result.
void Worker::GiveTo(Frame* parent, Frame* frame, const uint32_t* list, uint32_t count) {
  const ReturnTo* returns = frame->site->returns.data();
  uint64_t* to = parent->slots();
  uint8_t* states = parent->states();
  for (const uint32_t* end = list + 2 * count; list != end; list += 2) {
    uint32_t slot = returns[list[1]].slot;
    Value value = TakeOperand(frame->slots(), frame->states(), list[0]);
    if (slot == kNone) continue;
    to[slot] = BitsOf(value);
    states[slot] = StateOf(value);
    if (value.counted()) value.Take();
  }
}

Frame* Worker::ReturnMany(Frame* frame) {
  const DirectInstr& in = *frame->resume;
  const uint32_t* list = program_.direct.operands.data() + in.x;
  if (frame->refs == 1 && (frame->flags & ~kHasTag) == (kLive | kDirect | kDirectCaller)) {
    Frame* parent = frame->parent;
    GiveTo(parent, frame, list, in.b);
    ForgetTag(frame);
    Frame** free = pool_.FreeLists() + in.y;
    frame->flags_and_words = 0;
    frame->parent = *free;
    *free = frame;
    pool_.CountFree();
    ++parent->resume;  // behind GotMany
    return parent;
  }
  given_.clear();
  for (uint32_t i = 0; i < in.b; ++i) given_.push_back(TakeOperand(frame->slots(), frame->states(), list[2 * i]));
  frame->flags &= ~kDirect;
  return GiveResults(frame, list, in.b);
}

// The values of the next iteration take the places of this one's.
void Worker::MoveMany(uint64_t* s, uint8_t* k, const DirectInstr& in) {
  const uint32_t* list = program_.direct.operands.data() + in.x;
  uint32_t count = in.b;
  uint64_t bits[kMostNext];
  uint8_t states[kMostNext];
  for (uint32_t i = 0; i < count; ++i) {
    Value value = TakeOperand(s, k, list[2 * i]);
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

// The next iteration of a loop, where there is more to do than to move values.
Frame* Worker::NextDirect(Frame* frame, uint8_t* k) {
  if (budget_ == 0 || --budget_ == 0) {
    now_ = frame;
    StepCheck();
    if (poll_due_ && PollInDirect(frame)) return YieldDirect(frame);
  }
  if (!unpins_.empty()) DrainUnpins();
  const DirectInstr& in = *frame->resume;
  const uint32_t* list = program_.direct.operands.data() + in.x;
  uint32_t count = in.b;
  uint64_t* s = frame->slots();
  if (frame->refs > 1) {
    // Callees are still at work for it: the next iteration gets a frame of its own.
    now_ = frame;
    Frame* next = NextFrame(frame);
    uint64_t* ns = next->slots();
    uint8_t* nk = next->states();
    const uint32_t* stays = list + 2 * count;
    for (uint32_t i = 1; i <= stays[0]; ++i) {
      ns[stays[i]] = s[stays[i]];
      nk[stays[i]] = k[stays[i]];
    }
    for (uint32_t i = 0; i < count; ++i) Put(next, list[2 * i + 1] & kOperandIndex, TakeOperand(s, k, list[2 * i]));
    return next;
  }
  ForgetTag(frame);
  MoveMany(s, k, in);
  ++s[in.d];
  frame->resume = program_.direct.code.data() + frame->site->callee->direct;
  return frame;
}

// What other workers have sent goes first; the frame stands before what it will do then.
Frame* Worker::YieldDirect(Frame* frame) {
  poll_due_ = true;
  Push(frame, kNone);
  return nullptr;
}

}  // namespace df::tagged
