// typecheck/explain/name.h
//
// What is reported of a name that is not in scope.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// That there is no such module.
void ReportUnknownModule(State& s, const ast::Import& import);
// After an import that failed, what it may have brought is not missing a second time.
bool MayBeImported(const State& s, const ast::Name& name);
// That the name is not in scope. `candidates`: what may have been meant.
void ReportUnbound(State& s, Diag id, const ast::Name& name, std::vector<std::string_view> candidates);
// `import Data.Foldable (Foldable)` brings the class alone.
void HintAtMembers(State& s, Symbol method, const ast::Name& cls);
// A module of the program that declares the name, and keeps it for itself.
bool HintAtPrivate(State& s, Symbol module, Symbol name, Diag missing);

}  // namespace df::check
