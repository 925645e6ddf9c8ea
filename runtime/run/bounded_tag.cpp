// Tags that outlive their activation.
#include "runtime/run/bounded_tag.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace df {

namespace {

// The outermost labels of a tag, innermost first: the same for all tags that continue it.
struct TagRoot {
  SharedCount refs{1};
  Label labels[PathEnds::kOuter];
};

// Equal labels that follow each other, at most kInner of them.
struct LabelRun {
  uint32_t id;
  bool loop;
  uint8_t count;
  uint64_t iteration;
  LabelRun() = default;
  LabelRun(const Label& l, uint32_t times) : id(l.id), loop(l.loop), count(static_cast<uint8_t>(times)), iteration(l.iteration) {}
  Label label() const { return {id, loop, iteration}; }
};
static_assert(PathEnds::kInner <= UINT8_MAX && sizeof(LabelRun) == sizeof(Label));

}  // namespace

// In place of the rest of a tag. The labels that follow, kInner - 1 in all, are behind it in memory: most often, as in a list, few runs.
struct TagLandmark {
  TagRoot* root;
  uint64_t num_runs;
  TagName name;  // of the rest, if tags have names
  static size_t Bytes(uint64_t runs) { return sizeof(TagLandmark) + runs * sizeof(LabelRun); }
  size_t bytes() const { return Bytes(num_runs); }
  LabelRun* runs() { return reinterpret_cast<LabelRun*>(this + 1); }
};

namespace {

// The labels of a landmark while they are collected.
class InnerLabels {
 public:
  uint32_t left() const { return left_; }
  void Add(const Label& label, uint32_t count) {
    left_ -= count;
    if (num_runs_ && runs_[num_runs_ - 1].label() == label) runs_[num_runs_ - 1].count += static_cast<uint8_t>(count);
    else runs_[num_runs_++] = LabelRun(label, count);
  }
  // With the labels, and without a root. Throws std::bad_alloc.
  TagLandmark* Make() const {
    auto* landmark = static_cast<TagLandmark*>(memory::Allocate(TagLandmark::Bytes(num_runs_)));
    landmark->num_runs = num_runs_;
    landmark->name = {};
    std::copy_n(runs_, num_runs_, landmark->runs());
    return landmark;
  }

 private:
  uint32_t left_ = PathEnds::kInner - 1, num_runs_ = 0;
  LabelRun runs_[PathEnds::kInner - 1];
};

void Free(TagLandmark* landmark) { memory::Free(landmark, landmark->bytes()); }

// The labels of a tag, innermost first, up to its first landmark.
class LabelWalk {
 public:
  explicit LabelWalk(const TagNode* tag) : at_(tag), left_(tag->run) {}
  Label Next() { return Next(1).label(); }
  // So many at most, all equal.
  LabelRun Next(uint32_t most) {
    LabelRun run(at_->label, std::min(most, left_));
    if ((left_ -= run.count) == 0 && (at_ = at_->parent)) left_ = at_->run;
    return run;
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
  LabelWalk walk(parent);
  InnerLabels inner;
  while (inner.left()) {
    LabelRun run = walk.Next(inner.left());
    inner.Add(run.label(), run.count);
  }
  TagLandmark* landmark = inner.Make();
  if (tags_have_names.load(std::memory_order_relaxed)) landmark->name = NameOf(parent);
  if (walk.depth() > PathEnds::kOuter) {
    landmark->root = walk.landmark()->landmark->root;
    landmark->root->refs.Retain();
    return landmark;
  }
  try {
    landmark->root = new (memory::Allocate(sizeof(TagRoot))) TagRoot;
  } catch (...) {
    Free(landmark);
    throw;
  }
  for (Label& label : landmark->root->labels) label = walk.Next();
  return landmark;
}

}  // namespace

namespace {

// splitmix64
uint64_t Mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

void TagName::Add(const Label& label, uint64_t depth) {
  const uint64_t which = uint64_t{label.id} << 1 | uint64_t{label.loop};
  const uint64_t at = Mixed(Mixed(Mixed(depth) ^ which) ^ label.iteration);
  first += at;
  second += Mixed(at ^ 0x5851F42D4C957F2D) ^ (which * 0xD6E8FEB86659FD93);
  spread |= IsSpread(label);
}

TagName NameOf(const TagNode* tag) {
  TagName name;
  for (; tag; tag = tag->parent) {
    for (uint32_t i = 0; i < tag->run; ++i) name.Add(tag->label, tag->depth - i);
    if (!tag->is_landmark) continue;
    const TagName& rest = tag->landmark->name;
    name.first += rest.first;
    name.second += rest.second;
    name.spread |= rest.spread;
    break;
  }
  return name;
}

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

TagNode* NewLaterIteration(const Label& label, const TagNode* earlier) {
  Label later = label;
  later.iteration += earlier->label.iteration + 1;
  if (!earlier->is_landmark) return NewTag(later, earlier->parent);
  auto* node = static_cast<TagNode*>(memory::Allocate(sizeof(TagNode)));
  TagLandmark* landmark;
  try {
    landmark = static_cast<TagLandmark*>(memory::Allocate(earlier->landmark->bytes()));
  } catch (...) {
    memory::Free(node, sizeof(TagNode));
    throw;
  }
  std::memcpy(static_cast<void*>(landmark), earlier->landmark, earlier->landmark->bytes());
  landmark->root->refs.Retain();
  *node = {SharedCount(1), true, 1, later, earlier->depth, {nullptr}};
  node->landmark = landmark;
  alive::Made(alive::Kind::Tag);
  return node;
}

TagNode* NewFarTag(const TagNode* outer, uint64_t depth, llvm::ArrayRef<Label> innermost, bool nameless) {
  if (!nameless && tags_have_names.load(std::memory_order_relaxed)) return nullptr;
  uint64_t behind = depth % kLandmarkPeriod;  // labels after the last landmark
  while (outer && !outer->is_landmark) outer = outer->parent;
  if (!outer || innermost.size() < behind + PathEnds::kInner || depth - DepthOf(outer) < behind + PathEnds::kInner) return nullptr;
  InnerLabels inner;
  for (const Label* label = innermost.begin() + behind + 1; inner.left(); ++label) inner.Add(*label, 1);
  TagLandmark* landmark = inner.Make();
  TagNode* node;
  try {
    node = static_cast<TagNode*>(memory::Allocate(sizeof(TagNode)));
  } catch (...) {
    Free(landmark);
    throw;
  }
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
      Free(node->landmark);
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
    for (const LabelRun& run : llvm::ArrayRef(node->landmark->runs(), node->landmark->num_runs))
      for (uint32_t i = 0; i < run.count; ++i) ends.Add(EntryOf(run.label()));
    for (const Label& label : node->landmark->root->labels) ends.Add(EntryOf(label));
    return;
  }
}

}  // namespace

void AddTag(const TagNode* node, PathEnds& ends) { AddLabels(node, node ? node->run : 0, ends); }

void AddTagAround(const TagNode* node, PathEnds& ends) { AddLabels(node, node->run - 1u, ends); }

void FillPath(const TagNode* node, RuntimeError& error) {
  PathEnds ends;
  AddTag(node, ends);
  ends.Fill(error, DepthOf(node));
}

void FillPathAround(const TagNode* node, RuntimeError& error) {
  PathEnds ends;
  AddTagAround(node, ends);
  ends.Fill(error, node->depth - 1);
}

}  // namespace df
