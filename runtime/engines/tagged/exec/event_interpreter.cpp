// One instruction after another, looking at the state of every slot: the way for frames that hold objects, references or
// errors, and for tracing.
#include <algorithm>
#include <cstring>

#include "runtime/base/memory.h"
#include "runtime/base/scalar.h"
#include "runtime/engines/tagged/exec/engine.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

Value Worker::MakeError(Frame* frame, NodeId node, KernelError error) {
  auto* object = new ErrorObject(error.code, std::move(error.message), node, graph_.nodes[node].pos);
  Value value = Value::Adopt(ValueKind::Error, object);
  object->tag = new TagNodeCell(TagOf(frame));
  return value;
}

void Worker::RunOp(Frame* frame, const Instr& in, uint32_t pc, NodeId node) {
  const OpCode& n = program_.ops[pc];
  uint32_t slots[2] = {in.b, in.c};
  bool words = true;
  for (uint32_t k = 0; k < n.num_inputs; ++k) {
    ValueKind kind = KindOf(frame, slots[k]);
    if (kind == ValueKind::Word) continue;
    words = false;
    if (kind != ValueKind::Error) continue;
    frame->Set(in.a, frame->Get(slots[k]));
    return PassError(frame, {node, 0});
  }
  if (n.op == Op::Match && !words && KindOf(frame, in.b) == ValueKind::Object) {
    int64_t constructor = static_cast<Data*>(reinterpret_cast<Object*>(frame->slots()[in.b]))->constructor;
    if (in.aux & kLastB) frame->MoveOut(in.b);
    return frame->Set(in.a, Value::Word(constructor));
  }
  if (n.op == Op::Match && words) return frame->Set(in.a, Value::Word(WordOf(frame, in.b)));
  if (n.op == Op::Field && RunField(frame, in, n)) return;
  KernelTypes types = n.types;
  if (words && types.operand == ir::TypeKind::Int) {
    int64_t x = WordOf(frame, in.b), y = n.num_inputs > 1 ? WordOf(frame, in.c) : 0;
    int64_t z;
    if (ApplyToWords(n.op, x, y, &z)) return frame->Set(in.a, Value::Word(z));
  }
  operands_.clear();
  for (uint32_t k = 0; k < n.num_inputs; ++k) operands_.push_back(Use(frame, slots[k], in.aux & (k ? kLastC : kLastB)));
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(n.op, types, n.attr, operands_, &error, &failed, memory::Available());
  operands_.clear();
  if (!failed && !value.is_error()) return frame->Set(in.a, std::move(value));
  // A field may hold an error: then that is the result.
  frame->Set(in.a, failed ? MakeError(frame, node, std::move(error)) : std::move(value));
  PassError(frame, {node, 0});
}

// The same with three operands or more, which stand in Program::lists.
void Worker::RunOpMany(Frame* frame, const Instr& in, uint32_t pc, NodeId node) {
  const OpCode& n = program_.ops[pc];
  const uint32_t* slots = program_.lists.data() + in.b;
  for (uint32_t k = 0; k < in.c; ++k) {
    if (KindOf(frame, ListOperand(slots[k])) != ValueKind::Error) continue;
    frame->Set(in.a, frame->Get(ListOperand(slots[k])));
    return PassError(frame, {node, 0});
  }
  operands_.clear();
  for (uint32_t k = 0; k < in.c; ++k) operands_.push_back(Use(frame, ListOperand(slots[k]), !IsConstant(slots[k]) && slots[k] & kLast));
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(n.op, n.types, n.attr, operands_, &error, &failed, memory::Available());
  operands_.clear();
  frame->Set(in.a, failed ? MakeError(frame, node, std::move(error)) : std::move(value));
  if (failed) PassError(frame, {node, 0});
}

// A field that refers to a delayed call which is done gives its value. The field still refers to the cell: so every cycle of
// values goes through one (exec/cycles.cpp). False: the general way.
bool Worker::RunField(Frame* frame, const Instr& in, const OpCode& n) {
  if (KindOf(frame, in.b) != ValueKind::Object) return false;
  auto* data = static_cast<Data*>(reinterpret_cast<Object*>(frame->slots()[in.b]));
  if (data->kind != ObjectKind::Data || data->constructor != n.attr >> 16 || (n.attr & 0xFFFF) >= data->size()) return false;
  const Value* field = &data->fields()[n.attr & 0xFFFF];
  while (field->is_reference() && !HostCellIn(field->object()) && CellOf(*field)->IsFull())
    field = &CellOf(*field)->value();
  if (field->is_error() || (field->is_reference() && !n.types.lazy)) return false;
  Value value = *field;
  if (in.aux & kLastB) frame->MoveOut(in.b);
  frame->Set(in.a, std::move(value));
  return true;
}

// Whether the op that sets an element will not fail.
bool Worker::IsInRange(Frame* frame, const Instr& in, NodeId node) const {
  const uint32_t* slots = program_.lists.data() + in.b;
  for (uint32_t k = 1; k < in.c; ++k)
    if (KindOf(frame, slots[k]) == ValueKind::Error) return false;
  return static_cast<uint64_t>(WordOf(frame, slots[1])) < static_cast<uint64_t>(ElementsOfFirst(graph_, node));
}

// False if the group's ops have to be run one by one: one of them fails, or has failed early.
bool Worker::RunDefer(Frame* frame, const TensorGroup& group) {
  for (uint32_t operand : group.operands)
    if (KindOf(frame, operand) == ValueKind::Error) return false;
  for (uint32_t slot : group.results)
    if (frame->Has(slot)) return false;
  for (uint32_t slot : group.checked)
    if (frame->Has(slot)) return false;
  for (const BatchRegion::Check& check : group.region.checks) {
    int64_t index = WordOf(frame, group.operands[check.operand]);
    if (index < 0 || index > check.most) return false;
  }
  llvm::SmallVector<Value, 4> results(group.results.size());
  auto take = [&](uint32_t k) { return Use(frame, group.operands[k], group.last[k]); };
  execution_.batcher_->Defer(group.region, frame->depth, take, results.data());
  for (size_t r = 0; r < results.size(); ++r) frame->Set(group.results[r], std::move(results[r]));
  return true;
}

// A group's ops are run one by one: they need what it would have computed again.
void Worker::RunAgain(Frame* frame, const TensorGroup& group) {
  for (uint32_t pc : group.again) {
    Instr in = program_.code[pc];
    in.aux = 0;  // others may need its operands
    if (!frame->Has(in.a)) RunOp(frame, in, pc, program_.node_of[pc]);
  }
}

void Worker::RunConstruct(Frame* frame, const Instr& in, NodeId node) {
  const ir::Node& n = graph_.nodes[node];
  const uint32_t* slots = program_.lists.data() + in.b;
  for (uint32_t k = 0; frame->flags & kErrors && k < in.c; ++k) {
    const ir::Constructor& constructor = graph_.types[graph_.ResultsOf(node)[0].type].constructors[n.attr];
    uint32_t slot = ListOperand(slots[k]);
    if (KindOf(frame, slot) != ValueKind::Error || !constructor.fields[k].strict) continue;
    frame->Set(in.a, frame->Get(slot));
    return PassError(frame, {node, 0});
  }
  if (in.c == 0) return frame->Set(in.a, Value::Word(n.attr));
  Data* data = Data::New(n.attr, in.c);
  for (uint32_t k = 0; k < in.c; ++k) data->fields()[k] = Use(frame, ListOperand(slots[k]), slots[k] & kLast);
  frame->Set(in.a, Value::Adopt(ValueKind::Object, data));
}

void Worker::RunBranch(Frame* frame, const Instr& in) {
  const Branch& branch = frame->scope().branches[in.b];
  if (KindOf(frame, in.a) == ValueKind::Error) {
    // No side is taken; every merge is the error. (So are a loop's results, since the error came: PassErrorToUser.)
    std::vector<uint32_t> events;  // merges may share one
    for (NodeId merge : branch.merges) {
      uint32_t row = program_.RowOf({merge, 0}), slot = program_.slot_of[row];
      if (uint32_t event = program_.event_of[row]; event != kNone) events.push_back(event);
      if (slot == kNone || frame->Has(slot)) continue;
      frame->Set(slot, frame->Get(in.a));
      if (run_.trace) Trace(frame, merge, slot);
      PassError(frame, {merge, 0});
    }
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    for (uint32_t event : events) Fire(frame, event);
    return;
  }
  int64_t predicate = WordOf(frame, in.a);
  uint32_t side = branch.is_bool ? predicate == 0 : static_cast<uint32_t>(predicate);
  if (side < branch.sides.size() && branch.sides[side] != kNone) Fire(frame, branch.sides[side]);
  if (frame->flags & kErrors) PassSwitches(frame, branch, side);
}

// All regions of the frame that are ready, those too that become so; then what enters other frames, after what became
// ready elsewhere meanwhile (invariants 3 and 4).
void Worker::RunReady(Frame* frame, uint32_t pc) {
  const ScopeCode& scope = frame->scope();
  size_t base = stack_.size();
#ifdef DFC_VERIFY
  if (collects_tails_) throw BrokenRule{"regions of a frame run while those of another do"};
  collects_tails_ = true;
#endif
  tails_.clear();
  if (pc != kNone)
    if (uint32_t tail = RunRegion(frame, pc); tail != kNone) tails_.push_back(tail);
  uint8_t* ready = frame->ready();
  for (uint32_t at = 0; at < scope.ready_bytes;) {
    if (!ready[at]) {
      ++at;
      // A function of ten thousand clauses has as many regions, of which a call runs a few.
      for (uint64_t eight = 0; at + sizeof eight <= scope.ready_bytes; at += sizeof eight) {
        std::memcpy(&eight, ready + at, sizeof eight);
        if (eight) break;
      }
      continue;
    }
    uint32_t region = at * 8 + static_cast<uint32_t>(__builtin_ctz(ready[at]));
    ready[at] &= static_cast<uint8_t>(ready[at] - 1);
    first_ready_ = UINT32_MAX;
    uint32_t tail = RunRegion(frame, scope.regions[region].pc);
    // A Force that found its value leaves nothing to wait for: the frame must not stay on the stack for it, below
    // whatever goes on with its result.
    if (tail != kNone)
      while (program_.code[tail].code == Code::Wait && frame->Has(program_.code[tail].a)) ++tail;
    if (tail != kNone && program_.code[tail].code != Code::End) tails_.push_back(tail);
    // On with the first that is ready now. To begin at 0 took a time that grows with the square of a function's regions.
    at = std::min(at, std::max(first_ready_, scope.ready_offset) - scope.ready_offset);
  }
#ifdef DFC_VERIFY
  collects_tails_ = false;
#endif
  frame->flags &= ~kQueued;
  if (interrupted_ && !tails_.empty()) base = OfferTails(frame, base);
  if (tails_.empty()) return;
  // Nothing goes first: at once.
  if (tails_.size() == 1 && stack_.size() == base && (stack_.empty() || stack_.back().frame != frame))
    return RunTail(frame, tails_[0]);
  PushTails(frame, base);
}

// Onto the stack where it was `base` high: what has become ready since goes first.
void Worker::PushTails(Frame* frame, size_t base) {
  // With the tails of this frame that wait just below, in program order.
  size_t at = base;
  while (at > 0 && stack_[at - 1].frame == frame && stack_[at - 1].pc != kNone) --at;
  for (size_t i = at; i < base; ++i) tails_.push_back(stack_[i].pc);
  frame->refs -= static_cast<uint32_t>(base - at);
  stack_.erase(stack_.begin() + static_cast<ptrdiff_t>(at), stack_.begin() + static_cast<ptrdiff_t>(base));
  if (tails_.size() > 1)
    std::sort(tails_.begin(), tails_.end(),
              [&](uint32_t a, uint32_t b) { return program_.OrderOf(a) > program_.OrderOf(b); });
  frame->refs += static_cast<uint32_t>(tails_.size());
  stack_.insert(stack_.begin() + static_cast<ptrdiff_t>(at), tails_.size(), Item{frame, nullptr, kNone});
  for (size_t i = 0; i < tails_.size(); ++i) stack_[at + i].pc = tails_[i];
}

// What a region does in its own frame. Returns where its tail begins, or kNone.
uint32_t Worker::RunRegion(Frame* frame, uint32_t pc) {
  for (uint32_t start = pc;; ++pc) {
    const Instr& in = program_.code[pc];
    if (in.code == Code::End || IsTail(in.code)) {
      stats_.firings += pc - start;
      ++stats_.regions;
      return in.code == Code::End ? kNone : pc;
    }
    NodeId node = program_.node_of[pc];
    now_pc_ = pc;
    switch (in.code) {
      case Code::Op:
        if (frame->Has(in.a)) continue;  // failed early
        RunOp(frame, in, pc, node);
        break;
      case Code::OpMany:
        if (frame->Has(in.a)) continue;
        RunOpMany(frame, in, pc, node);
        break;
      case Code::Check:
        if (!frame->Has(in.a) && !IsInRange(frame, in, node)) RunOpMany(frame, in, pc, node);
        continue;
      case Code::Defer:
        if (in.b == kNone) continue;
        if (RunDefer(frame, program_.tensor_groups[in.b])) pc += in.c;
        else RunAgain(frame, program_.tensor_groups[in.b]);
        continue;
      case Code::Construct:
        if (frame->Has(in.a)) continue;
        RunConstruct(frame, in, node);
        break;
      case Code::Delay:
      case Code::DelayAll: MakeCell(frame, in); break;
      case Code::DelayArg:
        CellOperand(frame, program_.sites[graph_.nodes[node].attr], in.a, in.c, Use(frame, in.b, in.aux & kLastB));
        continue;
      case Code::Force:
        if (frame->Has(in.a)) {
          Fire(frame, in.c);  // it failed early
          continue;
        }
        if (!TryForce(frame, in, node)) continue;
        break;
      case Code::Outer: ReadOuter(frame, pc); continue;
      case Code::Publish:
        if (frame->flags & kOuterWaiters) AnswerOuters(frame, in.a);
        continue;
      case Code::Branch: RunBranch(frame, in); continue;
      case Code::Merge: {
        if (frame->Has(in.a)) continue;
        if (in.aux & kTrigger) {
          frame->Set(in.a, Value::Word(0));
        } else {
          // What only goes round a loop is not there on the side that ends it.
          if (!IsConstant(in.b) && !frame->Has(in.b)) continue;
          Pass(frame, in.b, in.aux & kLastB, frame, in.a);
          if (frame->KindOf(in.a) == ValueKind::Error) PassError(frame, {node, 0});
        }
        break;
      }
      case Code::Input: frame->Set(in.a, std::move(execution_.inputs_[in.b])); break;
      case Code::Result:
        execution_.SetResult(graph_.nodes[node].attr, Use(frame, in.b, in.aux & kLastB));
        continue;
      case Code::Return:
      case Code::Exit:
        // The verifier lets a loop end with a value that only goes round it.
        if (!IsConstant(in.b) && !frame->Has(in.b)) throw BrokenRule{"a result that has no value"};
        SendResult(frame, in.a, Use(frame, in.b, in.aux & kLastB));
        continue;
      case Code::Fire: Fire(frame, in.c); continue;
      default: break;
    }
    if (run_.trace) Trace(frame, node, in.a);
  }
}

// Whether the tail is a late argument of that call, and no more.
bool Worker::IsLateFor(uint32_t tail, uint32_t site) const {
  if (tail == kNone) return false;
  const Instr& in = program_.code[tail];
  return in.code == Code::CallLate && in.b == site && program_.code[tail + 1].code == Code::End;
}

// One step of a tail; the rest comes when what is entered now has nothing left to do.
void Worker::RunTail(Frame* frame, uint32_t pc) {
  const Instr in = program_.code[pc];
  now_pc_ = pc;
  ++stats_.firings;
  if (program_.code[pc + 1].code != Code::End) Push(frame, pc + 1);
  switch (in.code) {
    case Code::Wait:
      if (!frame->Has(in.a)) Wait(frame, pc);
      else if (in.aux & kLastB) Use(frame, in.b, true);
      return;
    case Code::Call: {
      const SiteCode& site = program_.sites[in.b];
      if (site.child_slot != kNone && frame->Has(site.child_slot)) return;
      // Late arguments that are there by now go along: the callee may give its result without them, and then they would keep this
      // frame on the stack below whatever goes on with the result.
      llvm::SmallVector<uint32_t, 4> late;
      while (!stack_.empty() && stack_.back().frame == frame && IsLateFor(stack_.back().pc, in.b)) {
        late.push_back(program_.code[stack_.back().pc].c);
        stack_.pop_back();
        --frame->refs;
      }
      Call(frame, site);
      for (uint32_t index : late) CallLate(frame, site, index);
      return;
    }
    case Code::CallLate: return CallLate(frame, program_.sites[in.b], in.c);
    case Code::NextLate: return NextLate(frame, program_.sites[in.b], in.c);
    case Code::Next: {
      const SiteCode& site = program_.sites[in.b];
      if (site.next_slot == kNone || !frame->Has(site.next_slot)) Next(frame, site);
      return;
    }
    default: return;
  }
}

}  // namespace df::tagged
