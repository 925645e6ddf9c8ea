// runtime/engines/tagged/code/pool.h
//
// Blocks by size, from chunks that are kept until none of their blocks is in use and memory grows. Private to the tagged engine.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/base/memory.h"

namespace df::tagged {

// A free T begins with the next free one of its size; `T::Bytes()` is right then too, and `T::IsLive()` false.
template <typename T>
class Pool {
 public:
  Pool() = default;
  ~Pool() {
    for (Chunk& chunk : chunks_) FreeChunk(chunk);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // No block will be larger.
  void Prepare(uint32_t largest_bytes) { free_.resize(std::max<size_t>(free_.size(), largest_bytes / kUnit + 1), nullptr); }
  // What was there before is still there, if it was ever used. Throws std::bad_alloc.
  void* Take(uint32_t bytes) {
    void*& first = free_[bytes / kUnit];
    void* block = first;
    if (!block) return Carve(bytes);
    first = *static_cast<void**>(block);
    return block;
  }
  void Give(void* block, uint32_t bytes) {
    void*& first = free_[bytes / kUnit];
    *static_cast<void**>(block) = first;
    first = block;
  }
  // No block is in use any more.
  void Clear() {
    for (Chunk& chunk : chunks_) FreeChunk(chunk);
    chunks_.clear();
    std::fill(free_.begin(), free_.end(), nullptr);
    bytes_ = blocks_ = 0;
  }
  void** FreeLists() { return free_.data(); }  // by size in units
  // How many it has looked at: those that are free, too.
  template <typename Visit>
  size_t ForEachLive(Visit visit) {
    size_t all = 0;
    for (Chunk& chunk : chunks_)
      ForEachIn(chunk, [&](T* block) {
        ++all;
        if (block->IsLive()) visit(block);
        return true;
      });
    return all;
  }
  // Chunks in which no block is in use go, if a quarter of the blocks may be free (`live` are not) and an eighth of the memory
  // goes. A block of one size serves no other one, so that what a deep recursion leaves is of no use to the next one.
  void GiveBack(int64_t live) {
    const auto blocks = static_cast<int64_t>(blocks_);
    if (blocks - live < blocks / 4) return;
    size_t unused = 0;
    for (Chunk& chunk : chunks_) {
      chunk.in_use = !ForEachIn(chunk, [](T* block) { return !block->IsLive(); });
      if (!chunk.in_use) unused += chunk.bytes;
    }
    if (unused == 0 || unused < bytes_ / 8) return;
    std::fill(free_.begin(), free_.end(), nullptr);
    blocks_ = 0;
    std::erase_if(chunks_, [&](const Chunk& chunk) {
      if (!chunk.in_use) FreeChunk(chunk);
      return !chunk.in_use;
    });
    for (Chunk& chunk : chunks_)
      ForEachIn(chunk, [&](T* block) {
        ++blocks_;
        if (!block->IsLive()) Give(block, block->Bytes());
        return true;
      });
    bytes_ -= unused;
  }
  size_t bytes() const { return bytes_; }  // of all chunks
  // Sizes are multiples of this.
  static constexpr uint32_t kUnit = 8;

 private:
  struct Chunk {
    char* begin;
    char* end;  // of what is used
    size_t bytes;
    bool in_use = true;  // private to GiveBack
  };
  // Visits the blocks of a chunk as long as `visit` says so: whether it did to the end.
  template <typename Visit>
  static bool ForEachIn(const Chunk& chunk, Visit visit) {
    for (char* at = chunk.begin; at < chunk.end;) {
      auto* block = reinterpret_cast<T*>(at);
      at += block->Bytes();
      if (!visit(block)) return false;
    }
    return true;
  }
  static char* NewChunk(size_t bytes) {
    if (bytes != memory::kLargePage) return static_cast<char*>(memory::Allocate(bytes));
    memory::Charge(bytes);
    if (void* pages = memory::TakePages(bytes)) return static_cast<char*>(pages);
    memory::Discharge(bytes);
    memory::RefusedBySystem();
  }
  static void FreeChunk(const Chunk& chunk) {
    if (chunk.bytes != memory::kLargePage) return memory::Free(chunk.begin, chunk.bytes);
    memory::Discharge(chunk.bytes);
    memory::GivePages(chunk.begin, chunk.bytes);
  }
  void* Carve(uint32_t bytes) {
    constexpr size_t kLargest = memory::kLargePage;
    if (chunks_.empty() || chunks_.back().bytes - static_cast<size_t>(chunks_.back().end - chunks_.back().begin) < bytes) {
      size_t size = std::max<size_t>(next_chunk_, bytes);
      chunks_.reserve(chunks_.size() + 1);
      char* block = NewChunk(size);
      chunks_.push_back({block, block, size});
      bytes_ += size;
      next_chunk_ = std::min(next_chunk_ * 2, kLargest);
    }
    Chunk& chunk = chunks_.back();
    void* block = chunk.end;
    chunk.end += bytes;
    ++blocks_;
    return block;
  }
  std::vector<void*> free_;  // by size in units
  std::vector<Chunk> chunks_;
  size_t next_chunk_ = 16 * 1024;
  size_t bytes_ = 0, blocks_ = 0;  // of all chunks; the blocks that were ever cut
};

}  // namespace df::tagged
