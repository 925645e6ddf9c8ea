// See simplify.h.
#include "lang/budget.h"
#include "lower/mono/simplify.h"

#include "lower/mono/placed.h"

namespace df::mono {

void Simplifier::Run(FunId fun, const std::vector<bool>& recursive) {
  fun_ = fun;
  recursive_ = &recursive;
  growth_ = 0;
  parts_.clear();
  for (int round = 0; round < kRounds; ++round) {
    uses_.clear();
    atoms_.clear();
    once_.clear();
    known_.clear();
    lambdas_.clear();
    changed_ = false;
    CountUses(p_.functions[fun].body, 0);
    Expr* body = Simplify(p_.functions[fun].body);
    p_.functions[fun].body = body;
    if (!changed_) return;
  }
}

void Simplifier::CountUses(const Expr* expr, uint32_t lambdas) {
  CheckBudget();
  if (expr->kind == Kind::Var) {
    Uses& uses = uses_[expr->var.index];
    ++uses.count;
    if (lambdas > uses.bound_at) uses.in_lambda = true;
    return;
  }
  auto bind = [&](VarId var) {
    if (var.valid()) uses_[var.index].bound_at = lambdas;
  };
  if (expr->kind == Kind::Lambda) {
    ++lambdas;
    for (VarId param : expr->params) bind(param);
  }
  for (const Binding& binding : expr->bindings) bind(binding.var);
  if (expr->kind == Kind::Case) bind(expr->var);
  for (const Alt& alt : expr->alts)
    for (VarId var : alt.vars) bind(var);
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { CountUses(child, lambdas); });
}

// A variable made in this round has not been counted: it may be used any number of times.
Simplifier::Uses Simplifier::UsesOf(VarId var) const {
  auto found = uses_.find(var.index);
  return found == uses_.end() ? Uses{2, 0, true} : found->second;
}

Expr* Simplifier::CopyAtom(const Expr* atom) {
  llvm::DenseMap<uint32_t, VarId> none;
  return p_.Clone(atom, none);
}

Expr* Simplifier::Simplify(Expr* expr) {
  CheckBudget();
  switch (expr->kind) {
    case Kind::Var: return SimplifyVar(expr, false);
    case Kind::Fun: {
      const Function& function = p_.functions[expr->fun];
      // `undefined` and its like fail where they are used: at any level, since that place is what the error shows. The path of a
      // constant of the program's own ends at that constant.
      if (function.params.empty() && expr->fun != p_.main && function.body && function.body->kind == Kind::Op &&
          function.body->op == ir::Op::Fail && function.body->args[0]->kind == Kind::Const) {
        changed_ = true;
        llvm::DenseMap<uint32_t, VarId> none;
        return p_.Clone(function.body, none, {function.from_library ? expr->pos : ir::PosId()});
      }
      // A constant of the program that is one literal, or a constructor without fields: as a variable of main, which each function on
      // the way to its uses would be given, it costs more than it is.
      if (!options_.Does(Optimisation::Inline) || !function.params.empty() || expr->fun == p_.main || !function.body)
        return expr;
      bool literal = function.body->kind == Kind::Const || (function.body->kind == Kind::Con && function.body->args.empty());
      if (!literal && !(function.body->kind == Kind::Fun && !(*recursive_)[expr->fun.index])) return expr;
      changed_ = true;
      Expr* copy = CopyAtom(function.body);
      copy->pos = expr->pos;
      return copy;
    }
    case Kind::Const: return expr;
    case Kind::Op: return SimplifyOp(expr);
    case Kind::Con:
      for (Expr*& arg : expr->args) arg = Simplify(arg);
      return expr;
    case Kind::App: {
      llvm::SmallVector<Expr*, 4> args;
      for (Expr* arg : expr->args) args.push_back(Simplify(arg));
      if (expr->head->kind == Kind::Lambda && args.size() >= expr->head->params.size()) {
        changed_ = true;
        Expr* lambda = expr->head;
        size_t taken = lambda->params.size();
        std::vector<Binding> bindings;
        for (size_t i = 0; i < taken; ++i) bindings.push_back({lambda->params[i], args[i]});
        return BindAll(bindings, expr->pos, [&] {
          return Apply(Simplify(lambda->head), llvm::ArrayRef(args).drop_front(taken), expr->type, expr->pos);
        });
      }
      const bool named = expr->head->kind == Kind::Var;
      Expr* head = named ? SimplifyVar(expr->head, true) : Simplify(expr->head);
      if (named && head->kind == Kind::Lambda && args.size() >= head->params.size())
        p_.MoveTo(head->head, {expr->pos, p_.GivesAction(head->head->type)});
      return Apply(head, args, expr->type, expr->pos);
    }
    case Kind::Lambda: expr->head = Simplify(expr->head); return expr;
    case Kind::Let: return SimplifyLet(expr);
    case Kind::Case: return SimplifyCase(expr);
    case Kind::Diff:
      for (Binding& binding : expr->bindings) binding.value = Simplify(binding.value);
      for (Expr*& arg : expr->args) arg = Simplify(arg);
      expr->head = Simplify(expr->head);
      return expr;
  }
  return expr;
}

// A function value that is called at `pos`. One of the program's that was handed over is called by its name there, which call paths tell
// beside the place of the call (runtime/text/describe.cpp); one that stood in another function has its place already.
void Simplifier::SetCallPlace(Expr* value, ir::PosId pos) {
  Expr* head = value->kind == Kind::App ? value->head : value;
  if (head->kind == Kind::Fun && p_.IsToldName(head->fun, value->pos)) pos = p_.places.InlinedAt(value->pos, pos);
  head->pos = value->pos = pos;
}

// `called`: it is the function in an application.
Expr* Simplifier::SimplifyVar(Expr* expr, bool called) {
  Expr* value = nullptr;
  if (auto it = atoms_.find(expr->var.index); it != atoms_.end()) {
    value = CopyAtom(it->second);
    const bool function = value->kind != Kind::Const && p_.IsFunction(value->type);
    if (value->kind != Kind::Const && (!function || value->kind == Kind::Var)) value->pos = expr->pos;
  } else if (auto once = once_.find(expr->var.index); once != once_.end()) {
    value = once->second;
    once_.erase(once);
  }
  if (!value) return expr;
  if (called && p_.IsFunction(value->type) && (value->kind == Kind::Fun || value->kind == Kind::App)) SetCallPlace(value, expr->pos);
  return value;
}

Expr* Simplifier::SimplifyLet(Expr* expr) {
  if (!expr->recursive && expr->bindings.size() == 1) {
    const Binding& binding = expr->bindings[0];
    if (UsesOf(binding.var).count == 0) {
      changed_ = true;
      return Simplify(expr->head);
    }
    return Bind(binding.var, Simplify(binding.value), expr->pos, [&] { return Simplify(expr->head); });
  }
  std::vector<Binding> kept;
  for (const Binding& binding : expr->bindings) {
    if (UsesOf(binding.var).count == 0) {
      changed_ = true;
      continue;
    }
    kept.push_back({binding.var, Simplify(binding.value)});
  }
  expr->bindings = std::move(kept);
  expr->head = Simplify(expr->head);
  return expr->bindings.empty() ? expr->head : expr;
}

// let var = value in body(), where `value` is simplified and body() simplifies what comes under the binding.
Expr* Simplifier::Bind(VarId var, Expr* value, ir::PosId pos, Body body) {
  Uses uses = UsesOf(var);
  if (uses.count == 0) {
    changed_ = true;
    return body();
  }
  bool function = value->kind == Kind::Lambda;
  if (IsAtom(p_, value) && (optimize_ || p_.IsFunction(p_.vars[var].type) || value->kind == Kind::Var)) {
    changed_ = true;
    atoms_[var.index] = value;
    return body();
  }
  // A value that is used once moves there; not into a lambda, which may run often, unless it is a lambda itself.
  if (uses.count == 1 && (function || (optimize_ && !uses.in_lambda))) {
    // A part that nothing has looked at goes back to where it came from, and would be named again: that is no progress.
    changed_ |= !parts_.contains(var.index);
    once_[var.index] = value;
    Expr* result = body();
    once_.erase(var.index);
    return result;
  }
  // let g = (let t = e in \x -> b) in c: t is computed once, not per call.
  if (value->kind == Kind::Let && p_.IsFunction(p_.vars[var].type)) {
    changed_ = true;
    value->head = Bind(var, value->head, pos, body);
    value->type = value->head->type;
    return value;
  }
  std::vector<Binding> parts;
  if (optimize_ && value->kind == Kind::Con) {
    for (size_t i = 0; i < value->args.size(); ++i) {
      Expr*& arg = value->args[i];
      if (IsAtom(p_, arg)) continue;
      VarId part = p_.NewVar(fmt::format("{}.{}", p_.vars[var].name, i + 1), arg->type);
      parts_.insert(part.index);
      parts.push_back({part, arg});
      arg = p_.NewVarExpr(part, arg->pos);
    }
    // A strict field is only known to be evaluated once the constructor is.
    if (llvm::none_of(p_.core.constructors[value->con].fields, [](const core::Field& f) { return f.strict; }))
      known_[var.index] = value;
  }
  if (function && optimize_ && SizeOf(value, kSmall + 1) <= kSmall) lambdas_[var.index] = value;
  Expr* result = body();
  if (options_.Does(Optimisation::Match) && value->kind == Kind::Case && result->kind == Kind::Case && result->alts.size() > 1 &&
      !result->var.valid() && result->head->kind == Kind::Var && result->head->var == var) {
    // let x = case .. in case x of alts: case (case ..) of x { alts }, where the ends of the one may choose in the other.
    changed_ = true;
    result->head = value;
    result->var = var;
  } else {
    result = p_.NewLet(var, value, result, pos);
  }
  known_.erase(var.index);
  lambdas_.erase(var.index);
  for (size_t i = parts.size(); i-- > 0;) result = p_.NewLet(parts[i].var, parts[i].value, result, pos);
  return result;
}

Expr* Simplifier::BindAll(llvm::ArrayRef<Binding> bindings, ir::PosId pos, Body body) {
  if (bindings.empty()) return body();
  return Bind(bindings[0].var, bindings[0].value, pos,
              [&] { return BindAll(bindings.drop_front(), pos, body); });
}

// ---------------------------------------------------------------- application

// Parameters become lets around a body that is simplified already (or is a copy): the next round looks into it.
Expr* Simplifier::Beta(llvm::ArrayRef<VarId> params, Expr* body, llvm::ArrayRef<Expr*> args, df::TypeId type,
                       ir::PosId pos) {
  changed_ = true;
  Expr* result = body;
  if (args.size() > params.size()) {
    result = Apply(result, args.drop_front(params.size()), type, pos);
  } else if (args.size() < params.size()) {
    Expr* lambda = p_.New(Kind::Lambda, type, pos);
    lambda->params.assign(params.begin() + args.size(), params.end());
    lambda->head = result;
    result = lambda;
  }
  for (size_t i = std::min(args.size(), params.size()); i-- > 0;)
    result = p_.NewLet(params[i], args[i], result, pos);
  return result;
}

// What is no larger than a call of it, `x && y` for one, is inlined however much a function has grown. Two calls do not
// fit into such a body, unless they are of functions with half as many parameters: no chain of them explodes.
static bool IsNoLargerThanCall(const Function& function) {
  uint32_t limit = static_cast<uint32_t>(function.params.size()) + 2;
  return SizeOf(function.body, limit + 1) <= limit;
}

// The library's own wrappers of derivatives are inlined at any level: what they differentiate is then the function that
// is known where they are called, and a gradient within a gradient is another one.
static bool IsDerivative(const Function& function) {
  std::function<bool(const Expr*)> has_diff = [&](const Expr* expr) {
    bool found = expr->kind == Kind::Diff;
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { found = found || has_diff(child); });
    return found;
  };
  return function.from_library && SizeOf(function.body, 41) <= 40 && has_diff(function.body);
}

bool Simplifier::ShouldInline(FunId fun, llvm::ArrayRef<Expr*> args) const {
  const Function& function = p_.functions[fun];
  if (fun == p_.main || fun == fun_ || !function.body || (*recursive_)[fun.index]) return false;
  if (args.size() < function.params.size() || function.spread || IsPlaced(p_, function)) return false;
  if (IsDerivative(function)) return true;
  if (!options_.Does(Optimisation::Inline) || function.params.empty()) return false;
  if (IsNoLargerThanCall(function)) return true;
  if (growth_ > kGrowth) return false;
  if (called_once_ && called_once_->contains(fun.index) && SizeOf(function.body, kOnlyCall + 1) <= kOnlyCall) return true;
  bool higher = llvm::any_of(function.params, [&](VarId param) {
    return const_cast<Program&>(p_).IsFunction(p_.vars[param].type);
  });
  auto is_tensor = [&](df::TypeId type) {
    df::TypeId of, shape;
    return p_.core.types.IsTensor(const_cast<Program&>(p_).Repr(type), &of, &shape);
  };
  bool tensors = is_tensor(function.result) || llvm::any_of(function.params, [&](VarId param) { return is_tensor(p_.vars[param].type); });
  uint32_t limit = higher ? kSmallHigher : tensors ? kSmallTensor : kSmall;
  return SizeOf(function.body, limit + 1) <= limit;
}

// `compare` of pairs, `==` of constructors without fields and the like, where a match waits for the answer: the match and what the
// answer is found by become one, and what is compared need not be handed over.
bool Simplifier::IsSmallTest(const Expr* scrutinee) const {
  if (scrutinee->kind != Kind::App || scrutinee->head->kind != Kind::Fun || growth_ > kGrowth) return false;
  FunId fun = scrutinee->head->fun;
  const Function& function = p_.functions[fun];
  if (!options_.Does(Optimisation::Inline) || !options_.Does(Optimisation::Tests)) return false;
  if (fun == p_.main || fun == fun_ || !function.body || (*recursive_)[fun.index]) return false;
  if (scrutinee->args.size() != function.params.size()) return false;
  Program& p = const_cast<Program&>(p_);
  llvm::ArrayRef<core::ConId> constructors = p.ConstructorsOf(scrutinee->type);
  if (constructors.empty() || llvm::any_of(constructors, [&](core::ConId con) { return !p_.core.constructors[con].fields.empty(); }))
    return false;
  return SizeOf(function.body, kSmallTest + 1) <= kSmallTest;
}

Expr* Simplifier::Inline(FunId fun, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos) {
  const Function& function = p_.functions[fun];
  if (!IsNoLargerThanCall(function)) growth_ += SizeOf(function.body, kGrowth);
  llvm::SmallVector<VarId, 4> params;
  Expr* body = p_.CloneBody(function, params, pos);
  return Beta(params, body, args, type, pos);
}

// A tensor literal is a constant if its elements are; "abc" ++ rest and show 1 ++ rest unpack the text before `rest`; a literal that is packed again is its text. Null for all else.
Expr* Simplifier::ApplyToLiteral(FunId fun, llvm::ArrayRef<Expr*> args, ir::PosId pos) {
  if (args.empty()) return nullptr;
  // Without optimisation too: the library writes its packed constants in this way.
  if (fun == p_.text_pack) {
    Expr* text = TextOfLiteral(p_, args[0]);
    changed_ |= text != nullptr;
    return text;
  }
  if (fun == p_.text_pack_onto && args.size() == 2 && args[0]->kind == Kind::Const) {
    Expr* text = TextOfLiteral(p_, args[1]);
    if (!text) return nullptr;
    changed_ = true;
    return p_.NewText(p_.constants[args[0]->constant].text + p_.constants[text->constant].text, pos);
  }
  if (p_.tensor_literals.contains(fun.index)) {
    Expr* tensor = p_.NewTensor(args[0], p_.functions[fun].result, pos);
    changed_ |= tensor != nullptr;
    return tensor;
  }
  if (!optimize_ || fun != p_.list_append || args.size() != 2 || !UnpacksBeforeNil(p_, args[0])) return nullptr;
  changed_ = true;
  args[0]->args[2] = args[1];
  args[0]->pos = pos;
  return args[0];
}

// head args, all simplified.
Expr* Simplifier::Apply(Expr* head, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos) {
  if (args.empty()) return head;
  // A known function is called where it is named.
  if ((head->kind == Kind::App ? head->head : head)->kind == Kind::Fun) pos = head->pos;
  switch (head->kind) {
    case Kind::App: {
      llvm::SmallVector<Expr*, 4> all(head->args.begin(), head->args.end());
      all.append(args.begin(), args.end());
      return Apply(head->head, all, type, pos);
    }
    case Kind::Lambda: return Beta(head->params, head->head, args, type, pos);
    case Kind::Let:
      changed_ = true;
      head->head = Apply(head->head, args, type, pos);
      head->type = type;
      return head;
    case Kind::Case: {
      changed_ = true;
      // Each alternative is applied; what is not an atom is bound outside, so that it is computed once.
      llvm::SmallVector<Expr*, 4> atoms;
      std::vector<Binding> bound;
      for (Expr* arg : args) {
        if (IsAtom(p_, arg)) {
          atoms.push_back(arg);
          continue;
        }
        bound.push_back({p_.NewVar("arg", arg->type), arg});
        atoms.push_back(p_.NewVarExpr(bound.back().var, arg->pos));
      }
      for (Alt& alt : head->alts) {
        llvm::SmallVector<Expr*, 4> copies;
        for (Expr* atom : atoms) copies.push_back(CopyAtom(atom));
        alt.body = Apply(alt.body, copies, type, pos);
      }
      head->type = type;
      Expr* result = head;
      for (size_t i = bound.size(); i-- > 0;) result = p_.NewLet(bound[i].var, bound[i].value, result, pos);
      return result;
    }
    case Kind::Op:
      if (head->op != ir::Op::Fail) break;
      head->type = type;  // a failure applied to anything is that failure
      return head;
    case Kind::Var: {
      auto it = lambdas_.find(head->var.index);
      if (it == lambdas_.end() || growth_ > kGrowth) break;
      growth_ += kSmall;
      llvm::DenseMap<uint32_t, VarId> fresh;
      Expr* copy = p_.Clone(it->second, fresh);
      if (args.size() >= copy->params.size()) p_.MoveTo(copy->head, {head->pos, p_.GivesAction(copy->head->type)});
      return Beta(copy->params, copy->head, args, type, pos);
    }
    case Kind::Fun: {
      if (Expr* text = ApplyToLiteral(head->fun, args, pos)) return text;
      if (!ShouldInline(head->fun, args)) break;
      return Inline(head->fun, args, type, pos);
    }
    default: break;
  }
  return p_.NewApp(head, args, type, pos);
}

// ---------------------------------------------------------------- the pass

// How often each function that main reaches is mentioned.
static void CountMentions(const Expr* expr, std::vector<uint32_t>& mentions) {
  if (expr->kind == Kind::Fun) ++mentions[expr->fun.index];
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { CountMentions(child, mentions); });
}

static llvm::DenseSet<uint32_t> CalledOnce(const Program& program, const std::vector<std::vector<FunId>>& groups) {
  std::vector<uint32_t> mentions(program.functions.size());
  for (const std::vector<FunId>& group : groups)
    for (FunId fun : group)
      if (program.functions[fun].body) CountMentions(program.functions[fun].body, mentions);
  llvm::DenseSet<uint32_t> once;
  for (uint32_t i = 0; i < mentions.size(); ++i)
    if (mentions[i] == 1) once.insert(i);
  return once;
}

void Simplify(Program& program, const LowerOptions& options) {
  Simplifier simplifier(program, options);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::vector<FunId>> groups = CallGroups(program);
    llvm::DenseSet<uint32_t> once = CalledOnce(program, groups);
    simplifier.SetCalledOnce(&once);
    std::vector<bool> recursive(program.functions.size());
    for (const std::vector<FunId>& group : groups)
      for (FunId fun : group) recursive[fun.index] = group.size() > 1 || Mentions(program.functions[fun].body, fun);
    // Callees first: what is inlined has been simplified itself.
    for (const std::vector<FunId>& group : groups)
      for (FunId fun : group) {
        if (!program.functions[fun].body) continue;
        simplifier.Run(fun, recursive);
        program.DropMuchGarbage();
      }
  }
  DropUnreachable(program);
}

}  // namespace df::mono
