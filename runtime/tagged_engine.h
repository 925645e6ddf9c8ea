// runtime/tagged_engine.h
//
// The tagged engine on one thread. Private to the engine; runtime/engine.h makes one. docs/tagged-engine.md has the
// invariants that the comments below refer to by number.
#pragma once

#include <chrono>
#include <unordered_map>

#include "runtime/engine_run.h"
#include "runtime/tagged_code.h"
#include "runtime/tagged_frame.h"

namespace df::tagged {

class TaggedExecution;

// A Force that waits for a cell.
struct Waiter {
  Frame* frame;   // one ref
  uint32_t pc;    // its Wait
};

// A delayed call under one tag: what its reference refers to.
struct DelayCell : Cell {
  enum class State : uint8_t { Kept, Released, Running, Full };
  State state = State::Kept;
  TaggedExecution* owner;
  const SiteCode* site;
  Frame* home;                // of the Delay, one pin; until the body's frame is made
  Frame* body = nullptr;      // until it is finished
  uint32_t missing;           // operands that have not come; while there are any, `home` has a ref for this
  uint32_t arrived = 0;       // how many have come
  std::vector<Value, memory::Allocator<Value>> kept;  // by delivery
  std::vector<bool> has;      // by delivery
  Value value;                // Full
  std::vector<Waiter, memory::Allocator<Waiter>> waiters;
  DelayCell* next = nullptr;  // all that are alive
  DelayCell* previous = nullptr;

  DelayCell(TaggedExecution* o, const SiteCode* s, Frame* h);
  ~DelayCell() override;
  void CollectChildren(std::vector<Value>& out) override;
};

// The activation in which an error arose: one pin on its frame.
struct FrameTag : Cell {
  TaggedExecution* owner;
  Frame* frame;
  FrameTag(TaggedExecution* o, Frame* f);
  ~FrameTag() override;
};

class TaggedExecution : public EngineRun {
 public:
  TaggedExecution(const ir::Graph& graph, const RunOptions& run, const Options& options);
  ~TaggedExecution() override;

  Outcome Start(llvm::ArrayRef<Value> inputs) override;
  Outcome Force(Value& value) override;
  Stats stats() const override;

  const Program& program() const { return program_; }
  uint64_t live_frames() const { return pool_.live(); }

 private:
  friend struct DelayCell;
  friend struct FrameTag;

  // Work that is ready: the tail at `pc` of `frame`, or its ready regions if that is kNone, one ref; or a cell to be
  // started, one count.
  struct Item {
    Frame* frame;
    DelayCell* cell;
    uint32_t pc;
  };

  // tagged_engine.cpp: the run as a whole
  Outcome Run(const DelayCell* goal);
  void Where(RuntimeError& error) const override;
  uint64_t live() const override { return pool_.live(); }
  void Step();
  std::string Leftovers();
  void StepCheck();
  bool Reached(const DelayCell* goal) const { return goal ? goal->state == DelayCell::State::Full : missing_ == 0; }

  // tagged_frames.cpp: frames and their lifetime
  Frame* NewFrame(const SiteCode* site, Frame* parent);
  void Unref(Frame* frame) {
    if (--frame->refs == 0) Finish(frame);
  }
  void Finish(Frame* frame);
  void Unpin(Frame* frame);
  void FreeFrame(Frame* frame);
  void ReleaseValues(Frame* frame);
  void DrainUnpins();
  void Push(Frame* frame, uint32_t pc) {
    ++frame->refs;
    stack_.push_back({frame, nullptr, pc});
  }
  void SetReady(Frame* frame, uint32_t region) {
    frame->ready()[region / 8] |= static_cast<uint8_t>(1u << region % 8);
    if (frame->flags & kQueued) return;
    frame->flags |= kQueued;
    Push(frame, kNone);
  }
  void Fire(Frame* frame, uint32_t event);

  // An operand: a slot, or a constant.
  Value Read(Frame* frame, uint32_t operand) {
    return IsConstant(operand) ? program_.constants[operand & ~kConstant] : frame->Get(operand);
  }
  ValueKind KindOf(Frame* frame, uint32_t operand) const {
    return IsConstant(operand) ? program_.constants[operand & ~kConstant].kind() : frame->KindOf(operand);
  }
  int64_t WordOf(Frame* frame, uint32_t operand) const {
    return IsConstant(operand) ? program_.constants[operand & ~kConstant].word()
                               : static_cast<int64_t>(frame->slots()[operand]);
  }

  // tagged_step.cpp: one instruction after another, with every slot's state looked at
  // From the region at `pc`, if that is not kNone, which is taken to be ready too.
  void RunReady(Frame* frame, uint32_t pc = kNone);
  void PushTails(Frame* frame, size_t base);
  uint32_t RunRegion(Frame* frame, uint32_t pc);
  void RunTail(Frame* frame, uint32_t pc);
  void RunOp(Frame* frame, const Instr& in, ir::NodeId node);
  void RunConstruct(Frame* frame, const Instr& in, ir::NodeId node);
  void RunBranch(Frame* frame, const Instr& in);
  void RunResult(ir::NodeId node, Value value);
  Value MakeError(Frame* frame, ir::NodeId node, KernelError error);

  // tagged_fast.cpp: plain words
  const FastInstr* FastEntry(const Item& item);
  const FastInstr* FastReturn(Frame* parent, const ReturnTo& to, uint64_t value);
  void RunFast(Frame* frame, const FastInstr* ip);

  // tagged_calls.cpp: what goes from frame to frame
  void Call(Frame* frame, const SiteCode& site);
  void CallLate(Frame* frame, const SiteCode& site, uint32_t index);
  void Next(Frame* frame, const SiteCode& site);
  void NextLate(Frame* frame, const SiteCode& site, uint32_t index);
  void Deliver(Frame* to, const Delivery& delivery, Value value);
  void SendResult(Frame* frame, uint32_t result, Value value);
  void MakeCell(Frame* frame, const Instr& in);
  void CellOperand(Frame* frame, const SiteCode& site, uint32_t cell_slot, uint32_t index, uint32_t from);
  bool IsReady(const DelayCell* cell) const;
  void Enter(Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries);
  bool TryForce(Frame* frame, const Instr& in, ir::NodeId node);
  void Wait(Frame* frame, uint32_t pc);
  void StartCell(DelayCell* cell);
  void FillCell(Frame* body, Value value);
  Frame* FindScope(Frame* frame, ir::ScopeId scope) const;
  void ReadOuter(Frame* frame, uint32_t pc);
  void GiveOuter(Frame* frame, uint32_t pc, Value value);
  void AnswerOuters(Frame* frame, uint32_t row);

  // tagged_errors.cpp: errors overtake what other operands are waited for
  bool IsAvailable(Frame* frame, ir::Edge edge) const;
  bool Chosen(Frame* frame, ir::Edge predicate, uint32_t* side) const;
  void PassError(Frame* frame, ir::Edge edge);
  void PassErrorToUser(Frame* frame, ir::Edge use, const Value& error, std::vector<ir::Edge>& todo);
  void PassSwitches(Frame* frame, const Branch& branch, uint32_t side);

  // tagged_trace.cpp
  void Trace(Frame* frame, ir::NodeId node, uint32_t result_slot);

  uint32_t SlotOf(ir::Edge edge) const { return program_.slot_of[program_.RowOf(edge)]; }

  Options options_;
  Program program_;
  std::string refused_;  // why the graph cannot be run
  FramePool pool_;
  std::vector<Item, memory::Allocator<Item>> stack_;
  std::vector<bool> have_;
  uint32_t missing_ = 0;
  Frame* root_ = nullptr;
  DelayCell* cells_ = nullptr;
  std::vector<Frame*> unpins_;  // pins that values gave back while they were destroyed
  struct OuterWaiter {
    Frame* frame;  // one ref
    uint32_t pc;
  };
  std::unordered_map<Frame*, std::vector<std::pair<uint32_t, OuterWaiter>>> outer_waiters_;  // by row
  std::vector<Value> operands_;
  std::vector<uint32_t> tails_;  // of the frame whose regions run
  uint32_t budget_ = 0;
  bool slow_next_ = false;  // the entry on top of the stack is one that the fast code gave up
  Frame* now_ = nullptr;  // whose code runs
  ir::NodeId now_node_;
};

}  // namespace df::tagged
