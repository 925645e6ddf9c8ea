// The transform of functions, calls and delayed expressions. See transform.h.
#include "lower/transform/transform.h"

#include "lang/budget.h"
#include "tagged_ir/places.h"

namespace df::lower {

ir::Graph Transformer::Run() {
  graph_.name = program_.name;
  graph_.action = program_.action;
  graph_.demanded = true;  // function graphs compute at once only what is needed, or cheap and no call
  graph_.types = program_.types;
  graph_.files = program_.files;
  graph_.positions = program_.positions;
  graph_.constants = program_.constants;
  bodies_.resize(program_.functions.size());
  EmitMain();
  // Functions in order of their first use, so that scopes and sites are numbered as a reader meets them.
  while (!to_emit_.empty()) {
    fg::FunctionId next = to_emit_.front();
    to_emit_.pop_front();
    EmitFunction(next);
  }
  WireSites();
  ir::DropUnusedPositions(graph_);
  return std::move(graph_);
}

void Transformer::EmitMain() {
  const fg::Function& main = program_.functions[program_.main];
  scope_ = graph_.scopes.Add({ir::ScopeKind::Root, main.name, {}, main.pos, false});
  function_id_ = program_.main;
  function_ = &main;
  Trigger root;
  root.edge = {Add(ir::Op::Start, {}, TriggerType()), 0};
  trigger_ = &root;
  Edges inputs;
  for (uint32_t i = 0; i < main.params.size(); ++i) {
    graph_.graph_inputs.push_back({main.params[i].name, main.params[i].type});
    inputs.push_back({Add(ir::Op::Input, root.edge, main.params[i].type, i, main.pos), 0});
  }
  Edges results = EmitBody(main, inputs);
  for (uint32_t i = 0; i < results.size(); ++i) {
    graph_.graph_results.push_back({results.size() == 1 ? main.name : fmt::format("{}.{}", main.name, i),
                                    main.results[i]});
    Add(ir::Op::Result, results[i], {}, i, main.pos);
  }
}

// Whether a function that may be computed in pieces still has the form that says which (tagged_ir/spread.h). One that lost it, as it makes
// nothing of which pieces are asked for, is as good without the mark.
static bool IsSpread(const ir::TypeTable& types, const fg::Function& function) {
  auto is_int = [&](const fg::Param& param) { return !param.type.lazy && types.Kind(param.type.type) == ir::TypeKind::Int; };
  return function.spread && function.results.size() == 1 && function.params.size() >= 2 &&
         llvm::all_of(llvm::ArrayRef(function.params).take_back(2), is_int);
}

Transformer::Body& Transformer::BodyOf(fg::FunctionId id) {
  std::unique_ptr<Body>& slot = bodies_[id.index];
  if (slot) return *slot;
  const fg::Function& function = program_.functions[id];
  slot = std::make_unique<Body>();
  slot->scope = graph_.scopes.Add({ir::ScopeKind::Function, function.name, {}, function.pos, IsSpread(graph_.types, function)});
  graph_.scopes[slot->scope].place = fg::PartOf(program_, function);
  slot->arrivals.resize(function.params.size() + 1);
  slot->trigger = graph_.AddNode(ir::Op::EntryMerge, slot->scope, {}, TriggerType(), 0, function.pos);
  for (const fg::Param& param : function.params)
    slot->params.push_back(graph_.AddNode(ir::Op::EntryMerge, slot->scope, {}, param.type, 0, function.pos));
  to_emit_.push_back(id);
  return *slot;
}

void Transformer::EmitFunction(fg::FunctionId id) {
  Body& body = BodyOf(id);
  function_id_ = id;
  function_ = &program_.functions[id];
  scope_ = body.scope;
  Trigger trigger;
  trigger.edge = {body.trigger, 0};
  trigger_ = &trigger;
  Edges params;
  for (ir::NodeId param : body.params) params.push_back({param, 0});
  body.results = EmitBody(*function_, params);
}

Transformer::Edges Transformer::EmitBody(const fg::Function& function, llvm::ArrayRef<ir::Edge> params) {
  values_.clear();
  awaited_.clear();
  again_.clear();
  FindFreeValues(function);
  if (options_.loops && HasAgain(function.body)) return EmitLoop(function, params);
  for (fg::NodeId id : function.blocks[function.body].nodes)
    if (function.nodes[id].kind == fg::NodeKind::Param) Define({id, 0}, params[function.nodes[id].attr]);
  return EmitBlock(function.body);
}

Transformer::Edges Transformer::EmitBlock(fg::BlockId id) {
  for (fg::NodeId node : function_->blocks[id].nodes) EmitNode(node);
  const fg::Block& block = function_->blocks[id];
  if (block.again) return EmitCall(function_id_, block.yields, block.pos);
  Edges yields;
  for (fg::Value value : block.yields) yields.push_back(EdgeOf(value));
  return yields;
}

void Transformer::EmitNode(fg::NodeId id) {
  CheckBudget();
  const fg::Node& node = function_->nodes[id];
  switch (node.kind) {
    case fg::NodeKind::Param: return;
    case fg::NodeKind::Op: return EmitOp(id);
    case fg::NodeKind::Delay: return EmitDelay(id);
    case fg::NodeKind::Branch: return EmitBranch(id);
    case fg::NodeKind::Diff: llvm_unreachable("derivatives are expanded before");
    case fg::NodeKind::Apply: {
      Edges results = EmitCall(node.callee, node.operands, node.pos);
      for (uint32_t k = 0; k < results.size(); ++k) Define({id, k}, results[k]);
      return;
    }
  }
}

void Transformer::EmitOp(fg::NodeId id) {
  const fg::Node& node = function_->nodes[id];
  // These start with their activation; an ordinary op needs no trigger, its operands carry deadness.
  Edges before;
  if (node.op == ir::Op::Const || node.op == ir::Op::Construct) before.push_back(TriggerEdge(trigger_));
  Define({id, 0}, {AddWithOperands(node.op, before, node.operands, node.results, node.attr, node.pos), 0});
}

Transformer::Edges Transformer::EmitCall(fg::FunctionId callee, llvm::ArrayRef<fg::Value> operands, ir::PosId pos) {
  const fg::Function& function = program_.functions[callee];
  Body& body = BodyOf(callee);
  ir::SiteId site = graph_.sites.Add({ir::SiteKind::Call, scope_, body.scope, pos, ""});
  ir::NodeId trigger = Add(ir::Op::Call, TriggerEdge(trigger_), {TriggerType(), TriggerType()}, site.index, pos);
  body.arrivals[0].push_back({trigger, 0});
  for (size_t i = 0; i < operands.size(); ++i) {
    ir::NodeId call = AddWithOperands(ir::Op::Call, {}, operands[i], function.params[i].type, site.index, pos);
    body.arrivals[i + 1].push_back({call, 0});
  }
  Body::Site uses{site, {}};
  Edges results;
  for (ir::PortType type : function.results) {
    ir::NodeId back = Add(ir::Op::Return, {ir::Edge(), ir::Edge{trigger, 1}}, type, site.index, pos);
    uses.returns.push_back(back);
    results.push_back({back, 0});
  }
  body.sites.push_back(std::move(uses));
  return results;
}

void Transformer::EmitDelay(fg::NodeId id) {
  const fg::Node& node = function_->nodes[id];
  const fg::Function& function = program_.functions[node.callee];
  Body& body = BodyOf(node.callee);
  ir::SiteId site = graph_.sites.Add({ir::SiteKind::Delay, scope_, body.scope, node.pos, node.reason});
  llvm::SmallVector<ir::PortType, 6> types = {node.results[0], TriggerType()};
  for (const fg::Param& param : function.params) types.push_back(param.type);
  ir::NodeId delay =
      AddWithOperands(ir::Op::Delay, TriggerEdge(trigger_), node.operands, types, site.index, node.pos);
  for (uint32_t i = 0; i < body.arrivals.size(); ++i) body.arrivals[i].push_back({delay, i + 1});
  Body::Site uses{site, {Add(ir::Op::Return, ir::Edge(), {}, site.index, node.pos)}};
  Define({id, 0}, {delay, 0});
  if (node.results.size() > 1) {
    // The gradient's trigger: the activation has begun with the Delay's, so this one only says where nothing comes.
    ir::NodeId control = Add(ir::Op::Call, TriggerEdge(trigger_), {TriggerType(), TriggerType()}, site.index, node.pos);
    for (uint32_t k = 1; k < node.results.size(); ++k) {
      ir::NodeId back = Add(ir::Op::Return, {ir::Edge(), ir::Edge{control, 1}}, node.results[k], site.index, node.pos);
      uses.returns.push_back(back);
      Define({id, k}, {back, 0});
    }
  }
  body.sites.push_back(std::move(uses));
}

// Connects EntryMerges with their Calls, and bodies' results with their Returns.
void Transformer::WireSites() {
  for (const std::unique_ptr<Body>& body : bodies_) {
    if (!body) continue;
    graph_.ReplaceInputs(body->trigger, body->arrivals[0]);
    for (size_t i = 0; i < body->params.size(); ++i) graph_.ReplaceInputs(body->params[i], body->arrivals[i + 1]);
    for (const Body::Site& site : body->sites)
      for (size_t k = 0; k < site.returns.size(); ++k) graph_.SetInput(site.returns[k], 0, body->results[k]);
  }
}

ir::Edge Transformer::EdgeOf(fg::Value value) const {
  auto it = values_.find(Key(value));
  return it == values_.end() ? ir::Edge() : it->second;
}

void Transformer::Define(fg::Value value, ir::Edge edge) {
  values_[Key(value)] = edge;
  auto it = awaited_.find(Key(value));
  if (it == awaited_.end()) return;
  for (Use use : it->second) graph_.SetInput(use.node, use.operand, edge);
  awaited_.erase(it);
}

ir::NodeId Transformer::AddWithOperands(ir::Op op, llvm::ArrayRef<ir::Edge> before,
                                        llvm::ArrayRef<fg::Value> operands, llvm::ArrayRef<ir::PortType> results,
                                        uint32_t attr, ir::PosId pos) {
  Edges edges(before.begin(), before.end());
  for (fg::Value operand : operands) edges.push_back(EdgeOf(operand));
  ir::NodeId node = Add(op, edges, results, attr, pos);
  for (uint32_t i = 0; i < operands.size(); ++i)
    if (uint32_t at = static_cast<uint32_t>(before.size()) + i; !edges[at].node.valid())
      awaited_[Key(operands[i])].push_back({node, at});
  return node;
}

ir::NodeId Transformer::Add(ir::Op op, llvm::ArrayRef<ir::Edge> operands, llvm::ArrayRef<ir::PortType> results,
                            uint32_t attr, ir::PosId pos) {
  return graph_.AddNode(op, scope_, operands, results, attr, pos);
}

}  // namespace df::lower

namespace df {

ir::Graph Transform(const fg::Program& program, const LowerOptions& options) {
  return lower::Transformer(program, options).Run();
}

}  // namespace df
