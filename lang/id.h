// lang/id.h
//
// Typed 32-bit handles into append-only tables, and the table itself.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace df {

// The index of a handle that means nothing. Errors leave such handles in syntax and types, and they may get into sets and maps like
// others: llvm's DenseMap keeps the two largest numbers for itself.
inline constexpr uint32_t kNoIndex = UINT32_MAX - 2;

// A 32-bit handle into one table. The tag type only keeps, say, NodeId and TypeId apart.
template <typename Tag>
struct Id {
  uint32_t index = kNoIndex;

  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr bool valid() const { return index != kNoIndex; }
  constexpr explicit operator bool() const { return valid(); }
  friend constexpr auto operator<=>(Id, Id) = default;
};

// An append-only table that is indexed by its own kind of handle.
template <typename IdType, typename T>
class Table {
 public:
  IdType Add(T value) {
    rows_.push_back(std::move(value));
    return IdType(static_cast<uint32_t>(rows_.size() - 1));
  }
  T& operator[](IdType id) { return rows_[id.index]; }
  const T& operator[](IdType id) const { return rows_[id.index]; }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  bool empty() const { return rows_.empty(); }
  bool Contains(IdType id) const { return id.index < rows_.size(); }
  IdType next_id() const { return IdType(size()); }
  auto begin() { return rows_.begin(); }
  auto end() { return rows_.end(); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  std::vector<T> rows_;
};

}  // namespace df

template <typename Tag>
struct std::hash<df::Id<Tag>> {
  size_t operator()(df::Id<Tag> id) const noexcept { return std::hash<uint32_t>()(id.index); }
};
