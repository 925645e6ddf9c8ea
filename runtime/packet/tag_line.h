// runtime/packet/tag_line.h
//
// Whole tags on a line between two parts of a graph that is cut (docs/cut.md). There a tag is half of a token's name, so all of its labels go, however
// many. Both ends keep the tags that went lately, each under the same number: a tag is then the number of its longest rest that is kept, and the labels
// before it. So a recursion of any depth costs a few bytes a token.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "runtime/packet/packet.h"
#include "runtime/run/tag.h"

namespace df {

namespace packet {
class Reader;
}

// The name of a reference that the host of a run answers is a tag of this one label, which no graph has.
inline Label HostLabel(const ir::Graph& graph, uint64_t number) { return {static_cast<uint32_t>(graph.scopes.size()), true, number}; }
inline bool IsHostName(const ir::Graph& graph, const TagRef& tag) { return !tag.empty() && tag.head().loop && tag.head().id == graph.scopes.size(); }

// One end of one direction: Put is the sender's, Get the receiver's.
class TagLine {
 public:
  void Put(const TagRef& tag, PacketBytes& to);
  // False if the bytes are no tag of the graph. Throws std::bad_alloc.
  bool Get(packet::Reader& in, const ir::Graph& graph, TagTable& table, TagRef* tag);

 private:
  void Keep(const TagRef& tag);

  static constexpr uint32_t kMost = 1 << 16;
  std::vector<TagRef, memory::Allocator<TagRef>> kept_;  // by number; the oldest goes first
  uint32_t next_ = 0;
  llvm::DenseMap<const Tag*, uint32_t> numbers_;
};

}  // namespace df
