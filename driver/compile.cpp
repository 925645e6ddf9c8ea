#include "driver/compile.h"

#include <cctype>
#include <filesystem>

#include <fmt/ranges.h>

#include "driver/commands.h"
#include "driver/evaluate.h"
#include "driver/exports.h"
#include "driver/onnx/model.h"
#include "driver/system/files.h"
#include "driver/system/signals.h"
#include "lang/render.h"
#include "runtime/base/memory.h"
#include "runtime/engines/tagged/code/code.h"
#include "runtime/files/input_file.h"
#include "tagged_ir/file.h"
#include "tagged_ir/text.h"

namespace df {
namespace {

bool EmitsModel(const Options& options) { return options.emit == Emit::Onnx || options.emit == Emit::OnnxOp; }

bool ShowsGraph(Emit emit) {
  return emit == Emit::Lazy || emit == Emit::Tagged || emit == Emit::Dot || emit == Emit::Regions;
}

void PrintGraph(const ir::Graph& graph, const Options& options, llvm::raw_ostream& out) {
  PassScope pass("print");
  ir::PrintOptions print;
  print.only = options.only;
  if (options.emit == Emit::Dot) {
    ir::PrintDot(graph, out, print);
  } else if (options.emit == Emit::Lazy) {
    ir::PrintDelays(graph, out, print);
  } else if (options.emit == Emit::Regions) {
    tagged::Program program;
    RunOptions run;
    Switch(options, run);
    tagged::Options as_run = tagged::OptionsOf(run);
    as_run.native = false;  // it would add addresses, which differ from run to run
    as_run.batch = graph.types.HasTensors();
    std::string refused = tagged::Compile(graph, as_run, &program);
    if (!refused.empty()) out << "not run by this engine: " << refused << '\n';
    else tagged::Dump(program, out, [&](std::string_view scope) { return print.Chooses(scope); });
  } else {
    ir::Print(graph, out, print);
  }
}

bool Shows(const fg::Program& functions, const std::string& name) {
  ir::PrintOptions print;
  print.only = name;
  for (const fg::Function& function : functions.functions)
    if (print.Chooses(function.name, true)) return true;
  return false;
}

void ReportNoSuchFunction(Diagnostics& diags, const std::string& name, const std::vector<std::string_view>& names) {
  diags.Report(Diag::NoSuchFunction, {}, name);
  std::string_view near = NearestName(name, names);
  if (!near.empty()) diags.Hint(fmt::format("did you mean `{}`?", near));
}

void ReportNoSuchFunction(Pipeline& pipeline, const std::string& name) {
  std::vector<std::string_view> names;
  for (const core::Definition& definition : pipeline.session.program.definitions)
    names.push_back(Text(pipeline.session.program.vars[definition.var].name));
  ReportNoSuchFunction(pipeline.diags, name, names);
}

// The names that a declaration gives.
std::vector<Symbol> NamesOf(const ast::Decl* decl) {
  std::vector<Symbol> names;
  if (const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl)) names.push_back(function->name.text);
  if (const auto* data = llvm::dyn_cast<ast::DataDecl>(decl)) names.push_back(data->name.text);
  if (const auto* synonym = llvm::dyn_cast<ast::TypeSynonymDecl>(decl)) names.push_back(synonym->name.text);
  if (const auto* cls = llvm::dyn_cast<ast::ClassDecl>(decl)) names.push_back(cls->name.text);
  if (const auto* instance = llvm::dyn_cast<ast::InstanceDecl>(decl)) names.push_back(instance->cls.text);
  if (const auto* signature = llvm::dyn_cast<ast::SignatureDecl>(decl))
    for (const ast::Name& name : signature->names) names.push_back(name.text);
  if (const auto* fixity = llvm::dyn_cast<ast::FixityDecl>(decl))
    for (const ast::Name& op : fixity->ops) names.push_back(op.text);
  if (const auto* bind = llvm::dyn_cast<ast::PatBindDecl>(decl))
    if (const auto* var = llvm::dyn_cast<ast::VarPat>(bind->pat)) names.push_back(var->name);
  return names;
}

// Leaves the declarations of this name (signature, clauses, fixity) in the module. False, reported, if there are none.
bool KeepOnly(ast::Ast& ast, const std::string& only, Diagnostics& diags) {
  std::vector<ast::Decl*> kept;
  std::vector<std::string_view> all;
  for (ast::Decl* decl : ast.module.decls)
    for (Symbol name : NamesOf(decl)) {
      all.push_back(Text(name));
      if (Text(name) == only && (kept.empty() || kept.back() != decl)) kept.push_back(decl);
    }
  if (kept.empty()) ReportNoSuchFunction(diags, only, all);
  ast.module.decls = ast.Copy<ast::Decl*>(kept);
  return !kept.empty();
}

// The tokens of a module's declarations.
TokenBuffer TokensOf(const ast::Ast& ast, const TokenBuffer& all) {
  TokenBuffer kept = all;
  kept.tokens.clear();
  for (const Token& token : all.tokens)
    for (const ast::Decl* decl : ast.module.decls)
      if (decl->span.begin <= token.span.begin && token.span.end <= decl->span.end && token.span.begin < token.span.end) {
        kept.tokens.push_back(token);
        break;
      }
  return kept;
}

// What shows a tagged graph also shows a compiled one; a graph's text is compiled to a file.
ExitCode DumpGraphFile(Pipeline& pipeline, const Options& options, const std::string& bytes, std::string& out) {
  std::optional<ir::Graph> graph = LoadGraph(DisplayName(options.file), bytes, pipeline.diags);
  if (!graph) return ExitCode::BadGraph;
  if (options.emit == Emit::None && ir::LooksLikeGraphText(bytes)) {
    PassScope pass("write the graph");
    out = ir::Serialize(*graph);
    return ExitCode::Fine;
  }
  if (!ShowsGraph(options.emit)) {
    pipeline.diags.Report(Diag::AlreadyGraph, {}, DisplayName(options.file))
        .Hint("`dfc run` runs it; `--emit=tagged`, `dot`, `lazy` and `regions` show it");
    return ExitCode::Failed;
  }
  ir::PrintOptions print;
  print.only = options.only;
  std::vector<std::string_view> names;
  bool found = false;
  for (const ir::Scope& scope : graph->scopes) {
    names.push_back(scope.name);
    found |= print.Chooses(scope.name, options.emit == Emit::Lazy);
  }
  if (!found) {
    ReportNoSuchFunction(pipeline.diags, options.only, names);
    return ExitCode::Failed;
  }
  llvm::raw_string_ostream stream(out);
  PrintGraph(*graph, options, stream);
  return ExitCode::Fine;
}

// What a run is given for input `which` of `names`, as far as it has the shape of a tensor. What is wrong with it is said when it is
// read, but where nothing can be run without the shape; for that `why` is.
std::optional<std::vector<int64_t>> ShapeOfInput(const Options& options, llvm::ArrayRef<std::string_view> names, size_t which, std::string* why) {
  const std::string_view name = names[which];
  for (const InputArgument& input : options.inputs) {
    if (input.name != name) continue;
    *why = "its value is no tensor";
    if (input.text.size() < 2 || !input.text.starts_with('@')) return ShapeOfText(input.text);
    SourceManager sources;
    Diagnostics diags(sources);
    std::string path = input.text.substr(1);
    std::error_code error;
    bool exists = std::filesystem::exists(path, error);
    *why = exists ? fmt::format("`{}` is no file that can be read twice", path) : fmt::format("there is no file `{}`", path);
    if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;  // a pipe is read but once
    std::optional<std::string> bytes = ReadFile(path, kMaxInputBytes, diags);
    std::string reason = "it cannot be read";
    std::optional<std::vector<int64_t>> shape = bytes ? ShapeOfFile(std::move(*bytes), name, &reason) : std::nullopt;
    *why = fmt::format("`{}`: {}", path, reason);
    return shape;
  }
  // A name that no input has may be that of this one, misspelt.
  std::vector<std::string_view> strangers;
  for (const InputArgument& input : options.inputs)
    if (!llvm::is_contained(names, input.name)) strangers.push_back(input.name);
  const std::string_view near = NearestName(name, strangers);
  *why = !near.empty() ? fmt::format("no value was given for it, and there is no input `{}`: did you mean `--input {}=..`?", near, name)
         : options.command == Command::Run
             ? "no value was given for it (`--input NAME=VALUE` or `--input NAME=@FILE`)"
             : "a graph has a number for every size (`dfc run` of the source takes them from the inputs, and a list of tensors may "
               "have any length)";
  return std::nullopt;
}

CheckOptions OptionsOfCheck(const Options& options) {
  CheckOptions check;
  check.warnings = options.warnings;
  check.shows_entry = options.outputs.empty() && options.exports.empty() && options.entry.empty() && !EmitsModel(options);
  check.arrays_entry = options.command != Command::Run;
  // A check alone, and a dump of an early phase, are of any size.
  if (options.command == Command::Run || (options.command == Command::Compile && options.emit != Emit::Core))
    check.shape_of_input = [&](llvm::ArrayRef<std::string_view> names, size_t which, std::string* why) { return ShapeOfInput(options, names, which, why); };
  return check;
}

// A model of an entry that leaves sizes open is written from the program at several sizes; the first one's errors are the user's. nullopt: no
// size is open, or the program is wrong, which is told on the usual way.
std::optional<OpenEntry> OpenEntryOf(const Options& options, const std::string& text) {
  if (options.exports.size() > 1) return std::nullopt;
  Pipeline scout;
  scout.LookBeside(options.file, options.module_folders);
  std::optional<ast::Ast> ast = scout.Syntax(scout.Tokens(DisplayName(options.file), text));
  CheckOptions check = OptionsOfCheck(options);
  check.shape_of_input = nullptr;
  if (!ast || !scout.Check(*ast, check)) return std::nullopt;
  return OpenSizesOf(scout.session.program, options.exports.empty() ? "main" : options.exports[0]);
}

std::optional<fg::Program> FunctionsAt(Pipeline& pipeline, const Options& options, const OpenEntry& entry, uint32_t program, std::string text) {
  pipeline.LookBeside(options.file, options.module_folders);
  std::optional<ast::Ast> ast = pipeline.Syntax(pipeline.Tokens(DisplayName(options.file), std::move(text)));
  CheckOptions check = OptionsOfCheck(options);
  if (!options.exports.empty()) check.entry = Intern(options.exports[0]);
  check.shape_of_input = [&](llvm::ArrayRef<std::string_view>, size_t which, std::string*) { return entry.ShapeOf(which, program); };
  if (!ast || !pipeline.Check(*ast, check)) return std::nullopt;
  return FunctionsShowing(pipeline, "", GraphName(options.file), LowerOptionsOfModels(options.lower));
}

bool EmitSizedModel(Pipeline& pipeline, const Options& options, const OpenEntry& entry, const std::string& text, llvm::raw_ostream& out) {
  std::vector<fg::Program> programs;
  for (uint32_t i = 0; i < kSizedPrograms; ++i) {
    Pipeline other;
    std::optional<fg::Program> functions = FunctionsAt(i == 0 ? pipeline : other, options, entry, i, text);
    if (!functions && i > 0) pipeline.diags.Report(Diag::NoOnnx, {}, "a program of any size", "at other sizes it is not compiled");
    if (!functions) {
      const std::vector<int64_t> values = entry.ValuesOf(i);
      std::vector<std::string> stands;
      for (size_t k = 0; k < values.size(); ++k) stands.push_back(fmt::format("{} for `{}`", values[k], entry.names[k]));
      pipeline.diags.Note({}, fmt::format("a model of any size has to hold at each: here {}", fmt::join(stands, ", ")));
      return false;
    }
    programs.push_back(*std::move(functions));
  }
  std::optional<std::string> bytes = OnnxModelOf(pipeline, entry, programs);
  if (bytes) out << *bytes;
  return bytes.has_value();
}

// The dump that --emit asks for. False after errors.
bool EmitDump(Pipeline& pipeline, const Options& options, std::string text, llvm::raw_ostream& out) {
  if (EmitsModel(options))
    if (std::optional<OpenEntry> entry = OpenEntryOf(options, text)) return EmitSizedModel(pipeline, options, *entry, text, out);
  pipeline.LookBeside(options.file, options.module_folders);
  TokenBuffer tokens = pipeline.Tokens(DisplayName(options.file), std::move(text));
  if (options.emit == Emit::Tokens && options.only.empty()) {
    Dump(tokens, pipeline.sources, out);
    return !pipeline.diags.has_errors();
  }
  std::optional<ast::Ast> ast = pipeline.Syntax(tokens, options.emit != Emit::Tokens && options.emit != Emit::Ast);
  if (!ast) return false;
  if (options.emit == Emit::Tokens || options.emit == Emit::Ast) {
    if (!options.only.empty() && !KeepOnly(*ast, options.only, pipeline.diags)) return false;
  }
  if (options.emit == Emit::Tokens) {
    Dump(TokensOf(*ast, tokens), pipeline.sources, out);
    return true;
  }
  if (options.emit == Emit::Ast) {
    Dump(*ast, out);
    return true;
  }
  if (!pipeline.Check(*ast, OptionsOfCheck(options))) return false;
  if (!options.exports.empty() && !DefineEntries(pipeline, *ast, options.exports)) return false;

  if (options.emit == Emit::Core) {
    core::DumpOptions dump;
    if (!options.only.empty()) {
      core::VarId var = pipeline.DefinitionNamed(options.only);
      if (!var.valid()) {
        ReportNoSuchFunction(pipeline, options.only);
        return false;
      }
      dump.only = Intern(options.only);
      dump.library = pipeline.session.program.vars[var].from_library;
    }
    core::Dump(pipeline.session.program, out, dump);
    return true;
  }

  const bool model = EmitsModel(options);
  if (model && !pipeline.session.program.main.valid()) {
    pipeline.diags.Report(Diag::NoMain, {}, DisplayName(options.file)).Hint("`--export NAME` makes a model of a definition");
    return false;
  }
  std::optional<fg::Program> functions =
      FunctionsShowing(pipeline, options.only, GraphName(options.file), model ? LowerOptionsOfModels(options.lower) : options.lower);
  if (!functions) return false;
  if (model) {
    std::optional<std::string> bytes = OnnxModelOf(pipeline, *functions, options.lower, options.emit == Emit::OnnxOp);
    if (bytes) out << *bytes;
    return bytes.has_value();
  }
  if (options.emit == Emit::Functions) {
    fg::Dump(*functions, out, {.only = options.only});
    return true;
  }
  std::optional<ir::Graph> graph = pipeline.Graph(*functions, options.lower);
  if (!graph) return false;
  graph->unshown = pipeline.session.program.main_unshown;
  PrintGraph(*graph, options, out);
  return true;
}

// The bytes of what the command writes.
ExitCode Produce(Pipeline& pipeline, const Options& options, std::string& bytes) {
  std::optional<std::string> text = ReadFile(options.file, kMaxSourceBytes, pipeline.diags);
  if (!text) return ExitCode::Failed;
  if (HoldsGraph(*text)) return DumpGraphFile(pipeline, options, *text, bytes);
  if (options.emit != Emit::None) {
    llvm::raw_string_ostream out(bytes);
    return EmitDump(pipeline, options, std::move(*text), out) ? ExitCode::Fine : ExitCode::Failed;
  }
  std::optional<ir::Graph> graph = GraphOfMain(pipeline, options, std::move(*text));
  if (!graph) return ExitCode::Failed;
  PassScope pass("write the graph");
  memory::GiveBackFreed();
  bytes = ir::Serialize(*graph);
  return ExitCode::Fine;
}

std::string DefaultOutput(const Options& options) {
  if (options.emit != Emit::None && !EmitsModel(options)) return "-";
  std::filesystem::path path(options.file);
  return path.replace_extension(EmitsModel(options) ? ".onnx" : ".graph").string();
}

}  // namespace

std::string GraphName(const std::string& file) {
  if (file == "-") return "main";
  std::string stem = std::filesystem::path(file).stem().string();
  return stem.empty() ? "main" : stem;
}

bool CheckText(Pipeline& pipeline, const Options& options, std::string text) {
  pipeline.LookBeside(options.file, options.module_folders);
  std::optional<ast::Ast> ast = pipeline.Syntax(pipeline.Tokens(DisplayName(options.file), std::move(text)), /*complaints=*/true);
  if (!ast || !pipeline.Check(*ast, OptionsOfCheck(options))) return false;
  std::vector<std::string> names = options.exports;
  if (names.empty() && !options.entry.empty()) names = {options.entry};
  return names.empty() || DefineEntries(pipeline, *ast, names);
}

bool HoldsGraph(std::string_view bytes) { return ir::LooksLikeGraphFile(bytes) || ir::LooksLikeGraphText(bytes); }

std::optional<ir::Graph> LoadGraph(const std::string& name, const std::string& bytes, Diagnostics& diags) {
  PassScope pass("read the graph");
  std::string error;
  std::optional<ir::Graph> graph =
      ir::LooksLikeGraphText(bytes) ? ir::ParseText(bytes, &error) : ir::Deserialize(bytes, &error);
  if (graph) return graph;
  if (bytes.empty()) error = "it is empty";
  diags.Report(Diag::BadGraphFile, {}, fmt::format("`{}`: {}", name, error));
  if (ir::LooksLikeGraphText(bytes)) return graph;
  bool source = !bytes.empty() && !ir::LooksLikeGraphFile(bytes) &&
                llvm::all_of(llvm::StringRef(bytes).take_front(256), [](unsigned char c) { return c >= ' ' || std::isspace(c); });
  diags.Hint(source ? "the name of a source ends in `.df`" : "`dfc FILE.df -o NAME.graph` makes it from its source");
  return graph;
}

std::optional<fg::Program> FunctionsShowing(Pipeline& pipeline, const std::string& only, const std::string& name,
                                            const LowerOptions& options) {
  core::VarId main = pipeline.session.program.main;
  if (only.empty() && !main.valid()) {
    pipeline.diags.Report(Diag::NoMain, {}, name).Hint("`--only=NAME` shows one function without it");
    return std::nullopt;
  }
  if (main.valid()) {
    std::optional<fg::Program> functions = pipeline.Functions(main, name, options);
    if (!functions || only.empty() || Shows(*functions, only)) return functions;
  }
  core::VarId entry = pipeline.DefinitionNamed(only);
  if (!entry.valid()) {
    ReportNoSuchFunction(pipeline, only);
    return std::nullopt;
  }
  return pipeline.Functions(entry, name, options);
}

std::optional<ir::Graph> GraphOfMain(Pipeline& pipeline, const Options& options, std::string text) {
  if (!CheckText(pipeline, options, std::move(text))) return std::nullopt;
  core::VarId main = pipeline.session.program.main;
  if (!main.valid()) {
    pipeline.diags.Report(Diag::NoMain, {}, DisplayName(options.file))
        .Hint("`dfc check` looks at a module without running it");
    return std::nullopt;
  }
  std::optional<fg::Program> functions = pipeline.Functions(main, GraphName(options.file), options.lower);
  if (!functions) return std::nullopt;
  std::optional<ir::Graph> graph = pipeline.Graph(*functions, options.lower);
  if (graph) graph->unshown = pipeline.session.program.main_unshown;
  return graph;
}

ExitCode CodeOf(BudgetEnd end, ExitCode otherwise) {
  switch (end) {
    case BudgetEnd::None: return otherwise;
    case BudgetEnd::Interrupted: return ExitCode::Interrupted;
    default: return ExitCode::Limit;
  }
}

std::unique_ptr<CompileBudget> BudgetOf(const Options& options, const Console& console) {
  CompileLimits limits{.timeout = options.timeout, .max_memory = options.max_memory};
  return std::make_unique<CompileBudget>(limits, [json = console.json()](const std::string& text) { EndNow(text, json, ExitCode::Limit); });
}

ExitCode CompileCommand(const Options& options, Console& console) {
  Pipeline pipeline;
  std::string bytes;
  ExitCode code = ExitCode::Failed;
  std::unique_ptr<CompileBudget> budget = BudgetOf(options, console);
  pipeline.Within([&] { code = Produce(pipeline, options, bytes); });
  code = CodeOf(pipeline.ended(), code);
  if (code == ExitCode::Fine) {
    const std::string output = options.output.empty() ? DefaultOutput(options) : options.output;
    if (output == "-") console.out() << bytes;
    else if (!WriteFile(output, bytes, pipeline.diags)) code = ExitCode::Failed;
  }
  console.Show(pipeline.diags);
  return code;
}

ExitCode CheckCommand(const Options& options, Console& console) {
  Pipeline pipeline;
  std::optional<std::string> text = ReadFile(options.file, kMaxSourceBytes, pipeline.diags);
  std::unique_ptr<CompileBudget> budget = BudgetOf(options, console);
  bool ok = text && CheckText(pipeline, options, std::move(*text));
  console.Show(pipeline.diags);
  return CodeOf(pipeline.ended(), ok ? ExitCode::Fine : ExitCode::Failed);
}

}  // namespace df
