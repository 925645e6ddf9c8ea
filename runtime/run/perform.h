// runtime/run/perform.h
//
// Running a graph that acts (tagged_ir/action.h): the root process. The graph says step by step what to do; here it is
// done, in order, with the text of each step written as it is computed, and what the graph asks is answered. docs/io.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/run/action_log.h"
#include "runtime/run/engine.h"
#include "runtime/run/handles.h"
#include "runtime/run/host.h"

namespace df {

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
  // Keeps a log of what the action was told, with which its value can be had again (stdlib/Prelude/Prompt.df). An action that took all
  // the input there will ever be (getContents) has it read to its end before it is done.
  void KeepLog() { keeps_log_ = true; handles_.KeepContents(); }
  const std::string& log() const { return log_; }
  // The graph does earlier actions again, in this order, before its own: these are told what they were told, and write nothing.
  void Redo(std::vector<const ActionLog*> actions) { redone_ = std::move(actions); }
  // The same log, of an action that failed or was stopped as well; nullopt if what comes before it did not come to its end.
  std::optional<ActionLog> TakeLog();

 private:
  struct ReplyCell;
  // Why the steps do not go on: a failure, or an exit that somebody may catch.
  struct Unwinding {
    Outcome outcome;
    bool exits = false;
    int64_t code = 0;
  };

  Outcome Step(Execution& execution, Value& action, Unwinding& unwinding, bool& ended);
  Outcome AskStep(Execution& execution, Data* step, Value& action);
  Outcome PutToStep(Execution& execution, Value whole, Value& action);
  // Gives the failure to the innermost handler. False if there is none, or nobody may catch it.
  bool Catch(Execution& execution, Unwinding& unwinding, Value& action);
  Value ReplyOf(const Unwinding& unwinding);
  // What goes on with this reply, once somebody looks at the replies.
  Outcome Resume(Value resume, Value& action);
  Value Supply();
  Value Reply(int64_t number, Value text);

  Outcome TextOf(Execution& execution, Value text, std::string* bytes);
  Outcome WriteText(Execution& execution, Value text);
  Outcome WriteErrorText(Execution& execution, Value text);
  bool FlushError();
  bool Flush();
  void EndLog();
  void KeepEnd(const Outcome& outcome);

  // ---- what is done again (redo.cpp)
  Outcome RedoMark(int64_t mark, Value resume, Value& action);
  Outcome RedoText(Execution& execution, Value text);
  Value RedoReply();
  bool RedoIsCut() const;
  bool RedoFailsHere() const;

  const ir::Graph& graph_;
  Host& host_;
  Handles handles_;
  ir::ActionType type_;
  ir::ListType list_;
  Host::Buffering buffering_;
  std::string buffer_;
  std::string error_buffer_;  // of the step that is being taken
  Value server_;              // the rest of the replies, as steps
  std::vector<Value> handlers_;  // functions of a reply, the innermost last
  bool unwritable_ = false;      // nothing can be written any more
  Unwinding last_;            // what the handler that was entered last was given

  // What the next reply is: of a question, or one that is there.
  struct Pending {
    Value resume;
    Value reply;
    bool there = false, asks = false;
    ir::Question what = {};
    int64_t number = 0;
    std::string text = {};
  };
  Pending pending_;

  int64_t exit_code_ = 0;
  bool done_ = false;
  std::string left_;
  bool keeps_log_ = false;
  std::string log_;
  uint64_t steps_ = 0;  // since the log's last entry
  ActionLog kept_;

  std::vector<const ActionLog*> redone_;
  size_t redo_next_ = 0;              // of these
  const ActionLog* redo_ = nullptr;   // of the one that is done again now
  size_t redo_entry_ = 0;             // of it: the next
  size_t redo_handlers_ = 0;          // those that were there before it
};

}  // namespace df
