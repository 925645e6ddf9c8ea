// The steps of an action, and the standard input as a list that is read when it is looked at: see perform.h.
#include "runtime/run/perform.h"

#include <optional>

#include "lang/utf8.h"
#include "runtime/value/text_list.h"
#include "tagged_ir/action.h"

namespace df {
namespace {

constexpr size_t kBlock = 8192;  // bytes of output that are handed over at once

bool IsSurrogate(uint32_t c) { return c >= 0xD800 && c <= 0xDFFF; }

// A command-line argument. Bytes that are no UTF-8 become lone surrogates, as GHC has them.
std::vector<uint32_t> CharsOf(std::string_view bytes) {
  std::vector<uint32_t> chars;
  while (!bytes.empty()) {
    uint32_t c;
    if (TakeChar(bytes, &c) != Decoded::Char) {
      c = 0xDC00 | static_cast<unsigned char>(bytes[0]);
      bytes.remove_prefix(1);
    }
    chars.push_back(c);
  }
  return chars;
}

Outcome Failure(std::string message) {
  Outcome outcome;
  outcome.stop = Stop::Failed;
  outcome.error.message = std::move(message);
  return outcome;
}

}  // namespace

// ---------------------------------------------------------------- standard input

// Where a run's input comes from: bytes as they are read, characters as they are asked for.
struct Performance::Reader {
  Performance& performance;
  ir::ListType list;
  std::string bytes;  // read, not yet characters: the beginning of one
  bool closed = false;  // nothing more is read

  explicit Reader(Performance& p) : performance(p) {}
  Value Next();
  Value Fail(std::string what) const {
    return Value::Adopt(ValueKind::Error, new ErrorObject(ErrorCode::User, "<stdin>: " + std::move(what), {}, {}));
  }
};

// The rest of the input.
struct Performance::InputCell : HostCell {
  Reader* reader;
  explicit InputCell(Reader* r) : reader(r) {}
  Value Supply() override { return reader->Next(); }
};

// What can be read now, as a list that ends in a cell for the rest.
Value Performance::Reader::Next() {
  std::vector<uint32_t> chars;
  std::optional<Value> end;
  if (closed) return Value::Word(list.nil);
  while (chars.empty() && !end) {
    performance.FlushError();
    if (performance.host_.flush_before_read) performance.Flush();
    switch (performance.host_.Read(bytes)) {
      case Host::Input::Some: break;
      case Host::Input::Interrupted: throw HostInterrupted();
      case Host::Input::Failed: return Fail(std::exchange(bytes, {}));
      case Host::Input::End:
        if (bytes.empty()) return Value::Word(list.nil);
        return Fail("hGetContents: invalid argument (invalid byte sequence)");
    }
    std::string_view rest = bytes;
    Decoded decoded = Decoded::Char;
    for (uint32_t c; !rest.empty() && (decoded = TakeChar(rest, &c)) == Decoded::Char;) chars.push_back(c);
    if (decoded == Decoded::Invalid) end = Fail("hGetContents: invalid argument (invalid byte sequence)");
    bytes.erase(0, bytes.size() - rest.size());
  }
  if (!end) end = Value::Adopt(ValueKind::Reference, new InputCell(this));
  return TextList(list, chars, std::move(*end));
}

Performance::Performance(const ir::Graph& graph, Host& host) : graph_(graph), host_(host), buffering_(host.buffering) {}
Performance::~Performance() = default;

Value Performance::HostInput(ir::PortType type, std::string_view name, const std::string& program,
                             const std::vector<std::string>& arguments) {
  ir::ListType list;
  if (name == ir::kArguments) {
    for (const ir::Constructor& c : graph_.types[type.type].constructors)
      if (!c.fields.empty()) type = c.fields[0].type;
  }
  ir::IsText(graph_.types, type.type, &list);
  if (name == ir::kStandardInput) {
    reader_ = std::make_unique<Reader>(*this);
    reader_->list = list;
    return Value::Adopt(ValueKind::Reference, new InputCell(reader_.get()));
  }
  if (name == ir::kProgramName) return TextList(list, CharsOf(program), Value::Word(list.nil));
  Value all = Value::Word(list.nil);
  for (size_t i = arguments.size(); i-- > 0;)
    all = Cons(list, TextList(list, CharsOf(arguments[i]), Value::Word(list.nil)), std::move(all));
  return all;
}

// ---------------------------------------------------------------- output

bool Performance::Flush() {
  if (buffer_.empty()) return true;
  bool written = host_.Write(buffer_);
  buffer_.clear();
  return written;
}

// What was written before comes first, although nothing else would hand it over now.
bool Performance::FlushError() {
  if (error_buffer_.empty()) return true;
  bool written = Flush() && host_.WriteError(error_buffer_);
  error_buffer_.clear();
  return written;
}

// Character by character: nobody needs the whole text at once, and what was written is let go. `write` is false if nothing
// more can be written.
template <class WriteChar>
static Outcome WalkText(Execution& execution, Value text, const char* stream, WriteChar write) {
  enum class Left : uint8_t { Text, LateChar, BadChar, NotWritten, Nothing };
  Left left = Left::Text;
  auto put = [&](const Value& head) {
    auto c = static_cast<uint32_t>(head.word());
    left = IsSurrogate(c) ? Left::BadChar : write(c) ? Left::Text : Left::NotWritten;
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
      case Left::BadChar: return Failure(std::string(stream) + ": commitBuffer: invalid argument (invalid character)");
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

// What was read of `text`, the rest of the input.
void Performance::ReadBack(Execution& execution, Value text) {
  if (!reader_) return;
  reader_->closed = true;
  if (!execution.Force(text).ok()) {
    while (read_to_the_end_ && host_.Read(reader_->bytes) == Host::Input::Some) reader_->bytes.clear();
    return;
  }
  while (execution.Force(text).ok() && !text.is_word()) {
    auto* cell = static_cast<Data*>(text.object());
    AppendUtf8(static_cast<uint32_t>(cell->fields()[0].word()), left_);
    text = Value(cell->fields()[1]);
  }
  left_ += reader_->bytes;
}

Outcome Performance::Run(Execution& execution) {
  ir::ActionType type;
  ir::CheckAction(graph_, &type);
  Value action = execution.TakeResult(0);
  Outcome outcome;
  bool ended = false;
  while (!ended && (outcome = execution.Force(action)).ok()) {
    auto* step = static_cast<Data*>(action.object());
    uint32_t what = step->constructor;
    Value operand = step->fields()[0];
    action = Value(step->fields()[step->size() - 1]);  // the step itself goes
    if (what == type.put) {
      outcome = WriteText(execution, std::move(operand));
      if (outcome.ok() && buffering_ == Host::Buffering::None && !Flush()) outcome = Failure("");
    } else if (what == type.error) {
      outcome = WriteErrorText(execution, std::move(operand));
    } else if (what == type.flush) {
      if (!Flush()) outcome = Failure("");
    } else if (what == type.done) {
      ReadBack(execution, std::move(operand));
      done_ = ended = true;
    } else if ((outcome = execution.Force(operand)).ok()) {
      if (what == type.buffer) {
        buffering_ = static_cast<Host::Buffering>(operand.word());
        if (!Flush()) outcome = Failure("");
      } else {
        exit_code_ = operand.word();
        ended = true;
      }
    }
    if (!outcome.ok()) break;
  }
  if (!Flush() && outcome.ok()) outcome = Failure("");
  return outcome;
}

}  // namespace df
