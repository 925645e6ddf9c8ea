// typecheck/state/names.h
//
// What names mean: modules, imports, what is in scope, local variables, the library's own. Nothing is reported here
// (resolve/find.h does).
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// What a name is looked up as.
enum class NameKind : uint8_t { Value, Constructor, Type };

// The pattern synonyms of `Seq`, which count as its constructors.
inline constexpr const char* kSequencePatterns[] = {"Empty", ":<|", ":|>"};

// What a name stands for in a scope, or in what a module offers; nullptr if nothing.
template <typename T>
const T* Look(const Names<T>& names, const ast::Name& name) {
  return names.Find(name.text, name.qualifier);
}
template <typename T>
const T* Look(const std::map<Symbol, T>& names, const ast::Name& name) {
  auto it = names.find(name.text);
  return it == names.end() ? nullptr : &it->second;
}

// Whether the module turns the extension on.
bool HasExtension(const State& s, std::string_view name);
// Whether this is a pattern of `Seq` rather than a constructor.
bool IsSequencePattern(const State& s, ConId con);
// `primIntAdd` and its like, which the library keeps to itself.
bool IsLibraryOnly(Symbol name);
// `Prelude.Base`: a part of the Prelude, for library modules alone.
bool IsInternalModule(std::string_view name);
// Whether the Prelude is imported although no import names it.
bool ImportsPrelude(const State& s);
// A module that this one may import; nullptr if none of that name was checked.
const ModuleExports* FindModule(const State& s, Symbol name);
// Whether this is the type `Seq`.
bool HasSequencePatterns(const State& s, const TypeName& type);
// Does an import of this module go by the name? The Prelude needs none, as a rule.
bool IsImportedAs(const State& s, Symbol name);
// Brings a local variable into scope, until UnbindTo goes back to the mark before it (State::LocalMark).
void BindLocal(State& s, Symbol name, VarId var);
void UnbindTo(State& s, size_t mark);
// Does the import bring this name into scope, given that its module has it as an entity of this kind?
bool Provides(const State& s, const ast::Import& import, const ast::Name& name, NameKind kind);
// Whether the variable is in scope, as itself or qualified.
bool IsInScopeAnyhow(const State& s, VarId var);
// Enters the fixities and the records' fields of what one import, or all of the module's, bring into scope.
void EnterImport(const State& s, const ast::Import& import, const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope);
void EnterImported(const State& s, const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope);
bool IsLocal(const State& s, Symbol name);
// The module's name; `Main` if it has none.
Symbol OwnQualifier(const State& s);
bool IsOwnQualifier(const State& s, Symbol qualifier);
// Whether the compiler wrote the name: it means the library's, whatever is in scope.
bool IsGenerated(const State& s, const ast::Name& name);
// What a name means, if anything; nothing is reported.
VarId LookUpValue(const State& s, const ast::Name& name);
ConId LookUpConstructor(const State& s, const ast::Name& name);
// The function by which a pattern synonym takes values apart (parser/parse_synonym.cpp); invalid if the name is none.
VarId SynonymMatcher(const State& s, const ast::Name& name);
const TypeName* LookUpType(const State& s, const ast::Name& name);
// What the library defines under the name; invalid if it has none.
VarId KnownVar(const State& s, const char* name);
ClassId KnownClass(const State& s, const char* name);

// `Main.f`: what this module defines, whatever is imported under the name.
template <typename T>
const T* FindOwn(const State& s, std::map<Symbol, T> ModuleExports::*names, const ast::Name& name) {
  if (!name.qualifier.valid() || !IsOwnQualifier(s, name.qualifier)) return nullptr;
  auto own = (s.exports.*names).find(name.text);
  return own == (s.exports.*names).end() ? nullptr : &own->second;
}

}  // namespace df::check
