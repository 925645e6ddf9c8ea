// See activation_table.h.
#include "runtime/value/activation_table.h"

#include <array>
#include <mutex>

#include "llvm/ADT/DenseMap.h"

namespace df {
namespace {

// An activation, and an entry's number in the low half; or a call site, with kSite in the high half.
struct Key {
  uint64_t activation;
  uint64_t what;
  friend bool operator==(const Key&, const Key&) = default;
};
constexpr uint64_t kSite = uint64_t{1} << 32;

// Neighbouring numbers fall far apart: the low bits choose a bucket, the high ones a shard.
uint64_t Hash(const Key& key) {
  uint64_t h = (key.activation ^ key.what << 40 ^ key.what >> 8) * 0x9e3779b97f4a7c15u;
  return (h ^ h >> 32) * 0xd6e8feb86659fd93u;
}

struct KeyInfo {
  static Key getEmptyKey() { return {~uint64_t{0}, 0}; }
  static Key getTombstoneKey() { return {~uint64_t{0}, 1}; }
  static unsigned getHashValue(const Key& key) { return static_cast<unsigned>(Hash(key)); }
  static bool isEqual(const Key& a, const Key& b) { return a == b; }
};

struct Activations {
  static constexpr unsigned kShardBits = 3;
  struct alignas(64) Shard {
    std::mutex lock;
    llvm::DenseMap<Key, Value, KeyInfo> entries;
    size_t charged = 0;

    // The entry, and whether it was made now. Its memory counts.
    std::pair<Value*, bool> Find(const Key& key) {
      auto [it, fresh] = entries.try_emplace(key);
      if (size_t bytes = entries.getMemorySize(); bytes != charged) [[unlikely]] {
        memory::Charge(bytes - charged);
        charged = bytes;
      }
      return {&it->second, fresh};
    }
  };

  ~Activations() {
    for (Shard& shard : shards) memory::Discharge(shard.charged);
  }
  Shard& ShardOf(const Key& key) { return shards[Hash(key) >> (64 - kShardBits)]; }
  // Held while it is looked at, if anybody else could.
  static std::unique_lock<std::mutex> Hold(Shard& shard) {
    return Sharing() ? std::unique_lock(shard.lock) : std::unique_lock<std::mutex>();
  }
  static void* operator new(size_t bytes, std::align_val_t) {
    memory::Charge(bytes);
    if (void* block = std::aligned_alloc(alignof(Activations), bytes)) return block;
    memory::Discharge(bytes);
    memory::RefusedBySystem();
  }
  static void operator delete(void* block, size_t bytes, std::align_val_t) noexcept {
    memory::Discharge(bytes);
    std::free(block);
  }

  SharedCount places{1};
  std::atomic<uint64_t> activations{1};  // how many have a number; the first is 0
  std::array<Shard, 1 << kShardBits> shards;
};

struct Place : Object {
  Place(Activations* t, uint64_t a) : Object(ObjectKind::Activation), table(t), activation(a) {}
  Activations* const table;
  const uint64_t activation;
};

Place& At(const Value& place) { return *static_cast<Place*>(place.object()); }

}  // namespace

Value NewActivationTable() {
  std::unique_ptr<Activations> table(new Activations);
  Value place = Value::Adopt(ValueKind::Object, new Place(table.get(), 0));
  table.release();
  return place;
}

Value ActivationAt(const Value& place, uint32_t site) {
  const Place& at = At(place);
  Key key{at.activation, kSite | site};
  Activations::Shard& shard = at.table->ShardOf(key);
  uint64_t activation;
  {
    std::unique_lock lock = Activations::Hold(shard);
    auto [entry, fresh] = shard.Find(key);
    if (fresh) *entry = Value::Word(static_cast<int64_t>(at.table->activations.fetch_add(1, std::memory_order_relaxed)));
    activation = static_cast<uint64_t>(entry->word());
  }
  Value result = Value::Adopt(ValueKind::Object, new Place(at.table, activation));
  at.table->places.Retain();
  return result;
}

void PutActivation(const Value& place, uint32_t number, const Value& value) {
  const Place& at = At(place);
  Key key{at.activation, number};
  Activations::Shard& shard = at.table->ShardOf(key);
  std::unique_lock lock = Activations::Hold(shard);
  auto [entry, fresh] = shard.Find(key);
  if (fresh) *entry = value;
}

bool GetActivation(const Value& place, uint32_t number, Value* value) {
  const Place& at = At(place);
  Key key{at.activation, number};
  Activations::Shard& shard = at.table->ShardOf(key);
  std::unique_lock lock = Activations::Hold(shard);
  auto it = shard.entries.find(key);
  if (it == shard.entries.end()) return false;
  *value = it->second;
  return true;
}

void FreeActivation(Object* object, DeadObjects& dead) {
  auto* place = static_cast<Place*>(object);
  Activations* table = place->table;
  delete place;
  if (!table->places.Drop()) return;
  for (Activations::Shard& shard : table->shards)
    for (auto& [key, value] : shard.entries) dead.Drop(value);
  delete table;
}

}  // namespace df
