// Scheduled code -> machine code: constructors, references, and counts.
#include <algorithm>

#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/x86/layout.h"
#include "runtime/engines/tagged/x86/scheduled.h"

namespace df::tagged {

using Xbyak::CodeGenerator;
using Xbyak::Reg64;
using namespace Xbyak::util;

// ---------------------------------------------------------------- counts

// Makes the next instruction atomic while threads share values: the jump passes over a prefix.
void NativeScheduledMaker::LockIfShared() {
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, sharing))], 0);
  as_.db(0x74);
  as_.db(0x01);
  as_.db(0xf0);
}

// One more; the register stays. The prefix `lock` is passed over where nobody shares.
void NativeScheduledMaker::Retain(const Reg64& object) {
  LockIfShared();
  as_.inc(dword[object]);
}

// One holder less of an object that has had several, or, while threads share values, had when it was looked at: if it was the last one
// after all, the zero flag is set, and nobody else knows the object.
void NativeScheduledMaker::Drop(const Reg64& object) {
  LockIfShared();
  as_.dec(dword[object]);
}

// Of what an open slot holds, if that is counted. Changes rax.
void NativeScheduledMaker::RetainIn(uint32_t slot) {
  Xbyak::Label none;
  as_.cmp(State(slot), kWord);
  as_.je(none);
  as_.mov(rax, Slot(slot));
  Retain(rax);
  as_.L(none);
}

// Changes all but rax.
void NativeScheduledMaker::ReleaseIn(uint32_t slot) {
  Xbyak::Label none;
  as_.cmp(State(slot), kWord);
  as_.je(none, CodeGenerator::T_SHORT);
  as_.mov(rdi, Slot(slot));
  CallAt(OffsetOf(Stub::Drop));
  as_.L(none);
}

// If an object is no delayed call that has its value. `aside` is changed.
void NativeScheduledMaker::JumpUnlessFull(const Reg64& object, const Reg64& aside, const Xbyak::Label& to) {
  as_.movzx(aside.cvt32(), byte[object + kObjectKind]);
  as_.and_(aside.cvt32(), 0x3f);
  as_.cmp(aside.cvt32(), static_cast<uint32_t>(ObjectKind::Delay));
  as_.jne(to);
  as_.cmp(byte[object + kCellState], static_cast<uint32_t>(DelayCell::State::Full));
  as_.jne(to);
}

// ---------------------------------------------------------------- data

void NativeScheduledMaker::EmitMatch(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  ReadConstructor(a);
  as_.mov(Slot(in.d), rax);
  if (in.a & kLastUse) ReleaseIn(a);
}

// Into ecx and rdx the kind and bits of what a field of the constructor in rax stands for: what a delayed call that is full holds, else the
// field itself. To `other`, if that is not a value or a reference.
void NativeScheduledMaker::EmitHeldBy(uint32_t field, const Xbyak::Label& other) {
  Xbyak::Label good;
  as_.movzx(ecx, byte[rax + FieldAt(field) + kKind]);
  as_.mov(rdx, qword[rax + FieldAt(field) + kBits]);
  as_.cmp(ecx, static_cast<uint32_t>(ValueKind::Reference));
  as_.jb(good, CodeGenerator::T_SHORT);
  as_.jne(other);
  JumpUnlessFull(rdx, rsi, good);
  as_.movzx(ecx, byte[rdx + kCellValue + kKind]);
  as_.mov(rdx, qword[rdx + kCellValue + kBits]);
  as_.cmp(ecx, static_cast<uint32_t>(ValueKind::Object));
  as_.ja(other);
  as_.L(good);
}

// How many fields the constructor has that Field, TwoFields or Fields take apart; 0: that is not known.
uint32_t NativeScheduledMaker::FieldsOf(uint32_t at, uint32_t constructor) const {
  const ir::Graph& graph = *p_.graph;
  uint32_t pc = p_.scheduled.pc_of[at];
  ir::NodeId node = pc == kNone ? ir::NodeId() : p_.node_of[pc];
  if (!node.valid() || graph.nodes[node].op != ir::Op::Field) return 0;
  const ir::Type& type = graph.types[graph.TypeOf(graph.InputsOf(node)[0]).type];
  return constructor < type.constructors.size() ? static_cast<uint32_t>(type.constructors[constructor].fields.size()) : 0;
}

// Field, TwoFields, Fields. First all fields are looked at; what cannot be done here, RuntimeCalls does from the beginning.
void NativeScheduledMaker::EmitFields(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  std::vector<FieldTo> read;
  uint32_t constructor = in.x;
  auto add = [&](uint32_t field, uint32_t slot) { read.push_back({field, slot & (kFieldPlain - 1), (slot & kFieldPlain) != 0}); };
  if (in.op == Scheduled::Field) {
    read.push_back({in.b, in.d, false});
  } else if (in.op == Scheduled::TwoFields) {
    add(in.y >> 16, in.d);
    add(in.y & 0xffff, in.b);
  } else {
    constructor = in.y;
    for (uint32_t i = 0; i < in.b; ++i) {
      uint32_t entry = p_.scheduled.operands[in.x + i];
      add(entry >> 16, entry & 0xffff);
    }
  }
  auto count = static_cast<uint32_t>(read.size());
  if (count > kFewFields || (count == 2 && read[0].field == read[1].field)) return CallStub(Stub::Fields, at);
  const Xbyak::Label& other = By(Stub::Fields, at);
  // Two are in registers, more below the stack, where nothing else is as long as nothing is called.
  auto keep = [&](uint32_t i) {
    if (count <= 2) {
      as_.mov(i == 0 ? r8d : r10d, ecx);
      as_.mov(i == 0 ? r9 : r11, rdx);
    } else {
      as_.mov(dword[rsp - 16 * static_cast<int>(i) - 16], ecx);
      as_.mov(qword[rsp - 16 * static_cast<int>(i) - 8], rdx);
    }
  };
  auto kept = [&](uint32_t i) {
    if (count <= 2) {
      as_.mov(ecx, i == 0 ? r8d : r10d);
      as_.mov(rdx, i == 0 ? r9 : r11);
    } else {
      as_.mov(ecx, dword[rsp - 16 * static_cast<int>(i) - 16]);
      as_.mov(rdx, qword[rsp - 16 * static_cast<int>(i) - 8]);
    }
  };
  auto put = [&](const FieldTo& one) {
    as_.mov(Slot(one.slot), rdx);
    if (one.plain) return;
    as_.or_(ecx, kPresent);
    as_.mov(State(one.slot), cl);
  };
  auto retain = [&](const FieldTo& one) {
    if (one.plain) return;
    Xbyak::Label uncounted;
    as_.test(ecx, ecx);
    as_.jz(uncounted, CodeGenerator::T_SHORT);
    Retain(rdx);
    as_.L(uncounted);
  };

  as_.cmp(State(a), kObject);
  as_.jne(other);
  as_.mov(rax, Slot(a));
  as_.cmp(word[rax + offsetof(Object, constructor)], constructor);
  as_.jne(other);
  for (uint32_t i = 0; i < count; ++i) {
    EmitHeldBy(read[i].field, other);
    if (read[i].plain) {
      as_.test(ecx, ecx);
      as_.jnz(other);
    }
    keep(i);
  }
  Xbyak::Label done;
  if (in.a & kLastUse) {
    Xbyak::Label held;
    as_.cmp(dword[rax], 1);
    as_.jne(held);
    uint32_t total = FieldsOf(at, constructor);
    if (total < count || total > kFewFields) total = count;
    as_.cmp(byte[rax + offsetof(Object, few_fields)], total);
    as_.jne(other);
    // It goes, and its fields move, but for those that nobody wants; what a delayed call holds may be held by others too.
    for (uint32_t i = 0; i < count; ++i) {
      kept(i);
      if (!read[i].plain) {
        Xbyak::Label moves;
        as_.cmp(byte[rax + FieldAt(read[i].field) + kKind], cl);
        as_.je(moves, CodeGenerator::T_SHORT);
        retain(read[i]);
        as_.L(moves);
      }
      put(read[i]);
    }
    for (const FieldTo& one : read) {
      Xbyak::Label moved;
      as_.cmp(byte[rax + FieldAt(one.field) + kKind], static_cast<uint32_t>(ValueKind::Reference));
      as_.jne(moved, CodeGenerator::T_SHORT);
      if (!one.plain) {
        as_.cmp(State(one.slot), kReference);
        as_.je(moved, CodeGenerator::T_SHORT);
      }
      as_.mov(rdi, qword[rax + FieldAt(one.field) + kBits]);
      CallAt(OffsetOf(Stub::Drop));
      as_.L(moved);
    }
    for (uint32_t field = 0; field < total; ++field) {
      if (std::any_of(read.begin(), read.end(), [&](const FieldTo& one) { return one.field == field; })) continue;
      Xbyak::Label uncounted;
      as_.cmp(byte[rax + FieldAt(field) + kKind], static_cast<uint32_t>(ValueKind::Word));
      as_.je(uncounted, CodeGenerator::T_SHORT);
      as_.mov(rdi, qword[rax + FieldAt(field) + kBits]);
      CallAt(OffsetOf(Stub::Drop));
      as_.L(uncounted);
    }
    CallAt(free_[total]);
    as_.jmp(done);
    as_.L(held);
  }
  for (uint32_t i = 0; i < count; ++i) {
    kept(i);
    retain(read[i]);
    put(read[i]);
  }
  if (in.a & kLastUse) {
    Drop(rax);
    as_.jnz(done);
    as_.mov(dword[rax], 1);
    as_.mov(rdi, rax);
    CallAt(OffsetOf(Stub::Drop));
  }
  as_.L(done);
}

void NativeScheduledMaker::EmitFieldPlain(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  as_.cmp(State(a), kObject);
  as_.jne(FailureAt(at));
  as_.mov(rax, Slot(a));
  as_.cmp(word[rax + offsetof(Object, constructor)], in.x);
  as_.jne(FailureAt(at));
  EmitHeldBy(in.b, FailureAt(at));
  as_.test(ecx, ecx);
  as_.jnz(FailureAt(at));
  as_.mov(Slot(in.d), rdx);
  if (in.a & kLastUse) ReleaseIn(a);
}

// An operand of a list becomes the Value that stands so many bytes behind rax.
void NativeScheduledMaker::EmitOperand(uint32_t operand, int at) {
  Xbyak::Address kind = byte[rax + at + kKind];
  uint32_t slot = operand & kOperandIndex;
  if (IsConstant(operand)) {
    const Value& constant = p_.constants[operand & ~kConstant];
    LoadConstant(rdx, operand & ~kConstant, constant);
    if (constant.counted()) Retain(rdx);
    as_.mov(kind, static_cast<uint32_t>(constant.kind()));
  } else if (operand & kPlainOperand) {
    as_.mov(rdx, Slot(slot));
    as_.mov(kind, static_cast<uint32_t>(ValueKind::Word));
  } else {
    as_.movzx(ecx, State(slot));
    as_.mov(rdx, Slot(slot));
    as_.and_(ecx, 7);
    as_.mov(kind, cl);
    if (!(operand & kLastOperand)) {
      Xbyak::Label uncounted;
      as_.test(ecx, ecx);
      as_.jz(uncounted, CodeGenerator::T_SHORT);
      Retain(rdx);
      as_.L(uncounted);
    }
  }
  as_.mov(qword[rax + at + kBits], rdx);
}

void NativeScheduledMaker::EmitConstruct(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (in.b > kFewFields) return CallStub(Stub::Construct, at);
  CallAt(allocate_[in.b]);
  as_.test(rax, rax);
  as_.jz(FailureAt(at));
  // One holder; see Object.
  uint64_t bits = 1 | uint64_t{static_cast<uint8_t>(ObjectKind::Data)} << 32 | uint64_t{in.b} << 40 | uint64_t{in.y & 0xffff} << 48;
  as_.mov(rcx, bits);
  as_.mov(ptr[rax], rcx);
  const uint32_t* list = p_.scheduled.operands.data() + in.x;
  for (uint32_t i = 0; i < in.b; ++i) EmitOperand(list[i], FieldAt(i));
  as_.mov(Slot(in.d), rax);
  as_.mov(State(in.d), kObject);
}

}  // namespace df::tagged
