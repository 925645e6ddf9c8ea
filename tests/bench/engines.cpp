// ns per call of small programs on each engine, as ratios within one run, because machines and moments differ:
//
//   bench_engines [PROGRAM [N [ROUNDS]]]     PROGRAM: fib, ack, count, loop; default: all, with an N for each
//
// Rounds of all engines in turn; the best of each counts. The tagged engine is also measured with each optimisation off.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/engines/engines.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "tagged_ir/text.h"

using namespace df;

namespace {

struct Subject {
  const char* name;
  std::function<std::unique_ptr<Execution>(const ir::Graph&)> make;
  int64_t largest;  // reference engine: slow, so it gets a smaller input
};

struct Measured {
  double ns = 1e300;  // per activation or iteration
  int64_t result = 0;
  Stats stats;
};

// Calls and iterations of a run, those too that are inlined, which only a run that counts sees.
uint64_t CountCalls(const ir::Graph& graph, int64_t n) {
  tagged::TaggedExecution execution(graph, RunOptions{}, {.count = true});
  Value input = Value::Word(n);
  if (!execution.Start({input}).ok()) return 1;  // RunOnce says why
  Stats stats = execution.stats();
  return stats.calls + stats.loops;
}

bool RunOnce(const Subject& subject, const ir::Graph& graph, int64_t n, uint64_t calls, Measured& best) {
  auto execution = subject.make(graph);
  Value input = Value::Word(n);
  auto begin = std::chrono::steady_clock::now();
  Outcome outcome = execution->Start({input});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!outcome.ok() || execution->results()[0].kind() != ValueKind::Word) {
    std::fprintf(stderr, "%s: %s%s\n", subject.name, outcome.detail.c_str(), outcome.error.message.c_str());
    return false;
  }
  Stats stats = execution->stats();
  double ns = seconds * 1e9 / static_cast<double>(calls);
  if (ns < best.ns) best = {ns, execution->results()[0].word(), stats};
  return true;
}

int Measure(const std::string& program, int64_t n, int rounds) {
  std::ifstream file(std::string(DFC_BENCH_DIR) + "/" + program + ".tagged");
  std::stringstream text;
  text << file.rdbuf();
  std::string error;
  auto graph = ir::ParseText(text.str(), &error);
  if (!graph) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), error.c_str());
    return 1;
  }
  auto tagged = [](tagged::Options options) {
    return [options](const ir::Graph& g) -> std::unique_ptr<Execution> {
      return std::make_unique<tagged::TaggedExecution>(g, RunOptions{}, options);
    };
  };
  int64_t small = program == "fib" ? 18 : program == "ack" ? 60 : 20000;
  std::vector<Subject> subjects = {
      {"tagged", tagged({}), n},
      {"tagged, event code", tagged({true, false}), n},
      {"tagged, no group", tagged({false, false}), std::min(n, program == "fib" ? 26 : small * 10)},
      {"reference", [](const ir::Graph& g) { return MakeReferenceExecution(g, {}); }, std::min(n, small)},
  };
  std::vector<Measured> best(subjects.size());
  std::map<int64_t, uint64_t> calls;
  for (const Subject& subject : subjects) calls.try_emplace(subject.largest, 0);
  for (auto& [size, count] : calls) count = CountCalls(*graph, size);
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < subjects.size(); ++i)
      if (!RunOnce(subjects[i], *graph, subjects[i].largest, calls[subjects[i].largest], best[i])) return 1;
  for (size_t i = 0; i < subjects.size(); ++i)
    std::printf("%-6s %-17s n=%-10lld %10.2f ns a call %9.2f x  %12llu calls %10llu frames %9.1f MB\n", program.c_str(),
                subjects[i].name, static_cast<long long>(subjects[i].largest), best[i].ns, best[i].ns / best[0].ns,
                static_cast<unsigned long long>(calls[subjects[i].largest]),
                static_cast<unsigned long long>(best[i].stats.peak_frames),
                static_cast<double>(best[i].stats.peak_memory) / 1e6);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = argc > 3 ? std::atoi(argv[3]) : 3;
  if (argc > 1) {
    std::string program = argv[1];
    int64_t n = argc > 2 ? std::atoll(argv[2]) : program == "fib" ? 30 : program == "ack" ? 500 : 1000000;
    return Measure(program, n, rounds);
  }
  return Measure("fib", 30, rounds) | Measure("ack", 500, rounds) | Measure("count", 1000000, rounds) |
         Measure("loop", 10000000, rounds);
}
