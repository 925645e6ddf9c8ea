// The rules by which tokens fire nodes: the table of docs/graph.md, in its order.
#include "runtime/engines/reference/reference.h"

#include <new>

namespace df::reference {

using ir::Op;

namespace {

bool IsTrue(const Value& predicate) { return predicate.is_word() && predicate.word() != 0; }

// The side of a Switch or BranchMerge that a predicate chooses: True is 0 and False 1, alternative k is k.
uint32_t Side(ir::TypeKind kind, const Value& predicate) {
  if (kind == ir::TypeKind::Bool) return predicate.word() ? 0 : 1;
  return static_cast<uint32_t>(predicate.word());
}

}  // namespace

void ReferenceExecution::Deliver(const Token& token) {
  switch (graph_.nodes[token.node].op) {
    case Op::EntryMerge:
    case Op::LoopMerge:
      TraceFiring(token.node, token.tag, token.value);
      ++stats_.firings;
      return Emit(token.node, 0, token.tag, token.value);
    case Op::Switch: return Switch(token);
    case Op::BranchMerge: return BranchMerge(token);
    case Op::Call: return Call(token);
    case Op::Return: return Return(token);
    case Op::Enter: return Enter(token);
    case Op::NextIteration: return NextIteration(token);
    case Op::Exit: return Exit(token);
    case Op::Delay: return Delay(token);
    case Op::Force: return ForceRule(token);
    case Op::Outer: return Outer(token);
    case Op::Construct: return Construct(token);
    case Op::Result: return Result(token);
    default: return Ordinary(token);  // Input and Dead too: an operand and a tag
  }
}

// One token per input and tag. A dead input gives a dead result. The first failed operand is the result as
// soon as all before it are there; those that come later are absorbed.
void ReferenceExecution::Ordinary(const Token& token) {
  uint32_t inputs = graph_.nodes[token.node].num_inputs;
  if (inputs == 1) return Compute(token.node, token.tag, token.value);
  auto it = Match(token);
  Waiting& waiting = it->second;
  if (!waiting.fired) {
    for (uint32_t k = 0; k < inputs && waiting.present[k]; ++k) {
      if (waiting.operands[k].is_dead()) break;
      if (!waiting.operands[k].is_error()) continue;
      waiting.fired = true;
      TraceFiring(token.node, token.tag, waiting.operands);
      ++stats_.firings;
      Emit(token.node, 0, token.tag, waiting.operands[k]);
      break;
    }
  }
  if (waiting.count < inputs) return;
  bool fired = waiting.fired;
  CountedVector<Value> operands = std::move(waiting.operands);
  at_->waiting.erase(it);
  if (!fired) Compute(token.node, token.tag, operands);
}

void ReferenceExecution::Compute(ir::NodeId node, const TagRef& tag, llvm::ArrayRef<Value> operands) {
  const ir::Node& n = graph_.nodes[node];
  TraceFiring(node, tag, operands);
  ++stats_.firings;
  bool dead = n.op == Op::Dead;
  for (const Value& operand : operands) dead |= operand.is_dead();
  if (dead) return Emit(node, 0, tag, Value::Dead());
  for (const Value& operand : operands)
    if (operand.is_error()) return Emit(node, 0, tag, operand);
  if (n.op == Op::Const) {
    if (!constant_made_[n.attr]) {
      constants_[n.attr] = Materialize(graph_, ir::ConstId(n.attr));
      constant_made_[n.attr] = true;
    }
    return Emit(node, 0, tag, constants_[n.attr]);
  }
  if (n.op == Op::Input) return Emit(node, 0, tag, inputs_[n.attr]);
  KernelError error;
  bool failed = false;
  Value value = ApplyTyped(n.op, types_[node.index], n.attr, operands, &error, &failed, memory::Available());
  Emit(node, 0, tag, failed ? MakeError(std::move(error), node, tag) : value);
}

// The datum on the side that the predicate chooses; dead everywhere if the predicate is dead or failed.
void ReferenceExecution::Switch(const Token& token) {
  auto it = Match(token);
  if (it->second.count < 2) return;
  CountedVector<Value> operands = std::move(it->second.operands);
  at_->waiting.erase(it);
  const Value& predicate = operands[0];
  TraceFiring(token.node, token.tag, operands);
  ++stats_.firings;
  bool chooses = predicate.is_word();
  uint32_t side = chooses ? Side(types_[token.node.index].operand, predicate) : 0;
  for (uint32_t k = 0; k < graph_.nodes[token.node].num_results; ++k)
    Emit(token.node, k, token.tag, chooses && k == side ? operands[1] : Value::Dead());
}

// Fires on the predicate and the side it chooses, whatever that side holds, and absorbs the others.
void ReferenceExecution::BranchMerge(const Token& token) {
  auto it = Match(token);
  Waiting& waiting = it->second;
  if (!waiting.fired && waiting.present[0]) {
    const Value& predicate = waiting.operands[0];
    // A dead or failed predicate is itself the result.
    uint32_t source = predicate.is_word() ? 1 + Side(types_[token.node.index].operand, predicate) : 0;
    if (source >= waiting.operands.size()) throw BrokenRule{"an alternative that the branch does not have"};
    if (waiting.present[source]) {
      waiting.fired = true;
      TraceFiring(token.node, token.tag, waiting.operands);
      ++stats_.firings;
      Emit(token.node, 0, token.tag, waiting.operands[source]);
    }
  }
  if (waiting.count == waiting.operands.size()) at_->waiting.erase(it);
}

// Tag t becomes i:t. A dead token never enters a body; of the trigger it goes to the Returns, over the
// control edge.
void ReferenceExecution::Call(const Token& token) {
  const ir::Node& n = graph_.nodes[token.node];
  TraceFiring(token.node, token.tag, token.value);
  ++stats_.firings;
  if (token.value.is_dead()) {
    if (n.num_results > 1) Emit(token.node, 1, token.tag, token.value);
    return;
  }
  if (n.num_results > 1) ++stats_.calls;
  Emit(token.node, 0, tags_.Push({n.attr, false, 0}, token.tag), token.value);
}

// Tag i:t becomes t; other activations' results are not for this site. Control tokens pass.
void ReferenceExecution::Return(const Token& token) {
  const ir::Node& n = graph_.nodes[token.node];
  bool mine = !token.tag.empty() && !token.tag.head().loop && token.tag.head().id == n.attr;
  if (token.input == 0 && !mine) return;
  TraceFiring(token.node, token.tag, token.value);
  ++stats_.firings;
  if (token.input == 1) return Emit(token.node, 0, token.tag, Value::Dead());
  if (n.num_results == 0) return FillCell(token);
  Emit(token.node, 0, token.tag.tail(), token.value);
}

// A delayed call's result: once, and to every Force that waits.
void ReferenceExecution::FillCell(const Token& token) {
  auto it = cells_.find({graph_.nodes[token.node].attr, token.tag.tail()});
  if (it == cells_.end() || !it->second->released) throw BrokenRule{"a result of a delayed call that was not released"};
  if (token.value.is_reference()) throw BrokenRule{"a delayed call whose result is a reference"};
  if (token.value.is_dead()) throw BrokenRule{"a delayed call whose result is dead"};
  DelayCell* cell = it->second;
  if (cell->full) throw BrokenRule{"a second result of a delayed call"};
  cell->value = token.value;
  cell->full = true;
  auto waiters = std::move(cell->waiters);
  cell->waiters.clear();
  for (auto& [node, tag] : waiters) Emit(node, 0, tag, cell->value);
  Forget(cell);
  LetGo(cell);  // what its release held
}

void ReferenceExecution::Enter(const Token& token) {
  const ir::Node& n = graph_.nodes[token.node];
  TraceFiring(token.node, token.tag, token.value);
  ++stats_.firings;
  if (token.value.is_dead()) {
    if (n.num_results > 1) Emit(token.node, 1, token.tag, token.value);
    return;
  }
  if (n.num_results > 1) ++stats_.loops;
  Emit(token.node, 0, tags_.Push({n.attr, true, 0}, token.tag), token.value);
}

// In a graph whose edges stay in their scopes a token of a loop has an iteration in front.
void ReferenceExecution::CheckInLoop(const Token& token) const {
  bool inside = !token.tag.empty() && token.tag.head().loop && token.tag.head().id == graph_.nodes[token.node].attr;
  if (!inside) throw BrokenRule{"a token of another scope"};
}

// (L,n):t becomes (L,n+1):t, if the predicate is true and the datum live.
void ReferenceExecution::NextIteration(const Token& token) {
  CheckInLoop(token);
  auto it = Match(token);
  if (it->second.count < 2) return;
  CountedVector<Value> operands = std::move(it->second.operands);
  at_->waiting.erase(it);
  TraceFiring(token.node, token.tag, operands);
  ++stats_.firings;
  if (operands[0].is_dead() || !IsTrue(operands[1])) return;
  const Label& head = token.tag.head();
  if (IsTrigger(token.node, 0)) ++stats_.loops;
  Emit(token.node, 0, tags_.Push({head.id, true, head.iteration + 1}, token.tag.tail()), operands[0]);
}

// Where the predicate is false the value leaves the loop; a failed predicate leaves instead of it.
void ReferenceExecution::Exit(const Token& token) {
  if (token.input == 2) {
    TraceFiring(token.node, token.tag, token.value);
    ++stats_.firings;
    return Emit(token.node, 0, token.tag, Value::Dead());
  }
  CheckInLoop(token);
  // The control edge never matches: two operands make a firing.
  auto it = Match(token);
  if (exits_early_ && token.input == 0 && token.value.is_error() && it->second.count < 2) {
    it->second.fired = true;
    TraceFiring(token.node, token.tag, llvm::ArrayRef<Value>(it->second.operands).take_front(2));
    ++stats_.firings;
    return Emit(token.node, 0, token.tag.tail(), token.value);
  }
  if (it->second.count < 2) return;
  const bool fired = it->second.fired;
  CountedVector<Value> operands = std::move(it->second.operands);
  at_->waiting.erase(it);
  if (fired) return;
  TraceFiring(token.node, token.tag, llvm::ArrayRef<Value>(operands).take_front(2));
  ++stats_.firings;
  const Value& predicate = operands[0];
  if (predicate.is_word()) {
    if (IsTrue(predicate)) return;
    return Emit(token.node, 0, token.tag.tail(), operands[1]);
  }
  if (predicate.is_dead() && token.tag.head().iteration != 0) throw BrokenRule{"a dead predicate inside a loop"};
  Emit(token.node, 0, token.tag.tail(), predicate);
}

// On its trigger alone it yields the reference; operands are kept until the release, or go out at once after
// it.
void ReferenceExecution::Delay(const Token& token) {
  const ir::Node& n = graph_.nodes[token.node];
  if (token.input == 0) {
    TraceFiring(token.node, token.tag, token.value);
    ++stats_.firings;
    if (token.value.is_dead()) return Emit(token.node, 0, token.tag, token.value);
    ++stats_.delays;
    DelayCell* cell = CellFor(ir::SiteId(n.attr), token.tag);
    Value reference = Value::Retain(ValueKind::Reference, cell);
    CountOperand(cell);
    return Emit(token.node, 0, token.tag, reference);
  }
  if (token.value.is_dead()) return;
  DelayCell* cell = CellFor(ir::SiteId(n.attr), token.tag);
  if (cell->released) {
    TraceFiring(token.node, token.tag, token.value);
    Emit(token.node, token.input + 1, tags_.Push({n.attr, false, 0}, token.tag), token.value);
  } else {
    cell->kept.emplace_back(token.input, token.value);
  }
  CountOperand(cell);
}

// A reference is released if it was not yet; its value passes when it is there.
void ReferenceExecution::ForceRule(const Token& token) {
  if (!token.value.is_reference()) {
    TraceFiring(token.node, token.tag, token.value);
    ++stats_.firings;
    return Emit(token.node, 0, token.tag, token.value);
  }
  TraceFiring(token.node, token.tag, token.value);
  ++stats_.firings;
  if (HostCellIn(token.value.object())) {
    Value value = token.value;
    AskHost(value);
    return Emit(token.node, 0, token.tag, value);
  }
  ForceCell(token, static_cast<DelayCell*>(static_cast<Cell*>(token.value.object())));
}

void ReferenceExecution::ForceCell(const Token& token, DelayCell* cell) {
  if (cell->full) return Emit(token.node, 0, token.tag, cell->value);
  cell->waiters.emplace_back(token.node, token.tag);
  Release(cell);
}

// At t' the value that the scope D holds at t, the longest suffix of t' whose first label enters D.
void ReferenceExecution::Outer(const Token& token) {
  ir::ScopeId scope(graph_.nodes[token.node].attr);
  if (token.input == 1) {
    if (token.value.is_dead()) return;
    Key key{token.node.index, token.tag};
    if (!at_->outer_values.try_emplace(key, token.value).second) throw BrokenRule{"two outer values under one tag"};
    auto it = at_->outer_waiting.find(key);
    if (it == at_->outer_waiting.end()) return;
    CountedVector<TagRef> tags = std::move(it->second);
    at_->outer_waiting.erase(it);
    TraceFiring(token.node, token.tag, token.value);
    stats_.firings += tags.size();
    for (const TagRef& tag : tags) Emit(token.node, 0, tag, token.value);
    return;
  }
  if (token.value.is_dead()) {
    TraceFiring(token.node, token.tag, token.value);
    ++stats_.firings;
    return Emit(token.node, 0, token.tag, token.value);
  }
  Key key{token.node.index, Strip(token.tag, scope)};
  auto it = at_->outer_values.find(key);
  if (it == at_->outer_values.end()) {
    at_->outer_waiting[key].push_back(token.tag);
    return;
  }
  TraceFiring(token.node, token.tag, token.value);
  ++stats_.firings;
  Emit(token.node, 0, token.tag, it->second);
}

// A failed strict field is the result; a lazy field is not looked at.
void ReferenceExecution::Construct(const Token& token) {
  const ir::Node& n = graph_.nodes[token.node];
  const ir::Constructor& constructor =
      graph_.types[graph_.TypeOf({token.node, 0}).type].constructors[n.attr];
  auto it = Match(token);
  Waiting& waiting = it->second;
  if (!waiting.fired) {
    for (uint32_t k = 0; k < n.num_inputs && waiting.present[k] && !waiting.operands[k].is_dead(); ++k) {
      if (k == 0 || !constructor.fields[k - 1].strict || !waiting.operands[k].is_error()) continue;
      waiting.fired = true;
      TraceFiring(token.node, token.tag, waiting.operands);
      ++stats_.firings;
      Emit(token.node, 0, token.tag, waiting.operands[k]);
      break;
    }
  }
  if (waiting.count < n.num_inputs) return;
  bool fired = waiting.fired;
  CountedVector<Value> operands = std::move(waiting.operands);
  at_->waiting.erase(it);
  if (fired) return;
  TraceFiring(token.node, token.tag, operands);
  ++stats_.firings;
  for (const Value& operand : operands)
    if (operand.is_dead()) return Emit(token.node, 0, token.tag, operand);
  if (operands.size() == 1) return Emit(token.node, 0, token.tag, Value::Word(n.attr));
  Data* data = Data::New(n.attr, static_cast<uint32_t>(operands.size() - 1));
  Value value = Value::Adopt(ValueKind::Object, data);
  for (uint32_t k = 1; k < operands.size(); ++k) data->fields()[k - 1] = std::move(operands[k]);
  Emit(token.node, 0, token.tag, value);
}

void ReferenceExecution::Result(const Token& token) {
  uint32_t index = graph_.nodes[token.node].attr;
  if (result_there_[index]) throw BrokenRule{"a second result"};
  if (token.value.is_dead()) throw BrokenRule{"a dead result"};
  TraceFiring(token.node, token.tag, token.value);
  ++stats_.firings;
  result_there_[index] = true;
  results_[index] = token.value;
  --results_missing_;
}

// ---------------------------------------------------------------- delayed calls

void ReferenceExecution::Release(DelayCell* cell) {
  if (cell->released) return;
  cell->released = true;
  Hold(cell);
  ++stats_.released;
  ++stats_.calls;
  ir::NodeId node = delay_of_site_[cell->site.index];
  TagRef tag = tags_.Push({cell->site.index, false, 0}, cell->tag);
  Emit(node, 1, tag, Value::Word(0));
  for (auto& [input, value] : cell->kept) Emit(node, input + 1, tag, value);
  cell->kept.clear();
  cell->kept.shrink_to_fit();
}

DelayCell* ReferenceExecution::CellFor(ir::SiteId site, const TagRef& tag) {
  auto [it, added] = cells_.try_emplace(Key{site.index, tag}, nullptr);
  if (!added) return it->second;
  DelayCell* cell;
  try {
    cell = new DelayCell;
  } catch (...) {
    cells_.erase(it);
    throw;
  }
  it->second = cell;
  cell->owner = this;
  cell->site = site;
  cell->tag = tag;
  cell->next = first_cell_;
  if (first_cell_) first_cell_->previous = cell;
  first_cell_ = cell;
  cell->holds = 1;  // the count it is made with: until all operands have come
  return cell;
}

void ReferenceExecution::Hold(DelayCell* cell) {
  ++cell->holds;
  cell->refs.Retain();
}

void ReferenceExecution::LetGo(DelayCell* cell) {
  --cell->holds;
  Value last = Value::Adopt(ValueKind::Reference, cell);
}

void ReferenceExecution::CountOperand(DelayCell* cell) {
  ++cell->arrived;
  if (!AllArrived(cell)) return;
  Forget(cell);
  LetGo(cell);
}

bool ReferenceExecution::AllArrived(const DelayCell* cell) const {
  return cell->arrived == graph_.nodes[delay_of_site_[cell->site.index]].num_inputs;
}

// Nobody looks a cell up by its name any more once it is full and has all its operands. Not before: a body may give its
// result without an operand that a reference inside of the result still waits for.
void ReferenceExecution::Forget(DelayCell* cell) {
  if (cell->full && AllArrived(cell)) cells_.erase({cell->site.index, cell->tag});
}

DelayCell::~DelayCell() {
  if (!owner) return;
  owner->cells_.erase({site.index, tag});
  (previous ? previous->next : owner->first_cell_) = next;
  if (next) next->previous = previous;
}

void DelayCell::DropChildren(DeadObjects& dead) {
  dead.Drop(value);
  for (auto& [input, operand] : kept) dead.Drop(operand);
  kept.clear();
}

// ---------------------------------------------------------------- tags and errors

TagRef ReferenceExecution::Strip(TagRef tag, ir::ScopeId scope) const {
  while (!tag.empty()) {
    const Label& head = tag.head();
    ir::ScopeId entered = head.loop ? ir::ScopeId(head.id) : graph_.sites[ir::SiteId(head.id)].callee;
    if (entered == scope) return tag;
    tag = tag.tail();
  }
  return tag;
}

Value ReferenceExecution::MakeError(KernelError error, ir::NodeId node, const TagRef& tag) {
  auto* object = new ErrorObject(error.code, std::move(error.message), node, graph_.nodes[node].pos);
  object->thrown = std::move(error.thrown);
  Value value = Value::Adopt(ValueKind::Error, object);
  object->tag = NewErrorTag(tag);
  return value;
}

}  // namespace df::reference
