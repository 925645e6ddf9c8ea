#include "runtime/tagged_words_facts.h"

namespace df::tagged {

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
#define DF_DIRECT_INTEGER(name, expression)
#define DF_DIRECT_INTEGER_COMPARE(name, expression)
#define DF_DIRECT(name, operands)
#include "runtime/tagged_direct_ops.def"
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
  switch (op) {
    case Direct::QuotRR: case Direct::QuotRK: case Direct::QuotKR:
    case Direct::RemRR: case Direct::RemRK: case Direct::RemKR:
    case Direct::DivRR: case Direct::DivRK: case Direct::DivKR:
    case Direct::ModRR: case Direct::ModRK: case Direct::ModKR: return true;
    default: break;
  }
  switch (KindOf(op)) {
    case WordKind::Binary: case WordKind::Constant: case WordKind::Unary: case WordKind::Load: case WordKind::Count: case WordKind::CountCall: return false;
    default: return op != Direct::MoveTwo && op != Direct::MoveJump && op != Direct::LoadJump;
  }
}

CallOfWords ReadCall(const Program& p, uint32_t pc) {
  const std::vector<DirectInstr>& code = p.direct.code;
  CallOfWords call;
  call.site_index = code[pc].x;
  call.site = &p.sites[code[pc].x];
  if (code[pc].op == Direct::CallWord) {
    call.arguments.push_back({code[pc].b, false, code[pc].a, 0});
    call.got = pc + 1;
    return call;
  }
  for (++pc; code[pc].op != Direct::Enter; ++pc) {
    if (code[pc].op == Direct::Arg) call.arguments.push_back({code[pc].d, false, code[pc].a, 0});
    else if (code[pc].op == Direct::ArgConstant) call.arguments.push_back({code[pc].d, true, 0, code[pc].imm});
    else call.counts.push_back(code[pc]);
  }
  call.got = pc + 1;
  return call;
}

bool IsLeaf(const Program& p, const ScopeCode& scope) {
  for (uint32_t pc = scope.plain; pc < scope.plain_end; ++pc)
    if (WordKind kind = KindOf(p.direct.code[pc].op); kind == WordKind::Call || kind == WordKind::CallWord || kind == WordKind::Next) return false;
  return true;
}

std::vector<bool> Changed(const Program& p, const ScopeCode& scope) {
  std::vector<bool> changed(scope.num_slots, false);
  if (scope.iteration_slot != kNone) changed[scope.iteration_slot] = true;
  for (uint32_t pc = scope.plain; pc < scope.plain_end; ++pc) {
    const DirectInstr& in = p.direct.code[pc];
    if (in.op == Direct::Next)
      for (uint32_t i = 0; i < in.b; ++i) changed[p.direct.operands[in.x + 2 * i + 1] & kOperandIndex] = true;
  }
  return changed;
}

}  // namespace df::tagged
