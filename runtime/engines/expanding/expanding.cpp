// The expanding engine's run, and the lifetime of copies.
#include "runtime/engines/expanding/expanding.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/memory.h"

namespace df::expanding {

namespace {

// Time is asked for less often than nodes fire.
constexpr uint32_t kStepsPerCheck = 256;

Label LabelOf(const Instance* instance) {
  bool loop = instance->site->kind == SiteKind::Loop;
  return {instance->site->label, loop, loop ? instance->iteration : 0};
}

bool IsRoot(const Instance* instance) { return instance->site->kind == SiteKind::Root; }

void FillPath(const Instance* instance, RuntimeError& error) {
  PathEnds ends;
  uint64_t length = 0;
  const TagNode* rest = nullptr;
  for (const Instance* at = instance; at && !IsRoot(at); at = at->parent) {
    if ((rest = at->tag)) break;
    ends.Add(EntryOf(LabelOf(at)));
    ++length;
    if ((rest = at->base)) break;
  }
  AddTag(rest, ends);
  ends.Fill(error, length + DepthOf(rest));
}

}  // namespace

TagNode* TagOf(Instance* instance) {
  // Down from the innermost copy around it that has one.
  std::vector<Instance*> without;
  TagNode* tag = nullptr;
  for (Instance* at = instance; at && !IsRoot(at); at = at->parent) {
    if ((tag = at->tag)) break;
    without.push_back(at);
    if ((tag = at->base)) break;
  }
  while (!without.empty()) {
    Instance* at = without.back();
    without.pop_back();
    at->tag = tag = NewTag(LabelOf(at), tag);
  }
  return tag;
}

ExpandingExecution::ExpandingExecution(const ir::Graph& graph, const RunOptions& run)
    : EngineRun(graph, run), queue_(run.last_first), sampler_(run.count) {
  refused_ = Compile(graph_, program_);
  free_.resize(graph_.scopes.size());
  have_.assign(results_.size(), false);
  missing_ = static_cast<uint32_t>(results_.size());
}

ExpandingExecution::~ExpandingExecution() {
  FreeLeftOver();
  // What waits is dropped: values out of copies and cells first, so that no circle of cells keeps anything.
  DeadObjects dead;
  for (Instance* at = first_; at; at = at->next) {
    if (at->cell) dead.Drop(std::exchange(at->cell, nullptr));
    for (uint32_t i = 0; at->held && i < at->body->num_operands; ++i) {
      Value operand = Take(at, i);
      dead.Drop(operand);
    }
    DropTag(at->tag);
    DropTag(at->base);
  }
  for (DelayCell* cell = first_cell_; cell; cell = cell->next) {
    if (std::exchange(cell->from, nullptr)) dead.Drop(cell);
    cell->home = cell->body = nullptr;
    cell->waiters.clear();
    cell->DropChildren(dead);
  }
  for (Value& result : results_) dead.Drop(result);
  dead.FreeAll();
  // What somebody outside still holds must not come back here.
  for (DelayCell* cell = first_cell_; cell; cell = cell->next) {
    cell->owner = nullptr;
    DropTag(std::exchange(cell->tag, nullptr));
  }
  auto give_back = [](Instance* list) {
    while (list) {
      Instance* next = list->next;
      memory::Free(list, sizeof(Instance) + list->body->bytes);
      list = next;
    }
  };
  give_back(first_);
  for (Instance* list : free_) give_back(list);
}

Outcome ExpandingExecution::Start(std::vector<Value> inputs) {
  if (!refused_.empty()) return Ended(Stop::Internal, refused_);
  if (Outcome refused = TakeInputs(std::move(inputs)); !refused.ok()) return refused;
  Outcome outcome = Guarded([&] {
    Instance* root = Instantiate(program_.sites.back(), nullptr);  // its first ref stays
    Deliver(root, program_.start_port, Value::Word(0));
  });
  return outcome.ok() ? Run(nullptr) : outcome;
}

Outcome ExpandingExecution::Force(Value& value) {
  auto answer = [&](Object* object, Value& to) {
    auto* cell = static_cast<DelayCell*>(static_cast<Cell*>(object));
    if (!cell->full) {
      Outcome outcome = Guarded([&] { Release(cell); });
      if (outcome.ok()) outcome = Run(cell);
      if (!outcome.ok()) return outcome;
    }
    to = Value(cell->value);
    return Outcome();
  };
  return ForceCells(value, answer, [](const Value& failed, RuntimeError& error) {
    df::FillPath(TagOfError(failed), error);
  });
}

Outcome ExpandingExecution::Run(const DelayCell* goal) {
  uint32_t steps = 0;
  sampler_.Enter(Part::Tokens);
  Outcome outcome = Guarded([&] {
    while (!queue_.empty() && !Reached(goal)) {
      sampler_.Enter(Part::Queue);
      Entry entry = queue_.Pop();
      sampler_.Enter(Part::Tokens);
      now_ = entry.instance;
      now_node_ = now_->nodes()[entry.node].id;
      if (++steps % kStepsPerCheck == 0) {
        CheckLimits();
        NoteMoment(0, [this](RuntimeError& error) { Where(error); });
      }
      Fire(entry.instance, entry.node);
      Unref(entry.instance);
      if (finished_) FreeFinished();
    }
  });
  sampler_.Enter(Part::kCount);
  if (!outcome.ok()) return outcome;
  now_ = nullptr;
  if (Reached(goal)) return {};
  if (!goal) return MissingResult([&](uint32_t index) { return have_[index]; });
  outcome = NoProgress(goal->site->node, graph_.sites[ir::SiteId(goal->site->label)].pos);
  df::FillPath(goal->tag, outcome.error);
  return outcome;
}

void ExpandingExecution::Where(RuntimeError& error) const {
  if (!now_) return;
  error.node = ir::NodeId(now_node_);
  FillPath(now_, error);
}

Stats ExpandingExecution::stats() const {
  Stats stats = EngineRun::stats();
  static constexpr std::string_view kNames[] = {"tokens", "copies", "queue", "kernels"};
  if (!run_.count) return stats;
  auto shares = sampler_.Shares();
  for (size_t i = 0; i < shares.size(); ++i) stats.parts.push_back({kNames[i], shares[i]});
  return stats;
}

// ---------------------------------------------------------------- copies

// A copy of the site's callee, with one ref more than it needs: its maker's, until all is delivered.
Instance* ExpandingExecution::Instantiate(const Site& site, Instance* parent) {
  sampler_.Enter(Part::Copy);
  const Body& body = *site.callee;
  Instance*& free = free_[body.scope.index];
  Instance* copy = free;
  if (copy) free = copy->next;
  else copy = static_cast<Instance*>(memory::Allocate(sizeof(Instance) + body.bytes));
  *copy = {};
  std::memcpy(copy->image(), body.image.data(), body.bytes);
  copy->site = &site;
  copy->body = &body;
  copy->parent = parent;
  copy->depth = parent ? parent->depth + 1 : 0;
  copy->refs = 1 + (site.kind == SiteKind::Loop ? 1 : site.num_returns);
  copy->held = static_cast<uint32_t>(body.counted.size());
  for (uint32_t operand : body.counted) copy->operands()[operand].object()->refs.Retain();
  if (parent) ++parent->refs;
  copy->next = first_;
  if (first_) first_->previous = copy;
  first_ = copy;
  stats_.peak_frames = std::max(stats_.peak_frames, ++live_);
  ++(site.kind == SiteKind::Loop ? stats_.loops : stats_.calls);
  stats_.max_depth = std::max(stats_.max_depth, copy->depth);
  sampler_.Enter(Part::Tokens);
  return copy;
}

// One after another: giving back what a copy holds may finish others.
void ExpandingExecution::FreeFinished() {
  sampler_.Enter(Part::Copy);
  while (Instance* instance = finished_) {
    finished_ = instance->next_finished;
    Free(instance);
  }
  sampler_.Enter(Part::Tokens);
}

void ExpandingExecution::Free(Instance* instance) {
  if (instance->kept_in) *instance->kept_in = kGone;
  // An iteration may be gone before the next one. Callees and cells that miss operands would have held it.
  for (uint32_t i = 0; i < instance->body->num_children; ++i)
    if (void* child = instance->children()[i]; child && child != kGone) static_cast<Instance*>(child)->kept_in = nullptr;
  for (uint32_t i = 0; instance->held; ++i) Take(instance, i);
  DropTag(instance->tag);
  DropTag(instance->base);
  if (DelayCell* cell = instance->cell) {
    cell->body = nullptr;
    Value::Adopt(ValueKind::Reference, cell);
  }
  if (instance->parent) Unref(instance->parent);
  (instance->previous ? instance->previous->next : first_) = instance->next;
  if (instance->next) instance->next->previous = instance->previous;
  --live_;
  Instance*& free = free_[instance->body->scope.index];
  instance->next = free;
  free = instance;
}

DelayCell::~DelayCell() {
  if (!owner) return;
  (previous ? previous->next : owner->first_cell_) = next;
  if (next) next->previous = previous;
  if (home) owner->Unref(home);
  DropTag(tag);
}

void DelayCell::DropChildren(DeadObjects& dead) {
  dead.Drop(value);
  for (Value& operand : operands) dead.Drop(operand);
  operands.clear();
}

}  // namespace df::expanding

namespace df {

std::unique_ptr<Execution> MakeExpandingExecution(const ir::Graph& graph, const RunOptions& options) {
  return std::make_unique<expanding::ExpandingExecution>(graph, options);
}

}  // namespace df
