// driver/test/ghc.h
//
// What GHC says to a file's tests: one `ghc --interactive` per file, which is asked as a prompt is.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "driver/options.h"
#include "driver/system/temporary_folder.h"
#include "driver/test/judge.h"

namespace df::test {

struct GhcAnswer {
  std::string refused;  // why it does not answer: GHC's message; then there is no outcome
  Outcome outcome;
};

// Whether there is a `ghc` on the PATH.
bool HasGhc();

class Ghc {
 public:
  // `text` is the file's, `extensions` those of its pragmas. The options have the folders of modules and the limits.
  Ghc(const Options& options, const std::string& path, std::string text, std::vector<std::string> extensions);
  ~Ghc();
  Ghc(const Ghc&) = delete;
  Ghc& operator=(const Ghc&) = delete;

  // Why it refuses the file; "" if it does not.
  std::string Load();
  // What it says to the lines of an example, or of a command.
  GhcAnswer Say(const std::string& lines);
  // What the program does, with that file as its input; "": none.
  GhcAnswer RunMain(const std::string& input);

 private:
  bool Start();
  void End();
  void Send(std::string_view text);
  // All that it prints until it has done what was sent. False: it has ended, or has taken too long, and is started again for what comes next.
  bool Hear(std::string& printed, std::string& why);
  std::string Folders() const;
  std::string WithPath(std::string text) const;

  const Options& options_;
  const std::string path_;
  const TemporaryFolder folder_{"ghc"};
  std::string copy_;    // the file in it
  std::vector<std::string> extensions_;
  std::vector<std::string> said_;  // what a new process is told again: definitions
  int to_ = -1, from_ = -1;
  int pid_ = -1;
  uint64_t asked_ = 0;
};

// What GHC printed, as what came of the test.
Outcome GhcOutcome(std::string printed);

}  // namespace df::test
