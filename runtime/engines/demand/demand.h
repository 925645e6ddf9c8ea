// runtime/engines/demand/demand.h
//
// The demand engine: eduction. Nothing runs because its operands are there; a node is computed under a tag
// because somebody asks for it, by the equations of docs/demand-engine.md. Triggers, Calls, Enters and
// NextIterations are never asked for anything: they only say where the datum of another tag is found.
//
// An activation is a tag together with the part of the store that belongs to it: one slot for each node of its
// scope that may be asked for twice. So a tag is compared by its address, and what is stored under it goes when
// it goes. Private to the engine; runtime/run/engine.h makes one.
#pragma once

#include "runtime/ops/kernels.h"
#include "runtime/run/bounded_tag.h"
#include "runtime/run/engine_run.h"

namespace df::demand {

inline constexpr uint32_t kNone = UINT32_MAX;

template <typename T>
using CountedVector = std::vector<T, memory::Allocator<T>>;

class DemandExecution;
struct DemandCell;

// ---------------------------------------------------------------- code (demand/compile.cpp)

// A node as the equations see it. Edges are gone: an operand is the node that answers for it, seen through
// Switches (a Switch is its datum).
struct NodeCode {
  ir::Op op;
  bool live = false;       // some result can lead to a demand for it
  uint32_t slot = kNone;   // in the store of an activation of its scope; none if it is asked for once a tag
  bool once = false;       // a parameter that is asked for once a tag: its slot is emptied then
  uint32_t scope = 0;
  uint32_t attr = 0;       // as in the graph, but of an EntryMerge its number among those of its scope
  uint32_t first = 0;      // its sources are [first, first + count) of Code::sources
  uint32_t count = 0;
  KernelTypes types;
};

struct SiteCode {
  uint32_t callee = 0;              // a scope
  std::vector<uint32_t> arguments;  // by EntryMerge of the callee: the node that answers under the caller's tag
  uint32_t result = kNone;          // Delay: the node of the callee that answers for the reference
  std::vector<uint32_t> returns;    // the nodes that ask for what the callee computes
  uint32_t held = kNone;            // several of these: the caller's slot that keeps the activation for all
};

struct ScopeCode {
  uint32_t slots = 0;
  std::vector<uint32_t> merges;  // its parameters, or variables, that can be asked for
  std::vector<uint32_t> exits;
  bool looks_out = false;        // an Outer may ask for what is around it: there is one here or in what is entered from here
  uint32_t held = kNone;         // Loop with several exits: the parent's slot that keeps how it ended
};

struct Code {
  std::vector<NodeCode> nodes;
  std::vector<uint32_t> sources;
  std::vector<SiteCode> sites;
  std::vector<ScopeCode> scopes;
  std::vector<uint32_t> results;  // the nodes that answer for the graph's results
  const uint32_t* SourcesOf(const NodeCode& node) const { return sources.data() + node.first; }
};

Code Compile(const ir::Graph& graph);

// ---------------------------------------------------------------- store (demand/store.cpp)

enum class SlotState : uint8_t { Empty, Busy, Full, Gone };

// A tag and what is stored under it; values and then states follow the struct in memory. `refs` of the tag
// counts inner activations that still ask here, cells and demands in progress. Of the tag's members `parent` is null at
// the root, below it, and when nothing is asked for there any more; `chain` links what is about to be freed.
struct Activation : Tag {
  uint32_t scope;
  uint32_t slots;
  uint32_t pending;       // parameters and variables that are not computed yet
  bool marked;
  bool detached;          // nothing is asked for in the parent any more
  TagNode* outer;         // the parent's tag, counted
  TagNode* node;          // its own, counted; null until something needs it
  Activation* previous;   // Loop: the iteration before, while a variable is pending
  Activation* older;      // all that are alive
  Activation* newer;
  uint64_t inner;         // collection: how many of `refs` come from the store itself
  Value* values() { return reinterpret_cast<Value*>(this + 1); }
  SlotState* states() { return reinterpret_cast<SlotState*>(values() + slots); }
  size_t bytes() const { return sizeof(Activation) + slots * (sizeof(Value) + sizeof(SlotState)); }
};

// What references, and the tags inside errors, are.
//   Delay  <i, t>: the call i that waits under tag t
//   Edge   <node, t>: what a lazy field holds
//   Tag    t alone: an activation that is kept in a slot
struct DemandCell : Cell {
  enum Kind : uint8_t { Delay, Edge, Tag };
  Kind what;
  bool busy = false, full = false, marked = false;
  uint32_t id;             // a site or a node
  Activation* at;          // null once the value is there
  Value value;             // full
  uint64_t inner = 0;      // as of an activation
  DemandCell* older = nullptr;
  DemandCell* newer = nullptr;
  DemandExecution* owner;
  DemandCell(DemandExecution* engine, Kind kind, uint32_t i, Activation* a);
  ~DemandCell() override;
  void DropChildren(DeadObjects& dead) override { dead.Drop(value); }
};

inline DemandCell* CellOf(const Value& reference) {
  return static_cast<DemandCell*>(static_cast<Cell*>(reference.object()));
}

// ---------------------------------------------------------------- the machine

// A demand in progress. The stack of them is what other engines have as the native stack.
struct Frame {
  uint32_t node;       // kNone: `cell` is being evaluated
  uint32_t step;       // how far the equation has got, by op
  Activation* at;      // counted
  Activation* inside;  // counted or null: the callee of a Return, the iteration that an Exit looks at
  DemandCell* cell;    // counted or null: of a frame without a node
};

class DemandExecution : public EngineRun {
 public:
  DemandExecution(const ir::Graph& graph, const RunOptions& options);
  ~DemandExecution() override;
  Outcome Start(std::vector<Value> inputs) override;
  Outcome Force(Value& value) override;

 private:
  friend struct DemandCell;

  // ---- demand.cpp: the run
  void Where(RuntimeError& error) const override;
  uint64_t live() const override { return live_; }
  const df::Tag* TagOf(const Activation* at) const { return at == root_ ? nullptr : at; }
  void FillPathOf(const Activation* at, RuntimeError& error) const;

  // ---- demand/step.cpp: the equations
  Value Evaluate(uint32_t node, Activation* at);
  Value EvaluateCell(DemandCell* cell);
  Value Machine(uint32_t want, Activation* where);
  void Tick();
  bool Ask(uint32_t& want, Activation*& where, Value& value);
  bool Answer(Value& value, uint32_t& want, Activation*& where);
  void Finish(Value& value);
  void Push(uint32_t node, Activation* at, Activation* inside = nullptr);
  void PushCell(DemandCell* cell, uint32_t& want, Activation*& where);
  Activation* EnterSite(uint32_t site, Activation* at);
  bool Follow(Value& value, bool delays, uint32_t& want, Activation*& where);
  bool StepExit(Frame& frame, const NodeCode& n, Value& value, uint32_t& want, Activation*& where);
  bool StepOrdinary(Frame& frame, const NodeCode& n, Value& value, uint32_t& want, Activation*& where);
  bool StepConstruct(Frame& frame, const NodeCode& n, Value& value, uint32_t& want, Activation*& where);
  Value Build(const NodeCode& n, uint32_t node, Activation* at);
  const ir::Constructor& ConstructorOf(uint32_t node) const;
  uint32_t FirstStrict(uint32_t node, uint32_t from) const;
  const Value& ConstantOf(uint32_t constant);
  Activation* Strip(Activation* at, uint32_t scope) const;
  Value MakeError(KernelError error, uint32_t node, Activation* at);
  Value LoopError(uint32_t node, Activation* at);
  void Trace(uint32_t node, Activation* at, const Value& value, bool stored);

  // ---- demand/early.cpp: what is there already, or costs next to nothing
  bool Peek(uint32_t node, Activation* at, Value& value);
  bool Speculate(uint32_t node, Activation* at, int depth, Value& value);
  bool Known(uint32_t node, Activation* at, Value& value);
  void Consume(size_t from);
  void TakeArguments(Activation* at, Activation* caller);
  void Advance(Activation* from, Activation* to);

  // ---- demand/store.cpp: activations and cells, and when they go
  Activation* NewActivation(Label label, uint32_t scope, Activation* parent);  // with one count
  Activation* Up(const Activation* at) const {
    if (at->detached) throw BrokenRule{"a demand in an activation that is gone"};
    return at->parent ? static_cast<Activation*>(at->parent) : root_;
  }
  TagNode* NodeOf(Activation* at);
  static Activation* Hold(Activation* at) {
    ++at->refs;
    return at;
  }
  void Release(Activation* at) {
    if (--at->refs == 0) Bury(at);
  }
  void Bury(Activation* at);
  // Between these, activations that nobody holds are only queued.
  void Queue() { draining_ = true; }
  void Drain();
  void Clear(Activation* at, DeadObjects& dead);
  Value NewCell(DemandCell::Kind kind, uint32_t id, Activation* at);
  void Store(Activation* at, uint32_t slot, const Value& value);
  void Computed(uint32_t node, Activation* at);
  void Detach(Activation* at);
  void Drop(Activation* at, uint32_t slot);
  void Collect();

  Code code_;
  std::vector<ir::NodeId> delay_of_site_;
  std::vector<Value> constants_;  // made when first needed
  std::vector<bool> constant_made_;

  Activation* root_ = nullptr;
  CountedVector<Frame> stack_;
  CountedVector<Value> values_;  // operands of the frames
  struct Once {
    uint32_t node;
    Activation* at;
  };
  CountedVector<Once> read_;     // parameters that are asked for once, which the speculation under way has looked at

  Activation* newest_ = nullptr;
  DemandCell* newest_cell_ = nullptr;
  df::Tag* dying_ = nullptr;
  bool draining_ = false;
  uint64_t live_ = 0, live_cells_ = 0;
  uint64_t collect_at_ = 0;

  uint64_t entries_ = 0, ticks_ = 0;
};

}  // namespace df::demand
