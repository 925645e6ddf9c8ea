// A delayed body is often a step of arithmetic, `max x y` of `zipWith max xs ys`, and by the time its Delay is reached what it
// forces is there. Then the body costs less than a cell that remembers it, and the values that it would keep alive go. And a
// list that is asked for one element after the other can give a few more at once, each without a cell, a frame and the way back
// to who waits.
//
// Whether what a body needs is there is known only as the program runs. So it is tried: an interpreter of the body's scheduled code
// without a frame, on values that it borrows. What would make the body wait, fail or work for long ends the attempt, and all is
// as if there had been none, but for cells that are full by then.
//
// Values that an attempt borrows stay: they are held by its operands, which the frame of the Delay or the cell that is filled
// holds, by full cells, or by the attempt.
#include "runtime/engines/tagged/code/frameless.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/base/scalar.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/frameless_ahead.h"
#include "runtime/engines/tagged/exec/frameless_interpreter.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/worker.h"

namespace df::tagged {

using namespace frameless;

namespace {

constexpr uint32_t kMostDepth = 48;  // of attempts within attempts
constexpr uint32_t kForOne = 8;      // for each of these so many may be run whose cells it forces

}  // namespace

namespace {

// The steps of an attempt that are more than a few instructions.

// Puts what the reference in slot `from` stands for into slot `to`; and in its own place, unless that owns the cell. False if it
// is not there.
[[gnu::noinline]] bool Demand(Slots& slots, uint32_t from, uint32_t to, bool owns, Ahead* ahead, bool demanded) {
  uint64_t bits = slots.bits[from];
  uint8_t state = kReference;
  Resolve(bits, state);
  if (state == kReference) {
    if (!ahead || ObjectAt(bits)->kind != ObjectKind::Delay || !ahead->Fill(CellAt(bits), demanded)) return false;
    Resolve(bits, state);
  }
  if (state != kWord && state != kObject) return false;
  slots.bits[to] = bits;
  slots.states[to] = state;
  if (owns) return true;
  slots.bits[from] = bits;
  slots.states[from] = state;
  return true;
}

// What the body of a chain's next step captures, in its slots.
inline void Capture(const Value* constants, const uint32_t* moves, uint32_t count, const Slots& from, Slots& to) {
  for (const uint32_t* end = moves + 2 * count; moves != end; moves += 2) {
    uint32_t operand = moves[0], slot = moves[1];
    if (operand & kConstant) {
      const Value& constant = constants[operand & ~kConstant];
      to.bits[slot] = BitsOf(constant);
      to.states[slot] = StateOf(constant);
      continue;
    }
    uint32_t source = operand & (kMostFramelessSlots - 1);
    to.bits[slot] = from.bits[source];
    to.states[slot] = operand & kPlainOperand ? kWord : from.states[source];
  }
}

}  // namespace

namespace {

// Runs the frameless code of a delayed call whose captured values are in the first slots of `space`. False if it cannot be done now.
// `values` are the run's constants. Without `ahead` it makes no delayed calls, and forces nothing. `demanded`: somebody waits for it.
bool Run(const Program& program, const std::vector<Value>& values, const SiteCode& site, Space& space, Path* path, Ahead* ahead, bool demanded, Value* result) {
  static const void* const kLabels[] = {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) &&L_##name##RR, &&L_##name##RK, &&L_##name##KR,
#define DF_SCHEDULED_COMPARE(name, expression) \
  &&L_##name##RR, &&L_##name##RK, &&L_##name##KR, &&L_Branch##name##RR, &&L_Branch##name##RK,
#define DF_SCHEDULED_UNARY(name, type, condition, expression) &&L_##name,
#define DF_SCHEDULED_INTEGER(name, expression) &&L_##name##ZRR, &&L_##name##ZRK, &&L_##name##ZKR,
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) \
  &&L_##name##ZRR, &&L_##name##ZRK, &&L_##name##ZKR, &&L_Branch##name##ZRR, &&L_Branch##name##ZRK,
#define DF_SCHEDULED(name, operands) &&L_##name,
#define DF_SCHEDULED_UNBOXED(name, operands) &&not_here,
#define DF_SCHEDULED_FRAMELESS(name, operands) &&L_##name,
#include "runtime/engines/tagged/code/scheduled_ops.def"
  };
  const ScheduledInstr* const code = program.frameless.code.data();
  const uint32_t* const lists = program.frameless.lists.data();
  const Value* const constants = values.data();
  Slots* f = &space.slots[0];
  uint64_t owned = 0;
  Value* hole = result;                // where the value goes
  const FramelessChain* step = nullptr;    // by which the body that runs was begun
  uint32_t told = 0;                   // bodies of that chain that have come to something, and were not yet told to its site
  const ScheduledInstr* attempt = nullptr;  // the Try of the body within it that runs
  const ScheduledInstr* ip = code + site.callee->frameless;
  const NativeCode* native = program.native.get();
  FramelessRun run;
#define S(slot) f->bits[slot]
#define K(slot) f->states[slot]
#define RUN() goto* kLabels[static_cast<size_t>(ip->op)]
// As native code, if there is any: behind what only this interpreter does.
#define RESUME()            \
  do {                      \
    if (native) goto enter; \
    RUN();                  \
  } while (0)
#define NEXT() \
  do {         \
    ++ip;      \
    RUN();     \
  } while (0)
  try {
    if (native) {
      run.space = &space;
      run.both = reinterpret_cast<uint64_t>(&space.slots[0]) + reinterpret_cast<uint64_t>(&space.slots[1]);
      run.fuel = ahead ? &ahead->fuel : nullptr;
      run.sharing = Sharing();
      run.counters = &memory::counters;
      run.blocks = &memory::small_blocks;
      run.constants = constants;
      goto enter;
    }
    RUN();

  enter:
    if (const void* entry = native->FramelessEntryAt(ip)) {
      run.slots = f;
      run.owned = owned;
      run.hole = hole;
      run.step = step;
      run.demanded = demanded;
      native->RunFrameless(run, entry);
      f = run.slots;
      owned = run.owned;
      hole = run.hole;
      demanded = run.demanded;
      if (run.first) {
        run.first = false;
        step = run.step;
        path->Enter(program.sites[step->site]);  // no site came before it but that of the attempt
      }
      if (run.again) {
        told += run.again;
        path->Again(std::exchange(run.again, 0));
      }
      if (run.failure) [[unlikely]] std::rethrow_exception(run.failure);
      if (!run.at) goto done;
      attempt = run.attempt;
      ip = run.at;
    }
    RUN();

#define DF_FORM(form, type, condition, expression, left, right)                          \
  L_##form : {                                                                           \
    [[maybe_unused]] type x = std::bit_cast<type>(left), y = std::bit_cast<type>(right); \
    if (!(condition)) goto failed;                                                       \
    S(ip->d) = std::bit_cast<uint64_t>(expression);                                      \
    NEXT();                                                                              \
  }
#define DF_SCHEDULED_BINARY(name, type, condition, expression)       \
  DF_FORM(name##RR, type, condition, expression, S(ip->a), S(ip->b)) \
  DF_FORM(name##RK, type, condition, expression, S(ip->a), ip->imm)  \
  DF_FORM(name##KR, type, condition, expression, ip->imm, S(ip->a))
#define DF_BRANCH_FORM(form, expression, right)                                  \
  L_##form : {                                                                   \
    int64_t x = static_cast<int64_t>(S(ip->a)), y = static_cast<int64_t>(right); \
    ip = code + ((expression) ? ip->x : ip->y);                                  \
    RUN();                                                                       \
  }
#define DF_SCHEDULED_COMPARE(name, expression)                  \
  DF_SCHEDULED_BINARY(name, int64_t, true, int64_t{expression}) \
  DF_BRANCH_FORM(Branch##name##RR, expression, S(ip->b))        \
  DF_BRANCH_FORM(Branch##name##RK, expression, static_cast<int16_t>(ip->b))
#define DF_SCHEDULED_UNARY(name, type, condition, expression) DF_FORM(name, type, condition, expression, S(ip->a), uint64_t{0})
// An Integer is an open operand; the result of a comparison is plain.
#define DF_INTEGER_FORM(form, failure, result, open, left, left_state, right, right_state) \
  L_##form : {                                                                             \
    if ((left_state) != kWord || (right_state) != kWord) goto failed;                      \
    auto x = static_cast<int64_t>(left), y = static_cast<int64_t>(right);                  \
    [[maybe_unused]] int64_t z = 0;                                                        \
    if (failure) goto failed;                                                              \
    S(ip->d) = static_cast<uint64_t>(result);                                              \
    if (open) K(ip->d) = kWord;                                                            \
    NEXT();                                                                                \
  }
#define DF_INTEGER_FORMS(name, failure, result, open)                                                \
  DF_INTEGER_FORM(name##ZRR, failure, result, open, S(ip->a), K(ip->a), S(ip->b), K(ip->b))          \
  DF_INTEGER_FORM(name##ZRK, failure, result, open, S(ip->a), K(ip->a), ip->imm, kWord)              \
  DF_INTEGER_FORM(name##ZKR, failure, result, open, ip->imm, kWord, S(ip->a), K(ip->a))
#define DF_SCHEDULED_INTEGER(name, expression) DF_INTEGER_FORMS(name, expression, z, true)
#define DF_INTEGER_BRANCH_FORM(form, expression, right, right_state)          \
  L_##form : {                                                                \
    if (K(ip->a) != kWord || (right_state) != kWord) goto failed;             \
    auto x = static_cast<int64_t>(S(ip->a)), y = static_cast<int64_t>(right); \
    ip = code + ((expression) ? ip->x : ip->y);                               \
    RUN();                                                                    \
  }
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)                      \
  DF_INTEGER_FORMS(name, false, expression, false)                          \
  DF_INTEGER_BRANCH_FORM(Branch##name##ZRR, expression, S(ip->b), K(ip->b)) \
  DF_INTEGER_BRANCH_FORM(Branch##name##ZRK, expression, static_cast<int16_t>(ip->b), kWord)
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"

  L_Load:
    S(ip->d) = static_cast<uint64_t>(ip->imm);
    NEXT();
  L_Nullary:
    S(ip->d) = static_cast<uint64_t>(ip->imm);
    K(ip->d) = kWord;
    NEXT();
  L_LoadOpen:
    S(ip->d) = BitsOf(constants[ip->x]);
    K(ip->d) = StateOf(constants[ip->x]);
    NEXT();
  L_Widen:
    S(ip->d) = S(ip->a);
    K(ip->d) = kWord;
    NEXT();
  L_MoveOpen:
    S(ip->d) = S(ip->a);
    K(ip->d) = K(ip->a);
    NEXT();
  L_Narrow:
    if (K(ip->a) != kWord) goto failed;
    S(ip->d) = S(ip->a);
    NEXT();

    // ---------------------------------------------------------------- data

  L_Match:
    S(ip->d) = ConstructorAt(S(ip->a), K(ip->a));
    NEXT();
  L_Field: {
    if (K(ip->a) != kObject || DataAt(S(ip->a))->constructor != ip->x) goto failed;
    const Value* field = HeldBy(&DataAt(S(ip->a))->fields()[ip->b]);
    if (field->is_error()) goto failed;
    S(ip->d) = BitsOf(*field);
    K(ip->d) = StateOf(*field);
    NEXT();
  }
  L_FieldPlain: {
    if (K(ip->a) != kObject || DataAt(S(ip->a))->constructor != ip->x) goto failed;
    const Value* field = HeldBy(&DataAt(S(ip->a))->fields()[ip->b]);
    if (!field->is_word()) goto failed;
    S(ip->d) = BitsOf(*field);
    NEXT();
  }
  L_ForceCons:
    if (K(ip->a) == kObject) {
      const ScheduledInstr* cons = code + ip[1].y;
      const Data* data = DataAt(S(ip->a));
      if (data->constructor == cons->x) {
        S(ip->d) = S(ip->a);
        K(ip->d) = kObject;
        ip = cons;
        const Value* head = data->fields();
        const Value* tail = head + 1;
        uint32_t d = ip->d;
        if (head->kind() > (d & kFieldPlain ? ValueKind::Word : ValueKind::Object) || tail->kind() > ValueKind::Object)
          goto L_TwoFields;
        d &= kFieldPlain - 1;
        S(d) = BitsOf(*head);
        K(d) = StateOf(*head);
        S(ip->b) = BitsOf(*tail);
        K(ip->b) = StateOf(*tail);
        NEXT();
      }
    }
    goto L_Force;
  L_TwoFields: {
    if (K(ip->a) != kObject || DataAt(S(ip->a))->constructor != ip->x) goto failed;
    const Value* fields = DataAt(S(ip->a))->fields();
    const Value* x = fields + (ip->y >> 16);
    const Value* y = fields + (ip->y & 0xffff);
    if (x->kind() > ValueKind::Object || y->kind() > ValueKind::Object) {
      x = HeldBy(x);
      y = HeldBy(y);
      if (x->is_error() || y->is_error()) goto failed;
    }
    uint32_t d = ip->d, b = ip->b;
    if ((d | b) & kFieldPlain) {
      if ((d & kFieldPlain && !x->is_word()) || (b & kFieldPlain && !y->is_word())) goto failed;
      d &= kFieldPlain - 1;
      b &= kFieldPlain - 1;
    }
    S(d) = BitsOf(*x);
    K(d) = StateOf(*x);
    S(b) = BitsOf(*y);
    K(b) = StateOf(*y);
    NEXT();
  }
  L_Fields: {
    if (K(ip->a) != kObject || DataAt(S(ip->a))->constructor != ip->y) goto failed;
    const Value* fields = DataAt(S(ip->a))->fields();
    for (const uint32_t *entry = lists + ip->x, *end = entry + ip->b; entry != end; ++entry) {
      const Value* field = HeldBy(fields + (*entry >> 16));
      if (*entry & kFieldPlain ? !field->is_word() : field->is_error()) goto failed;
      uint32_t d = *entry & (kFieldPlain - 1);
      S(d) = BitsOf(*field);
      K(d) = StateOf(*field);
    }
    NEXT();
  }
  L_Force: {
    uint8_t state = K(ip->a);
    if (state == kReference) goto demand;
    if (state != kWord && state != kObject) goto failed;
    S(ip->d) = S(ip->a);
    K(ip->d) = state;
    NEXT();
  }
  L_ForcePlain:
    if (K(ip->a) != kWord) goto demand;
    S(ip->d) = S(ip->a);
    NEXT();
  demand:
    if (K(ip->a) != kReference) goto failed;
    if (!Demand(*f, ip->a, ip->d, owned & BitOf(ip->a), ahead, demanded && !attempt)) goto failed;
    if (ip->op == Scheduled::ForcePlain && K(ip->d) != kWord) goto failed;
    ++ip;
    RESUME();
  L_Construct: {
    Made made = Construct(constants, lists + ip->x, ip->b, ip->y, *f, owned);
    S(ip->d) = reinterpret_cast<uint64_t>(made.object);
    K(ip->d) = kObject;
    owned = made.owned | BitOf(ip->d);
    ++ip;
    RESUME();
  }

    // ---------------------------------------------------------------- delayed calls

  L_Try:
    if (!program.sites[ip->y].unasked.Take()) {
      ip = code + ip->x;
      RUN();
    }
    attempt = ip;
    ++ip;
    RESUME();
  L_Tried:
    S(ip->d) = S(ip->a);
    K(ip->d) = kWord;
    goto tried;
  L_TriedOpen: {
    uint64_t bits = S(ip->a);
    uint8_t state = K(ip->a);
    Resolve(bits, state);
    if (state == kError) goto failed;
    S(ip->d) = bits;
    K(ip->d) = state;
  }
  tried:
    program.sites[ip->y].unasked.Tell(true);
    attempt = nullptr;
    ip = code + ip->x;
    RESUME();
  L_MakeCell: {
    // What it captures still belongs to the slots: a cell that is filled while this body runs gives that up.
    Made made = ahead->MakeCell(program.sites[ip->y], lists + ip->x, *f, *path, 0);
    S(ip->d) = reinterpret_cast<uint64_t>(made.object);
    K(ip->d) = kReference;
    owned |= BitOf(ip->d);
    ++ip;
    RESUME();
  }
  L_Delay: {
    bool tried;
    {  // the value's scope is left before the next instruction is: its address is computed
      Value value;
      tried = ahead->TryUnasked(program.sites[ip->y], lists + ip->x, *f, *path, &value);
      if (tried) {
        K(ip->d) = StateOf(value);
        if (value.is_word()) {
          S(ip->d) = BitsOf(value);
        } else {
          S(ip->d) = reinterpret_cast<uint64_t>(value.Take());
          owned |= BitOf(ip->d);
        }
      }
    }
    if (!tried) goto L_MakeCell;
    ++ip;
    RESUME();
  }
  L_Chain: {
    const FramelessChain& chain = program.frameless.chains[ip->x];
    const SiteCode& next = program.sites[chain.site];
    Made made;
    if (chain.fields == 2) [[likely]] {
      Data* data = Data::NewRaw(chain.constructor, 2);
      made = {data, PutOperand(constants, *f, lists[chain.list], data->fields(), owned)};
      ::new (data->fields() + 1) Value();
    } else {
      made = ConstructAllButLast(constants, lists + chain.list, chain.fields, chain.constructor, *f, owned);
    }
    ::new (hole) Value(Value::Adopt(ValueKind::Object, made.object));
    hole = static_cast<Data*>(made.object)->fields() + (chain.fields - 1);
    owned = made.owned;
    // Most often this body was begun by the same chain: then it is not asked again whether to try, and told later.
    bool again = step == &chain;
    if (step) ++told;
    if (step && !again) program.sites[step->site].unasked.TellDone(std::exchange(told, 0));
    if (!ahead->fuel || (owned && space.num_kept + std::popcount(owned) > kMostKept) ||
        (!again && (!next.unasked.Take() || !path->Enter(next)))) {
      if (again) next.unasked.TellDone(told);
      step = nullptr;
      made = ahead->MakeCell(next, lists + chain.captured, *f, *path, owned);
      ::new (hole) Value(Value::Adopt(ValueKind::Reference, made.object));
      owned = made.owned;
      goto done;
    }
    if (again) path->Again(1);
    --ahead->fuel;
    for (; owned; owned &= owned - 1) space.kept[space.num_kept++] = ObjectAt(S(std::countr_zero(owned)));
    Slots* other = f == &space.slots[0] ? &space.slots[1] : &space.slots[0];
    Capture(constants, lists + chain.moves, chain.num_moves, *f, *other);
    f = other;
    step = &chain;
    demanded = false;
    ip = code + next.callee->frameless;
    RESUME();
  }

    // ---------------------------------------------------------------- branches

  L_Branch:
    ip = code + (S(ip->a) ? ip->x : ip->y);
    RUN();
  L_BranchMatch:
    ip = code + (ConstructorAt(S(ip->a), K(ip->a)) == 0 ? ip->x : ip->y);
    RUN();
  L_Choose:
    if (S(ip->a) >= ip->b) goto failed;
    ip = code + lists[ip->x + S(ip->a)];
    RUN();
  L_ChooseMatch: {
    uint32_t which = ConstructorAt(S(ip->a), K(ip->a));
    if (which >= ip->b) goto failed;
    ip = code + lists[ip->x + which];
    RUN();
  }
  L_Jump:
    ip = code + ip->x;
    RUN();
  L_Return:
    ::new (hole) Value(Value::Word(static_cast<int64_t>(S(ip->a))));
    goto done;
  L_ReturnConstant:
    ::new (hole) Value(Value::Word(static_cast<int16_t>(ip->d)));
    goto done;
  L_ReturnOpen: {
    uint64_t bits = S(ip->a);
    uint8_t state = K(ip->a);
    if (owned & BitOf(ip->a)) {
      owned &= ~BitOf(ip->a);
    } else {
      Resolve(bits, state);
      if (state == kError) goto failed;
      Count(bits, state);
    }
    ::new (hole) Value(Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(bits)));
  }
  done:
    if (step) program.sites[step->site].unasked.TellDone(told + 1);
    if (owned | space.num_kept) Release(*f, owned, space);
    return true;

  failed:
    if (attempt) {
      program.sites[attempt->y].unasked.Tell(false);
      ip = code + attempt->x;
      attempt = nullptr;
      RUN();  // a MakeCell, which this interpreter does
    }
    if (step) {
      // The bodies before this one have come to something: their last field is a cell.
      const SiteCode& next = program.sites[step->site];
      next.unasked.TellDone(told);
      next.unasked.Tell(false);
      path->Leave();
      const Slots& before = f == &space.slots[0] ? space.slots[1] : space.slots[0];
      ::new (hole) Value(Value::Adopt(ValueKind::Reference, ahead->MakeCell(next, lists + step->captured, before, *path, 0).object));
    }
    if (owned | space.num_kept) Release(*f, owned, space);
    return step;

  // In scheduled code only.
  L_Apply: L_ApplyOpen: L_InRange: L_Defer: L_Drop: L_Count: L_CountCall: L_Call: L_CallWord: L_Arg: L_ArgConstant: L_ArgWiden: L_ArgOpen:
  L_ArgOpenConstant: L_Enter: L_CallOut: L_Got: L_GotOpen: L_GotMany: L_Next: L_ReturnMany: L_Unboxed: L_ApplyMany: L_KeepCallee:
  L_Capture: L_MoveMany: L_Again: L_NoneLate: L_Yield: L_Await: L_Awaited: L_Resume: L_EnterLate:
  not_here:
    __builtin_unreachable();
  } catch (...) {
    Release(*f, owned, space);
    throw;
  }
#undef DF_FORM
#undef DF_BRANCH_FORM
#undef DF_INTEGER_FORM
#undef DF_INTEGER_FORMS
#undef DF_INTEGER_BRANCH_FORM
#undef S
#undef K
#undef RUN
#undef NEXT
}

}  // namespace

bool RunFrameless(const Program& program, const std::vector<Value>& constants, const SiteCode& site, const uint32_t* operands, const uint64_t* slots,
              const uint8_t* states, Value* result) {
  Space space;
  Capture(constants, site, operands, slots, states, space.slots[0]);
  return Run(program, constants, site, space, nullptr, nullptr, false, result);
}

bool FillIfReady(const Program& program, const std::vector<Value>& constants, DelayCell& cell, DeadObjects& dead) {
  if (cell.state != DelayCell::State::Kept || !cell.site->frameless || !cell.starts_scheduled) return false;
  Space space;
  Capture(cell, space.slots[0]);
  Value result;
  if (!Run(program, constants, *cell.site, space, nullptr, nullptr, false, &result)) return false;
  cell.DropChildren(dead);
  DropTag(cell.tag);
  cell.body = nullptr;
  cell.value() = std::move(result);
  cell.Become(DelayCell::State::Full);
  return true;
}

// ---------------------------------------------------------------- ahead

bool Ahead::Fill(DelayCell* cell, bool demanded) {
  const SiteCode& site = *cell->site;
  if (!depth || !site.ahead || cell->Now() != DelayCell::State::Kept || cell == worker.goal) return false;
  // Where others might want the cell too they wait until the attempt is over, which is soon. The attempt itself waits for nobody: of two
  // that want each other's cells both give up.
  Value held = Value::Retain(ValueKind::Reference, cell);
  CellLock lock(cell, std::try_to_lock);
  if (lock.Failed() || cell->Now() != DelayCell::State::Kept || !cell->starts_scheduled) return false;
  uint32_t level = cell->ahead(), fuel = 1u << level, own_others = kForOne * fuel;
  if (!demanded) {
    if (!*others) return false;
    --*others;
  }
  // A list that has come so far may be long, whatever those before it were.
  if (!level && !site.forced.Take()) return false;
  // For a body that nobody has asked for a chain is made out of what that one may use, at most the half: its own steps force cells too.
  struct Lent {
    uint32_t* from;
    Ahead ahead;
    ~Lent() { if (from) *from += ahead.fuel; }
  } inner{demanded ? nullptr : others, {worker, &site, level, fuel, demanded ? &own_others : others, depth - 1}};
  if (!demanded) *others -= inner.ahead.fuel = std::min(fuel, (*others + 1) / 2);
  Space space;
  Capture(*cell, space.slots[0]);
  Value result;
  {
    // A body that needs its own value finds that it is not there: the lock, or that it runs.
    struct Running {
      DelayCell* cell;
      explicit Running(DelayCell* c) : cell(c) { if (cell) cell->state = DelayCell::State::Running; }
      ~Running() { if (cell) cell->state = DelayCell::State::Kept; }
    } running(lock.IsHeld() ? nullptr : cell);
    Path path(site, cell->tag);
    bool done = Run(worker.program, worker.constants, site, space, &path, &inner.ahead, demanded, &result);
    // A frame would have been the other way.
    if (done && depth == kMostDepth && inner.ahead.cells) site.forced.TellBodies(1 + fuel - inner.ahead.fuel);
    else site.forced.Tell(done);
    if (!done) return false;
  }
  CountFilled(worker, cell);
  DropTag(cell->tag);
  cell->body = nullptr;
  Value first = std::exchange(cell->value(), std::move(result));
  cell->Become(DelayCell::State::Full);
  for (uint32_t i = 1; i < cell->num_operands(); ++i) cell->operands()[i] = Value();
  return true;
}

bool Ahead::TryUnasked(const SiteCode& site, const uint32_t* operands, const Slots& slots, Path& path, Value* value) {
  if (!depth || !(site.frameless || fuel) || !site.unasked.Take()) return false;
  if (!site.frameless) --fuel;
  Space space;
  Capture(worker.constants, site, operands, slots.bits, slots.states, space.slots[0]);
  Path own(site, &path);
  --depth;
  bool done = Run(worker.program, worker.constants, site, space, &own, this, false, value);
  ++depth;
  site.unasked.Tell(done);
  return done;
}

bool RunAhead(Worker& w, DelayCell* cell) {
  uint32_t others = 0;
  return Ahead{w, cell->site, 0, 0, &others, kMostDepth}.Fill(cell, true);
}

}  // namespace df::tagged
