// The fast code's interpreter.
//
// Here the frame that runs has no ref for it: whoever leaves a frame looks whether that was its last (Leave), and whoever
// goes over to the slow code adds one. Frames that hold anything but words are not run here, and no frame that runs here
// has a ready bit set.
#include <cmath>

#include "runtime/scalar.h"
#include "runtime/tagged_engine.h"
#include "runtime/tagged_fast.h"

namespace df::tagged {

namespace {

template <typename T>
T As(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, 8);
  return value;
}
template <typename T>
uint64_t Bits(T value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

}  // namespace

// The fast code of the entry on top of the stack; null if it has to be run slowly.
const FastInstr* TaggedExecution::FastEntry(const Item& item) {
  if (item.cell || item.frame->flags & kObjects) return nullptr;
  Frame* frame = item.frame;
  uint32_t at = kNone;
  if (item.pc != kNone) {
    at = program_.fast_of[item.pc];
  } else {
    const ScopeCode& scope = frame->scope();
    uint8_t* ready = frame->ready();
    uint32_t region = kNone;
    for (uint32_t i = 0; i < scope.ready_bytes; ++i) {
      if (!ready[i]) continue;
      if (region != kNone || (ready[i] & (ready[i] - 1))) return nullptr;  // more than one
      region = i * 8 + static_cast<uint32_t>(__builtin_ctz(ready[i]));
    }
    if (region == kNone || scope.regions[region].fast == kNone) return nullptr;
    at = scope.regions[region].fast;
    ready[region / 8] = 0;
    frame->flags &= ~kQueued;
  }
  return at == kNone ? nullptr : program_.fast.data() + at;
}

// A result of a frame goes to its caller. The region that it wakes there, or null.
inline const FastInstr* TaggedExecution::FastReturn(Frame* parent, const ReturnTo& to, uint64_t value) {
  if (to.slot == kNone) return nullptr;
  parent->slots()[to.slot] = value;
  if (to.wakes == Wakes::Masked) {
    uint8_t& mask = reinterpret_cast<uint8_t*>(parent)[to.mask_offset];
    if ((mask &= static_cast<uint8_t>(~to.bit)) != 0) return nullptr;
  } else if (to.wakes != Wakes::One) {
    if (to.wakes == Wakes::None) return nullptr;
    parent->states()[to.slot] |= kPresent;
    Fire(parent, to.event);
    return nullptr;
  }
  if (!(parent->flags & (kQueued | kObjects)) && to.fast) return to.fast;
  parent->states()[to.slot] |= kPresent;
  SetReady(parent, to.region);
  return nullptr;
}

// Runs `frame` from `ip` on, and what follows, as long as it can be run here.
void TaggedExecution::RunFast(Frame* frame, const FastInstr* ip) {
  uint64_t* s = frame->slots();
  const FastInstr* const code = program_.fast.data();

  static const void* const kLabels[] = {
#define DF_FAST_BINARY(name, type, condition, expression) &&L_##name##RR, &&L_##name##RK, &&L_##name##KR,
#define DF_FAST_COMPARE(name, expression) \
  &&L_##name##RR, &&L_##name##RK, &&L_##name##KR, &&L_Branch##name##RR, &&L_Branch##name##RK,
#define DF_FAST_UNARY(name, type, condition, expression) &&L_##name,
#define DF_FAST(name, operands) &&L_##name,
#include "runtime/tagged_fast_ops.def"
  };
#define NEXT_INSTR() goto* kLabels[ip->op]

  NEXT_INSTR();

#define DF_BINARY_FORM(label, type, condition, expression, left, right) \
  L_##label : {                                                         \
    [[maybe_unused]] type x = As<type>(left), y = As<type>(right);      \
    [[maybe_unused]] type z{};                                          \
    if (!(condition)) goto slow;                                        \
    s[ip->d] = Bits(expression);                                        \
    ++ip;                                                               \
    NEXT_INSTR();                                                       \
  }
#define DF_FAST_BINARY(name, type, condition, expression)                                                       \
  DF_BINARY_FORM(name##RR, type, condition, expression, s[ip->a], s[ip->b])                                     \
  DF_BINARY_FORM(name##RK, type, condition, expression, s[ip->a], static_cast<uint64_t>(ip->imm))               \
  DF_BINARY_FORM(name##KR, type, condition, expression, static_cast<uint64_t>(ip->imm), s[ip->a])
#define DF_FAST_COMPARE(name, expression)                                                                       \
  DF_FAST_BINARY(name, int64_t, true, int64_t{expression})                                                      \
  L_Branch##name##RR : {                                                                                        \
    int64_t x = static_cast<int64_t>(s[ip->a]), y = static_cast<int64_t>(s[ip->b]);                             \
    ip = code + ((expression) ? ip->x : ip->y);                                                                 \
    NEXT_INSTR();                                                                                               \
  }                                                                                                             \
  L_Branch##name##RK : {                                                                                        \
    int64_t x = static_cast<int64_t>(s[ip->a]), y = static_cast<int16_t>(ip->b);                                \
    ip = code + ((expression) ? ip->x : ip->y);                                                                 \
    NEXT_INSTR();                                                                                               \
  }
#define DF_FAST_UNARY(name, type, condition, expression) \
  L_##name : {                                           \
    type x = As<type>(s[ip->a]);                         \
    if (!(condition)) goto slow;                         \
    s[ip->d] = Bits(expression);                         \
    ++ip;                                                \
    NEXT_INSTR();                                        \
  }
#define DF_FAST(name, operands)
#include "runtime/tagged_fast_ops.def"

L_Load:
  s[ip->d] = static_cast<uint64_t>(ip->imm);
  ++ip;
  NEXT_INSTR();
L_Record:
  frame->states()[ip->a] |= kPresent;
  ++ip;
  NEXT_INSTR();
L_Branch:
  ip = code + (s[ip->a] ? ip->x : ip->y);
  NEXT_INSTR();
L_Jump:
  ip = code + ip->x;
  NEXT_INSTR();
L_FireMasked:
  if ((frame->masks()[ip->a] &= static_cast<uint8_t>(~ip->b)) != 0) goto leave;
  ip = code + ip->x;
  NEXT_INSTR();
L_Force:
  s[ip->d] = s[ip->a];
  frame->states()[ip->d] |= kPresent;  // the Wait at the end of the region has nothing to do
  ++ip;
  NEXT_INSTR();

L_Send:
L_SendK: {
  ++frame->refs;  // as a running frame has it
  uint64_t value = ip->op == static_cast<uint16_t>(Fast::Send) ? s[ip->a] : static_cast<uint64_t>(ip->imm);
  SendResult(frame, ip->d, Value::Word(static_cast<int64_t>(value)));
  --frame->refs;
  ++ip;
  NEXT_INSTR();
}
  {
    uint64_t value;
    L_Return : value = s[ip->a];
    goto give;
    L_ReturnK : value = static_cast<uint64_t>(ip->imm);
    give:
    const SiteCode& site = *frame->site;
    if (!site.plain) {
      ++frame->refs;
      SendResult(frame, ip->d, Value::Word(static_cast<int64_t>(value)));
      Unref(frame);
      return;  // a cell may have been filled for which this is run
    }
    Frame* parent = frame->parent;
    const FastInstr* to = FastReturn(parent, site.fast.returns[ip->d], value);
    if (--frame->refs == 0) {
      if (frame->pins == 0 && !(frame->flags & (kObjects | kOuterWaiters | kHasTag))) {
        frame->flags = 0;
        frame->parent = *site.fast.free;
        *site.fast.free = frame;
        pool_.CountFree();
      } else {
        ++parent->refs;  // as if it ran, so that it is not finished with its child
        Finish(frame);
      }
      --parent->refs;
    }
    frame = parent;
    if (!to) goto leave;
    s = frame->slots();
    ip = to;
    NEXT_INSTR();
  }

L_Call: {
  const SiteCode& site = program_.sites[ip->x];
  const FastCall& call = site.fast;
  // A tail that waits just below may come earlier in the program.
  if (!call.start || (!stack_.empty() && stack_.back().frame == frame)) goto slow_tail;
  Frame* child = *call.free;
  if (child && --budget_ != 0) {
    *call.free = child->parent;
    child->parent = frame;
    child->site = &site;
    child->refs = call.num_results;
    child->pins = 0;
    child->depth = frame->depth + 1;
    child->flags = kLive;
    child->state_words = call.num_slots;
    auto* init = reinterpret_cast<uint64_t*>(reinterpret_cast<char*>(child) + call.init_offset);
    init[0] = call.init[0];
    for (uint32_t i = 1; i < call.init_words; ++i) init[i] = call.init[i];
    if (child->depth > stats_.max_depth) stats_.max_depth = child->depth;
    pool_.CountNew();
  } else {
    budget_ += child != nullptr;
    now_ = frame;
    child = NewFrame(&site, frame);
  }
  ++frame->refs;
  uint64_t* to = child->slots();
  if (call.iteration_slot == kNone) {
    ++stats_.calls;
  } else {
    ++stats_.loops;
    to[call.iteration_slot] = 0;
  }
  uint32_t rest = ip->y;
  for (uint32_t n = ip->b; n > 0; --n) {
    ++ip;
    to[ip->d] = ip->op == static_cast<uint16_t>(Fast::Arg) ? s[ip->a] : static_cast<uint64_t>(ip->imm);
  }
  if (rest != kNone) Push(frame, rest);
  frame = child;
  s = to;
  ip = call.start;
  NEXT_INSTR();
}

L_Next: {
  const SiteCode& site = program_.sites[ip->x];
  const ScopeCode& scope = *site.callee;
  if (frame->refs != scope.num_results || frame->pins || (frame->flags & kOuterWaiters) || scope.start == kNone)
    goto slow_tail;
  if (--budget_ == 0) {
    now_ = frame;
    StepCheck();
  }
  ++stats_.loops;
  uint64_t values[kMostArguments];
  uint32_t count = ip->b;
  for (uint32_t i = 0; i < count; ++i) {
    const FastInstr& arg = ip[i + 1];
    values[i] = arg.op == static_cast<uint16_t>(Fast::Arg) ? s[arg.a] : static_cast<uint64_t>(arg.imm);
  }
  for (uint32_t i = 0; i < count; ++i) s[ip[i + 1].d] = values[i];
  ++s[scope.iteration_slot];
  FramePool::Reset(frame, scope);
  ForgetTag(frame);
  ip = code + scope.start;
  NEXT_INSTR();
}

L_Arg:
L_ArgK:
L_End:
leave:
  if (frame->refs == 0) Finish(frame);
  if (stack_.empty()) return;
  ip = FastEntry(stack_.back());
  if (!ip) return;
  frame = stack_.back().frame;
  stack_.pop_back();
  --frame->refs;
  s = frame->slots();
  NEXT_INSTR();

L_Slow:
slow:
  ++frame->refs;
  now_ = frame;
  frame->flags |= kQueued;
  RunReady(frame, program_.fast_pc[static_cast<size_t>(ip - code)]);
  Unref(frame);
  return;
L_SlowTail:
slow_tail : {
  uint32_t pc = program_.fast_pc[static_cast<size_t>(ip - code)];
  ++frame->refs;
  now_ = frame;
  tails_.assign(1, pc);
  PushTails(frame, stack_.size());
  Unref(frame);
  slow_next_ = true;
  return;
}
#undef NEXT_INSTR
}

}  // namespace df::tagged
