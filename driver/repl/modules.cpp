// `:module`, as GHCi has it: what is imported at the prompt, and `:set -X`, what every input and file is read with.
#include "driver/repl/repl.h"

namespace df {

void Repl::Module(std::string_view argument) {
  char sign = argument.empty() ? ' ' : argument.front();
  if (sign == '+' || sign == '-') argument.remove_prefix(1);
  std::vector<std::string> names;
  for (argument = Trim(argument); !argument.empty();) {
    std::string_view name = argument.substr(0, argument.find_first_of(" \t"));
    argument = Trim(argument.substr(name.size()));
    if (name.starts_with('*')) name.remove_prefix(1);  // all of a module is there at the prompt
    names.emplace_back(name);
  }
  CheckSession& session = pipeline_->session;
  if (sign == '-') {
    for (const std::string& name : names)
      if (!session.RemoveImport(Intern(name))) pipeline_->diags.Report(Diag::NotImported, {}, name);
    return;
  }
  if (sign != '+')
    for (Symbol module : session.PromptImports())
      if (Text(module) != "Prelude") session.RemoveImport(module);
  std::string imports;
  for (const std::string& name : names) imports += "import " + name + '\n';
  if (imports.empty()) return;
  if (std::optional<ReplInput> input = ParseInput(imports); input && input->kind == ReplInput::Kind::Declarations) Define(input->ast);
}

void Repl::SetExtension(std::string_view name) {
  if (pipeline_->AddExtension(name)) extensions_.emplace_back(name);
}

}  // namespace df
