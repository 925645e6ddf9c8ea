// runtime/tagged_engine.h
//
// A run of the tagged engine. Private to the engine; runtime/engine.h makes one.
#pragma once

#include <memory>

#include "runtime/engine_run.h"
#include "runtime/tagged_code.h"
#include "runtime/tagged_worker.h"

namespace df::tagged {

class TaggedExecution : public EngineRun {
 public:
  TaggedExecution(const ir::Graph& graph, const RunOptions& run, const Options& options);
  ~TaggedExecution() override;

  Outcome Start(llvm::ArrayRef<Value> inputs) override;
  Outcome Force(Value& value) override;
  Stats stats() const override;

  const Program& program() const { return program_; }
  uint64_t live_frames() const { return live(); }

 private:
  friend class Worker;
  friend void df::FreeDelay(Object* object, DeadObjects& dead);

  Outcome Run(const DelayCell* goal);
  void Where(RuntimeError& error) const override { worker_->Where(error); }
  uint64_t live() const override { return worker_->pool_.live(); }
  void FillPathOf(const DelayCell* cell, RuntimeError& error) const;
  bool Reached(const DelayCell* goal) const { return goal ? goal->state == DelayCell::State::Full : missing_ == 0; }
  // The root has this result now, if it had none.
  void SetResult(uint32_t index, Value value);

  Options options_;
  Program program_;
  std::string refused_;  // why the graph cannot be run
  std::unique_ptr<Worker> worker_;
  std::vector<bool> have_;
  uint32_t missing_ = 0;
  Frame* root_ = nullptr;
};

}  // namespace df::tagged
