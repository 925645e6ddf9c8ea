// runtime/tagged_tag.h
//
// Tags that outlive their activation: what delayed calls and errors remember of where they come from. A frame that makes a
// reference or an error gets a node for its tag; the frame itself goes when its work is done.
//
// Nobody looks at such a tag but the call path of an error message, and that shows both ends of a long one (PathEnds). So
// every 64th label of a tag is a *landmark*, which has a copy of the labels that any path through it can show, and not the
// rest of the tag: what a node keeps alive is bounded, however long its tag, and each path is what the whole tag would give.
#pragma once

#include <cstdint>

#include "runtime/engine_run.h"

namespace df::tagged {

struct SiteCode;
struct TagLandmark;

// A label with the rest of the tag. The empty tag is null.
struct TagNode {
  uint32_t refs;            // nodes, cells, errors, frames
  uint32_t is_landmark;
  const SiteCode* site;     // the label, with
  uint64_t iteration;       // of a loop
  uint64_t depth;           // number of labels
  union {
    TagNode* parent;        // counted
    TagLandmark* landmark;  // owned
  };
};

// A label as call paths have it.
PathEntry LabelOf(const SiteCode& site, uint64_t iteration);

// label : parent, with one count.
TagNode* NewTag(const SiteCode* site, uint64_t iteration, TagNode* parent);
void FreeTag(TagNode* node);
inline TagNode* HoldTag(TagNode* node) {
  if (node) ++node->refs;
  return node;
}
inline void DropTag(TagNode* node) {
  if (node && --node->refs == 0) FreeTag(node);
}

inline uint64_t DepthOf(const TagNode* node) { return node ? node->depth : 0; }
// Adds the labels that the path of an error shows.
void AddTag(const TagNode* node, PathEnds& ends);
void FillPath(const TagNode* node, RuntimeError& error);

}  // namespace df::tagged
