#include "driver/system/console.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "lang/render.h"
#include "llvm/Support/JSON.h"

namespace df {
namespace {

bool WantsColor() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color && *no_color) return false;
  const char* terminal = std::getenv("TERM");
  if (!terminal || !*terminal || std::strcmp(terminal, "dumb") == 0) return false;
  return ::isatty(STDERR_FILENO) != 0;
}

}  // namespace

// After an error nothing more is written.
void OutputStream::write_impl(const char* bytes, size_t size) {
  constexpr size_t kMost = 1 << 30;  // that a system takes at once
  written_ += size;
  if (taken) return taken(std::string_view(bytes, size));
  while (size > 0 && !error_) {
    ssize_t taken = ::write(descriptor_, bytes, std::min(size, kMost));
    if (taken >= 0) {
      bytes += taken;
      size -= static_cast<size_t>(taken);
    } else if (errno == EINTR) {
      if (given_up && given_up()) return;
    } else if (errno == EAGAIN) {
      pollfd output = {descriptor_, POLLOUT, 0};
      ::poll(&output, 1, -1);
    } else {
      error_ = std::error_code(errno, std::generic_category());
    }
  }
}

Console::Console()
    : out_(STDOUT_FILENO),
      program_err_(STDERR_FILENO),
      err_(STDERR_FILENO, /*shouldClose=*/false, /*unbuffered=*/true),
      color_(WantsColor()) {
  if (::isatty(STDOUT_FILENO)) out_.SetUnbuffered();
  else out_.SetBufferSize(1 << 14);
  program_err_.SetUnbuffered();
  err_.SetBufferSize(1 << 14);
  err_.tie(&out_);
}

Console::Console(int descriptor)
    : out_(descriptor), program_err_(descriptor), err_(descriptor, /*shouldClose=*/false, /*unbuffered=*/true), color_(false) {
  out_.SetBufferSize(1 << 14);
}

Console::~Console() {
  out_.flush();
  err_.flush();
  err_.clear_error();  // the stream would abort over it
}

bool Console::Write(std::string_view text) {
  out_ << llvm::StringRef(text.data(), text.size());
  out_.flush();
  return !out_.error();
}

bool Console::WriteError(std::string_view text) {
  out_.flush();
  err_.flush();
  program_err_ << llvm::StringRef(text.data(), text.size());
  return !program_err_.error();
}

void Console::GiveUpWhen(std::function<bool()> given_up) {
  program_err_.given_up = given_up;
  out_.given_up = std::move(given_up);
}

void Console::TellTo(ConsoleListener* listener) {
  out_.flush();
  listener_ = listener;
  json_ = listener != nullptr;
  out_.taken = program_err_.taken = nullptr;
  if (!listener) return;
  out_.taken = [listener](std::string_view text) { listener->Text(/*error=*/false, text); };
  program_err_.taken = [this, listener](std::string_view text) {
    out_.flush();
    listener->Text(/*error=*/true, text);
  };
}

void Console::Show(const Diagnostics& diags) {
  if (listener_) {
    out_.flush();
    if (diags.all().empty()) return;
    std::string lines, text;
    llvm::raw_string_ostream line_out(lines), text_out(text);
    RenderJson(diags, line_out);
    Render(diags, text_out, {});
    llvm::json::Array rows;
    for (llvm::StringRef rest = line_out.str(); !rest.empty();) {
      auto [line, behind] = rest.split('\n');
      if (llvm::Expected<llvm::json::Value> row = llvm::json::parse(line)) rows.push_back(std::move(*row));
      else llvm::consumeError(row.takeError());
      rest = behind;
    }
    return listener_->Messages(std::move(rows), text_out.str());
  }
  if (json_) {
    RenderJson(diags, err_);
    err_.flush();
    return;
  }
  RenderOptions options;
  options.color = color_;
  Render(diags, err_, options);
  err_.flush();
}

void Console::Error(std::string_view message) {
  if (json_) {
    const std::string clean = llvm::json::fixUTF8(llvm::StringRef(message.data(), message.size()));
    return ErrorObject(llvm::json::Object{{"severity", "error"}, {"message", clean}}, "error: " + clean);
  }
  err_ << (color_ ? "\033[1;31merror:\033[0m " : "error: ") << message << '\n';
  err_.flush();
}

void Console::ErrorObject(llvm::json::Object object, std::string_view text) {
  if (listener_) {
    out_.flush();
    llvm::json::Array rows;
    rows.push_back(std::move(object));
    return listener_->Messages(std::move(rows), std::string(text));
  }
  err_ << llvm::json::Value(std::move(object)) << '\n';
  err_.flush();
}

ExitCode Console::Finish(ExitCode code) {
  out_.flush();
  if (out_.error()) {
    std::error_code error = out_.error();
    out_.clear_error();
    if (error != std::errc::broken_pipe) {
      Error("cannot write to standard output: " + error.message());
      if (code == ExitCode::Fine) code = ExitCode::Failed;
    }
  }
  err_.flush();
  return code;
}

}  // namespace df
