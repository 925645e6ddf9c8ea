// The table of tags, and tags as people read them.
#include "runtime/run/tag.h"

#include "runtime/run/engine_run.h"

namespace df {
namespace {

uint64_t Mix(uint64_t x) {  // Stafford's variant 13 of the finaliser of MurmurHash3
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

TagRef TagTable::Push(Label label, const TagRef& rest) {
  uint64_t hash = Mix(rest.hash() * 31 + (uint64_t{label.id} << 1 | label.loop) + Mix(label.iteration + 1));
  size_t bucket = hash & (buckets_.size() - 1);
  for (Tag* tag = buckets_[bucket]; tag; tag = tag->chain)
    if (tag->hash == hash && tag->parent == rest.tag_ && tag->label == label) return TagRef(tag, this);
  if (live_ >= buckets_.size()) {
    Grow();
    bucket = hash & (buckets_.size() - 1);
  }
  auto* tag = ::new (memory::Allocate(sizeof(Tag))) Tag{label, rest.tag_, rest.depth() + 1, 0, hash, buckets_[bucket]};
  if (tag->parent) ++tag->parent->refs;
  buckets_[bucket] = tag;
  if (++live_ > peak_) peak_ = live_;
  return TagRef(tag, this);
}

void TagTable::Free(Tag* tag) {
  while (tag) {
    Tag** link = &buckets_[tag->hash & (buckets_.size() - 1)];
    while (*link != tag) link = &(*link)->chain;
    *link = tag->chain;
    --live_;
    Tag* parent = tag->parent;
    memory::Free(tag, sizeof(Tag));
    tag = parent && --parent->refs == 0 ? parent : nullptr;
  }
}

void TagTable::Grow() {
  std::vector<Tag*, memory::Allocator<Tag*>> wider(buckets_.size() * 2);
  for (Tag* tag : buckets_) {
    while (tag) {
      Tag* next = tag->chain;
      Tag*& bucket = wider[tag->hash & (wider.size() - 1)];
      tag->chain = bucket;
      bucket = tag;
      tag = next;
    }
  }
  buckets_ = std::move(wider);
}

void PrintTag(const Tag* tag, llvm::raw_ostream& out, size_t max) {
  out << '[';
  for (size_t i = 0; tag; tag = tag->parent, ++i) {
    if (i) out << ' ';
    if (i == max) {
      out << "..." << tag->depth << " more";
      break;
    }
    if (tag->label.loop) out << "loop(" << tag->label.id << ")#" << tag->label.iteration;
    else out << tag->label.id;
  }
  out << ']';
}

void FillPath(const Tag* tag, RuntimeError& error) {
  PathEnds ends;
  for (; tag; tag = tag->parent) {
    PathEntry entry;
    if (tag->label.loop) {
      entry.loop = ir::ScopeId(tag->label.id);
      entry.iteration = tag->label.iteration;
    } else {
      entry.site = ir::SiteId(tag->label.id);
    }
    ends.Add(entry);
  }
  ends.Fill(error, ends.added());
}

}  // namespace df
