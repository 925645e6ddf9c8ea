// What happens in a copy: operands come, nodes fire. The rules are those of docs/graph.md, but that nothing dead is ever sent.
#include "runtime/engines/expanding/expanding.h"

#include <new>

#include "runtime/base/memory.h"

namespace df::expanding {

namespace {

bool IsTrue(const Value& predicate) { return predicate.is_word() && predicate.word() != 0; }

// The side that a predicate chooses: True is 0 and False 1, alternative k is k.
uint32_t Side(const Node& node, const Value& predicate) {
  if (node.operand_type == ir::TypeKind::Bool) return predicate.word() ? 0 : 1;
  return static_cast<uint32_t>(predicate.word());
}

Instance* Child(void* kept) { return static_cast<Instance*>(kept); }

}  // namespace

// ---------------------------------------------------------------- operands come

// An operand that is in its place now counts.
inline void ExpandingExecution::Arrived(Instance* instance, Node& node, Edge edge) {
  if (node.flags & kSpecial) return ArriveSpecial(instance, edge.node, edge.operand);
  if (--node.missing == 0) Push(instance, edge.node);
}

void ExpandingExecution::ArriveSpecial(Instance* instance, uint32_t index, uint32_t operand) {
  Node& node = instance->nodes()[index];
  if (node.flags & kFired) return;
  Value* operands = instance->operands() + node.first_operand;
  switch (node.code) {
    case Code::BranchMerge: {
      // Fires on the predicate and the side it chooses. A failed predicate is itself the result.
      if (operands[0].is_dead()) return;
      uint32_t source = operands[0].is_word() ? 1 + Side(node, operands[0]) : 0;
      if (source >= node.num_operands) throw BrokenRule{"an alternative that the branch does not have"};
      if (operands[source].is_dead()) return;
      break;
    }
    case Code::Exit:
      // The value, where the predicate is false. A failed one leaves the loop by itself.
      if (IsTrue(operands[0]) || operands[0].is_dead() || (operands[0].is_word() && operands[1].is_dead())) return;
      break;
    case Code::Delay:
      if (operand != node.first_operand) return CellOperand(instance, node, operand - node.first_operand);
      break;
    case Code::Decide: return Decide(instance, node);
    case Code::Publish: return Publish(instance, operand);
    default: {
      // The first failed operand is the result as soon as all before it are there; those that come later are absorbed.
      bool fires = --node.missing == 0;
      const ir::Constructor* constructor =
          node.code == Code::Construct
              ? &graph_.types[graph_.TypeOf({ir::NodeId(node.id), 0}).type].constructors[node.attr]
              : nullptr;
      for (uint32_t k = 0; k < node.num_operands && !operands[k].is_dead() && !fires; ++k)
        fires = operands[k].is_error() && (!constructor || (k > 0 && constructor->fields[k - 1].strict));
      if (!fires) return;
      break;
    }
  }
  node.flags |= kFired;
  Push(instance, index);
}

// Along all edges of a port. An operand is Dead before it comes, so there is nothing to destroy in its place.
void ExpandingExecution::Deliver(Instance* instance, uint32_t port, Value&& value) {
  const uint32_t* ports = instance->ports() + port;
  const Edge *edge = instance->edges() + ports[0], *end = instance->edges() + ports[1];
  Node* nodes = instance->nodes();
  Value* operands = instance->operands();
  if (value.is_word()) {
    const int64_t word = value.word();
    for (; edge != end; ++edge) {
      ::new (&operands[edge->operand]) Value(Value::Word(word));
      Arrived(instance, nodes[edge->node], *edge);
    }
    return;
  }
  for (; edge != end; ++edge) {
    Node& node = nodes[edge->node];
    ++instance->held;
    ::new (&operands[edge->operand]) Value(value);
    if (value.is_error() && (node.flags & kOvertake)) node.flags |= kSpecial;  // what is missing before it may come later
    Arrived(instance, node, *edge);
  }
  value = Value();
}

// To a copy that nobody holds for this: the first edge may end what it waits for, the second one makes it go on.
void ExpandingExecution::DeliverLate(Instance* instance, uint32_t port, Value&& value) {
  ++instance->refs;
  Deliver(instance, port, std::move(value));
  Unref(instance);
}

// ---------------------------------------------------------------- nodes fire

void ExpandingExecution::Fire(Instance* instance, uint32_t index) {
  Node& node = instance->nodes()[index];
  uint32_t first = node.first_operand;
  ++stats_.firings;
  switch (node.code) {
    case Code::Op: return Compute(instance, node);
    case Code::Const: return Deliver(instance, node.first_port, Value(program_.constants[node.attr]));
    case Code::Input: return Deliver(instance, node.first_port, std::move(inputs_[node.attr]));
    case Code::Result:
      results_[node.attr] = Take(instance, first);
      have_[node.attr] = true;
      --missing_;
      return;
    case Code::Switch: {
      const Value& predicate = instance->operands()[first];
      if (!predicate.is_word()) return;  // failed: no side is taken
      uint32_t side = Side(node, predicate);
      return Deliver(instance, node.first_port + side, Take(instance, first + 1));
    }
    case Code::BranchMerge: {
      const Value& predicate = instance->operands()[first];
      uint32_t source = predicate.is_word() ? 1 + Side(node, predicate) : 0;
      return Deliver(instance, node.first_port, Take(instance, first + source));
    }
    case Code::Construct: return Construct(instance, node);
    case Code::Force: return ForceRule(instance, index);
    case Code::Outer: return Outer(instance, index);
    case Code::Call: return Call(instance, node);
    case Code::LateArgument: return LateArgument(instance, node);
    case Code::Delay: return Delay(instance, node);
    case Code::LateOperand: {
      auto* cell = static_cast<DelayCell*>(instance->children()[program_.sites[graph_.nodes[ir::NodeId(node.id)].attr].child]);
      return LateOperand(cell, node.attr, Take(instance, first));
    }
    case Code::Next: return Next(instance, node);
    case Code::LateNext: return LateNext(instance, node);
    case Code::Exit: {
      const Value& predicate = instance->operands()[first];
      return SendResult(instance, node.attr, Take(instance, predicate.is_word() ? first + 1 : first));
    }
    case Code::Return: return SendResult(instance, node.attr, Take(instance, first));
    case Code::Decide:
    case Code::Publish: return;
  }
}

void ExpandingExecution::Compute(Instance* instance, Node& node) {
  sampler_.Enter(Part::Kernels);
  Value* operands = instance->operands() + node.first_operand;
  bool words = true;
  for (uint32_t k = 0; k < node.num_operands; ++k) {
    if (operands[k].is_word()) continue;
    words = false;
    if (!operands[k].is_error()) continue;
    sampler_.Enter(Part::Tokens);
    return Deliver(instance, node.first_port, Take(instance, node.first_operand + k));
  }
  Value value;
  int64_t word;
  if (words && node.operand_type == ir::TypeKind::Int &&
      ApplyToWords(node.op, operands[0].word(), operands[node.num_operands - 1].word(), &word)) {
    value = Value::Word(word);
  } else {
    KernelError error;
    bool failed = false;
    value = ApplyTyped(node.op, program_.types[node.id], node.attr, {operands, node.num_operands}, &error, &failed,
                       memory::Available());
    if (failed) value = MakeError(instance, ir::NodeId(node.id), std::move(error));
    // They may be large, and are of no use any more.
    if (!words)
      for (uint32_t k = 0; k < node.num_operands; ++k) Take(instance, node.first_operand + k);
  }
  sampler_.Enter(Part::Tokens);
  Deliver(instance, node.first_port, std::move(value));
}

// A failed strict field is the result; a lazy field is not looked at.
void ExpandingExecution::Construct(Instance* instance, Node& node) {
  Value* operands = instance->operands() + node.first_operand;
  if (node.flags & kSpecial) {  // something failed
    const auto& fields = graph_.types[graph_.TypeOf({ir::NodeId(node.id), 0}).type].constructors[node.attr].fields;
    for (uint32_t k = 1; k < node.num_operands && !operands[k].is_dead(); ++k)
      if (operands[k].is_error() && fields[k - 1].strict)
        return Deliver(instance, node.first_port, Take(instance, node.first_operand + k));
  }
  if (node.num_operands == 1) return Deliver(instance, node.first_port, Value::Word(node.attr));
  sampler_.Enter(Part::Kernels);
  Data* data = Data::New(node.attr, node.num_operands - 1);
  Value value = Value::Adopt(ValueKind::Object, data);
  for (uint32_t k = 1; k < node.num_operands; ++k) data->fields()[k - 1] = Take(instance, node.first_operand + k);
  sampler_.Enter(Part::Tokens);
  Deliver(instance, node.first_port, std::move(value));
}

Value ExpandingExecution::MakeError(Instance* instance, ir::NodeId node, KernelError error) {
  auto* object = new ErrorObject(error.code, std::move(error.message), node, graph_.nodes[node].pos);
  object->thrown = std::move(error.thrown);
  Value value = Value::Adopt(ValueKind::Error, object);
  object->tag = new TagNodeCell(TagOf(instance));
  return value;
}

// ---------------------------------------------------------------- calls and loops

// A function's body, or the first iteration of a loop.
void ExpandingExecution::Call(Instance* instance, Node& node) {
  const Site& site = program_.sites[node.attr];
  Instance* child = Instantiate(site, instance);
  for (uint32_t k = 0; k < node.num_operands; ++k) {
    Value value = Take(instance, node.first_operand + k);
    if (site.together[k] != kNone) Deliver(child, site.together[k], std::move(value));
  }
  if (site.child != kNone) {
    void*& kept = instance->children()[site.child];
    kept = child;
    child->kept_in = &kept;
    // Those that came before.
    for (const Site::Late& late : site.late)
      if (!instance->operands()[late.operand].is_dead()) Deliver(child, late.port, Take(instance, late.operand));
  }
  Unref(child);
}

void ExpandingExecution::LateArgument(Instance* instance, Node& node) {
  const Site& site = program_.sites[node.first_port];
  void* kept = instance->children()[site.child];
  if (!kept) return;  // the Call takes it
  if (instance->operands()[node.first_operand].is_dead()) return;  // the Call has taken it
  Value value = Take(instance, node.first_operand);
  if (kept != kGone) DeliverLate(Child(kept), site.late[node.attr].port, std::move(value));
}

// The predicate says what this iteration has still to send: the values of the next one, or what leaves the loop.
void ExpandingExecution::Decide(Instance* instance, const Node& node) {
  const Site& site = *instance->site;
  bool goes_on = IsTrue(instance->operands()[node.first_operand]);
  instance->refs += goes_on ? static_cast<uint32_t>(1 + site.next_late.size()) : instance->body->num_exits;
  Unref(instance);
}

void ExpandingExecution::Next(Instance* instance, Node& node) {
  if (!IsTrue(instance->operands()[node.first_operand])) return;
  const Site& site = *instance->site;
  Instance* next = Instantiate(site, instance->parent);
  next->iteration = instance->iteration + 1;
  for (uint32_t k = 0; k < site.next_together.size(); ++k) {
    Value value = Take(instance, node.first_operand + 1 + k);
    if (site.next_together[k] != kNone) Deliver(next, site.next_together[k], std::move(value));
  }
  if (site.next_child != kNone) {
    void*& kept = instance->children()[site.next_child];
    kept = next;
    next->kept_in = &kept;
    for (const Site::Late& late : site.next_late) {
      if (instance->operands()[late.operand].is_dead()) continue;
      Deliver(next, late.port, Take(instance, late.operand));
      Unref(instance);
    }
  }
  Unref(next);
  Unref(instance);
}

void ExpandingExecution::LateNext(Instance* instance, Node& node) {
  const Value* operands = instance->operands() + node.first_operand;
  if (!IsTrue(operands[1]) || operands[0].is_dead()) return;  // Next has taken it
  void* kept = instance->children()[instance->site->next_child];
  if (!kept) return;  // Next takes it
  Value value = Take(instance, node.first_operand);
  if (kept != kGone) DeliverLate(Child(kept), instance->site->next_late[node.attr].port, std::move(value));
  Unref(instance);
}

void ExpandingExecution::SendResult(Instance* instance, uint32_t result, Value value) {
  const Site& site = *instance->site;
  if (result == site.cell_result) {
    FillCell(instance->cell, std::move(value));
    return Unref(instance);
  }
  uint32_t port = site.returns[result];
  if (port == kNone) return;
  Deliver(instance->parent, port, std::move(value));
  Unref(instance);
}

// ---------------------------------------------------------------- delayed calls

// On its trigger alone it yields the reference; what it captures may come later.
void ExpandingExecution::Delay(Instance* instance, Node& node) {
  const Site& site = program_.sites[node.attr];
  ++stats_.delays;
  auto* cell = new DelayCell(&site, this);
  Value reference = Value::Adopt(ValueKind::Reference, cell);
  cell->next = first_cell_;
  if (first_cell_) first_cell_->previous = cell;
  first_cell_ = cell;
  cell->tag = HoldTag(TagOf(instance));
  cell->operands.resize(node.num_operands, Value::Dead());
  for (uint32_t k = 0; k < node.num_operands; ++k) {
    if (instance->operands()[node.first_operand + k].is_dead()) ++cell->missing;
    else cell->operands[k] = Take(instance, node.first_operand + k);
  }
  if (site.keeps_home) {
    cell->home = instance;
    ++instance->refs;
  }
  node.flags &= static_cast<uint8_t>(~kFired);  // its operands are still looked at
  void*& kept = instance->children()[site.child];
  kept = kGone;
  if (cell->missing) {
    cell->refs.Retain();
    cell->from = instance;
    ++instance->refs;
    kept = cell;
  }
  Deliver(instance, node.first_port, std::move(reference));
}

// Operand `k` of a Delay has come.
void ExpandingExecution::CellOperand(Instance* instance, const Node& delay, uint32_t k) {
  void* kept = instance->children()[program_.sites[delay.attr].child];
  if (!kept) return;  // the Delay takes it
  auto* cell = static_cast<DelayCell*>(kept);
  if (cell->released) return Push(instance, static_cast<uint32_t>(&delay - instance->nodes()) + k);  // as LateOperand
  LateOperand(cell, k, Take(instance, delay.first_operand + k));
}

void ExpandingExecution::LateOperand(DelayCell* cell, uint32_t k, Value value) {
  if (!cell->released) cell->operands[k] = std::move(value);
  else if (cell->body && cell->site->together[k] != kNone) DeliverLate(cell->body, cell->site->together[k], std::move(value));
  if (--cell->missing != 0) return;
  Instance* from = std::exchange(cell->from, nullptr);
  from->children()[cell->site->child] = kGone;
  Unref(from);
  Value last = Value::Adopt(ValueKind::Reference, cell);
}

void ExpandingExecution::Release(DelayCell* cell) {
  if (cell->released) return;
  cell->released = true;
  ++stats_.released;
  Instance* body = Instantiate(*cell->site, cell->home);
  body->cell = cell;
  cell->refs.Retain();
  cell->body = body;
  if (!cell->home) {
    body->base = HoldTag(cell->tag);
    body->depth = DepthOf(cell->tag) + 1;
    stats_.max_depth = std::max(stats_.max_depth, body->depth);
  }
  auto operands = std::exchange(cell->operands, {});
  for (uint32_t k = 0; k < operands.size(); ++k)
    if (!operands[k].is_dead() && cell->site->together[k] != kNone) Deliver(body, cell->site->together[k], std::move(operands[k]));
  Unref(body);
}

// A delayed call's result: once, and to every Force that waits.
void ExpandingExecution::FillCell(DelayCell* cell, Value value) {
  if (cell->full) throw BrokenRule{"a second result of a delayed call"};
  if (value.is_reference()) throw BrokenRule{"a delayed call whose result is a reference"};
  cell->value = std::move(value);
  cell->full = true;
  auto waiters = std::exchange(cell->waiters, {});
  for (const Entry& waiter : waiters) {
    Deliver(waiter.instance, waiter.instance->nodes()[waiter.node].first_port, Value(cell->value));
    Unref(waiter.instance);
  }
  DropTag(std::exchange(cell->tag, nullptr));
}

// A reference is released if it was not yet; its value passes when it is there.
void ExpandingExecution::ForceRule(Instance* instance, uint32_t index) {
  const Node& node = instance->nodes()[index];
  Value value = Take(instance, node.first_operand);
  AskHost(value);
  if (!value.is_reference()) return Deliver(instance, node.first_port, std::move(value));
  auto* cell = static_cast<DelayCell*>(static_cast<Cell*>(value.object()));
  if (cell->full) return Deliver(instance, node.first_port, Value(cell->value));
  cell->waiters.push_back({instance, index});
  ++instance->refs;
  Release(cell);
}

// ---------------------------------------------------------------- Outer

// The value that the innermost copy of the named scope around this one holds.
void ExpandingExecution::Outer(Instance* instance, uint32_t index) {
  const Node& node = instance->nodes()[index];
  ir::ScopeId scope(graph_.nodes[ir::NodeId(node.id)].attr);
  Instance* at = instance;
  while (at->body->scope != scope) at = at->parent;
  const Value& value = at->operands()[node.attr];
  if (!value.is_dead()) return Deliver(instance, node.first_port, Value(value));
  outer_waiters_[{at, node.attr}].push_back({instance, index});
  ++instance->refs;
}

void ExpandingExecution::Publish(Instance* instance, uint32_t operand) {
  auto found = outer_waiters_.find({instance, operand});
  if (found == outer_waiters_.end()) return;
  std::vector<Entry> waiters = std::move(found->second);
  outer_waiters_.erase(found);
  for (const Entry& waiter : waiters) {
    Push(waiter.instance, waiter.node);
    Unref(waiter.instance);
  }
}

}  // namespace df::expanding
