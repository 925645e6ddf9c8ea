// The rounds of building, functions, and the environment. See build.h.
#include "lower/build/build.h"

#include "lang/budget.h"
#include "lower/graph/prune.h"
#include "tagged_ir/action.h"

namespace df::mono {

namespace {
constexpr int kMaxRounds = 40;
constexpr size_t kMaxParts = 8;  // longer tuples stay in one piece

bool HasDerivative(Expr* expr) {
  bool found = expr->kind == Kind::Diff;
  ForEachChild(expr, [&](Expr* child) { found = found || HasDerivative(child); });
  return found;
}
}  // namespace

std::optional<fg::Program> Builder::Run() {
  const std::vector<std::vector<FunId>> groups = CallGroups(p_);
  for (const std::vector<FunId>& group : groups)
    for (FunId fun : llvm::reverse(group)) order_.push_back(fun);
  // Main first, then callees as they are first needed, near enough.
  std::reverse(order_.begin(), order_.end());
  derivatives_ = llvm::any_of(order_, [&](FunId fun) { return HasDerivative(p_.functions[fun].body); });
  FindTupleFunctions();
  runaway_ = FindRunaways(p_, groups, strictness_);
  MakeAssumptions();
  // Until all that is left of the assumptions holds, only what was built on others is built again.
  stale_.assign(p_.functions.size(), true);
  Reset();
  bool partly = false;
  for (int round = 0;; ++round) {
    dropped_ = false;
    for (FunId fun : order_)
      if (stale_[fun.index]) BuildFunction(fun);
    if (!dropped_ && !partly) break;
    partly = dropped_;
    if (dropped_ && round == kMaxRounds) DropAll();
    if (dropped_ && round < kMaxRounds) continue;
    stale_.assign(p_.functions.size(), true);
    partly = false;
    Reset();
  }
  p_.DeclareHeld(p_.functions[p_.main].result);  // it is shown
  for (VarId param : p_.functions[p_.main].params) p_.DeclareHeld(p_.vars[param].type);
  out_.types = p_.ir_types;
  out_.files = p_.files;
  out_.positions = p_.positions;
  out_.constants = p_.constants;
  if (p_.diags.has_errors()) return std::nullopt;
  return std::move(out_);
}

// ---------------------------------------------------------------- assumptions

void Builder::MakeAssumptions() {
  for (uint32_t i = 0; i < p_.functions.size(); ++i) {
    first_param_.push_back(static_cast<Assumption>(holds_.size()));
    holds_.resize(holds_.size() + p_.functions[FunId(i)].params.size(), optimize_ || FunId(i) == p_.main);
    first_part_.push_back(static_cast<Assumption>(holds_.size()));
    holds_.resize(holds_.size() + (tuples_[i] ? kMaxParts : 0), true);
  }
  first_field_ = static_cast<Assumption>(holds_.size());
  holds_.resize(holds_.size() + flow_.site_fields, options_.Does(Optimisation::Fields));
}

bool Builder::Holds(Assumption assumption) {
  if (holds_[assumption]) readers_[assumption].insert(building_.index);
  return holds_[assumption];
}

void Builder::Drop(Assumption assumption) {
  if (!holds_[assumption]) return;
  holds_[assumption] = false;
  dropped_ = true;
  for (uint32_t fun : readers_[assumption]) stale_[fun] = true;
}

void Builder::DropAll() {
  for (Assumption i = 0; i < holds_.size(); ++i)
    if (i < ParamOf(p_.main, 0) || i >= PartOf(p_.main, 0)) holds_[i] = false;
}

bool Builder::IsEnumeration(df::TypeId type) {
  llvm::ArrayRef<core::ConId> constructors = p_.ConstructorsOf(type);
  return !constructors.empty() && llvm::all_of(constructors, [&](core::ConId con) { return p_.core.constructors[con].fields.empty(); });
}

// Whether all that the variable, which an alternative binds, may be was evaluated when the constructor was applied.
bool Builder::FieldIsEvaluated(VarId var) {
  switch (p_.BuiltinOf(p_.vars[var].type)) {
    case df::Builtin::Int:
    case df::Builtin::Integer:
    case df::Builtin::Float:
    case df::Builtin::Double:
    case df::Builtin::Char:
    case df::Builtin::Bool: break;
    default:  // a number of a constructor is a word, too
      if (!IsEnumeration(p_.vars[var].type)) return false;
  }
  auto it = flow_.origins.find(var.index);
  if (it == flow_.origins.end() || !it->second.known) return false;
  return llvm::all_of(it->second.fields, [&](SiteField field) { return Holds(FieldOf(field)); });
}

// `value` is what the constructor application has in a field.
void Builder::CheckField(const Expr* con, size_t i, fg::Value value) {
  if (!TypeOf(value).lazy) return;
  auto it = flow_.sites.find(con);
  if (it != flow_.sites.end()) Drop(FieldOf(it->second + static_cast<SiteField>(i)));
}

// ---------------------------------------------------------------- functions

void Builder::Reset() {
  out_ = fg::Program();
  out_.name = p_.functions[p_.main].name;
  out_.action = p_.action;
  out_.placed = p_.placed;
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

std::vector<ir::PortType> Builder::ResultTypes(FunId fun) {
  const Function& function = p_.functions[fun];
  if (!tuples_[fun.index]) {
    // main may be a string literal, which is then printed as it is.
    if (fun == p_.main && function.body->kind == Kind::Const)
      return {{p_.constants[function.body->constant].type, false}};
    return {{p_.IrType(function.result), false}};
  }
  llvm::SmallVector<df::TypeId> elements;
  p_.IsTuple(function.result, &elements);
  std::vector<ir::PortType> types = {{Builtin(ir::TypeKind::Unit), false}};
  for (size_t i = 0; i < elements.size(); ++i)
    types.push_back({p_.IrType(elements[i]), !Holds(PartOf(fun, i))});
  return types;
}

// Names of parameters are those of the source, made different where lifting brought two of a name together.
std::string Builder::ParamName(const fg::Function& function, std::string name) {
  while (llvm::any_of(function.params, [&](const fg::Param& param) { return param.name == name; })) name += '\'';
  return name;
}

void Builder::BuildFunction(FunId fun) {
  const Function& source = p_.functions[fun];
  building_ = fun;
  stale_[fun.index] = false;
  fg::Function function;
  function.name = source.name;
  function.pos = source.pos;
  function.spread = source.spread;
  function.results = ResultTypes(fun);
  function.body = function.blocks.Add({});
  function_ = &function;
  self_ = fun;
  delay_prefix_ = source.name;
  block_ = function.body;
  env_.clear();
  undo_.clear();
  constants_.clear();
  has_tokens_ = false;
  for (size_t i = 0; i < source.params.size(); ++i) {
    bool evaluated = strictness_.params[fun.index][i] || Holds(ParamOf(fun, i));
    if (!optimize_ && fun != p_.main) evaluated = strictness_.params[fun.index][i];
    const Var& var = p_.vars[source.params[i]];
    // What is read while the program runs is not there when it starts.
    if (fun == p_.main && ir::ComesLater(var.name)) evaluated = false;
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
    Drop(PartOf(fun, i - 1));
  }
  out_.functions[ids_[fun.index]] = std::move(function);
}

// ---------------------------------------------------------------- nodes

fg::NodeId Builder::AddNode(fg::Node node) {
  CheckBudget();
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
  held.musts = musts_.size();
  has_tokens_ = has_tokens_ || IsState(value);
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
