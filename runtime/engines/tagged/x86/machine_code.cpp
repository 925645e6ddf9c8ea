// Native code of a whole program: its memory, and how one gets in and out.
#include <cstddef>
#include <cstring>

#include "llvm/Support/ErrorHandling.h"
#include "runtime/engines/tagged/x86/frameless.h"
#include "runtime/engines/tagged/x86/scheduled.h"
#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

using namespace Xbyak::util;

namespace {

// Native code knows how a Value is laid out: its kind, then after 8 bytes its bits.
bool AreValuesAsExpected() {
  alignas(Value) unsigned char bytes[sizeof(Value)] = {};
  const Value* made = ::new (bytes) Value(Value::Adopt(ValueKind::Dead, reinterpret_cast<Object*>(uint64_t{0x0123456789abcdef})));
  uint64_t bits;
  std::memcpy(&bits, bytes + 8, sizeof bits);
  return bytes[0] == static_cast<unsigned char>(made->kind()) && bits == 0x0123456789abcdef;
}

// Called from C++ with the NativeRun and an entry.
void EmitFrame(NativeProgram& native) {
  Xbyak::CodeGenerator& as = native.assembler;
  const Xbyak::Reg64 kept[] = {rbx, rbp, r12, r13, r14, r15};
  for (const Xbyak::Reg64& each : kept) as.push(each);
  as.mov(r12, rdi);
  as.mov(rbx, ptr[r12 + offsetof(NativeRun, slots)]);
  as.mov(r13, ptr[r12 + offsetof(NativeRun, budget)]);
  as.mov(r14, ptr[r12 + offsetof(NativeRun, free_lists)]);
  as.xor_(r15d, r15d);
  as.jmp(rsi);
  as.L(native.leave);
  as.mov(ptr[r12 + offsetof(NativeRun, at)], rax);
  native.left = static_cast<uint32_t>(as.getSize());
  as.mov(ptr[r12 + offsetof(NativeRun, slots)], rbx);
  as.mov(ptr[r12 + offsetof(NativeRun, budget)], r13);
  as.mov(ptr[r12 + offsetof(NativeRun, frames)], r15);
  for (size_t i = std::size(kept); i-- > 0;) as.pop(kept[i]);
  as.ret();
}

}  // namespace

void EmitCallee(Xbyak::CodeGenerator& as, const SiteCode& site, uint32_t deeper) {
  const ScopeCode& callee = *site.callee;
  as.mov(rcx, ptr[rax]);
  as.mov(ptr[r14 + static_cast<int>(FramePool::ListOf(callee.frame_bytes) * sizeof(Frame*))], rcx);
  as.lea(rcx, ptr[rbx + frame_at::kStart]);
  as.mov(ptr[rax + offsetof(Frame, parent)], rcx);
  as.mov(rcx, reinterpret_cast<uint64_t>(&site));
  as.mov(ptr[rax + offsetof(Frame, site)], rcx);
  as.mov(rcx, HeadOf(kLive | kScheduled | kScheduledCaller, callee.num_slots));
  as.mov(ptr[rax + offsetof(Frame, refs)], rcx);
  as.mov(ecx, dword[rbx + frame_at::kDepth]);
  as.add(ecx, deeper);
  as.mov(dword[rax + offsetof(Frame, depth)], ecx);
  as.inc(r15);
}

void EmitFreeFrame(Xbyak::CodeGenerator& as, uint32_t list) {
  int at = static_cast<int>(list * sizeof(Frame*));
  as.mov(rsi, ptr[r14 + at]);
  as.mov(dword[rbx + frame_at::kFlags], 0);
  as.mov(ptr[rbx + frame_at::kParent], rsi);
  as.lea(rsi, ptr[rbx + frame_at::kStart]);
  as.mov(ptr[r14 + at], rsi);
  as.dec(r15);
}

void MakeNative(Program& program, uint32_t most, llvm::function_ref<void()> pause);

void MakeNative(Program& program, uint32_t most, llvm::function_ref<void()> pause) {
  ScheduledCode& scheduled = program.scheduled;
  if (scheduled.code.empty() || !AreValuesAsExpected()) return;
  try {
    auto native = std::make_shared<NativeProgram>();
    native->assembler.setDefaultJmpNEAR(true);
    native->begins.resize(program.scopes.size());
    native->entries.resize(scheduled.code.size());
    EmitFrame(*native);
    for (ScopeCode& scope : program.scopes) scope.tags_apart = scope.unboxed || scope.continued;
    NativeScheduledMaker(program, *native).Run(most, pause);
    NativeFramelessMaker(program, *native).Run(most, pause);
    for (const ScopeCode& scope : program.scopes) {
      if (!scope.unboxed) continue;
      NativeUnboxedMaker(program, scope, *native).Run();
      pause();
    }
    native->assembler.readyRE();
    auto made = std::make_shared<NativeCode>();
    made->base_ = native->assembler.getCode();
    made->enter_ = native->assembler.getCode<void (*)(NativeRun*, const void*)>();
    made->first_ = scheduled.code.data();
    made->entries_ = std::move(native->entries);
    made->left_ = native->left;
    made->enter_frameless_ = reinterpret_cast<void (*)(FramelessRun*, const void*)>(reinterpret_cast<uintptr_t>(made->base_ + native->enter_frameless));
    made->first_frameless_ = program.frameless.code.data();
    made->frameless_entries_ = std::move(native->frameless_entries);
    // A result goes on where the instruction behind the call says.
    for (auto [got, offset] : native->results) scheduled.code[got].imm = reinterpret_cast<int64_t>(made->base_ + offset);
    for (auto [site, offset] : native->bodies) program.sites[site].native_body = made->base_ + offset;
    made->owner_ = std::move(native);
    program.native = std::move(made);
  } catch (const Xbyak::Error& error) {
    // The interpreters do without: memory that can be executed is not to be had everywhere. Other errors are ours.
#ifdef DFC_VERIFY
    if (int code = error; code != Xbyak::ERR_CANT_ALLOC && code != Xbyak::ERR_CANT_PROTECT) llvm::report_fatal_error(error.what());
#else
    static_cast<void>(error);
#endif
  }
}

}  // namespace df::tagged

// Nothing names this room: the linker is told to want it (CMakeLists.txt).
extern "C" {
extern const bool dfc_machine_code;
const bool dfc_machine_code = (df::tagged::make_native = &df::tagged::MakeNative, true);
}
