// Skeletons of a graph that is cut (tagged_ir/skeleton.h): copies of the nodes that triggers go through run in each part that receives anything, by the
// same rules, and make the tags for which its Recvs wait.
#include "llvm/ADT/ScopeExit.h"
#include "runtime/engines/reference/parts.h"

namespace df::reference {

void CutExecution::FindChannels() {
  channels_ = ir::ChannelsOf(graph_, options_.cut);
  channels_of_.resize(graph_.results.size());
  edge_of_.resize(graph_.results.size());
  is_told_.resize(graph_.results.size());
  waits_.resize(channels_.size());
  receives_.resize(options_.cut.parts);
  for (const ir::Channel& channel : channels_) receives_[channel.to] = true;
  made_by_.resize(options_.cut.parts);
  for (uint32_t n = 0; n < graph_.nodes.size(); ++n)
    for (uint32_t port = 0; port < graph_.nodes[ir::NodeId(n)].num_results; ++port) edge_of_[ResultOf({ir::NodeId(n), port})] = {ir::NodeId(n), port};
  for (uint32_t i = 0; i < channels_.size(); ++i) {
    channels_of_[ResultOf(channels_[i].edge)].push_back(i);
    for (ir::Edge maker : skeleton_.MakersOf(channels_[i].edge)) {
      made_by_[channels_[i].to][ResultOf(maker)].push_back(i);
      waits_[i] = true;
      // The release of a delayed call makes a tag, whether or not a copy of a node takes its trigger.
      if (!skeleton_.Runs(maker.node)) is_told_[ResultOf(maker)] = true;
    }
  }
  for (ir::Edge edge : skeleton_.decisions()) is_told_[ResultOf(edge)] = true;
}

// As the graph does.
void CutExecution::BeginSkeleton(Part& part) {
  for (ir::NodeId node : skeleton_.nodes())
    if (part.skeleton && graph_.nodes[node].op == ir::Op::Start) EmitInSkeleton(part, ResultOf({node, 0}), {}, Value::Word(0));
}

// A firing of a copy is none of the program's.
void CutExecution::FireSkeleton(Part& part) {
  here_ = &part;
  at_ = part.skeleton.get();
  in_skeleton_ = true;
  const Stats before = stats_;
  llvm::raw_ostream* trace = std::exchange(run_.trace, nullptr);
  auto back = llvm::make_scope_exit([&] {
    run_.trace = trace;
    counts_.skeleton_firings += stats_.firings - before.firings;
    stats_ = before;
    in_skeleton_ = false;
  });
  Take(part.skeleton->queue.Pop());
}

// A token of a copy, or one that the copies were told: to those that take it, and to the Recvs that wait for its tag.
void CutExecution::EmitInSkeleton(Part& part, uint32_t result, const TagRef& tag, const Value& value) {
  for (uint32_t u = first_user_[result]; u < first_user_[result + 1]; ++u)
    if (skeleton_.Runs(users_[u].first)) part.skeleton->queue.Push({users_[u].first, users_[u].second, tag, value});
  auto it = made_by_[part.number].find(result);
  if (it == made_by_[part.number].end()) return;
  for (uint32_t channel : it->second) TagMade(part, channel, tag);
}

void CutExecution::TagMade(Part& part, uint32_t channel, const TagRef& tag) {
  ++counts_.tags_made;
  auto arrived = part.arrived.find({channel, tag});
  if (arrived == part.arrived.end()) {
    part.made.try_emplace({channel, tag}, true);
    return;
  }
  Value value = std::move(arrived->second);
  part.arrived.erase(arrived);
  HandOver(part, channel, tag, value);
}

// What a predicate is, or that a delayed call was released: to all skeletons, that of this part at once.
void CutExecution::Tell(uint32_t result, const TagRef& tag, const Value& value) {
  for (uint32_t number = 0; number < options_.cut.parts; ++number) {
    if (!HasSkeleton(number)) continue;
    if (number == here_->number) {
      EmitInSkeleton(*here_, result, tag, value);
    } else if (!value.is_dead() || options_.dead == DeadTokens::Sent) {
      ++counts_.told;
      Post({.kind = Message::Kind::Told, .from = here_->number, .to = number, .index = result, .tag = tag, .value = value});
    }
  }
}

}  // namespace df::reference
