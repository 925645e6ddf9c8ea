// Bindings and delayed expressions. See build.h.
#include "llvm/ADT/SetVector.h"
#include "lower/build/build.h"

namespace df::mono {

void Builder::BindLet(const Expr* expr) {
  if (expr->recursive) return BindGroup(expr);
  for (const Binding& binding : expr->bindings) {
    const Early early = strictness_.strict_lets.contains(binding.var.index) ? Early::Yes : WhenCheap(binding.value);
    if (early == Early::No) {
      if (binding.value->kind == Kind::Var) {
        BindValue(binding.var, LazyValue(binding.value->var));
        continue;
      }
      if (std::optional<fg::Value> field = Selected(binding.value)) {
        BindValue(binding.var, *field);
        continue;
      }
      const std::string& name = p_.vars[binding.var].name;
      BindValue(binding.var, Delay(binding.value, name, WhyDelayed(binding.var, expr->head) + WhatIsLazy(binding.value)));
      continue;
    }
    if (early == Early::Late || !HasParts(binding.value)) {
      fg::Value value = early == Early::Late ? Build(binding.value, Shape::Late, false, {}).values[0] : Eval(binding.value);
      Name(value, p_.vars[binding.var].name);
      BindValue(binding.var, value);
      continue;
    }
    Yield yield = Build(binding.value, Shape::Parts, false, {});
    Held held;
    held.in_parts = true;
    held.whole = yield.values[0];
    held.parts.append(yield.values.begin() + 1, yield.values.end());
    Bind(binding.var, std::move(held));
  }
}

// Where the body may do without the variable, for people.
std::string Builder::WhyDelayed(VarId var, const Expr* body) const {
  while (body->kind == Kind::Let) body = body->head;
  const std::string& name = p_.vars[var].name;
  if (body->kind == Kind::Case && body->alts.size() > 1 && body->pos.valid()) {
    const ir::Pos& pos = p_.positions[body->pos];
    if (pos.line) return fmt::format("`{}` is needed only in some branches at {}:{}", name, pos.line, pos.column);
  }
  return fmt::format("`{}` may not be needed", name);
}

// A group of values that refer to each other: all are delayed, so that every cycle goes through a Delay.
void Builder::BindGroup(const Expr* expr) {
  std::vector<fg::NodeId> nodes;
  for (const Binding& binding : expr->bindings) {
    fg::Node node;
    node.kind = fg::NodeKind::Delay;
    node.results = {{p_.IrType(p_.vars[binding.var].type), true}};
    nodes.push_back(AddNode(std::move(node)));
    BindValue(binding.var, {nodes.back(), 0});
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const std::string& name = p_.vars[expr->bindings[i].var].name;
    Delay(expr->bindings[i].value, name, fmt::format("`{}` refers to itself", name), nodes[i]);
  }
}

void Builder::FreeVars(const Expr* expr, llvm::SetVector<uint32_t>& free, llvm::DenseSet<uint32_t>& bound) const {
  if (expr->kind == Kind::Var) {
    if (!bound.contains(expr->var.index)) free.insert(expr->var.index);
    return;
  }
  // Every variable is bound once in the whole program, so what is bound anywhere in here is never free.
  for (const Binding& binding : expr->bindings) bound.insert(binding.var.index);
  if (expr->kind == Kind::Case && expr->var.valid()) bound.insert(expr->var.index);
  for (const Alt& alt : expr->alts)
    for (VarId var : alt.vars) bound.insert(var.index);
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { FreeVars(child, free, bound); });
}

// A function of the free variables of `expr` that gives its value; `operands` become what these variables are here.
// `bound`, if valid, is one more variable, the last parameter: here it is `at`.
fg::FunctionId Builder::Body(const Expr* expr, const std::string& name, VarId bound, fg::Value at, Values& operands) {
  llvm::SetVector<uint32_t> free;
  llvm::DenseSet<uint32_t> inside;
  if (bound.valid()) inside.insert(bound.index);
  FreeVars(expr, free, inside);
  for (uint32_t var : free) operands.push_back(LazyValue(VarId(var)));
  if (bound.valid()) {
    free.insert(bound.index);
    operands.push_back(at);
  }

  fg::Function body;
  fg::FunctionId callee = NewFunction(delay_prefix_ + "." + name, expr->pos);
  std::string prefix = out_.functions[callee].name;
  body.name = prefix;
  body.pos = expr->pos;
  body.results = {Strict(expr->type)};
  body.body = body.blocks.Add({});
  for (size_t i = 0; i < free.size(); ++i)
    body.params.push_back({ParamName(body, p_.vars[VarId(free[i])].name), TypeOf(operands[i])});

  // Builds it in an environment of its own.
  fg::Function* outer = function_;
  fg::BlockId outer_block = block_;
  FunId outer_self = self_;
  std::string outer_prefix = std::move(delay_prefix_);
  auto outer_env = std::move(env_);
  auto outer_undo = std::move(undo_);
  auto outer_constants = std::move(constants_);
  Values outer_musts = std::move(musts_);
  musts_.clear();
  const bool outer_tokens = std::exchange(has_tokens_, false);
  env_.clear();
  undo_.clear();
  constants_.clear();
  function_ = &body;
  block_ = body.body;
  self_ = FunId();
  delay_prefix_ = prefix;
  for (size_t i = 0; i < free.size(); ++i) {
    fg::Node param;
    param.kind = fg::NodeKind::Param;
    param.attr = static_cast<uint32_t>(i);
    param.results = {body.params[i].type};
    param.pos = expr->pos;
    BindValue(VarId(free[i]), {AddNode(std::move(param)), 0});
  }
  fg::Value result = Eval(expr);
  body.blocks[body.body].yields = {result};
  function_ = outer;
  block_ = outer_block;
  self_ = outer_self;
  delay_prefix_ = std::move(outer_prefix);
  env_ = std::move(outer_env);
  undo_ = std::move(outer_undo);
  constants_ = std::move(outer_constants);
  musts_ = std::move(outer_musts);
  has_tokens_ = outer_tokens;
  out_.functions[callee] = std::move(body);
  return callee;
}

// A reference to `expr`: its body becomes a function of its free variables. `node` is the Delay if it was made before.
fg::Value Builder::Delay(const Expr* expr, const std::string& name, const std::string& reason, fg::NodeId node) {
  Values operands;
  fg::FunctionId callee = Body(expr, name, {}, {}, operands);
  out_.functions[callee].delayed = true;
  if (!node.valid()) {
    fg::Node made;
    made.kind = fg::NodeKind::Delay;
    node = AddNode(std::move(made));
  }
  fg::Node& delay = function_->nodes[node];
  delay.callee = callee;
  delay.operands = operands;
  delay.results = {{out_.functions[callee].results[0].type, true}};
  delay.pos = expr->pos;
  delay.name = name;
  delay.reason = reason;
  return {node, 0};
}

}  // namespace df::mono
