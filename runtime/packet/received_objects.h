// runtime/packet/received_objects.h
//
// What is large goes once: the receiver's side. Of one thread, as the values are: each thread of a process reads an object for itself, when
// a packet first names it. docs/wire.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/packet/sent_objects.h"
#include "runtime/packet/unpack.h"

namespace df {

class ReceivedObjects {
 public:
  using Sender = uint32_t;

  explicit ReceivedObjects(const PacketTypes& types) : types_(types) {}

  // A packet of one value, which `holder` holds. False: that name is taken.
  bool Add(Sender sender, uint64_t name, std::string_view bytes, std::vector<std::string_view> parts, std::shared_ptr<const void> holder);
  // False: there is none.
  bool Remove(Sender sender, uint64_t name);
  // The sender is gone.
  void RemoveAll(Sender sender);
  size_t size() const { return objects_.size(); }

  // The name that the sender has given this object; 0: none, or it is of another type there.
  uint64_t NameOf(Sender sender, const df::Object& object, ir::TypeId type) const;

  // For packets of one sender. `own`: what this process has sent; null if it takes no own names.
  class Of final : public KeptObjects {
   public:
    Of(ReceivedObjects& all, Sender sender, SentObjects* own = nullptr) : all_(all), sender_(sender), own_(own) {}
    const Value* Find(uint64_t name, ir::TypeId type) override { return all_.Find(sender_, name, type); }
    Value FindOwn(uint64_t name, ir::TypeId type, bool* gone) override { return own_ ? own_->Own(name, type, gone) : Value(); }

   private:
    ReceivedObjects& all_;
    const Sender sender_;
    SentObjects* const own_;
  };

 private:
  struct Object {
    std::string_view bytes;
    std::vector<std::string_view> parts;
    std::shared_ptr<const void> holder;  // until it is read
    Value value;
    ir::TypeId type;  // as which it was read
  };
  const Value* Find(Sender sender, uint64_t name, ir::TypeId type);

  const PacketTypes& types_;
  std::map<std::pair<Sender, uint64_t>, Object> objects_;
  std::unordered_map<const df::Object*, std::pair<Sender, uint64_t>> names_;  // of those that were read
};

}  // namespace df
