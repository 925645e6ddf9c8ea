// runtime/engines/tagged/exec/worker.h
//
// What one thread of the tagged engine has and does: its stack of ready work, its frames, its statistics. Private to the
// engine; docs/tagged-engine.md has the invariants that the comments below refer to by number.
//
// A frame belongs to the worker that made it, and nobody else touches it. What workers share is in TaggedExecution, and the
// values: docs/parallel.md.
#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "runtime/engines/tagged/code/cell.h"
#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/exec/mailbox.h"
#include "runtime/run/engine_run.h"

namespace df::tagged {

class Team;
class TaggedExecution;
struct Ahead;

// Ends a worker that is not the first, because the run is over.
struct Ending {};

// A Force that waits for a cell.
struct Waiter {
  Frame* frame;   // one ref
  uint32_t pc;    // its Wait; kNone: it waits in direct code
};

class Worker {
 public:
  // The worker `index` of its run; 0 is the thread that began it.
  Worker(TaggedExecution& execution, uint32_t index);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

 private:
  friend class TaggedExecution;
  friend void df::FreeDelay(Object* object, DeadObjects& dead);
  friend class Team;
  friend struct Ahead;
  friend struct NativeHelp;

  static constexpr uint32_t kStepsPerCheck = 1024;
  static constexpr uint32_t kChecksBeforeTeam = 256;  // a run of less than some milliseconds starts no threads

  // What a helper was releasing when the run ended, once.
  struct Unreleased : DeadObjects::Watch {
    explicit Unreleased(const Worker& w) : worker(w) {}
    bool Take(DeadObjects& left) override;
    const Worker& worker;
    DeadObjects kept;
    bool has_kept = false;
  };

  // Work that is ready: the tail at `pc` of `frame`, or its ready regions if that is kNone, one ref; or a cell to be
  // started, one count.
  struct Item {
    Frame* frame;
    DelayCell* cell;
    uint32_t pc;
  };

  // exec/worker.cpp: taking up one thing after the other
  void Link();
  void Step();
  void StepCheck();
  void Where(RuntimeError& error);
  // Where a run that a limit ends was: null: nowhere, or at the cell on top of the stack.
  void StandAt(Frame* frame) {
    now_ = frame;
    now_pc_ = kNone;
  }
  std::string Leftovers(const Frame* root);
  void GiveUpValues(DeadObjects& dead);
  void GiveUpCells(DeadObjects& dead);

  // exec/frames.cpp: frames and their lifetime
  Frame* NewFrame(const SiteCode* site, Frame* parent);
  void Unref(Frame* frame) {
    if (--frame->refs == 0) Finish(frame);
  }
  void Finish(Frame* frame);
  void Unpin(Frame* frame);
  void FreeFrame(Frame* frame);
  void ReleaseValues(Frame* frame);
  void DrainUnpins();
  void GiveBackChunks();
  void Push(Frame* frame, uint32_t pc) {
    ++frame->refs;
    stack_.push_back({frame, nullptr, pc});
  }
  void SetReady(Frame* frame, uint32_t region) {
    first_ready_ = std::min(first_ready_, frame->scope().ready_offset + region / 8);
    frame->ready()[region / 8] |= static_cast<uint8_t>(1u << region % 8);
    if (frame->flags & kQueued) return;
    frame->flags |= kQueued;
    Push(frame, kNone);
  }
  // An event happens: what waited for nothing else is ready.
  void Fire(Frame* frame, uint32_t event) {
    const ScopeCode& scope = frame->scope();
    const Event& e = scope.events[event];
    const Target* target = scope.targets.data() + e.first_target;
    uint8_t* bytes = frame->bytes();
    for (const Target* end = target + e.num_targets; target != end; ++target) {
      if (target->mask != kNone && (bytes[target->mask_at] &= static_cast<uint8_t>(~target->bit)) != 0) continue;
      bytes[target->ready_at] |= target->ready_bit;
      first_ready_ = std::min<uint32_t>(first_ready_, target->ready_at);
      if (frame->flags & kQueued) continue;
      frame->flags |= kQueued;
      Push(frame, kNone);
    }
  }

  // An operand: a slot, or a constant.
  Value Read(Frame* frame, uint32_t operand) {
    return IsConstant(operand) ? program_.constants[operand & ~kConstant] : frame->Get(operand);
  }
  // An operand that nobody looks at any more if this is its last use: then the slot stays present, and holds no value. An
  // error stays, because it may overtake elsewhere.
  Value Use(Frame* frame, uint32_t operand, bool last) {
    if (IsConstant(operand)) return program_.constants[operand & ~kConstant];
    if (!last || frame->KindOf(operand) == ValueKind::Error) return frame->Get(operand);
    return frame->MoveOut(operand);
  }
  // Slot `slot` of `to`, which is empty, gets an operand of `frame`.
  void Pass(Frame* frame, uint32_t operand, bool last, Frame* to, uint32_t slot) {
    if (!IsConstant(operand) && frame->KindOf(operand) == ValueKind::Word) {
      to->slots()[slot] = frame->slots()[operand];
      to->states()[slot] = kPresent;
    } else {
      to->Set(slot, Use(frame, operand, last));
    }
  }
  ValueKind KindOf(Frame* frame, uint32_t operand) const {
    return IsConstant(operand) ? program_.constants[operand & ~kConstant].kind() : frame->KindOf(operand);
  }
  int64_t WordOf(Frame* frame, uint32_t operand) const {
    return IsConstant(operand) ? program_.constants[operand & ~kConstant].word()
                               : static_cast<int64_t>(frame->slots()[operand]);
  }

  // exec/event_interpreter.cpp: one instruction after another, with every slot's state looked at
  // From the region at `pc`, if that is not kNone, which is taken to be ready too.
  void RunReady(Frame* frame, uint32_t pc = kNone);
  void PushTails(Frame* frame, size_t base);
  size_t OfferTails(Frame* frame, size_t base);
  uint32_t RunRegion(Frame* frame, uint32_t pc);
  bool IsLateFor(uint32_t tail, uint32_t site) const;
  void RunTail(Frame* frame, uint32_t pc);
  void RunOp(Frame* frame, const Instr& in, uint32_t pc, ir::NodeId node);
  void RunOpMany(Frame* frame, const Instr& in, uint32_t pc, ir::NodeId node);
  bool IsInRange(Frame* frame, const Instr& in, ir::NodeId node) const;
  bool RunDefer(Frame* frame, const TensorGroup& group);
  void RunAgain(Frame* frame, const TensorGroup& group);
  bool RunField(Frame* frame, const Instr& in, const OpCode& n);
  void RunConstruct(Frame* frame, const Instr& in, ir::NodeId node);
  void RunBranch(Frame* frame, const Instr& in);
  Value MakeError(Frame* frame, ir::NodeId node, KernelError error);

  // exec/scheduled_interpreter.cpp: scopes whose order of work is known
  void RunDirect(Frame* frame);
  bool ApplyDirect(uint64_t* s, uint8_t* k, const DirectInstr& in, uint32_t pc);
  bool ApplyMany(uint64_t* s, uint8_t* k, const DirectInstr& in, uint32_t pc);
  // exec/direct_steps.cpp
  bool ApplyAny(Frame* frame, uint8_t* k);
  bool DeferDirect(Frame* frame, uint8_t* k);
  void DelayDirect(Frame* frame, uint8_t* k);
  Frame* ForceDirect(Frame* frame);
  Frame* ReturnBody(Frame* frame, uint64_t value, uint8_t state);
  Frame* ReturnMany(Frame* frame);
  Frame* NextDirect(Frame* frame, uint8_t* k);
  void MoveMany(uint64_t* s, uint8_t* k, const DirectInstr& in);
  Frame* YieldDirect(Frame* frame);
  // An operand of a list: a constant, or a slot, of which it may be the last use.
  Value TakeOperand(const uint64_t* s, const uint8_t* k, uint32_t operand) const {
    if (operand & kConstant) return program_.constants[operand & ~kConstant];
    uint32_t slot = operand & kOperandIndex;
    auto kind = operand & kPlainOperand ? ValueKind::Word : static_cast<ValueKind>(k[slot] & 7);
    if (kind == ValueKind::Word) return Value::Word(static_cast<int64_t>(s[slot]));
    auto* object = reinterpret_cast<Object*>(s[slot]);
    if (!(operand & kLastOperand)) object->refs.Retain();
    return Value::Adopt(kind, object);
  }

  // exec/words.cpp, exec/words_frame.cpp: scopes that hold words alone
  Frame* RunWords(Frame* frame);
  Frame* RunNative(const NativeCode& native, const void* entry, Frame* frame, const DirectInstr** at);
  // Whether a frame that stands at Direct::Words can run word code.
  bool FitsWords(Frame* frame, const DirectInstr* entry, const uint32_t* open, const uint8_t* states) {
    for (uint32_t i = 0; i < entry->b; ++i)
      if (states[open[i]] != (kPresent | static_cast<uint8_t>(ValueKind::Word))) return false;
    if (!entry->a) return true;
    uint8_t& rest = words_rest_[frame->scope().id.index];
    return rest == 0 || --rest == 0;
  }
  Frame* Outline(Frame* frame, Frame* callee);
  void OutlineCaller(Frame* child);
  void OutlineAll();

  // exec/tail.cpp: frames that wait only to pass a result on
  const SiteCode& TakeReturnSite(Frame* frame);
  void DropTailCallers(Frame* running);

  // exec/direct_frame.cpp: from direct code to the general code and back
  const DirectState& RestoreStates(Frame* frame);
  void LeaveDirect(Frame* frame);
  const DirectState& LeaveOne(Frame* frame);
  void SendHeld(Frame* frame, const DirectState& from);
  bool LeaveAllDirect();
  bool StaysGeneral() { return general_calls_ > 0 && general_calls_-- > 0; }
  Frame* NewCallee(const SiteCode* site, Frame* frame, uint32_t deeper = 1);
  Frame* NewDirect(const SiteCode* site, Frame* parent, uint32_t depth, uint32_t flags);
  void Linger(Frame* frame);
  Frame* NextFrame(Frame* frame);
  static void Put(Frame* frame, uint32_t slot, Value value);
  bool CallIn(Frame* frame, const SiteCode& site);
  bool NextIn(Frame* frame, const SiteCode& site);
  void CallOut(Frame* frame, const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k);
  bool GiveDirect(Frame* frame, uint32_t slot, Value& value);
  void GiveTo(Frame* parent, Frame* frame, const uint32_t* list, uint32_t count);
  void StopListing(Frame* frame);
  Frame* GiveResults(Frame* frame, const uint32_t* list, uint32_t count);
  void GiveEarly(Frame* frame, const uint32_t* list, uint32_t count);
  static bool HasAllLate(Frame* frame);
  bool DeliverDirect(Frame* frame, const Delivery& delivery, Value& value);
  bool GoesDirect(DelayCell& cell) const;
  void StartBodyDirect(DelayCell* cell, Value reference, Frame* body);
  DelayCell* NewDirectCell(Frame* frame, const SiteCode* site) {
    return NewDirectCell(frame->flags & kHasTag ? frame->tag : TagOf(frame), site);
  }
  // A cell whose operands are still to be made: all are there, and none has failed.
  DelayCell* NewDirectCell(TagNode* tag, const SiteCode* site) {
    auto* cell = ::new (cells_.Take(site->cell_bytes)) DelayCell(site);
    if (site->own_place) ::new (&cell->value()) Value();
    cell->starts_direct = site->callee->direct != kNone;
    cell->tag = HoldTag(tag);
    ++live_cells_;
    ++stats_.delays;
    return cell;
  }
  // exec/eager.cpp: computes the value of a cell that could be entered without a frame. False if that cannot be done now.
  bool RunAhead(DelayCell* cell);
  bool RunAheadOfAll(DelayCell* cell);
  void CountFilled(DelayCell* cell);
  bool DelayEager(Frame* frame, const SiteCode& site, const uint32_t* operands, uint32_t slot);
  Frame* EnterBody(DelayCell* cell, Frame* waiter);
  // A cell whose body is done, that nobody else refers to.
  void FreeUnshared(DelayCell* cell) {
    Value* values = &cell->value();
    for (uint32_t i = 0, count = cell->num_values(); i < count; ++i) values[i].~Value();
    alive::Gone(alive::Kind::Delay);
    --live_cells_;
    cell->state = DelayCell::State::Free;
    cells_.Give(cell, cell->Bytes());
  }
  void WaitDirect(Frame* frame, DelayCell* cell);
  void WakeDirect(Frame* frame, const Value& value);

  // The frame goes on under another tag.
  static void ForgetTag(Frame* frame) {
    if (!(frame->flags & kHasTag)) return;
    frame->flags &= ~kHasTag;
    DropTag(frame->tag);
  }

  // exec/calls.cpp: what goes from frame to frame
  void Call(Frame* frame, const SiteCode& site);
  void CallLate(Frame* frame, const SiteCode& site, uint32_t index);
  void Next(Frame* frame, const SiteCode& site);
  void NextLate(Frame* frame, const SiteCode& site, uint32_t index);
  void Deliver(Frame* to, const Delivery& delivery, Value value);
  void Enter(Frame* frame, const SiteCode& site, llvm::ArrayRef<Delivery> deliveries);
  void SendResult(Frame* frame, uint32_t result, Value value);
  void ReturnHome(Frame* home, const ReturnTo& to, Value value);
  Frame* FindScope(Frame* frame, ir::ScopeId scope) const;
  void ReadOuter(Frame* frame, uint32_t pc);
  void GiveOuter(Frame* frame, uint32_t pc, Value value);
  void AnswerOuters(Frame* frame, uint32_t row);

  // exec/delayed_calls.cpp: delayed calls
  DelayCell* NewCell(Frame* frame, const SiteCode* site);
  void MakeCell(Frame* frame, const Instr& in);
  void CellOperand(Frame* frame, const SiteCode& site, uint32_t cell_slot, uint32_t index, Value value);
  bool IsReady(DelayCell* cell) const;
  bool TryForce(Frame* frame, const Instr& in, ir::NodeId node);
  void GiveForced(Frame* frame, const Instr& in, ir::NodeId node, Value value);
  void Wait(Frame* frame, uint32_t pc);
  bool Await(DelayCell* cell, Waiter waiter, bool* start);
  bool Release(DelayCell* cell);
  void StartCell(DelayCell* cell);
  void Fill(DelayCell* cell, Value value);
  void Answer(const Waiter& waiter, const Value& value);
  bool Ask(HostCell* cell, Waiter waiter);
  void AnswerQuestion();

  // exec/work_sharing.cpp: other workers
  static thread_local Worker* helper;  // whose thread this is, if it is not that of the first one
  enum class StepKind : uint8_t { Bound, Done, Givable };
  enum : uint8_t { kNotThere, kWordThere, kOpenThere };
  template <typename Has>
  StepKind KindOfStep(Frame* frame, uint32_t pc, Has has) const;
  bool HasWork(Frame* frame) const;
  bool HasWorkInWords(Frame* frame) const;
  bool HasWorkAt(Frame* frame, uint32_t resume) const;
  bool HasWork(const Item& item) const;
  static Frame* WaiterOf(Frame* frame);
  void Examine(Frame* running);
  void Unlist(Frame* frame);
  Frame* OldestCandidate(Frame* running);
  bool GiveWork(Worker& thief, Frame* running);
  bool GiveFrom(Frame* below, Worker& thief);
  bool GiveEntry(size_t index, Worker& thief);
  void AnswerThief(Frame* running);
  static void Refuse(Worker& thief);
  bool PollInDirect(Frame* frame);
  void Poll();
  void CheckTeam();
  bool ReadMail(bool all);
  void Receive(Message& message);
  void ReceiveCall(Message& message);
  void SendHome(Frame* proxy, const SiteCode& site, uint32_t result, Value value);
  void FinishProxy(Frame* proxy);
  bool FindWork();
  void BeIdle();
  void Steal();
  void Serve();
  uint64_t Random();

  // exec/errors.cpp: errors overtake what other operands are waited for
  bool IsAvailable(Frame* frame, ir::Edge edge) const;
  bool Chosen(Frame* frame, ir::Edge predicate, uint32_t* side) const;
  void PassError(Frame* frame, ir::Edge edge);
  void PassErrorToUser(Frame* frame, ir::Edge use, const Value& error, std::vector<ir::Edge>& todo);
  void PassSwitches(Frame* frame, const Branch& branch, uint32_t side);

  // tagged_trace.cpp
  void Trace(Frame* frame, ir::NodeId node, uint32_t result_slot);

  uint32_t SlotOf(ir::Edge edge) const { return program_.slot_of[program_.RowOf(edge)]; }

  TaggedExecution& execution_;
  const Program& program_;
  const ir::Graph& graph_;
  const RunOptions& run_;
  Stats stats_;  // of this worker
  FramePool pool_;
  std::vector<Item, memory::Allocator<Item>> stack_;
  Pool<DelayCell> cells_;
  int64_t live_cells_ = 0;  // made less freed here
  size_t pinning_cells_ = 0;  // made that have pinned a frame
  bool made_late_ = false;    // cells that something made later can lead back to (exec/cycles.cpp)
  std::unordered_map<DelayCell*, std::vector<Waiter>> waiters_;  // after the first one of a cell
  std::unordered_map<Frame*, const SiteCode*> tailed_;  // of kTailed frames: the call whose result they give
  std::vector<Frame*> unpins_;  // pins that values gave back while they were destroyed
  struct OuterWaiter {
    Frame* frame;  // one ref
    uint32_t pc;
  };
  std::unordered_map<Frame*, std::vector<std::pair<uint32_t, OuterWaiter>>> outer_waiters_;  // by row
  std::vector<Value> operands_;
  std::vector<DirectCall> direct_calls_;  // by site
  // By scope: how many of its next calls do without word code, because an Integer in it was beyond a word.
  std::vector<uint8_t> words_rest_;
  static constexpr uint8_t kWordsRest = 32;
  std::vector<Value> given_;     // results on their way out of direct code
  uint32_t first_ready_ = 0;     // the least byte of a frame, whichever it is, in which a region was made ready since RunReady asked
  std::vector<uint32_t> tails_;  // of the frame whose regions run: of one at a time
#ifdef DFC_VERIFY
  bool collects_tails_ = false;
#endif
  std::exception_ptr native_failure_;  // of what native code has called
  uint64_t general_calls_ = 0;  // that do not go into direct code, see LeaveAllDirect
  int64_t give_back_at_ = 8 << 20;  // see GiveBackChunks: of memory::counters.current
  uint32_t budget_ = 0;  // steps before the next StepCheck
  const DelayCell* goal_ = nullptr;  // the run ends when it is full
  Frame* now_ = nullptr;  // whose code runs, between what may look at limits; see StandAt
  uint32_t now_pc_ = kNone;

  const uint32_t index_;
  Team* team_ = nullptr;  // if the run has several threads by now
  Door door_;
  std::unique_ptr<Message> mail_;  // taken from there and not yet read, with what follows it
  bool poll_due_ = false;
  Frame* interrupted_ = nullptr;  // in direct code, on the stack since messages were to go first
  uint32_t checks_ = 0;
  Unreleased unreleased_{*this};
  std::deque<Frame*> candidates_;  // below frames that wait in direct code and have work to give away; the oldest first
  std::chrono::steady_clock::time_point examine_at_{};  // no Examine before then: the last one found nothing
  std::unordered_set<Proxy*> proxies_;
  struct Question {
    Value reference;
    Worker* from;
    Waiter waiter;
  };
  std::deque<Question> questions_;  // of other workers to the host
  Worker* victim_ = nullptr;        // was asked, and has not answered
  bool stolen_ = false;             // what this worker had last was stolen, then:
  std::chrono::steady_clock::time_point stolen_at_;
  std::chrono::microseconds pause_;
  uint64_t random_;
  // As others may see them, from the last StepCheck.
  std::atomic<uint64_t> live_published_{0};
  std::atomic<int64_t> cells_published_{0};
};

}  // namespace df::tagged
