// Direct code -> machine code: constructors, references, and counts.
#include <cstring>

#include "runtime/tagged_direct_data.h"
#include "runtime/tagged_native_direct.h"

// A DelayCell derives from Object, and is laid out as if it did not.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace df::tagged {

using Xbyak::Reg64;
using namespace Xbyak::util;

namespace {

// Of a Value (MakeNative has looked whether they are as said here), and from a constructor to its fields.
constexpr int kKind = 0, kBits = 8;
int FieldAt(uint32_t field) { return static_cast<int>(sizeof(Data) + field * sizeof(Value)); }
static_assert(sizeof(Value) == 16 && sizeof(Object) == 8 && offsetof(Object, refs) == 0 && offsetof(Object, few_fields) == 5 &&
              offsetof(Object, constructor) == 6);
constexpr int kObjectKind = 4;  // in its lower 6 bits

#if defined(DFC_VERIFY) || defined(DFC_SANITIZED)
constexpr bool kCountsAlive = true;  // every block is made and freed by functions
#else
constexpr bool kCountsAlive = false;
#endif

uint32_t BytesOf(uint32_t fields) { return static_cast<uint32_t>(sizeof(Data) + fields * sizeof(Value)); }

int BlocksOf(uint32_t fields) { return static_cast<int>(BytesOf(fields) / 8 * sizeof(memory::FreeBlocks)); }

}  // namespace

// rsi: an object. Flags: equal, if it is a delayed call that has its value.
void NativeDirectMaker::EmitDataStubs() {
  stubs_[static_cast<size_t>(Stub::IsFull)] = static_cast<uint32_t>(as_.getSize());
  Xbyak::Label other;
  as_.movzx(ecx, byte[rsi + kObjectKind]);
  as_.and_(ecx, 0x3f);
  as_.cmp(ecx, static_cast<uint32_t>(ObjectKind::Delay));
  as_.jne(other);
  as_.cmp(byte[rsi + static_cast<int>(offsetof(DelayCell, state))], static_cast<uint32_t>(DelayCell::State::Full));
  as_.L(other);
  as_.ret();

  // rdi: an object, of which one count is given back. Nobody looks at rax.
  stubs_[static_cast<size_t>(Stub::Release)] = static_cast<uint32_t>(as_.getSize());
  as_.mov(rsi, rdi);
  as_.mov(rdi, r12);
  as_.mov(rax, reinterpret_cast<uint64_t>(&NativeHelp::Release));
  as_.call(rax);
  as_.ret();

  for (uint32_t fields = 1; fields <= kFewFields; ++fields) {
    EmitAllocate(fields);
    EmitFree(fields);
  }
}

// Into rax, memory for a constructor with so many fields; 0: there is none, and native code has to be left.
void NativeDirectMaker::EmitAllocate(uint32_t fields) {
  allocate_[fields] = static_cast<uint32_t>(as_.getSize());
  Xbyak::Label slow, no_peak;
  int blocks = BlocksOf(fields);
  if (!kCountsAlive) {
    as_.mov(rcx, ptr[r12 + RunAt(offsetof(NativeRun, counters))]);
    as_.mov(rdx, ptr[rcx + offsetof(memory::Counters, current)]);
    as_.add(rdx, BytesOf(fields));
    as_.cmp(rdx, ptr[rcx + offsetof(memory::Counters, limit)]);
    as_.jg(slow);
    as_.mov(rsi, ptr[r12 + RunAt(offsetof(NativeRun, blocks))]);
    as_.mov(eax, dword[rsi + blocks + static_cast<int>(offsetof(memory::FreeBlocks, count))]);
    as_.sub(eax, 1);
    as_.jb(slow);
    as_.mov(dword[rsi + blocks + static_cast<int>(offsetof(memory::FreeBlocks, count))], eax);
    as_.mov(ptr[rcx + offsetof(memory::Counters, current)], rdx);
    as_.cmp(rdx, ptr[rcx + offsetof(memory::Counters, peak)]);
    as_.jle(no_peak);
    as_.mov(ptr[rcx + offsetof(memory::Counters, peak)], rdx);
    as_.L(no_peak);
    as_.mov(rax, ptr[rsi + rax * 8 + blocks + static_cast<int>(offsetof(memory::FreeBlocks, blocks))]);
    as_.ret();
  }
  as_.L(slow);
  as_.mov(rdi, r12);
  as_.mov(esi, BytesOf(fields));
  as_.mov(rax, reinterpret_cast<uint64_t>(&NativeHelp::Allocate));
  as_.call(rax);
  as_.ret();
}

// The memory in rax.
void NativeDirectMaker::EmitFree(uint32_t fields) {
  free_[fields] = static_cast<uint32_t>(as_.getSize());
  Xbyak::Label slow;
  int blocks = BlocksOf(fields);
  if (!kCountsAlive) {
    as_.mov(rsi, ptr[r12 + RunAt(offsetof(NativeRun, blocks))]);
    as_.mov(ecx, dword[rsi + blocks + static_cast<int>(offsetof(memory::FreeBlocks, count))]);
    as_.cmp(ecx, memory::FreeBlocks::kMost);
    as_.je(slow);
    as_.mov(ptr[rsi + rcx * 8 + blocks + static_cast<int>(offsetof(memory::FreeBlocks, blocks))], rax);
    as_.inc(ecx);
    as_.mov(dword[rsi + blocks + static_cast<int>(offsetof(memory::FreeBlocks, count))], ecx);
    as_.mov(rcx, ptr[r12 + RunAt(offsetof(NativeRun, counters))]);
    as_.sub(qword[rcx + static_cast<int>(offsetof(memory::Counters, current))], BytesOf(fields));
    as_.ret();
  }
  as_.L(slow);
  as_.mov(rdi, r12);
  as_.mov(rsi, rax);
  as_.mov(edx, BytesOf(fields));
  as_.mov(rax, reinterpret_cast<uint64_t>(&NativeHelp::Free));
  as_.call(rax);
  as_.ret();
}

// ---------------------------------------------------------------- counts

// One more; the register stays. The prefix `lock` is passed over where nobody shares.
void NativeDirectMaker::Retain(const Reg64& object) {
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, sharing))], 0);
  as_.db(0x74);
  as_.db(0x01);
  as_.db(0xf0);
  as_.inc(dword[object]);
}

// Of what an open slot holds, if that is counted. Changes rax.
void NativeDirectMaker::RetainIn(uint32_t slot) {
  Xbyak::Label none;
  as_.cmp(State(slot), kWord);
  as_.je(none);
  as_.mov(rax, Slot(slot));
  Retain(rax);
  as_.L(none);
}

void NativeDirectMaker::ReleaseIn(uint32_t slot) {
  Xbyak::Label none, other;
  as_.cmp(State(slot), kWord);
  as_.je(none);
  as_.mov(rdi, Slot(slot));
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, sharing))], 0);
  as_.jne(other);
  as_.cmp(dword[rdi], 1);
  as_.je(other);
  as_.dec(dword[rdi]);
  as_.jmp(none);
  as_.L(other);
  CallAt(stubs_[static_cast<size_t>(Stub::Release)]);
  as_.L(none);
}

// ---------------------------------------------------------------- data

// Into rax the number of the constructor in an open slot.
void NativeDirectMaker::ReadConstructor(uint32_t slot) {
  Xbyak::Label word_is;
  as_.mov(rax, Slot(slot));
  as_.cmp(State(slot), kWord);
  as_.je(word_is);
  as_.movzx(eax, word[rax + offsetof(Object, constructor)]);
  as_.L(word_is);
}

void NativeDirectMaker::EmitMatch(uint32_t at) {
  const DirectInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  ReadConstructor(a);
  as_.mov(Slot(in.d), rax);
  if (in.a & kLastUse) ReleaseIn(a);
}

// Field, TwoFields, Fields. What is not a value in data that stays, or in data that goes with all its fields taken, is for NativeHelp.
void NativeDirectMaker::EmitFields(uint32_t at) {
  const DirectInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  bool last = in.a & kLastUse;
  std::vector<FieldTo> read;
  uint32_t constructor = in.x;
  auto add = [&](uint32_t field, uint32_t slot) { read.push_back({field, slot & (kFieldPlain - 1), (slot & kFieldPlain) != 0}); };
  if (in.op == Direct::Field) {
    read.push_back({in.b, in.d, false});
  } else if (in.op == Direct::TwoFields) {
    add(in.y >> 16, in.d);
    add(in.y & 0xffff, in.b);
  } else {
    constructor = in.y;
    for (uint32_t i = 0; i < in.b; ++i) {
      uint32_t entry = p_.direct.operands[in.x + i];
      add(entry >> 16, entry & 0xffff);
    }
  }
  auto count = static_cast<uint32_t>(read.size());
  if (count > kFewFields || (count == 2 && read[0].field == read[1].field)) return CallStub(Stub::Fields, at);
  const Xbyak::Label& other = By(Stub::Fields, at);
  auto kind_at = [&](const FieldTo& one) { return byte[rax + FieldAt(one.field) + kKind]; };
  auto bits_at = [&](const FieldTo& one) { return qword[rax + FieldAt(one.field) + kBits]; };

  as_.cmp(State(a), kObject);
  as_.jne(other);
  as_.mov(rax, Slot(a));
  as_.cmp(word[rax + offsetof(Object, constructor)], constructor);
  as_.jne(other);
  for (const FieldTo& one : read) {
    if (one.plain) {
      as_.cmp(kind_at(one), static_cast<uint32_t>(ValueKind::Word));
      as_.jne(other);
      continue;
    }
    Xbyak::Label good;
    as_.cmp(kind_at(one), static_cast<uint32_t>(ValueKind::Object));
    as_.jbe(good);
    as_.cmp(kind_at(one), static_cast<uint32_t>(ValueKind::Reference));
    as_.jne(other);
    as_.mov(rsi, bits_at(one));
    CallAt(stubs_[static_cast<size_t>(Stub::IsFull)]);
    as_.je(other);
    as_.L(good);
  }
  Xbyak::Label done;
  if (last) {
    Xbyak::Label held;
    as_.cmp(dword[rax], 1);
    as_.jne(held);
    as_.cmp(byte[rax + offsetof(Object, few_fields)], count);
    as_.jne(other);
    for (const FieldTo& one : read) {
      if (!one.plain) {
        as_.movzx(ecx, kind_at(one));
        as_.or_(ecx, kPresent);
      }
      as_.mov(rdx, bits_at(one));
      if (!one.plain) as_.mov(State(one.slot), cl);
      as_.mov(Slot(one.slot), rdx);
    }
    CallAt(free_[count]);
    as_.jmp(done);
    as_.L(held);
    as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, sharing))], 0);
    as_.jne(other);
    as_.dec(dword[rax]);
  }
  for (const FieldTo& one : read) {
    as_.mov(rdx, bits_at(one));
    if (!one.plain) {
      Xbyak::Label uncounted;
      as_.movzx(ecx, kind_at(one));
      as_.mov(esi, ecx);
      as_.or_(esi, kPresent);
      as_.mov(State(one.slot), sil);
      as_.test(ecx, ecx);
      as_.jz(uncounted);
      Retain(rdx);
      as_.L(uncounted);
    }
    as_.mov(Slot(one.slot), rdx);
  }
  as_.L(done);
}

void NativeDirectMaker::EmitFieldPlain(uint32_t at) {
  const DirectInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  as_.cmp(State(a), kObject);
  as_.jne(ExitTo(at));
  as_.mov(rax, Slot(a));
  as_.cmp(word[rax + offsetof(Object, constructor)], in.x);
  as_.jne(ExitTo(at));
  as_.cmp(byte[rax + FieldAt(in.b) + kKind], static_cast<uint32_t>(ValueKind::Word));
  as_.jne(ExitTo(at));
  as_.mov(rdx, qword[rax + FieldAt(in.b) + kBits]);
  as_.mov(Slot(in.d), rdx);
  if (in.a & kLastUse) ReleaseIn(a);
}

void NativeDirectMaker::EmitConstruct(uint32_t at) {
  const DirectInstr& in = code_[at];
  if (in.b > kFewFields) return CallStub(Stub::Construct, at);
  CallAt(allocate_[in.b]);
  as_.test(rax, rax);
  as_.jz(ExitTo(at));
  Object header(ObjectKind::Data);
  header.few_fields = static_cast<uint8_t>(in.b);
  header.constructor = static_cast<uint16_t>(in.y);
  uint64_t bits;
  std::memcpy(&bits, static_cast<void*>(&header), sizeof bits);
  as_.mov(rcx, bits);
  as_.mov(ptr[rax], rcx);
  const uint32_t* list = p_.direct.operands.data() + in.x;
  for (uint32_t i = 0; i < in.b; ++i) {
    Xbyak::Address kind = byte[rax + FieldAt(i) + kKind], to = qword[rax + FieldAt(i) + kBits];
    uint32_t slot = list[i] & kOperandIndex;
    if (IsConstant(list[i])) {
      const Value& constant = p_.constants[list[i] & ~kConstant];
      Constant(rdx, constant.word());
      if (constant.counted()) Retain(rdx);
      as_.mov(kind, static_cast<uint32_t>(constant.kind()));
    } else if (list[i] & kPlainOperand) {
      as_.mov(rdx, Slot(slot));
      as_.mov(kind, static_cast<uint32_t>(ValueKind::Word));
    } else {
      as_.movzx(ecx, State(slot));
      as_.mov(rdx, Slot(slot));
      as_.and_(ecx, 7);
      as_.mov(kind, cl);
      if (!(list[i] & kLastOperand)) {
        Xbyak::Label uncounted;
        as_.test(ecx, ecx);
        as_.jz(uncounted);
        Retain(rdx);
        as_.L(uncounted);
      }
    }
    as_.mov(to, rdx);
  }
  as_.mov(Slot(in.d), rax);
  as_.mov(State(in.d), kObject);
}

void NativeDirectMaker::EmitForce(uint32_t at) {
  const DirectInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  if (in.op == Direct::ForcePlain) {
    as_.cmp(State(a), kWord);
    as_.jne(OnBy(Stub::Force, at));
    return Copy(in.d, a);
  }
  as_.movzx(ecx, State(a));
  as_.cmp(ecx, kReference);
  as_.je(OnBy(Stub::Force, at));
  as_.mov(rax, Slot(a));
  if (!(in.a & kLastUse)) {
    Xbyak::Label uncounted;
    as_.cmp(ecx, kWord);
    as_.je(uncounted);
    Retain(rax);
    as_.L(uncounted);
  }
  as_.mov(State(in.d), cl);
  as_.mov(Slot(in.d), rax);
}

}  // namespace df::tagged
