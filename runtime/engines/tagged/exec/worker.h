// runtime/engines/tagged/exec/worker.h
//
// What one thread of the tagged engine has: its stack of ready work, its frames, its statistics, and what is done with operands
// everywhere. What it does is in functions that take it, in the headers beside this one, a subject each. Private to the engine.
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
#include "runtime/engines/tagged/exec/far.h"
#include "runtime/engines/tagged/exec/mailbox.h"
#include "runtime/engines/tagged/exec/spread/spread.h"
#include "runtime/packet/received_objects.h"
#include "runtime/run/engine_run.h"

namespace df::tagged {

struct Worker;
class Team;
class TaggedExecution;
struct Ahead;
struct FarPeer;

// Of a frame in which nothing can happen any more (exec/frames.h).
void Finish(Worker& w, Frame* frame);

// Ends a worker that is not the first, because the run is over.
struct Ending {};

// A Force that waits for a cell.
struct Waiter {
  Frame* frame;   // one ref
  uint32_t pc;    // its Wait; kNone: it waits in scheduled code
  FarCall* call = nullptr;  // instead: another process waits
};

struct Worker : Asker {
  // The worker `number` of its run; 0 is the thread that began it.
  Worker(TaggedExecution& owner, uint32_t number);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

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

  // Taking up one thing after the other.
  void Link();
  void Step();
  void DropNeedless(Frame* frame);
  void StepCheck();
  void Where(RuntimeError& error);
  // Where a run that a limit ends was: null: nowhere, or at the cell on top of the stack.
  void StandAt(Frame* frame) {
    now = frame;
    now_pc = kNone;
  }
  std::string Leftovers(const Frame* root);
  void GiveUpValues(DeadObjects& dead);
  void GiveUpCells(DeadObjects& dead);
  // The first worker of a run that is over, as it was before: its values go, its memory stays for the next one.
  void Renew(DeadObjects& dead);
  // A line of the trace.
  void Trace(Frame* frame, ir::NodeId node, uint32_t result_slot);

  void Unref(Frame* frame) {
    if (--frame->refs == 0) Finish(*this, frame);
  }
  void Push(Frame* frame, uint32_t pc) {
    ++frame->refs;
    stack.push_back({frame, nullptr, pc});
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
      first_ready = std::min<uint32_t>(first_ready, target->ready_at);
      if (frame->flags & kQueued) continue;
      frame->flags |= kQueued;
      Push(frame, kNone);
    }
  }

  // An operand: a slot, or a constant.
  Value Read(Frame* frame, uint32_t operand) {
    return IsConstant(operand) ? constants[operand & ~kConstant] : frame->Get(operand);
  }
  // An operand that nobody looks at any more if this is its last use: then the slot stays present, and holds no value. An
  // error stays, because it may overtake elsewhere.
  Value Use(Frame* frame, uint32_t operand, bool last) {
    if (IsConstant(operand)) return constants[operand & ~kConstant];
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
    return IsConstant(operand) ? constants[operand & ~kConstant].kind() : frame->KindOf(operand);
  }
  int64_t WordOf(Frame* frame, uint32_t operand) const {
    return IsConstant(operand) ? constants[operand & ~kConstant].word()
                               : static_cast<int64_t>(frame->slots()[operand]);
  }

  // An operand of a list: a constant, or a slot, of which it may be the last use.
  Value TakeOperand(const uint64_t* s, const uint8_t* k, uint32_t operand) const {
    if (operand & kConstant) return constants[operand & ~kConstant];
    uint32_t slot = operand & kOperandIndex;
    auto kind = operand & kPlainOperand ? ValueKind::Word : static_cast<ValueKind>(k[slot] & 7);
    if (kind == ValueKind::Word) return Value::Word(static_cast<int64_t>(s[slot]));
    auto* object = reinterpret_cast<Object*>(s[slot]);
    if (!(operand & kLastOperand)) object->refs.Retain();
    return Value::Adopt(kind, object);
  }

  // Whether a frame that stands at Scheduled::Unboxed can run unboxed code.
  bool FitsWords(Frame* frame, const ScheduledInstr* entry, const uint32_t* open, const uint8_t* states) {
    for (uint32_t i = 0; i < entry->b; ++i)
      if (states[open[i]] != (kPresent | static_cast<uint8_t>(ValueKind::Word))) return false;
    if (!entry->a) return true;
    uint8_t& rest = unboxed_rest[frame->scope().id.index];
    return rest == 0 || --rest == 0;
  }

  bool StaysInEventCode() { return event_code_calls > 0 && event_code_calls-- > 0; }
  DelayCell* NewScheduledCell(Frame* frame, const SiteCode* site) {
    return NewScheduledCell(frame->flags & kHasTag ? frame->tag : TagOf(frame), site);
  }
  // A cell whose operands are still to be made: all are there, and none has failed.
  DelayCell* NewScheduledCell(TagNode* tag, const SiteCode* site) {
    auto* cell = ::new (cells.Take(site->cell_bytes)) DelayCell(site);
    if (site->own_place) ::new (&cell->value()) Value();
    cell->starts_scheduled = site->callee->scheduled != kNone;
    cell->tag = HoldTag(tag);
    ++live_cells;
    ++stats.delays;
    return cell;
  }
  // A cell whose body is done, that nobody else refers to.
  void FreeUnshared(DelayCell* cell) {
    Value* values = &cell->value();
    for (uint32_t i = 0, count = cell->num_values(); i < count; ++i) values[i].~Value();
    alive::Gone(alive::Kind::Delay);
    --live_cells;
    cell->state = DelayCell::State::Free;
    cells.Give(cell, cell->Bytes());
  }

  // The frame goes on under another tag.
  static void ForgetTag(Frame* frame) {
    if (!(frame->flags & kHasTag)) return;
    frame->flags &= ~kHasTag;
    DropTag(frame->tag);
  }

  uint32_t SlotOf(ir::Edge edge) const { return program.slot_of[program.RowOf(edge)]; }

  // The run.
  TaggedExecution& execution;
  const Program& program;
  const std::vector<Value>& constants;  // the run's (TaggedExecution::constants)
  const ir::Graph& graph;
  const RunOptions& run;
  const uint32_t index;
  static thread_local Worker* helper;  // whose thread this is, if it is not that of the first one
  Stats stats;  // of this worker
  uint32_t budget = 0;  // steps before the next StepCheck
  uint32_t checks = 0;
  const DelayCell* goal = nullptr;  // the run ends when it is full
  Frame* now = nullptr;  // whose code runs, between what may look at limits; see StandAt
  uint32_t now_pc = kNone;
  std::vector<Item, memory::Allocator<Item>> stack;

  // Frames.
  FramePool pool;
  std::vector<Frame*> unpins;  // pins that values gave back while they were destroyed
  int64_t give_back_at = 8 << 20;  // see GiveBackChunks: of memory::counters.current
  std::unordered_map<Frame*, const SiteCode*> tailed;  // of kTailed frames: the call whose result they give
  struct OuterWaiter {
    Frame* frame;  // one ref
    uint32_t pc;
  };
  std::unordered_map<Frame*, std::vector<std::pair<uint32_t, OuterWaiter>>> outer_waiters;  // by row

  // Event code.
  std::vector<Value> operands;
  uint32_t first_ready = 0;     // the least byte of a frame, whichever it is, in which a region was made ready since RunReady asked
  std::vector<uint32_t> tails;  // of the frame whose regions run: of one at a time
#ifdef DFC_VERIFY
  bool collects_tails = false;
#endif

  // Scheduled, unboxed and machine code.
  std::vector<ScheduledCall> scheduled_calls;  // by site
  std::vector<Value> given;     // results on their way out of scheduled code
  uint64_t event_code_calls = 0;  // that do not go into scheduled code, see LeaveAllScheduled
  // By scope: how many of its next calls do without unboxed code, because an Integer in it was beyond a word.
  std::vector<uint8_t> unboxed_rest;
  static constexpr uint8_t kUnboxedRest = 32;
  std::exception_ptr native_failure;  // of what native code has called

  // Delayed calls.
  Pool<DelayCell> cells;
  int64_t live_cells = 0;  // made less freed here
  size_t pinning_cells = 0;  // made that have pinned a frame
  bool made_late = false;    // cells that something made later can lead back to (exec/cycles.cpp)
  std::unordered_map<DelayCell*, std::vector<Waiter>> waiters;  // after the first one of a cell
  struct Question {
    Value reference;
    Worker* from;
    Waiter waiter;
  };
  std::deque<Question> questions;  // of other workers to the host

  // Other workers.
  Team* team = nullptr;  // if the run has several threads by now
  std::unique_ptr<Message> mail;  // taken from there and not yet read, with what follows it
  bool poll_due = false;
  Frame* interrupted = nullptr;  // in scheduled code, on the stack since messages were to go first
  Unreleased unreleased{*this};
  std::deque<Frame*> candidates;  // below frames that wait in scheduled code and have work to give away; the oldest first
  std::chrono::steady_clock::time_point examine_at{};  // no Examine before then: the last one found nothing
  const Frame* offered = nullptr;  // the candidate for which a loop waits whose rest was asked for, since then
  std::chrono::steady_clock::time_point offered_at;
  std::unordered_set<Proxy*> proxies;
  Worker* victim = nullptr;        // was asked, and has not answered
  bool stolen = false;             // what this worker had last was stolen, then:
  std::chrono::steady_clock::time_point stolen_at;
  std::chrono::microseconds pause;
  uint64_t random;

  // Other processes (exec/far_calls.h).
  struct FarTicket {
    std::unique_ptr<Message> message;  // as it would have been handed to a worker here
    FarPeer* peer = nullptr;           // who has it
    std::vector<bool> taken;           // by result
    CountedTicket counted;
  };
  std::unordered_map<uint64_t, FarTicket> away;  // what this worker gave to other processes, and is not done
  uint64_t tickets = 0;
  struct CameHome {
    uint32_t times = 0;  // because its results could not come
    uint32_t stay = 0;   // so many next ones are not given away
  };
  std::unordered_map<const SiteCode*, CameHome> came_home;
  std::unordered_set<FarCall*> far_calls;        // what this worker has of other processes
  std::unique_ptr<ReceivedObjects> received;     // large objects of other processes; before any of their calls

  // As others may see them, from the last StepCheck.
  std::atomic<uint64_t> live_published{0};
  std::atomic<int64_t> cells_published{0};

  std::map<Pieces::Call, std::unique_ptr<SpreadCall>> spread_calls;  // that processes share, and are not done
};

}  // namespace df::tagged
