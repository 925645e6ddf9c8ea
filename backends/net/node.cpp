#include "backends/net/node.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

namespace df::net {
namespace {

constexpr Time kProgressEvery = std::chrono::milliseconds(100);
constexpr Time kRetryEvery = std::chrono::milliseconds(20);
constexpr Time kLeaveWithin = std::chrono::seconds(1);
constexpr Time kNoticeEvery = std::chrono::seconds(1);
constexpr Time kRefuseEvery = std::chrono::milliseconds(20);
constexpr Time kLate = std::chrono::milliseconds(500);
constexpr size_t kMostArrivals = 64;       // in one step: what came is taken while it is in the cache
constexpr size_t kMostUnjudged = 64;       // steps in a row after which more was there
constexpr size_t kMostControl = 1 << 16;   // messages of one member that nobody takes
constexpr size_t kRowsInMessage = 24;
constexpr size_t kLongestName = 64, kLongestAddress = 256, kLongestWhy = 256;

// For people, on one line.
std::string Clean(const std::string& text, size_t most) {
  std::string clean;
  for (unsigned char c : text.substr(0, most)) clean += c < 32 || c == 127 ? '?' : static_cast<char>(c);
  return clean;
}

}  // namespace

Name128 RandomName() {
  std::random_device random;
  const auto half = [&] { return uint64_t{random()} << 32 | random(); };
  return {half() | 1, half()};  // never nobody
}

Node::Node(NodeOptions options, Transport& transport)
    : options_(std::move(options)), transport_(transport), members_(options_.times, options_.root), rank_(options_.root ? 0 : options_.rank) {
  options_.facts.wire = kWireVersion;
  options_.name = Clean(options_.name, kLongestName);
}

bool Node::Dial(const std::string& address, std::string* why) {
  const Time now = transport_.Now();
  const Route route = transport_.Connect(address, why);
  if (route == 0) return false;
  dialling_.push_back({address, route, ++dialled_, now, now + options_.answer_within, options_.greet_first, {}});
  return true;
}

bool Node::MaySend(MemberNumber to, Kind kind) const {
  const KindInfo& info = InfoOf(kind);
  const uint8_t state = leaving_ ? during::Ending : ready_ ? during::Serving : during::Joined;
  if (to >= peers_.size() || !peers_[to].link || !(info.states & state)) return false;
  if (info.direction == Direction::FromRoot && !options_.root) return false;
  return info.direction != Direction::ToRoot || members_[to].root;
}

bool Node::Send(MemberNumber to, Message message) { return MaySend(to, message.kind) && peers_[to].link->Send(std::move(message)); }

void Node::SetReady() {
  ready_ = true;
  for (MemberNumber number = 0; number < peers_.size(); ++number) Send(number, msg::Ready{rank_});
}

void Node::Progress(uint64_t steps, Small queue, bool busy, Small still) {
  progress_ = {};
  progress_.steps = steps;
  progress_.queue = queue;
  progress_.busy = busy;
  progress_.still = still;
  progress_known_ = true;
}

void Node::Expel(MemberNumber number, const std::string& why) {
  if (number < peers_.size() && peers_[number].link) SetGone(number, "it broke the rules: " + Clean(why, kLongestWhy));
}

void Node::Leave(std::string why) {
  leaving_ = true;
  bye_ = std::move(why);
  const Time now = transport_.Now();
  leave_by_ = now + kLeaveWithin;
  // Others wait for it before they say Bye.
  for (const Peer& peer : peers_)
    if (peer.link) peer.link->AcknowledgeNow(now);
}

uint64_t Node::held() const {
  uint64_t held = 0;
  for (const Peer& peer : peers_)
    if (peer.link) held += peer.link->outbox().held() + peer.link->inbox().held();
  return held;
}

bool Node::Left() const {
  if (!leaving_) return false;
  const auto done = [](const Peer& peer) { return !peer.link || (peer.said_bye && peer.link->Idle()); };
  return transport_.Now() >= *leave_by_ || std::all_of(peers_.begin(), peers_.end(), done);
}

// ---------------------------------------------------------------- the step

Time Node::Step() {
  size_t arrivals = 0;
  const Time now = transport_.Now();
  if (step_by_ && now - *step_by_ > kLate) members_.NotLooked(now - *step_by_);
  for (; arrivals < kMostArrivals; ++arrivals) {
    std::optional<Arrival> arrival = transport_.Receive();
    if (!arrival) break;
    OnArrival(std::move(*arrival), now);
  }
  while (auto notice = transport_.TakeNotice()) Notice(std::move(*notice), now);
  while (auto failure = transport_.TakeFailure()) {
    const Dialling* dial = DialOf(failure->route);
    if (!dial) continue;
    events_.push_back({Event::What::NoAnswer, kNobody, fmt::format("no answer from {}: {}", dial->address, failure->why), {}});
    EndDial(failure->route, /*close=*/true);
  }
  // Who has not been read yet is not to be judged by silence; but a flood may not keep it off for ever.
  unjudged_ = arrivals < kMostArrivals ? 0 : unjudged_ + 1;
  if (unjudged_ % kMostUnjudged == 0) {
    for (const Members::Change& change : members_.Tick(now)) {
      if (change.state == MemberState::Gone) TellGone(change.number);
      else events_.push_back({change.state == MemberState::Suspect ? Event::What::Suspect : Event::What::Back, change.number, "", {}});
    }
    std::erase_if(joining_, [&](const Joining& joining) {
      if (now < joining.until) return false;
      ForgetRoute(joining.route);
      return true;
    });
  }
  Greet(now);
  if (progress_known_ && now - progress_told_ >= kProgressEvery) {
    progress_told_ = now;
    progress_known_ = false;
    for (MemberNumber number = 0; number < peers_.size(); ++number) TellProgress(number);
  }
  if (options_.root) TellMembers();
  if (leaving_) SendBye();
  Time next = arrivals == kMostArrivals ? now : members_.Deadline();
  for (MemberNumber number = 0; number < peers_.size(); ++number) {
    Peer& peer = peers_[number];
    if (!peer.link) continue;
    Flush(number, now);
    if (!peer.link) continue;
    next = std::min(next, peer.retry ? *peer.retry : peer.link->Deadline());
  }
  for (const Dialling& dial : dialling_) next = std::min(next, std::min(dial.next, dial.until));
  for (const Joining& joining : joining_) next = std::min(next, joining.until);
  next = std::min(next, std::max(progress_told_ + kProgressEvery, now));
  if (leaving_) next = std::min(next, std::max(now, *leave_by_));
  step_by_ = std::max(next, now);
  return next;
}

// The root to all, all to the root.
void Node::TellProgress(MemberNumber number) {
  const Member& member = members_[number];
  if (!options_.root && !member.root) return;
  const Time sent = transport_.Now();
  progress_.clock = static_cast<uint64_t>(sent.count());
  progress_.heard = static_cast<uint64_t>(member.clock.count());
  progress_.since = member.clock == Time{0} ? 0 : static_cast<uint64_t>((sent - member.progressed_at).count());
  Send(number, progress_);
}

void Node::Greet(Time now) {
  std::vector<std::string> silent;
  std::erase_if(dialling_, [&](const Dialling& dial) {
    if (now < dial.until) return false;
    silent.push_back(dial.address);
    transport_.Close(dial.route);
    return true;
  });
  for (std::string& address : silent)
    events_.push_back({Event::What::NoAnswer, kNobody,
                       fmt::format("no answer from {} within {:g} s: nobody listens there, or it has another key", address,
                                   std::chrono::duration<double>(options_.answer_within).count()), {}});
  for (Dialling& dial : dialling_) {
    if (now < dial.next) continue;
    // What is sent before there is a connection is lost, and a local one is there at once.
    dial.next = now + dial.pause;
    dial.pause = std::min(2 * dial.pause, options_.greet_every);
    SendGreeting(dial.route, {}, Greeting<msg::Hello>());
  }
}

void Node::Flush(MemberNumber number, Time now) {
  Peer& peer = peers_[number];
  if (peer.retry) {
    if (now < *peer.retry) return;
    peer.link->Reconnected();
  }
  while (std::optional<Datagram> datagram = peer.link->Poll(now)) {
    if (!transport_.Send(peer.route, std::move(*datagram))) {
      members_.Closed(number, now);
      peer.retry = now + kRetryEvery;
      return;
    }
    peer.retry.reset();
  }
}

void Node::SendBye() {
  for (MemberNumber number = 0; number < peers_.size(); ++number) {
    Peer& peer = peers_[number];
    if (!peer.link || peer.said_bye || !peer.link->Idle()) continue;
    peer.said_bye = Send(number, msg::Bye{bye_});
  }
}

// ---------------------------------------------------------------- what comes

void Node::OnArrival(Arrival arrival, Time now) {
  Reader in(arrival.datagram.head.bytes);
  Head head;
  if (!ReadHead(in, head)) {
    ++counts_.garbage;
    Notice(fmt::format("{} sent bytes that are no batch", arrival.who.empty() ? "somebody" : arrival.who), now);
    ForgetRoute(arrival.route);
    return;
  }
  if (head.greeting()) {
    OnGreeting(head, arrival, now);
    ForgetRoute(arrival.route);
    return;
  }
  if (head.version != kWireVersion || head.to != options_.incarnation) {
    ++counts_.stale;
    Refuse(arrival, head, {"incarnation", "another process is here now", Hex(head.to)}, now);
    ForgetRoute(arrival.route);
    return;
  }
  MemberNumber number = members_.Find(head.from);
  if (number == kNobody) {
    const auto joining = std::find_if(joining_.begin(), joining_.end(), [&](const Joining& j) { return j.member.incarnation == head.from; });
    if (joining == joining_.end()) {
      ++counts_.strangers;
      Refuse(arrival, head, {"incarnation", "not a member", Hex(head.from)}, now);
      ForgetRoute(arrival.route);
      return;
    }
    Joining joined = std::move(*joining);
    joining_.erase(joining);
    number = AddPeer(std::move(joined.member), joined.limits, arrival.route, /*dialled=*/false, now);
  }
  if (members_[number].state == MemberState::Gone) {
    ++counts_.strangers;
    Refuse(arrival, head, {"incarnation", "gone: " + members_[number].why, Hex(head.from)}, now);
    ForgetRoute(arrival.route);
    return;
  }
  OnBatch(number, head, arrival, now);
  if (peers_[number].route != arrival.route) ForgetRoute(arrival.route);
}

void Node::OnBatch(MemberNumber number, const Head& head, Arrival& arrival, Time now) {
  Peer& peer = peers_[number];
  const std::string& key = members_[number].who;
  if (!key.empty() && !arrival.who.empty() && key != arrival.who) {
    ++counts_.strangers;
    return Notice(fmt::format("{} speaks for {}, which joined with another key", arrival.who, Hex(head.from)), now);
  }
  if (arrival.route != peer.route) {
    // A connection of before is late, or somebody plays back what he recorded.
    if (head.stamp <= peer.link->seen()) {
      ++counts_.stale;
      return;
    }
    if (!peer.dialled) {
      const Route before = std::exchange(peer.route, arrival.route);
      ForgetRoute(before);
      peer.retry.reset();
      peer.link->Reconnected();
    }
  }
  const bool fresh = head.stamp > peer.link->seen();
  if (std::optional<std::string> wrong = peer.link->Receive(head, std::move(arrival.datagram), now)) return SetGone(number, "it broke the rules: " + *wrong);
  if (leaving_) peer.link->AcknowledgeNow(now);
  if (fresh && members_.Heard(number, now)) events_.push_back({Event::What::Back, number, "", {}});
  while (peers_[number].link) {
    std::optional<Message> message = peers_[number].link->TakeControl();
    if (!message) return;
    OnControl(number, std::move(*message), now);
  }
}

bool Node::IsLegal(MemberNumber number, const Message& message) const {
  const KindInfo& info = InfoOf(message.kind);
  const Member& member = members_[number];
  const uint8_t state = member.ready ? during::Serving : during::Joined;
  if (info.direction == Direction::FromRoot && !member.root) return false;
  if (info.direction == Direction::ToRoot && !options_.root) return false;
  return info.states & state;
}

void Node::OnControl(MemberNumber number, Message message, Time now) {
  if (!IsLegal(number, message))
    return SetGone(number, fmt::format("it broke the rules: {} is not for it to say now", InfoOf(message.kind).name));
  const auto broken = [&] { SetGone(number, fmt::format("it broke the rules: a broken {}", InfoOf(message.kind).name)); };
  switch (message.kind) {
    case Kind::Members: {
      auto members = Unpack<msg::Members>(message);
      return members ? OnMembers(*members, now) : broken();
    }
    case Kind::Ready: {
      if (!Unpack<msg::Ready>(message)) return broken();
      if (members_[number].ready) return;
      members_.SetReady(number);
      events_.push_back({Event::What::Ready, number, "", {}});
      return;
    }
    case Kind::Progress: {
      auto progress = Unpack<msg::Progress>(message);
      if (!progress) return broken();
      const bool first = members_[number].clock == Time{0};
      members_.Progressed(number, *progress, transport_.Now());  // not before it came
      // An answer at once: so clocks are compared within the first message there and back, however short the run is.
      if (first) TellProgress(number);
      return;
    }
    case Kind::Bye: {
      auto bye = Unpack<msg::Bye>(message);
      if (!bye) return broken();
      // It waits for this acknowledgement.
      peers_[number].link->AcknowledgeNow(now);
      Flush(number, now);
      members_.At(number).ending = true;
      return SetGone(number, "left: " + Clean(bye->why, kLongestWhy));
    }
    case Kind::Wave: {
      auto wave = Unpack<msg::Wave>(message);
      if (!wave) return broken();
      if (wave->epoch != members_.epoch()) return void(++counts_.other_epoch);
      break;
    }
    case Kind::Counts: {
      auto counts = Unpack<msg::Counts>(message);
      if (!counts) return broken();
      if (counts->epoch != members_.epoch()) return void(++counts_.other_epoch);
      break;
    }
    default: break;
  }
  if (++peers_[number].control_events > kMostControl) return SetGone(number, "it floods this process with control messages");
  events_.push_back({Event::What::Message, number, "", std::move(message)});
}

std::optional<Event> Node::Take(bool data) {
  if (!events_.empty()) {
    Event event = std::move(events_.front());
    events_.pop_front();
    if (event.what == Event::What::Message) --peers_[event.member].control_events;
    return event;
  }
  for (size_t i = 0; data && i < peers_.size(); ++i) {
    const MemberNumber number = turn_;
    turn_ = turn_ + 1 < peers_.size() ? turn_ + 1 : 0;
    if (!peers_[number].link) continue;
    std::optional<Message> message = peers_[number].link->TakeData();
    if (!message) continue;
    if (!IsLegal(number, *message)) {
      SetGone(number, fmt::format("it broke the rules: {} is not for it to say now", InfoOf(message->kind).name));
      return Take();
    }
    return Event{Event::What::Message, number, "", std::move(*message)};
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- who is there

MemberNumber Node::AddPeer(Member member, const PeerLimits& limits, Route route, bool dialled, Time now) {
  if (options_.root) {
    const auto taken = [&](Small rank) {
      for (MemberNumber i = 0; i < members_.size(); ++i)
        if (members_[i].state != MemberState::Gone && members_[i].rank == rank) return true;
      return rank == 0 || rank == kNoRank;
    };
    if (taken(member.rank)) {
      while (taken(next_rank_)) ++next_rank_;
      member.rank = next_rank_++;
    }
  }
  std::erase_if(joining_, [&](const Joining& joining) { return joining.member.incarnation == member.incarnation; });
  Peer peer;
  peer.link = std::make_unique<Link>(options_.link, Ends{options_.incarnation, member.incarnation}, limits, now);
  peer.route = route;
  peer.dialled = dialled;
  const MemberNumber number = members_.Add(std::move(member), now);
  peers_.push_back(std::move(peer));
  events_.push_back({Event::What::Joined, number, "", {}});
  if (ready_) Send(number, msg::Ready{rank_});
  TellProgress(number);
  return number;
}

void Node::SetGone(MemberNumber number, const std::string& why) {
  if (members_[number].state == MemberState::Gone) return;
  members_.SetGone(number, why);
  TellGone(number);
}

void Node::TellGone(MemberNumber number) {
  const Route route = peers_[number].route;
  if (peers_[number].link) peers_[number].counts = peers_[number].link->counts();
  peers_[number].link.reset();
  peers_[number].route = 0;
  transport_.Close(route);
  gone_untold_.push_back(number);
  events_.push_back({Event::What::Gone, number, members_[number].why, {}});
}

// The root's word to all, when the epoch has changed: who is there, and who has gone since the last word.
void Node::TellMembers() {
  if (leaving_ || told_epoch_ == members_.epoch()) return;  // the run is over for all, and nobody is missed
  told_epoch_ = members_.epoch();
  MemberRows rows;
  const auto add = [&](MemberNumber number) {
    const Member& member = members_[number];
    rows.push_back({member.incarnation, member.rank, member.state, member.name, member.address, member.why.substr(0, kLongestWhy)});
  };
  for (MemberNumber number = 0; number < members_.size(); ++number)
    if (members_[number].state != MemberState::Gone) add(number);
  for (MemberNumber number : gone_untold_) add(number);
  gone_untold_.clear();
  for (size_t begin = 0; begin < rows.size(); begin += kRowsInMessage) {
    msg::Members message{told_epoch_, {rows.begin() + begin, rows.begin() + std::min(rows.size(), begin + kRowsInMessage)}};
    const Message packed = Pack(message);
    for (MemberNumber number = 0; number < peers_.size(); ++number) Send(number, packed);
  }
}

void Node::OnMembers(const msg::Members& message, Time now) {
  if (message.epoch < members_.epoch()) return;
  members_.SetEpoch(message.epoch);
  for (const MemberRow& row : message.rows)
    if (row.incarnation == options_.incarnation) rank_ = row.rank;
  for (const MemberRow& row : message.rows) {
    if (row.incarnation == options_.incarnation) continue;
    const MemberNumber number = members_.Find(row.incarnation);
    if (number != kNobody) {
      members_.At(number).rank = row.rank;
      if (row.state == MemberState::Gone) SetGone(number, "the root says: " + Clean(row.why, kLongestWhy));
      continue;
    }
    const auto same = [&](const Dialling& dial) { return dial.address == row.address; };
    if (row.state == MemberState::Gone || row.rank >= rank_ || row.address.empty() || std::any_of(dialling_.begin(), dialling_.end(), same)) continue;
    std::string why;
    if (!Dial(row.address, &why)) Notice(fmt::format("cannot connect to {}: {}", Clean(row.address, kLongestAddress), why), now);
  }
}

// ---------------------------------------------------------------- greetings

template <typename M>
M Node::Greeting() const {
  M message;
  message.facts = options_.facts;
  message.root = options_.root;
  message.rank = rank_;
  message.name = options_.name;
  message.address = options_.address;
  message.cores = options_.cores;
  message.window = options_.link.window;
  message.largest = options_.link.largest;
  return message;
}

template <typename M>
void Node::SendGreeting(Route route, const Name128& to, const M& message) {
  Head head;
  head.flags = Head::kGreeting;
  head.from = options_.incarnation;
  head.to = to;
  head.count = 1;
  std::string bytes, body;
  PutHead(bytes, head);
  bytes += static_cast<char>(M::kKind);
  Encode(message, body);
  PutSized(bytes, body);
  transport_.Send(route, {OwnPart(std::move(bytes)), {}});
}

void Node::OnGreeting(const Head& head, const Arrival& arrival, Time now) {
  Reader in(arrival.datagram.head.bytes.substr(Head::kSize));
  const Kind kind = static_cast<Kind>(in.Fixed<uint8_t>());
  const std::string_view body = in.Sized();
  const auto garbage = [&] {
    ++counts_.garbage;
    Notice(fmt::format("{} sent a broken greeting", arrival.who.empty() ? "somebody" : arrival.who), now);
  };
  if (!in.ok() || !in.AtEnd() || head.count != 1 || head.sequence != 0 || !arrival.datagram.frames.empty()) return garbage();
  if (kind == Kind::Refused) {
    msg::Refused refused;
    return Decode(body, refused) ? OnRefused(head, refused, arrival, now) : garbage();
  }
  if (head.version != kWireVersion) {
    Refuse(arrival, head, {"wire version", std::to_string(kWireVersion), std::to_string(head.version)}, now);
    if (const Dialling* dial = DialOf(arrival.route)) {
      events_.push_back({Event::What::Refused, kNobody,
                         fmt::format("{} does not fit: wire version: here {}, there {}", dial->address, kWireVersion, head.version), {}});
      EndDial(arrival.route, /*close=*/true);
    }
    return;
  }
  if (kind == Kind::Hello) {
    msg::Hello hello;
    return Decode(body, hello) ? OnHello(head, hello, arrival, now) : garbage();
  }
  msg::Welcome welcome;
  if (kind != Kind::Welcome || !Decode(body, welcome)) return garbage();
  OnWelcome(head, welcome, arrival, now);
}

bool Node::HadRoot() const {
  for (MemberNumber number = 0; number < members_.size(); ++number)
    if (members_[number].root) return true;
  return false;
}

bool Node::HasRoot() const {
  for (MemberNumber number = 0; number < members_.size(); ++number)
    if (members_[number].root && members_[number].state != MemberState::Gone) return true;
  return std::any_of(joining_.begin(), joining_.end(), [](const Joining& joining) { return joining.member.root; });
}

namespace {

// As `Refused` says it.
constexpr const char* kRootFact = "root";
constexpr const char* kWorksForAnother = "works for another run";

template <typename M>
Member MemberOf(const Name128& incarnation, const M& greeting, const std::string& who) {
  Member member;
  member.incarnation = incarnation;
  member.root = greeting.root;
  member.rank = greeting.root ? 0 : greeting.rank;
  member.cores = greeting.cores;
  member.name = Clean(greeting.name, kLongestName);
  member.address = greeting.address.substr(0, kLongestAddress);
  member.who = who;
  return member;
}

}  // namespace

void Node::OnHello(const Head& head, const msg::Hello& hello, const Arrival& arrival, Time now) {
  if (head.from == options_.incarnation) return Refuse(arrival, head, {"incarnation", "this process itself", Hex(head.from)}, now);
  if (const MemberNumber number = members_.Find(head.from); number != kNobody) {
    if (members_[number].state == MemberState::Gone)
      return Refuse(arrival, head, {"incarnation", "gone: " + members_[number].why, Hex(head.from)}, now);
    // Both have dialled, or a greeting was sent again before its answer came.
    return SendGreeting(arrival.route, head.from, Greeting<msg::Welcome>());
  }
  if (auto difference = Compare(options_.facts, hello.facts, options_.allow_different_libm))
    return Refuse(arrival, head, {difference->field, difference->mine, difference->theirs}, now);
  // It greets again before its first word has come.
  const auto same = std::find_if(joining_.begin(), joining_.end(), [&](const Joining& j) { return j.member.incarnation == head.from; });
  if (same != joining_.end()) {
    if (leaving_ || same->member.who != arrival.who) return;
    if (const Route before = std::exchange(same->route, arrival.route); before != arrival.route) ForgetRoute(before);
    return SendGreeting(same->route, head.from, Greeting<msg::Welcome>());
  }
  if (hello.root && options_.root) return Refuse(arrival, head, {kRootFact, "there is one", "another one"}, now);
  if (hello.root && HasRoot()) return Refuse(arrival, head, {kRootFact, kWorksForAnother, hello.name}, now);
  // The run is over here, and for the next one there will be another node: who greets is not refused, and greets again.
  if (leaving_ || (hello.root && HadRoot())) return;
  if (joining_.size() >= options_.most_joining || members_.size() >= options_.most_members)
    return Refuse(arrival, head, {"members", "no room now", hello.name}, now);
  joining_.push_back({MemberOf(head.from, hello, arrival.who), {hello.window, hello.largest}, arrival.route, now + options_.join_within});
  SendGreeting(arrival.route, head.from, Greeting<msg::Welcome>());
}

void Node::OnWelcome(const Head& head, const msg::Welcome& welcome, const Arrival& arrival, Time now) {
  const Dialling* dial = DialOf(arrival.route);
  if (!dial || head.to != options_.incarnation) return void(++counts_.stale);
  const std::string address = dial->address;
  const Small number = dial->number;
  if (members_.Find(head.from) != kNobody) return EndDial(arrival.route, /*close=*/true);  // came in meanwhile
  if (auto difference = Compare(options_.facts, welcome.facts, options_.allow_different_libm)) {
    Refuse(arrival, head, {difference->field, difference->mine, difference->theirs}, now);
    events_.push_back({Event::What::Refused, kNobody,
                       fmt::format("{} does not fit: {}: here {}, there {}", address, difference->field, difference->mine, Clean(difference->theirs, kLongestWhy)), {}});
    return EndDial(arrival.route, /*close=*/true);
  }
  EndDial(arrival.route, /*close=*/false);
  Member member = MemberOf(head.from, welcome, "");
  if (options_.root && member.rank == kNoRank) member.rank = number;
  AddPeer(std::move(member), {welcome.window, welcome.largest}, arrival.route, /*dialled=*/true, now);
}

void Node::OnRefused(const Head& head, const msg::Refused& refused, const Arrival& arrival, Time now) {
  if (head.to != options_.incarnation) return void(++counts_.stale);
  const std::string text = fmt::format("{}: there {}, here {}", Clean(refused.field, 64), Clean(refused.here, kLongestWhy), Clean(refused.there, kLongestWhy));
  if (Dialling* dial = DialOf(arrival.route)) {
    // The run that it works for may be over, and it has not heard that yet, or its root was killed.
    if (refused.field == kRootFact && refused.here == kWorksForAnother) {
      if (!dial->busy_until) dial->busy_until = now + options_.busy_within;
      if (now < *dial->busy_until) return;
    }
    const std::string address = dial->address;
    EndDial(arrival.route, /*close=*/true);
    if (head.from == options_.incarnation) return;
    events_.push_back({Event::What::Refused, kNobody, fmt::format("{} refuses this process: {}", address, text), {}});
    return;
  }
  // By who does not know this process any more, or stands at the address of who did.
  for (MemberNumber number = 0; number < peers_.size(); ++number)
    if (peers_[number].link && peers_[number].route == arrival.route) {
      // It may have heard this process's Bye, whose acknowledgement was lost: then nobody is lost.
      if (peers_[number].said_bye) members_.At(number).ending = true;
      return SetGone(number, "it refuses this process: " + text);
    }
}

// Says so to the other side, to the log, and counts it.
void Node::Refuse(const Arrival& arrival, const Head& head, msg::Refused refused, Time now) {
  ++counts_.refused;
  if (refused_at_ && now - *refused_at_ < kRefuseEvery) return;  // who floods gets few answers
  refused_at_ = now;
  if (refused.field != "incarnation")
    Notice(fmt::format("refused {}{}: {}: here {}, there {}", Hex(head.from), arrival.who.empty() ? "" : " with the key " + arrival.who, refused.field,
                       refused.here, Clean(refused.there, kLongestWhy)), now);
  SendGreeting(arrival.route, head.from, refused);
}

void Node::Notice(std::string text, Time now) {
  if (noticed_ && now - *noticed_ < kNoticeEvery) return;
  noticed_ = now;
  events_.push_back({Event::What::Notice, kNobody, std::move(text), {}});
}

// Routes that came in and belong to nobody are not kept.
void Node::ForgetRoute(Route route) {
  if (route == 0 || DialOf(route)) return;
  for (const Joining& joining : joining_)
    if (joining.route == route) return;
  for (const Peer& peer : peers_)
    if (peer.link && peer.route == route) return;
  transport_.Close(route);
}

Node::Dialling* Node::DialOf(Route route) {
  const auto found = std::find_if(dialling_.begin(), dialling_.end(), [&](const Dialling& dial) { return dial.route == route; });
  return found == dialling_.end() ? nullptr : &*found;
}

void Node::EndDial(Route route, bool close) {
  std::erase_if(dialling_, [&](const Dialling& dial) { return dial.route == route; });
  if (close) transport_.Close(route);
}

}  // namespace df::net
