// Ops in scheduled code that have no instruction of their own: by their kernels.
#include "llvm/ADT/ScopeExit.h"
#include "runtime/base/memory.h"
#include "runtime/base/unicode.h"
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/scheduled_interpreter.h"
#include "runtime/value/integer.h"
#include "runtime/value/store.h"
#include "runtime/value/text.h"

namespace df::tagged {
namespace {

// Applies an op to operands of which `taken` says which were taken out of their slots. False if it fails; where it does, or there is no
// memory for the result, these are the slots' again. There are no operands left in any case.
template <typename Taken>
bool ApplyTaken(ir::Op op, const KernelTypes& types, uint32_t attr, std::vector<Value>& operands, Taken taken, Value* value) {
  auto give_back = llvm::make_scope_exit([&] {
    for (uint32_t i = 0; i < operands.size(); ++i)
      if (taken(i) && operands[i].counted()) operands[i].Take();
    operands.clear();
  });
  KernelError error;
  bool failed = false;
  *value = ApplyTyped(op, types, attr, operands, &error, &failed, memory::Available());
  if (failed || value->is_error()) return false;
  give_back.release();
  operands.clear();
  return true;
}

// A value that a slot holds, or a constant, for as long as nobody changes it.
class Borrowed {
 public:
  Borrowed(uint64_t bits, uint8_t state) : value_(Value::Adopt(static_cast<ValueKind>(state & 7), ObjectAt(bits))) {}
  ~Borrowed() { if (value_.counted()) value_.Take(); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  const Value& operator*() const { return value_; }

 private:
  Value value_;
};

// Of Integers: ops that cannot fail, and are what most of them are.
bool IsRing(ir::Op op) { return op == ir::Op::Add || op == ir::Op::Sub || op == ir::Op::Mul; }
Value ApplyRing(ir::Op op, const Value& x, const Value& y) {
  uint64_t most = memory::Available();
  return op == ir::Op::Add ? integer::Add(x, y, most) : op == ir::Op::Sub ? integer::Sub(x, y, most) : integer::Mul(x, y, most);
}

// The order of two texts, which is asked for at each step through a map with texts for keys; false if one of them has failed.
bool CompareTexts(const Value& s, const Value& t, Value* order) {
  auto is_text = [](const Value& v) { return v.kind() == ValueKind::Object && v.object()->kind == ObjectKind::Text; };
  if (!is_text(s) || !is_text(t)) return false;
  const int result = static_cast<const TextObject*>(s.object())->text().compare(static_cast<const TextObject*>(t.object())->text());
  *order = Value::Word((result > 0) - (result < 0));
  return true;
}

}  // namespace

bool ReadScheduled(const ScheduledInstr& in, const std::vector<Value>& constants, uint64_t* s, const uint8_t* k) {
  const uint64_t bits = s[in.a];
  const auto op = static_cast<ir::Op>((in.x - 1) & 0xff);
  switch (op) {
    case ir::Op::CharClass: s[in.d] = unicode::GeneralCategory(static_cast<uint32_t>(bits)); return true;
    case ir::Op::ToUpper: s[in.d] = unicode::ToUpper(static_cast<uint32_t>(bits)); return true;
    case ir::Op::ToLower: s[in.d] = unicode::ToLower(static_cast<uint32_t>(bits)); return true;
    default: break;
  }
  if (op == ir::Op::ReadFrozen) {
    const uint64_t at = IsConstant(in.y) ? static_cast<uint64_t>(constants[in.y & ~kConstant].word()) : s[in.y];
    return k[in.a] == kObject && ReadStoreWord(ObjectAt(bits), (in.x - 1) >> 8, at, &s[in.d]);
  }
  if (k[in.a] != kObject || ObjectAt(bits)->kind != ObjectKind::Text) return false;
  const std::string_view text = static_cast<const TextObject*>(ObjectAt(bits))->text();
  if (op == ir::Op::TextSize) {
    s[in.d] = text.size();
    return true;
  }
  const int64_t offset = IsConstant(in.y) ? constants[in.y & ~kConstant].word() : static_cast<int64_t>(s[in.y]);
  if (op == ir::Op::TextStart) {
    s[in.d] = static_cast<uint64_t>(text::StartOf(text, offset));
    return true;
  }
  const std::optional<uint32_t> c = text::CharAt(text, offset);
  if (c) s[in.d] = *c;
  return c.has_value();  // else the kernel is to say why
}

bool ApplyOnWords(const ScheduledInstr& in, const uint32_t* list, const std::vector<Value>& constants, uint64_t* s, uint8_t* k) {
  const uint32_t array = list[1] & kOperandIndex;
  if (k[array] != kObject) return false;
  auto word = [&](uint32_t operand) {
    return operand & kConstant ? static_cast<uint64_t>(constants[operand & ~kConstant].word()) : s[operand & kOperandIndex];
  };
  const uint32_t attr = (in.y & ~kChangesWord) - 1;
  uint64_t result = 0;  // the token
  if (!(in.y & kChangesWord ? WriteStoreWord(ObjectAt(s[array]), attr, word(list[2]), word(list[3]))
                            : ReadStoreWord(ObjectAt(s[array]), attr, word(list[2]), &result)))
    return false;
  if (list[1] & kLastOperand) ReleaseBits(s[array], k[array]);
  s[in.d] = result;
  k[in.d] = kWord;
  return true;
}

bool ApplyScheduled(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in, uint32_t pc) {
  const Instr& general = w.program.code[pc];
  ir::NodeId node = w.program.node_of[pc];
  const ir::Node& n = w.graph.nodes[node];
  uint32_t from[2] = {general.b, general.c};
  const std::vector<bool>& plain = w.program.scheduled.plain[n.scope.index];
  const KernelTypes& types = w.program.types[node.index];
  // A tensor that this op is the last to use is handed over, so that its buffer may be written to.
  bool tensors = types.operand == ir::TypeKind::Tensor;
  bool moved[2] = {tensors && in.a & kLastUse, tensors && in.b & kLastUse};
  auto borrow = [&](uint32_t operand) {
    if (!IsConstant(operand)) return Borrowed(s[operand], plain[operand] ? kWord : k[operand]);
    const Value& constant = w.constants[operand & ~kConstant];
    return Borrowed(BitsOf(constant), StateOf(constant));
  };
  Value value;
  if (types.operand == ir::TypeKind::Integer && IsRing(n.op)) {
    value = ApplyRing(n.op, *borrow(from[0]), *borrow(from[1]));
  } else if (n.op != ir::Op::TextCompare || !CompareTexts(*borrow(from[0]), *borrow(from[1]), &value)) {
    w.operands.clear();
    w.operands.reserve(n.num_inputs);  // before anything is taken out of its slot
    for (uint32_t i = 0; i < n.num_inputs; ++i) {
      uint32_t operand = from[i];
      if (!IsConstant(operand)) operand |= plain[operand] ? kPlainOperand : moved[i] ? kLastOperand : 0;
      w.operands.push_back(w.TakeOperand(s, k, operand));
    }
    if (!ApplyTaken(n.op, types, w.program.ops[pc].attr, w.operands, [&](uint32_t i) { return moved[i]; }, &value)) return false;
  }
  const uint16_t used[2] = {in.a, in.b};
  for (uint32_t i = 0; i < 2; ++i)
    if (used[i] & kLastUse && !moved[i]) ReleaseBits(s[used[i] & ~kLastUse], k[used[i] & ~kLastUse]);
  s[in.d] = BitsOf(value);
  if (in.op == Scheduled::ApplyOpen) {
    k[in.d] = StateOf(value);
    if (value.counted()) value.Take();
  }
  return true;
}

bool ApplyMany(Worker& w, uint64_t* s, uint8_t* k, const ScheduledInstr& in, uint32_t pc) {
  const uint32_t* list = w.program.scheduled.operands.data() + in.x;
  const OpCode& op = w.program.ops[pc];
  w.operands.clear();
  w.operands.reserve(in.b);  // before anything is taken out of its slot
  for (uint32_t i = 0; i < in.b; ++i) w.operands.push_back(w.TakeOperand(s, k, list[i]));
  auto taken = [&](uint32_t i) { return !(list[i] & kConstant) && list[i] & kLastOperand; };
  Value value;
  if (!ApplyTaken(op.op, op.types, op.attr, w.operands, taken, &value)) return false;
  s[in.d] = BitsOf(value);
  k[in.d] = StateOf(value);
  if (value.counted()) value.Take();
  return true;
}

}  // namespace df::tagged
