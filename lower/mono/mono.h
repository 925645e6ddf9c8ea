// lower/mono/mono.h
//
// The mid-level tree between typed core and function graphs: monomorphic, classes and newtypes gone, every variable
// bound once in the whole program. Passes rewrite it in place.
//
// Evaluation is core's: Let and arguments are lazy, Case evaluates its scrutinee. An App of a Fun with fewer arguments
// than it has parameters is a partial application. A function with all its arguments may give a function.
//
//   after Specialise   local functions are Let-bound; Lambdas may stand anywhere
//   after SettleArities  functions have all the parameters that their type shows, but for those whose sharing counts
//   after Lift         no Lambda is left; constants that are shared are variables of main
//   after HigherOrder  functions that are passed known functions are copied for these
//   after Defunctionalise  every App has a Fun for its head and all its arguments: first order. What has a function
//                      type is a closure, a value of the data type that closure_types has for that type
#pragma once

#include <map>
#include <string>

#include "lang/diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"
#include "lower/graph/function_graph.h"
#include "typecheck/core/roles.h"
#include "lower/options/options.h"
#include "tagged_ir/graph.h"
#include "tagged_ir/places.h"
#include "typecheck/core/core.h"

namespace df::mono {

using VarId = Id<struct MonoVarTag>;
using FunId = Id<struct MonoFunTag>;

struct Var {
  std::string name;
  df::TypeId type;
};

enum class Kind : uint8_t {
  Var,     // var
  Fun,     // fun: a function, or a constant that is computed where it is used
  Const,   // constant; a Text is packed, no list
  Op,      // op on args: an ordinary op, saturated; all its operands are evaluated
  Con,     // con on args: saturated, not Bool nor unit (these are constants)
  App,     // head on args
  Lambda,  // params -> head
  Let,     // bindings in head; lazy
  Case,    // evaluates head, binds it to var if that is valid, then alts
  Diff,    // a derivative of head, `attr` says which (fg::DiffMode): with respect to the variable of its one binding, at
           // that binding's value, args[0] being the cotangent or tangent. Stop: head, a constant to derivatives
};

struct Expr;

struct Binding {
  VarId var;
  Expr* value;
};

struct Alt {
  core::AltKind kind;
  core::ConId con;                    // Con; of Bool and unit too
  llvm::SmallVector<VarId, 2> vars;   // Con
  ir::ConstId constant;               // Literal
  Expr* body;
};

struct Expr {
  Kind kind;
  df::TypeId type;
  ir::PosId pos;
  ir::Op op = ir::Op::Const;
  uint32_t attr = 0;      // Op
  VarId var;              // Var, Case
  FunId fun;
  ir::ConstId constant;
  core::ConId con;
  bool recursive = false;  // Let
  bool moved = false;      // DropGarbage
  Expr* head = nullptr;
  llvm::SmallVector<Expr*, 2> args;
  llvm::SmallVector<VarId, 2> params;
  std::vector<Binding> bindings;
  std::vector<Alt> alts;
};

struct Function {
  std::string name;         // unique
  std::string source_name;  // as the source has it, for places
  llvm::SmallVector<VarId, 4> params;
  df::TypeId result;        // type of the body
  Expr* body = nullptr;
  ir::PosId pos;
  bool from_library = false;
  bool local = false;       // it stood in another one, with or without a name
  // What it computes may be computed in pieces by several processes (docs/spread.md): a call of it stays a call.
  bool spread = false;
  // Of a result whose type has one constructor: the fields that everybody who calls it surely needs, a bit each
  // (copy_by_demand.cpp).
  uint32_t needed = 0;
};

// Where a body was inlined: the place of the call, and whether what was called gives an action.
struct Inlining {
  ir::PosId site;
  bool action = false;
};

class Program {
 public:
  Program(core::Program& core, Diagnostics& diags);

  core::Program& core;
  Diagnostics& diags;
  Table<VarId, Var> vars;
  Table<FunId, Function> functions;
  FunId main;
  FunId show_main;  // main's value as a list of characters; invalid where the run-time system prints it as well
  bool action = false;  // main's result says what to do, and is not shown
  bool asks = true;     // an action that may ask the root something, or catch a failure
  std::vector<fg::Placed> placed;  // by the source: their calls stay calls

  // What the program that runs the graph gives besides the named inputs, as far as it is looked at: further
  // parameters of main, under names that no parameter of a user can have (tagged_ir/action.h).
  struct HostInput {
    std::string name;
    VarId var;
  };
  std::vector<HostInput> host_inputs;
  VarId HostInputNamed(std::string_view name, df::TypeId type);

  // The library's functions between packed texts and lists of characters, where the program needs them.
  FunId text_append;  // primTextAppend: a text's characters from an offset on, before a list
  FunId text_onto;    // primTextOnto: those between two offsets
  FunId text_pack;    // primTextPack: the text of a list
  FunId text_pack_onto;  // primTextPackOnto: a text with that of a list behind it
  FunId list_append;  // (++) of lists of characters
  // Its function that makes a tensor of the list of its elements, at each type that the program needs.
  llvm::DenseSet<uint32_t> tensor_literals;

  // What the graphs take over.
  ir::TypeTable ir_types;
  std::vector<std::string> files;
  Table<ir::PosId, ir::Pos> positions;
  ir::Places places{positions, files, [this](ir::PosId from) { spans_.push_back(from.valid() ? spans_[from.index] : Span()); }};
  Table<ir::ConstId, ir::Constant> constants;

  // ---- places (places.cpp part of mono.cpp)
  ir::PosId PosOf(Span span, const std::string& function);
  Span SpanOf(ir::PosId pos) const;  // of the outermost call, for diagnostics
  // The innermost place that is in the same file as that: not in a library function that was inlined there.
  Span InnermostSpanOf(ir::PosId pos) const;
  // Whether call paths tell that a function was named there, beside where it was called: by the program's own code, and not in the function
  // that it stands in itself.
  bool IsToldName(FunId fun, ir::PosId pos) const { return !functions[fun].local && places.IsOwn(pos); }
  bool GivesAction(df::TypeId type);  // an action's type, or that of a function that gives one in the end

  // ---- types
  df::TypeId Repr(df::TypeId type);     // newtypes at the head replaced by what they hold
  bool IsFunction(df::TypeId type);     // after Repr; never once closure_types are there
  df::TypeId SplitFun(df::TypeId type, llvm::SmallVectorImpl<df::TypeId>& params);  // through newtypes
  df::TypeId ResultAfter(df::TypeId type, size_t params);  // of a function that is given so many arguments
  // A function type with the newtypes between its arrows gone: equal for types whose values look the same.
  df::TypeId PlainFun(df::TypeId type);
  // Of a program that coerces: the type with newtypes in its arguments gone as well, where roles allow it (typecheck/core/roles.h).
  df::TypeId Alike(df::TypeId type) { return coerces_ ? roles_.Alike(type) : type; }
  df::Builtin BuiltinOf(df::TypeId type);
  bool IsTuple(df::TypeId type, llvm::SmallVectorImpl<df::TypeId>* elements = nullptr);
  // Element type and shape of a tensor type (tensor.cpp): "" or what is wrong with it, then `dims` is empty.
  std::string TensorShape(df::TypeId type, ir::TypeKind* element, llvm::SmallVectorImpl<int64_t>* dims);
  // Declares data types as they are met, with all that their values may hold. A type may hold larger and larger ones
  // without end, `data Nest a = Flat a | Nest (Nest [a])`: beyond kMaxNesting of them it stands there without constructors
  // until it is asked for itself.
  ir::TypeId IrType(df::TypeId type);
  void DeclareHeld(df::TypeId type);  // all that its values may hold has constructors, up to kMaxDeclared types
  void DeclareClosures();               // the types of functions that were met before their closures were known
  llvm::ArrayRef<core::ConId> ConstructorsOf(df::TypeId type);
  // Whether values of the constructor's type, a tuple for example, can have no other one.
  bool IsOnlyConstructor(core::ConId con) const { return core.types.cons[core.constructors[con].tycon].constructors.size() == 1; }

  // ---- packed.cpp: types that hide types
  struct PackedType {
    TyConId tycon;  // what stands for it
    struct Variant {
      core::ConId of, made;
      std::vector<df::TypeId> hidden;  // what stands for DataCon::exists
    };
    std::vector<Variant> variants;
  };
  std::vector<PackedType> packed;
  bool Packs(df::TypeId type) const;
  TyConId NewRow(df::TypeId type);  // a type without constructors so far, called as `type` is printed
  uint32_t PackedIndex(df::TypeId type);  // in `packed`, where it is entered if it is new
  // The constructor for values that are built by `con` and hide these types. `fresh` is set if the program had none yet.
  core::ConId AddVariant(df::TypeId type, core::ConId con, const std::vector<df::TypeId>& hidden, bool* fresh = nullptr);

  // ---- poly.cpp: polymorphic values
  struct PolyType {
    df::TypeId type;
    TyConId tycon;  // what stands for it
    core::ConId con;
    std::vector<std::vector<df::TypeId>> instances;  // a field of the constructor for each
    bool declared = false;  // the graph knows it as a type with a constructor
    bool plain = false;     // there is one instance, and a value is just that
  };
  std::vector<PolyType> polys;
  bool polys_open = true;  // instances may be added
  uint32_t PolyIndex(df::TypeId type);
  // The field for a value's use at these types. `fresh` is set if there was none yet.
  size_t PolyInstance(df::TypeId type, const std::vector<df::TypeId>& args, bool* fresh);

  // ---- building
  VarId NewVar(std::string name, df::TypeId type) { return vars.Add({std::move(name), type}); }
  Expr* New(Kind kind, df::TypeId type, ir::PosId pos);
  Expr* NewVarExpr(VarId var, ir::PosId pos);
  Expr* NewFun(FunId fun, df::TypeId type, ir::PosId pos);
  Expr* NewConst(ir::Constant constant, df::TypeId type, ir::PosId pos);
  Expr* NewApp(Expr* head, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  Expr* NewLet(VarId var, Expr* value, Expr* body, ir::PosId pos);
  Expr* NewOp(ir::Op op, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos);
  Expr* NewFail(const std::string& message, uint32_t attr, df::TypeId type, ir::PosId pos);
  Expr* NewText(const std::string& text, ir::PosId pos);  // a packed text
  // The constant with the elements of a list, if these are constants and as many as the type has; else null.
  Expr* NewTensor(const Expr* list, df::TypeId type, ir::PosId pos);
  ir::ConstId Intern(ir::Constant constant);
  std::string UniqueName(const std::string& base);

  // A copy with fresh variables for all that it binds; `substitution` says what its free variables become. If the place in `at`
  // is valid the copy is inlined there.
  Expr* Clone(const Expr* expr, llvm::DenseMap<uint32_t, VarId>& substitution, Inlining at = {});
  // The same of the expression itself, a lambda's body: its places become those of a body that was inlined.
  void MoveTo(Expr* expr, Inlining at);
  // A copy of the function's body, of new parameters, which are appended to `params`.
  Expr* CloneBody(const Function& function, llvm::SmallVectorImpl<VarId>& params, ir::PosId site);
  // Gives back the memory of nodes that no function's body has any more: a pass leaves behind what it replaces. The others move,
  // so it is called where nobody holds any: between passes, and between functions of a pass, then if there may be much garbage.
  void DropGarbage();
  void DropMuchGarbage() {
    if (made_ > 2 * kept_ + kFewNodes) DropGarbage();
  }
  // No function has a body any more: the graphs have been built.
  void DropBodies();

  // The data type of closures of each function type (after PlainFun); there once Defunctionalise has run.
  bool defunctionalised = false;
  llvm::DenseMap<uint32_t, TyConId> closure_types;

 private:
  core::Roles roles_;
  bool coerces_ = false;  // the module Data.Coerce was read
  static constexpr uint32_t kMaxNesting = 6;      // declarations of one type constructor's types within each other
  static constexpr uint32_t kMaxDeclared = 10000;  // and of all types, where each of them holds several such

  bool EndlessArrows(df::TypeId type);
  std::string DataName(df::TypeId type);
  void DeclareConstructors(ir::TypeId id, df::TypeId type);
  LineColumn Locate(Span span);

  static constexpr size_t kFewNodes = 100000;

  Expr* Move(Expr* expr);

  llvm::SpecificBumpPtrAllocator<Expr> arena_;
  size_t made_ = 0, kept_ = 0;  // nodes in the arena; those that were kept when garbage was last dropped
  std::map<std::tuple<uint32_t, int64_t, std::string>, ir::ConstId> constant_ids_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, std::string>, ir::PosId> pos_ids_;
  std::map<uint32_t, uint32_t> file_ids_;     // FileId -> index into files
  // Of each long line that places were asked for in: its number, and the column at every kColumnStep-th byte. Counting
  // from the start of the line each time would make a program of one line quadratic.
  struct LongLine {
    uint32_t line = 0;
    std::vector<uint32_t> columns;
  };
  static constexpr uint32_t kColumnStep = 256;
  std::map<std::pair<uint32_t, uint32_t>, LongLine> long_lines_;
  std::vector<Span> spans_;                   // of each position
  llvm::DenseMap<uint32_t, uint32_t> packed_of_;  // by df::TypeId: into `packed`
  llvm::DenseMap<uint32_t, uint32_t> poly_of_;    // the same into `polys`
  llvm::DenseMap<uint32_t, uint32_t> poly_con_;   // by TyConId: into `polys`
  llvm::DenseMap<uint32_t, ir::TypeId> ir_type_ids_;
  llvm::DenseMap<uint32_t, df::TypeId> without_constructors_;  // ir::TypeId -> of which type it is
  llvm::DenseMap<uint32_t, uint32_t> declaring_;               // TyConId -> how many of its types are being declared
  llvm::StringMap<uint32_t> names_;
};

// Whether evaluating it costs nothing: a variable, a constant, a function, a partial application of those.
bool IsAtom(const Program& program, const Expr* expr);
// The packed text whose characters the expression is; null if it is anything but a literal.
Expr* TextOfLiteral(Program& program, const Expr* expr);
// Whether it is primTextAppend of a text before the empty list.
bool UnpacksBeforeNil(const Program& program, const Expr* expr);
// A number of nodes, counted up to `limit`.
uint32_t SizeOf(const Expr* expr, uint32_t limit);
// Whether it refers to the function.
bool Mentions(const Expr* expr, FunId fun);
// Calls `visit` on each direct subexpression (a reference to the pointer, so that passes can replace it).
template <typename Visit>
void ForEachChild(Expr* expr, Visit visit) {
  if (expr->head) visit(expr->head);
  for (Expr*& arg : expr->args) visit(arg);
  for (Binding& binding : expr->bindings) visit(binding.value);
  for (Alt& alt : expr->alts) visit(alt.body);
}
// Functions that `main` reaches are kept, others lose their bodies.
void DropUnreachable(Program& program);
// Strongly connected groups of the call graph from main, callees first.
std::vector<std::vector<FunId>> CallGroups(const Program& program);

void Dump(const Program& program, llvm::raw_ostream& out);

// ---- the passes, in order
bool Specialise(Program& program, core::VarId entry, const LowerOptions& options);
void PlaceActions(Program& program);
void SettleArities(Program& program);
bool PrepareMain(Program& program);
void Simplify(Program& program, const LowerOptions& options);
void Lift(Program& program);
void SpecialiseHigherOrder(Program& program, const LowerOptions& options);
void Defunctionalise(Program& program);
// The lists of short literals are built by one call each.
void BuildShortLiterals(Program& program);
void FloatIn(Program& program);
void FloatIn(Program& program, FunId fun);
void Fuse(Program& program, const LowerOptions& options);
void CopyByDemand(Program& program);
// Long rows of comparisons of one variable with constants become one match.
void JoinTests(Program& program);

}  // namespace df::mono
