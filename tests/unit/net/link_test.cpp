#include "backends/net/link.h"

#include <random>

#include "tests/unit/catch.h"

using namespace df::net;
using namespace std::chrono_literals;

namespace {

constexpr Name128 kA{1, 1}, kB{2, 2};

// Two ends with a wire between them, on which the test has its hands.
struct Pair {
  explicit Pair(LinkOptions options = {})
      : a(options, {kA, kB}, {options.window, options.largest}, 0s), b(options, {kB, kA}, {options.window, options.largest}, 0s) {}

  static std::optional<std::string> Give(Link& to, const Datagram& datagram, Time now) {
    Reader in(datagram.head.bytes);
    Head head;
    if (!ReadHead(in, head)) return "no head";
    return to.Receive(head, datagram, now);
  }

  // Everything that a has to say, to b.
  void Carry(Link& from, Link& to) {
    while (auto datagram = from.Poll(now)) REQUIRE_FALSE(Give(to, *datagram, now));
  }
  void Settle() {
    for (int i = 0; i < 400; ++i) {
      Carry(a, b);
      Carry(b, a);
      now += 5ms;
    }
  }

  Time now = 1s;
  Link a, b;
};

Message Value(uint64_t ticket, size_t size, std::vector<Part> parts = {}) {
  return Pack(msg::Result{ticket, 0, std::string(size, static_cast<char>(ticket))}, std::move(parts));
}

std::vector<uint64_t> Tickets(Link& link) {
  std::vector<uint64_t> tickets;
  while (auto message = link.TakeData()) tickets.push_back(Unpack<msg::Result>(*message)->ticket);
  return tickets;
}

}  // namespace

TEST_CASE("messages come once, in order, and control comes first") {
  Pair p;
  for (uint64_t i = 0; i < 100; ++i) REQUIRE(p.a.Send(Value(i, i * 37)));
  REQUIRE(p.a.Send(Pack(msg::Ask{7})));
  const auto first = p.a.Poll(p.now);
  REQUIRE(first);
  REQUIRE_FALSE(Pair::Give(p.b, *first, p.now));
  auto control = p.b.TakeControl();
  REQUIRE(control);
  CHECK(Unpack<msg::Ask>(*control)->keeps == 7);
  p.Settle();
  std::vector<uint64_t> expected(100);
  for (uint64_t i = 0; i < 100; ++i) expected[i] = i;
  CHECK(Tickets(p.b) == expected);
  CHECK(p.a.Idle());
}

TEST_CASE("what was lost with a connection is sent again, and what comes twice counts once") {
  Pair p;
  std::vector<Datagram> recorded;
  for (uint64_t i = 0; i < 10; ++i) {
    REQUIRE(p.a.Send(Value(i, 10)));
    auto datagram = p.a.Poll(p.now);
    REQUIRE(datagram);
    recorded.push_back(*datagram);
    if (i < 4) REQUIRE_FALSE(Pair::Give(p.b, *datagram, p.now));
  }
  // Twice.
  for (int i = 0; i < 4; ++i) REQUIRE_FALSE(Pair::Give(p.b, recorded[i], p.now));
  CHECK(p.b.counts().duplicates == 4);
  p.a.Reconnected();
  p.Settle();
  CHECK(Tickets(p.b).size() == 10);
  CHECK(p.a.counts().again > 0);
  // Late ones of the old connection.
  for (const Datagram& late : recorded) REQUIRE_FALSE(Pair::Give(p.b, late, p.now));
  CHECK(Tickets(p.b).empty());
}

TEST_CASE("a hole that nobody noticed is found by the stamps") {
  Pair p;
  REQUIRE(p.a.Send(Value(1, 10)));
  REQUIRE(p.a.Poll(p.now));  // and it is lost
  REQUIRE(p.a.Send(Value(2, 10)));
  p.Settle();
  CHECK(Tickets(p.b) == std::vector<uint64_t>{1, 2});
  CHECK(p.b.counts().gaps > 0);
  // The last one of all.
  REQUIRE(p.a.Send(Value(3, 10)));
  REQUIRE(p.a.Poll(p.now));
  p.Settle();  // a sign of life shows it
  CHECK(Tickets(p.b) == std::vector<uint64_t>{3});
}

TEST_CASE("large messages come in pieces, with their parts, however small the credit is") {
  LinkOptions options;
  options.window = 256 << 10;
  Pair p(options);
  std::vector<Part> parts = {OwnPart(std::string(1 << 20, 'x')), OwnPart(""), OwnPart(std::string(100, 'y'))};
  const void* where = parts[0].bytes.data();
  REQUIRE(p.a.Send(Value(1, 700000, parts)));
  REQUIRE(p.a.Send(Value(2, 5)));
  auto first = p.a.Poll(p.now);
  REQUIRE(first);
  CHECK(first->size() <= (256 << 10) + 1024);
  REQUIRE_FALSE(Pair::Give(p.b, *first, p.now));
  std::vector<uint64_t> tickets;
  for (int i = 0; i < 200; ++i) {
    while (auto datagram = p.a.Poll(p.now)) {
      for (const Part& frame : datagram->frames)  // zero copy
        if (frame.bytes[0] == 'x') CHECK((frame.bytes.data() >= where && frame.bytes.data() < static_cast<const char*>(where) + (1 << 20)));
      REQUIRE_FALSE(Pair::Give(p.b, *datagram, p.now));
    }
    CHECK(p.b.inbox().held() <= options.window + (2 << 20));
    while (auto message = p.b.TakeData()) {
      tickets.push_back(Unpack<msg::Result>(*message)->ticket);
      if (message->parts.size() == 3) {
        CHECK(message->parts[0].bytes == parts[0].bytes);
        CHECK(message->parts[1].bytes.empty());
        CHECK(message->parts[2].bytes == parts[2].bytes);
        CHECK(reinterpret_cast<uintptr_t>(message->parts[0].bytes.data()) % 64 == 0);
      }
    }
    p.Carry(p.b, p.a);
    p.now += 5ms;
  }
  CHECK(tickets == std::vector<uint64_t>{1, 2});
}

TEST_CASE("a slow reader holds the sender, and control goes past") {
  LinkOptions options;
  options.window = 64 << 10;
  Pair p(options);
  for (uint64_t i = 0; i < 100; ++i) REQUIRE(p.a.Send(Value(i, 10000)));
  p.Settle();
  CHECK(p.b.inbox().held() <= options.window);
  CHECK(p.a.Queued() > 0);
  REQUIRE(p.a.Send(Pack(msg::Ask{1})));
  p.Carry(p.a, p.b);
  CHECK(p.b.TakeControl());
  size_t taken = 0;
  for (int i = 0; i < 100; ++i) {
    taken += Tickets(p.b).size();
    p.Carry(p.b, p.a);
    p.Carry(p.a, p.b);
    p.now += 5ms;
  }
  CHECK(taken == 100);
}

TEST_CASE("on a slow line few bytes are on their way") {
  Pair p;
  REQUIRE(p.a.Send(Value(1, 30 << 20)));
  // 10 Mbit/s, one datagram after the other.
  Time line = p.now, worst{0};
  std::deque<std::pair<Time, Datagram>> wire;
  for (int i = 0; i < 3000; ++i) {
    while (auto datagram = p.a.Poll(p.now)) {
      line = std::max(line, p.now) + Time(static_cast<int64_t>(800 * datagram->size()));
      wire.push_back({line, std::move(*datagram)});
      if (i > 500) worst = std::max(worst, line - p.now);
    }
    for (; !wire.empty() && wire.front().first <= p.now; wire.pop_front()) REQUIRE_FALSE(Pair::Give(p.b, wire.front().second, p.now));
    p.Carry(p.b, p.a);
    p.now += 5ms;
  }
  CHECK(worst < 1s);
}

TEST_CASE("who breaks the rules is named") {
  LinkOptions options;
  options.window = 64 << 10;
  options.largest = 1 << 20;
  const auto wrong = [&](auto change) {
    Pair p(options);
    Head head;
    head.from = kA, head.to = kB, head.stamp = 1, head.sequence = 1, head.count = 1;
    Datagram datagram;
    std::string body;
    change(head, body, datagram);
    std::string bytes;
    PutHead(bytes, head);
    datagram.head = OwnPart(bytes + body);
    return Pair::Give(p.b, datagram, p.now).value_or("nothing");
  };
  const auto add = [](std::string& body, const Message& message) {
    body += static_cast<char>(message.kind);
    PutSized(body, message.body);
  };
  using std::string;
  CHECK(wrong([&](Head& head, string&, Datagram&) { head.acknowledged = 1; }) == "an acknowledgement of what was never sent");
  CHECK(wrong([&](Head& head, string&, Datagram&) { head.seen = 1; }) == "an acknowledgement of what was never sent");
  CHECK(wrong([&](Head& head, string&, Datagram&) { head.sequence = 0; }) == "messages without a number");
  CHECK(wrong([&](Head&, string& body, Datagram&) { body = "\x12\x40..."; }) == "a batch that ends before its messages");
  CHECK(wrong([&](Head&, string& body, Datagram&) { body = string("\x3f\x00", 2); }) == "message 63, which is none");
  CHECK(wrong([&](Head&, string& body, Datagram&) { body = string("\x09\x00", 2); }) == "a piece without its frame");
  CHECK(wrong([&](Head&, string& body, Datagram&) { body = "\x09\x01x"; }) == "a piece of nothing");
  CHECK(wrong([&](Head&, string& body, Datagram&) { add(body, Pack(msg::Ask{1})), body += "x"; }) == "a batch with more bytes than its messages have");
  CHECK(wrong([&](Head&, string& body, Datagram& datagram) { add(body, Pack(msg::Ask{1})), datagram.frames.push_back(OwnPart("x")); }) ==
        "a batch with more bytes than its messages have");
  CHECK(wrong([&](Head&, string& body, Datagram&) { add(body, Value(1, 70000)); }) == "more than it was given credit for");
  CHECK(wrong([&](Head&, string& body, Datagram&) { add(body, Pack(msg::Large{18, {2 << 20}})); }) == "a message of more than 1048576 bytes");
  CHECK(wrong([&](Head&, string& body, Datagram&) { add(body, Pack(msg::Large{18, {UINT64_MAX, UINT64_MAX}})); }) == "a message of more than 1048576 bytes");
  CHECK(wrong([&](Head&, string& body, Datagram&) { add(body, Pack(msg::Large{14, {10}})); }) == "an announcement of what is never large");
  CHECK(wrong([&](Head&, string& body, Datagram&) { add(body, Pack(msg::Large{18, {}})); }) == "a broken announcement");
  CHECK(wrong([&](Head& head, string& body, Datagram&) { head.count = 2, add(body, Pack(msg::Large{18, {10}})), add(body, Value(1, 1)); }) ==
        "message Result within a large one");
  CHECK(wrong([&](Head& head, string& body, Datagram&) { head.count = 2, add(body, Pack(msg::Large{18, {2}})), body += "\x09\x03xxx"; }) ==
        "a piece beyond its end");
  Pair p(options);
  CHECK_FALSE(p.a.Send(Value(1, 2 << 20)));
  CHECK_FALSE(p.a.Send(Pack(msg::Ask{1}, {OwnPart("x")})));
}

TEST_CASE("parts come back through the queue of their owner") {
  ReturnQueue queue;
  {
    Pair p;
    const std::string tensor(300000, 't');
    REQUIRE(p.a.Send(Value(1, 10, {Part{tensor, queue.Keep(5)}})));
    p.Carry(p.a, p.b);
    CHECK(queue.Drain().empty());
    p.Settle();
    CHECK(queue.Drain() == std::vector<uint64_t>{5});
  }
  CHECK(queue.Drain().empty());
}
