// See sent_objects.h.
#include "runtime/packet/sent_objects.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "runtime/packet/received_objects.h"
#include "runtime/value/object_names.h"
#include "runtime/value/tensor.h"

namespace df {

struct SentObjects::All {
  std::mutex mutex;  // of all senders of the process, too: an object may go on any thread
  std::unordered_map<Object*, Named> named;
};

SentObjects::All& SentObjects::all() {
  static All all;
  return all;
}

void SentObjects::SetRoom(Receiver receiver, size_t bytes, bool knows) {
  object_name_lost = &Lost;
  std::lock_guard lock(all().mutex);
  if (ended_) return;
  At& at = receivers_[receiver];
  at.room = bytes;
  at.knows = knows;
  MakeRoom(receiver, at, 0);
}

void SentObjects::Forget(Receiver receiver) {
  std::lock_guard lock(all().mutex);
  receivers_.erase(receiver);
}

void SentObjects::End() {
  std::unordered_map<const Object*, Tree> trees;  // let go without the mutex, as what they hold may have names
  std::lock_guard lock(all().mutex);
  ended_ = true;
  receivers_.clear();
  by_name_.clear();
  trees.swap(trees_);
  std::erase_if(all().named, [this](const auto& row) {
    if (row.second.owner != this) return false;
    SetNamed(*row.first, false);
    return true;
  });
}

void SentObjects::Lost(Object& object) {
  std::lock_guard lock(all().mutex);
  SetNamed(object, false);
  auto row = all().named.find(&object);
  if (row == all().named.end()) return;
  const auto [owner, name, type] = row->second;
  all().named.erase(row);
  owner->by_name_.erase(name);
  for (auto& [receiver, at] : owner->receivers_)
    if (auto kept = at.by_name.find(name); kept != at.by_name.end()) owner->TakeBack(receiver, at, kept->second);
}

Value SentObjects::Own(uint64_t name, ir::TypeId type, bool* gone) {
  std::lock_guard lock(all().mutex);
  auto object = by_name_.find(name);
  if (object == by_name_.end()) {
    *gone = name < next_;
    return {};
  }
  auto tree = trees_.find(object->second);
  if ((tree == trees_.end() ? all().named.at(object->second).type : tree->second.type) != type.index) return {};
  return Value::Retain(ValueKind::Object, object->second);
}

void SentObjects::TakeBack(Receiver receiver, At& at, std::list<Kept>::iterator kept) {
  line_.TakeBack(receiver, kept->name);
  at.used -= kept->bytes;
  if (kept->tree) at.trees -= kept->bytes;
  at.by_name.erase(kept->name);
  at.kept.erase(kept);
}

auto SentObjects::Give(Receiver receiver, At& at, Kept object, Packet packet) -> std::list<Kept>::iterator {
  at.used += object.bytes;
  if (object.tree) at.trees += object.bytes;
  at.kept.push_back(object);
  at.by_name[object.name] = std::prev(at.kept.end());
  ++given_;
  line_.Give(receiver, object.name, std::move(packet));
  return std::prev(at.kept.end());
}

bool SentObjects::MakeRoom(Receiver receiver, At& at, size_t bytes) {
  if (bytes > at.room) return false;
  for (auto kept = at.kept.begin(); at.used > at.room - bytes;) {
    if (kept == at.kept.end()) return false;
    auto next = std::next(kept);
    if (kept->packets == 0) TakeBack(receiver, at, kept);
    kept = next;
  }
  return true;
}

bool SentObjects::MakeRoomForTree(Receiver receiver, At& at, size_t bytes) {
  const size_t room = at.room_for_trees();
  if (bytes > room) return false;
  for (auto kept = at.kept.begin(); at.trees > room - bytes;) {
    if (kept == at.kept.end()) return false;
    auto next = std::next(kept);
    if (kept->tree && kept->packets == 0) TakeBack(receiver, at, kept);
    kept = next;
  }
  return true;
}

size_t SentObjects::Used(Receiver receiver) const {
  std::lock_guard lock(all().mutex);
  auto at = receivers_.find(receiver);
  return at == receivers_.end() ? 0 : at->second.used;
}

size_t SentObjects::given() const {
  std::lock_guard lock(all().mutex);
  return given_;
}

// Trees that nobody else holds any more, and those that have a name nobody keeps.
void SentObjects::DropTrees(std::vector<Value>& dropped) {
  for (auto row = trees_.begin(); row != trees_.end();) {
    Tree& tree = row->second;
    bool keep = !tree.held.object()->refs.IsOne();
    if (!tree.name) {
      keep = keep && packets_ - tree.looked_at < kNotesStay;
    } else if (keep) {
      keep = false;
      for (const auto& [receiver, at] : receivers_) keep |= at.by_name.contains(tree.name);
    }
    bool written = false;
    if (!keep && tree.name) {
      for (auto& [receiver, at] : receivers_) {
        auto kept = at.by_name.find(tree.name);
        if (kept == at.by_name.end()) continue;
        if (kept->second->packets) written = true;
        else TakeBack(receiver, at, kept->second);
      }
      if (!written) by_name_.erase(tree.name);
    }
    if (keep || written) {
      ++row;
      continue;
    }
    dropped.push_back(std::move(tree.held));
    row = trees_.erase(row);
  }
}

SentObjects::ForPacket::ForPacket(SentObjects& sent, Receiver receiver, bool all, const ReceivedObjects* received)
    : sent_(sent), receiver_(receiver), all_(all), received_(received) {
  std::vector<Value> dropped;
  std::lock_guard lock(SentObjects::all().mutex);
  ++sent_.packets_;
  sent_.DropTrees(dropped);
  auto at = sent_.receivers_.find(receiver_);
  if (at == sent_.receivers_.end()) return;
  knows_ = at->second.knows;
  most_tree_ = at->second.room_for_trees();
  if (most_tree_ > sent_.least_) least_tree_ = sent_.least_;
}

SentObjects::ForPacket::~ForPacket() {
  if (used_.empty() && noted_.empty()) return;
  std::lock_guard lock(all().mutex);
  auto at = sent_.receivers_.find(receiver_);
  if (at == sent_.receivers_.end()) return;
  for (uint64_t name : used_)
    if (auto kept = at->second.by_name.find(name); kept != at->second.by_name.end()) --kept->second->packets;
  KeepNotes();
}

// `kept` goes with this packet.
bool SentObjects::ForPacket::Use(At& at, std::list<Kept>::iterator kept, uint64_t* name) {
  at.kept.splice(at.kept.end(), at.kept, kept);
  ++kept->packets;
  *name = kept->name;
  used_.push_back(*name);
  return true;
}

void SentObjects::ForPacket::NoteTree(const Value& object, ir::TypeId type, size_t begin, size_t bytes) {
  constexpr size_t kMostNoted = 8;
  if (!all_ || bytes > most_tree_) return;  // what comes back goes once
  for (Noted& noted : noted_) noted.within |= noted.begin >= begin;
  noted_.push_back({object, type, begin, bytes, false});
  if (noted_.size() <= kMostNoted) return;
  // What is within another one goes first, then what is small.
  auto least = std::min_element(noted_.begin(), noted_.end(),
                                [](const Noted& a, const Noted& b) { return std::pair(!a.within, a.bytes) < std::pair(!b.within, b.bytes); });
  noted_.erase(least);
}

// Under the mutex.
void SentObjects::ForPacket::KeepNotes() {
  for (const Noted& noted : noted_) {
    if (sent_.trees_.size() >= kMostTrees) break;
    sent_.trees_.try_emplace(noted.value.object(), Tree{noted.value, noted.type.index, sent_.packets_});
  }
}

bool SentObjects::ForPacket::NameTrees(PackReferences* references) {
  if (noted_.empty()) return false;
  {
    std::lock_guard lock(all().mutex);
    KeepNotes();
  }
  bool named = false;
  for (const Noted& noted : noted_) {
    uint64_t name;
    bool its = false;
    if (!noted.within) named |= LookTree(noted.value, noted.type, references, &name, &its);
  }
  noted_.clear();
  return named;
}

namespace {

// What has been computed, and nothing else.
class Computed final : public PackReferences {
 public:
  explicit Computed(PackReferences* references) : references_(references) {}
  Is Look(const Value& reference, ir::TypeId type, Value* value, Call*, std::string* why) override {
    Call call;
    if (!references_ || reference.is_error()) return Is::NotGivable;
    return references_->Look(reference, type, value, &call, why) == Is::Value ? Is::Value : Is::NotGivable;
  }

 private:
  PackReferences* const references_;
};

}  // namespace

bool SentObjects::ForPacket::LookTree(const Value& value, ir::TypeId type, PackReferences* references, uint64_t* name, bool* its) {
  if (least_tree_ == SIZE_MAX) return false;
  Object* object = value.object();
  if (knows_ && received_ && (*name = received_->NameOf(receiver_, *object, type))) return *its = true;
  // It is written without the mutex, since the program may have to be looked at for it.
  std::optional<Packet> packet;
  for (bool written = false;; written = true) {
    if (written) {
      Computed computed(references);
      Packer packer(sent_.types_, {.budget = most_tree_, .cycles = false, .errors = false}, &computed);
      if (packer.Add({type}, value) == Packed::Yes) packet = packer.Take();
    }
    std::lock_guard lock(all().mutex);
    auto row = sent_.trees_.find(object);
    auto place = sent_.receivers_.find(receiver_);
    if (row == sent_.trees_.end() || place == sent_.receivers_.end()) return false;
    Tree& tree = row->second;
    At& at = place->second;
    tree.looked_at = sent_.packets_;
    if (tree.type != type.index || tree.refused) return false;
    if (auto kept = at.by_name.find(tree.name); tree.name && kept != at.by_name.end()) return Use(at, kept->second, name);
    if (!written) continue;
    if (!packet || packet->size() < sent_.least_) {
      tree.refused = true;
      return false;
    }
    const size_t size = packet->size() + kEntryBytes;
    if (!sent_.MakeRoomForTree(receiver_, at, size) || !sent_.MakeRoom(receiver_, at, size)) return false;
    if (!tree.name) {
      tree.name = sent_.next_++;
      sent_.by_name_[tree.name] = object;
    }
    return Use(at, sent_.Give(receiver_, at, {tree.name, size, true}, std::move(*packet)), name);
  }
}

bool SentObjects::ForPacket::Look(const Value& value, ir::TypeId type, size_t bytes, uint64_t* name, bool* its) {
  Object& object = *value.object();
  if (bytes < sent_.least_ || (!all_ && object.refs.IsOne())) return false;
  TensorObject* tensor = TensorIn(value);
  if (tensor) {
    tensor->Compute();
    if (tensor->failure() || tensor->rows()) return false;  // a gradient's few rows are made anew each time
    tensor->data();
  }
  std::lock_guard lock(all().mutex);
  auto place = sent_.receivers_.find(receiver_);
  if (place == sent_.receivers_.end()) return false;
  At& at = place->second;
  if (received_ && at.knows) {
    *name = received_->NameOf(receiver_, object, type);
    if (*name) return *its = true;
  }
  auto row = all().named.find(&object);
  if (row != all().named.end() && (row->second.owner != &sent_ || row->second.type != type.index)) return false;
  auto kept = row == all().named.end() ? at.by_name.end() : at.by_name.find(row->second.name);
  if (kept == at.by_name.end()) {
    if (bytes > at.room) return false;
    Packer packer(sent_.types_);
    if (packer.Add({type}, value) != Packed::Yes) return false;
    Packet packet = packer.Take();
    const size_t size = packet.size() + kEntryBytes;
    if (!sent_.MakeRoom(receiver_, at, size)) return false;
    if (row == all().named.end()) {
      row = all().named.emplace(&object, Named{&sent_, sent_.next_++, type.index}).first;
      sent_.by_name_[row->second.name] = &object;
      SetNamed(object, true);
      if (tensor) tensor->NoteCopies();
    }
    return Use(at, sent_.Give(receiver_, at, {row->second.name, size, false}, std::move(packet)), name);
  }
  return Use(at, kept->second, name);
}

}  // namespace df
