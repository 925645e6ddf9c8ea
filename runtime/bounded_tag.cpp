// Tags that outlive their activation.
#include "runtime/bounded_tag.h"

#include <algorithm>
#include <utility>

namespace df {

namespace {

// The outermost labels of a tag, innermost first: the same for all tags that continue it.
struct TagRoot {
  SharedCount refs{1};
  Label labels[PathEnds::kOuter];
};

}  // namespace

// In place of the rest of a tag.
struct TagLandmark {
  Label inner[PathEnds::kInner - 1];  // those that follow
  TagRoot* root;
};

namespace {

// The labels of a tag, innermost first, up to its first landmark.
class LabelWalk {
 public:
  explicit LabelWalk(const TagNode* tag) : at_(tag), left_(tag->run) {}
  Label Next() {
    Label label = at_->label;
    if (--left_ == 0 && (at_ = at_->parent)) left_ = at_->run;
    return label;
  }
  // How many there are still, those behind a landmark too.
  uint64_t depth() const { return at_ ? at_->depth - (at_->run - left_) : 0; }
  const TagNode* landmark() const {
    const TagNode* at = at_;
    while (!at->is_landmark) at = at->parent;
    return at;
  }

 private:
  const TagNode* at_;
  uint32_t left_;  // of its run
};

// The landmark of a node in front of `parent`.
TagLandmark* MakeLandmark(const TagNode* parent) {
  auto* landmark = static_cast<TagLandmark*>(memory::Allocate(sizeof(TagLandmark)));
  LabelWalk walk(parent);
  for (Label& label : landmark->inner) label = walk.Next();
  if (walk.depth() > PathEnds::kOuter) {
    landmark->root = walk.landmark()->landmark->root;
    landmark->root->refs.Retain();
    return landmark;
  }
  try {
    landmark->root = new (memory::Allocate(sizeof(TagRoot))) TagRoot;
  } catch (...) {
    memory::Free(landmark, sizeof(TagLandmark));
    throw;
  }
  for (Label& label : landmark->root->labels) label = walk.Next();
  return landmark;
}

}  // namespace

PathEntry EntryOf(const Label& label) {
  PathEntry entry;
  if (label.loop) {
    entry.loop = ir::ScopeId(label.id);
    entry.iteration = label.iteration;
  } else {
    entry.site = ir::SiteId(label.id);
  }
  return entry;
}

TagNode* NewLandmark(const Label& label, TagNode* parent) {
  auto* node = static_cast<TagNode*>(memory::Allocate(sizeof(TagNode)));
  TagLandmark* landmark;
  try {
    landmark = MakeLandmark(parent);
  } catch (...) {
    memory::Free(node, sizeof(TagNode));
    throw;
  }
  *node = {SharedCount(1), true, 1, label, DepthOf(parent) + 1, {nullptr}};
  node->landmark = landmark;
  alive::Made(alive::Kind::Tag);
  return node;
}

TagNode* NewFarTag(const TagNode* outer, uint64_t depth, llvm::ArrayRef<Label> innermost) {
  uint64_t behind = depth % kLandmarkPeriod;  // labels after the last landmark
  while (outer && !outer->is_landmark) outer = outer->parent;
  if (!outer || innermost.size() < behind + PathEnds::kInner || depth - DepthOf(outer) < behind + PathEnds::kInner) return nullptr;
  auto* landmark = static_cast<TagLandmark*>(memory::Allocate(sizeof(TagLandmark)));
  TagNode* node;
  try {
    node = static_cast<TagNode*>(memory::Allocate(sizeof(TagNode)));
  } catch (...) {
    memory::Free(landmark, sizeof(TagLandmark));
    throw;
  }
  std::copy_n(innermost.begin() + behind + 1, PathEnds::kInner - 1, landmark->inner);
  landmark->root = outer->landmark->root;
  landmark->root->refs.Retain();
  *node = {SharedCount(1), true, 1, innermost[behind], depth - behind, {nullptr}};
  node->landmark = landmark;
  alive::Made(alive::Kind::Tag);
  while (behind-- > 0) {
    struct Held {
      TagNode* tag;
      ~Held() { DropTag(tag); }
    } around{node};
    node = NewTag(innermost[behind], around.tag);
  }
  return node;
}

TagNode* NewTags(const Label& label, uint64_t count, TagNode* parent) {
  struct Made {
    TagNode* tag = nullptr;
    ~Made() { DropTag(tag); }
    void Become(TagNode* next) { DropTag(std::exchange(tag, next)); }
  } made;
  TagNode* last = parent;
  // Of many only those from the last landmark on are made.
  uint64_t depth = DepthOf(parent) + count, behind = depth % kLandmarkPeriod;
  if (count >= behind + PathEnds::kInner) {
    Label inner[PathEnds::kInner];
    std::fill(std::begin(inner), std::end(inner), label);
    if (TagNode* far = NewFarTag(parent, depth - behind, inner)) {
      made.Become(last = far);
      count = behind;
    }
  }
  while (count > 0) {
    uint64_t before_landmark = kLandmarkPeriod - 1 - DepthOf(last) % kLandmarkPeriod;
    uint64_t run = std::clamp<uint64_t>(before_landmark, 1, count);
    last = NewTag(label, last);
    last->run = static_cast<uint16_t>(last->run + run - 1);
    last->depth += run - 1;
    made.Become(last);
    count -= run;
  }
  return std::exchange(made.tag, nullptr);
}

void FreeTag(TagNode* node) {
  while (node) {
    TagNode* parent = nullptr;
    if (node->is_landmark) {
      if (node->landmark->root->refs.Drop()) memory::Free(node->landmark->root, sizeof(TagRoot));
      memory::Free(node->landmark, sizeof(TagLandmark));
    } else {
      parent = node->parent;
    }
    alive::Gone(alive::Kind::Tag);
    memory::Free(node, sizeof(TagNode));
    node = parent && parent->refs.Drop() ? parent : nullptr;
  }
}

namespace {

void AddLabels(const TagNode* node, uint32_t run, PathEnds& ends) {
  for (; node; node = node->parent, run = node ? node->run : 0) {
    for (uint32_t i = 0; i < run; ++i) ends.Add(EntryOf(node->label));
    if (!node->is_landmark) continue;
    for (const Label& label : node->landmark->inner) ends.Add(EntryOf(label));
    for (const Label& label : node->landmark->root->labels) ends.Add(EntryOf(label));
    return;
  }
}

}  // namespace

void AddTag(const TagNode* node, PathEnds& ends) { AddLabels(node, node ? node->run : 0, ends); }

void FillPath(const TagNode* node, RuntimeError& error) {
  PathEnds ends;
  AddTag(node, ends);
  ends.Fill(error, DepthOf(node));
}

void FillPathAround(const TagNode* node, RuntimeError& error) {
  PathEnds ends;
  AddLabels(node, node->run - 1u, ends);
  ends.Fill(error, node->depth - 1);
}

}  // namespace df
