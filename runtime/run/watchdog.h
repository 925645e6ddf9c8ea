// runtime/run/watchdog.h
//
// A second thread that sees to the limits of a run where the run itself cannot: inside one operation on
// numbers of many megabytes nothing is looked at (runtime/run/limits.h), and writing to a pipe that nobody reads
// never ends. `dfc` has one that gives long operations up when the time is over (runtime/base/long_operation.h), and
// one that ends the program if all else fails.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "runtime/run/engine.h"

namespace df {

class Watchdog {
 public:
  // Calls `give_up` once, from its own thread, when the time limit was reached, or the interrupt flag was
  // seen set, `grace` ago and the watchdog still lives. `give_up` gets Stop::Timeout or Stop::Interrupted
  // with the text for the user. The run goes on in its thread: what `give_up` does must make that end. Without a time limit
  // and a flag there is no thread. Throws std::system_error if the system gives none. With `again` it is called again each time that so much has passed.
  Watchdog(const Limits& limits, std::function<void(Stop, const std::string&)> give_up,
           std::chrono::milliseconds grace = std::chrono::milliseconds(500),
           std::chrono::milliseconds again = std::chrono::milliseconds(0));
  // The run has ended.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void Watch(Limits limits, std::chrono::milliseconds grace, std::chrono::milliseconds again);

  std::function<void(Stop, const std::string&)> give_up_;
  std::mutex mutex_;
  std::condition_variable ended_condition_;
  bool ended_ = false;
  std::function<void()> watch_;
  pthread_t thread_ = {};
  bool started_ = false;
};

}  // namespace df
