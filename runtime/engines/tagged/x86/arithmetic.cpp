// What computes on words, in machine code.
#include "runtime/engines/tagged/x86/arithmetic.h"

#include "llvm/ADT/APInt.h"
#include "llvm/Support/DivisionByConstantInfo.h"
#include "llvm/Support/MathExtras.h"

namespace df::tagged {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

namespace {

bool FitsImmediate(int64_t value) { return value == static_cast<int32_t>(value); }

bool IsOnDoubles(NativeOp op) {
  switch (op) {
    case NativeOp::AddD: case NativeOp::SubD: case NativeOp::MulD: case NativeOp::DivD: case NativeOp::StrongMulD: case NativeOp::StrongDivD:
    case NativeOp::EqD: case NativeOp::NeD: case NativeOp::LtD: case NativeOp::LeD: case NativeOp::GtD: case NativeOp::GeD: return true;
    default: return false;
  }
}

}  // namespace

bool IsComparison(NativeOp op) { return op >= NativeOp::Eq && op <= NativeOp::Ge; }

uint8_t ConditionOf(NativeOp op) {
  switch (op) {
    case NativeOp::Eq: return kEqual;
    case NativeOp::Ne: return kNotEqual;
    case NativeOp::Lt: return kLess;
    case NativeOp::Le: return kLessEqual;
    case NativeOp::Gt: return kGreater;
    default: return kGreaterEqual;
  }
}

void NativeArithmetic::Constant(const Reg64& to, int64_t value) {
  if (value == 0) as_.xor_(to.cvt32(), to.cvt32());
  else as_.mov(to, static_cast<uint64_t>(value));
}

void NativeArithmetic::EmitArithmetic(const ScheduledInstr& in, uint32_t at, const Decoded& op) {
  switch (op.op) {
    case NativeOp::Eq: case NativeOp::Ne: case NativeOp::Lt: case NativeOp::Le: case NativeOp::Gt:
    case NativeOp::Ge: return EmitComparison(in, op);
    case NativeOp::Quot: case NativeOp::Rem: case NativeOp::Div: case NativeOp::Mod: return EmitDivision(in, at, op);
    default: break;
  }
  if (IsOnDoubles(op.op)) EmitDouble(in, op);
  else EmitInteger(in, at, op);
}

// Sums, differences, products, bits.
void NativeArithmetic::EmitInteger(const ScheduledInstr& in, uint32_t at, const Decoded& op) {
  bool constant_right = op.form == NativeForm::SlotConstant;
  bool small = constant_right && FitsImmediate(in.imm);
  // The constant on the left is put where the result will be.
  Reg64 x = op.form == NativeForm::ConstantSlot ? rcx : Word(in.a, rcx);
  Reg64 y = op.form == NativeForm::SlotSlot ? Word(in.b, rdx) : constant_right ? rdx : Word(in.a, rdx);
  if (constant_right && !small) Constant(rdx, in.imm);
  SetWord(in.d, [&](const Reg64& to) {
    if (op.form == NativeForm::ConstantSlot) Constant(to, in.imm);
    else if (op.op == NativeOp::Mul && small) as_.imul(to, x, static_cast<int>(in.imm));
    else as_.mov(to, x);
    auto imm = static_cast<uint32_t>(in.imm);
    switch (op.op) {
      case NativeOp::Add: small ? as_.add(to, imm) : as_.add(to, y); break;
      case NativeOp::Sub: small ? as_.sub(to, imm) : as_.sub(to, y); break;
      case NativeOp::Mul:
        if (!small) as_.imul(to, y);
        break;
      case NativeOp::BitAnd: small ? as_.and_(to, imm) : as_.and_(to, y); break;
      case NativeOp::BitOr: small ? as_.or_(to, imm) : as_.or_(to, y); break;
      case NativeOp::BitXor: small ? as_.xor_(to, imm) : as_.xor_(to, y); break;
      default: break;
    }
    // What the slot holds is not changed before SetWord has come back.
    if (op.integer) as_.jo(ExitTo(at));
  });
}

// What asks whether it can be done is out before anything has changed. Quotients in rax, remainders in rdx.
void NativeArithmetic::EmitDivision(const ScheduledInstr& in, uint32_t at, const Decoded& op) {
  if (op.form == NativeForm::SlotConstant) {
    if (in.imm == 0 || in.imm == -1) {
      as_.jmp(ExitTo(at));
      return;
    }
    if (in.imm > 0) return EmitDivisionBy(in, op.op, in.imm);
  }
  Reg64 y = rcx;
  if (op.form == NativeForm::SlotConstant) {
    Constant(rcx, in.imm);
  } else {
    y = Word(op.form == NativeForm::SlotSlot ? in.b : in.a, rcx);
    as_.lea(rax, ptr[y + 1]);
    as_.cmp(rax, 1);
    as_.jbe(ExitTo(at));
  }
  if (op.form == NativeForm::ConstantSlot) Constant(rax, in.imm);
  else as_.mov(rax, Word(in.a, rax));
  as_.cqo();
  as_.idiv(y);
  bool floor = op.op == NativeOp::Div || op.op == NativeOp::Mod, quotient = op.op == NativeOp::Div || op.op == NativeOp::Quot;
  if (floor) {
    Xbyak::Label exact;
    as_.test(rdx, rdx);
    as_.jz(exact);
    // A remainder that is not 0 has the dividend's sign; where that is not the divisor's, it is one step off.
    if (quotient) {
      as_.xor_(rdx, y);
      as_.jns(exact);
      as_.dec(rax);
    } else {
      as_.mov(rax, rdx);
      as_.xor_(rax, y);
      as_.jns(exact);
      as_.add(rdx, y);
    }
    as_.L(exact);
  }
  SetWord(in.d, [&](const Reg64& to) { as_.mov(to, quotient ? rax : rdx); });
}

// By a constant above 0, without a division.
void NativeArithmetic::EmitDivisionBy(const ScheduledInstr& in, NativeOp op, int64_t divisor) {
  Reg64 x = Word(in.a, rcx);
  bool quotient = op == NativeOp::Div || op == NativeOp::Quot;
  if (llvm::isPowerOf2_64(static_cast<uint64_t>(divisor))) {
    auto bits = static_cast<int>(llvm::Log2_64(static_cast<uint64_t>(divisor)));
    bool small = FitsImmediate(divisor - 1);
    auto mask = [&](const Reg64& to) {
      if (small) {
        as_.and_(to, static_cast<uint32_t>(divisor - 1));
      } else {
        Constant(rdx, divisor - 1);
        as_.and_(to, rdx);
      }
    };
    SetWord(in.d, [&](const Reg64& to) {
      switch (op) {
        case NativeOp::Div:
          as_.mov(to, x);
          as_.sar(to, bits);
          break;
        case NativeOp::Mod:
          as_.mov(to, x);
          mask(to);
          break;
        default:  // towards 0: a negative number has divisor - 1 added before
          as_.mov(rax, x);
          as_.sar(rax, 63);
          mask(rax);
          as_.add(rax, x);
          if (quotient) {
            as_.sar(rax, bits);
          } else {
            // x - (x rounded down to a multiple, after that)
            as_.sar(rax, bits);
            as_.shl(rax, bits);
            as_.mov(rdx, x);
            as_.sub(rdx, rax);
            as_.mov(rax, rdx);
          }
          as_.mov(to, rax);
      }
    });
    return;
  }
  // The quotient towards 0 is the upper half of a product, shifted, and 1 more if it is negative.
  auto magic = llvm::SignedDivisionByConstantInfo::get(llvm::APInt(64, static_cast<uint64_t>(divisor), true));
  Constant(rax, magic.Magic.getSExtValue());
  as_.imul(x);
  if (magic.Magic.isNegative()) as_.add(rdx, x);
  if (magic.ShiftAmount) as_.sar(rdx, static_cast<int>(magic.ShiftAmount));
  as_.mov(rax, rdx);
  as_.shr(rax, 63);
  as_.add(rdx, rax);
  if (op == NativeOp::Quot) return SetWord(in.d, [&](const Reg64& to) { as_.mov(to, rdx); });
  // The remainder into rax.
  if (FitsImmediate(divisor)) {
    as_.imul(rax, rdx, static_cast<int>(divisor));
  } else {
    Constant(rax, divisor);
    as_.imul(rax, rdx);
  }
  as_.neg(rax);
  as_.add(rax, x);
  switch (op) {
    case NativeOp::Div:
      as_.sar(rax, 63);
      as_.add(rdx, rax);
      break;
    case NativeOp::Mod:
      as_.mov(rdx, rax);
      as_.sar(rdx, 63);
      if (FitsImmediate(divisor)) {
        as_.and_(rdx, static_cast<uint32_t>(divisor));
      } else {
        Constant(rcx, divisor);
        as_.and_(rdx, rcx);
      }
      as_.add(rdx, rax);
      break;
    default: as_.mov(rdx, rax); break;
  }
  SetWord(in.d, [&](const Reg64& to) { as_.mov(to, rdx); });
}

void NativeArithmetic::EmitComparison(const ScheduledInstr& in, const Decoded& op) {
  Reg64 x = op.form == NativeForm::ConstantSlot ? rcx : Word(in.a, rcx);
  if (op.form == NativeForm::ConstantSlot) Constant(rcx, in.imm);
  if (op.form == NativeForm::SlotConstant && FitsImmediate(in.imm)) {
    as_.cmp(x, static_cast<uint32_t>(in.imm));
  } else {
    Reg64 y = op.form == NativeForm::SlotConstant ? rdx : Word(op.form == NativeForm::SlotSlot ? in.b : in.a, rdx);
    if (op.form == NativeForm::SlotConstant) Constant(rdx, in.imm);
    as_.cmp(x, y);
  }
  switch (op.op) {
    case NativeOp::Eq: as_.sete(al); break;
    case NativeOp::Ne: as_.setne(al); break;
    case NativeOp::Lt: as_.setl(al); break;
    case NativeOp::Le: as_.setle(al); break;
    case NativeOp::Gt: as_.setg(al); break;
    default: as_.setge(al); break;
  }
  SetWord(in.d, [&](const Reg64& to) { as_.movzx(to.cvt32(), al); });
}

void NativeArithmetic::EmitDouble(const ScheduledInstr& in, const Decoded& op) {
  auto constant = [&](const Xmm& to) {
    Constant(rax, in.imm);
    as_.movq(to, rax);
    return to;
  };
  Xmm x = op.form == NativeForm::ConstantSlot ? constant(xmm0) : Double(in.a, xmm0);
  Xmm y = op.form == NativeForm::SlotConstant ? constant(xmm1) : Double(op.form == NativeForm::SlotSlot ? in.b : in.a, xmm1);
  auto compute = [&](auto&& instruction) {
    SetDouble(in.d, [&](const Xmm& to) {
      as_.movaps(to, x);
      instruction(to);
    });
  };
  switch (op.op) {
    case NativeOp::AddD: return compute([&](const Xmm& to) { as_.addsd(to, y); });
    case NativeOp::SubD: return compute([&](const Xmm& to) { as_.subsd(to, y); });
    case NativeOp::MulD: return compute([&](const Xmm& to) { as_.mulsd(to, y); });
    case NativeOp::DivD: return compute([&](const Xmm& to) { as_.divsd(to, y); });
    // A NaN, which is rare, is looked at once more: 0 if an operand is 0, or the divisor infinite. Only then is what is below asked.
    case NativeOp::StrongMulD:
    case NativeOp::StrongDivD:
      return compute([&](const Xmm& to) {
        const bool product = op.op == NativeOp::StrongMulD;
        as_.movq(rcx, x);  // which may be in that register
        if (product) as_.mulsd(to, y);
        else as_.divsd(to, y);
        Xbyak::Label zero, done;
        as_.ucomisd(to, to);
        as_.jnp(done);
        // The bits but for the sign: none of 0, and those of the exponent alone of an infinity.
        as_.add(rcx, rcx);
        as_.jz(zero);
        as_.movq(rcx, y);
        as_.add(rcx, rcx);
        if (!product) {
          as_.mov(rax, uint64_t{0x7ff} << 53);
          as_.cmp(rcx, rax);
        }
        as_.jnz(done);
        as_.L(zero);
        as_.xorps(to, to);
        as_.L(done);
      });
    // What is not ordered sets the flags of equal, below and parity.
    case NativeOp::EqD:
      as_.ucomisd(x, y);
      as_.setnp(al);
      as_.sete(cl);
      as_.and_(al, cl);
      break;
    case NativeOp::NeD:
      as_.ucomisd(x, y);
      as_.setp(al);
      as_.setne(cl);
      as_.or_(al, cl);
      break;
    case NativeOp::LtD:
      as_.ucomisd(y, x);
      as_.seta(al);
      break;
    case NativeOp::LeD:
      as_.ucomisd(y, x);
      as_.setae(al);
      break;
    case NativeOp::GtD:
      as_.ucomisd(x, y);
      as_.seta(al);
      break;
    default:
      as_.ucomisd(x, y);
      as_.setae(al);
      break;
  }
  SetWord(in.d, [&](const Reg64& to) { as_.movzx(to.cvt32(), al); });
}

void NativeArithmetic::EmitUnary(const ScheduledInstr& in, NativeOp op) {
  switch (op) {
    case NativeOp::Move: return Copy(in.d, in.a);
    case NativeOp::Neg:
      return SetWord(in.d, [&, x = Word(in.a, rcx)](const Reg64& to) {
        as_.mov(to, x);
        as_.neg(to);
      });
    case NativeOp::Abs:
      return SetWord(in.d, [&, x = Word(in.a, rcx)](const Reg64& to) {
        as_.mov(rdx, x);
        as_.mov(to, x);
        as_.neg(rdx);
        as_.cmovns(to, rdx);
      });
    case NativeOp::Not: {
      Reg64 x = Word(in.a, rcx);
      as_.test(x, x);
      as_.sete(al);
      return SetWord(in.d, [&](const Reg64& to) { as_.movzx(to.cvt32(), al); });
    }
    case NativeOp::NegD:
      return SetDouble(in.d, [&, x = Double(in.a, xmm1)](const Xmm& to) {
        as_.mov(rax, uint64_t{1} << 63);
        as_.movaps(xmm1, x);
        as_.movq(to, rax);
        as_.xorps(to, xmm1);
      });
    case NativeOp::SqrtD:
      return SetDouble(in.d, [&, x = Double(in.a, xmm1)](const Xmm& to) { as_.sqrtsd(to, x); });
    case NativeOp::ToDouble:
      return SetDouble(in.d, [&, x = Word(in.a, rcx)](const Xmm& to) {
        as_.xorps(to, to);
        as_.cvtsi2sd(to, x);
      });
    default: return;
  }
}

void NativeArithmetic::EmitCount(const ScheduledInstr& in) {
  auto add = [&](size_t to, uint32_t what) {
    if (what) as_.add(qword[r12 + static_cast<int>(to)], what);
  };
  if (in.op == Scheduled::Count) {
    add(offsetof(NativeRun, regions), 1);
    return add(offsetof(NativeRun, firings), in.x);
  }
  add(offsetof(NativeRun, calls), in.x);
  add(offsetof(NativeRun, loops), in.y);
  Xbyak::Label less;
  as_.mov(eax, dword[rbx + frame_at::kDepth]);
  as_.add(rax, static_cast<uint32_t>(in.d));
  as_.cmp(rax, qword[r12 + offsetof(NativeRun, max_depth)]);
  as_.jbe(less);
  as_.mov(qword[r12 + offsetof(NativeRun, max_depth)], rax);
  as_.L(less);
}

}  // namespace df::tagged
