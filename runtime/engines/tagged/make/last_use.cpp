// The last use of each value in its frame: there it is taken out of its slot, so that a list is not held by a frame that
// has handed it on.
//
// A use is the last one if every other use of the slot has run before it or cannot run in the same activation:
//   - in the same region: it stands before;
//   - in a region that needs another side of some predicate: only one of them runs;
//   - in a region all of whose events are implied by this region's: its local code has run before (invariant 3); its tail
//     has come to the use if an event of this region is an answer to it: a result of that call, the value of that Force.
// Where this cannot be shown the value stays until the frame is finished.
#include <algorithm>
#include <set>
#include <utility>

#include "runtime/engines/plan/build.h"

namespace df::tagged {

using ir::Op;

namespace {

// Beyond this many, values stay.
constexpr size_t kMaxUses = 64;
constexpr size_t kMaxImplied = 512;

struct SlotUse {
  uint32_t pc;
  uint32_t region;
  uint32_t index;                // of the operand in its instruction
  bool* last = nullptr;          // where to say so, in a delivery
  uint32_t* listed = nullptr;    // in Program::lists
  uint16_t aux = 0;              // in the instruction
  uint32_t before = kNone;       // the use of the slot that was found before this one
  bool early = false;            // it may come before its turn: it is the last one if there is no other
};

class LastUses {
 public:
  LastUses(Program& program, const Wiring& wiring, const Partition& part, ir::ScopeId scope)
      : p_(program), w_(wiring), part_(part), scope_(program.scopes[scope.index]) {}

  void Run() {
    side_of_.assign(part_.events.size(), {kNone, 0});
    implied_.resize(scope_.regions.size());
    sides_.resize(scope_.regions.size());
    for (uint32_t b = 0; b < part_.branches.size(); ++b)
      for (uint32_t side = 0; side < part_.branches[b].sides.size(); ++side)
        if (uint32_t event = part_.branches[b].sides[side]; event != kNone) side_of_[event] = {b, side};
    for (uint32_t row : w_.read_by_outers[scope_.id.index]) stays_.insert(p_.slot_of[row]);
    for (uint32_t r = 0; r < scope_.regions.size(); ++r)
      for (uint32_t pc = scope_.regions[r].pc; p_.code[pc].code != Code::End; ++pc) Collect(pc, r);
    std::vector<SlotUse> uses;
    for (uint32_t slot = 0; slot < last_use_.size(); ++slot) {
      uses.clear();
      for (uint32_t use = last_use_[slot]; use != kNone; use = uses_[use].before) uses.push_back(uses_[use]);
      if (stays_.count(slot) || uses.size() > kMaxUses) continue;
      for (SlotUse& use : uses)
        if (use.early ? uses.size() == 1 : std::all_of(uses.begin(), uses.end(), [&](const SlotUse& other) { return &other == &use || Before(other, use); }))
          Mark(use);
    }
  }

 private:
  using Side = std::pair<uint32_t, uint32_t>;  // branch and side

  void Add(uint32_t operand, SlotUse use) {
    if (operand == kNone || IsConstant(operand)) return;
    if (operand >= last_use_.size()) last_use_.resize(operand + 1, kNone);
    use.before = std::exchange(last_use_[operand], static_cast<uint32_t>(uses_.size()));
    uses_.push_back(use);
  }

  void AddDeliveries(std::vector<Delivery>& list, uint32_t pc, uint32_t region, bool may_be_early) {
    for (uint32_t i = 0; i < list.size(); ++i) Add(list[i].from, {.pc = pc, .region = region, .index = i, .last = &list[i].last, .early = may_be_early});
  }

  void Collect(uint32_t pc, uint32_t region) {
    const Instr& in = p_.code[pc];
    auto operand = [&](uint32_t slot, uint32_t index, uint16_t aux) { Add(slot, {pc, region, index, nullptr, nullptr, aux}); };
    switch (in.code) {
      case Code::Op:
        operand(in.b, 0, kLastB);
        operand(in.c, 1, kLastC);
        return;
      case Code::OpMany:
      case Code::Construct:
        for (uint32_t k = 0; k < in.c; ++k) {
          uint32_t& listed = p_.lists[in.b + k];
          Add(listed, {pc, region, k, nullptr, &listed});
        }
        return;
      case Code::Check:  // the op itself stands later
        for (uint32_t k = 0; k < in.c; ++k) Add(p_.lists[in.b + k], {pc, region, k});
        return;
      case Code::DelayAll:
        for (uint32_t k = 0; k < p_.sites[in.b].together.size(); ++k) {
          uint32_t& listed = p_.lists[in.c + k];
          Add(listed, {pc, region, k, nullptr, &listed});
        }
        return;
      case Code::DelayArg:
        operand(in.a, 0, 0);
        operand(in.b, 1, kLastB);
        return;
      case Code::Merge:
        if (in.aux & kTrigger) return;
        [[fallthrough]];
      case Code::Force:
      case Code::Wait:
      case Code::Result:
      case Code::Return:
      case Code::Exit: return operand(in.b, 0, kLastB);
      case Code::Branch: return operand(in.a, 0, 0);
      // A late argument may make the frame before its call's turn comes.
      case Code::Call: return AddDeliveries(p_.sites[in.b].together, pc, region, !p_.sites[in.b].late.empty());
      case Code::Next: return AddDeliveries(p_.sites[in.b].next_together, pc, region, !p_.sites[in.b].next_late.empty());
      case Code::CallLate: return Add(p_.sites[in.b].late[in.c].from, {pc, region, 0, nullptr, nullptr, 0});
      case Code::NextLate: return Add(p_.sites[in.b].next_late[in.c].from, {pc, region, 0, nullptr, nullptr, 0});
      case Code::Publish:
        stays_.insert(p_.slot_of[in.a]);
        return;
      case Code::Defer:  // its ops are looked at; what it needs to do others again it does not take out
        if (auto it = w_.again.find(pc); it != w_.again.end())
          for (uint32_t again : it->second)
            for (uint32_t slot : {p_.code[again].b, p_.code[again].c}) Add(slot, {pc, region, 0});
        return;
      case Code::Delay:
      case Code::Offer:
      case Code::Outer:
      case Code::Fire:
      case Code::Input:
      case Code::End: return;
    }
  }

  void Mark(const SlotUse& use) {
    if (use.last) *use.last = true;
    if (use.listed) *use.listed |= kLast;
    p_.code[use.pc].aux |= use.aux;
  }

  // All events that have happened when the region runs, as far as they are found.
  const std::vector<uint32_t>& Implied(uint32_t region) {
    std::vector<uint32_t>& all = implied_[region];
    if (!all.empty()) return all;
    all.reserve(16);
    all = scope_.regions[region].events;
    for (size_t i = 0; i < all.size() && all.size() < kMaxImplied; ++i)
      for (uint32_t event : part_.sets[part_.events[all[i]].set])
        if (std::find(all.begin(), all.end(), event) == all.end()) all.push_back(event);
    std::sort(all.begin(), all.end());
    return all;
  }
  bool Has(uint32_t region, uint32_t event) {
    const std::vector<uint32_t>& all = Implied(region);
    return std::binary_search(all.begin(), all.end(), event);
  }

  // `other` has run when `use` does, or cannot run in the same activation.
  bool Before(const SlotUse& other, const SlotUse& use) {
    if (other.region == use.region) {
      // A Force whose value is there does what its Wait would do.
      if (p_.code[use.pc].code == Code::Force && p_.code[other.pc].code == Code::Wait &&
          p_.node_of[use.pc] == p_.node_of[other.pc])
        return true;
      return other.pc < use.pc || (other.pc == use.pc && other.index < use.index);
    }
    if (Exclude(other.region, use.region)) return true;
    for (uint32_t event : scope_.regions[other.region].events)
      if (!Has(use.region, event)) return false;
    const Instr& in = p_.code[other.pc];
    if (!IsTail(in.code)) return true;
    if (in.code == Code::Wait) return Has(use.region, in.c);
    if (in.code != Code::Call) return false;
    for (const ReturnTo& to : p_.sites[in.b].returns)
      if (to.event != kNone && Has(use.region, to.event)) return true;
    return false;
  }

  // The sides that are taken when the region runs, in order.
  llvm::ArrayRef<Side> Sides(uint32_t region) {
    if (sides_[region].known) return sides_[region].taken;
    sides_[region].known = true;
    llvm::SmallVector<Side, 4>& taken = sides_[region].taken;
    for (uint32_t event : Implied(region))
      if (side_of_[event].first != kNone) taken.push_back(side_of_[event]);
    llvm::sort(taken);
    return taken;
  }

  // Whether the regions need different sides of some predicate.
  bool Exclude(uint32_t a, uint32_t b) {
    llvm::ArrayRef<Side> these = Sides(a), those = Sides(b);
    for (const Side *i = these.begin(), *k = those.begin(); i != these.end() && k != those.end();) {
      if (i->first == k->first && i->second != k->second) return true;
      if (*i < *k) ++i;
      else ++k;
    }
    return false;
  }

  Program& p_;
  const Wiring& w_;
  const Partition& part_;
  const ScopeCode& scope_;
  std::vector<SlotUse> uses_;
  std::vector<uint32_t> last_use_;                      // by slot: in uses_, the last one that was found
  std::set<uint32_t> stays_;                            // slots
  std::vector<Side> side_of_;                           // by event; kNone: it is no side
  struct Taken {
    bool known = false;
    llvm::SmallVector<Side, 4> taken;
  };
  std::vector<Taken> sides_;                            // by region
  std::vector<std::vector<uint32_t>> implied_;          // by region; empty if it was not asked for, or waits for nothing
};

}  // namespace

void MarkLastUses(Program& program, const Wiring& wiring, const Partition& part, ir::ScopeId scope) {
  LastUses(program, wiring, part, scope).Run();
}

}  // namespace df::tagged
