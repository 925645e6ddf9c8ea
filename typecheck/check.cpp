#include "typecheck/check.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "lang/budget.h"
#include "llvm/ADT/ScopeExit.h"
#include "typecheck/explain/name.h"
#include "typecheck/module.h"
#include "typecheck/session.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"

namespace df {

CheckSession::CheckSession() : impl_(std::make_unique<Impl>()) {
  check::DeclareBuiltins(impl_->env, program);
}
CheckSession::~CheckSession() = default;
CheckSession::CheckSession(CheckSession&&) noexcept = default;

bool CheckSession::Check(const ast::Ast& ast, Diagnostics& diags, const FixityScope& scope, const CheckOptions& options) {
  check::Env& env = impl_->env;
  check::Scope before = env.user;
  bool started = env.user_started;
  const size_t imports = env.prompt_imports.size();
  core::VarId main = program.main;
  std::vector<Symbol> main_params = program.main_params;
  // What was wrong leaves no trace at the prompt.
  auto forget = [&] {
    env.user = std::move(before);
    env.user_started = started;
    env.prompt_imports.resize(std::min(imports, env.prompt_imports.size()));
    program.main = main;
    program.main_params = std::move(main_params);
  };
  bool ok = false;
  try {
    check::State state(program, env, diags, options, ast, scope.fixities);
    ok = check::CheckModule(state);
  } catch (const BudgetExceeded&) {
    forget();
    throw;
  }
  if (!ok && options.repl) {
    forget();
  } else if (options.repl && started) {
    BudgetScope unwatched(nullptr);  // it is checked: what looks at it now cannot end it any more
    impl_->FindOutdated(program, before);
  }
  return ok;
}

void CheckSession::EnterImported(const ast::Ast& ast, Diagnostics& diags) {
  if (!impl_->main_started) {
    impl_->main_started = true;
    main_scope = ScopeOfImports(ast, diags, false);
    return;
  }
  const CheckOptions options;
  const check::State state(program, impl_->env, diags, options, ast, main_scope.fixities);
  check::EnterImported(state, impl_->known_fixities, main_scope);
}

bool CheckSession::HasModule(Symbol name) const {
  return impl_->env.own_modules.count(name) != 0 || impl_->env.modules.count(name) != 0;
}

void CheckSession::ReportUnknownModules(const ast::Ast& ast, Diagnostics& diags, llvm::function_ref<bool(const ast::Import&)> is_missing) {
  const CheckOptions options;
  check::State state(program, impl_->env, diags, options, ast, main_scope.fixities);
  for (const ast::Import& import : ast.module.imports)
    if (is_missing(import)) check::ReportUnknownModule(state, import);
}

FixityScope CheckSession::ScopeOfImports(const ast::Ast& ast, Diagnostics& diags, bool library) {
  CheckOptions options;
  options.library = library;
  FixityScope scope;
  const check::State state(program, impl_->env, diags, options, ast, scope.fixities);
  const Symbol prelude = Intern("Prelude");
  if (check::ImportsPrelude(state)) {
    // Nearly every module begins so: entered once, copied since.
    if (impl_->prelude_scope.fixities.empty()) {
      scope.fixities[Intern(":").index] = {ast::Associativity::Right, 5};
      ast::Import implicit = {};
      implicit.module.text = prelude;
      check::EnterImport(state, implicit, impl_->known_fixities, scope);
      if (impl_->env.modules.count(prelude)) impl_->prelude_scope = scope;
    } else {
      scope = impl_->prelude_scope;
    }
  } else {
    scope.fixities[Intern(":").index] = {ast::Associativity::Right, 5};
  }
  check::EnterImported(state, impl_->known_fixities, scope);
  return scope;
}

void CheckSession::KeepFixities(Symbol module, const FixityScope& scope, bool library) {
  auto keep = [&](Symbol name, uint64_t key) {
    // One that came from a module below has its fixity already.
    auto fixity = scope.fixities.find(name.index);
    impl_->known_fixities.try_emplace(key, fixity == scope.fixities.end() ? Fixity{} : fixity->second);
  };
  const check::ModuleExports& exports = (library ? impl_->env.modules : impl_->env.own_modules)[module];
  for (const auto& [name, var] : exports.values) keep(name, check::FixityKey(var));
  for (const auto& [name, con] : exports.constructors) keep(name, check::FixityKey(con));
}

std::vector<Symbol> CheckSession::PromptImports() const {
  std::vector<Symbol> modules;
  for (const check::PromptImport& import : impl_->env.prompt_imports)
    if (!llvm::is_contained(modules, import.module)) modules.push_back(import.module);
  return modules;
}

bool CheckSession::RemoveImport(Symbol module) {
  check::Env& env = impl_->env;
  // Calls visit(names of the scope, names of an import) for each kind of name.
  auto each_kind = [&](const check::ModuleExports& names, auto visit) {
    visit(env.user.values, names.values);
    visit(env.user.constructors, names.constructors);
    visit(env.user.types, names.types);
    visit(env.user.classes, names.classes);
  };
  auto set_fixity = [&](Symbol name, Symbol qualifier, const auto& entity, bool there) {
    using Entity = std::decay_t<decltype(entity)>;
    if constexpr (std::is_same_v<Entity, core::VarId> || std::is_same_v<Entity, core::ConId>) {
      const Fixity fixity = there ? impl_->known_fixities.lookup(check::FixityKey(entity)) : Fixity{};
      if (qualifier.valid()) main_scope.qualified[Written(qualifier, name)] = fixity;
      else main_scope.fixities[name.index] = fixity;
    }
  };
  std::vector<check::PromptImport> kept;
  bool found = false;
  for (check::PromptImport& import : env.prompt_imports) {
    if (import.module != module) {
      kept.push_back(std::move(import));
      continue;
    }
    found = true;
    each_kind(import.names, [&](auto& scope, const auto& names) {
      for (const auto& [name, entity] : names)
        for (Symbol qualifier : {import.qualifier, Symbol()}) {
          // Something else may have the name since.
          const auto* now = scope.Find(name, qualifier);
          if (!now || !check::IsSame(*now, entity)) continue;
          scope.Remove(name, qualifier);
          set_fixity(name, qualifier, entity, false);
        }
    });
  }
  env.prompt_imports = std::move(kept);
  // What another import brings as well is there still.
  for (const check::PromptImport& import : env.prompt_imports)
    each_kind(import.names, [&](auto& scope, const auto& names) {
      for (const auto& [name, entity] : names)
        for (Symbol qualifier : {import.qualifier, Symbol()}) {
          if ((!qualifier.valid() && import.qualified) || scope.Find(name, qualifier) || check::IsLibraryOnly(name)) continue;
          scope.Add(name, entity, qualifier);
          set_fixity(name, qualifier, entity, true);
        }
    });
  return found;
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
  {
    auto forget = llvm::make_scope_exit([&] {
      env.user = std::move(before);
      env.user_started = started;
    });
    check::State state(program, env, diags, options, ast, main_scope.fixities);
    if (check::CheckModule(state))
      if (const core::VarId* it = env.user.values.Find(name))
        type = PrintScheme(program.vars[*it].scheme);
  }
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
