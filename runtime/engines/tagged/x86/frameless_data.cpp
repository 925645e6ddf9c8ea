// Frameless code -> machine code: constructors, references, and what begins and ends a body.
#include <algorithm>
#include <vector>

#include "runtime/base/object_census.h"
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/exec/frameless_ahead.h"
#include "runtime/engines/tagged/x86/frameless.h"
#include "runtime/engines/tagged/x86/layout.h"

namespace df::tagged {

using Xbyak::CodeGenerator;
using Xbyak::Reg32;
using Xbyak::Reg64;
using namespace Xbyak::util;
using namespace frameless;

namespace {

// For Data; null, and a failure, if there is no memory.
void* AllocateData(FramelessRun* run, uint64_t bytes) noexcept {
  try {
    void* block = memory::Allocate(bytes);
    alive::Made(alive::Kind::Data);
    return block;
  } catch (...) {
    run->failure = std::current_exception();
    return nullptr;
  }
}

int BlocksAt(size_t bytes) { return static_cast<int>((bytes + 7) / 8 * sizeof(memory::FreeBlocks)); }

}  // namespace

// ---------------------------------------------------------------- memory and counts

// Into rax, memory for a constructor with so many fields; 0: there is none. Changes what a function may change.
void NativeFramelessMaker::EmitAllocate(uint32_t fields) {
  allocate_[fields] = static_cast<uint32_t>(as_.getSize());
  auto bytes = static_cast<uint32_t>(sizeof(Data) + fields * sizeof(Value));
  int blocks = BlocksAt(bytes);
  Xbyak::Label slow, no_peak;
  if (!kCountsAlive) {
    as_.mov(rcx, ptr[kRun + offsetof(FramelessRun, counters)]);
    as_.mov(r11, ptr[kRun + offsetof(FramelessRun, blocks)]);
    as_.mov(rdx, ptr[rcx + offsetof(memory::Counters, current)]);
    as_.add(rdx, bytes);
    as_.cmp(rdx, ptr[rcx + offsetof(memory::Counters, limit)]);
    as_.jg(slow);
    as_.mov(eax, dword[r11 + blocks + offsetof(memory::FreeBlocks, count)]);
    as_.sub(eax, 1);
    as_.jb(slow);
    as_.mov(dword[r11 + blocks + offsetof(memory::FreeBlocks, count)], eax);
    as_.mov(ptr[rcx + offsetof(memory::Counters, current)], rdx);
    as_.cmp(rdx, ptr[rcx + offsetof(memory::Counters, peak)]);
    as_.jle(no_peak);
    as_.mov(ptr[rcx + offsetof(memory::Counters, peak)], rdx);
    as_.L(no_peak);
    as_.mov(rax, ptr[r11 + rax * 8 + blocks + offsetof(memory::FreeBlocks, blocks)]);
    as_.ret();
  }
  as_.L(slow);
  const Reg64 kept[] = {kRun, kSlots, kOwned, kHole};
  for (const Reg64& each : kept) as_.push(each);
  as_.sub(rsp, 8);
  as_.mov(esi, bytes);  // rdi has the FramelessRun
  as_.mov(rax, reinterpret_cast<uint64_t>(&AllocateData));
  as_.call(rax);
  as_.add(rsp, 8);
  for (size_t i = std::size(kept); i-- > 0;) as_.pop(kept[i]);
  as_.ret();
}

// One more; the register stays. The prefix `lock` is passed over where nobody shares.
void NativeFramelessMaker::Retain(const Reg64& object) {
  as_.cmp(dword[kRun + offsetof(FramelessRun, sharing)], 0);
  as_.db(0x74);
  as_.db(0x01);
  as_.db(0xf0);
  as_.inc(dword[object]);
}

// ---------------------------------------------------------------- data

// The constructor in an open slot into rax; out, if it is another.
void NativeFramelessMaker::CheckConstructor(uint32_t at, uint32_t slot, uint32_t constructor) {
  as_.cmp(State(slot), kObject);
  as_.jne(FailureAt(at));
  as_.mov(rax, Slot(slot));
  as_.cmp(word[rax + offsetof(Object, constructor)], constructor);
  as_.jne(FailureAt(at));
}

// The kind and bits of what a field of the constructor in rax stands for: what a delayed call that is full holds, else the field itself.
// To `other`, if that is not a value or a reference. Changes rbx.
void NativeFramelessMaker::EmitHeldBy(uint32_t field, const Reg32& kind, const Reg64& bits, const Xbyak::Label& other) {
  Xbyak::Label good;
  as_.movzx(kind, byte[rax + FieldAt(field) + kKind]);
  as_.mov(bits, qword[rax + FieldAt(field) + kBits]);
  as_.cmp(kind, static_cast<uint32_t>(ValueKind::Reference));
  as_.jb(good, CodeGenerator::T_SHORT);
  as_.jne(other);
  as_.movzx(ebx, byte[bits + kObjectKind]);
  as_.and_(ebx, 0x3f);
  as_.cmp(ebx, static_cast<uint32_t>(ObjectKind::Delay));
  as_.jne(good, CodeGenerator::T_SHORT);
  as_.cmp(byte[bits + kCellState], static_cast<uint32_t>(DelayCell::State::Full));
  as_.jne(good, CodeGenerator::T_SHORT);
  as_.movzx(kind, byte[bits + kCellValue + kKind]);
  as_.mov(bits, qword[bits + kCellValue + kBits]);
  as_.cmp(kind, static_cast<uint32_t>(ValueKind::Object));
  as_.ja(other);
  as_.L(good);
}

// `checked`: rax has the constructor.
void NativeFramelessMaker::EmitTwoFields(uint32_t at, bool checked) {
  const ScheduledInstr& in = code_[at];
  const Xbyak::Label& other = FailureAt(at);
  if (!checked) CheckConstructor(at, in.a, in.x);
  EmitHeldBy(in.y >> 16, ecx, rdx, other);
  EmitHeldBy(in.y & 0xffff, r8d, r11, other);
  auto put = [&](uint32_t operand, const Reg32& kind, const Reg64& bits) {
    uint32_t slot = operand & (kFieldPlain - 1);
    as_.mov(Slot(slot), bits);
    if (operand & kFieldPlain) return;
    as_.or_(kind, kPresent);
    as_.mov(State(slot), kind.cvt8());
  };
  for (auto [operand, kind] : {std::pair(in.d, ecx), std::pair(in.b, r8d)}) {
    if (!(operand & kFieldPlain)) continue;
    as_.test(kind, kind);
    as_.jnz(other);
  }
  put(in.d, ecx, rdx);
  put(in.b, r8d, r11);
}

// Field, FieldPlain, Fields.
void NativeFramelessMaker::EmitFields(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  std::vector<std::pair<uint32_t, uint32_t>> read;  // field, slot with kFieldPlain
  if (in.op == Scheduled::Fields)
    for (const uint32_t *entry = p_.frameless.lists.data() + in.x, *end = entry + in.b; entry != end; ++entry)
      read.emplace_back(*entry >> 16, *entry & 0xffff);
  else
    read.emplace_back(in.b, in.d | (in.op == Scheduled::FieldPlain ? kFieldPlain : 0u));
  // What was read is not read again by an interpreter that begins anew.
  bool overwrites = read.size() > 1 && std::any_of(read.begin(), read.end(), [&](auto one) { return (one.second & (kFieldPlain - 1)) == in.a; });
  if (overwrites) {
    as_.jmp(FailureAt(at));
    return;
  }
  CheckConstructor(at, in.a, in.op == Scheduled::Fields ? in.y : in.x);
  for (auto [field, operand] : read) {
    EmitHeldBy(field, ecx, rdx, FailureAt(at));
    uint32_t slot = operand & (kFieldPlain - 1);
    if (operand & kFieldPlain) {
      as_.test(ecx, ecx);
      as_.jnz(FailureAt(at));
    } else {
      as_.or_(ecx, kPresent);
      as_.mov(State(slot), cl);
    }
    as_.mov(Slot(slot), rdx);
  }
}

// An operand of a list becomes the Value that stands so many bytes behind rax; what a slot owns goes with it.
void NativeFramelessMaker::EmitOperand(uint32_t operand, int at) {
  Xbyak::Address kind = byte[rax + at + kKind];
  uint32_t slot = operand & (kMostFramelessSlots - 1);
  if (IsConstant(operand)) {
    const Value& constant = p_.constants[operand & ~kConstant];
    LoadConstant(rdx, operand & ~kConstant, constant);
    if (constant.counted()) Retain(rdx);
    as_.mov(kind, static_cast<uint32_t>(constant.kind()));
  } else if (operand & kPlainOperand) {
    as_.mov(rdx, Slot(slot));
    as_.mov(kind, static_cast<uint32_t>(ValueKind::Word));
  } else {
    Xbyak::Label done;
    as_.movzx(ecx, State(slot));
    as_.mov(rdx, Slot(slot));
    as_.and_(ecx, 7);
    as_.mov(kind, cl);
    as_.jz(done, CodeGenerator::T_SHORT);
    as_.btr(kOwned, static_cast<uint8_t>(slot));
    as_.jc(done, CodeGenerator::T_SHORT);
    Retain(rdx);
    as_.L(done);
  }
  as_.mov(qword[rax + at + kBits], rdx);
}

// Into rax a constructor, of which the first `made` fields are made, of the operands in the list.
void NativeFramelessMaker::EmitMakeData(uint32_t at, uint32_t constructor, uint32_t fields, const uint32_t* list, uint32_t made) {
  CallAt(allocate_[fields]);
  as_.test(rax, rax);
  as_.jz(FailureAt(at));
  // One holder; see Object.
  uint64_t bits = 1 | uint64_t{static_cast<uint8_t>(ObjectKind::Data)} << 32 | uint64_t{fields} << 40 | uint64_t{constructor & 0xffff} << 48;
  as_.mov(rcx, bits);
  as_.mov(ptr[rax], rcx);
  for (uint32_t i = 0; i < made; ++i) EmitOperand(list[i], FieldAt(i));
}

void NativeFramelessMaker::EmitConstruct(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (in.b > kFewFields) {
    as_.jmp(FailureAt(at));
    return;
  }
  EmitMakeData(at, in.y, in.b, p_.frameless.lists.data() + in.x, in.b);
  as_.mov(Slot(in.d), rax);
  as_.mov(State(in.d), kObject);
  as_.bts(kOwned, static_cast<uint8_t>(in.d));
}

// ---------------------------------------------------------------- references

// What a reference stands for, if that is there; the interpreter looks whether it can be had.
void NativeFramelessMaker::EmitForce(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  bool plain = in.op == Scheduled::ForcePlain;
  const Xbyak::Label& other = FailureAt(at);
  Xbyak::Label value, owner;
  as_.movzx(ecx, State(in.a));
  as_.mov(rax, Slot(in.a));
  if (plain) {
    as_.cmp(ecx, kWord);
    as_.je(value, CodeGenerator::T_SHORT);
    as_.cmp(ecx, kReference);
    as_.jne(other);
  } else {
    as_.cmp(ecx, kReference);
    as_.jb(value, CodeGenerator::T_SHORT);
    as_.jne(other);
  }
  as_.movzx(edx, byte[rax + kObjectKind]);
  as_.and_(edx, 0x3f);
  as_.cmp(edx, static_cast<uint32_t>(ObjectKind::Delay));
  as_.jne(other);
  as_.cmp(byte[rax + kCellState], static_cast<uint32_t>(DelayCell::State::Full));
  as_.jne(other);
  as_.movzx(ecx, byte[rax + kCellValue + kKind]);
  as_.mov(rax, qword[rax + kCellValue + kBits]);
  as_.cmp(ecx, static_cast<uint32_t>(plain ? ValueKind::Word : ValueKind::Object));
  as_.ja(other);
  as_.or_(ecx, kPresent);
  // In its own place too, unless that owns the delayed call.
  as_.bt(kOwned, static_cast<uint8_t>(in.a));
  as_.jc(owner, CodeGenerator::T_SHORT);
  as_.mov(Slot(in.a), rax);
  as_.mov(State(in.a), cl);
  as_.L(owner);
  as_.L(value);
  as_.mov(Slot(in.d), rax);
  if (!plain) as_.mov(State(in.d), cl);
}

// A cons that is there is taken apart at once: what the Force, the BranchMatch and the TwoFields behind it do. Else it is the Force.
void NativeFramelessMaker::EmitForceCons(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  uint32_t cons = code_[at + 1].y;
  Xbyak::Label force, done;
  as_.cmp(State(in.a), kObject);
  as_.jne(force);
  as_.mov(rax, Slot(in.a));
  as_.cmp(word[rax + offsetof(Object, constructor)], code_[cons].x);
  as_.jne(force);
  as_.mov(Slot(in.d), rax);
  as_.mov(State(in.d), kObject);
  EmitTwoFields(cons, true);
  GoTo(cons + 1);
  as_.L(force);
  EmitForce(at);
}

// ---------------------------------------------------------------- bodies

void NativeFramelessMaker::EmitTry(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  as_.mov(rax, reinterpret_cast<uint64_t>(&p_.sites[in.y].unasked.left));
  as_.cmp(byte[rax], 0);
  as_.je(FailureAt(at));
  attempt_ = at;
  attempt_end_ = in.x;
}

void NativeFramelessMaker::EmitTried(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  as_.mov(rax, Slot(in.a));
  if (in.op == Scheduled::Tried) {
    as_.mov(State(in.d), kWord);
  } else {
    as_.movzx(ecx, State(in.a));
    as_.cmp(ecx, kReference);
    as_.jae(FailureAt(at));
    as_.mov(State(in.d), cl);
  }
  as_.mov(Slot(in.d), rax);
  // Chance::Tell.
  Xbyak::Label most;
  as_.mov(rax, reinterpret_cast<uint64_t>(&p_.sites[in.y].unasked.left));
  as_.cmp(byte[rax], SiteCode::Chance::kMost);
  as_.jae(most, CodeGenerator::T_SHORT);
  as_.inc(byte[rax]);
  as_.L(most);
  GoTo(in.x);
}

// Where the body was begun by the same chain or none, and may be followed by another. Whatever can stop it is asked before anything is
// made.
void NativeFramelessMaker::EmitChain(uint32_t at) {
  const FramelessChain& chain = p_.frameless.chains[code_[at].x];
  const SiteCode& next = p_.sites[chain.site];
  const uint32_t* lists = p_.frameless.lists.data();
  const Xbyak::Label& other = FailureAt(at);
  if (chain.fields > kFewFields || !made_[next.callee->frameless]) {
    as_.jmp(other);
    return;
  }
  uint64_t goes = 0;  // what is owned and becomes a part of the constructor
  for (uint32_t i = 0; i + 1 < chain.fields; ++i)
    if (uint32_t operand = lists[chain.list + i]; !IsConstant(operand) && !(operand & kPlainOperand)) goes |= BitOf(operand & (kMostFramelessSlots - 1));
  Xbyak::Label few, begun, no_first;
  as_.mov(rax, ptr[kRun + offsetof(FramelessRun, fuel)]);
  as_.cmp(dword[rax], 0);
  as_.je(other);
  as_.mov(rax, reinterpret_cast<uint64_t>(&chain));
  as_.mov(rcx, ptr[kRun + offsetof(FramelessRun, step)]);
  as_.cmp(rcx, rax);
  as_.je(begun, CodeGenerator::T_SHORT);
  as_.test(rcx, rcx);
  as_.jnz(other);
  as_.mov(rcx, reinterpret_cast<uint64_t>(&next.unasked.left));
  as_.cmp(byte[rcx], 0);
  as_.je(other);
  as_.L(begun);
  as_.test(kOwned, kOwned);
  as_.jz(few, CodeGenerator::T_SHORT);
  as_.mov(rcx, ~goes);
  as_.and_(rcx, kOwned);
  as_.jz(few, CodeGenerator::T_SHORT);
  as_.mov(rdx, ptr[kRun + offsetof(FramelessRun, space)]);
  as_.popcnt(rcx, rcx);
  as_.add(ecx, dword[rdx + offsetof(Space, num_kept)]);
  as_.cmp(ecx, kMostKept);
  as_.ja(other);
  as_.L(few);

  EmitMakeData(at, chain.constructor, chain.fields, lists + chain.list, chain.fields - 1);
  int last = FieldAt(chain.fields - 1);
  as_.mov(byte[rax + last + kKind], static_cast<uint32_t>(ValueKind::Word));
  as_.mov(byte[kHole + kKind], static_cast<uint32_t>(ValueKind::Object));
  as_.mov(ptr[kHole + kBits], rax);
  as_.lea(kHole, ptr[rax + last]);
  as_.mov(rax, ptr[kRun + offsetof(FramelessRun, fuel)]);
  as_.dec(dword[rax]);
  as_.mov(rax, reinterpret_cast<uint64_t>(&chain));
  as_.cmp(ptr[kRun + offsetof(FramelessRun, step)], rax);
  as_.je(no_first, CodeGenerator::T_SHORT);
  as_.mov(ptr[kRun + offsetof(FramelessRun, step)], rax);
  as_.mov(byte[kRun + offsetof(FramelessRun, first)], 1);
  as_.dec(dword[kRun + offsetof(FramelessRun, again)]);
  as_.L(no_first);
  as_.inc(dword[kRun + offsetof(FramelessRun, again)]);
  as_.mov(byte[kRun + offsetof(FramelessRun, demanded)], 0);
  // What is still owned lives as long as the attempt.
  Xbyak::Label keep, kept;
  as_.test(kOwned, kOwned);
  as_.jz(kept, CodeGenerator::T_SHORT);
  as_.mov(rdx, ptr[kRun + offsetof(FramelessRun, space)]);
  as_.L(keep);
  as_.bsf(rcx, kOwned);
  as_.btr(kOwned, rcx);
  as_.mov(rax, ptr[kSlots + rcx * 8]);
  as_.mov(r8d, dword[rdx + offsetof(Space, num_kept)]);
  as_.mov(ptr[rdx + r8 * 8 + offsetof(Space, kept)], rax);
  as_.inc(dword[rdx + offsetof(Space, num_kept)]);
  as_.test(kOwned, kOwned);
  as_.jnz(keep);
  as_.L(kept);
  // What the next body captures, into the other set of slots.
  as_.mov(r11, ptr[kRun + offsetof(FramelessRun, both)]);
  as_.sub(r11, kSlots);
  for (uint32_t i = 0; i < chain.num_moves; ++i) {
    uint32_t operand = lists[chain.moves + 2 * i], to = lists[chain.moves + 2 * i + 1], slot = operand & (kMostFramelessSlots - 1);
    Xbyak::Address state = byte[r11 + kStates + static_cast<int>(to)];
    if (IsConstant(operand)) {
      const Value& constant = p_.constants[operand & ~kConstant];
      LoadConstant(rax, operand & ~kConstant, constant);
      as_.mov(state, StateOf(constant));
    } else {
      as_.mov(rax, Slot(slot));
      if (operand & kPlainOperand) {
        as_.mov(state, kWord);
      } else {
        as_.movzx(ecx, State(slot));
        as_.mov(state, cl);
      }
    }
    as_.mov(ptr[r11 + SlotAt(to)], rax);
  }
  as_.mov(kSlots, r11);
  GoTo(next.callee->frameless);
}

void NativeFramelessMaker::EmitReturn(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (in.op == Scheduled::ReturnOpen) {
    Xbyak::Label done;
    as_.movzx(ecx, State(in.a));
    as_.mov(rdx, Slot(in.a));
    as_.bt(kOwned, static_cast<uint8_t>(in.a));
    Xbyak::Label owned;
    as_.jc(owned, CodeGenerator::T_SHORT);
    as_.cmp(ecx, kReference);
    as_.jae(FailureAt(at));
    as_.cmp(ecx, kWord);
    as_.je(done, CodeGenerator::T_SHORT);
    Retain(rdx);
    as_.L(owned);
    as_.btr(kOwned, static_cast<uint8_t>(in.a));
    as_.L(done);
    as_.and_(ecx, 7);
    as_.mov(byte[kHole + kKind], cl);
    as_.mov(ptr[kHole + kBits], rdx);
  } else {
    if (in.op == Scheduled::Return) as_.mov(rdx, Slot(in.a));
    else Constant(rdx, static_cast<int16_t>(in.d));
    as_.mov(byte[kHole + kKind], static_cast<uint32_t>(ValueKind::Word));
    as_.mov(ptr[kHole + kBits], rdx);
  }
  as_.xor_(eax, eax);
  as_.jmp(leave_);
}

}  // namespace df::tagged
