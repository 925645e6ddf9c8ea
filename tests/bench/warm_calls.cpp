// What a call of a compiled graph costs a program that calls it again and again (runtime/embed):
//   warm_calls FILE.graph [--entry=NAME] [--calls=N] [--threads=N] [--set] [--array=NAME:N] [NAME=VALUE]...
// Nanoseconds of a call, the least of several rounds. With --set scalars are set anew before each call and the results are read; with --array an
// input of N Floats is given in place each time, and beside it stands a memcpy of as many. With --threads=N as many threads have a run each.
// With --allocations it tells how often a warm call asks the system's allocator, in place of times.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime/embed/embed.h"

// The allocator of the C library, counted. What libraries and operator new take goes through it.
static thread_local bool counting = false;
static thread_local unsigned long allocations = 0;
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) { return allocations += counting, __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return allocations += counting, __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return allocations += counting, __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) { return allocations += counting, __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** to, size_t alignment, size_t size) { return (*to = memalign(alignment, size)) ? 0 : 12; }
}

namespace {

using Clock = std::chrono::steady_clock;

// The least of many short ones: what else the machine does is longer than they are.
constexpr int kRounds = 40;

struct Asked {
  std::string file, entry, array;
  size_t calls = 200, threads = 1, floats = 0;
  bool set = false, allocations = false;
  std::vector<std::pair<std::string, std::string>> inputs;
};

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

struct Caller {
  Caller(const df::Program& program, const Asked& asked, const std::vector<float>& floats)
      : asked(asked), run(program, Settings(asked)) {
    std::string error;
    for (const auto& [name, value] : asked.inputs)
      if (!run.SetInputText(name, value, &error)) Fail(error);
    array.data = floats.data();
    array.element = df::ElementType::Float32;
    array.shape = {static_cast<int64_t>(floats.size())};
  }
  static df::RunSettings Settings(const Asked& asked) {
    df::RunSettings settings;
    settings.threads = 1;
    settings.entry = asked.entry;
    return settings;
  }
  void Call() {
    std::string error;
    if (!asked.array.empty() && !run.SetInputArray(asked.array, array, &error)) Fail(error);
    if (asked.set)
      for (const auto& [name, value] : asked.inputs)
        if (!run.SetInput(name, std::atof(value.c_str()), &error)) Fail(error);
    if (run.Execute() != df::RunStatus::Done) Fail(run.error());
    if (!asked.array.empty()) {
      const df::Array out = *run.view(0).array();
      sum += static_cast<const float*>(out.data)[out.shape[0] - 1];
    } else if (asked.set) {
      sum += run.view(0).real();
    }
  }
  const Asked& asked;
  df::Run run;
  df::ArrayIn array;
  double sum = 0;
};

double Nanoseconds(Clock::time_point began, size_t calls) {
  return std::chrono::duration<double, std::nano>(Clock::now() - began).count() / static_cast<double>(calls);
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    auto value = [&](const char* name) { return word.compare(0, std::strlen(name), name) == 0 ? word.c_str() + std::strlen(name) : nullptr; };
    if (const char* v = value("--entry=")) asked.entry = v;
    else if (const char* n = value("--calls=")) asked.calls = std::strtoul(n, nullptr, 10);
    else if (const char* t = value("--threads=")) asked.threads = std::strtoul(t, nullptr, 10);
    else if (word == "--set") asked.set = true;
    else if (word == "--allocations") asked.allocations = true;
    else if (const char* a = value("--array=")) {
      const std::string both = a;
      asked.array = both.substr(0, both.find(':'));
      asked.floats = std::strtoul(both.c_str() + both.find(':') + 1, nullptr, 10);
    } else if (size_t at = word.find('='); at != std::string::npos) {
      asked.inputs.emplace_back(word.substr(0, at), word.substr(at + 1));
    } else {
      asked.file = word;
    }
  }
  std::string error;
  std::optional<df::Program> program = df::Program::Load(asked.file, &error);
  if (!program) Fail(error);
  std::vector<float> floats(asked.floats, 0.5f);
  const Clock::time_point first = Clock::now();
  Caller caller(*program, asked, floats);
  caller.Call();
  if (asked.allocations) {
    for (int i = 0; i < 100; ++i) caller.Call();  // pools have grown to what it needs
    counting = true;
    for (size_t i = 0; i < asked.calls; ++i) caller.Call();
    counting = false;
    std::printf("%.3f allocations a call\n", static_cast<double>(allocations) / static_cast<double>(asked.calls));
    return 0;
  }
  std::printf("first call %.0f ns\n", Nanoseconds(first, 1));
  if (asked.threads > 1) {
    const Clock::time_point began = Clock::now();
    std::vector<std::thread> threads;
    for (size_t t = 0; t < asked.threads; ++t)
      threads.emplace_back([&] {
        Caller own(*program, asked, floats);
        for (size_t i = 0; i < asked.calls; ++i) own.Call();
      });
    for (std::thread& thread : threads) thread.join();
    std::printf("%zu threads: %.0f ns a call\n", asked.threads, Nanoseconds(began, asked.calls * asked.threads));
    return 0;
  }
  double least = 1e300, copy = 1e300;
  std::vector<float> to(floats.size());
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point began = Clock::now();
    for (size_t i = 0; i < asked.calls; ++i) caller.Call();
    least = std::min(least, Nanoseconds(began, asked.calls));
    if (floats.empty()) continue;
    const Clock::time_point copying = Clock::now();
    for (size_t i = 0; i < asked.calls; ++i) {
      std::memcpy(to.data(), floats.data(), floats.size() * sizeof(float));
      asm volatile("" : : "g"(to.data()) : "memory");
    }
    copy = std::min(copy, Nanoseconds(copying, asked.calls));
  }
  std::printf("%.0f ns a call\n", least);
  if (!floats.empty()) std::printf("%.0f ns a memcpy, %.2f of it\n", copy, least / copy);
  return 0;
}
