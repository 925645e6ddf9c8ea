#include "typecheck/state/state.h"

#include "typecheck/state/names.h"

namespace df::check {

State::State(core::Program& program, Env& env, Diagnostics& diags, const CheckOptions& options, const ast::Ast& ast, const FixityTable& fixities)
    : program(program),
      types(program.types),
      env(env),
      diags(diags),
      options(options),
      module(ast.module),
      fixities(fixities),
      unify(program.types),
      generated_qualifier(Intern(ast::kLibraryQualifier)),
      first_var(program.vars.size()) {
  types.tangents_of.clear();
  if (options.library) env.library_files.insert(ast.file.index);
  strict |= HasExtension(*this, "Strict");
  for (const auto& [place, kind] : module.kinds) written_kinds[place.begin] = kind;
  string_classes = HasExtension(*this, "OverloadedStrings");
}

}  // namespace df::check
