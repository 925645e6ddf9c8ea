// The interpreter of scheduled code.
//
// A frame that runs here (kScheduled) has `resume` for its events: while it waits for a callee or a cell, that says where it goes
// on. Its masks and ready bits are not kept, and the states of plain slots neither; exec/scheduled_frame.cpp makes them when the
// frame has to go on by event code, which is where every failure is left to. Between Call and Enter nothing can fail.
#include <bit>
#include <cmath>

#include "runtime/base/scalar.h"
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/scheduled_interpreter.h"
#include "runtime/engines/tagged/exec/unboxed_interpreter.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

void RunScheduled(Worker& w, Frame* frame) {
  const ScheduledInstr* const code = w.program.scheduled.code.data();
  const ScheduledInstr* const unboxed_code = code + w.program.scheduled.first_unboxed;  // it stands at the end
  const uint32_t* const operands = w.program.scheduled.operands.data();
  const ScheduledCall* const calls = w.scheduled_calls.data();
  const NativeCode* const native = w.program.native.get();
  Frame** const free_lists = w.pool.FreeLists();
  const ScheduledInstr* ip = nullptr;
  uint8_t* k = nullptr;          // the frame's states
  Frame* child = nullptr;        // between Call and Enter
  uint64_t* cs = nullptr;
  uint8_t* ck = nullptr;
  const ScheduledInstr* start = nullptr;
  uint64_t value = 0;            // that is returned
  uint8_t state = kWord;
  w.now_pc = kNone;

  static const void* const kLabels[] = {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) &&L_##name##RR, &&L_##name##RK, &&L_##name##KR,
#define DF_SCHEDULED_COMPARE(name, expression) \
  &&L_##name##RR, &&L_##name##RK, &&L_##name##KR, &&L_Branch##name##RR, &&L_Branch##name##RK,
#define DF_SCHEDULED_UNARY(name, type, condition, expression) &&L_##name,
#define DF_SCHEDULED_INTEGER(name, expression) &&L_##name##ZRR, &&L_##name##ZRK, &&L_##name##ZKR,
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) \
  &&L_##name##ZRR, &&L_##name##ZRK, &&L_##name##ZKR, &&L_Branch##name##ZRR, &&L_Branch##name##ZRK,
#define DF_SCHEDULED(name, operands) &&L_##name,
#define DF_SCHEDULED_UNBOXED(name, operands) &&unboxed_code_only,
#include "runtime/engines/tagged/code/scheduled_ops.def"
  };
#define S(slot) frame->slots()[slot]
#define RUN() goto* kLabels[static_cast<size_t>(ip->op)]
#define NEXT() \
  do {         \
    ++ip;      \
    RUN();     \
  } while (0)
  // What native code cannot do, or must not do now, is done here, one instruction. It comes back for the next one.
#define RUN_NATIVE()          \
  do {                        \
    if (native) goto native;  \
    RUN();                    \
  } while (0)
#define NEXT_NATIVE() \
  do {                \
    ++ip;             \
    RUN_NATIVE();     \
  } while (0)
// Before what may throw or be left: where the frame stands.
#define STAND()         \
  do {                  \
    frame->resume = ip; \
    w.now = frame;      \
  } while (0)

resume:
  ip = frame->resume;
  k = frame->states();
  if (ip >= unboxed_code && ip->op != Scheduled::Unboxed) goto unboxed;
  RUN_NATIVE();

native:
  if (const void* entry = native->EntryAt(ip)) {
    frame = RunNative(w, *native, entry, frame, &ip);
    if (!frame) return;
    k = frame->states();
    if (ip >= unboxed_code && ip->op != Scheduled::Unboxed) {
      frame->resume = ip;
      goto unboxed;
    }
  }
  RUN();

L_Unboxed:
  if (!w.FitsWords(frame, ip, operands + ip->x, k)) {
    ip = code + ip->y;
    RUN();
  }
  frame->resume = ip + 1;
unboxed:
  frame = RunUnboxed(w, frame);
  if (!frame) return;
  ip = frame->resume;
  k = frame->states();
  RUN();

unboxed_code_only:
  __builtin_unreachable();

  // ---------------------------------------------------------------- words

#define DF_BINARY_FORM(label, type, condition, expression, left, right)                  \
  L_##label : {                                                                          \
    [[maybe_unused]] type x = std::bit_cast<type>(left), y = std::bit_cast<type>(right); \
    if (!(condition)) goto event_code;                                                   \
    S(ip->d) = std::bit_cast<uint64_t>(expression);                                      \
    NEXT();                                                                              \
  }
#define DF_SCHEDULED_BINARY(name, type, condition, expression)                                    \
  DF_BINARY_FORM(name##RR, type, condition, expression, S(ip->a), S(ip->b))                       \
  DF_BINARY_FORM(name##RK, type, condition, expression, S(ip->a), static_cast<uint64_t>(ip->imm)) \
  DF_BINARY_FORM(name##KR, type, condition, expression, static_cast<uint64_t>(ip->imm), S(ip->a))
#define DF_SCHEDULED_COMPARE(name, expression)                                      \
  DF_SCHEDULED_BINARY(name, int64_t, true, int64_t{expression})                     \
  L_Branch##name##RR : {                                                            \
    int64_t x = static_cast<int64_t>(S(ip->a)), y = static_cast<int64_t>(S(ip->b)); \
    ip = code + ((expression) ? ip->x : ip->y);                                     \
    RUN();                                                                          \
  }                                                                                 \
  L_Branch##name##RK : {                                                            \
    int64_t x = static_cast<int64_t>(S(ip->a)), y = static_cast<int16_t>(ip->b);    \
    ip = code + ((expression) ? ip->x : ip->y);                                     \
    RUN();                                                                          \
  }
#define DF_SCHEDULED_UNARY(name, type, condition, expression) \
  L_##name : {                                                \
    type x = std::bit_cast<type>(S(ip->a));                   \
    if (!(condition)) goto event_code;                        \
    S(ip->d) = std::bit_cast<uint64_t>(expression);           \
    NEXT();                                                   \
  }
  // Integers: a word on both sides, or the kernel.
#define DF_INTEGER_FORM(label, expression, left, left_state, right, right_state)                  \
  L_##label : {                                                                                   \
    int64_t x = static_cast<int64_t>(left), y = static_cast<int64_t>(right), z = 0;               \
    if ((left_state) != kWord || (right_state) != kWord || (expression)) goto apply_open;         \
    S(ip->d) = static_cast<uint64_t>(z);                                                          \
    k[ip->d] = kWord;                                                                             \
    NEXT();                                                                                       \
  }
#define DF_SCHEDULED_INTEGER(name, expression)                                                                                   \
  DF_INTEGER_FORM(name##ZRR, expression, S(ip->a & ~kLastUse), k[ip->a & ~kLastUse], S(ip->b & ~kLastUse), k[ip->b & ~kLastUse]) \
  DF_INTEGER_FORM(name##ZRK, expression, S(ip->a & ~kLastUse), k[ip->a & ~kLastUse], ip->imm, kWord)                             \
  DF_INTEGER_FORM(name##ZKR, expression, ip->imm, kWord, S(ip->a & ~kLastUse), k[ip->a & ~kLastUse])
#define DF_INTEGER_COMPARE_FORM(label, expression, left, left_state, right, right_state)          \
  L_##label : {                                                                                   \
    int64_t x = static_cast<int64_t>(left), y = static_cast<int64_t>(right);                      \
    if ((left_state) != kWord || (right_state) != kWord) goto apply;                              \
    S(ip->d) = (expression) ? 1 : 0;                                                              \
    NEXT();                                                                                       \
  }
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)                                                                                   \
  DF_INTEGER_COMPARE_FORM(name##ZRR, expression, S(ip->a & ~kLastUse), k[ip->a & ~kLastUse], S(ip->b & ~kLastUse), k[ip->b & ~kLastUse]) \
  DF_INTEGER_COMPARE_FORM(name##ZRK, expression, S(ip->a & ~kLastUse), k[ip->a & ~kLastUse], ip->imm, kWord)                             \
  DF_INTEGER_COMPARE_FORM(name##ZKR, expression, ip->imm, kWord, S(ip->a & ~kLastUse), k[ip->a & ~kLastUse])                             \
  DF_INTEGER_BRANCH_FORM(Branch##name##ZRR, expression, S(ip->b), k[ip->b])                                                              \
  DF_INTEGER_BRANCH_FORM(Branch##name##ZRK, expression, int64_t{static_cast<int16_t>(ip->b)}, kWord)
// The order of x and y, as a word, compares with 0 as x does with y.
#define DF_INTEGER_BRANCH_FORM(label, expression, right, right_state)                             \
  L_##label : {                                                                                   \
    int64_t x = static_cast<int64_t>(S(ip->a)), y = static_cast<int64_t>(right);                  \
    if (k[ip->a] != kWord || (right_state) != kWord) [[unlikely]] {                               \
      x = OrderOf(S(ip->a), k[ip->a], static_cast<uint64_t>(right), right_state);                 \
      y = 0;                                                                                      \
    }                                                                                             \
    ip = code + ((expression) ? ip->x : ip->y);                                                   \
    RUN();                                                                                        \
  }
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"

L_Load:
  S(ip->d) = static_cast<uint64_t>(ip->imm);
  NEXT();
L_LoadOpen: {
  const Value& constant = w.constants[ip->x];
  S(ip->d) = BitsOf(constant);
  k[ip->d] = StateOf(constant);
  Count(S(ip->d), k[ip->d]);
  NEXT();
}
L_Nullary:
  S(ip->d) = static_cast<uint64_t>(ip->imm);
  k[ip->d] = kWord;
  NEXT();
L_Widen:
  S(ip->d) = S(ip->a);
  k[ip->d] = kWord;
  NEXT();
L_Narrow: {
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] != kWord) goto apply;
  S(ip->d) = S(a);
  NEXT();
}
L_MoveOpen: {
  uint32_t a = ip->a & ~kLastUse;
  S(ip->d) = S(a);
  k[ip->d] = k[a];
  if (!(ip->a & kLastUse)) Count(S(a), k[a]);
  NEXT();
}
L_Drop:
  ReleaseBits(S(ip->a), k[ip->a]);
  NEXT();

L_Apply:
L_ApplyOpen:
apply:
apply_open:
  STAND();
  if (!ApplyAny(w, frame, k)) goto event_code;
  NEXT_NATIVE();

L_ApplyMany:
  if (IsOnWords(*ip) && ApplyOnWords(*ip, w.program.scheduled.operands.data() + ip->x, w.constants, frame->slots(), k)) NEXT_NATIVE();
  STAND();
  if (!ApplyMany(w, frame->slots(), k, *ip, w.program.scheduled.pc_of[static_cast<size_t>(ip - code)])) goto event_code;
  NEXT_NATIVE();

L_InRange:
  if (S(ip->a) >= static_cast<uint64_t>(ip->imm)) goto event_code;
  NEXT();

L_Defer:
  STAND();
  if (!DeferScheduled(w, frame, k)) goto event_code;
  NEXT_NATIVE();

  // ---------------------------------------------------------------- data

L_Match: {
  uint32_t a = ip->a & ~kLastUse;
  S(ip->d) = k[a] == kWord ? S(a) : reinterpret_cast<Data*>(S(a))->constructor;
  if (ip->a & kLastUse) ReleaseBits(S(a), k[a]);
  NEXT();
}
L_Field: {
  // A value in data that stays.
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] == kObject && DataAt(S(a))->constructor == ip->x && !Sharing()) [[likely]] {
    Data* data = DataAt(S(a));
    const Value& field = data->fields()[ip->b];
    bool last = ip->a & kLastUse;
    if (field.kind() <= ValueKind::Object && !(last && data->refs.IsOne())) {
      if (last) data->refs.DropAlone();
      S(ip->d) = BitsOf(field);
      k[ip->d] = StateOf(field);
      if (!field.is_word()) field.object()->refs.RetainAlone();
      NEXT();
    }
  }
  if (!ReadField(ip, frame->slots(), k)) goto event_code;
  NEXT_NATIVE();
}
L_FieldPlain: {
  uint32_t a = ip->a & ~kLastUse;
  if (k[a] != kObject) goto event_code;
  Data* data = DataAt(S(a));
  if (data->constructor != ip->x) goto event_code;
  const Value* held = HeldBy(&data->fields()[ip->b]);
  if (!held->is_word()) goto event_code;
  S(ip->d) = BitsOf(*held);
  if (ip->a & kLastUse) ReleaseBits(reinterpret_cast<uint64_t>(data), kObject);
  NEXT_NATIVE();
}
L_TwoFields:
  // Two words, of a pair that is compared.
  if (ip->d & ip->b & kFieldPlain && !(ip->a & kLastUse) && k[ip->a] == kObject && DataAt(S(ip->a))->constructor == ip->x) {
    const Value* fields = DataAt(S(ip->a))->fields();
    const Value &first = fields[ip->y >> 16], &second = fields[ip->y & 0xffff];
    if (first.is_word() && second.is_word()) {
      S(ip->d & (kFieldPlain - 1)) = BitsOf(first);
      S(ip->b & (kFieldPlain - 1)) = BitsOf(second);
      NEXT();
    }
  }
  if (!ReadTwoFields(ip, frame->slots(), k)) goto event_code;
  NEXT_NATIVE();
L_Fields:
  if (!ReadFields(ip, operands + ip->x, frame->slots(), k)) goto event_code;
  NEXT_NATIVE();
L_Construct:
  STAND();
  S(ip->d) = reinterpret_cast<uint64_t>(MakeData(ip, operands + ip->x, w.constants, frame->slots(), k));
  k[ip->d] = kObject;
  NEXT();
L_Delay:
  STAND();
  DelayScheduled(w, frame, k);
  NEXT_NATIVE();
L_Capture:
  STAND();
  CaptureScheduled(w, frame, k);
  NEXT_NATIVE();
L_Force:
L_ForcePlain: {
  uint32_t a = ip->a & ~kLastUse;
  uint64_t bits = S(a);
  uint8_t state = k[a];
  if (state == kReference) {
    const Value* held = ValueOf(ObjectAt(bits));
    if (!held) {
      STAND();
      frame = ForceScheduled(w, frame);
      if (!frame) return;
      goto resume;
    }
    state = StateOf(*held);
    if (state > kObject) goto event_code;
    if (ip->op == Scheduled::ForcePlain) {
      if (state != kWord) goto event_code;
      S(ip->d) = BitsOf(*held);
    } else {
      Count(BitsOf(*held), state);
      S(ip->d) = BitsOf(*held);
      k[ip->d] = state;
    }
    if (ip->a & kLastUse) ReleaseBits(bits, kReference);
    NEXT_NATIVE();
  }
  if (ip->op == Scheduled::Force) {
    k[ip->d] = state;
    if (!(ip->a & kLastUse)) Count(bits, state);
  } else if (state != kWord) {
    goto event_code;
  }
  S(ip->d) = bits;
  NEXT();
}

  // ---------------------------------------------------------------- branches

L_Branch:
  ip = code + (S(ip->a) ? ip->x : ip->y);
  RUN();
L_BranchMatch: {
  uint64_t which = k[ip->a] == kWord ? S(ip->a) : reinterpret_cast<Data*>(S(ip->a))->constructor;
  ip = code + (which == 0 ? ip->x : ip->y);
  RUN();
}
L_Choose:
L_ChooseMatch: {
  uint64_t which = ip->op == Scheduled::Choose || k[ip->a] == kWord ? S(ip->a)
                                                                 : reinterpret_cast<Data*>(S(ip->a))->constructor;
  if (which >= ip->b) goto event_code;
  ip = code + operands[ip->x + which];
  RUN();
}
L_Jump:
  ip = code + ip->x;
  RUN();
L_Count:
  ++w.stats.regions;
  w.stats.firings += ip->x;
  NEXT();
L_CountCall:
  w.stats.calls += ip->x;
  w.stats.loops += ip->y;
  w.stats.max_depth = std::max<uint64_t>(w.stats.max_depth, frame->depth + ip->d);
  NEXT();

  // ---------------------------------------------------------------- calls

#define MAKE_CHILD(made)                                        \
  const ScheduledCall& call = calls[ip->x];                     \
  Frame* made = *call.free;                                     \
  if (!made || --w.budget == 0) [[unlikely]] {                  \
    STAND();                                                    \
    made = NewCallee(w, call.site, frame);                      \
    if (!made) goto yield;                                      \
  } else {                                                      \
    *call.free = made->parent;                                  \
    made->parent = frame;                                       \
    made->site = call.site;                                     \
    made->set_head(call.head); /* pins are 0 in a free frame */ \
    made->depth = frame->depth + 1;                             \
    w.pool.CountNewScheduled();                                 \
  }

L_CallWord : {
  MAKE_CHILD(made)
  uint64_t* to = made->slots();
  to[ip->b] = S(ip->a);
  frame->resume = ip + 1;
  k = reinterpret_cast<uint8_t*>(to) + ip->y;
  frame = made;
  ip = call.start;
  RUN_NATIVE();
}
L_Call : {
  MAKE_CHILD(made)
  child = made;
  start = call.start;
  cs = made->slots();
  ck = reinterpret_cast<uint8_t*>(cs) + ip->y;
  NEXT();
}
L_Arg:
  cs[ip->d] = S(ip->a);
  NEXT();
L_ArgConstant:
  cs[ip->d] = static_cast<uint64_t>(ip->imm);
  NEXT();
L_ArgWiden:
  cs[ip->d] = S(ip->a);
  ck[ip->d] = kWord;
  NEXT();
L_ArgOpen: {
  uint32_t a = ip->a & ~kLastUse;
  cs[ip->d] = S(a);
  ck[ip->d] = k[a];
  if (!(ip->a & kLastUse)) Count(S(a), k[a]);
  NEXT();
}
L_ArgOpenConstant: {
  const Value& constant = w.constants[ip->x];
  cs[ip->d] = BitsOf(constant);
  ck[ip->d] = StateOf(constant);
  Count(cs[ip->d], ck[ip->d]);
  NEXT();
}
L_Enter:
  frame->resume = ip + 1;
  frame = child;
  k = ck;
  ip = start;
  RUN_NATIVE();
L_CallOut: {
  STAND();
  CallOut(w, frame, w.program.sites[ip->y], operands + ip->x, frame->slots(), k);
  return;
}

  // Passed over by the callee's Return, which knows what they say.
L_Got:
L_GotOpen:
L_GotMany:
  k = reinterpret_cast<uint8_t*>(frame->slots() + ip->a);
  NEXT();

L_Return:
  value = S(ip->a);
  state = kWord;
  goto give;
L_ReturnConstant:
  value = static_cast<uint64_t>(int64_t{static_cast<int16_t>(ip->d)});
  state = kWord;
  goto give;
L_ReturnOpen:
  value = S(ip->a);
  state = k[ip->a];
give:
  // To scheduled code that waits for nothing else?
  if (uint64_t but_tag = frame->head() ^ static_cast<uint64_t>(ip->imm);
      but_tag == 0 || but_tag == uint64_t{kHasTag} << 32) {
    if (state != kWord && frame->parent->resume >= unboxed_code) [[unlikely]] {  // unboxed code has room for words alone
      STAND();
      OutlineCaller(w, frame);
    }
    Frame* parent = frame->parent;
    if (but_tag) [[unlikely]] DropTag(frame->tag);
    Frame** free = free_lists + ip->b;
    frame->flags_and_words = 0;
    frame->parent = *free;
    *free = frame;
    w.pool.CountFree();
    frame = parent;
    ip = frame->resume;  // Got, GotOpen or GotWord
    if (ip >= unboxed_code) {
      S(ip->d) = value;
      frame->resume = ip + 1;
      goto unboxed;
    }
    k = reinterpret_cast<uint8_t*>(frame->slots() + ip->a);
    S(ip->d) = value;
    k[ip->d] = state;  // that of a plain slot may be anything
    NEXT_NATIVE();
  }
  frame->resume = ip;
  frame = ReturnBody(w, frame, value, state);
  if (!frame) return;
  goto resume;
L_ReturnMany:
  frame->resume = ip;
  frame = ReturnMany(w, frame);
  if (!frame) return;
  goto resume;

  // ---------------------------------------------------------------- late parameters

L_NoneLate:
  for (uint32_t i = 0; i < ip->b; ++i) k[operands[ip->x + i]] = 0;
  NEXT();
L_Yield: {
  const uint32_t* list = operands + ip->x;
  frame->resume = ip + 1;
  if (frame->flags & kScheduledCaller) [[likely]] {
    if (frame->flags & (kListed | kExamined)) [[unlikely]] StopListing(w, frame);
    Frame* parent = frame->parent;
    GiveTo(w, parent, frame, list, ip->b);
    frame = parent;
    ip = frame->resume;  // GotMany
    k = frame->states();
    NEXT_NATIVE();
  }
  GiveEarly(w, frame, list, ip->b);
  return;
}
L_Await:  // nobody goes on from here
L_Awaited:
  NEXT();
L_KeepCallee:
  S(ip->d) = reinterpret_cast<uint64_t>(child);
  __builtin_prefetch(*calls[ip->x].free, 1);  // frames that wait are many, and in no cache when they come again
  NEXT();
L_Resume:
  if (--w.budget == 0) [[unlikely]] {
    STAND();
    w.StepCheck();
    if (w.poll_due && PollInScheduled(w, frame)) goto yield;
  }
  child = reinterpret_cast<Frame*>(S(ip->d));
  cs = child->slots();
  ck = reinterpret_cast<uint8_t*>(cs) + ip->y;
  for (int line = 0; line < 4; ++line) __builtin_prefetch(child->bytes() + 64 * line, 1);
  __builtin_prefetch(ck, 1);
  NEXT();
L_EnterLate:
  frame->resume = ip + 1;
  frame = child;
  k = ck;
  ip = frame->resume + 2;  // behind Await and Awaited
  RUN_NATIVE();

L_Next:
  if (w.budget <= 1 || frame->refs > 1 || !w.unpins.empty()) [[unlikely]] {
    frame->resume = ip;
    frame = NextScheduled(w, frame, k);
    if (!frame) return;
    goto resume;
  }
  --w.budget;
  Worker::ForgetTag(frame);
  ip = code + ip->y;
  RUN();
L_MoveMany:
  MoveMany(w, frame->slots(), k, *ip);
  NEXT();
L_Again:
  ++S(ip->d);
  ip = code + frame->site->callee->scheduled;
  RUN_NATIVE();

event_code:
  STAND();
  LeaveScheduled(w, frame);
  return;

yield:
  YieldScheduled(w, frame);
#undef DF_BINARY_FORM
#undef DF_INTEGER_FORM
#undef DF_INTEGER_COMPARE_FORM
#undef DF_INTEGER_BRANCH_FORM
#undef S
#undef RUN
#undef NEXT
#undef RUN_NATIVE
#undef NEXT_NATIVE
#undef STAND
#undef MAKE_CHILD
}

}  // namespace df::tagged
