// runtime/packet/packet_tag.h
//
// Tags in packets: the activations from which delayed calls and errors come. What a tag has of labels goes, which is at most those of two
// landmarks (runtime/run/bounded_tag.h). Tags share their outer labels, and do so in a packet. Private to this room.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "runtime/packet/layout.h"
#include "runtime/run/bounded_tag.h"

namespace df::packet {

class TagWriter {
 public:
  TagWriter() = default;
  ~TagWriter();
  TagWriter(const TagWriter&) = delete;
  TagWriter& operator=(const TagWriter&) = delete;
  void Put(const TagNode* tag, PacketBytes& bytes);

 private:
  llvm::DenseMap<const TagNode*, uint32_t> numbers_;
  std::vector<TagNode*> held_;  // so that no other node gets the address of one that has a number
  uint32_t next_ = 0;
};

class TagReader {
 public:
  explicit TagReader(const ir::Graph& graph) : graph_(graph) {}
  ~TagReader();
  TagReader(const TagReader&) = delete;
  TagReader& operator=(const TagReader&) = delete;
  // With a count of its own; null is the empty tag. False if the bytes are no tag of the graph. Throws std::bad_alloc.
  bool Read(Reader& in, TagNode** tag);

 private:
  bool ReadLabel(Reader& in, Label* label) const;
  bool ReadLabels(Reader& in, Label* labels, size_t count) const;
  bool ReadLandmark(Reader& in, TagNode** tag);
  const ir::Graph& graph_;
  std::vector<TagNode*> nodes_;
};

}  // namespace df::packet
