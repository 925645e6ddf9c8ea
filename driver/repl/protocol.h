// driver/repl/protocol.h
//
// `dfc repl --protocol=json`: requests from standard input and answers on standard output, one JSON object a line each
// (docs/repl.md). Who talks to the prompt so is another program, as a notebook's kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "driver/system/console.h"
#include "llvm/Support/JSON.h"
#include "runtime/run/perform.h"

namespace df {

class Protocol : public ConsoleListener {
 public:
  static constexpr size_t kMostRequest = size_t{16} << 20;  // bytes of one line
  // A value whose text is longer goes out in parts, as what an action writes.
  static constexpr size_t kMostValue = size_t{1} << 20;

  // The next request. Interrupts that come while there is none are nobody's; nullopt at the end of the input. What is no object of
  // JSON gets an answer that says so.
  std::optional<llvm::json::Object> Next(const std::function<bool()>& ended, const std::function<void()>& forget_interrupt);

  // An event of the request that is answered now: it gets the request's `id`.
  void Tell(std::string_view event, llvm::json::Object object);
  // From now on what is written is the text of a value, until EndValue, which gives it.
  void BeginValue() { in_value_ = true; }
  std::string EndValue();

  // What an action reads: asks for it with the event `input`, and waits.
  Host::Input AskForInput(const std::function<bool()>& interrupted, std::string& bytes);

  void Text(bool error, std::string_view text) override;
  void Messages(llvm::json::Array rows, std::string text) override;
  // Sends what was held back, half a character perhaps.
  void Flush();

 private:
  enum class Got { Line, End, Signal, TooLong };
  void Wait(const std::function<bool()>& ended, const std::function<void()>& forget_interrupt);
  Got ReadLine(std::string& line);
  void SendText(bool error, std::string text);
  void Send(llvm::json::Object object);

  llvm::json::Value id_ = nullptr;
  std::string buffer_;
  std::string held_[2];  // of standard output and standard error: the bytes of a character that is not whole
  std::string value_;
  bool in_value_ = false;
  bool skips_ = false;   // what comes is the rest of a line that was too long
};

}  // namespace df
