// See gradient/pair.h.
#include "lower/gradient/pair.h"

#include "llvm/ADT/DenseSet.h"
#include "lower/gradient/all.h"
#include "lower/gradient/rules.h"

namespace df::fg {

Function PairBuilder::Signature(GradientTypes& types, const Function& function) {
  Function paired;
  paired.name = types.FreshName(function.name + ".paired");
  paired.pos = function.pos;
  paired.paired = true;
  paired.delayed = function.delayed;
  paired.params = function.params;
  for (Param& param : paired.params) param.cotangent = false;
  paired.results = function.results;
  for (size_t k = 0; k < function.results.size(); ++k) {
    PortType type = function.results[k];
    if (!types.Active(type.type)) continue;
    paired.params.push_back({function.results.size() == 1 ? "dy" : fmt::format("dy{}", k), {types.Cotangent(type), false}, !function.paired});
  }
  for (const Param& param : function.params)
    if (types.Active(param.type.type)) paired.results.push_back({param.elements ? types.SumOf(param.type.type) : types.Cotangent(param.type), false});
  return paired;
}

PairBuilder::PairBuilder(Gradients& all, Function function)
    : all_(all), types_(all.types), f_(std::move(function)), w_(all.program, f_, f_.pos) {}

Function PairBuilder::Run() {
  Function signature = Signature(types_, f_);
  CallsForTailCalls();
  errors_.emplace(w_.program(), f_);
  home_.resize(f_.nodes.size());
  FindLate(f_.body);
  std::vector<Value> params(f_.params.size());
  for (uint32_t n = 0; n < f_.nodes.size(); ++n)
    if (f_.nodes[NodeId(n)].kind == NodeKind::Param) params[f_.nodes[NodeId(n)].attr] = {NodeId(n), 0};
  // A parameter that nothing uses may have lost its node.
  w_.block = f_.body;
  auto param = [&](uint32_t index, PortType type) {
    Node node;
    node.kind = NodeKind::Param;
    node.attr = index;
    node.results = {type};
    return Value{w_.Add(std::move(node)), 0};
  };
  for (uint32_t i = 0; i < params.size(); ++i)
    if (!params[i].node.valid()) params[i] = param(i, f_.params[i].type);
  std::vector<Value> yields = f_.blocks[f_.body].yields;
  home_.resize(f_.nodes.size(), f_.body);

  scopes_.push_back({f_.body, {}, {}});
  uint32_t next = static_cast<uint32_t>(f_.params.size());
  for (Value yield : yields) {
    if (!Active(yield)) continue;
    Contribute(yield, param(next, signature.params[next].type));
    ++next;
  }
  Backward(f_.body);
  w_.pos = f_.pos;
  for (Value value : params)
    if (Active(value)) yields.push_back(OrZero(Total(value), value));
  ResolveLate(scopes_.back());
  f_.blocks[f_.body].yields = yields;
  auto is_param = [&](NodeId node) { return f_.nodes[node].kind == NodeKind::Param; };
  std::stable_partition(f_.blocks[f_.body].nodes.begin(), f_.blocks[f_.body].nodes.end(), is_param);
  auto replace = [&](Value& value) {
    for (auto it = replaced_.find(value.node.index); it != replaced_.end(); it = replaced_.find(value.node.index))
      value = it->second;
  };
  for (Node& node : f_.nodes)
    for (Value& operand : node.operands) replace(operand);
  for (Block& block : f_.blocks)
    for (Value& yield : block.yields) replace(yield);
  FailKnots();

  f_.name = signature.name;
  f_.params = std::move(signature.params);
  f_.results = std::move(signature.results);
  f_.paired = true;
  f_.spread = false;  // a cotangent may come late, when the call has begun
  f_.delayed &= !all_.recompute;
  return std::move(f_);
}

// Self tail calls have residuals that wait for the cotangent, so they are calls.
void PairBuilder::CallsForTailCalls() {
  for (uint32_t b = 0; b < f_.blocks.size(); ++b) {
    if (!f_.blocks[BlockId(b)].again) continue;
    Block& block = f_.blocks[BlockId(b)];
    Node node;
    node.kind = NodeKind::Apply;
    node.callee = all_.current;
    node.operands.assign(block.yields.begin(), block.yields.end());
    for (PortType type : f_.results) node.results.push_back(type);
    node.pos = block.pos;
    w_.block = BlockId(b);
    NodeId id = w_.Add(std::move(node));
    f_.blocks[BlockId(b)].again = false;
    f_.blocks[BlockId(b)].yields.clear();
    for (uint32_t k = 0; k < f_.results.size(); ++k) f_.blocks[BlockId(b)].yields.push_back({id, k});
  }
}

// Where each node stands, and which values some node uses that comes before them.
void PairBuilder::FindLate(BlockId block) {
  std::vector<bool> defined(f_.nodes.size());
  std::function<void(BlockId)> visit = [&](BlockId id) {
    for (NodeId node : f_.blocks[id].nodes) {
      home_[node.index] = id;
      for (Value operand : f_.nodes[node].operands)
        if (!defined[operand.node.index]) used_late_[operand] = true;
      for (BlockId inner : f_.nodes[node].blocks) visit(inner);
      defined[node.index] = true;
    }
    for (Value yield : f_.blocks[id].yields)
      if (!defined[yield.node.index]) used_late_[yield] = true;
  };
  visit(block);
}

// ---------------------------------------------------------------- sums

bool PairBuilder::HasElements(Value value) {
  const Node& node = f_.nodes[value.node];
  if (node.kind == NodeKind::Param) return node.attr < f_.params.size() && f_.params[node.attr].elements;
  if (node.kind != NodeKind::Op) return false;
  switch (node.op) {
    case ir::Op::Force: return HasElements(node.operands[0]);
    case ir::Op::Seq: return HasElements(node.operands[1]);
    case ir::Op::Field: return types_.FieldHasSum(w_.TypeOf(node.operands[0]).type, node.attr >> 16, node.attr & 0xffff);
    default: return false;
  }
}

void PairBuilder::Contribute(Value value, Value cotangent) {
  Contribute(value, cotangent, guard_ ? guard_->cotangents : std::vector<Value>());
}

// `of`: the cotangents that this one comes of.
void PairBuilder::Contribute(Value value, Value cotangent, const std::vector<Value>& of) {
  if (!Active(value)) return;
  if (guard_) guard_->contributions[of].push_back({value, cotangent});
  else scopes_.back().sums[value].whole.push_back(cotangent);
}

void PairBuilder::ContributeField(Value data, uint32_t con, uint32_t field, Value cotangent) {
  llvm::SmallVector<int, 4> numbers = types_.ActiveFields(w_.TypeOf(data).type, con);
  size_t count = numbers.size() - llvm::count(numbers, -1);
  ir::TypeId whole = types_.Cotangent(w_.TypeOf(data).type);
  ir::TypeId cotangent_of_field = w_.program().types[whole].constructors[con + 1].fields[static_cast<size_t>(numbers[field])].type.type;
  if (guard_ && types_.IsReal(cotangent_of_field)) {
    // In one piece, which a symbolic zero may take the place of.
    std::vector<std::optional<Value>> fields(count);
    fields[static_cast<size_t>(numbers[field])] = cotangent;
    return Contribute(data, types_.OfFields(w_, w_.TypeOf(data).type, con, fields));
  }
  std::vector<std::optional<Value>>& fields = scopes_.back().sums[data].fields[con];
  fields.resize(count);
  std::optional<Value>& sum = fields[static_cast<size_t>(numbers[field])];
  PortType type = w_.program().types[w_.TypeOf(data).type].constructors[con].fields[field].type;
  sum = sum ? types_.Sum(w_, type, *sum, cotangent) : cotangent;
}

// The sum so far, written out; none if nothing was added.
std::optional<Value> PairBuilder::TakeSum(Value value) {
  auto it = scopes_.back().sums.find(value);
  if (it == scopes_.back().sums.end()) return std::nullopt;
  Sum sum = std::move(it->second);
  scopes_.back().sums.erase(it);
  PortType port = PortOf(value);
  std::optional<Value> total;
  // What two calls gave and the fields are added at once.
  llvm::ArrayRef<Value> whole = sum.whole;
  std::optional<Value> last;
  if (whole.size() > 1 && !sum.fields.empty()) {
    last = whole.back();
    whole = whole.drop_back();
  }
  for (Value part : whole) total = total ? types_.Sum(w_, port, *total, part) : part;
  for (auto& [con, fields] : sum.fields) {
    if (last) total = types_.AddFields(w_, port, {*total, *std::exchange(last, std::nullopt)}, con, fields);
    else total = total ? types_.AddFields(w_, port, *total, con, fields) : types_.OfFields(w_, port.type, con, fields);
  }
  return total;
}

// The cotangent of a value that the current block defines. If earlier nodes use the value too, which only a knot does, more
// will be added: a node stands for the sum until then.
std::optional<Value> PairBuilder::Total(Value value) {
  if (!Active(value)) return std::nullopt;
  std::optional<Value> total;
  if (!used_late_.count(value)) {
    total = TakeSum(value);
  } else {
    auto [it, fresh] = scopes_.back().late.try_emplace(value);
    if (fresh) {
      Node node;
      node.kind = NodeKind::Op;
      node.results = {{CotangentOf(value), false}};
      it->second = {f_.nodes.Add(std::move(node)), 0};  // in no block
    }
    total = it->second;
  }
  if (guard_ && total) guard_->cotangents.push_back(*total);
  return total;
}

Value PairBuilder::OrZero(std::optional<Value> total, Value value) {
  return total ? types_.AsCotangent(w_, CotangentOf(value), *total) : types_.ZeroOf(w_, CotangentOf(value));
}

void PairBuilder::ResolveLate(Scope& scope) {
  for (auto& [value, placeholder] : std::map<Value, Value>(scope.late)) {
    Knot knot{value, placeholder, scope.block, {}, false};
    if (auto it = scope.sums.find(value); it != scope.sums.end()) {
      knot.whole = it->second.whole;
      knot.fields = !it->second.fields.empty();
    }
    replaced_[placeholder.node.index] = OrZero(TakeSum(value), value);
    knots_.push_back(std::move(knot));
  }
}

// Whether the value is surely needed to compute it: along operands that are looked at, and predicates.
bool PairBuilder::NeedsItself(Value value) const {
  llvm::DenseSet<uint32_t> seen;
  std::vector<NodeId> work = {value.node};
  while (!work.empty()) {
    const Node& node = f_.nodes[work.back()];
    work.pop_back();
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      bool looks = node.kind == NodeKind::Op || (node.kind == NodeKind::Branch && i == 0);
      if (node.kind == NodeKind::Op && node.op == ir::Op::Construct)
        looks = w_.program().types[node.results[0].type].constructors[node.attr].fields[i].strict;
      // Of a paired call not all results hang on all operands.
      if (node.kind == NodeKind::Apply) looks = !w_.program().functions[node.callee].paired && !w_.program().functions[node.callee].params[i].type.lazy;
      if (!looks) continue;
      if (node.operands[i] == value) return true;
      if (seen.insert(node.operands[i].node.index).second) work.push_back(node.operands[i].node);
    }
  }
  return false;
}

// Whether a way leads back from one value to another for which `is` holds, be it one of a side that is not taken. Ways end at `end`.
bool PairBuilder::ComesOf(Value from, std::optional<Value> end, llvm::function_ref<bool(Value)> is) const {
  std::set<Value> seen;
  std::vector<Value> work = {from};
  while (!work.empty()) {
    const Value next = work.back();
    work.pop_back();
    if (is(next)) return true;
    if ((next == end && next != from) || !seen.insert(next).second) continue;
    const Node& node = f_.nodes[next.node];
    const bool calls = node.kind == NodeKind::Apply || node.kind == NodeKind::Delay;
    for (uint32_t i = 0; i < node.operands.size(); ++i)
      if (!calls || all_.MayChange(node.callee, i, next.result)) work.push_back(node.operands[i]);
    for (BlockId side : node.blocks) work.push_back(f_.blocks[side].yields[next.result]);
  }
  return false;
}

// Cotangents of data are evaluated, so that of data which is defined by itself may need itself. Where something came for it from outside,
// that is an error of its own. Where nothing did it is zero, as is what the data's parts would add to that.
void PairBuilder::FailKnots() {
  std::map<Value, Value> failed;
  for (const Knot& knot : knots_) {
    auto resolved = [&](Value value) {
      for (auto it = replaced_.find(value.node.index); it != replaced_.end(); it = replaced_.find(value.node.index)) value = it->second;
      auto it = failed.find(value);
      return it == failed.end() ? value : it->second;
    };
    const Value total = resolved(knot.placeholder);
    if (!NeedsItself(total)) continue;
    w_.block = knot.block;
    w_.pos = f_.nodes[knot.value.node].pos;
    const PortType type = w_.TypeOf(total);
    // What came from outside: no part of it comes of the sum. All else comes of nothing but that.
    bool known = !knot.fields && !types_.IsReal(type.type);
    Values outside;
    auto is_cotangent = [&](Value value) {
      return f_.nodes[value.node].kind == NodeKind::Param && f_.nodes[value.node].attr >= f_.params.size();
    };
    for (Value part : knot.whole) {
      part = resolved(part);
      if (!ComesOf(part, std::nullopt, [&](Value value) { return value == total; })) outside.push_back(part);
      else known &= !ComesOf(part, total, is_cotangent);
    }
    auto fail = [&] {
      Value error = w_.Fail("a gradient of data that is defined by itself: reverse mode has none, jvp does, and so has data that a fold builds, "
                            "as foldl (\\t i -> M.insert i (cell t i) t) M.empty [0 .. n]", type.type);
      failures_.push_back(error.node);
      return error;
    };
    auto if_used = [&](bool used) -> Values { return {used ? fail() : types_.ZeroOf(w_, type.type)}; };
    Value instead;
    if (!known) instead = fail();
    else if (outside.empty()) instead = types_.ZeroOf(w_, type.type);
    else instead = {types_.BranchOnUse(w_, outside, type, if_used), 0};
    failed[total] = instead;
    auto replace = [&](Value& value) {
      if (value == total) value = instead;
    };
    for (Node& node : f_.nodes) llvm::for_each(node.operands, replace);
    for (Block& block : f_.blocks) llvm::for_each(block.yields, replace);
  }
}

// ---------------------------------------------------------------- nodes

void PairBuilder::Backward(BlockId block) {
  std::vector<NodeId> nodes = f_.blocks[block].nodes;
  for (NodeId id : llvm::reverse(nodes))
    if (id.index < home_.size() && home_[id.index] == block) Transpose(id);
}

void PairBuilder::Transpose(NodeId id) {
  w_.pos = f_.nodes[id].pos;
  if (errors_->MayFail(id)) TransposeGuarded(id);
  else TransposeNode(id);
}

// Of a node that may have failed where nobody needed it: its operands, which may have failed too, count in its gradient only
// if a cotangent came for it.
void PairBuilder::TransposeGuarded(NodeId id) {
  guard_.emplace();
  TransposeNode(id);
  Guard guard = std::move(*guard_);
  guard_.reset();
  for (const auto& [of, contributions] : guard.contributions) {
    if (llvm::any_of(of, [&](Value cotangent) { return types_.IsReal(w_.TypeOf(cotangent).type); })) {
      for (auto [operand, cotangent] : contributions) Contribute(operand, cotangent);  // it was used
      continue;
    }
    std::vector<PortType> results;
    for (auto [operand, cotangent] : contributions) results.push_back({CotangentOf(operand, true), false});
    NodeId branch = types_.BranchOnUse(w_, of, results, [&, &contributions = contributions](bool used) {
      Values yields;
      for (size_t i = 0; i < results.size(); ++i)
        yields.push_back(used ? types_.AsCotangent(w_, results[i].type, contributions[i].cotangent) : types_.ZeroOf(w_, results[i].type));
      return yields;
    });
    for (uint32_t i = 0; i < results.size(); ++i) Contribute(contributions[i].operand, {branch, i});
  }
}

void PairBuilder::TransposeNode(NodeId id) {
  switch (f_.nodes[id].kind) {
    case NodeKind::Param: return;
    case NodeKind::Diff:  // Stop: nothing flows
      TakeSum({id, 0});
      return;
    case NodeKind::Apply: return TransposeApply(id);
    case NodeKind::Delay: return TransposeDelay(id);
    case NodeKind::Branch: return TransposeBranch(id);
    case NodeKind::Op: break;
  }
  if (f_.nodes[id].op == ir::Op::Construct) return TransposeConstruct(id);
  if (ir::HidesDerivative(f_.nodes[id].op) && llvm::any_of(f_.nodes[id].operands, [&](Value operand) { return Active(operand); }))
    return all_.Refuse({f_.nodes[id].op, f_.nodes[id].pos});
  if (std::optional<Value> cotangent = Total({id, 0})) TransposeOp(id, *cotangent);
}

void PairBuilder::TransposeOp(NodeId id, Value cotangent) {
  const Node node = f_.nodes[id];
  switch (node.op) {
    case ir::Op::Const:
    case ir::Op::Fail: return;
    case ir::Op::Force: return Contribute(node.operands[0], cotangent);
    case ir::Op::Seq: return Contribute(node.operands[1], cotangent);
    case ir::Op::Field: return ContributeField(node.operands[0], node.attr >> 16, node.attr & 0xffff, cotangent);
    default: break;
  }
  const ir::Derivative* rule = ir::DerivativeOf(node.op);
  cotangent = types_.Whole(w_, cotangent);
  const auto count = static_cast<uint32_t>(node.operands.size());
  for (uint32_t k = 0; k < count; ++k) {
    // Of SetElement the element's first: it looks at the cotangent, which can then be written over.
    const uint32_t i = node.op == ir::Op::SetElement ? count - 1 - k : k;
    if (!Active(node.operands[i])) continue;
    if (!rule) return all_.Refuse({node.op, node.pos});
    if (!rule->reverse[i]) continue;
    ir::TypeId type = w_.TypeOf(node.operands[i]).type;
    const bool elements = HasElements(node.operands[i]);
    if (elements && i == 0 && node.op == ir::Op::GetElement) {
      Contribute(node.operands[i], types_.Term(w_, types_.SumOf(type), {node.operands[1], cotangent}));
      continue;
    }
    DerivativeOperands in{node.operands, {id, 0}, cotangent, type, node.attr, &types_, elements || types_.HasSum(type)};
    Contribute(node.operands[i], WriteDerivative(w_, *rule->reverse[i], in));
  }
}

// What was built here and taken apart in this block as well needs no cotangent in one piece.
void PairBuilder::TransposeConstruct(NodeId id) {
  const Node node = f_.nodes[id];
  ir::TypeId type = node.results[0].type;
  if (!types_.Active(type)) return;
  if (types_.IsSum(type)) {
    if (std::optional<Value> cotangent = Total({id, 0}))
      types_.TransposeTerm(w_, node.attr, node.operands, *cotangent, [&](Value to, Value part) { Contribute(to, part); });
    return;
  }
  auto it = scopes_.back().sums.find({id, 0});
  if (it != scopes_.back().sums.end() && it->second.whole.empty() && it->second.fields.size() == 1 &&
      it->second.fields.begin()->first == node.attr && !used_late_.count({id, 0})) {
    std::vector<std::optional<Value>> fields = std::move(it->second.fields.begin()->second);
    scopes_.back().sums.erase(it);
    uint32_t next = 0;
    for (Value operand : node.operands) {
      if (!Active(operand)) continue;
      if (fields[next]) Contribute(operand, *fields[next]);
      ++next;
    }
    return;
  }
  std::optional<Value> cotangent = Total({id, 0});
  if (!cotangent) return;
  llvm::SmallVector<PortType, 4> results;
  Values operands;
  for (Value operand : node.operands) {
    if (!Active(operand)) continue;
    ir::TypeId field = w_.program().types[types_.Cotangent(type)].constructors[node.attr + 1].fields[operands.size()].type.type;
    operands.push_back(operand);
    results.push_back({types_.IsSymbolic(field) ? field : CotangentOf(operand, w_.TypeOf(operand).lazy), false});
  }
  if (operands.empty()) return;
  if (types_.IsRecord(type)) {
    NodeId branch = types_.BranchOnUse(w_, *cotangent, results, [&](bool used) {
      Values parts;
      for (uint32_t i = 0; i < operands.size(); ++i)
        parts.push_back(used ? types_.AsCotangent(w_, results[i].type, types_.FieldOfRecord(w_, type, *cotangent, i)) : types_.ZeroOf(w_, results[i].type));
      return parts;
    });
    for (uint32_t i = 0; i < operands.size(); ++i) Contribute(operands[i], {branch, i});
    return;
  }
  Value chosen = w_.Op(ir::Op::Match, *cotangent, w_.program().types.Builtin(ir::TypeKind::Alt));
  uint32_t count = static_cast<uint32_t>(w_.program().types[types_.Cotangent(type)].constructors.size());
  NodeId branch = w_.Branch(chosen, count, results, [&](uint32_t k) {
    Values parts;
    for (uint32_t i = 0; i < operands.size(); ++i) {
      if (k == 0) parts.push_back(types_.ZeroOf(w_, results[i].type));
      else if (k == node.attr + 1) parts.push_back(types_.AsCotangent(w_, results[i].type, w_.Field(*cotangent, k, i)));
      else parts.push_back(w_.Fail("the cotangent has not the shape of the value", results[i].type));
    }
    return parts;
  });
  for (uint32_t i = 0; i < operands.size(); ++i) Contribute(operands[i], {branch, i});
}

void PairBuilder::TransposeApply(NodeId id) {
  const Node node = f_.nodes[id];
  bool needed = false;
  llvm::SmallVector<std::optional<Value>, 4> cotangents;
  for (uint32_t k = 0; k < node.results.size(); ++k) {
    cotangents.push_back(Total({id, k}));
    needed |= cotangents.back().has_value();
  }
  if (!needed || llvm::none_of(node.operands, [&](Value operand) { return Active(operand); })) return;
  FunctionId plain = node.callee, callee = all_.Paired(plain, node.pos);
  // What comes back for an operand comes of the cotangents of those results that the operand may change.
  auto contribute = [&](uint32_t i, Value cotangent) {
    std::vector<Value> of;
    for (uint32_t k = 0; k < cotangents.size(); ++k)
      if (cotangents[k] && all_.MayChange(plain, i, k)) of.push_back(*cotangents[k]);
    if (!of.empty()) Contribute(node.operands[i], cotangent, of);
  };
  Values operands(node.operands.begin(), node.operands.end());
  for (uint32_t k = 0; k < node.results.size(); ++k) {
    if (!Active({id, k})) continue;
    ir::TypeId wanted = all_.program.functions[callee].params[operands.size()].type.type;
    operands.push_back(cotangents[k] ? types_.AsCotangent(w_, wanted, types_.ForResult(w_, node.callee, k, *cotangents[k])) : types_.ZeroOf(w_, wanted));
  }
  if (all_.recompute) {
    // A call of its own, of which only the cotangents are used.
    NodeId gradient = w_.Apply(callee, operands);
    uint32_t from = static_cast<uint32_t>(node.results.size());
    for (uint32_t i = 0; i < node.operands.size(); ++i)
      if (Active(node.operands[i])) contribute(i, {gradient, from++});
    return;
  }
  Node& call = f_.nodes[id];
  call.callee = callee;
  call.operands.assign(operands.begin(), operands.end());
  uint32_t next = static_cast<uint32_t>(node.results.size());
  for (uint32_t i = 0; i < node.operands.size(); ++i) {
    if (!Active(node.operands[i])) continue;
    f_.nodes[id].results.push_back(all_.program.functions[callee].results[next]);
    contribute(i, {id, next++});
  }
}

// A Delay of the paired body, whose cotangents are late operands: they wait in the reference, or go to the body that runs
// under the Delay's label. Its cotangents come back to where the Delay stands. What was never forced is never
// differentiated: the cotangent of an operand is asked for in a branch on those of the results that it may change. One that is
// not zero# comes from where the result was used; or it was given to vjp, and then the value is forced for it.
void PairBuilder::TransposeDelay(NodeId id) {
  const Node node = f_.nodes[id];
  uint32_t count = static_cast<uint32_t>(node.results.size());
  llvm::SmallVector<std::optional<Value>, 2> cotangents;
  for (uint32_t k = 0; k < count; ++k) cotangents.push_back(Total({id, k}));
  bool needed = llvm::any_of(cotangents, [](const std::optional<Value>& cotangent) { return cotangent.has_value(); });
  if (!needed || llvm::none_of(node.operands, [&](Value operand) { return Active(operand); })) return;
  Values operands(node.operands.begin(), node.operands.end());
  FunctionId plain = node.callee, paired = all_.Paired(plain, node.pos);
  llvm::SmallVector<std::optional<Value>, 2> used(count);
  for (uint32_t k = 0; k < count; ++k) {
    if (!Active({id, k})) continue;
    // The body has evaluated what the first result refers to: it takes the cotangent as it is.
    ir::TypeId wanted = all_.program.functions[paired].params[operands.size()].type.type;
    used[k] = cotangents[k];
    operands.push_back(types_.AsCotangent(w_, wanted, cotangents[k] ? *cotangents[k] : types_.Zero(w_, node.results[k])));
  }
  if (!all_.recompute) {
    f_.nodes[id].callee = paired;
    f_.nodes[id].operands.assign(operands.begin(), operands.end());
  }
  // Operands that may change the same of them have one branch.
  struct Part {
    Value operand;
    uint32_t result;  // its cotangent's
    PortType type;
  };
  std::map<std::vector<uint32_t>, std::vector<Part>> parts;
  uint32_t next = count;
  for (uint32_t i = 0; i < node.operands.size(); ++i) {
    Value operand = node.operands[i];
    if (!Active(operand)) continue;
    PortType type = all_.program.functions[paired].results[next];
    if (!all_.recompute) f_.nodes[id].results.push_back(type);
    std::vector<uint32_t> changed;
    for (uint32_t k = 0; k < count; ++k)
      if (used[k] && all_.MayChange(plain, i, k)) changed.push_back(k);
    parts[changed].push_back({operand, next++, type});
  }
  for (const auto& [changed, list] : parts) {
    if (changed.empty()) continue;
    llvm::SmallVector<PortType, 4> results;
    for (const Part& part : list) results.push_back(part.type);
    auto write = [&](bool is_used) {
      Values yields;
      NodeId from = is_used && all_.recompute ? w_.Apply(paired, operands) : id;
      Value value = is_used ? w_.Forced({from, 0}) : Value();
      for (const Part& part : list)
        yields.push_back(is_used ? w_.Seq(value, {from, part.result}) : types_.ZeroOf(w_, part.type.type));
      return yields;
    };
    Values uses;
    for (uint32_t k : changed) uses.push_back(*used[k]);
    NodeId branch = types_.BranchOnUse(w_, uses, results, write);
    for (uint32_t i = 0; i < list.size(); ++i) Contribute(list[i].operand, {branch, i});
  }
}

void PairBuilder::TransposeBranch(NodeId id) {
  const Node node = f_.nodes[id];
  llvm::SmallVector<std::optional<Value>, 4> cotangents;
  bool needed = false;
  for (uint32_t k = 0; k < node.results.size(); ++k) {
    cotangents.push_back(Total({id, k}));
    needed |= cotangents.back().has_value();
  }
  if (!needed) return;
  BlockId outer = w_.block;
  std::optional<Guard> guard = std::exchange(guard_, std::nullopt);  // it is not for the nodes inside
  std::vector<std::map<Value, Value>> sides;
  std::map<Value, bool> free;
  for (BlockId inner : node.blocks) {
    scopes_.push_back({inner, {}, {}});
    w_.block = inner;
    std::vector<Value> yields = f_.blocks[inner].yields;
    for (uint32_t k = 0; k < yields.size(); ++k)
      if (cotangents[k]) Contribute(yields[k], *cotangents[k]);
    Backward(inner);
    ResolveLate(scopes_.back());
    sides.emplace_back();
    while (!scopes_.back().sums.empty()) {
      Value value = scopes_.back().sums.begin()->first;
      sides.back()[value] = OrZero(TakeSum(value), value);
      free[value] = true;
    }
    scopes_.pop_back();
  }
  w_.pos = node.pos;
  uint32_t next = static_cast<uint32_t>(node.results.size());
  for (uint32_t s = 0; s < node.blocks.size(); ++s) {
    w_.block = node.blocks[s];
    for (const auto& [value, used] : free) {
      auto it = sides[s].find(value);
      Value part = it != sides[s].end() ? it->second : types_.ZeroOf(w_, CotangentOf(value));
      f_.blocks[node.blocks[s]].yields.push_back(part);
    }
  }
  w_.block = outer;
  guard_ = std::move(guard);
  for (const auto& [value, used] : free) {
    f_.nodes[id].results.push_back({CotangentOf(value), false});
    Contribute(value, {id, next++});
  }
}

}  // namespace df::fg
