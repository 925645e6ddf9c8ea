// Expressions and actions: what is made of one, how it runs, and what becomes of its value.
#include <chrono>

#include "driver/commands.h"
#include "driver/evaluate.h"
#include "driver/repl/protocol.h"
#include "driver/repl/repl.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/run/limits.h"

namespace df {

// `it` in an expression is the value before; so an expression is defined under a name of its own first, and `it`
// becomes another name for that.
void Repl::Evaluate(ast::Ast& ast, const ast::BindStmt* bind) {
  Symbol name = Intern(fmt::format("{}{}", kResultPrefix, ++results_));
  auto* definition = llvm::cast<ast::FunctionDecl>(ast.module.decls.back());
  definition->name.text = name;
  CheckOptions check;
  check.repl = true;
  check.entry = name;
  check.entry_is_bound = bind != nullptr;
  auto began = std::chrono::steady_clock::now();
  if (!pipeline_->Check(ast, check)) return HintAtSignature(ast);
  core::VarId result = pipeline_->DefinitionNamed(Text(name));
  std::optional<ir::Graph> graph = GraphOf(result);
  if (!graph) return;
  if (bind && !graph->action) {
    std::string type = pipeline_->session.TypeOf(name);
    pipeline_->diags.Report(Diag::NotAnAction, bind->expr->span, type.substr(type.find(" :: ") + 4))
        .Hint("`let name = value` binds a value");
    return;
  }
  Entered entered{name, definition->name.span, bind, graph->action};
  entered.keeps_value = graph->action && !pipeline_->session.TypeOf(name).ends_with(" IO ()");
  entered.needs = history_.NeedsOf(pipeline_->session.program, result);
  entered.changes = graph->action && history_.MayChange(pipeline_->session.program, entered.needs, *graph);
  entered.has_references = graph->action && (!entered.needs.empty() || (entered.keeps_value && HasStores(*graph)));
  if (!entered.needs.empty() && !(graph = GraphBehind(entered))) return;
  const std::chrono::milliseconds spent = EndBudget();
  Flush();
  Stats stats;
  if (protocol_ && !entered.is_action) protocol_->BeginValue();
  const bool ended = RunGraph(*graph, entered, spent, stats);
  if (protocol_) {
    console_.out().flush();
    std::string text = protocol_->EndValue();
    while (text.ends_with('\n')) text.pop_back();
    std::string type = pipeline_->session.TypeOf(name);
    type.erase(0, std::min(type.find(" :: ") + 4, type.size()));
    if (ended && !text.empty()) protocol_->Tell("result", llvm::json::Object{{"text", text}, {"type", llvm::json::fixUTF8(type)}});
  }
  Keep(entered, ended);
  if (ended && show_type_ && !bind) console_.out() << pipeline_->session.TypeOf(Intern(kIt)) << '\n';
  if (show_time_) {
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    console_.out().flush();
    console_.err() << fmt::format("({:.2f} secs, {} at most)\n", taken.count(), PrintBytes(stats.peak_memory));
  }
}

// In call paths a definition that nobody has written is what the user calls it.
std::optional<ir::Graph> Repl::GraphOf(core::VarId entry) {
  std::optional<fg::Program> functions = pipeline_->Functions(entry, std::string(kIt), options_.lower);
  if (!functions) return std::nullopt;
  for (ir::Pos& pos : functions->positions)
    if (std::string_view(pos.function).starts_with(kResultPrefix)) pos.function = kIt;
  return pipeline_->Graph(*functions, options_.lower);
}

// A definition that nobody has written.
struct Repl::Writer {
  ast::Ast ast;
  Span span;
  Writer(Pipeline& pipeline, std::string text) {
    span.file = pipeline.sources.Add("<repl>", std::move(text));
    ast.file = span.file;
  }
  ast::Name Library(std::string_view name) { return {Intern(name), Intern(ast::kLibraryQualifier), span}; }
  ast::Expr* Var(ast::Name name) { return ast.New<ast::VarExpr>(span, name); }
  ast::Expr* Var(Symbol name) { return Var(ast::Name{name, {}, span}); }
  ast::Expr* Call(std::string_view function, std::initializer_list<ast::Expr*> args) {
    return ast.New<ast::AppExpr>(span, Var(Library(function)), ast.Copy<ast::Expr*>(args));
  }
  ast::Rhs Rhs(ast::Expr* value) { return {ast.Copy<ast::GuardedExpr>(ast::GuardedExpr{{}, value, span}), {}, span}; }
  ast::Decl* Define(Symbol name, ast::Expr* value) {
    ast::Clause clause = {{}, Rhs(value), span};
    return ast.New<ast::FunctionDecl>(span, ast::Name{name, {}, span}, ast.Copy<ast::Clause>(clause));
  }
  // The pattern of `pattern <- action`, or `it`.
  ast::Decl* DefineBound(const ast::BindStmt* bind, ast::Expr* value) {
    const auto* variable = bind ? llvm::dyn_cast<ast::VarPat>(bind->pat) : nullptr;
    if (!bind || variable) return Define(variable ? variable->name : Intern(kIt), value);
    const auto* whole = llvm::dyn_cast<ast::AsPat>(bind->pat);
    return ast.New<ast::PatBindDecl>(span, whole ? whole->pat : bind->pat, Rhs(value));
  }
};

bool Repl::CheckWritten(Writer& writer, ast::Decl* decl, CheckOptions check) {
  writer.ast.module.decls = writer.ast.Copy<ast::Decl*>(decl);
  check.repl = true;
  check.warnings = false;
  return pipeline_->Check(writer.ast, check);
}

// What was entered, behind the actions without which the references that it uses would not be what they are. A value is printed, since only
// an action has steps.
std::optional<ir::Graph> Repl::GraphBehind(Entered& entered) {
  entered.before = history_.Before(entered.needs, entered.is_action);
  Symbol entry = Intern(fmt::format("{}again", Text(entered.name)));
  Writer writer(*pipeline_, std::string(Text(entry)));
  writer.span = entered.place;
  ast::Expr* all = writer.Var(entered.name);
  if (!entered.is_action) all = writer.Call("print", {all});
  for (size_t number : llvm::reverse(entered.before))
    all = writer.Call("primRedo", {writer.Var(history_[number].cell), writer.Var(history_[number].name), all});
  CheckOptions check;
  check.entry = entry;
  check.entry_is_bound = entered.bind != nullptr || !entered.is_action;
  if (!CheckWritten(writer, writer.Define(entry, all), check)) return std::nullopt;
  return GraphOf(pipeline_->DefinitionNamed(Text(entry)));
}

bool Repl::RunGraph(const ir::Graph& graph, Entered& entered, std::chrono::milliseconds spent, Stats& stats) {
  PromptAction prompt;
  prompt.wants_value = entered.keeps_value;
  prompt.keeps_log = entered.has_references;
  for (size_t number : entered.before) prompt.redone.push_back(&history_[number].log);
  prompt.source = [&](StandardStreams& streams, std::string& bytes) { return ReadForAction(streams, bytes); };
  RunContext context;
  context.stats = &stats;
  context.spent = spent;
  context.prompt = &prompt;
  ExitCode code = df::Evaluate(graph, {}, options_, interrupts_.flag(), console_, context);
  editor_->GiveBackRest(prompt.left);
  entered.log = std::move(prompt.log);
  entered.kept = std::move(prompt.kept);
  if (prompt.exited) {
    pipeline_->diags.Report(Diag::ActionExits, entered.place, static_cast<int>(code));
    Flush();  // what the action has done is still to be kept
    return false;
  }
  if (code != ExitCode::Fine) Fail(code);
  return code == ExitCode::Fine;
}

// What failed or was stopped leaves `it` as it was. What it has done to references it has done.
void Repl::Keep(Entered& entered, bool ended) {
  if (!entered.is_action) {
    if (ended) Bind(Intern(kIt), entered.name);
    return;
  }
  if (!entered.has_references) {
    if (ended) BindAnswer(entered.name, entered.log, entered.bind);
    return;
  }
  if (!entered.kept || (!ended && !entered.changes)) return;
  pipeline_->LoadLibraryModule("Prelude.Prompt");
  Symbol cell = Intern(fmt::format("{}cell", Text(entered.name)));
  Writer writer(*pipeline_, std::string(Text(cell)));
  CheckOptions check;
  check.entry = entered.name;  // nothing of it is printed
  if (!CheckWritten(writer, writer.Define(cell, writer.Call("primCell", {writer.Var(entered.name)})), check)) return;
  history_.Add({entered.name, cell, pipeline_->DefinitionNamed(Text(cell)), std::move(*entered.kept), entered.changes, std::move(entered.needs)});
  if (!ended) return;
  Writer value(*pipeline_, std::string(Text(entered.name)));
  CheckWritten(value, value.DefineBound(entered.bind, value.Call("primHeld", {value.Var(cell)})), check);
  if (entered.bind) WarnOfOlderMeanings();
}

// An action is a function of what it is told, so that its value can be had again: the definition is
//   result = case primAnswered action "what it was told" Answer of Answer value -> value
// where the constructor Answer is made for this value's type. What looks at the value computes it again, and nothing is done again.
void Repl::BindAnswer(Symbol name, const std::string& log, const ast::BindStmt* bind) {
  std::string_view number = Text(name).substr(kResultPrefix.size());
  Symbol answer = Intern(fmt::format("%answer{}", number));
  if (!pipeline_->session.AnswerOf(name, answer).valid()) return;
  Writer writer(*pipeline_, std::string(Text(name)));
  ast::Ast& ast = writer.ast;
  Symbol value = Intern("value");
  ast::Expr* text = ast.New<ast::LiteralExpr>(writer.span, ast::Literal{ast::LiteralKind::String, Intern(log)});
  ast::Expr* answered = writer.Call("primAnswered", {writer.Var(name), text, ast.New<ast::ConExpr>(writer.span, writer.Library(Text(answer)))});
  ast::Pat* held = ast.New<ast::ConPat>(writer.span, writer.Library(Text(answer)), ast.Copy<ast::Pat*>({ast.New<ast::VarPat>(writer.span, value)}));
  ast::Alternative only{held, writer.Rhs(writer.Var(value)), writer.span};
  ast::Expr* result = ast.New<ast::CaseExpr>(writer.span, answered, ast.Copy<ast::Alternative>({only}));
  CheckOptions check;
  check.entry = name;  // nothing of it is printed
  CheckWritten(writer, writer.DefineBound(bind, result), check);
  if (bind) WarnOfOlderMeanings();
}

void Repl::Bind(Symbol name, Symbol to) {
  Writer writer(*pipeline_, fmt::format("{} = {}", Text(name), Text(to)));
  CheckOptions check;
  check.entry = to;  // `name` is not printed
  CheckWritten(writer, writer.Define(name, writer.Var(to)), check);
}

}  // namespace df
