// By whom joined pieces go where: what each needs is what somebody gives it, and all get all.
#include "runtime/peers/exchange.h"

#include <algorithm>
#include <map>

#include "tests/unit/catch.h"

using namespace df;

namespace {

// So many processes, of which the first make pieces; each makes as many as its number says, beginning with 1.
struct Processes {
  Processes(uint32_t makers_, uint32_t processes) {
    uint64_t at = 0;
    for (uint32_t rank = 0; rank < processes; ++rank) {
      if (rank >= makers_) {
        others.push_back(rank);
        continue;
      }
      makers.push_back({{at, at + rank + 1}, rank});
      at += rank + 1;
    }
    pieces = at;
    for (uint32_t rank = 0; rank < processes; ++rank) plans.push_back(PlanExchange(makers, others, rank));
  }
  const Exchange::Gift* GiftOf(uint32_t rank, Exchange::Range range) const {
    for (const Exchange::Gift& gift : plans[rank].gifts)
      if (gift.range == range) return &gift;
    return nullptr;
  }
  std::vector<Maker> makers;
  std::vector<uint32_t> others;
  uint64_t pieces;
  std::vector<Exchange> plans;
};

uint32_t Digits(uint32_t n) {
  uint32_t digits = 0;
  for (uint32_t k = 1; k < n; k *= 2) ++digits;
  return digits;
}

}  // namespace

TEST_CASE("an exchange by hand: five processes, one of which makes nothing") {
  const Processes p(4, 5);
  // 0 makes 0..1, 1 makes 1..3, 2 makes 3..6, 3 makes 6..10.
  const Exchange& two = p.plans[2];
  REQUIRE(two.needs.size() == 3);
  CHECK((two.needs[0].range == Exchange::Range{0, 3} && two.needs[0].from == std::vector<uint32_t>{0, 1}));
  CHECK((two.needs[1].range == Exchange::Range{3, 6} && two.needs[1].from.empty()));
  CHECK((two.needs[2].range == Exchange::Range{6, 10} && two.needs[2].from == std::vector<uint32_t>{3}));
  REQUIRE(two.gifts.size() == 2);
  CHECK((two.gifts[0].range == Exchange::Range{3, 6} && two.gifts[0].to == std::vector<uint32_t>{3}));
  CHECK((two.gifts[1].range == Exchange::Range{3, 10} && two.gifts[1].to == std::vector<uint32_t>{0}));
  CHECK((p.plans[4].needs.size() == 1 && p.plans[4].needs[0].from == std::vector<uint32_t>{0}));
  CHECK(p.GiftOf(0, {0, 10})->to == std::vector<uint32_t>{4});
}

TEST_CASE("what each process needs somebody gives it, in an order that ends") {
  for (uint32_t makers = 1; makers <= 33; ++makers)
    for (uint32_t processes : {makers, makers + 1, makers + 7, 3 * makers}) {
      const Processes p(makers, processes);
      INFO(makers << " of " << processes);
      uint64_t needed = 0, given = 0;
      for (uint32_t rank = 0; rank < processes; ++rank) {
        uint64_t at = 0;
        for (const Exchange::Need& need : p.plans[rank].needs) {
          REQUIRE(need.range.first == at);
          at = need.range.second;
          if (need.from.empty()) continue;
          ++needed;
          for (size_t i = 0; i < need.from.size(); ++i) {
            const Exchange::Gift* gift = p.GiftOf(need.from[i], need.range);
            REQUIRE(gift);
            REQUIRE((i > 0 || std::ranges::count(gift->to, rank) == 1));
          }
        }
        REQUIRE(at == p.pieces);
        REQUIRE(p.plans[rank].needs.size() <= 1 + Digits(makers));
        for (const Exchange::Gift& gift : p.plans[rank].gifts) given += gift.to.size();
      }
      CHECK(needed == given);
      // Every process has all, where each gives a gift once what is within it has come.
      std::vector<std::vector<Exchange::Range>> has(processes);
      for (const Maker& maker : p.makers) has[maker.rank].push_back(maker.range);
      const auto covers = [&](uint32_t rank, Exchange::Range range) {
        uint64_t pieces = 0;
        for (const Exchange::Need& need : p.plans[rank].needs)
          if (need.range.first >= range.first && need.range.second <= range.second && std::ranges::count(has[rank], need.range)) pieces += need.range.second - need.range.first;
        return pieces == range.second - range.first;
      };
      for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t rank = 0; rank < processes; ++rank)
          for (const Exchange::Need& need : p.plans[rank].needs)
            if (!std::ranges::count(has[rank], need.range) && covers(need.from[0], need.range)) has[rank].push_back(need.range), changed = true;
      }
      for (uint32_t rank = 0; rank < processes; ++rank) CHECK(covers(rank, {0, p.pieces}));
    }
}
