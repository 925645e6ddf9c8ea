#include "backends/net/member.h"

#include "tests/unit/catch.h"

using namespace df::net;
using namespace std::chrono_literals;

namespace {

Member NewMember(uint64_t low) {
  Member member;
  member.incarnation = {1, low};
  return member;
}

msg::Progress NewProgress(uint64_t steps, bool busy) {
  msg::Progress progress;
  progress.steps = steps;
  progress.busy = busy;
  return progress;
}

}  // namespace

TEST_CASE("facts that differ are named") {
  Facts mine;
  mine.wire = 1;
  mine.build = "0.1.0 abc";
  mine.graph.fill(1);
  mine.options.fill(5);
  mine.parts.fill(6);
  mine.kernels.fill(7);
  mine.libm.fill(2);
  CHECK_FALSE(Compare(mine, mine, false));
  const auto field = [&](auto change, bool allow_libm = false) {
    Facts theirs = mine;
    change(theirs);
    auto difference = Compare(mine, theirs, allow_libm);
    return difference ? difference->field + ": " + difference->mine + " " + difference->theirs : "";
  };
  CHECK(field([](Facts& f) { f.wire = 2; }) == "wire version: 1 2");
  CHECK(field([](Facts& f) { f.build = "0.1.0 abd"; }) == "build: 0.1.0 abc 0.1.0 abd");
  CHECK(field([](Facts& f) { f.graph.fill(3); }) == "graph: 0101010101010101 0303030303030303");
  CHECK(field([](Facts& f) { f.graph.fill(0); }) == "");  // it has none yet
  CHECK(field([](Facts& f) { f.options.fill(0); }) == "");
  CHECK(field([](Facts& f) { f.options.fill(3); }) == "options: 0505050505050505 0303030303030303");
  CHECK(field([](Facts& f) { f.parts.fill(3); }) == "parts: 0606060606060606 0303030303030303");
  CHECK(field([](Facts& f) { f.kernels.fill(3); }) == "kernels: 0707070707070707 0303030303030303");
  CHECK(field([](Facts& f) { f.libm.fill(3); }) == "libm: 0202020202020202 0303030303030303");
  CHECK(field([](Facts& f) { f.libm.fill(3); }, true) == "");
}

TEST_CASE("who is silent is suspect after one second and gone after five") {
  Members members({}, /*self_root=*/true);
  const MemberNumber a = members.Add(NewMember(1), 0s), b = members.Add(NewMember(2), 0s);
  CHECK(members.epoch() == 2);
  CHECK(members.Tick(900ms).empty());
  CHECK(members.Deadline() == 1s);
  members.Heard(b, 900ms);
  auto changes = members.Tick(1s);
  REQUIRE(changes.size() == 1);
  CHECK((changes[0].number == a && changes[0].state == MemberState::Suspect));
  CHECK(members.Heard(a, 4s));
  members.Heard(b, 4s);
  CHECK(members[a].state == MemberState::Joined);
  members.Heard(b, 8s);
  members.Tick(8s);
  changes = members.Tick(9s);
  CHECK(members[a].state == MemberState::Gone);
  CHECK(members[a].why == "nothing heard for 5 s");
  CHECK(members.epoch() == 3);
  CHECK_FALSE(members.Heard(a, 9s));  // for ever
  CHECK(members[a].state == MemberState::Gone);
}

TEST_CASE("a process that hangs behind a live connection is gone, unless it said that it is busy") {
  Members members({}, true);
  const MemberNumber hangs = members.Add(NewMember(1), 0s), busy = members.Add(NewMember(2), 0s), loads = members.Add(NewMember(3), 0s);
  members.SetReady(hangs);
  members.SetReady(busy);
  members.Progressed(busy, NewProgress(1, true), 0s);
  for (Time now = 0s; now <= 8s; now += 100ms) {
    for (MemberNumber number : {hangs, busy, loads}) members.Heard(number, now);
    members.Tick(now);
  }
  CHECK(members[hangs].state == MemberState::Gone);
  CHECK(members[hangs].why == "no progress for 5 s");
  CHECK(members[busy].state == MemberState::Suspect);
  CHECK(members[loads].state == MemberState::Joined);
  members.Progressed(busy, NewProgress(2, false), 8s);
  CHECK(members.Heard(busy, 8s));
  CHECK(members[busy].state == MemberState::Serving);
}

TEST_CASE("who is no root waits for a root that makes no progress, but not for one that is silent") {
  Members members({}, false);
  Member root = NewMember(1);
  root.root = true;
  const MemberNumber number = members.Add(root, 0s);
  members.SetReady(number);
  for (Time now = 0s; now < 60s; now += 500ms) {
    members.Heard(number, now);
    CHECK(members.Tick(now).empty());
  }
  CHECK(members.epoch() == 0);
  members.Tick(65s);
  CHECK(members[number].state == MemberState::Gone);
}

TEST_CASE("a connection that ended has a second to come back") {
  Members members({}, true);
  const MemberNumber a = members.Add(NewMember(1), 0s);
  members.Heard(a, 500ms);
  members.Closed(a, 600ms);
  CHECK(members.Deadline() == 1500ms);
  members.Heard(a, 1500ms);
  CHECK(members.Tick(1600ms).empty());
  members.Closed(a, 1700ms);
  members.Tick(2700ms);
  CHECK(members[a].state == MemberState::Gone);
  CHECK(members.Find({1, 1}) == a);
  CHECK(members.Find({1, 2}) == kNobody);
}

TEST_CASE("clocks are compared by the messages there and back that took least") {
  ClockOffset offset;
  // The other clock is 100 s ahead. There 3 ms, 5 ms in its hands, back 1 ms.
  offset.Note(10s, 110s + 3ms, 110s + 8ms, 10s + 9ms);
  REQUIRE(offset.known);
  CHECK(offset.ahead == 100s + 1ms);
  CHECK((offset.error >= 2ms && offset.error < 2ms + 1us));
  // One that took longer says nothing new; one that was faster does.
  offset.Note(20s, 120s + 100ms, 120s + 100ms, 20s + 101ms);
  CHECK(offset.ahead == 100s + 1ms);
  offset.Note(30s, 130s + 100us, 130s + 200us, 30s + 300us);
  CHECK(offset.ahead == 100s);
  CHECK(offset.error < 101us);
  // What cannot be so: an answer before the question, one that came before it went, in less time than it was held.
  for (auto [came, answered] : {std::pair<Time, Time>{140s, 139s}, {-1s, 5s}, {140s, 150s}, {140s, Time::max()}}) offset.Note(40s, came, answered, 40s + 1us);
  offset.Note(41s, 141s, 141s, 40s);
  CHECK(offset.ahead == 100s);
}

TEST_CASE("progress tells the clock of its sender, whatever it says") {
  Members members({}, true);
  const MemberNumber a = members.Add(NewMember(1), 0s);
  msg::Progress progress;
  for (uint64_t clock : {uint64_t{0}, UINT64_MAX, uint64_t{1} << 62})
    for (uint64_t heard : {uint64_t{0}, uint64_t{1}, UINT64_MAX})
      for (uint64_t since : {uint64_t{0}, uint64_t{1}, UINT64_MAX}) {
        progress.clock = clock, progress.heard = heard, progress.since = since;
        members.Progressed(a, progress, 5s);
      }
  CHECK_FALSE(members[a].offset.known);
  progress.clock = 1000, progress.heard = 900, progress.since = 50, progress.still = 7;
  members.Progressed(a, progress, Time{1100});
  CHECK(members[a].offset.known);
  CHECK(members[a].still == 7);
  CHECK(members[a].clock == Time{1000});
}
