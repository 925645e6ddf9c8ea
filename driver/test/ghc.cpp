// GHC at its prompt.
#include "driver/test/ghc.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace df::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::string_view kException = "*** Exception: ";
constexpr std::string_view kCalls = "CallStack (from HasCallStack):";
constexpr size_t kMostHeard = size_t{16} << 20;

size_t IndentOf(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// Without GHC's lists of calls, which name places in its own library.
std::string WithoutCalls(std::string_view text) {
  std::string out;
  size_t calls = std::string::npos;  // the indentation of a list's first line
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (calls != std::string::npos && IndentOf(line) > calls && line.find("called at ") != std::string_view::npos) continue;
    calls = line.substr(IndentOf(line)).starts_with(kCalls) ? IndentOf(line) : std::string::npos;
    if (calls == std::string::npos) out += line;
  }
  return out;
}

std::string FirstLineOf(std::string_view text) {
  while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.remove_prefix(1);
  std::string line(text.substr(0, std::min(text.find('\n'), text.size())));
  // `file.hs:3:5: error:` alone says little.
  if (!line.ends_with("error:")) return line;
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  text = text.substr(0, std::min(text.find('\n'), text.size()));
  text.remove_prefix(IndentOf(text));
  if (text.starts_with("\u2022 ")) text.remove_prefix(4);
  return fmt::format("{} {}", line, text);
}

pid_t Run(const std::vector<std::string>& words, int in, int out, int close_one) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  if (close_one >= 0) ::close(close_one);
  for (int sign : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPIPE, SIGINT, SIGTERM}) ::signal(sign, SIG_DFL);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

int Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// Reads until the mark, or the end of what there is (and the mark is not there), or the time is over.
enum class Heard { Mark, End, Late };
Heard ReadUntil(int from, std::string_view mark, std::chrono::milliseconds limit, std::string& text) {
  const Clock::time_point end = Clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0 || text.size() > kMostHeard) return Heard::Late;
    pollfd wait{from, POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left)) <= 0) continue;
    char bytes[1 << 14];
    const ssize_t got = ::read(from, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Heard::End;
    const size_t before = text.size();
    text.append(bytes, static_cast<size_t>(got));
    if (mark.empty()) continue;
    const size_t at = text.find(mark, before > mark.size() ? before - mark.size() : 0);
    if (at == std::string::npos) continue;
    text.erase(at);
    return Heard::Mark;
  }
}

}  // namespace

bool HasGhc() {
  const char* path = std::getenv("PATH");
  for (std::string_view rest = path ? path : ""; !rest.empty();) {
    const size_t colon = std::min(rest.find(':'), rest.size());
    const std::string file = fmt::format("{}/ghc", rest.substr(0, colon));
    if (colon != 0 && ::access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return false;
}

Outcome GhcOutcome(std::string printed) {
  Outcome outcome;
  printed = WithoutCalls(printed);
  const size_t at = printed.rfind(kException);
  outcome.ended = at == std::string::npos;
  if (!outcome.ended) {
    outcome.error = printed.substr(at + kException.size());
    printed.erase(at);
    while (outcome.error.ends_with('\n')) outcome.error.pop_back();
    if (outcome.error == "ExitSuccess" || outcome.error.starts_with("ExitFailure ")) {
      outcome.ended = true;
      outcome.exit = outcome.error == "ExitSuccess" ? 0 : std::atoi(outcome.error.c_str() + sizeof "ExitFailure");
      outcome.error.clear();
    }
  }
  outcome.printed = std::move(printed);
  return outcome;
}

Ghc::Ghc(const Options& options, const std::string& path, std::string text, std::vector<std::string> extensions)
    : options_(options), path_(path), extensions_(std::move(extensions)) {
  if (folder_.path().empty()) return;
  copy_ = folder_.path() + (path.ends_with(".lhs") ? "/It.lhs" : "/It.hs");
  std::ofstream(copy_, std::ios::binary) << text;
}

Ghc::~Ghc() { End(); }

std::string Ghc::Folders() const {
  std::string beside = std::filesystem::path(path_).parent_path().string();
  std::string folders = beside.empty() ? "." : beside;
  for (const std::string& more : options_.module_folders) folders += ":" + more;
  return "-i" + folders;
}

std::string Ghc::WithPath(std::string text) const {
  for (size_t at; (at = text.find(copy_)) != std::string::npos;) text.replace(at, copy_.size(), path_);
  return text;
}

bool Ghc::Start() {
  if (folder_.path().empty()) return false;
  const std::string commands = folder_.path() + "/commands";
  ::unlink(commands.c_str());
  int ends[2];
  // Both ends are this process's, so that neither side waits for the other, or finds the end before there is anything.
  if (::mkfifo(commands.c_str(), 0600) != 0 || (to_ = ::open(commands.c_str(), O_RDWR | O_CLOEXEC)) < 0 || ::pipe2(ends, O_CLOEXEC) != 0) return false;
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  pid_ = Run({"ghc", "--interactive", "-v0", "-w", "-ignore-dot-ghci", Folders(), "-ghci-script", commands, "+RTS",
              fmt::format("-M{}", options_.max_memory), "-RTS"}, nothing, ends[1], -1);
  ::close(nothing);
  ::close(ends[1]);
  from_ = ends[0];
  if (pid_ < 0) return false;
  Send(":set prompt \"\"\n:set prompt-cont \"\"\n:seti -XNoExtendedDefaultRules -XMonomorphismRestriction\n");
  for (const std::string& extension : extensions_) Send(fmt::format(":seti -X{}\n", extension));
  std::string printed, why;
  return Hear(printed, why);
}

void Ghc::End() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    Reap(pid_);
  }
  if (to_ >= 0) ::close(to_);
  if (from_ >= 0) ::close(from_);
  pid_ = to_ = from_ = -1;
}

void Ghc::Send(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(to_, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<size_t>(written));
  }
}

bool Ghc::Hear(std::string& printed, std::string& why) {
  const std::string mark = fmt::format("\2end {}\n", ++asked_);
  Send(fmt::format("System.IO.hFlush System.IO.stdout\nSystem.IO.hPutStrLn System.IO.stdout \"\\2end {}\"\nSystem.IO.hFlush System.IO.stdout\n", asked_));
  const Heard heard = ReadUntil(from_, mark, options_.timeout, printed);
  if (heard == Heard::Mark) return true;
  why = heard == Heard::Late ? fmt::format("it has not answered within {} s", std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count())
                             : fmt::format("it has ended: {}", FirstLineOf(printed));
  End();
  return false;
}

std::string Ghc::Load() {
  std::string printed, why;
  if (!Start()) return "`ghc --interactive` does not start";
  Send(fmt::format(":load *{}\nSystem.IO.hSetBuffering System.IO.stdout System.IO.NoBuffering\n", copy_));
  if (!Hear(printed, why)) return why;
  if (printed.find("error") != std::string::npos) return FirstLineOf(WithPath(printed));
  for (const std::string& lines : said_) {
    Send(lines);
    printed.clear();
    if (!Hear(printed, why)) return why;
  }
  return "";
}

GhcAnswer Ghc::Say(const std::string& lines) {
  GhcAnswer answer;
  if (pid_ < 0 && !(answer.refused = Load()).empty()) return answer;
  std::string printed;
  // A command is a line by itself, several lines are one input.
  const std::string input = lines.substr(IndentOf(lines)).starts_with(':') ? lines.substr(IndentOf(lines)) : fmt::format(":{{\n{}\n:}}\n", lines);
  Send(input);
  if (!Hear(printed, answer.refused)) return answer;
  printed = WithPath(std::move(printed));
  const size_t begin = std::min(printed.find_first_not_of('\n'), printed.size());
  const std::string_view said = std::string_view(printed).substr(begin);
  const bool fault = said.starts_with("<interactive>:") && said.substr(0, said.find('\n')).find(": error:") != std::string_view::npos;
  if (fault || said.starts_with("<no location info>: error:") || said.starts_with("unknown command ") || said.starts_with("Some flags have not been recognized")) {
    answer.refused = FirstLineOf(said);
    return answer;
  }
  if (printed.empty()) said_.push_back(input);  // it may have defined something
  answer.outcome = GhcOutcome(std::move(printed));
  return answer;
}

GhcAnswer Ghc::RunMain(const std::string& input) {
  GhcAnswer answer;
  int ends[2];
  const int in = ::open(input.empty() ? "/dev/null" : input.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0 || ::pipe2(ends, O_CLOEXEC) != 0) {
    answer.refused = "its input cannot be read";
    return answer;
  }
  const pid_t pid = Run({"ghc", "-v0", "-w", Folders(), copy_, "-e", ":main"}, in, ends[1], ends[0]);
  ::close(in);
  ::close(ends[1]);
  std::string printed;
  const Heard heard = ReadUntil(ends[0], "", options_.timeout, printed);
  ::close(ends[0]);
  if (heard == Heard::Late) ::kill(pid, SIGKILL);
  const int status = Reap(pid);
  printed = WithPath(std::move(printed));
  if (heard == Heard::Late) {
    answer.refused = "it has not come to its end in time";
  } else if (const size_t line = std::min(printed.find_first_not_of('\n'), printed.size());
             WEXITSTATUS(status) != 0 && printed.substr(line, printed.find('\n', line) - line).find(": error:") != std::string::npos) {
    answer.refused = FirstLineOf(printed);
  } else {
    // `ghc -e` says `<interactive>: ` where its prompt says `*** Exception: `.
    constexpr std::string_view kNamed = "<interactive>: ";
    const size_t named = printed.rfind(kNamed);
    if (WEXITSTATUS(status) != 0 && named != std::string::npos && (named == 0 || printed[named - 1] == '\n'))
      printed.replace(named, kNamed.size(), kException);
    answer.outcome = GhcOutcome(std::move(printed));
    if (answer.outcome.ended) answer.outcome.exit = WEXITSTATUS(status);
  }
  return answer;
}

}  // namespace df::test
