// driver/console.h
//
// Standard output and standard error of the program. Colour only on a terminal, and not if NO_COLOR is set.
#pragma once

#include "driver/options.h"
#include "lang/diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace df {

class Console {
 public:
  Console();
  ~Console();

  llvm::raw_ostream& out() { return out_; }
  llvm::raw_ostream& err() { return err_; }
  bool color() const { return color_; }

  // Writes at once; false if standard output takes nothing any more.
  bool Write(std::string_view text);

  // From now on whatever is wrong is told as JSON, one object a line (docs/errors.md).
  void UseJson() { json_ = true; }
  bool json() const { return json_; }

  // Prints diagnostics on standard error.
  void Show(const Diagnostics& diags);
  // "error: ..." on standard error.
  void Error(std::string_view message);

  // Writes what is buffered. If standard output could not take it (a full disk), says so and turns `code` into
  // Failed; a closed pipe is nobody's fault.
  ExitCode Finish(ExitCode code);

 private:
  llvm::raw_fd_ostream out_;
  llvm::raw_fd_ostream err_;
  bool color_;
  bool json_ = false;
};

}  // namespace df
