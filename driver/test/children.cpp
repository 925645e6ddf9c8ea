// The processes that test files, and what they tell.
#include "driver/test/children.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "driver/pipeline.h"
#include "driver/test/suites.h"
#include "driver/system/crash.h"
#include "runtime/run/limits.h"

namespace df::test {
namespace {

using Clock = std::chrono::steady_clock;

// A run that has reached its limit ends by itself; so long after it nobody waits any more.
constexpr std::chrono::milliseconds kGrace{10000};

struct Child {
  size_t file = 0;
  pid_t pid = 0;
  int from = -1;               // what it tells
  std::string text;            // of a line that is not complete
  Clock::time_point heard;     // when it told something last
  int64_t test = -1;           // that runs
  uint64_t number = 0;         // of the run
  std::string switches, engine;
  bool ended = false;          // it has told all
  bool late = false;           // it was killed
  std::string broken;          // a fault of dfc
};

void WriteAll(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) ::_exit(static_cast<int>(ExitCode::Failed));  // nobody listens
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

// The process of a file. Does not return.
[[noreturn]] void Serve(const Options& options, const std::string& path, uint64_t first, int to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Tell tell = [&](llvm::json::Object object) {
    std::string line;
    llvm::raw_string_ostream out(line);
    out << llvm::json::Value(std::move(object)) << '\n';
    out.flush();
    WriteAll(to, line);
  };
  CrashGuard guard;
  try {
    RunFile(options, path, first, tell);
  } catch (const std::bad_alloc&) {
    tell(llvm::json::Object{{"broken", "the system gives no more memory"}});
  } catch (const std::exception& fault) {
    tell(llvm::json::Object{{"broken", llvm::json::fixUTF8(InternalErrorText(PassScope::Current(), fault.what()))}});
  }
  ::_exit(0);
}

class Runner {
 public:
  Runner(const Options& options, const std::vector<std::string>& paths, const std::function<void(const FileResult&)>& done)
      : options_(options), done_(done), results_(paths.size()) {
    for (size_t i = 0; i < paths.size(); ++i) results_[i].path = paths[i];
    limit_ = options.timeout + kGrace;
  }

  std::vector<FileResult> Run() {
    const size_t jobs = options_.test.jobs ? options_.test.jobs : DefaultThreads();
    size_t next = 0;
    while (next < results_.size() || !children_.empty()) {
      while (children_.size() < jobs && next < results_.size()) Start(next++, 0);
      Wait();
    }
    for (FileResult& file : results_) ExpandSuites(file, options_.test.filter);
    return std::move(results_);
  }

 private:
  void Start(size_t file, uint64_t first) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      results_[file].fault = fmt::format("no process can be started: {}", std::strerror(errno));
      return done_(results_[file]);
    }
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      for (const Child& other : children_) ::close(other.from);
      Serve(options_, results_[file].path, first, ends[1]);
    }
    ::close(ends[1]);
    if (pid < 0) {
      ::close(ends[0]);
      results_[file].fault = fmt::format("no process can be started: {}", std::strerror(errno));
      return done_(results_[file]);
    }
    Child child;
    child.file = file;
    child.pid = pid;
    child.from = ends[0];
    child.heard = Clock::now();
    children_.push_back(std::move(child));
  }

  void Wait() {
    std::vector<pollfd> waits;
    for (const Child& child : children_) waits.push_back({child.from, POLLIN, 0});
    constexpr int kGlance = 200;
    if (::poll(waits.data(), waits.size(), kGlance) < 0 && errno != EINTR) return;
    const Clock::time_point now = Clock::now();
    std::vector<size_t> over;
    for (size_t i = 0; i < waits.size(); ++i) {
      Child& child = children_[i];
      if (waits[i].revents != 0) {
        if (!Listen(child)) over.push_back(i);
      } else if (!child.late && now - child.heard > limit_) {
        child.late = true;
        ::kill(child.pid, SIGKILL);
      }
    }
    for (size_t n = over.size(); n-- > 0;) {
      Child child = std::move(children_[over[n]]);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(over[n]));
      End(child);
    }
  }

  // False when there is nothing more to come.
  bool Listen(Child& child) {
    char bytes[1 << 16];
    const ssize_t got = ::read(child.from, bytes, sizeof bytes);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got == 0) return false;
    child.heard = Clock::now();
    child.text.append(bytes, static_cast<size_t>(got));
    size_t begin = 0;
    for (size_t end; (end = child.text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      llvm::Expected<llvm::json::Value> value = llvm::json::parse(llvm::StringRef(child.text).slice(begin, end));
      if (!value) llvm::consumeError(value.takeError());
      else if (const llvm::json::Object* object = value->getAsObject()) Take(child, *object);
    }
    child.text.erase(0, begin);
    return true;
  }

  static std::string TextOf(const llvm::json::Object& object, llvm::StringRef key) { return object.getString(key).value_or("").str(); }
  static std::vector<std::string> LinesOf(const llvm::json::Object& object, llvm::StringRef key) {
    std::vector<std::string> lines;
    if (const llvm::json::Array* array = object.getArray(key))
      for (const llvm::json::Value& line : *array) lines.push_back(line.getAsString().value_or("").str());
    return lines;
  }

  void Take(Child& child, const llvm::json::Object& object) {
    FileResult& file = results_[child.file];
    if (const llvm::json::Array* tests = object.getArray("tests")) {
      if (!file.tests.empty()) return;  // of a process that goes on after another
      for (const llvm::json::Value& value : *tests) {
        const llvm::json::Object& told = *value.getAsObject();
        TestResult test;
        test.file = file.path;
        test.line = static_cast<uint32_t>(told.getInteger("line").value_or(0));
        test.kind = static_cast<Kind>(told.getInteger("kind").value_or(0));
        test.name = TextOf(told, "name");
        test.expected = LinesOf(told, "expected");
        test.fault = TextOf(told, "fault");
        test.chosen = told.getBoolean("chosen").value_or(true);
        file.tests.push_back(std::move(test));
      }
    } else if (const llvm::json::Array* covered = object.getArray("coverage")) {
      TakeCoverage(*covered, file.places);
    } else if (object.getArray("sources")) {
      file.sources = LinesOf(object, "sources");
    } else if (std::optional<int64_t> begun = object.getInteger("begin")) {
      child.test = *begun;
      child.number = static_cast<uint64_t>(object.getInteger("number").value_or(0));
      child.switches = TextOf(object, "switches");
      child.engine = TextOf(object, "engine");
    } else if (std::optional<int64_t> index = object.getInteger("run")) {
      child.test = -1;
      TestRun run;
      run.switches = TextOf(object, "switches");
      run.engine = TextOf(object, "engine");
      run.passed = object.getBoolean("passed").value_or(false);
      run.seconds = object.getNumber("seconds").value_or(0);
      run.printed = LinesOf(object, "printed");
      run.path = TextOf(object, "path");
      if (const llvm::json::Array* parts = object.getArray("parts"))
        for (const llvm::json::Value& value : *parts) {
          const llvm::json::Object& part = *value.getAsObject();
          run.parts.push_back({static_cast<SuitePart::Outcome>(part.getInteger("outcome").value_or(0)), TextOf(part, "place"), TextOf(part, "name"),
                               TextOf(part, "text")});
        }
      if (object.get("output")) run.output = TextOf(object, "output");
      std::vector<TestRun>& runs = file.tests[static_cast<size_t>(*index)].runs;
      // A test that cannot be compiled is told again by a process that goes on after another.
      if (!run.engine.empty() || std::none_of(runs.begin(), runs.end(), [&](const TestRun& r) { return r.engine.empty() && r.switches == run.switches; }))
        runs.push_back(std::move(run));
    } else if (std::optional<int64_t> refused = object.getInteger("refused")) {
      if (*refused < 0) file.refused = TextOf(object, "why");
      else if (static_cast<size_t>(*refused) < file.tests.size()) file.tests[static_cast<size_t>(*refused)].refused = TextOf(object, "why");
    } else if (object.get("fault")) {
      file.fault = TextOf(object, "fault");
      child.ended = true;
    } else if (object.get("broken")) {
      child.broken = TextOf(object, "broken");
    } else if (object.get("end")) {
      child.ended = true;
    }
  }

  // The process is over. What ran in one that was not done has failed, and another one goes on behind it.
  void End(Child& child) {
    ::close(child.from);
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    FileResult& file = results_[child.file];
    if (child.ended) return done_(file);
    std::string why = !child.broken.empty() ? child.broken
                      : child.late ? fmt::format("it did not end within {} s", std::chrono::duration_cast<std::chrono::seconds>(limit_).count())
                      : WIFSIGNALED(status) ? fmt::format("its process was ended by signal {}", WTERMSIG(status))
                                            : fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
    if (child.test < 0 || static_cast<size_t>(child.test) >= file.tests.size()) {
      file.fault = why;
      return done_(file);
    }
    TestRun run;
    run.switches = child.switches;
    run.engine = child.engine;
    run.printed = {"error: " + why};
    file.tests[static_cast<size_t>(child.test)].runs.push_back(std::move(run));
    Start(child.file, child.number + 1);
  }

  const Options& options_;
  const std::function<void(const FileResult&)>& done_;
  std::vector<FileResult> results_;
  std::vector<Child> children_;
  std::chrono::milliseconds limit_;
};

}  // namespace

std::vector<FileResult> RunFiles(const Options& options, const std::vector<std::string>& paths, const std::function<void(const FileResult&)>& done) {
  return Runner(options, paths, done).Run();
}

}  // namespace df::test
