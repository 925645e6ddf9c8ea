// runtime/batch.h
//
// Batching across tags (docs/batching.md): regions of tensor ops are not computed where they stand. They are deferred, each
// activation's by itself, and the same region that waits under many tags is computed by one kernel per op.
//
//   BatchRegion  the ops of a region, which the graph has once: the key of a batch
//   Deferred     one activation of it: its operands, which may be deferred themselves, and its results
//   Batcher      which of them wait, and the policy: what is computed next, how many together, and when
//
// Only ops that cannot fail are deferred, so that an error is found where it would be found without batching.
#pragma once

#include <functional>
#include <vector>

#include "runtime/kernels.h"
#include "runtime/tensor.h"

namespace df {

// Straight-line code on values: first the operands, then one value per op.
struct BatchRegion {
  struct Item {
    ir::Op op;
    uint32_t attr;
    KernelTypes types;
    llvm::SmallVector<uint32_t, 3> in;  // values
  };
  // What a value is: a tensor of this type in the graph, or, if null, a word of this kind.
  struct ValueType {
    const ir::Type* tensor = nullptr;
    ir::TypeKind word = ir::TypeKind::Unit;
  };
  // A word operand that has to be from 0 to `most`, or an op would fail.
  struct Check {
    uint32_t operand;
    int64_t most;
  };
  uint32_t index = 0;  // in its table: the batch key
  uint32_t num_operands = 0;
  std::vector<ValueType> values;
  std::vector<Item> ops;
  std::vector<uint32_t> results;  // values that are seen outside; tensors
  std::vector<Check> checks;
  std::vector<uint32_t> weights;  // operands that are matrices of products: a batch shares them if it can
};

class Batcher;

struct Deferred {
  // An operand of `consumer` that is a result of this one.
  struct Use {
    Deferred* consumer;
    Use* next;
  };
  enum class State : uint8_t { Waiting, Ready, Running, Dropped };

  Batcher* batcher;
  const BatchRegion* region;
  Deferred* next = nullptr;  // in a queue
  Use* uses = nullptr;
  uint32_t missing = 0;      // operands that are not computed
  uint32_t alive = 0;        // results that somebody holds
  uint32_t depth = 0;        // of the tag
  State state = State::Waiting;
  // Behind it in memory: operands, results, a Use per operand.
  Value* operands() { return reinterpret_cast<Value*>(this + 1); }
  TensorObject** results() { return reinterpret_cast<TensorObject**>(operands() + region->num_operands); }
  Use* own_uses() { return reinterpret_cast<Use*>(results() + region->results.size()); }
};

// For a tensor: nobody holds it any more; it is to be computed now.
void Forget(Deferred* deferred, uint32_t result);
void ComputeNow(Deferred* deferred);

// What batching did.
struct BatchStats {
  uint64_t batches = 0;
  uint64_t rows = 0;        // activations of regions in them
  uint64_t largest = 0;     // batch
  // Seconds, if asked for: in the loops of products and of other ops, in collecting operands and handing out results.
  double products = 0, others = 0, gathers = 0;
};

// Weights that are multiplied by columns, W dy, are turned first, so that the columns of a batch are rows. A step of training goes
// through its waves with the same weights, so they are kept.
class TurnedMatrices {
 public:
  // The elements of the matrix turned; stays until the next call.
  char* Of(const Value& matrix, size_t rows, size_t columns);
  void Clear() { entries_.clear(); }

 private:
  static constexpr size_t kMost = 8;
  struct Entry {
    Entry(Value m, TensorBlock* b) : matrix(std::move(m)), block(b) {}
    Entry(Entry&& other) noexcept : matrix(std::move(other.matrix)), block(std::exchange(other.block, nullptr)) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(matrix, other.matrix);
      std::swap(block, other.block);
      return *this;
    }
    ~Entry() {
      if (block) block->Release();
    }
    Value matrix;
    TensorBlock* block;
  };
  std::vector<Entry> entries_;
};

struct BatchOptions {
  uint32_t most_rows = 256;  // of one batch
  bool timed = false;
};

class Batcher {
 public:
  // `between` is called between batches; it may throw.
  Batcher(size_t regions, BatchOptions options, std::function<void()> between);
  ~Batcher();
  Batcher(const Batcher&) = delete;
  Batcher& operator=(const Batcher&) = delete;

  // Defers the region for one activation, whose tag has that depth. `take(k)` gives operand k; `results` gets a value for each
  // result. May compute something first, if too much waits.
  template <typename Take>
  void Defer(const BatchRegion& region, uint32_t depth, Take take, Value* results);
  // Computes one batch; false if nothing waits.
  bool Step();
  // Computes all that waits.
  void Finish() {
    while (Step()) {}
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
    uint32_t stage = 0;                // among regions that wait for each other; a higher one goes first
    uint32_t seen = 0, low = 0;        // FindStages
    bool open = false;
    Deferred* first = nullptr;  // of those that are ready, in the order in which they became so
    Deferred* last = nullptr;
    uint64_t ready = 0;
    uint64_t waiting = 0;       // ready or not
    uint64_t depths = 0;        // their sum
    bool active = false;        // in active_
  };
  Deferred* New(const BatchRegion& region, uint32_t depth);
  void Link(Deferred* deferred);
  void MakeRoom();
  void ComputeAlone(const BatchRegion& region, llvm::MutableArrayRef<Value> values, Value* results);
  void MakeReady(Deferred* deferred);
  void CountWait(const Deferred& from, const Deferred& to, bool more);
  void FindStages();
  Queue* Choose();
  void ComputeRows(Queue& queue);
  void TakeRows(Queue& queue);
  void PutBack(Queue& queue);
  void Drop(Deferred* deferred);
  void Settle(Deferred* deferred);
  void ReleaseOperands(Deferred* deferred);
  void Release();
  void Free(Deferred* deferred);

  // Activations that may wait: beyond this some are computed, so that memory is bounded.
  static constexpr uint64_t kMostWaiting = 1 << 15;
  // If so many batches were of few on average, nothing is deferred for a while: what is ready is computed at once.
  static constexpr uint32_t kWindow = 256, kFewRows = 384;  // batches, and the rows in them
  static constexpr uint32_t kPause = 1 << 14;               // activations
  static constexpr uint32_t kBatchesPerLook = 16;           // at the limits

  const BatchOptions options_;
  const std::function<void()> between_;
  std::vector<Queue> queues_;  // by region
  std::vector<uint32_t> active_;  // queues that may have something ready
  bool stages_known_ = false;
  uint64_t waiting_ = 0;
  uint32_t window_batches_ = 0, window_rows_ = 0;
  uint32_t pause_ = 0;            // activations that are computed at once
  uint32_t looks_ = 0;
  std::vector<Value> released_;  // operands on their way out, which may be the last holders of what is deferred
  bool releasing_ = false;
  std::vector<Deferred*> rows_;  // of the batch
  TurnedMatrices turned_;
  BatchStats stats_;
};

template <typename Take>
void Batcher::Defer(const BatchRegion& region, uint32_t depth, Take take, Value* results) {
  if (waiting_ >= kMostWaiting) MakeRoom();
  llvm::SmallVector<Value, 32> values(pause_ > 0 ? region.values.size() : region.num_operands);
  bool there = true;
  for (uint32_t k = 0; k < region.num_operands; ++k) {
    values[k] = take(k);
    TensorObject* tensor = TensorIn(values[k]);
    there &= !tensor || !tensor->deferred();
  }
  if (pause_ > 0 && there) [[unlikely]] return ComputeAlone(region, values, results);
  Deferred* deferred = New(region, depth);
  for (uint32_t k = 0; k < region.num_operands; ++k) ::new (deferred->operands() + k) Value(std::move(values[k]));
  for (uint32_t r = 0; r < region.results.size(); ++r) {
    auto* tensor = new TensorObject(*region.values[region.results[r]].tensor, deferred, r);
    deferred->results()[r] = tensor;
    results[r] = Value::Adopt(ValueKind::Object, tensor);
  }
  Link(deferred);
}

}  // namespace df
