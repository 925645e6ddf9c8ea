// Memory of frames, and the call path that a frame is.
#include "runtime/tagged_frame.h"

#include <algorithm>

#include "runtime/engine_run.h"

namespace df::tagged {

FramePool::~FramePool() {
  for (Chunk& chunk : chunks_) memory::Free(chunk.begin, chunk.bytes);
}

Frame* FramePool::Carve(uint32_t bytes) {
  constexpr size_t kLargest = 1 << 20;
  if (chunks_.empty() || chunks_.back().bytes - (chunks_.back().end - chunks_.back().begin) < bytes) {
    size_t size = std::max<size_t>(next_chunk_, bytes);
    chunks_.reserve(chunks_.size() + 1);
    auto* block = static_cast<char*>(memory::Allocate(size));
    chunks_.push_back({block, block, size});
    next_chunk_ = std::min(next_chunk_ * 2, kLargest);
  }
  Chunk& chunk = chunks_.back();
  auto* frame = reinterpret_cast<Frame*>(chunk.end);
  chunk.end += bytes;
  return frame;
}

namespace {

// The label of a frame; false for the root.
bool LabelOf(const Frame* frame, PathEntry* entry) {
  const SiteCode& site = *frame->site;
  *entry = {};
  switch (site.type) {
    case SiteType::Root: return false;
    case SiteType::Loop:
      entry->loop = ir::ScopeId(site.label);
      entry->iteration = const_cast<Frame*>(frame)->slots()[site.callee->iteration_slot];
      return true;
    default: entry->site = ir::SiteId(site.label); return true;
  }
}

// All labels from `frame` on, innermost first, and their number.
uint64_t Collect(const Frame* frame, PathEnds& ends) {
  uint64_t length = 0;
  PathEntry entry;
  for (; frame; frame = frame->parent_frame()) {
    if (LabelOf(frame, &entry)) {
      ends.Add(entry);
      ++length;
    }
    if (const TagBase* base = frame->base()) {
      for (const PathEntry& e : base->ends) ends.Add(e);
      length += base->length;
    }
  }
  return length;
}

}  // namespace

void FillPath(const Frame* frame, RuntimeError& error) {
  PathEnds ends;
  uint64_t length = Collect(frame, ends);
  ends.Fill(error, length);
}

TagBase* MakeBase(const Frame* frame) {
  auto* base = new TagBase;
  RuntimeError error;
  FillPath(frame, error);
  base->length = error.path_length;
  base->ends = std::move(error.path);
  return base;
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
