// A part in a process of its own: its turns, what it says and hears, and how its run ends.
#include "runtime/engines/reference/part_process.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/run/bounded_tag.h"
#include "tagged_ir/action.h"

namespace df::reference {

namespace {

constexpr uint32_t kFirings = 128;  // in a turn: what was sent meanwhile goes then
constexpr auto kLook = std::chrono::milliseconds(50), kGreet = std::chrono::milliseconds(2), kDrain = std::chrono::milliseconds(1);
// Whether all is over is asked after so long a rest, and later and later; an answer that does not come within so long is asked for anew.
constexpr auto kFirstPause = std::chrono::milliseconds(2), kLongestPause = std::chrono::milliseconds(100), kWaveWithin = std::chrono::milliseconds(500);
// A part that has lost another one waits so long for the root to say that the run is over.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kMeetWithin = std::chrono::seconds(60);

}  // namespace

PartProcess::PartProcess(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts)
    : CutExecution(graph, options, std::move(cut), counts, options.peers->Rank()), peers_(*options.peers), own_(options.peers->Rank()), types_(graph) {
  for (uint32_t i = 0; i < options_.cut.parts; ++i) lines_.push_back(i == own_ ? nullptr : std::make_unique<Line>(types_, tags_, static_cast<CellNames&>(*this)));
  for (uint32_t site = 0; site < delay_of_site_.size() && !host_site_.valid(); ++site)
    if (Delays(site)) host_site_ = ir::SiteId(site);
  for (uint32_t type = 0; type < graph.types.size() && !host_type_; ++type)
    if (ir::IsText(graph.types, ir::TypeId(type))) host_type_ = ir::PortType{ir::TypeId(type), false};
  auto is_return = [&](const std::pair<ir::NodeId, uint32_t>& user) { return graph.nodes[user.first].op == ir::Op::Return && user.second == 0; };
  for (const ir::Channel& channel : channels_) to_returns_.push_back(llvm::all_of(channel.users, is_return));
}

PartProcess::~PartProcess() {
  PartProcess::Finish();
  FreeLeftOver();
  inbox_.clear();
  lines_.clear();
  hosts_.clear();
}

// ---------------------------------------------------------------- the peers' thread

void PartProcess::Receive(PeerId from, PeerMessage message) {
  {
    std::lock_guard lock(mutex_);
    inbox_.push_back({from, std::move(message)});
  }
  changed_.notify_all();
}

void PartProcess::Gone(PeerId peer) {
  {
    std::lock_guard lock(mutex_);
    gone_.push_back(peer);
  }
  changed_.notify_all();
}

void PartProcess::Over() {
  {
    std::lock_guard lock(mutex_);
    run_over_ = true;
  }
  changed_.notify_all();
}

PeerFigures PartProcess::Figures() {
  PeerFigures figures;
  figures.peak_memory = peak_.load(std::memory_order_relaxed);
  figures.peak_in_flight = peers_.in_flight().peak();
  return figures;
}

// ---------------------------------------------------------------- the run

Outcome PartProcess::Start(std::vector<Value> inputs) {
  peers_.Begin(*this);
  return CutExecution::Start(std::move(inputs));
}

Outcome PartProcess::Serve() {
  peers_.Begin(*this);
  return Guarded([&] {
    BeginAll();
    auto over = [this] {
      std::lock_guard lock(mutex_);
      return run_over_;
    };
    while (!over()) Turn();
  });
}

Outcome PartProcess::Run(const DelayCell* goal) {
  over_ = asking_ = false;
  last_.quiet = false;
  pause_ = kFirstPause;
  wave_at_ = Clock::now() + pause_;
  Outcome outcome = Guarded([&] {
    while (!over_ && (run_.run_dry || !Reached(goal))) Turn();
  });
  if (!outcome.ok()) return outcome;
  now_tag_ = {};
  if (run_.run_dry) CountLeft();
  return Reached(goal) ? Outcome{} : NothingMoves(goal);
}

void PartProcess::Turn() {
  CheckLimits();
  NoteMoment(0, [this](RuntimeError& error) { Where(error); });
  peak_.store(static_cast<uint64_t>(std::max<int64_t>(0, memory::counters.peak - limits_.base())), std::memory_order_relaxed);
  const bool took = TakeMessages();
  LookForLost();
  Greet();
  // Who has sent more than others take waits, and goes on reading.
  const bool full = peers_.in_flight().IsFull();
  uint32_t fired = 0;
  for (Part& part = *parts_[own_]; fired < kFirings && !full && !leave_by_ && !IsQuiet(); ++fired) CutExecution::Fire(part);
  const bool all_sent = SendLines();
  AnswerWave();
  if (took || fired) {
    pause_ = kFirstPause;
    wave_at_ = Clock::now() + pause_;
    return;
  }
  NoteRest(0);
  Rest(all_sent, full);
}

bool PartProcess::IsQuiet() const {
  const Part& part = *parts_[own_];
  return part.queue.empty() && (!part.skeleton || part.skeleton->queue.empty());
}

void PartProcess::Rest(bool all_sent, bool full) {
  const auto now = Clock::now();
  auto until = now + (!all_sent ? kGreet : full ? kDrain : kLook);
  if (own_ == 0 && all_sent && IsQuiet()) {
    if (asking_ ? now >= wave_by_ : now >= wave_at_) AskAll();
    until = std::min(until, asking_ ? wave_by_ : wave_at_);
  }
  if (asking_ && wave_.missing == 0) EndOfWave();  // there is nobody else
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [this] { return !inbox_.empty() || !gone_.empty() || run_over_; });
}

void PartProcess::Lost(const std::string& what) {
  counts_.lost_part = what + " is lost with its process";
  throw BrokenRule{counts_.lost_part};
}

// Of the root: a part that is lost ends the run. The others wait for it to say so.
void PartProcess::LookForLost() {
  std::vector<PeerId> gone;
  {
    std::lock_guard lock(mutex_);
    gone.swap(gone_);
  }
  for (PeerId peer : gone) {
    uint32_t part = 0;
    while (part < lines_.size() && !(lines_[part] && lines_[part]->peer == peer)) ++part;
    if (part == lines_.size()) continue;  // it had none, or has not said so: Greet
    if (own_ == 0) Lost(fmt::format("part {} of the graph", part));
    leave_by_ = Clock::now() + kPatience;
  }
  if (leave_by_ && Clock::now() >= *leave_by_) throw BrokenRule{"another part of the graph is lost"};
}

// ---------------------------------------------------------------- messages

void PartProcess::Greet() {
  if (met_ + 1 == options_.cut.parts && greeted_.size() >= met_) return;
  const std::vector<PeerId> others = peers_.Others();
  // All were there before it began.
  if (own_ == 0 && others.size() + 1 < options_.cut.parts) Lost("a part of the graph");
  // Each process has to reach each other one.
  if (met_ + 1 < options_.cut.parts && Clock::now() > began_ + kMeetWithin) {
    if (own_ == 0) Lost("a part of the graph");
    throw BrokenRule{"no word has come of another part of the graph within a minute"};
  }
  for (PeerId peer : others)
    if (greeted_.insert(peer).second) peers_.Send(peer, PeerMessage{PeerMessage::Kind::Token, own_});
}

bool PartProcess::TakeMessages() {
  std::deque<Came> came;
  {
    std::lock_guard lock(mutex_);
    came.swap(inbox_);
  }
  bool took = false;
  for (Came& next : came) {
    switch (next.message.kind) {
      case PeerMessage::Kind::Token:
        took = true;
        TakeTokens(next);
        break;
      case PeerMessage::Kind::Wave: wave_to_answer_ = {next.from, next.message.number}; break;
      case PeerMessage::Kind::Counts: TakeCounts(next.message); break;
      default: peers_.Fault(next.from, "it speaks of calls, and the graph is cut into parts");
    }
  }
  return took;
}

void PartProcess::TakeTokens(Came& came) {
  const uint32_t part = came.message.number;
  if (part >= lines_.size() || !lines_[part]) return peers_.Fault(came.from, fmt::format("it says that it has part {}", part));
  Line& line = *lines_[part];
  if (line.broken) return;
  if (!line.peer) {
    line.peer = came.from;
    ++met_;
  }
  if (line.peer != came.from) return peers_.Fault(came.from, fmt::format("it says that it has part {}, which another process has", part));
  if (came.message.bytes.empty()) return;
  std::vector<NamedToken> tokens;
  std::string why;
  auto type_of = [&](const NamedToken& token) { return TypeOf(static_cast<Message::Kind>(token.kind), token.index, token.tag, part, own_); };
  if (!line.reader.Read(came.message.bytes, came.message.parts, type_of, &tokens, &why)) {
    line.broken = true;
    return peers_.Fault(came.from, "tokens that make no sense: " + why);
  }
  for (NamedToken& token : tokens)
    Accept({.kind = static_cast<Message::Kind>(token.kind), .from = part, .to = own_, .index = token.index, .tag = std::move(token.tag), .value = std::move(token.value)});
}

void PartProcess::Accept(const Message& message) {
  if (message.kind != Message::Kind::Force || !IsHostName(graph_, message.tag)) return CutExecution::Receive(message);
  Part& part = *parts_[own_];
  ++part.received;
  Value value = hosts_[message.tag.head().iteration];
  AskHost(value);
  PostForced(part, message.from, message.index, message.tag, value);
}

// The results of all activations go to all Returns of a function, and each drops those that are not its site's: these need not go there.
bool PartProcess::IsWanted(uint32_t channel, const TagRef& tag) const {
  if (!to_returns_[channel] || Scheduled()) return true;
  if (tag.empty() || tag.head().loop) return false;
  return llvm::any_of(channels_[channel].users, [&](const auto& user) { return graph_.nodes[user.first].attr == tag.head().id; });
}

void PartProcess::Send(Message message) {
  Line& line = *lines_[message.to];
  const auto type = TypeOf(message.kind, message.index, message.tag, own_, message.to);
  if (!type) throw BrokenRule{"a message between parts that none sends"};
  std::string why;
  if (!line.writer.Add({static_cast<uint8_t>(message.kind), message.index, message.tag, message.value}, *type, &why))
    throw BrokenRule{"what goes to another part cannot leave the process: " + why};
  if (line.writer.full() && line.peer) SendLine(line);
}

void PartProcess::SendLine(Line& line) {
  PeerMessage message{PeerMessage::Kind::Token, own_};
  line.writer.Take(&message.bytes, &message.parts);
  peers_.Send(*line.peer, std::move(message));
}

bool PartProcess::SendLines() {
  bool all = true;
  for (auto& line : lines_) {
    if (!line || line->writer.empty()) continue;
    if (line->peer) SendLine(*line);
    else all = false;
  }
  return all;
}

std::optional<std::optional<ir::PortType>> PartProcess::TypeOf(Message::Kind kind, uint32_t index, const TagRef& tag, uint32_t from, uint32_t to) const {
  using Kind = Message::Kind;
  if (kind == Kind::Token) {
    if (index >= channels_.size() || channels_[index].from != from || channels_[index].to != to) return std::nullopt;
    return std::optional(graph_.TypeOf(channels_[index].edge));
  }
  if (kind == Kind::Told) {
    if (!HasSkeleton(to) || index >= edge_of_.size() || !is_told_[index]) return std::nullopt;
    return std::optional(graph_.TypeOf(edge_of_[index]));
  }
  const bool is_host = IsHostName(graph_, tag);
  if (!Delays(index) || (is_host && !host_type_)) return std::nullopt;
  const uint32_t home = HomeOf(index, tag);
  std::optional<ir::PortType> type;
  if (kind != Kind::Force) type = ir::PortType{is_host ? host_type_->type : graph_.TypeOf({delay_of_site_[index], 0}).type, false};
  const bool there_is_such = kind == Kind::Force    ? to == home && !(own_ == 0 && is_host && tag.head().iteration >= hosts_.size())
                             : kind == Kind::Forced ? from == home
                                                    : kind == Kind::Fill && to == home && !is_host;
  if (!there_is_such) return std::nullopt;
  return type;
}

// ---------------------------------------------------------------- names

std::optional<std::pair<ir::SiteId, TagRef>> PartProcess::NameOf(const Value& reference, Value* value) {
  Object* object = reference.object();
  if (HostCell* host = HostCellIn(object)) {
    if (!host_site_.valid()) {
      host->Ask();
      *value = host->value;
      return std::nullopt;
    }
    auto [at, fresh] = host_numbers_.try_emplace(object, hosts_.size());
    if (fresh) hosts_.push_back(reference);
    return std::pair(host_site_, tags_.Push(HostLabel(graph_, at->second), {}));
  }
  const auto* cell = static_cast<const DelayCell*>(static_cast<const Cell*>(object));
  return std::pair(cell->site, cell->tag);
}

// What the host answers is itself again where it comes home.
Value PartProcess::Named(ir::SiteId site, const TagRef& tag, ir::TypeId type) {
  if (!Delays(site.index)) return {};
  if (IsHostName(graph_, tag)) {
    if (!host_type_ || host_type_->type != type) return {};
    if (own_ == 0) return tag.head().iteration < hosts_.size() ? hosts_[tag.head().iteration] : Value();
  } else if (graph_.TypeOf({delay_of_site_[site.index], 0}).type != type) {
    return {};
  }
  auto* name = new DelayCell;
  Value reference = Value::Adopt(ValueKind::Reference, name);
  name->site = site;
  name->tag = tag;
  return reference;
}

// In the form in which errors go to other processes.
Cell* PartProcess::NewErrorTag(const TagRef& tag) const {
  struct Held {
    TagNode* tag = nullptr;
    ~Held() { DropTag(tag); }
  } made;
  std::vector<Label> labels;
  for (const Tag* at = tag.get(); at; at = at->parent) labels.push_back(at->label);
  for (const Label& label : llvm::reverse(labels)) DropTag(std::exchange(made.tag, NewTag(label, made.tag)));
  return new TagNodeCell(made.tag);
}

void PartProcess::FillErrorPath(const Object* error_tag, RuntimeError& error) const {
  FillPath(error_tag ? static_cast<const TagNodeCell*>(static_cast<const Cell*>(error_tag))->tag : nullptr, error);
}

// ---------------------------------------------------------------- the end

// As in one process: two waves with the same answers, everybody idle, and as many messages taken as sent.
void PartProcess::AskAll() {
  asking_ = true;
  ++counts_.waves;
  wave_ = {};
  wave_.quiet = true;
  wave_.sent = parts_[own_]->sent;
  wave_.received = parts_[own_]->received;
  wave_.missing = options_.cut.parts - 1;
  wave_by_ = Clock::now() + kWaveWithin;
  ++wave_number_;
  for (auto& line : lines_) {
    if (!line) continue;
    if (!line->peer) wave_.quiet = false;  // it has not come yet, and will not answer
    else peers_.Send(*line->peer, PeerMessage{PeerMessage::Kind::Wave, wave_number_});
  }
}

void PartProcess::AnswerWave() {
  if (!wave_to_answer_) return;
  const auto [to, number] = *std::exchange(wave_to_answer_, std::nullopt);
  const Part& part = *parts_[own_];
  bool quiet = IsQuiet() && !leave_by_;
  for (const auto& line : lines_) quiet = quiet && (!line || line->writer.empty());
  PeerMessage counts{PeerMessage::Kind::Counts, number, quiet};
  counts.links.push_back({to, part.sent, part.received});
  peers_.Send(to, std::move(counts));
}

void PartProcess::TakeCounts(const PeerMessage& message) {
  if (!asking_ || message.number != wave_number_ || message.links.size() != 1 || wave_.missing == 0) return;
  wave_.quiet = wave_.quiet && message.ticket != 0;
  wave_.sent += message.links[0].sent;
  wave_.received += message.links[0].received;
  if (--wave_.missing == 0) EndOfWave();
}

void PartProcess::EndOfWave() {
  asking_ = false;
  const bool still = wave_.quiet && IsQuiet() && wave_.sent == wave_.received;
  over_ = still && last_.quiet && wave_.sent == last_.sent && wave_.received == last_.received;
  last_ = wave_;
  last_.quiet = still;
  pause_ = still ? Clock::duration(0) : std::min<Clock::duration>(2 * pause_, kLongestPause);
  wave_at_ = Clock::now() + pause_;
}

}  // namespace df::reference

namespace df {

std::unique_ptr<Execution> MakePartExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts) {
  return std::make_unique<reference::PartProcess>(graph, options, std::move(cut), counts);
}

}  // namespace df
