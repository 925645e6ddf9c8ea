#include "runtime/peers/exchange.h"

#include <algorithm>

namespace df {
namespace {

// Makers from one number up to before another, which have what they have made together.
struct Group {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

Exchange::Range RangeOf(const std::vector<Maker>& makers, Group group) { return {makers[group.begin].range.first, makers[group.end - 1].range.second}; }

// The other half of the group of 2 * size makers that has this one; it may be empty, or smaller.
Group Beside(size_t maker, size_t size, size_t count) {
  const size_t begin = (maker / size ^ 1) * size;
  return {std::min(begin, count), std::min(begin + size, count)};
}

// Member i of a group gives what the group has to members i, i + size, i + 2 * size .. of the group beside it.
std::vector<uint32_t> Takers(const std::vector<Maker>& makers, size_t giver, Group own, Group beside) {
  std::vector<uint32_t> to;
  for (size_t i = beside.begin + (giver - own.begin); i < beside.end; i += own.size()) to.push_back(makers[i].rank);
  return to;
}

// The one that gives it to this one, then the others that give it to somebody.
std::vector<uint32_t> Givers(const std::vector<Maker>& makers, size_t taker, Group own, Group beside) {
  const size_t first = (taker - own.begin) % beside.size(), giving = std::min(beside.size(), own.size());
  std::vector<uint32_t> from;
  for (size_t i = 0; i < giving; ++i) from.push_back(makers[beside.begin + (first + i) % giving].rank);
  return from;
}

void AddGift(Exchange& plan, Exchange::Range range, const std::vector<uint32_t>& to) {
  if (to.empty()) return;
  if (plan.gifts.empty() || plan.gifts.back().range != range) plan.gifts.push_back({range, {}});
  plan.gifts.back().to.insert(plan.gifts.back().to.end(), to.begin(), to.end());
}

}  // namespace

Exchange PlanExchange(const std::vector<Maker>& makers, const std::vector<uint32_t>& others, uint32_t rank) {
  Exchange plan;
  const size_t count = makers.size();
  const Exchange::Range whole = RangeOf(makers, {0, count});
  const size_t maker = static_cast<size_t>(std::find_if(makers.begin(), makers.end(), [&](const Maker& each) { return each.rank == rank; }) - makers.begin());
  if (maker == count) {
    const size_t number = static_cast<size_t>(std::find(others.begin(), others.end(), rank) - others.begin());
    const size_t giving = std::min(count, others.size());
    std::vector<uint32_t> from;
    for (size_t i = 0; i < giving; ++i) from.push_back(makers[(number % count + i) % giving].rank);
    plan.needs.push_back({whole, std::move(from)});
    return plan;
  }
  plan.needs.push_back({makers[maker].range, {}});
  for (size_t size = 1; size < count; size *= 2) {
    const Group own{maker / size * size, std::min(maker / size * size + size, count)}, beside = Beside(maker, size, count);
    if (beside.begin == beside.end) continue;
    AddGift(plan, RangeOf(makers, own), Takers(makers, maker, own, beside));
    plan.needs.push_back({RangeOf(makers, beside), Givers(makers, maker, own, beside)});
  }
  std::vector<uint32_t> all_to;
  for (size_t i = maker; i < others.size(); i += count) all_to.push_back(others[i]);
  AddGift(plan, whole, all_to);
  std::sort(plan.needs.begin(), plan.needs.end(), [](const auto& a, const auto& b) { return a.range < b.range; });
  return plan;
}

}  // namespace df
