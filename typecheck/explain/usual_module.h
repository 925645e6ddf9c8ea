// typecheck/explain/usual_module.h
//
// Where the library has a name that a program does not import: for hints.
#pragma once

#include "lang/diagnostics.h"

namespace df::check {

// Of a name with letters, not of an operator.
bool IsPartOfName(char c);

// Does the module's text declare the name, or its export list name it? A module that nobody has imported is not
// loaded, so its text is all there is to look at.
bool ModuleOffers(std::string_view text, std::string_view name);

// The module that most programs take the name from; empty if the library has none. `missing` is what is reported.
std::string_view UsualModule(std::string_view name, Diag missing);

// Of a name that GHC's module has and ours of that name has not: what is said of it; empty for other names. The first module of those
// below `module` will do as well.
std::string NotHereHint(std::string_view module, std::string_view name);

// What programs call a module that is meant to be imported qualified, `Map` for Data.Map; empty for others.
std::string_view UsualAlias(std::string_view module);

}  // namespace df::check
