// Tests that are run again when something changes.
#include "driver/test/watch.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include <fmt/ranges.h>

#include "driver/test/report.h"

namespace df::test {
namespace {

// When a file was written last, and how long it is; of one that is not there nothing.
struct Stamp {
  std::filesystem::file_time_type time;
  uintmax_t size = 0;
  bool there = false;
  bool operator==(const Stamp&) const = default;
};

Stamp StampOf(const std::string& path) {
  std::error_code error;
  Stamp stamp;
  stamp.time = std::filesystem::last_write_time(path, error);
  if (error) return {};
  stamp.size = std::filesystem::file_size(path, error);
  stamp.there = !error;
  return stamp;
}

// What a file's tests depend on: the file, its modules, and what stands beside it.
std::vector<std::string> ReadsOf(const FileResult& file) {
  std::vector<std::string> paths = file.sources;
  paths.push_back(file.path);
  for (const char* ending : {".out", ".in"}) paths.push_back(std::filesystem::path(file.path).replace_extension(ending).string());
  return paths;
}

class Watcher {
 public:
  Watcher(const Options& options, const std::function<std::vector<std::string>()>& find, Console& console)
      : options_(options), find_(find), console_(console) {}

  ExitCode Run() {
    // Nobody reads any more: that is the end, and nothing to complain of.
    for (std::vector<std::string> again = find_();;) {
      Test(again);
      if (!Tell(again)) return Sum(results_).fine() ? ExitCode::Fine : ExitCode::Failed;
      again = Changed();
    }
  }

 private:
  void Test(const std::vector<std::string>& files) {
    // Before they are read: what is written meanwhile is a change.
    std::map<std::string, Stamp> before;
    for (const std::string& path : files) before[path] = StampOf(path);
    for (FileResult& result : RunFiles(options_, files, [](const FileResult&) {})) {
      auto old = std::find_if(results_.begin(), results_.end(), [&](const FileResult& file) { return file.path == result.path; });
      if (old != results_.end()) *old = std::move(result);
      else results_.push_back(std::move(result));
    }
    for (const FileResult& file : results_)
      for (const std::string& path : ReadsOf(file))
        if (!stamps_.count(path)) stamps_[path] = StampOf(path);
    for (const auto& [path, stamp] : before) stamps_[path] = stamp;
  }

  bool Tell(const std::vector<std::string>& again) {
    if (told_) console_.out() << fmt::format("\n{} changed\n", fmt::join(changed_, ", "));
    told_ = true;
    std::vector<FileResult> shown;
    for (const FileResult& file : results_)
      if (std::find(again.begin(), again.end(), file.path) != again.end()) shown.push_back(file);
    Report(shown, options_, console_.out());
    if (shown.size() != results_.size()) {
      const Summary sum = Sum(results_);
      console_.out() << fmt::format("of all {} tests {} fail{}\n", sum.tests, sum.failed,
                                    sum.broken ? fmt::format(", {} files cannot be tested", sum.broken) : "");
    }
    console_.out().flush();
    return !console_.out().error();
  }

  // Waits until something is written. The files that this reaches.
  std::vector<std::string> Changed() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::set<std::string> changed;
      for (auto& [path, stamp] : stamps_)
        if (const Stamp now = StampOf(path); !(now == stamp)) changed.insert(path), stamp = now;
      const std::vector<std::string> files = find_();
      std::vector<std::string> again;
      for (const std::string& path : files) {
        auto old = std::find_if(results_.begin(), results_.end(), [&](const FileResult& file) { return file.path == path; });
        if (old == results_.end()) changed.insert(path);
        const std::vector<std::string> reads = old == results_.end() ? std::vector<std::string>{path} : ReadsOf(*old);
        if (std::any_of(reads.begin(), reads.end(), [&](const std::string& read) { return changed.count(read) != 0; })) again.push_back(path);
      }
      results_.erase(std::remove_if(results_.begin(), results_.end(),
                                    [&](const FileResult& file) { return std::find(files.begin(), files.end(), file.path) == files.end(); }),
                     results_.end());
      changed_.assign(changed.begin(), changed.end());
      if (!again.empty()) return again;
    }
  }

  const Options& options_;
  const std::function<std::vector<std::string>()>& find_;
  Console& console_;
  std::vector<FileResult> results_;
  std::map<std::string, Stamp> stamps_;
  std::vector<std::string> changed_;
  bool told_ = false;
};

}  // namespace

ExitCode Watch(const Options& options, const std::function<std::vector<std::string>()>& find, Console& console) {
  return Watcher(options, find, console).Run();
}

}  // namespace df::test
