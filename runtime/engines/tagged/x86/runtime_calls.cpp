#include "runtime/engines/tagged/x86/runtime_calls.h"

#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/scheduled_interpreter.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

namespace {

Frame* FrameOf(uint64_t* slots) { return reinterpret_cast<Frame*>(slots) - 1; }

}  // namespace

// The worker knows what native code has counted, and where it stands.
[[gnu::always_inline]] inline void RuntimeCalls::Begin(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) {
  Worker& w = *run->worker;
  w.budget = static_cast<uint32_t>(run->budget);
  w.pool.CountScheduled(std::exchange(run->frames, 0));
  w.live_cells += static_cast<int64_t>(run->delays) - static_cast<int64_t>(std::exchange(run->cells_gone, 0));
  w.stats.delays += std::exchange(run->delays, 0);
  Frame* frame = FrameOf(slots);
  frame->resume = at;
  w.now = frame;
}

[[gnu::always_inline]] inline void RuntimeCalls::End(NativeRun* run) {
  Worker& w = *run->worker;
  run->budget = w.budget;
  run->sharing = Sharing();
  run->unpins = !w.unpins.empty();
  run->poll = w.poll_due;
  run->goal = w.goal;
}

template <typename Act>
uint64_t RuntimeCalls::Do(NativeRun* run, const ScheduledInstr* at, uint64_t* slots, Act act) noexcept {
  Begin(run, at, slots);
  bool done = false;
  try {
    done = act(*run->worker, FrameOf(slots));
  } catch (...) {
    run->worker->native_failure = std::current_exception();
  }
  End(run);
  return done;
}

// `act` gives the frame that goes on from its `resume`, or null.
template <typename Act>
const void* RuntimeCalls::Go(NativeRun* run, const ScheduledInstr* at, uint64_t* slots, Act act) noexcept {
  Begin(run, at, slots);
  const NativeCode& native = *run->worker->program.native;
  run->at = nullptr;
  const void* entry = nullptr;
  try {
    if (Frame* frame = act(*run->worker, FrameOf(slots))) {
      run->slots = frame->slots();
      run->at = frame->resume;
      entry = native.EntryAt(frame->resume);
    }
  } catch (...) {
    run->worker->native_failure = std::current_exception();
  }
  End(run);
  return entry ? entry : native.Left();
}

uint64_t RuntimeCalls::Apply(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  // Nothing is made or dropped: the worker need not know of it.
  if (HasReading(*at) && ReadScheduled(*at, run->worker->constants, slots, FrameOf(slots)->states())) return true;
  return Do(run, at, slots, [](Worker& w, Frame* frame) { return ApplyAny(w, frame, frame->states()); });
}

uint64_t RuntimeCalls::ApplyMany(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  if (const Worker& w = *run->worker;
      IsOnWords(*at) && ApplyOnWords(*at, w.program.scheduled.operands.data() + at->x, w.constants, slots, FrameOf(slots)->states()))
    return true;
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    const ScheduledCode& scheduled = w.program.scheduled;
    return tagged::ApplyMany(w, slots, frame->states(), *at, scheduled.pc_of[static_cast<size_t>(at - scheduled.code.data())]);
  });
}

uint64_t RuntimeCalls::Defer(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker& w, Frame* frame) { return DeferScheduled(w, frame, frame->states()); });
}

uint64_t RuntimeCalls::Fields(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    switch (at->op) {
      case Scheduled::Field: return ReadField(at, slots, frame->states());
      case Scheduled::TwoFields: return ReadTwoFields(at, slots, frame->states());
      default: return ReadFields(at, w.program.scheduled.operands.data() + at->x, slots, frame->states());
    }
  });
}

uint64_t RuntimeCalls::Construct(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    const Program& p = w.program;
    Data* made = MakeData(at, p.scheduled.operands.data() + at->x, w.constants, slots, frame->states());
    slots[at->d] = reinterpret_cast<uint64_t>(made);
    frame->states()[at->d] = kObject;
    return true;
  });
}

uint64_t RuntimeCalls::Delay(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker& w, Frame* frame) {
    DelayScheduled(w, frame, frame->states());
    return true;
  });
}

uint64_t RuntimeCalls::Capture(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker& w, Frame* frame) {
    CaptureScheduled(w, frame, frame->states());
    return true;
  });
}

uint64_t RuntimeCalls::MoveMany(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    tagged::MoveMany(w, slots, frame->states(), *at);
    return true;
  });
}

uint64_t RuntimeCalls::GiveTag(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker&, Frame* frame) {
    TagOf(frame);
    return true;
  });
}

uint64_t RuntimeCalls::Order(NativeRun*, const ScheduledInstr* at, uint64_t* slots) noexcept {
  const uint8_t* states = FrameOf(slots)->states();
  switch (at->op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)
#define DF_SCHEDULED_COMPARE(name, expression)
#define DF_SCHEDULED_UNARY(name, type, condition, expression)
#define DF_SCHEDULED_INTEGER(name, expression)
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) case Scheduled::Branch##name##ZRK:
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    return static_cast<uint64_t>(OrderOf(slots[at->a], states[at->a], static_cast<uint64_t>(int64_t{static_cast<int16_t>(at->b)}), kWord));
    default: return static_cast<uint64_t>(OrderOf(slots[at->a], states[at->a], slots[at->b], states[at->b]));
  }
}

const void* RuntimeCalls::Force(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [&](Worker& w, Frame* frame) {
    uint8_t* states = frame->states();
    uint32_t a = at->a & ~kLastUse;
    uint64_t bits = slots[a];
    if (states[a] != kReference) {
      LeaveScheduled(w, frame);  // ForcePlain of what is no word
      return static_cast<Frame*>(nullptr);
    }
    const Value* held = ValueOf(ObjectAt(bits));
    if (!held) return ForceScheduled(w, frame);
    uint8_t state = StateOf(*held);
    if (at->op == Scheduled::ForcePlain ? state != kWord : state > kObject) {
      LeaveScheduled(w, frame);
      return static_cast<Frame*>(nullptr);
    }
    Count(BitsOf(*held), state);
    slots[at->d] = BitsOf(*held);
    if (at->op == Scheduled::Force) states[at->d] = state;
    if (at->a & kLastUse) ReleaseBits(bits, kReference);
    ++frame->resume;
    return frame;
  });
}

const void* RuntimeCalls::Return(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [&](Worker& w, Frame* frame) {
    if (at->op == Scheduled::ReturnOpen) return ReturnBody(w, frame, slots[at->a], frame->states()[at->a]);
    return ReturnBody(w, frame, at->op == Scheduled::Return ? slots[at->a] : static_cast<uint64_t>(int64_t{static_cast<int16_t>(at->d)}), kWord);
  });
}

const void* RuntimeCalls::ReturnMany(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [](Worker& w, Frame* frame) { return tagged::ReturnMany(w, frame); });
}

const void* RuntimeCalls::Next(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [](Worker& w, Frame* frame) { return NextScheduled(w, frame, frame->states()); });
}

void RuntimeCalls::Release(NativeRun* run, Object* object) noexcept {
  Value::Adopt(ValueKind::Object, object);
  run->unpins = !run->worker->unpins.empty();
}

void RuntimeCalls::DropTag(NativeRun*, TagNode* tag) noexcept { df::DropTag(tag); }

void RuntimeCalls::FreeCell(NativeRun* run, DelayCell* cell) noexcept {
  run->worker->FreeUnshared(cell);
  run->unpins = !run->worker->unpins.empty();
}

void* RuntimeCalls::Allocate(NativeRun* run, uint64_t bytes) noexcept {
  try {
    void* block = memory::Allocate(bytes);
    alive::Made(alive::Kind::Data);
    return block;
  } catch (...) {
    run->worker->native_failure = std::current_exception();
    return nullptr;
  }
}

void RuntimeCalls::Free(NativeRun*, void* block, uint64_t bytes) noexcept {
  alive::Gone(alive::Kind::Data);
  memory::Free(block, bytes);
}

}  // namespace df::tagged
