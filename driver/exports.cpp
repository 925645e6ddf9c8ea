// Entries of a module: made of core, chosen in a graph.
#include "driver/exports.h"

#include <fmt/ranges.h>

#include "lang/render.h"
#include "llvm/ADT/DenseSet.h"
#include "tagged_ir/entries.h"

namespace df {
namespace {

// A function that a host program can call: of values, to a value.
struct Exported {
  core::VarId var;
  llvm::SmallVector<TypeId> params;
  TypeId result;
  std::vector<Symbol> names;  // of the parameters
};

bool HoldsFunction(core::Program& program, TypeId type, llvm::DenseSet<uint32_t>& seen) {
  Types& types = program.types;
  if (types.IsFun(type) || types.BuiltinOf(type) == Builtin::IO) return true;
  // Types may contain larger and larger ones without end.
  if (!seen.insert(type.index).second || seen.size() > 1000) return false;
  llvm::SmallVector<TypeId> args;
  TyConId head = types.Head(type, &args);
  if (!head.valid()) return false;
  const TyCon con = types.cons[head];
  if (con.constructors.empty() || con.params.size() != args.size())
    return llvm::any_of(args, [&](TypeId arg) { return HoldsFunction(program, arg, seen); });
  for (core::ConId constructor : con.constructors) {
    const std::vector<core::Field> fields = program.constructors[constructor].fields;
    for (const core::Field& field : fields)
      if (HoldsFunction(program, types.Substitute(field.type, con.params, args), seen)) return true;
  }
  return false;
}

// The names that the first clause gives to the parameters; `arg1` where a pattern is no name.
std::vector<Symbol> ParameterNames(const ast::Ast& ast, Symbol function, size_t count) {
  std::vector<Symbol> names;
  for (size_t i = 0; i < count; ++i) names.push_back(Intern(fmt::format("arg{}", i + 1)));
  for (const ast::Decl* decl : ast.module.decls) {
    const auto* clauses = llvm::dyn_cast<ast::FunctionDecl>(decl);
    if (!clauses || clauses->name.text != function) continue;
    const auto& params = clauses->clauses[0].params;
    for (size_t i = 0; i < count && i < params.size(); ++i) {
      const ast::Pat* pat = params[i];
      for (;;) {
        if (const auto* paren = llvm::dyn_cast<ast::ParenPat>(pat)) pat = paren->pat;
        else if (const auto* bang = llvm::dyn_cast<ast::BangPat>(pat)) pat = bang->pat;
        else if (const auto* typed = llvm::dyn_cast<ast::TypedPat>(pat)) pat = typed->pat;
        else break;
      }
      Symbol name = names[i];
      if (const auto* var = llvm::dyn_cast<ast::VarPat>(pat)) name = var->name;
      if (const auto* as = llvm::dyn_cast<ast::AsPat>(pat)) name = as->name;
      // Two parameters may not share a name.
      while (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), name) != names.begin() + static_cast<std::ptrdiff_t>(i))
        name = Intern(std::string(Text(name)) + "'");
      names[i] = name;
    }
  }
  return names;
}

class EntryMaker {
 public:
  EntryMaker(Pipeline& pipeline, const ast::Ast& ast) : pipeline_(pipeline), program_(pipeline.session.program), ast_(ast) {}

  bool Run(llvm::ArrayRef<std::string> names) {
    bool fine = true;
    for (const std::string& name : names) fine &= Add(name);
    if (!fine) return false;
    Define();
    return true;
  }

 private:
  bool Add(const std::string& name) {
    Diagnostics& diags = pipeline_.diags;
    const core::VarId var = pipeline_.DefinitionNamed(name);
    if (!var.valid() || program_.vars[var].from_library) {
      diags.Report(Diag::UnknownName, {}, name);
      std::vector<std::string_view> all;
      for (const core::Definition& definition : program_.definitions)
        if (!program_.vars[definition.var].from_library) all.push_back(Text(program_.vars[definition.var].name));
      if (std::string_view near = NearestName(name, all); !near.empty()) diags.Hint(fmt::format("did you mean `{}`?", near));
      else diags.Hint("`--export` takes names of the program's own definitions");
      return false;
    }
    const core::Scheme scheme = program_.vars[var].scheme;
    const Span span = program_.vars[var].span;
    if (!scheme.tyvars.empty()) {
      diags.Report(Diag::MainType, span, fmt::format("`{}`", name), program_.types.Print(scheme.type), "exported as it is open")
          .Hint(fmt::format("a host program calls it at one type: export a definition with a signature without variables, `{}At = {}`", name, name));
      return false;
    }
    Exported exported{var, {}, {}, {}};
    exported.result = program_.types.SplitFun(scheme.type, exported.params);
    exported.names = ParameterNames(ast_, program_.vars[var].name, exported.params.size());
    auto plain = [&](const std::string& who, TypeId type, const char* what) {
      llvm::DenseSet<uint32_t> seen;
      if (!HoldsFunction(program_, type, seen)) return true;
      diags.Report(Diag::MainType, span, who, program_.types.Print(type), what)
          .Hint("values go in and out of a graph, and functions and actions do not");
      return false;
    };
    for (size_t i = 0; i < exported.params.size(); ++i)
      if (!plain(fmt::format("the parameter `{}` of `{}`", Text(exported.names[i]), name), exported.params[i], "given as an input")) return false;
    if (!plain(fmt::format("the result of `{}`", name), exported.result, "given out")) return false;
    for (const Exported& other : entries_)
      if (other.var == var) return true;  // named twice
    entries_.push_back(std::move(exported));
    return true;
  }

  core::ConId Constructor(TyConId tycon, const Exported& entry, std::vector<core::Field> fields) {
    core::DataCon con;
    con.name = program_.vars[entry.var].name;
    con.tycon = tycon;
    con.index = static_cast<uint32_t>(program_.types.cons[tycon].constructors.size());
    con.fields = std::move(fields);
    con.span = program_.vars[entry.var].span;
    const core::ConId id = program_.constructors.Add(std::move(con));
    program_.types.cons[tycon].constructors.push_back(id);
    return id;
  }
  TyConId Declare(const char* name) {
    TyCon con;
    con.name = Intern(name);
    return program_.types.cons.Add(std::move(con));
  }
  const core::Expr* Use(core::VarId var, Span span) {
    core::VarExpr node{};
    node.type = program_.vars[var].scheme.type;
    node.span = span;
    node.var = var;
    return program_.New(node);
  }
  const core::Expr* Apply(const core::Expr* fn, llvm::ArrayRef<const core::Expr*> args, TypeId type, Span span) {
    if (args.empty()) return fn;
    core::AppExpr node{};
    node.type = type;
    node.span = span;
    node.fn = fn;
    node.args = program_.Copy<const core::Expr*>(args);
    return program_.New(node);
  }

  // \call -> case call of { predict a b -> predict (predict a b); .. }, the constructors named as what they call.
  void Define() {
    Types& types = program_.types;
    const TyConId call = Declare("<call>"), answer = Declare("<answer>");
    const TypeId call_type = types.Con(call), answer_type = types.Con(answer);
    const Span span = program_.vars[entries_[0].var].span;
    const core::VarId given = program_.NewLocal(Intern("call"), call_type, span);
    std::vector<core::Alt> alts;
    for (const Exported& entry : entries_) {
      const Span at = program_.vars[entry.var].span;
      std::vector<core::Field> fields;
      for (size_t i = 0; i < entry.params.size(); ++i) fields.push_back({entry.params[i], entry.names[i], true});
      core::Alt alt{};
      alt.kind = core::AltKind::Con;
      alt.con = Constructor(call, entry, std::move(fields));
      llvm::SmallVector<core::VarId> vars;
      llvm::SmallVector<const core::Expr*> args;
      for (size_t i = 0; i < entry.params.size(); ++i) {
        vars.push_back(program_.NewLocal(entry.names[i], entry.params[i], at));
        args.push_back(Use(vars.back(), at));
      }
      alt.vars = program_.Copy<core::VarId>(vars);
      core::ConExpr gives{};
      gives.con = Constructor(answer, entry, {{entry.result, Symbol(), true}});
      gives.type = types.Fun(entry.result, answer_type);
      gives.span = at;
      alt.body = Apply(program_.New(gives), {Apply(Use(entry.var, at), args, entry.result, at)}, answer_type, at);
      alts.push_back(alt);
    }
    core::CaseExpr which{};
    which.type = answer_type;
    which.span = span;
    which.scrutinee = Use(given, span);
    which.alts = program_.Copy<core::Alt>(alts);
    core::LambdaExpr main{};
    main.type = types.Fun(call_type, answer_type);
    main.span = span;
    main.params = program_.Copy<core::VarId>({given});
    main.body = program_.New(which);
    const core::VarId top = program_.NewLocal(Intern("main"), main.type, span);
    program_.vars[top].kind = core::VarKind::Top;
    program_.Define(top, program_.New(main));
    program_.main = top;
    program_.main_params = {Intern(ir::kEntryCall)};
    program_.main_param_sizes.clear();
    program_.main_unshown = false;
  }

  Pipeline& pipeline_;
  core::Program& program_;
  const ast::Ast& ast_;
  std::vector<Exported> entries_;
};

}  // namespace

bool DefineEntries(Pipeline& pipeline, const ast::Ast& ast, llvm::ArrayRef<std::string> names) {
  PassScope pass("export");
  return EntryMaker(pipeline, ast).Run(names);
}

bool ChooseEntry(ir::Graph& graph, const Options& options, Diagnostics& diags) {
  const std::vector<ir::Entry> entries = ir::EntriesOf(graph);
  if (entries.empty() && options.entry.empty()) return true;
  std::vector<std::string> names;
  for (const ir::Entry& entry : entries) names.push_back(entry.name);
  const auto found = entries.size() == 1 && options.entry.empty() ? names.begin() : llvm::find(names, options.entry);
  if (found != names.end()) {
    ir::LeaveEntry(graph, static_cast<size_t>(found - names.begin()));
    return true;
  }
  if (options.entry.empty()) diags.Report(Diag::NoMain, {}, graph.name);
  else diags.Report(Diag::UnknownName, {}, options.entry);
  if (names.empty()) diags.Hint("the graph has `main` alone: `--export` gives it entries when it is compiled");
  else diags.Hint(fmt::format("`--entry NAME` runs one of: {}", fmt::join(names, ", ")));
  return false;
}

}  // namespace df
