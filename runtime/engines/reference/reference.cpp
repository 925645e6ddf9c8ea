// The reference engine's run: tokens are taken one by one until what is wanted is there.
#include "runtime/engines/reference/reference.h"

#include <new>

#include <fmt/format.h>

#include "runtime/run/progress.h"

namespace df::reference {

using ir::Op;

namespace {

// Time is asked for less often than tokens are taken.
constexpr uint32_t kStepsPerCheck = 256;

}  // namespace

ReferenceExecution::ReferenceExecution(const ir::Graph& graph, const RunOptions& options)
    : EngineRun(graph, options), whole_(options.seed) {
  first_user_.assign(graph.results.size() + 1, 0);
  auto result_of = [&](ir::Edge edge) { return graph.nodes[edge.node].first_result + edge.port; };
  for (uint32_t n = 0; n < graph.nodes.size(); ++n)
    for (ir::Edge edge : graph.InputsOf(ir::NodeId(n))) ++first_user_[result_of(edge) + 1];
  for (size_t r = 1; r < first_user_.size(); ++r) first_user_[r] += first_user_[r - 1];
  users_.resize(first_user_.back());
  std::vector<uint32_t> next(first_user_.begin(), first_user_.end() - 1);
  delay_of_site_.resize(graph.sites.size());
  for (uint32_t n = 0; n < graph.nodes.size(); ++n) {
    ir::NodeId node(n);
    uint32_t input = 0;
    for (ir::Edge edge : graph.InputsOf(node)) users_[next[result_of(edge)]++] = {node, input++};
    if (graph.nodes[node].op == Op::Delay) delay_of_site_[graph.nodes[node].attr] = node;
    types_.push_back(TypesOf(graph, node));
  }
  constants_.resize(graph.constants.size());
  constant_made_.resize(graph.constants.size());
  result_there_.resize(results_.size());
  results_missing_ = static_cast<uint32_t>(results_.size());
}

ReferenceExecution::~ReferenceExecution() {
  FreeLeftOver();
  while (!whole_.queue.empty()) whole_.queue.Pop();
  whole_.waiting.clear();
  whole_.outer_values.clear();
  results_.clear();
  // Cells may refer to each other in a circle: all of them are emptied before any of them goes.
  DeadObjects dead;
  for (DelayCell* cell = first_cell_; cell; cell = cell->next) {
    cell->DropChildren(dead);
    cell->waiters.clear();
    for (; cell->holds; --cell->holds) dead.Drop(cell);
  }
  dead.FreeAll();
  // What somebody outside still holds must not come back here.
  for (DelayCell* cell = first_cell_; cell; cell = cell->next) {
    cell->owner = nullptr;
    cell->tag = {};
  }
}

Outcome ReferenceExecution::Start(std::vector<Value> inputs) {
  if (Outcome refused = TakeInputs(std::move(inputs)); !refused.ok()) return refused;
  stats_.calls = 1;
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n) {
    if (graph_.nodes[ir::NodeId(n)].op != Op::Start) continue;
    Outcome outcome = Guarded([&] {
      TraceFiring(ir::NodeId(n), {}, {});
      ++stats_.firings;
      Emit(ir::NodeId(n), 0, {}, Value::Word(0));
      TraceEnd();
    });
    if (!outcome.ok()) return outcome;
  }
  return Run(nullptr);
}

Outcome ReferenceExecution::Force(Value& value) {
  auto answer = [&](Object* object, Value& to) { return Answer(static_cast<DelayCell*>(static_cast<Cell*>(object)), to); };
  return ForceCells(value, answer, [this](const Value& failed, RuntimeError& error) { FillErrorPath(static_cast<ErrorObject*>(failed.object())->tag, error); });
}

void ReferenceExecution::FillErrorPath(const Object* error_tag, RuntimeError& error) const {
  FillPath(error_tag ? static_cast<const TagCell*>(static_cast<const Cell*>(error_tag))->tag.get() : nullptr, error);
}

Outcome ReferenceExecution::Answer(DelayCell* cell, Value& to) {
  if (!cell->full) {
    Outcome outcome = Guarded([&] { Release(cell); });
    if (outcome.ok()) outcome = Run(cell);
    if (!outcome.ok()) return outcome;
  }
  to = Value(cell->value);
  return {};
}

void ReferenceExecution::Take(const Token& token) {
  now_node_ = token.node;
  now_tag_ = token.tag;
  trace_input_ = token.input;
  try {
    Deliver(token);
  } catch (const BrokenRule& broken) {
    throw BrokenRule{fmt::format("{}: node %{} ({})", broken.what, now_node_.index,
                                 ir::InfoOf(graph_.nodes[now_node_].op).name)};
  }
  TraceEnd();
}

Outcome ReferenceExecution::Run(const DelayCell* goal) {
  uint32_t steps = 0;
  auto reached = [&] { return goal ? goal->full : results_missing_ == 0; };
  Outcome outcome = Guarded([&] {
    while (!whole_.queue.empty() && (run_.run_dry || !reached())) {
      Token token = whole_.queue.Pop();
      if (++steps % kStepsPerCheck == 0) {
        CheckLimits();
        NoteProgress();
        NoteMoment(0, [this](RuntimeError& error) { Where(error); });
      }
      Take(token);
    }
  });
  if (!outcome.ok()) return outcome;
  now_tag_ = {};
  if (!reached()) return NothingMoves(goal);
  if (run_.run_dry) {
    std::string left = Leftovers();
    if (!left.empty()) return Ended(Stop::Internal, left);
  }
  return {};
}

// What is wanted waits for itself.
Outcome ReferenceExecution::NothingMoves(const DelayCell* goal) {
  if (!goal) return MissingResult([&](uint32_t index) { return result_there_[index]; });
  Outcome outcome = NoProgress(delay_of_site_[goal->site.index], graph_.sites[goal->site].pos);
  FillPath(goal->tag.get(), outcome.error);
  return outcome;
}

void ReferenceExecution::Where(RuntimeError& error) const {
  error.node = now_node_;
  FillPath(now_tag_.get(), error);
}

void ReferenceExecution::Emit(ir::NodeId node, uint32_t port, const TagRef& tag, const Value& value) {
  Note(node, port, tag, value);
  uint32_t result = graph_.nodes[node].first_result + port;
  for (uint32_t u = first_user_[result]; u < first_user_[result + 1]; ++u)
    at_->queue.Push({users_[u].first, users_[u].second, tag, value});
}

void ReferenceExecution::Note(ir::NodeId node, uint32_t port, const TagRef& tag, const Value& value) {
  uint32_t result = graph_.nodes[node].first_result + port;
  if (value.is_dead()) ++stats_.dead_tokens;
  stats_.max_depth = std::max(stats_.max_depth, tag.depth());
  if (run_.run_dry && gives_once_ && !emitted_.insert({result, tag}).second) throw BrokenRule{"two tokens on one edge under one tag"};
  if (run_.trace) TraceResult(node, port, now_tag_, tag, value);
}

bool ReferenceExecution::IsTrigger(ir::NodeId node, uint32_t port) const {
  return graph_.types.Kind(graph_.TypeOf({node, port}).type) == ir::TypeKind::Trigger;
}

KeyTable<Waiting>::iterator ReferenceExecution::Match(const Token& token) {
  auto [it, added] = at_->waiting.try_emplace(Key{token.node.index, token.tag});
  Waiting& waiting = it->second;
  if (added) {
    waiting.operands.resize(graph_.nodes[token.node].num_inputs);
    waiting.present.resize(waiting.operands.size());
  }
  if (waiting.present[token.input]) throw BrokenRule{"two tokens for one operand under one tag"};
  waiting.present[token.input] = true;
  waiting.operands[token.input] = token.value;
  ++waiting.count;
  return it;
}

Stats ReferenceExecution::stats() const {
  Stats stats = stats_;
  stats.peak_frames = tags_.peak() + 1;
  stats.peak_memory = static_cast<uint64_t>(std::max<int64_t>(0, memory::counters.peak - limits_.base()));
  return stats;
}

}  // namespace df::reference

namespace df {

std::unique_ptr<Execution> MakeReferenceExecution(const ir::Graph& graph, const RunOptions& options) {
  return std::make_unique<reference::ReferenceExecution>(graph, options);
}

}  // namespace df
