// backends/net/messages.h
//
// The messages of messages.def as structs, and as bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/net/part.h"
#include "backends/net/wire.h"

namespace df::net {

// The types of fields.
using Count = uint64_t;
using Small = uint32_t;
using Flag = bool;
using Text = std::string;
using Packet = std::string_view;  // of a decoded message: into its body
using Numbers = std::vector<uint64_t>;

inline constexpr size_t kLongestText = 4096;
inline constexpr Small kNoRank = UINT32_MAX;

// What has to be the same in all processes of a run. A digest of zeros is not fixed yet: a worker that waits for its graph.
// DF_FACT(type, name, "as people call it")
#define DF_FACTS(DF_FACT)                                                  \
  DF_FACT(Small, wire, "wire version")                                     \
  DF_FACT(Text, build, "build")                                            \
  DF_FACT(Digest, graph, "graph")                                          \
  DF_FACT(Digest, options, "options")                                      \
  DF_FACT(Digest, parts, "parts")                                          \
  DF_FACT(Digest, kernels, "kernels")                                      \
  DF_FACT(Digest, libm, "libm")

struct Facts {
#define DF_FACT(type, name, text) type name{};
  DF_FACTS(DF_FACT)
#undef DF_FACT
};

enum class MemberState : uint8_t { Connecting, Joined, Serving, Suspect, Gone };

struct MemberRow {
  Name128 incarnation;
  Small rank = kNoRank;
  MemberState state = MemberState::Joined;
  Text name, address, why;  // why it is gone
};
using MemberRows = std::vector<MemberRow>;

// Data messages of a link, as one side counts them.
struct CountRow {
  Name128 peer;
  uint64_t sent = 0, received = 0;
};
using CountRows = std::vector<CountRow>;

// What went over a link, as one side counts it: messages of the run, and bytes of all datagrams.
struct LinkRow {
  Name128 peer;
  uint64_t messages_out = 0, bytes_out = 0, messages_in = 0, bytes_in = 0;
};
using LinkRows = std::vector<LinkRow>;

enum class Lane : uint8_t { Control, Data, Link };
enum class Direction : uint8_t { Any, FromRoot, ToRoot };

// The states in which a message is legal, as bits.
namespace during {
inline constexpr uint8_t Connecting = 1, Joined = 2, Serving = 4, Ending = 8;
}

enum class Kind : uint8_t {
#define DF_MESSAGE(number, Name, lane, direction, states, fields) Name = number,
#include "backends/net/messages.def"
#undef DF_MESSAGE
};

namespace msg {
#define DF_FIELD(type, name) type name{};
#define DF_MESSAGE(number, Name, lane, direction, states, fields) \
  struct Name {                                                   \
    static constexpr Kind kKind = Kind::Name;                     \
    fields                                                        \
  };
#include "backends/net/messages.def"
#undef DF_MESSAGE
#undef DF_FIELD
}  // namespace msg

struct KindInfo {
  std::string_view name;
  Lane lane;
  Direction direction;
  uint8_t states;
};
// Null if there is no message of this number.
const KindInfo* InfoOf(uint64_t number);
inline const KindInfo& InfoOf(Kind kind) { return *InfoOf(static_cast<uint64_t>(kind)); }

// A message as links carry it: its fields as bytes, and large parts beside them. One that came may hold all of the batch that it came in:
// it is to be decoded soon.
struct Message {
  Kind kind{};
  std::string_view body;
  std::vector<Part> parts;
  std::shared_ptr<const void> holder;  // of the body
};

#define DF_MESSAGE(number, Name, lane, direction, states, fields)  \
  void Encode(const msg::Name& message, std::string& out);         \
  bool Decode(std::string_view body, msg::Name& message);
#include "backends/net/messages.def"
#undef DF_MESSAGE

// The message of a struct. `parts` are sent from where they lie.
template <typename M>
Message Pack(const M& fields, std::vector<Part> parts = {}) {
  std::string body;
  Encode(fields, body);
  Part held = OwnPart(std::move(body));
  return {M::kKind, held.bytes, std::move(parts), std::move(held.holder)};
}

// Nothing if the body is not exactly one M. Its packets point into the message's body.
template <typename M>
std::optional<M> Unpack(const Message& message) {
  M fields;
  if (message.kind != M::kKind || !Decode(message.body, fields)) return std::nullopt;
  return fields;
}

// One line: "Call ticket=7 site=3 ...", packets as their size and first bytes. Of a body that is broken it says so.
std::string Dump(Kind kind, std::string_view body);

}  // namespace df::net
