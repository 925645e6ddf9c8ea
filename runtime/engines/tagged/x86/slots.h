// runtime/engines/tagged/x86/slots.h
//
// What the machine code of scheduled code and of frameless code have in common: every value is in its slot, with its state beside, and each
// instruction goes on with the next one or jumps to another. Private to this room.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/engines/tagged/x86/arithmetic.h"

namespace df::tagged {

class NativeSlots : protected NativeArithmetic {
 protected:
  // `lists` has the targets of the code's Choose.
  NativeSlots(Xbyak::CodeGenerator& as, const std::vector<ScheduledInstr>& code, const std::vector<uint32_t>& lists)
      : NativeArithmetic(as), code_(code), offset_(code.size()), lists_(lists) {}
  ~NativeSlots() = default;

  // What computes on words, and what branches. False: the instruction is none of these, and nothing was made.
  bool EmitCommon(uint32_t at);
  // Into rax the number of the constructor in an open slot.
  void ReadConstructor(uint32_t slot);
  // The word or object that a constant is, which is `constant` in this run or another. The object is the run's own: code is shared by runs.
  void LoadConstant(const Xbyak::Reg64& to, uint32_t index, const Value& constant);
  // NativeArithmetic: from slot to slot, by rax.
  void Copy(uint32_t to, uint32_t from) override;

  // To another instruction of the code, made or not yet made: Link puts the ways in.
  void GoTo(uint32_t target);
  void GoToIf(uint8_t condition, uint32_t target);
  void Link();
  // To what stands before, by its offset.
  void CallAt(uint32_t offset);
  void JumpAt(uint32_t offset);
  void JumpAtIf(uint8_t condition, uint32_t offset);

  virtual Xbyak::Address Slot(uint32_t slot) const = 0;
  virtual Xbyak::Address State(uint32_t slot) const = 0;
  // Where the run keeps a pointer to its constants.
  virtual Xbyak::Address Constants() const = 0;

  const std::vector<ScheduledInstr>& code_;
  std::vector<uint32_t> offset_;  // by instruction

 private:
  // Where arithmetic, or a branch, on Integers goes that are not both words.
  virtual const Xbyak::Label& LargeAt(uint32_t at) = 0;
  virtual const Xbyak::Label& LargeBranchAt(uint32_t at) = 0;
  // The same where a result is no word. Nothing has changed then.
  virtual const Xbyak::Label& OverflowAt(uint32_t at) = 0;
  // Where other arithmetic fails.
  virtual const Xbyak::Label& FailureAt(uint32_t at) = 0;

  const Xbyak::Label& ExitTo(uint32_t at) final { return large_ ? OverflowAt(at) : FailureAt(at); }
  Xbyak::Reg64 Word(uint32_t slot, const Xbyak::Reg64& aside) final;
  Xbyak::Xmm Double(uint32_t slot, const Xbyak::Xmm& aside) final;
  void SetWord(uint32_t slot, llvm::function_ref<void(const Xbyak::Reg64& to)> make) final;
  void SetDouble(uint32_t slot, llvm::function_ref<void(const Xbyak::Xmm& to)> make) final;

  bool EmitComputed(uint32_t at);
  void EmitIntegers(uint32_t at, const Decoded& op);
  void EmitBranch(uint32_t at, const Decoded& op);
  void EmitSides(uint32_t at, uint8_t condition);
  void EmitChoose(uint32_t at);

  const std::vector<uint32_t>& lists_;
  std::vector<std::pair<uint32_t, uint32_t>> jumps_;  // offset of a displacement; instruction
  bool large_ = false;                                // Integers are computed
};

}  // namespace df::tagged
