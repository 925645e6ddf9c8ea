// Sets of events, each once. See plan/build.h.
#include "runtime/engines/plan/build.h"

namespace df::tagged {

uint32_t EventSets::Hash(llvm::ArrayRef<uint32_t> set) {
  uint64_t hash = set.size();
  for (uint32_t event : set) hash = (hash ^ event) * 0x9e3779b97f4a7c15;
  return static_cast<uint32_t>(hash >> 32);
}

void EventSets::Enter(uint32_t set) {
  size_t mask = table_.size() - 1, at = Hash((*this)[set]) & mask;
  while (table_[at] != kNone) at = (at + 1) & mask;
  table_[at] = set;
}

uint32_t EventSets::Intern(llvm::ArrayRef<uint32_t> set) {
  if (table_.size() < 2 * (size() + 1)) {
    table_.assign(std::max<size_t>(16, 2 * table_.size()), kNone);
    for (uint32_t known = 0; known < size(); ++known) Enter(known);
  }
  size_t mask = table_.size() - 1, at = Hash(set) & mask;
  for (; table_[at] != kNone; at = (at + 1) & mask)
    if ((*this)[table_[at]] == set) return table_[at];
  table_[at] = size();
  members_.insert(members_.end(), set.begin(), set.end());
  first_.push_back(static_cast<uint32_t>(members_.size()));
  return table_[at];
}

}  // namespace df::tagged
