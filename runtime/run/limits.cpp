// What a run may use.
#include "runtime/run/limits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "runtime/base/long_operation.h"
#include "runtime/base/memory.h"

namespace df {
namespace {

// The number in a file of one line; UINT64_MAX if there is none ("max", or no such file).
uint64_t ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  uint64_t number = UINT64_MAX;
  if (!(file >> text)) return number;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? number : UINT64_MAX;
}

// Visits the folder of each control group that limits the process through `controller`, from its own up to the root; `version`
// is 1 or 2.
template <typename Visit>
void ForEachGroup(const std::string& root, const std::string& controller, Visit visit) {
  auto up = [&](const std::string& mount, std::string group, int version) {
    for (;;) {
      visit(mount + group, version);
      size_t slash = group.rfind('/');
      if (slash == std::string::npos) return;
      group.resize(slash);
    }
  };
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // "0::/a/b" or "5:cpu,memory:/a/b"
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") up(root + "/sys/fs/cgroup", group, 2);
    else if (controllers.find("," + controller + ",") != std::string::npos) up(root + "/sys/fs/cgroup/" + controller, group, 1);
  }
}

uint64_t ControlGroupLimit(const std::string& root) {
  uint64_t least = UINT64_MAX;
  ForEachGroup(root, "memory", [&](const std::string& folder, int version) {
    least = std::min(least, ReadNumber(folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes")));
  });
  return least;
}

// How many processors a quota of the group in `folder` is worth; 0: it has none.
uint64_t QuotaOfGroup(const std::string& folder, int version) {
  double quota = 0, period = 0;
  if (version == 2) {
    std::ifstream file(folder + "/cpu.max");  // "max 100000" or "150000 100000"
    if (!(file >> quota >> period)) return 0;
  } else if (!(std::ifstream(folder + "/cpu.cfs_quota_us") >> quota) ||
             !(std::ifstream(folder + "/cpu.cfs_period_us") >> period)) {
    return 0;
  }
  return quota > 0 && period > 0 ? static_cast<uint64_t>(std::ceil(quota / period)) : 0;
}

double Seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

}  // namespace

uint64_t DefaultMemoryLimit(const std::string& root) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  uint64_t bytes = pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : uint64_t{1} << 32;
  bytes = std::min(bytes, ControlGroupLimit(root));
  return bytes / 5 * 4;
}

uint32_t DefaultThreads(const std::string& root) {
  cpu_set_t mine;
  uint64_t threads = ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? static_cast<uint64_t>(CPU_COUNT(&mine))
                                                                     : std::max(1u, std::thread::hardware_concurrency());
  ForEachGroup(root, "cpu", [&](const std::string& folder, int version) {
    if (uint64_t quota = QuotaOfGroup(folder, version)) threads = std::min(threads, quota);
  });
  return static_cast<uint32_t>(std::min<uint64_t>(threads, kMostThreads));
}

std::string PrintBytes(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  std::string text = fmt::format("{:.1f}", amount);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text + " " + kUnits[unit];
}

LimitCheck::LimitCheck(const Limits& limits)
    : interrupt_(limits.interrupt),
      max_frames_(limits.max_frames ? limits.max_frames : UINT64_MAX),
      max_memory_(limits.max_memory ? limits.max_memory : DefaultMemoryLimit()),
      base_(memory::counters.current - static_cast<int64_t>(limits.in_use)),
      has_deadline_(limits.timeout.count() > 0),
      timeout_(limits.timeout),
      before_(limits.before),
      deadline_(std::chrono::steady_clock::now() + limits.timeout) {
  memory::counters.peak = memory::counters.current;
  memory::ForgetRefusal();
  ClearAbort();  // what ended the run before does not end this one
}

std::string LimitCheck::Detail(Stop stop) const {
  switch (stop) {
    case Stop::MemoryLimit:
      if (uint64_t had = memory::MemoryAtRefusal()) return "the system gives no more memory: the process has " + PrintBytes(had);
      return "the memory limit of " + PrintBytes(max_memory_) + " is reached";
    case Stop::FrameLimit: return fmt::format("the limit of {} live calls is reached", max_frames_);
    case Stop::Timeout:
      if (4 * before_ >= timeout_ + before_)
        return fmt::format("the time limit of {:g} s is reached ({:.2f} s of it before the run began)", Seconds(timeout_ + before_), Seconds(before_));
      return fmt::format("the time limit of {:g} s is reached", Seconds(timeout_ + before_));
    case Stop::Interrupted: return "interrupted";
    default: return "";
  }
}

}  // namespace df
