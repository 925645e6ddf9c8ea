// See received_objects.h.
#include "runtime/packet/received_objects.h"

namespace df {

bool ReceivedObjects::Add(Sender sender, uint64_t name, std::string_view bytes, std::vector<std::string_view> parts,
                          std::shared_ptr<const void> holder) {
  auto [at, fresh] = objects_.try_emplace({sender, name});
  if (fresh) at->second = {bytes, std::move(parts), std::move(holder), {}, {}};
  return fresh;
}

bool ReceivedObjects::Remove(Sender sender, uint64_t name) {
  auto at = objects_.find({sender, name});
  if (at == objects_.end()) return false;
  if (at->second.value.counted()) names_.erase(at->second.value.object());
  objects_.erase(at);
  return true;
}

void ReceivedObjects::RemoveAll(Sender sender) {
  for (auto at = objects_.lower_bound({sender, 0}); at != objects_.end() && at->first.first == sender;) Remove(sender, (at++)->first.second);
}

uint64_t ReceivedObjects::NameOf(Sender sender, const df::Object& object, ir::TypeId type) const {
  auto name = names_.find(&object);
  if (name == names_.end() || name->second.first != sender) return 0;
  return objects_.at(name->second).type == type ? name->second.second : 0;
}

const Value* ReceivedObjects::Find(Sender sender, uint64_t name, ir::TypeId type) {
  auto at = objects_.find({sender, name});
  if (at == objects_.end()) return nullptr;
  Object& object = at->second;
  if (object.holder) {
    Unpacker unpacker(types_, object.bytes, object.parts);
    std::optional<Value> value = unpacker.Next({type});
    if (!value || !unpacker.Finish()) return nullptr;
    object.value = std::move(*value);
    object.type = type;
    if (object.value.counted()) names_[object.value.object()] = {sender, name};
    object.parts.clear();
    object.holder.reset();
  }
  return object.type == type ? &object.value : nullptr;
}

}  // namespace df
