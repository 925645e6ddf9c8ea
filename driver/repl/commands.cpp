// The commands of the REPL, `:help` and its kin. One more command is one more row in Commands() and its function.
#include "driver/compile.h"
#include "driver/repl/protocol.h"
#include "driver/repl/repl.h"
#include "driver/system/files.h"
#include "lang/render.h"
#include "tagged_ir/text.h"

namespace df {

llvm::ArrayRef<Repl::CommandRow> Repl::Commands() {
  // No two begin with the same letter, so that one is enough.
  static constexpr CommandRow kCommands[] = {
      {"type", "EXPRESSION", "its type", &Repl::Type},
      {"info", "NAME ..", "its type or declaration, place, fixity and instances", &Repl::Info},
      {"kind", "TYPE", "its kind", &Repl::Kind},
      {"browse", "[MODULE]", "what a library module offers, or what is defined here", &Repl::Browse},
      {"load", "[FILE]", "forget everything and load a file", &Repl::Load},
      {"reload", "", "load the file again", &Repl::Reload},
      {"module", "[+|-] MODULE ..", "import modules, or take imports back; without a sign these alone", &Repl::Module},
      {"graph", "[NAME]", "the tagged graph of a function, or of the last expression", &Repl::Graph},
      {"plot", "EXPRESSION", "its value as JSON, an element a line of a list; a notebook draws it", &Repl::Plot},
      {"engine", "[NAME]", "which engine runs graphs: tagged, reference, demand or expanding", &Repl::Engine},
      {"set", "[NAME VALUE]", "change a setting, or list them", &Repl::Set},
      {"unset", "NAME ..", "put settings back", &Repl::Unset},
      {"help", "", "this list", &Repl::Help},
      {"quit", "", "leave (also Ctrl-D)", &Repl::Quit},
  };
  return kCommands;
}

const Repl::CommandRow* Repl::CommandNamed(std::string_view word) {
  if (word == "?") word = "help";
  for (const CommandRow& row : Commands())
    if (!word.empty() && std::string_view(row.name).starts_with(word)) return &row;
  return nullptr;
}

// What GHCi has under another name, and this session does otherwise.
static std::string_view GhciCommand(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"add", "`:load FILE` loads a file"},
      {"show", "`:browse` lists what is defined here, `:set` the settings"},
      {"main", "`main` by itself runs it"},
      {"edit", "after a change elsewhere `:reload` loads the file again"},
      {"cd", "`:load` takes a path"},
      {"doc", "`:info NAME` tells of a name"},
      {"print", "an expression by itself is evaluated and printed"},
      {"run", "an action by itself is done"},
      {"instances", "`:info TYPE` lists its instances"},
  };
  for (const auto& [name, hint] : kOthers)
    if (word == name) return hint;
  if (word.starts_with("!")) return "commands of the shell are not run from here";
  return {};
}

void Repl::HandleCommand(std::string_view text) {
  size_t blank = text.find_first_of(" \t\n");
  std::string_view word = text.substr(1, blank == std::string_view::npos ? blank : blank - 1);
  std::string_view argument = Trim(text.substr(1 + word.size()));
  const CommandRow* command = CommandNamed(word);
  if (!command) {
    Diagnostics& diag = pipeline_->diags.Report(Diag::UnknownCommand, {}, fmt::format(":{}", word));
    if (std::string_view hint = GhciCommand(word); !hint.empty()) return void(diag.Hint(std::string(hint)));
    std::vector<std::string_view> names;
    for (const CommandRow& row : Commands()) names.push_back(row.name);
    std::string_view near = NearestName(word, names);
    if (near.empty()) diag.Hint("`:help` lists the commands");
    else diag.Hint(fmt::format("did you mean `:{}`?", near));
    return;
  }
  std::string_view wants = command->argument;
  if (wants.empty() && !argument.empty())
    pipeline_->diags.Report(Diag::CommandArgument, {}, command->name, "takes no argument");
  else if (!wants.empty() && wants[0] != '[' && argument.empty())
    pipeline_->diags.Report(Diag::CommandArgument, {}, command->name, fmt::format("wants an argument: {}", wants));
  else
    (this->*command->run)(argument);
}

void Repl::Load(std::string_view argument) {
  if (argument.empty()) {
    Reload(argument);
    return;
  }
  // Read first: a misspelt name must not cost what was defined so far.
  std::string name(argument);
  if (std::optional<std::string> text = ReadFile(name, kMaxSourceBytes, pipeline_->diags)) {
    Reset();
    loaded_ = name;
    pipeline_->LookBeside(loaded_, options_.module_folders);
    std::optional<ast::Ast> ast = pipeline_->Syntax(pipeline_->Tokens(DisplayName(loaded_), std::move(*text)));
    CheckOptions check;
    check.repl = true;
    if (ast && pipeline_->Check(*ast, check) && editor_->interactive())
      console_.out() << "loaded " << loaded_ << '\n';
  }
  Flush();
}

void Repl::Reload(std::string_view) {
  if (loaded_.empty()) pipeline_->diags.Report(Diag::NothingLoaded, {}).Hint("`:load FILE` loads one");
  else Load(std::string(loaded_));
}

void Repl::Graph(std::string_view argument) {
  std::string name(argument.empty() ? std::string_view("it") : argument);
  core::VarId var = pipeline_->DefinitionNamed(name);
  if (!var.valid()) {
    pipeline_->diags.Report(Diag::NoSuchFunction, {}, name);
    return;
  }
  std::optional<fg::Program> functions = pipeline_->Functions(var, name, options_.lower);
  if (!functions) return;
  std::optional<ir::Graph> graph = pipeline_->Graph(*functions, options_.lower);
  if (!graph) return;
  if (!protocol_) return ir::Print(*graph, console_.out(), {});
  std::string text, dot;
  llvm::raw_string_ostream text_out(text), dot_out(dot);
  ir::Print(*graph, text_out, {});
  ir::PrintDot(*graph, dot_out, {});
  protocol_->Tell("picture", llvm::json::Object{{"format", "dot"}, {"title", name}, {"dot", llvm::json::fixUTF8(dot_out.str())}, {"text", llvm::json::fixUTF8(text_out.str())}});
}

void Repl::Help(std::string_view) {
  auto& out = console_.out();
  out << "an expression is evaluated, and is then called `it`; a definition is kept\n"
         "input goes on over several lines while something is open; `:{` and `:}` enclose a block\n";
  for (const CommandRow& row : Commands())
    out << fmt::format("  :{:<8} {:<15} {}\n", row.name, row.argument, row.help);
  out << "a command may be shortened, to its first letter if you like\n";
}

void Repl::Quit(std::string_view) { quit_ = true; }

}  // namespace df
