// The run of a graph that is cut: firings of parts, messages between them, and how it is known that nothing moves any more.
#include "runtime/engines/reference/parts.h"

#include <fmt/format.h>

namespace df::reference {

namespace {

constexpr uint32_t kStepsPerLook = 256;
constexpr uint32_t kStepsPerLoss = 40;
constexpr uint32_t kStepsPerWave = 64;

}  // namespace

CutExecution::CutExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts, uint32_t only)
    : ReferenceExecution(graph, options), options_(std::move(cut)), counts_(*counts), skeleton_(graph), random_(options.seed), losses_left_(options_.losses) {
  exits_early_ = options_.dead == DeadTokens::None;
  gives_once_ = options_.losses == 0;
  FindChannels();
  log_.resize(options_.cut.parts);
  for (uint32_t i = 0; i < options_.cut.parts; ++i) parts_.push_back(only == kAll || only == i ? NewPart(i) : nullptr);
  here_ = parts_[only == kAll ? 0 : only].get();
  at_ = here_;
}

CutExecution::~CutExecution() {
  FreeLeftOver();
  air_.clear();
  log_.clear();
  recorded_.clear();
  at_ = &whole_;
  parts_.clear();
}

std::unique_ptr<CutExecution::Part> CutExecution::NewPart(uint32_t number) {
  auto part = std::make_unique<Part>(number, run_.seed ? random_() | 1 : 0);
  if (HasSkeleton(number)) part->skeleton = std::make_unique<Store>(run_.seed ? random_() | 1 : 0);
  return part;
}

void CutExecution::BeginAll() {
  for (auto& part : parts_)
    if (part) BeginSkeleton(*part);
}

Outcome CutExecution::Start(std::vector<Value> inputs) {
  if (Outcome outcome = Guarded([&] { BeginAll(); }); !outcome.ok()) return outcome;
  here_ = parts_[0].get();
  at_ = here_;
  return ReferenceExecution::Start(std::move(inputs));
}

// ---------------------------------------------------------------- tokens

void CutExecution::Emit(ir::NodeId node, uint32_t port, const TagRef& tag, const Value& value) {
  const uint32_t result = ResultOf({node, port});
  if (in_skeleton_) return EmitInSkeleton(*here_, result, tag, value);
  if (value.is_dead() && options_.dead == DeadTokens::None) {
    ++counts_.withheld;
    return;
  }
  ++counts_.tokens;
  counts_.dead += value.is_dead();
  Note(node, port, tag, value);
  for (uint32_t u = first_user_[result]; u < first_user_[result + 1]; ++u)
    if (options_.cut.part[users_[u].first.index] == here_->number) here_->queue.Push({users_[u].first, users_[u].second, tag, value});
  const bool crosses = !value.is_dead() || options_.dead == DeadTokens::Sent;
  for (uint32_t channel : channels_of_[result]) {
    if (!IsWanted(channel, tag)) continue;
    if (!crosses) {
      ++counts_.withheld;
      continue;
    }
    const ir::Carries carries = ir::CarriesOf(graph_, {node, port});
    ++counts_.sent;
    counts_.sent_dead += value.is_dead();
    counts_.sent_control += carries == ir::Carries::Control;
    counts_.sent_triggers += carries == ir::Carries::Trigger && !value.is_dead();
    Post({.kind = Message::Kind::Token, .from = here_->number, .to = channels_[channel].to, .index = channel, .tag = tag, .value = value});
  }
  if (is_told_[result] && Scheduled()) Tell(result, tag, value);
}

void CutExecution::HandOver(Part& part, uint32_t channel, const TagRef& tag, const Value& value) {
  for (auto [node, input] : channels_[channel].users) part.queue.Push({node, input, tag, value});
}

// ---------------------------------------------------------------- messages

// One that counts. Where parts are lost it goes on record, by its name: a part that does its work again sends nothing for the second time, and what a lost
// one was sent is sent to it again.
void CutExecution::Post(Message message) {
  if (options_.losses != 0) {
    const uint32_t asker = message.kind == Message::Kind::Force ? message.from : 0;
    const uint64_t what = ((uint64_t{message.index} * 8 + static_cast<uint32_t>(message.kind)) * ir::kMostParts + asker) * ir::kMostParts + message.to;
    if (!recorded_.insert({what, message.tag}).second) {
      ++counts_.repeated;
      return;
    }
    log_[message.to].push_back(message);
  }
  ++parts_[message.from]->sent;
  Send(std::move(message));
}

void CutExecution::Send(Message message) { air_.push_back(std::move(message)); }

void CutExecution::Receive(Message message) {
  Part& part = *parts_[message.to];
  if (message.kind == Message::Kind::Probe) {
    Send({.kind = Message::Kind::Counts, .from = part.number, .to = 0, .quiet = part.quiet(), .sent = part.sent, .received = part.received});
    return;
  }
  if (message.kind == Message::Kind::Counts) {
    wave_.quiet &= message.quiet;
    wave_.sent += message.sent;
    wave_.received += message.received;
    if (--wave_.missing == 0) EndWave();
    return;
  }
  if (message.again) --part.again;
  ++part.received;
  here_ = &part;
  at_ = &part;
  now_tag_ = message.tag;
  switch (message.kind) {
    case Message::Kind::Token: {
      if (!Scheduled() || !waits_[message.index]) return HandOver(part, message.index, message.tag, message.value);
      auto made = part.made.find({message.index, message.tag});
      if (made == part.made.end()) {
        part.arrived.try_emplace({message.index, message.tag}, message.value);
        return;
      }
      part.made.erase(made);
      return HandOver(part, message.index, message.tag, message.value);
    }
    case Message::Kind::Told: return EmitInSkeleton(part, message.index, message.tag, message.value);
    case Message::Kind::Force: {
      ReleaseHere(part, message.index, message.tag);
      CellState& cell = part.cells[{message.index, message.tag}];
      if (cell.full) PostForced(part, message.from, message.index, message.tag, cell.value);
      else cell.askers.push_back(message.from);
      return;
    }
    case Message::Kind::Forced:
    case Message::Kind::Fill: return FillHere(part, message.index, message.tag, message.value);
    case Message::Kind::Probe:
    case Message::Kind::Counts: return;
  }
}

void CutExecution::Fire(Part& part) {
  if (part.skeleton && !part.skeleton->queue.empty()) return FireSkeleton(part);
  here_ = &part;
  at_ = &part;
  Take(part.queue.Pop());
}

// A part is lost with all that it holds. What was sent to it is sent again, in any order.
void CutExecution::Lose() {
  const uint32_t number = 1 + static_cast<uint32_t>(random_() % (options_.cut.parts - 1));
  ++counts_.lost;
  --losses_left_;
  std::erase_if(air_, [&](const Message& message) { return message.to == number && message.kind != Message::Kind::Probe; });
  wave_.quiet = last_.quiet = false;  // what was counted there is void
  here_ = parts_[0].get();
  at_ = here_;
  const uint64_t sent = parts_[number]->sent;
  parts_[number] = NewPart(number);
  Part& part = *parts_[number];
  part.sent = sent;  // by the record
  part.again = log_[number].size();
  for (Message message : log_[number]) {
    message.again = true;
    Send(std::move(message));
  }
  BeginSkeleton(part);
}

// ---------------------------------------------------------------- the end

// Part 0 asks all parts how many messages they have sent and taken, and whether they have anything to do. Two waves with the same answers, as many taken as
// sent and everybody idle: then nothing moved in between, and nothing is on its way (Mattern 1987). Dead tokens are counted as all others are.
void CutExecution::StartWave() {
  asking_ = true;
  ++counts_.waves;
  wave_ = {};
  wave_.missing = options_.cut.parts;
  for (uint32_t i = 0; i < options_.cut.parts; ++i) Send({.kind = Message::Kind::Probe, .to = i});
}

void CutExecution::EndWave() {
  asking_ = false;
  over_ = wave_.quiet && last_.quiet && counts_.waves > 1 && wave_.sent == wave_.received && wave_.sent == last_.sent && wave_.received == last_.received;
  last_ = wave_;
  if (over_ && Moves()) throw BrokenRule{"the run was counted as over while something moved"};
}

bool CutExecution::Moves() const {
  for (const auto& part : parts_)
    if (!part->quiet()) return true;
  for (const Message& message : air_)
    if (message.kind != Message::Kind::Probe && message.kind != Message::Kind::Counts) return true;
  return false;
}

bool CutExecution::Reached(const DelayCell* goal) const {
  if (!goal) return results_missing_ == 0;
  auto it = parts_[0]->cells.find({goal->site.index, goal->tag});
  return it != parts_[0]->cells.end() && it->second.full;
}

// One firing or one message: with a seed any, otherwise messages in their order, then the parts in turn.
void CutExecution::Step() {
  std::vector<Part*> busy;
  for (auto& part : parts_)
    if (!part->queue.empty() || (part->skeleton && !part->skeleton->queue.empty())) busy.push_back(part.get());
  if (run_.seed != 0) {
    if (losses_left_ != 0 && options_.cut.parts > 1 && random_() % kStepsPerLoss == 0) return Lose();
    if (!asking_ && random_() % kStepsPerWave == 0) StartWave();
    const size_t chosen = random_() % (busy.size() + air_.size() + (busy.empty() && air_.empty()));
    if (chosen < busy.size()) return Fire(*busy[chosen]);
    if (!air_.empty()) std::swap(air_[chosen - busy.size()], air_.front());
  }
  if (!air_.empty()) {
    Message message = std::move(air_.front());
    air_.pop_front();
    return Receive(std::move(message));
  }
  if (!busy.empty()) return Fire(*busy[next_++ % busy.size()]);
  if (!asking_) StartWave();
}

Outcome CutExecution::Run(const DelayCell* goal) {
  over_ = false;
  last_.quiet = false;
  Outcome outcome = Guarded([&] {
    while (!over_ && (run_.run_dry || !Reached(goal))) {
      if (++steps_ % kStepsPerLook == 0) {
        CheckLimits();
        NoteMoment(0, [this](RuntimeError& error) { Where(error); });
      }
      Step();
    }
  });
  if (!outcome.ok()) return outcome;
  now_tag_ = {};
  if (run_.run_dry) CountLeft();
  if (!Reached(goal)) return NothingMoves(goal);
  // A part that began anew may have the value of a delayed call on record and its body half done: what waits there is for nobody.
  if (run_.run_dry && options_.dead == DeadTokens::Sent && options_.losses == 0) {
    std::string left = Leftovers();
    if (!left.empty()) return Ended(Stop::Internal, left);
  }
  return {};
}

void CutExecution::CountLeft() {
  counts_.receives_left = counts_.untaken = counts_.records_left = 0;
  for (const auto& part : parts_) {
    if (!part) continue;
    counts_.receives_left += part->made.size();
    counts_.untaken += part->arrived.size();
    counts_.records_left += part->waiting.size();
  }
}

const Waiting* CutExecution::WaitingAt(uint32_t node, const TagRef& tag) const {
  const Part* part = parts_[options_.cut.part[node]].get();
  if (!part) return nullptr;
  auto it = part->waiting.find({node, tag});
  return it == part->waiting.end() ? nullptr : &it->second;
}

std::string CutExecution::Leftovers() const {
  for (const auto& part : parts_) {
    if (std::string what = ReferenceExecution::Leftovers(*part); !what.empty()) return fmt::format("part {}: {}", part->number, what);
    for (const auto& [name, cell] : part->cells)
      if (!cell.waiters.empty()) {
        const auto& [node, tag] = cell.waiters.front();
        return fmt::format("part {}: {}", part->number, LeftWaiting("nothing answers node", node.index, tag));
      }
  }
  return "";
}

}  // namespace df::reference

namespace df {

std::unique_ptr<Execution> MakeCutExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts) {
  return std::make_unique<reference::CutExecution>(graph, options, std::move(cut), counts);
}

}  // namespace df
