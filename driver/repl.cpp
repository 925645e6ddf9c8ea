#include "driver/repl.h"

#include <algorithm>

#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/crash.h"
#include "driver/evaluate.h"

namespace df {
namespace {

constexpr const char* kSourceName = "<repl>";
constexpr std::string_view kIt = "it";
constexpr std::string_view kResultPrefix = "it'";

}  // namespace

std::string_view Repl::Trim(std::string_view text) {
  auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

Repl::Repl(const Options& options, Console& console) : options_(options), console_(console) {
  editor_ = MakeLineEditor([this](std::string_view before) { return Completions(before); });
}

ExitCode Repl::Run() {
  if (editor_->interactive()) console_.out() << "dfc " << DFC_VERSION << "; `:help` lists the commands\n";
  Reset();
  if (!options_.file.empty()) Load(options_.file);
  std::string text;
  while (!quit_) {
    console_.out().flush();
    console_.err().flush();
    bool more = ReadInput(text);
    if (more && !text.empty() && !TerminationRequested()) {
      interrupts_.Clear();
      Handle(text);
    }
    if (TerminationRequested()) return ExitCode::Interrupted;
    if (!more) break;
  }
  // What failed matters to a script, not to a person who went on.
  return editor_->interactive() ? ExitCode::Fine : code_;
}

// ---------------------------------------------------------------- reading

bool Repl::ReadInput(std::string& text) {
  text.clear();
  std::string line;
  for (;;) {
    LineEditor::Got got = editor_->Read(text.empty() ? "dfc> " : "...> ", line);
    if (got == LineEditor::Got::Interrupted) {
      interrupts_.Clear();
      text.clear();
      return true;
    }
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
    if (!text.empty()) text += '\n';
    text += line;
    if (editor_->NextLineIsIndented()) continue;

    // Whether more is needed is asked of the parser, whose complaints do not count yet.
    SourceManager sources;
    FileId file = sources.Add(kSourceName, text);
    Diagnostics ignored(sources);
    TokenBuffer tokens = Lex(sources, file, ignored);
    ReplInput input = ParseRepl(tokens, ignored);
    if (input.kind == ReplInput::Kind::Incomplete) continue;
    // A person ends a block that goes over several lines with a blank one.
    bool several_lines = text.find('\n') != std::string::npos;
    if (input.open_block && several_lines && editor_->interactive()) continue;
    break;
  }
  editor_->Remember(text);
  return true;
}

bool Repl::ReadBlock(std::string& text) {
  std::string line;
  for (;;) {
    LineEditor::Got got = editor_->Read("...| ", line);
    if (got == LineEditor::Got::Interrupted) {
      interrupts_.Clear();
      text.clear();
      return true;
    }
    if (got == LineEditor::Got::End || Trim(line) == ":}") return true;
    text += line;
    text += '\n';
  }
}

std::vector<std::string> Repl::Completions(std::string_view before) const {
  std::vector<std::string> words;
  size_t start = before.size();
  while (start > 0 && (std::isalnum(static_cast<unsigned char>(before[start - 1])) || before[start - 1] == '_' ||
                       before[start - 1] == '\''))
    --start;
  std::string_view word = before.substr(start);
  if (start == 1 && before.front() == ':') {
    for (const CommandRow& row : Commands())
      if (std::string_view(row.name).starts_with(word)) words.emplace_back(row.name);
  } else if (!word.empty()) {
    for (std::string_view name : pipeline_->session.Names())
      if (name.starts_with(word) && !name.starts_with(kResultPrefix)) words.emplace_back(name);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// ---------------------------------------------------------------- inputs

void Repl::Handle(const std::string& text) {
  try {
    if (text.front() == ':') {
      HandleCommand(text);
    } else if (std::optional<ReplInput> input = ParseInput(text)) {
      if (input->kind == ReplInput::Kind::Expression) Evaluate(input->ast);
      else if (input->kind == ReplInput::Kind::Declarations) Define(input->ast);
    }
  } catch (const std::bad_alloc&) {
    console_.Error("out of memory");
    Fail(ExitCode::Limit);
  } catch (const std::exception& fault) {
    console_.Error(InternalErrorText(PassScope::Current(), fault.what()));
    Fail(ExitCode::Internal);
  }
  Flush();
}

std::optional<ReplInput> Repl::ParseInput(const std::string& text) {
  PassScope pass("parse");
  TokenBuffer tokens = pipeline_->Tokens(kSourceName, text);
  ReplInput input = ParseRepl(tokens, pipeline_->diags);
  if (input.kind == ReplInput::Kind::Incomplete && !pipeline_->diags.has_errors())
    pipeline_->diags.Report(Diag::InputEnds, tokens.tokens.back().span);
  if (pipeline_->diags.has_errors()) return std::nullopt;
  return input;
}

void Repl::Define(ast::Ast& ast) {
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  pipeline_->Check(ast, check);
}

// `it` in an expression is the value before; so an expression is defined under a name of its own first, and `it`
// becomes another name for that.
void Repl::Evaluate(ast::Ast& ast) {
  Symbol name = Intern(fmt::format("{}{}", kResultPrefix, ++results_));
  llvm::cast<ast::FunctionDecl>(ast.module.decls.back())->name.text = name;
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  check.entry = name;
  if (!pipeline_->Check(ast, check)) return;
  core::VarId result = pipeline_->DefinitionNamed(Text(name));
  std::optional<fg::Program> functions = pipeline_->Functions(result, std::string(kIt), options_.lower);
  if (!functions) return;
  for (ir::Pos& pos : functions->positions)  // in call paths it is what the user calls it
    if (pos.function == Text(name)) pos.function = kIt;
  ir::Graph graph = pipeline_->Graph(*functions, options_.lower);
  Flush();
  Bind(Intern(kIt), name);
  ExitCode code = df::Evaluate(graph, {}, options_, interrupts_.flag(), console_);
  if (code != ExitCode::Fine) Fail(code);
}

void Repl::Bind(Symbol name, Symbol to) {
  ast::Ast ast;
  Span span;
  span.file = pipeline_->sources.Add(kSourceName, fmt::format("{} = {}", Text(name), Text(to)));
  ast.file = span.file;
  ast::Expr* value = ast.New<ast::VarExpr>(span, ast::Name{to, {}, span});
  ast::GuardedExpr guarded = {{}, value, span};
  ast::Rhs rhs = {ast.Copy<ast::GuardedExpr>(guarded), {}, span};
  ast::Clause clause = {{}, rhs, span};
  ast::Decl* decl =
      ast.New<ast::FunctionDecl>(span, ast::Name{name, {}, span}, ast.Copy<ast::Clause>(clause));
  ast.module.decls = ast.Copy<ast::Decl*>(decl);
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  check.entry = to;  // `name` is not printed
  pipeline_->Check(ast, check);
}

void Repl::Reset() {
  pipeline_ = std::make_unique<Pipeline>();
  results_ = 0;
  ast::Ast nothing;  // loads the Prelude, so that a fault in it shows here
  nothing.file = pipeline_->sources.Add(kSourceName, "");
  Define(nothing);
}

void Repl::Flush() {
  if (pipeline_->diags.has_errors()) Fail(ExitCode::Failed);
  console_.Show(pipeline_->diags);
  pipeline_->diags.Clear();
}

void Repl::Fail(ExitCode code) {
  if (code_ == ExitCode::Fine || code_ == ExitCode::Failed) code_ = code;
}

ExitCode ReplCommand(const Options& options, Console& console) { return Repl(options, console).Run(); }

}  // namespace df
