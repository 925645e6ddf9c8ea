// A host that grants nothing: see host.h.
#include "runtime/run/host.h"

#include <chrono>
#include <ctime>

#include "runtime/value/io_error.h"

namespace df {
namespace {

Host::Answer Refused(std::string_view file) {
  return {-1, IoErrorParts(IoKind::PermissionDenied, "", file, "the program that runs this graph grants no files and no environment"), true};
}

}  // namespace

Host::Answer Host::AskClock(ir::Question what) {
  if (what == ir::Question::Clock)
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count()};
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return {(static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec) * 1000};
}

Host::Answer Host::Ask(ir::Question what, int64_t, std::string_view text) {
  if (what == ir::Question::Clock || what == ir::Question::ProcessorTime) return AskClock(what);
  return Refused(text.substr(0, text.find('\0')));
}

Host::Answer Host::ReadFile(int64_t, std::string&) { return Refused(""); }
Host::Answer Host::WriteFile(int64_t, std::string_view) { return Refused(""); }
Host::Answer Host::SizeOfFile(int64_t) { return Refused(""); }
void Host::CloseFile(int64_t) {}

}  // namespace df
