// Cycles through cells (`ones = 1 : ones`), which counts alone never free: trial deletion.
//
// All counts that cells, and the data they lead to, hold of each other are taken back. What has a count left is held from
// outside: by a frame, the stack, a result, the caller; so is all that it leads to. The cells that are left over are held by
// nothing but each other; all get their counts again, the contents of those cells are dropped, and then they go by their counts.
//
// What each count was stands in a table, so that this can be left at any moment, for a limit or for want of memory.
//
// Only a run that has made a cell before its operands were there, or one that reads a frame (Worker::made_late), can have cycles. Any
// other cell and constructor holds what was there before it, and the body of a cell reaches that, what it makes itself, and what cells
// in there give. So the first cycle would have to go through a cell that its own operands lead to, and they were there first.
//
// Before that, delayed bodies that need nothing more than what is there are computed. `fst p` of a lazy pattern would hold all
// of `p` until somebody asks for it, and the other component with it: Wadler's leak ("Fixing some space leaks with a garbage
// collector", 1987).
//
// Where there can be no cycle a cell that is full need not stay between two constructors either: the field that refers to it gets its
// value. Cycles that come later do not go through it, by the same reasoning: what the cells of before lead to was there
// before them, or is made by their own bodies.
#include "runtime/engines/tagged/code/frameless.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/engines/tagged/exec/work_sharing.h"

namespace df::tagged {

namespace {

enum Colour : uint8_t { kUnseen, kTaken, kHeld };
constexpr uint64_t kObjectsPerLook = 1 << 14;  // in a millisecond or two

class TrialDeletion {
 public:
  // `look` is called every `every` objects, and may throw.
  TrialDeletion(llvm::function_ref<void()> look, uint64_t every) : look_(look), every_(every) {}
  // Every object is again as it was before.
  ~TrialDeletion() {
    for (size_t i = 0; i < seen_.size(); ++i) {
      seen_[i]->refs.raw() = counts_[i];
      seen_[i]->colour = kUnseen;
    }
  }
  TrialDeletion(const TrialDeletion&) = delete;
  TrialDeletion& operator=(const TrialDeletion&) = delete;

  // The cells that only cells hold.
  std::vector<DelayCell*> Run(llvm::ArrayRef<Pool<DelayCell>*> pools) {
    for (Pool<DelayCell>* pool : pools) pool->ForEachLive([&](DelayCell* cell) { See(cell); });
    size_t cells = seen_.size();
    for (size_t i = 0; i < seen_.size(); ++i) {
      Tick();
      Prefetch(i);
      ForEachChild(seen_[i], [&](Object* child) {
        See(child);
        --child->refs.raw();
      });
    }
    for (Object* object : seen_)
      if (object->refs.raw() > 0) Hold(object);
    std::vector<DelayCell*> garbage;
    // Cells were seen first.
    for (Object* cell : llvm::ArrayRef(seen_).take_front(cells))
      if (cell->colour == kTaken) garbage.push_back(static_cast<DelayCell*>(cell));
    return garbage;
  }

 private:
  void Tick() {
    if (++ticks_ % every_ == 0) look_();
  }

  // Nothing of a large heap is in a cache. So what is to be looked at soon is asked for, and what that leads to once it is there.
  void Prefetch(size_t at) {
    constexpr size_t kObjects = 16, kChildren = 8;
    if (at + kObjects < seen_.size()) __builtin_prefetch(seen_[at + kObjects]);
    if (at + kChildren >= seen_.size()) return;
    for (const Value& value : ValuesIn(seen_[at + kChildren]))
      if (value.counted()) __builtin_prefetch(value.object(), 1);
  }

  // Its count as it was stands in the table, before anything is taken back.
  void See(Object* object) {
    if (object->colour != kUnseen) return;
    counts_.push_back(object->refs.raw());
    seen_.push_back(object);
    object->colour = kTaken;
  }

  void Hold(Object* object) {
    if (object->colour == kHeld) return;
    object->colour = kHeld;
    todo_.push_back(object);
    while (!todo_.empty()) {
      Tick();
      Object* next = todo_.back();
      todo_.pop_back();
      ForEachChild(next, [&](Object* child) {
        if (child->colour == kHeld) return;
        child->colour = kHeld;
        todo_.push_back(child);
      });
    }
  }

  static llvm::ArrayRef<Value> ValuesIn(Object* object) {
    if (object->kind == ObjectKind::Delay) {
      auto* cell = static_cast<DelayCell*>(object);
      return {&cell->value(), cell->num_values()};
    }
    auto* data = static_cast<Data*>(object);
    return {data->fields(), data->size()};
  }
  // What can be part of a cycle: an error holds only a tag, a number and a text hold nothing.
  template <typename Visit>
  static void ForEachChild(Object* object, Visit visit) {
    for (const Value& value : ValuesIn(object))
      if (value.is_reference() || (value.kind() == ValueKind::Object && value.object()->kind == ObjectKind::Data))
        visit(value.object());
  }

  llvm::function_ref<void()> look_;
  uint64_t every_, ticks_ = 0;
  std::vector<uint32_t> counts_;  // of what is seen, as they were
  std::vector<Object*> seen_, todo_;
};

// The fields of what a full cell gives that refer to full cells get what those give. While nothing else runs, and in a run without
// cycles. How many they were.
uint64_t PassFullCells(const Program& program, const std::vector<Value>& constants, DelayCell& cell, DeadObjects& dead) {
  if (!cell.IsFull() || cell.value().kind() != ValueKind::Object || cell.value().object()->kind != ObjectKind::Data) return 0;
  auto* data = static_cast<Data*>(cell.value().object());
  if (data->few_fields == Data::kMostFew) return 0;  // many fields would be looked at again and again
  uint64_t passed = 0;
  for (Value& field : llvm::MutableArrayRef(data->fields(), data->few_fields)) {
    if (!field.is_reference() || field.object()->kind != ObjectKind::Delay) continue;
    DelayCell& next = *CellOf(field);
    if (next.site->owner != cell.site->owner) continue;
    FillIfReady(program, constants, next, dead);
    if (!next.IsFull() || !(next.value().is_word() || next.value().kind() == ValueKind::Object)) continue;
    Value reference = std::exchange(field, next.value());
    dead.Drop(reference);
    ++passed;
  }
  return passed;
}

// The stress mode leaves a collection amid its work.
struct Left {};

}  // namespace

void TaggedExecution::CollectIfDue() {
  // Elements that were computed ahead have no cells, and may still be held by one that only has to be looked at.
  // The stress mode collects when nothing is due: what stands between two steps must bear it at each of them.
  bool due = live_cells() > collect_at_ || memory::counters.current > collect_at_bytes_ || (run_.stress && Random(*worker_) % 32 == 0);
  if (!due || (team_ && !team_->HoldUp())) return;
  std::vector<Pool<DelayCell>*> pools;
  ForEachWorker([&](Worker& worker) { pools.push_back(&worker.cells); });
  auto look = [this] {
    LeaveAtLimit();
    CheckLimits();
  };
  bool knots = false;
  ForEachWorker([&](Worker& worker) { knots |= worker.made_late; });
  uint64_t filled = 0, looked = 0;
  DeadObjects dead;
  try {
    for (Pool<DelayCell>* pool : pools)
      pool->ForEachLive([&](DelayCell* cell) {
        if (++looked % kObjectsPerLook == 0) look();
        filled += FillIfReady(program_, constants(), *cell, dead);
        if (!knots) filled += PassFullCells(program_, constants(), *cell, dead);
      });
  } catch (...) {
    dead.FreeAll();
    throw;
  }
  dead.FreeAll();
  std::vector<DelayCell*> garbage;
  auto look_or_leave = [&] {
    if (run_.stress && Random(*worker_) % 64 == 0) throw Left();
    look();
  };
  try {
    if (knots) garbage = TrialDeletion(look_or_leave, run_.stress ? 1 : kObjectsPerLook).Run(pools);
  } catch (const Left&) {
  }
  for (DelayCell* cell : garbage) cell->DropChildren(dead);
  dead.FreeAll();
  worker_->cells_published.store(worker_->live_cells, std::memory_order_relaxed);
  // Walking everything again soon pays only where many cells went, or were filled or passed over.
  bool pays = garbage.size() + filled > live_cells() / 8;
  collect_at_ = std::max(kFirstCollection, (pays ? 2 : 4) * live_cells());
  collect_at_bytes_ = std::max(kFirstCollectionBytes, (pays ? 2 : 4) * memory::counters.current);
  if (team_) team_->LetGo();
}

}  // namespace df::tagged
