// runtime/engines/tagged/exec/engine.h
//
// A run of the tagged engine. Private to the engine; runtime/run/engine.h makes one.
#pragma once

#include <memory>

#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/exec/worker.h"
#include "runtime/run/engine_run.h"
#include "runtime/run/repeat.h"

namespace df::tagged {

// A compiled graph. What is shared by runs has all of its fast code, and no owner; what a run has made for itself it may warm up.
struct TaggedCode : EngineCode {
  Program program;
  Options options;
  std::string refused;  // why the graph cannot be run
};

// `options` are the switches; what follows from the run is added.
std::shared_ptr<TaggedCode> MakeCode(const ir::Graph& graph, const RunOptions& run, Options options, bool shared);

class TaggedExecution : public EngineRun, public Repeatable {
 public:
  // With code of its own.
  TaggedExecution(const ir::Graph& graph, const RunOptions& run, const Options& options);
  // With code that other runs have too.
  TaggedExecution(std::shared_ptr<const TaggedCode> shared, const ir::Graph& graph, const RunOptions& run);
  ~TaggedExecution() override;

  Outcome Start(std::vector<Value> inputs) override;
  std::optional<Outcome> Again(llvm::MutableArrayRef<Value> inputs, const Limits& limits) override;
  Outcome Force(Value& value) override;
  Outcome ForceEach(Value& value, llvm::function_ref<bool(Value&)> next) override;
  Outcome Serve() override;
  Stats stats() const override;
  void Finish() override { EndTeam(); }

  const Program& program() const { return program_; }
  // Objects among them are this run's own, if the code is not: their counts are.
  const std::vector<Value>& constants() const { return own_code_ ? program_.constants : constants_; }
  uint64_t live_frames() const { return live(); }

  // For its workers.
  using EngineRun::CheckLimits;
  using EngineRun::NoteRest;
  Batcher& batcher() { return *batcher_; }
  Value TakeInput(uint32_t index) { return std::move(inputs_[index]); }
  // The root has this result now, if it had none.
  void SetResult(uint32_t index, Value value);
  // exec/cycles.cpp: cells that hold each other
  void CollectIfDue();
  // Nothing went on anywhere, and some frame has left scheduled code since.
  void NoteLeft() { left_scheduled_.store(true); }
  bool HasLeft() const { return left_scheduled_.load(); }
  void LeaveAllScheduled();
  template <typename Visit>
  void ForEachWorker(Visit visit) const;

 private:
  friend struct Worker;
  friend void df::FreeDelay(Object* object, DeadObjects& dead);

  Outcome Run(const DelayCell* goal);
  Outcome RunUntil(const DelayCell* goal);
  // Guarded, of what may end since the run is over where its root is.
  template <typename Work>
  Outcome GuardedHere(Work work);
  bool ForceHere(Value& value, llvm::function_ref<bool(Value&)> next);
  void Demand(DelayCell* cell);
  void GiveUpTeam(const Outcome& outcome);
  void Where(RuntimeError& error) const override;
  uint64_t live() const override;
  void FillPathOf(const DelayCell* cell, RuntimeError& error) const;
  bool Reached(const DelayCell* goal) const { return goal ? goal->IsFull() : missing_ == 0; }
  // The worker whose cells the calling thread gives up.
  static Worker& OwnerOf(const SiteCode& site) { return (site.owner ? site.owner : static_cast<TaggedExecution*>(entered))->Here(); }
  // The worker of the calling thread.
  Worker& Here() const { return Worker::helper && &Worker::helper->execution == this ? *Worker::helper : *worker_; }
  void WarmUp(uint32_t checks);
  void MakeFast();
  void MakeFastCodeNow();
  void StartTeam();
  void EndTeam();
  uint64_t live_cells() const;

  TaggedExecution(std::shared_ptr<TaggedCode> own, const ir::Graph& graph, const RunOptions& run, bool);
  void Prepare();
  Outcome Begin();

  const std::shared_ptr<const TaggedCode> code_;
  TaggedCode* const own_code_;  // null: it is shared
  const Program& program_;
  const Options& options_;
  std::vector<Value> constants_;  // if the code is shared
  std::unique_ptr<Device> own_device_;  // if options_.batch and the run was given none
  std::unique_ptr<Batcher> batcher_;  // if options_.batch; outlives what the frames hold
  std::unique_ptr<Worker> worker_;
  std::vector<bool> have_;
  uint32_t missing_ = 0;
  Frame* root_ = nullptr;
  double seconds_ = 0;  // in Run, if batches are counted
  static constexpr uint64_t kFirstCollection = 1 << 16;
  static constexpr int64_t kFirstCollectionBytes = 4 << 20;
  uint64_t collect_at_ = kFirstCollection;                // cells,
  int64_t collect_at_bytes_ = kFirstCollectionBytes;      // or bytes of this thread
  std::unique_ptr<memory::Budget> shared_budget_;
  std::unique_ptr<Team> team_;           // once there are several threads
  std::atomic<bool> left_scheduled_{false};  // since nothing went on, some frame has
  bool shares_ = false;  // with other processes, all of which run the spine: docs/spread.md
};

}  // namespace df::tagged
