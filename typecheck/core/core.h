// typecheck/core/core.h
//
// Typed core: System F with data types, in the manner of GHC's Core. Types are passed by application
// (Var::type_args), classes are not passed at all: a method at a ground type is looked up when lowering
// specialises (`method @Int`), so there are no dictionaries.
//
// Evaluation: Let and arguments are lazy; Case evaluates its scrutinee to weak head normal form, always.
// Inference produces core with Match, FatBar and Fall; typecheck/match/match.h compiles these away, and
// everything after it sees only simple Cases. Nodes are immutable, live in Program's arena, and may be shared.
// Look at it: dfc --emit=core.
#pragma once

#include <memory>

#include "lang/diagnostics.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/raw_ostream.h"
#include "typecheck/types/type.h"

namespace df::core {

using VarId = Id<struct VarTag>;
using ConId = Id<struct df::ConTag>;
using ClassId = Id<struct ClassTag>;
using InstanceId = Id<struct InstanceTag>;
template <typename T>
using List = llvm::ArrayRef<T>;

// `Num a`.
struct Pred {
  ClassId cls;
  TypeId type;
  Span span;  // what it comes from
};

// forall tyvars. preds => type
struct Scheme {
  std::vector<TyVarId> tyvars;
  std::vector<Pred> preds;
  TypeId type;
};

enum class VarKind : uint8_t {
  Local,      // bound by Lambda, Let, Case or a pattern
  Top,        // defined in Program::definitions
  Method,     // of class `cls`; the first of tyvars are the class's
  Primitive,  // the op `prim`, saturated or not
};

struct Var {
  Symbol name;
  Scheme scheme;
  VarKind kind = VarKind::Local;
  ClassId cls;                 // Method; the first of `scheme.tyvars` are the class's
  uint32_t method_index = 0;   // Method
  Symbol prim;                 // Primitive: a row of tagged_ir/op.def
  bool from_library = false;
  Span span;                   // of the defining occurrence
};

struct Field {
  TypeId type;   // over the type's own params
  Symbol name;   // no text if not a record
  bool strict = false;
};

struct DataCon {
  Symbol name;
  TyConId tycon;
  uint32_t index = 0;  // among the constructors of its type
  std::vector<Field> fields;
  bool infix = false;  // declared between its fields
  Span span;
  // `forall b. (Show b, a ~ [b]) => b -> T a`, in the ways that Haskell has to write it. A value brings along what `exists` stands for.
  std::vector<TyVarId> exists;
  std::vector<Pred> context;
  std::vector<std::pair<TyVarId, TypeId>> equations;  // of parameters of its type; the types are over `exists` and other parameters
};

// `m r -> s` of a class: by the numbers of its parameters.
struct Dependency {
  std::vector<uint32_t> from, to;
};

// Which methods an instance has to define: one by its number, or all or any of the parts.
struct Minimal {
  enum class Kind : uint8_t { Method, All, Any };
  Kind kind = Kind::All;
  uint32_t method = 0;
  std::vector<Minimal> parts;
};

// A class with several parameters has a type constructor of its own, `args`, and its predicates are of one type, that constructor on
// the arguments: so instances of such a class are found as others are.
struct Class {
  Symbol name;
  TyVarId param;                // the last one
  std::vector<TyVarId> params;  // all
  TyConId args;                 // invalid if there is one parameter
  TyConId qualifier;            // `C a => t` within a `forall` (TyCon::qualifies); invalid until one is written
  std::vector<Dependency> dependencies;
  std::vector<ClassId> superclasses;  // of the class's own type
  std::vector<Pred> contexts;         // superclasses of other types: `Monad m` of `MonadState s m`
  std::vector<VarId> methods;   // VarKind::Method
  std::vector<VarId> defaults;  // per method: a Top variable with the method's own scheme, or invalid
  // Per method: its default has a type of its own, of which that of each instance's method has to be one (DefaultSignatures). An instance
  // without the method has one that is a use of the default.
  std::vector<bool> own_type;
  Minimal minimal;              // by the class's pragma; without one what has no default
  Span minimal_span;            // of the pragma
  Span span;
};

struct Instance {
  ClassId cls;
  std::vector<TyVarId> tyvars;
  std::vector<Pred> context;
  TypeId head;  // `Maybe a`; a constructor class has a partial application, `Either e`
  // Per method of the class: a Top variable whose tyvars are the instance's, then the method's own; invalid
  // where the class's default holds (instantiated with `head` for the class's variable).
  std::vector<VarId> methods;
  Span span;
  bool derived = false;       // made by `deriving`
  bool grows = false;         // its context may ask for what it is to give: `Show (f (Fix f)) => Show (Fix f)`
  bool from_library = false;
};

enum class ExprKind : uint8_t { Var, Con, Literal, App, Lambda, Let, Case, Fail, Match, FatBar, Fall };

struct Expr {
  ExprKind kind;
  TypeId type;
  Span span;
};

#define DF_CORE_NODE(Name)                           \
  static constexpr ExprKind kKind = ExprKind::Name;  \
  static bool classof(const Expr* node) { return node->kind == kKind; }

// A variable with the types that instantiate its scheme's tyvars, in order.
//
// Polymorphic values, of types of the kind Forall, are made and used by variables too: one with a polymorphic scheme and without type_args is
// such a value, `let p :: forall a. a -> a = \x -> x in p`, of the type PolyType; and one whose type is a Forall is instantiated by type_args.
struct VarExpr : Expr { DF_CORE_NODE(Var) VarId var; List<TypeId> type_args; };
// A constructor as a function of its fields; type_args instantiate its type's params, then what it hides.
struct ConExpr : Expr { DF_CORE_NODE(Con) ConId con; List<TypeId> type_args; };

enum class LiteralKind : uint8_t { Integer, Fractional, Char, String };
// Integer at type t means `fromInteger @t n`, Fractional `fromRational @t r`; after specialisation t is a
// built-in number. Char is one scalar value and String a list of them, both as UTF-8 text.
struct LiteralExpr : Expr { DF_CORE_NODE(Literal) LiteralKind literal; Symbol text; };

struct AppExpr : Expr { DF_CORE_NODE(App) const Expr* fn; List<const Expr*> args; };  // at least one
struct LambdaExpr : Expr { DF_CORE_NODE(Lambda) List<VarId> params; const Expr* body; };  // at least one

// One binding; its variable's scheme may be polymorphic (Var::scheme.tyvars are then bound in `value`).
struct Binding {
  VarId var;
  const Expr* value;
};
// Lazy. One strongly connected group: recursive says whether it refers to itself.
struct LetExpr : Expr { DF_CORE_NODE(Let) bool recursive; List<Binding> bindings; const Expr* body; };

enum class AltKind : uint8_t { Con, Literal, Default };
struct Alt {
  AltKind kind;
  ConId con;               // Con
  List<VarId> vars;        // Con: one per field
  List<List<TyVarId>> opened;  // Con: names for what DataCon::exists stands for in this value, one list for each pattern that was here
  LiteralKind literal;     // Literal: of a built-in type (Int, Integer, Char, Float, Double)
  Symbol text;             // Literal; a negative number begins with '-'
  const Expr* body;
};
// Evaluates the scrutinee, binds it to `binder` (may be invalid), takes the first alternative that fits; Default is
// last. Without one that fits, the alternatives were exhaustive.
struct CaseExpr : Expr { DF_CORE_NODE(Case) const Expr* scrutinee; VarId binder; List<Alt> alts; };

// The run-time error of a match without a fitting alternative, "no clause of `f` fits"; its place is the span.
struct FailExpr : Expr { DF_CORE_NODE(Fail) Symbol message; };

// ---- only between inference and match compilation

enum class PatKind : uint8_t { Wildcard, Var, Con, Literal, As, Bang, Lazy, View };
struct Pat {
  PatKind kind;
  TypeId type;
  Span span;
  VarId var;                 // Var, As
  ConId con;                 // Con
  List<TypeId> type_args;    // Con: instantiate its type's params
  List<TyVarId> exists;      // Con: what DataCon::exists is called in the row
  bool opens = false;        // Con: the row knows more of types than what is around it, by `exists` or by equations
  List<const Pat*> args;     // Con: one per field; As, Bang, Lazy, View: one
  LiteralKind literal = LiteralKind::Integer;  // Literal; String stands for the list of its characters
  Symbol text;                                 // Literal; a negative number begins with '-'
  const Expr* equals = nullptr;  // Literal of a type that is not built in: the test `scrutinee == literal`, a function
  const Expr* view = nullptr;    // View: the function to whose result the inner pattern belongs
  bool written = false;          // View: `(e -> p)` of the program, and not a look at an end of a sequence
};
// The body may Fall: then the next row is tried.
struct Row {
  List<const Pat*> pats;  // one per scrutinee
  const Expr* body;
  Span span;
};
enum class MatchContext : uint8_t { Function, Case, Lambda, PatternBinding, Guard };
// Tries the rows in order; falls if none fits. Scrutinees are variables.
struct MatchExpr : Expr { DF_CORE_NODE(Match) MatchContext context; Symbol name; List<VarId> scrutinees; List<Row> rows; };
// `first`; where it falls, `second`.
struct FatBarExpr : Expr { DF_CORE_NODE(FatBar) const Expr* first; const Expr* second; };
struct FallExpr : Expr { DF_CORE_NODE(Fall) };

#undef DF_CORE_NODE

struct Definition {
  VarId var;
  const Expr* value;
};

// A whole program: the library's part that was loaded and the user's modules.
class Program {
 public:
  Types types;
  Table<VarId, Var> vars;
  Table<ConId, DataCon> constructors;
  Table<ClassId, Class> classes;
  Table<InstanceId, Instance> instances;
  std::vector<Definition> definitions;   // top level, in dependency order; groups are adjacent
  VarId main;                            // invalid if there is none
  bool main_unshown = false;             // its value has no Show instance, and can be written as arrays (CheckOptions::arrays_entry)
  std::vector<Symbol> main_params;       // names of main's parameters, as its first clause has them
  // Of each parameter whose type leaves dimensions open: what they are, and from which input; empty where there are none.
  std::vector<std::string> main_param_sizes;
  ClassId equality;  // `a ~ b`, a class of two parameters without methods
  ConId true_con, false_con, unit_con, nil_con, cons_con;
  ConId TupleCon(uint32_t size) const;   // declared when the tuple type was made

  template <typename T>
  const T* New(T node) {
    node.kind = T::kKind;
    return new (arena_->Allocate(sizeof(T), alignof(T))) T(node);
  }
  const Pat* NewPat(Pat pat) { return new (arena_->Allocate(sizeof(Pat), alignof(Pat))) Pat(pat); }
  template <typename T>
  List<T> Copy(llvm::ArrayRef<T> items) {
    if (items.empty()) return {};
    T* to = static_cast<T*>(arena_->Allocate(sizeof(T) * items.size(), alignof(T)));
    std::uninitialized_copy(items.begin(), items.end(), to);
    return List<T>(to, items.size());
  }
  VarId NewLocal(Symbol name, TypeId type, Span span);
  const Expr* DefinitionOf(VarId top) const;  // null if it has none
  void Define(VarId top, const Expr* value);

  std::vector<ConId> tuple_cons;  // by size; invalid where there is none yet

 private:
  std::unique_ptr<llvm::BumpPtrAllocator> arena_ = std::make_unique<llvm::BumpPtrAllocator>();
  llvm::DenseMap<uint32_t, uint32_t> definition_of_;
};

// A list of a data type with one constructor, whose fields have names: as the value of a program it is given out record by
// record (docs/training.md), and needs no Show instance.
bool IsRecordList(const Program& program, TypeId type);

// Whether values of the type can be written as the arrays of a file (docs/files.md). If not, `why` says what is in the way.
bool HasArrays(Program& program, TypeId type, std::string* why);

// Whether a value of the type may have this constructor, as far as the constructor's equations tell.
bool MayBuild(const Program& program, ConId con, TypeId type);
// The arguments of a class in a predicate's type, and the type with these arguments.
llvm::SmallVector<TypeId, 4> ClassArguments(const Program& program, ClassId cls, TypeId type);
TypeId ClassType(Program& program, ClassId cls, llvm::ArrayRef<TypeId> args);
// A scheme with variables and its context as a type, and the other way round, with variables of its own.
TypeId PolyType(Program& program, const Scheme& scheme);
Scheme OpenPoly(Program& program, TypeId poly);
// The context in front of an instantiated body, taken off it.
TypeId TakeContext(const Types& types, TypeId body, std::vector<Pred>* preds);
// `Eq a`, `MonadState s m`, with the types' own names.
std::string PrintPred(const Program& program, ClassId cls, TypeId type);

struct DumpOptions {
  Symbol only;              // the definition of this name only
  bool library = false;     // the library's definitions too
};
void Dump(const Program& program, llvm::raw_ostream& out, const DumpOptions& options = {});

// Checks scoping, types of every node, saturation of alternatives. `simple`: no Match, FatBar, Fall may be left.
// Returns an empty string, or what is wrong and where.
std::string Verify(const Program& program, bool simple);

}  // namespace df::core
