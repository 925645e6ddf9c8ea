// The tag that a frame is.
#include "runtime/engines/tagged/code/frame.h"

#include <algorithm>
#include <array>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/engines/tagged/code/unboxed.h"

namespace df::tagged {

namespace {

Label LabelOf(const Frame* frame) {
  const SiteCode& site = *frame->site;
  if (site.callee->spread) return SpreadLabel(site.label);
  bool loop = site.type == SiteType::Loop;
  return {site.label, loop, loop ? const_cast<Frame*>(frame)->slots()[site.callee->iteration_slot] : 0};
}

TagNode* GiveTag(Frame* frame, TagNode* outer) {
  Label label = LabelOf(frame);
  frame->tag = ContinuesLoop(label, outer) ? NewLaterIteration(label, outer) : NewTag(label, outer);
  frame->flags |= kHasTag;
  return frame->tag;
}

// The same of a delayed body. Most often nobody else holds the tag of its Delay any more, and that is the same label again, as in
// a list that is consumed as it is made.
TagNode* GiveBodyTag(Frame* frame) {
  TagNode* outer = frame->parent_tag;
  if (!Lengthen(outer, LabelOf(frame))) return GiveTag(frame, outer);
  frame->tag = HoldTag(outer);
  frame->flags |= kHasTag;
  return outer;
}

// The same of a call that stands in an inlined activation.
TagNode* GiveInnerTag(Frame* frame, TagNode* outer) {
  struct Held {
    TagNode* tag;
    ~Held() { DropTag(tag); }
  } innermost{HoldTag(outer)};
  llvm::SmallVector<Label, 8> labels;
  ForEachInlinedLabel(frame->parent, [&](const Label& label) { labels.push_back(label); });
  for (const Label& label : llvm::reverse(labels)) {
    Held around{innermost.tag};
    innermost.tag = nullptr;
    innermost.tag = NewTag(label, around.tag);
  }
  return GiveTag(frame, innermost.tag);
}

// A frame gets a node for its tag, of which `outer` is that of its caller's frame.
inline TagNode* GiveTagIn(Frame* frame, TagNode* outer) {
  if (frame->parent && UnboxedOf(frame->parent)) [[unlikely]] return GiveInnerTag(frame, outer);
  return GiveTag(frame, outer);
}

// Down from the innermost frame around it whose tag has a node. Those between have in place of their tag the way back.
TagNode* TagOfDeep(Frame* frame) {
  TagNode* tag = nullptr;
  Frame *at = frame, *within = nullptr;
  for (;; at = at->parent) {
    if (at->flags & kHasTag) {
      tag = at->tag;
      break;
    }
    if (at->site->type == SiteType::Root) break;
    if (at->flags & kTagParent) {
      tag = GiveBodyTag(at);
      break;
    }
    at->within = std::exchange(within, at);
  }
  while (within) {
    at = std::exchange(within, within->within);
    tag = GiveTagIn(at, tag);
  }
  return tag;
}

// Whether it is an iteration of a loop that goes on in a call that continues it. The frame around it may have ended.
bool IsContinuing(const Frame* frame) {
  if (frame->site->type != SiteType::Loop) return false;
  const Frame* outer = frame->parent_frame();
  return outer && outer->flags & kHasTag && ContinuesLoop(LabelOf(frame), outer->tag);
}

}  // namespace

TagNode* TagOf(Frame* frame) {
  if (frame->flags & kHasTag) return frame->tag;
  if (frame->flags & kTagParent) return GiveBodyTag(frame);
  if (Frame* outer = frame->parent; outer && outer->flags & kHasTag) return GiveTagIn(frame, outer->tag);
  return TagOfDeep(frame);
}

void GiveFarTag(Frame* frame, Frame* outer) {
  if (frame->flags & kHasTag) return;
  if (outer->flags & kHasTag && !outer->site->continues) {
    llvm::SmallVector<Label, kMostFarLabels> labels;
    auto add = [&](const Label& label) {
      if (labels.size() < kMostFarLabels) labels.push_back(label);
    };
    for (const Frame* at = frame; at != outer && labels.size() < kMostFarLabels; at = at->parent) {
      if (at->flags & kHasTag) break;
      if (IsContinuing(at)) return (void)TagOf(frame);
      add(LabelOf(at));
      ForEachInlinedLabel(at->parent, add);
    }
    uint64_t depth = DepthOf(outer->tag) + (frame->depth - outer->depth);
    frame->tag = NewFarTag(outer->tag, depth, labels);
    if (frame->tag) frame->flags |= kHasTag;
  }
  TagOf(frame);
}

void FillPath(const Frame* frame, RuntimeError& error, uint64_t most) {
  PathEnds ends;
  uint64_t length = 0;
  const TagNode* tag = nullptr;
  auto add = [&](const Frame* at) {
    ForEachInlinedLabel(at, [&](const Label& label) { ends.Add(EntryOf(label)); });
    if (at->flags & kHasTag) return;
    Label label = LabelOf(at);
    if (IsContinuing(at)) label.iteration += at->parent->tag->label.iteration + 1;
    ends.Add(EntryOf(label));
  };
  bool continues = false;  // the frame before is an iteration of the first label's loop
  // Of a path of a hundred million labels those between the ends are only counted: the last frames wait in a ring.
  std::array<const Frame*, PathEnds::kOuter> last;
  uint64_t waiting = 0;
  for (const Frame* at = frame; at && at->site->type != SiteType::Root; at = at->parent) {
    length += InlinedDepth(at);
    if (!(at->flags & kHasTag)) ++length;
    if (ends.added() < PathEnds::kInner) add(at);
    else last[waiting++ % last.size()] = at;
    if (waiting > most) return ends.Fill(error, ends.added());
    if (at->flags & (kHasTag | kTagParent)) {
      tag = at->flags & kHasTag ? at->tag : at->parent_tag;
      break;
    }
    continues = IsContinuing(at);
  }
  for (uint64_t i = waiting - std::min<uint64_t>(waiting, last.size()); i < waiting; ++i) add(last[i % last.size()]);
  if (continues) AddTagAround(tag, ends);
  else AddTag(tag, ends);
  ends.Fill(error, length + DepthOf(tag) - continues);
}

void PrintTag(const Frame* frame, llvm::raw_ostream& out) {
  constexpr size_t kMost = 12;
  RuntimeError error;
  FillPath(frame, error);
  out << '[';
  for (size_t i = 0; i < error.path.size(); ++i) {
    if (i) out << ' ';
    if (i == kMost) {
      out << "..." << error.path_length - kMost << " more";
      break;
    }
    const PathEntry& entry = error.path[i];
    if (entry.loop.valid()) out << "loop(" << entry.loop.index << ")#" << entry.iteration;
    else out << entry.site.index;
  }
  out << ']';
}

}  // namespace df::tagged
