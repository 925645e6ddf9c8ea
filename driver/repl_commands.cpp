// The commands of the REPL, `:help` and its kin. One more command is one more row in Commands() and its function.
#include <algorithm>

#include "driver/compile.h"
#include "driver/files.h"
#include "driver/repl.h"
#include "tagged_ir/text.h"

namespace df {

llvm::ArrayRef<Repl::CommandRow> Repl::Commands() {
  static constexpr CommandRow kCommands[] = {
      {"type", "EXPRESSION", "its type", &Repl::Type},
      {"load", "FILE", "forget everything and load a file", &Repl::Load},
      {"reload", "", "load the file again", &Repl::Reload},
      {"graph", "[NAME]", "the tagged graph of a function, or of the last expression", &Repl::Graph},
      {"engine", "[NAME]", "which engine runs graphs: tagged or reference", &Repl::Engine},
      {"set", "[NAME VALUE]", "settings: engine, timeout, max-memory, max-frames, stats, trace", &Repl::Set},
      {"help", "", "this list", &Repl::Help},
      {"quit", "", "leave (also Ctrl-D)", &Repl::Quit},
  };
  return kCommands;
}

void Repl::HandleCommand(std::string_view text) {
  std::string_view word = text.substr(1, text.find_first_of(" \t\n") - 1);
  if (text.find_first_of(" \t\n") == std::string_view::npos) word = text.substr(1);
  std::string_view argument = Trim(text.substr(1 + word.size()));
  if (word == "?") word = "help";
  // No two begin with the same letter, so one is enough.
  auto commands = Commands();
  auto found = std::find_if(commands.begin(), commands.end(), [&](const CommandRow& row) {
    return !word.empty() && std::string_view(row.name).starts_with(word);
  });
  if (found != commands.end()) (this->*found->run)(argument);
  else pipeline_->diags.Report(Diag::UnknownCommand, {}, fmt::format(":{}", word)).Hint("`:help` lists the commands");
}

void Repl::Type(std::string_view argument) {
  if (std::string known = pipeline_->session.TypeOf(Intern(argument)); !known.empty()) {
    console_.out() << known << '\n';
    return;
  }
  std::optional<ReplInput> input = ParseInput(std::string(argument));
  if (!input) return;
  if (input->kind != ReplInput::Kind::Expression) {
    pipeline_->diags.Report(Diag::WantsExpression, {});
    return;
  }
  std::string type = pipeline_->TypeOfExpression(input->ast);
  if (!type.empty()) console_.out() << argument << " :: " << type << '\n';
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
  if (functions) ir::Print(pipeline_->Graph(*functions, options_.lower), console_.out(), {});
}

void Repl::Engine(std::string_view argument) {
  if (!argument.empty() && !ParseEngine(argument, options_.engine))
    pipeline_->diags.Report(Diag::BadSetting, {}, argument, "engine").Hint("`reference` or `tagged`");
  else
    console_.out() << EngineName(options_.engine) << '\n';
}

void Repl::Set(std::string_view argument) {
  size_t space = argument.find_first_of(" \t=");
  std::string_view name = argument.substr(0, space);
  std::string_view value = space == std::string_view::npos ? "" : Trim(argument.substr(space + 1));
  auto on_off = [&](bool& flag) {
    if (value != "on" && value != "off") return false;
    flag = value == "on";
    return true;
  };
  bool off = value == "off";
  uint64_t number = 0;
  bool ok = false;
  if (argument.empty()) {
    auto& out = console_.out();
    auto limit = [](uint64_t n) { return n ? fmt::format("{}", n) : std::string("off"); };
    out << "engine      " << EngineName(options_.engine) << '\n';
    out << "timeout     "
        << (options_.timeout.count() ? fmt::format("{}ms", options_.timeout.count()) : std::string("off")) << '\n';
    out << "max-memory  " << limit(options_.max_memory) << '\n';
    out << "max-frames  " << limit(options_.max_frames) << '\n';
    out << "stats       " << (options_.stats ? "on" : "off") << '\n';
    out << "trace       " << (options_.trace ? "on" : "off") << '\n';
    return;
  }
  if (name == "engine") {
    ok = ParseEngine(value, options_.engine);
  } else if (name == "timeout") {
    ok = off || ParseDuration(value, options_.timeout);
    if (off) options_.timeout = {};
  } else if (name == "max-memory" || name == "max-frames") {
    ok = off || ParseBytes(value, number);
    if (ok) (name == "max-memory" ? options_.max_memory : options_.max_frames) = number;
  } else if (name == "stats") {
    ok = on_off(options_.stats);
  } else if (name == "trace") {
    ok = on_off(options_.trace);
    if (ok && options_.trace && options_.engine == EngineKind::Tagged) options_.engine = EngineKind::Reference;
  }
  if (!ok) pipeline_->diags.Report(Diag::BadSetting, {}, value, name).Hint("`:set` lists the settings");
}

void Repl::Help(std::string_view) {
  auto& out = console_.out();
  out << "an expression is evaluated, and is then called `it`; a definition is kept\n"
         "input goes on over several lines while something is open; `:{` and `:}` enclose a block\n";
  for (const CommandRow& row : Commands())
    out << fmt::format("  :{:<8} {:<13} {}\n", row.name, row.argument, row.help);
  out << "a command may be shortened, to its first letter if you like\n";
}

void Repl::Quit(std::string_view) { quit_ = true; }

}  // namespace df
