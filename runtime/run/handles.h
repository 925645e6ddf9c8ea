// runtime/run/handles.h
//
// The handles of a run that acts: the standard input, 0, and the files that it has open. Bytes become characters here, and what is
// written waits here until there is enough of it. docs/io.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/run/host.h"
#include "runtime/value/io_error.h"
#include "runtime/value/value.h"
#include "tagged_ir/action.h"

namespace df {

class Handles {
 public:
  // `before_input` is done before the program waits for its standard input.
  Handles(Host& host, std::function<void()> before_input) : host_(host), before_input_(std::move(before_input)) { handles_[0].name = "<stdin>"; }
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  // How texts are made for the graph.
  void SetList(ir::ListType list) { list_ = list; }

  // What a question is answered: a number and a text. Failures are errors in parts, as Host::Answer has them. May throw HostInterrupted.
  struct Reply {
    int64_t number = 0;
    Value text;
    std::string failure;  // if there is one
  };
  Reply Ask(ir::Question what, int64_t number, std::string_view text);

  // The rest of the standard input, as it is looked at; nobody else reads it from then on.
  Value StandardInput();
  // A character of a text that is written to a file. False: it failed, as `failure` says.
  bool Put(int64_t handle, uint32_t c, std::string* failure);
  // Before and after such a text.
  bool MayPut(int64_t handle, std::string* failure);
  bool Put(int64_t handle, std::string* failure);
  // What waits is written, and all files are closed. "" or the first failure.
  std::string CloseAll();

  // ---- of a prompt
  // From now on what is given to the graph is kept, for the prompt.
  void KeepContents() { keeps_ = true; }
  // What was read of a text that was given out bit by bit, as far as it was, in the order in which they were given; if `to_the_end` read
  // on until then.
  std::vector<std::string> TakeContents(bool to_the_end);
  // What was read of the standard input and not used; nobody reads it any more.
  std::string LeftOfInput();

 private:
  int64_t generator_[2] = {};  // of random numbers that all actions of the run share
  enum class State : uint8_t { Open, SemiClosed, Closed };
  struct Handle {
    std::string name;
    int64_t mode = 0;
    int64_t file = 0;
    State state = State::Open;
    bool ended = false;    // nothing more can be read
    std::string in = {};   // read, not yet given out
    std::string out = {};  // written, not yet handed over
    Host::Buffering buffering = Host::Buffering::Blocks;
    size_t contents = SIZE_MAX;  // its number in contents_
    bool reads() const { return mode == 0 || mode == 3; }
    bool writes() const { return mode != 0; }
  };
  struct ContentsCell;

  Handle* Find(int64_t handle);
  std::string Fault(const Handle& handle, std::string_view place, IoKind kind, std::string_view details) const;
  // "" or why it cannot be read, or written.
  std::string WhyNot(const Handle& handle, bool reads, std::string_view place) const;
  // More bytes of it; false at its end. A failure is in `failure`.
  bool Fill(int64_t number, Handle& handle, std::string_view place, std::string* failure);
  std::string Failed(const Handle& handle, std::string_view place, const Host::Answer& answer) const;
  bool HandOver(Handle& handle, std::string_view place, std::string* failure);
  void Close(Handle& handle);
  Value Text(const std::vector<uint32_t>& chars) const;
  Reply TextReply(std::string_view bytes) const;
  Reply Line(int64_t number, Handle& handle);
  Reply Char(int64_t number, Handle& handle);
  Reply Contents(int64_t number, Handle& handle);
  Reply IsEnd(int64_t number, Handle& handle);
  Reply OfHandle(ir::Question what, int64_t number, std::string_view text);
  Value Next(int64_t number);
  void Drop(int64_t number);

  Host& host_;
  std::function<void()> before_input_;
  ir::ListType list_;
  std::map<int64_t, Handle> handles_;
  int64_t next_ = 3;
  bool keeps_ = false;
  std::vector<std::string> contents_;  // what was given out bit by bit
  std::vector<int64_t> contents_of_;   // by handle
};

// A command-line argument, a name of a file. Bytes that are no UTF-8 become lone surrogates, as GHC has them.
std::vector<uint32_t> CharsOfName(std::string_view bytes);
// The other way round: appends the character to a name. False if no name has it.
bool AppendNameChar(uint32_t c, std::string& bytes);

}  // namespace df
