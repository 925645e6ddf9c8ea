// `:plot`: a value as JSON, which a notebook draws.
#include "driver/evaluate.h"
#include "driver/repl/protocol.h"
#include "driver/repl/repl.h"
#include "driver/system/files.h"
#include "driver/system/temporary_folder.h"

namespace df {

// The value is not shown: it is taken apart, as for `--output @FILE.json`.
std::optional<std::string> Repl::JsonOf(ast::Ast& ast) {
  Symbol name = Intern(fmt::format("it'{}", ++results_));
  auto* definition = llvm::cast<ast::FunctionDecl>(ast.module.decls.back());
  definition->name.text = name;
  CheckOptions check;
  check.repl = true;
  check.entry = name;
  check.shows_entry = false;
  if (!pipeline_->Check(ast, check)) return std::nullopt;
  LowerOptions lower = options_.lower;
  lower.own_show = false;
  core::VarId value = pipeline_->DefinitionNamed(Text(name));
  if (!history_.NeedsOf(pipeline_->session.program, value).empty()) {
    pipeline_->diags.Report(Diag::NoParts, {}, "plot", "the value was read from a reference or an array: only an action can look there");
    return std::nullopt;
  }
  std::optional<fg::Program> functions = pipeline_->Functions(value, "it", lower);
  if (!functions) return std::nullopt;
  for (ir::Pos& pos : functions->positions)
    if (pos.function == Text(name)) pos.function = "it";
  std::optional<ir::Graph> graph = pipeline_->Graph(*functions, lower);
  if (!graph) return std::nullopt;
  const TemporaryFolder folder("plot");
  if (graph->action || folder.path().empty()) {
    pipeline_->diags.Report(Diag::NoParts, {}, "plot", graph->action ? "an action has no value" : "there is no place for temporary files");
    return std::nullopt;
  }
  const std::chrono::milliseconds spent = EndBudget();
  Flush();
  Options options = options_;
  options.outputs = {{"", folder.path() + "/value.json"}};
  RunContext context;
  context.spent = spent;
  if (ExitCode code = df::Evaluate(*graph, {}, options, interrupts_.flag(), console_, context); code != ExitCode::Fine) {
    Fail(code);
    return std::nullopt;
  }
  return ReadFile(options.outputs[0].file, kMaxSourceBytes, pipeline_->diags);
}

void Repl::Plot(std::string_view argument) {
  std::optional<ReplInput> input = ParseInput(std::string(argument));
  if (!input) return;
  if (input->kind != ReplInput::Kind::Expression) return void(pipeline_->diags.Report(Diag::WantsExpression, {}));
  std::optional<std::string> json = JsonOf(input->ast);
  if (!json) return;
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(*json);
  if (!value) throw InternalError("a value is no JSON: " + llvm::toString(value.takeError()));
  if (protocol_) return protocol_->Tell("picture", llvm::json::Object{{"format", "records"}, {"title", std::string(argument)}, {"value", std::move(*value)}});
  if (const llvm::json::Array* rows = value->getAsArray())
    for (const llvm::json::Value& row : *rows) console_.out() << row << '\n';
  else
    console_.out() << *value << '\n';
}

}  // namespace df
