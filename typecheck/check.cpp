#include "typecheck/check.h"

#include <cassert>

#include "typecheck/checker.h"

namespace df {

struct CheckSession::Impl {
  check::Env env;
};

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
  }
  return ok;
}

std::string CheckSession::TypeOfExpression(const ast::Ast& ast, Diagnostics& diags) {
  check::Env& env = impl_->env;
  check::Scope before = env.user;
  bool started = env.user_started;
  CheckOptions options;
  options.repl = true;
  options.warnings = false;
  options.restricted = false;
  uint32_t definitions = static_cast<uint32_t>(program.definitions.size());
  std::string type;
  if (check::Checker(program, env, diags, options, ast, fixities).Run())
    if (const core::VarId* it = env.user.values.Find(Intern("it")))
      type = PrintScheme(program.vars[*it].scheme);
  env.user = std::move(before);
  env.user_started = started;
  assert(program.definitions.size() == definitions);
  return type;
}

std::string CheckSession::PrintScheme(const core::Scheme& scheme) const {
  return check::PrintScheme(program, scheme);
}

std::string CheckSession::TypeOf(Symbol name) const {
  const check::Scope& scope = impl_->env.user_started ? impl_->env.user : impl_->env.library;
  std::string text(Text(name));
  char first = text.empty() ? '_' : text[0];
  std::string shown = std::isalnum(static_cast<unsigned char>(first)) || first == '_' || first == '(' ||
                              first == '[' || static_cast<unsigned char>(first) >= 0x80
                          ? text
                          : "(" + text + ")";
  if (const core::VarId* var = scope.values.Find(name))
    return shown + " :: " + PrintScheme(program.vars[*var].scheme);
  if (const core::ConId* con = scope.constructors.Find(name)) {
    const core::DataCon& row = program.constructors[*con];
    Types& types = const_cast<Types&>(program.types);
    core::Scheme scheme;
    scheme.tyvars = types.cons[row.tycon].params;
    llvm::SmallVector<TypeId> params;
    for (TyVarId param : scheme.tyvars) params.push_back(types.Var(param));
    scheme.type = types.Con(row.tycon, params);
    for (size_t i = row.fields.size(); i-- > 0;) scheme.type = types.Fun(row.fields[i].type, scheme.type);
    return shown + " :: " + PrintScheme(scheme);
  }
  return "";
}

std::vector<std::string_view> CheckSession::Names() const {
  const check::Scope& scope = impl_->env.user_started ? impl_->env.user : impl_->env.library;
  std::vector<std::string_view> names;
  scope.values.ForEach([&](Symbol name, core::VarId) { names.push_back(Text(name)); });
  scope.constructors.ForEach([&](Symbol name, core::ConId) { names.push_back(Text(name)); });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace df
