// runtime/engines/tagged/x86/scheduled.h
//
// The machine code of all scheduled code. Private to this room.
//
// Every value is in its slot and every state where the interpreter has it, at each instruction: so one can enter and leave between any
// two, but between a Call and its Enter, where the callee's frame is in a register only. What is rare stands behind a scope's code.
//
// rbx: the frame's slots; rbp: those of the callee that gets its arguments; r12: the NativeRun; r13: the budget; r14: free lists of
// frames; r15: frames made less frames given back. All others are free for each instruction.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "runtime/engines/tagged/x86/runtime_calls.h"
#include "runtime/engines/tagged/x86/slots.h"
#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

class NativeScheduledMaker : private NativeSlots {
 public:
  NativeScheduledMaker(Program& p, NativeProgram& native);
  // Of `most` instructions at most; the other scopes are for the interpreter, and these results go there.
  void Run(uint32_t most, llvm::function_ref<void()> pause);

 private:
  // What stands once in the program and is called: see RuntimeCalls.
  enum class Stub : uint8_t { Apply, ApplyMany, Defer, Fields, Construct, Delay, Capture, MoveMany, Force, Return, ReturnMany, Next,
                              GiveTag, GiveAnyTag, Order, Drop, DropTag, FreeCell, Enter, ReturnBody, Count };
  static constexpr uint32_t kFewFields = 12;  // constructors of more are made and read by RuntimeCalls
  // A field that is read, and where it goes.
  struct FieldTo {
    uint32_t field, slot;
    bool plain;
  };

  struct OutOfLine {
    Xbyak::Label label;
    enum class Kind : uint8_t { Exit, FullExit, By, OnBy, Order } kind;
    Stub stub;
    uint32_t at;
  };

  // The code of one scope.
  struct Part {
    uint32_t begin, end;
    const ScopeCode* scope;
  };

  // x86/scheduled.cpp
  std::vector<Part> Parts() const;
  void ChooseParts(std::vector<Part> parts, uint32_t most);
  uint32_t EmitLeaveResult();
  void EmitLeaveScope(const ScopeCode& scope);
  void EmitStubs();
  void EmitScope(const ScopeCode& scope, uint32_t begin, uint32_t end);
  void EmitUnboxedEntry(const ScopeCode& scope);
  void Emit(uint32_t at);
  void EmitOutOfLine();

  // x86/scheduled_calls.cpp
  void EmitCall(uint32_t at);
  void EmitArgument(uint32_t at);
  void EmitEnter(uint32_t at);
  void EmitGot(uint32_t at);
  void EmitReturn(uint32_t at);
  void EmitNext(uint32_t at);
  void EmitForgetTag();
  void EmitMoveMany(uint32_t at);

  // x86/scheduled_data.cpp
  void EmitFields(uint32_t at);
  uint32_t FieldsOf(uint32_t at, uint32_t constructor) const;
  void EmitFieldPlain(uint32_t at);
  void EmitConstruct(uint32_t at);
  void EmitOperand(uint32_t operand, int at);
  void EmitMatch(uint32_t at);
  void LockIfShared();
  void Retain(const Xbyak::Reg64& object);
  void Drop(const Xbyak::Reg64& object);
  void RetainIn(uint32_t slot);
  void ReleaseIn(uint32_t slot);
  void EmitHeldBy(uint32_t field, const Xbyak::Label& other);
  void JumpUnlessFull(const Xbyak::Reg64& object, const Xbyak::Reg64& aside, const Xbyak::Label& to);

  // x86/scheduled_memory.cpp
  void EmitTakeBlock(uint32_t bytes, const Xbyak::Label& slow);
  void EmitAllocate(uint32_t fields);
  void EmitFree(uint32_t fields);
  void EmitGiveCell();
  void EmitFreeCellStub();
  void EmitDropStub();
  void EmitDropData(const Xbyak::Label& other);
  void EmitMemoryStubs();
  // Of memory::SmallBlocks, where the free blocks of a size are.
  static constexpr int BlocksAt(size_t bytes) { return static_cast<int>((bytes + 7) / 8 * sizeof(memory::FreeBlocks)); }

  // x86/scheduled_tags.cpp
  void EmitGiveTagStub();
  void EmitDropTagStub();

  // x86/scheduled_force.cpp
  void EmitForce(uint32_t at);
  void EmitDelay(uint32_t at);
  void EmitForceStubs();
  void EmitEnterStub();
  void EmitReturnBodyStub();
  void EmitBody(uint32_t site);
  void JumpIfLocked(const Xbyak::Reg64& cell, const Xbyak::Reg64& aside, uint32_t to);
  void EmitReturnBody(uint32_t at);

  // NativeSlots: what the kernels do, by Apply, and else the interpreter.
  const Xbyak::Label& LargeAt(uint32_t at) override { return By(Stub::Apply, at); }
  const Xbyak::Label& LargeBranchAt(uint32_t at) override { return Behind(OutOfLine::Kind::Order, Stub::Order, at); }
  const Xbyak::Label& OverflowAt(uint32_t at) override { return By(Stub::Apply, at); }
  const Xbyak::Label& FailureAt(uint32_t at) override { return Behind(OutOfLine::Kind::Exit, Stub::Count, at); }

  // What stands behind the scope's code.
  const Xbyak::Label& Behind(OutOfLine::Kind kind, Stub stub, uint32_t at);
  // The stub does the instruction, and the code goes on behind it; 0: native code is left.
  const Xbyak::Label& By(Stub stub, uint32_t at) { return Behind(OutOfLine::Kind::By, stub, at); }
  // The stub says where to go on.
  const Xbyak::Label& OnBy(Stub stub, uint32_t at) { return Behind(OutOfLine::Kind::OnBy, stub, at); }
  const Xbyak::Label& FullExit(uint32_t at) { return Behind(OutOfLine::Kind::FullExit, Stub::Count, at); }
  // Here.
  void CallStub(Stub stub, uint32_t at);
  void Exit(uint32_t at, bool full);
  uint32_t OffsetOf(Stub stub) const { return stubs_[static_cast<size_t>(stub)]; }
  void BeginStub(Stub stub) { stubs_[static_cast<size_t>(stub)] = static_cast<uint32_t>(as_.getSize()); }
  void GoToScope(const ScopeCode& scope);            // to its beginning
  void SetResume(uint32_t at);

  Xbyak::Address Slot(uint32_t slot) const override { return Xbyak::util::qword[Xbyak::util::rbx + SlotAt(slot)]; }
  Xbyak::Address State(uint32_t slot) const override { return Xbyak::util::byte[Xbyak::util::rbx + SlotAt(scope_->num_slots) + static_cast<int>(slot)]; }
  Xbyak::Address Constants() const override { return Xbyak::util::qword[Xbyak::util::r12 + RunAt(offsetof(NativeRun, constants))]; }
  Xbyak::Address There(uint32_t slot) const { return Xbyak::util::qword[Xbyak::util::rbp + SlotAt(slot)]; }
  Xbyak::Address StateThere(uint32_t slot) const { return Xbyak::util::byte[Xbyak::util::rbp + SlotAt(callee_->num_slots) + static_cast<int>(slot)]; }
  static int RunAt(size_t field) { return static_cast<int>(field); }

  Program& p_;
  NativeProgram& native_;
  const ScopeCode* scope_ = nullptr;
  const ScopeCode* callee_ = nullptr;   // between a Call and its Enter
  std::array<uint32_t, static_cast<size_t>(Stub::Count)> stubs_{};  // offsets
  std::array<uint32_t, kFewFields + 1> allocate_{}, free_{};        // likewise, by number of fields
  std::vector<uint32_t> begin_;         // offsets, by scope
  std::vector<bool> made_;              // likewise: whether it is machine code
  std::vector<std::pair<uint32_t, uint32_t>> begin_jumps_;  // offset of a displacement; index of a scope
  std::deque<OutOfLine> out_of_line_;
};

}  // namespace df::tagged
