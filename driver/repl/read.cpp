// The lines of one input at the prompt: where it ends, and how long it may be.
#include "driver/repl/input_scan.h"
#include "driver/repl/repl.h"

namespace df {
namespace {

constexpr const char* kAnswersName = "<repl>";

// Shorter inputs are looked at whole after every line; longer ones where a line may end them, or when they have grown by an
// eighth, so that an error in the middle of a bracket is told soon.
constexpr size_t kShort = 4096;

}  // namespace

// Adds a line; false, and a message, if the input has become too long.
bool Repl::Take(std::string& text, std::string_view line) {
  if (text.size() + line.size() <= LineEditor::kMaxInput) {
    text += line;
    return true;
  }
  text.clear();
  pipeline_->diags.Report(Diag::InputTooLong, {}, LineEditor::kMaxInput >> 20)
      .Hint("a file can be longer: `:load FILE`, or `dfc run FILE`");
  Flush();
  Fail(ExitCode::Limit);
  if (!editor_->interactive()) quit_ = true;  // what would come next is the rest of this one
  return false;
}

// What ends an input before its time: a signal, or a line without an end.
bool Repl::GivenUp(LineEditor::Got got, std::string& text) {
  if (got == LineEditor::Got::TooLong) return !Take(text, std::string(LineEditor::kMaxInput + 1, ' '));
  if (got != LineEditor::Got::Interrupted && !interrupts_.interrupted()) return false;
  DropInput(text, /*with_line=*/got == LineEditor::Got::Line);
  return true;
}

// Gives up an input for an interrupt. A person sees the new prompt; a program at the other end of a pipe waits for an answer to its signal:
// if it does not, what it writes next may be what is dropped, since nobody can tell which came first.
void Repl::DropInput(std::string& text, bool with_line) {
  interrupts_.Clear();
  if (!editor_->interactive() && !TerminationRequested())
    console_.err() << (text.empty() && !with_line ? "error: interrupted\n" : "error: interrupted before it ran: the input is dropped\n");
  text.clear();
}

bool Repl::ReadInput(std::string& text) {
  text.clear();
  std::string line;
  InputScan scan;
  size_t looked_at = 0;  // the length of the input when the parser was asked last
  bool unfinished = false;
  for (;;) {
    LineEditor::Got got = editor_->Read(text.empty() ? "dfc> " : "...> ", line);
    if (got == LineEditor::Got::Line) ++line_;
    if (text.empty()) first_line_ = line_;
    if (GivenUp(got, text)) return true;
    if (got == LineEditor::Got::End) return !text.empty();
    std::string_view trimmed = Trim(line);
    if (text.empty() && trimmed == ":{") return ReadBlock(text);
    if (text.empty() && trimmed.starts_with(':')) {
      text = trimmed;
      editor_->Remember(line);
      return true;
    }
    if (trimmed.empty()) {
      if (text.empty()) continue;
      return true;  // a blank line ends an input, complete or not
    }
    const size_t before = text.size();
    const bool ended_inside = scan.in_bracket() || scan.in_comment();
    if (!text.empty()) {
      text += '\n';
      // By the layout rule a line in the first column would begin a declaration; who has a bracket open at the prompt goes on.
      if (scan.in_bracket()) text += ' ';
    }
    if (!Take(text, line)) return true;
    scan.Add(line);
    if (editor_->NextLineIsIndented()) continue;
    if (text.size() > kShort && text.size() - looked_at < text.size() / 8 && scan.SurelyOpen()) {
      unfinished = true;
      continue;
    }

    // Whether more is needed is asked of the parser, whose complaints do not count yet.
    looked_at = text.size();
    SourceManager sources;
    FileId file = sources.Add(kAnswersName, text);
    Diagnostics ignored(sources);
    TokenBuffer tokens = Lex(sources, file, ignored);
    scan.Know(tokens);
    ReplInput input = ParseRepl(tokens, ignored);
    if (input.kind == ReplInput::Kind::Incomplete) {
      unfinished = true;
      continue;
    }
    // `y =` above a line of its own in the first column: only the first of them is wrong. (A person sees the prompt.)
    if (unfinished && !ended_inside && ignored.has_errors() && !editor_->interactive()) {
      text.resize(before);
      editor_->GiveBack(line + "\n");
      --line_;
      break;
    }
    if (input.kind == ReplInput::Kind::Expression && IsNew(input.signature_of)) continue;
    // A person ends a block that goes over several lines with a blank one.
    bool several_lines = text.find('\n') != std::string::npos;
    if (input.open_block && several_lines && editor_->interactive()) continue;
    break;
  }
  editor_->Remember(text);
  return true;
}

// Whether nothing has this name yet; false for no name.
bool Repl::IsNew(std::string_view name) const {
  if (name.empty()) return false;
  std::vector<std::string_view> names = pipeline_->session.Names();
  return std::find(names.begin(), names.end(), name) == names.end();
}

bool Repl::ReadBlock(std::string& text) {
  std::string line;
  for (;;) {
    LineEditor::Got got = editor_->Read("...| ", line);
    if (got == LineEditor::Got::Line && ++line_ && text.empty()) first_line_ = line_;
    if (GivenUp(got, text)) return true;
    if (got == LineEditor::Got::End || Trim(line) == ":}") return true;
    line += '\n';
    if (!Take(text, line)) return true;
  }
}

}  // namespace df
