// typecheck/resolve/find.h
//
// Look-up of names, with a message where there is none or more than one.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Of several imports with one name, or an import and a definition of this module, none is meant: reported where the
// name is used. `names` is the part of a module's exports that it is looked up in. At the prompt the later one counts.
template <typename T>
bool IsAmbiguous(State& s, std::map<Symbol, T> ModuleExports::*names, const ast::Name& name);
// What a name means; invalid, and reported, if it is nothing or not one thing.
VarId FindValue(State& s, const ast::Name& name);
ConId FindConstructor(State& s, const ast::Name& name);
const TypeName* FindType(State& s, const ast::Name& name);
ClassId FindClass(State& s, const ast::Name& name);
// The class that an unknown name was meant to be: who needs its instance is not told that there is none.
ClassId NearestClass(State& s, const ast::Name& name);
// KnownVar (state/names.h), reported if it is missing. `construct` is what needs it.
VarId Needed(State& s, const char* name, const char* construct, Span span);

}  // namespace df::check
