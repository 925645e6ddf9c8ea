// The entry: its parameters become the inputs of the graph, its result is shown. Nobody calls it.
#include "llvm/ADT/DenseSet.h"
#include "lower/mono/mono.h"
#include "tagged_ir/action.h"

namespace df::mono {
namespace {

// A type whose values can be read and shown: they hold no functions, however deep. `seen`: the types that are being looked at,
// or were.
bool IsPlain(Program& program, df::TypeId type, llvm::DenseSet<uint32_t>& seen) {
  type = program.Repr(type);
  if (program.IsFunction(type) || program.BuiltinOf(type) == df::Builtin::IO) return false;
  // Types may contain larger and larger ones without end.
  if (!seen.insert(type.index).second || seen.size() > 1000) return true;
  llvm::SmallVector<df::TypeId> args;
  TyConId head = program.core.types.Head(type, &args);
  if (!head.valid()) return true;
  const std::vector<TyVarId> params = program.core.types.cons[head].params;
  const std::vector<core::ConId> constructors(program.ConstructorsOf(type));
  if (params.size() != args.size() || constructors.empty())
    return llvm::all_of(args, [&](df::TypeId arg) { return IsPlain(program, arg, seen); });
  for (core::ConId con : constructors)
    for (const core::Field& field : program.core.constructors[con].fields)
      if (!IsPlain(program, program.core.types.Substitute(field.type, params, args), seen)) return false;
  return true;
}

// A function of the inputs that calls main once, since main calls itself.
void Wrap(Program& program) {
  Function& main = program.functions[program.main];
  Function wrapper;
  wrapper.name = main.name;
  wrapper.source_name = main.source_name;
  wrapper.pos = main.pos;
  wrapper.result = main.result;
  llvm::SmallVector<Expr*, 4> args;
  for (VarId param : main.params) {
    wrapper.params.push_back(program.NewVar(program.vars[param].name, program.vars[param].type));
    args.push_back(program.NewVarExpr(wrapper.params.back(), main.pos));
  }
  Expr* head = program.NewFun(program.main, main.result, main.pos);
  wrapper.body = program.NewApp(head, args, main.result, main.pos);
  main.name = program.UniqueName(main.name);
  program.main = program.functions.Add(std::move(wrapper));
}

// main's value becomes its text, as data of the type by which the run-time system knows that it is one.
void ShowValue(Program& program) {
  Function& main = program.functions[program.main];
  core::ConId shown;
  for (uint32_t i = 0; i < program.core.constructors.size() && !shown.valid(); ++i)
    if (Text(program.core.constructors[core::ConId(i)].name) == ir::kShownText) shown = core::ConId(i);
  const core::DataCon& con = program.core.constructors[shown];
  df::TypeId string = con.fields[0].type;
  Expr* show = program.NewFun(program.show_main, program.core.types.Fun(main.result, string), main.pos);
  main.result = program.core.types.Con(con.tycon);
  Expr* text = program.New(Kind::Con, main.result, main.pos);
  text->con = shown;
  text->args.push_back(program.NewApp(show, main.body, string, main.pos));
  main.body = text;
}

bool Builds(const Program& program, const Expr* expr, llvm::ArrayRef<std::string_view> names) {
  if (!expr) return false;
  if (expr->kind == Kind::Con && llvm::is_contained(names, Text(program.core.constructors[expr->con].name))) return true;
  bool found = false;
  ForEachChild(const_cast<Expr*>(expr), [&](Expr*& child) { found |= Builds(program, child, names); });
  return found;
}

void TakeFirstStep(const Program& program, Expr*& expr) {
  if (expr->kind == Kind::Con && Text(program.core.constructors[expr->con].name) == "PrimServe") expr = expr->args[0];
  ForEachChild(expr, [&](Expr*& child) { TakeFirstStep(program, child); });
}

// An action that asks the root nothing and catches nothing needs no replies: it has its first steps alone, and its type no others.
void DropReplies(Program& program) {
  for (const Function& function : program.functions)
    if (Builds(program, function.body, {"PrimAsk", "PrimCatch", "PrimPutTo", "PrimAgain", "PrimUncatch"})) return;
  program.asks = false;
  for (Function& function : program.functions)
    if (function.body) TakeFirstStep(program, function.body);
  llvm::erase_if(program.host_inputs, [](const Program::HostInput& input) { return input.name == ir::kReplies; });
}

}  // namespace

bool PrepareMain(Program& program) {
  Function& main = program.functions[program.main];
  Span span = program.SpanOf(main.pos);
  auto reject = [&](const std::string& who, df::TypeId type, const char* what) {
    program.diags.Report(Diag::MainType, span, who, program.core.types.Print(type), what);
    return false;
  };
  llvm::DenseSet<uint32_t> seen;
  for (VarId param : main.params)
    if (!IsPlain(program, program.vars[param].type, seen)) return reject(fmt::format("the parameter `{}` of `main`", program.vars[param].name),
                                                               program.vars[param].type, "given as an input");
  program.action = program.BuiltinOf(main.result) == df::Builtin::Action;
  if (!program.action && !program.show_main.valid() && !IsPlain(program, main.result, seen))
    return reject(fmt::format("the result of `{}`", main.source_name), main.result, "shown");
  for (size_t i = 0; i < main.params.size() && i < program.core.main_params.size(); ++i)
    if (std::string_view name = Text(program.core.main_params[i]); !name.empty())
      program.vars[main.params[i]].name = name;

  bool called = llvm::any_of(program.functions, [&](const Function& f) { return Mentions(f.body, program.main); });
  if (called) Wrap(program);
  if (program.show_main.valid()) ShowValue(program);
  if (program.action) DropReplies(program);
  for (const Program::HostInput& input : program.host_inputs) program.functions[program.main].params.push_back(input.var);
  return true;
}

}  // namespace df::mono
