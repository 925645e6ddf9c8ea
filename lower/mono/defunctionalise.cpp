// Functions as values become data (Reynolds 1972): a closure is a constructor that names a function of the program and
// holds the arguments it has so far; applying one is a call of the `apply` function of its type, which matches the
// closure and calls what it names. There is one data type of closures per function type, and it has a constructor for
// each partial application of the program that has this type.
//
// A closure holds its arguments as any constructor does, lazily and shared. An `apply` is a function like any other: it
// is strict in an argument if all functions that it may call are.
#include "lang/budget.h"
#include "lower/mono/mono.h"

#include <set>

namespace df::mono {
namespace {

class Defunctionaliser {
 public:
  explicit Defunctionaliser(Program& program) : p_(program) {}

  void Run() {
    for (const std::vector<FunId>& group : CallGroups(p_))
      for (FunId fun : group) {
        Expr* body = p_.functions[fun].body;
        Rewrite(body);  // adds functions, which moves the table
        p_.functions[fun].body = body;
      }
    // Alternatives of an apply may build closures that nothing has built before, and apply them.
    while (Unfinished())
      for (size_t i = 0; i < applies_.size(); ++i) AddAlternatives(i);
    for (Apply& apply : applies_) Finish(apply);
    p_.defunctionalised = true;
    p_.DeclareClosures();
  }

 private:
  struct Closure {
    FunId fun;
    size_t held;  // arguments
    core::ConId con;
    ir::PosId pos;  // where the program's own code names it; or invalid
  };
  struct FunctionType {
    df::TypeId type;
    llvm::SmallVector<df::TypeId> params;
    df::TypeId result;
    TyConId tycon;
    std::vector<Closure> closures;
  };
  // Applies closures of one type to `count` arguments.
  struct Apply {
    size_t type;
    size_t count;
    FunId fun;
    Expr* match;
    size_t done = 0;  // closures that have their alternative
  };

  bool Unfinished() const {
    return llvm::any_of(applies_, [&](const Apply& apply) { return apply.done < types_[apply.type].closures.size(); });
  }

  // ---- expressions

  void Rewrite(Expr*& expr) {
    CheckBudget();
    if (expr->kind == Kind::Fun) {
      expr = Call(expr->fun, {}, expr->pos);
      return;
    }
    if (expr->kind != Kind::App) {
      ForEachChild(expr, [&](Expr*& child) { Rewrite(child); });
      return;
    }
    for (Expr*& arg : expr->args) Rewrite(arg);
    if (expr->head->kind == Kind::Fun) {
      expr = Call(expr->head->fun, expr->args, expr->pos);
      return;
    }
    Rewrite(expr->head);
    expr = ApplyTo(expr->head, expr->args, expr->pos);
  }

  // A known function on any number of arguments.
  Expr* Call(FunId fun, llvm::ArrayRef<Expr*> args, ir::PosId pos) {
    const Function& function = p_.functions[fun];
    size_t arity = function.params.size();
    if (args.size() < arity) return MakeClosure(fun, args, pos);
    df::TypeId result = function.result;
    Expr* call = p_.NewApp(p_.NewFun(fun, result, pos), args.take_front(arity), result, pos);
    return ApplyTo(call, args.drop_front(arity), pos);
  }

  // A closure on any number of arguments.
  Expr* ApplyTo(Expr* head, llvm::ArrayRef<Expr*> args, ir::PosId pos) {
    while (!args.empty()) {
      size_t type = TypeOf(head->type);
      size_t count = std::min(args.size(), types_[type].params.size());
      FunId apply = ApplyFunction(type, count);
      llvm::SmallVector<Expr*, 4> all = {head};
      all.append(args.begin(), args.begin() + count);
      df::TypeId result = p_.functions[apply].result;
      head = p_.NewApp(p_.NewFun(apply, result, pos), all, result, pos);
      args = args.drop_front(count);
    }
    return head;
  }

  Expr* MakeClosure(FunId fun, llvm::ArrayRef<Expr*> args, ir::PosId pos) {
    const Function& function = p_.functions[fun];
    llvm::SmallVector<df::TypeId> rest;
    for (VarId param : llvm::ArrayRef(function.params).drop_front(args.size())) rest.push_back(p_.vars[param].type);
    size_t type = TypeOf(p_.core.types.Fun(rest, function.result));
    Expr* made = p_.New(Kind::Con, types_[type].type, pos);
    made->con = Constructor(type, fun, args.size(), pos);
    made->args.assign(args.begin(), args.end());
    return made;
  }

  // ---- types, constructors, apply functions

  size_t TypeOf(df::TypeId type) {
    type = p_.PlainFun(type);
    auto [it, fresh] = type_of_.try_emplace(type.index, types_.size());
    if (!fresh) return it->second;
    FunctionType made;
    made.type = type;
    made.result = p_.SplitFun(type, made.params);
    TyCon tycon;
    tycon.name = Intern(p_.core.types.Print(type));
    made.tycon = p_.core.types.cons.Add(std::move(tycon));
    p_.closure_types[type.index] = made.tycon;
    types_.push_back(std::move(made));
    return it->second;
  }

  core::ConId Constructor(size_t type, FunId fun, size_t held, ir::PosId pos) {
    const Function& function = p_.functions[fun];
    if (!p_.IsToldName(fun, pos)) pos = {};
    auto [it, fresh] = constructors_.try_emplace({fun.index, held, pos.index});
    if (!fresh) return it->second;
    core::DataCon con;
    std::string fields;
    for (size_t i = 0; i < held; ++i) fields += " _";
    // A function of another module may be called `f'2` already.
    do {
      const uint32_t same = same_[{fun.index, held}]++;
      con.name = Intern(same ? fmt::format("{}'{}{}", function.name, same + 1, fields) : function.name + fields);
    } while (!names_.insert({types_[type].tycon.index, con.name.index}).second);
    con.tycon = types_[type].tycon;
    con.index = static_cast<uint32_t>(types_[type].closures.size());
    for (VarId param : llvm::ArrayRef(function.params).take_front(held))
      con.fields.push_back({p_.vars[param].type, Symbol(), false});
    core::ConId id = p_.core.constructors.Add(std::move(con));
    it->second = id;
    p_.core.types.cons[types_[type].tycon].constructors.push_back(id);
    types_[type].closures.push_back({fun, held, id, pos});
    return id;
  }

  FunId ApplyFunction(size_t type, size_t count) {
    auto [it, fresh] = apply_of_.try_emplace({type, count}, applies_.size());
    if (!fresh) return applies_[it->second].fun;
    const FunctionType& row = types_[type];
    bool all = count == row.params.size();
    Function function;
    function.source_name = fmt::format("apply{} ({})", all ? "" : std::to_string(count), p_.core.types.Print(row.type));
    function.name = p_.UniqueName(function.source_name);
    function.from_library = true;
    function.pos = p_.PosOf({}, function.source_name);
    function.params.push_back(p_.NewVar("function", row.type));
    for (size_t i = 0; i < count; ++i) function.params.push_back(p_.NewVar(fmt::format("x{}", i + 1), row.params[i]));
    function.result = p_.core.types.Fun(llvm::ArrayRef(row.params).drop_front(count), row.result);
    Expr* match = p_.New(Kind::Case, function.result, function.pos);
    match->head = p_.NewVarExpr(function.params[0], function.pos);
    function.body = match;
    FunId id = p_.functions.Add(std::move(function));
    applies_.push_back({type, count, id, match});
    return id;
  }

  void AddAlternatives(size_t index) {
    // Calls made here may add applies and closures, which moves the tables.
    Apply apply = applies_[index];
    for (; apply.done < types_[apply.type].closures.size(); ++apply.done) {
      const Closure closure = types_[apply.type].closures[apply.done];
      const Function function = p_.functions[apply.fun];
      const ir::PosId pos = closure.pos.valid() ? closure.pos : function.pos;
      Alt alt{core::AltKind::Con, closure.con, {}, {}, nullptr};
      llvm::SmallVector<Expr*, 4> args;
      for (size_t i = 0; i < closure.held; ++i) {
        const Var held = p_.vars[p_.functions[closure.fun].params[i]];
        alt.vars.push_back(p_.NewVar(held.name, held.type));
        args.push_back(p_.NewVarExpr(alt.vars.back(), pos));
      }
      for (size_t i = 0; i < apply.count; ++i) args.push_back(p_.NewVarExpr(function.params[i + 1], pos));
      alt.body = Call(closure.fun, args, pos);
      apply.match->alts.push_back(std::move(alt));
    }
    applies_[index].done = apply.done;
  }

  // A type without closures: whatever the function is, evaluating it fails or has no end.
  void Finish(Apply& apply) {
    if (!apply.match->alts.empty()) return;
    const Function& function = p_.functions[apply.fun];
    Expr* fail = p_.NewFail("impossible application", 1, function.result, function.pos);
    apply.match->alts.push_back({core::AltKind::Default, {}, {}, {}, fail});
  }

  Program& p_;
  std::vector<FunctionType> types_;
  std::vector<Apply> applies_;
  llvm::DenseMap<uint32_t, size_t> type_of_;                              // by plain function type
  std::map<std::tuple<uint32_t, size_t, uint32_t>, core::ConId> constructors_;  // by function, arguments held, and place
  std::map<std::pair<uint32_t, size_t>, uint32_t> same_;                  // constructors of that function with as many arguments
  std::set<std::pair<uint32_t, uint32_t>> names_;                           // the names of each type of functions that are taken
  std::map<std::pair<size_t, size_t>, size_t> apply_of_;                  // by type and number of arguments
};

}  // namespace

void Defunctionalise(Program& program) { Defunctionaliser(program).Run(); }

}  // namespace df::mono
