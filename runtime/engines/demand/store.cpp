// The store: activations with their slots, references, and when both go. Most go by their counts, at once. A
// value in a slot may refer to its own activation, though (a lazy field): such circles are found by a collection, each time that as much is
// alive as twice what the last one left.
#include <new>

#include "llvm/ADT/DenseMap.h"
#include "runtime/engines/demand/demand.h"

namespace df::demand {

namespace {

constexpr uint64_t kFirstCollection = 1 << 16;
constexpr uint64_t kObjectsPerLook = 1 << 13;  // in a millisecond or two

}  // namespace

Activation* DemandExecution::NewActivation(Label label, uint32_t scope, Activation* parent) {
  uint32_t slots = code_.scopes[scope].slots;
  TagNode* outer = parent ? NodeOf(parent) : nullptr;
  size_t bytes = sizeof(Activation) + slots * (sizeof(Value) + sizeof(SlotState));
  auto* at = static_cast<Activation*>(memory::Allocate(bytes));
  bool top = !parent || parent == root_;
  ::new (at) Activation{{label, top ? nullptr : parent, parent ? parent->depth + 1 : 0, 1, 0, nullptr},
                        scope, slots, static_cast<uint32_t>(code_.scopes[scope].merges.size()), false, false,
                        HoldTag(outer), nullptr, nullptr, newest_, nullptr, 0};
  if (!top) ++parent->refs;
  for (uint32_t i = 0; i < slots; ++i) {
    ::new (at->values() + i) Value();
    at->states()[i] = SlotState::Empty;
  }
  if (newest_) newest_->newer = at;
  newest_ = at;
  stats_.max_depth = std::max(stats_.max_depth, at->depth);
  ++(label.loop ? stats_.loops : stats_.calls);
  if (++live_ > stats_.peak_frames) stats_.peak_frames = live_;
  return at;
}

// Nothing is asked for in the parent any more. A trace prints whole tags.
void DemandExecution::Detach(Activation* at) {
  if (at->pending || at->detached || code_.scopes[at->scope].looks_out || run_.trace) return;
  at->detached = true;
  if (at->parent) Release(static_cast<Activation*>(std::exchange(at->parent, nullptr)));
}

// The tag of `at` for what outlives it. Not counted for the caller.
TagNode* DemandExecution::NodeOf(Activation* at) {
  if (!at->node && at != root_) at->node = NewTag(at->label, at->outer);
  return at->node;
}

// Values that go may be the last to hold other activations; they queue up here instead of recurring.
void DemandExecution::Bury(Activation* at) {
  at->chain = dying_;
  dying_ = at;
  if (!draining_) Drain();
}

void DemandExecution::Drain() {
  draining_ = true;
  while (dying_) {
    auto* dead = static_cast<Activation*>(dying_);
    dying_ = dead->chain;
    DeadObjects values;
    Clear(dead, values);
    values.FreeAll();
    if (dead->parent) Release(static_cast<Activation*>(dead->parent));
    DropTag(dead->node);
    DropTag(dead->outer);
    (dead->newer ? dead->newer->older : newest_) = dead->older;
    if (dead->older) dead->older->newer = dead->newer;
    --live_;
    memory::Free(dead, dead->bytes());
  }
  draining_ = false;
}

// Drops all that is stored under `at`, and the iteration before.
void DemandExecution::Clear(Activation* at, DeadObjects& dead) {
  for (uint32_t i = 0; i < at->slots; ++i) {
    if (at->states()[i] == SlotState::Full) --entries_;
    at->states()[i] = SlotState::Empty;
    dead.Drop(at->values()[i]);
  }
  if (Activation* previous = std::exchange(at->previous, nullptr)) Release(previous);
}

void DemandExecution::Drop(Activation* at, uint32_t slot) {
  if (at->states()[slot] == SlotState::Full) --entries_;
  at->states()[slot] = SlotState::Empty;
  Value last = std::move(at->values()[slot]);
}

void DemandExecution::Store(Activation* at, uint32_t slot, const Value& value) {
  if (++entries_ > stats_.peak_entries) stats_.peak_entries = entries_;
  at->values()[slot] = value;
  at->states()[slot] = SlotState::Full;
}

// After the answer for `node` was found under `at`: what was kept only to give it can go.
void DemandExecution::Computed(uint32_t node, Activation* at) {
  const NodeCode& n = code_.nodes[node];
  auto all_full = [&](const std::vector<uint32_t>& nodes) {
    for (uint32_t other : nodes)
      if (code_.nodes[other].live && at->states()[code_.nodes[other].slot] != SlotState::Full) return false;
    return true;
  };
  if (n.op == ir::Op::LoopMerge || n.op == ir::Op::EntryMerge) {
    if (--at->pending) return;
    if (at->previous) Release(std::exchange(at->previous, nullptr));
    Detach(at);
  } else if (n.op == ir::Op::Return) {
    const SiteCode& site = code_.sites[n.attr];
    if (site.held != kNone && all_full(site.returns)) Drop(at, site.held);
  } else if (n.op == ir::Op::Exit) {
    const ScopeCode& loop = code_.scopes[n.attr];
    if (loop.held != kNone && all_full(loop.exits)) Drop(at, loop.held);
  }
}

// ---------------------------------------------------------------- references

DemandCell::DemandCell(DemandExecution* engine, Kind kind, uint32_t i, Activation* a)
    : what(kind), id(i), at(a), older(engine->newest_cell_), owner(engine) {
  ++at->refs;
  if (older) older->newer = this;
  engine->newest_cell_ = this;
  ++engine->live_cells_;
}

DemandCell::~DemandCell() {
  if (!owner) return;
  (newer ? newer->older : owner->newest_cell_) = older;
  if (older) older->newer = newer;
  --owner->live_cells_;
  if (at) owner->Release(at);
}

Value DemandExecution::NewCell(DemandCell::Kind kind, uint32_t id, Activation* at) {
  if (kind == DemandCell::Delay) ++stats_.delays;
  return Value::Adopt(ValueKind::Reference, new DemandCell(this, kind, id, at));
}

// ---------------------------------------------------------------- collection

namespace {

// Data have no place for a mark of their own.
struct Seen {
  uint32_t inner = 0;
  bool marked = false;
};

}  // namespace

// What is held from outside of the store, by demands in progress or by the caller, and what that leads to,
// stays. The rest is emptied, and then goes by its counts.
void DemandExecution::Collect() {
  llvm::DenseMap<Object*, Seen> seen;
  std::vector<Object*> work;
  uint64_t looked = 0;
  // May throw: nothing is changed yet. Activations are not counted before those are gone that nobody holds.
  auto look = [&] {
    if (++looked % kObjectsPerLook != 0) return;
    LeaveAtLimit();
    if (Stop stop = limits_.Check(0); stop != Stop::Done) throw Stopped{stop};
  };
  auto count = [&](const Value& value) {
    if (!value.counted()) return;
    Object* object = value.object();
    if (object->kind == ObjectKind::Cell) {
      ++CellOf(value)->inner;
    } else if (object->kind == ObjectKind::Data) {
      if (seen[object].inner++ == 0) work.push_back(object);
    }
  };
  for (Activation* at = newest_; at; at = at->older) at->inner = 0, at->marked = false;
  for (DemandCell* cell = newest_cell_; cell; cell = cell->older) cell->inner = 0, cell->marked = false;
  auto in_cell = [](Object* cell) { return static_cast<DemandCell*>(static_cast<Cell*>(cell)); };
  for (Activation* at = newest_; at; at = at->older) {
    look();
    if (at->parent) ++static_cast<Activation*>(at->parent)->inner;
    if (at->previous) ++at->previous->inner;
    for (uint32_t i = 0; i < at->slots; ++i) count(at->values()[i]);
  }
  for (DemandCell* cell = newest_cell_; cell; cell = cell->older) {
    look();
    if (cell->at) ++cell->at->inner;
    count(cell->value);
  }
  while (!work.empty()) {
    Object* object = work.back();
    work.pop_back();
    look();
    auto* data = static_cast<Data*>(object);
    for (uint32_t i = 0; i < data->size(); ++i) count(data->fields()[i]);
  }

  std::vector<Activation*> activations;
  auto reach_activation = [&](df::Tag* tag) {
    auto* at = static_cast<Activation*>(tag);
    if (!at || at->marked) return;
    at->marked = true;
    activations.push_back(at);
  };
  auto reach_object = [&](Object* object) {
    if (object->kind == ObjectKind::Cell) {
      if (std::exchange(in_cell(object)->marked, true)) return;
    } else if (object->kind == ObjectKind::Data) {
      if (std::exchange(seen[object].marked, true)) return;
    } else {
      return;
    }
    work.push_back(object);
  };
  auto reach_value = [&](const Value& value) {
    if (value.counted()) reach_object(value.object());
  };
  for (Activation* at = newest_; at; at = at->older)
    if (at->refs > at->inner) reach_activation(at);
  for (DemandCell* cell = newest_cell_; cell; cell = cell->older)
    if (cell->refs.raw() > cell->inner) reach_object(cell);
  std::vector<Object*> held;
  for (auto& [object, record] : seen)
    if (object->refs.raw() > record.inner) held.push_back(object);
  for (Object* object : held) reach_object(object);
  while (!work.empty() || !activations.empty()) {
    look();
    if (!activations.empty()) {
      Activation* at = activations.back();
      activations.pop_back();
      reach_activation(at->parent);
      reach_activation(at->previous);
      for (uint32_t i = 0; i < at->slots; ++i) reach_value(at->values()[i]);
      continue;
    }
    Object* object = work.back();
    work.pop_back();
    if (object->kind == ObjectKind::Cell) {
      reach_activation(in_cell(object)->at);
      reach_value(in_cell(object)->value);
    } else {
      auto* data = static_cast<Data*>(object);
      for (uint32_t i = 0; i < data->size(); ++i) reach_value(data->fields()[i]);
    }
  }

  Queue();
  DeadObjects dead;
  for (Activation* at = newest_; at; at = at->older)
    if (!at->marked) Clear(at, dead);
  for (DemandCell* cell = newest_cell_; cell; cell = cell->older)
    if (!cell->marked) cell->DropChildren(dead);
  dead.FreeAll();
  Drain();
  collect_at_ = std::max(kFirstCollection, 2 * (live_ + live_cells_));
}

}  // namespace df::demand
