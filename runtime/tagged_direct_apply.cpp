// Ops in direct code that have no instruction of their own: by their kernels.
#include "runtime/memory.h"
#include "runtime/tagged_direct_data.h"
#include "runtime/tagged_engine.h"

namespace df::tagged {

// Any ordinary op, by its kernel. False if it fails; then its operands are still there.
bool Worker::ApplyDirect(uint64_t* s, uint8_t* k, const DirectInstr& in, uint32_t pc) {
  const Instr& general = program_.code[pc];
  ir::NodeId node = program_.node_of[pc];
  const ir::Node& n = graph_.nodes[node];
  uint32_t from[2] = {general.b, general.c};
  const std::vector<bool>& plain = program_.direct.plain[n.scope.index];
  const KernelTypes& types = program_.types[node.index];
  // A tensor that this op is the last to use is handed over, so that its buffer may be written to.
  bool tensors = types.operand == ir::TypeKind::Tensor;
  bool moved[2] = {tensors && in.a & kLastUse, tensors && in.b & kLastUse};
  operands_.clear();
  for (uint32_t i = 0; i < n.num_inputs; ++i) {
    uint32_t operand = from[i];
    if (!IsConstant(operand)) operand |= plain[operand] ? kPlainOperand : moved[i] ? kLastOperand : 0;
    operands_.push_back(TakeOperand(s, k, operand));
  }
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(n.op, types, n.attr, operands_, &error, &failed, memory::Available());
  failed |= value.is_error();
  for (uint32_t i = 0; i < n.num_inputs && failed; ++i)
    if (moved[i] && operands_[i].counted()) operands_[i].Take();  // it is the slot's again
  operands_.clear();
  if (failed) return false;
  const uint16_t used[2] = {in.a, in.b};
  for (uint32_t i = 0; i < 2; ++i)
    if (used[i] & kLastUse && !moved[i]) ReleaseBits(s[used[i] & ~kLastUse], k[used[i] & ~kLastUse]);
  s[in.d] = BitsOf(value);
  if (in.op == Direct::ApplyOpen) {
    k[in.d] = StateOf(value);
    if (value.counted()) value.Take();
  }
  return true;
}

// The same of an op with three operands or more.
bool Worker::ApplyMany(uint64_t* s, uint8_t* k, const DirectInstr& in, uint32_t pc) {
  const uint32_t* list = program_.direct.operands.data() + in.x;
  const OpCode& op = program_.ops[pc];
  operands_.clear();
  for (uint32_t i = 0; i < in.b; ++i) operands_.push_back(TakeOperand(s, k, list[i]));
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(op.op, op.types, op.attr, operands_, &error, &failed, memory::Available());
  failed |= value.is_error();
  for (uint32_t i = 0; i < in.b && failed; ++i)
    if (!(list[i] & kConstant) && list[i] & kLastOperand && operands_[i].counted()) operands_[i].Take();  // it is the slot's again
  operands_.clear();
  if (failed) return false;
  s[in.d] = BitsOf(value);
  k[in.d] = StateOf(value);
  if (value.counted()) value.Take();
  return true;
}

}  // namespace df::tagged
