// runtime/engines/tagged/x86/arithmetic.h
//
// What unboxed code and scheduled code compute on words, as machine code of x86-64: where operands are and results go is for whoever makes
// the rest. Private to this room.
#pragma once

#include <cstddef>
#include <cstdint>

// Xbyak's own code has what our warnings are about.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#include <xbyak/xbyak.h>
#pragma GCC diagnostic pop

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/code/machine_code.h"
#include "runtime/engines/tagged/code/scheduled.h"

namespace df::tagged {

// What an instruction of unboxed code computes.
enum class NativeOp : uint8_t {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) name,
#define DF_SCHEDULED_COMPARE(name, expression) name,
#define DF_SCHEDULED_UNARY(name, type, condition, expression) name,
#define DF_SCHEDULED_INTEGER(name, expression)
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
};

// How it stands there. Binary: on two slots, on a slot and a constant, on a constant and a slot.
enum class NativeForm : uint8_t { SlotSlot, SlotConstant, ConstantSlot, BranchSlotSlot, BranchSlotConstant, Unary, Other };

struct Decoded {
  NativeForm form = NativeForm::Other;
  NativeOp op = NativeOp::Move;
  bool integer = false;  // on Integers: a result beyond a word leaves native code
};
Decoded Decode(Scheduled op);

// The lower half of the code of a conditional jump.
enum Condition : uint8_t {
  kBelow = 2,
  kAboveEqual = 3,
  kEqual = 4,
  kNotEqual = 5,
  kBelowEqual = 6,
  kLess = 12,
  kGreaterEqual = 13,
  kLessEqual = 14,
  kGreater = 15
};

bool IsComparison(NativeOp op);
uint8_t ConditionOf(NativeOp op);  // of a comparison of Ints

// From a frame's slots to its fields, in bytes.
namespace frame_at {
constexpr int Field(size_t offset) { return static_cast<int>(offset) - static_cast<int>(sizeof(Frame)); }
inline constexpr int kStart = Field(0), kParent = Field(offsetof(Frame, parent)), kSite = Field(offsetof(Frame, site)),
                     kHead = Field(offsetof(Frame, refs)), kFlags = Field(offsetof(Frame, flags_and_words)),
                     kDepth = Field(offsetof(Frame, depth)), kTag = Field(offsetof(Frame, tag)), kResume = Field(offsetof(Frame, resume));
}  // namespace frame_at
inline int SlotAt(uint32_t slot) { return static_cast<int>(slot * sizeof(uint64_t)); }

// rax, rcx, rdx, xmm0 and xmm1 are free for what is computed; rbx has the frame's slots, r12 the NativeRun.
class NativeArithmetic {
 protected:
  explicit NativeArithmetic(Xbyak::CodeGenerator& as) : as_(as) {}
  NativeArithmetic(const NativeArithmetic&) = delete;
  NativeArithmetic& operator=(const NativeArithmetic&) = delete;
  ~NativeArithmetic() = default;

  void EmitArithmetic(const ScheduledInstr& in, uint32_t at, const Decoded& op);
  void EmitUnary(const ScheduledInstr& in, NativeOp op);
  void EmitCount(const ScheduledInstr& in);  // Count, CountCall
  void Constant(const Xbyak::Reg64& to, int64_t value);

  Xbyak::CodeGenerator& as_;

 private:
  // The register that has a slot's value: `aside`, if it was in none.
  virtual Xbyak::Reg64 Word(uint32_t slot, const Xbyak::Reg64& aside) = 0;
  virtual Xbyak::Xmm Double(uint32_t slot, const Xbyak::Xmm& aside) = 0;
  // A slot's new value is what `make` puts into a register, which is none of those that are free.
  virtual void SetWord(uint32_t slot, llvm::function_ref<void(const Xbyak::Reg64& to)> make) = 0;
  virtual void SetDouble(uint32_t slot, llvm::function_ref<void(const Xbyak::Xmm& to)> make) = 0;
  virtual void Copy(uint32_t to, uint32_t from) = 0;
  // Where the instruction `at` goes on if it cannot be done here. Nothing has changed then.
  virtual const Xbyak::Label& ExitTo(uint32_t at) = 0;

  void EmitInteger(const ScheduledInstr& in, uint32_t at, const Decoded& op);
  void EmitDivision(const ScheduledInstr& in, uint32_t at, const Decoded& op);
  void EmitDivisionBy(const ScheduledInstr& in, NativeOp op, int64_t divisor);
  void EmitComparison(const ScheduledInstr& in, const Decoded& op);
  void EmitDouble(const ScheduledInstr& in, const Decoded& op);
};

}  // namespace df::tagged
