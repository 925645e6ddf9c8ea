// A run as a whole: start, forcing what results refer to, limits, the end.
#include "runtime/engines/tagged/exec/engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/base/memory.h"
#include "runtime/device/host_device.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/frames.h"
#include "runtime/engines/tagged/exec/scheduled_frame.h"
#include "runtime/engines/tagged/exec/far_calls.h"
#include "runtime/engines/tagged/exec/team.h"
#include "runtime/engines/tagged/exec/work_sharing.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/spread.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;

namespace {

// A graph of fewer nodes has its fast code from the start. Made for many nodes, it takes as long as some steps of event code
// for each of them.
constexpr uint32_t kManyNodes = 2000;
constexpr uint32_t kStepsPerNode = 4;

// The same constant, counted by this run alone. Large ones share their elements with the code, which outlives the run; as the run
// keeps a holder of each nobody else is the only one, and writes there.
Value CopyOf(const Value& constant) {
  if (!constant.counted()) return constant;
  switch (constant.object()->kind) {
    case ObjectKind::BigInteger: {
      auto* copy = new BigInteger();
      mpz_set(copy->value, static_cast<const BigInteger*>(constant.object())->value);
      return Value::Adopt(ValueKind::Object, copy);
    }
    case ObjectKind::Text:
      return Value::Adopt(ValueKind::Object, new TextObject(static_cast<const TextObject*>(constant.object())->text()));
    case ObjectKind::Tensor: {
      auto* tensor = static_cast<TensorObject*>(constant.object());
      ir::Type type{ir::TypeKind::Tensor, "", {}, tensor->element(), tensor->dims().vec()};
      return Value::Adopt(ValueKind::Object, new TensorObject(type, tensor->data()));
    }
    default: return constant;  // there are no others
  }
}

}  // namespace

std::shared_ptr<TaggedCode> MakeCode(const ir::Graph& graph, const RunOptions& run, Options options, bool shared) {
  if (run.trace) options.scheduled = options.move = false;  // every firing is shown, with its operands
  options.batch = run.batch > 0 && !run.trace && graph.types.HasTensors();
  options.away = run.device && !run.device->is_host();
  options.placed = run.placed;
  options.shares = !run.trace && !run.run_dry && run.peers && run.peers->Size() > 1 && ir::SpineOf(graph) == ir::Spine::Everywhere;
  if (!run.trace && !run.run_dry && run.peers && !options.shares) {
    options.processes = run.peers->Size();
    options.rank = run.peers->Rank();
  }
  if (run.stress % 3 == 2) options.most_native = std::min(options.most_native, static_cast<uint32_t>(run.stress * 37 % 2000));
  options.fast_later = !shared && run.warm_up && options.scheduled && (run.stress ? run.stress % 2 == 0 : graph.nodes.size() >= kManyNodes);
  auto code = std::make_shared<TaggedCode>();
  code->refused = Compile(graph, options, &code->program);
  if (code->program.tensor_groups.empty()) options.batch = false;
  code->options = options;
  return code;
}

TaggedExecution::TaggedExecution(const ir::Graph& graph, const RunOptions& run, const Options& options)
    : TaggedExecution(MakeCode(graph, run, options, /*shared=*/false), graph, run, true) {}

TaggedExecution::TaggedExecution(std::shared_ptr<TaggedCode> own, const ir::Graph& graph, const RunOptions& run, bool)
    : EngineRun(graph, run), code_(own), own_code_(own.get()), program_(own->program), options_(own->options) {
  for (SiteCode& site : own->program.sites) site.owner = this;
  Prepare();
}

TaggedExecution::TaggedExecution(std::shared_ptr<const TaggedCode> shared, const ir::Graph& graph, const RunOptions& run)
    : EngineRun(graph, run), code_(std::move(shared)), own_code_(nullptr), program_(code_->program), options_(code_->options) {
  Enter();
  constants_.reserve(program_.constants.size());
  for (const Value& constant : program_.constants) constants_.push_back(CopyOf(constant));
  Prepare();
}

void TaggedExecution::Prepare() {
  if (run_.trace || run_.run_dry) run_.threads = 1, run_.peers = nullptr;
  shares_ = options_.shares;
  if (shares_) tags_have_names.store(true);
  const uint32_t threads = run_.threads ? run_.threads : DefaultThreads();
  // Outers look into frames around theirs, which may be another worker's. Pieces of shared calls go as values.
  if (std::any_of(program_.sites.begin(), program_.sites.end(), [](const SiteCode& s) { return s.needs_outer || s.keeps_home; })) {
    run_.threads = 1;
    if (!shares_) run_.peers = nullptr;
  }
  if (run_.threads == 0) run_.threads = threads;
  if (options_.batch) {
    // The threads share batches; one runs ahead and notes them.
    std::vector<Device*> devices = {run_.device};
    if (run_.placed) devices.insert(devices.end(), run_.placed->devices.begin(), run_.placed->devices.end());
    for (Device*& device : devices) {
      if (!device && !own_device_) own_device_ = std::make_unique<HostDevice>(threads, run_.stress != 0);
      if (!device) device = own_device_.get();
    }
    run_.threads = 1;
    BatchOptions batches{run_.batch, run_.count, run_.timeline ? &run_.timeline->batches() : nullptr, threads};
    batcher_ = std::make_unique<Batcher>(program_.tensor_groups.size(), batches, devices, [this] { CheckLimits(); });
  }
  worker_ = std::make_unique<Worker>(*this, 0);
  have_.assign(results_.size(), false);
  missing_ = static_cast<uint32_t>(results_.size());
}

// What waits is dropped: values out of frames and cells first, so that no cycle through cells keeps anything.
TaggedExecution::~TaggedExecution() {
  Enter();
  if (team_) team_->End();
  FreeLeftOver();
  ForEachWorker([](Worker& worker) { worker.unreleased.kept.FreeAll(); });
  DeadObjects dead;
  ForEachWorker([&](Worker& worker) { worker.GiveUpValues(dead); });
  ForEachWorker([&](Worker& worker) { worker.GiveUpCells(dead); });
  for (Value& result : results_) dead.Drop(result);
  dead.FreeAll();
  ForEachWorker([](Worker& worker) { worker.unpins.clear(); });
}

void TaggedExecution::SetResult(uint32_t index, Value value) {
  if (have_[index]) return;
  have_[index] = true;
  results_[index] = std::move(value);
  --missing_;
}

Outcome TaggedExecution::Start(std::vector<Value> inputs) {
  if (!code_->refused.empty()) return Ended(Stop::FrameLimit, code_->refused);
  if (Outcome refused = TakeInputs(std::move(inputs)); !refused.ok()) return refused;
  return Begin();
}

// A team is not used again: a run that has one took milliseconds.
std::optional<Outcome> TaggedExecution::Again(llvm::MutableArrayRef<Value> inputs, const Limits& limits) {
  if (!Guarded([] {}).ok() || team_ || run_.run_dry || inputs.size() != inputs_.size()) return std::nullopt;
  Enter();
  DeadObjects dead;
  for (Value& result : results_) dead.Drop(result);
  worker_->Renew(dead);
  root_ = nullptr;
  have_.assign(results_.size(), false);
  missing_ = static_cast<uint32_t>(results_.size());
  left_scheduled_.store(false, std::memory_order_relaxed);
  collect_at_ = kFirstCollection;
  run_.limits = limits;
  limits_ = LimitCheck(limits);
  std::move(inputs.begin(), inputs.end(), inputs_.begin());
  return Begin();
}

Outcome TaggedExecution::Begin() {
  Enter();
  worker_->stats.calls = 1;
  Outcome outcome = GuardedHere([&] {
    if (shares_ || (run_.peers && program_.placed)) {
      MakeFastCodeNow();
      StartTeam();
    }
    root_ = NewFrame(*worker_, &program_.RootSite(), nullptr);
    worker_->Fire(root_, program_.RootSite().callee->activation);
  });
  return outcome.ok() ? Run(nullptr) : outcome;
}

Outcome TaggedExecution::Force(Value& value) {
  Enter();
  auto answer = [&](Object* object, Value& to) {
    auto* cell = static_cast<DelayCell*>(object);
    if (!cell->IsFull()) {
      Outcome outcome = Guarded([&] { Demand(cell); });
      if (outcome.ok()) outcome = Run(cell);
      if (!outcome.ok()) return outcome;
    }
    to = Value(cell->value());
    return Outcome();
  };
  return ForceCells(value, answer, [](const Value& failed, RuntimeError& error) { FillPath(TagOfError(failed), error); });
}

// Nothing is started here: what there is to do comes from the others.
Outcome TaggedExecution::Serve() {
  if (!code_->refused.empty()) return Ended(Stop::FrameLimit, code_->refused);
  if (!run_.peers) return {};  // its calls cannot be given away
  Outcome outcome = Guarded([&] {
    MakeFastCodeNow();
    StartTeam();
    ServeFar(*worker_);
  });
  EndTeam();
  return outcome;
}

void TaggedExecution::MakeFastCodeNow() {
  if (!program_.fast) MakeFast();
}

template <typename Work>
Outcome TaggedExecution::GuardedHere(Work work) {
  return Guarded([&] {
    try {
      work();
    } catch (const Ending&) {
      throw Stopped{Stop::Interrupted};
    }
  });
}

// The worker's next work is the cell, unless somebody has it already.
void TaggedExecution::Demand(DelayCell* cell) {
  CellLock lock(cell);
  if (!Release(*worker_, cell)) return;
  worker_->stack.push_back({nullptr, cell, 0});
  cell->refs.Retain();
}

Outcome TaggedExecution::ForceEach(Value& value, llvm::function_ref<bool(Value&)> next) {
  Enter();
  for (;;) {
    if (!batcher_ && !run_.run_dry) {
      bool done = false;
      Outcome outcome = GuardedHere([&] { done = ForceHere(value, next); });
      if (!outcome.ok()) GiveUpTeam(outcome);
      if (!outcome.ok() || done) return outcome;
    }
    if (Outcome outcome = Force(value); !outcome.ok() || !next(value)) return outcome;
  }
}

// ForceEach as long as the calling thread gets on by itself. False: what is to be done with `value` is more than that.
bool TaggedExecution::ForceHere(Value& value, llvm::function_ref<bool(Value&)> next) {
  for (;;) {
    CheckForceHere();
    if (value.is_error()) return false;
    if (!value.is_reference()) {
      if (!next(value)) return true;
      continue;
    }
    if (HostCellIn(value.object())) return false;
    auto* cell = static_cast<DelayCell*>(value.object());
    if (!cell->IsFull() && !RunAheadOfAll(*worker_, cell)) {
      Demand(cell);
      worker_->goal = cell;
      while (!worker_->stack.empty() && !Reached(cell)) worker_->Step();
      if (!Reached(cell)) return false;
      worker_->now = nullptr;
    }
    value = Value(cell->value());
  }
}

Outcome TaggedExecution::Run(const DelayCell* goal) {
  if (!batcher_ || !run_.count) return RunUntil(goal);
  auto began = std::chrono::steady_clock::now();
  Outcome outcome = RunUntil(goal);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return outcome;
}

// Others compute nothing more either. One of them may be releasing millions of values.
void TaggedExecution::GiveUpTeam(const Outcome& outcome) {
  if (team_) team_->End([&] {
    if (run_.leave && outcome.stop != Stop::Failed && outcome.stop != Stop::Internal) run_.leave(outcome);
  });
}

Outcome TaggedExecution::RunUntil(const DelayCell* goal) {
  worker_->goal = goal;
  if (team_ && team_->far()) team_->far()->BeginRun();
  bool awaited = false;  // the goal
  Outcome outcome = GuardedHere([&] {
    bool asked = false;  // all frames to leave scheduled code
    for (;;) {
      while (!worker_->stack.empty() && (run_.run_dry || !Reached(goal))) worker_->Step();
      if (Reached(goal)) {
        if (batcher_) batcher_->Finish();  // who looks at a result now has no limits
        return;
      }
      if (team_) {
        if (goal && !awaited) {
          awaited = true;
          CellLock lock(const_cast<DelayCell*>(goal));
          if (goal->IsFull()) return;
          team_->AddWaiter(const_cast<DelayCell*>(goal), worker_.get(), {nullptr, kNone});
          const_cast<DelayCell*>(goal)->more_waiters = true;
        }
        if (FindWork(*worker_)) continue;
        Far* far = team_->far();
        if (far && far->over()) throw Ending{};
        if (far && far->stuck()) return;
        if (far && team_->AnyAway()) {
          asked = false;
          LeaveForFar(*worker_);
          continue;
        }
      }
      if (asked && !left_scheduled_.load()) return;
      asked = true;
      LeaveAllScheduled();
    }
  });
  if (!outcome.ok()) {
    GiveUpTeam(outcome);
    return outcome;
  }
  worker_->now = nullptr;
  if (!Reached(goal)) {
    if (!goal) return MissingResult([&](uint32_t index) { return have_[index]; });
    outcome = NoProgress(goal->site->trigger, graph_.sites[ir::SiteId(goal->site->label)].pos);
    FillPathOf(goal, outcome.error);
    return outcome;
  }
  if (run_.run_dry) {
    std::string left = worker_->Leftovers(root_);
    if (!left.empty()) return Ended(Stop::Internal, left);
  }
  return {};
}

// The call path of a Delay whose cell is not full.
void TaggedExecution::FillPathOf(const DelayCell* cell, RuntimeError& error) const {
  const Frame* body = cell->Now() == DelayCell::State::Running ? cell->body : nullptr;
  if (cell->site->keeps_home) FillPath(body ? body->parent_frame() : cell->home, error);
  else if (body && body->flags & kHasTag && body->tag == body->parent_tag) FillPathAround(body->tag, error);
  else FillPath(body ? body->parent_tag : cell->tag, error);
}

// Fast code is worth making once the run has taken about as long as that takes; before there are several threads in any case.
void TaggedExecution::WarmUp(uint32_t checks) {
  uint64_t due = std::min<uint64_t>(uint64_t{kStepsPerNode} * graph_.nodes.size() / Worker::kStepsPerCheck, Worker::kChecksBeforeTeam / 2);
  if (run_.stress) due = run_.stress % 64;
  if (checks > due) MakeFast();
}

// Of code of its own: what is shared has it.
void TaggedExecution::MakeFast() {
  MakeFastCode(own_code_->program, options_, [this] { CheckLimits(); });
  worker_->Link();
}

// ---------------------------------------------------------------- several threads

void TaggedExecution::StartTeam() {
  shared_budget_ = std::make_unique<memory::Budget>(limits_.max_memory(), run_.threads);
  budget_ = shared_budget_.get();
  shared_budget_->Join(0, limits_.base());
  team_ = std::make_unique<Team>(*this, *worker_, run_.threads, *shared_budget_);
  if (run_.peers) team_->Join(*run_.peers, {limits_.base(), limits_.max_memory()}, run_.stress, shares_);
}

// Where the run was when it was stopped is known by then: nothing runs any more.
void TaggedExecution::EndTeam() {
  if (team_ && team_->far()) team_->far()->End();
  if (team_) team_->End();
}

// Nothing goes on anywhere: frames that wait in scheduled code may have something else to do. Then left_scheduled_ is set, before
// all is quiet again.
void TaggedExecution::LeaveAllScheduled() {
  left_scheduled_.store(tagged::LeaveAllScheduled(*worker_));
  for (uint32_t i = 1; team_ && i < team_->size(); ++i)
    team_->Send(team_->worker(i), std::make_unique<Message>(Message::Kind::LeaveScheduled, worker_.get()));
}

// Of the calling thread's own worker as they are, of others as they have published.
uint64_t TaggedExecution::live() const {
  const Worker* here = &Here();
  uint64_t live = here->pool.live();
  ForEachWorker([&](const Worker& worker) {
    if (&worker != here) live += worker.live_published.load(std::memory_order_relaxed);
  });
  return live;
}

uint64_t TaggedExecution::live_cells() const {
  int64_t cells = 0;
  ForEachWorker([&](const Worker& worker) { cells += worker.cells_published.load(std::memory_order_relaxed); });
  return static_cast<uint64_t>(std::max<int64_t>(0, cells));
}

void TaggedExecution::Where(RuntimeError& error) const {
  if (team_ && team_->failed()) {
    error.node = team_->where().node;
    error.pos = team_->where().pos;
    error.path = team_->where().path;
    error.path_length = team_->where().path_length;
    error.path_gap = team_->where().path_gap;
    return;
  }
  worker_->Where(error);
}

Stats TaggedExecution::stats() const {
  Stats stats = EngineRun::stats();
  ForEachWorker([&](const Worker& worker) {
    if (&worker != worker_.get() && team_->running()) return;  // its own, until it has ended
    const Stats& work = worker.stats;
    stats.firings += work.firings;
    stats.regions += work.regions;
    stats.calls += work.calls;
    stats.loops += work.loops;
    stats.delays += work.delays;
    stats.released += work.released;
    stats.steals += work.steals;
    stats.max_depth = std::max(stats.max_depth, work.max_depth);
    stats.peak_frames += worker.pool.peak();
  });
  if (run_.peers) {
    stats.has_peers = true;
    if (const Far* far = team_ ? team_->far() : nullptr) {
      stats.far_given = far->stats.given;
      stats.far_taken = far->stats.taken;
      stats.far_lost = far->stats.lost;
      stats.far_kept_back = far->stats.kept_back;
    }
  }
  if (batcher_) {
    const BatchStats& batch = batcher_->stats();
    stats.batches = batch.batches;
    stats.batched = batch.rows;
    stats.largest_batch = batch.largest;
    stats.batches_away = batch.away;
    auto add = [&](const Device* of) {
      if (!of || of->is_host()) return;
      const DeviceStats& device = of->stats();
      stats.away = true;
      stats.uploads += device.uploads;
      stats.uploaded += device.uploaded;
      stats.downloads += device.downloads;
      stats.downloaded += device.downloaded;
      stats.peak_device += device.peak_bytes;
    };
    add(run_.device);
    if (run_.placed) llvm::for_each(run_.placed->devices, add);
    double all = seconds_, rest = all - batch.times.products - batch.times.others - batch.times.gathers;
    if (run_.count && all > 0 && batch.batches)
      stats.parts = {{"products", batch.times.products / all}, {"other tensor ops", batch.times.others / all},
                     {"gathers", batch.times.gathers / all}, {"all else", rest / all}};
  }
  if (shared_budget_) stats.peak_memory = std::max(stats.peak_memory, static_cast<uint64_t>(shared_budget_->peak()));
  return stats;
}

Options OptionsOf(const RunOptions& run) {
  Options options;
  options.count = run.count;
#define DF_SWITCH(field, name, kept, description) options.field = run.field;
#include "runtime/run/switches.def"
  return options;
}

}  // namespace df::tagged

namespace df {

std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options) {
  return std::make_unique<tagged::TaggedExecution>(graph, options, tagged::OptionsOf(options));
}

std::shared_ptr<const EngineCode> MakeTaggedCode(const ir::Graph& graph, const RunOptions& options) {
  return tagged::MakeCode(graph, options, tagged::OptionsOf(options), /*shared=*/true);
}

std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options, std::shared_ptr<const EngineCode> code) {
  return std::make_unique<tagged::TaggedExecution>(std::static_pointer_cast<const tagged::TaggedCode>(std::move(code)), graph, options);
}

}  // namespace df
