// The rounds of building, functions, and the environment. See build.h.
#include "lower/build.h"

#include "lower/prune.h"
#include "tagged_ir/action.h"

namespace df::mono {

namespace {
constexpr int kRounds = 8;
constexpr size_t kMaxParts = 8;  // longer tuples stay in one piece
}  // namespace

std::optional<fg::Program> Builder::Run() {
  for (const std::vector<FunId>& group : CallGroups(p_))
    for (FunId fun : llvm::reverse(group)) order_.push_back(fun);
  // Main first, then callees as they are first needed, near enough.
  std::reverse(order_.begin(), order_.end());
  FindTupleFunctions();
  for (uint32_t i = 0; i < p_.functions.size(); ++i) {
    FunId fun(i);
    const Function& function = p_.functions[fun];
    evaluated_params_.emplace_back(function.params.size(), optimize_ || fun == p_.main);
    evaluated_results_.emplace_back(tuples_[i] ? kMaxParts : 0, true);
  }
  for (int round = 0;; ++round) {
    Reset();
    for (FunId fun : order_) BuildFunction(fun);
    if (!dropped_) break;
    if (round < kRounds) continue;
    for (uint32_t i = 0; i < p_.functions.size(); ++i) {
      if (FunId(i) != p_.main) evaluated_params_[i].assign(evaluated_params_[i].size(), false);
      evaluated_results_[i].assign(evaluated_results_[i].size(), false);
    }
  }
  out_.types = p_.ir_types;
  out_.files = p_.files;
  out_.positions = p_.positions;
  out_.constants = p_.constants;
  if (p_.diags.has_errors()) return std::nullopt;
  return std::move(out_);
}

void Builder::Reset() {
  dropped_ = false;
  out_ = fg::Program();
  out_.name = p_.functions[p_.main].name;
  out_.action = p_.action;
  ids_.clear();
  names_.clear();
  for (FunId fun : order_) {
    ids_[fun.index] = NewFunction(p_.functions[fun].name, p_.functions[fun].pos);
    if (fun == p_.main) out_.main = ids_[fun.index];
  }
}

fg::FunctionId Builder::NewFunction(std::string name, ir::PosId pos) {
  std::string base = name;
  for (uint32_t number = names_[base]++; number > 0 && names_.count(name); ++number)
    name = fmt::format("{}'{}", base, number + 1);
  names_.try_emplace(name, 1);
  fg::Function function;
  function.name = std::move(name);
  function.pos = pos;
  return out_.functions.Add(std::move(function));
}

// Functions whose every end builds a tuple, or calls another of them: these return the parts (constructed product
// results, Baker-Finch, Glynn, Peyton Jones 2004). Greatest fixpoint.
void Builder::FindTupleFunctions() {
  tuples_.assign(p_.functions.size(), false);
  if (!options_.Does(Optimisation::Parts)) return;
  for (FunId fun : order_) {
    llvm::SmallVector<df::TypeId> elements;
    if (fun != p_.main && p_.IsTuple(p_.functions[fun].result, &elements) && elements.size() <= kMaxParts)
      tuples_[fun.index] = true;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (FunId fun : order_) {
      if (!tuples_[fun.index] || EndsInTuples(p_.functions[fun].body)) continue;
      tuples_[fun.index] = false;
      changed = true;
    }
  }
}

bool Builder::EndsInTuples(const Expr* expr) const {
  switch (expr->kind) {
    case Kind::Con: return true;
    case Kind::Op: return expr->op == ir::Op::Fail;
    case Kind::App: return tuples_[expr->head->fun.index];
    case Kind::Let: return EndsInTuples(expr->head);
    case Kind::Case: return llvm::all_of(expr->alts, [&](const Alt& alt) { return EndsInTuples(alt.body); });
    default: return false;
  }
}

std::vector<ir::PortType> Builder::ResultTypes(FunId fun) const {
  const Function& function = p_.functions[fun];
  Program& p = const_cast<Program&>(p_);
  if (!tuples_[fun.index]) {
    // main may be a string literal, which is then printed as it is.
    if (fun == p_.main && function.body->kind == Kind::Const)
      return {{p_.constants[function.body->constant].type, false}};
    return {{p.IrType(function.result), false}};
  }
  llvm::SmallVector<df::TypeId> elements;
  p.IsTuple(function.result, &elements);
  std::vector<ir::PortType> types = {{Builtin(ir::TypeKind::Unit), false}};
  for (size_t i = 0; i < elements.size(); ++i)
    types.push_back({p.IrType(elements[i]), !evaluated_results_[fun.index][i]});
  return types;
}

// Names of parameters are those of the source, made different where lifting brought two of a name together.
std::string Builder::ParamName(const fg::Function& function, std::string name) {
  while (llvm::any_of(function.params, [&](const fg::Param& param) { return param.name == name; })) name += '\'';
  return name;
}

void Builder::BuildFunction(FunId fun) {
  const Function& source = p_.functions[fun];
  fg::Function function;
  function.name = source.name;
  function.pos = source.pos;
  function.results = ResultTypes(fun);
  function.body = function.blocks.Add({});
  function_ = &function;
  self_ = fun;
  delay_prefix_ = source.name;
  block_ = function.body;
  env_.clear();
  undo_.clear();
  constants_.clear();
  for (size_t i = 0; i < source.params.size(); ++i) {
    bool evaluated = strictness_.params[fun.index][i] || evaluated_params_[fun.index][i];
    if (!optimize_ && fun != p_.main) evaluated = strictness_.params[fun.index][i];
    const Var& var = p_.vars[source.params[i]];
    // What is read while the program runs is not there when it starts.
    if (fun == p_.main && var.name == ir::kStandardInput) evaluated = false;
    function.params.push_back({ParamName(function, var.name), {p_.IrType(var.type), !evaluated}});
    fg::Node node;
    node.kind = fg::NodeKind::Param;
    node.attr = static_cast<uint32_t>(i);
    node.results = {function.params.back().type};
    node.pos = source.pos;
    BindValue(source.params[i], {AddNode(std::move(node)), 0});
  }
  Yield yield;
  if (fun == p_.main && source.body->kind == Kind::Const)
    yield.values = {Constant(source.body->constant, source.body->pos)};
  else
    yield = Build(source.body, tuples_[fun.index] ? Shape::Parts : Shape::Single, true, {});
  fg::Block& body = function.blocks[function.body];
  body.yields.assign(yield.values.begin(), yield.values.end());
  body.again = yield.again;
  body.pos = yield.pos;
  for (size_t i = 0; !yield.again && i < yield.values.size(); ++i) {
    if (!TypeOf(yield.values[i]).lazy || function.results[i].lazy) continue;
    evaluated_results_[fun.index][i - 1] = false;
    dropped_ = true;
  }
  out_.functions[ids_[fun.index]] = std::move(function);
}

// ---------------------------------------------------------------- nodes

fg::NodeId Builder::AddNode(fg::Node node) {
  fg::NodeId id = function_->nodes.Add(std::move(node));
  function_->blocks[block_].nodes.push_back(id);
  return id;
}

fg::Value Builder::Op(ir::Op op, llvm::ArrayRef<fg::Value> operands, ir::PortType type, uint32_t attr,
                      ir::PosId pos) {
  fg::Node node;
  node.kind = fg::NodeKind::Op;
  node.op = op;
  node.attr = attr;
  node.operands.assign(operands.begin(), operands.end());
  node.results = {type};
  node.pos = pos;
  return {AddNode(std::move(node)), 0};
}

// `second`, if `first` has not failed. A value that may be a reference is not looked at: a Branch whose sides are equal
// passes it on.
fg::Value Builder::Seq(fg::Value first, fg::Value second, ir::PosId pos) {
  if (first == second) return second;
  ir::PortType type = TypeOf(second);
  // A unit that only says whether something failed: the other one says it too.
  const fg::Node& unit = function_->nodes[second.node];
  if (unit.kind == fg::NodeKind::Op && unit.op == ir::Op::Const && TypeOf(first) == type &&
      type.type == Builtin(ir::TypeKind::Unit))
    return first;
  if (!type.lazy) return Op(ir::Op::Seq, {first, second}, type, 0, pos);
  fg::Value truth = Constant(p_.Intern({Builtin(ir::TypeKind::Bool), 1, ""}), pos);
  fg::Value predicate = Op(ir::Op::Seq, {first, truth}, TypeOf(truth), 0, pos);
  fg::Node node;
  node.kind = fg::NodeKind::Branch;
  node.operands = {predicate};
  node.results = {type};
  node.pos = pos;
  for (int side = 0; side < 2; ++side) {
    fg::Block block;
    block.yields = {second};
    node.blocks.push_back(function_->blocks.Add(std::move(block)));
  }
  return {AddNode(std::move(node)), 0};
}

fg::Value Builder::Constant(ir::ConstId constant, ir::PosId pos) {
  auto [it, fresh] = constants_.try_emplace({block_.index, constant.index});
  if (fresh) it->second = Op(ir::Op::Const, {}, {p_.constants[constant].type, false}, constant.index, pos);
  return it->second;
}

void Builder::Name(fg::Value value, const std::string& name) {
  fg::Node& node = function_->nodes[value.node];
  if (node.kind != fg::NodeKind::Param && node.name.empty()) node.name = name;
}

// ---------------------------------------------------------------- variables

void Builder::Bind(VarId var, Held held) {
  if (!var.valid()) return;
  auto it = env_.find(var.index);
  undo_.emplace_back(var.index, it == env_.end() ? std::nullopt : std::optional<Held>(it->second));
  env_[var.index] = std::move(held);
}

void Builder::BindValue(VarId var, fg::Value value) {
  Held held;
  held.value = value;
  held.boxed = true;
  Bind(var, std::move(held));
}

void Builder::Undo(size_t mark) {
  while (undo_.size() > mark) {
    auto& [var, held] = undo_.back();
    if (held) env_[var] = std::move(*held);
    else env_.erase(var);
    undo_.pop_back();
  }
}

}  // namespace df::mono
