// Tags that outlive their activation.
#include "runtime/bounded_tag.h"

#include <algorithm>

namespace df {

namespace {

// The outermost labels of a tag, innermost first: the same for all tags that continue it.
struct TagRoot {
  SharedCount refs{1};
  Label labels[PathEnds::kOuter];
};

constexpr uint64_t kPeriod = PathEnds::kInner + PathEnds::kOuter;

}  // namespace

// In place of the rest of a tag.
struct TagLandmark {
  Label inner[PathEnds::kInner - 1];  // those that follow
  TagRoot* root;
};

namespace {

// The landmark of a node, whose parent is still there.
TagLandmark* MakeLandmark(const TagNode* node) {
  auto* landmark = static_cast<TagLandmark*>(memory::Allocate(sizeof(TagLandmark)));
  const TagNode* at = node->parent;
  for (Label& label : landmark->inner) {
    label = at->label;
    at = at->parent;
  }
  while (!at->is_landmark && at->depth > PathEnds::kOuter) at = at->parent;
  if (at->is_landmark) {
    landmark->root = at->landmark->root;
    landmark->root->refs.Retain();
    return landmark;
  }
  try {
    landmark->root = new (memory::Allocate(sizeof(TagRoot))) TagRoot;
  } catch (...) {
    memory::Free(landmark, sizeof(TagLandmark));
    throw;
  }
  for (Label& label : landmark->root->labels) {
    label = at->label;
    at = at->parent;
  }
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

TagNode* NewTag(const Label& label, TagNode* parent) {
  auto* node = static_cast<TagNode*>(memory::Allocate(sizeof(TagNode)));
  *node = {SharedCount(1), false, label, DepthOf(parent) + 1, {parent}};
  alive::Made(alive::Kind::Tag);
  if (node->depth % kPeriod != 0) {
    HoldTag(parent);
    return node;
  }
  TagLandmark* landmark;
  try {
    landmark = MakeLandmark(node);
  } catch (...) {
    alive::Gone(alive::Kind::Tag);
    memory::Free(node, sizeof(TagNode));
    throw;
  }
  node->is_landmark = true;
  node->landmark = landmark;
  return node;
}

TagNode* NewFarTag(const TagNode* outer, uint64_t depth, llvm::ArrayRef<Label> innermost) {
  uint64_t behind = depth % kPeriod;  // labels after the last landmark
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
  *node = {SharedCount(1), true, innermost[behind], depth - behind, {nullptr}};
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

void AddTag(const TagNode* node, PathEnds& ends) {
  for (; node; node = node->parent) {
    ends.Add(EntryOf(node->label));
    if (!node->is_landmark) continue;
    for (const Label& label : node->landmark->inner) ends.Add(EntryOf(label));
    for (const Label& label : node->landmark->root->labels) ends.Add(EntryOf(label));
    return;
  }
}

void FillPath(const TagNode* node, RuntimeError& error) {
  PathEnds ends;
  AddTag(node, ends);
  ends.Fill(error, DepthOf(node));
}

}  // namespace df
