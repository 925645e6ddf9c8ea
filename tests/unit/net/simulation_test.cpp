#include "tests/unit/net/simulation.h"

#include <cstdlib>

#include "lang/sanitizers.h"
#include "tests/unit/catch.h"

using namespace df::net;

// A seed that fails is printed; net_simulate --replay SEED shows its life.
TEST_CASE("lives in the simulated network keep all promises") {
#ifdef DFC_SANITIZED
  const uint64_t count = 100;
#else
  const uint64_t count = 2000;
#endif
  uint64_t clocks = 0;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const Outcome outcome = Simulate(seed);
    INFO("seed " << seed << ": " << outcome.failure);
    REQUIRE(outcome.failure.empty());
    clocks += outcome.clocks;
  }
  CHECK(clocks > count);
}

TEST_CASE("a life is the same again") {
  for (uint64_t seed : {3, 8, 17}) {
    const Outcome a = Simulate(seed), b = Simulate(seed);
    CHECK(a.messages == b.messages);
    CHECK(a.datagrams == b.datagrams);
    CHECK(a.seconds == b.seconds);
  }
}

TEST_CASE("each seeded bug is noticed") {
  const std::pair<Sabotage, const char*> bugs[] = {
      {Sabotage::NoAcknowledgement, "acknowledgements are dropped"}, {Sabotage::NoSeen, "what was lost is not sent again"},
      {Sabotage::NoCredit, "credit is not told"},                    {Sabotage::TooMuchCredit, "credit is told twice over"},
      {Sabotage::NoStamp, "a datagram that comes twice looks like two"}, {Sabotage::Swapped, "a message takes the place of the one before"},
      {Sabotage::NoMembers, "the root's word is dropped"}};
  for (const auto& [bug, text] : bugs) {
    uint64_t noticed = 0;
    // Without acknowledgements all is sent again and again: some lives, as those of seeds 1 and 2, take a minute.
    for (uint64_t seed = 201; seed <= 240 && noticed == 0; ++seed)
      if (!Simulate(seed, bug).failure.empty()) noticed = seed;
    INFO(text);
    CHECK(noticed != 0);
  }
}
