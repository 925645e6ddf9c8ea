// runtime/bounded_tag.h
//
// Tags that outlive their activation: what delayed calls and errors of the engines `tagged` and `demand` remember of where
// they come from. The activation itself goes when its work is done.
//
// Nobody looks at such a tag but the call path of an error message, and that shows both ends of a long one (PathEnds). So
// every 64th label of a tag is a *landmark*, which has a copy of the labels that any path through it can show, and not the
// rest of the tag: what a node keeps alive is bounded, however long its tag, and each path is what the whole tag would give.
#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/engine_run.h"
#include "runtime/shared_count.h"
#include "runtime/tag.h"
#include "runtime/value.h"

namespace df {

struct TagLandmark;

// A label with the rest of the tag. The empty tag is null.
struct TagNode {
  SharedCount refs;         // nodes, cells, errors, frames
  uint32_t is_landmark;
  Label label;
  uint64_t depth;           // number of labels
  union {
    TagNode* parent;        // counted
    TagLandmark* landmark;  // owned
  };
};

// A label as call paths have it.
PathEntry EntryOf(const Label& label);

// label : parent, with one count.
TagNode* NewTag(const Label& label, TagNode* parent);
void FreeTag(TagNode* node);
// The tag of `depth` labels that continues `outer`, by its innermost labels alone, innermost first: no nodes are made of those
// before. null, and nothing is done, if NewTag has to make them one after the other: a tag is short, or too few labels are given.
TagNode* NewFarTag(const TagNode* outer, uint64_t depth, llvm::ArrayRef<Label> innermost);
inline constexpr uint64_t kMostFarLabels = 2 * PathEnds::kInner + PathEnds::kOuter;  // NewFarTag needs no more
inline TagNode* HoldTag(TagNode* node) {
  if (node) node->refs.Retain();
  return node;
}
inline void DropTag(TagNode* node) {
  if (node && node->refs.Drop()) FreeTag(node);
}

inline uint64_t DepthOf(const TagNode* node) { return node ? node->depth : 0; }
// Adds the labels that the path of an error shows.
void AddTag(const TagNode* node, PathEnds& ends);
void FillPath(const TagNode* node, RuntimeError& error);

// The tag of the activation in which an error arose.
struct TagNodeCell : Cell {
  TagNode* tag;
  explicit TagNodeCell(TagNode* t) : tag(HoldTag(t)) {}
  ~TagNodeCell() override { DropTag(tag); }
};
// What an error of these engines remembers; null is the empty tag.
inline const TagNode* TagOfError(const Value& error) {
  const Object* tag = static_cast<ErrorObject*>(error.object())->tag;
  return tag ? static_cast<const TagNodeCell*>(static_cast<const Cell*>(tag))->tag : nullptr;
}

}  // namespace df
