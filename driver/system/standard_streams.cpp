#include "driver/system/standard_streams.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace df {

using Clock = std::chrono::steady_clock;

StandardStreams::StandardStreams(Console& console, const std::atomic<bool>* interrupt,
                                 std::chrono::milliseconds timeout, Source source, Grants grants)
    : console_(console), interrupt_(interrupt), source_(std::move(source)), grants_(std::move(grants)) {
  if (timeout.count() > 0) deadline_ = Clock::now() + timeout;
  buffering = ::isatty(STDOUT_FILENO) ? Buffering::Lines : Buffering::Blocks;
  flush_before_read = ::isatty(STDIN_FILENO) != 0;
}

Host::Input StandardStreams::Read(std::string& bytes) {
  return source_ ? source_(*this, bytes) : ReadDescriptor(bytes);
}

Host::Input StandardStreams::ReadDescriptor(std::string& bytes) {
  constexpr int kGlance = 50;  // milliseconds; a signal that comes just before the wait does not end it
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  for (;;) {
    if (interrupt_ && interrupt_->load()) return Input::Interrupted;
    int wait = kGlance;
    if (deadline_) {
      auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
      if (left <= 0) return Input::Interrupted;
      wait = static_cast<int>(std::min<int64_t>(wait, left));
    }
    if (::poll(&input, 1, wait) <= 0) continue;
    char chunk[1 << 12];
    ssize_t got = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (got > 0) {
      bytes.append(chunk, static_cast<size_t>(got));
      return Input::Some;
    }
    if (got == 0) return Input::End;
    if (errno == EINTR || errno == EAGAIN) continue;
    bytes = std::strerror(errno);
    return Input::Failed;
  }
}

bool StandardStreams::Write(std::string_view bytes) { return console_.Write(bytes); }
bool StandardStreams::WriteError(std::string_view bytes) { return console_.WriteError(bytes); }

bool StandardStreams::Ends() const {
  return (interrupt_ && interrupt_->load()) || (deadline_ && Clock::now() >= *deadline_);
}

Host::Answer StandardStreams::Ask(ir::Question what, int64_t number, std::string_view text) {
  if (what == ir::Question::Clock || what == ir::Question::ProcessorTime) return AskClock(what);
  if (!files_) files_.emplace(std::move(grants_));
  return files_->Ask(what, number, text);
}

Host::Answer StandardStreams::ReadFile(int64_t file, std::string& bytes) {
  return files_->Read(file, bytes, [this] { return Ends(); });
}

Host::Answer StandardStreams::WriteFile(int64_t file, std::string_view bytes) {
  return files_->Write(file, bytes, [this] { return Ends(); });
}

Host::Answer StandardStreams::SizeOfFile(int64_t file) { return files_->Size(file); }

void StandardStreams::CloseFile(int64_t file) {
  if (files_) files_->Close(file);
}

}  // namespace df
