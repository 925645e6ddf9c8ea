// What a run may use.
#include "runtime/limits.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/long_operation.h"
#include "runtime/memory.h"

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

// The least limit on the way from a control group up to the root, where `file` names the limit in each
// folder.
uint64_t GroupLimit(const std::string& mount, std::string group, const char* file) {
  uint64_t least = UINT64_MAX;
  for (;;) {
    least = std::min(least, ReadNumber(mount + group + "/" + file));
    size_t slash = group.rfind('/');
    if (slash == std::string::npos) return least;
    group.resize(slash);
  }
}

uint64_t ControlGroupLimit(const std::string& root) {
  uint64_t least = UINT64_MAX;
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {  // "0::/a/b" or "5:cpu,memory:/a/b"
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    if (controllers == ",,") {
      least = std::min(least, GroupLimit(root + "/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find(",memory,") != std::string::npos) {
      least = std::min(least, GroupLimit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace

uint64_t DefaultMemoryLimit(const std::string& root) {
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  uint64_t bytes = pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : uint64_t{1} << 32;
  bytes = std::min(bytes, ControlGroupLimit(root));
  return bytes / 5 * 4;
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
      base_(memory::counters.current),
      has_deadline_(limits.timeout.count() > 0),
      timeout_(limits.timeout),
      deadline_(std::chrono::steady_clock::now() + limits.timeout) {
  memory::counters.peak = memory::counters.current;
  ClearAbort();  // what ended the run before does not end this one
}

std::string LimitCheck::Detail(Stop stop) const {
  switch (stop) {
    case Stop::MemoryLimit: return "the memory limit of " + PrintBytes(max_memory_) + " is reached";
    case Stop::FrameLimit: return fmt::format("the limit of {} live calls is reached", max_frames_);
    case Stop::Timeout:
      return fmt::format("the time limit of {} s is reached", static_cast<double>(timeout_.count()) / 1000);
    case Stop::Interrupted: return "interrupted";
    default: return "";
  }
}

}  // namespace df
