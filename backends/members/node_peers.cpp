#include "backends/members/node_peers.h"

#include <algorithm>

#include <fmt/format.h>

namespace df {

using net::Event;
using net::Kind;
namespace msg = net::msg;

namespace {

// The others are told in time that this one lives and what it does.
constexpr auto kTurn = std::chrono::milliseconds(50);
// Who does not fit is told so again with each greeting, which comes every 200 ms: a root that ends because of it stays so long.
constexpr auto kLastWord = std::chrono::milliseconds(1000);

net::Message Encoded(PeerMessage& message) {
  std::vector<net::Part> parts;
  for (std::string& part : message.parts) parts.push_back(net::OwnPart(std::move(part)));
  switch (message.kind) {
    case PeerMessage::Kind::Ask: return net::Pack(msg::Ask{message.ticket, message.number != 0});
    case PeerMessage::Kind::Refuse: return net::Pack(msg::Refuse{});
    case PeerMessage::Kind::Call: return net::Pack(msg::Call{.ticket = message.ticket, .arguments = message.bytes}, std::move(parts));
    case PeerMessage::Kind::Result: return net::Pack(msg::Result{message.ticket, message.number, message.bytes}, std::move(parts));
    case PeerMessage::Kind::Finished: return net::Pack(msg::Finished{message.ticket});
    case PeerMessage::Kind::Home: return net::Pack(msg::Failed{.ticket = message.ticket});
    case PeerMessage::Kind::Object: return net::Pack(msg::Object{message.ticket, message.bytes}, std::move(parts));
    case PeerMessage::Kind::Dropped: return net::Pack(msg::Dropped{message.ticket});
    case PeerMessage::Kind::Wave:
    case PeerMessage::Kind::Counts: break;  // they speak of members: NodePeers
  }
  return {};
}

std::optional<PeerMessage> Decoded(const net::Message& message) {
  PeerMessage to;
  for (const net::Part& part : message.parts) to.parts.emplace_back(part.bytes);
  if (auto ask = net::Unpack<msg::Ask>(message)) {
    to.kind = PeerMessage::Kind::Ask;
    to.ticket = ask->keeps;
    to.number = ask->knows;
  } else if (auto refuse = net::Unpack<msg::Refuse>(message)) {
    to.kind = PeerMessage::Kind::Refuse;
  } else if (auto call = net::Unpack<msg::Call>(message)) {
    to.kind = PeerMessage::Kind::Call;
    to.ticket = call->ticket;
    to.bytes = call->arguments;
  } else if (auto result = net::Unpack<msg::Result>(message)) {
    to.kind = PeerMessage::Kind::Result;
    to.ticket = result->ticket;
    to.number = result->number;
    to.bytes = result->value;
  } else if (auto finished = net::Unpack<msg::Finished>(message)) {
    to.kind = PeerMessage::Kind::Finished;
    to.ticket = finished->ticket;
  } else if (auto failed = net::Unpack<msg::Failed>(message)) {
    to.kind = PeerMessage::Kind::Home;
    to.ticket = failed->ticket;
  } else if (auto object = net::Unpack<msg::Object>(message)) {
    to.kind = PeerMessage::Kind::Object;
    to.ticket = object->name;
    to.bytes = object->value;
  } else if (auto dropped = net::Unpack<msg::Dropped>(message)) {
    to.kind = PeerMessage::Kind::Dropped;
    to.ticket = dropped->name;
  } else {
    return std::nullopt;
  }
  return to;
}

}  // namespace

NodePeers::NodePeers(std::unique_ptr<net::Transport> transport, net::NodeOptions options, SharedProgram program, const std::vector<std::string>& workers)
    : transport_(std::move(transport)), node_(std::move(options), *transport_), root_(true), has_program_(true), launched_(workers.empty()), program_(std::move(program)) {
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
    : transport_(std::move(transport)), node_(std::move(options), *transport_), root_(false), has_program_(has_program) {
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
  stop_ = true;
  transport_->Wake();
  changed_.wait(lock, [this] { return !calling_; });
  receiver_ = nullptr;
}

void NodePeers::Send(PeerId to, PeerMessage message) {
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

std::optional<SharedProgram> NodePeers::AwaitProgram(const std::atomic<bool>* stop) {
  std::unique_lock lock(mutex_);
  while (!got_) {
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

std::vector<PeerTraffic> NodePeers::traffic() const {
  std::lock_guard lock(mutex_);
  std::vector<PeerTraffic> all;
  for (const auto& [peer, traffic] : traffic_) all.push_back(traffic);
  return all;
}

// ---------------------------------------------------------------- the thread

void NodePeers::Serve() {
  uint64_t turns = 0;
  bool told_ready = root_, leaving = false;
  net::Time stay{0};  // until then
  for (;;) {
    bool ready, stop, wants;
    {
      std::lock_guard lock(mutex_);
      ready = ready_;
      stop = stop_;
      wants = std::exchange(wants_, false);
    }
    if (wants && root_member_) node_.Send(*root_member_, net::Pack(msg::GraphWanted{}));
    if (ready && !told_ready) {
      told_ready = true;
      node_.SetReady();
    }
    SendAll();
    if (stop && !leaving) {
      leaving = true;
      std::lock_guard lock(mutex_);
      if (turned_away_) stay = transport_->Now() + kLastWord;
      if (root_)
        for (net::MemberNumber member = 0; member < node_.members().size(); ++member) node_.Send(member, net::Pack(msg::End{}));
      node_.Leave(root_ ? "the run is over" : "it has served");
    }
    node_.Progress(++turns, 0, false);
    net::Time next = node_.Step();
    bool any = false;
    while (std::optional<Event> event = node_.Take()) {
      any = true;
      Handle(std::move(*event));
    }
    while (std::optional<std::string> notice = transport_->TakeNotice()) Notice(std::move(*notice));
    if (leaving && node_.Left() && transport_->Now() >= stay) return;
    bool idle;
    {
      std::lock_guard lock(mutex_);
      idle = out_.empty() && faults_.empty() && !wants_ && (receiver_ == nullptr || early_.empty()) && stop_ == stop && ready_ == ready;
    }
    if (!idle) Handle(Event{Event::What::Back});
    else if (!any) transport_->Wait(std::min(next, transport_->Now() + kTurn));
  }
}

void NodePeers::SendAll() {
  std::deque<std::pair<PeerId, PeerMessage>> out;
  std::vector<std::pair<PeerId, std::string>> faults;
  {
    std::lock_guard lock(mutex_);
    out.swap(out_);
    faults.swap(faults_);
    for (const auto& [to, message] : out) {
      PeerTraffic& traffic = traffic_[to];
      ++traffic.messages_out;
      traffic.bytes_out += message.size();
    }
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
  std::lock_guard lock(mutex_);
  if (notices_.size() < kMost) notices_.push_back(std::move(text));
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
      traffic_[event.member].name = NameOf(event.member);
      if (!root_ && node_.members()[event.member].root) {
        root_member_ = event.member;
        wants_ = !has_program_;
      }
      break;
    }
    case Event::What::Ready: {
      std::lock_guard lock(mutex_);
      serving_[event.member] = true;
      break;
    }
    case Event::What::Gone: {
      const bool was_root = root_member_ == event.member;
      if (!was_root && !node_.members()[event.member].ending) Notice(fmt::format("the worker {} is lost: {}", NameOf(event.member), event.text));
      {
        std::lock_guard lock(mutex_);
        serving_.erase(event.member);
        failed_ = true;
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
      else if (event.message.kind == Kind::End) arrived = Arrived{Arrived::What::Over};
      else HandleMessage(event.member, event.message);
      break;
  }
  std::unique_lock lock(mutex_);
  if (arrived) {
    if (arrived->what == Arrived::What::Over) over_ = true;
    if (arrived->what == Arrived::What::Message) {
      PeerTraffic& traffic = traffic_[arrived->from];
      ++traffic.messages_in;
      traffic.bytes_in += arrived->message.size();
    }
    early_.push_back(std::move(*arrived));
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

// What belongs to the run and not to its calls.
void NodePeers::HandleMessage(net::MemberNumber from, const net::Message& message) {
  if (auto wanted = net::Unpack<msg::GraphWanted>(message); wanted && root_) {
    node_.Send(from, net::Pack(msg::Graph{program_.options}, {{program_.graph, std::shared_ptr<const void>(std::shared_ptr<void>(), &program_)}}));
    return;
  }
  if (auto graph = net::Unpack<msg::Graph>(message); graph && !root_ && message.parts.size() == 1) {
    std::lock_guard lock(mutex_);
    got_ = SharedProgram{std::string(graph->graph), std::string(message.parts[0].bytes)};
    return;
  }
  Notice(fmt::format("{} sent what means nothing here", NameOf(from)));
}

}  // namespace df
