// A tag in a packet: how many nodes are new, what they continue (0 nothing, 1 a landmark, from 2 on a node of before), then their labels
// from the outermost on. A landmark is its length in landmarks and both ends of its labels.
#include "runtime/packet/packet_tag.h"

#include <algorithm>

#include "runtime/run/engine_run.h"

namespace df::packet {
namespace {

enum Base : uint8_t { kEmpty, kLandmark, kFirstNode };
constexpr size_t kInner = PathEnds::kInner, kOuter = PathEnds::kOuter;

Label LabelOf(const PathEntry& entry) {
  if (entry.loop.valid()) return {entry.loop.index, true, entry.iteration};
  return {entry.site.index, false, 0};
}

void PutLabel(const Label& label, uint64_t run, PacketBytes& bytes) {
  char* to = bytes.Room(3 * kMostVarint);
  to = PutVarint(to, uint64_t{label.id} << 1 | label.loop);
  if (label.loop) to = PutVarint(to, label.iteration);
  bytes.Wrote(PutVarint(to, run));
}

// Equal ones together.
void PutLabels(llvm::ArrayRef<PathEntry> labels, PacketBytes& bytes) {
  for (size_t i = 0, end; i < labels.size(); i = end) {
    const Label label = LabelOf(labels[i]);
    for (end = i + 1; end < labels.size() && LabelOf(labels[end]) == label;) ++end;
    PutLabel(label, end - i, bytes);
  }
}

// Drops a tag that was made when something throws.
struct Held {
  TagNode* tag = nullptr;
  ~Held() { DropTag(tag); }
  void Become(TagNode* next) { DropTag(std::exchange(tag, next)); }
};

}  // namespace

TagWriter::~TagWriter() {
  for (TagNode* node : held_) DropTag(node);
}

void TagWriter::Put(const TagNode* tag, PacketBytes& bytes) {
  llvm::SmallVector<const TagNode*, kLandmarkPeriod> fresh;
  const TagNode* at = tag;
  auto known = numbers_.end();
  for (; at && !at->is_landmark; at = at->parent) {
    if ((known = numbers_.find(at)) != numbers_.end()) break;
    fresh.push_back(at);
  }
  if (at && at->is_landmark) known = numbers_.find(at);
  PutVarint(bytes, fresh.size());
  auto number = [&](const TagNode* node) {
    if (!node->refs.IsOne()) {
      numbers_[node] = next_;
      held_.push_back(HoldTag(const_cast<TagNode*>(node)));
    }
    ++next_;
  };
  if (!at) {
    PutVarint(bytes, kEmpty);
  } else if (known != numbers_.end()) {
    PutVarint(bytes, kFirstNode + uint64_t{known->second});
  } else {
    PutVarint(bytes, kLandmark);
    PutVarint(bytes, at->depth / kLandmarkPeriod);
    RuntimeError ends;
    FillPath(at, ends);
    PutLabels(llvm::ArrayRef(ends.path).take_front(kInner), bytes);
    PutLabels(llvm::ArrayRef(ends.path).take_back(kOuter), bytes);
    number(at);
  }
  for (const TagNode* node : llvm::reverse(fresh)) {
    PutLabel(node->label, node->run, bytes);
    number(node);
  }
}

TagReader::~TagReader() {
  for (TagNode* node : nodes_) DropTag(node);
}

bool TagReader::ReadLabel(Reader& in, Label* label) const {
  uint64_t id;
  if (!in.Varint(&id)) return false;
  *label = {static_cast<uint32_t>(id >> 1), (id & 1) != 0, 0};
  if (id >> 33) return false;
  if (!label->loop) return graph_.sites.Contains(ir::SiteId(label->id));
  return graph_.scopes.Contains(ir::ScopeId(label->id)) && graph_.scopes[ir::ScopeId(label->id)].kind == ir::ScopeKind::Loop &&
         in.Varint(&label->iteration);
}

bool TagReader::ReadLabels(Reader& in, Label* labels, size_t count) const {
  for (size_t i = 0; i < count;) {
    Label label;
    uint64_t run;
    if (!ReadLabel(in, &label) || !in.Varint(&run) || run == 0 || run > count - i) return false;
    std::fill_n(labels + i, run, label);
    i += run;
  }
  return true;
}

// The outermost labels are written down by a first landmark, to which the innermost go as they would have gone in the tag itself: between
// them is what no path shows.
bool TagReader::ReadLandmark(Reader& in, TagNode** tag) {
  constexpr uint64_t kMostLandmarks = uint64_t{1} << 56;
  uint64_t landmarks;
  Label inner[kInner], outer[kOuter];
  if (!in.Varint(&landmarks) || landmarks == 0 || landmarks > kMostLandmarks || !ReadLabels(in, inner, kInner) || !ReadLabels(in, outer, kOuter)) return false;
  Held made;
  for (size_t i = kOuter; i-- > 0;) made.Become(NewTag(outer[i], made.tag));
  if (landmarks == 1) {
    for (size_t i = kInner; i-- > 0;) made.Become(NewTag(inner[i], made.tag));
  } else {
    for (size_t i = 0; i < kInner; ++i) made.Become(NewTag(inner[kInner - 1], made.tag));
    made.Become(NewFarTag(made.tag, landmarks * kLandmarkPeriod, inner, /*nameless=*/true));
    if (!made.tag) return false;
  }
  *tag = std::exchange(made.tag, nullptr);
  return true;
}

bool TagReader::Read(Reader& in, TagNode** tag) {
  uint64_t fresh, base;
  if (!in.Varint(&fresh) || fresh > kLandmarkPeriod || !in.Varint(&base)) return false;
  Held made;
  if (base == kLandmark) {
    if (!ReadLandmark(in, &made.tag)) return false;
    nodes_.push_back(HoldTag(made.tag));
  } else if (base >= kFirstNode) {
    if (base - kFirstNode >= nodes_.size()) return false;
    made.tag = HoldTag(nodes_[base - kFirstNode]);
  }
  for (uint64_t i = 0; i < fresh; ++i) {
    Label label;
    uint64_t run;
    if (!ReadLabel(in, &label) || !in.Varint(&run) || run == 0 || run > kLandmarkPeriod) return false;
    made.Become(NewTags(label, run, made.tag));
    nodes_.push_back(HoldTag(made.tag));
  }
  *tag = std::exchange(made.tag, nullptr);
  return true;
}

}  // namespace df::packet
