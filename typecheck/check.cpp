#include "typecheck/check.h"

#include <cassert>

#include "typecheck/session.h"

namespace df {

CheckSession::CheckSession() : impl_(std::make_unique<Impl>()) {
  check::DeclareBuiltins(impl_->env, program);
  fixities[Intern(":").index] = {ast::Associativity::Right, 5};
}
CheckSession::~CheckSession() = default;
CheckSession::CheckSession(CheckSession&&) noexcept = default;

bool CheckSession::Check(const ast::Ast& ast, Diagnostics& diags, const CheckOptions& options) {
  check::Env& env = impl_->env;
  check::Scope before = env.user;
  bool started = env.user_started;
  core::VarId main = program.main;
  std::vector<Symbol> main_params = program.main_params;
  bool ok = check::Checker(program, env, diags, options, ast, fixities).Run();
  if (!ok && options.repl) {
    // What was wrong leaves no trace at the prompt.
    env.user = std::move(before);
    env.user_started = started;
    program.main = main;
    program.main_params = std::move(main_params);
  } else if (options.repl && started) {
    impl_->FindOutdated(program, before);
  }
  return ok;
}

void CheckSession::EnterImported(const ast::Ast& ast, Diagnostics& diags) {
  check::Checker(program, impl_->env, diags, CheckOptions(), ast, fixities)
      .EnterImported(impl_->own_fixities, fixities, qualified, records);
}

bool CheckSession::HasModule(Symbol name) const {
  return impl_->env.own_modules.count(name) != 0 || impl_->env.modules.count(name) != 0;
}

void CheckSession::ReportUnknownModules(const ast::Ast& ast, Diagnostics& diags, llvm::function_ref<bool(const ast::Import&)> is_missing) {
  const CheckOptions options;
  check::Checker checker(program, impl_->env, diags, options, ast, fixities);
  for (const ast::Import& import : ast.module.imports)
    if (is_missing(import)) checker.ReportUnknownModule(import);
}

void CheckSession::KeepFixities(Symbol module) {
  auto keep = [&](Symbol name, uint64_t key) {
    // One that came from a module below has its fixity already.
    auto fixity = fixities.find(name.index);
    impl_->own_fixities.try_emplace(key, fixity == fixities.end() ? Fixity{} : fixity->second);
  };
  const check::ModuleExports& exports = impl_->env.own_modules[module];
  for (const auto& [name, var] : exports.values)
    if (!program.vars[var].from_library) keep(name, check::FixityKey(var));
  for (const auto& [name, con] : exports.constructors)
    if (impl_->env.library_files.count(program.constructors[con].span.file.index) == 0) keep(name, check::FixityKey(con));
}

void CheckSession::KeepLibraryFixities(Symbol module) {
  auto keep = [&](Symbol name, uint64_t key) {
    auto fixity = fixities.find(name.index);
    impl_->own_fixities.try_emplace(key, fixity == fixities.end() ? Fixity{} : fixity->second);
  };
  const check::ModuleExports& exports = impl_->env.modules[module];
  for (const auto& [name, var] : exports.values) keep(name, check::FixityKey(var));
  for (const auto& [name, con] : exports.constructors) keep(name, check::FixityKey(con));
}

std::string CheckSession::TypeOfExpression(const ast::Ast& ast, Diagnostics& diags) {
  check::Env& env = impl_->env;
  check::Scope before = env.user;
  bool started = env.user_started;
  CheckOptions options;
  options.repl = true;
  options.warnings = false;
  options.restricted = false;
  // `it` in the expression is the value before.
  const Symbol name = Intern("%type");
  llvm::cast<ast::FunctionDecl>(ast.module.decls.back())->name.text = name;
  options.entry = name;
  [[maybe_unused]] const uint32_t definitions = static_cast<uint32_t>(program.definitions.size());
  std::string type;
  if (check::Checker(program, env, diags, options, ast, fixities).Run())
    if (const core::VarId* it = env.user.values.Find(name))
      type = PrintScheme(program.vars[*it].scheme);
  env.user = std::move(before);
  env.user_started = started;
  assert(program.definitions.size() == definitions);
  return type;
}

std::string CheckSession::PrintScheme(const core::Scheme& scheme) const {
  return check::PrintScheme(program, scheme);
}

std::string CheckSession::TypeOf(Symbol name, Symbol qualifier) const {
  const check::Scope& scope = impl_->env.user_started ? impl_->env.user : impl_->env.library;
  std::string shown = check::PrintName(name);
  if (qualifier.valid()) shown = shown[0] == '(' ? fmt::format("({}.{}", Text(qualifier), shown.substr(1)) : fmt::format("{}.{}", Text(qualifier), shown);
  if (const core::VarId* var = scope.values.Find(name, qualifier))
    return shown + " :: " + PrintScheme(program.vars[*var].scheme);
  if (const core::ConId* con = scope.constructors.Find(name, qualifier)) {
    return shown + " :: " + PrintScheme(check::SchemeOf(program, *con));
  }
  return "";
}

core::ConId CheckSession::AnswerOf(Symbol action, Symbol constructor) {
  check::Env& env = impl_->env;
  const core::VarId* var = env.user.values.Find(action);
  const check::TypeName* answer = env.library.types.Find(Intern("PrimAnswer"));
  if (!var || !answer) return {};
  TypeId type = program.vars[*var].scheme.type;
  if (program.types.BuiltinOf(type) != Builtin::IO) return {};
  std::vector<core::ConId>& constructors = program.types.cons[answer->con].constructors;
  core::DataCon con;
  con.name = constructor;
  con.tycon = answer->con;
  con.index = static_cast<uint32_t>(constructors.size());
  con.fields.push_back({program.types.ArgOf(type), Symbol(), false});
  core::ConId id = program.constructors.Add(std::move(con));
  constructors.push_back(id);
  env.library.constructors.Add(constructor, id);
  return id;
}

std::vector<std::string_view> CheckSession::Names() const {
  const check::Scope& scope = impl_->env.user_started ? impl_->env.user : impl_->env.library;
  std::vector<std::string_view> names;
  scope.values.ForEach([&](Symbol name, core::VarId) { names.push_back(Text(name)); });
  scope.constructors.ForEach([&](Symbol name, core::ConId) { names.push_back(Text(name)); });
  scope.types.ForEach([&](Symbol name, const check::TypeName&) { names.push_back(Text(name)); });
  scope.classes.ForEach([&](Symbol name, core::ClassId) { names.push_back(Text(name)); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace df
