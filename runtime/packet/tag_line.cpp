// A tag on a line: how many labels go, the number of what they continue and 1 (0: nothing), and the labels from the outermost on.
#include "runtime/packet/tag_line.h"

#include "runtime/packet/layout.h"

namespace df {

namespace {

bool ReadLabel(packet::Reader& in, const ir::Graph& graph, Label* label) {
  uint64_t id;
  if (!in.Varint(&id) || id >> 33) return false;
  *label = {static_cast<uint32_t>(id >> 1), (id & 1) != 0, 0};
  if (!label->loop) return graph.sites.Contains(ir::SiteId(label->id));
  if (!in.Varint(&label->iteration)) return false;
  if (label->id == graph.scopes.size()) return true;  // HostLabel
  return graph.scopes.Contains(ir::ScopeId(label->id)) && graph.scopes[ir::ScopeId(label->id)].kind == ir::ScopeKind::Loop;
}

}  // namespace

void TagLine::Keep(const TagRef& tag) {
  const uint32_t number = next_++ % kMost;
  if (number == kept_.size()) {
    kept_.push_back(tag);
  } else {
    numbers_.erase(kept_[number].get());
    kept_[number] = tag;
  }
  numbers_[tag.get()] = number;
}

void TagLine::Put(const TagRef& tag, PacketBytes& to) {
  llvm::SmallVector<TagRef, 8> fresh;
  TagRef at = tag;
  auto known = numbers_.end();
  while (!at.empty() && (known = numbers_.find(at.get())) == numbers_.end()) {
    fresh.push_back(at);
    at = at.tail();
  }
  packet::PutVarint(to, fresh.size());
  packet::PutVarint(to, at.empty() ? 0 : uint64_t{known->second} + 1);
  for (const TagRef& next : llvm::reverse(fresh)) {
    const Label& label = next.head();
    packet::PutVarint(to, uint64_t{label.id} << 1 | label.loop);
    if (label.loop) packet::PutVarint(to, label.iteration);
    Keep(next);
  }
}

bool TagLine::Get(packet::Reader& in, const ir::Graph& graph, TagTable& table, TagRef* tag) {
  uint64_t fresh, base;
  if (!in.Varint(&fresh) || !in.Varint(&base) || fresh > in.left() || base > kept_.size()) return false;
  *tag = base ? kept_[base - 1] : TagRef();
  for (uint64_t i = 0; i < fresh; ++i) {
    Label label;
    if (!ReadLabel(in, graph, &label)) return false;
    *tag = table.Push(label, *tag);
    Keep(*tag);
  }
  return true;
}

}  // namespace df
