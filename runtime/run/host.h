// runtime/run/host.h
//
// What is outside of a run: the one place through which a graph that acts (docs/io.md) reads and writes, and asks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tagged_ir/action.h"

namespace df {

class Host {
 public:
  enum class Input : uint8_t { Some, End, Interrupted, Failed };
  virtual ~Host() = default;
  // Waits for the next bytes of the standard input and appends them, as many as are there. Failed: `bytes` is the reason.
  virtual Input Read(std::string& bytes) = 0;
  // Writes all of it; false if nothing can be written any more.
  virtual bool Write(std::string_view bytes) = 0;
  // The same on the standard error, after what was written before.
  virtual bool WriteError(std::string_view bytes) = 0;

  // What the system says: a number and a text, or why not, an error in parts (runtime/value/io_error.h).
  struct Answer {
    int64_t number = 0;
    std::string text = {};
    bool failed = false;
  };
  // All but what concerns handles that are open. Of Open the number is the mode, as the library has them (0 to read, 1 to write, 2 to
  // append, 3 for both), and the answer that of a file, for the calls below. A host that grants nothing refuses all but the clock.
  virtual Answer Ask(ir::Question what, int64_t number, std::string_view text);
  // The next bytes of an open file, appended; none at its end. Of these a failure is a number of the system's, or a text as above.
  virtual Answer ReadFile(int64_t file, std::string& bytes);
  virtual Answer WriteFile(int64_t file, std::string_view bytes);
  virtual Answer SizeOfFile(int64_t file);
  virtual void CloseFile(int64_t file);

  enum class Buffering : int64_t { None = 0, Lines = 1, Blocks = 2 };
  Buffering buffering = Buffering::Blocks;  // of the output at the beginning
  bool flush_before_read = false;           // somebody is waiting for a prompt

 protected:
  // The answers to Clock, in nanoseconds since 1970, and ProcessorTime, in picoseconds.
  static Answer AskClock(ir::Question what);
};

}  // namespace df
