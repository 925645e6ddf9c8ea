#include "runtime/engines/tagged/x86/runtime_calls.h"

#include "runtime/engines/tagged/code/direct_data.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

namespace {

Frame* FrameOf(uint64_t* slots) { return reinterpret_cast<Frame*>(slots) - 1; }

}  // namespace

// The worker knows what native code has counted, and where it stands.
[[gnu::always_inline]] inline void NativeHelp::Begin(NativeRun* run, const DirectInstr* at, uint64_t* slots) {
  Worker& w = *run->worker;
  w.budget_ = static_cast<uint32_t>(run->budget);
  w.pool_.CountDirect(std::exchange(run->frames, 0));
  w.live_cells_ += static_cast<int64_t>(run->delays) - static_cast<int64_t>(std::exchange(run->cells_gone, 0));
  w.stats_.delays += std::exchange(run->delays, 0);
  Frame* frame = FrameOf(slots);
  frame->resume = at;
  w.now_ = frame;
}

[[gnu::always_inline]] inline void NativeHelp::End(NativeRun* run) {
  Worker& w = *run->worker;
  run->budget = w.budget_;
  run->sharing = Sharing();
  run->unpins = !w.unpins_.empty();
  run->poll = w.poll_due_;
  run->goal = w.goal_;
}

template <typename Act>
uint64_t NativeHelp::Do(NativeRun* run, const DirectInstr* at, uint64_t* slots, Act act) noexcept {
  Begin(run, at, slots);
  bool done = false;
  try {
    done = act(*run->worker, FrameOf(slots));
  } catch (...) {
    run->worker->native_failure_ = std::current_exception();
  }
  End(run);
  return done;
}

// `act` gives the frame that goes on from its `resume`, or null.
template <typename Act>
const void* NativeHelp::Go(NativeRun* run, const DirectInstr* at, uint64_t* slots, Act act) noexcept {
  Begin(run, at, slots);
  const NativeCode& native = *run->worker->program_.native;
  run->at = nullptr;
  const void* entry = nullptr;
  try {
    if (Frame* frame = act(*run->worker, FrameOf(slots))) {
      run->slots = frame->slots();
      run->at = frame->resume;
      entry = native.EntryAt(frame->resume);
    }
  } catch (...) {
    run->worker->native_failure_ = std::current_exception();
  }
  End(run);
  return entry ? entry : native.Left();
}

uint64_t NativeHelp::Apply(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  // Nothing is made or dropped: the worker need not know of it.
  if (HasReading(*at) && ReadDirect(*at, run->worker->program_.constants, slots, FrameOf(slots)->states())) return true;
  return Do(run, at, slots, [](Worker& w, Frame* frame) { return w.ApplyAny(frame, frame->states()); });
}

uint64_t NativeHelp::ApplyMany(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    const DirectCode& direct = w.program_.direct;
    return w.ApplyMany(slots, frame->states(), *at, direct.pc_of[static_cast<size_t>(at - direct.code.data())]);
  });
}

uint64_t NativeHelp::Defer(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker& w, Frame* frame) { return w.DeferDirect(frame, frame->states()); });
}

uint64_t NativeHelp::Fields(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    switch (at->op) {
      case Direct::Field: return ReadField(at, slots, frame->states());
      case Direct::TwoFields: return ReadTwoFields(at, slots, frame->states());
      default: return ReadFields(at, w.program_.direct.operands.data() + at->x, slots, frame->states());
    }
  });
}

uint64_t NativeHelp::Construct(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    const Program& p = w.program_;
    Data* made = MakeData(at, p.direct.operands.data() + at->x, p.constants, slots, frame->states());
    slots[at->d] = reinterpret_cast<uint64_t>(made);
    frame->states()[at->d] = kObject;
    return true;
  });
}

uint64_t NativeHelp::Delay(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker& w, Frame* frame) {
    w.DelayDirect(frame, frame->states());
    return true;
  });
}

uint64_t NativeHelp::MoveMany(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [&](Worker& w, Frame* frame) {
    w.MoveMany(slots, frame->states(), *at);
    return true;
  });
}

uint64_t NativeHelp::GiveTag(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Do(run, at, slots, [](Worker&, Frame* frame) {
    TagOf(frame);
    return true;
  });
}

uint64_t NativeHelp::Order(NativeRun*, const DirectInstr* at, uint64_t* slots) noexcept {
  const uint8_t* states = FrameOf(slots)->states();
  switch (at->op) {
#define DF_DIRECT_BINARY(name, type, condition, expression)
#define DF_DIRECT_COMPARE(name, expression)
#define DF_DIRECT_UNARY(name, type, condition, expression)
#define DF_DIRECT_INTEGER(name, expression)
#define DF_DIRECT_INTEGER_COMPARE(name, expression) case Direct::Branch##name##ZRK:
#define DF_DIRECT(name, operands)
#include "runtime/engines/tagged/code/direct_ops.def"
    return static_cast<uint64_t>(OrderOf(slots[at->a], states[at->a], static_cast<uint64_t>(int64_t{static_cast<int16_t>(at->b)}), kWord));
    default: return static_cast<uint64_t>(OrderOf(slots[at->a], states[at->a], slots[at->b], states[at->b]));
  }
}

const void* NativeHelp::Force(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [&](Worker& w, Frame* frame) {
    uint8_t* states = frame->states();
    uint32_t a = at->a & ~kLastUse;
    uint64_t bits = slots[a];
    if (states[a] != kReference) {
      w.LeaveDirect(frame);  // ForcePlain of what is no word
      return static_cast<Frame*>(nullptr);
    }
    const Value* held = ValueOf(ObjectAt(bits));
    if (!held) return w.ForceDirect(frame);
    uint8_t state = StateOf(*held);
    if (at->op == Direct::ForcePlain ? state != kWord : state > kObject) {
      w.LeaveDirect(frame);
      return static_cast<Frame*>(nullptr);
    }
    Count(BitsOf(*held), state);
    slots[at->d] = BitsOf(*held);
    if (at->op == Direct::Force) states[at->d] = state;
    if (at->a & kLastUse) ReleaseBits(bits, kReference);
    ++frame->resume;
    return frame;
  });
}

const void* NativeHelp::Return(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [&](Worker& w, Frame* frame) {
    if (at->op == Direct::ReturnOpen) return w.ReturnBody(frame, slots[at->a], frame->states()[at->a]);
    return w.ReturnBody(frame, at->op == Direct::Return ? slots[at->a] : static_cast<uint64_t>(int64_t{static_cast<int16_t>(at->d)}), kWord);
  });
}

const void* NativeHelp::ReturnMany(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [](Worker& w, Frame* frame) { return w.ReturnMany(frame); });
}

const void* NativeHelp::Next(NativeRun* run, const DirectInstr* at, uint64_t* slots) noexcept {
  return Go(run, at, slots, [](Worker& w, Frame* frame) { return w.NextDirect(frame, frame->states()); });
}

void NativeHelp::Release(NativeRun* run, Object* object) noexcept {
  Value::Adopt(ValueKind::Object, object);
  run->unpins = !run->worker->unpins_.empty();
}

void NativeHelp::DropTag(NativeRun*, TagNode* tag) noexcept { df::DropTag(tag); }

void NativeHelp::FreeCell(NativeRun* run, DelayCell* cell) noexcept {
  run->worker->FreeUnshared(cell);
  run->unpins = !run->worker->unpins_.empty();
}

void* NativeHelp::Allocate(NativeRun* run, uint64_t bytes) noexcept {
  try {
    void* block = memory::Allocate(bytes);
    alive::Made(alive::Kind::Data);
    return block;
  } catch (...) {
    run->worker->native_failure_ = std::current_exception();
    return nullptr;
  }
}

void NativeHelp::Free(NativeRun*, void* block, uint64_t bytes) noexcept {
  alive::Gone(alive::Kind::Data);
  memory::Free(block, bytes);
}

}  // namespace df::tagged
