// See received_objects.h.
#include "runtime/packet/received_objects.h"

namespace df {

bool ReceivedObjects::Add(Sender sender, uint64_t name, std::string_view bytes, std::vector<std::string_view> parts,
                          std::shared_ptr<const void> holder) {
  auto [at, fresh] = objects_.try_emplace({sender, name});
  if (fresh) at->second = {bytes, std::move(parts), std::move(holder), {}, {}};
  return fresh;
}

void ReceivedObjects::RemoveAll(Sender sender) {
  objects_.erase(objects_.lower_bound({sender, 0}), objects_.upper_bound({sender, UINT64_MAX}));
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
    object.parts.clear();
    object.holder.reset();
  }
  return object.type == type ? &object.value : nullptr;
}

}  // namespace df
