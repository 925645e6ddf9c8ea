// runtime/run/engine_run.h
//
// What every engine does alike: run within limits, and say how the run ended. Private to the engines.
#pragma once

#include <array>
#include <new>

#include "runtime/base/long_operation.h"
#include "runtime/base/memory.h"
#include "runtime/run/device_errors.h"
#include "runtime/run/engine.h"
#include "runtime/run/limits.h"
#include "runtime/run/timeline.h"

namespace df {

// Thrown where a limit was reached.
struct Stopped {
  Stop stop;
};

// Thrown where a rule of docs/graph.md is broken: more than one token on an edge, a reference where a value must be. Ends
// the run as Stop::Internal.
struct BrokenRule {
  std::string what;
};

// Takes the labels of a call path, innermost first, and keeps both ends of it.
class PathEnds {
 public:
  static constexpr size_t kInner = 32, kOuter = 32;
  void Add(const PathEntry& entry);
  // The labels were `length`; those between the ends that were added are not known.
  void Fill(RuntimeError& error, uint64_t length) const;
  uint64_t added() const { return added_; }

 private:
  std::vector<PathEntry> inner_;
  std::array<PathEntry, kOuter> outer_;  // a ring: of what was added behind the inner ones, the last
  uint64_t added_ = 0;
};

class EngineRun : public Execution, private DeadObjects::Watch {
 public:
  ~EngineRun() override;
  EngineRun(const EngineRun&) = delete;
  EngineRun& operator=(const EngineRun&) = delete;
  llvm::ArrayRef<Value> results() const override { return results_; }
  Value TakeResult(size_t index) override { return std::move(results_[index]); }
  Stats stats() const override;
  Outcome GiveUp(Stop stop) override { return Ended(stop); }

 protected:
  EngineRun(const ir::Graph& graph, const RunOptions& run);

  // Where the run is: the node, as far as it is known, and the call path.
  virtual void Where(RuntimeError& error) const = 0;
  // Whether it was ended from outside, by a signal or by the time that it may take: then its place matters and not how deep it was.
  bool WasEnded() const { return last_.stop == Stop::Interrupted || last_.stop == Stop::Timeout; }
  // Activations that are alive, for the limit.
  virtual uint64_t live() const = 0;

  // Throws Stopped if a limit is reached.
  void CheckLimits() const {
    Stop stop = limits_.Check(live());
    if (stop != Stop::Done) throw Stopped{stop};
  }
  // The same where the run cannot be given up for a while: ends the process, if that is wanted (RunOptions::leave).
  void LeaveAtLimit() {
    if (!run_.leave) return;
    if (Stop stop = limits_.Check(0); stop != Stop::Done) run_.leave(Ended(stop));
  }
  // What a worker is doing now goes to its track, if a timeline is wanted and it is time. `at` says where, as Where does.
  template <typename At>
  void NoteMoment(unsigned worker, At at) const {
    if (!run_.timeline) [[likely]] return;
    TimelineTrack& track = run_.timeline->track(worker);
    auto now = TimelineTrack::Clock::now();
    if (!track.Due(now)) return;
    RuntimeError where;
    at(where);
    track.Add(now, std::move(where));
  }
  void NoteRest(unsigned worker) const {
    if (run_.timeline) run_.timeline->track(worker).Rest(TimelineTrack::Clock::now());
  }
  // Runs `work` within the limits and says how it ended; nothing runs any more after the run has ended.
  template <typename Work>
  Outcome Guarded(Work work) {
    if (ended_) return last_;
    try {
      memory::LimitScope scope(limits_.base(), limits_.max_memory(), budget_);
      DeadObjects::WatchScope watch(this);
      work();
    } catch (const DeviceFull& full) {
      return Ended(Stop::MemoryLimit, full.what());
    } catch (const std::bad_alloc&) {
      return Ended(Stop::MemoryLimit);
    } catch (const HostInterrupted&) {
      Stop stop = limits_.Check(live());
      bool late = run_.limits.timeout.count() > 0 && !(run_.limits.interrupt && run_.limits.interrupt->load());
      return Ended(stop != Stop::Done ? stop : late ? Stop::Timeout : Stop::Interrupted);
    } catch (const Stopped& stopped) {
      return Ended(stopped.stop);
    } catch (const OperationAborted& aborted) {
      return Ended(aborted.stop);
    } catch (const BrokenRule& broken) {
      return Ended(Stop::Internal, broken.what);
    } catch (const DeviceFault& fault) {
      return Ended(Stop::Internal, fault.what());
    }
    return {};
  }
  // The inputs are taken if they are as many as the graph has.
  Outcome TakeInputs(std::vector<Value> inputs);
  // First of all in the destructor of an engine: nothing runs any more.
  void FreeLeftOver();
  // Printing a large value that is all there forces nothing, and is to end in time as well.
  Outcome CheckForce();
  // The same within the limits already.
  void CheckForceHere() {
    if (++forces_ % kForcesPerCheck == 0) CheckLimits();
  }

  // Force, where each delayed call has a cell: `answer(object, value)` evaluates what the object stands for within the limits
  // and puts its answer into `value`; `fill_path(error_value, error)` says where an error arose.
  template <typename Answer, typename FillPathOfError>
  Outcome ForceCells(Value& value, Answer answer, FillPathOfError fill_path) {
    if (Outcome outcome = CheckForce(); !outcome.ok()) return outcome;
    while (value.is_reference()) {
      Value keep = value;  // what it refers to lives while that runs
      Outcome outcome =
          HostCellIn(keep.object()) ? Guarded([&] { AskHost(value); }) : answer(keep.object(), value);
      if (!outcome.ok()) return outcome;
    }
    if (Outcome outcome = Guarded([&] { LookIntoTensor(value); }); !outcome.ok()) return outcome;
    if (!value.is_error()) return {};
    Outcome outcome = FailedWith(value);
    fill_path(value, outcome.error);
    return outcome;
  }

  // A tensor that could not be computed becomes its error.
  static void LookIntoTensor(Value& value);
  Outcome Ended(Stop stop) { return Ended(stop, limits_.Detail(stop)); }
  Outcome Ended(Stop stop, std::string detail);
  // `value` is an error; its call path is left out.
  static Outcome FailedWith(const Value& value);
  // The first result that is not there waits for itself; its call path is the empty one.
  template <typename IsThere>
  Outcome MissingResult(IsThere is_there) const {
    for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
      const ir::Node& node = graph_.nodes[ir::NodeId(n)];
      if (node.op == ir::Op::Result && !is_there(node.attr)) return NoProgress(ir::NodeId(n), node.pos);
    }
    return {};
  }
  // `<<loop>>` at this node; its call path is left out.
  static Outcome NoProgress(ir::NodeId node, ir::PosId pos);

  const ir::Graph& graph_;
  RunOptions run_;
  LimitCheck limits_;
  std::vector<Value> inputs_, results_;
  Stats stats_;
  memory::Budget* budget_ = nullptr;  // of a run on several threads; this one has share 0

 private:
  bool Take(DeadObjects& left) override;

  DeadObjects::Watch* const outer_watch_ = DeadObjects::watch;
  std::array<DeadObjects, 16> left_over_;  // whose release was given up because a limit was reached
  size_t left_overs_ = 0;
  // Time is asked for less often than values are forced.
  static constexpr uint64_t kForcesPerCheck = 256;
  uint64_t forces_ = 0;
  bool ended_ = false;  // by a limit or a broken rule
  Outcome last_;
};

}  // namespace df
