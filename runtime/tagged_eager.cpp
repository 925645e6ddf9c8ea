// A delayed body is often a step of arithmetic, `max x y` of `zipWith max xs ys`, and by the time its Delay is reached what it
// forces is there. Then the body costs less than a cell that remembers it, and the values that it would keep alive go. And a
// list that is asked for one element after the other can give a few more at once, each without a cell, a frame and the way back
// to who waits.
//
// Whether what a body needs is there is known only as the program runs. So it is tried: an interpreter of the body's direct code
// without a frame, on values that it borrows. What would make the body wait, fail or work for long ends the attempt, and all is
// as if there had been none, but for cells that are full by then.
//
// Values that an attempt borrows stay: they are held by its operands, which the frame of the Delay or the cell that is filled
// holds, by full cells, or by the attempt.
#include "runtime/tagged_eager.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/scalar.h"
#include "runtime/tagged_direct_data.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostSlots = 64;          // of a body's frame
constexpr uint32_t kMostInstructions = 48;   // of a body, all its sides together
constexpr uint32_t kMostMade = 8;            // constructors and delayed calls of a body
constexpr uint32_t kMostDepth = 48;          // of attempts within attempts
constexpr uint32_t kMostAhead = 5;           // a cell's body is followed by at most so many others: a power of two

// What an instruction may do next: nothing that an attempt can be (None), the next one, or the targets in `to`.
enum class Step { None, Next, End, Both, Jump, Choose, Construct, Delay };

Step StepOf(Direct op) {
  switch (op) {
#define DF_DIRECT_BINARY(name, type, condition, expression) \
  case Direct::name##RR: case Direct::name##RK: case Direct::name##KR: return Step::Next;
#define DF_DIRECT_COMPARE(name, expression)                                                 \
  case Direct::name##RR: case Direct::name##RK: case Direct::name##KR: return Step::Next; \
  case Direct::Branch##name##RR: case Direct::Branch##name##RK: return Step::Both;
#define DF_DIRECT_UNARY(name, type, condition, expression) case Direct::name: return Step::Next;
#define DF_DIRECT_INTEGER(name, expression) \
  case Direct::name##ZRR: case Direct::name##ZRK: case Direct::name##ZKR: return Step::Next;
#define DF_DIRECT_INTEGER_COMPARE(name, expression) \
  DF_DIRECT_INTEGER(name, expression)               \
  case Direct::Branch##name##ZRR: case Direct::Branch##name##ZRK: return Step::Both;
#define DF_DIRECT(name, operands)
#include "runtime/tagged_direct_ops.def"
    case Direct::Load: case Direct::LoadOpen: case Direct::Nullary: case Direct::MoveOpen: case Direct::Widen:
    case Direct::Narrow: case Direct::Drop: case Direct::Match: case Direct::Field: case Direct::FieldPlain:
    case Direct::TwoFields: case Direct::Fields:
    case Direct::Force: case Direct::ForcePlain: case Direct::Count: return Step::Next;
    case Direct::Construct: return Step::Construct;
    case Direct::Delay: return Step::Delay;
    case Direct::Branch: case Direct::BranchMatch: return Step::Both;
    case Direct::Choose: case Direct::ChooseMatch: return Step::Choose;
    case Direct::Jump: return Step::Jump;
    case Direct::Return: case Direct::ReturnConstant: case Direct::ReturnOpen: return Step::End;
    default: return Step::None;
  }
}

// Whether the code from `start` on is short, ends, and can be attempted. `delays`: it makes delayed calls.
bool CanTry(const DirectCode& direct, uint32_t start, bool* delays) {
  std::vector<uint32_t> seen, todo{start};
  uint32_t made = 0;
  while (!todo.empty()) {
    uint32_t at = todo.back();
    todo.pop_back();
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
    seen.push_back(at);
    if (seen.size() > kMostInstructions) return false;
    const DirectInstr& in = direct.code[at];
    switch (StepOf(in.op)) {
      case Step::None: return false;
      case Step::End: break;
      case Step::Delay: *delays = true; [[fallthrough]];
      case Step::Construct:
        if (++made > kMostMade) return false;
        [[fallthrough]];
      case Step::Next: todo.push_back(at + 1); break;
      case Step::Both: todo.push_back(in.x); todo.push_back(in.y); break;
      case Step::Jump: todo.push_back(in.x); break;
      case Step::Choose: todo.insert(todo.end(), &direct.operands[in.x], &direct.operands[in.x] + in.b); break;
    }
  }
  return true;
}

// An operand whose slot keeps its count.
constexpr uint32_t Kept(uint32_t operand) { return operand & kConstant ? operand : operand & ~kLastOperand; }
// What a reference that has been evaluated stands for, or the value itself.
inline void Resolve(uint64_t& bits, uint8_t& state) {
  while (state == kReference) {
    Object* object = ObjectAt(bits);
    if (object->kind != ObjectKind::Delay || !CellAt(bits)->IsFull()) return;
    const Value& held = CellAt(bits)->value();
    bits = BitsOf(held);
    state = StateOf(held);
  }
}
uint32_t ConstructorAt(uint64_t bits, uint8_t state) {
  return state == kWord ? static_cast<uint32_t>(bits) : DataAt(bits)->constructor;
}
Value Held(uint64_t bits, uint8_t state) {
  Count(bits, state);
  return Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(bits));
}

// Holds what an attempt has made, until its end.
class Made {
 public:
  Made() = default;
  ~Made() {
    for (uint32_t i = 0; i < count_; ++i) Value::Adopt(ValueKind::Object, made_[i]);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  Object* Add(Object* object) { return made_[count_++] = object; }

 private:
  Object* made_[kMostMade];
  uint32_t count_ = 0;
};

}  // namespace

void MarkEager(Program& program) {
  for (SiteCode& site : program.sites) {
    bool delays = false;
    site.ahead = site.type == SiteType::Delay && site.callee && site.callee->direct != kNone && !site.late_operands &&
                 !site.needs_outer && site.callee->num_slots <= kMostSlots &&
                 CanTry(program.direct, site.callee->plain, &delays);
    site.eager = site.ahead && !delays;
  }
}

namespace {

// The slots of an attempt, with borrowed values. As in a frame, nobody looks at the state of a plain one.
struct Slots {
  uint64_t bits[kMostSlots];
  uint8_t states[kMostSlots];
};

// Puts the captured values where the body expects them. The operands are those of a Delay in direct code.
void Capture(const Program& program, const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k,
             Slots& to) {
  for (const Delivery& d : site.together) {
    uint32_t operand = *operands++;
    if (d.to == kNone) continue;
    if (operand & kConstant) {
      const Value& constant = program.constants[operand & ~kConstant];
      to.bits[d.to] = BitsOf(constant);
      to.states[d.to] = StateOf(constant);
      continue;
    }
    to.bits[d.to] = s[operand & kOperandIndex];
    to.states[d.to] = operand & kPlainOperand ? kWord : kPresent | (k[operand & kOperandIndex] & 7);
  }
}
void Capture(const DelayCell& cell, Slots& to) {
  const Value* operand = cell.operands();
  for (const Delivery& d : cell.site->together) {
    if (d.to != kNone) {
      to.bits[d.to] = BitsOf(*operand);
      to.states[d.to] = StateOf(*operand);
    }
    ++operand;
  }
}

// The tag of a body that is attempted, which has a node once a cell needs it.
class Path {
 public:
  Path(const SiteCode& site, TagNode* outer) : site_(site), outer_(outer) {}
  Path(const SiteCode& site, Path* around) : site_(site), around_(around) {}
  ~Path() { DropTag(own_); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  TagNode* Tag() {
    if (!own_) own_ = NewTag({site_.label, false, 0}, around_ ? around_->Tag() : outer_);
    return own_;
  }

 private:
  const SiteCode& site_;
  TagNode* outer_ = nullptr;  // of its Delay
  Path* around_ = nullptr;    // or the body in which that stands
  TagNode* own_ = nullptr;
};

}  // namespace

// What an attempt may do beyond its own body.
struct Ahead {
  Worker& worker;
  const SiteCode* chain;  // the delayed call that was forced
  uint32_t level;         // DelayCell::ahead of its cell
  uint32_t* fuel;         // bodies that may still be run though nobody has asked for them
  uint32_t depth;         // attempts within attempts that may still be made

  [[gnu::noinline]] bool Fill(DelayCell* cell, bool demanded);
  // The value or the cell of a Delay, as a state; with a count.
  [[gnu::noinline]] uint8_t Delay(const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k, Path& path, uint64_t* bits);
};

namespace {

// The steps of an attempt that are more than a few instructions.

[[gnu::noinline]] bool LookAtTwoFields(const DirectInstr* ip, uint64_t* s, uint8_t* k) {
  constexpr uint32_t kSlot = kMostSlots - 1;
  uint32_t a = ip->a & kSlot, d = ip->d & kSlot, b = ip->b & kSlot;
  if (k[a] != kObject || DataAt(s[a])->constructor != ip->x) return false;
  const Value* x = HeldBy(DataAt(s[a])->fields() + (ip->y >> 16));
  const Value* y = HeldBy(DataAt(s[a])->fields() + (ip->y & 0xffff));
  if (x->is_error() || y->is_error()) return false;
  if ((ip->d & kFieldPlain && !x->is_word()) || (ip->b & kFieldPlain && !y->is_word())) return false;
  s[d] = BitsOf(*x);
  k[d] = StateOf(*x);
  s[b] = BitsOf(*y);
  k[b] = StateOf(*y);
  return true;
}

[[gnu::noinline]] bool LookAtFields(const DirectInstr* ip, const uint32_t* entry, uint64_t* s, uint8_t* k) {
  uint32_t a = ip->a & (kMostSlots - 1);
  if (k[a] != kObject || DataAt(s[a])->constructor != ip->y) return false;
  const Value* fields = DataAt(s[a])->fields();
  for (const uint32_t* end = entry + ip->b; entry != end; ++entry) {
    const Value* field = HeldBy(fields + (*entry >> 16));
    if (*entry & kFieldPlain ? !field->is_word() : field->is_error()) return false;
    uint32_t d = *entry & (kFieldPlain - 1);
    s[d] = BitsOf(*field);
    k[d] = StateOf(*field);
  }
  return true;
}

// The value of a reference, in its place. False if it is not there.
[[gnu::noinline]] bool Demand(uint64_t* bits, uint8_t* state, Ahead* ahead, bool demanded) {
  Resolve(*bits, *state);
  if (*state != kReference) return true;
  if (!ahead || ObjectAt(*bits)->kind != ObjectKind::Delay || !ahead->Fill(CellAt(*bits), demanded)) return false;
  Resolve(*bits, *state);
  return true;
}

[[gnu::noinline]] Data* Construct(const Program& program, const DirectInstr* ip, const uint32_t* list, const uint64_t* s,
                                  const uint8_t* k, Made& made) {
  Data* data = Data::NewRaw(ip->y, ip->b);
  Value* to = data->fields();
  for (const uint32_t* end = list + ip->b; list != end; ++list, ++to) MakeOperand(program.constants, s, k, Kept(*list), to);
  made.Add(data);
  return data;
}

// Runs the body of a delayed call whose captured values are in their slots. False if it cannot be done now. Without `ahead` it
// makes no delayed calls, and forces nothing. `demanded`: somebody waits for it.
bool Attempt(const Program& program, const SiteCode& site, Slots& slots, Path* path, Ahead* ahead, bool demanded, Value* result) {
  const DirectInstr* const code = program.direct.code.data();
  const uint32_t* const lists = program.direct.operands.data();
  uint64_t* const s = slots.bits;
  uint8_t* const k = slots.states;
  Made made;
  const DirectInstr* ip = code + site.callee->plain;
  // A slot of an instruction, without the mark of its last use.
  auto slot = [](uint16_t operand) { return operand & (kMostSlots - 1); };
  for (;;) {
    switch (ip->op) {
#define DF_FORM(form, type, condition, expression, left, right)    \
  case Direct::form: {                                             \
    [[maybe_unused]] type x = std::bit_cast<type>(left), y = std::bit_cast<type>(right); \
    if (!(condition)) return false;                                \
    s[ip->d] = std::bit_cast<uint64_t>(expression);                \
    break;                                                         \
  }
#define DF_DIRECT_BINARY(name, type, condition, expression)             \
  DF_FORM(name##RR, type, condition, expression, s[ip->a], s[ip->b])    \
  DF_FORM(name##RK, type, condition, expression, s[ip->a], ip->imm)     \
  DF_FORM(name##KR, type, condition, expression, ip->imm, s[ip->a])
#define DF_BRANCH_FORM(form, expression, right)                                            \
  case Direct::form: {                                                                     \
    int64_t x = static_cast<int64_t>(s[ip->a]), y = static_cast<int64_t>(right);           \
    ip = code + ((expression) ? ip->x : ip->y);                                            \
    continue;                                                                              \
  }
#define DF_DIRECT_COMPARE(name, expression)                         \
  DF_DIRECT_BINARY(name, int64_t, true, int64_t{expression})        \
  DF_BRANCH_FORM(Branch##name##RR, expression, s[ip->b])             \
  DF_BRANCH_FORM(Branch##name##RK, expression, static_cast<int16_t>(ip->b))
#define DF_DIRECT_UNARY(name, type, condition, expression) DF_FORM(name, type, condition, expression, s[ip->a], uint64_t{0})
// An Integer is an open operand; the result of a comparison is plain.
#define DF_INTEGER_FORM(form, failed, result, open, left, left_state, right, right_state)   \
  case Direct::form: {                                                                      \
    if ((left_state) != kWord || (right_state) != kWord) return false;                      \
    auto x = static_cast<int64_t>(left), y = static_cast<int64_t>(right);                   \
    [[maybe_unused]] int64_t z = 0;                                                         \
    if (failed) return false;                                                               \
    s[ip->d] = static_cast<uint64_t>(result);                                               \
    if (open) k[ip->d] = kWord;                                                             \
    break;                                                                                  \
  }
#define DF_INTEGER_FORMS(name, failed, result, open)                                                                      \
  DF_INTEGER_FORM(name##ZRR, failed, result, open, s[slot(ip->a)], k[slot(ip->a)], s[slot(ip->b)], k[slot(ip->b)])        \
  DF_INTEGER_FORM(name##ZRK, failed, result, open, s[slot(ip->a)], k[slot(ip->a)], ip->imm, kWord)                        \
  DF_INTEGER_FORM(name##ZKR, failed, result, open, ip->imm, kWord, s[slot(ip->a)], k[slot(ip->a)])
#define DF_DIRECT_INTEGER(name, expression) DF_INTEGER_FORMS(name, expression, z, true)
#define DF_INTEGER_BRANCH_FORM(form, expression, right, right_state)                        \
  case Direct::form: {                                                                      \
    if (k[ip->a] != kWord || (right_state) != kWord) return false;                          \
    auto x = static_cast<int64_t>(s[ip->a]), y = static_cast<int64_t>(right);               \
    ip = code + ((expression) ? ip->x : ip->y);                                             \
    continue;                                                                               \
  }
#define DF_DIRECT_INTEGER_COMPARE(name, expression)                               \
  DF_INTEGER_FORMS(name, false, expression, false)                                \
  DF_INTEGER_BRANCH_FORM(Branch##name##ZRR, expression, s[ip->b], k[ip->b])       \
  DF_INTEGER_BRANCH_FORM(Branch##name##ZRK, expression, static_cast<int16_t>(ip->b), kWord)
#define DF_DIRECT(name, operands)
#include "runtime/tagged_direct_ops.def"
      case Direct::Load: s[ip->d] = static_cast<uint64_t>(ip->imm); break;
      case Direct::Nullary:
        s[ip->d] = static_cast<uint64_t>(ip->imm);
        k[ip->d] = kWord;
        break;
      case Direct::LoadOpen:
        s[ip->d] = BitsOf(program.constants[ip->x]);
        k[ip->d] = StateOf(program.constants[ip->x]);
        break;
      case Direct::Widen:
        s[ip->d] = s[ip->a];
        k[ip->d] = kWord;
        break;
      case Direct::MoveOpen:
        s[ip->d] = s[slot(ip->a)];
        k[ip->d] = k[slot(ip->a)];
        break;
      case Direct::Narrow:
        if (k[slot(ip->a)] != kWord) return false;
        s[ip->d] = s[slot(ip->a)];
        break;
      case Direct::Drop:
      case Direct::Count: break;
      case Direct::Match: s[ip->d] = ConstructorAt(s[slot(ip->a)], k[slot(ip->a)]); break;
      case Direct::Field:
      case Direct::FieldPlain: {
        uint32_t a = slot(ip->a);
        if (k[a] != kObject || DataAt(s[a])->constructor != ip->x) return false;
        const Value* field = HeldBy(&DataAt(s[a])->fields()[ip->b]);
        if (ip->op == Direct::FieldPlain ? !field->is_word() : field->is_error()) return false;
        s[ip->d] = BitsOf(*field);
        k[ip->d] = StateOf(*field);
        break;
      }
      case Direct::TwoFields:
        if (!LookAtTwoFields(ip, s, k)) return false;
        break;
      case Direct::Fields:
        if (!LookAtFields(ip, lists + ip->x, s, k)) return false;
        break;
      case Direct::Force:
      case Direct::ForcePlain: {
        uint32_t a = slot(ip->a);
        if (k[a] == kReference && !Demand(s + a, k + a, ahead, demanded)) return false;
        if (k[a] != kWord && (k[a] != kObject || ip->op == Direct::ForcePlain)) return false;
        s[ip->d] = s[a];
        k[ip->d] = k[a];
        break;
      }
      case Direct::Construct:
        s[ip->d] = reinterpret_cast<uint64_t>(Construct(program, ip, lists + ip->x, s, k, made));
        k[ip->d] = kObject;
        break;
      case Direct::Delay:
        if (!ahead) return false;
        k[ip->d] = ahead->Delay(program.sites[ip->y], lists + ip->x, s, k, *path, s + ip->d);
        if (k[ip->d] != kWord) made.Add(ObjectAt(s[ip->d]));
        break;
      case Direct::Branch: ip = code + (s[ip->a] ? ip->x : ip->y); continue;
      case Direct::BranchMatch: ip = code + (ConstructorAt(s[ip->a], k[ip->a]) == 0 ? ip->x : ip->y); continue;
      case Direct::Choose:
      case Direct::ChooseMatch: {
        uint64_t which = ip->op == Direct::Choose ? s[ip->a] : ConstructorAt(s[ip->a], k[ip->a]);
        if (which >= ip->b) return false;
        ip = code + lists[ip->x + which];
        continue;
      }
      case Direct::Jump: ip = code + ip->x; continue;
      case Direct::Return: *result = Value::Word(static_cast<int64_t>(s[ip->a])); return true;
      case Direct::ReturnConstant: *result = Value::Word(static_cast<int16_t>(ip->d)); return true;
      case Direct::ReturnOpen: {
        uint64_t bits = s[ip->a];
        uint8_t state = k[ip->a];
        Resolve(bits, state);
        if (state == (kPresent | static_cast<uint8_t>(ValueKind::Error))) return false;
        *result = Held(bits, state);
        return true;
      }
      default: return false;
    }
    ++ip;
  }
}

}  // namespace

bool RunEager(const Program& program, const SiteCode& site, const uint32_t* operands, const uint64_t* slots,
              const uint8_t* states, Value* result) {
  Slots own;
  Capture(program, site, operands, slots, states, own);
  return Attempt(program, site, own, nullptr, nullptr, false, result);
}

bool FillIfReady(const Program& program, DelayCell& cell, DeadObjects& dead) {
  if (cell.state != DelayCell::State::Kept || !cell.site->eager || !cell.starts_direct) return false;
  Slots own;
  Capture(cell, own);
  Value result;
  if (!Attempt(program, *cell.site, own, nullptr, nullptr, false, &result)) return false;
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
  if (!depth || cell->state != DelayCell::State::Kept || !cell->starts_direct || !site.ahead || cell == worker.goal_)
    return false;
  if (!demanded) {
    if (!*fuel) return false;
    --*fuel;
  }
  if (!site.forced.Take()) return false;
  uint32_t own_fuel = 1u << cell->few_fields;
  Ahead inner{worker, &site, cell->few_fields, demanded ? &own_fuel : fuel, depth - 1};
  Slots slots;
  Capture(*cell, slots);
  Value result, held = Value::Retain(ValueKind::Reference, cell);
  {
    // A body that needs its own value finds that it is not there.
    struct Running {
      DelayCell& cell;
      explicit Running(DelayCell& c) : cell(c) { cell.state = DelayCell::State::Running; }
      ~Running() { cell.state = DelayCell::State::Kept; }
    } running(*cell);
    Path path(site, cell->tag);
    bool done = Attempt(worker.program_, site, slots, &path, &inner, demanded, &result);
    site.forced.Tell(done);
    if (!done) return false;
  }
  worker.CountFilled(cell);
  DropTag(cell->tag);
  cell->body = nullptr;
  Value first = std::exchange(cell->value(), std::move(result));
  cell->state = DelayCell::State::Full;
  for (uint32_t i = 1; i < cell->num_operands(); ++i) cell->operands()[i] = Value();
  return true;
}

uint8_t Ahead::Delay(const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k, Path& path,
                     uint64_t* bits) {
  if (site.ahead && depth && (site.eager || *fuel) && site.unasked.Take()) {
    if (!site.eager) --*fuel;
    Slots slots;
    Capture(worker.program_, site, operands, s, k, slots);
    Path own(site, &path);
    Value result;
    --depth;
    bool done = Attempt(worker.program_, site, slots, &own, this, false, &result);
    ++depth;
    site.unasked.Tell(done);
    if (done) {
      *bits = BitsOf(result);
      uint8_t state = StateOf(result);
      if (state != kWord) result.Take();
      return state;
    }
  }
  DelayCell* cell = worker.NewDirectCell(path.Tag(), &site);
  Value* to = cell->operands();
  for (uint32_t i = 0; i < cell->num_operands(); ++i) MakeOperand(worker.program_.constants, s, k, Kept(operands[i]), to + i);
  if (&site == chain) cell->few_fields = static_cast<uint8_t>(*fuel ? level : std::min(level + 1, kMostAhead));
  *bits = reinterpret_cast<uint64_t>(static_cast<Object*>(cell));
  return kReference;
}

bool Worker::RunAhead(DelayCell* cell) {
  uint32_t fuel = 0;
  return Ahead{*this, cell->site, 0, &fuel, kMostDepth}.Fill(cell, true);
}

}  // namespace df::tagged
