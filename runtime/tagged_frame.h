// runtime/tagged_frame.h
//
// Activation frames: a frame is the tag of its activation (parent and label), and holds what waits there.
//
//   +0   parent     the frame whose tag follows the first label; of a delayed body: where the Delay stands
//   +8   site       the label, and through it the code
//   +16  refs       why the frame is at work: results not sent yet, children, entries of the stack, waiting Forces and
//                   Outers, references whose operands have not all come. At 0 the frame is finished
//   +20  pins       who names its tag only: references that are not released, running delayed bodies, errors
//   +24  depth      labels up to the root or to the base
//   +28  flags
//   +32  slots      8 bytes each: a word, or an object of which the slot owns one count
//        states     1 byte per slot: presence and ValueKind; then 1 per result: whether it was sent
//        ready      1 bit per region: all its events have happened, and it has not run
//        masks      1 byte per region that waits for more than one event: the events that are missing
#pragma once

#include <cstring>
#include <vector>

#include "runtime/memory.h"
#include "runtime/tagged_code.h"

namespace df::tagged {

// A call path that stands for the frames of a long chain of delayed calls, its middle left out.
struct TagBase {
  uint32_t refs = 1;
  uint64_t length = 0;
  std::vector<PathEntry> ends;  // innermost first
};

enum FrameFlags : uint32_t {
  kObjects = 1,       // some slot may hold more than a word
  kErrors = 2,        // some slot may hold an error
  kOuterWaiters = 4,  // an Outer waits for a value of this frame
  kHasBase = 8,       // parent is a TagBase
  kLive = 16,         // not on a free list
  kQueued = 32,       // its ready regions run now, or there is an entry for them on the stack
};

inline constexpr uint8_t kPresent = 0x80;

struct Frame {
  Frame* parent;
  const SiteCode* site;
  uint32_t refs;
  uint32_t pins;
  uint32_t depth;
  uint32_t flags;

  const ScopeCode& scope() const { return *site->callee; }
  uint64_t* slots() { return reinterpret_cast<uint64_t*>(this + 1); }
  uint8_t* states() { return reinterpret_cast<uint8_t*>(slots() + scope().num_slots); }
  uint8_t* ready() { return states() + scope().num_slots + scope().num_results; }
  uint8_t* masks() { return ready() + scope().ready_bytes; }
  TagBase* base() const { return flags & kHasBase ? reinterpret_cast<TagBase*>(parent) : nullptr; }
  Frame* parent_frame() const { return flags & kHasBase ? nullptr : parent; }

  bool Has(uint32_t slot) { return states()[slot] & kPresent; }
  ValueKind KindOf(uint32_t slot) { return static_cast<ValueKind>(states()[slot] & 7); }
  bool IsCounted(uint32_t slot) {
    ValueKind kind = KindOf(slot);
    return kind == ValueKind::Object || kind == ValueKind::Reference || kind == ValueKind::Error;
  }
  Value Get(uint32_t slot) {
    ValueKind kind = KindOf(slot);
    if (kind == ValueKind::Word) return Value::Word(static_cast<int64_t>(slots()[slot]));
    auto* object = reinterpret_cast<Object*>(slots()[slot]);
    ++object->refs;
    return Value::Adopt(kind, object);
  }
  // The slot is empty or holds a word.
  void Set(uint32_t slot, Value value) {
    ValueKind kind = value.kind();
    states()[slot] = kPresent | static_cast<uint8_t>(kind);
    if (kind == ValueKind::Word) {
      slots()[slot] = static_cast<uint64_t>(value.word());
      return;
    }
    flags |= kind == ValueKind::Error ? kObjects | kErrors : kObjects;
    slots()[slot] = reinterpret_cast<uint64_t>(value.Take());
  }
  Value Take(uint32_t slot) {
    Value value = Value::Adopt(KindOf(slot), reinterpret_cast<Object*>(slots()[slot]));
    states()[slot] = 0;
    return value;
  }
};
static_assert(sizeof(Frame) == 32);

// Frames by size, from chunks that are kept until the end.
class FramePool {
 public:
  FramePool() = default;
  ~FramePool();
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  // A frame for `site`, its states empty, its masks full, one count per result. Throws std::bad_alloc.
  Frame* New(const SiteCode* site) {
    const ScopeCode& scope = *site->callee;
    Frame*& first = free_[scope.frame_bytes / kUnit];
    Frame* frame = first;
    if (frame) first = frame->parent;
    else frame = Carve(scope.frame_bytes);
    frame->site = site;
    frame->refs = scope.num_results;
    frame->pins = 0;
    frame->flags = kLive;
    Reset(frame, scope);
    if (++live_ > peak_) peak_ = live_;
    return frame;
  }
  static void Reset(Frame* frame, const ScopeCode& scope) {
    auto* to = reinterpret_cast<uint64_t*>(frame->states());
    const uint64_t* from = scope.init.data();
    size_t words = scope.init.size();
    size_t i = 0;
    do to[i] = from[i];
    while (++i < words);
  }
  void Free(Frame* frame) {
    Frame*& first = free_[frame->scope().frame_bytes / kUnit];
    frame->flags = 0;
    frame->parent = first;
    first = frame;
    --live_;
  }
  // The list from which a fast call takes a frame, and what it has to count then.
  Frame** FreeList(uint32_t bytes) { return &free_[bytes / kUnit]; }
  void CountNew() {
    if (++live_ > peak_) peak_ = live_;
  }
  void CountFree() { --live_; }
  // Before the first frame: no frame will be larger.
  void Prepare(uint32_t largest_bytes) { free_.assign(largest_bytes / kUnit + 1, nullptr); }
  uint64_t live() const { return live_; }
  uint64_t peak() const { return peak_; }
  // Every frame that is not free.
  template <typename Visit>
  void ForEachLive(Visit visit) {
    for (Chunk& chunk : chunks_)
      for (char* at = chunk.begin; at < chunk.end;) {
        auto* frame = reinterpret_cast<Frame*>(at);
        at += frame->scope().frame_bytes;
        if (frame->flags & kLive) visit(frame);
      }
  }
  static constexpr uint32_t kUnit = 16;

 private:
  struct Chunk {
    char* begin;
    char* end;     // of what is used
    size_t bytes;
  };
  Frame* Carve(uint32_t bytes);
  std::vector<Frame*> free_;  // by size in units, linked by parent
  std::vector<Chunk> chunks_;
  size_t next_chunk_ = 32 * 1024;
  uint64_t live_ = 0, peak_ = 0;
};

// The call path of a frame; null is the empty one.
void FillPath(const Frame* frame, RuntimeError& error);
// "[3 loop(7)#2 1]", as the reference engine prints tags.
void PrintTag(const Frame* frame, llvm::raw_ostream& out);
// The path of `frame` as a base for delayed calls under it.
TagBase* MakeBase(const Frame* frame);

}  // namespace df::tagged
