#include "driver/repl/protocol.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace df {
namespace {

std::string CleanText(std::string_view text) { return llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size())); }

// How many bytes at the end are the beginning of a character that goes on.
size_t OpenBytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

bool SendAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t taken = ::write(STDOUT_FILENO, text.data(), text.size());
    if (taken < 0 && errno == EAGAIN) {
      pollfd output = {STDOUT_FILENO, POLLOUT, 0};
      ::poll(&output, 1, -1);
    }
    if (taken < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (taken > 0) text.remove_prefix(static_cast<size_t>(taken));
  }
  return true;
}

}  // namespace

Protocol::Got Protocol::ReadLine(std::string& line) {
  for (size_t looked = 0;;) {
    const size_t end = buffer_.find('\n', looked);
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (!std::exchange(skips_, false)) return Got::Line;
      looked = 0;
      continue;
    }
    looked = buffer_.size();
    if (buffer_.size() > kMostRequest) {
      buffer_.clear();
      if (!std::exchange(skips_, true)) return Got::TooLong;
      looked = 0;
    }
    char chunk[1 << 14];
    const ssize_t got = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) return Got::Signal;
    if (got > 0) {
      buffer_.append(chunk, static_cast<size_t>(got));
      continue;
    }
    line = std::exchange(buffer_, {});
    return line.empty() || skips_ ? Got::End : Got::Line;
  }
}

// Waits until something comes. An interrupt that comes while nobody has asked for anything is nobody's, also one that came after the last answer and
// before this: signals are held back but while it waits, so that none falls between the look and the wait.
void Protocol::Wait(const std::function<bool()>& ended, const std::function<void()>& forget_interrupt) {
  sigset_t held, before;
  sigemptyset(&held);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  pollfd in{STDIN_FILENO, POLLIN, 0};
  while (!ended() && ::poll(&in, 1, 0) == 0) {
    forget_interrupt();
    if (::ppoll(&in, 1, nullptr, &before) >= 0 || errno != EINTR) break;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::optional<llvm::json::Object> Protocol::Next(const std::function<bool()>& ended, const std::function<void()>& forget_interrupt) {
  std::string line;
  for (;;) {
    if (buffer_.find('\n') == std::string::npos) Wait(ended, forget_interrupt);
    if (ended()) return std::nullopt;
    const Got got = ReadLine(line);
    if (ended() || got == Got::End) return std::nullopt;
    id_ = nullptr;
    if (got == Got::Signal) {
      forget_interrupt();
      continue;
    }
    if (got == Got::TooLong) {
      Tell("done", llvm::json::Object{{"ok", false}, {"message", fmt::format("a request is longer than the {} MiB that one may have", kMostRequest >> 20)}});
      continue;
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(CleanText(line));
    if (!parsed) {
      Tell("done", llvm::json::Object{{"ok", false}, {"message", "a request is no JSON: " + llvm::toString(parsed.takeError())}});
      continue;
    }
    llvm::json::Object* object = parsed->getAsObject();
    if (!object) {
      Tell("done", llvm::json::Object{{"ok", false}, {"message", "a request is no object"}});
      continue;
    }
    if (const llvm::json::Value* id = object->get("id")) id_ = *id;
    return std::move(*object);
  }
}

void Protocol::Tell(std::string_view event, llvm::json::Object object) {
  Flush();
  object["event"] = CleanText(event);
  Send(std::move(object));
}

void Protocol::Send(llvm::json::Object object) {
  if (id_.kind() != llvm::json::Value::Null) object["id"] = id_;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << llvm::json::Value(std::move(object)) << '\n';
  // Nobody reads: there is nobody to talk to.
  if (!SendAll(out.str())) ::_exit(static_cast<int>(ExitCode::Failed));
}

std::string Protocol::EndValue() {
  in_value_ = false;
  return CleanText(std::exchange(value_, {}));
}

Host::Input Protocol::AskForInput(const std::function<bool()>& interrupted, std::string& bytes) {
  Tell("input", {});
  std::string line;
  for (;;) {
    if (interrupted()) return Host::Input::Interrupted;
    if (buffer_.find('\n') == std::string::npos) {
      pollfd input = {STDIN_FILENO, POLLIN, 0};
      constexpr int kGlance = 50;  // milliseconds; a signal that comes just before the wait does not end it
      if (::poll(&input, 1, kGlance) <= 0) continue;
    }
    const Got got = ReadLine(line);
    if (got == Got::Signal) continue;
    if (got == Got::End) return Host::Input::End;
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(CleanText(line));
    if (!parsed) {
      llvm::consumeError(parsed.takeError());
      continue;
    }
    const llvm::json::Object* object = parsed->getAsObject();
    if (!object) continue;
    if (object->getString("do") != llvm::StringRef("input")) continue;  // others wait for the end of this one before they ask
    const std::optional<llvm::StringRef> text = object->getString("text");
    if (!text || text->empty()) return Host::Input::End;
    bytes += text->str();
    return Host::Input::Some;
  }
}

void Protocol::Text(bool error, std::string_view text) {
  if (in_value_ && !error) {
    value_ += text;
    if (value_.size() <= kMostValue) return;
    in_value_ = false;
    return SendText(false, std::exchange(value_, {}));
  }
  SendText(error, std::string(text));
}

void Protocol::SendText(bool error, std::string text) {
  std::string& held = held_[error ? 1 : 0];
  text.insert(0, std::exchange(held, {}));
  held = text.substr(text.size() - OpenBytes(text));
  text.resize(text.size() - held.size());
  if (text.empty()) return;
  Send(llvm::json::Object{{"event", "output"}, {"stream", error ? "stderr" : "stdout"}, {"text", CleanText(text)}});
}

void Protocol::Flush() {
  for (bool error : {false, true})
    if (std::string held = std::exchange(held_[error ? 1 : 0], {}); !held.empty())
      Send(llvm::json::Object{{"event", "output"}, {"stream", error ? "stderr" : "stdout"}, {"text", CleanText(held)}});
}

void Protocol::Messages(llvm::json::Array rows, std::string text) {
  // What a value has shown before it failed comes first.
  if (in_value_ && !value_.empty()) SendText(false, std::exchange(value_, {}));
  Tell("messages", llvm::json::Object{{"rows", std::move(rows)}, {"text", CleanText(text)}});
}

}  // namespace df
