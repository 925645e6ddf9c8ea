// One instruction after another, looking at the state of every slot: the way for frames that hold objects, references or
// errors, and for tracing.
#include <algorithm>
#include <cstring>

#include "runtime/base/memory.h"
#include "runtime/base/scalar.h"
#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/errors.h"
#include "runtime/engines/tagged/exec/event_interpreter.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

Value MakeError(Worker& w, Frame* frame, NodeId node, KernelError error) {
  auto* object = new ErrorObject(error.code, std::move(error.message), node, w.graph.nodes[node].pos);
  object->thrown = std::move(error.thrown);
  Value value = Value::Adopt(ValueKind::Error, object);
  object->tag = new TagNodeCell(TagOf(frame));
  return value;
}

void RunOp(Worker& w, Frame* frame, const Instr& in, uint32_t pc, NodeId node) {
  const OpCode& n = w.program.ops[pc];
  uint32_t slots[2] = {in.b, in.c};
  bool words = true;
  for (uint32_t k = 0; k < n.num_inputs; ++k) {
    ValueKind kind = w.KindOf(frame, slots[k]);
    if (kind == ValueKind::Word) continue;
    words = false;
    if (kind != ValueKind::Error) continue;
    frame->Set(in.a, frame->Get(slots[k]));
    return PassError(w, frame, {node, 0});
  }
  if (n.op == Op::Match && !words && w.KindOf(frame, in.b) == ValueKind::Object) {
    int64_t constructor = static_cast<Data*>(reinterpret_cast<Object*>(frame->slots()[in.b]))->constructor;
    if (in.aux & kLastB) frame->MoveOut(in.b);
    return frame->Set(in.a, Value::Word(constructor));
  }
  if (n.op == Op::Match && words) return frame->Set(in.a, Value::Word(w.WordOf(frame, in.b)));
  if (n.op == Op::Field && RunField(w, frame, in, n)) return;
  KernelTypes types = n.types;
  if (words && types.operand == ir::TypeKind::Int) {
    int64_t x = w.WordOf(frame, in.b), y = n.num_inputs > 1 ? w.WordOf(frame, in.c) : 0;
    int64_t z;
    if (ApplyToWords(n.op, x, y, &z)) return frame->Set(in.a, Value::Word(z));
  }
  w.operands.clear();
  for (uint32_t k = 0; k < n.num_inputs; ++k) w.operands.push_back(w.Use(frame, slots[k], in.aux & (k ? kLastC : kLastB)));
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(n.op, types, n.attr, w.operands, &error, &failed, memory::Available());
  w.operands.clear();
  if (!failed && !value.is_error()) return frame->Set(in.a, std::move(value));
  // A field may hold an error: then that is the result.
  frame->Set(in.a, failed ? MakeError(w, frame, node, std::move(error)) : std::move(value));
  PassError(w, frame, {node, 0});
}

// The same with three operands or more, which stand in Program::lists.
void RunOpMany(Worker& w, Frame* frame, const Instr& in, uint32_t pc, NodeId node) {
  const OpCode& n = w.program.ops[pc];
  const uint32_t* slots = w.program.lists.data() + in.b;
  for (uint32_t k = 0; k < in.c; ++k) {
    if (w.KindOf(frame, ListOperand(slots[k])) != ValueKind::Error) continue;
    frame->Set(in.a, frame->Get(ListOperand(slots[k])));
    return PassError(w, frame, {node, 0});
  }
  w.operands.clear();
  for (uint32_t k = 0; k < in.c; ++k) w.operands.push_back(w.Use(frame, ListOperand(slots[k]), !IsConstant(slots[k]) && slots[k] & kLast));
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(n.op, n.types, n.attr, w.operands, &error, &failed, memory::Available());
  w.operands.clear();
  frame->Set(in.a, failed ? MakeError(w, frame, node, std::move(error)) : std::move(value));
  if (failed) PassError(w, frame, {node, 0});
}

// A field that refers to a delayed call which is done gives its value. The field still refers to the cell: so every cycle of
// values goes through one (exec/cycles.cpp). False: the general way.
bool RunField(Worker& w, Frame* frame, const Instr& in, const OpCode& n) {
  if (w.KindOf(frame, in.b) != ValueKind::Object) return false;
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
bool IsInRange(const Worker& w, Frame* frame, const Instr& in, NodeId node) {
  const uint32_t* slots = w.program.lists.data() + in.b;
  for (uint32_t k = 1; k < in.c; ++k)
    if (w.KindOf(frame, slots[k]) == ValueKind::Error) return false;
  return static_cast<uint64_t>(w.WordOf(frame, slots[1])) < static_cast<uint64_t>(ElementsOfFirst(w.graph, node));
}

// False if the group's ops have to be run one by one: one of them fails, or has failed early.
bool RunDefer(Worker& w, Frame* frame, const TensorGroup& group) {
  for (uint32_t operand : group.operands)
    if (w.KindOf(frame, operand) == ValueKind::Error) return false;
  for (uint32_t slot : group.results)
    if (frame->Has(slot)) return false;
  for (uint32_t slot : group.checked)
    if (frame->Has(slot)) return false;
  for (const BatchRegion::Check& check : group.region.checks) {
    int64_t index = w.WordOf(frame, group.operands[check.operand]);
    if (index < 0 || index > check.most) return false;
  }
  llvm::SmallVector<Value, 4> results(group.results.size());
  auto take = [&](uint32_t k) { return w.Use(frame, group.operands[k], group.last[k]); };
  w.execution.batcher().Defer(group.region, frame->depth, take, results.data());
  for (size_t r = 0; r < results.size(); ++r) frame->Set(group.results[r], std::move(results[r]));
  return true;
}

// A group's ops are run one by one: they need what it would have computed again.
void RunAgain(Worker& w, Frame* frame, const TensorGroup& group) {
  for (uint32_t pc : group.again) {
    Instr in = w.program.code[pc];
    in.aux = 0;  // others may need its operands
    if (!frame->Has(in.a)) RunOp(w, frame, in, pc, w.program.node_of[pc]);
  }
}

void RunConstruct(Worker& w, Frame* frame, const Instr& in, NodeId node) {
  const ir::Node& n = w.graph.nodes[node];
  const uint32_t* slots = w.program.lists.data() + in.b;
  for (uint32_t k = 0; frame->flags & kErrors && k < in.c; ++k) {
    const ir::Constructor& constructor = w.graph.types[w.graph.ResultsOf(node)[0].type].constructors[n.attr];
    uint32_t slot = ListOperand(slots[k]);
    if (w.KindOf(frame, slot) != ValueKind::Error || !constructor.fields[k].strict) continue;
    frame->Set(in.a, frame->Get(slot));
    return PassError(w, frame, {node, 0});
  }
  if (in.c == 0) return frame->Set(in.a, Value::Word(n.attr));
  Data* data = Data::New(n.attr, in.c);
  for (uint32_t k = 0; k < in.c; ++k) data->fields()[k] = w.Use(frame, ListOperand(slots[k]), slots[k] & kLast);
  frame->Set(in.a, Value::Adopt(ValueKind::Object, data));
}

void RunBranch(Worker& w, Frame* frame, const Instr& in) {
  const Branch& branch = frame->scope().branches[in.b];
  if (w.KindOf(frame, in.a) == ValueKind::Error) {
    // No side is taken; every merge is the error. (So are a loop's results, since the error came: PassErrorToUser.)
    std::vector<uint32_t> events;  // merges may share one
    for (NodeId merge : branch.merges) {
      uint32_t row = w.program.RowOf({merge, 0}), slot = w.program.slot_of[row];
      if (uint32_t event = w.program.event_of[row]; event != kNone) events.push_back(event);
      if (slot == kNone || frame->Has(slot)) continue;
      frame->Set(slot, frame->Get(in.a));
      if (w.run.trace) w.Trace(frame, merge, slot);
      PassError(w, frame, {merge, 0});
    }
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    for (uint32_t event : events) w.Fire(frame, event);
    return;
  }
  int64_t predicate = w.WordOf(frame, in.a);
  uint32_t side = branch.is_bool ? predicate == 0 : static_cast<uint32_t>(predicate);
  if (side < branch.sides.size() && branch.sides[side] != kNone) w.Fire(frame, branch.sides[side]);
  if (frame->flags & kErrors) PassSwitches(w, frame, branch, side);
}

// All regions of the frame that are ready, those too that become so; then what enters other frames, after what became
// ready elsewhere meanwhile (invariants 3 and 4).
void RunReady(Worker& w, Frame* frame, uint32_t pc, bool on) {
  const ScopeCode& scope = frame->scope();
  size_t base = w.stack.size();
#ifdef DFC_VERIFY
  if (w.collects_tails) throw BrokenRule{"regions of a frame run while those of another do"};
  w.collects_tails = true;
#endif
  w.tails.clear();
  if (pc != kNone)
    if (uint32_t tail = RunRegion(w, frame, pc); tail != kNone) w.tails.push_back(tail);
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
    w.first_ready = UINT32_MAX;
    uint32_t tail = RunRegion(w, frame, scope.regions[region].pc);
    // A Force that found its value leaves nothing to wait for: the frame must not stay on the stack for it, below
    // whatever goes on with its result.
    if (tail != kNone)
      while (w.program.code[tail].code == Code::Wait && frame->Has(w.program.code[tail].a)) ++tail;
    if (tail != kNone && w.program.code[tail].code != Code::End) w.tails.push_back(tail);
    // On with the first that is ready now. To begin at 0 took a time that grows with the square of a function's regions.
    at = std::min(at, std::max(w.first_ready, scope.ready_offset) - scope.ready_offset);
  }
#ifdef DFC_VERIFY
  w.collects_tails = false;
#endif
  frame->flags &= ~kQueued;
  if (w.interrupted && !w.tails.empty()) base = OfferTails(w, frame, base);
  if (w.tails.empty()) return;
  // Nothing goes first: at once.
  if (on && w.tails.size() == 1 && w.stack.size() == base && (w.stack.empty() || w.stack.back().frame != frame))
    return RunTail(w, frame, w.tails[0]);
  PushTails(w, frame, base);
}

void PushTails(Worker& w, Frame* frame, size_t base) {
  // With the tails of this frame that wait just below, in program order.
  size_t at = base;
  while (at > 0 && w.stack[at - 1].frame == frame && w.stack[at - 1].pc != kNone) --at;
  for (size_t i = at; i < base; ++i) w.tails.push_back(w.stack[i].pc);
  frame->refs -= static_cast<uint32_t>(base - at);
  w.stack.erase(w.stack.begin() + static_cast<ptrdiff_t>(at), w.stack.begin() + static_cast<ptrdiff_t>(base));
  if (w.tails.size() > 1)
    std::sort(w.tails.begin(), w.tails.end(),
              [&](uint32_t a, uint32_t b) { return w.program.OrderOf(a) > w.program.OrderOf(b); });
  frame->refs += static_cast<uint32_t>(w.tails.size());
  w.stack.insert(w.stack.begin() + static_cast<ptrdiff_t>(at), w.tails.size(), Worker::Item{frame, nullptr, kNone});
  for (size_t i = 0; i < w.tails.size(); ++i) w.stack[at + i].pc = w.tails[i];
}

// What a region does in its own frame. Returns where its tail begins, or kNone.
uint32_t RunRegion(Worker& w, Frame* frame, uint32_t pc) {
  for (uint32_t start = pc;; ++pc) {
    const Instr& in = w.program.code[pc];
    if (in.code == Code::End || IsTail(in.code)) {
      w.stats.firings += pc - start;
      ++w.stats.regions;
      return in.code == Code::End ? kNone : pc;
    }
    NodeId node = w.program.node_of[pc];
    w.now_pc = pc;
    switch (in.code) {
      case Code::Op:
        if (frame->Has(in.a)) continue;  // failed early
        RunOp(w, frame, in, pc, node);
        break;
      case Code::OpMany:
        if (frame->Has(in.a)) continue;
        RunOpMany(w, frame, in, pc, node);
        break;
      case Code::Check:
        if (!frame->Has(in.a) && !IsInRange(w, frame, in, node)) RunOpMany(w, frame, in, pc, node);
        continue;
      case Code::Defer:
        if (in.b == kNone) continue;
        if (RunDefer(w, frame, w.program.tensor_groups[in.b])) pc += in.c;
        else RunAgain(w, frame, w.program.tensor_groups[in.b]);
        continue;
      case Code::Construct:
        if (frame->Has(in.a)) continue;
        RunConstruct(w, frame, in, node);
        break;
      case Code::Delay:
      case Code::DelayAll: MakeCell(w, frame, in); break;
      case Code::DelayArg:
        CellOperand(w, frame, w.program.sites[w.graph.nodes[node].attr], in.a, in.c, w.Use(frame, in.b, in.aux & kLastB));
        continue;
      case Code::Force:
        if (frame->Has(in.a)) {
          w.Fire(frame, in.c);  // it failed early
          continue;
        }
        if (!TryForce(w, frame, in, node)) continue;
        break;
      case Code::Outer: ReadOuter(w, frame, pc); continue;
      case Code::Publish:
        if (frame->flags & kOuterWaiters) AnswerOuters(w, frame, in.a);
        continue;
      case Code::Branch: RunBranch(w, frame, in); continue;
      case Code::Merge: {
        if (frame->Has(in.a)) continue;
        if (in.aux & kTrigger) {
          frame->Set(in.a, Value::Word(0));
        } else {
          // What only goes round a loop is not there on the side that ends it.
          if (!IsConstant(in.b) && !frame->Has(in.b)) continue;
          w.Pass(frame, in.b, in.aux & kLastB, frame, in.a);
          if (frame->KindOf(in.a) == ValueKind::Error) PassError(w, frame, {node, 0});
        }
        break;
      }
      case Code::Input: frame->Set(in.a, w.execution.TakeInput(in.b)); break;
      case Code::Result:
        w.execution.SetResult(w.graph.nodes[node].attr, w.Use(frame, in.b, in.aux & kLastB));
        continue;
      case Code::Return:
      case Code::Exit:
        // The verifier lets a loop end with a value that only goes round it.
        if (!IsConstant(in.b) && !frame->Has(in.b)) throw BrokenRule{"a result that has no value"};
        SendResult(w, frame, in.a, w.Use(frame, in.b, in.aux & kLastB));
        continue;
      case Code::Fire: w.Fire(frame, in.c); continue;
      default: break;
    }
    if (w.run.trace) w.Trace(frame, node, in.a);
  }
}

// Whether the tail is a late argument of that call, and no more.
bool IsLateFor(const Worker& w, uint32_t tail, uint32_t site) {
  if (tail == kNone) return false;
  const Instr& in = w.program.code[tail];
  return in.code == Code::CallLate && in.b == site && w.program.code[tail + 1].code == Code::End;
}

void RunTail(Worker& w, Frame* frame, uint32_t pc) {
  const Instr in = w.program.code[pc];
  w.now_pc = pc;
  ++w.stats.firings;
  if (w.program.code[pc + 1].code != Code::End) w.Push(frame, pc + 1);
  switch (in.code) {
    case Code::Wait:
      if (!frame->Has(in.a)) Wait(w, frame, pc);
      else if (in.aux & kLastB) w.Use(frame, in.b, true);
      return;
    case Code::Offer:
      if (frame->Has(in.a)) return;  // it was taken
      frame->Set(in.a, Value::Word(0));
      return w.Fire(frame, in.c);
    case Code::Call: {
      const SiteCode& site = w.program.sites[in.b];
      if (site.child_slot != kNone && frame->Has(site.child_slot)) return;
      // Late arguments that are there by now go along: the callee may give its result without them, and then they would keep this
      // frame on the stack below whatever goes on with the result.
      llvm::SmallVector<uint32_t, 4> late;
      while (!w.stack.empty() && w.stack.back().frame == frame && IsLateFor(w, w.stack.back().pc, in.b)) {
        late.push_back(w.program.code[w.stack.back().pc].c);
        w.stack.pop_back();
        --frame->refs;
      }
      Call(w, frame, site);
      for (uint32_t index : late) CallLate(w, frame, site, index);
      return;
    }
    case Code::CallLate: return CallLate(w, frame, w.program.sites[in.b], in.c);
    case Code::NextLate: return NextLate(w, frame, w.program.sites[in.b], in.c);
    case Code::Next: {
      const SiteCode& site = w.program.sites[in.b];
      if (site.next_slot == kNone || !frame->Has(site.next_slot)) Next(w, frame, site);
      return;
    }
    default: return;
  }
}

}  // namespace df::tagged
