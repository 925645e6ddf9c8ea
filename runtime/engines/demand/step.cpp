// The equations of the demand engine, and the machine that follows them. A demand either has its answer at once
// or pushes a frame and asks for something else; an answer goes to the frame on top.
#include <new>

#include "runtime/engines/demand/demand.h"
#include "runtime/run/progress.h"
#include "runtime/text/show.h"

namespace df::demand {

using ir::Op;
using ir::TypeKind;

namespace {

constexpr uint64_t kTicksPerCheck = 256;

// Where the chosen side is among the operands of a BranchMerge.
uint32_t SideOperand(const NodeCode& n, const Value& predicate) {
  if (n.types.operand == TypeKind::Bool) return predicate.word() ? 1 : 2;
  return 1 + static_cast<uint32_t>(predicate.word());
}

}  // namespace

Value DemandExecution::Evaluate(uint32_t node, Activation* at) { return Machine(node, at); }

Value DemandExecution::EvaluateCell(DemandCell* cell) {
  if (cell->busy) return LoopError(cell->what == DemandCell::Edge ? cell->id : delay_of_site_[cell->id].index, cell->at);
  uint32_t want;
  Activation* where;
  PushCell(cell, want, where);
  return Machine(want, where);
}

// Until the stack is empty. `where` is held by the frame that asks.
Value DemandExecution::Machine(uint32_t want, Activation* where) {
  Value value;
  for (;;) {
    Tick();
    while (!Ask(want, where, value)) Tick();
    do {
      if (stack_.empty()) return value;
    } while (Answer(value, want, where));
  }
}

void DemandExecution::Tick() {
  if (++ticks_ % kTicksPerCheck != 0) return;
  if (live_ + live_cells_ > collect_at_) Collect();
  CheckLimits();
  NoteProgress();
  NoteMoment(0, [this](RuntimeError& error) { Where(error); });
}

void DemandExecution::Push(uint32_t node, Activation* at, Activation* inside) {
  stack_.push_back({node, 0, at, inside, nullptr});
  ++at->refs;
}

// Evaluates a cell that is neither full nor busy.
void DemandExecution::PushCell(DemandCell* cell, uint32_t& want, Activation*& where) {
  // First, so that nothing fails between the new activation and its frame.
  if (stack_.size() == stack_.capacity()) stack_.reserve(std::max<size_t>(64, 2 * stack_.size()));
  if (cell->what == DemandCell::Delay) {
    ++stats_.released;
    where = EnterSite(cell->id, cell->at);
    want = code_.sites[cell->id].result;
  } else {
    where = Hold(cell->at);
    want = cell->id;
  }
  cell->refs.Retain();
  cell->busy = true;
  stack_.push_back({kNone, 0, where, nullptr, cell});
}

// The activation of a site under the tag of `at`, with one count: that which another of its results has made, or a new one.
Activation* DemandExecution::EnterSite(uint32_t site, Activation* at) {
  const SiteCode& code = code_.sites[site];
  if (code.held != kNone && at->states()[code.held] == SlotState::Full) return Hold(CellOf(at->values()[code.held])->at);
  Activation* inside = NewActivation({site, false, 0}, code.callee, at);
  try {
    TakeArguments(inside, at);
    if (code.held != kNone) Store(at, code.held, NewCell(DemandCell::Tag, site, inside));
  } catch (...) {
    Release(inside);
    throw;
  }
  return inside;
}

// What a reference stands for, if it is known; else its cell's frame is pushed and false returned. Without
// `delays` only the references of lazy fields are followed.
bool DemandExecution::Follow(Value& value, bool delays, uint32_t& want, Activation*& where) {
  while (value.is_reference()) {
    if (HostCellIn(value.object())) {
      if (!delays) return true;
      AskHost(value);
      return true;
    }
    DemandCell* cell = CellOf(value);
    if (!delays && cell->what == DemandCell::Delay) return true;
    if (cell->busy) {
      value = LoopError(cell->what == DemandCell::Edge ? cell->id : delay_of_site_[cell->id].index, cell->at);
    } else if (cell->full) {
      value = Value(cell->value);
    } else {
      PushCell(cell, want, where);
      return false;
    }
  }
  return true;
}

// The demand <want, where>: true with its answer, or false with the demand that it leads to.
bool DemandExecution::Ask(uint32_t& want, Activation*& where, Value& value) {
  const NodeCode& n = code_.nodes[want];
  uint32_t node = want;
  Activation* at = where;
  ++stats_.demands;
  if (n.slot != kNone) {
    SlotState& state = at->states()[n.slot];
    if (state == SlotState::Full) {
      ++stats_.store_hits;
      value = at->values()[n.slot];
      if (n.once) {
        Drop(at, n.slot);
        at->states()[n.slot] = SlotState::Gone;
      }
      if (run_.trace) Trace(node, at, value, true);
      return true;
    }
    if (state == SlotState::Busy) {
      value = LoopError(node, at);
      return true;
    }
    if (state == SlotState::Gone) throw BrokenRule{"a second demand for what is asked for once"};
  }
  const uint32_t* sources = code_.SourcesOf(n);
  switch (n.op) {
    case Op::Const: value = ConstantOf(n.attr); return true;
    case Op::Input: value = inputs_[n.attr]; return true;
    case Op::Delay: Peek(node, at, value); return true;  // which reads nothing
    case Op::Start: case Op::Call: case Op::Enter: case Op::NextIteration: case Op::Switch: case Op::Result:
    case Op::Dead: throw BrokenRule{"a demand for what carries no datum"};
    default: break;
  }
  Push(node, at);
  Frame& frame = stack_.back();
  if (n.slot != kNone) at->states()[n.slot] = SlotState::Busy;
  want = n.count ? sources[0] : kNone;
  switch (n.op) {
    case Op::EntryMerge:
      want = code_.sites[at->label.id].arguments[n.attr];
      where = Up(at);
      break;
    case Op::Return: {
      where = frame.inside = EnterSite(n.attr, at);
      break;
    }
    case Op::LoopMerge:
      if (at->label.iteration == 0) {
        where = Up(at);
      } else {
        want = sources[1];
        where = at->previous;
        if (!where) throw BrokenRule{"an iteration whose predecessor is gone"};
      }
      break;
    case Op::Exit: {
      const ScopeCode& loop = code_.scopes[n.attr];
      if (loop.held != kNone && at->states()[loop.held] == SlotState::Full) {
        const Value& ended = at->values()[loop.held];
        if (ended.is_error()) {
          value = ended;
          Finish(value);
          return true;
        }
        frame.inside = Hold(CellOf(ended)->at);
        frame.step = 1;
        want = sources[1];
      } else {
        frame.inside = NewActivation({n.attr, true, 0}, n.attr, at);
        TakeArguments(frame.inside, at);
      }
      where = frame.inside;
      break;
    }
    case Op::Outer: where = Strip(at, n.attr); break;
    case Op::Construct: {
      uint32_t field = FirstStrict(node, 0);
      if (field == n.count) {
        value = Build(n, node, at);
        Consume(0);
        Finish(value);
        return true;
      }
      frame.step = field;
      want = sources[field];
      break;
    }
    default: break;
  }
  return false;
}

// Hands `value` to the demand on top of the stack: true if that is answered by it (`value` is its answer then),
// false if it leads to another demand.
bool DemandExecution::Answer(Value& value, uint32_t& want, Activation*& where) {
  Frame& frame = stack_.back();
  if (frame.node == kNone) {
    DemandCell* cell = frame.cell;
    Activation* at = frame.at;
    stack_.pop_back();
    cell->value = value;
    cell->busy = false;
    cell->full = true;
    if (Activation* last = std::exchange(cell->at, nullptr)) Release(last);
    Release(at);
    Value last = Value::Adopt(ValueKind::Reference, cell);
    return true;
  }
  const NodeCode& n = code_.nodes[frame.node];
  switch (n.op) {
    case Op::EntryMerge: case Op::Return: case Op::LoopMerge: case Op::Outer: break;
    case Op::BranchMerge:
      if (frame.step == 1 || value.is_error()) break;
      frame.step = 1;
      if (SideOperand(n, value) >= n.count) throw BrokenRule{"an alternative that the branch does not have"};
      want = code_.SourcesOf(n)[SideOperand(n, value)];
      where = frame.at;
      return false;
    case Op::Force:
      if (!Follow(value, true, want, where)) return false;
      break;
    case Op::Field:
      if (frame.step == 0) {
        frame.step = 1;
        if (value.is_error()) break;
        if (!value.counted()) throw BrokenRule{"a field of a constructor without fields"};
        auto* data = static_cast<Data*>(value.object());
        if (data->constructor != n.attr >> 16 || (n.attr & 0xFFFF) >= data->size())
          throw BrokenRule{"a field of another constructor"};
        value = Value(data->fields()[n.attr & 0xFFFF]);
      }
      if (!Follow(value, false, want, where)) return false;
      if (value.is_reference() && !n.types.lazy) throw BrokenRule{"a field that is not evaluated"};
      break;
    case Op::Seq:
      if (frame.step == 1 || value.is_error()) break;
      frame.step = 1;
      want = code_.SourcesOf(n)[1];
      where = frame.at;
      return false;
    case Op::Exit:
      if (!StepExit(frame, n, value, want, where)) return false;
      break;
    case Op::Construct:
      if (!StepConstruct(frame, n, value, want, where)) return false;
      break;
    default:
      if (!StepOrdinary(frame, n, value, want, where)) return false;
  }
  Finish(value);
  return true;
}

// `value` is the answer of the frame on top, which goes.
void DemandExecution::Finish(Value& value) {
  Frame frame = stack_.back();
  const NodeCode& n = code_.nodes[frame.node];
  if (n.once) frame.at->states()[n.slot] = SlotState::Gone;
  else if (n.slot != kNone) Store(frame.at, n.slot, value);
  if (n.slot != kNone) Computed(frame.node, frame.at);
  ++stats_.firings;
  if (run_.trace) Trace(frame.node, frame.at, value, false);
  stack_.pop_back();
  if (frame.inside) Release(frame.inside);
  Release(frame.at);
}

// The predicate at iterations 0, 1, 2, ... until it ends the loop, then the datum there.
bool DemandExecution::StepExit(Frame& frame, const NodeCode& n, Value& value, uint32_t& want, Activation*& where) {
  if (frame.step == 1) return true;
  uint32_t held = code_.scopes[n.attr].held;
  bool more = value.is_word() && value.word() != 0;
  if (!more && held != kNone && frame.at->states()[held] != SlotState::Full)
    Store(frame.at, held, value.is_error() ? value : NewCell(DemandCell::Tag, n.attr, frame.inside));
  if (value.is_error()) return true;
  if (more) {
    Activation* next = NewActivation({n.attr, true, frame.inside->label.iteration + 1}, n.attr, frame.at);
    Activation* last = std::exchange(frame.inside, next);
    try {
      Advance(last, next);
    } catch (...) {
      Release(last);
      throw;
    }
    Release(last);
    want = code_.SourcesOf(n)[0];
  } else {
    frame.step = 1;
    want = code_.SourcesOf(n)[1];
  }
  where = stack_.back().inside;
  return false;
}

// The operands in order, up to the first that failed.
bool DemandExecution::StepOrdinary(Frame& frame, const NodeCode& n, Value& value, uint32_t& want, Activation*& where) {
  auto forget = [&](uint32_t operands) { values_.resize(values_.size() - operands); };
  if (value.is_error()) {
    forget(frame.step);
    return true;
  }
  KernelError error;
  bool failed = false;
  if (n.count == 1) {
    value = ApplyTyped(n.op, n.types, n.attr, value, &error, &failed, memory::Available());
  } else {
    values_.push_back(std::move(value));
    if (++frame.step < n.count) {
      want = code_.SourcesOf(n)[frame.step];
      where = frame.at;
      return false;
    }
    value = ApplyTyped(n.op, n.types, n.attr, llvm::ArrayRef<Value>(values_).take_back(n.count), &error, &failed,
                       memory::Available());
    forget(n.count);
  }
  if (failed) value = MakeError(std::move(error), frame.node, frame.at);
  return true;
}

// ---------------------------------------------------------------- data

const ir::Constructor& DemandExecution::ConstructorOf(uint32_t node) const {
  return graph_.types[graph_.TypeOf({ir::NodeId(node), 0}).type].constructors[code_.nodes[node].attr];
}

// The first strict field from number `from` on; the number of fields if there is none.
uint32_t DemandExecution::FirstStrict(uint32_t node, uint32_t from) const {
  const auto& fields = ConstructorOf(node).fields;
  while (from < fields.size() && !fields[from].strict) ++from;
  return static_cast<uint32_t>(std::min<size_t>(from, fields.size()));
}

bool DemandExecution::StepConstruct(Frame& frame, const NodeCode& n, Value& value, uint32_t& want, Activation*& where) {
  uint32_t next = FirstStrict(frame.node, frame.step + 1);
  if (value.is_error()) {
    for (uint32_t field = FirstStrict(frame.node, 0); field < frame.step; field = FirstStrict(frame.node, field + 1))
      values_.pop_back();
    return true;
  }
  values_.push_back(std::move(value));
  if (next < n.count) {
    frame.step = next;
    want = code_.SourcesOf(n)[next];
    where = frame.at;
    return false;
  }
  value = Build(n, frame.node, frame.at);
  Consume(0);
  return true;
}

// The value, its strict fields taken from the operands.
Value DemandExecution::Build(const NodeCode& n, uint32_t node, Activation* at) {
  if (n.count == 0) return Value::Word(n.attr);
  const auto& fields = ConstructorOf(node).fields;
  Data* data = Data::New(n.attr, n.count);
  Value value = Value::Adopt(ValueKind::Object, data);
  for (uint32_t k = n.count; k-- > 0;) {
    Value& field = data->fields()[k];
    uint32_t source = code_.SourcesOf(n)[k];
    if (fields[k].strict) {
      field = std::move(values_.back());
      values_.pop_back();
    } else if (!Peek(source, at, field)) {
      field = NewCell(DemandCell::Edge, source, at);
    }
  }
  return value;
}

const Value& DemandExecution::ConstantOf(uint32_t constant) {
  if (!constant_made_[constant]) {
    constants_[constant] = Materialize(graph_, ir::ConstId(constant));
    constant_made_[constant] = true;
  }
  return constants_[constant];
}

// ---------------------------------------------------------------- tags, errors, traces

// The longest suffix whose first label enters `scope`.
Activation* DemandExecution::Strip(Activation* at, uint32_t scope) const {
  while (at != root_ && at->scope != scope) at = Up(at);
  return at;
}

Value DemandExecution::MakeError(KernelError error, uint32_t node, Activation* at) {
  auto* object = new ErrorObject(error.code, std::move(error.message), ir::NodeId(node), graph_.nodes[ir::NodeId(node)].pos);
  object->thrown = std::move(error.thrown);
  Value value = Value::Adopt(ValueKind::Error, object);
  object->tag = new TagNodeCell(NodeOf(at));
  return value;
}

Value DemandExecution::LoopError(uint32_t node, Activation* at) {
  return MakeError({ErrorCode::Loop, "<<loop>>"}, node, at);
}

// "%12 Add  tag [1 0] -> 7", and "stored" behind it if it was in the store.
void DemandExecution::Trace(uint32_t node, Activation* at, const Value& value, bool stored) {
  llvm::raw_ostream& out = *run_.trace;
  out << '%' << node << ' ' << llvm::StringRef(ir::InfoOf(code_.nodes[node].op).name) << "  tag ";
  PrintTag(TagOf(at), out);
  out << " -> ";
  PrintDatum(graph_, graph_.TypeOf({ir::NodeId(node), 0}), value, out);
  out << (stored ? "  stored\n" : "\n");
}

}  // namespace df::demand
