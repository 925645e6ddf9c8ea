// runtime/batch/batch.h
//
// Batching across tags (docs/batching.md): regions of tensor ops are not computed where they stand. They are deferred, each
// activation's by itself, and the same region that waits under many tags is computed by one kernel per op.
//
//   BatchRegion  the ops of a region, which the graph has once: the key of a batch (runtime/device/batch_region.h)
//   Deferred     one activation of it: its operands, which may be deferred themselves, and its results
//   Batcher      which of them wait, and the policy: what is computed next, how many together, and when
//   BatchPlaces  where the operands of a batch are on the device that computes it (runtime/device/device.h); there may be several devices
//
// Only ops that give no error are deferred, so that an error is found where it would be found without batching. Some give a tensor that could not be
// computed, which is a value like any other (runtime/value/tensor.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "runtime/batch/batch_places.h"
#include "runtime/device/batch_region.h"
#include "runtime/value/tensor.h"

namespace df {

class Batcher;
class TimelineBatches;  // runtime/run/timeline.h

struct Deferred {
  enum class State : uint8_t { Waiting, Ready, Running, Dropped };
  static constexpr uint32_t kFewUsers = 4;

  Batcher* batcher;
  const BatchRegion* region;
  // Who has results of this one as operands and waits for it; each is named once for operands that follow each other.
  Deferred* few_users[kFewUsers];
  std::vector<Deferred*>* more_users = nullptr;
  uint32_t num_few_users = 0;
  uint32_t missing = 0;      // those that it waits for, as often as they name it
  uint32_t alive = 0;        // results that somebody holds
  uint32_t depth = 0;        // of the tag
  State state = State::Waiting;
  // What the region says it is: a tensor, of which this holds a count, or a word.
  union Operand {
    TensorObject* tensor;
    int64_t word;
  };
  // Behind it in memory: operands, results.
  Operand* operands() { return reinterpret_cast<Operand*>(this + 1); }
  TensorObject** results() { return reinterpret_cast<TensorObject**>(operands() + region->num_operands); }
};

// For a tensor: nobody holds it any more; it is to be computed now.
void Forget(Deferred* deferred, uint32_t result);
void ComputeNow(Deferred* deferred);

// What batching did.
struct BatchStats {
  uint64_t batches = 0;
  uint64_t rows = 0;        // activations of regions in them
  uint64_t largest = 0;     // batch
  uint64_t away = 0;        // batches that a device with memory of its own computed
  BatchTimes times;         // if asked for
};

struct BatchOptions {
  uint32_t most_rows = 256;  // of one batch
  bool timed = false;
  TimelineBatches* timeline = nullptr;  // gets what was computed when
  uint32_t threads = 1;      // that share a batch on the host
};

class Batcher {
 public:
  // The devices outlive it; BatchRegion::device says which one computes a region. `between` is called between batches; it may throw.
  Batcher(size_t regions, BatchOptions options, llvm::ArrayRef<Device*> devices, std::function<void()> between);
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Defers the region for one activation, whose tag has that depth. `take(k)` gives operand k; `results` gets a value for each
  // result. May compute something first, if too much waits.
  template <typename Take>
  void Defer(const BatchRegion& region, uint32_t depth, const Take& take, Value* results);
  // Computes one batch; false if nothing waits.
  bool Step();
  // Computes all that waits.
  void Finish() {
    while (Step()) {}
    for (OnDevice& on : devices_) on.device->Synchronise();
  }
  const BatchStats& stats() const { return stats_; }

 private:
  friend void Forget(Deferred*, uint32_t);
  friend void ComputeNow(Deferred*);
  // Activations of region `to` wait for so many results of a region.
  struct Wait {
    uint32_t to;
    uint64_t count;
  };
  // The activations of one region that wait.
  struct Queue {
    llvm::SmallVector<Wait, 4> waits;  // of others for this
    std::vector<uint32_t> wait_of;     // by region: one more than its place in `waits`, 0 if it has none
    uint32_t stage = 0;                // among regions that wait for each other; a higher one goes first
    uint32_t seen = 0, low = 0;        // FindStages
    bool open = false;
    // Those that are ready, in the order in which they became so, from `head` on; those that were dropped since are still there.
    std::vector<Deferred*> rows;
    size_t head = 0;
    uint64_t ready = 0;         // without them
    uint64_t waiting = 0;       // ready or not
    uint64_t depths = 0;        // their sum
    bool active = false;        // in active_
  };
  // A device, and where things are there.
  struct OnDevice {
    Device* device;
    std::unique_ptr<BatchPlaces> places;
    uint64_t last_look = 0;  // a mark of the device
  };
  Deferred* New(const BatchRegion& region, uint32_t depth);
  void AddUser(Deferred* from, Deferred* user);
  void Enter(Deferred* deferred);
  void MakeRoom();
  void ComputeFull();
  void ComputeBatch(Queue& queue);
  void ComputeAlone(const BatchRegion& region, llvm::MutableArrayRef<Value> values, Value* results);
  void MakeReady(Deferred* deferred);
  Wait& WaitOf(const Deferred& from, const Deferred& to);
  void FindStages();
  Queue* Choose();
  void ComputeRows(Queue& queue);
  std::vector<Deferred*> TakeFailed();
  void RunOneByOne(Queue& queue, std::vector<Deferred*>& apart);
  void FinishRows(Queue& queue);
  void TakeRows(Queue& queue);
  void PutBack(Queue& queue, size_t first);
  void RunOnDevice(Queue& queue);
  void Look();
  void Drop(Deferred* deferred);
  void Settle(Deferred* deferred);
  void ReleaseRows();
  void Release();
  void Free(Deferred* deferred);

  // Activations that may wait: beyond this some are computed, so that memory is bounded. But if the batches are wide enough then, it is done
  // sooner, while what was noted is still in the caches: as soon as they would be no wider than needed.
  static constexpr uint64_t kMostWaiting = 1 << 15, kLeastRoom = 1 << 12;  // the latter for each thread
  static constexpr uint64_t kNarrow = 32, kWide = 128;                     // mean rows of a batch, for each thread
  // If so many batches were of few on average, nothing is deferred for a while: what is ready is computed at once. Those before them count half, as
  // a chain, the sum of a batch's losses, may stand between large ones.
  static constexpr uint32_t kWindow = 256, kFewRows = 384;  // batches, and the rows in them
  static constexpr uint32_t kPause = 1 << 14;               // activations
  static constexpr uint32_t kBatchesPerLook = 16;           // at the limits, unless these take longer than:
  static constexpr std::chrono::milliseconds kLook{10};

  const BatchOptions options_;
  std::vector<OnDevice> devices_;
  const std::function<void()> between_;
  std::vector<Queue> queues_;  // by region
  std::vector<uint32_t> active_;  // queues that may have something ready
  std::vector<uint32_t> full_;    // queues that had rows for a whole batch
  bool stages_known_ = false;
  uint64_t waiting_ = 0;
  const uint64_t least_room_;
  uint64_t room_ = least_room_;   // when so many wait most are computed
  uint32_t window_batches_ = 0, window_rows_ = kWindow;
  uint32_t pause_ = 0;            // activations that are computed at once
  uint32_t looks_ = 0;
  std::chrono::steady_clock::time_point looked_ = {};  // when
  std::vector<Value> released_;  // operands on their way out, which may be the last holders of what is deferred
  bool releasing_ = false;
  std::vector<Deferred*> rows_;  // of the batch
  BatchStats stats_;
};

template <typename Take>
void Batcher::Defer(const BatchRegion& region, uint32_t depth, const Take& take, Value* results) {
  if (!full_.empty()) [[unlikely]] ComputeFull();
  if (waiting_ >= room_) [[unlikely]] MakeRoom();
  const uint32_t count = region.num_operands;
  llvm::SmallVector<Value, 0> values;
  bool at_once = false;
  if (pause_ > 0) [[unlikely]] {
    values.resize(region.values.size());
    bool there = true;
    for (uint32_t k = 0; k < count; ++k) {
      values[k] = take(k);
      TensorObject* tensor = TensorIn(values[k]);
      there &= !tensor || !tensor->deferred();
    }
    if (there && !region.large && !region.placed) return ComputeAlone(region, values, results);
    at_once = there;
  }
  Deferred* deferred = New(region, depth);
  for (uint32_t r = 0; r < region.results.size(); ++r) {
    const BatchRegion::ValueType& type = region.values[region.results[r]];
    auto* tensor = new TensorObject(*type.tensor, type.count, deferred, r);
    deferred->results()[r] = tensor;
    results[r] = Value::Adopt(ValueKind::Object, tensor);
  }
  // Nothing fails from here on.
  for (uint32_t k = 0; k < count; ++k) {
    Value value = values.empty() ? take(k) : std::move(values[k]);
    Deferred::Operand& operand = deferred->operands()[k];
    if (!region.values[k].tensor) {
      operand.word = value.word();
      continue;
    }
    operand.tensor = static_cast<TensorObject*>(value.Take());
    if (Deferred* from = operand.tensor->deferred()) AddUser(from, deferred);
  }
  Enter(deferred);
  if (!at_once) [[likely]] return;
  --pause_;
  ComputeBatch(queues_[region.index]);
}

// `user` waits for a result of `from`.
inline void Batcher::AddUser(Deferred* from, Deferred* user) {
  uint32_t few = from->num_few_users;
  if (few < Deferred::kFewUsers) {
    if (few > 0 && from->few_users[few - 1] == user) return;
    from->few_users[from->num_few_users++] = user;
  } else {
    if (!from->more_users) from->more_users = new std::vector<Deferred*>();
    from->more_users->push_back(user);
  }
  if (WaitOf(*from, *user).count++ == 0) stages_known_ = false;
  ++user->missing;
}

inline Batcher::Wait& Batcher::WaitOf(const Deferred& from, const Deferred& to) {
  Queue& queue = queues_[from.region->index];
  uint32_t index = to.region->index;
  if (index >= queue.wait_of.size()) queue.wait_of.resize(index + 1);
  uint32_t& place = queue.wait_of[index];
  if (place == 0) {
    queue.waits.push_back({index, 0});
    place = static_cast<uint32_t>(queue.waits.size());
  }
  return queue.waits[place - 1];
}

}  // namespace df
