// Expressions without bindings or branches, calls, tuples in parts. See build.h.
#include "lower/build/build.h"

#include "tagged_ir/op_facts.h"

namespace df::mono {

// The result of `expr`, in one value or in parts. In tail position a call of the function itself becomes `again`.
Builder::Yield Builder::Build(const Expr* expr, Shape shape, bool tail, Guards guards) {
  while (expr->kind == Kind::Let) {
    BindLet(expr);
    expr = expr->head;
  }
  if (expr->kind == Kind::Case) return Case(expr, shape, tail, std::move(guards));
  return Finish(Leaf(expr, shape, tail), guards, expr->pos);
}

// Whether `value` fails by itself if `guard` does: it is computed from it, or both are results of one call or branch,
// each of which fails if that does.
bool Builder::FailsWith(fg::Value value, fg::Value guard, int depth) const {
  if (value.node == guard.node) return true;
  const fg::Node& node = function_->nodes[value.node];
  if (depth == 0 || node.kind != fg::NodeKind::Op || ir::InfoOf(node.op).cls != ir::OpClass::Ordinary) return false;
  return llvm::any_of(node.operands, [&](fg::Value operand) { return FailsWith(operand, guard, depth - 1); });
}

// Of the strict parameters of a function the one that its body looks at first: what fails there fails before all else, as it does
// in the order of the source. None: none is strict.
std::optional<size_t> Builder::FirstStrict(FunId fun) const {
  const Function& function = p_.functions[fun];
  const std::vector<bool>& strict = strictness_.params[fun.index];
  llvm::SmallDenseMap<uint32_t, const Expr*, 8> bound;
  std::function<std::optional<size_t>(const Expr*)> first = [&](const Expr* expr) -> std::optional<size_t> {
    for (; expr->kind == Kind::Let; expr = expr->head)
      for (const Binding& binding : expr->bindings) bound[binding.var.index] = binding.value;
    if (expr->kind == Kind::Case) return first(expr->head);
    if (expr->kind == Kind::Op) {
      for (const Expr* arg : expr->args)
        if (std::optional<size_t> found = first(arg)) return found;
      return std::nullopt;
    }
    if (expr->kind != Kind::Var) return std::nullopt;
    for (size_t i = 0; i < strict.size(); ++i)
      if (strict[i] && function.params[i] == expr->var) return i;
    auto it = bound.find(expr->var.index);
    if (it == bound.end()) return std::nullopt;
    const Expr* value = it->second;
    bound.erase(it);  // a definition may refer to itself
    return first(value);
  };
  if (std::optional<size_t> found = first(function.body)) return found;
  auto some = std::find(strict.begin(), strict.end(), true);
  return some == strict.end() ? std::nullopt : std::optional<size_t>(some - strict.begin());
}

// Makes a result fail if a guard has failed.
Builder::Yield Builder::Finish(Yield yield, const Guards& guards, ir::PosId pos) {
  if (guards.empty()) return yield;
  if (!yield.again) {
    for (fg::Value& value : yield.values)
      for (fg::Value guard : llvm::reverse(guards))
        if (!FailsWith(value, guard, 8)) value = Seq(guard, value, pos);
    return yield;
  }
  // The next iteration surely evaluates a strict parameter: that is where a failure can be put.
  if (std::optional<size_t> first = FirstStrict(self_)) {
    for (fg::Value guard : llvm::reverse(guards)) yield.values[*first] = Seq(guard, yield.values[*first], pos);
    return yield;
  }
  // Nothing is surely evaluated. The call is one like any other, then.
  fg::Node node;
  node.kind = fg::NodeKind::Apply;
  node.callee = ids_[self_.index];
  node.operands = yield.values;
  for (ir::PortType type : function_->results) node.results.push_back(type);
  node.pos = yield.pos;
  Yield call;
  fg::NodeId id = AddNode(std::move(node));
  for (uint32_t k = 0; k < function_->results.size(); ++k) call.values.push_back({id, k});
  return Finish(std::move(call), guards, pos);
}

Builder::Yield Builder::Leaf(const Expr* expr, Shape shape, bool tail) {
  Yield yield;
  if (expr->kind == Kind::App && tail && self_.valid() && expr->head->fun == self_) {
    yield.again = true;
    yield.pos = expr->pos;
    yield.values = Arguments(self_, expr->args);
    return yield;
  }
  if (shape == Shape::Parts) {
    yield.values = PartsOf(expr);
    return yield;
  }
  fg::Value value;
  if (shape == Shape::Late && expr->kind == Kind::Op && expr->op == ir::Op::Fail) {
    yield.values = {Delay(expr, "failure", "failures wait until they are asked for")};
    return yield;
  }
  switch (expr->kind) {
    case Kind::Var: value = Forced(expr->var, expr->pos); break;
    case Kind::Const: value = Constant(expr->constant, expr->pos); break;
    case Kind::Op: {
      Values operands;
      for (const Expr* arg : expr->args) operands.push_back(Eval(arg));
      value = Op(expr->op, operands, Strict(expr->type), expr->attr, expr->pos);
      break;
    }
    case Kind::Con: value = Construct(expr); break;
    case Kind::Diff: {
      Values results = Diff(expr);
      value = results.size() == 1 ? results[0] : Box(results[0], results, expr->type, expr->pos);
      break;
    }
    case Kind::Fun:
    case Kind::App: {
      FunId fun = expr->kind == Kind::Fun ? expr->fun : expr->head->fun;
      Values results = Call(expr);
      value = tuples_[fun.index] ? Box(results[0], llvm::ArrayRef(results).drop_front(), expr->type, expr->pos)
                                 : results[0];
      break;
    }
    default: llvm_unreachable("not a leaf");
  }
  yield.values = {value};
  return yield;
}

// A value that is needed here, evaluated, in the current block.
fg::Value Builder::Eval(const Expr* expr) { return Build(expr, Shape::Single, false, {}).values[0]; }

fg::Value Builder::Construct(const Expr* expr) {
  const core::DataCon& con = p_.core.constructors[expr->con];
  Values fields;
  for (size_t i = 0; i < expr->args.size(); ++i)
    fields.push_back(con.fields[i].strict ? Eval(expr->args[i])
                                          : ConstructorField(expr, i, "field", fmt::format("field {} of `{}`", i + 1, Text(con.name))));
  return Op(ir::Op::Construct, fields, Strict(expr->type), con.index, expr->pos);
}

// What a constructor application has in a lazy field: evaluated if whoever looks at the whole needs it.
fg::Value Builder::ConstructorField(const Expr* con, size_t i, const char* name, const std::string& what) {
  bool needed = i < kNeededFields && (strictness_.needed.lookup(con) >> i & 1);
  fg::Value value = needed ? Eval(con->args[i]) : Lazy(con->args[i], fmt::format("{}{}", name, i + 1), what + " may not be needed");
  CheckField(con, i, value);
  return value;
}

// ---------------------------------------------------------------- calls

Builder::Values Builder::Arguments(FunId fun, llvm::ArrayRef<Expr*> args) {
  const Function& callee = p_.functions[fun];
  Values values;
  for (size_t i = 0; i < args.size(); ++i) {
    if (strictness_.params[fun.index][i]) {
      values.push_back(Eval(args[i]));
      continue;
    }
    const std::string& name = p_.vars[callee.params[i]].name;
    fg::Value value = Lazy(args[i], name, fmt::format("argument {} of `{}` may not be needed", i + 1, callee.source_name));
    if (TypeOf(value).lazy) Drop(ParamOf(fun, i));
    values.push_back(value);
  }
  // An argument that fails does so where the body looks at it: after what was done before the call.
  if (!has_tokens_) return values;
  auto token = llvm::find_if(values, [&](fg::Value value) { return IsState(value); });
  if (token == values.end()) return values;
  auto waits = [&](fg::Value value) { return !IsState(value) && FailsLate(value, 8); };
  const size_t at = static_cast<size_t>(token - values.begin());
  if (const ir::PortType type = TypeOf(*token); type.lazy && llvm::any_of(values, waits))
    values[at] = Op(ir::Op::Force, *token, {type.type, false}, 0, args[at]->pos);
  const fg::Value before = values[at];
  for (size_t i = 0; i < values.size(); ++i)
    if (waits(values[i])) values[i] = Seq(before, values[i], args[i]->pos);
  return values;
}

Builder::Values Builder::Call(const Expr* expr) {
  FunId fun = expr->kind == Kind::Fun ? expr->fun : expr->head->fun;
  fg::Node node;
  node.kind = fg::NodeKind::Apply;
  node.callee = ids_[fun.index];
  node.operands = Arguments(fun, expr->args);
  for (ir::PortType type : ResultTypes(fun)) node.results.push_back(type);
  node.pos = expr->pos;
  uint32_t count = static_cast<uint32_t>(node.results.size());
  fg::NodeId id = AddNode(std::move(node));
  Values results;
  for (uint32_t k = 0; k < count; ++k) results.push_back({id, k});
  return results;
}

// A derivative: the value and the tangent; of Stop, the value. What is differentiated becomes a function of its free
// variables, as a delayed expression does. A tangent that is data may be a reference.
Builder::Values Builder::Diff(const Expr* expr) {
  fg::Node node;
  node.kind = fg::NodeKind::Diff;
  node.attr = expr->attr;
  node.pos = expr->pos;
  if (fg::DiffMode(expr->attr) == fg::DiffMode::Stop) {
    node.operands = {Eval(expr->head)};
    node.results = {TypeOf(node.operands[0])};
    return {{AddNode(std::move(node)), 0}};
  }
  const Binding& at = expr->bindings[0];
  fg::Value point = strictness_.strict_lets.contains(at.var.index)
                        ? Eval(at.value)
                        : Lazy(at.value, p_.vars[at.var].name, "what a gradient is taken at may not be needed");
  fg::Value factor = fg::DiffMode(expr->attr) == fg::DiffMode::Vjp
                         ? Eval(expr->args[0])
                         : Lazy(expr->args[0], "tangent", "the tangent may not be needed");
  node.callee = Body(expr->head, "gradient", at.var, point, node.operands);
  node.operands.push_back(factor);
  llvm::SmallVector<df::TypeId> parts;
  p_.IsTuple(expr->type, &parts);
  node.results = {Strict(parts[0]), Strict(parts[1])};
  node.results[1].lazy = p_.ir_types[node.results[1].type].constructors.size() > 0;
  fg::NodeId id = AddNode(std::move(node));
  return {{id, 0}, {id, 1}};
}

// ---------------------------------------------------------------- tuples in parts

// Whether building it in parts saves a tuple.
bool Builder::HasParts(const Expr* expr) const {
  if (!options_.Does(Optimisation::Parts)) return false;
  switch (expr->kind) {
    case Kind::Con: return const_cast<Program&>(p_).IsTuple(expr->type);
    case Kind::App: return tuples_[expr->head->fun.index];
    case Kind::Diff: return fg::DiffMode(expr->attr) != fg::DiffMode::Stop;
    case Kind::Let: return HasParts(expr->head);
    case Kind::Var: {
      auto it = env_.find(expr->var.index);
      return it != env_.end() && it->second.in_parts;
    }
    case Kind::Case:
      return const_cast<Program&>(p_).IsTuple(expr->type) &&
             llvm::all_of(expr->alts, [&](const Alt& alt) {
               return HasParts(alt.body) || (alt.body->kind == Kind::Op && alt.body->op == ir::Op::Fail);
             });
    default: return false;
  }
}

// `whole`, then the parts.
Builder::Values Builder::PartsOf(const Expr* expr) {
  auto make_unit = [&] { return Constant(p_.Intern({Builtin(ir::TypeKind::Unit), 0, ""}), expr->pos); };
  llvm::SmallVector<df::TypeId> elements;
  p_.IsTuple(expr->type, &elements);
  Values values;
  if (expr->kind == Kind::Con) {
    values.push_back(make_unit());
    for (size_t i = 0; i < expr->args.size(); ++i)
      values.push_back(ConstructorField(expr, i, "part", fmt::format("part {} of the tuple", i + 1)));
    return values;
  }
  if (expr->kind == Kind::App && tuples_[expr->head->fun.index]) return Call(expr);
  if (expr->kind == Kind::Diff && fg::DiffMode(expr->attr) != fg::DiffMode::Stop) {
    Values results = Diff(expr);
    values.push_back(Seq(results[0], make_unit(), expr->pos));
    values.append(results.begin(), results.end());
    return values;
  }
  if (expr->kind == Kind::Op && expr->op == ir::Op::Fail) {
    fg::Value message = Eval(expr->args[0]);
    values.push_back(Op(ir::Op::Fail, message, {Builtin(ir::TypeKind::Unit), false}, expr->attr, expr->pos));
    for (df::TypeId element : elements)
      values.push_back(Op(ir::Op::Fail, message, Strict(element), expr->attr, expr->pos));
    return values;
  }
  if (expr->kind == Kind::Var) {
    const Held& held = env_[expr->var.index];
    if (held.in_parts) {
      values.push_back(held.whole);
      values.append(held.parts.begin(), held.parts.end());
      return values;
    }
  }
  fg::Value tuple = Eval(expr);
  values.push_back(Seq(tuple, make_unit(), expr->pos));
  const ir::Type type = p_.ir_types[p_.IrType(expr->type)];
  for (uint32_t i = 0; i < elements.size(); ++i)
    values.push_back(Op(ir::Op::Field, tuple, type.constructors[0].fields[i].type, i, expr->pos));
  return values;
}

fg::Value Builder::Box(fg::Value whole, llvm::ArrayRef<fg::Value> parts, df::TypeId type, ir::PosId pos) {
  fg::Value tuple = Op(ir::Op::Construct, parts, Strict(type), 0, pos);
  if (whole.node.valid() && function_->nodes[whole.node].op == ir::Op::Const &&
      function_->nodes[whole.node].kind == fg::NodeKind::Op)
    return tuple;
  return Seq(whole, tuple, pos);
}

// ---------------------------------------------------------------- variables

// The variable as one value, evaluated or not.
fg::Value Builder::LazyValue(VarId var) {
  auto it = env_.find(var.index);
  if (it == env_.end()) llvm_unreachable("an unbound variable");
  if (IsToken(it->second)) return TokenBehind(var);
  if (it->second.boxed) return it->second.value;
  return Boxed(var);
}

// `case e of !_ -> change memory`: where e fails nothing is changed, so the token waits for what was matched since it was there.
bool Builder::IsToken(const Held& held) const {
  return held.boxed && held.musts < musts_.size() && IsState(held.value);
}

fg::Value Builder::TokenBehind(VarId var) {
  Held held = env_[var.index];
  if (const ir::PortType type = TypeOf(held.value); type.lazy)  // without optimisations a parameter may be
    held.value = Op(ir::Op::Force, held.value, {type.type, false}, 0, function_->nodes[held.value.node].pos);
  for (fg::Value must : llvm::ArrayRef(musts_).drop_front(held.musts))
    held.value = Op(ir::Op::After, {must, held.value}, TypeOf(held.value), 0, function_->nodes[held.value.node].pos);
  held.musts = musts_.size();
  fg::Value value = held.value;
  Bind(var, std::move(held));
  return value;
}

// A token of state that `expr` goes on with, if there is one: what was done before it has been done before `expr` is.
std::optional<fg::Value> Builder::TokenIn(const Expr* expr) const {
  if (!has_tokens_) return std::nullopt;
  if (expr->kind == Kind::Var) {
    auto it = env_.find(expr->var.index);
    if (it == env_.end() || !it->second.boxed) return std::nullopt;
    const fg::Value value = it->second.value;
    return !TypeOf(value).lazy && IsState(value) ? std::optional(value) : std::nullopt;
  }
  std::optional<fg::Value> found;
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) {
    if (!found) found = TokenIn(child);
  });
  return found;
}

// Whether `value` may fail by what is computed here. A parameter may not: who calls has put that behind its token. What looks under a
// token comes after it anyway.
bool Builder::FailsLate(fg::Value value, int depth) const {
  const fg::Node& node = function_->nodes[value.node];
  if (node.kind == fg::NodeKind::Param || TypeOf(value).lazy) return false;
  if (node.kind != fg::NodeKind::Op || depth == 0) return true;
  if (ir::IsLookOfState(node.op)) return false;
  if (ir::FactsOf(node.op).fails) return true;
  return llvm::any_of(node.operands, [&](fg::Value operand) { return FailsLate(operand, depth - 1); });
}

fg::Value Builder::Boxed(VarId var) {
  Held held = env_[var.index];
  held.value = Box(held.whole, held.parts, p_.vars[var].type, function_->nodes[held.whole.node].pos);
  held.boxed = true;
  fg::Value value = held.value;
  Bind(var, std::move(held));
  return value;
}

fg::Value Builder::Forced(VarId var, ir::PosId pos) {
  fg::Value value = LazyValue(var);
  ir::PortType type = TypeOf(value);
  if (!type.lazy) return value;
  fg::Value forced = Op(ir::Op::Force, value, {type.type, false}, 0, pos);
  Held held = env_[var.index];
  held.value = forced;
  Bind(var, std::move(held));
  return forced;
}

// ---------------------------------------------------------------- lazy positions

// Ops of bounded cost: everything on machine words; on Integers what does not make long numbers of short ones.
bool Builder::IsCheapOp(const Expr* expr) const {
  Program& p = const_cast<Program&>(p_);
  bool big = p.BuiltinOf(expr->type) == df::Builtin::Integer;
  for (const Expr* arg : expr->args) big |= p.BuiltinOf(arg->type) == df::Builtin::Integer;
  // What changes memory is done once, where its token is.
  if (ir::IsStateOp(expr->op) && expr->op != ir::Op::NewState) return false;
  // A tensor's op takes as long as the tensor is large.
  bool tensor = p.BuiltinOf(expr->type) == df::Builtin::Tensor;
  for (const Expr* arg : expr->args) tensor |= p.BuiltinOf(arg->type) == df::Builtin::Tensor;
  if (tensor) return expr->op == ir::Op::Fail;
  switch (ir::FactsOf(expr->op).cost) {
    case ir::Cost::LikeText: return false;
    case ir::Cost::LikeSum:
    case ir::Cost::LikeConversion: return true;
    // By a number of one word they are as cheap as sums: a product is longer by a word at most, a remainder has one.
    case ir::Cost::LikeProduct: return !big || IsShortConstant(expr->args[0]) || IsShortConstant(expr->args[1]);
    case ir::Cost::LikeQuotient: return !big || IsShortConstant(expr->args[1]);
    case ir::Cost::Bounded: return !big;
  }
  return false;
}

// Whether an op's result may be an error where its operands are none.
bool Builder::MayFail(const Expr* expr) const {
  switch (expr->op) {
    case ir::Op::Div:
    case ir::Op::Mod:
    case ir::Op::Quot:
    case ir::Op::Rem: {
      if (expr->args[1]->kind != Kind::Const) return true;
      const ir::Constant& divisor = p_.constants[expr->args[1]->constant];
      if (!divisor.text.empty()) return divisor.text == "0";
      return divisor.word == 0 || divisor.word == -1;  // the quotient of the least Int by -1 is none
    }
    default: return ir::FactsOf(expr->op).fails;
  }
}

// An Integer that is written out with few digits.
bool Builder::IsShortConstant(const Expr* expr) const {
  return expr->kind == Kind::Const && p_.constants[expr->constant].text.size() <= 18;
}

Builder::Early Builder::WhenCheap(const Expr* expr) const {
  uint32_t budget = 40;
  bool fails = false;
  if (!IsCheap(expr, budget, &fails)) return Early::No;
  return fails ? Early::Late : Early::Yes;
}

// Whether it may be computed before anybody asks: of bounded cost on what is evaluated already. An error is a datum and
// spoils only what uses it; but its derivative would use it, so that in a program with derivatives what may fail waits. An `error`, or a
// match that may fail, surely fails where it is reached, and the frame leaves its fast code: at the end of an expression it waits
// (`fails`), elsewhere the whole does. With `lazy`: whether it might if all its variables were evaluated; those that are not are noted.
bool Builder::IsCheap(const Expr* expr, uint32_t& budget, bool* fails, llvm::SmallVectorImpl<VarId>* lazy) const {
  if (budget == 0) return false;
  --budget;
  switch (expr->kind) {
    case Kind::Const: return true;
    case Kind::Var: {
      auto it = env_.find(expr->var.index);
      if (it == env_.end()) return false;
      if (it->second.in_parts || !TypeOf(it->second.value).lazy) return true;
      if (lazy && !llvm::is_contained(*lazy, expr->var)) lazy->push_back(expr->var);
      return lazy != nullptr;
    }
    case Kind::Op:
      if (!options_.Does(Optimisation::Speculate) || !IsCheapOp(expr)) return false;
      if (derivatives_ && MayFail(expr)) return false;
      if (expr->op == ir::Op::Fail) {
        if (fails) *fails = true;
        return fails != nullptr;
      }
      return llvm::all_of(expr->args, [&](const Expr* arg) { return IsCheap(arg, budget, nullptr, lazy); });
    case Kind::Con: {
      // Building it is cheap; its lazy fields may be Delays. Strict ones have to be computed first.
      const core::DataCon& con = p_.core.constructors[expr->con];
      for (size_t i = 0; i < expr->args.size(); ++i)
        if (con.fields[i].strict && !IsCheap(expr->args[i], budget, nullptr, lazy)) return false;
      return true;
    }
    case Kind::Case:
      if (!options_.Does(Optimisation::Speculate) || !IsCheap(expr->head, budget, nullptr, lazy)) return false;
      return llvm::all_of(expr->alts, [&](const Alt& alt) { return IsCheap(alt.body, budget, fails, lazy); });
    default: return false;
  }
}

// `case t of (a, _) -> a` where `t` is evaluated: the field as it is, evaluated or a reference. A delayed selection would keep all
// of `t`. Matches of strict fields within are passed as well; none is bound that is not in `env_` after it.
std::optional<fg::Value> Builder::Selected(const Expr* expr) {
  if (!options_.Does(Optimisation::Speculate)) return std::nullopt;
  // What it is of, before anything is emitted: all but the innermost selection are of evaluated fields.
  for (const Expr* at = expr; at->kind != Kind::Var; at = at->alts[0].body) {
    if (at->kind != Kind::Case || at->head->kind != Kind::Var || at->alts.size() != 1) return std::nullopt;
    const Alt& alt = at->alts[0];
    if (alt.kind != core::AltKind::Con || p_.ConstructorsOf(at->head->type).size() > 1) return std::nullopt;
    const Expr* next = alt.body->kind == Kind::Case ? alt.body->head : alt.body;
    if (next->kind != Kind::Var) return std::nullopt;
    auto bound = llvm::find(alt.vars, next->var);
    if (bound == alt.vars.end()) return std::nullopt;
    const bool strict = p_.core.constructors[alt.con].fields[bound - alt.vars.begin()].strict;
    if (alt.body->kind == Kind::Case && !strict) return std::nullopt;
    if (at != expr) continue;
    auto held = env_.find(at->head->var.index);
    if (held == env_.end() || (!held->second.in_parts && TypeOf(held->second.value).lazy)) return std::nullopt;
  }
  if (expr->kind == Kind::Var) return std::nullopt;
  const size_t mark = Mark();
  Guards guards;
  for (; expr->kind != Kind::Var; expr = expr->alts[0].body) {
    const Alt& alt = expr->alts[0];
    const Held held = env_[expr->head->var.index];
    guards.push_back(held.in_parts ? held.whole : held.value);
    if (!held.in_parts) BindFields(alt, held.value, expr->pos);
    else
      for (size_t i = 0; i < alt.vars.size(); ++i) BindValue(alt.vars[i], held.parts[i]);
  }
  fg::Value value = LazyValue(expr->var);
  Undo(mark);
  for (fg::Value guard : llvm::reverse(guards))
    if (!FailsWith(value, guard, 8)) value = Seq(guard, value, expr->pos);
  return value;
}

// A value where it may not be needed: evaluated if that is cheap, else a reference.
fg::Value Builder::Lazy(const Expr* expr, const std::string& name, const std::string& reason) {
  if (expr->kind == Kind::Var) return LazyValue(expr->var);
  if (std::optional<fg::Value> field = Selected(expr)) return *field;
  const Early early = WhenCheap(expr);
  if (early == Early::Yes) return Eval(expr);
  if (early == Early::Late && expr->kind == Kind::Case) return Build(expr, Shape::Late, false, {}).values[0];
  return Delay(expr, name, reason + WhatIsLazy(expr));
}

// For people: the variables but for which it would be cheap enough to be computed at once.
std::string Builder::WhatIsLazy(const Expr* expr) const {
  uint32_t budget = 40;
  llvm::SmallVector<VarId, 4> lazy;
  bool fails = false;
  if (!IsCheap(expr, budget, &fails, &lazy) || lazy.empty()) return "";
  std::string names;
  for (VarId var : lazy) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", p_.vars[var].name);
  return fmt::format(", and {} may not be evaluated", names);
}

}  // namespace df::mono
