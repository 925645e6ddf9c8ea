#include "driver/repl/repl.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/evaluate.h"
#include "driver/repl/protocol.h"
#include "driver/system/crash.h"
#include "driver/system/deep_stack.h"
#include "driver/system/files.h"
#include "driver/system/signals.h"
#include "runtime/base/memory.h"
#include "runtime/run/limits.h"
#include "stdlib/stdlib.h"

namespace df {
namespace {

constexpr const char* kSourceName = "<repl>";

// Whether an input begins as no input does, but a further line of one.
bool GoesOn(std::string_view text) {
  std::string_view start = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
  for (std::string_view word : {"|", "=", "where", "then", "else", "of", "deriving", "in"})
    if (start.starts_with(word) && (start.size() == word.size() || start[word.size()] == ' ' || start[word.size()] == '(')) return true;
  return text.front() == ' ' || text.front() == '\t';
}

}  // namespace

std::string_view Repl::Trim(std::string_view text) {
  auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

Repl::Repl(const Options& options, Console& console) : options_(options), console_(console) {
  if (!options_.protocol) {
    editor_ = MakeLineEditor([this](std::string_view before) { return Completions(before); });
    return;
  }
  editor_ = MakeNoEditor();
  protocol_ = std::make_unique<Protocol>();
  console_.TellTo(protocol_.get());
}

Repl::~Repl() {
  if (protocol_) console_.TellTo(nullptr);
}

ExitCode Repl::Run() {
  if (protocol_) return RunProtocol();
  if (editor_->interactive()) console_.out() << "dfc " << DFC_VERSION << "; `:help` lists the commands\n";
  Reset();
  if (!options_.file.empty()) {
    BeginBudget();
    Load(options_.file);
    EndBudget();
  }
  // Of a program that talks to the prompt: what it interrupts before the prompt is there is the start, as of any program.
  if (!editor_->interactive() && interrupts_.interrupted()) return ExitCode::Interrupted;
  std::string text;
  while (!quit_) {
    console_.out().flush();
    console_.err().flush();
    bool more = ReadInput(text);
    if (interrupts_.interrupted()) DropInput(text);  // while it was looked at
    if (more && !text.empty() && !TerminationRequested()) Handle(text);
    if (TerminationRequested()) return ExitCode::Interrupted;
    if (!more) break;
  }
  // What failed matters to a script, not to a person who went on.
  return editor_->interactive() ? ExitCode::Fine : code_;
}

// ---------------------------------------------------------------- completion

std::vector<std::string> Repl::Completions(std::string_view before) const {
  std::vector<std::string> words;
  size_t start = before.size();
  while (start > 0 && (std::isalnum(static_cast<unsigned char>(before[start - 1])) || before[start - 1] == '_' ||
                       before[start - 1] == '\''))
    --start;
  std::string_view word = before.substr(start);
  const CommandRow* command = nullptr;
  if (size_t space = before.find(' '); before.starts_with(':') && space != std::string_view::npos)
    command = CommandNamed(before.substr(1, space - 1));
  if (start == 1 && before.front() == ':') {
    for (const CommandRow& row : Commands())
      if (std::string_view(row.name).starts_with(word)) words.emplace_back(row.name);
  } else if (command && command->run == &Repl::Load) {
    return FileCompletions(Trim(before.substr(before.find(' '))));
  } else if (command && (command->run == &Repl::Set || command->run == &Repl::Unset)) {
    for (const Setting& setting : Settings())
      if (std::string_view(setting.name).starts_with(word)) words.emplace_back(setting.name);
  } else if ((command && command->run == &Repl::Browse) || before.starts_with("import ")) {
    word = before.substr(before.rfind(' ') + 1);
    for (const LibraryModule& module : LibraryModules())
      if (module.name.starts_with(word) && !module.name.starts_with("Prelude.")) words.emplace_back(module.name);
  } else if (!word.empty()) {
    for (std::string_view name : pipeline_->session.Names())
      if (name.starts_with(word) && !name.starts_with(kResultPrefix)) words.emplace_back(name);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// Folders and sources that begin with `word`.
std::vector<std::string> Repl::FileCompletions(std::string_view word) const {
  std::vector<std::string> words;
  size_t slash = word.rfind('/');
  std::string folder(slash == std::string_view::npos ? "" : word.substr(0, slash + 1));
  std::string_view begin = word.substr(folder.size());
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder.empty() ? "." : folder, error), end; !error && it != end;
       it.increment(error)) {
    std::string name = it->path().filename().string();
    std::error_code ignored;
    bool is_folder = it->is_directory(ignored);
    if (!name.starts_with(begin) || (begin.empty() && name.starts_with('.'))) continue;
    if (is_folder || llvm::any_of(kSourceEndings, [&](std::string_view ending) { return name.ends_with(ending); })) words.push_back(folder + name + (is_folder ? "/" : ""));
  }
  std::sort(words.begin(), words.end());
  return words;
}

// ---------------------------------------------------------------- inputs

void Repl::BeginBudget() {
  pipeline_->ClearEnd();
  CompileLimits limits{.timeout = options_.timeout, .max_memory = options_.max_memory, .interrupt = interrupts_.flag()};
  budget_ = std::make_unique<CompileBudget>(limits, [](const std::string& text) { EndNow(text, /*json=*/false, ExitCode::Limit); },
                                            /*patient=*/true);
}

// What a compilation leaves behind that was ended does not count against the next.
std::chrono::milliseconds Repl::EndBudget() {
  if (!budget_) return {};
  std::chrono::milliseconds spent = budget_->spent();
  budget_.reset();
  if (pipeline_->ended() == BudgetEnd::None) return spent;
  Fail(CodeOf(pipeline_->ended(), ExitCode::Failed));
  memory::GiveBackFreed();
  GiveBackDeepStack();
  return spent;
}

void Repl::Handle(const std::string& text) {
  interrupt_told_ = false;
  BeginBudget();
  ReadBoundsScope bounds({options_.max_memory, options_.timeout, interrupts_.flag()});
  try {
    if (text.front() == ':') {
      HandleCommand(text);
    } else if (std::optional<ReplInput> input = ParseInput(text)) {
      if (input->kind == ReplInput::Kind::Expression || input->kind == ReplInput::Kind::Bind)
        Evaluate(input->ast, input->bind);
      else if (input->kind == ReplInput::Kind::Declarations) Define(input->ast);
    }
  } catch (const ReadingStopped& stopped) {
    console_.Error(stopped.what());
    Fail(CodeOf(stopped.stop()));
  } catch (const BudgetExceeded&) {  // outside the pipeline's own steps
    pipeline_->Within([] { throw; });
  } catch (const std::bad_alloc&) {
    console_.Error("out of memory");
    Fail(ExitCode::Limit);
  } catch (const std::exception& fault) {
    console_.Error(InternalErrorText(PassScope::Current(), fault.what()));
    Fail(ExitCode::Internal);
  }
  EndBudget();
  Flush();
  // An interrupt that came when the input was as good as done: it has its answer all the same.
  if (interrupts_.interrupted() && !interrupt_told_) {
    std::string nothing;
    DropInput(nothing);
  }
  interrupts_.Clear();
}

std::optional<ReplInput> Repl::ParseInput(const std::string& text) {
  PassScope pass("parse");
  TokenBuffer tokens = pipeline_->Tokens(source_name_, text, first_line_);
  ReplInput input = ParseRepl(tokens, pipeline_->diags);
  if (input.kind == ReplInput::Kind::Incomplete && !pipeline_->diags.has_errors())
    pipeline_->diags.Report(Diag::InputEnds, tokens.tokens.back().span);
  if (!pipeline_->diags.has_errors()) return input;
  // At a terminal an input ends with the first line that is complete, whatever comes next.
  if (editor_->interactive() && GoesOn(text) && pipeline_->diags.all().back().hint.empty())
    pipeline_->diags.Hint("a line that goes on from the one before is written with it, between `:{` and `:}`");
  return std::nullopt;
}

void Repl::Define(ast::Ast& ast) {
  const FixityTable loose = loose_fixities_;
  AddLooseFixities(ast);
  CheckOptions check;
  check.repl = true;
  check.generalises = true;
  pipeline_->Check(ast, check);
  HintAtSignature(ast);
  if (pipeline_->diags.has_errors()) {
    loose_fixities_ = loose;  // the definition that they are for is still to come
    return;
  }
  WarnOfLostClauses(ast);
  WarnOfOlderMeanings();
}

// `infixl 6 <+>` by itself holds for the definition of `<+>` that follows: it is added to that input, and says nothing of what is
// called `<+>` until then.
void Repl::AddLooseFixities(ast::Ast& ast) {
  std::vector<ast::Name> defined;
  auto define = [&](const ast::Decl* decl) {
    if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) defined.push_back(function->name);
    if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(decl))
      defined.insert(defined.end(), signature->names.begin(), signature->names.end());
    if (const auto* data = llvm::dyn_cast<ast::DataDecl>(decl))
      for (const ast::ConstructorDecl& con : data->constructors) {
        defined.push_back(con.name);
        for (const ast::FieldDecl& field : con.fields)
          if (field.name.text.valid()) defined.push_back(field.name);
      }
  };
  for (const ast::Decl* decl : ast.module.decls) {
    define(decl);
    if (const auto* cls = llvm::dyn_cast<ast::ClassDecl>(decl))
      for (const ast::Decl* member : cls->members) define(member);
  }
  std::vector<ast::Decl*> decls;
  std::vector<Symbol> declared;
  for (ast::Decl* decl : ast.module.decls) {
    const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(decl);
    std::vector<ast::Name> held;
    if (fixity)
      for (const ast::Name& op : fixity->ops) {
        declared.push_back(op.text);
        if (llvm::any_of(defined, [&](const ast::Name& name) { return name.text == op.text; })) held.push_back(op);
        else loose_fixities_[op.text.index] = {fixity->assoc, fixity->precedence};
      }
    if (!fixity || held.size() == fixity->ops.size()) decls.push_back(decl);
    else if (!held.empty()) decls.push_back(ast.New<ast::FixityDecl>(fixity->span, fixity->assoc, fixity->precedence, ast.Copy<ast::Name>(held)));
  }
  for (const ast::Name& name : defined) {
    auto loose = loose_fixities_.find(name.text.index);
    if (loose == loose_fixities_.end() || !name.text.valid()) continue;
    Fixity fixity = loose->second;
    loose_fixities_.erase(loose);
    if (!llvm::is_contained(declared, name.text))
      decls.push_back(ast.New<ast::FixityDecl>(name.span, fixity.assoc, fixity.precedence, ast.Copy<ast::Name>(name)));
  }
  ast.module.decls = ast.Copy<ast::Decl*>(decls);
}

void Repl::WarnOfOlderMeanings() {
  for (CheckSession::Outdated& row : pipeline_->session.TakeOutdated()) {
    auto is_result = [](std::string_view name) { return name == kIt || name.starts_with(kResultPrefix); };
    if (is_result(Text(row.name))) continue;
    row.users.erase(std::remove_if(row.users.begin(), row.users.end(), is_result), row.users.end());
    if (row.users.empty()) continue;
    constexpr size_t kShown = 3;
    bool one = row.users.size() == 1;
    std::string users;
    for (size_t i = 0; i < std::min(kShown, row.users.size()); ++i) {
      bool last = i + 1 == row.users.size();
      users += fmt::format("{}`{}`", i == 0 ? "" : last ? " and " : ", ", row.users[i]);
    }
    if (row.users.size() > kShown) users += fmt::format(" and {} more", row.users.size() - kShown);
    pipeline_->diags.Report(Diag::OlderMeaning, {}, Text(row.name), users,
                            row.is_type ? (one ? "has" : "have") : (one ? "uses" : "use"))
        .Hint(one ? "enter that again to use the new one" : "enter these again to use the new one");
  }
}

// Clauses of one function that are entered one by one replace each other.
void Repl::WarnOfLostClauses(const ast::Ast& ast) {
  auto irrefutable = [](const ast::Pat* pat) {
    while (true) {
      if (const auto* paren = llvm::dyn_cast<ast::ParenPat>(pat)) pat = paren->pat;
      else if (const auto* bang = llvm::dyn_cast<ast::BangPat>(pat)) pat = bang->pat;
      else if (const auto* as = llvm::dyn_cast<ast::AsPat>(pat)) pat = as->pat;
      else break;
    }
    return llvm::isa<ast::VarPat, ast::WildcardPat, ast::LazyPat>(pat);
  };
  std::vector<Symbol> partial;
  for (const ast::Decl* decl : ast.module.decls) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl);
    if (!function || function->clauses[0].params.empty()) continue;
    Symbol name = function->name.text;
    if (std::find(partial_functions_.begin(), partial_functions_.end(), name) != partial_functions_.end())
      pipeline_->diags.Report(Diag::ClausesReplaced, function->name.span, Text(name))
          .Hint("clauses of one function go together, between lines `:{` and `:}`");
    llvm::ArrayRef<ast::Pat*> params = function->clauses.back().params;
    if (!std::all_of(params.begin(), params.end(), irrefutable)) partial.push_back(name);
  }
  partial_functions_ = std::move(partial);
}

// A signature by itself means nothing: at the prompt it reads as an expression with its type.
void Repl::HintAtSignature(const ast::Ast& ast) {
  for (const ast::Decl* decl : ast.module.decls) {
    bool lone = llvm::isa<ast::SignatureDecl>(decl);
    if (const auto* it = llvm::dyn_cast<ast::FunctionDecl>(decl); it && it->name.span == it->clauses[0].span) {
      const auto* typed = llvm::dyn_cast_or_null<ast::TypedExpr>(it->clauses[0].rhs.guarded[0].body);
      const auto* var = typed ? llvm::dyn_cast<ast::VarExpr>(typed->expr) : nullptr;
      lone = var && pipeline_->session.TypeOf(var->name.text).empty();
    }
    const auto& all = pipeline_->diags.all();
    const bool defined = llvm::any_of(ast.module.decls, [&](const ast::Decl* other) { return llvm::isa<ast::FunctionDecl>(other) && other != decl; });
    if (!lone || all.empty() || defined) continue;
    if (all.back().id == Diag::UnboundName || all.back().id == Diag::SignatureWithoutBinding)
      pipeline_->diags.Hint("a signature goes with its definition, in the lines below it");
  }
}

Host::Input Repl::ReadForAction(StandardStreams& streams, std::string& bytes) {
  if (protocol_) {
    console_.out().flush();
    return protocol_->AskForInput([this] { return interrupts_.interrupted(); }, bytes);
  }
  std::string chunk = editor_->TakeLine();
  if (chunk.empty()) {
    Host::Input got = streams.ReadDescriptor(chunk);
    if (got == Host::Input::Failed) bytes = chunk;  // the reason
    if (got != Host::Input::Some) return got;
    // What was pasted with the action came while the editor had the terminal, which makes other ends of lines.
    if (editor_->interactive()) std::replace(chunk.begin(), chunk.end(), '\r', '\n');
    // What follows the line may be meant for the prompt.
    if (size_t end = chunk.find('\n'); end != std::string::npos) {
      editor_->GiveBack(std::string_view(chunk).substr(end + 1));
      chunk.resize(end + 1);
    }
  }
  line_ += static_cast<uint32_t>(std::count(chunk.begin(), chunk.end(), '\n'));
  bytes += chunk;
  return Host::Input::Some;
}

void Repl::Reset() {
  pipeline_ = std::make_unique<Pipeline>();
  pipeline_->LookBeside("-", options_.module_folders);
  for (const std::string& name : extensions_) pipeline_->AddExtension(name);
  results_ = 0;
  history_.Clear();
  loose_fixities_.clear();
  partial_functions_.clear();
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
  if (code == ExitCode::Interrupted) interrupt_told_ = true;
  if (code_ == ExitCode::Fine || code_ == ExitCode::Failed) code_ = code;
}

ExitCode ReplCommand(const Options& options, Console& console) { return Repl(options, console).Run(); }

}  // namespace df
