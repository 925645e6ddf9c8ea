// runtime/engines/tagged/x86/unboxed.h
//
// The machine code of one scope's unboxed code. Private to this room.
//
// Values are in the frame's slots, and in registers as long as there is room. A register that is *dirty* has what its slot will
// only have when somebody may look: a caller's slots before a call, all before native code is left (out of line). Where ways meet,
// the first way to come there says which registers hold what, and the others move their values there.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/code/machine_code.h"
#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/engines/tagged/x86/arithmetic.h"

namespace df::tagged {

// What all scopes of a program share.
struct NativeProgram {
  Xbyak::CodeGenerator assembler{4096, Xbyak::AutoGrow};
  Xbyak::Label leave;                     // rax: what is to be done next
  uint32_t left = 0;                      // offset: the same where the NativeRun says it
  std::vector<Xbyak::Label> begins;       // by scope: of its unboxed code
  std::vector<uint32_t> entries;          // as in NativeCode
  std::vector<uint32_t> frameless_entries;    // likewise
  uint32_t enter_frameless = 0;               // offset
  std::vector<std::pair<uint32_t, uint32_t>> bodies;   // sites, and the offset of SiteCode::native_body
  std::vector<std::pair<uint32_t, uint32_t>> results;  // Gots and GotWords, and the offset of what follows each
};

// The free frame in rax becomes one that the frame of rbx has called from `site`, `deeper` labels below. Changes rcx.
void EmitCallee(Xbyak::CodeGenerator& as, const SiteCode& site, uint32_t deeper);
// The frame of rbx goes to a list of free ones. Changes rsi.
void EmitFreeFrame(Xbyak::CodeGenerator& as, uint32_t list);

class NativeUnboxedMaker : private NativeArithmetic {
 public:
  NativeUnboxedMaker(Program& p, const ScopeCode& scope, NativeProgram& native);
  void Run();

 private:
  using Slots = std::bitset<256>;
  static constexpr uint32_t kWordRegisters = 7, kDoubleRegisters = 14, kRegisters = kWordRegisters + kDoubleRegisters;
  static constexpr uint32_t kNoRegister = kRegisters;

  // What the registers hold: first those for words, then those for doubles.
  struct Held {
    std::array<int16_t, kRegisters> slot;
    std::array<uint32_t, kRegisters> used{};  // when, as instructions go
    uint32_t dirty = 0;
    Held() { slot.fill(-1); }
    uint32_t Find(uint32_t of) const {
      for (uint32_t r = 0; r < kRegisters; ++r)
        if (slot[r] == static_cast<int16_t>(of)) return r;
      return kNoRegister;
    }
    bool IsDirty(uint32_t r) const { return dirty >> r & 1; }
  };
  struct Join {
    bool made = false;
    Held held;
    Xbyak::Label label;
  };
  struct Todo {
    Xbyak::Label label;
    uint32_t at;
    Held held;
  };
  struct Exit {
    Xbyak::Label label;
    uint32_t at;
    Held held;
    bool full;  // one of the budget is given back
  };

  // x86/unboxed_flow.cpp: what is known of the code
  void FindWays();
  void FindClasses();
  void FindLive();
  uint32_t TargetOf(uint32_t at, uint32_t bytes) const {
    return static_cast<uint32_t>(static_cast<int32_t>(at) + static_cast<int32_t>(bytes) / static_cast<int32_t>(sizeof(ScheduledInstr)));
  }
  void ForEachTarget(uint32_t at, llvm::function_ref<void(uint32_t target)> each) const;
  static void ForEachRead(const ScheduledInstr& in, llvm::function_ref<void(uint32_t slot)> each);
  static void ForEachWrite(const ScheduledInstr& in, llvm::function_ref<void(uint32_t slot)> each);
  bool GoesOn(uint32_t at) const;

  // x86/unboxed_values.cpp: slots and registers
  bool IsDouble(uint32_t slot) const { return double_[slot]; }
  Xbyak::Address Memory(uint32_t slot) const;
  Xbyak::Reg64 WordAt(uint32_t r) const;
  Xbyak::Xmm DoubleAt(uint32_t r) const;
  void Load(uint32_t r, uint32_t slot);
  void Store(uint32_t r, uint32_t slot);
  void StoreDirty(const Held& held);
  uint32_t Free(bool is_double);
  uint32_t Use(uint32_t slot);
  Xbyak::Reg64 Word(uint32_t slot, const Xbyak::Reg64& aside) override;
  Xbyak::Xmm Double(uint32_t slot, const Xbyak::Xmm& aside) override;
  void Bind(uint32_t slot, uint32_t r);
  void SetWord(uint32_t slot, llvm::function_ref<void(const Xbyak::Reg64& to)> make) override;
  void SetDouble(uint32_t slot, llvm::function_ref<void(const Xbyak::Xmm& to)> make) override;
  void SetConstant(uint32_t slot, int64_t value);
  void Copy(uint32_t to, uint32_t from) override;
  void Increment(uint32_t slot);
  void Meet(uint32_t at, Held held);
  void MakeJoin(uint32_t at);
  const Xbyak::Label& ExitTo(uint32_t at) override { return ExitTo(at, false); }
  const Xbyak::Label& ExitTo(uint32_t at, bool full);

  // x86/unboxed.cpp: instructions
  void EmitFrom(uint32_t at);
  void EmitMoves(const ScheduledInstr& in);
  // x86/unboxed_calls.cpp: what leads elsewhere
  uint32_t EmitBranch(uint32_t at, const Decoded& op);
  uint32_t EmitSides(uint32_t at, llvm::function_ref<void(const Xbyak::Label& to, bool taken)> jump);
  uint32_t EmitTick(uint32_t at);
  uint32_t EmitCall(uint32_t at);
  void EmitReturn(uint32_t at);
  void EmitExits();
  void EmitEntries();

  Program& p_;
  const ScopeCode& scope_;
  NativeProgram& native_;
  const UnboxedCode& unboxed_;
  llvm::ArrayRef<ScheduledInstr> code_;
  uint32_t first_ = 0;                 // of `code_` in all code
  std::vector<uint8_t> ways_;          // by instruction: how many lead there; 2 may be more
  std::vector<bool> loops_;            // likewise: an iteration begins there
  std::vector<bool> double_;           // by slot: it holds a double in registers
  std::vector<uint32_t> reads_;        // by slot: how many instructions read it
  std::vector<bool> written_;          // by slot
  std::vector<Slots> live_;            // by instruction: read there or later
  std::vector<Join> joins_;            // by instruction
  std::deque<Todo> todo_;
  std::deque<Exit> exits_;
  std::vector<std::pair<uint32_t, Xbyak::Label>> behind_calls_;  // GotWords, and where the code goes on with the result in rax
  Held held_;
  uint32_t pinned_ = 0;                // registers that the instruction uses
  uint32_t at_ = 0;
};

}  // namespace df::tagged
