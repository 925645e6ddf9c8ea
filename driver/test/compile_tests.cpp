// Tests as inputs of a prompt, and all of them as one graph.
#include "driver/test/compile_tests.h"

#include <algorithm>
#include <filesystem>

#include "driver/compile.h"
#include "driver/system/files.h"
#include "lang/render.h"
#include "parser/literate.h"

namespace df::test {
namespace {

std::string NameOfTest(size_t index) { return fmt::format("it'{}", index); }
std::string NameOfRun(size_t index) { return fmt::format("it'run{}", index); }

// What is made of tests: names that no program has.
class Maker {
 public:
  Maker(ast::Ast& ast, Span span) : ast_(ast), span_(span) {}
  ast::Expr* Library(std::string_view name) { return ast_.New<ast::VarExpr>(span_, ast::Name{Intern(name), Intern(ast::kLibraryQualifier), span_}); }
  ast::Expr* Variable(Symbol name) { return ast_.New<ast::VarExpr>(span_, ast::Name{name, {}, span_}); }
  ast::Expr* Apply(ast::Expr* fn, std::vector<ast::Expr*> args) { return ast_.New<ast::AppExpr>(span_, fn, ast_.Copy<ast::Expr*>(args)); }
  ast::Expr* Number(uint64_t value) {
    return ast_.New<ast::LiteralExpr>(span_, ast::Literal{ast::LiteralKind::Integer, Intern(std::to_string(value))});
  }
  ast::Rhs Rhs(ast::Expr* value) {
    ast::GuardedExpr guarded{{}, value, span_};
    return {ast_.Copy<ast::GuardedExpr>(guarded), {}, span_};
  }
  void Define(Symbol name, std::vector<ast::Pat*> params, ast::Expr* value) {
    ast::Clause clause{ast_.Copy<ast::Pat*>(params), Rhs(value), span_};
    ast::Decl* decl = ast_.New<ast::FunctionDecl>(span_, ast::Name{name, {}, span_}, ast_.Copy<ast::Clause>(clause));
    ast_.module.decls = ast_.Copy<ast::Decl*>(decl);
  }

 private:
  ast::Ast& ast_;
  Span span_;
};

std::string Rendered(const Diagnostics& diags) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Render(diags, out);
  out.flush();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// So many tests are one graph, which would be the sum of thousands. The tagged engine has code of a graph, made once; the others look at all of the
// graph in each run.
constexpr size_t kMostTogether = 250, kFewTogether = 24;

}  // namespace

std::string TestFile::TakeFaults() {
  std::string text = Rendered(pipeline_->diags);
  if (pipeline_->ended() != BudgetEnd::None) ended = pipeline_->ended();
  pipeline_->diags.Clear();
  return text;
}

bool TestFile::Load(const std::string& path) {
  path_ = path;
  pipeline_ = std::make_unique<Pipeline>();
  pipeline_->on_syntax = on_syntax;
  std::optional<std::string> text = ReadFile(path, kMaxSourceBytes, pipeline_->diags);
  if (!text) {
    fault = TakeFaults();
    return false;
  }
  source_ = std::move(*text);
  tests = TestsIn(source_);
  const bool benches = options_.test.bench;
  llvm::erase_if(tests, [&](const Test& test) { return (test.kind == Kind::Bench) != benches; });
  pipeline_->LookBeside(path, options_.module_folders);
  TokenBuffer tokens = pipeline_->Tokens(DisplayName(path), source_);
  extensions_ = tokens.extensions;
  file_ = tokens.file;
  std::optional<ast::Ast> ast = pipeline_->Syntax(tokens);
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  check.entry = Intern(kChooser);  // what `main` gives is nobody's concern here
  if (!ast || !pipeline_->Check(*ast, check)) {
    fault = TakeFaults();
    return false;
  }
  pipeline_->diags.Clear();  // warnings
  if (!benches) FindProperties();
  return true;
}

// The file's definitions that are tests by their names, and its stored output.
void TestFile::FindProperties() {
  const core::Program& program = pipeline_->session.program;
  auto type_of = [&](std::string_view name) {
    const std::string type = pipeline_->session.TypeOf(Intern(name));
    const size_t at = type.find(" :: ");
    return at == std::string::npos ? std::string() : type.substr(at + 4);
  };
  auto add = [&](Kind kind, std::string_view name, Span span) {
    Test test;
    test.kind = kind;
    test.line = pipeline_->sources.Locate(span.file, span.begin).line;
    test.name = test.definition = std::string(name);
    tests.push_back(std::move(test));
  };
  std::filesystem::path out(path_);
  std::error_code error;
  out.replace_extension(".out");
  const bool has_output = std::filesystem::is_regular_file(out, error);
  const bool has_suites = pipeline_->session.HasModule(Intern("Test.HUnit.Internal"));
  core::VarId main;
  for (const core::Definition& definition : program.definitions) {
    const core::Var& var = program.vars[definition.var];
    if (!var.from_library && var.span.file == file_ && var.kind == core::VarKind::Top && Text(var.name) == "main") main = definition.var;
  }
  const bool has_quickcheck = pipeline_->session.HasModule(Intern("Test.QuickCheck"));
  for (const core::Definition& definition : program.definitions) {
    const core::Var& var = program.vars[definition.var];
    if (var.from_library || var.kind != core::VarKind::Top || !var.span.valid() || var.span.file != file_) continue;
    const std::string_view name = Text(var.name);
    if (name.starts_with("prop_") && has_quickcheck) add(Kind::Property, name, var.span);
    // A program that runs its tests is run; else they are.
    if (!has_suites) continue;
    if (name == "main" && !has_output) add(Kind::Suite, name, var.span);
    if ((name == "spec" || name == "tests") && !main.valid()) {
      const std::string type = type_of(name);
      if (type == "SpecM () ()" || type == "Test") add(Kind::Suite, name, var.span);
    }
  }
  std::stable_sort(tests.begin(), tests.end(), [](const Test& a, const Test& b) { return a.line < b.line; });
  if (has_output) {
    Test test;
    test.kind = Kind::Whole;
    test.line = 1;
    test.name = "main";
    tests.push_back(std::move(test));
  }
}

void TestFile::Check() {
  spans_.assign(tests.size(), Span());
  shown_.assign(tests.size(), Shown::Nothing);
  for (size_t i = 0; i < tests.size() && ended == BudgetEnd::None; ++i)
    if (tests[i].fault.empty() && tests[i].kind != Kind::Whole) CheckOne(i);
}

bool TestFile::RunCommand(Test& test) {
  llvm::StringRef input = llvm::StringRef(test.text).trim();
  if (!input.consume_front(":")) return false;
  auto [command, argument] = input.split(' ');
  argument = argument.trim();
  if (command == "set" && argument.consume_front("-X")) {
    if (!pipeline_->AddExtension({argument.data(), argument.size()})) test.fault = TakeFaults();
    return true;
  }
  if ((command == "m" || command == "module") && argument.consume_front("+")) {
    llvm::SmallVector<llvm::StringRef> names;
    argument.split(names, ' ', -1, /*KeepEmpty=*/false);
    std::string imports;
    for (llvm::StringRef name : names) imports += "import " + name.str() + "\n";
    ReplInput parsed = ParseRepl(pipeline_->Tokens(DisplayName(path_), imports, test.line), pipeline_->diags);
    if (pipeline_->diags.has_errors() || !Define(parsed.ast)) test.fault = TakeFaults();
    return true;
  }
  test.fault = fmt::format("`:{}` is a command of a prompt: an example may have `:set -X` and `:m +`", std::string_view(command));
  return true;
}

bool TestFile::Define(ast::Ast& ast) {
  CheckOptions check;
  check.repl = true;
  check.generalises = true;
  check.warnings = false;
  check.entry = Intern(kChooser);  // nothing of it is printed
  return pipeline_->Check(ast, check) && !pipeline_->diags.has_errors();
}

void TestFile::CheckOne(size_t index) {
  Test& test = tests[index];
  if (!test.definition.empty()) return CheckNamed(index);
  if (RunCommand(test)) {
    test.defines = test.fault.empty();
    return;
  }
  TokenBuffer tokens;
  const bool lexed = pipeline_->Within([&] {
    tokens = Lex(pipeline_->sources, pipeline_->sources.Add(DisplayName(path_), test.text, test.line, test.shown), pipeline_->diags);
  });
  tokens.extensions.insert(tokens.extensions.begin(), extensions_.begin(), extensions_.end());
  if (!lexed || tokens.tokens.empty()) {
    test.fault = TakeFaults();
    return;
  }
  if (WidestTuple(tokens) >= 8) {  // as Pipeline::Tokens sees to it for the file
    pipeline_->LoadLibraryModule("Prelude.LargeTuple");
    if (pipeline_->session.HasModule(Intern("Data.Ix"))) pipeline_->LoadLibraryModule("Prelude.LargeTupleIx");
  }
  ReplInput input = ParseRepl(tokens, pipeline_->diags);
  if (input.kind == ReplInput::Kind::Incomplete && !pipeline_->diags.has_errors())
    pipeline_->diags.Report(Diag::InputEnds, tokens.tokens.back().span);
  if (pipeline_->diags.has_errors()) {
    test.fault = TakeFaults();
    return;
  }
  switch (input.kind) {
    case ReplInput::Kind::Expression: return CheckExpression(index, input.ast);
    case ReplInput::Kind::Declarations:
      if (test.kind != Kind::Example) test.fault = "an expression is wanted";
      else if (!Define(input.ast)) test.fault = TakeFaults();
      else pipeline_->diags.Clear();
      test.defines = test.fault.empty();
      return;
    case ReplInput::Kind::Bind:
      test.fault = "an example has no action before it whose value it could bind: `let` defines names";
      return;
    default: test.fault = "an expression is wanted"; return;
  }
}

ast::Expr* TestFile::WithRunner(size_t index, ast::Ast& ast, ast::Expr* body) {
  Test& test = tests[index];
  Maker make(ast, spans_[index]);
  if (test.kind == Kind::Property) {
    pipeline_->Within([&] { pipeline_->LoadLibraryModule("Test.QuickCheck"); });
    return make.Apply(make.Library("primTestProperty"), {make.Number(options_.test.seed), body});
  }
  const auto* call = llvm::dyn_cast<ast::AppExpr>(body);
  if (!call || call->args.size() != 1) {
    test.fault = "`-- GRAD: function at argument` is wanted";
    return nullptr;
  }
  pipeline_->Within([&] { pipeline_->LoadLibraryModule("Test.Gradient.Internal"); });
  return make.Apply(make.Library("primTestGradient"), {make.Number(options_.test.seed), call->fn, call->args[0]});
}

void TestFile::CheckExpression(size_t index, ast::Ast& ast) {
  Test& test = tests[index];
  const Symbol name = Intern(NameOfTest(index));
  auto* definition = llvm::cast<ast::FunctionDecl>(ast.module.decls.back());
  spans_[index] = definition->clauses[0].span;
  if (JudgesItself(test.kind)) {
    // The expression may be a function without a Show instance.
    ast::Expr* runs = WithRunner(index, ast, definition->clauses[0].rhs.guarded[0].body);
    if (!runs) return;
    Maker(ast, spans_[index]).Define(name, {}, runs);
    definition = llvm::cast<ast::FunctionDecl>(ast.module.decls.back());
  }
  definition->name.text = name;
  ast::Expr* body = definition->clauses[0].rhs.guarded[0].body;
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  check.entry = name;
  if (!pipeline_->Check(ast, check) || pipeline_->diags.has_errors()) {
    test.fault = TakeFaults();
    return;
  }
  pipeline_->diags.Clear();
  const std::string type = pipeline_->session.TypeOf(name);
  const std::string_view what = std::string_view(type).substr(std::min(type.find(" :: ") + 4, type.size()));
  shown_[index] = Shown::Value;
  if (what.starts_with("IO ")) shown_[index] = Shown::Action;
  if (shown_[index] == Shown::Action && test.kind == Kind::Example && what != "IO ()") {
    // The prompt shows the value of an action, where it can be; `dfc run` does not.
    ast::Ast attempt;
    attempt.file = spans_[index].file;
    Maker make(attempt, spans_[index]);
    make.Define(Intern(fmt::format("it'shown{}", index)), {}, make.Apply(make.Library("primPromptShow"), {make.Variable(name)}));
    if (Define(attempt)) shown_[index] = Shown::ActionValue;
    pipeline_->diags.Clear();
  }
  DefineRun(index, ast, body);
}

// it'run0 % = print expression
void TestFile::DefineRun(size_t index, ast::Ast& ast, ast::Expr* body) {
  Maker make(ast, spans_[index]);
  ast::Expr* action = body;
  if (shown_[index] == Shown::Value) action = make.Apply(make.Library("print"), {body});
  if (shown_[index] == Shown::ActionValue) action = make.Apply(make.Library(">>="), {body, make.Library("print")});
  if (shown_[index] == Shown::Action) {  // whatever its value is
    ast::Expr* unit = ast.New<ast::ConExpr>(spans_[index], ast::Name{Intern("()"), {}, spans_[index]});
    action = make.Apply(make.Library(">>"), {body, make.Apply(make.Library("return"), {unit})});
  }
  make.Define(Intern(NameOfRun(index)), {ast.New<ast::VarPat>(spans_[index], Intern("%which"))}, action);
  if (!Define(ast)) tests[index].fault = TakeFaults();
  pipeline_->diags.Clear();
}

// A definition of the file that is a test.
void TestFile::CheckNamed(size_t index) {
  Test& test = tests[index];
  const core::VarId var = pipeline_->DefinitionNamed(test.definition);
  const Span span = pipeline_->session.program.vars[var].span;
  spans_[index] = span;
  const Symbol name = Intern(NameOfTest(index));
  ast::Ast ast;
  ast.file = span.file;
  Maker make(ast, span);
  ast::Expr* of = make.Variable(Intern(test.definition));
  const std::string type = pipeline_->session.TypeOf(Intern(test.definition));
  const char* runner = test.kind == Kind::Property ? "primTestProperty" : type.ends_with(":: Test") ? "primTestHUnit" : "primTestSpec";
  if (type.ends_with(":: Test")) pipeline_->Within([&] { pipeline_->LoadLibraryModule("Test.HUnit"); });
  if (type.ends_with(":: SpecM () ()")) pipeline_->Within([&] { pipeline_->LoadLibraryModule("Test.Hspec"); });
  ast::Expr* body = test.definition == "main" ? of : make.Apply(make.Library(runner), {make.Number(options_.test.seed), of});
  make.Define(name, {}, body);
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  check.entry = name;
  if (!pipeline_->Check(ast, check) || pipeline_->diags.has_errors()) test.fault = TakeFaults();
  pipeline_->diags.Clear();
  shown_[index] = Shown::Action;
  if (test.fault.empty()) DefineRun(index, ast, body);
}

// it'tests which = case which of { 0 -> it'run0 which; 1 -> it'run1 which; .. }
//
// Each has two calls, the second by a number below 0, which no run has: a function with one call would become a part of this one, and an engine that
// looks at all of a scope at all of all tests in each run.
bool TestFile::DefineChooser(const std::vector<size_t>& chosen) {
  ast::Ast ast;
  const Span span = spans_[chosen[0]];
  ast.file = span.file;
  Maker make(ast, span);
  const Symbol name = Intern(chooser_ == 0 ? std::string(kChooser) : fmt::format("{}{}", kChooser, chooser_));
  ++chooser_;
  const Symbol which = Intern("which");
  std::vector<ast::Alternative> alternatives;
  auto add = [&](size_t i, bool negative, bool rest) {
    Maker at(ast, spans_[chosen[i]]);
    ast::Expr* call = at.Apply(at.Variable(Intern(NameOfRun(chosen[i]))), {at.Variable(which)});
    ast::Pat* pattern = ast.New<ast::WildcardPat>(span);
    if (!rest) pattern = ast.New<ast::LiteralPat>(span, ast::Literal{ast::LiteralKind::Integer, Intern(std::to_string(negative ? i + 1 : i))}, negative);
    alternatives.push_back({pattern, at.Rhs(call), spans_[chosen[i]]});
  };
  for (size_t i = 0; i < chosen.size(); ++i) add(i, /*negative=*/false, /*rest=*/false);
  for (size_t i = 0; i < chosen.size(); ++i) add(i, /*negative=*/true, /*rest=*/i + 1 == chosen.size());
  // The sum says that the input is an Int.
  ast::Expr* number = make.Apply(make.Library("primIntAdd"), {make.Variable(which), make.Number(0)});
  ast::Expr* body = ast.New<ast::CaseExpr>(span, number, ast.Copy<ast::Alternative>(alternatives));
  make.Define(name, {ast.New<ast::VarPat>(span, which)}, body);
  CheckOptions check;
  check.repl = true;
  check.warnings = false;
  check.entry = name;
  check.shows_entry = false;  // it is a function
  return pipeline_->Check(ast, check) && !pipeline_->diags.has_errors();
}

std::optional<TestGraph> TestFile::CompileSome(const std::vector<size_t>& chosen, const LowerOptions& lower, std::string& why) {
  std::optional<fg::Program> functions;
  if (DefineChooser(chosen)) functions = pipeline_->Functions(pipeline_->session.program.main, GraphName(path_), lower);
  if (!functions) {
    why = TakeFaults();
    return std::nullopt;
  }
  for (ir::Pos& pos : functions->positions) {  // in call paths a test is what a prompt calls it
    if (pos.function.starts_with(kChooser)) pos.function = kChooser;
    else if (pos.function.starts_with("it'")) pos.function = "it";
  }
  std::optional<ir::Graph> graph = pipeline_->Graph(*functions, lower);
  if (!graph) {
    why = TakeFaults();
    return std::nullopt;
  }
  pipeline_->diags.Clear();
  return TestGraph{chosen, std::move(*graph)};
}

std::vector<TestGraph> TestFile::Compile(const LowerOptions& lower, std::vector<std::string>& faults) {
  std::vector<size_t> all;
  for (size_t i = 0; i < tests.size(); ++i)
    if (tests[i].fault.empty() && spans_[i].valid() && tests[i].kind != Kind::Whole && shown_[i] != Shown::Nothing) all.push_back(i);
  std::vector<TestGraph> graphs;
  faults.assign(tests.size(), "");
  // Where some cannot be lowered each half is tried, so that all others are run.
  auto compile = [&](auto& self, std::vector<size_t> some) -> void {
    if (some.empty() || ended != BudgetEnd::None) return;
    std::string why;
    if (std::optional<TestGraph> graph = CompileSome(some, lower, why)) return graphs.push_back(std::move(*graph));
    if (some.size() == 1 || ended != BudgetEnd::None) {
      for (size_t index : some) faults[index] = why;
      return;
    }
    const auto half = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    self(self, std::vector<size_t>(some.begin(), half));
    self(self, std::vector<size_t>(half, some.end()));
  };
  const bool tagged = llvm::all_of(options_.test.engines, [](EngineKind engine) { return engine == EngineKind::Tagged; });
  const size_t together = tagged ? kMostTogether : kFewTogether;
  for (size_t begin = 0; begin < all.size(); begin += together)
    compile(compile, std::vector<size_t>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                         all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + together, all.size()))));
  return graphs;
}

std::optional<TestGraph> TestFile::CompileOne(size_t index, const LowerOptions& lower, std::string& why) {
  if (spans_[index].valid() && shown_[index] != Shown::Nothing) return CompileSome({index}, lower, why);
  why = "there is nothing to run";
  return std::nullopt;
}

std::vector<std::string> TestFile::ExtensionNames() const {
  std::vector<std::string> names;
  for (const Symbol extension : extensions_) names.emplace_back(Text(extension));
  return names;
}

std::vector<std::string> TestFile::Sources() const {
  std::vector<std::string> paths;
  std::error_code error;
  for (FileId file{0}; file.index < pipeline_->sources.FileCount(); ++file.index)
    if (std::string name(pipeline_->sources.Name(file)); !llvm::is_contained(paths, name) && std::filesystem::is_regular_file(name, error))
      paths.push_back(std::move(name));
  return paths;
}

std::optional<ir::Graph> TestFile::CompileWhole(const LowerOptions& lower, std::string& why) {
  Pipeline pipeline;
  pipeline.on_syntax = on_syntax;
  Options options = options_;
  options.file = path_;
  options.warnings = false;
  options.lower = lower;
  std::optional<ir::Graph> graph;
  pipeline.Within([&] { graph = GraphOfMain(pipeline, options, source_); });
  if (graph && !pipeline.diags.has_errors()) return graph;
  if (pipeline.ended() != BudgetEnd::None) ended = pipeline.ended();
  why = Rendered(pipeline.diags);
  return std::nullopt;
}

}  // namespace df::test
