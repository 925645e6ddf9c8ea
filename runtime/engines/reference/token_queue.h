// runtime/engines/reference/token_queue.h
//
// The tokens that are on their way, and which of them goes next. Any order is right; this one keeps memory
// small: the deepest tag first, and among tags of one depth first in, first out. So a recursion is walked
// depth first, one activation a level, while the variables of a loop advance side by side. Every 256th token
// is one of the shallowest: whatever can go on does so in the end, also beside a call that never returns.
// With a seed the order is random.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/run/tag.h"
#include "runtime/value/value.h"

namespace df::reference {  // the lexer has a df::Token of its own

struct Token {
  ir::NodeId node;     // where it goes
  uint32_t input = 0;  // of that node
  TagRef tag;
  Value value;
};

// Numbers below 2^36, of which the least and the greatest are found in a few steps: each layer has a bit for each word of
// the layer below that is not 0.
class DepthSet {
 public:
  // Afterwards inserting numbers up to this one does not fail.
  void Reserve(uint64_t number) {
    for (Words& words : layers_) {
      number /= 64;
      if (number >= words.size()) words.resize(std::max<size_t>(number + 1, 2 * words.size()));
    }
  }
  void Insert(uint64_t number) {
    for (Words& words : layers_) {
      bool was_empty = words[number / 64] == 0;
      words[number / 64] |= uint64_t{1} << number % 64;
      if (!was_empty) return;
      number /= 64;
    }
  }
  void Erase(uint64_t number) {
    for (Words& words : layers_) {
      if ((words[number / 64] &= ~(uint64_t{1} << number % 64)) != 0) return;
      number /= 64;
    }
  }
  // Of a set that is not empty.
  uint64_t Least() const {
    return Find([](uint64_t word) { return std::countr_zero(word); });
  }
  uint64_t Greatest() const {
    return Find([](uint64_t word) { return 63 - std::countl_zero(word); });
  }

 private:
  using Words = std::vector<uint64_t, memory::Allocator<uint64_t>>;
  template <typename Bit>
  uint64_t Find(Bit bit) const {
    uint64_t number = 0;
    for (size_t layer = layers_.size(); layer-- > 0;) number = number * 64 + static_cast<uint64_t>(bit(layers_[layer][number]));
    return number;
  }
  std::array<Words, 6> layers_;
};

class TokenQueue {
 public:
  explicit TokenQueue(uint64_t seed) : random_(seed != 0), generator_(seed) {}
  TokenQueue(const TokenQueue&) = delete;
  TokenQueue& operator=(const TokenQueue&) = delete;
  ~TokenQueue() {
    while (!empty()) Pop();
    while (Link* link = free_) {
      free_ = link->next;
      memory::Free(link, sizeof(Link));
    }
  }

  bool empty() const { return size_ == 0; }

  void Push(Token token) {
    if (random_) {
      bag_.push_back(std::move(token));
      ++size_;
      return;
    }
    uint64_t depth = token.tag.depth();
    if (depth >= levels_.size()) {
      levels_.resize(std::max<size_t>(depth + 1, levels_.size() * 2));
      depths_.Reserve(levels_.size() - 1);
    }
    Link* link = NewLink(std::move(token));
    Level& level = levels_[depth];
    if (!level.first) depths_.Insert(depth);
    (level.last ? level.last->next : level.first) = link;
    level.last = link;
    ++size_;
  }

  Token Pop() {
    --size_;
    if (random_) {
      std::swap(bag_[generator_() % bag_.size()], bag_.back());
      Token token = std::move(bag_.back());
      bag_.pop_back();
      return token;
    }
    uint64_t depth = ++popped_ % 256 == 0 ? depths_.Least() : depths_.Greatest();
    Level& level = levels_[depth];
    Link* link = level.first;
    level.first = link->next;
    if (!level.first) {
      level.last = nullptr;
      depths_.Erase(depth);
    }
    Token token = std::move(link->token);
    link->~Link();
    link->next = free_;
    free_ = link;
    return token;
  }

 private:
  struct Link {
    Token token;
    Link* next = nullptr;
  };
  struct Level {
    Link* first = nullptr;
    Link* last = nullptr;
  };

  Link* NewLink(Token token) {
    void* block = free_;
    if (block) free_ = free_->next;
    else block = memory::Allocate(sizeof(Link));
    return ::new (block) Link{std::move(token)};
  }

  bool random_;
  std::mt19937_64 generator_;
  std::vector<Token, memory::Allocator<Token>> bag_;
  std::vector<Level, memory::Allocator<Level>> levels_;
  Link* free_ = nullptr;
  DepthSet depths_;
  uint64_t size_ = 0, popped_ = 0;
};

}  // namespace df::reference
