// A session for another program (driver/repl/protocol.h): requests and their answers. A cell is a text with any number of inputs: definitions that
// follow each other are one input, so that clauses, signatures and definitions that need each other may stand on lines of their own.
#include <algorithm>

#include "driver/repl/input_scan.h"
#include "driver/repl/protocol.h"
#include "driver/repl/repl.h"

namespace df {
namespace {

// One input of a cell.
struct CellInput {
  std::string text;
  uint32_t line = 1;         // its first one in the cell
  bool definitions = false;
};

// Whether a line in the first column goes on with the one before, as nothing that begins there does.
bool Continues(std::string_view line) {
  for (std::string_view word : {"then", "else", "of", "in", "where", "deriving"})
    if (line.starts_with(word) && (line.size() == word.size() || line[word.size()] == ' ')) return true;
  return line.front() == ' ' || line.front() == '\t' || line.front() == '|' || line.front() == ')' || line.front() == ']' || line.front() == '}';
}

bool IsBlank(std::string_view line) { return line.find_first_not_of(" \t\r") == std::string_view::npos; }

// The text between two lines in the first column, where no bracket or comment is open.
std::vector<CellInput> CellPieces(std::string_view cell) {
  std::vector<CellInput> pieces;
  InputScan scan;
  bool block = false;  // between `:{` and `:}`
  uint32_t number = 0;
  while (!cell.empty()) {
    const size_t end = cell.find('\n');
    std::string_view line = cell.substr(0, end);
    cell.remove_prefix(end == std::string_view::npos ? cell.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++number;
    if (!block && line == ":{") {
      block = true;
      pieces.push_back({"", number + 1, false});
      continue;
    }
    if (block && line == ":}") {
      block = false;
      scan = {};
      pieces.push_back({"", number + 1, false});
      continue;
    }
    const bool open = block || scan.in_bracket() || scan.in_comment();
    const bool goes_on = !pieces.empty() && !pieces.back().text.starts_with(':') && (open || IsBlank(line) || Continues(line));
    if (!goes_on && IsBlank(line)) continue;
    if (!goes_on && (pieces.empty() || !pieces.back().text.empty())) pieces.push_back({"", number, false});
    CellInput& piece = pieces.back();
    if (piece.text.empty()) piece.line = number;
    else piece.text += '\n';
    piece.text += line;
    // A command is one line, whatever it holds.
    if (piece.text.starts_with(':')) scan = {};
    else scan.Add(line);
  }
  std::erase_if(pieces, [](const CellInput& piece) { return IsBlank(piece.text); });
  return pieces;
}

ReplInput::Kind KindOf(const std::string& text, bool* is_signature, bool* has_errors) {
  SourceManager sources;
  FileId file = sources.Add("<cell>", text);
  Diagnostics ignored(sources);
  TokenBuffer tokens = Lex(sources, file, ignored);
  ReplInput input = ParseRepl(tokens, ignored);
  *is_signature = input.kind == ReplInput::Kind::Expression && !input.signature_of.empty();
  *has_errors = ignored.has_errors();
  return input.kind;
}

// Pieces as inputs: definitions that follow each other are one.
std::vector<CellInput> InputsOf(std::string_view cell) {
  std::vector<CellInput> pieces = CellPieces(cell), inputs;
  for (size_t i = 0; i < pieces.size(); ++i) {
    CellInput& piece = pieces[i];
    bool is_signature = false, has_errors = false;
    const ReplInput::Kind kind = piece.text.starts_with(':') ? ReplInput::Kind::Empty : KindOf(piece.text, &is_signature, &has_errors);
    // An import stands above definitions, and has to be in force when they are read.
    piece.definitions = kind == ReplInput::Kind::Declarations && !has_errors && !piece.text.starts_with("import ");
    // `name :: type` is a signature where a definition follows.
    if (is_signature && i + 1 < pieces.size() && !pieces[i + 1].text.starts_with(':')) {
      bool next_is_signature = false, next_has_errors = false;
      const ReplInput::Kind next = KindOf(pieces[i + 1].text, &next_is_signature, &next_has_errors);
      piece.definitions = next_is_signature || (next == ReplInput::Kind::Declarations && !next_has_errors);
    }
    if (piece.definitions && !inputs.empty() && inputs.back().definitions) {
      const size_t lines = static_cast<size_t>(std::count(inputs.back().text.begin(), inputs.back().text.end(), '\n')) + 1;
      inputs.back().text.append(piece.line - inputs.back().line - lines + 1, '\n') += piece.text;
    } else if (kind != ReplInput::Kind::Empty || piece.text.starts_with(':')) {
      inputs.push_back(std::move(piece));
    }
  }
  return inputs;
}

// Reads nothing: what a cell holds is handled without it.
class NoEditor : public LineEditor {
 public:
  Got Read(std::string_view, std::string&) override { return Got::End; }
  bool interactive() const override { return false; }
};

}  // namespace

std::unique_ptr<LineEditor> MakeNoEditor() { return std::make_unique<NoEditor>(); }

// Runs the inputs of a cell, up to the first that fails.
void Repl::HandleCell(std::string_view cell, const std::string& name) {
  source_name_ = name;
  code_ = ExitCode::Fine;
  for (const CellInput& input : InputsOf(cell)) {
    if (code_ != ExitCode::Fine || quit_ || TerminationRequested()) break;
    first_line_ = input.line;
    if (input.text.size() > LineEditor::kMaxInput) {
      std::string text;
      Take(text, input.text);
      quit_ = false;
      break;
    }
    Handle(input.text);
    console_.out().flush();
  }
}

// Whether a cell is all of what its writer may have meant.
static std::string_view Completeness(std::string_view cell) {
  const std::vector<CellInput> inputs = InputsOf(cell);
  if (inputs.empty()) return "complete";
  const CellInput& last = inputs.back();
  if (last.text.starts_with(':')) return "complete";
  bool is_signature = false, has_errors = false;
  const ReplInput::Kind kind = KindOf(last.text, &is_signature, &has_errors);
  if (kind == ReplInput::Kind::Incomplete) return "incomplete";
  if (kind == ReplInput::Kind::Error || has_errors) return "invalid";
  // A block goes on until a blank line says that it does not.
  const bool blank_end = cell.ends_with("\n") || cell.ends_with("\n ");
  return last.text.find('\n') != std::string::npos && !blank_end ? "incomplete" : "complete";
}

ExitCode Repl::RunProtocol() {
  Reset();
  if (!options_.file.empty()) {
    BeginBudget();
    Load(options_.file);
    EndBudget();
  }
  if (interrupts_.interrupted()) return ExitCode::Interrupted;
  protocol_->Tell("ready", llvm::json::Object{{"version", DFC_VERSION}, {"protocol", 1}});
  while (!quit_) {
    std::optional<llvm::json::Object> request = protocol_->Next(&TerminationRequested, [this] { interrupts_.Clear(); });
    if (!request) break;
    Answer(*request);
    console_.out().flush();
  }
  return TerminationRequested() ? ExitCode::Interrupted : ExitCode::Fine;
}

void Repl::Answer(const llvm::json::Object& request) {
  auto text_of = [&](const char* key) { return request.getString(key).value_or("").str(); };
  const std::string what = text_of("do");
  llvm::json::Object done{{"ok", true}};
  if (what == "execute") {
    const std::string name = text_of("name");
    HandleCell(text_of("code"), name.empty() ? "<repl>" : name);
    interrupts_.Clear();
    done["ok"] = code_ == ExitCode::Fine;
    done["code"] = static_cast<int>(code_);
    if (quit_) done["quit"] = true;
  } else if (what == "complete") {
    done["complete"] = std::string(Completeness(text_of("code")));
  } else if (what == "words") {
    const std::string before = text_of("before");
    const std::string_view line = std::string_view(before).substr(before.rfind('\n') + 1);
    llvm::json::Array words;
    for (const std::string& word : Completions(line)) words.push_back(llvm::json::fixUTF8(word));
    done["words"] = std::move(words);
  } else if (what == "info") {
    done["text"] = llvm::json::fixUTF8(InfoText(text_of("name")));
  } else if (what == "quit") {
    quit_ = true;
  } else {
    done["ok"] = false;
    done["message"] = llvm::json::fixUTF8(fmt::format("there is no request `{}`: execute, complete, words, info, input and quit are", what));
  }
  protocol_->Tell("done", std::move(done));
}

}  // namespace df
