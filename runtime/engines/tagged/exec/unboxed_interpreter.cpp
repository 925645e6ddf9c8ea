// The interpreter of unboxed code (code/unboxed.h). What it does not do itself (failures, results to others than waiting scheduled
// code) is left to that of scheduled code, which goes on with the frames of the activations one by one.
#include <bit>
#include <cmath>

#include "runtime/base/scalar.h"
#include "runtime/engines/tagged/code/machine_code.h"
#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/unboxed_interpreter.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

Frame* RunNative(Worker& w, const NativeCode& native, const void* entry, Frame* frame, const ScheduledInstr** at) {
  NativeRun run;
  run.worker = &w;
  run.free_lists = w.pool.FreeLists();
  run.slots = frame->slots();
  run.budget = w.budget;
  run.counters = &memory::counters;
  run.blocks = &memory::small_blocks;
  run.unboxed_rest = w.unboxed_rest.data();
  run.cell_lists = w.cells.FreeLists();
  run.sharing = Sharing();
  run.unpins = !w.unpins.empty();
  run.poll = w.poll_due;
  run.goal = w.goal;
  run.constants = w.constants.data();
  native.Run(run, entry);
  w.budget = static_cast<uint32_t>(run.budget);
  w.pool.CountScheduled(run.frames);
  w.stats.regions += run.regions;
  w.stats.firings += run.firings;
  w.stats.calls += run.calls;
  w.stats.released += run.released;
  w.live_cells += static_cast<int64_t>(run.delays) - static_cast<int64_t>(run.cells_gone);
  w.stats.delays += run.delays;
  w.stats.loops += run.loops;
  w.stats.max_depth = std::max(w.stats.max_depth, run.max_depth);
  *at = run.at;
  frame = reinterpret_cast<Frame*>(run.slots) - 1;
  if (w.native_failure) [[unlikely]] {
    if (run.at) {
      frame->resume = run.at;
      w.now = frame;
    }
    std::rethrow_exception(std::exchange(w.native_failure, nullptr));
  }
  return run.at ? frame : nullptr;
}

Frame* RunUnboxed(Worker& w, Frame* frame) {
  const ScheduledCall* const calls = w.scheduled_calls.data();
  Frame** const free_lists = w.pool.FreeLists();
  const NativeCode* const native = w.program.native.get();
  const ScheduledInstr* const unboxed_code = w.program.scheduled.code.data() + w.program.scheduled.first_unboxed;
  uint64_t* s = frame->slots();
  const ScheduledInstr* ip = frame->resume;
  w.now_pc = kNone;

  static const void* const kLabels[] = {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) &&L_##name##RR, &&L_##name##RK, &&L_##name##KR,
#define DF_SCHEDULED_COMPARE(name, expression) \
  &&L_##name##RR, &&L_##name##RK, &&L_##name##KR, &&L_Branch##name##RR, &&L_Branch##name##RK,
#define DF_SCHEDULED_UNARY(name, type, condition, expression) &&L_##name,
#define DF_SCHEDULED_INTEGER(name, expression) &&L_##name##ZRR, &&L_##name##ZRK, &&L_##name##ZKR,
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) &&other, &&other, &&other, &&other, &&other,
#define DF_SCHEDULED(name, operands) &&other,
#define DF_SCHEDULED_BOTH(name, operands) &&L_##name,
#define DF_SCHEDULED_UNBOXED(name, operands) &&L_##name,
#define DF_SCHEDULED_FRAMELESS(name, operands) &&other,
#include "runtime/engines/tagged/code/scheduled_ops.def"
  };
#define FRAME() (reinterpret_cast<Frame*>(s) - 1)
#define RUN() goto* kLabels[static_cast<size_t>(ip->op)]
#define NEXT() \
  do {         \
    ++ip;      \
    RUN();     \
  } while (0)
#define GO(bytes)                                                                                                  \
  do {                                                                                                             \
    ip = reinterpret_cast<const ScheduledInstr*>(reinterpret_cast<const char*>(ip) + static_cast<int32_t>(bytes)); \
    RUN();                                                                                                         \
  } while (0)

  // What native code cannot do, or must not do now, is done here, one instruction. It comes back for the next one.
#define RUN_NATIVE()          \
  do {                        \
    if (native) goto native;  \
    RUN();                    \
  } while (0)

  RUN_NATIVE();

native:
  if (const void* entry = native->EntryAt(ip)) {
    frame = RunNative(w, *native, entry, FRAME(), &ip);
    if (!frame) return nullptr;
    s = frame->slots();
    if (ip < unboxed_code || ip->op == Scheduled::Unboxed) {  // it has gone on in scheduled code
      frame->resume = ip;
      return frame;
    }
  }
  RUN();

#define DF_BINARY_FORM(label, type, condition, expression, left, right)                  \
  L_##label : {                                                                          \
    [[maybe_unused]] type x = std::bit_cast<type>(left), y = std::bit_cast<type>(right); \
    if (!(condition)) [[unlikely]] goto leave;                                           \
    s[ip->d] = std::bit_cast<uint64_t>(expression);                                      \
    NEXT();                                                                              \
  }
#define DF_SCHEDULED_BINARY(name, type, condition, expression)                                    \
  DF_BINARY_FORM(name##RR, type, condition, expression, s[ip->a], s[ip->b])                       \
  DF_BINARY_FORM(name##RK, type, condition, expression, s[ip->a], static_cast<uint64_t>(ip->imm)) \
  DF_BINARY_FORM(name##KR, type, condition, expression, static_cast<uint64_t>(ip->imm), s[ip->a])
#define DF_SCHEDULED_COMPARE(name, expression)                                      \
  DF_SCHEDULED_BINARY(name, int64_t, true, int64_t{expression})                     \
  L_Branch##name##RR : {                                                            \
    int64_t x = static_cast<int64_t>(s[ip->a]), y = static_cast<int64_t>(s[ip->b]); \
    if (expression) GO(ip->x);                                                      \
    GO(ip->y);                                                                      \
  }                                                                                 \
  L_Branch##name##RK : {                                                            \
    int64_t x = static_cast<int64_t>(s[ip->a]), y = static_cast<int16_t>(ip->b);    \
    if (expression) GO(ip->x);                                                      \
    GO(ip->y);                                                                      \
  }
#define DF_SCHEDULED_UNARY(name, type, condition, expression) \
  L_##name : {                                                \
    type x = std::bit_cast<type>(s[ip->a]);                   \
    if (!(condition)) [[unlikely]] goto leave;                \
    s[ip->d] = std::bit_cast<uint64_t>(expression);           \
    NEXT();                                                   \
  }
  // Integers are words here; a result beyond a word is not.
#define DF_INTEGER_FORM(label, expression, left, right)                                      \
  L_##label : {                                                                              \
    int64_t x = static_cast<int64_t>(left), y = static_cast<int64_t>(right), z = 0;          \
    if (expression) [[unlikely]] goto overflow;                                              \
    s[ip->d] = static_cast<uint64_t>(z);                                                     \
    NEXT();                                                                                  \
  }
#define DF_SCHEDULED_INTEGER(name, expression)               \
  DF_INTEGER_FORM(name##ZRR, expression, s[ip->a], s[ip->b]) \
  DF_INTEGER_FORM(name##ZRK, expression, s[ip->a], ip->imm)  \
  DF_INTEGER_FORM(name##ZKR, expression, ip->imm, s[ip->a])
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"

L_Load:
  s[ip->d] = static_cast<uint64_t>(ip->imm);
  NEXT();
L_LoadJump:
  s[ip->d] = static_cast<uint64_t>(int64_t{static_cast<int32_t>(ip->y)});
  GO(ip->x);
L_MoveTwo:
  s[ip->d] = s[ip->a];
  s[ip->y] = s[ip->x];
  NEXT();
L_MoveTwoZero:
  s[ip->d] = s[ip->a];
  s[ip->y] = s[ip->x];
  s[ip->b] = 0;
  NEXT();
L_MoveJump:
  s[ip->d] = s[ip->a];
  GO(ip->x);
L_Jump:
  GO(ip->x);
L_Branch:
  if (s[ip->a]) GO(ip->x);
  GO(ip->y);
L_Count:
  ++w.stats.regions;
  w.stats.firings += ip->x;
  NEXT();
L_CountCall:
  w.stats.calls += ip->x;
  w.stats.loops += ip->y;
  w.stats.max_depth = std::max<uint64_t>(w.stats.max_depth, FRAME()->depth + ip->d);
  NEXT();

  // ---------------------------------------------------------------- calls

  // The callee's frame becomes `s`, that of the caller `from`; it goes on at the instruction behind the `words` of this one.
#define MAKE_CALLEE(words)                          \
  const ScheduledCall& call = calls[ip->x];         \
  Frame* made = *call.free;                         \
  uint64_t* const from = s;                         \
  if (!made || --w.budget == 0) [[unlikely]] {      \
    FRAME()->resume = ip;                           \
    w.now = FRAME();                                \
    made = NewCallee(w, call.site, FRAME(), ip->d); \
    if (!made) goto yield;                          \
  } else {                                          \
    *call.free = made->parent;                      \
    made->parent = FRAME();                         \
    made->site = call.site;                         \
    made->set_head(call.head);                      \
    made->depth = FRAME()->depth + ip->d;           \
    w.pool.CountNewScheduled();                     \
  }                                                 \
  FRAME()->resume = ip + (words);                   \
  s = made->slots();
#define ENTER()          \
  do {                   \
    ip = call.start + 1; \
    RUN_NATIVE();        \
  } while (0)

L_Call0: {
  MAKE_CALLEE(1)
  static_cast<void>(from);
  ENTER();
}
L_Call1: {
  MAKE_CALLEE(1)
  s[ip->y] = from[ip->a];
  ENTER();
}
L_Call2: {
  MAKE_CALLEE(2)
  s[ip[1].b] = from[ip[1].a];
  s[ip[1].y] = from[ip[1].x];
  ENTER();
}
L_Call3: {
  MAKE_CALLEE(3)
  s[ip[1].b] = from[ip[1].a];
  s[ip[1].y] = from[ip[1].x];
  s[ip[2].b] = from[ip[2].a];
  ENTER();
}
L_Call4: {
  MAKE_CALLEE(3)
  s[ip[1].b] = from[ip[1].a];
  s[ip[1].y] = from[ip[1].x];
  s[ip[2].b] = from[ip[2].a];
  s[ip[2].y] = from[ip[2].x];
  ENTER();
}
L_CallMany: {
  MAKE_CALLEE(1 + (ip->b + 1) / 2)
  for (uint32_t i = 0; i < ip->b; i += 2) {
    const ScheduledInstr& list = ip[1 + i / 2];
    s[list.b] = from[list.a];
    if (i + 1 < ip->b) s[list.y] = from[list.x];
  }
  ENTER();
}

  // A result to scheduled code that waits for nothing else.
#define GIVE(value)                                                               \
  do {                                                                            \
    uint64_t given = (value);                                                     \
    Frame* frame = FRAME();                                                       \
    if (frame->head() != static_cast<uint64_t>(ip->imm)) [[unlikely]] {           \
      frame->flags &= ~kExamined; /* a mark that goes with the frame */           \
      if (frame->head() != static_cast<uint64_t>(ip->imm)) goto leave;            \
    }                                                                             \
    Frame* parent = frame->parent;                                                \
    Frame** free = free_lists + ip->b;                                            \
    frame->flags_and_words = 0;                                                   \
    frame->parent = *free;                                                        \
    *free = frame;                                                                \
    w.pool.CountFree();                                                           \
    s = parent->slots();                                                          \
    ip = parent->resume;                                                          \
    s[ip->d] = given;                                                             \
    if (ip->op != Scheduled::GotWord) [[unlikely]] goto give_other;               \
    ++ip;                                                                         \
    RUN_NATIVE();                                                                 \
  } while (0)

L_Return:
  GIVE(s[ip->a]);
L_ReturnConstant:
  GIVE(static_cast<uint64_t>(int64_t{static_cast<int16_t>(ip->d)}));
give_other: {
  Frame* parent = FRAME();
  parent->states()[ip->d] = kPresent | static_cast<uint8_t>(ValueKind::Word);
  parent->resume = ip + 1;
  return parent;
}

  // ---------------------------------------------------------------- loops

L_TickOwn:
  if (FRAME()->flags & kHasTag) [[unlikely]] Worker::ForgetTag(FRAME());
  goto L_Tick;
L_MoveTwoTick:
  s[ip->b] = s[ip->a];
  s[ip->y >> 16] = s[ip->y & 0xffff];
  goto L_Tick;
L_MoveTick:
  s[ip->b] = s[ip->a];
L_Tick: {
  ++s[ip->d];
  if (--w.budget == 0) [[unlikely]] {
    // It stands at the beginning of the iteration.
    const auto* target = reinterpret_cast<const ScheduledInstr*>(reinterpret_cast<const char*>(ip) + static_cast<int32_t>(ip->x));
    FRAME()->resume = target;
    w.now = FRAME();
    w.StepCheck();
    if (w.poll_due && PollInScheduled(w, FRAME())) goto yield;
    if (!w.unpins.empty()) DrainUnpins(w);
  }
  ip = reinterpret_cast<const ScheduledInstr*>(reinterpret_cast<const char*>(ip) + static_cast<int32_t>(ip->x));
  RUN_NATIVE();
}

  // The next calls of the scope are done without unboxed code: it may be that most of its numbers are large.
overflow:
  w.unboxed_rest[FRAME()->scope().id.index] = Worker::kUnboxedRest;
leave:
other:
L_Arguments:  // behind a Call, and where a callee's result comes: passed over
L_GotWord: {
  Frame* frame = FRAME();
  frame->resume = ip;
  return Outline(w, frame, nullptr);
}

  // What other workers have sent goes first; the frame stands before what it will do then.
yield:
  w.poll_due = true;
  w.Push(FRAME(), kNone);
  return nullptr;
#undef DF_BINARY_FORM
#undef DF_INTEGER_FORM
#undef FRAME
#undef RUN
#undef RUN_NATIVE
#undef NEXT
#undef GO
#undef MAKE_CALLEE
#undef ENTER
#undef GIVE
}

}  // namespace df::tagged
