// typecheck/state/state.h
//
// The state of a check of one module, which the rooms of the checker share: each is functions that take it.
//
// Expected types are pushed inwards together with the Reason for them, so that a clash is reported at the
// smallest expression and can name the place of its other half. After an error the expression becomes an
// Error node of the expected type, which clashes with nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "parser/fixity.h"
#include "typecheck/state/options.h"
#include "typecheck/state/parts.h"
#include "typecheck/types/unify.h"

namespace df::check {

struct State {
  State(core::Program& program, Env& env, Diagnostics& diags, const CheckOptions& options, const ast::Ast& ast, const FixityTable& fixities);

  // Reports an error, and remembers that the expression around it holds one.
  template <typename... Args>
  Diagnostics& Error(Diag id, Span span, const Args&... args) {
    if (region.valid()) tainted.push_back(region);
    return diags.Report(id, span, args...);
  }
  // How many errors there are, those among them that are not told.
  uint32_t Failures() const { return diags.error_count() + unreported; }
  // A new node of core.
  template <typename T>
  T* Node(T node) {
    T* made = const_cast<T*>(program.New(std::move(node)));
    exprs.push_back(made);
    return made;
  }
  // How many local variables are bound: what UnbindTo (names.h) goes back to.
  size_t LocalMark() const { return local_trail.size(); }

  core::Program& program;
  Types& types;
  Env& env;
  Diagnostics& diags;
  const CheckOptions& options;
  const ast::Module& module;
  const FixityTable& fixities;  // for derived Show
  ast::Ast generated;           // derived instances, as syntax
  Unifier unify;
  bool strict = false;          // LANGUAGE Strict
  bool string_classes = false;  // LANGUAGE OverloadedStrings

  // ---- names
  Scope own_scope;  // of a library module
  Scope* scope = nullptr;
  Symbol generated_qualifier;                                     // marks names that mean the library's, whatever is in scope
  llvm::DenseMap<uint32_t, llvm::SmallVector<VarId, 1>> locals;  // by symbol, innermost last
  std::vector<Symbol> local_trail;
  ScopedTypes scoped_types;  // ScopedTypeVariables, innermost last
  ModuleExports exports;
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, bool> ambiguous;  // by qualifier and name: reported once
  std::vector<ast::Import> failed_imports;                        // what they name is not reported again
  std::vector<Span> maybe_imported;                               // such names
  bool maybe_imported_type = false;                               // one of them is a type or a class
  std::vector<Span> unbound;                                      // names that are not in scope
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> unbound_here;     // those reported, with their `definition`
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> unbound_types;    // types and classes reported already
  llvm::DenseSet<uint32_t> meant_as_functions;                    // names with a capital that are defined as functions

  // ---- constraints
  std::vector<Wanted> wanted;
  std::vector<std::pair<Span, Reason>> deferred;  // where the equations of Unifier::deferred come from
  std::vector<std::pair<ClassId, TypeId>> givens;
  // Goals whose instances ask for more than they give: met again below itself, such a goal holds (`Show (Fix f)` needs
  // `Show (f (Fix f))`, and that `Show (Fix f)`).
  std::vector<std::pair<ClassId, TypeId>> solving;
  size_t assumed = SIZE_MAX;                               // the first of these that was met again
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> solved;   // class and type: instances that are there, of types without variables
  std::vector<std::tuple<ClassId, TypeId, uint32_t>> reported;  // missing instances, with their `definition`

  // ---- the definitions that are being inferred
  llvm::DenseMap<uint32_t, std::vector<core::VarExpr*>> group_uses;  // of the groups being inferred
  llvm::DenseSet<uint32_t> broken;                                   // variables whose definition failed: every use has any type
  llvm::DenseMap<uint32_t, Signature*> signature_of;                 // for messages
  std::vector<std::unique_ptr<Signature>> signatures;
  uint32_t definition = 0;              // counts top-level groups and methods
  TyConId instance_type;                // of the instance whose methods are checked
  const ast::LambdaExpr* lambda = nullptr;     // the innermost one whose body is being checked
  llvm::ArrayRef<const ast::Expr*> siblings;  // the arguments of the call of which one is being checked
  VarId subject;                               // the variable that is being checked by itself
  TypeId constructed_type;                     // expected of what a constructor that is being looked up makes
  std::vector<TypedHole> holes;
  std::vector<StateUse> state_uses;
  bool may_open = false;  // the patterns here may be of constructors that hide types (infer/pattern_scope.h)
  std::vector<TypeId> default_types;  // of a `default` declaration
  bool has_defaults = false;

  // ---- for messages
  Span region;  // the expression whose errors may have follow-ups
  std::vector<Span> tainted;
  uint32_t unreported = 0;          // errors that follow from what was reported, and fail a definition all the same
  llvm::DenseSet<uint32_t> refuted;  // variables of signatures that the definition needs at a particular type
  std::vector<std::tuple<Span, TyVarId, TyVarId>> rigid_clashes;  // of two variables of signatures, and where it was said
  llvm::DenseSet<uint32_t> escaped;                               // variables of signatures that would escape, reported once
  std::vector<Place> places;                                      // what Unifier::place counts
  llvm::DenseMap<uint32_t, Reason> var_reasons;                   // pattern variables: why they have their type
  llvm::DenseMap<uint32_t, std::string> restricted;               // by the monomorphism restriction: the type without it
  std::vector<std::pair<Span, std::string>> between;              // parameters that look like the left side of a function, with a hint
  llvm::DenseSet<uint32_t> unreached;                             // guards that were warned of, by where they begin
  Span negative;                                                  // `1 xs` in `take -1 xs`: told already
  std::vector<std::pair<Span, std::string>> dots;                 // parameters before a dot, as if what follows were a field
  std::vector<std::pair<Span, std::string>> order_hints;  // calls whose arguments seem to stand in another order, should an instance miss
  std::vector<std::pair<Span, Span>> witnesses;           // blocks of statements, with one that is surely an action of IO

  // ---- what this run made
  std::vector<core::Expr*> exprs;  // for ZonkAll
  std::vector<core::Pat*> pats;
  uint32_t first_var = 0;
  std::vector<core::Definition> definitions;
  llvm::DenseMap<uint32_t, TypeId> final_types;

  // ---- the declarations of the module
  std::vector<std::pair<const ast::DataDecl*, TyConId>> data;
  std::vector<std::pair<const ast::TypeSynonymDecl*, uint32_t>> synonym_decls;
  std::vector<std::pair<const ast::TypeFamilyDecl*, TyConId>> families;
  std::vector<std::pair<uint32_t, size_t>> grown_families;  // by number, with how many equations they had before each that this run added
  std::vector<uint8_t> synonym_state;  // 0 not yet, 1 being read, 2 done
  uint32_t first_synonym = 0;
  std::vector<std::pair<const ast::ClassDecl*, ClassId>> classes;
  std::vector<std::pair<const ast::InstanceDecl*, InstanceId>> instances;
  std::vector<DerivedContext> derived;
  std::vector<InstanceId> registered;  // in this run
  std::vector<InstanceId> replaced;    // at the prompt, by those
  std::vector<KindId> open_kinds;
  llvm::DenseMap<uint32_t, const ast::Type*> written_kinds;  // by where the variable begins
};

}  // namespace df::check
