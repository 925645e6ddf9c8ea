// runtime/packet/pack.h
//
// Values to bytes, led by their types: docs/wire.md. One pass with a work list, whatever the shape of the values; an object that is met
// again goes once. It is given up as soon as there are more bytes than may be, or something is met that cannot leave the process.
#pragma once

#include <memory>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "runtime/packet/packet.h"
#include "runtime/packet/packet_types.h"

namespace df {

struct TagNode;

// What lazy parts of a value become. Given by whoever packs: a delayed call is an engine's own.
class PackReferences {
 public:
  enum class Is : uint8_t { Value, Delayed, NotGivable };
  struct Call {
    ir::SiteId site;
    const TagNode* tag = nullptr;                // stays as long as somebody holds the reference
    llvm::SmallVector<df::Value, 8> operands;    // all of them
    llvm::ArrayRef<ir::PortType> types;          // of the operands; stays as long as the packer
  };
  // Value: `value` is what the reference stands for, an error perhaps. NotGivable: `why` says what it is, as in "a delayed call that runs".
  // May run the program; may throw what that throws.
  virtual Is Look(const Value& reference, ir::TypeId type, Value* value, Call* call, std::string* why) = 0;

 protected:
  ~PackReferences() = default;
};

// Objects that the receiver has already, by names that the sender gave them (sent_objects.h).
class KnownObjects {
 public:
  // Asked for texts, tensors and large Integers: whether the receiver has it, and under which name; `its`: which it has given itself. `bytes` is
  // what it takes in a packet.
  virtual bool Look(const Value& object, ir::TypeId type, size_t bytes, uint64_t* name, bool* its) = 0;

  // The same of constructors with several holders: lists, trees. `references` are the packer's own.
  virtual bool LookTree(const Value&, ir::TypeId, PackReferences* /*references*/, uint64_t* /*name*/, bool* /*its*/) { return false; }
  // Such a constructor went with all that it holds, in so many bytes from the byte `begin` on, LeastTree() or more, and nothing of it is still to be
  // computed. Of what is within another one it is told first.
  virtual void NoteTree(const Value& /*object*/, ir::TypeId, size_t /*begin*/, size_t /*bytes*/) {}
  virtual size_t LeastTree() const { return SIZE_MAX; }
  // The packet has been written. True: some of what was noted has a name now, so that it is shorter if it is written again.
  virtual bool NameTrees(PackReferences* /*references*/) { return false; }

 protected:
  ~KnownObjects() = default;
};

struct PackOptions {
  size_t budget = SIZE_MAX;             // of the packet with its parts, in bytes
  size_t least_part = size_t{64} << 10;  // tensors of so many bytes are parts
  bool computes = true;                 // tensors that are still to be computed; else they are not givable
  bool cycles = true;                   // what holds itself; else it is not givable
  bool errors = true;                   // else they are not givable, and `references` looks at them first
};

enum class Packed : uint8_t { Yes, TooLarge, NotGivable };

class Packer {
 public:
  // All outlive it. Without `references` a reference that has not been answered is not givable.
  explicit Packer(const PacketTypes& types, PackOptions options = {}, PackReferences* references = nullptr, KnownObjects* known = nullptr);
  ~Packer();
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;

  // One more value of the packet. Once one could not be added none can. Throws std::bad_alloc beyond the memory limit, and
  // OperationAborted (runtime/base/long_operation.h).
  Packed Add(ir::PortType type, const Value& value);
  // A tag beside the values, null for the empty one.
  void AddTag(const TagNode* tag);
  // Begins the packet anew. From now on only what was met again so far is an object with a number: of the same values each packet is the same
  // then, whatever else held their parts.
  void Restart();
  // Why not: "a delayed call that runs", "more than 4096 bytes".
  const std::string& reason() const;
  // What was added; the packer is done.
  Packet Take();

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace df
