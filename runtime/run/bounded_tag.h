// runtime/run/bounded_tag.h
//
// Tags that outlive their activation: what delayed calls and errors of the engines `tagged` and `demand` remember of where
// they come from. The activation itself goes when its work is done.
//
// Nobody looks at such a tag but the call path of an error message, and that shows both ends of a long one (PathEnds). So
// every 64th label of a tag is a *landmark*, which has a copy of the labels that any path through it can show, and not the
// rest of the tag: what a node keeps alive is bounded, however long its tag, and each path is what the whole tag would give.
// Labels of calls that are equal and follow each other, as those of a lazy list's elements, are one node, up to the next landmark.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/base/shared_count.h"
#include "runtime/run/engine_run.h"
#include "runtime/run/tag.h"
#include "runtime/value/value.h"

namespace df {

struct TagLandmark;

// A label, or a run of equal ones, with the rest of the tag. The empty tag is null.
struct TagNode {
  SharedCount refs;         // nodes, cells, errors, frames
  uint16_t is_landmark;
  uint16_t run;             // how many labels
  Label label;
  uint64_t depth;           // number of labels, of the rest too
  union {
    TagNode* parent;        // counted
    TagLandmark* landmark;  // owned
  };
};

// A name of a whole tag in 128 bits, also of those labels that no landmark keeps: the same in every process that runs the graph. Of each label
// and its place a random number, and their sum.
struct TagName {
  uint64_t first = 0, second = 0;
  bool spread = false;  // one of the labels is a call of a scope that is spread: SpreadLabel
  void Add(const Label& label, uint64_t depth);
  friend auto operator<=>(const TagName&, const TagName&) = default;
};
// Whether landmarks keep the name of what is before them. Once set it stays: processes that share a spine need names (docs/spread.md).
inline std::atomic<bool> tags_have_names{false};
// Of a tag all of whose landmarks were made since then.
TagName NameOf(const TagNode* tag);
// The label of a call of a scope that is spread, whose activation is to be known as one by its tag.
inline Label SpreadLabel(uint32_t site) { return {site, false, 1}; }
inline bool IsSpread(const Label& label) { return !label.loop && label.iteration != 0; }

// A label as call paths have it.
PathEntry EntryOf(const Label& label);

// Every so many labels there is a landmark.
inline constexpr uint64_t kLandmarkPeriod = PathEnds::kInner + PathEnds::kOuter;
TagNode* NewLandmark(const Label& label, TagNode* parent);
void FreeTag(TagNode* node);
// The tag of `depth` labels that continues `outer`, by its innermost labels alone, innermost first: no nodes are made of those
// before. null, and nothing is done, if NewTag has to make them one after the other: a tag is short, too few labels are given, or tags have names;
// a `nameless` one may have none.
TagNode* NewFarTag(const TagNode* outer, uint64_t depth, llvm::ArrayRef<Label> innermost, bool nameless = false);
inline constexpr uint64_t kMostFarLabels = 2 * PathEnds::kInner + PathEnds::kOuter;  // NewFarTag needs no more
inline TagNode* HoldTag(TagNode* node) {
  if (node) node->refs.Retain();
  return node;
}
inline void DropTag(TagNode* node) {
  if (node && node->refs.Drop()) FreeTag(node);
}

inline uint64_t DepthOf(const TagNode* node) { return node ? node->depth : 0; }

// Whether label : tag can be one node with the last labels of `tag`.
inline bool ContinuesRun(const TagNode* tag, const Label& label) {
  return tag && !label.loop && tag->label == label && !tag->is_landmark && (tag->depth + 1) % kLandmarkPeriod != 0;
}
// label : parent, with one count. Throws std::bad_alloc.
inline TagNode* NewTag(const Label& label, TagNode* parent) {
  uint64_t depth = DepthOf(parent) + 1;
  if (depth % kLandmarkPeriod == 0) [[unlikely]] return NewLandmark(label, parent);
  auto* node = static_cast<TagNode*>(memory::Allocate(sizeof(TagNode)));
  uint16_t run = 1;
  if (ContinuesRun(parent, label)) {
    run = static_cast<uint16_t>(parent->run + 1);
    parent = parent->parent;
  }
  *node = {SharedCount(1), false, run, label, depth, {HoldTag(parent)}};
  alive::Made(alive::Kind::Tag);
  return node;
}
// The same within a call that continues a loop (ir::Op::Offer), which has no label: of the same loop's iteration, a later one of it.
TagNode* NewLaterIteration(const Label& label, const TagNode* earlier);
inline bool ContinuesLoop(const Label& label, const TagNode* tag) { return label.loop && tag && tag->label.loop && tag->label.id == label.id; }
// The same in the place of `tag` itself, if nobody else holds that and its labels run on. False: nothing was done.
inline bool Lengthen(TagNode* tag, const Label& label) {
  if (!ContinuesRun(tag, label) || !tag->refs.IsOne()) return false;
  ++tag->run;
  ++tag->depth;
  return true;
}

// The same with `count` labels, at least one, all equal.
TagNode* NewTags(const Label& label, uint64_t count, TagNode* parent);

// Adds the labels that the path of an error shows.
void AddTag(const TagNode* node, PathEnds& ends);
// But for the first one.
void AddTagAround(const TagNode* node, PathEnds& ends);
void FillPath(const TagNode* node, RuntimeError& error);
// The path without its innermost label, which is one of a run.
void FillPathAround(const TagNode* node, RuntimeError& error);

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
