// A delayed body is often a step of arithmetic, `max x y` of `zipWith max xs ys`, and by the time its Delay is reached what it
// forces is there. Then the body costs less than a cell that remembers it, and the values that it would keep alive go.
//
// Whether they are there is known only as the program runs. So the Delay tries: an interpreter of the body's direct code
// without a frame, on values that it borrows. What would make the body wait, fail or work for long ends the attempt, and a
// cell is made as if there had been none. So the body has no effect before its end but the constructors that it makes.
#include "runtime/tagged_eager.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "runtime/scalar.h"
#include "runtime/tagged_worker.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostSlots = 32;          // of a body's frame
constexpr uint32_t kMostInstructions = 32;   // of a body, all its sides together
constexpr uint32_t kMostMade = 4;            // constructors on one path

// What an instruction may do next: nothing that an attempt can be (None), the next one, or the targets in `to`.
enum class Step { None, Next, End, Both, Jump, Choose, Construct };

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
#define DF_DIRECT_INTEGER_COMPARE(name, expression) DF_DIRECT_INTEGER(name, expression)
#define DF_DIRECT(name, operands)
#include "runtime/tagged_direct_ops.def"
    case Direct::Load: case Direct::LoadOpen: case Direct::Nullary: case Direct::MoveOpen: case Direct::Widen:
    case Direct::Narrow: case Direct::Drop: case Direct::Match: case Direct::Field: case Direct::FieldPlain:
    case Direct::Force: case Direct::ForcePlain: case Direct::Count: return Step::Next;
    case Direct::Construct: return Step::Construct;
    case Direct::Branch: case Direct::BranchMatch: return Step::Both;
    case Direct::Choose: case Direct::ChooseMatch: return Step::Choose;
    case Direct::Jump: return Step::Jump;
    case Direct::Return: case Direct::ReturnConstant: case Direct::ReturnOpen: return Step::End;
    default: return Step::None;
  }
}

// Whether the code from `start` on is short, ends, and can be attempted.
bool CanTry(const DirectCode& direct, uint32_t start) {
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

// A value that somebody else holds.
struct Borrowed {
  uint64_t bits;
  ValueKind kind;

  Borrowed() = default;
  Borrowed(uint64_t b, ValueKind k) : bits(b), kind(k) {}
  explicit Borrowed(const Value& value) : bits(static_cast<uint64_t>(value.word())), kind(value.kind()) {}
  bool is_word() const { return kind == ValueKind::Word; }
  Data* data() const { return static_cast<Data*>(reinterpret_cast<Object*>(bits)); }
  uint32_t constructor() const { return is_word() ? static_cast<uint32_t>(bits) : data()->constructor; }
  Value Held() const {
    if (is_word()) return Value::Word(static_cast<int64_t>(bits));
    return Value::Retain(kind, reinterpret_cast<Object*>(bits));
  }
  // What a reference that has been evaluated stands for.
  void Resolve() {
    while (kind == ValueKind::Reference) {
      auto* object = reinterpret_cast<Object*>(bits);
      if (HostCellIn(object)) return;
      auto* cell = static_cast<const DelayCell*>(object);
      if (!cell->IsFull()) return;
      *this = Borrowed(cell->value());
    }
  }
  bool is_evaluated() const { return kind == ValueKind::Word || kind == ValueKind::Object; }
};

// Holds the constructors that an attempt has made, until its end.
class Made {
 public:
  Made() = default;
  ~Made() {
    for (uint32_t i = 0; i < count_; ++i) Value::Adopt(ValueKind::Object, data_[i]);
  }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  Data* Add(Data* data) { return data_[count_++] = data; }

 private:
  Data* data_[kMostMade];
  uint32_t count_ = 0;
};

}  // namespace

void MarkEager(Program& program) {
  for (SiteCode& site : program.sites)
    site.eager = site.type == SiteType::Delay && site.callee && site.callee->direct != kNone && !site.late_operands &&
                 site.callee->num_slots <= kMostSlots && CanTry(program.direct, site.callee->plain);
}

namespace {

// An operand of a list in direct code: a constant, or what `slot` gives for its slot.
template <typename Slot>
Borrowed Read(const Program& program, uint32_t operand, Slot slot) {
  if (operand & kConstant) return Borrowed(program.constants[operand & ~kConstant]);
  Borrowed value = slot(operand & kOperandIndex);
  if (operand & kPlainOperand) value.kind = ValueKind::Word;
  return value;
}

// `captured` gives the operands of the delayed call.
template <typename Captured>
std::optional<Value> Attempt(const Program& program, const SiteCode& site, Captured captured) {
  const DirectInstr* const code = program.direct.code.data();
  const uint32_t* const lists = program.direct.operands.data();
  Borrowed s[kMostSlots];
  Made made;
  for (uint32_t i = 0; i < site.together.size(); ++i)
    if (site.together[i].to != kNone) s[site.together[i].to] = captured(i);

  for (const DirectInstr* ip = code + site.callee->plain;;) {
    Borrowed& d = s[ip->d & (kMostSlots - 1)];
    const Borrowed& a = s[ip->a & (kMostSlots - 1)];
    const Borrowed& b = s[ip->b & (kMostSlots - 1)];
    const auto imm = static_cast<uint64_t>(ip->imm);
    switch (ip->op) {
#define DF_FORM(form, type, condition, expression, left, right)    \
  case Direct::form: {                                             \
    [[maybe_unused]] type x = std::bit_cast<type>(left), y = std::bit_cast<type>(right); \
    if (!(condition)) return {};                                   \
    d = {std::bit_cast<uint64_t>(expression), ValueKind::Word};                       \
    break;                                                         \
  }
#define DF_DIRECT_BINARY(name, type, condition, expression)             \
  DF_FORM(name##RR, type, condition, expression, a.bits, b.bits)        \
  DF_FORM(name##RK, type, condition, expression, a.bits, imm)           \
  DF_FORM(name##KR, type, condition, expression, imm, a.bits)
#define DF_BRANCH_FORM(form, expression, right)                                            \
  case Direct::form: {                                                                     \
    int64_t x = static_cast<int64_t>(a.bits), y = static_cast<int64_t>(right);             \
    ip = code + ((expression) ? ip->x : ip->y);                                            \
    continue;                                                                              \
  }
#define DF_DIRECT_COMPARE(name, expression)                         \
  DF_DIRECT_BINARY(name, int64_t, true, int64_t{expression})        \
  DF_BRANCH_FORM(Branch##name##RR, expression, b.bits)              \
  DF_BRANCH_FORM(Branch##name##RK, expression, static_cast<int16_t>(ip->b))
#define DF_DIRECT_UNARY(name, type, condition, expression) DF_FORM(name, type, condition, expression, a.bits, uint64_t{0})
#define DF_INTEGER_FORM(form, failed, result, left, right)                                  \
  case Direct::form: {                                                                      \
    if (!(left).is_word() || !(right).is_word()) return {};                                 \
    auto x = static_cast<int64_t>((left).bits), y = static_cast<int64_t>((right).bits);     \
    [[maybe_unused]] int64_t z = 0;                                                         \
    if (failed) return {};                                                                  \
    d = {static_cast<uint64_t>(result), ValueKind::Word};                                   \
    break;                                                                                  \
  }
#define DF_INTEGER_FORMS(name, failed, result)                                     \
  DF_INTEGER_FORM(name##ZRR, failed, result, a, b)                                 \
  DF_INTEGER_FORM(name##ZRK, failed, result, a, Borrowed(imm, ValueKind::Word))    \
  DF_INTEGER_FORM(name##ZKR, failed, result, Borrowed(imm, ValueKind::Word), a)
#define DF_DIRECT_INTEGER(name, expression) DF_INTEGER_FORMS(name, expression, z)
#define DF_DIRECT_INTEGER_COMPARE(name, expression) DF_INTEGER_FORMS(name, false, expression)
#define DF_DIRECT(name, operands)
#include "runtime/tagged_direct_ops.def"
      case Direct::Load:
      case Direct::Nullary: d = {imm, ValueKind::Word}; break;
      case Direct::LoadOpen: d = Borrowed(program.constants[ip->x]); break;
      case Direct::Widen: d = {a.bits, ValueKind::Word}; break;
      case Direct::MoveOpen: d = a; break;
      case Direct::Narrow:
        if (!a.is_word()) return {};
        d = a;
        break;
      case Direct::Drop:
      case Direct::Count: break;
      case Direct::Match: d = {a.constructor(), ValueKind::Word}; break;
      case Direct::Field:
      case Direct::FieldPlain: {
        if (a.kind != ValueKind::Object || a.data()->constructor != ip->x || ip->b >= a.data()->size()) return {};
        Borrowed field(a.data()->fields()[ip->b]);
        field.Resolve();
        if (field.kind == ValueKind::Error || (ip->op == Direct::FieldPlain && !field.is_word())) return {};
        d = field;
        break;
      }
      case Direct::Force:
      case Direct::ForcePlain: {
        Borrowed forced = a;
        forced.Resolve();
        if (!forced.is_evaluated() || (ip->op == Direct::ForcePlain && !forced.is_word())) return {};
        d = forced;
        break;
      }
      case Direct::Construct: {
        Data* data = made.Add(Data::New(ip->y, ip->b));
        for (uint32_t i = 0; i < ip->b; ++i)
          data->fields()[i] = Read(program, lists[ip->x + i], [&](uint32_t slot) { return s[slot]; }).Held();
        d = {reinterpret_cast<uint64_t>(static_cast<Object*>(data)), ValueKind::Object};
        break;
      }
      case Direct::Branch: ip = code + (a.bits ? ip->x : ip->y); continue;
      case Direct::BranchMatch: ip = code + (a.constructor() == 0 ? ip->x : ip->y); continue;
      case Direct::Choose:
      case Direct::ChooseMatch: {
        uint64_t which = ip->op == Direct::Choose ? a.bits : a.constructor();
        if (which >= ip->b) return {};
        ip = code + lists[ip->x + which];
        continue;
      }
      case Direct::Jump: ip = code + ip->x; continue;
      case Direct::Return: return Value::Word(static_cast<int64_t>(a.bits));
      case Direct::ReturnConstant: return Value::Word(static_cast<int16_t>(ip->d));
      case Direct::ReturnOpen: {
        Borrowed result = a;
        result.Resolve();
        if (result.kind == ValueKind::Error) return {};
        return result.Held();
      }
      default: return {};
    }
    ++ip;
  }
}

}  // namespace

std::optional<Value> RunEager(const Program& program, const SiteCode& site, const uint32_t* operands, const uint64_t* slots,
                              const uint8_t* states) {
  return Attempt(program, site, [&](uint32_t i) {
    return Read(program, operands[i],
                [&](uint32_t slot) { return Borrowed(slots[slot], static_cast<ValueKind>(states[slot] & 7)); });
  });
}

bool FillIfReady(const Program& program, DelayCell& cell, DeadObjects& dead) {
  if (cell.state != DelayCell::State::Kept || !cell.site->eager || !cell.starts_direct) return false;
  std::optional<Value> result = Attempt(program, *cell.site, [&](uint32_t i) { return Borrowed(cell.operands()[i]); });
  if (!result) return false;
  cell.DropChildren(dead);
  DropTag(cell.tag);
  cell.body = nullptr;
  cell.value() = std::move(*result);
  cell.Become(DelayCell::State::Full);
  return true;
}

}  // namespace df::tagged
