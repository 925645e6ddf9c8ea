#include "tests/unit/net/simulation.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "backends/net/node.h"
#include "backends/net/simulated_net.h"

namespace df::net {
namespace {

using namespace std::chrono_literals;

constexpr Time kFaultsUntil = 8s;     // then the network is good
constexpr Time kAllBy = 90s;          // and by this time all has been delivered
constexpr Time kLossWithin = 5500ms;  // after which everybody knows of a loss

// All payloads are cut out of this.
const std::string& Noise() {
  static const std::string noise = [] {
    std::string bytes(2 << 20, '\0');
    std::mt19937_64 random(7);
    for (size_t i = 0; i < bytes.size(); i += 8) {
      const uint64_t word = random();
      std::memcpy(bytes.data() + i, &word, 8);
    }
    return bytes;
  }();
  return noise;
}

// What process `from` sends as its n-th to `to`, by which both know it.
std::string_view Bytes(const Name128& from, const Name128& to, uint64_t n, size_t part, size_t size) {
  const uint64_t at = (from.low * 31 + to.low * 17 + n * 0x9e3779b97f4a7c15 + part * 0x517cc1b727220a95) >> 20;
  return std::string_view(Noise()).substr(at % (1 << 20), size);
}

// Between a node and the network: the seeded bugs.
class Tampering : public Transport {
 public:
  // Each process has a clock of its own, which is `ahead` of the network's.
  Tampering(std::unique_ptr<Transport> real, Sabotage sabotage, Time ahead) : real_(std::move(real)), sabotage_(sabotage), ahead_(ahead) {}

  Time Now() override { return real_->Now() + ahead_; }
  Route Connect(const std::string& address, std::string* why) override { return real_->Connect(address, why); }
  void Close(Route route) override { real_->Close(route); }
  std::optional<Arrival> Receive() override { return real_->Receive(); }
  void Wait(Time until) override { real_->Wait(until - ahead_); }
  void Wake() override { real_->Wake(); }
  bool Send(Route route, Datagram datagram) override {
    if (sabotage_ != Sabotage::None) Spoil(datagram);
    return real_->Send(route, std::move(datagram));
  }

 private:
  void Spoil(Datagram& datagram) {
    Reader in(datagram.head.bytes);
    Head head;
    if (!ReadHead(in, head) || head.greeting()) return;
    std::string body(datagram.head.bytes.substr(Head::kSize));
    if (sabotage_ == Sabotage::NoAcknowledgement) head.acknowledged = 0;
    if (sabotage_ == Sabotage::NoSeen) head.seen = 0;
    if (sabotage_ == Sabotage::NoCredit) head.credit = 0;
    if (sabotage_ == Sabotage::TooMuchCredit) head.credit *= 2;
    if (sabotage_ == Sabotage::NoStamp) head.stamp = ++stamp_, head.sequence = head.count > 0 ? ++sequence_[head.to] : 0;
    if (sabotage_ == Sabotage::Swapped && head.count == 2) {
      const uint8_t size = static_cast<uint8_t>(body[1]);
      if (size < 128 && body.size() > size + 2u && body[0] == static_cast<char>(Kind::Finished)) std::rotate(body.begin(), body.begin() + size + 2, body.end());
    }
    if (sabotage_ == Sabotage::NoMembers && head.count > 0 && body[0] == static_cast<char>(Kind::Members)) head.count = 0, body.clear();
    std::string bytes;
    PutHead(bytes, head);
    datagram.head = OwnPart(bytes + body);
  }

  std::unique_ptr<Transport> real_;
  Sabotage sabotage_;
  const Time ahead_;
  uint64_t stamp_ = 0;
  std::map<Name128, uint64_t> sequence_;
};

// What one process has sent to another one, or got from it, on each lane.
struct Traffic {
  uint64_t data_sent = 0, control_sent = 0, data_got = 0, control_got = 0, planned = 0;
};

struct Process {
  std::string address;
  SimulatedNet::HostNumber host = 0;
  Name128 incarnation;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Node> node;
  bool alive = true;
  Time started{0}, ended{0}, stopped_until{0}, next{0}, busy_until{0};
  Time ahead{0};     // its clock
  double greed = 1;  // how much of what came it takes at a time
  uint64_t messages_each = 0;
  std::map<Name128, Traffic> traffic;
  std::map<Name128, Time> joined, gone;
  std::set<Name128> ready;
};

class Life {
 public:
  Life(uint64_t seed, Sabotage sabotage, bool log) : random_(seed), sabotage_(sabotage), log_(log), harsh_(Chance() < 0.2), net_(seed + 1, Line()) {
    link_.window = Pick<uint64_t>({64 << 10, 128 << 10, 1 << 20, 64 << 20});
    link_.batch = Pick<uint32_t>({1 << 10, 16 << 10});
    link_.piece = Pick<uint32_t>({16 << 10, 64 << 10, 256 << 10});
    root_dies_ = Chance() < 0.05;
    largest_ = Pick<size_t>({1 << 10, 64 << 10, 1 << 20});
  }

  Outcome Run() {
    const size_t count = 2 + Below(4);
    for (size_t i = 0; i < count; ++i) StartProcess(fmt::format("host{}", i), i == 0);
    while (outcome_.failure.empty()) {
      Time next = std::min(net_.NextEvent(), next_fault_);
      for (const auto& process : processes_)
        if (process->alive) next = std::min(next, std::max(process->next, process->stopped_until));
      next = std::max(next, net_.now() + 1us);
      if (next > kAllBy) {
        Fail(fmt::format("not all was delivered within {} s: {}", kAllBy / 1s, Missing()));
        break;
      }
      reached_.clear();
      net_.Advance(next, &reached_);
      for (SimulatedNet::HostNumber host : reached_) ByHost(host).next = net_.now();
      if (net_.now() >= next_fault_) Fault();
      for (size_t i = 0; i < processes_.size(); ++i) {
        Process& process = *processes_[i];
        if (process.alive && process.next <= net_.now() && process.stopped_until <= net_.now()) StepProcess(process);
      }
      if (net_.now() > kFaultsUntil && net_.now() >= next_look_) {
        next_look_ = net_.now() + 50ms;
        if (AllIsDone()) break;
      }
    }
    for (const auto& process : processes_)
      if (process->alive) Count(*process);
    outcome_.seconds = std::chrono::duration<double>(net_.now()).count();
    return outcome_;
  }

 private:
  SimulatedLine Line() {
    SimulatedLine line;
    line.delay_most = Pick<Time>({200us, 2ms, 20ms, 150ms});
    line.bytes_per_second = Pick<uint64_t>({1 << 20, 10 << 20, 1 << 30});
    line.duplicate = Pick<double>({0, 0.01, 0.2});
    line.lose = Pick<double>({0, 0, 0.002, 0.03});
    // No TCP connection loses a datagram amid others. Where one does, what is sent again stands before Progress for seconds on a slow line, and the first
    // words of a connection that came back may all be lost.
    if (!harsh_) line.lose = std::min(line.lose, 0.002);
    return line;
  }
  template <typename T>
  T Pick(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }
  size_t Below(size_t bound) { return random_() % bound; }
  double Chance() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  Time Between(Time least, Time most) { return least + Time(static_cast<int64_t>(Chance() * static_cast<double>((most - least).count()))); }
  void Fail(std::string text) {
    if (outcome_.failure.empty()) outcome_.failure = fmt::format("at {:.3f} s: {}", std::chrono::duration<double>(net_.now()).count(), text);
  }
  void Say(const std::string& text) {
    if (log_) std::fprintf(stderr, "%10.6f %s\n", std::chrono::duration<double>(net_.now()).count(), text.c_str());
  }
  static std::string NameOf(const Process& process) { return fmt::format("{}#{:x}", process.address, process.incarnation.low & 0xffff); }
  Process& ByHost(SimulatedNet::HostNumber host) {
    for (const auto& process : processes_)
      if (process->host == host) return *process;
    std::abort();
  }
  Process* ByIncarnation(const Name128& incarnation) {
    for (const auto& process : processes_)
      if (process->incarnation == incarnation) return process.get();
    return nullptr;
  }

  void StartProcess(const std::string& address, bool root) {
    auto process = std::make_unique<Process>();
    process->address = address;
    process->incarnation = {random_() | 1, random_()};
    process->started = net_.now();
    process->ahead = Pick<Time>({0s, 1us, 3s, 40000h});
    process->transport = std::make_unique<Tampering>(net_.Start(address, &process->host), sabotage_, process->ahead);
    process->greed = Pick<double>({1, 1, 0.3, 0.02});
    process->messages_each = 1 + Below(80);
    NodeOptions options;
    options.incarnation = process->incarnation;
    options.root = root;
    options.name = options.address = address;
    options.link = link_;
    options.answer_within = 100s;
    process->node = std::make_unique<Node>(options, *process->transport);
    std::string why;
    if (!root) process->node->Dial("host0", &why);
    process->node->SetReady();
    process->next = net_.now();
    Say(fmt::format("{} starts", NameOf(*process)));
    processes_.push_back(std::move(process));
  }

  // ---------------------------------------------------------------- what processes do

  void StepProcess(Process& process) {
    Node& node = *process.node;
    node.Progress(1, 0, false);
    if (net_.now() < kAllBy) SendSome(process);
    process.next = Step(process);
    bool took = false;
    for (size_t i = 0; i < 200 && (net_.now() > kFaultsUntil || Chance() < process.greed); ++i) {
      std::optional<Event> event = node.Take();
      if (!event) break;
      took = true;
      OnEvent(process, std::move(*event));
    }
    if (took) process.next = std::min(process.next, Step(process));
    CheckBounds(process);
    CheckClocks(process);
    process.next = std::min(process.next, net_.now() + (net_.now() < kFaultsUntil + 2s ? 40ms : 200ms));
  }

  // When it is to be stepped again, by the network's clock.
  static Time Step(Process& process) {
    const Time next = process.node->Step();
    return next == Time::max() ? next : next - process.ahead;
  }

  // What is known of others' clocks is within the error that goes with it.
  void CheckClocks(const Process& process) {
    for (MemberNumber number = 0; number < process.node->members().size(); ++number) {
      const Member& member = process.node->members()[number];
      const Process* other = ByIncarnation(member.incarnation);
      if (!member.offset.known || !other) continue;
      const Time off = member.offset.ahead - (other->ahead - process.ahead);
      if (off > member.offset.error || off < -member.offset.error)
        Fail(fmt::format("{} has the clock of {} wrong by {} ns, and says {}", NameOf(process), NameOf(*other), off.count(), member.offset.error.count()));
      ++outcome_.clocks;
    }
  }

  void SendSome(Process& process) {
    for (MemberNumber number = 0; number < process.node->members().size(); ++number) {
      const Member& member = process.node->members()[number];
      if (member.state == MemberState::Gone) continue;
      Traffic& traffic = process.traffic[member.incarnation];
      while (traffic.planned < process.messages_each && Chance() < (net_.now() > kFaultsUntil ? 1 : 0.2)) {
        ++traffic.planned;
        Chance() < 0.3 ? SendControl(process, number, traffic) : SendData(process, number, traffic);
      }
    }
  }

  size_t RandomSize() {
    const double kind = Chance();
    const size_t most = kind < 0.55 ? 200 : kind < 0.85 ? 17 << 10 : kind < 0.97 ? 100 << 10 : largest_;
    return Chance() < 0.05 ? 0 : Below(std::min(most, largest_) + 1);
  }

  void SendControl(Process& process, MemberNumber to, Traffic& traffic) {
    const uint64_t number = traffic.control_sent++;
    // Stats are for the root alone.
    const bool stats = process.node->members()[to].root && Chance() < 0.3;
    Message message = stats ? Pack(msg::Stats{{number, number + 1}, {{process.incarnation, 1, 2, 3, 4}}}) : Pack(msg::Ask{number});
    if (!process.node->Send(to, std::move(message))) Fail(fmt::format("{} may not send", NameOf(process)));
  }

  void SendData(Process& process, MemberNumber to, Traffic& traffic) {
    const Name128 peer = process.node->members()[to].incarnation;
    const uint64_t number = traffic.data_sent++;
    std::vector<Part> parts;
    if (Chance() < 0.1)
      for (size_t count = 1 + Below(3); parts.size() < count;) {
        const std::string_view bytes = Bytes(process.incarnation, peer, number, parts.size() + 1, RandomSize());
        parts.push_back({bytes, std::shared_ptr<const void>(&Noise(), [](const void*) {})});
      }
    const std::string_view value = Bytes(process.incarnation, peer, number, 0, RandomSize());
    outcome_.bytes += value.size();
    Message message = Chance() < 0.3 ? Pack(msg::Finished{number}) : Pack(msg::Result{number, static_cast<Small>(value.size()), value}, std::move(parts));
    if (process.node->members()[to].root && Chance() < 0.1) message = Pack(msg::Trace{number, value});
    if (!process.node->Send(to, std::move(message))) Fail(fmt::format("{} may not send", NameOf(process)));
  }

  void OnEvent(Process& process, Event event) {
    if (event.what == Event::What::Notice) return Say(fmt::format("{} notes: {}", NameOf(process), event.text));
    if (event.what == Event::What::Refused || event.what == Event::What::NoAnswer) {
      Say(fmt::format("{} hears: {}", NameOf(process), event.text));
      return;
    }
    const Name128 peer = process.node->members()[event.member].incarnation;
    switch (event.what) {
      case Event::What::Joined:
        if (process.joined.contains(peer)) Fail("a member that joins twice");
        process.joined[peer] = net_.now();
        return Say(fmt::format("{} has {}", NameOf(process), Hex(peer).substr(28)));
      case Event::What::Ready: process.ready.insert(peer); return;
      case Event::What::Gone: return OnGone(process, peer, event.text);
      case Event::What::Message: return OnMessage(process, peer, event.message);
      default: return;
    }
  }

  void OnGone(Process& process, const Name128& peer, const std::string& why) {
    Say(fmt::format("{} lost {}: {}", NameOf(process), Hex(peer).substr(28), why));
    if (process.gone.contains(peer)) Fail("a member that is gone twice");
    process.gone[peer] = net_.now();
    if (why.find("rules") != std::string::npos) return Fail(fmt::format("{} of {}: {}", NameOf(process), Hex(peer), why));
    const Process* other = ByIncarnation(peer);
    if (!harsh_ && other && other->alive) Fail(fmt::format("{} counts {} as lost, which lives: {}", NameOf(process), NameOf(*other), why));
    outcome_.losses++;
  }

  void OnMessage(Process& process, const Name128& peer, const Message& message) {
    Traffic& traffic = process.traffic[peer];
    ++outcome_.messages;
    if (process.gone.contains(peer)) Fail("a message of a member that is gone");
    if (auto ask = Unpack<msg::Ask>(message)) {
      if (ask->keeps != traffic.control_got++) Fail(fmt::format("control message {} in the place of {}", ask->keeps, traffic.control_got - 1));
      return;
    }
    if (auto stats = Unpack<msg::Stats>(message)) {
      const bool same = stats->counts.size() == 2 && stats->links.size() == 1 && stats->links[0].peer == peer && stats->links[0].bytes_in == 4;
      if (!same || stats->counts[0] != traffic.control_got++) Fail("a Stats in the place of another control message");
      return;
    }
    const uint64_t expected = traffic.data_got++;
    uint64_t number = 0;
    if (auto finished = Unpack<msg::Finished>(message)) {
      number = finished->ticket;
    } else if (auto trace = Unpack<msg::Trace>(message)) {
      number = trace->clock;
      if (trace->spans != Bytes(peer, process.incarnation, number, 0, trace->spans.size())) Fail(fmt::format("trace {} has other bytes", number));
    } else if (auto result = Unpack<msg::Result>(message)) {
      number = result->ticket;
      bool same = result->value.size() == result->number && result->value == Bytes(peer, process.incarnation, number, 0, result->number);
      for (size_t i = 0; i < message.parts.size(); ++i)
        same = same && message.parts[i].bytes == Bytes(peer, process.incarnation, number, i + 1, message.parts[i].bytes.size());
      if (!same) Fail(fmt::format("message {} has other bytes", number));
    } else {
      Fail("a message that nobody sent");
    }
    if (number != expected) Fail(fmt::format("message {} in the place of {}, {} of {}", number, expected, NameOf(process), Hex(peer)));
  }

  void CheckBounds(const Process& process) {
    for (MemberNumber number = 0; number < process.node->members().size(); ++number) {
      const Link* link = process.node->link(number);
      if (!link) continue;
      if (link->outbox().spent() > link->outbox().credit()) Fail(fmt::format("{} has sent more than its credit", NameOf(process)));
      // The largest message: a body and three parts.
      if (link->inbox().held() > link_.window + 4 * (largest_ + 1024)) Fail(fmt::format("{} holds {} bytes", NameOf(process), link->inbox().held()));
    }
  }

  // ---------------------------------------------------------------- what happens to them

  void Fault() {
    next_fault_ = net_.now() >= kFaultsUntil ? Time::max() : net_.now() + Between(10ms, 400ms);
    if (net_.now() >= kFaultsUntil) {
      for (const auto& process : processes_) process->next = net_.now();
      return;
    }
    std::vector<Process*> alive;
    for (const auto& process : processes_)
      // Whose connection is being made anew is not back within a second, and so is lost, if it is stopped or cut off meanwhile: no gentle life.
      if (process->alive && (harsh_ || (process->busy_until <= net_.now() && !Reconnects(*process)))) alive.push_back(process.get());
    if (alive.empty()) return;
    Process& one = *alive[Below(alive.size())];
    Process& other = *alive[Below(alive.size())];
    // In a gentle life nobody is silent for so long that he counts as lost, also with what the line itself does.
    const Time longest = harsh_ ? Time(9s) : Time(2500ms);
    const double kind = Chance();
    if (kind < 0.25 && &one != &other) {
      const bool noticed = Chance() < 0.5;
      const Time until = net_.now() + Between(1ms, noticed && !harsh_ ? Time(400ms) : longest);
      net_.Cut(one.host, other.host, until, noticed);
      one.busy_until = other.busy_until = until + 1200ms;
      ++outcome_.cuts;
      Say(fmt::format("cut {} {} until {:.3f}{}", NameOf(one), NameOf(other), std::chrono::duration<double>(until).count(), noticed ? ", noticed" : ""));
    } else if (kind < 0.45 && &one != &other) {
      const Time until = net_.now() + Between(1ms, longest);
      net_.Stall(one.host, other.host, until);
      one.busy_until = other.busy_until = until + 1200ms;
      ++outcome_.stalls;
      Say(fmt::format("stall {} {}", NameOf(one), NameOf(other)));
    } else if (kind < 0.65) {
      one.stopped_until = net_.now() + Between(1ms, longest);
      one.busy_until = one.stopped_until + 1200ms;
      ++outcome_.stops;
      Say(fmt::format("stop {} until {:.3f}", NameOf(one), std::chrono::duration<double>(one.stopped_until).count()));
    } else if (kind < 0.85 && (&one != processes_[0].get() || root_dies_)) {
      KillProcess(one);
    } else if (kind < 0.95) {
      RestartOne();
    }
  }

  // A connection of it has ended, as it or its peer saw, and has not come back.
  bool Reconnects(const Process& process) const {
    for (const auto& other : processes_) {
      if (!other->alive) continue;
      const Members& members = other->node->members();
      for (MemberNumber number = 0; number < members.size(); ++number)
        if (members[number].closed && members[number].state != MemberState::Gone && (other.get() == &process || members[number].incarnation == process.incarnation)) return true;
    }
    return false;
  }

  void KillProcess(Process& process) {
    net_.Kill(process.host, Chance() < 0.5);
    Count(process);
    process.alive = false;
    process.ended = net_.now();
    process.node.reset();
    ++outcome_.kills;
    Say(fmt::format("kill {}", NameOf(process)));
    if (Chance() < 0.3 && process.address != "host0") StartProcess(process.address, false), ++outcome_.restarts;
  }

  void RestartOne() {
    std::set<std::string> taken;
    for (const auto& process : processes_)
      if (process->alive) taken.insert(process->address);
    for (const auto& process : processes_) {
      if (process->alive || taken.contains(process->address) || process->address == "host0") continue;
      StartProcess(process->address, false);
      ++outcome_.restarts;
      return;
    }
  }

  void Count(const Process& process) {
    if (!process.node) return;
    for (MemberNumber number = 0; number < process.node->members().size(); ++number)
      if (const Link* link = process.node->link(number)) {
        outcome_.datagrams += link->counts().datagrams_sent;
        outcome_.again += link->counts().again;
        outcome_.duplicates += link->counts().duplicates;
        outcome_.gaps += link->counts().gaps;
      }
  }

  // ---------------------------------------------------------------- the end

  bool AllIsDone() { return Missing().empty() && LossesAreKnown(); }

  bool LossesAreKnown() {
    bool all = true;
    for (const auto& process : processes_) {
      if (!process->alive) continue;
      for (const auto& [peer, since] : process->joined) {
        const Process* other = ByIncarnation(peer);
        if (other->alive || process->gone.contains(peer)) continue;
        all = false;
        const Time known_by = std::max({other->ended, since, kFaultsUntil, process->stopped_until}) + kLossWithin;
        if (net_.now() > known_by) Fail(fmt::format("{} does not know that {} is gone", NameOf(*process), NameOf(*other)));
      }
    }
    return all;
  }

  // The first thing that is missing before all has been delivered.
  std::string Missing() {
    const bool root_lives = processes_[0]->alive;
    for (const auto& a : processes_) {
      if (!a->alive) continue;
      for (const auto& b : processes_) {
        if (a == b || !b->alive) continue;
        if (a->gone.contains(b->incarnation) || b->gone.contains(a->incarnation)) {
          // Both will know; who was lost to the root is lost to all.
          if (a->gone.contains(b->incarnation) && b->joined.contains(a->incarnation) && !b->gone.contains(a->incarnation))
            return fmt::format("{} does not know that it is lost to {}", NameOf(*b), NameOf(*a));
          continue;
        }
        if (!a->joined.contains(b->incarnation)) {
          const bool lost = harsh_ && (a->gone.contains(processes_[0]->incarnation) || b->gone.contains(processes_[0]->incarnation));
          if (!root_lives || lost) continue;
          return fmt::format("{} never met {}", NameOf(*a), NameOf(*b));
        }
        const Traffic& sent = a->traffic[b->incarnation];
        const Traffic& got = b->traffic[a->incarnation];
        if (sent.planned < a->messages_each) return fmt::format("{} has more for {}", NameOf(*a), NameOf(*b));
        if (sent.data_sent != got.data_got || sent.control_sent != got.control_got)
          return fmt::format("{} got {} of {} messages, {} of {} on the control lane, of {}", NameOf(*b), got.data_got, sent.data_sent, got.control_got,
                             sent.control_sent, NameOf(*a));
      }
    }
    return "";
  }

  std::mt19937_64 random_;
  Sabotage sabotage_;
  bool log_, harsh_ = false, root_dies_ = false;
  SimulatedNet net_;
  LinkOptions link_;
  size_t largest_ = 0;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<SimulatedNet::HostNumber> reached_;
  Time next_fault_{100ms}, next_look_{0};
  Outcome outcome_;
};

}  // namespace

Outcome Simulate(uint64_t seed, Sabotage sabotage, bool log) { return Life(seed, sabotage, log).Run(); }

}  // namespace df::net
