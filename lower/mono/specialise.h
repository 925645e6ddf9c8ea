// lower/mono/specialise.h
//
// Typed core -> mono::Program: every function once per ground types at which main needs it; methods at ground types
// become the functions of their instances; literals become constants; newtypes vanish. Internal to this folder.
#pragma once

#include <deque>
#include <optional>
#include <set>

#include "lower/graph/function_graph.h"
#include "lower/mono/mono.h"
#include "tagged_ir/action.h"

namespace df::mono {

class Specialiser {
 public:
  Specialiser(Program& program, const LowerOptions& options);
  bool Run(core::VarId entry);

 private:
  using TypeArgs = std::vector<df::TypeId>;
  // A local variable and the instances that its scope has asked for so far.
  struct Local {
    const core::Binding* binding = nullptr;  // null: bound by a lambda or a case, never polymorphic
    std::vector<std::pair<TypeArgs, VarId>> instances;
  };
  // Where the program asks for a function, and for which: of what a function of the library asks for, where the program
  // called the library.
  struct Use {
    Span span;
    Symbol name;
    std::string function;  // where it is
  };
  struct Work {
    FunId fun;
    core::VarId top;
    TypeArgs types;
    Use use;
    bool by_itself;  // another copy of the same definition asked for it
  };

  static constexpr uint32_t kMaxTypeNodes = 1000;  // of one type
  static constexpr uint32_t kFewCopies = 4;
  static constexpr size_t kMostVariants = 200;  // of one constructor that hides types
  void CountTypeNodes(df::TypeId type, uint32_t& count) const;
  bool AnyIsLarge(const TypeArgs& types) const;
  FunId Instance(core::VarId top, const TypeArgs& types, Span use);
  void NoteTextFunction(const core::Var& var, const TypeArgs& types, FunId id);
  void Translate(const Work& work);
  void ShowMain(df::TypeId main, Span span);
  TypeArgs DefaultTypes(const core::Scheme& scheme) const;
  // The instance of a class at a type, and what its type variables stand for; null if there is none.
  const core::Instance* FindInstance(core::ClassId cls, df::TypeId type, TypeArgs& bound) const;
  // Finds what a method is at its first type argument: a definition and its own type arguments.
  bool Resolve(core::VarId method, const TypeArgs& types, core::VarId& top, TypeArgs& top_types);
  bool MatchType(df::TypeId pattern, df::TypeId type, llvm::ArrayRef<TyVarId> vars,
                 llvm::MutableArrayRef<df::TypeId> bound) const;

  df::TypeId Ground(df::TypeId type);
  TypeArgs Ground(llvm::ArrayRef<df::TypeId> types);
  ir::PosId Pos(Span span) { return p_.PosOf(span, function_name_); }

  Expr* Expression(const core::Expr* expr);
  Expr* Variable(const core::VarExpr* expr);
  Expr* TopVariable(core::VarId top, const TypeArgs& types, df::TypeId type, Span span);
  Expr* Application(const core::AppExpr* expr);
  Expr* FunctionArgument(Expr* arg);
  core::VarId PrimitiveOf(const core::VarExpr* expr);
  Expr* Saturated(core::ConId con, core::VarId prim, const core::Expr* head, llvm::ArrayRef<Expr*> args,
                  df::TypeId type, ir::PosId pos);
  // `hidden`: what the constructor hides.
  Expr* Construction(core::ConId con, const TypeArgs& hidden, llvm::ArrayRef<Expr*> args, df::TypeId type, Span span, ir::PosId pos);
  void ReportPacked(df::TypeId type, core::ConId con, Span span);
  Expr* PackedCase(const core::CaseExpr* expr, Expr* scrutinee);
  Expr* Coerced(Expr* value, df::TypeId type, Span span, ir::PosId pos);
  Expr* Primitive(core::VarId prim, llvm::ArrayRef<Expr*> args, df::TypeId type, Span span, ir::PosId pos);
  // Whether the shapes of an op's tensors fit; reports it otherwise, once for each place, which is one in the program.
  bool CheckTensors(std::string_view name, const Expr* op, Span span);
  uint32_t ElementNumber(const Expr* op);
  bool Differentiates();
  Expr* Derivative(fg::DiffMode mode, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  // specialise_each.cpp
  Expr* Each(std::string_view op, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  Expr* EachBody(std::string_view op, llvm::ArrayRef<VarId> params, df::TypeId type, ir::PosId pos);
  bool HasReals(df::TypeId type);
  // What an element of an array of evaluated ones is before anything was put there; `depth`: of how many types this is a part.
  Expr* Zero(df::TypeId type, int depth, ir::PosId pos);
  llvm::SmallVector<df::TypeId> FieldTypes(df::TypeId type, core::ConId con);

  // specialise_poly.cpp
  Expr* PolyValue(const core::VarExpr* expr);
  Expr* PolyUse(const core::VarExpr* expr);
  void ReportPoly(df::TypeId type, Span span);
  void SettlePolys();
  Expr* LocalVariable(core::VarId var, const TypeArgs& types, df::TypeId type, Span span);

  // specialise_packed.cpp
  core::ConId PackedAt(df::TypeId packed, df::TypeId type);
  Expr* Packed(Expr* value, df::TypeId packed, ir::PosId pos);
  Expr* Unpacked(Expr* packed, df::TypeId maybe, ir::PosId pos);

  Expr* Failure(Expr* message, uint32_t kind, df::TypeId type, Span span, ir::PosId pos);
  Expr* Let(const core::LetExpr* expr);
  Expr* Case(const core::CaseExpr* expr);
  VarId NewLocal(core::VarId var);

  // specialise_literal.cpp
  Expr* Literal(core::LiteralKind kind, std::string_view text, df::TypeId type, Span span);
  Expr* StringLiteral(std::string_view text, df::TypeId type, Span span);
  core::VarId LibraryFunction(std::string_view name);
  core::VarId LibraryMethod(std::string_view cls, std::string_view method) const;
  Expr* LiteralByClass(const char* cls, const char* method, Expr* argument, df::TypeId type, Span span);
  ir::Constant NumberConstant(df::Builtin builtin, core::LiteralKind kind, std::string_view text);

  Program& p_;
  LowerOptions options_;
  llvm::DenseMap<uint32_t, uint32_t> copies_of_;  // by top-level variable
  std::map<std::pair<uint32_t, TypeArgs>, FunId> instances_;
  // Instances of the source, by class and head of their types: a class may have thousands.
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, llvm::SmallVector<const core::Instance*, 1>> instances_at_;
  std::map<std::pair<std::string, std::vector<df::TypeId>>, FunId> each_;  // by op, types of result and arguments
  std::deque<Work> work_;
  bool too_many_ = false;
  // Functions with a match of a type that hides types, by the type: each new constructor asks for them anew.
  std::map<uint32_t, std::vector<Work>> looks_at_;
  std::map<uint32_t, std::vector<Work>> makes_;  // functions that make polymorphic values, by the type: each new use asks for them anew
  std::vector<Expr*> poly_values_, poly_uses_;
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> bad_shapes_;  // places of primitives that were reported: file, begin
  std::set<std::pair<std::string, std::string>> open_shapes_;  // functions of the program and the types in them that nothing settles: reported
  std::optional<bool> differentiates_;  // once asked: whether the module Gradient was read

  // Of the definition that is being translated:
  std::string function_name_;
  core::VarId current_;
  bool calls_itself_ = false;  // Work::by_itself
  std::optional<Use> called_;  // if it is of the library
  const Work* doing_ = nullptr;
  llvm::SmallVector<TyVarId> type_vars_;
  llvm::SmallVector<df::TypeId> type_values_;
  llvm::DenseMap<uint32_t, Local> locals_;
  llvm::StringMap<core::VarId> library_functions_;  // those that were asked for
};

}  // namespace df::mono
