// Cycles through cells (`ones = 1 : ones`), which counts alone never free: trial deletion.
//
// All counts that cells, and the data they lead to, hold of each other are taken back. What has a count left is held from
// outside: by a frame, the stack, a result, the caller. It and all that it leads to get their counts again. The cells that
// are left over are held by nothing but each other; their contents are dropped, and then they go by their counts.
//
// All memory for that is taken before the first count is changed, so that it can fail.
//
// Only a run that has made a cell before its operands were there, or one that reads a frame (Worker::made_late_), can have cycles. Any
// other cell and constructor holds what was there before it, and the body of a cell reaches that, what it makes itself, and what cells
// in there give. So the first cycle would have to go through a cell that its own operands lead to, and they were there first.
//
// Before that, delayed bodies that need nothing more than what is there are computed. `fst p` of a lazy pattern would hold all
// of `p` until somebody asks for it, and the other component with it: Wadler's leak ("Fixing some space leaks with a garbage
// collector", 1987).
#include "runtime/tagged_eager.h"
#include "runtime/tagged_engine.h"
#include "runtime/tagged_team.h"

namespace df::tagged {

namespace {

enum Colour : uint8_t { kUnseen, kTaken, kHeld };
constexpr uint64_t kObjectsPerLook = 1 << 14;  // in a millisecond or two

class TrialDeletion {
 public:
  // One of both is called every so many objects: `look` may throw, `glance` may not, because counts are wrong then.
  TrialDeletion(llvm::function_ref<void()> look, llvm::function_ref<void()> glance) : look_(look), glance_(glance) {}
  // The cells that only cells hold.
  std::vector<DelayCell*> Run(llvm::ArrayRef<Pool<DelayCell>*> pools) {
    std::vector<DelayCell*> garbage;
    size_t cells = 0;
    try {
      for (Pool<DelayCell>* pool : pools) pool->ForEachLive([&](DelayCell* cell) { See(cell); });
      cells = seen_.size();
      for (size_t i = 0; i < seen_.size(); ++i) {
        if (++ticks_ % kObjectsPerLook == 0) look_();
        ForEachChild(seen_[i], [&](Object* child) { See(child); });
      }
      todo_.reserve(seen_.size());
      garbage.reserve(cells);
    } catch (...) {
      for (Object* object : seen_) object->colour = kUnseen;
      throw;
    }
    for (Object* object : seen_) {
      Tick();
      ForEachChild(object, [&](Object* child) { --child->refs.raw(); });
    }
    for (Object* object : seen_)
      if (object->refs.raw() > 0) Hold(object);
    for (Object* object : seen_) {
      if (object->colour != kTaken) continue;
      ForEachChild(object, [](Object* child) { ++child->refs.raw(); });
      if (object->kind == ObjectKind::Delay) garbage.push_back(static_cast<DelayCell*>(object));
    }
    for (Object* object : seen_) object->colour = kUnseen;
    return garbage;
  }

 private:
  void Tick() {
    if (++ticks_ % kObjectsPerLook == 0) glance_();
  }

  void See(Object* object) {
    if (object->colour != kUnseen) return;
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
        ++child->refs.raw();
        if (child->colour == kHeld) return;
        child->colour = kHeld;
        todo_.push_back(child);
      });
    }
  }

  // What can be part of a cycle: an error holds only a tag, a number and a text hold nothing.
  template <typename Visit>
  static void ForEachChild(Object* object, Visit visit) {
    const Value* values;
    uint32_t count;
    if (object->kind == ObjectKind::Delay) {
      auto* cell = static_cast<DelayCell*>(object);
      values = &cell->value();
      count = cell->num_values();
    } else {
      auto* data = static_cast<Data*>(object);
      values = data->fields();
      count = data->size();
    }
    for (const Value* value = values; value != values + count; ++value)
      if (value->is_reference() || (value->kind() == ValueKind::Object && value->object()->kind == ObjectKind::Data))
        visit(value->object());
  }

  llvm::function_ref<void()> look_, glance_;
  uint64_t ticks_ = 0;
  std::vector<Object*> seen_, todo_;
};

}  // namespace

void TaggedExecution::CollectIfDue() {
  // Elements that were computed ahead have no cells, and may still be held by one that only has to be looked at.
  // The stress mode collects when nothing is due: what stands between two steps must bear it at each of them.
  bool due = live_cells() > collect_at_ || memory::counters.current > collect_at_bytes_ || (run_.stress && worker_->Random() % 32 == 0);
  if (!due || (team_ && !team_->HoldUp())) return;
  std::vector<Pool<DelayCell>*> pools;
  ForEachWorker([&](Worker& worker) { pools.push_back(&worker.cells_); });
  auto look = [this] {
    LeaveAtLimit();
    CheckLimits();
  };
  uint64_t filled = 0, looked = 0;
  DeadObjects dead;
  try {
    for (Pool<DelayCell>* pool : pools)
      pool->ForEachLive([&](DelayCell* cell) {
        if (++looked % kObjectsPerLook == 0) look();
        filled += FillIfReady(program_, *cell, dead);
      });
  } catch (...) {
    dead.FreeAll();
    throw;
  }
  dead.FreeAll();
  bool knots = false;
  ForEachWorker([&](Worker& worker) { knots |= worker.made_late_; });
  std::vector<DelayCell*> garbage;
  if (knots) garbage = TrialDeletion(look, [this] { LeaveAtLimit(); }).Run(pools);
  for (DelayCell* cell : garbage) cell->DropChildren(dead);
  dead.FreeAll();
  worker_->cells_published_.store(worker_->live_cells_, std::memory_order_relaxed);
  // Walking everything again soon pays only where there are cycles, or cells that only had to be looked at.
  bool pays = !garbage.empty() || filled > live_cells() / 8;
  collect_at_ = std::max(kFirstCollection, (pays ? 2 : 4) * live_cells());
  collect_at_bytes_ = std::max(kFirstCollectionBytes, (pays ? 2 : 4) * memory::counters.current);
  if (team_) team_->LetGo();
}

}  // namespace df::tagged
