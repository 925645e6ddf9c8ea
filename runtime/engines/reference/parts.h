// runtime/engines/reference/parts.h
//
// A graph that is cut: the rules of reference.h, each part with its own store, and messages between them. Between parts a reference is no more
// than the name <i, t> of a delayed call: its cell is where the Delay stands, and is asked by a message. Private to the engine.
#pragma once

#include <deque>
#include <map>
#include <random>
#include <set>

#include "runtime/engines/reference/cut_run.h"
#include "runtime/engines/reference/reference.h"
#include "tagged_ir/cut/skeleton.h"

namespace df::reference {

class CutExecution : public ReferenceExecution {
 public:
  CutExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts)
      : CutExecution(graph, options, std::move(cut), counts, kAll) {}
  ~CutExecution() override;
  Outcome Start(std::vector<Value> inputs) override;

 protected:
  // Of one part alone: the others are elsewhere (part_process.h).
  static constexpr uint32_t kAll = UINT32_MAX;
  CutExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts, uint32_t only);

  // A delayed call under one tag, by name. At its home all of it; elsewhere what was asked and what was answered.
  struct CellState {
    bool released = false, full = false;
    Value value;
    CountedVector<std::pair<uint32_t, Value>> kept;
    CountedVector<std::pair<ir::NodeId, TagRef>> waiters;
    CountedVector<uint32_t> askers;  // parts
  };
  struct Message {
    enum class Kind : uint8_t { Token, Told, Force, Forced, Fill, Probe, Counts };
    Kind kind;
    uint32_t from = 0, to = 0;
    uint32_t index = 0;  // Token: the channel; Told: the result; Force, Forced, Fill: the site
    TagRef tag = {};
    Value value = {};
    bool again = false;  // sent to a part that was lost
    // Counts:
    bool quiet = false;
    uint64_t sent = 0, received = 0;
  };
  // A message's name: where it goes, what about, under which tag. Two of one name say the same.
  struct Name {
    uint64_t what;
    TagRef tag;
    friend bool operator==(const Name&, const Name&) = default;
  };
  struct NameHash {
    size_t operator()(const Name& name) const { return name.tag.hash() ^ (name.what * 0x9E3779B97F4A7C15); }
  };
  struct Part : Store {
    Part(uint32_t number, uint64_t seed) : Store(seed), number(number) {}
    uint32_t number;
    KeyTable<CellState> cells;
    KeyTable<Value> arrived;  // by channel: tokens that no tag was made for yet
    KeyTable<bool> made;      // by channel: tags that no token came for yet
    uint64_t sent = 0, received = 0;
    uint64_t again = 0;  // messages that it still has to get anew
    std::unique_ptr<Store> skeleton;
    bool quiet() const { return queue.empty() && again == 0 && (!skeleton || skeleton->queue.empty()); }
  };

  // ---- parts.cpp: the run, messages, waves
  Outcome Run(const DelayCell* goal) override;
  void Step();
  bool Moves() const;  // as nobody on a machine of its own can know
  void Emit(ir::NodeId node, uint32_t port, const TagRef& tag, const Value& value) override;
  // Whether anybody at the other end of a channel looks at a token with this tag.
  virtual bool IsWanted(uint32_t /*channel*/, const TagRef& /*tag*/) const { return true; }
  void Post(Message message);
  virtual void Send(Message message);
  void Receive(Message message);
  void HandOver(Part& part, uint32_t channel, const TagRef& tag, const Value& value);
  void Fire(Part& part);
  void BeginAll();
  void Lose();
  std::unique_ptr<Part> NewPart(uint32_t number);
  void StartWave();
  void EndWave();
  void CountLeft();
  const Waiting* WaitingAt(uint32_t node, const TagRef& tag) const override;
  std::string Leftovers() const override;
  bool Reached(const DelayCell* goal) const;

  // ---- parts_skeleton.cpp: what skeletons do
  void FindChannels();
  void BeginSkeleton(Part& part);
  void FireSkeleton(Part& part);
  void EmitInSkeleton(Part& part, uint32_t result, const TagRef& tag, const Value& value);
  void Tell(uint32_t result, const TagRef& tag, const Value& value);
  void TagMade(Part& part, uint32_t channel, const TagRef& tag);

  // ---- parts_cells.cpp: delayed calls
  Outcome Answer(DelayCell* cell, Value& to) override;
  void Delay(const Token& token) override;
  void ForceCell(const Token& token, DelayCell* cell) override;
  void FillCell(const Token& token) override;
  // Where a delayed call is, or what a reference of another kind stands for.
  virtual uint32_t HomeOf(uint32_t site, const TagRef&) const { return options_.cut.part[delay_of_site_[site].index]; }
  void Ask(Part& part, uint32_t site, const TagRef& tag);
  void ReleaseHere(Part& part, uint32_t site, const TagRef& tag);
  void PostForced(Part& part, uint32_t to, uint32_t site, const TagRef& tag, const Value& value);
  void FillHere(Part& part, uint32_t site, const TagRef& tag, const Value& value);

  uint32_t ResultOf(ir::Edge edge) const { return graph_.nodes[edge.node].first_result + edge.port; }
  bool Scheduled() const { return options_.receive == RecvRule::Scheduled; }
  bool HasSkeleton(uint32_t part) const { return Scheduled() && receives_[part]; }

  const CutRunOptions options_;
  CutCounts& counts_;
  const ir::Skeleton skeleton_;
  std::vector<ir::Channel> channels_;
  std::vector<std::vector<uint32_t>> channels_of_;      // of each result
  std::vector<std::map<uint32_t, std::vector<uint32_t>>> made_by_;  // of each part: by result of the skeleton the channels whose tags it makes
  std::vector<bool> waits_;                             // of each channel: there is something that makes its tags
  std::vector<bool> is_told_;                           // of each result: a skeleton has to be told
  std::vector<bool> receives_;                          // of each part: anything
  std::vector<ir::Edge> edge_of_;                       // of each result
  std::vector<std::unique_ptr<Part>> parts_;  // null: elsewhere
  Part* here_ = nullptr;        // whose firing is in progress
  bool in_skeleton_ = false;
  std::deque<Message> air_;
  // Of a run with losses: what was sent to each part, and the names of all.
  std::vector<std::deque<Message>> log_;
  std::unordered_set<Name, NameHash> recorded_;
  std::mt19937_64 random_;
  uint32_t losses_left_;
  uint64_t steps_ = 0;
  uint32_t next_ = 0;           // in turn, without a seed

  struct Wave {
    uint32_t missing = 0;
    bool quiet = true;
    uint64_t sent = 0, received = 0;
  };
  bool asking_ = false, over_ = false;
  Wave wave_, last_;
};

}  // namespace df::reference
