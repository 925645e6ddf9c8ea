// Slots and registers of native code: what is held where, and how two ways come to hold the same.
#include <algorithm>

#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

using Xbyak::Reg64;
using Xbyak::Xmm;
namespace reg = Xbyak::util;

// rax, rcx, rdx, xmm0 and xmm1 are free for each instruction. rbx: the frame's slots; r12: the NativeRun; r13: the budget; r14: free
// lists of frames; r15: frames made less frames given back.
Reg64 NativeUnboxedMaker::WordAt(uint32_t r) const {
  static const Reg64 kAll[kWordRegisters] = {reg::rsi, reg::rdi, reg::r8, reg::r9, reg::r10, reg::r11, reg::rbp};
  return kAll[r];
}

Xmm NativeUnboxedMaker::DoubleAt(uint32_t r) const { return Xmm(static_cast<int>(r - kWordRegisters + 2)); }

Xbyak::Address NativeUnboxedMaker::Memory(uint32_t slot) const { return reg::qword[reg::rbx + static_cast<int>(slot * sizeof(uint64_t))]; }

void NativeUnboxedMaker::Load(uint32_t r, uint32_t slot) {
  if (r < kWordRegisters) as_.mov(WordAt(r), Memory(slot));
  else as_.movsd(DoubleAt(r), Memory(slot));
}

void NativeUnboxedMaker::Store(uint32_t r, uint32_t slot) {
  if (r < kWordRegisters) as_.mov(Memory(slot), WordAt(r));
  else as_.movsd(Memory(slot), DoubleAt(r));
}

void NativeUnboxedMaker::StoreDirty(const Held& held) {
  for (uint32_t r = 0; r < kRegisters; ++r)
    if (held.IsDirty(r)) Store(r, static_cast<uint32_t>(held.slot[r]));
}

// A register that nothing is in, and that the instruction has for itself now.
uint32_t NativeUnboxedMaker::Free(bool is_double) {
  uint32_t begin = is_double ? kWordRegisters : 0, end = is_double ? kRegisters : kWordRegisters;
  uint32_t best = kNoRegister, best_cost = 0;
  const Slots& live = live_[at_];
  for (uint32_t r = begin; r < end; ++r) {
    if (pinned_ >> r & 1) continue;
    if (held_.slot[r] < 0) {
      best = r;
      break;
    }
    // Rather what nobody reads, then what need not be stored, then what was used long ago.
    uint32_t cost = (live[static_cast<size_t>(held_.slot[r])] ? 1u << 30 : 0) + (held_.IsDirty(r) ? 1u << 29 : 0) + held_.used[r];
    if (best == kNoRegister || cost < best_cost) {
      best = r;
      best_cost = cost;
    }
  }
  if (held_.slot[best] >= 0 && held_.IsDirty(best)) Store(best, static_cast<uint32_t>(held_.slot[best]));
  held_.slot[best] = -1;
  held_.dirty &= ~(1u << best);
  pinned_ |= 1u << best;
  return best;
}

// The register of a slot's value, which it keeps until the instruction is done.
uint32_t NativeUnboxedMaker::Use(uint32_t slot) {
  uint32_t r = held_.Find(slot);
  if (r == kNoRegister) {
    r = Free(IsDouble(slot));
    Load(r, slot);
    held_.slot[r] = static_cast<int16_t>(slot);
  }
  pinned_ |= 1u << r;
  held_.used[r] = at_;
  return r;
}

Reg64 NativeUnboxedMaker::Word(uint32_t slot, const Reg64& aside) {
  if (!IsDouble(slot)) return WordAt(Use(slot));
  if (uint32_t r = held_.Find(slot); r != kNoRegister) as_.movq(aside, DoubleAt(r));
  else as_.mov(aside, Memory(slot));
  return aside;
}

Xmm NativeUnboxedMaker::Double(uint32_t slot, const Xmm& aside) {
  if (IsDouble(slot)) return DoubleAt(Use(slot));
  if (uint32_t r = held_.Find(slot); r != kNoRegister) as_.movq(aside, WordAt(r));
  else as_.movsd(aside, Memory(slot));
  return aside;
}

// The slot's value is what was just put into the register; what it was is forgotten.
void NativeUnboxedMaker::Bind(uint32_t slot, uint32_t r) {
  if (uint32_t before = held_.Find(slot); before != kNoRegister) {
    held_.slot[before] = -1;
    held_.dirty &= ~(1u << before);
  }
  held_.slot[r] = static_cast<int16_t>(slot);
  held_.used[r] = at_;
  held_.dirty |= 1u << r;
}

void NativeUnboxedMaker::SetWord(uint32_t slot, llvm::function_ref<void(const Reg64& to)> make) {
  uint32_t r = Free(IsDouble(slot));
  if (IsDouble(slot)) {
    make(reg::rax);
    as_.movq(DoubleAt(r), reg::rax);
  } else {
    make(WordAt(r));
  }
  Bind(slot, r);
}

void NativeUnboxedMaker::SetDouble(uint32_t slot, llvm::function_ref<void(const Xmm& to)> make) {
  uint32_t r = Free(IsDouble(slot));
  if (IsDouble(slot)) {
    make(DoubleAt(r));
  } else {
    make(reg::xmm0);
    as_.movq(WordAt(r), reg::xmm0);
  }
  Bind(slot, r);
}

void NativeUnboxedMaker::SetConstant(uint32_t slot, int64_t value) {
  SetWord(slot, [&](const Reg64& to) { Constant(to, value); });
}

void NativeUnboxedMaker::Copy(uint32_t to, uint32_t from) {
  if (to == from) return;
  if (IsDouble(from)) SetDouble(to, [&, x = Double(from, reg::xmm1)](const Xmm& d) { as_.movaps(d, x); });
  else SetWord(to, [&, x = Word(from, reg::rcx)](const Reg64& d) { as_.mov(d, x); });
}

void NativeUnboxedMaker::Increment(uint32_t slot) {
  SetWord(slot, [&, x = Word(slot, reg::rcx)](const Reg64& d) { as_.lea(d, reg::ptr[x + 1]); });
}

// Goes from a place with `held` to a join that is made.
void NativeUnboxedMaker::Meet(uint32_t at, Held held) {
  const Join& join = joins_[at];
  for (uint32_t r = 0; r < kRegisters; ++r) {
    if (!held.IsDirty(r)) continue;
    uint32_t there = join.held.Find(static_cast<uint32_t>(held.slot[r]));
    if (there == kNoRegister || !join.held.IsDirty(there)) Store(r, static_cast<uint32_t>(held.slot[r]));
  }
  constexpr uint32_t kAside = kRegisters + 1;  // rax or xmm0
  struct Move {
    uint32_t to, from;
  };
  std::vector<Move> moves;
  for (uint32_t r = 0; r < kRegisters; ++r)
    if (join.held.slot[r] >= 0)
      if (uint32_t from = held.Find(static_cast<uint32_t>(join.held.slot[r])); from != kNoRegister && from != r) moves.push_back({r, from});
  auto move = [&](uint32_t to, uint32_t from, bool words) {
    if (words) as_.mov(to == kAside ? reg::rax : WordAt(to), from == kAside ? reg::rax : WordAt(from));
    else as_.movaps(to == kAside ? reg::xmm0 : DoubleAt(to), from == kAside ? reg::xmm0 : DoubleAt(from));
  };
  while (!moves.empty()) {
    auto free = std::find_if(moves.begin(), moves.end(), [&](const Move& one) {
      return std::none_of(moves.begin(), moves.end(), [&](const Move& other) { return other.from == one.to; });
    });
    if (free != moves.end()) {
      move(free->to, free->from, free->to < kWordRegisters);
      moves.erase(free);
      continue;
    }
    // A cycle: there is one after the other, so one place aside for each kind is enough.
    uint32_t from = moves[0].from;
    move(kAside, from, moves[0].to < kWordRegisters);
    for (Move& other : moves)
      if (other.from == from) other.from = kAside;
  }
  for (uint32_t r = 0; r < kRegisters; ++r)
    if (join.held.slot[r] >= 0 && held.Find(static_cast<uint32_t>(join.held.slot[r])) == kNoRegister)
      Load(r, static_cast<uint32_t>(join.held.slot[r]));
  as_.jmp(join.label);
}

// The first way has come to a place where ways meet. At a loop's beginning its values go into registers.
void NativeUnboxedMaker::MakeJoin(uint32_t at) {
  const Slots& live = live_[at];
  for (uint32_t r = 0; r < kRegisters; ++r) {
    if (held_.slot[r] < 0 || live[static_cast<size_t>(held_.slot[r])]) continue;
    if (held_.IsDirty(r)) Store(r, static_cast<uint32_t>(held_.slot[r]));
    held_.slot[r] = -1;
    held_.dirty &= ~(1u << r);
  }
  if (loops_[at]) {
    std::vector<uint32_t> wanted;
    for (uint32_t slot = 0; slot < double_.size(); ++slot)
      if (live[slot] && held_.Find(slot) == kNoRegister) wanted.push_back(slot);
    std::stable_sort(wanted.begin(), wanted.end(), [&](uint32_t a, uint32_t b) { return reads_[a] > reads_[b]; });
    for (uint32_t slot : wanted) {
      uint32_t begin = IsDouble(slot) ? kWordRegisters : 0, end = IsDouble(slot) ? kRegisters : kWordRegisters, r = begin;
      while (r < end && held_.slot[r] >= 0) ++r;
      if (r == end) continue;
      Load(r, slot);
      held_.slot[r] = static_cast<int16_t>(slot);
    }
    for (uint32_t r = 0; r < kRegisters; ++r)
      if (held_.slot[r] >= 0 && written_[static_cast<size_t>(held_.slot[r])]) held_.dirty |= 1u << r;
    as_.align(16);
  }
  held_.used.fill(at);
  Join& join = joins_[at];
  join.made = true;
  join.held = held_;
  as_.L(join.label);
}

const Xbyak::Label& NativeUnboxedMaker::ExitTo(uint32_t at, bool full) {
  exits_.push_back({Xbyak::Label(), at, held_, full});
  return exits_.back().label;
}

}  // namespace df::tagged
