// runtime/engines/reference/reference.h
//
// The reference engine: the rules of docs/graph.md one by one. Tags are lists, waiting tokens are kept in a
// hash table by node and tag, untaken edges carry dead tokens. One thread, nothing clever: this is the
// definition in executable form. Private to the engine; runtime/run/engine.h makes one.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "runtime/engines/reference/token_queue.h"
#include "runtime/ops/kernels.h"
#include "runtime/run/engine_run.h"
#include "runtime/run/tag.h"

namespace df::reference {

// A tag inside an error value.
struct TagCell : Cell {
  TagRef tag;
  explicit TagCell(TagRef t) : tag(std::move(t)) {}
};

struct Key {
  uint32_t id;  // a node's or a site's index
  TagRef tag;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  size_t operator()(const Key& key) const { return key.tag.hash() ^ (uint64_t{key.id} * 0x9E3779B97F4A7C15); }
};
template <typename T>
using KeyTable = std::unordered_map<Key, T, KeyHash, std::equal_to<Key>, memory::Allocator<std::pair<const Key, T>>>;

template <typename T>
using CountedVector = std::vector<T, memory::Allocator<T>>;

// The operands that a node has under one tag.
struct Waiting {
  CountedVector<Value> operands;
  CountedVector<bool> present;
  uint32_t count = 0;
  bool fired = false;  // early: the rest is absorbed
};

// A delayed call under one tag: what its reference refers to. While operands are to come, and from its
// release to its result, the engine holds it too.
struct DelayCell : Cell {
  ir::SiteId site;
  TagRef tag;                              // of the Delay
  uint32_t arrived = 0;                    // operands and trigger
  bool released = false, full = false;
  Value value;                             // full
  CountedVector<std::pair<uint32_t, Value>> kept;  // operands before the release, by the Delay's input
  CountedVector<std::pair<ir::NodeId, TagRef>> waiters;  // Forces
  uint32_t holds = 0;                      // of the engine's own counts
  DelayCell* next = nullptr;               // all that are alive
  DelayCell* previous = nullptr;
  class ReferenceExecution* owner = nullptr;
  ~DelayCell() override;
  void DropChildren(DeadObjects& dead) override;
};

// What is where tokens move: those on their way, and those that wait. A graph that is cut has one for each part (parts.h).
struct Store {
  explicit Store(uint64_t seed) : queue(seed) {}
  TokenQueue queue;
  KeyTable<Waiting> waiting;
  KeyTable<Value> outer_values;
  KeyTable<CountedVector<TagRef>> outer_waiting;
};

class ReferenceExecution : public EngineRun {
 public:
  ReferenceExecution(const ir::Graph& graph, const RunOptions& options);
  ~ReferenceExecution() override;
  Outcome Start(std::vector<Value> inputs) override;
  Outcome Force(Value& value) override;
  Stats stats() const override;

 protected:
  friend struct DelayCell;

  // ---- reference.cpp: the run
  virtual Outcome Run(const DelayCell* goal);  // until the cell is full or, without one, all results are there
  // Evaluates what the reference stands for.
  virtual Outcome Answer(DelayCell* cell, Value& to);
  // Takes one token to its node.
  void Take(const Token& token);
  Outcome NothingMoves(const DelayCell* goal);
  void Where(RuntimeError& error) const override;
  uint64_t live() const override { return tags_.live(); }
  virtual void Emit(ir::NodeId node, uint32_t port, const TagRef& tag, const Value& value);
  // Counts and traces a token that a node gives.
  void Note(ir::NodeId node, uint32_t port, const TagRef& tag, const Value& value);
  bool IsTrigger(ir::NodeId node, uint32_t port) const;
  // The record of what has come for `node` under `tag`, with this operand added.
  KeyTable<Waiting>::iterator Match(const Token& token);

  // ---- reference/rules.cpp: one function per rule
  void Deliver(const Token& token);
  void Ordinary(const Token& token);
  void Compute(ir::NodeId node, const TagRef& tag, llvm::ArrayRef<Value> operands);
  void Switch(const Token& token);
  void BranchMerge(const Token& token);
  void Call(const Token& token);
  void Return(const Token& token);
  virtual void FillCell(const Token& token);
  void Enter(const Token& token);
  void CheckInLoop(const Token& token) const;
  void NextIteration(const Token& token);
  void Exit(const Token& token);
  virtual void Delay(const Token& token);
  void ForceRule(const Token& token);
  virtual void ForceCell(const Token& token, DelayCell* cell);
  void Outer(const Token& token);
  void Construct(const Token& token);
  void Result(const Token& token);
  void Release(DelayCell* cell);
  DelayCell* CellFor(ir::SiteId site, const TagRef& tag);
  bool AllArrived(const DelayCell* cell) const;
  void Forget(DelayCell* cell);
  void Hold(DelayCell* cell);
  void LetGo(DelayCell* cell);
  void CountOperand(DelayCell* cell);
  TagRef Strip(TagRef tag, ir::ScopeId scope) const;
  Value MakeError(KernelError error, ir::NodeId node, const TagRef& tag);
  // What an error remembers of where it arose; and that, as a call path.
  virtual Cell* NewErrorTag(const TagRef& tag) const { return new TagCell(tag); }
  virtual void FillErrorPath(const Object* error_tag, RuntimeError& error) const;

  // ---- reference/trace.cpp: looking at it
  void TraceFiring(ir::NodeId node, const TagRef& tag, llvm::ArrayRef<Value> operands);
  void TraceResult(ir::NodeId node, uint32_t port, const TagRef& from, const TagRef& tag, const Value& value);
  void TraceEnd();
  bool MayWait(uint32_t node, const TagRef& tag, std::map<uint32_t, bool>& known) const;
  virtual const Waiting* WaitingAt(uint32_t node, const TagRef& tag) const;
  std::string Leftovers(const Store& store) const;   // "" or what waits there although nothing may
  virtual std::string Leftovers() const;
  std::string LeftWaiting(const char* kind, uint32_t node, const TagRef& tag) const;

  // Where each result of each node goes: [first_user_[r], first_user_[r + 1]) of users_, by r = first_result
  // + port.
  std::vector<uint32_t> first_user_;
  std::vector<std::pair<ir::NodeId, uint32_t>> users_;
  std::vector<ir::NodeId> delay_of_site_;
  std::vector<KernelTypes> types_;
  std::vector<Value> constants_;  // made when first needed
  std::vector<bool> constant_made_;

  std::vector<bool> result_there_;
  uint32_t results_missing_ = 0;

  TagTable tags_;  // outlives all that holds tags
  Store whole_;
  Store* at_ = &whole_;  // where the firing in progress is
  bool gives_once_ = true;    // no node gives a second token under one tag: unless a part is lost and does its work again
  bool exits_early_ = false;  // an Exit does not wait for a datum beside a failed predicate: for runs without dead tokens
  KeyTable<DelayCell*> cells_;  // those that are not full
  DelayCell* first_cell_ = nullptr;
  struct EdgeTag {
    uint32_t result;
    TagRef tag;
    friend bool operator==(const EdgeTag&, const EdgeTag&) = default;
  };
  struct EdgeTagHash {
    size_t operator()(const EdgeTag& e) const { return KeyHash()({e.result, e.tag}); }
  };
  std::unordered_set<EdgeTag, EdgeTagHash> emitted_;  // run_dry only

  TagRef now_tag_;       // of the firing in progress
  ir::NodeId now_node_;
  uint32_t trace_input_ = 0;  // the input by which the token in hand came
  std::string trace_line_, trace_results_;
};

}  // namespace df::reference
