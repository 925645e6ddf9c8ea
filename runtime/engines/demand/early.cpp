// What need not become a demand: answers that are there already, and, for arguments of calls and variables of loops, answers
// that cost a few operations on what is there. A loop whose variables all are such runs in the memory of one
// iteration; any other keeps its iterations until somebody asks for the variable. Nothing here calls, waits or
// marks a demand as in progress, so it cannot run forever; an error is a datum like another.
#include "runtime/engines/demand/demand.h"
#include "tagged_ir/op_facts.h"

namespace df::demand {

using ir::Op;
using ir::TypeKind;

namespace {

constexpr int kMaxDepth = 8;
constexpr uint32_t kMaxFields = 8;

// Ops whose time does not grow with more than the size of their operands.
bool Cheap(const NodeCode& n) {
  if (ir::IsTableOp(n.op) || ir::IsStateOp(n.op)) return false;
  if (n.types.operand != TypeKind::Integer && n.types.result != TypeKind::Integer) return n.op != Op::Fail;
  return ir::FactsOf(n.op).cost == ir::Cost::LikeSum;
}

}  // namespace

// The answer, if it is stored or needs no work. What is asked for only once stays, in `read_`, until it is used.
bool DemandExecution::Peek(uint32_t node, Activation* at, Value& value) {
  const NodeCode* n = &code_.nodes[node];
  if (n->slot != kNone && at->states()[n->slot] != SlotState::Empty) {
    if (at->states()[n->slot] == SlotState::Busy) return false;
    if (at->states()[n->slot] == SlotState::Gone) throw BrokenRule{"a second demand for what is asked for once"};
    value = at->values()[n->slot];
    if (n->once) read_.push_back({node, at});
    return true;
  }
  switch (n->op) {
    case Op::Const: value = ConstantOf(n->attr); return true;
    case Op::Input: value = inputs_[n->attr]; return true;
    case Op::Delay:
      value = NewCell(DemandCell::Delay, n->attr, at);
      if (n->slot != kNone) Store(at, n->slot, value);
      return true;
    default: return false;
  }
}

// The answer, if it is there or takes at most a tree of cheap ops of this depth.
bool DemandExecution::Speculate(uint32_t node, Activation* at, int depth, Value& value) {
  if (Peek(node, at, value)) return true;
  const NodeCode& n = code_.nodes[node];
  if (n.slot != kNone && at->states()[n.slot] == SlotState::Busy) return false;
  if (depth == 0) return false;
  size_t read = read_.size();
  const uint32_t* sources = code_.SourcesOf(n);
  switch (n.op) {
    case Op::LoopMerge:
      if (at->label.iteration == 0) {
        if (!Speculate(sources[0], Up(at), depth - 1, value)) return false;
      } else {
        if (!Speculate(sources[1], at->previous, depth - 1, value)) return false;
      }
      break;
    case Op::Force:
      if (!Speculate(sources[0], at, depth - 1, value)) return false;
      while (value.is_reference()) {
        const HostCell* host = HostCellIn(value.object());
        if (!(host ? host->is_full() : CellOf(value)->full)) return false;  // the host is asked by a demand, never early
        value = Value(host ? host->value : CellOf(value)->value);
      }
      break;
    case Op::BranchMerge:
      if (!Speculate(sources[0], at, depth - 1, value)) return false;
      if (value.is_error()) break;
      if (!Speculate(sources[1 + (n.types.operand == TypeKind::Bool ? value.word() == 0 : value.word())], at, depth - 1,
                     value))
        return false;
      break;
    case Op::Field: {
      if (!Speculate(sources[0], at, depth - 1, value)) return false;
      if (value.is_error()) break;
      value = Value(static_cast<Data*>(value.object())->fields()[n.attr & 0xFFFF]);
      while (value.is_reference() && !HostCellIn(value.object()) && CellOf(value)->what == DemandCell::Edge) {
        if (!CellOf(value)->full) return false;
        value = Value(CellOf(value)->value);
      }
      if (value.is_reference() && !n.types.lazy) return false;
      break;
    }
    case Op::Construct: {
      Value fields[kMaxFields];
      if (n.count > kMaxFields) return false;
      bool failed = false;
      for (uint32_t k = FirstStrict(node, 0); k < n.count && !failed; k = FirstStrict(node, k + 1)) {
        if (!Speculate(sources[k], at, depth - 1, fields[k])) return false;
        if (!fields[k].is_error()) continue;
        value = fields[k];
        failed = true;
      }
      if (failed) break;
      for (uint32_t k = FirstStrict(node, 0); k < n.count; k = FirstStrict(node, k + 1)) values_.push_back(std::move(fields[k]));
      value = Build(n, node, at);
      break;
    }
    default: {
      if (ir::InfoOf(n.op).cls != ir::OpClass::Ordinary || !Cheap(n) || n.op == Op::Seq || n.count > 2) return false;
      Value operands[2];
      bool failed = false;
      for (uint32_t k = 0; k < n.count && !failed; ++k) {
        if (!Speculate(sources[k], at, depth - 1, operands[k])) return false;
        if (!operands[k].is_error()) continue;
        value = operands[k];
        failed = true;
      }
      if (failed) break;
      KernelError error;
      value = ApplyTyped(n.op, n.types, n.attr, llvm::ArrayRef<Value>(operands, n.count), &error, &failed,
                         memory::Available());
      if (failed) value = MakeError(std::move(error), node, at);
    }
  }
  if (n.slot != kNone) {
    Consume(read);
    Store(at, n.slot, value);
    Computed(node, at);
  }
  if (run_.trace) Trace(node, at, value, false);
  return true;
}

// The answer, if it is there or costs next to nothing, for somebody who will not ask again.
bool DemandExecution::Known(uint32_t node, Activation* at, Value& value) {
  size_t read = read_.size();
  bool known = Speculate(node, at, kMaxDepth, value);
  if (known) Consume(read);
  read_.resize(read);
  return known;
}

// What `read_` has from there on was asked for, and goes.
void DemandExecution::Consume(size_t from) {
  for (size_t i = from; i < read_.size(); ++i) {
    Drop(read_[i].at, code_.nodes[read_[i].node].slot);
    read_[i].at->states()[code_.nodes[read_[i].node].slot] = SlotState::Gone;
  }
  read_.resize(from);
}

// What is known of the arguments of the call or loop that `caller` enters goes into `at`. So an activation mostly needs
// nothing of the one that made it, and a list whose every tail is delayed by the tail before is no chain of activations.
void DemandExecution::TakeArguments(Activation* at, Activation* caller) {
  for (uint32_t merge : code_.scopes[at->scope].merges) {
    const NodeCode& n = code_.nodes[merge];
    Value value;
    uint32_t source = at->label.loop ? code_.SourcesOf(n)[0] : code_.sites[at->label.id].arguments[n.attr];
    if (!Known(source, caller, value)) continue;
    Store(at, n.slot, value);
    Computed(merge, at);
  }
  Detach(at);
}

// The variables of the iteration `to`, which follows `from`, as far as they cost next to nothing.
void DemandExecution::Advance(Activation* from, Activation* to) {
  for (uint32_t merge : code_.scopes[to->scope].merges) {
    const NodeCode& n = code_.nodes[merge];
    Value value;
    if (!Known(code_.SourcesOf(n)[1], from, value)) continue;
    Store(to, n.slot, value);
    Computed(merge, to);
  }
  if (to->pending) to->previous = Hold(from);
}

}  // namespace df::demand
