// Cycles through cells (`ones = 1 : ones`), which counts alone never free: trial deletion.
//
// All counts that cells, and the data they lead to, hold of each other are taken back. What has a count left is held from
// outside: by a frame, the stack, a result, the caller. It and all that it leads to get their counts again. The cells that
// are left over are held by nothing but each other; their contents are dropped, and then they go by their counts.
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

class TrialDeletion {
 public:
  // The cells that only cells hold.
  std::vector<DelayCell*> Run(llvm::ArrayRef<Pool<DelayCell>*> pools) {
    for (Pool<DelayCell>* pool : pools) pool->ForEachLive([&](DelayCell* cell) { See(cell); });
    for (size_t i = 0; i < seen_.size(); ++i)
      ForEachChild(seen_[i], [&](Object* child) {
        --child->refs.raw();
        See(child);
      });
    for (Object* object : seen_)
      if (object->refs.raw() > 0) Hold(object);
    std::vector<DelayCell*> garbage;
    for (Object* object : seen_) {
      if (object->colour != kTaken) continue;
      ForEachChild(object, [](Object* child) { ++child->refs.raw(); });
      if (object->kind == ObjectKind::Delay) garbage.push_back(static_cast<DelayCell*>(object));
    }
    for (Object* object : seen_) object->colour = kUnseen;
    return garbage;
  }

 private:
  void See(Object* object) {
    if (object->colour != kUnseen) return;
    object->colour = kTaken;
    seen_.push_back(object);
  }

  void Hold(Object* object) {
    if (object->colour == kHeld) return;
    object->colour = kHeld;
    todo_.push_back(object);
    while (!todo_.empty()) {
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

  std::vector<Object*> seen_, todo_;
};

}  // namespace

void TaggedExecution::CollectIfDue() {
  if (live_cells() <= collect_at_ || (team_ && !team_->HoldUp())) return;
  std::vector<Pool<DelayCell>*> pools;
  ForEachWorker([&](Worker& worker) { pools.push_back(&worker.cells_); });
  std::vector<Value> cells, contents;
  uint64_t filled = 0;
  for (Pool<DelayCell>* pool : pools)
    pool->ForEachLive([&](DelayCell* cell) { filled += FillIfReady(program_, *cell, contents); });
  contents.clear();
  std::vector<DelayCell*> garbage = TrialDeletion().Run(pools);
  // Counted while their contents go, so that none is destroyed before all are empty.
  for (DelayCell* cell : garbage) {
    cells.push_back(Value::Retain(ValueKind::Reference, cell));
    cell->CollectChildren(contents);
  }
  contents.clear();
  cells.clear();
  worker_->cells_published_.store(worker_->live_cells_, std::memory_order_relaxed);
  // Walking everything again soon pays only where there are cycles, or cells that only had to be looked at.
  bool pays = !garbage.empty() || filled > live_cells() / 8;
  collect_at_ = std::max(kFirstCollection, (pays ? 2 : 4) * live_cells());
  if (team_) team_->LetGo();
}

}  // namespace df::tagged
