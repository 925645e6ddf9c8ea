// Native code of a whole program: its memory, and how one gets in and out.
#include <cstddef>

#include "runtime/tagged_native_maker.h"

namespace df::tagged {

using namespace Xbyak::util;

namespace {

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
  as.mov(ptr[r12 + offsetof(NativeRun, slots)], rbx);
  as.mov(ptr[r12 + offsetof(NativeRun, budget)], r13);
  as.mov(ptr[r12 + offsetof(NativeRun, frames)], r15);
  for (size_t i = std::size(kept); i-- > 0;) as.pop(kept[i]);
  as.ret();
}

}  // namespace

void MakeNative(Program& program, llvm::function_ref<void()> pause) {
  DirectCode& direct = program.direct;
  size_t count = direct.code.size() - direct.first_word;
  if (count == 0) return;
  try {
    auto native = std::make_shared<NativeProgram>();
    native->assembler.setDefaultJmpNEAR(true);
    native->begins.resize(program.scopes.size());
    native->entries.resize(count);
    EmitFrame(*native);
    for (const ScopeCode& scope : program.scopes) {
      if (!scope.words) continue;
      NativeMaker(program, scope, *native).Run();
      pause();
    }
    native->assembler.readyRE();
    auto made = std::make_shared<NativeCode>();
    made->base_ = native->assembler.getCode();
    made->enter_ = native->assembler.getCode<void (*)(NativeRun*, const void*)>();
    made->first_ = direct.code.data() + direct.first_word;
    made->entries_ = std::move(native->entries);
    // A result goes on where the GotWord that it is for says.
    for (auto [got, offset] : native->results) direct.code[direct.first_word + got].imm = reinterpret_cast<int64_t>(made->base_ + offset);
    made->owner_ = std::move(native);
    program.native = std::move(made);
  } catch (const Xbyak::Error&) {
    // The interpreter does without: memory that can be executed is not to be had everywhere.
  }
}

}  // namespace df::tagged
