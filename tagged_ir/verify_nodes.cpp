// Each node for itself: handles in range, the signature of its op, its attribute. See verify.h.

#include <array>

#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/action.h"
#include "tagged_ir/signature.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/verify.h"

namespace df::ir {

namespace {

// What a Field may give as a value of a lazy field.
bool IsHeldEvaluated(const Type& type) {
  switch (type.kind) {
    case TypeKind::Unit:
    case TypeKind::Int:
    case TypeKind::Integer:
    case TypeKind::Float:
    case TypeKind::Double:
    case TypeKind::Char:
    case TypeKind::Bool:
    case TypeKind::Tensor: return true;  // a number that is kept late
    case TypeKind::Data:
      return llvm::all_of(type.constructors, [](const Constructor& constructor) { return constructor.fields.empty(); });
    default: return false;
  }
}

}  // namespace

bool Verifier::CheckNodes() {
  if (g.nodes.empty()) return Fail("the graph has no nodes");
  // Handles of all nodes first: a signature looks at the results of a node's operands.
  for (uint32_t i = 0; i < g.nodes.size(); ++i) {
    const Node& node = g.nodes[NodeId(i)];
    if (static_cast<uint32_t>(node.op) >= OpCount()) return Fail("node {} has no known op", i);
    if (uint64_t{node.first_input} + node.num_inputs > g.inputs.size())
      return FailAt(NodeId(i), "its operands are out of range");
    if (uint64_t{node.first_result} + node.num_results > g.results.size())
      return FailAt(NodeId(i), "its results are out of range");
  }
  for (uint32_t i = 0; i < g.nodes.size(); ++i)
    if (!CheckHandles(NodeId(i))) return false;
  for (uint32_t i = 0; i < g.nodes.size(); ++i)
    if (!CheckSignature(NodeId(i)) || !CheckAttribute(NodeId(i))) return false;
  return true;
}

bool Verifier::CheckHandles(NodeId id) {
  const Node& node = g.nodes[id];
  if (!g.scopes.Contains(node.scope)) return FailAt(id, "no scope {}", node.scope.index);
  if (node.pos.valid() && !g.positions.Contains(node.pos))
    return FailAt(id, "no position {}", node.pos.index);
  for (PortType result : g.ResultsOf(id)) {
    if (!g.types.Contains(result.type)) return FailAt(id, "no type {}", result.type.index);
    TypeKind kind = g.types.Kind(result.type);
    if (result.lazy && (kind == TypeKind::Trigger || kind == TypeKind::Alt || kind == TypeKind::Activations))
      return FailAt(id, "a {} is never lazy", g.types.Print({result.type}));
  }
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  for (uint32_t k = 0; k < in.size(); ++k) {
    Edge edge = in[k];
    if (!g.nodes.Contains(edge.node)) return FailAt(id, "operand {} is no node", k);
    if (edge.port >= g.nodes[edge.node].num_results)
      return FailAt(id, "operand {} is result {} of {}, which has {}", k, edge.port, Name(edge.node),
                    g.nodes[edge.node].num_results);
  }
  return true;
}

bool Verifier::CheckSignature(NodeId id) {
  const Node& node = g.nodes[id];
  const Signature& signature = SignatureOf(node.op);
  if (!AcceptsCount(signature.operands, node.num_inputs))
    return FailAt(id, "{} operands, want `{}`", node.num_inputs, InfoOf(node.op).signature);
  if (!AcceptsCount(signature.results, node.num_results))
    return FailAt(id, "{} results, want `{}`", node.num_results, InfoOf(node.op).signature);

  std::array<TypeId, kMaxVariables> bound;
  std::array<bool, kMaxVariables> lazy{};
  auto match = [&](const Place& place, PortType type, const char* what, uint32_t index) {
    if (!Accepts(place, g.types[type.type]))
      return FailAt(id, "{} {} is a {}, want {}", what, index, g.types.Print(type), Describe(place));
    if (place.variable == kNoVariable) return true;
    TypeId& variable = bound[place.variable];
    if (!variable.valid()) variable = type.type;
    if (variable != type.type)
      return FailAt(id, "{} {} is a {}, others are {}", what, index, g.types.Print(type),
                    g.types.Print({variable}));
    return true;
  };
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  for (uint32_t k = 0; k < in.size(); ++k) {
    const Place& place = *PlaceAt(signature.operands, k);
    PortType type = g.TypeOf(in[k]);
    if (!match(place, type, "operand", k)) return false;
    if (type.lazy && !place.lazy)
      return FailAt(id, "operand {} may be a reference, and has to be a value", k);
    if (type.lazy && place.variable != kNoVariable) lazy[place.variable] = true;
  }
  llvm::ArrayRef<PortType> out = g.ResultsOf(id);
  for (uint32_t k = 0; k < out.size(); ++k) {
    const Place& place = *PlaceAt(signature.results, k);
    PortType type = out[k];
    if (!match(place, type, "result", k)) return false;
    if (type.lazy && !place.lazy) return FailAt(id, "result {} cannot be a reference", k);
    if (place.lazy && !type.lazy && place.variable != kNoVariable && lazy[place.variable])
      return FailAt(id, "result {} may be a reference, and its type {} is not lazy", k, g.types.Print(type));
  }
  return true;
}

bool Verifier::CheckAttribute(NodeId id) {
  const Node& node = g.nodes[id];
  llvm::ArrayRef<Edge> in = g.InputsOf(id);
  llvm::ArrayRef<PortType> out = g.ResultsOf(id);
  auto no_trigger = [&] {
    if (KindOf(in.back()) == TypeKind::Trigger || g.types.Kind(out[0].type) == TypeKind::Trigger)
      return FailAt(id, "a Trigger is not computed with");
    return true;
  };
  switch (FactsOf(node.op).attribute) {
    case Attribute::InputNumber:
      if (node.attr >= g.graph_inputs.size()) return FailAt(id, "no input {}", node.attr);
      if (out[0] != g.graph_inputs[node.attr].type)
        return FailAt(id, "a {}, but input {} is a {}", g.types.Print(out[0]), node.attr,
                      g.types.Print(g.graph_inputs[node.attr].type));
      return true;
    case Attribute::ResultNumber: {
      if (node.attr >= g.graph_results.size()) return FailAt(id, "no result {}", node.attr);
      PortType want = g.graph_results[node.attr].type, have = g.TypeOf(in[0]);
      if (have.type != want.type || (have.lazy && !want.lazy))
        return FailAt(id, "a {}, but result {} is a {}", g.types.Print(have), node.attr, g.types.Print(want));
      return true;
    }
    case Attribute::SiteNumber:
      if (node.attr >= g.sites.size()) return FailAt(id, "no site {}", node.attr);
      return true;
    case Attribute::LoopScope:
      if (node.attr >= g.scopes.size() || g.scopes[g.LoopOf(id)].kind != ScopeKind::Loop)
        return FailAt(id, "scope {} is not a loop", node.attr);
      return true;
    case Attribute::OuterScope:
      if (node.attr >= g.scopes.size()) return FailAt(id, "no scope {}", node.attr);
      return no_trigger();
    case Attribute::ConstantNumber:
      if (node.attr >= g.constants.size()) return FailAt(id, "no constant {}", node.attr);
      if (g.constants[ConstId(node.attr)].type != out[0].type)
        return FailAt(id, "a {}, but the constant is a {}", g.types.Print(out[0]),
                      g.types.Print({g.constants[ConstId(node.attr)].type}));
      return true;
    case Attribute::ConstructorNumber: return CheckConstruct(id);
    case Attribute::FieldNumber: return CheckField(id);
    case Attribute::FailureKind:
      if (node.attr > kLastFailure) return FailAt(id, "{} is no kind of failure", node.attr);
      if (node.attr == kThrown ? !IsException(g.types, g.TypeOf(in[0]).type) : KindOf(in[0]) != TypeKind::Text)
        return FailAt(id, "a failure of kind {} of a {}", node.attr, g.types.Print(g.TypeOf(in[0])));
      if (g.types.Kind(out[0].type) == TypeKind::Trigger || g.types.Kind(out[0].type) == TypeKind::Alt)
        return FailAt(id, "a {} does not fail", g.types.Print(out[0]));
      return true;
    case Attribute::Axes:
    case Attribute::EntryNumber:
    case Attribute::NoAttribute: break;
  }
  if (InfoOf(node.op).cls == OpClass::Ordinary && !CheckTensors(id)) return false;
  if (HasElementNumber(node.op)) return CheckElements(id);
  if (FactsOf(node.op).attribute == Attribute::EntryNumber) return CheckTable(id);
  if (FactsOf(node.op).attribute == Attribute::Axes) return true;
  if (node.attr != 0) return FailAt(id, "an attribute ({}) that this op has no use for", node.attr);
  switch (node.op) {
    case Op::Switch: {
      bool is_bool = KindOf(in[0]) == TypeKind::Bool;
      if (is_bool && out.size() != 2) return FailAt(id, "{} sides; a Bool has two alternatives", out.size());
      return true;
    }
    case Op::BranchMerge: {
      bool is_bool = KindOf(in[0]) == TypeKind::Bool;
      if (is_bool && in.size() != 3)
        return FailAt(id, "{} sides; a Bool has two alternatives", in.size() - 1);
      return true;
    }
    case Op::Match:
      if (g.types[g.TypeOf(in[0]).type].constructors.empty())
        return FailAt(id, "`{}` has no constructors", g.types.Print(g.TypeOf(in[0])));
      return true;
    case Op::Force:
    case Op::Seq: return no_trigger();
    default: return true;
  }
}

// Which ops work on tensors, and what their shapes have to do with each other.
bool Verifier::CheckTensors(NodeId id) {
  llvm::SmallVector<const Type*, 4> operands;
  for (Edge edge : g.InputsOf(id)) operands.push_back(&g.types[g.TypeOf(edge).type]);
  std::string fault = TensorFault(g.nodes[id].op, g.nodes[id].attr, operands, g.types[g.ResultsOf(id)[0].type]);
  if (fault.empty() && g.nodes[id].op == Op::Accumulate)
    fault = AccumulateFault(g.types, g.TypeOf(g.InputsOf(id)[0]).type, g.types[g.ResultsOf(id)[0].type]);
  return fault.empty() || FailAt(id, "{}", fault);
}

// What is read of a table has the type of what was written: an entry's number has one type.
bool Verifier::CheckTable(NodeId id) {
  const Node& node = g.nodes[id];
  if (node.op == Op::TableAt) return true;
  TypeId type = node.op == Op::TablePut ? g.TypeOf(g.InputsOf(id)[1]).type : g.ResultsOf(id)[0].type;
  TypeKind kind = g.types.Kind(type);
  if (kind == TypeKind::Trigger || kind == TypeKind::Alt) return FailAt(id, "a {} cannot be kept", g.types.Print({type}));
  TypeId known = entry_types_.try_emplace(node.attr, type).first->second;
  return known == type || FailAt(id, "entry {} is a {}, and elsewhere a {}", node.attr, g.types.Print({type}), g.types.Print({known}));
}

// What is read of an array has the type of what was written, and is stored as values of that type can be.
bool Verifier::CheckElements(NodeId id) {
  const Node& node = g.nodes[id];
  const bool reads = node.op == Op::ReadStore || node.op == Op::ReadFrozen;
  TypeId type = reads ? g.ResultsOf(id)[0].type : g.TypeOf(g.InputsOf(id).back()).type;
  TypeKind kind = g.types.Kind(type);
  if (kind == TypeKind::Trigger || kind == TypeKind::Alt || kind == TypeKind::Activations || kind == TypeKind::State)
    return FailAt(id, "a {} cannot be kept", g.types.Print({type}));
  const uint32_t width = node.attr & 3;
  const bool word = kind >= TypeKind::Unit && kind <= TypeKind::Double && kind != TypeKind::Integer;
  if (width > 2 || (width == 0 && kind != TypeKind::Bool) || (width == 1 && !word))
    return FailAt(id, "a {} is not stored that way ({})", g.types.Print({type}), width);
  TypeId known = element_types_.try_emplace(node.attr, type).first->second;
  return known == type || FailAt(id, "an element of number {} is a {}, and elsewhere a {}", node.attr >> 2, g.types.Print({type}), g.types.Print({known}));
}

bool Verifier::CheckConstruct(NodeId id) {
  const Node& node = g.nodes[id];
  const Type& type = g.types[g.ResultsOf(id)[0].type];
  if (node.attr >= type.constructors.size())
    return FailAt(id, "`{}` has no constructor {}", type.name, node.attr);
  const Constructor& constructor = type.constructors[node.attr];
  if (node.num_inputs != constructor.fields.size() + 1)
    return FailAt(id, "{} operands; `{}` has {} fields", node.num_inputs - 1, constructor.name,
                  constructor.fields.size());
  for (uint32_t k = 1; k < node.num_inputs; ++k) {
    PortType have = g.TypeOf(g.InputsOf(id)[k]), want = constructor.fields[k - 1].type;
    if (have.type != want.type || (have.lazy && !want.lazy))
      return FailAt(id, "operand {} is a {}, but field {} of `{}` is a {}", k, g.types.Print(have), k - 1,
                    constructor.name, g.types.Print(want));
  }
  return true;
}

bool Verifier::CheckField(NodeId id) {
  const Node& node = g.nodes[id];
  const Type& type = g.types[g.TypeOf(g.InputsOf(id)[0]).type];
  uint32_t constructor = node.attr >> 16, field = node.attr & 0xffff;
  if (constructor >= type.constructors.size())
    return FailAt(id, "`{}` has no constructor {}", type.name, constructor);
  const std::vector<FieldType>& fields = type.constructors[constructor].fields;
  if (field >= fields.size())
    return FailAt(id, "`{}` has no field {}", type.constructors[constructor].name, field);
  PortType want = fields[field].type, have = g.ResultsOf(id)[0];
  // A number of a lazy field is the compiler's promise that it was evaluated. Engines look: it is an error if it was not.
  bool fits = !want.lazy || have.lazy || IsHeldEvaluated(g.types[want.type]);
  if (have.type != want.type || !fits)
    return FailAt(id, "a {}, but field {} of `{}` is a {}", g.types.Print(have), field,
                  type.constructors[constructor].name, g.types.Print(want));
  return true;
}

}  // namespace df::ir
