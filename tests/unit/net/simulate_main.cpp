// Lives of clusters in the simulated network, many or one again:
//
//   net_simulate COUNT [FIRST]       seeds FIRST.. (1); prints each that fails, and what all had together
//   net_simulate --replay SEED       one of them, with all that happens
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/unit/net/simulation.h"

int main(int argc, char** argv) {
  using df::net::Outcome;
  if (argc == 3 && std::strcmp(argv[1], "--replay") == 0) {
    const Outcome outcome = df::net::Simulate(std::strtoull(argv[2], nullptr, 10), df::net::Sabotage::None, /*log=*/true);
    std::printf("%s\n", outcome.failure.empty() ? "all promises were kept" : outcome.failure.c_str());
    return outcome.failure.empty() ? 0 : 1;
  }
  const uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0, first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (count == 0) return std::fprintf(stderr, "usage: net_simulate COUNT [FIRST] | --replay SEED\n"), 2;
  Outcome all;
  uint64_t failed = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const Outcome one = df::net::Simulate(seed);
    if (!one.failure.empty()) {
      ++failed;
      std::printf("seed %llu: %s\n", static_cast<unsigned long long>(seed), one.failure.c_str());
      std::fflush(stdout);
    }
    for (auto field : {&Outcome::messages, &Outcome::bytes, &Outcome::datagrams, &Outcome::again, &Outcome::duplicates, &Outcome::gaps, &Outcome::cuts,
                       &Outcome::stalls, &Outcome::stops, &Outcome::kills, &Outcome::restarts, &Outcome::losses})
      all.*field += one.*field;
    all.seconds += one.seconds;
  }
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%llu seeds, %llu failed, %.1f s (%.1f h simulated): %llu messages, %.1f GB, %llu datagrams, %llu batches sent again, "
              "%llu duplicates, %llu gaps, %llu cuts, %llu stalls, %llu stops, %llu kills, %llu restarts, %llu losses seen\n",
              static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed), took, all.seconds / 3600,
              static_cast<unsigned long long>(all.messages), static_cast<double>(all.bytes) / 1e9, static_cast<unsigned long long>(all.datagrams),
              static_cast<unsigned long long>(all.again), static_cast<unsigned long long>(all.duplicates), static_cast<unsigned long long>(all.gaps),
              static_cast<unsigned long long>(all.cuts), static_cast<unsigned long long>(all.stalls), static_cast<unsigned long long>(all.stops),
              static_cast<unsigned long long>(all.kills), static_cast<unsigned long long>(all.restarts), static_cast<unsigned long long>(all.losses));
  return failed == 0 ? 0 : 1;
}
