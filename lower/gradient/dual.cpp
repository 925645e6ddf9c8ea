// See gradient/dual.h.
#include "lower/gradient/dual.h"

#include "lower/gradient/all.h"
#include "lower/gradient/rules.h"

namespace df::fg {

llvm::SmallVector<PortType, 2> DualBuilder::Parts(GradientTypes& types, PortType type) {
  if (types.IsVector(type.type) && !type.lazy) return {type, type};
  return {types.Dual(type)};
}

Function DualBuilder::Signature(GradientTypes& types, const Function& function) {
  Function dual;
  dual.name = types.FreshName(function.name + ".dual");
  dual.pos = function.pos;
  dual.delayed = function.delayed;
  dual.paired = function.paired;
  dual.spread = function.spread;
  for (const Param& param : function.params) {
    llvm::SmallVector<PortType, 2> parts = Parts(types, param.type);
    const bool elements = param.elements && parts.size() == 2;
    dual.params.push_back({param.name, parts[0], false, elements});
    if (parts.size() == 2) dual.params.push_back({"d" + param.name, parts[1], false, elements});
  }
  for (size_t k = 0; k < function.results.size(); ++k) {
    // What a Delay waits for is one value.
    if (k == 0 && function.delayed) dual.results.push_back(types.Dual(function.results[k]));
    else for (PortType part : Parts(types, function.results[k])) dual.results.push_back(part);
  }
  return dual;
}

DualBuilder::DualBuilder(Gradients& all, Function function)
    : all_(all), types_(all.types), from_(std::move(function)), w_(all.program, to_, from_.pos) {}

Function DualBuilder::Run() {
  Function signature = Signature(types_, from_);
  to_.params = signature.params;
  to_.results = signature.results;
  to_.pos = from_.pos;
  to_.delayed = from_.delayed;
  to_.paired = from_.paired;
  to_.spread = from_.spread;
  to_.body = Copy(from_.body, [&](size_t k) {
    // Of a delayed body, one value: the lazy form of the type has one part.
    PortType type = from_.results[k];
    if (k == 0 && from_.delayed) type.lazy = true;
    return type;
  });
  auto replace = [&](Value& value) {
    for (auto it = replaced_.find(value.node.index); it != replaced_.end(); it = replaced_.find(value.node.index))
      value = it->second;
  };
  for (Node& node : to_.nodes)
    for (Value& operand : node.operands) replace(operand);
  for (Block& block : to_.blocks)
    for (Value& yield : block.yields) replace(yield);
  return std::move(to_);
}

// ---------------------------------------------------------------- values

DualBuilder::Held DualBuilder::Placeholder(PortType type) {
  auto stand_in = [&](PortType part) {
    Node node;
    node.kind = NodeKind::Op;
    node.results = {part};
    return Value{to_.nodes.Add(std::move(node)), 0};  // in no block
  };
  llvm::SmallVector<PortType, 2> parts = Parts(types_, type);
  Held held{stand_in(parts[0]), std::nullopt};
  if (parts.size() == 2) held.tangent = stand_in(parts[1]);
  return held;
}

DualBuilder::Held DualBuilder::Get(Value value) {
  if (auto it = held_.find(value); it != held_.end()) return it->second;
  auto [it, fresh] = awaited_.try_emplace(value);
  if (fresh) it->second = Placeholder(from_.TypeOf(value));
  return it->second;
}

void DualBuilder::Define(Value value, Held held) {
  if (auto it = awaited_.find(value); it != awaited_.end()) {
    replaced_[it->second.value.node.index] = held.value;
    if (it->second.tangent)
      replaced_[it->second.tangent->node.index] =
          held.tangent ? *held.tangent : types_.ZeroVector(w_, from_.TypeOf(value).type);
  }
  held_[value] = held;
}

// The parts of a value where one of type `as` is wanted.
void DualBuilder::Append(Value value, PortType as, Values& out) {
  Held held = Get(value);
  if (!InTwo(from_.TypeOf(value))) {
    out.push_back(held.value);
    return;
  }
  Value tangent = held.tangent ? *held.tangent : types_.ZeroVector(w_, as.type);
  if (InTwo(as)) {
    out.push_back(held.value);
    out.push_back(tangent);
  } else {
    out.push_back(w_.Construct(types_.Dual(as.type), 0, {held.value, tangent}));
  }
}

Values DualBuilder::PartsOf(llvm::ArrayRef<Value> values, llvm::function_ref<PortType(size_t)> type) {
  Values parts;
  for (size_t i = 0; i < values.size(); ++i) Append(values[i], type(i), parts);
  return parts;
}

DualBuilder::Held DualBuilder::Unpack(Value dual, PortType type) {
  if (!InTwo(type)) return {dual, std::nullopt};
  return {w_.Field(dual, 0, 0), w_.Field(dual, 0, 1)};
}

// ---------------------------------------------------------------- nodes

BlockId DualBuilder::Copy(BlockId id, llvm::function_ref<PortType(size_t)> yield_type) {
  BlockId outer = w_.block;
  BlockId made = w_.block = to_.blocks.Add({});
  for (NodeId node : from_.blocks[id].nodes) CopyNode(node);
  const Block& block = from_.blocks[id];
  w_.pos = block.pos;
  Values yields = block.again ? PartsOf(block.yields, [&](size_t i) { return from_.params[i].type; })
                              : PartsOf(block.yields, yield_type);
  to_.blocks[made].yields.assign(yields.begin(), yields.end());
  to_.blocks[made].again = block.again;
  to_.blocks[made].pos = block.pos;
  w_.block = outer;
  return made;
}

void DualBuilder::CopyNode(NodeId id) {
  const Node& node = from_.nodes[id];
  w_.pos = node.pos;
  switch (node.kind) {
    case NodeKind::Param: {
      uint32_t index = 0;
      for (uint32_t i = 0; i < node.attr; ++i) index += static_cast<uint32_t>(Parts(types_, from_.params[i].type).size());
      llvm::SmallVector<Value, 2> made;
      for (PortType part : Parts(types_, from_.params[node.attr].type)) {
        Node param;
        param.kind = NodeKind::Param;
        param.attr = index++;
        param.results = {part};
        made.push_back({w_.Add(std::move(param)), 0});
      }
      Define({id, 0}, {made[0], made.size() == 2 ? std::optional(made[1]) : std::nullopt});
      return;
    }
    case NodeKind::Op: CopyOp(id); break;
    case NodeKind::Apply:
    case NodeKind::Delay: CopyCall(id); break;
    case NodeKind::Branch: CopyBranch(id); break;
    case NodeKind::Diff: {  // Stop
      Held held = Get(node.operands[0]);
      PortType type = from_.TypeOf(node.operands[0]);
      if (!InTwo(type) && types_.Active(type.type)) {
        Value plain = types_.Primal(w_, type, held.value);
        held.value = types_.Join(w_, types_.Dual(type), plain, w_.Unit());
      }
      Define({id, 0}, {held.value, std::nullopt});
      break;
    }
  }
  const Held& first = held_[{id, 0}];
  if (!node.name.empty() && first.value.node.valid()) {
    Node& made = to_.nodes[first.value.node];
    if (made.kind != NodeKind::Param && made.name.empty()) made.name = node.name;
  }
}

void DualBuilder::CopyOp(NodeId id) {
  const Node& node = from_.nodes[id];
  PortType type = node.results[0];
  Values operands;
  for (Value operand : node.operands) operands.push_back(Get(operand).value);
  switch (node.op) {
    case ir::Op::Construct: {
      if (types_.IsSum(type.type)) {
        std::vector<std::optional<Value>> tangents;
        for (Value operand : node.operands) tangents.push_back(Get(operand).tangent);
        Value made = w_.Construct(type.type, node.attr, operands);
        return Define({id, 0}, {made, types_.TangentOfTerm(w_, type.type, node.attr, operands, tangents)});
      }
      const ir::Constructor row = w_.program().types[type.type].constructors[node.attr];
      Values fields = PartsOf(node.operands, [&](size_t i) {
        PortType field = row.fields[i].type;
        field.lazy = true;  // in data a number and its tangent are one value
        return field;
      });
      return Define({id, 0}, {w_.Construct(types_.Dual(type.type), node.attr, fields), std::nullopt});
    }
    case ir::Op::Field: {
      Value field = w_.Field(operands[0], node.attr >> 16, node.attr & 0xffff);
      if (!type.lazy && w_.TypeOf(field).lazy) field = w_.Op(ir::Op::Force, field, w_.TypeOf(field).type);
      return Define({id, 0}, Unpack(field, type));
    }
    case ir::Op::Force: {
      if (!from_.TypeOf(node.operands[0]).lazy) break;
      ir::TypeId dual = types_.Dual(type.type);
      return Define({id, 0}, Unpack(w_.Op(ir::Op::Force, operands[0], dual), type));
    }
    case ir::Op::Seq: {
      Held held = Get(node.operands[1]);
      held.value = w_.Op(ir::Op::Seq, operands, types_.IsVector(type.type) ? type.type : types_.Dual(type.type));
      return Define({id, 0}, held);
    }
    case ir::Op::Fail: {
      bool real = types_.IsVector(type.type);
      Value made = w_.Op(ir::Op::Fail, operands, real ? type.type : types_.Dual(type.type), node.attr);
      return Define({id, 0}, {made, real ? std::optional(made) : std::nullopt});
    }
    case ir::Op::SetElement: {
      // Both at once, in place: after the rules of the op it would be the sum of two tensors.
      std::optional<Value> whole = Get(node.operands[0]).tangent, element = Get(node.operands[2]).tangent;
      if (!whole || !element || !types_.Active(type.type)) break;
      Value made = w_.Op(node.op, operands, type.type, node.attr, type.lazy);
      return Define({id, 0}, {made, w_.Op(node.op, {*whole, operands[1], *element}, type.type, node.attr, type.lazy)});
    }
    case ir::Op::ReadStore:
    case ir::Op::ReadFrozen:
      // Never done: where derivatives are asked for, what holds numbers is kept as nodes (primHasReals in the library). As data it has their type.
      if (InTwo(type) || !types_.Active(type.type)) break;
      return Define({id, 0}, {w_.Fail("a derivative of what an array holds", types_.Dual(type.type)), std::nullopt});
    default: break;
  }
  Value made = w_.Op(node.op, operands, type.type, node.attr, type.lazy);
  if (ir::HidesDerivative(node.op) &&
      llvm::any_of(node.operands, [&](Value operand) { return types_.Active(from_.TypeOf(operand).type); })) {
    all_.Refuse({node.op, node.pos});
    return Define({id, 0}, {made, std::nullopt});
  }
  std::optional<Value> tangent;
  const ir::Derivative* rule = ir::DerivativeOf(node.op);
  for (uint32_t i = 0; i < node.operands.size(); ++i) {
    Held held = Get(node.operands[i]);
    if (!held.tangent) continue;
    if (!rule && types_.Active(type.type)) {
      all_.Refuse({node.op, node.pos});
      break;
    }
    if (!types_.Active(type.type) || !rule->forward[i]) continue;
    Value part = WriteDerivative(w_, *rule->forward[i], {operands, made, *held.tangent, type.type, node.attr});
    tangent = tangent ? types_.AddVectors(w_, *tangent, part) : part;
  }
  Define({id, 0}, {made, tangent});
}

void DualBuilder::CopyCall(NodeId id) {
  const Node& node = from_.nodes[id];
  Node made;
  made.kind = node.kind;
  made.name = node.name;
  made.reason = node.reason;
  const Function callee = w_.program().functions[node.callee];
  bool active = llvm::any_of(callee.params, [&](const Param& param) { return types_.Active(param.type.type); }) ||
                llvm::any_of(callee.results, [&](PortType result) { return types_.Active(result.type); });
  made.callee = active ? all_.Dual(node.callee, node.pos) : node.callee;
  Values operands = PartsOf(node.operands, [&](size_t i) { return callee.params[i].type; });
  made.operands.assign(operands.begin(), operands.end());
  for (PortType result : node.results)
    for (PortType part : Parts(types_, result)) made.results.push_back(part);
  DefineResults(id, w_.Add(std::move(made)));
}

void DualBuilder::DefineResults(NodeId from, NodeId to) {
  uint32_t next = 0;
  for (uint32_t k = 0; k < from_.nodes[from].results.size(); ++k) {
    Held held{{to, next++}, std::nullopt};
    if (InTwo(from_.nodes[from].results[k])) held.tangent = Value{to, next++};
    Define({from, k}, held);
  }
}

void DualBuilder::CopyBranch(NodeId id) {
  const Node& node = from_.nodes[id];
  Node made;
  made.kind = NodeKind::Branch;
  made.pos = node.pos;
  made.operands = {Get(node.operands[0]).value};
  for (PortType result : node.results)
    for (PortType part : Parts(types_, result)) made.results.push_back(part);
  for (BlockId block : node.blocks) made.blocks.push_back(Copy(block, [&](size_t k) { return node.results[k]; }));
  w_.pos = node.pos;
  DefineResults(id, w_.Add(std::move(made)));
}

// ---------------------------------------------------------------- calls

Values CallDual(Gradients& all, Writer& w, const Node& node, llvm::ArrayRef<Value> operands, Value tangent) {
  GradientTypes& types = all.types;
  Values given;
  for (size_t i = 0; i < operands.size(); ++i) {
    PortType type = w.program().functions[node.callee].params[i].type;
    bool last = i + 1 == operands.size();
    if (types.IsReal(type.type) && !type.lazy) {
      given.push_back(operands[i]);
      bool constant = !last || w.program().types.Kind(w.TypeOf(tangent).type) == ir::TypeKind::Unit;
      given.push_back(constant ? w.Real(type.type, 0) : w.Forced(tangent));
    } else {
      given.push_back(types.Join(w, types.Dual(type), operands[i], last ? tangent : w.Unit()));
    }
  }
  NodeId call = w.Apply(all.Dual(node.callee, node.pos), given);
  PortType result = node.results[0], wanted = node.results[1];
  Value value{call, 0};
  if (types.IsReal(result.type)) return {value, w.Seq(value, {call, 1})};
  return {types.Primal(w, result, value), types.TangentOf(w, wanted, result.type, value)};
}

}  // namespace df::fg
