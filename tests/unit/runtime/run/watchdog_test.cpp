// The watchdog: a run that does not look at its limits.
#include "runtime/run/watchdog.h"

#include <atomic>
#include <thread>

#include "tests/unit/catch.h"

using namespace df;

TEST_CASE("the watchdog gives up on a run that does not end itself, and only on such") {
  std::atomic<int> given_up = 0;
  auto note = [&](Stop stop, const std::string& text) { given_up += stop == Stop::Timeout && !text.empty(); };
  Limits limits;
  limits.timeout = std::chrono::milliseconds(20);
  {
    Watchdog watchdog(limits, note, std::chrono::milliseconds(10));
    for (int i = 0; i < 100 && given_up == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(given_up == 1);
  limits.timeout = std::chrono::seconds(100);
  { Watchdog watchdog(limits, note); }
  CHECK(given_up == 1);
}
