#include "runtime/engines/tagged/make/unboxed_facts.h"

namespace df::tagged {

ScheduledInstr OnWords(const Program& p, uint32_t pc) {
  ScheduledInstr in = p.scheduled.code[pc];
  // The word of a constant, or the instruction stays what unboxed code does not have.
  auto constant = [&](Scheduled op) {
    const Value& value = p.constants[in.x];
    if (!value.is_word()) return;
    in.op = op;
    in.imm = value.word();
  };
  auto unary = [&](Scheduled op) {
    in.op = op;
    in.a &= static_cast<uint16_t>(~kLastUse);
  };
  auto binary = [&](Scheduled op) {
    unary(op);
    in.b &= static_cast<uint16_t>(~kLastUse);
  };
  switch (in.op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)
#define DF_SCHEDULED_COMPARE(name, expression)
#define DF_SCHEDULED_UNARY(name, type, condition, expression)
#define DF_SCHEDULED_INTEGER(name, expression)                    \
  case Scheduled::name##ZRR: binary(Scheduled::name##ZRR); break; \
  case Scheduled::name##ZRK: unary(Scheduled::name##ZRK); break;  \
  case Scheduled::name##ZKR: unary(Scheduled::name##ZKR); break;
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)                           \
  case Scheduled::name##ZRR: binary(Scheduled::name##RR); break;                 \
  case Scheduled::name##ZRK: unary(Scheduled::name##RK); break;                  \
  case Scheduled::name##ZKR: unary(Scheduled::name##KR); break;                  \
  case Scheduled::Branch##name##ZRR: in.op = Scheduled::Branch##name##RR; break; \
  case Scheduled::Branch##name##ZRK: in.op = Scheduled::Branch##name##RK; break;
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    case Scheduled::MoveOpen:
    case Scheduled::Widen:
    case Scheduled::Narrow: unary(Scheduled::Move); break;
    case Scheduled::LoadOpen: constant(Scheduled::Load); break;
    case Scheduled::ArgOpen:
    case Scheduled::ArgWiden: unary(Scheduled::Arg); break;
    case Scheduled::ArgOpenConstant: constant(Scheduled::ArgConstant); break;
    case Scheduled::GotOpen: in.op = Scheduled::Got; break;
    case Scheduled::ReturnOpen: unary(Scheduled::Return); break;
    default: break;
  }
  return in;
}

bool MayOverflow(Scheduled op) {
  switch (op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)
#define DF_SCHEDULED_COMPARE(name, expression)
#define DF_SCHEDULED_UNARY(name, type, condition, expression)
#define DF_SCHEDULED_INTEGER(name, expression) case Scheduled::name##ZRR: case Scheduled::name##ZRK: case Scheduled::name##ZKR: return true;
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    default: return false;
  }
}

WordKind KindOf(Scheduled op) {
  switch (op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) \
  case Scheduled::name##RR: return WordKind::Binary;           \
  case Scheduled::name##RK: case Scheduled::name##KR: return WordKind::Constant;
#define DF_SCHEDULED_COMPARE(name, expression)                                   \
  case Scheduled::name##RR: return WordKind::Binary;                             \
  case Scheduled::name##RK: case Scheduled::name##KR: return WordKind::Constant; \
  case Scheduled::Branch##name##RR: return WordKind::Branch2;                    \
  case Scheduled::Branch##name##RK: return WordKind::Branch1;
#define DF_SCHEDULED_UNARY(name, type, condition, expression) case Scheduled::name: return WordKind::Unary;
#define DF_SCHEDULED_INTEGER(name, expression)        \
  case Scheduled::name##ZRR: return WordKind::Binary; \
  case Scheduled::name##ZRK: case Scheduled::name##ZKR: return WordKind::Constant;
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    case Scheduled::Drop: return WordKind::Skip;
    case Scheduled::Load: return WordKind::Load;
    case Scheduled::Branch: return WordKind::Branch;
    case Scheduled::Jump: return WordKind::Jump;
    case Scheduled::Count: return WordKind::Count;
    case Scheduled::CountCall: return WordKind::CountCall;
    case Scheduled::Call: return WordKind::Call;
    case Scheduled::CallWord: return WordKind::CallWord;
    case Scheduled::Arg: return WordKind::Arg;
    case Scheduled::ArgConstant: return WordKind::ArgConstant;
    case Scheduled::Enter: return WordKind::Enter;
    case Scheduled::Got: return WordKind::Got;
    case Scheduled::Next: return WordKind::Next;
    case Scheduled::Return: return WordKind::Return;
    case Scheduled::ReturnConstant: return WordKind::ReturnConstant;
    default: return WordKind::None;
  }
}

bool CanLeave(Scheduled op) {
  if (MayOverflow(op)) return true;
  switch (op) {
    case Scheduled::QuotRR: case Scheduled::QuotRK: case Scheduled::QuotKR:
    case Scheduled::RemRR: case Scheduled::RemRK: case Scheduled::RemKR:
    case Scheduled::DivRR: case Scheduled::DivRK: case Scheduled::DivKR:
    case Scheduled::ModRR: case Scheduled::ModRK: case Scheduled::ModKR: return true;
    default: break;
  }
  switch (KindOf(op)) {
    case WordKind::Binary: case WordKind::Constant: case WordKind::Unary: case WordKind::Load: case WordKind::Count: case WordKind::CountCall:
    case WordKind::Skip: return false;
    default: return op != Scheduled::MoveTwo && op != Scheduled::MoveTwoZero && op != Scheduled::MoveJump && op != Scheduled::LoadJump;
  }
}

CallOfWords ReadCall(const Program& p, uint32_t pc) {
  ScheduledInstr in = OnWords(p, pc);
  CallOfWords call;
  call.site_index = in.x;
  call.site = &p.sites[in.x];
  if (in.op == Scheduled::CallWord) {
    call.arguments.push_back({in.b, false, in.a, 0});
    call.got = pc + 1;
    return call;
  }
  while ((in = OnWords(p, ++pc)).op != Scheduled::Enter) {
    if (in.op == Scheduled::Arg) call.arguments.push_back({in.d, false, in.a, 0});
    else if (in.op == Scheduled::ArgConstant) call.arguments.push_back({in.d, true, 0, in.imm});
    else call.counts.push_back(in);
  }
  call.got = pc + 1;
  return call;
}

bool IsLeaf(const Program& p, const ScopeCode& scope) {
  for (uint32_t pc = scope.plain; pc < scope.plain_end; ++pc)
    if (WordKind kind = KindOf(OnWords(p, pc).op); kind == WordKind::Call || kind == WordKind::CallWord || kind == WordKind::Next) return false;
  return true;
}

namespace {

// How a slot gets its values.
struct Origin {
  enum Kind : uint8_t { Nothing, Copy, Constant, Other } kind = Nothing;
  int64_t from = 0;  // slot, or constant
  void Add(Kind also, int64_t value) {
    if (kind == Nothing) *this = {also, value};
    else if (kind != also || from != value) kind = Other;
  }
};

template <typename Visit>
void ForEachRead(const Program& p, const ScheduledInstr& in, Visit visit) {
  switch (KindOf(in.op)) {
    case WordKind::Binary:
    case WordKind::Branch2: visit(in.b); [[fallthrough]];
    case WordKind::Constant:
    case WordKind::Unary:
    case WordKind::Branch1:
    case WordKind::Branch:
    case WordKind::Arg:
    case WordKind::CallWord:
    case WordKind::Return: visit(in.a); return;
    case WordKind::Next:
      for (uint32_t i = 0; i < in.b; ++i)
        if (uint32_t from = p.scheduled.operands[in.x + 2 * i]; !(from & kConstant)) visit(from & kOperandIndex);
      return;
    default: return;
  }
}

}  // namespace

SlotsOnWords FindSlotsOnWords(const Program& p, const ScopeCode& scope, bool clean) {
  SlotsOnWords slots;
  slots.changed.assign(scope.num_slots, false);
  slots.stored.assign(scope.num_slots, false);
  std::vector<Origin> origins(scope.num_slots);
  for (uint32_t slot : p.scheduled.parameters[scope.id.index]) origins[slot].kind = Origin::Other;
  if (scope.iteration_slot != kNone) {
    slots.changed[scope.iteration_slot] = true;
    origins[scope.iteration_slot].kind = Origin::Other;
  }
  for (uint32_t pc = scope.plain; pc < scope.plain_end; ++pc) {
    ScheduledInstr in = OnWords(p, pc);
    switch (KindOf(in.op)) {
      case WordKind::Unary:
        if (in.op == Scheduled::Move) origins[in.d].Add(Origin::Copy, in.a);
        else origins[in.d].kind = Origin::Other;
        break;
      case WordKind::Load: origins[in.d].Add(Origin::Constant, in.imm); break;
      case WordKind::Binary:
      case WordKind::Constant:
      case WordKind::Got: origins[in.d].kind = Origin::Other; break;
      case WordKind::Next:
        for (uint32_t i = 0; i < in.b; ++i) slots.changed[p.scheduled.operands[in.x + 2 * i + 1] & kOperandIndex] = true;
        break;
      default: break;
    }
  }
  for (uint32_t slot = 0; slot < scope.num_slots && !clean; ++slot) {
    slots.source.push_back(static_cast<uint16_t>(slot));
    slots.stored[slot] = origins[slot].kind != Origin::Nothing;
  }
  if (!clean) return slots;
  for (uint32_t slot = 0; slot < scope.num_slots; ++slot) {
    uint32_t root = slot, steps = 0;
    while (origins[root].kind == Origin::Copy && ++steps < scope.num_slots) root = static_cast<uint32_t>(origins[root].from);
    slots.source.push_back(static_cast<uint16_t>(origins[root].kind == Origin::Copy ? slot : root));
  }
  std::vector<bool> read(scope.num_slots, false);
  for (uint32_t pc = scope.plain; pc < scope.plain_end; ++pc) {
    ScheduledInstr in = OnWords(p, pc);
    if (in.op == Scheduled::Move && slots.source[in.d] == slots.source[in.a]) continue;
    ForEachRead(p, in, [&](uint32_t slot) { read[slots.source[slot]] = true; });
  }
  for (uint32_t slot = 0; slot < scope.num_slots; ++slot) {
    uint16_t root = slots.source[slot];
    bool constant = origins[root].kind == Origin::Constant && !read[root];
    slots.stored[slot] = root == slot && !constant && origins[slot].kind != Origin::Nothing;
    if (constant) slots.constants.emplace_back(static_cast<uint16_t>(slot), origins[root].from);
  }
  for (auto [slot, value] : slots.constants) slots.source[slot] = slot;
  return slots;
}

}  // namespace df::tagged
