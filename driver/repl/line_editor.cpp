#include "driver/repl/line_editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <filesystem>
#include <utility>

namespace df {
namespace {

// $XDG_STATE_HOME/dfc/history, or ~/.local/state/dfc/history; "" if there is no home.
std::string HistoryFile() {
  std::filesystem::path base;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state && *state == '/') base = state;
  else if (home && *home) base = std::filesystem::path(home) / ".local/state";
  else return {};
  std::error_code ignored;
  std::filesystem::create_directories(base / "dfc", ignored);
  return (base / "dfc" / "history").string();
}

// ---------------------------------------------------------------- on a terminal

class TerminalEditor : public LineEditor {
 public:
  explicit TerminalEditor(Completer completer) : completer_(std::move(completer)), file_(HistoryFile()) {
    std::setlocale(LC_CTYPE, "");  // libedit shows letters as the terminal's locale has them
    edit_ = el_init("dfc", stdin, stdout, stderr);
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, 1000);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT, &Prompt);
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_SIGNAL, 0);
    el_set(edit_, EL_GETCFN, &GetChar);
    el_set(edit_, EL_HIST, history, history_);
    el_set(edit_, EL_ADDFN, "dfc-complete", "completes a name", &Complete);
    el_set(edit_, EL_BIND, "^I", "dfc-complete", nullptr);
    el_source(edit_, nullptr);  // ~/.editrc
  }

  ~TerminalEditor() override {
    HistEvent event;
    if (!file_.empty()) history(history_, &event, H_SAVE, file_.c_str());
    history_end(history_);
    el_end(edit_);
  }

  Got Read(std::string_view prompt, std::string& line) override {
    prompt_ = prompt;
    interrupted_ = false;
    int length = 0;
    const char* got = el_gets(edit_, &length);
    if (!got || length < 0) {
      el_reset(edit_);
      std::fputc('\n', stdout);
      std::fflush(stdout);
      return interrupted_ ? Got::Interrupted : Got::End;
    }
    line.assign(got, static_cast<size_t>(length));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    return Got::Line;
  }

  void Remember(std::string_view text) override {
    std::string line(text);
    if (line.empty() || line.find('\n') != std::string::npos) return;  // the history is one of lines
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
  }

  std::string TakeLine() override {
    std::string line = given_back_.substr(0, std::min(given_back_.find('\n'), given_back_.size() - 1) + 1);
    given_back_.erase(0, line.size());
    rest_ = 0;
    return line;
  }
  void GiveBack(std::string_view bytes) override { given_back_.insert(0, bytes); }
  void GiveBackRest(std::string_view bytes) override {
    GiveBack(bytes);
    if (!bytes.empty()) rest_ = bytes.size();
  }

  bool interactive() const override { return true; }

 private:
  static TerminalEditor* Self(EditLine* edit) {
    TerminalEditor* self = nullptr;
    el_get(edit, EL_CLIENTDATA, &self);
    return self;
  }

  static char* Prompt(EditLine* edit) { return Self(edit)->prompt_.data(); }

  // One character of UTF-8. libedit's own reader goes on after a signal, where Ctrl-C has to give up the line.
  static int GetChar(EditLine* edit, wchar_t* to) {
    mbstate_t state = {};
    TerminalEditor* self = Self(edit);
    for (;;) {
      char byte;
      ssize_t got = 1;
      if (self->given_back_.size() > self->rest_) {
        byte = self->given_back_[self->rest_];
        self->given_back_.erase(self->rest_, 1);
      } else {
        got = ::read(STDIN_FILENO, &byte, 1);
      }
      if (got < 0) {
        self->interrupted_ = errno == EINTR;
        return -1;
      }
      if (got == 0) return 0;
      size_t length = std::mbrtowc(to, &byte, 1, &state);
      if (length == static_cast<size_t>(-2)) continue;  // more bytes belong to it
      if (length == static_cast<size_t>(-1)) state = {};  // not a character: left out
      else return 1;
    }
  }

  // Extends the word before the cursor as far as all its completions agree; lists them if that adds nothing.
  static unsigned char Complete(EditLine* edit, int) {
    const LineInfo* info = el_line(edit);
    std::string_view before(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
    std::vector<std::string> words = Self(edit)->completer_(before);
    if (words.empty()) return CC_ERROR;
    std::string common = words.front();
    // What is typed already: the beginning of each of the words that the line ends with.
    size_t length = std::min(common.size(), before.size());
    while (length > 0 && !before.ends_with(std::string_view(common).substr(0, length))) --length;
    std::string_view typed = before.substr(before.size() - length);
    for (const std::string& word : words) {
      size_t same = std::mismatch(common.begin(), common.end(), word.begin(), word.end()).first - common.begin();
      common.resize(same);
    }
    std::string added = common.size() > typed.size() ? common.substr(typed.size()) : "";
    if (words.size() == 1 && !words[0].ends_with('/')) added += ' ';
    if (!added.empty()) return el_insertstr(edit, added.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    std::fputc('\n', stdout);
    for (const std::string& word : words) std::fprintf(stdout, "%s  ", word.c_str());
    std::fputc('\n', stdout);
    std::fflush(stdout);
    return CC_REDISPLAY;
  }

  Completer completer_;
  std::string file_;
  std::string prompt_;
  std::string given_back_;  // what was read for a program and not used: lines that were pasted with its own come next at the prompt
  size_t rest_ = 0;         // of it the beginning is the rest of the program's line, which the next program gets
  bool interrupted_ = false;
  EditLine* edit_;
  ::History* history_;
};

// ---------------------------------------------------------------- from a pipe or a file

class PipeReader : public LineEditor {
 public:
  Got Read(std::string_view, std::string& line) override {
    for (size_t looked = at_;;) {
      size_t end = buffer_.find('\n', looked);
      if (end == std::string::npos && buffer_.size() - at_ > kMaxInput) {
        buffer_.clear();
        at_ = 0;
        return Got::TooLong;
      }
      if (end != std::string::npos || (ended_ && at_ < buffer_.size())) {
        line.assign(buffer_, at_, end == std::string::npos ? end : end - at_);
        at_ = end == std::string::npos ? buffer_.size() : end + 1;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        return Got::Line;
      }
      if (ended_) return Got::End;
      const size_t open = buffer_.size() - at_;  // Fill moves what was not read to the front
      if (!Fill()) return Got::Interrupted;
      looked = open;
    }
  }

  bool NextLineIsIndented() override {
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    while (at_ == buffer_.size() && !ended_)
      if (::poll(&input, 1, 0) <= 0 || !Fill()) return false;
    return at_ < buffer_.size() && (buffer_[at_] == ' ' || buffer_[at_] == '\t');
  }

  std::string TakeLine() override {
    size_t end = buffer_.find('\n', at_);
    std::string line = buffer_.substr(at_, end == std::string::npos ? end : end + 1 - at_);
    at_ += line.size();
    return line;
  }

  void GiveBack(std::string_view bytes) override {
    buffer_.replace(0, at_, bytes);
    at_ = 0;
  }

  bool interactive() const override { return false; }

 private:
  // False if a signal came first.
  bool Fill() {
    buffer_.erase(0, at_);
    at_ = 0;
    char chunk[1 << 14];
    ssize_t got = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) return false;
    if (got <= 0) ended_ = true;
    else buffer_.append(chunk, static_cast<size_t>(got));
    return true;
  }

  std::string buffer_;
  size_t at_ = 0;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<LineEditor> MakeLineEditor(LineEditor::Completer completer) {
  if (::isatty(STDIN_FILENO)) return std::make_unique<TerminalEditor>(std::move(completer));
  return std::make_unique<PipeReader>();
}

}  // namespace df
