// runtime/run/perform.h
//
// Running a graph that acts (tagged_ir/action.h): the root process. The graph says step by step what to do; here it is
// done, in order, with the text of each step written as it is computed, and the standard input read when it is looked
// at. docs/io.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/run/engine.h"

namespace df {

// What is outside of a run. The one place through which a graph reads and writes.
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

  enum class Buffering : int64_t { None = 0, Lines = 1, Blocks = 2 };
  Buffering buffering = Buffering::Blocks;  // of the output at the beginning
  bool flush_before_read = false;           // somebody is waiting for a prompt
};

// One run of a graph that acts. Must outlive the execution, since values refer to it.
class Performance {
 public:
  Performance(const ir::Graph& graph, Host& host);
  ~Performance();

  // What the graph's own input of this name is; one of ir::IsHostInput.
  Value HostInput(ir::PortType type, std::string_view name, const std::string& program,
                  const std::vector<std::string>& arguments);

  // Takes the steps of the started execution's result until it ends, fails or is stopped. What was written before is
  // written in any case. Stop::Failed without a message: the host could not write.
  Outcome Run(Execution& execution);

  int64_t exit_code() const { return exit_code_; }
  // The action has ended as one of a prompt's does: `left` is what it has read and not used.
  bool done() const { return done_; }
  const std::string& left() const { return left_; }
  // An action that took all the input there will ever be (getContents) has it read to its end before it is done.
  void ReadToTheEnd() { read_to_the_end_ = true; }

 private:
  struct Reader;
  struct InputCell;
  Outcome WriteText(Execution& execution, Value text);
  Outcome WriteErrorText(Execution& execution, Value text);
  bool FlushError();
  void ReadBack(Execution& execution, Value text);
  bool Flush();

  const ir::Graph& graph_;
  Host& host_;
  Host::Buffering buffering_;
  std::string buffer_;
  std::string error_buffer_;  // of the step that is being taken
  std::unique_ptr<Reader> reader_;
  int64_t exit_code_ = 0;
  bool done_ = false;
  bool read_to_the_end_ = false;
  std::string left_;
};

}  // namespace df
