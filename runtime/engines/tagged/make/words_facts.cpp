#include "runtime/engines/tagged/make/words_facts.h"

namespace df::tagged {

DirectInstr OnWords(const Program& p, uint32_t pc) {
  DirectInstr in = p.direct.code[pc];
  // The word of a constant, or the instruction stays what word code does not have.
  auto constant = [&](Direct op) {
    const Value& value = p.constants[in.x];
    if (!value.is_word()) return;
    in.op = op;
    in.imm = value.word();
  };
  auto unary = [&](Direct op) {
    in.op = op;
    in.a &= static_cast<uint16_t>(~kLastUse);
  };
  auto binary = [&](Direct op) {
    unary(op);
    in.b &= static_cast<uint16_t>(~kLastUse);
  };
  switch (in.op) {
#define DF_DIRECT_BINARY(name, type, condition, expression)
#define DF_DIRECT_COMPARE(name, expression)
#define DF_DIRECT_UNARY(name, type, condition, expression)
#define DF_DIRECT_INTEGER(name, expression)                   \
  case Direct::name##ZRR: binary(Direct::name##ZRR); break; \
  case Direct::name##ZRK: unary(Direct::name##ZRK); break;  \
  case Direct::name##ZKR: unary(Direct::name##ZKR); break;
#define DF_DIRECT_INTEGER_COMPARE(name, expression)                    \
  case Direct::name##ZRR: binary(Direct::name##RR); break;           \
  case Direct::name##ZRK: unary(Direct::name##RK); break;            \
  case Direct::name##ZKR: unary(Direct::name##KR); break;            \
  case Direct::Branch##name##ZRR: in.op = Direct::Branch##name##RR; break; \
  case Direct::Branch##name##ZRK: in.op = Direct::Branch##name##RK; break;
#define DF_DIRECT(name, operands)
#include "runtime/engines/tagged/code/direct_ops.def"
    case Direct::MoveOpen:
    case Direct::Widen:
    case Direct::Narrow: unary(Direct::Move); break;
    case Direct::LoadOpen: constant(Direct::Load); break;
    case Direct::ArgOpen:
    case Direct::ArgWiden: unary(Direct::Arg); break;
    case Direct::ArgOpenConstant: constant(Direct::ArgConstant); break;
    case Direct::GotOpen: in.op = Direct::Got; break;
    case Direct::ReturnOpen: unary(Direct::Return); break;
    default: break;
  }
  return in;
}

bool MayOverflow(Direct op) {
  switch (op) {
#define DF_DIRECT_BINARY(name, type, condition, expression)
#define DF_DIRECT_COMPARE(name, expression)
#define DF_DIRECT_UNARY(name, type, condition, expression)
#define DF_DIRECT_INTEGER(name, expression) case Direct::name##ZRR: case Direct::name##ZRK: case Direct::name##ZKR: return true;
#define DF_DIRECT_INTEGER_COMPARE(name, expression)
#define DF_DIRECT(name, operands)
#include "runtime/engines/tagged/code/direct_ops.def"
    default: return false;
  }
}

WordKind KindOf(Direct op) {
  switch (op) {
#define DF_DIRECT_BINARY(name, type, condition, expression) \
  case Direct::name##RR: return WordKind::Binary;               \
  case Direct::name##RK: case Direct::name##KR: return WordKind::Constant;
#define DF_DIRECT_COMPARE(name, expression)                            \
  case Direct::name##RR: return WordKind::Binary;                          \
  case Direct::name##RK: case Direct::name##KR: return WordKind::Constant; \
  case Direct::Branch##name##RR: return WordKind::Branch2;                 \
  case Direct::Branch##name##RK: return WordKind::Branch1;
#define DF_DIRECT_UNARY(name, type, condition, expression) case Direct::name: return WordKind::Unary;
#define DF_DIRECT_INTEGER(name, expression)     \
  case Direct::name##ZRR: return WordKind::Binary; \
  case Direct::name##ZRK: case Direct::name##ZKR: return WordKind::Constant;
#define DF_DIRECT_INTEGER_COMPARE(name, expression)
#define DF_DIRECT(name, operands)
#include "runtime/engines/tagged/code/direct_ops.def"
    case Direct::Drop: return WordKind::Skip;
    case Direct::Load: return WordKind::Load;
    case Direct::Branch: return WordKind::Branch;
    case Direct::Jump: return WordKind::Jump;
    case Direct::Count: return WordKind::Count;
    case Direct::CountCall: return WordKind::CountCall;
    case Direct::Call: return WordKind::Call;
    case Direct::CallWord: return WordKind::CallWord;
    case Direct::Arg: return WordKind::Arg;
    case Direct::ArgConstant: return WordKind::ArgConstant;
    case Direct::Enter: return WordKind::Enter;
    case Direct::Got: return WordKind::Got;
    case Direct::Next: return WordKind::Next;
    case Direct::Return: return WordKind::Return;
    case Direct::ReturnConstant: return WordKind::ReturnConstant;
    default: return WordKind::None;
  }
}

bool CanLeave(Direct op) {
  if (MayOverflow(op)) return true;
  switch (op) {
    case Direct::QuotRR: case Direct::QuotRK: case Direct::QuotKR:
    case Direct::RemRR: case Direct::RemRK: case Direct::RemKR:
    case Direct::DivRR: case Direct::DivRK: case Direct::DivKR:
    case Direct::ModRR: case Direct::ModRK: case Direct::ModKR: return true;
    default: break;
  }
  switch (KindOf(op)) {
    case WordKind::Binary: case WordKind::Constant: case WordKind::Unary: case WordKind::Load: case WordKind::Count: case WordKind::CountCall:
    case WordKind::Skip: return false;
    default: return op != Direct::MoveTwo && op != Direct::MoveTwoZero && op != Direct::MoveJump && op != Direct::LoadJump;
  }
}

CallOfWords ReadCall(const Program& p, uint32_t pc) {
  DirectInstr in = OnWords(p, pc);
  CallOfWords call;
  call.site_index = in.x;
  call.site = &p.sites[in.x];
  if (in.op == Direct::CallWord) {
    call.arguments.push_back({in.b, false, in.a, 0});
    call.got = pc + 1;
    return call;
  }
  while ((in = OnWords(p, ++pc)).op != Direct::Enter) {
    if (in.op == Direct::Arg) call.arguments.push_back({in.d, false, in.a, 0});
    else if (in.op == Direct::ArgConstant) call.arguments.push_back({in.d, true, 0, in.imm});
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
void ForEachRead(const Program& p, const DirectInstr& in, Visit visit) {
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
        if (uint32_t from = p.direct.operands[in.x + 2 * i]; !(from & kConstant)) visit(from & kOperandIndex);
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
  for (uint32_t slot : p.direct.parameters[scope.id.index]) origins[slot].kind = Origin::Other;
  if (scope.iteration_slot != kNone) {
    slots.changed[scope.iteration_slot] = true;
    origins[scope.iteration_slot].kind = Origin::Other;
  }
  for (uint32_t pc = scope.plain; pc < scope.plain_end; ++pc) {
    DirectInstr in = OnWords(p, pc);
    switch (KindOf(in.op)) {
      case WordKind::Unary:
        if (in.op == Direct::Move) origins[in.d].Add(Origin::Copy, in.a);
        else origins[in.d].kind = Origin::Other;
        break;
      case WordKind::Load: origins[in.d].Add(Origin::Constant, in.imm); break;
      case WordKind::Binary:
      case WordKind::Constant:
      case WordKind::Got: origins[in.d].kind = Origin::Other; break;
      case WordKind::Next:
        for (uint32_t i = 0; i < in.b; ++i) slots.changed[p.direct.operands[in.x + 2 * i + 1] & kOperandIndex] = true;
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
    DirectInstr in = OnWords(p, pc);
    if (in.op == Direct::Move && slots.source[in.d] == slots.source[in.a]) continue;
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
