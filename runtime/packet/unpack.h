// runtime/packet/unpack.h
//
// Bytes to values, led by the types that are expected: docs/wire.md. The bytes may come from anywhere. What is read is what the graph's
// verifier promises of values of these types; nothing is allocated for what is not there, or beyond the memory limit of the thread; no
// input makes it recurse, or take more than linear time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/packet/packet_types.h"
#include "runtime/value/value.h"

namespace df {

struct TagNode;

// Makes the delayed calls of a packet. Given by the engine that is to have them; none may be forced before all of the packet is read.
class UnpackReferences {
 public:
  struct Call {
    Value reference;
    llvm::MutableArrayRef<Value> operands;  // in the call; Word 0 until they are read
    llvm::ArrayRef<ir::PortType> types;     // of the operands; stays as long as the unpacker
  };
  // A reference to a value of `type`: the call that `site` of the graph delays, under that tag, whose count it takes over in any case. False:
  // the site delays none of that type; `why` says so.
  virtual bool Make(ir::SiteId site, TagNode* tag, ir::TypeId type, Call* call, std::string* why) = 0;
  // All of the packet has been read, the operands of this call too.
  virtual void Made(const Value& reference) {}
  // A reference that stands for `object`, which leads to the place where the reference is to stand: so it frees what counts alone never would.
  virtual Value Knot(const Value& object, ir::TypeId type) = 0;

 protected:
  ~UnpackReferences() = default;
};

// What came before and is kept, by the sender's names (received_objects.h).
class KeptObjects {
 public:
  // Null if there is none of that name and type.
  virtual const Value* Find(uint64_t name, ir::TypeId type) = 0;
  // The same of an object of this process, by its own name. It may have gone since it was sent there: then `gone` is set.
  virtual Value FindOwn(uint64_t name, ir::TypeId type, bool* gone) = 0;

 protected:
  ~KeptObjects() = default;
};

class Unpacker {
 public:
  // All outlive it. `parts` are those of the packet, in their order. Without `references` a packet that has delayed calls, or a value that holds
  // itself, is refused.
  Unpacker(const PacketTypes& types, std::string_view bytes, llvm::ArrayRef<std::string_view> parts, UnpackReferences* references = nullptr,
           KeptObjects* kept = nullptr);
  ~Unpacker();
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  // The next value. On failure nullopt, from then on: then nothing that came of this packet may be looked at. Throws std::bad_alloc beyond
  // the memory limit, and OperationAborted; the same holds then.
  std::optional<Value> Next(ir::PortType type);
  // A tag beside the values, with a count of its own; null is the empty one. False as a value's nullopt.
  bool NextTag(TagNode** tag);
  // Whether that was all: then the delayed calls are ready.
  bool Finish();
  // It was not read because an object of this process has gone meanwhile: the sender did nothing wrong.
  bool HasGone() const;
  // "byte 17: constructor 5 of a Maybe Int, which has 2"
  const std::string& fault() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace df
