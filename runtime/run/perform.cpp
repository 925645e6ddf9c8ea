// The steps of an action, and who catches what fails: see perform.h.
#include "runtime/run/perform.h"

#include <algorithm>

#include "fmt/format.h"
#include "lang/utf8.h"
#include "runtime/run/thrown.h"
#include "runtime/value/io_error.h"
#include "runtime/value/text_list.h"

namespace df {
namespace {

constexpr size_t kBlock = 8192;  // bytes of output that are handed over at once

// A byte of a name that is no character is kept as the character that stands for those.
uint32_t LoggedChar(int64_t c) { return c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : static_cast<uint32_t>(c); }

bool IsSurrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

Outcome Failure(std::string message) {
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.message = std::move(message);
  return outcome;
}

Outcome Broken(std::string rule) {
  Outcome outcome;
  outcome.stop = Stop::Internal;
  outcome.detail = std::move(rule);
  return outcome;
}

Outcome IoFailure(std::string parts) {
  Outcome outcome = Failure(IoErrorText(parts));
  outcome.error.code = ErrorCode::Io;
  outcome.error.parts = std::move(parts);
  return outcome;
}

}  // namespace

// The replies from here on.
struct Performance::ReplyCell : HostCell {
  Performance& performance;
  explicit ReplyCell(Performance& p) : performance(p) {}
  Value Supply() override { return performance.Supply(); }
};

Performance::Performance(const ir::Graph& graph, Host& host)
    : graph_(graph), host_(host), handles_(host, [this] {
        FlushError();
        if (host_.flush_before_read) Flush();
      }), buffering_(host.buffering) {
  if (graph.action) ir::CheckAction(graph, &type_);
}
Performance::~Performance() = default;

Value Performance::HostInput(ir::PortType type, std::string_view name, const std::string& program,
                             const std::vector<std::string>& arguments) {
  if (ir::ComesLater(name)) {
    ir::IsText(graph_.types, name == ir::kReplies ? type_.text : type.type, &list_);
    handles_.SetList(list_);
    return name == ir::kReplies ? Value::Adopt(ValueKind::Reference, new ReplyCell(*this)) : handles_.StandardInput();
  }
  ir::ListType list;
  if (name == ir::kArguments) {
    for (const ir::Constructor& c : graph_.types[type.type].constructors)
      if (!c.fields.empty()) type = c.fields[0].type;
  }
  ir::IsText(graph_.types, type.type, &list);
  if (name == ir::kProgramName) return TextList(list, CharsOfName(program), Value::Word(list.nil));
  Value all = Value::Word(list.nil);
  for (size_t i = arguments.size(); i-- > 0;)
    all = Cons(list, TextList(list, CharsOfName(arguments[i]), Value::Word(list.nil)), std::move(all));
  return all;
}

// ---------------------------------------------------------------- output

bool Performance::Flush() {
  if (buffer_.empty()) return true;
  bool written = host_.Write(buffer_);
  buffer_.clear();
  unwritable_ |= !written;
  return written;
}

// What was written before comes first, although nothing else would hand it over now.
bool Performance::FlushError() {
  if (error_buffer_.empty()) return true;
  bool written = Flush() && host_.WriteError(error_buffer_);
  error_buffer_.clear();
  unwritable_ |= !written;
  return written;
}

// Character by character: nobody needs the whole text at once, and what was written is let go. `write` is false if nothing
// more can be written. It gets `all` characters, or those that a text may have outside.
template <class WriteChar>
static Outcome WalkText(Execution& execution, Value text, const char* stream, WriteChar write, bool all = false) {
  enum class Left : uint8_t { Text, LateChar, BadChar, NotWritten, Nothing };
  Left left = Left::Text;
  auto put = [&](const Value& head) {
    auto c = static_cast<uint32_t>(head.word());
    left = IsSurrogate(c) && !all ? Left::BadChar : write(c) ? Left::Text : Left::NotWritten;
  };
  Value late;  // a character that is not evaluated
  auto next = [&](Value& cell) {
    if (cell.is_word()) {
      left = Left::Nothing;
      return false;
    }
    Value* fields = static_cast<Data*>(cell.object())->fields();
    if (fields[0].is_word()) {
      put(fields[0]);
    } else {
      late = fields[0];
      left = Left::LateChar;
    }
    cell = Value(fields[1]);
    return left == Left::Text;
  };
  for (;;) {
    if (Outcome outcome = execution.ForceEach(text, next); !outcome.ok()) return outcome;
    if (left == Left::LateChar) {
      if (Outcome outcome = execution.Force(late); !outcome.ok()) return outcome;
      put(late);
    }
    switch (left) {
      case Left::BadChar: return IoFailure(IoErrorParts(IoKind::InvalidArgument, "commitBuffer", stream, "invalid character"));
      case Left::NotWritten: return Failure("");
      case Left::Nothing: return {};
      default: break;
    }
  }
}

Outcome Performance::WriteText(Execution& execution, Value text) {
  return WalkText(execution, std::move(text), "<stdout>", [&](uint32_t c) {
    AppendUtf8(c, buffer_);
    bool now = buffer_.size() >= kBlock || (c == '\n' && buffering_ == Host::Buffering::Lines);
    return !now || Flush();
  });
}

// Nothing of it waits for what comes later: a line is handed over at its end, the rest at the end of the text.
Outcome Performance::WriteErrorText(Execution& execution, Value text) {
  Outcome outcome = WalkText(execution, std::move(text), "<stderr>", [&](uint32_t c) {
    AppendUtf8(c, error_buffer_);
    return (c != '\n' && error_buffer_.size() < kBlock) || FlushError();
  });
  return FlushError() || !outcome.ok() ? outcome : Failure("");
}


// A text that is a name, or says what is asked.
Outcome Performance::TextOf(Execution& execution, Value text, std::string* bytes) {
  bool good = true;
  Outcome outcome = WalkText(execution, std::move(text), "", [&](uint32_t c) { return good = AppendNameChar(c, *bytes); }, /*all=*/true);
  return good || outcome.stop != Stop::Failed ? outcome : IoFailure(IoErrorParts(IoKind::InvalidArgument, "", *bytes, "invalid character"));
}

// A text that was written is not looked at again. One that failed is computed up to there; if it is whole, writing it failed.
Outcome Performance::RedoText(Execution& execution, Value text) {
  if (!RedoFailsHere()) return {};
  const ActionLog::Entry& entry = redo_->entries[redo_entry_];
  Outcome outcome = WalkText(execution, std::move(text), "", [](uint32_t) { return true; }, /*all=*/true);
  if (!outcome.ok()) return outcome;
  return entry.number == static_cast<int64_t>(ir::Caught::Io) ? IoFailure(entry.text) : Failure(entry.text);
}

// ---------------------------------------------------------------- replies

Value Performance::Reply(int64_t number, Value text) {
  Data* reply = Data::New(type_.reply, 2);
  Value value = Value::Adopt(ValueKind::Object, reply);
  reply->fields()[0] = Value::Word(number);
  reply->fields()[1] = std::move(text);
  return value;
}

// Called by the engine, within the limits of the run: here the program waits for its input.
Value Performance::Supply() {
  if (!pending_.there) return Value::Adopt(ValueKind::Error, new ErrorObject(ErrorCode::Loop, "<<loop>>", {}, {}));  // nobody has asked
  if (pending_.asks) {
    Handles::Reply got = redo_ ? Handles::Reply() : handles_.Ask(pending_.what, pending_.number, pending_.text);
    const bool failed = !got.failure.empty();
    if (keeps_log_ && !redo_) {
      std::string text;
      for (Value rest = got.text; !failed && rest.counted() && !rest.is_reference(); rest = Value(static_cast<Data*>(rest.object())->fields()[1]))
        AppendUtf8(LoggedChar(static_cast<Data*>(rest.object())->fields()[0].word()), text);
      kept_.entries.push_back({'a', std::exchange(steps_, 0), failed ? -1 : got.number, failed ? got.failure : text, got.text.is_reference()});
    }
    pending_.reply = redo_ ? RedoReply() : failed ? Reply(-1, TextList(list_, CharsOfName(got.failure), Value::Word(list_.nil))) : Reply(got.number, std::move(got.text));
  }
  Data* all = Data::New(0, 3);
  Value value = Value::Adopt(ValueKind::Object, all);
  all->fields()[0] = std::move(pending_.resume);
  all->fields()[1] = std::move(pending_.reply);
  all->fields()[2] = Value::Adopt(ValueKind::Reference, new ReplyCell(*this));
  pending_ = {};
  return value;
}

Outcome Performance::Resume(Value resume, Value& action) {
  pending_.resume = std::move(resume);
  pending_.there = true;
  action = server_;
  return action.counted() ? Outcome{} : Broken("an action asks, and nothing takes the reply");
}

Value Performance::ReplyOf(const Unwinding& unwinding) {
  const RuntimeError& error = unwinding.outcome.error;
  if (!unwinding.exits && error.thrown.counted()) {
    Data* raised = Data::New(type_.raised, 1);
    Value value = Value::Adopt(ValueKind::Object, raised);
    raised->fields()[0] = error.thrown;
    if (keeps_log_ && !redo_) kept_.entries.push_back({'t', std::exchange(steps_, 0), 0, "", false});
    if (redo_) ++redo_entry_, steps_ = 0;
    return value;
  }
  ir::Caught what = ir::Caught::Error;
  std::string text = error.message;
  if (unwinding.exits) {
    what = ir::Caught::Exit;
    text = fmt::format("{}", unwinding.code);
  } else {
    switch (error.code) {
      case ErrorCode::DivideByZero: what = ir::Caught::DivideByZero; break;
      case ErrorCode::Overflow: what = ir::Caught::Overflow; break;
      case ErrorCode::NoMatch: what = ir::Caught::NoMatch; break;
      case ErrorCode::Io: what = ir::Caught::Io, text = error.parts; break;
      case ErrorCode::User:
      case ErrorCode::Range:
      case ErrorCode::Loop: break;
    }
  }
  const auto number = static_cast<int64_t>(what);
  if (keeps_log_ && !redo_) kept_.entries.push_back({'r', std::exchange(steps_, 0), number, text, false});
  if (redo_) ++redo_entry_, steps_ = 0;
  return Reply(number, TextList(list_, CharsOfName(text), Value::Word(list_.nil)));
}

bool Performance::Catch(Execution& execution, Unwinding& unwinding, Value& action) {
  const Outcome& outcome = unwinding.outcome;
  if (handlers_.empty()) return false;
  if (!unwinding.exits) {
    if (outcome.stop != Stop::Failed || outcome.error.code == ErrorCode::Loop) return false;
    if (unwritable_) return false;
    // Of a graph from a stranger: what is thrown has the type that handlers take.
    if (outcome.error.thrown.counted() && !IsThrown(graph_, outcome.error, type_.exception)) return false;
  }
  Value resume = std::move(handlers_.back());
  handlers_.pop_back();
  if (Outcome forced = execution.Force(resume); !forced.ok()) {
    unwinding = {std::move(forced)};
    return Catch(execution, unwinding, action);
  }
  last_ = std::move(unwinding);
  pending_ = {};
  pending_.reply = ReplyOf(last_);
  unwinding = {Resume(std::move(resume), action)};
  return unwinding.outcome.ok();
}

// ---------------------------------------------------------------- steps

Outcome Performance::AskStep(Execution& execution, Data* step, Value& action) {
  Value what = step->fields()[0], number = step->fields()[1], text = step->fields()[2], resume = step->fields()[3];
  action = Value();
  pending_ = {};
  for (Value* operand : {&what, &number, &resume})
    if (Outcome outcome = execution.Force(*operand); !outcome.ok()) return outcome;
  if (!redone_.empty() && (what.word() == kRedoBegins || what.word() == kRedoEnds)) return RedoMark(what.word(), std::move(resume), action);
  if (what.word() < 0 || what.word() >= ir::kQuestions) return IoFailure(IoErrorParts(IoKind::UnsupportedOperation, "", "", "no such question"));
  pending_.asks = true;
  pending_.what = static_cast<ir::Question>(what.word());
  pending_.number = number.word();
  if (Outcome outcome = TextOf(execution, std::move(text), &pending_.text); !outcome.ok()) return outcome;
  return Resume(std::move(resume), action);
}

Outcome Performance::PutToStep(Execution& execution, Value whole, Value& action) {
  const Value* fields = static_cast<Data*>(whole.object())->fields();
  Value number = fields[0], text = fields[1];
  action = Value(fields[2]);
  whole = Value();  // the text goes as it is written
  if (redo_) return RedoText(execution, std::move(text));
  if (Outcome outcome = execution.Force(number); !outcome.ok()) return outcome;
  std::string failure;
  if (!handles_.MayPut(number.word(), &failure)) return IoFailure(std::move(failure));
  Outcome outcome = WalkText(execution, std::move(text), "", [&](uint32_t c) { return handles_.Put(number.word(), c, &failure); }, /*all=*/true);
  if (failure.empty() && outcome.ok()) handles_.Put(number.word(), &failure);
  return failure.empty() ? outcome : IoFailure(std::move(failure));
}

// `action` is a step that is evaluated; the next takes its place.
Outcome Performance::Step(Execution& execution, Value& action, Unwinding& unwinding, bool& ended) {
  Value whole = std::move(action);
  if (whole.is_word()) {  // PrimAgain
    if (!last_.exits && last_.outcome.ok()) return Broken("a handler goes on to the next one, and nothing has failed");
    unwinding = last_;
    return unwinding.exits ? Outcome{} : unwinding.outcome;
  }
  auto* step = static_cast<Data*>(whole.object());
  const uint32_t what = step->constructor;
  if (what == type_.ask) return AskStep(execution, step, action);
  if (what == type_.put_to) return PutToStep(execution, std::move(whole), action);
  Value operand = step->fields()[0];
  action = Value(step->fields()[step->size() - 1]);
  if (what == type_.serve) {
    server_ = std::move(action);
    action = std::move(operand);
    return {};
  }
  if (what == type_.enter) {
    handlers_.push_back(std::exchange(action, std::move(operand)));
    return {};
  }
  if (what == type_.leave) {
    if (!handlers_.empty()) handlers_.pop_back();
    return {};
  }
  whole = Value();  // the step itself goes
  if (redo_ && (what == type_.put || what == type_.error)) return RedoText(execution, std::move(operand));
  if (redo_ && (what == type_.flush || what == type_.buffer)) return {};
  if (what == type_.put) {
    Outcome outcome = WriteText(execution, std::move(operand));
    return outcome.ok() && buffering_ == Host::Buffering::None && !Flush() ? Failure("") : outcome;
  }
  if (what == type_.error) return WriteErrorText(execution, std::move(operand));
  if (what == type_.flush) return Flush() ? Outcome{} : Failure("");
  if (what == type_.done) {
    done_ = ended = true;
    return {};
  }
  if (Outcome outcome = execution.Force(operand); !outcome.ok()) return outcome;
  if (what == type_.buffer) {
    buffering_ = static_cast<Host::Buffering>(operand.word());
    return Flush() ? Outcome{} : Failure("");
  }
  unwinding.exits = true;
  unwinding.code = operand.word();
  return {};
}

Outcome Performance::Run(Execution& execution) {
  Value action = execution.TakeResult(0);
  Outcome outcome;
  bool ended = false;
  while (!ended) {
    Unwinding unwinding;
    if (RedoIsCut()) {
      handlers_.resize(redo_handlers_ + 1);
      outcome = Failure("");
    } else {
      outcome = execution.Force(action);
    }
    if (outcome.ok()) {
      ++steps_;
      outcome = Step(execution, action, unwinding, ended);
    }
    if (ended || (outcome.ok() && !unwinding.exits)) continue;
    unwinding.outcome = outcome;
    if (Catch(execution, unwinding, action)) continue;
    outcome = std::move(unwinding.outcome);
    if (unwinding.exits) {
      outcome = {};
      exit_code_ = unwinding.code;
    } else if (int64_t code; AsksForExit(execution, graph_, outcome, &code)) {
      outcome = {};
      exit_code_ = code;
    }
    break;
  }
  last_ = {};
  handlers_.clear();
  server_ = Value();
  pending_ = {};
  if (!Flush() && outcome.ok()) outcome = Failure("");
  if (keeps_log_) KeepEnd(outcome);
  SayThrown(execution, graph_, outcome);
  if (done_) {
    if (keeps_log_) EndLog();
    left_ = handles_.LeftOfInput();
  }
  if (std::string failure = handles_.CloseAll(); !failure.empty() && outcome.ok()) outcome = IoFailure(std::move(failure));
  return outcome;
}

// ---------------------------------------------------------------- the log

// Entries of kind, steps since the last, number, length and text, which the library reads (primEvents in stdlib/Prelude/IO.df).
void Performance::EndLog() {
  for (const ActionLog::Entry& entry : kept_.entries) {
    const auto length = static_cast<size_t>(std::count_if(entry.text.begin(), entry.text.end(), [](char c) { return !IsUtf8Continuation(c); }));
    log_ += fmt::format("{} {} {} {} {}", entry.kind, entry.steps, entry.number, length, entry.text);
  }
}

// How it ended; and what was read bit by bit, of an action that is done to the end.
void Performance::KeepEnd(const Outcome& outcome) {
  std::vector<std::string> contents = handles_.TakeContents(/*to_the_end=*/done_);
  size_t next = 0;
  for (ActionLog::Entry& entry : kept_.entries)
    if (entry.contents && next < contents.size()) entry.text = contents[next++];
  if (outcome.ok()) return;
  kept_.cut = outcome.stop != Stop::Failed || outcome.error.code == ErrorCode::Loop || unwritable_;
  kept_.steps = steps_;
  if (kept_.cut) return;
  const bool io = outcome.error.code == ErrorCode::Io;
  kept_.entries.push_back({'r', steps_, static_cast<int64_t>(io ? ir::Caught::Io : ir::Caught::Error), io ? outcome.error.parts : outcome.error.message, false});
}

std::optional<ActionLog> Performance::TakeLog() {
  if (redo_ || redo_next_ < redone_.size()) return std::nullopt;
  return std::move(kept_);
}

}  // namespace df
