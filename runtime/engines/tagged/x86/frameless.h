// runtime/engines/tagged/x86/frameless.h
//
// The machine code of frameless code (code/frameless.h). Private to this room.
//
// As that of scheduled code: every value is in its slot at each instruction, and what is rare is left to the interpreter, which comes
// back behind it. Nothing here calls what may throw.
//
// An attempt is often a handful of instructions, so hardly any register is saved on the way in: rdi has the FramelessRun, rsi the slots of
// the body that runs, r9 FramelessRun::owned, r10 FramelessRun::hole; rax, rcx, rdx, r8, r11 and rbx are free for each instruction.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/engines/tagged/exec/frameless_path.h"
#include "runtime/engines/tagged/x86/slots.h"
#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

class NativeFramelessMaker : private NativeSlots {
 public:
  NativeFramelessMaker(const Program& p, NativeProgram& native);
  // Of `most` instructions at most; the other bodies are for the interpreter.
  void Run(uint32_t most, llvm::function_ref<void()> pause);

 private:
  static constexpr int kStates = offsetof(frameless::Slots, states);
  static constexpr uint32_t kFewFields = 12;  // constructors of more are for the interpreter
  struct Exit {
    Xbyak::Label label;
    uint32_t at;
    uint32_t attempt;
  };

  // x86/frameless.cpp
  void EmitFrame();
  void EmitBody(uint32_t begin, uint32_t end);
  void Emit(uint32_t at);
  void EmitExits();

  // x86/frameless_data.cpp
  void EmitAllocate(uint32_t fields);
  void EmitForce(uint32_t at);
  void EmitForceCons(uint32_t at);
  void EmitTwoFields(uint32_t at, bool checked);
  void EmitFields(uint32_t at);
  void EmitHeldBy(uint32_t field, const Xbyak::Reg32& kind, const Xbyak::Reg64& bits, const Xbyak::Label& other);
  void EmitConstruct(uint32_t at);
  void EmitMakeData(uint32_t at, uint32_t constructor, uint32_t fields, const uint32_t* list, uint32_t made);
  void EmitOperand(uint32_t operand, int at);
  void EmitTry(uint32_t at);
  void EmitTried(uint32_t at);
  void EmitChain(uint32_t at);
  void EmitReturn(uint32_t at);
  void CheckConstructor(uint32_t at, uint32_t slot, uint32_t constructor);
  void Retain(const Xbyak::Reg64& object);

  // NativeSlots: to the interpreter, which does the instruction, or finds out once more that the attempt has failed.
  const Xbyak::Label& FailureAt(uint32_t at) override;
  const Xbyak::Label& LargeAt(uint32_t at) override { return FailureAt(at); }
  const Xbyak::Label& LargeBranchAt(uint32_t at) override { return FailureAt(at); }
  const Xbyak::Label& OverflowAt(uint32_t at) override { return FailureAt(at); }

  Xbyak::Address Slot(uint32_t slot) const override { return Xbyak::util::qword[kSlots + SlotAt(slot)]; }
  Xbyak::Address State(uint32_t slot) const override { return Xbyak::util::byte[kSlots + kStates + static_cast<int>(slot)]; }
  Xbyak::Address Constants() const override { return Xbyak::util::qword[kRun + offsetof(FramelessRun, constants)]; }
  const Xbyak::Reg64 kRun = Xbyak::util::rdi, kSlots = Xbyak::util::rsi, kOwned = Xbyak::util::r9, kHole = Xbyak::util::r10;
  const Program& p_;
  NativeProgram& native_;
  Xbyak::Label leave_;                                       // rax: what is to be done next
  std::array<uint32_t, kFewFields + 1> allocate_{};          // offsets, by number of fields
  std::vector<bool> made_;                                   // by instruction: whether there is machine code
  std::deque<Exit> exits_;
  uint32_t attempt_ = kNone, attempt_end_ = 0;               // the Try of the instruction
};

}  // namespace df::tagged
