// driver/system/console.h
//
// Standard output and standard error of the program. Colour only on a terminal, and not if NO_COLOR is set.
#pragma once

#include <functional>
#include <system_error>

#include "driver/options.h"
#include "lang/diagnostics.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace df {

// What a program writes: standard output or standard error. A write that a signal interrupts can be given up.
class OutputStream : public llvm::raw_ostream {
 public:
  explicit OutputStream(int descriptor) : descriptor_(descriptor) {}
  ~OutputStream() override { flush(); }
  const std::error_code& error() const { return error_; }
  void clear_error() { error_ = {}; }
  // Asked when a signal has come while a write waits: whether nothing more is to be written.
  std::function<bool()> given_up;
  // Gets what is written, in place of the descriptor.
  std::function<void(std::string_view)> taken;

 private:
  void write_impl(const char* bytes, size_t size) override;
  uint64_t current_pos() const override { return written_; }

  int descriptor_;
  std::error_code error_;
  uint64_t written_ = 0;
};

// What is said to a program that talks to this one: `dfc repl --protocol=json`.
class ConsoleListener {
 public:
  virtual ~ConsoleListener() = default;
  // What was written on standard output or standard error.
  virtual void Text(bool error, std::string_view text) = 0;
  // Messages of the compiler, as objects and all together as text.
  virtual void Messages(llvm::json::Array rows, std::string text) = 0;
};

class Console {
 public:
  Console();
  // Of a process that is to say nothing: both streams are this descriptor.
  explicit Console(int descriptor);
  ~Console();

  OutputStream& out() { return out_; }
  llvm::raw_ostream& err() { return listener_ ? static_cast<llvm::raw_ostream&>(program_err_) : err_; }
  bool color() const { return color_; }

  // Writes at once; false if standard output takes nothing any more.
  bool Write(std::string_view text);
  // The same for what a program writes on standard error; our own messages go to `err`.
  bool WriteError(std::string_view text);
  // Asked when a signal has come while a program's output waits to be taken. Empty: it waits on.
  void GiveUpWhen(std::function<bool()> given_up);

  // From now on whatever is wrong is told as JSON, one object a line (docs/errors.md).
  void UseJson() { json_ = true; }
  bool json() const { return json_; }
  // From now on nothing is written: `listener` is told. Null: as before.
  void TellTo(ConsoleListener* listener);

  // Prints diagnostics on standard error.
  void Show(const Diagnostics& diags);
  // "error: ..." on standard error.
  void Error(std::string_view message);
  // The same as JSON, with more than a message; `text` is all of it as people read it.
  void ErrorObject(llvm::json::Object object, std::string_view text);

  // Writes what is buffered. If standard output could not take it (a full disk), says so and turns `code` into
  // Failed; a closed pipe is nobody's fault.
  ExitCode Finish(ExitCode code);

 private:
  OutputStream out_;
  OutputStream program_err_;
  llvm::raw_fd_ostream err_;
  bool color_;
  bool json_ = false;
  ConsoleListener* listener_ = nullptr;
};

}  // namespace df
