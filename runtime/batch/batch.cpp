// What waits, and what is computed next. See batch.h.
#include "runtime/batch/batch.h"

#include <algorithm>
#include <tuple>

#include "llvm/ADT/STLExtras.h"
#include "runtime/ops/tensor_kernels.h"
#include "runtime/run/device_errors.h"
#include "runtime/run/timeline.h"

namespace df {

namespace {

size_t BytesOf(const BatchRegion& region) {
  return sizeof(Deferred) + region.num_operands * sizeof(Deferred::Operand) + region.results.size() * sizeof(TensorObject*);
}

// Activations lie all over the memory, and what is in no cache takes longer to come than a row to go through: it is asked for some rows
// before.
constexpr size_t kRowsAhead = 8;

}  // namespace

// Tensors know nothing of batches: what is deferred is asked through these.
[[maybe_unused]] static const bool hooked = (tensor_hooks.forget = &Forget, tensor_hooks.compute = &ComputeNow, true);

void Forget(Deferred* deferred, uint32_t result) {
  deferred->results()[result] = nullptr;
  if (--deferred->alive == 0 && deferred->state != Deferred::State::Running) deferred->batcher->Drop(deferred);
}

void ComputeNow(Deferred* deferred) {
  // Others may go first, and it goes itself when it is computed: a tensor of it is what the caller looks at.
  TensorObject* tensor = *std::find_if(deferred->results(), deferred->results() + deferred->region->results.size(),
                                       [](TensorObject* t) { return t != nullptr; });
  while (tensor->deferred()) deferred->batcher->Step();
}

Batcher::Batcher(size_t regions, BatchOptions options, llvm::ArrayRef<Device*> devices, std::function<void()> between)
    : options_(options), between_(std::move(between)), queues_(regions),
      least_room_(devices[0]->is_host() ? std::min(kMostWaiting, kLeastRoom * options.threads) : kMostWaiting) {
  for (Device* device : devices) devices_.push_back({device, std::make_unique<BatchPlaces>(*device)});
}

// Who held results gave them up before; what was dropped while it was ready is still in its queue.
Batcher::~Batcher() {
  for (Queue& queue : queues_)
    for (size_t i = queue.head; i < queue.rows.size(); ++i) Free(queue.rows[i]);
}

Deferred* Batcher::New(const BatchRegion& region, uint32_t depth) {
  auto* deferred = ::new (memory::Allocate(BytesOf(region))) Deferred{this, &region};
  alive::Made(alive::Kind::Deferred);
  deferred->depth = depth;
  deferred->alive = static_cast<uint32_t>(region.results.size());
  return deferred;
}

void Batcher::Free(Deferred* deferred) {
  alive::Gone(alive::Kind::Deferred);
  memory::Free(deferred, BytesOf(*deferred->region));
}

// It has its operands and results.
void Batcher::Enter(Deferred* deferred) {
  Queue& queue = queues_[deferred->region->index];
  ++queue.waiting;
  queue.depths += deferred->depth;
  ++waiting_;
  if (deferred->missing == 0) MakeReady(deferred);
}

void Batcher::MakeReady(Deferred* deferred) {
  Queue& queue = queues_[deferred->region->index];
  deferred->state = Deferred::State::Ready;
  queue.rows.push_back(deferred);
  if (++queue.ready == options_.most_rows) full_.push_back(deferred->region->index);
  if (!queue.seen) stages_known_ = false;
  if (queue.active) return;
  queue.active = true;
  active_.push_back(deferred->region->index);
}

void Batcher::MakeRoom() {
  const uint64_t left = room_ == kMostWaiting ? room_ / 2 : room_ / 8;
  const uint64_t batches = stats_.batches, rows = stats_.rows;
  while (waiting_ > left && Step()) {}
  const uint64_t computed = stats_.batches - batches, mean = computed == 0 ? 0 : (stats_.rows - rows) / computed;
  if (mean < kNarrow * options_.threads) room_ = std::min(kMostWaiting, room_ * 2);
  else if (mean > kWide * options_.threads) room_ = std::max(least_room_, room_ / 2);
}

// A batch that is as large as batches may be has nothing to wait for, and its operands are still in the caches.
void Batcher::ComputeFull() {
  while (!full_.empty()) {
    Queue& queue = queues_[full_.back()];
    full_.pop_back();
    while (queue.ready >= options_.most_rows) {
      ComputeBatch(queue);
      if (rows_.size() < options_.most_rows) break;  // of many matrices
    }
  }
}

// What used its results has them, or does not want them any more.
void Batcher::Settle(Deferred* deferred) {
  auto settle = [&](Deferred* user) {
    if (--WaitOf(*deferred, *user).count == 0) stages_known_ = false;
    if (--user->missing > 0) return;
    if (user->state == Deferred::State::Dropped) Free(user);
    else MakeReady(user);
  };
  std::for_each_n(deferred->few_users, deferred->num_few_users, settle);
  deferred->num_few_users = 0;
  if (!deferred->more_users) return;
  std::for_each(deferred->more_users->begin(), deferred->more_users->end(), settle);
  delete std::exchange(deferred->more_users, nullptr);
}

// One after another: each may be the last holder of a result whose region then releases its own operands.
void Batcher::Release() {
  if (releasing_) return;
  releasing_ = true;
  while (!released_.empty()) {
    Value value = std::move(released_.back());
    released_.pop_back();
  }
  releasing_ = false;
}

// The rows of a batch that was computed.
void Batcher::ReleaseRows() {
  bool outer = std::exchange(releasing_, true);
  for (Deferred* row : rows_) {
    for (uint32_t k = 0; k < row->region->num_operands; ++k)
      if (row->region->values[k].tensor) Value operand = Value::Adopt(ValueKind::Object, row->operands()[k].tensor);
    Free(row);
  }
  releasing_ = outer;
  Release();
}

// Nobody wants its results. It stays in memory while it is in a queue, or what it waits for knows of it.
void Batcher::Drop(Deferred* deferred) {
  Queue& queue = queues_[deferred->region->index];
  --queue.waiting;
  queue.depths -= deferred->depth;
  --waiting_;
  if (deferred->state == Deferred::State::Ready) --queue.ready;
  deferred->state = Deferred::State::Dropped;
  Settle(deferred);  // its users were dropped before
  for (uint32_t k = 0; k < deferred->region->num_operands; ++k)
    if (deferred->region->values[k].tensor) released_.push_back(Value::Adopt(ValueKind::Object, deferred->operands()[k].tensor));
  Release();
}

// ---------------------------------------------------------------- the policy

// Strongly connected components of the regions that wait for each other (Tarjan 1972): those that come before others in the
// order of waiting get higher numbers.
void Batcher::FindStages() {
  if (stages_known_) return;
  stages_known_ = true;
  for (Queue& queue : queues_) queue.seen = 0;
  uint32_t seen = 0, stage = 0;
  struct Visit {
    uint32_t region;
    size_t next;
  };
  std::vector<Visit> path;
  std::vector<uint32_t> open;
  auto enter = [&](uint32_t region) {
    Queue& queue = queues_[region];
    queue.seen = queue.low = ++seen;
    queue.open = true;
    open.push_back(region);
    path.push_back({region, 0});
  };
  for (uint32_t root : active_) {
    if (queues_[root].seen) continue;
    enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      Queue& queue = queues_[visit.region];
      if (visit.next < queue.waits.size()) {
        const Wait& wait = queue.waits[visit.next++];
        Queue& to = queues_[wait.to];
        if (wait.count == 0) continue;
        if (!to.seen) enter(wait.to);
        else if (to.open) queue.low = std::min(queue.low, to.seen);
        continue;
      }
      uint32_t region = visit.region;
      path.pop_back();
      if (!path.empty()) {
        uint32_t& low = queues_[path.back().region].low;
        low = std::min(low, queue.low);
      }
      if (queue.low != queue.seen) continue;
      ++stage;
      for (uint32_t last = UINT32_MAX; last != region;) {
        last = open.back();
        open.pop_back();
        queues_[last].open = false;
        queues_[last].stage = stage;
      }
    }
  }
}

// A region goes before those that wait for it and that it does not wait for: so these get as many rows as they ever will. Of
// regions that wait for each other, the one whose activations are deepest in the mean: what is deep in the recursion is what others wait for, and those that
// are less deep become more while it is computed.
Batcher::Queue* Batcher::Choose() {
  Queue* best = nullptr;
  std::tuple<uint32_t, double, int64_t> best_first;
  std::erase_if(active_, [&](uint32_t index) {
    queues_[index].active = queues_[index].ready > 0;
    return !queues_[index].active;
  });
  FindStages();
  for (uint32_t index : active_) {
    Queue& queue = queues_[index];
    double depth = static_cast<double>(queue.depths) / static_cast<double>(queue.waiting);
    auto first = std::tuple(queue.stage, depth, -static_cast<int64_t>(index));
    if (best && first < best_first) continue;
    best = &queue;
    best_first = first;
  }
  return best;
}

// The oldest that are ready, at most so many as a batch may have: those with the same weights, if there are others like the
// first; then a product of each with the weights is one product of all.
void Batcher::TakeRows(Queue& queue) {
  rows_.clear();
  std::vector<Deferred*>& ready = queue.rows;
  auto alike = [](Deferred* a, Deferred* b) {
    return llvm::all_of(a->region->weights, [&](uint32_t k) { return a->operands()[k].tensor == b->operands()[k].tensor; });
  };
  size_t end;  // behind the last
  size_t most = options_.most_rows;
  auto collect = [&](bool all) {
    Deferred* first = nullptr;
    for (end = queue.head; end < ready.size() && rows_.size() < most; ++end) {
      if (end + kRowsAhead < ready.size()) __builtin_prefetch(ready[end + kRowsAhead]);
      Deferred* row = ready[end];
      if (row->state == Deferred::State::Dropped) continue;
      if (!first) first = row;
      if (row->region->alone) most = 1;
      if (all || alike(first, row)) rows_.push_back(row);
    }
  };
  collect(false);
  if (rows_.size() == 1 && queue.ready > 1) {
    rows_.clear();
    collect(true);
  }
  for (Deferred* row : rows_) row->state = Deferred::State::Running;
  // What is left keeps its order.
  size_t head = end;
  for (size_t i = end; i-- > queue.head;) {
    Deferred* row = ready[i];
    if (row->state == Deferred::State::Dropped) Free(row);
    else if (row->state == Deferred::State::Ready) ready[--head] = row;
  }
  queue.head = head;
  queue.ready -= rows_.size();
  if (queue.head * 2 >= ready.size()) {
    ready.erase(ready.begin(), ready.begin() + static_cast<ptrdiff_t>(queue.head));
    queue.head = 0;
  }
}

// Of a batch that could not be computed, the rows from `first` on.
void Batcher::PutBack(Queue& queue, size_t first) {
  for (Deferred* row : llvm::ArrayRef(rows_).drop_front(first)) row->state = Deferred::State::Ready;
  queue.rows.erase(queue.rows.begin(), queue.rows.begin() + static_cast<ptrdiff_t>(queue.head));
  queue.head = 0;
  queue.rows.insert(queue.rows.begin(), rows_.begin() + static_cast<ptrdiff_t>(first), rows_.end());
  queue.ready += rows_.size() - first;
  rows_.resize(first);
}

// The limits are looked at, and what a device was given before the last look is done by now: so it is not far behind, and what went wrong
// there is known.
void Batcher::Look() {
  const auto now = std::chrono::steady_clock::now();
  if (++looks_ % kBatchesPerLook != 0 && now - looked_ < kLook) return;
  looked_ = now;
  between_();
  for (OnDevice& on : devices_) {
    if (on.device->is_host()) continue;
    on.device->Wait(on.last_look);
    on.last_look = on.device->Mark();
  }
}

bool Batcher::Step() {
  Queue* queue = Choose();
  if (!queue) return false;
  ComputeBatch(*queue);
  return true;
}

void Batcher::ComputeBatch(Queue& queue) {
  Look();
  TakeRows(queue);
  ComputeRows(queue);
  window_rows_ += static_cast<uint32_t>(rows_.size());
  if (++window_batches_ == kWindow) {
    if (window_rows_ < 2 * kFewRows) pause_ = kPause;
    window_rows_ /= 2;
    window_batches_ = 0;
  }
  if (waiting_ == 0)
    for (OnDevice& on : devices_) on.device->Idle();
}

// A region's ops one after another, as they are run unbatched; `values` has the operands.
static void ComputeOps(const BatchRegion& region, llvm::MutableArrayRef<Value> values) {
  llvm::SmallVector<Value, 3> in;
  // How often each value is still looked at. What nobody looks at afterwards is handed over, so that the op may write into it.
  llvm::SmallVector<uint32_t, 96> uses(region.values.size(), 0);
  for (const BatchRegion::Item& item : region.ops)
    for (uint32_t value : item.in) ++uses[value];
  for (uint32_t value : region.results) ++uses[value];
  for (size_t i = 0; i < region.ops.size(); ++i) {
    const BatchRegion::Item& item = region.ops[i];
    in.clear();
    for (uint32_t value : item.in) in.push_back(--uses[value] > 0 ? values[value] : std::move(values[value]));
    KernelError error;
    bool failed = false;
    values[region.num_operands + i] = ApplyTensor(item.op, item.types, item.attr, in, &error, &failed);
  }
}

// Nothing else like it is to be expected. The ops give no error.
void Batcher::ComputeAlone(const BatchRegion& region, llvm::MutableArrayRef<Value> values, Value* results) {
  --pause_;
  Look();
  ++stats_.batches;
  ++stats_.rows;
  ComputeOps(region, values);
  for (size_t r = 0; r < region.results.size(); ++r) results[r] = values[region.results[r]];
}

// Takes those out of rows_ that have an operand which could not be computed.
std::vector<Deferred*> Batcher::TakeFailed() {
  std::vector<Deferred*> failed;
  if (!TensorObject::AnyFailure()) return failed;
  std::erase_if(rows_, [&](Deferred* row) {
    for (uint32_t k = 0; k < row->region->num_operands; ++k) {
      if (!row->region->values[k].tensor || !row->operands()[k].tensor->failure()) continue;
      failed.push_back(row);
      return true;
    }
    return false;
  });
  return failed;
}

// Computes the rows in rows_ by the ops' own kernels, on the host. If one cannot be computed for want of memory none was, and those in `apart` wait as well.
void Batcher::RunOneByOne(Queue& queue, std::vector<Deferred*>& apart) {
  const BatchRegion& region = *rows_[0]->region;
  std::vector<Value> results;
  results.reserve(rows_.size() * region.results.size());
  try {
    std::vector<Value> values;
    for (Deferred* row : rows_) {
      values.assign(region.values.size(), Value());
      for (uint32_t k = 0; k < region.num_operands; ++k) {
        Deferred::Operand& operand = row->operands()[k];
        if (region.values[k].tensor) operand.tensor->refs.Retain();
        values[k] = region.values[k].tensor ? Value::Adopt(ValueKind::Object, operand.tensor) : Value::Word(operand.word);
      }
      ComputeOps(region, values);
      for (uint32_t value : region.results) {
        results.push_back(std::exchange(values[value], Value()));
        TensorObject& tensor = *TensorIn(results.back());
        if (tensor.failure() || (tensor.refs.IsOne() && tensor.IsOverwritable())) continue;
        Value copy = MakeTensor(tensor.element(), tensor.dims());
        std::memcpy(TensorIn(copy)->data(), tensor.data(), tensor.bytes());
        results.back() = std::move(copy);
      }
    }
  } catch (...) {
    rows_.insert(rows_.end(), apart.begin(), apart.end());
    PutBack(queue, 0);
    throw;
  }
  // Nothing fails from here on.
  for (size_t i = 0; i < rows_.size(); ++i)
    for (size_t r = 0; r < region.results.size(); ++r) {
      TensorObject* to = rows_[i]->results()[r];
      if (!to) continue;
      TensorObject& from = *TensorIn(results[i * region.results.size() + r]);
      if (ErrorObject* error = from.failure()) to->Fail(error);
      else to->ComputedIn(from);
    }
}

// Has the device compute the batch in rows_. Where it has no room, some is made; when there is nothing that could be given up, half of the rows
// stay for the next batch.
void Batcher::RunOnDevice(Queue& queue) {
  OnDevice& on = devices_[rows_[0]->region->device];
  for (bool dropped = false;;) {
    try {
      try {
        on.places->Run(*rows_[0]->region, rows_, options_.timed ? &stats_.times : nullptr);
        stats_.away += !on.device->is_host();
        return;
      } catch (const DeviceFull&) {
        if (!std::exchange(dropped, true) && on.places->DropCopies()) continue;
        if (on.places->Spill()) continue;
        if (rows_.size() == 1) throw;
        PutBack(queue, (rows_.size() + 1) / 2);
      }
    } catch (...) {
      PutBack(queue, 0);
      throw;
    }
  }
}

// The batch in rows_.
void Batcher::ComputeRows(Queue& queue) {
  const BatchRegion& region = *rows_[0]->region;
  std::vector<Deferred*> apart;
  if (!region.one_by_one) apart = TakeFailed();
  if (!apart.empty()) {
    std::swap(rows_, apart);
    RunOneByOne(queue, apart);
    FinishRows(queue);
    std::swap(rows_, apart);
    if (rows_.empty()) return;
  }
  TimelineBatches::Clock::time_point begin;
  if (options_.timeline) begin = TimelineBatches::Clock::now();
  if (region.one_by_one) RunOneByOne(queue, apart);
  else RunOnDevice(queue);
  if (options_.timeline) {
    double depths = 0;
    for (Deferred* row : rows_) depths += row->depth;
    uint32_t count = static_cast<uint32_t>(rows_.size());
    options_.timeline->Add({begin, TimelineBatches::Clock::now(), region.index, count, depths / count}, [&] {
      std::string ops;
      for (const BatchRegion::Item& item : region.ops) ops += (ops.empty() ? "" : ", ") + std::string(ir::InfoOf(item.op).name);
      return ops;
    });
  }
  ++stats_.batches;
  stats_.rows += rows_.size();
  stats_.largest = std::max<uint64_t>(stats_.largest, rows_.size());
  FinishRows(queue);
}

// They have been computed: who waited for them goes on, and they are given up.
void Batcher::FinishRows(Queue& queue) {
  queue.waiting -= rows_.size();
  waiting_ -= rows_.size();
  for (Deferred* row : rows_) queue.depths -= row->depth;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (i + kRowsAhead < rows_.size()) {
      Deferred* later = rows_[i + kRowsAhead];
      for (uint32_t k = 0; k < later->num_few_users; ++k) __builtin_prefetch(later->few_users[k], 1);
    }
    Settle(rows_[i]);
  }
  ReleaseRows();
}

}  // namespace df
