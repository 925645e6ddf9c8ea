// The commands of the REPL that answer questions about names and types: `:type`, `:info`, `:kind`, `:browse`.
#include "driver/repl/repl.h"
#include "lang/render.h"
#include "stdlib/stdlib.h"
#include "typecheck/explain/usual_module.h"

namespace df {

// `Map.insert` in its two parts, but not the operator `.` or `Foo..`
static std::pair<Symbol, Symbol> SplitQualified(std::string_view name) {
  size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size() || !std::isalnum(static_cast<unsigned char>(name[dot - 1])))
    return {Symbol(), Intern(name)};
  return {Intern(name.substr(0, dot)), Intern(name.substr(dot + 1))};
}

void Repl::Type(std::string_view argument) {
  std::string_view word = argument;
  if (word.size() > 2 && word.front() == '(' && word.back() == ')' && std::ispunct(static_cast<unsigned char>(word[word.size() - 2])))
    word = word.substr(1, word.size() - 2);  // `(M.!)`
  auto [qualifier, name] = SplitQualified(word);
  if (std::string known = pipeline_->session.TypeOf(name, qualifier); !known.empty()) {
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

// The name itself of an operator in parentheses, or a function between backticks.
static std::string_view PlainName(std::string_view name) {
  const bool brackets = name.size() > 2 && ((name.front() == '(' && name.back() == ')' && name[1] != ',') || (name.front() == '`' && name.back() == '`'));
  return brackets ? name.substr(1, name.size() - 2) : name;
}

std::string Repl::InfoText(std::string_view word) const {
  auto [qualifier, symbol] = SplitQualified(PlainName(word));
  return word.empty() ? std::string() : pipeline_->session.Info(symbol, qualifier, pipeline_->sources);
}

// Every name by itself; operators with or without parentheses, names with or without a qualifier.
void Repl::Info(std::string_view argument) {
  while (!argument.empty()) {
    size_t blank = argument.find_first_of(" \t\n");
    std::string_view word = argument.substr(0, blank);
    argument = blank == std::string_view::npos ? "" : Trim(argument.substr(blank));
    const std::string_view name = PlainName(word);
    auto [qualifier, symbol] = SplitQualified(name);
    if (std::string text = InfoText(word); !text.empty()) {
      console_.out() << text;
      continue;
    }
    Diagnostics& diag = pipeline_->diags.Report(Diag::UnknownName, {}, word);
    // `:info sort`, `:info Data.List.sort`
    const auto modules = LibraryModules();
    if (std::string_view usual = qualifier.valid() ? std::string_view() : check::UsualModule(name, Diag::UnboundName); !usual.empty()) {
      diag.Hint(fmt::format("the module `{0}` has it: enter `import {0}`", usual));
      continue;
    }
    if (qualifier.valid() && std::any_of(modules.begin(), modules.end(), [&](const auto& module) { return module.name == Text(qualifier); })) {
      diag.Hint(fmt::format("enter `import qualified {}`", Text(qualifier)));
      continue;
    }
    std::string_view near = NearestName(word, pipeline_->session.Names());
    if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
  }
}

void Repl::Kind(std::string_view argument) {
  std::string kind = pipeline_->session.KindOfName(Intern(argument));
  if (kind.empty()) {
    ast::Ast ast;
    {
      PassScope pass("parse");
      ast = ParseReplType(pipeline_->Tokens("<repl>", std::string(argument), first_line_), pipeline_->diags);
    }
    if (!pipeline_->diags.has_errors()) kind = pipeline_->session.KindOfType(ast, pipeline_->diags);
  }
  if (!kind.empty()) console_.out() << argument << " :: " << kind << '\n';
}

void Repl::Browse(std::string_view argument) {
  if (!argument.empty() && !pipeline_->LoadLibraryModule(argument) && !pipeline_->session.Browse(Intern(argument))) {
    Diagnostics& diag = pipeline_->diags.Report(Diag::UnknownModule, {}, argument);
    std::vector<std::string_view> names;
    for (const LibraryModule& module : LibraryModules()) names.push_back(module.name);
    std::string_view near = NearestName(argument, names);
    if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
    return;
  }
  std::optional<std::string> text = pipeline_->session.Browse(argument.empty() ? Symbol() : Intern(argument));
  if (text) console_.out() << *text;
}

}  // namespace df
