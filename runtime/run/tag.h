// runtime/run/tag.h
//
// Tags as the definition has them: lists of labels, each the number of a call site or an iteration of a loop.
// Lists with equal labels are one object (interned by first label and rest), so that a tag is compared by its
// address.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "runtime/base/memory.h"
#include "runtime/run/engine.h"
#include "tagged_ir/graph.h"

namespace df {

struct Label {
  uint32_t id = 0;         // of a site, or of a loop's scope
  bool loop = false;
  uint64_t iteration = 0;  // of a loop
  friend bool operator==(const Label&, const Label&) = default;
};

// A list that is not empty; the empty tag is the null pointer.
struct Tag {
  Label label;
  Tag* parent;
  uint64_t depth;  // number of labels
  uint64_t refs;
  uint64_t hash;
  Tag* chain;      // next in the table's bucket
};

class TagTable;

// A counted handle to a tag.
class TagRef {
 public:
  TagRef() = default;
  TagRef(const TagRef& other) : tag_(other.tag_), table_(other.table_) { if (tag_) ++tag_->refs; }
  TagRef(TagRef&& other) noexcept : tag_(std::exchange(other.tag_, nullptr)), table_(other.table_) {}
  TagRef& operator=(TagRef other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(table_, other.table_);
    return *this;
  }
  inline ~TagRef();

  bool empty() const { return !tag_; }
  const Tag* get() const { return tag_; }
  const Label& head() const { return tag_->label; }
  inline TagRef tail() const;
  uint64_t depth() const { return tag_ ? tag_->depth : 0; }
  friend bool operator==(const TagRef& a, const TagRef& b) { return a.tag_ == b.tag_; }
  uint64_t hash() const { return tag_ ? tag_->hash : 0x9E3779B97F4A7C15; }

 private:
  friend class TagTable;
  TagRef(Tag* tag, TagTable* table) : tag_(tag), table_(table) { if (tag_) ++tag_->refs; }
  Tag* tag_ = nullptr;
  TagTable* table_ = nullptr;
};

class TagTable {
 public:
  TagTable() : buckets_(1024) {}
  TagTable(const TagTable&) = delete;
  TagTable& operator=(const TagTable&) = delete;

  // label:rest
  TagRef Push(Label label, const TagRef& rest);
  uint64_t live() const { return live_; }
  uint64_t peak() const { return peak_; }

 private:
  friend class TagRef;
  void Free(Tag* tag);  // and every ancestor that nobody else holds, without recursion
  void Grow();
  std::vector<Tag*, memory::Allocator<Tag*>> buckets_;
  uint64_t live_ = 0, peak_ = 0;
};

inline TagRef::~TagRef() {
  if (tag_ && --tag_->refs == 0) table_->Free(tag_);
}
inline TagRef TagRef::tail() const { return TagRef(tag_->parent, table_); }

// "[3 loop(7)#2 1]": innermost first, at most `max` labels.
void PrintTag(const Tag* tag, llvm::raw_ostream& out, size_t max = 12);

// The call path that a tag is, its middle left out when it is long.
void FillPath(const Tag* tag, RuntimeError& error);

}  // namespace df
