// typecheck/checker.h
//
// The checker of one module: one class, its members spread over files by subject.
//
//   scope.cpp         imports, look-up of names; explain/name.cpp: what is reported when there is none
//   types_syntax.cpp  types as written -> types, with kinds
//   declare/data.cpp    data, newtype, type;  declare/class.cpp: class, instance;  derive.cpp: deriving
//   infer/expr.cpp, infer/app.cpp, infer/stack.cpp, infer/stmt.cpp, infer/record.cpp, infer/pat.cpp, infer/match.cpp
//                     expressions, patterns, clauses and guards, elaborated to core while they are inferred
//   infer/bind.cpp    binding groups, signatures, generalisation, pattern bindings
//   classes.cpp       constraints: solving, what a scheme keeps, defaulting
//   explain.cpp       type clashes as messages; explain/origin.cpp: where a type comes from;
//   explain/hint.cpp  how a clash may be mended; explain/class.cpp: missing instances, ambiguous types
//   literal_range.cpp whole numbers that do not fit in their type
//   finish.cpp        the end of a module: defaulting, zonking, match compilation
//
// Expected types are pushed inwards together with the Reason for them, so that a clash is reported at the
// smallest expression and can name the place of its other half. After an error the expression becomes an
// Error node of the expected type, which clashes with nothing.
#pragma once

#include "typecheck/checker_parts.h"

namespace df::check {

class Checker {
 public:
  Checker(core::Program& program, Env& env, Diagnostics& diags, const CheckOptions& options,
          const ast::Ast& ast, const FixityTable& fixities);
  bool Run();
  bool RunPhases();
  // Enters the fixities and the records' fields of what one import, or all of the module's, bring into scope.
  void EnterImport(const ast::Import& import, const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope) const;
  void EnterImported(const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope) const;
  // Whether the Prelude is imported although no import names it.
  bool ImportsPrelude() const;

  void ReportUnknownModule(const ast::Import& import);

 private:
  using TypeArgs = llvm::SmallVector<TypeId, 4>;

  // ---- scope.cpp
  void OpenScope();
  void ImportModule(const ast::Import& import);
  void ImportAll(Symbol module, const ModuleExports& exports, Symbol qualifier, bool unqualified);
  template <typename From>
  const ast::Name* Select(const ast::Item& item, const From& from, ModuleExports& out);
  // A module that this one may import; nullptr if none of that name was checked.
  const ModuleExports* FindModule(Symbol name) const;
  bool IsImportedAs(Symbol name) const;
  void ExportInScope(Symbol qualifier, ModuleExports& out) const;
  void MakeKnown();
  void Export();
  void CheckExports();
  void ReportUnknownExport(const ast::Name& name);
  const ast::Name* SelectExport(const ast::Item& item, ModuleExports& out);
  void ExportItem(const ast::Item& item, ModuleExports& out);
  void MergeExports(const ModuleExports& from, const ast::Name& item, ModuleExports& out);
  // Of several imports with one name, or an import and a definition of this module, none is meant: reported where the
  // name is used. `names` is the part of a module's exports that it is looked up in. At the prompt the later one counts.
  template <typename T>
  bool IsAmbiguous(std::map<Symbol, T> ModuleExports::*names, const ast::Name& name);
  template <typename T>
  const T* FindOwn(std::map<Symbol, T> ModuleExports::*names, const ast::Name& name) const;
  Symbol OwnQualifier() const;
  bool IsOwnQualifier(Symbol qualifier) const;
  enum class NameKind : uint8_t { Value, Constructor, Type };
  bool Provides(const ast::Import& import, const ast::Name& name, NameKind kind) const;
  bool IsInScopeAnyhow(VarId var) const;  // as itself or qualified
  bool IsLocal(Symbol name) const;
  VarId FindValue(const ast::Name& name, bool report = true);
  ConId FindConstructor(const ast::Name& name, bool report = true);
  const TypeName* LookUpType(const ast::Name& name) const;
  const TypeName* FindType(const ast::Name& name);
  ClassId FindClass(const ast::Name& name);
  VarId KnownVar(const char* name);  // of the library; invalid if it has none
  ClassId KnownClass(const char* name);
  ConId KnownCon(const char* name) const;
  VarId Needed(const char* name, const char* construct, Span span);  // KnownVar, reported if missing
  void BindLocal(Symbol name, VarId var);
  size_t LocalMark() const { return local_trail_.size(); }
  void UnbindTo(size_t mark);

  // ---- explain/name.cpp
  void ReportUnbound(Diag diag, const ast::Name& name, std::vector<std::string_view> candidates);
  void HintAtQualified(const ast::Name& name, Diag missing);
  bool HintAtForeignTensor(Symbol name);
  void HintAtOtherModule(Symbol name, Diag missing);
  bool HintAtModule(Symbol name, Diag missing);
  void HintAtMembers(Symbol method, const ast::Name& cls);
  bool HintAtNotHere(Symbol name);
  bool HintAtPrivate(Symbol module, Symbol name, Diag missing);
  bool HintAtConstructors();
  bool MayBeImported(const ast::Name& name) const;
  std::vector<std::string_view> ModuleNames() const;
  const ModuleExports* QualifiedModule(Symbol qualifier) const;

  // ---- types_syntax.cpp
  TypeId ConvertType(const ast::Type* type, TypeVarScope& scope, KindId expected);
  // The largest number that can be written as a dimension.
  static constexpr int64_t kMaxDim = int64_t{1} << 40;
  TypeId DimLiteral(const ast::DimType* type);
  TypeId ConvertShape(const ast::ListType* list, TypeVarScope& scope);
  std::pair<TypeId, KindId> ConvertDimOp(const ast::DimOpType* type, TypeVarScope& scope);
  KindId ConvertKind(const ast::Type* kind);
  void HintAtHead(Span use, Symbol variable);
  void UseWrittenKind(const ast::Name& variable, KindId kind);
  std::pair<TypeId, KindId> ConvertApplied(const ast::Type* type, TypeVarScope& scope);
  bool ReportShape(const ast::Type* element, const ast::Type* shape);
  std::pair<TypeId, KindId> ConvertHead(const ast::Type* type, TypeVarScope& scope);
  bool ConvertContext(ast::List<ast::Constraint> context, TypeVarScope& scope, std::vector<core::Pred>& out);
  core::Scheme ConvertScheme(const ast::QualType& type, TypeVarScope& scope);
  std::unique_ptr<Signature> ConvertSignature(const ast::QualType& type, Span name_span);
  TypeVarScope ScopedTypeVars() const;
  TypeId ExpandSynonym(const Synonym& synonym, llvm::ArrayRef<TypeId> args);

  // ---- tangent.cpp
  void ClassifyTangents();
  void NoteDeferred(Span span, const Reason& why);
  enum class Guess { No, Ours, All };
  void RetryTangents(Guess guess);
  bool TangentMatters(MetaId meta);

  // ---- declare/data.cpp
  void DeclareTypes();
  void CheckDistinctParameters(llvm::ArrayRef<ast::Name> params);
  void ResolveSynonym(uint32_t index);
  void DeclareConstructors(const ast::DataDecl* data);
  void DefineSelectors(const ast::DataDecl* data);
  void DefaultKinds();

  // ---- declare/class.cpp, derive.cpp
  void DeclareClass(const ast::ClassDecl* cls);
  void DeclareInstance(const ast::InstanceDecl* instance);
  TyConId ConvertInstanceHead(const ast::Name& cls, ast::List<ast::Constraint> context, const ast::Type* type, Span span,
                              core::Instance& out);
  InstanceId RegisterInstance(core::Instance row, TyConId head, const ast::InstanceDecl* decl);
  void ForgetInstances();
  void ForgetInstance(InstanceId id);
  void CheckMemberFixities(const ast::ClassDecl* cls, ClassId id);
  void CheckMethodConstraints(const ast::ClassDecl* cls, const core::Scheme& scheme, const ast::Name& method);
  void CheckClassDefaults(const ast::ClassDecl* cls, ClassId id);
  void CheckInstanceMethods(const ast::InstanceDecl* decl, InstanceId id);
  TyConId instance_type_;  // of the instance whose methods are checked
  bool CheckSuperclasses(InstanceId id, Span span, const Origin& origin);
  void CheckMethod(VarId var, const ast::FunctionDecl* decl, const ast::SignatureDecl* own, const core::Scheme& scheme,
                   const ScopedTypes& head, Span from);
  bool ContextShrinks(const core::Instance& row);
  ScopedTypes HeadVariables(const core::Instance& instance);
  void CollectVariables(TypeId type, ScopedTypes& out);
  bool HasExtension(std::string_view name) const;
  void DeclareDerived(const ast::DataDecl* data);
  void DeclareStandalone(const ast::DerivingDecl* decl);
  bool DeriveMethods(Builder& make, const ast::DerivedClass& derived, ClassId cls, TyConId tycon, uint32_t dropped,
                     std::vector<TypeId>& needs);
  bool DerivesAnyClass(const ast::DerivedClass& derived, ClassId cls, TyConId tycon);
  std::optional<uint32_t> OpenParameters(const ast::Name& name, ClassId cls, TyConId tycon);
  const ast::InstanceDecl* DerivedDecl(Builder& make, const ast::Name& cls, ast::Type* type);
  void InferDerivedContexts();
  bool WidenContext(InstanceId id, ClassId cls, TypeId type, bool report, bool& changed);

  // ---- holes.cpp
  bool IsHole(const ast::Name& name);
  core::Expr* CheckHole(const ast::Name& name, Span span, TypeId expected);
  void ReportHoles();
  bool FitsHole(const core::Scheme& scheme, const TypedHole& hole);
  std::vector<std::string> FitsOf(const TypedHole& hole);

  // ---- infer/expr.cpp
  core::Expr* Check(const ast::Expr* expr, TypeId expected, const Reason& why);
  core::Expr* Infer(const ast::Expr* expr) { return Check(expr, unify_.Fresh(), Reason{}); }
  core::Expr* CheckLiteral(const ast::Literal& literal, bool negative, Span span, TypeId expected,
                           const Reason& why);
  bool IsOverloadedString(TypeId expected);  // a string literal is of any type of the class IsString here
  core::Expr* CheckVar(const ast::Name& name, Span span, TypeId expected, const Reason& why);
  core::Expr* CheckTypeApp(const ast::TypeAppExpr* expr, TypeId expected, const Reason& why);
  KindId KindIn(const core::Scheme& scheme, TyVarId var);
  core::Expr* CheckCon(const ast::Name& name, Span span, TypeId expected, const Reason& why);
  core::Expr* CheckIf(const ast::IfExpr* expr, TypeId expected, const Reason& why);
  void HintAtParameters(const ast::LambdaExpr* expr, llvm::ArrayRef<TypeId> given);
  core::Expr* CheckLambda(const ast::LambdaExpr* expr, TypeId expected, const Reason& why);
  core::Expr* CheckTuple(llvm::ArrayRef<const ast::Expr*> elements, Span span, TypeId expected,
                         const Reason& why);
  core::Expr* CheckList(const ast::ListExpr* expr, TypeId expected, const Reason& why);
  core::Expr* ListNode(llvm::ArrayRef<core::Expr*> elements, TypeId element, Span span);
  core::Expr* CheckTyped(const ast::TypedExpr* expr, TypeId expected, const Reason& why);
  core::Expr* CheckNegate(const ast::NegateExpr* expr, TypeId expected, const Reason& why);
  core::Expr* Use(VarId var, Span span);  // instantiates, requires the constraints
  core::Expr* UseCon(ConId con, Span span);
  core::Expr* UseConstructor(ConId con, Span span);  // or the function that it is the name of
  core::Expr* ErrorNode(TypeId type, Span span);
  core::Expr* IfNode(const core::Expr* cond, const core::Expr* then_, const core::Expr* else_, Span span);
  core::Expr* AppNode(const core::Expr* fn, llvm::ArrayRef<const core::Expr*> args, Span span);
  core::Expr* LetNode(VarId var, const core::Expr* value, const core::Expr* body, bool recursive = false);
  core::Expr* LambdaNode(llvm::ArrayRef<VarId> params, const core::Expr* body, Span span);
  core::Expr* VarNode(VarId local, Span span);  // a monomorphic local
  template <typename T>
  T* Node(T node) {
    T* made = const_cast<T*>(program_.New(std::move(node)));
    exprs_.push_back(made);
    return made;
  }

  // ---- infer/app.cpp
  core::Expr* CheckApp(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span,
                       TypeId expected, const Reason& why);
  bool IsNoFunction(TypeId result, size_t mark);
  bool GivesNoFunction(TypeId result, size_t left, TypeId expected);
  bool ReturnsFunction(const Reason& callee, const ast::Expr* arg, TypeId expected);
  bool GivenFunctionByName(const Reason& callee, llvm::ArrayRef<const ast::Expr*> args);
  bool TakesNoAction(VarId op, const ast::Expr* left, TypeId expected);
  void RecordDot(const ast::Expr* left, const ast::Expr* right);
  void RecordBetween(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args);
  bool TakesFunction(TypeId type, int depth = 6);
  bool IsFunction(const ast::Expr* expr);
  bool IsHigherOrder(const ast::Expr* expr);
  bool IsEarlierArgument(llvm::ArrayRef<TypeId> declared, llvm::ArrayRef<TypeId> params, size_t place);
  static Symbol OperatorName(const ast::Expr* op);
  core::Expr* InferOperands(const ast::BinaryExpr* chain);
  size_t Arity(const ast::Expr* name);
  void ReportTooManyArguments(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, size_t taken,
                              const core::Expr* head, Reason reason);
  TypeId ResultByItself(const core::Scheme& scheme, llvm::ArrayRef<const ast::Expr*> args, TypeId expected);
  core::Expr* CheckLeftSection(const ast::LeftSectionExpr* expr, TypeId expected, const Reason& why);
  core::Expr* CheckRightSection(const ast::RightSectionExpr* expr, TypeId expected, const Reason& why);
  core::Expr* CheckTupleSection(const ast::TupleSectionExpr* expr, TypeId expected, const Reason& why);
  // A call of a library function on core arguments, whose types it must fit.
  core::Expr* CallKnown(VarId fn, llvm::ArrayRef<core::Expr*> args, Span span, TypeId expected,
                        const Reason& why);

  // ---- infer/stack.cpp
  // What an operation of mtl means where an action of a known stack is expected.
  struct StackUse {
    VarId op;                                // of the first monad in the stack that has one
    llvm::SmallVector<TypeId, 4> monads;     // the stack down to that one
    llvm::SmallVector<VarId, 4> through;     // for each above it, how an operation on actions goes through
    llvm::SmallVector<ConId, 4> wrappers;    // for each above it: the constructor of a newtype around the next, or invalid
    TypeId value;                            // of the action that is expected
    bool plain = true;                       // no argument is an action
    VarId var;                               // what the name means by itself, if it is such an operation
    bool open = false;                       // the stack is not known that far yet
    bool several = false;                    // several imports bring the name, each with its own
  };
  // An operation in a local function without a signature: the uses of the function may tell the stack.
  struct StackHole {
    ast::Name name;
    TypeId own, monad;    // the monad that the operation has by itself, and the one that is to be found
    core::LetExpr* node;  // `let op = .. in op`
    bool several;         // as in StackUse
  };
  TyConId MonadOf(TypeId action) const;
  bool IsTransformer(TyConId con) const;
  VarId StackFunction(Symbol name, TyConId monad) const;
  bool IsStackName(const ast::Name& name, bool* several) const;
  bool DeriveStackClass(const ast::DerivedClass& derived, const ast::DataDecl* data, TyConId tycon);
  TypeId InsideOf(TypeId monad, uint32_t cls) const;
  core::Expr* Unwrapped(core::Expr* action, ConId wrapper, TypeId inside);
  core::Expr* ThroughNewtype(core::Expr* operation, const StackUse& use, size_t level);
  // False if the name means the same as everywhere.
  bool FindStackUse(const ast::Name& name, size_t given, TypeId expected, StackUse& use);
  core::Expr* OpenStackUse(const ast::Name& name, const StackUse& use, Span span);
  bool SettleStackUse(StackHole& hole, bool force);
  void SettleStackUses(size_t mark, llvm::function_ref<bool(const StackHole&)> force);
  bool IsOpenStackUse(const StackHole& hole, size_t mark);
  void LowerStackUses(size_t mark);
  core::Expr* CheckStackUse(const StackUse& use, llvm::ArrayRef<const ast::Expr*> args, Span fn, Span span, TypeId expected,
                            const Reason& why);

  // ---- infer/stmt.cpp
  TyConId GivenBy(const ast::Expr* expr, size_t given = 0);
  void SettleMonad(llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected);
  core::Expr* CheckDo(llvm::ArrayRef<ast::Stmt*> stmts, Span span, TypeId expected, const Reason& why);
  bool IsMisreadGenerator(const ast::Stmt* stmt);
  core::Expr* CheckComprehension(const ast::Expr* element, llvm::ArrayRef<ast::Stmt*> stmts, Span span,
                                 TypeId expected, const Reason& why, VarId tail = VarId());
  core::Expr* CheckSequence(const ast::SequenceExpr* expr, TypeId expected, const Reason& why);

  // ---- infer/record.cpp
  core::Expr* CheckRecordCon(const ast::RecordConExpr* expr, TypeId expected, const Reason& why);
  core::Expr* CheckRecordUpdate(const ast::RecordUpdateExpr* expr, TypeId expected, const Reason& why);
  core::Row FailRow(TypeId scrutinee, TypeId result, std::string_view message, Span span);
  void ReportNoSuchField(const ast::Name& field, std::string_view owner, Span declared, llvm::ArrayRef<std::string_view> names);
  void ReportUnknownFields(const ast::RecordUpdateExpr* expr, llvm::ArrayRef<ast::Name> unknown, TyConId owner, TypeId expected, TypeId record);
  int FieldIndex(ConId con, const ast::Name& field);  // -1, reported, if the constructor has no such field

  // ---- infer/tensor.cpp
  core::Expr* CheckTensorLiteral(const ast::Expr* expr, TypeId expected, const Reason& why);
  // Looks again at equations of dimensions that were left open.
  void SettleDims();
  // Reports those that are still open and speak of a variable in `metas`; all, if that is null.
  void ReportOpenDims(const llvm::SmallVectorImpl<MetaId>* metas);

  // ---- infer/pat.cpp
  struct Bound {
    Symbol name;
    VarId var;
    Span span;
  };
  // Binders are added to `bound`; they are in scope only after BindAll.
  const core::Pat* CheckPat(const ast::Pat* pat, TypeId expected, const Reason& why,
                            std::vector<Bound>& bound);
  // The outermost pattern of a parameter or alternative: under `Strict` it has a bang, unless it is lazy.
  bool IsSequencePattern(ConId con) const;
  bool HasSequencePatterns(const TypeName& type) const;
  ConId FindConstructorOf(const ast::Name& name, TypeId expected);
  void RememberReason(VarId var, const Reason& why);
  const core::Pat* CheckOuterPat(const ast::Pat* pat, TypeId expected, const Reason& why,
                                 std::vector<Bound>& bound);
  const core::Pat* BangPat(const core::Pat* pat);
  const core::Pat* MakePat(core::Pat pat);
  void BindAll(const std::vector<Bound>& bound);
  bool CheckDistinct(const std::vector<Bound>& bound);
  // The pattern with `keep` as its only variable (invalid: none), replaced by `by`.
  const core::Pat* Project(const core::Pat* pat, VarId keep, VarId by);

  // ---- infer/match.cpp
  bool MissesParentheses(llvm::ArrayRef<ast::Pat*> params, size_t wanted);
  core::Expr* CheckClauses(Symbol name, llvm::ArrayRef<ast::Clause> clauses, Span span, TypeId expected,
                           const Reason& why);
  core::Expr* CheckCase(const ast::Expr* scrutinee, llvm::ArrayRef<ast::Alternative> alternatives, Span span,
                        TypeId expected, const Reason& why);
  core::Expr* CheckLambdaCase(const ast::LambdaCaseExpr* expr, TypeId expected, const Reason& why);
  core::Expr* CheckAlternatives(VarId scrutinee, TypeId type, Span scrutinee_span,
                                llvm::ArrayRef<ast::Alternative> alternatives, Span span, TypeId expected,
                                const Reason& why);
  core::Expr* CheckRhs(const ast::Rhs& rhs, TypeId expected, const Reason& why);
  core::Expr* CheckGuarded(llvm::ArrayRef<ast::GuardedExpr> guarded, TypeId expected, const Reason& why);
  core::Expr* CheckGuard(llvm::ArrayRef<ast::Stmt*> guards, const ast::Expr* body, TypeId expected,
                         const Reason& why);
  bool IsAlwaysTrue(const ast::Expr* guard);
  core::Expr* MatchNode(core::MatchContext context, Symbol name, llvm::ArrayRef<VarId> scrutinees,
                        llvm::ArrayRef<core::Row> rows, TypeId type, Span span);
  core::Expr* FallNode(TypeId type, Span span);
  // A variable for `value`: itself if it is one already, else a new one to be bound by LetIfNew around the
  // body.
  VarId Scrutinee(const core::Expr* value, bool* fresh);

  // ---- infer/bind.cpp
  core::Expr* CheckLet(llvm::ArrayRef<ast::Decl*> decls, Span span, llvm::function_ref<core::Expr*()> body);
  std::vector<BoundGroup> CheckDecls(llvm::ArrayRef<ast::Decl*> decls, bool top);
  void CollectBindings(llvm::ArrayRef<ast::Decl*> decls, bool top, std::vector<Binding>& bindings);
  void CollectBinders(const ast::Pat* pat, std::vector<std::pair<Symbol, Span>>& out);
  bool IsEntry(const Binding& binding, bool top) const;
  bool IsNumeric(TypeId type) const;  // Int, Integer, Float or Double
  bool IsAction(TypeId type) const;  // IO t, as far as is known
  void PreferAction(TypeId type, size_t wanted_mark);
  // What an input of main has for a shape, and the type's shape.
  struct GivenShape {
    size_t param;
    TypeId type;
    std::vector<int64_t> dims;
  };
  bool MayFit(const GivenShape& shape);
  void NoteOrigins(const GivenShape& shape, TypeId declared, llvm::StringMap<std::string>& origins);
  void BindShapes(llvm::ArrayRef<TypeId> params);
  const char* HowToRun(TypeId action);  // the library's function for it
  void InferGroup(llvm::ArrayRef<Binding*> group, bool top, BoundGroup& out);
  void InferPatternBinding(Binding& binding, bool top, BoundGroup& out);
  void ForceVariable(VarId var, Span span, BoundGroup& out);
  void CheckSigned(Binding& binding, BoundGroup& out);
  core::Expr* CheckAgainst(const core::Scheme& scheme, Span from, Symbol name, const ScopedTypes& scoped,
                           llvm::function_ref<core::Expr*(TypeId, const Reason&)> body);
  // Of a definition without parameters, which sizes of tensors all its uses share.
  enum class Sizes : uint8_t { Free, FreeUnlessSums, Shared };
  void Generalise(llvm::ArrayRef<VarId> members, bool restricted, Sizes sizes, size_t wanted_mark,
                  uint32_t errors_before);
  void ShareSizes(TypeId type, Sizes sizes);  // infer/tensor.cpp
  void RememberRestricted(llvm::ArrayRef<VarId> members, size_t wanted_mark);
  Symbol FreshTyVarName(llvm::DenseSet<uint32_t>& taken);
  VarId NewVar(Symbol name, TypeId type, bool top, Span span);

  // ---- classes.cpp
  void Require(ClassId cls, TypeId type, const Origin& origin);
  enum class Solved : uint8_t { Yes, No, Stuck };
  // Reduces by instances and givens; what depends on a meta goes to `stuck`. `missing` is the part that has
  // no instance.
  bool IsGiven(const Wanted& wanted);
  // Whether an instance's head is of a type, with what its variables then stand for. Later: once more is known of a
  // meta. Rigid: at some types that a variable of a signature stands for.
  enum class Fit : uint8_t { No, Rigid, Later, Yes };
  Fit Fits(TypeId head, TypeId type, llvm::ArrayRef<TyVarId> vars, llvm::MutableArrayRef<TypeId> bound);
  // The instance for a type: of several that fit, the one that says most. Its result is that of the last case of Fit, or
  // of another instance that may fit better.
  bool MoreParticular(TypeId head, InstanceId than);
  Fit FindInstance(ClassId cls, TypeId type, InstanceId& found, llvm::SmallVectorImpl<TypeId>& bound);
  Solved Solve(const Wanted& wanted, std::vector<Wanted>& stuck, Wanted* missing, int depth = 0);
  void SolveFrom(size_t mark);                    // wanted_[mark..] keeps only what is stuck
  void PushGiven(ClassId cls, TypeId type);       // with its superclasses
  bool Entails(ClassId cls, ClassId by) const;    // by == cls or cls is a superclass of it
  void MinimalPreds(std::vector<Wanted>& preds);  // drops duplicates and what superclasses give
  bool DefaultMeta(MetaId meta, llvm::ArrayRef<Wanted> preds, bool report);
  // Settles the stuck constraints from `mark` on whose variables have at least `min_level`.
  void DefaultAll(size_t mark, bool report, uint32_t min_level);
  bool HasInstance(ClassId cls, TypeId type);  // holds for this closed type

  // ---- explain.cpp
  bool Expect(TypeId expected, TypeId actual, Span span, const Reason& why);
  void ReportMismatch(const UnifyResult& clash, TypeId expected, TypeId actual, Span span, const Reason& why);
  // After a unification: whatever has to be a number has not become something else. Reports otherwise, and takes
  // the solution back.
  bool NumbersFit(TypeId expected, TypeId actual, bool actual_was_number, Span span, const Reason& why);
  bool IsNumberType(TypeId type);  // its head is a variable, or has an instance of Num
  std::vector<std::string> PrintTypes(llvm::ArrayRef<TypeId> types);  // with one naming of unknowns
  std::string PrintType(TypeId type) { return PrintTypes(type)[0]; }
  std::string Describe(const Reason& why);
  bool Tainted(Span span) const;

  // ---- explain/origin.cpp
  void Explain(const Reason& why);             // notes: where the expectation came from
  void ExplainCallee(VarId var, ConId con);    // the type of what is applied, and where it says so
  void ExplainVariable(VarId var, Span use);   // what gave the variable its type
  void ExplainPlace(TypeId type, Span not_in, std::string_view what = "this");  // what gave the type to a meta
  void ExplainDimension(TypeId from, const std::string& dimension, Span not_in);
  void ExplainNumber(Span origin);             // what has to be a number
  void RecordPlace(TypeId type, Span span, const Reason& why);  // for what is solved next
  void NoteOnce(Span span, std::string text);  // unless the last message speaks of this place already
  Span Shown(Span span) const;                 // invalid for a place in the library's own source
  // The type of an expression as far as it can be told by a look at its head; invalid if it cannot.
  TypeId QuickType(const ast::Expr* expr, int depth = 4);

  // ---- explain/hint.cpp
  bool ExplainNamesakes(TypeId left, TypeId right);
  bool HintAtTangent(TypeId expected, TypeId actual);
  bool HintAtTensor(TypeId expected, TypeId actual, Span span, const Reason& why);  // infer/tensor.cpp
  std::optional<size_t> RankOf(TypeId type);  // of a tensor whose number of dimensions is known
  bool IsSize(TypeId var, TypeId type);       // the variable stands for a dimension in it
  bool HintAtProduct();
  bool HintAtRows(TypeId expected, TypeId actual, Span span, const Reason& why);
  bool HintAtSurplus(const Reason& callee, llvm::ArrayRef<const ast::Expr*> args);
  bool HintAtOptimiser(TypeId expected, TypeId actual);
  bool HintAtTensorModule(TypeId head);
  void HintAtClash(TypeId expected, TypeId actual, Span span, const Reason& why);
  bool HintAtResult(const Reason& callee, llvm::ArrayRef<const ast::Expr*> args, bool infix, Span span,
                    TypeId expected);
  void HintAtBinding(std::string_view function, std::string_view left, std::string_view op, std::string_view right);
  bool IsAction(const ast::Expr* expr);
  bool GivesAction(VarId function, TypeId expected, size_t given = 1);
  bool MakesAction(const ast::Expr* function, TypeId expected, size_t given = 1);
  uint32_t LevelsBelow(TypeId stack, TyConId monad);
  const ast::AppExpr* LastOfChain(const ast::Expr* chain);
  bool GivesList(VarId function, TypeId expected);
  bool TakesAnyContainer(TypeId function, uint32_t index);
  VarId LocalSignature(TyVarId var) const;  // the local definition whose signature binds the variable
  bool HintAtLocalSignature(TyVarId one, TyVarId other);
  bool HintAtTypeVariable(TyVarId var);  // `int` for `Int`

  // ---- explain/order.cpp
  using ArgumentOrder = llvm::SmallVector<size_t, 6>;  // per place, which of the given arguments should stand there
  ArgumentOrder SwappedArguments(const core::Scheme& scheme, llvm::ArrayRef<const ast::Expr*> args, TypeId expected);
  ArgumentOrder MisplacedFunction(const core::Scheme& scheme, llvm::ArrayRef<TypeId> declared, llvm::ArrayRef<const ast::Expr*> args);
  bool CheckSwapped(const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, const ArgumentOrder& order, llvm::ArrayRef<TypeId> params,
                    Reason& reason, llvm::SmallVectorImpl<const core::Expr*>& checked);
  const core::DataCon* HolderOf(TypeId type);
  bool HintAtHolder(TypeId expected, TypeId actual, std::string_view text);
  bool HintAtHeldFunction(TypeId type, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, size_t taken);

  // ---- explain/class.cpp
  void ReportMissing(const Wanted& wanted, const Wanted& missing);
  void ReportAmbiguous(llvm::ArrayRef<Wanted> preds);
  std::string PrintPred(ClassId cls, const std::string& type, TypeId of);
  template <typename... Args>
  Diagnostics& Error(Diag id, Span span, const Args&... args) {
    if (region_.valid()) tainted_.push_back(region_);
    return diags_.Report(id, span, args...);
  }
  uint32_t Failures() const { return diags_.error_count() + unreported_; }

  // ---- literal_range.cpp
  void WarnOfLargeLiterals();

  // ---- follow_ups.cpp
  void DropFollowUps();
  void DropImportFollowUps();

  // ---- finish.cpp
  void FindMain();
  void DefineEntry(size_t params);
  void ZonkAll();
  TypeId Final(TypeId type);
  void Publish();

  core::Program& program_;
  Types& types_;
  Env& env_;
  Diagnostics& diags_;
  const CheckOptions& options_;
  const ast::Module& module_;
  const FixityTable& fixities_;  // for derived Show
  ast::Ast generated_;           // derived instances, as syntax
  Unifier unify_;
  Scope own_scope_;  // of a library module
  Scope* scope_ = nullptr;
  bool strict_ = false;         // LANGUAGE Strict
  bool string_classes_ = false; // LANGUAGE OverloadedStrings
  Symbol generated_qualifier_;  // marks names that mean the library's, whatever is in scope

  llvm::DenseMap<uint32_t, llvm::SmallVector<VarId, 1>> locals_;  // by symbol, innermost last
  std::vector<Symbol> local_trail_;
  ScopedTypes scoped_types_;                                          // ScopedTypeVariables, innermost last
  llvm::DenseMap<uint32_t, std::vector<core::VarExpr*>> group_uses_;  // of the groups being inferred
  llvm::DenseSet<uint32_t> broken_;  // variables whose definition failed: every use has any type
  llvm::DenseMap<uint32_t, Signature*> signature_of_;  // for messages
  std::vector<std::unique_ptr<Signature>> signatures_;
  std::vector<Wanted> wanted_;
  std::vector<std::pair<Span, Reason>> deferred_;  // where the equations of Unifier::deferred come from
  std::vector<std::pair<ClassId, TypeId>> givens_;
  // Goals whose instances ask for more than they give: met again below itself, such a goal holds (`Show (Fix f)` needs
  // `Show (f (Fix f))`, and that `Show (Fix f)`).
  std::vector<std::pair<ClassId, TypeId>> solving_;
  size_t assumed_ = SIZE_MAX;  // the first of these that was met again
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> solved_;  // class and type: instances that are there, of types without variables
  std::vector<TypeId> default_types_;
  Span region_;  // the expression whose errors may have follow-ups
  std::vector<Span> tainted_;
  uint32_t unreported_ = 0;         // errors that follow from what was reported, and fail a definition all the same
  std::vector<Span> unbound_;       // names that are not in scope
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> unbound_here_;  // those reported, with their definition_
  llvm::DenseSet<uint32_t> refuted_;  // variables of signatures that the definition needs at a particular type
  std::vector<std::tuple<Span, TyVarId, TyVarId>> rigid_clashes_;  // of two variables of signatures, and where it was said
  llvm::DenseSet<uint32_t> escaped_;  // variables of signatures that would escape, reported once
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> unbound_types_;  // types and classes reported already
  uint32_t definition_ = 0;                                      // counts top-level groups and methods
  std::vector<Place> places_;                                    // what Unifier::place counts
  llvm::DenseMap<uint32_t, Reason> var_reasons_;                 // pattern variables: why they have their type
  llvm::DenseMap<uint32_t, std::string> restricted_;             // by the monomorphism restriction: the type without it
  llvm::DenseMap<std::pair<uint32_t, uint32_t>, bool> ambiguous_;  // by qualifier and name: reported once
  std::vector<TypedHole> holes_;
  std::vector<ast::Import> failed_imports_;                      // what they name is not reported again
  std::vector<Span> maybe_imported_;                             // such names
  bool maybe_imported_type_ = false;                             // one of them is a type or a class
  TypeId constructed_type_;                                      // expected of what a constructor that is being looked up makes
  const ast::LambdaExpr* lambda_ = nullptr;                        // the innermost one whose body is being checked
  std::vector<std::pair<Span, std::string>> between_;             // parameters that look like the left side of a function, with a hint
  llvm::DenseSet<uint32_t> unreached_;                             // guards that were warned of, by where they begin
  Span negative_;                                                  // `1 xs` in `take -1 xs`: told already
  std::vector<std::pair<Span, std::string>> dots_;                 // parameters before a dot, as if what follows were a field
  std::vector<std::pair<Span, std::string>> order_hints_;         // calls whose arguments seem to stand in another order, should an instance miss
  std::vector<std::pair<Span, Span>> witnesses_;                  // blocks of statements, with one that is surely an action of IO
  llvm::ArrayRef<const ast::Expr*> siblings_;                     // the arguments of the call of which one is being checked
  VarId subject_;                                                // the variable that is being checked by itself
  std::vector<std::tuple<ClassId, TypeId, uint32_t>> reported_;  // missing instances, with their definition_
  // In place of a definition: of a type constructor whose instance, or the deriving of it, is refused.
  static constexpr uint32_t kNowhere = UINT32_MAX;
  void NoteRefused(ClassId cls, const ast::Type* type, TypeId head = TypeId());
  // minimal.cpp
  core::Minimal ConvertMinimal(const ast::Minimal& formula, ClassId id);
  void DeclareMinimal(const ast::ClassDecl* decl, ClassId id);
  std::string PrintMinimal(const core::Minimal& formula, ClassId cls, bool inside) const;
  void WarnOfMissingMethods(InstanceId id, llvm::ArrayRef<VarId> given, Span span);
  ClassId NearestClass(const ast::Name& name);
  bool IsRefused(ClassId cls, TypeId type);
  llvm::DenseSet<uint32_t> meant_as_functions_;  // names with a capital that are defined as functions

  std::vector<StackHole> stack_holes_;  // innermost last
  std::vector<TypeId> surroundings_;    // what the definitions around give by their signatures, innermost last
  uint32_t local_groups_ = 0;           // local definitions without a signature that are being inferred

  std::vector<core::Expr*> exprs_;  // made in this run, for ZonkAll
  std::vector<core::Pat*> pats_;
  uint32_t first_var_ = 0;
  std::vector<core::Definition> definitions_;
  std::vector<VarId> top_binders_;
  llvm::DenseMap<uint32_t, TypeId> final_types_;

  // Declarations of this module.
  std::vector<std::pair<const ast::DataDecl*, TyConId>> data_;
  std::vector<std::pair<const ast::TypeSynonymDecl*, uint32_t>> synonym_decls_;
  std::vector<uint8_t> synonym_state_;  // 0 not yet, 1 being read, 2 done
  uint32_t first_synonym_ = 0;
  std::vector<std::pair<const ast::ClassDecl*, ClassId>> classes_;
  std::vector<std::pair<const ast::InstanceDecl*, InstanceId>> instances_;
  std::vector<DerivedContext> derived_;
  std::vector<InstanceId> registered_;  // in this run
  std::vector<InstanceId> replaced_;    // at the prompt, by those
  std::vector<KindId> open_kinds_;
  llvm::DenseMap<uint32_t, const ast::Type*> written_kinds_;  // by where the variable begins
  ModuleExports exports_;
};

// typecheck/infer/expr.cpp: why a part of a list, tuple or tensor has its type.
Reason PartOf(const Reason& why);

// typecheck/print.cpp: as GHCi prints it; inferred variables are named a, b, c.. in order of appearance.
std::string PrintScheme(const core::Program& program, const core::Scheme& scheme);
// A name as it stands alone: an operator in parentheses.
std::string PrintName(Symbol name);
// A constructor's type, as a function of its fields.
core::Scheme SchemeOf(const core::Program& program, ConId con);

// typecheck/scope.cpp: `primIntAdd` and its like, which the library keeps to itself.
bool IsLibraryOnly(Symbol name);
// typecheck/infer/tensor.cpp: `[]`, which may be a tensor.
bool IsEmptyList(const ast::Name& name);
// `Prelude.Base`: a part of the Prelude, for library modules alone.
bool IsInternalModule(std::string_view name);

}  // namespace df::check
