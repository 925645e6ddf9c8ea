#include "backends/members/node_peers.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/members/peer_messages.h"

namespace df {

using net::Event;
using net::Kind;
namespace msg = net::msg;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(50);
// The node says itself when the others are to be told that this one lives and what it does.
constexpr auto kLongestWait = std::chrono::milliseconds(100);
// The engine does not tell when it has read something.
constexpr auto kReads = std::chrono::milliseconds(2);
// Who does not fit is told so again with each greeting, which comes every 200 ms: a root that ends because of it stays so long.
constexpr auto kLastWord = std::chrono::milliseconds(1000);
// At the end of a run the root waits so long for what the others tell of themselves, which is some bytes of the thread that holds the sockets; and for
// their traces, which a thread that computes has to write.
constexpr auto kStatsWithin = std::chrono::milliseconds(1000), kTracesWithin = std::chrono::milliseconds(3000);
// Who has looked at nothing for so many milliseconds is in one long operation.
constexpr uint32_t kBusy = 1000;
// A worker waits so long until its trace has come.
constexpr auto kTraceSent = std::chrono::milliseconds(3000);
// What a trace may take; the rest of it was left out by who wrote it.
constexpr size_t kMostTrace = size_t{1} << 20;
// Of a Stats; it would not fit otherwise.
constexpr size_t kMostLinks = 256;

}  // namespace

NodePeers::NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, SharedProgram program, const std::vector<std::string>& workers)
    : transport_(std::move(transport)), node_(std::move(options), *transport_), root_(true), has_program_(true), launched_(workers.empty()), program_(std::move(program)),
      flying_(std::make_shared<InFlight>(node_.options().link.window)) {
  size_ = std::max(1u, program_.processes);
  for (const std::string& address : workers) {
    std::string why;
    if (node_.Dial(address, &why)) continue;
    notices_.push_back(fmt::format("the worker {} cannot be reached: {}", address, why));
    failed_ = true;
  }
  node_.SetReady();
  thread_ = std::thread([this] { Serve(); });
}

NodePeers::NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, const std::string& root, bool has_program)
    : transport_(std::move(transport)), node_(std::move(options), *transport_), root_(false), has_program_(has_program),
      flying_(std::make_shared<InFlight>(node_.options().link.window)) {
  if (std::string why; !root.empty() && !node_.Dial(root, &why)) {
    notices_.push_back(fmt::format("the root {} cannot be reached: {}", root, why));
    over_ = true;
  }
  thread_ = std::thread([this] { Serve(); });
}

NodePeers::~NodePeers() {
  End();
  thread_.join();
}

// ---------------------------------------------------------------- the engine's side

void NodePeers::Begin(Receiver& receiver) {
  {
    std::lock_guard lock(mutex_);
    receiver_ = &receiver;
  }
  transport_->Wake();
}

void NodePeers::End() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !calling_; });
  if (receiver_) figures_ = receiver_->Figures();
  stop_ = true;
  transport_->Wake();
  changed_.wait(lock, [this] { return !calling_; });
  receiver_ = nullptr;
}

void NodePeers::Send(PeerId to, PeerMessage message) {
  message.carried = Carried(flying_, InFlight::Way::Sent, message.size());
  {
    std::lock_guard lock(mutex_);
    out_.emplace_back(to, std::move(message));
    if (out_.size() > 1) return;  // it is awake
  }
  transport_->Wake();
}

void NodePeers::Fault(PeerId peer, const std::string& what) {
  {
    std::lock_guard lock(mutex_);
    faults_.emplace_back(peer, what);
  }
  transport_->Wake();
}

std::vector<PeerId> NodePeers::Others() const {
  std::lock_guard lock(mutex_);
  std::vector<PeerId> others;
  for (auto [peer, serves] : serving_)
    if (serves) others.push_back(peer);
  return others;
}

// ---------------------------------------------------------------- the driver's side

bool NodePeers::AwaitWorkers(size_t count, const std::atomic<bool>* interrupt, const std::function<bool()>& may_come) {
  std::unique_lock lock(mutex_);
  auto there = [&] { return static_cast<size_t>(std::count_if(serving_.begin(), serving_.end(), [](const auto& row) { return row.second; })); };
  while (there() < count) {
    if (failed_ || (interrupt && interrupt->load()) || !may_come()) return false;
    changed_.wait_for(lock, kTurn);
  }
  return true;
}

std::optional<SharedProgram> NodePeers::AwaitProgram(const std::atomic<bool>* stop, const std::function<void()>& tell) {
  std::unique_lock lock(mutex_);
  while (!got_) {
    if (over_ || (stop && stop->load())) return std::nullopt;
    changed_.wait_for(lock, kTurn);
    if (notices_.empty()) continue;
    lock.unlock();
    tell();
    lock.lock();
  }
  return got_;
}

std::optional<SharedProgram> NodePeers::AwaitInputs(const std::atomic<bool>* stop) {
  std::unique_lock lock(mutex_);
  if (has_program_) {
    wants_ = true;
    transport_->Wake();
  }
  while (!has_inputs_) {
    if (over_ || (stop && stop->load())) return std::nullopt;
    changed_.wait_for(lock, kTurn);
  }
  return std::move(got_);
}

void NodePeers::AwaitOver(const std::atomic<bool>* stop) {
  std::unique_lock lock(mutex_);
  while (!over_ && !(stop && stop->load())) changed_.wait_for(lock, kTurn);
}

void NodePeers::SetReady() {
  {
    std::lock_guard lock(mutex_);
    ready_ = true;
  }
  transport_->Wake();
}

std::vector<std::string> NodePeers::TakeNotices() {
  std::lock_guard lock(mutex_);
  return std::exchange(notices_, {});
}

bool NodePeers::had_root() const {
  std::lock_guard lock(mutex_);
  return root_member_.has_value();
}

bool NodePeers::lost_root() const {
  std::lock_guard lock(mutex_);
  return lost_root_;
}

void NodePeers::WantReports(bool traces) {
  std::lock_guard lock(mutex_);
  wants_reports_ = true;
  wants_traces_ = traces;
}

std::vector<PeerReport> NodePeers::Reports() const {
  std::lock_guard lock(mutex_);
  PeerReport here;
  here.rank = rank_;
  here.where = "here";
  here.figures = figures_;
  here.still = figures_.still;
  for (const auto& [peer, link] : links_) here.links.push_back(link);
  std::vector<PeerReport> reports{std::move(here)};
  for (const auto& [peer, report] : reports_) reports.push_back(report);
  std::sort(reports.begin() + 1, reports.end(), [](const PeerReport& a, const PeerReport& b) { return a.rank < b.rank; });
  return reports;
}

void NodePeers::AwaitReports(std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  if (stop_ && wants_reports_) changed_.wait_for(lock, longest, [this] { return done_; });
  wants_reports_ = false;
}

uint32_t NodePeers::RankOf(PeerId peer) const {
  std::lock_guard lock(mutex_);
  const auto found = ranks_.find(peer);
  return found == ranks_.end() ? UINT32_MAX : found->second;
}

void NodePeers::WillTell() {
  std::lock_guard lock(mutex_);
  wants_traces_ = true;
}

void NodePeers::Tell(std::string trace, std::chrono::steady_clock::time_point began) {
  {
    std::lock_guard lock(mutex_);
    trace_ = std::move(trace);
    trace_began_ = static_cast<uint64_t>(std::chrono::duration_cast<net::Time>(began.time_since_epoch()).count());
  }
  transport_->Wake();
}

// ---------------------------------------------------------------- the thread

void NodePeers::Serve() {
  uint64_t turns = 0;
  bool told_ready = root_, leaving = false;
  bool ended = false;
  net::Time stay{0}, told_by{0};  // until then
  for (;;) {
    bool ready, stop, wants;
    {
      std::lock_guard lock(mutex_);
      ready = ready_;
      stop = stop_;
      wants = root_member_ && std::exchange(wants_, false);
    }
    if (wants && root_member_) node_.Send(*root_member_, net::Pack(msg::GraphWanted{has_program_ ? node_.options().facts.graph : net::Digest{}}));
    if (ready && !told_ready) {
      told_ready = true;
      node_.SetReady();
    }
    SendAll();
    if (stop && !ended) {
      ended = true;
      std::lock_guard lock(mutex_);
      if (turned_away_) stay = transport_->Now() + kLastWord;
      told_by = transport_->Now() + (!root_ ? kTraceSent : wants_traces_ ? kTracesWithin : kStatsWithin);
      if (root_)
        for (net::MemberNumber member = 0; member < node_.members().size(); ++member) node_.Send(member, net::Pack(msg::End{}));
    }
    if (ended && !root_) SendStats(), SendTrace();
    if (ended && !leaving && (AllHaveTold() || transport_->Now() >= told_by)) {
      leaving = true;
      LookAtAll();
      node_.Leave(root_ ? "the run is over" : "it has served");
      std::lock_guard lock(mutex_);
      done_ = true;
      changed_.notify_all();
    }
    LookNowAndThen();
    node_.Progress(++turns, 0, still_ >= kBusy, still_);
    net::Time next = node_.Step();
    bool any = false;
    // What the engine does not read is not taken for it either: then who sends gets no credit.
    while (std::optional<Event> event = node_.Take(!flying_->HasTooMuchToRead())) {
      any = true;
      Handle(std::move(*event));
    }
    flying_->SetBeside(node_.held());
    while (std::optional<std::string> notice = transport_->TakeNotice()) Notice(std::move(*notice));
    if (leaving && node_.Left() && transport_->Now() >= stay) return;
    bool idle;
    {
      std::lock_guard lock(mutex_);
      idle = out_.empty() && faults_.empty() && !(wants_ && root_member_) && (receiver_ == nullptr || early_.empty()) && stop_ == stop && ready_ == ready;
    }
    if (!idle) Handle(Event{Event::What::Back});
    else if (!any) transport_->Wait(std::min(next, transport_->Now() + (flying_->HasTooMuchToRead() ? kReads : kLongestWait)));
  }
}

void NodePeers::SendAll() {
  std::deque<std::pair<PeerId, PeerMessage>> out;
  std::vector<std::pair<PeerId, std::string>> faults;
  {
    std::lock_guard lock(mutex_);
    out.swap(out_);
    faults.swap(faults_);
    for (const auto& [to, message] : out) ++links_[to].messages_out;
  }
  for (auto& [to, message] : out) node_.Send(to, EncodedHere(message));
  for (auto& [peer, what] : faults) node_.Expel(peer, what);
}

// Messages that speak of members do so by incarnation, as numbers are each one's own; and of one epoch.
net::Message NodePeers::EncodedHere(PeerMessage& message) const {
  const net::Members& members = node_.members();
  if (message.kind == PeerMessage::Kind::Wave) return net::Pack(msg::Wave{members.epoch(), message.number, message.ticket != 0});
  if (message.kind != PeerMessage::Kind::Counts) return Encoded(message);
  msg::Counts counts{.epoch = members.epoch(), .number = message.number, .quiet = (message.ticket & 1) != 0, .left = (message.ticket & 2) != 0};
  for (const PeerCount& row : message.links) counts.links.push_back({members[row.peer].incarnation, row.sent, row.received});
  return net::Pack(counts);
}

std::optional<PeerMessage> NodePeers::DecodedHere(const net::Message& message) const {
  if (auto wave = net::Unpack<msg::Wave>(message)) return PeerMessage{PeerMessage::Kind::Wave, static_cast<uint32_t>(wave->number), wave->leave};
  auto counts = net::Unpack<msg::Counts>(message);
  if (!counts) return Decoded(message);
  PeerMessage to{PeerMessage::Kind::Counts, static_cast<uint32_t>(counts->number), uint64_t{counts->quiet} | uint64_t{counts->left} << 1};
  for (const net::CountRow& row : counts->links) {
    const PeerId peer = row.peer == node_.options().incarnation ? kSelf : node_.members().Find(row.peer);
    to.links.push_back({peer, row.sent, row.received});
  }
  return to;
}

void NodePeers::Notice(std::string text) {
  constexpr size_t kMost = 64;
  constexpr auto kAgain = std::chrono::seconds(10);  // somebody with another key tries it some times a second
  std::lock_guard lock(mutex_);
  const net::Time now = transport_->Now();
  if (notices_.size() >= kMost || (text == noticed_ && now - noticed_at_ < kAgain)) return;
  noticed_ = text;
  noticed_at_ = now;
  notices_.push_back(std::move(text));
}

std::string NodePeers::NameOf(net::MemberNumber member) const {
  const net::Member& known = node_.members()[member];
  return known.address.empty() ? known.name : fmt::format("{} ({})", known.name, known.address);
}

void NodePeers::Handle(Event event) {
  std::optional<Arrived> arrived;
  switch (event.what) {
    case Event::What::Joined: {
      std::lock_guard lock(mutex_);
      serving_[event.member] = node_.members()[event.member].ready;
      ranks_[event.member] = node_.members()[event.member].rank;
      reports_[event.member].where = NameOf(event.member);
      if (!root_ && node_.members()[event.member].root) {
        root_member_ = event.member;
        wants_ = wants_ || !has_program_;
      }
      break;
    }
    case Event::What::Ready: {
      std::lock_guard lock(mutex_);
      serving_[event.member] = true;
      ranks_[event.member] = node_.members()[event.member].rank;
      break;
    }
    case Event::What::Gone: {
      const bool was_root = root_member_ == event.member;
      if (!was_root && !node_.members()[event.member].ending) Notice(fmt::format("the worker {} is lost: {}", NameOf(event.member), event.text));
      {
        std::lock_guard lock(mutex_);
        serving_.erase(event.member);
        if (!node_.members()[event.member].ending) reports_[event.member].lost = event.text;
        failed_ = true;
        lost_root_ = lost_root_ || (was_root && !over_ && !node_.members()[event.member].ending);
      }
      arrived = Arrived{was_root ? Arrived::What::Over : Arrived::What::Gone, event.member, {}};
      break;
    }
    case Event::What::Refused:
    case Event::What::NoAnswer: {
      Notice(std::move(event.text));
      std::lock_guard lock(mutex_);
      failed_ = true;
      if (!root_ && !root_member_) arrived = Arrived{Arrived::What::Over};  // it was the root that was dialled
      break;
    }
    case Event::What::Notice:
      // Somebody who was launched with this root does not fit.
      if (root_ && launched_ && event.text.starts_with("refused")) {
        std::lock_guard lock(mutex_);
        failed_ = turned_away_ = true;
      }
      Notice(std::move(event.text));
      break;
    case Event::What::Suspect:
    case Event::What::Back: break;
    case Event::What::Message:
      if (std::optional<PeerMessage> message = DecodedHere(event.message)) arrived = Arrived{Arrived::What::Message, event.member, std::move(*message)};
      else if (event.message.kind == Kind::End) SendStats(), arrived = Arrived{Arrived::What::Over};
      else HandleMessage(event.member, event.message);
      break;
  }
  std::unique_lock lock(mutex_);
  if (arrived) {
    if (arrived->what == Arrived::What::Over) over_ = true;
    else ranks_[arrived->from] = node_.members()[arrived->from].rank;
    rank_ = node_.rank();
    if (arrived->what == Arrived::What::Message) {
      ++links_[arrived->from].messages_in;
      arrived->message.carried = Carried(flying_, InFlight::Way::Come, arrived->message.size());
    }
    if (!stop_) early_.push_back(std::move(*arrived));
  }
  changed_.notify_all();
  while (receiver_ && !stop_ && !early_.empty()) {
    Arrived next = std::move(early_.front());
    early_.pop_front();
    calling_ = true;
    Receiver& receiver = *receiver_;
    lock.unlock();
    switch (next.what) {
      case Arrived::What::Message: receiver.Receive(next.from, std::move(next.message)); break;
      case Arrived::What::Gone: receiver.Gone(next.from); break;
      case Arrived::What::Over: receiver.Over(); break;
    }
    lock.lock();
    calling_ = false;
    changed_.notify_all();
  }
}

// ---------------------------------------------------------------- what processes tell of themselves

PeerFigures NodePeers::Figures() {
  std::unique_lock lock(mutex_);
  if (!receiver_ || stop_) return figures_;
  calling_ = true;
  Receiver& receiver = *receiver_;
  lock.unlock();
  PeerFigures figures = receiver.Figures();
  lock.lock();
  calling_ = false;
  changed_.notify_all();
  return figures_ = figures;
}

// What others may see of members and links.
void NodePeers::LookAtAll() {
  std::lock_guard lock(mutex_);
  rank_ = node_.rank();
  for (auto& [peer, report] : reports_) {
    const net::Member& member = node_.members()[peer];
    ranks_[peer] = member.rank;
    report.rank = member.rank;
    report.still = member.still;
    if (member.offset.known) {
      report.clock_ahead = member.offset.ahead.count();
      report.clock_error = static_cast<uint64_t>(member.offset.error.count());
    }
    PeerLink& link = links_[peer];
    link.rank = member.rank;
    link.bytes_out = node_.counts(peer).bytes_sent;
    link.bytes_in = node_.counts(peer).bytes_received;
  }
}

// Of what computes only so often: who is looked at here is busy.
void NodePeers::LookNowAndThen() {
  const net::Time now = transport_->Now();
  if (now - looked_ < kTurn) return;
  looked_ = now;
  still_ = static_cast<net::Small>(std::min<uint64_t>(Figures().still, UINT32_MAX));
  LookAtAll();
}

// A worker: once, at the end. The thread that holds the sockets does so even if nothing else gets on.
void NodePeers::SendStats() {
  if (root_ || told_stats_ || !root_member_) return;
  told_stats_ = true;
  LookAtAll();
  msg::Stats stats{Counts(Figures()), {}};
  std::lock_guard lock(mutex_);
  for (const auto& [peer, link] : links_)
    if (stats.links.size() < kMostLinks)
      stats.links.push_back({node_.members()[peer].incarnation, link.messages_out, link.bytes_out, link.messages_in, link.bytes_in});
  node_.Send(*root_member_, net::Pack(stats));
}

void NodePeers::SendTrace() {
  std::lock_guard lock(mutex_);
  if (told_trace_ || !root_member_ || trace_.empty()) return;
  told_trace_ = true;
  node_.Send(*root_member_, net::Pack(msg::Trace{trace_began_, {}}, {net::OwnPart(std::move(trace_))}));
}

// The root: nobody is left from whom something may come. A worker: what it has sent is there.
bool NodePeers::AllHaveTold() const {
  std::lock_guard lock(mutex_);
  if (!root_) {
    const net::Link* link = root_member_ ? node_.link(*root_member_) : nullptr;
    return !link || ((told_trace_ || !wants_traces_) && link->Idle());
  }
  if (!wants_reports_) return true;
  return std::all_of(reports_.begin(), reports_.end(), [&](const auto& row) {
    const auto& [peer, report] = row;
    return !node_.link(peer) || !node_.members()[peer].ready || (report.figures && (!wants_traces_ || !report.trace.empty()));
  });
}

// Who comes when a run has begun whose spine runs everywhere would never catch up with it: it gets no inputs, and waits for the end.
void NodePeers::SendProgram(net::MemberNumber to, bool has_graph) {
  const auto shared = [this](const std::string& bytes) { return net::Part{bytes, std::shared_ptr<const void>(std::shared_ptr<void>(), &program_)}; };
  if (!has_graph) node_.Send(to, net::Pack(msg::Graph{program_.options}, {shared(program_.graph)}));
  {
    std::lock_guard lock(mutex_);
    if (program_.processes == 0 || receiver_ || stop_) return;
  }
  std::vector<net::Part> parts;
  for (const std::string& part : program_.input_parts) parts.push_back(shared(part));
  node_.Send(to, net::Pack(msg::Inputs{program_.processes, program_.inputs}, std::move(parts)));
}

// What belongs to the run and not to its calls.
void NodePeers::HandleMessage(net::MemberNumber from, const net::Message& message) {
  if (auto wanted = net::Unpack<msg::GraphWanted>(message); wanted && root_) return SendProgram(from, wanted->graph == node_.options().facts.graph);
  if (auto graph = net::Unpack<msg::Graph>(message); graph && !root_ && message.parts.size() == 1) {
    std::lock_guard lock(mutex_);
    got_ = SharedProgram{std::string(graph->graph), std::string(message.parts[0].bytes)};
    return;
  }
  if (auto inputs = net::Unpack<msg::Inputs>(message); inputs && !root_) {
    std::lock_guard lock(mutex_);
    if (!got_) got_.emplace();
    got_->processes = inputs->processes;
    got_->inputs = inputs->values;
    for (const net::Part& part : message.parts) got_->input_parts.emplace_back(part.bytes);
    has_inputs_ = true;
    rank_ = node_.rank();
    size_ = inputs->processes;
    return;
  }
  if (auto stats = net::Unpack<msg::Stats>(message); stats && root_) {
    std::lock_guard lock(mutex_);
    PeerReport& report = reports_[from];
    report.figures = FiguresOf(stats->counts);
    report.links.clear();
    for (const net::LinkRow& row : stats->links) {
      const bool is_here = row.peer == node_.options().incarnation;
      const net::MemberNumber other = node_.members().Find(row.peer);
      if (!is_here && other == net::kNobody) continue;
      report.links.push_back({is_here ? node_.rank() : node_.members()[other].rank, row.messages_out, row.bytes_out, row.messages_in, row.bytes_in});
    }
    return;
  }
  if (auto trace = net::Unpack<msg::Trace>(message); trace && root_ && wants_traces_) {
    const size_t size = message.parts.size() == 1 ? message.parts[0].bytes.size() : SIZE_MAX;
    if (size > kMostTrace) return node_.Expel(from, "a trace of another size than there may be");
    std::lock_guard lock(mutex_);
    reports_[from].trace = message.parts[0].bytes;
    reports_[from].began = trace->clock;
    return;
  }
  Notice(fmt::format("{} sent what means nothing here", NameOf(from)));
}

}  // namespace df
