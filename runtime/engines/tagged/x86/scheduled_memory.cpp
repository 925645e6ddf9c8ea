// Scheduled code -> machine code: memory for constructors, and what happens to objects that have no holder left, as DeadObjects::FreeAll.
#include "runtime/engines/tagged/x86/layout.h"
#include "runtime/engines/tagged/x86/scheduled.h"

namespace df::tagged {

using Xbyak::CodeGenerator;
using namespace Xbyak::util;

namespace {

constexpr int kFree = offsetof(memory::FreeBlocks, blocks), kFreeCount = offsetof(memory::FreeBlocks, count);
constexpr int kCurrent = offsetof(memory::Counters, current);
// After so many objects the rest is for DeadObjects::FreeAll, which looks whether the run is to end.
constexpr uint32_t kMostFreed = 1024;

uint32_t BytesOf(uint32_t fields) { return static_cast<uint32_t>(sizeof(Data) + fields * sizeof(Value)); }

}  // namespace

// Into rax, so many bytes of the thread's small blocks; rcx, rdx and rsi are changed. To `slow`, with nothing done, if there are none at hand.
void NativeScheduledMaker::EmitTakeBlock(uint32_t bytes, const Xbyak::Label& slow) {
  int blocks = BlocksAt(bytes);
  Xbyak::Label no_peak;
  as_.mov(rcx, ptr[r12 + RunAt(offsetof(NativeRun, counters))]);
  as_.mov(rdx, ptr[rcx + kCurrent]);
  as_.add(rdx, bytes);
  as_.cmp(rdx, ptr[rcx + offsetof(memory::Counters, limit)]);
  as_.jg(slow);
  as_.mov(rsi, ptr[r12 + RunAt(offsetof(NativeRun, blocks))]);
  as_.mov(eax, dword[rsi + blocks + kFreeCount]);
  as_.sub(eax, 1);
  as_.jb(slow);
  as_.mov(dword[rsi + blocks + kFreeCount], eax);
  as_.mov(ptr[rcx + kCurrent], rdx);
  as_.cmp(rdx, ptr[rcx + offsetof(memory::Counters, peak)]);
  as_.jle(no_peak);
  as_.mov(ptr[rcx + offsetof(memory::Counters, peak)], rdx);
  as_.L(no_peak);
  as_.mov(rax, ptr[rsi + rax * 8 + blocks + kFree]);
}

// Into rax, memory for a constructor with so many fields; 0: there is none, and native code has to be left.
void NativeScheduledMaker::EmitAllocate(uint32_t fields) {
  allocate_[fields] = static_cast<uint32_t>(as_.getSize());
  Xbyak::Label slow;
  if (!kCountsAlive) {
    EmitTakeBlock(BytesOf(fields), slow);
    as_.ret();
  }
  as_.L(slow);
  as_.mov(rdi, r12);
  as_.mov(esi, BytesOf(fields));
  as_.mov(rax, reinterpret_cast<uint64_t>(&RuntimeCalls::Allocate));
  as_.call(rax);
  as_.ret();
}

// The memory in rax.
void NativeScheduledMaker::EmitFree(uint32_t fields) {
  free_[fields] = static_cast<uint32_t>(as_.getSize());
  Xbyak::Label slow;
  int blocks = BlocksAt(BytesOf(fields));
  if (!kCountsAlive) {
    as_.mov(rsi, ptr[r12 + RunAt(offsetof(NativeRun, blocks))]);
    as_.mov(ecx, dword[rsi + blocks + kFreeCount]);
    as_.cmp(ecx, memory::FreeBlocks::kMost);
    as_.je(slow);
    as_.mov(ptr[rsi + rcx * 8 + blocks + kFree], rax);
    as_.inc(ecx);
    as_.mov(dword[rsi + blocks + kFreeCount], ecx);
    as_.mov(rcx, ptr[r12 + RunAt(offsetof(NativeRun, counters))]);
    as_.sub(qword[rcx + kCurrent], BytesOf(fields));
    as_.ret();
  }
  as_.L(slow);
  as_.mov(rdi, r12);
  as_.mov(rsi, rax);
  as_.mov(edx, BytesOf(fields));
  as_.mov(rax, reinterpret_cast<uint64_t>(&RuntimeCalls::Free));
  as_.call(rax);
  as_.ret();
}

// The cell in rdi, of the site in rdx, goes to the list of free ones. Changes r10, rdx and rsi.
void NativeScheduledMaker::EmitGiveCell() {
  static_assert(Pool<DelayCell>::kUnit == sizeof(void*));
  as_.mov(edx, dword[rdx + static_cast<int>(offsetof(SiteCode, cell_bytes))]);
  as_.mov(byte[rdi + kCellState], static_cast<uint32_t>(DelayCell::State::Free));
  as_.mov(rsi, ptr[r12 + RunAt(offsetof(NativeRun, cell_lists))]);
  as_.mov(r10, ptr[rsi + rdx]);
  as_.mov(ptr[rdi], r10);
  as_.mov(ptr[rsi + rdx], rdi);
  as_.inc(qword[r12 + RunAt(offsetof(NativeRun, cells_gone))]);
}

// rdi: a cell whose body is done and that nobody refers to, as Worker::FreeUnshared. Changes r9 and r11 only.
void NativeScheduledMaker::EmitFreeCellStub() {
  BeginStub(Stub::FreeCell);
  const Xbyak::Reg64 kept[] = {rax, rcx, rdx, rsi, rdi, r8, r10};
  for (const Xbyak::Reg64& each : kept) as_.push(each);
  Xbyak::Label slow, done, next;
  if (!kCountsAlive) {
    as_.mov(rdx, ptr[rdi + kCellSite]);
    as_.mov(ecx, dword[rdx + static_cast<int>(offsetof(SiteCode, cell_values))]);
    as_.lea(rsi, ptr[rdi + kCellValue]);
    as_.L(next);
    as_.cmp(byte[rsi + kKind], static_cast<uint32_t>(ValueKind::Word));
    as_.jne(slow, CodeGenerator::T_NEAR);
    as_.add(rsi, sizeof(Value));
    as_.dec(ecx);
    as_.jnz(next);
    EmitGiveCell();
    as_.jmp(done, CodeGenerator::T_NEAR);
  }
  as_.L(slow);
  as_.sub(rsp, 8);
  as_.mov(rsi, rdi);
  as_.mov(rdi, r12);
  as_.mov(rax, reinterpret_cast<uint64_t>(&RuntimeCalls::FreeCell));
  as_.call(rax);
  as_.add(rsp, 8);
  as_.L(done);
  for (size_t i = std::size(kept); i-- > 0;) as_.pop(kept[i]);
  as_.ret();
}

// rdi: an object, of which one count is given back. rax stays. What it was the last holder of goes too, as long as that is one object
// after the other; where there are several, and for other kinds than constructors and delayed calls, by RuntimeCalls::Release.
void NativeScheduledMaker::EmitDropStub() {
  BeginStub(Stub::Drop);
  Xbyak::Label last, zero, call, look, data, done, others, one, follow;
  as_.cmp(dword[rdi], 1);
  as_.je(last);
  Drop(rdi);
  as_.jz(zero, CodeGenerator::T_SHORT);
  as_.ret();
  as_.L(zero);
  as_.mov(dword[rdi], 1);
  as_.L(last);
  as_.push(rax);
  if (!kCountsAlive) {
    as_.mov(r11d, kMostFreed);
    as_.L(look);
    as_.movzx(ecx, byte[rdi + kObjectKind]);
    as_.and_(ecx, 0x3f);
    as_.cmp(ecx, static_cast<uint32_t>(ObjectKind::Data));
    as_.je(data);
    as_.cmp(ecx, static_cast<uint32_t>(ObjectKind::Delay));
    as_.jne(call, CodeGenerator::T_NEAR);
    as_.cmp(byte[rdi + kCellState], static_cast<uint32_t>(DelayCell::State::Full));
    as_.jne(call, CodeGenerator::T_NEAR);
    as_.mov(rdx, ptr[rdi + kCellSite]);
    as_.mov(ecx, dword[rdx + static_cast<int>(offsetof(SiteCode, cell_values))]);
    as_.mov(rsi, rdi);
    as_.L(others);
    as_.dec(ecx);
    as_.jz(one);
    as_.add(rsi, sizeof(Value));
    as_.cmp(byte[rsi + kCellValue + kKind], static_cast<uint32_t>(ValueKind::Word));
    as_.jne(call, CodeGenerator::T_NEAR);
    as_.jmp(others);
    as_.L(one);
    as_.movzx(ecx, byte[rdi + kCellValue + kKind]);
    as_.cmp(ecx, static_cast<uint32_t>(ValueKind::Error));
    as_.ja(call, CodeGenerator::T_NEAR);
    as_.mov(r8, ptr[rdi + kCellValue + kBits]);
    EmitGiveCell();
    as_.test(ecx, ecx);
    as_.jz(done, CodeGenerator::T_NEAR);
    as_.mov(rdi, r8);
    as_.cmp(dword[rdi], 1);
    as_.je(follow);
    Drop(rdi);
    as_.jnz(done, CodeGenerator::T_NEAR);
    as_.mov(dword[rdi], 1);
    as_.L(follow);
    as_.dec(r11d);
    as_.jnz(look);
    as_.jmp(call, CodeGenerator::T_NEAR);
    as_.L(data);
    EmitDropData(call);
    as_.test(r8, r8);
    as_.jz(done);
    as_.mov(rdi, r8);
    as_.jmp(follow);
    as_.L(done);
    as_.pop(rax);
    as_.ret();
  }
  as_.L(call);
  as_.mov(rsi, rdi);
  as_.mov(rdi, r12);
  as_.sub(rsp, 8);
  as_.mov(rax, reinterpret_cast<uint64_t>(&RuntimeCalls::Release));
  as_.call(rax);
  as_.add(rsp, 8);
  as_.pop(rax);
  as_.ret();
}

// A constructor in rdi, without a holder: afterwards r8 has a field that has none either, or is 0. To `other`, with nothing done, if there
// is more than one such field. r11 stays; the stack is 8 bytes past where a function may be called.
void NativeScheduledMaker::EmitDropData(const Xbyak::Label& other) {
  constexpr int kFirst = sizeof(Data);
  Xbyak::Label look, looked, drop, dropped, zero, first, full, freed;
  as_.movzx(ecx, byte[rdi + static_cast<int>(offsetof(Object, few_fields))]);
  as_.cmp(ecx, kFewFields);
  as_.ja(other);
  as_.xor_(r8d, r8d);
  as_.mov(r9, rdi);
  as_.mov(r10d, ecx);
  as_.L(look);
  as_.movzx(esi, byte[r9 + kFirst + kKind]);
  as_.test(esi, esi);
  as_.jz(looked);
  as_.cmp(esi, static_cast<uint32_t>(ValueKind::Error));
  as_.ja(other);
  as_.mov(rax, ptr[r9 + kFirst + kBits]);
  as_.cmp(dword[rax], 1);
  as_.jne(looked);
  as_.test(r8, r8);
  as_.jnz(other);
  as_.mov(r8, rax);
  as_.L(looked);
  as_.add(r9, sizeof(Value));
  as_.dec(r10d);
  as_.jnz(look);
  as_.mov(r9, rdi);
  as_.mov(r10d, ecx);
  as_.L(drop);
  as_.cmp(byte[r9 + kFirst + kKind], static_cast<uint32_t>(ValueKind::Word));
  as_.je(dropped);
  as_.mov(rax, ptr[r9 + kFirst + kBits]);
  as_.cmp(rax, r8);
  as_.je(dropped);
  Drop(rax);
  as_.jz(zero, CodeGenerator::T_NEAR);
  as_.L(dropped);
  as_.add(r9, sizeof(Value));
  as_.dec(r10d);
  as_.jnz(drop);
  as_.imul(edx, ecx, 2 * sizeof(memory::FreeBlocks));
  as_.add(rdx, ptr[r12 + RunAt(offsetof(NativeRun, blocks))]);
  static_assert(sizeof(Data) == 8 && sizeof(Value) == 16);
  as_.mov(esi, dword[rdx + BlocksAt(sizeof(Data)) + kFreeCount]);
  as_.shl(ecx, 4);
  as_.add(ecx, static_cast<uint32_t>(sizeof(Data)));
  as_.cmp(esi, memory::FreeBlocks::kMost);
  as_.je(full, CodeGenerator::T_NEAR);
  as_.mov(ptr[rdx + rsi * 8 + BlocksAt(sizeof(Data)) + kFree], rdi);
  as_.inc(esi);
  as_.mov(dword[rdx + BlocksAt(sizeof(Data)) + kFreeCount], esi);
  as_.mov(rax, ptr[r12 + RunAt(offsetof(NativeRun, counters))]);
  as_.sub(qword[rax + kCurrent], rcx);
  as_.jmp(freed, CodeGenerator::T_NEAR);
  auto call = [&](const void* function, std::initializer_list<Xbyak::Reg64> kept) {
    for (const Xbyak::Reg64& each : kept) as_.push(each);
    if (kept.size() % 2 == 0) as_.sub(rsp, 8);
    if (function == reinterpret_cast<const void*>(&RuntimeCalls::Free)) {
      as_.mov(rsi, rdi);
      as_.mov(edx, ecx);
    } else {
      as_.mov(rsi, rax);
    }
    as_.mov(rdi, r12);
    as_.mov(rax, reinterpret_cast<uint64_t>(function));
    as_.call(rax);
    if (kept.size() % 2 == 0) as_.add(rsp, 8);
    for (size_t i = kept.size(); i-- > 0;) as_.pop(kept.begin()[i]);
  };
  // Two fields were the only holders of one object, or another thread has given its hold back.
  as_.L(zero);
  as_.inc(dword[rax]);
  as_.test(r8, r8);
  as_.jz(first);
  call(reinterpret_cast<const void*>(&RuntimeCalls::Release), {rcx, rdi, r8, r9, r10, r11});
  as_.jmp(dropped);
  as_.L(first);
  as_.mov(r8, rax);
  as_.jmp(dropped);
  as_.L(full);
  call(reinterpret_cast<const void*>(&RuntimeCalls::Free), {r8, r11});
  as_.L(freed);
}

void NativeScheduledMaker::EmitMemoryStubs() {
  for (uint32_t fields = 1; fields <= kFewFields; ++fields) {
    EmitAllocate(fields);
    EmitFree(fields);
  }
  EmitDropStub();
  EmitFreeCellStub();
}

}  // namespace df::tagged
