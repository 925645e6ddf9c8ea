// See sent_objects.h.
#include "runtime/packet/sent_objects.h"

#include <mutex>

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
  std::lock_guard lock(all().mutex);
  ended_ = true;
  receivers_.clear();
  by_name_.clear();
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
  if (all().named.at(object->second).type != type.index) return {};
  return Value::Retain(ValueKind::Object, object->second);
}

void SentObjects::TakeBack(Receiver receiver, At& at, std::list<Kept>::iterator kept) {
  line_.TakeBack(receiver, kept->name);
  at.used -= kept->bytes;
  at.by_name.erase(kept->name);
  at.kept.erase(kept);
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

size_t SentObjects::Used(Receiver receiver) const {
  std::lock_guard lock(all().mutex);
  auto at = receivers_.find(receiver);
  return at == receivers_.end() ? 0 : at->second.used;
}

size_t SentObjects::given() const {
  std::lock_guard lock(all().mutex);
  return given_;
}

SentObjects::ForPacket::~ForPacket() {
  if (used_.empty()) return;
  std::lock_guard lock(all().mutex);
  auto at = sent_.receivers_.find(receiver_);
  if (at == sent_.receivers_.end()) return;
  for (uint64_t name : used_)
    if (auto kept = at->second.by_name.find(name); kept != at->second.by_name.end()) --kept->second->packets;
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
    at.used += size;
    at.kept.push_back({row->second.name, size});
    kept = at.by_name.emplace(row->second.name, std::prev(at.kept.end())).first;
    ++sent_.given_;
    sent_.line_.Give(receiver_, row->second.name, std::move(packet));
  }
  at.kept.splice(at.kept.end(), at.kept, kept->second);
  ++kept->second->packets;
  *name = kept->first;
  used_.push_back(*name);
  return true;
}

}  // namespace df
