// Pieces of shared calls: who wants them gets them, once, and they go when all have them.
#include "runtime/peers/pieces.h"

#include "tests/unit/catch.h"

using namespace df;

namespace {

// This process is number 0 of three; what it sends is looked at here. Others are there from the beginning, or come later.
struct Three final : Peers {
  void Begin(Receiver&) override {}
  void End() override {}
  void Send(PeerId to, PeerMessage message) override { sent.emplace_back(to, std::move(message)); }
  void Fault(PeerId, const std::string&) override {}
  std::vector<PeerId> Others() const override { return others; }
  uint32_t RankOf(PeerId peer) const override { return peer - 10; }
  uint32_t Rank() const override { return 0; }
  uint32_t Size() const override { return 3; }
  const InFlight& in_flight() const override { return flying; }
  PeerId Self() const override { return 10; }

  // "to 11: wants 0..2"
  std::string Said() {
    std::string text;
    for (const auto& [to, message] : sent) {
      const char* what = message.kind == PeerMessage::Kind::Want ? "wants" : message.kind == PeerMessage::Kind::Lacks ? "lacks" : "gives";
      text += (text.empty() ? "" : "; ") + std::to_string(to) + " " + what + " " + std::to_string(message.pieces.first) + ".." + std::to_string(message.pieces.past);
      if (!message.bytes.empty()) text += " " + message.bytes;
    }
    sent.clear();
    return text;
  }

  std::vector<PeerId> others{11, 12};
  std::vector<std::pair<PeerId, PeerMessage>> sent;
  InFlight flying{1 << 20};
};

PeerMessage Speaks(PeerMessage::Kind kind, uint64_t call, uint64_t first, uint64_t past) {
  PeerMessage message{kind};
  message.pieces = {{call, 7}, first, past};
  return message;
}

constexpr auto kWant = PeerMessage::Kind::Want, kPieces = PeerMessage::Kind::Pieces, kLacks = PeerMessage::Kind::Lacks;

struct Table {
  std::optional<uint32_t> Comes(PeerId from, PeerMessage::Kind kind, uint64_t call, uint64_t first, uint64_t past) {
    return pieces.Receive(from, Speaks(kind, call, first, past), &fault);
  }
  Three peers;
  Pieces pieces{peers, 1000};
  std::string fault;
};

}  // namespace

TEST_CASE("pieces go to who wants them, before and after they are made, and then are dropped") {
  Table t;
  CHECK(t.pieces.Ranks() == std::vector<uint32_t>{0, 1, 2});
  t.Comes(11, kWant, 1, 0, 2);  // it is ahead
  CHECK(t.peers.Said() == "");
  CHECK(t.pieces.Begin({1, 7}, 5, {{0, 2}}));
  CHECK_FALSE(t.pieces.Begin({1, 7}, 5, {{0, 2}}));
  t.pieces.Want({1, 7}, {2, 4}, 1);
  t.pieces.Want({1, 7}, {4, 6}, 2);
  CHECK(t.peers.Said() == "11 wants 2..4; 12 wants 4..6");
  t.pieces.Put({1, 7}, {0, 2}, "made", {});
  CHECK(t.peers.Said() == "11 gives 0..2 made");
  CHECK(t.Comes(11, kPieces, 1, 2, 4) == 5u);
  CHECK(t.Comes(12, kLacks, 1, 4, 6) == 5u);
  t.pieces.End({1, 7});
  CHECK_FALSE(t.Comes(12, kPieces, 1, 4, 6));  // nobody wants it any more
  t.Comes(12, kWant, 1, 0, 2);                 // it is behind
  CHECK(t.peers.Said() == "12 gives 0..2 made");
  t.Comes(12, kWant, 1, 0, 2);
  CHECK(t.peers.Said() == "12 lacks 0..2");  // all had it
  CHECK(t.fault.empty());
}

TEST_CASE("who divides a call in another way is told at once that it will not come") {
  Table t;
  t.Comes(11, kWant, 1, 0, 3);
  CHECK(t.pieces.Begin({1, 7}, 0, {{0, 2}}));
  CHECK(t.peers.Said() == "11 lacks 0..3");
  t.Comes(12, kWant, 1, 1, 2);
  CHECK(t.peers.Said() == "12 lacks 1..2");
  t.pieces.Put({1, 7}, {0, 2}, "made", {});
  t.Comes(12, kWant, 1, 0, 2);
  CHECK(t.peers.Said() == "12 gives 0..2 made");
}

TEST_CASE("who is gone is owed nothing, and gets no pieces of later calls") {
  Table t;
  CHECK(t.pieces.Begin({1, 7}, 0, {{0, 2}}));
  t.Comes(12, kWant, 1, 0, 2);
  t.pieces.Gone(12);
  CHECK(t.pieces.Ranks() == std::vector<uint32_t>{0, 1});
  t.pieces.Put({1, 7}, {0, 2}, "made", {});
  CHECK(t.peers.Said() == "");
  t.pieces.End({1, 7});
  t.pieces.Gone(11);
  CHECK(t.pieces.Ranks() == std::vector<uint32_t>{0});
  t.Comes(11, kWant, 1, 0, 2);
  CHECK(t.peers.Said() == "11 lacks 0..2");
}

TEST_CASE("what a lost process was to make is divided, and who hears of the loss first is kept waiting") {
  Table t;
  CHECK(t.pieces.Begin({1, 7}, 4, {{0, 2}}, {{2, 4}, {4, 6}}));
  t.Comes(11, kWant, 1, 4, 5);  // number 2 is lost, and 11 knows it
  CHECK(t.peers.Said() == "");
  t.Comes(11, kWant, 1, 1, 3);  // no part of what another one makes
  CHECK(t.peers.Said() == "11 lacks 1..3");
  t.pieces.Gone(12);
  t.pieces.Divide({1, 7}, {4, 6}, {{4, 5}}, {{5, 6}});
  t.pieces.Want({1, 7}, {5, 6}, 1);
  t.pieces.Put({1, 7}, {4, 5}, "part", {});
  CHECK(t.peers.Said() == "11 wants 5..6; 11 gives 4..5 part");
  CHECK(t.Comes(11, kPieces, 1, 5, 6) == 4u);
}

TEST_CASE("who has the whole of what a lost process made says so") {
  Table t;
  CHECK(t.pieces.Begin({1, 7}, 4, {{0, 2}}, {{2, 4}, {4, 6}}));
  t.Comes(11, kWant, 1, 4, 5);
  t.pieces.Gone(12);
  t.pieces.Divide({1, 7}, {4, 6}, {}, {});
  CHECK(t.peers.Said() == "11 lacks 4..5");
  t.Comes(11, kWant, 1, 5, 6);
  CHECK(t.peers.Said() == "11 lacks 5..6");
}

TEST_CASE("who has not come yet is asked when it has") {
  Table t;
  t.peers.others = {11};
  CHECK(t.pieces.Begin({1, 7}, 0, {}));
  t.pieces.Want({1, 7}, {4, 6}, 2);
  t.pieces.AskAgain();
  CHECK(t.peers.Said() == "");
  t.peers.others = {11, 12};
  t.pieces.AskAgain();
  CHECK(t.peers.Said() == "12 wants 4..6");
  t.pieces.AskAgain();
  CHECK(t.peers.Said() == "");
}

TEST_CASE("what cannot leave is lacked, and what is kept is bounded") {
  Table t;
  CHECK(t.pieces.Begin({1, 7}, 0, {{0, 2}}));
  t.pieces.PutNothing({1, 7}, {0, 2});
  t.Comes(11, kWant, 1, 0, 2);
  CHECK(t.peers.Said() == "11 lacks 0..2");
  for (uint64_t call = 2; call < 6; ++call) {
    CHECK(t.pieces.Begin({call, 7}, 0, {{0, 1}}));
    t.pieces.Put({call, 7}, {0, 1}, std::string(400, 'x'), {});
    t.pieces.End({call, 7});
  }
  t.Comes(11, kWant, 3, 0, 1);  // the oldest went
  CHECK(t.peers.Said() == "11 lacks 0..1");
  t.Comes(11, kWant, 5, 0, 1);
  CHECK(t.peers.Said() == "11 gives 0..1 " + std::string(400, 'x'));
  CHECK(t.pieces.peak_kept() <= 1000);
}

TEST_CASE("pieces that are none, and too many wants, are faults") {
  Table t;
  t.Comes(11, kWant, 1, 2, 2);
  CHECK(t.fault == "it speaks of no pieces");
  t.fault = "";
  for (uint64_t i = 0; i < (1 << 16); ++i) t.Comes(11, kWant, i, 0, 1);
  CHECK(t.fault == "");
  t.Comes(11, kWant, 1 << 16, 0, 1);
  CHECK(t.fault == "it wants more pieces at once than there may be");
}
