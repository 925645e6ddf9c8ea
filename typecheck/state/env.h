// typecheck/state/env.h
//
// What a session knows across modules: names in scope, what each module declares, kinds, synonyms, instances.
#pragma once

#include <map>
#include <string_view>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "typecheck/core/core.h"
#include "typecheck/types/kinds.h"

namespace df::check {

// `type Name params = body`.
struct Synonym {
  Symbol name;
  std::vector<TyVarId> params;
  TypeId body;
  std::vector<KindId> param_kinds;
  KindId result_kind;
  Span span;
};

// What a name of the type namespace stands for (classes have a namespace of their own here).
struct TypeName {
  TyConId con;        // a data type
  uint32_t synonym = UINT32_MAX;
  bool is_synonym() const { return synonym != UINT32_MAX; }
};

// Whether two names of one kind stand for the same thing.
template <typename T>
bool IsSame(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, TypeName>) return a.con == b.con && a.synonym == b.synonym;
  else return a == b;
}

// Name, perhaps qualified -> entity. A later Add hides an earlier one.
template <typename T>
class Names {
 public:
  void Add(Symbol name, T value, Symbol qualifier = {}) { map_[Key(name, qualifier)] = value; }
  const T* Find(Symbol name, Symbol qualifier = {}) const {
    auto it = map_.find(Key(name, qualifier));
    return it == map_.end() ? nullptr : &it->second;
  }
  void Remove(Symbol name, Symbol qualifier = {}) { map_.erase(Key(name, qualifier)); }
  // Calls visit(name, value) for what is in scope unqualified, in no particular order.
  template <typename F>
  void ForEach(F visit) const {
    for (const auto& [key, value] : map_)
      if ((key >> 32) == kNoIndex) visit(Symbol(static_cast<uint32_t>(key)), value);
  }

 private:
  static uint64_t Key(Symbol name, Symbol qualifier) {
    return (static_cast<uint64_t>(qualifier.index) << 32) | name.index;
  }
  llvm::DenseMap<uint64_t, T> map_;
};

struct Scope {
  Names<core::VarId> values;
  Names<core::ConId> constructors;
  Names<TypeName> types;
  Names<core::ClassId> classes;
};

// A value or a constructor as a key of a map of fixities.
inline uint64_t FixityKey(core::VarId var) { return var.index; }
inline uint64_t FixityKey(core::ConId con) { return (uint64_t{1} << 32) | con.index; }

// What a module offers to those who import it.
struct ModuleExports {
  std::map<Symbol, core::VarId> values;
  std::map<Symbol, core::ConId> constructors;
  std::map<Symbol, TypeName> types;
  std::map<Symbol, core::ClassId> classes;
};

// One import at the prompt, with what it brought.
struct PromptImport {
  Symbol module;
  Symbol qualifier;
  bool qualified = false;  // under the qualifier alone
  ModuleExports names;
};

struct Env {
  Kinds kinds;
  std::vector<KindId> tycon_kinds;      // by TyConId
  std::vector<KindId> class_kinds;      // by ClassId: of the class's parameter
  std::vector<Synonym> synonyms;
  std::map<Symbol, ModuleExports> modules;      // the library's
  std::map<Symbol, ModuleExports> own_modules;  // the program's, which go first in a program
  std::map<Symbol, ModuleExports> own_declared;  // all that these declare: for messages
  Scope builtin;   // the types that need no declaration
  Scope library;   // everything that library modules declare: where the checker looks up well-known names
  Scope user;      // what user modules and the REPL see
  bool user_started = false;
  std::vector<PromptImport> prompt_imports;  // in their order, the Prelude first
  // (class, head) -> instances: one, or several for particular types (`C [Int]`, `C [Char]`).
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, llvm::SmallVector<core::InstanceId, 1>> instances;
  llvm::DenseSet<uint32_t> library_files;                                     // by FileId: the library's sources
  llvm::DenseMap<uint32_t, TyConId> promoted;                                 // DataKinds, by ConId: the constructor as a type
  llvm::DenseMap<uint32_t, TyConId> field_owner;                              // selector -> its type

  KindId KindOf(TyConId con) const { return tycon_kinds[con.index]; }
  void SetKind(TyConId con, KindId kind) {
    if (tycon_kinds.size() <= con.index) tycon_kinds.resize(con.index + 1);
    tycon_kinds[con.index] = kind;
  }
  void SetKind(core::ClassId cls, KindId kind) {
    if (class_kinds.size() <= cls.index) class_kinds.resize(cls.index + 1);
    class_kinds[cls.index] = kind;
  }
};

// The built-in type constructors and the constructors of lists, tuples and ().
void DeclareBuiltins(Env& env, core::Program& program);
// The tuple type of `size` with its constructor, made on demand; size >= 2.
core::ConId TupleConstructor(Env& env, core::Program& program, uint32_t size);

}  // namespace df::check
