// runtime/engines/tagged/code/code.h
//
// What a tagged graph is compiled to before it runs: per scope (root, function, loop) the layout of its frames and the
// code of its regions. docs/tagged-engine/regions.md explains regions and events.
//
//   event   something that happens at most once in a frame: the activation, a late argument, a result that comes back, a
//           side of a branch that is taken, a value that was forced, an offer that was taken or not
//   region  the nodes that become ready by the same set of events, as straight-line code. It waits for at most 8 events:
//           a byte of the frame (its mask) has one bit for each that is still missing. A region with one event has none.
//   tail    the end of a region's code: what enters another frame, in program order. Everything that can be done in the
//           frame itself is done first.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/batch/batch.h"
#include "runtime/engines/tagged/code/machine_code.h"
#include "runtime/engines/tagged/code/scheduled.h"
#include "runtime/engines/tagged/code/unboxed.h"
#include "runtime/ops/kernels.h"
#include "runtime/run/engine.h"
#include "runtime/value/value.h"
#include "tagged_ir/graph.h"

namespace df::tagged {

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr uint32_t kMostCaptured = (1 << 14) - 1;  // operands of a delayed call: DelayCell::missing
// An operand is a slot, or with this bit a constant of the graph.
inline constexpr uint32_t kConstant = 0x80000000;
inline bool IsConstant(uint32_t operand) { return operand != kNone && (operand & kConstant); }

// DF_CODE(name, what a, b and c are)
#define DF_TAGGED_CODES(DF_CODE)                                                                                   \
  DF_CODE(End, "")                                                                                                 \
  DF_CODE(Op, "a: slot, b, c: slots of the operands; node: which op")                                              \
  DF_CODE(OpMany, "the same with more operands. a: slot, b: first of its operands in Program::lists, c: how many") \
  DF_CODE(Check, "as OpMany, of an op that a later region does: its error, if it fails")                           \
  DF_CODE(Defer, "b: index in Program::tensor_groups, or none; the c ops that follow are deferred together")       \
  DF_CODE(Construct, "a: slot, b: first of its operands in Program::lists, c: how many")                           \
  DF_CODE(Delay, "a: slot, b: site")                                                                               \
  DF_CODE(DelayAll, "a: slot, b: site; all operands in Program::lists from c on")                                  \
  DF_CODE(DelayArg, "a: slot of the reference, b: slot, c: index in the site's deliveries")                        \
  DF_CODE(Force, "a: slot, b: slot of a value or reference, c: event")                                             \
  DF_CODE(Outer, "a: slot, b: row of the enclosing scope's edge, c: event; node: which scope")                     \
  DF_CODE(Publish, "a: row of an edge that Outers read")                                                           \
  DF_CODE(Branch, "a: slot of the predicate, b: branch")                                                           \
  DF_CODE(Merge, "a: slot, b: slot of the chosen side")                                                            \
  DF_CODE(Fire, "c: event that happens here")                                                                      \
  DF_CODE(Input, "a: slot, b: index")                                                                              \
  DF_CODE(Result, "b: slot; node: which result")                                                                   \
  DF_CODE(Return, "a: result of the scope, b: slot")                                                               \
  DF_CODE(Exit, "a: result of the loop, b: slot")                                                                  \
  DF_CODE(Wait, "a, b, c: as Force, which found no value")                                                         \
  DF_CODE(Offer, "a: slot, b: the constant False, c: event; True if it was given away before its turn came")       \
  DF_CODE(Call, "b: site; its deliveries that go together")                                                        \
  DF_CODE(CallLate, "b: site, c: index in its deliveries")                                                         \
  DF_CODE(NextLate, "b: loop's site, c: index in its next deliveries")                                             \
  DF_CODE(Next, "b: loop's site; its next deliveries that go together")

enum class Code : uint16_t {
#define DF_CODE(name, meaning) name,
  DF_TAGGED_CODES(DF_CODE)
#undef DF_CODE
};
inline bool IsTail(Code code) { return code >= Code::Wait; }

// In Instr::aux: Merge of triggers; no instruction of the frame looks at operand b, or c, after this one.
enum Aux : uint16_t { kTrigger = 1, kLastB = 2, kLastC = 4 };
// The same of an operand in Program::lists.
inline constexpr uint32_t kLast = 0x40000000;

// The operand, without the mark of its last use.
inline uint32_t ListOperand(uint32_t listed) { return IsConstant(listed) ? listed : listed & ~kLast; }

struct Instr {
  Code code = Code::End;
  uint16_t aux = 0;
  uint32_t a = kNone, b = kNone, c = kNone;
};

// A region that waits for an event: `bit` of byte `mask`, or no mask if it waits for nothing else.
struct Target {
  uint32_t region;
  uint32_t mask;
  uint8_t bit;
  uint8_t ready_bit = 0;                // of the region,
  uint32_t ready_at = 0, mask_at = 0;   // in these bytes from the frame
};
struct Event {
  uint32_t first_target = 0, num_targets = 0;  // in ScopeCode::targets
};
struct Region {
  uint32_t pc = 0;      // in Program::code
  uint32_t mask = kNone;
  uint8_t bits = 0;
  std::vector<uint32_t> events;  // that it waits for
};

// What a predicate decides in its scope: an event per side, and who gets its error.
struct Branch {
  bool watched = false;                 // whether a side is taken may be asked for errors that come later
  bool is_bool = false;                 // then side 0 is true; else an alternative's number
  std::vector<uint32_t> sides;          // events; kNone where nothing happens
  std::vector<ir::NodeId> merges;       // BranchMerges with this predicate
  std::vector<ir::NodeId> switches;     // which may carry errors on
};

// A value that a site brings into the frame it makes.
struct Delivery {
  uint32_t from = kNone;   // slot here
  bool last = false;       // nobody looks at that slot afterwards
  uint32_t to = kNone;     // slot there; kNone: nobody wants it
  uint32_t event = kNone;  // there; kNone: it goes together with the activation
  ir::NodeId node;         // the Call, Enter or NextIteration; the Delay
  ir::NodeId merge;        // there
};

class TaggedExecution;

// Where a result goes in the caller's frame; slot kNone: nobody wants it.
struct ReturnTo {
  uint32_t slot = kNone;
  uint32_t event = kNone;
  ir::NodeId node;         // the Return or Exit
};

struct ScopeCode;
struct Frame;

// What a call between scheduled codes reads, together; each worker has its own.
struct ScheduledCall {
  Frame** free = nullptr;              // frames of the callee's size
  const struct SiteCode* site = nullptr;
  const ScheduledInstr* start = nullptr;  // null: the callee has no scheduled code; its unboxed code, if it has that
  uint64_t head = 0;                   // of its frame, called by scheduled code
};

enum class SiteType : uint8_t { Root, Call, Delay, Loop };

// A label: a call site, a delayed call, or a loop.
struct SiteCode {
  uint32_t free_list = 0;            // of the callee's frames, in each worker's pool
  SiteType type = SiteType::Call;
  uint32_t label = kNone;            // site or loop scope
  const ScopeCode* caller = nullptr;
  const ScopeCode* callee = nullptr;
  std::vector<Delivery> together;    // with the activation
  std::vector<Delivery> late;
  std::vector<Delivery> next_together, next_late;  // of a loop: to the next iteration
  std::vector<ReturnTo> returns;     // by result of the callee
  uint32_t child_slot = kNone;       // of a site with late deliveries: where the caller keeps the child
  uint32_t next_slot = kNone;        // of a loop with late deliveries: where an iteration keeps the next one
  uint32_t cell_result = kNone;      // of a delayed call: the result that fills its reference
  ir::NodeId trigger;                // the trigger's Call or Enter, or the Delay
  bool needs_outer = false;          // the callee, or what it calls, reads Outers
  bool keeps_home = false;           // of a delayed call: its body needs the frame of the Delay, as one that an Outer may look
                                     // for, or that gets cotangents
  bool late_operands = false;        // of a delayed call: its body may be done before they have all come
  uint32_t cell_bytes = 0;           // of a delayed call,
  uint32_t cell_values = 0;          // and the places for values in it;
  bool own_place = false;            // whether its value has one that no operand has
  static constexpr uint8_t kNoPieces = UINT8_MAX;
  uint8_t spread_from = kNoPieces, spread_to = kNoPieces;  // of a call that processes may share: in `together`, which pieces it is to give,
  uint8_t spread_given = kNoPieces;                        // and where those that are there can be given, to be joined:
  uint32_t given_constructor = 0;                          // in this constructor of a Maybe
  TaggedExecution* owner = nullptr;  // whose run this is; null of code that runs share
  bool ahead = false;                // of a delayed call: its body can be tried without a frame (code/frameless.h),
  bool frameless = false;                // and makes no delayed calls
  // Whether it is worth trying: what fails more often than one time in three, or comes to too little, is tried one time in 64 only.
  struct Chance {
    uint8_t left = kMost, passed = 0;
    static constexpr uint8_t kMost = 16;
    static constexpr uint8_t kOften = 64;
    bool Take() {
      if (Get(left)) return true;
      uint8_t times = static_cast<uint8_t>(Get(passed) + 1);
      Set(passed, times);
      return times % kOften == 0;
    }
    void TellDone(uint32_t times) { Set(left, static_cast<uint8_t>(std::min<uint32_t>(kMost, Get(left) + times))); }
    // An attempt that makes a cell costs as much as frames for about three bodies: so many and the ones that followed came to something.
    void TellBodies(uint32_t bodies) {
      constexpr uint32_t kEven = 3;
      if (bodies > kEven) TellDone(bodies - kEven);
      else if (bodies < kEven) Set(left, static_cast<uint8_t>(Get(left) - std::min<uint8_t>(Get(left), 1)));
    }
    void Tell(bool done) {
      uint8_t now = Get(left);
      Set(left, static_cast<uint8_t>(done ? now + (now < kMost) : now - std::min<uint8_t>(now, 2)));
    }

   private:
    // All workers use it; what one of them overwrites of another's is no loss.
    static uint8_t Get(const uint8_t& of) { return __atomic_load_n(&of, __ATOMIC_RELAXED); }
    static void Set(uint8_t& of, uint8_t to) {
      if (Get(of) != to) __atomic_store_n(&of, to, __ATOMIC_RELAXED);  // else the line stays where others read it
    }
  };
  mutable Chance forced, unasked;    // where its cell is forced; where it would only come in handy
  bool continues = false;            // a call of what is left of a loop, on the side that an Offer gives away: it has no label (frame.cpp)
  bool plain = false;                // results go to the caller's frame, which keeps no child slot
  const void* native_body = nullptr; // of a delayed call: native code that begins its body (x86/scheduled_force.cpp)
};

// A parameter that comes after the activation, by an event of its own.
struct LateParameter {
  uint32_t slot = kNone, event = kNone;
};

struct ScopeCode {
  ir::ScopeId id;
  ir::ScopeKind kind = ir::ScopeKind::Function;
  uint32_t num_slots = 0;
  uint32_t num_masks = 0;
  uint32_t ready_bytes = 0;          // a bit per region
  uint32_t frame_bytes = 0;
  uint32_t cold_bytes = 0;           // the same before unboxed code was made, which may have more slots
  uint32_t init_offset = 0;          // of states, ready bits and masks: bytes from the frame
  uint32_t ready_offset = 0;
  uint32_t mask_offset = 0;
  uint32_t activation = kNone;       // event
  uint32_t num_results = 0;
  uint32_t first_sent = kNone;       // slots whose presence says that a result was sent
  uint32_t cell_slot = kNone;        // of a delayed body: the reference it fills
  uint32_t iteration_slot = kNone;   // of a loop
  bool read_by_outers = false;
  bool needs_outer = false;
  bool spread = false;               // its calls are shared by processes (Options::shares)
  uint32_t process = kNone;          // the other one that computes its calls (Options::processes); kNone: whoever makes them
  std::vector<LateParameter> late;
  std::vector<bool> early;           // by result: whether scheduled code gives it before the late parameters have come
  std::vector<uint32_t> results;     // rows
  std::vector<uint8_t> masks;        // as a new frame has them
  std::vector<uint64_t> init;        // states, ready bits and masks of a new frame
  uint32_t scheduled = kNone;           // where its scheduled code begins, if it has any; or its unboxed code
  uint32_t plain = kNone;            // where its scheduled code begins,
  uint32_t plain_end = 0;            // and ends
  uint32_t frameless = kNone;            // where its frameless code begins, if it is a delayed body that has any
  std::shared_ptr<const UnboxedCode> unboxed;  // if it has any
  bool tags_apart = false;           // whether tags within it take more than a label each: it has that, or is continued; for native code
  bool continued = false;            // a function of which calls continue its loop
  bool stays_in_events = false;      // what such a call does before that loop: it has no other code
  mutable uint32_t steps = 0;        // of event code, before there was any other
  std::vector<Region> regions;       // in an order in which each comes after those whose values it uses
  std::vector<Event> events;
  std::vector<Target> targets;
  std::vector<Branch> branches;
  // Whether scheduled code gives the result in the last stage of an activation, which is the only one without late parameters.
  bool IsLastStage(uint32_t result) const { return late.empty() || !early[result]; }
};

// What an ordinary op is, together.
struct OpCode {
  ir::Op op = ir::Op::Start;
  KernelTypes types;
  uint16_t num_inputs = 0;
  uint32_t attr = 0;
};

// How many elements the first operand of an op on tensors has.
inline int64_t ElementsOfFirst(const ir::Graph& graph, ir::NodeId op) {
  return ir::ElementCount(graph.types[graph.TypeOf(graph.InputsOf(op)[0]).type].dims);
}

// Ops on tensors that are deferred together (docs/batching.md).
struct TensorGroup {
  BatchRegion region;
  std::vector<uint32_t> operands;  // slots or constants, of the region's operands
  std::vector<bool> last;          // likewise: nobody looks at that slot afterwards
  std::vector<uint32_t> results;   // slots
  std::vector<uint32_t> checked;   // slots of ops that may have failed before: Code::Check
  // Ops of earlier groups that the region does again, by place in Program::code. Where they were deferred their slots are empty.
  std::vector<uint32_t> again;
};

// The whole graph, compiled. Tables by row are indexed by Node::first_result + port.
struct Program {
  const ir::Graph* graph = nullptr;
  std::vector<ScopeCode> scopes;           // by ScopeId
  std::vector<SiteCode> sites;             // by SiteId, then loops by ScopeId, then the root
  std::vector<Instr> code;
  ScheduledCode scheduled;
  FramelessCode frameless;
  std::shared_ptr<const NativeCode> native;  // of unboxed code; null: there is none
  bool fast = false;                       // MakeFastCode is done
  bool placed = false;                     // calls of some scopes are computed by one process each
  bool count = false;                      // Options::count
  std::vector<ir::NodeId> node_of;         // of each instruction
  std::vector<uint32_t> scope_of;          // of each instruction
  std::vector<uint32_t> lists;
  std::vector<Value> constants;            // by ConstId
  std::vector<uint32_t> slot_of;           // by row; or the constant that it is
  std::vector<uint32_t> event_of;          // by row: the event that brings it, if it comes by one
  std::vector<uint32_t> first_user;        // by row, and behind the last one: in `users`
  std::vector<ir::Edge> users;             // node and operand, of those in the row's own scope
  std::vector<uint32_t> result_of_node;    // by node: of Return and Exit, which result of the callee or loop
  std::vector<bool> implied;               // by index in Graph::inputs: of a BranchMerge's side or an Exit's value: when it
                                           // is there, that side has been chosen
  std::vector<KernelTypes> types;          // by node, of Ordinary ops
  std::vector<OpCode> ops;                 // by pc, of Code::Op, OpMany and Check
  std::vector<TensorGroup> tensor_groups;
  const SiteCode& LoopSite(ir::ScopeId loop) const { return sites[graph->sites.size() + loop.index]; }
  // Where an instruction of a tail stands in the program.
  uint64_t OrderOf(uint32_t pc) const;
  const SiteCode& RootSite() const { return sites.back(); }
  uint32_t RowOf(ir::Edge edge) const { return graph->nodes[edge.node].first_result + edge.port; }
  llvm::ArrayRef<ir::Edge> UsersOf(uint32_t row) const {
    return llvm::ArrayRef(users).slice(first_user[row], first_user[row + 1] - first_user[row]);
  }
};

// ThreadSanitizer sees what functions read and write, and not what machine code does, whose every load and store is an acquire and a
// release on the processors that it is for: between the two it would report races that are none.
#ifdef __SANITIZE_THREAD__
inline constexpr uint32_t kMostNative = 0;
#else
inline constexpr uint32_t kMostNative = 1 << 15;
#endif

// The run's switches, and what follows from the run.
struct Options {
#define DF_SWITCH(field, name, kept, description) bool field = true;
#include "runtime/run/switches.def"
  bool shares = false;  // several processes share calls of scopes that are spread, which are run by event code then
  uint32_t processes = 1, rank = 0;  // so many compute the calls of scopes that stand on parts, each those of its own; this one's number
  uint32_t most_native = kMostNative;  // instructions of scheduled code that are machine code
  bool batch = false; // ops on tensors are deferred, and computed for many activations at once
  bool away = false;  // what computes them has memory of its own
  const PlacedDevices* placed = nullptr;  // others compute those of some nodes
  bool count = false; // scheduled code counts regions and firings, too (Stats)
  bool fast_later = false;  // fast code is not made by Compile, but when the run has gone on for a while
};

// What the switches of a run say of it.
Options OptionsOf(const RunOptions& run);

// Compiles a verified graph. "" or why it cannot be run.
std::string Compile(const ir::Graph& graph, const Options& options, Program* program);
// Scheduled, frameless and unboxed code of a compiled graph, which can do without: docs/tagged-engine/run.md, "Warming up". `pause` is called now
// and then; what it throws is thrown, as is std::bad_alloc, and then the program is as it was.
void MakeFastCode(Program& program, const Options& options, llvm::function_ref<void()> pause);

// The regions of the scopes that `chosen` accepts, as text.
void Dump(const Program& program, llvm::raw_ostream& out, llvm::function_ref<bool(std::string_view scope)> chosen);

}  // namespace df::tagged
