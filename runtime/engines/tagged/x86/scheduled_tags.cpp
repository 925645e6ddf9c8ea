// Scheduled code -> machine code: the tags of frames (runtime/run/bounded_tag.h), as TagOf and DropTag.
#include "runtime/engines/tagged/x86/layout.h"
#include "runtime/engines/tagged/x86/scheduled.h"

namespace df::tagged {

using Xbyak::CodeGenerator;
using namespace Xbyak::util;

namespace {

constexpr int kRefs = offsetof(TagNode, refs), kLandmark = offsetof(TagNode, is_landmark), kRun = offsetof(TagNode, run),
              kId = offsetof(TagNode, label) + offsetof(Label, id), kLoop = offsetof(TagNode, label) + offsetof(Label, loop),
              kIteration = offsetof(TagNode, label) + offsetof(Label, iteration), kDepth = offsetof(TagNode, depth),
              kParent = offsetof(TagNode, parent);
static_assert(kRefs == 0 && kLandmark == 4 && kRun == 6 && kLoop == kId + 4 && kIteration == kId + 8);

}  // namespace

// The frame, which has none, gets a node for its tag, and so do the frames around it up to one that has: a few, and none that runs unboxed
// code, in which an inlined activation has labels too. rsi: an instruction of the frame, for RuntimeCalls::GiveTag, which does all else.
// Called like that.
void NativeScheduledMaker::EmitGiveTagStub() {
  constexpr uint32_t kMostUp = 8;
  BeginStub(Stub::GiveTag);
  if (kCountsAlive) return JumpAt(OffsetOf(Stub::GiveAnyTag));
  Xbyak::Label up, around, outermost, label, plain, empty, fresh, longer, give, done, other;
  // On the stack, from here on: frames within rbx, as many as ebp says.
  as_.push(rsi);
  as_.push(rbp);
  as_.push(rbx);
  as_.xor_(ebp, ebp);
  as_.L(up);
  as_.mov(rdx, ptr[rbx + frame_at::kParent]);
  as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kTagParent));
  as_.jnz(label);
  as_.test(rdx, rdx);
  as_.jz(other, CodeGenerator::T_NEAR);
  as_.mov(rcx, ptr[rdx + offsetof(Frame, site)]);
  as_.cmp(byte[rcx + static_cast<int>(offsetof(SiteCode, type))], static_cast<uint32_t>(SiteType::Root));
  as_.je(outermost);
  as_.mov(rcx, ptr[rcx + static_cast<int>(offsetof(SiteCode, callee))]);
  as_.cmp(byte[rcx + static_cast<int>(offsetof(ScopeCode, tags_apart))], 0);
  as_.jne(other, CodeGenerator::T_NEAR);
  as_.test(dword[rdx + offsetof(Frame, flags_and_words)], static_cast<uint32_t>(kHasTag));
  as_.jz(around);
  as_.mov(rdx, ptr[rdx + offsetof(Frame, tag)]);
  as_.jmp(label);
  as_.L(around);
  as_.cmp(ebp, kMostUp);
  as_.je(other, CodeGenerator::T_NEAR);
  as_.push(rbx);
  as_.inc(ebp);
  as_.lea(rbx, ptr[rdx + sizeof(Frame)]);
  as_.jmp(up);
  as_.L(outermost);
  as_.xor_(edx, edx);
  // rdx: the tag around the frame in rbx; r9: the label but for its iteration, which is in r11; rdi: the depth; r10: the length of its run.
  as_.L(label);
  as_.mov(r8, ptr[rbx + frame_at::kSite]);
  as_.mov(r9d, dword[r8 + static_cast<int>(offsetof(SiteCode, label))]);
  as_.xor_(r11d, r11d);
  as_.cmp(byte[r8 + static_cast<int>(offsetof(SiteCode, type))], static_cast<uint32_t>(SiteType::Loop));
  as_.jne(plain);
  as_.bts(r9, 32);
  as_.mov(rcx, ptr[r8 + static_cast<int>(offsetof(SiteCode, callee))]);
  as_.mov(ecx, dword[rcx + static_cast<int>(offsetof(ScopeCode, iteration_slot))]);
  as_.mov(r11, ptr[rbx + rcx * 8]);
  as_.L(plain);
  as_.xor_(edi, edi);
  as_.test(rdx, rdx);
  as_.jz(empty);
  as_.mov(rdi, ptr[rdx + kDepth]);
  as_.L(empty);
  as_.inc(rdi);
  static_assert((kLandmarkPeriod & (kLandmarkPeriod - 1)) == 0);
  as_.test(edi, static_cast<uint32_t>(kLandmarkPeriod - 1));
  as_.jz(other, CodeGenerator::T_NEAR);
  // ContinuesRun
  as_.mov(r10d, 1);
  as_.test(rdx, rdx);
  as_.jz(fresh);
  as_.bt(r9, 32);
  as_.jc(fresh);
  as_.cmp(dword[rdx + kId], r9d);
  as_.jne(fresh);
  as_.cmp(byte[rdx + kLoop], 0);
  as_.jne(fresh);
  as_.cmp(word[rdx + kLandmark], 0);
  as_.jne(fresh);
  as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kTagParent));
  as_.jz(longer);
  as_.cmp(dword[rdx], 1);
  as_.jne(longer);
  // Of a delayed body, in the place of what its Delay had: one holder more, of two.
  as_.mov(dword[rdx], 2);
  as_.inc(word[rdx + kRun]);
  as_.mov(ptr[rdx + kDepth], rdi);
  as_.mov(rax, rdx);
  as_.jmp(give, CodeGenerator::T_NEAR);
  as_.L(longer);
  as_.movzx(r10d, word[rdx + kRun]);
  as_.inc(r10d);
  as_.mov(rdx, ptr[rdx + kParent]);
  as_.L(fresh);
  as_.mov(r8, rdx);
  EmitTakeBlock(sizeof(TagNode), other);
  as_.shl(r10, 48);
  as_.or_(r10, 1);
  as_.mov(ptr[rax], r10);
  as_.mov(ptr[rax + kId], r9);
  as_.mov(ptr[rax + kIteration], r11);
  as_.mov(ptr[rax + kDepth], rdi);
  as_.mov(ptr[rax + kParent], r8);
  as_.test(r8, r8);
  as_.jz(give);
  Retain(r8);
  as_.L(give);
  as_.mov(ptr[rbx + frame_at::kTag], rax);
  as_.or_(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kHasTag));
  as_.test(ebp, ebp);
  as_.jz(done);
  as_.dec(ebp);
  as_.pop(rbx);
  as_.mov(rdx, rax);
  as_.jmp(label, CodeGenerator::T_NEAR);
  as_.L(done);
  as_.pop(rbx);
  as_.pop(rbp);
  as_.pop(rsi);
  as_.test(rax, rax);
  as_.ret();
  // What has a node by now keeps it.
  as_.L(other);
  as_.lea(rsp, ptr[rsp + rbp * 8]);
  as_.pop(rbx);
  as_.pop(rbp);
  as_.pop(rsi);
  JumpAt(OffsetOf(Stub::GiveAnyTag));
}

// r9: a tag, of which one count is given back, or null. Changes r9 and r11 only, as EmitReturnBodyStub has it.
void NativeScheduledMaker::EmitDropTagStub() {
  BeginStub(Stub::DropTag);
  Xbyak::Label again, last, none, call, full;
  as_.L(again);
  as_.test(r9, r9);
  as_.jz(none);
  as_.cmp(dword[r9], 1);
  as_.je(last);
  Drop(r9);
  as_.jnz(none, CodeGenerator::T_SHORT);
  as_.mov(dword[r9], 1);
  as_.jmp(last, CodeGenerator::T_SHORT);
  as_.L(none);
  as_.ret();
  as_.L(last);
  if (!kCountsAlive) {
    constexpr int kCount = offsetof(memory::FreeBlocks, count);
    int blocks = BlocksAt(sizeof(TagNode));
    as_.cmp(word[r9 + kLandmark], 0);
    as_.jne(call, CodeGenerator::T_NEAR);
    as_.push(rax);
    as_.mov(r11, ptr[r12 + RunAt(offsetof(NativeRun, blocks))]);
    as_.mov(eax, dword[r11 + blocks + kCount]);
    as_.cmp(eax, memory::FreeBlocks::kMost);
    as_.je(full, CodeGenerator::T_NEAR);
    as_.mov(ptr[r11 + rax * 8 + blocks + static_cast<int>(offsetof(memory::FreeBlocks, blocks))], r9);
    as_.inc(eax);
    as_.mov(dword[r11 + blocks + kCount], eax);
    as_.pop(rax);
    as_.mov(r11, ptr[r12 + RunAt(offsetof(NativeRun, counters))]);
    as_.sub(qword[r11 + static_cast<int>(offsetof(memory::Counters, current))], sizeof(TagNode));
    as_.mov(r9, ptr[r9 + kParent]);
    as_.jmp(again, CodeGenerator::T_NEAR);
    as_.L(full);
    as_.pop(rax);
  }
  as_.L(call);
  const Xbyak::Reg64 kept[] = {rax, rcx, rdx, rsi, rdi, r8, r10};
  for (const Xbyak::Reg64& each : kept) as_.push(each);
  as_.sub(rsp, 8);
  as_.mov(rsi, r9);
  as_.mov(rdi, r12);
  as_.mov(rax, reinterpret_cast<uint64_t>(&RuntimeCalls::DropTag));
  as_.call(rax);
  as_.add(rsp, 8);
  for (size_t i = std::size(kept); i-- > 0;) as_.pop(kept[i]);
  as_.ret();
}

}  // namespace df::tagged
