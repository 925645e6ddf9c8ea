// runtime/packet/token_packet.h
//
// What goes from one part of a graph that is cut to another (docs/cut.md), many messages at a time, as bytes: kind, index and tag of each, and a value
// where it has one. A delayed call goes by its name, a site and a tag; it stays where it is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/packet/pack.h"
#include "runtime/packet/tag_line.h"
#include "runtime/packet/unpack.h"

namespace df {

struct NamedToken {
  uint8_t kind = 0;    // below 8; the engine knows what it means,
  uint32_t index = 0;  // and this
  TagRef tag;
  Value value;
};

// An engine's delayed calls. Given by who writes and reads.
class CellNames {
 public:
  // What the reference is called; or nothing, and `value` is what it stands for.
  virtual std::optional<std::pair<ir::SiteId, TagRef>> NameOf(const Value& reference, Value* value) = 0;
  // A reference of this name, to a value of this type; no counted value if there can be none.
  virtual Value Named(ir::SiteId site, const TagRef& tag, ir::TypeId type) = 0;

 protected:
  ~CellNames() = default;
};

// One direction of a line, at the sender's end.
class TokenWriter {
 public:
  TokenWriter(const PacketTypes& types, CellNames& names);
  ~TokenWriter();
  // Without a type it has no value. False, once and for all: this value cannot leave the process; `why` says what it is.
  bool Add(const NamedToken& token, std::optional<ir::PortType> type, std::string* why);
  bool empty() const;
  // So much that it should go.
  bool full() const;
  // What was added, and begins anew.
  void Take(std::string* bytes, std::vector<std::string>* parts);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

// At the receiver's end.
class TokenReader {
 public:
  // What a message of this kind, index and tag carries: nothing if there is none such, and nothing within if it has no value.
  using TypeOf = std::function<std::optional<std::optional<ir::PortType>>(const NamedToken&)>;
  TokenReader(const PacketTypes& types, TagTable& tags, CellNames& names) : types_(types), tags_(tags), names_(names) {}
  // False: the bytes make no sense, as `why` says. Throws std::bad_alloc.
  bool Read(std::string_view bytes, const std::vector<std::string>& parts, const TypeOf& type_of, std::vector<NamedToken>* tokens, std::string* why);

 private:
  const PacketTypes& types_;
  TagTable& tags_;
  CellNames& names_;
  TagLine line_;
};

}  // namespace df
