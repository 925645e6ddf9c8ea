// runtime/engines/expanding/expanding.h
//
// The expanding engine: a call makes a copy of the callee's graph, and whatever node of any copy has all its operands waits in
// one queue. The dynamic approach that the paper compares with, written for the comparison: docs/expanding-engine.md. One
// thread. Private to the engine; runtime/run/engine.h makes one.
#pragma once

#include <memory>
#include <unordered_map>

#include "runtime/engines/expanding/body.h"
#include "runtime/engines/expanding/part_sampler.h"
#include "runtime/engines/expanding/queue.h"
#include "runtime/run/bounded_tag.h"
#include "runtime/run/engine_run.h"

namespace df::expanding {

class ExpandingExecution;
struct DelayCell;

// A copy of a body: an activation of a function, an iteration of a loop, the root. Its image follows in memory.
//
// `refs` = results not sent (of an iteration: 1 until its predicate is there, then what it still has to hand to the next one,
// or out of the loop) + entries of the queue + copies whose parent it is + Forces and Outers that wait in it + cells of it that
// miss operands or pin it. At 0 nothing can happen in it any more, and it goes.
struct Instance {
  const Site* site;
  const Body* body;
  Instance* parent;        // to which results go, and whose tag this one's begins with; null: the root, or a delayed body
  TagNode* base;           // of a delayed body: the tag of its Delay, counted
  TagNode* tag;            // its own, once something needs that; counted
  DelayCell* cell;         // that it fills, counted
  void** kept_in;          // where its maker keeps it
  Instance* next;          // of all that are alive, or of those that are free
  Instance* previous;
  Instance* next_finished; // of those that are to be freed
  uint64_t iteration;
  uint64_t depth;
  uint32_t refs;
  uint32_t held;           // operands that have come, have a count and were not taken

  char* image() { return reinterpret_cast<char*>(this + 1); }
  Node* nodes() { return reinterpret_cast<Node*>(image()); }
  Value* operands() { return reinterpret_cast<Value*>(image() + body->operands_at); }
  void** children() { return reinterpret_cast<void**>(image() + body->children_at); }
  const uint32_t* ports() { return reinterpret_cast<const uint32_t*>(image() + body->ports_at); }
  const Edge* edges() { return reinterpret_cast<const Edge*>(image() + body->edges_at); }
};

// In Instance::children: it was there and is finished.
inline void* const kGone = reinterpret_cast<void*>(1);

// A delayed call: what its reference refers to.
struct DelayCell : Cell {
  const Site* site;
  TagNode* tag = nullptr;          // of the Delay, counted
  Instance* home = nullptr;        // its copy, one ref, if the site keeps it
  Instance* body = nullptr;        // while it runs
  Instance* from = nullptr;        // its copy, one ref, and one count of this by it, as long as operands are missing
  uint32_t missing = 0;
  bool released = false, full = false;
  Value value;                     // full
  std::vector<Value, memory::Allocator<Value>> operands;  // trigger first; Dead: has not come
  std::vector<Entry, memory::Allocator<Entry>> waiters;   // Forces, one ref each
  DelayCell* next = nullptr;       // all that are alive
  DelayCell* previous = nullptr;
  ExpandingExecution* owner;
  DelayCell(const Site* s, ExpandingExecution* o) : site(s), owner(o) {}
  ~DelayCell() override;
  void DropChildren(DeadObjects& dead) override;
};

// The tag that the copy stands for.
TagNode* TagOf(Instance* instance);

// What the time goes into, as --stats says it.
enum class Part : uint8_t { Tokens, Copy, Queue, Kernels, kCount };

class ExpandingExecution : public EngineRun {
 public:
  ExpandingExecution(const ir::Graph& graph, const RunOptions& run);
  ~ExpandingExecution() override;
  Outcome Start(std::vector<Value> inputs) override;
  Outcome Force(Value& value) override;
  Stats stats() const override;

 private:
  friend struct DelayCell;

  // ---- expanding.cpp: the run, and the lifetime of copies
  Outcome Run(const DelayCell* goal);
  void Where(RuntimeError& error) const override;
  uint64_t live() const override { return live_; }
  bool Reached(const DelayCell* goal) const { return goal ? goal->full : missing_ == 0; }
  Instance* Instantiate(const Site& site, Instance* parent);
  void Unref(Instance* instance) {
    if (--instance->refs != 0) return;
    instance->next_finished = finished_;
    finished_ = instance;
  }
  void FreeFinished();
  void Free(Instance* instance);

  // ---- expanding/rules.cpp: one function per rule
  void Push(Instance* instance, uint32_t node) {
    sampler_.Enter(Part::Queue);
    queue_.Push({instance, node});
    ++instance->refs;
    sampler_.Enter(Part::Tokens);
  }
  void Arrived(Instance* instance, Node& node, Edge edge);
  void ArriveSpecial(Instance* instance, uint32_t index, uint32_t operand);
  void Deliver(Instance* instance, uint32_t port, Value&& value);
  void DeliverLate(Instance* instance, uint32_t port, Value&& value);
  void Fire(Instance* instance, uint32_t index);
  void Compute(Instance* instance, Node& node);
  void Construct(Instance* instance, Node& node);
  void Call(Instance* instance, Node& node);
  void LateArgument(Instance* instance, Node& node);
  void Next(Instance* instance, Node& node);
  void LateNext(Instance* instance, Node& node);
  void Decide(Instance* instance, const Node& node);
  void SendResult(Instance* instance, uint32_t result, Value value);
  void Delay(Instance* instance, Node& node);
  void CellOperand(Instance* instance, const Node& delay, uint32_t k);
  void LateOperand(DelayCell* cell, uint32_t k, Value value);
  void Release(DelayCell* cell);
  void FillCell(DelayCell* cell, Value value);
  void ForceRule(Instance* instance, uint32_t index);
  void Outer(Instance* instance, uint32_t index);
  void Publish(Instance* instance, uint32_t operand);
  Value Take(Instance* instance, uint32_t operand) {
    Value& slot = instance->operands()[operand];
    if (slot.counted()) --instance->held;
    return std::exchange(slot, Value::Dead());
  }
  Value MakeError(Instance* instance, ir::NodeId node, KernelError error);

  Program program_;
  std::string refused_;
  ReadyQueue queue_;
  std::vector<Instance*> free_;      // by body
  Instance* first_ = nullptr;        // all that are alive
  Instance* finished_ = nullptr;     // refs 0, to be freed
  DelayCell* first_cell_ = nullptr;
  uint64_t live_ = 0;
  struct WaitsForOuter {
    Instance* in;
    uint32_t operand;
    friend bool operator==(const WaitsForOuter&, const WaitsForOuter&) = default;
  };
  struct WaitsHash {
    size_t operator()(const WaitsForOuter& w) const { return std::hash<void*>()(w.in) * 31 + w.operand; }
  };
  std::unordered_map<WaitsForOuter, std::vector<Entry>, WaitsHash> outer_waiters_;
  std::vector<bool> have_;
  uint32_t missing_ = 0;
  Instance* now_ = nullptr;
  uint32_t now_node_ = kNone;
  PartSampler<Part> sampler_;
};

}  // namespace df::expanding
