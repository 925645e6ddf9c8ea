// runtime/engines/tagged/code/frame.h
//
// Activation frames: a frame is the tag of its activation (parent and label), and holds what waits there.
//
//   +0   parent     the frame whose tag follows the first label; of a delayed body the tag of its Delay, or that frame if an
//                   Outer may look for it or it gets cotangents
//   +8   site       the label, and through it the code
//   +16  refs       why the frame is at work: results not sent yet, children, entries of the stack, waiting Forces and
//                   Outers, references whose operands have not all come. At 0 the frame is finished
//   +20  flags, and where the states begin; with refs the frame's head
//   +24  pins       whose Outers may still look for it: references that are not released, running delayed bodies
//   +28  depth      number of labels
//   +32  tag        its own tag, if a reference or an error was made here
//   +40  resume     of a frame that runs scheduled code: where it goes on
//   +48  slots      8 bytes each: a word, or an object of which the slot owns one count
//        states     1 byte per slot: presence and ValueKind; then 1 per result: whether it was sent
//        ready      1 bit per region: all its events have happened, and it has not run
//        masks      1 byte per region that waits for more than one event: the events that are missing
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/code/pool.h"
#include "runtime/run/bounded_tag.h"

namespace df::tagged {

enum FrameFlags : uint32_t {
  kObjects = 1,       // some slot may hold more than a word
  kErrors = 2,        // some slot may hold an error
  kOuterWaiters = 4,  // an Outer waits for a value of this frame
  kTagParent = 8,     // parent is a TagNode
  kLive = 16,         // not on a free list
  kQueued = 32,       // its ready regions run now, or there is an entry for them on the stack
  kHasTag = 64,       // `tag` is set
  kScheduled = 128,      // it runs scheduled code
  kScheduledCaller = 256,  // and gives its results to scheduled code that waits for them
  kProxy = 512,       // stands for the caller of a call that another worker gave away (exec/team.h)
  kListed = 1024,     // in Worker::candidates
  kExamined = 2048,   // who waits for this frame, and who waits for them, was looked through for work to give away
  kTailed = 4096,     // its caller's frame has gone, and it gives its result to that one's (Worker::tailed)
  kCold = 8192,       // made while there was no fast code: of ScopeCode::cold_bytes. Kept on free lists
};

inline constexpr uint32_t kFlagBits = 14;
inline constexpr uint32_t FlagsAndWords(uint32_t flags, uint32_t state_words) { return flags | state_words << kFlagBits; }

inline constexpr uint8_t kPresent = 0x80;

struct Frame {
  union {
    Frame* parent;
    TagNode* parent_tag;  // kTagParent; null is the empty tag. If it is `tag` itself, that without its innermost label
  };
  const SiteCode* site;
  uint32_t refs;
  union {
    struct {
      uint32_t flags : kFlagBits;
      uint32_t state_words : 32 - kFlagBits;  // before the states: as ScopeCode::num_slots
    };
    uint32_t flags_and_words;  // both: see FlagsAndWords
  };
  uint32_t pins;
  uint32_t depth;
  union {
    TagNode* tag;         // kHasTag; counted
    Frame* within;        // private to TagOf
  };
  const ScheduledInstr* resume;

  // refs, flags and state_words, read and written as one (HeadOf).
  uint64_t head() const {
    uint64_t head;
    std::memcpy(&head, &refs, sizeof head);
    return head;
  }
  void set_head(uint64_t head) { std::memcpy(&refs, &head, sizeof head); }

  const ScopeCode& scope() const { return *site->callee; }
  uint64_t* slots() { return reinterpret_cast<uint64_t*>(this + 1); }
  uint8_t* states() { return reinterpret_cast<uint8_t*>(slots() + state_words); }
  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(this); }
  uint8_t* ready() { return bytes() + scope().ready_offset; }
  uint8_t* masks() { return bytes() + scope().mask_offset; }
  Frame* parent_frame() const { return flags & kTagParent ? nullptr : parent; }
  uint32_t Bytes() const { return flags & kCold ? scope().cold_bytes : scope().frame_bytes; }
  bool IsLive() const { return flags & kLive; }

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
    return Value::Retain(kind, object);
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
  // What the slot holds, which is a value and no error; the slot stays present.
  Value MoveOut(uint32_t slot) {
    Value value = Value::Adopt(KindOf(slot), reinterpret_cast<Object*>(slots()[slot]));
    states()[slot] = kPresent;  // a word
    return value;
  }
  Value Take(uint32_t slot) {
    Value value = Value::Adopt(KindOf(slot), reinterpret_cast<Object*>(slots()[slot]));
    states()[slot] = 0;
    return value;
  }
};
static_assert(sizeof(Frame) == 48);
static_assert(offsetof(Frame, flags_and_words) == offsetof(Frame, refs) + 4);

// The head of a frame with one ref.
inline constexpr uint64_t HeadOf(uint32_t flags, uint32_t state_words) {
  return 1 | uint64_t{FlagsAndWords(flags, state_words)} << 32;
}

class FramePool {
 public:
  // A frame for `site` of which nothing else is set. Throws std::bad_alloc.
  Frame* Take(const SiteCode* site) {
    auto* frame = static_cast<Frame*>(pool_.Take(site->callee->frame_bytes));
    frame->site = site;
    CountNew();
    return frame;
  }
  // A frame for `site`, its states empty, its masks full, one count per result. Throws std::bad_alloc.
  Frame* New(const SiteCode* site) {
    const ScopeCode& scope = *site->callee;
    Frame* frame = Take(site);
    frame->refs = scope.num_results;
    frame->pins = 0;
    frame->flags = flags_;
    frame->state_words = scope.num_slots;
    Reset(frame, scope);
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
    if (frame->flags & kHasTag) DropTag(frame->tag);
    if (frame->flags & kTagParent) DropTag(frame->parent_tag);
    frame->flags &= kCold;
    pool_.Give(frame, frame->Bytes());
    --live_;
  }
  // The list from which a call in scheduled code takes a frame, and what it has to count then.
  Frame** FreeList(uint32_t bytes) { return FreeLists() + ListOf(bytes); }
  Frame** FreeLists() { return reinterpret_cast<Frame**>(pool_.FreeLists()); }
  static uint32_t ListOf(uint32_t bytes) { return bytes / Pool<Frame>::kUnit; }
  void CountNew() {
    ++live_;
    NotePeak();
  }
  // A call in scheduled code leaves the peak to whoever takes a frame from a chunk, and to every StepCheck: a peak that is higher
  // than those before needs a frame that was never used, unless frames of several sizes come and go.
  void CountNewScheduled() { ++live_; }
  void CountFree() { --live_; }
  void CountScheduled(int64_t more) { live_ += static_cast<uint64_t>(more); }
  void NotePeak() {
    if (live_ > peak_) peak_ = live_;
  }
  // Before the first frame, and again where fast code is made later: then frames may be larger than before.
  void Prepare(uint32_t largest_bytes, bool cold) {
    pool_.Prepare(largest_bytes);
    flags_ = cold ? kLive | kCold : kLive;
  }
  uint64_t live() const { return live_; }
  uint64_t peak() const { return peak_; }
  template <typename Visit>
  size_t ForEachLive(Visit visit) { return pool_.ForEachLive(visit); }
  void GiveBack() { pool_.GiveBack(static_cast<int64_t>(live_)); }
  size_t bytes() const { return pool_.bytes(); }
  // No frame is in use any more, and none holds a value or tag. By a walk over all frames, or the memory goes.
  void Clear(bool walk) {
    if (walk) {
      ForEachLive([&](Frame* frame) {
        frame->flags &= kCold;
        pool_.Give(frame, frame->Bytes());
      });
    } else {
      pool_.Clear();
    }
    live_ = peak_ = 0;
  }

 private:
  Pool<Frame> pool_;
  uint64_t live_ = 0, peak_ = 0;
  uint32_t flags_ = kLive;  // of a frame that New makes
};

// The unboxed code in which a frame stands, or null.
inline const UnboxedCode* UnboxedOf(const Frame* frame) {
  const UnboxedCode* unboxed = frame->scope().unboxed.get();
  return unboxed && frame->flags & kScheduled && unboxed->Holds(frame->resume) ? unboxed : nullptr;
}

// The tag of a frame, which gets a node for it. Not counted for the caller; null is the empty tag.
TagNode* TagOf(Frame* frame);
// The same for a frame far within `outer`, without nodes for the frames between, which are about to go.
void GiveFarTag(Frame* frame, Frame* outer);
// The call path of a frame; null is the empty one.
// A path of more frames than `most` ends there: to count the rest takes its time.
void FillPath(const Frame* frame, RuntimeError& error, uint64_t most = UINT64_MAX);
// "[3 loop(7)#2 1]", as the reference engine prints tags.
void PrintTag(const Frame* frame, llvm::raw_ostream& out);

}  // namespace df::tagged
