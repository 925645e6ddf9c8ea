// The tag that a frame is.
#include "runtime/tagged_frame.h"

#include "llvm/ADT/SmallVector.h"

namespace df::tagged {

namespace {

Label LabelOf(const Frame* frame) {
  const SiteCode& site = *frame->site;
  bool loop = site.type == SiteType::Loop;
  return {site.label, loop, loop ? const_cast<Frame*>(frame)->slots()[site.callee->iteration_slot] : 0};
}

}  // namespace

namespace {

TagNode* GiveTag(Frame* frame, TagNode* outer) {
  frame->tag = NewTag(LabelOf(frame), outer);
  frame->flags |= kHasTag;
  return frame->tag;
}

}  // namespace

TagNode* TagOf(Frame* frame) {
  // Down from the innermost frame around it whose tag has a node; most often that is the first or the second one.
  llvm::SmallVector<Frame*, 16> without;
  for (Frame* at = frame;;) {
    if (at->flags & kHasTag || at->site->type == SiteType::Root) {
      TagNode* tag = at->flags & kHasTag ? at->tag : nullptr;
      while (!without.empty()) tag = GiveTag(without.pop_back_val(), tag);
      return tag;
    }
    if (at->flags & kTagParent) {
      TagNode* tag = GiveTag(at, at->parent_tag);
      while (!without.empty()) tag = GiveTag(without.pop_back_val(), tag);
      return tag;
    }
    without.push_back(at);
    at = at->parent;
  }
}

void FillPath(const Frame* frame, RuntimeError& error) {
  PathEnds ends;
  uint64_t length = 0;
  const TagNode* tag = nullptr;
  for (const Frame* at = frame; at && at->site->type != SiteType::Root;) {
    if (at->flags & kHasTag) {
      tag = at->tag;
      break;
    }
    ends.Add(EntryOf(LabelOf(at)));
    ++length;
    if (at->flags & kTagParent) {
      tag = at->parent_tag;
      break;
    }
    at = at->parent;
  }
  AddTag(tag, ends);
  ends.Fill(error, length + DepthOf(tag));
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
