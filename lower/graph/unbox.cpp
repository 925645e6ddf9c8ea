// See unbox.h.
//
// A constructor is more than its fields: it may have failed, if a strict field did or if what gives it did. So a parameter has
// one part more, a unit that fails where the constructor would have; `Seq` of the parameter becomes `Seq` of that. Where nothing
// asks for it pruning takes it away.
#include "lower/graph/unbox.h"

#include <map>
#include <set>
#include <utility>

#include "lang/budget.h"
#include "llvm/ADT/STLExtras.h"
#include "lower/graph/prune.h"

namespace df::fg {
namespace {

constexpr size_t kMostFields = 8;        // of a constructor
constexpr size_t kMostParameters = 24;   // of a function, in parts
constexpr int kMostRounds = 4;           // a field of a constructor may have one constructor, too

class Unboxer {
 public:
  explicit Unboxer(Program& program) : p_(program) {}

  // Whether anything was done. What is passed as a whole is still passed, and nobody looks at it.
  bool Run() {
    FindCandidates();
    DropAllUnfit();
    DropUnrewarding();
    if (chosen_.empty()) return false;
    FindSure();
    for (uint32_t f = 0; f < p_.functions.size(); ++f) Split(FunctionId(f));
    for (uint32_t f = 0; f < p_.functions.size(); ++f) PassParts(FunctionId(f));
    for (uint32_t f = 0; f < p_.functions.size(); ++f) TakeParts(FunctionId(f));
    return true;
  }

 private:
  using Parameter = std::pair<uint32_t, uint32_t>;  // function and which

  // ---------------------------------------------------------------- which parameters

  // Data with one constructor, of a few fields. Records of tensors stay, as their cotangents are one object, and so do those of numbers that
  // ops on tensors may give: a guard would look at these before anybody needs them.
  bool HasParts(ir::PortType port) const {
    if (port.lazy || p_.types.Kind(port.type) != ir::TypeKind::Data) return false;
    const ir::Type& type = p_.types[port.type];
    if (type.constructors.size() != 1) return false;
    const auto& fields = type.constructors[0].fields;
    if (fields.empty() || fields.size() > kMostFields) return false;
    // A guard of a field that may be a reference would be a branch.
    bool strict = llvm::any_of(fields, [](const ir::FieldType& field) { return field.strict; });
    return llvm::all_of(fields, [&](const ir::FieldType& field) {
      ir::TypeKind kind = p_.types.Kind(field.type.type);
      bool late = kind == ir::TypeKind::Tensor || (p_.types.HasTensors() && (kind == ir::TypeKind::Float || kind == ir::TypeKind::Double));
      return !late && !(strict && field.type.lazy);
    });
  }

  void FindCandidates() {
    std::set<uint32_t> taken;  // called in another way than by Apply
    for (const Function& function : p_.functions)
      for (const Node& node : function.nodes)
        if (node.callee.valid() && node.kind != NodeKind::Apply) taken.insert(node.callee.index);
    for (uint32_t f = 0; f < p_.functions.size(); ++f) {
      const Function& function = p_.functions[FunctionId(f)];
      if (FunctionId(f) == p_.main || function.delayed || function.paired || function.spread || taken.contains(f)) continue;
      for (uint32_t i = 0; i < function.params.size(); ++i)
        if (!function.params[i].cotangent && HasParts(function.params[i].type)) chosen_.insert({f, i});
    }
    std::set<Parameter> read;
    for (uint32_t f = 0; f < p_.functions.size(); ++f)
      for (const Node& node : p_.functions[FunctionId(f)].nodes)
        if (node.kind == NodeKind::Op && node.op == ir::Op::Field)
          if (const Parameter* parameter = ChosenAt(f, node.operands[0])) read.insert(*parameter);
    chosen_ = std::move(read);
  }

  // The parameter of a function, if it is one that is chosen.
  const Parameter* ChosenAt(uint32_t f, Value value) const {
    const Node& node = p_.functions[FunctionId(f)].nodes[value.node];
    if (node.kind != NodeKind::Param) return nullptr;
    auto it = chosen_.find({f, node.attr});
    return it == chosen_.end() ? nullptr : &*it;
  }

  void DropAllUnfit() {
    Repeat([&](bool backwards) { return !chosen_.empty() && DropUnfit(backwards); });
  }

  // Takes out parameters of which more is used than fields, guards and the same parameter of another call; and those whose arguments
  // cannot be taken apart where they stand.
  bool DropUnfit(bool backwards) {
    FindValues();
    size_t before = chosen_.size();
    ForEachFunction(backwards, [&](uint32_t f) {
      const Function& function = p_.functions[FunctionId(f)];
      auto check = [&](Value used, bool fits) {
        if (fits) return;
        if (const Parameter* parameter = ChosenAt(f, used)) chosen_.erase(Parameter(*parameter));
      };
      std::vector<bool> there(function.nodes.size(), false);  // stands before what is looked at
      auto passed = [&](Parameter parameter, Value argument) {
        if (chosen_.contains(parameter) && !CanTakeApart(function, f, parameter, argument, there)) chosen_.erase(parameter);
      };
      ForEachNode(function, function.body, [&](NodeId id) {
        const Node& node = function.nodes[id];
        for (uint32_t k = 0; k < node.operands.size(); ++k) {
          bool field = node.kind == NodeKind::Op && node.op == ir::Op::Field;
          bool guard = node.kind == NodeKind::Op && node.op == ir::Op::Seq && k == 0;
          bool whole = node.kind == NodeKind::Apply && chosen_.contains({node.callee.index, k});
          check(node.operands[k], field || guard || whole);
          if (node.kind == NodeKind::Apply) passed({node.callee.index, k}, node.operands[k]);
        }
        there[id.index] = true;
      }, [&](const Block& block) {
        for (uint32_t k = 0; k < block.yields.size(); ++k) {
          check(block.yields[k], block.again && chosen_.contains({f, k}));
          if (block.again) passed({f, k}, block.yields[k]);
        }
      });
    });
    return chosen_.size() != before;
  }

  // There and back until nothing changes: what goes from one function to the next in a long row is found on the way.
  template <typename Pass>
  static void Repeat(Pass pass) {
    for (bool backwards = false; pass(backwards); backwards = !backwards) {}
  }
  template <typename Visit>
  void ForEachFunction(bool backwards, Visit visit) const {
    auto count = static_cast<uint32_t>(p_.functions.size());
    for (uint32_t i = 0; i < count; ++i) visit(backwards ? count - 1 - i : i);
  }

  // Of which fields some function reads the value, where others may take a reference.
  void FindValues() {
    values_.clear();
    for (uint32_t f = 0; f < p_.functions.size(); ++f)
      for (const Node& node : p_.functions[FunctionId(f)].nodes)
        if (node.kind == NodeKind::Op && node.op == ir::Op::Field && !node.results[0].lazy)
          if (const Parameter* parameter = ChosenAt(f, node.operands[0])) values_.insert({*parameter, node.attr & 0xffff});
    // What is passed on to one that reads values has them.
    Repeat([&](bool backwards) {
      size_t before = values_.size();
      ForEachFunction(backwards, [&](uint32_t f) {
        ForEachArgument(f, [&](Parameter parameter, Value argument) {
          const Parameter* own = ChosenAt(f, argument);
          if (!own || !chosen_.contains(parameter)) return;
          for (uint32_t k = 0; k < FieldsOf(parameter).size(); ++k)
            if (values_.contains({parameter, k})) values_.insert({*own, k});
        });
      });
      return values_.size() != before;
    });
  }

  ir::PortType PartType(Parameter parameter, uint32_t field) const {
    ir::PortType type = FieldsOf(parameter)[field].type;
    if (values_.contains({parameter, field})) type.lazy = false;
    return type;
  }

  bool CanTakeApart(const Function& function, uint32_t f, Parameter parameter, Value argument, const std::vector<bool>& there) const {
    if (const Parameter* own = ChosenAt(f, argument)) {
      for (uint32_t k = 0; k < FieldsOf(parameter).size(); ++k)
        if (PartType(*own, k).lazy && !PartType(parameter, k).lazy) return false;
      return true;
    }
    bool guarded = false;
    const Node* node = &function.nodes[argument.node];
    if (!there[argument.node.index]) return false;  // a knot
    if (!MadeBy(function, argument)) return true;
    for (; node->op == ir::Op::Seq; node = &function.nodes[node->operands[1].node]) guarded = true;
    for (uint32_t k = 0; k < node->operands.size(); ++k) {
      if (!there[node->operands[k].node.index]) return false;
      bool lazy = function.TypeOf(node->operands[k]).lazy;
      if (lazy && (guarded || !PartType(parameter, k).lazy)) return false;
    }
    return true;
  }

  // No constructor may be made only to be taken apart elsewhere: either all calls pass one that is seen where they stand, or at least the
  // function itself does, and who calls it from outside takes one apart.
  void DropUnrewarding() {
    std::set<Parameter> made, own, unseen, own_unseen;
    for (uint32_t f = 0; f < p_.functions.size(); ++f)
      ForEachArgument(f, [&](Parameter parameter, Value argument) {
        if (!chosen_.contains(parameter)) return;
        bool self = parameter.first == f;
        if (MadeBy(p_.functions[FunctionId(f)], argument)) {
          made.insert(parameter);
          if (self) own.insert(parameter);
        } else if (const Parameter* passed = ChosenAt(f, argument); !passed || (self && *passed != parameter)) {
          unseen.insert(parameter);
          if (self) own_unseen.insert(parameter);
        }
      });
    std::set<Parameter> kept;
    for (const Parameter& parameter : chosen_) {
      bool everywhere = made.contains(parameter) && !unseen.contains(parameter);
      if (everywhere || (own.contains(parameter) && !own_unseen.contains(parameter))) kept.insert(parameter);
    }
    std::map<uint32_t, size_t> parts;
    for (const Parameter& parameter : kept) parts[parameter.first] += FieldsOf(parameter).size() + 1;
    std::erase_if(kept, [&](const Parameter& parameter) {
      return parts[parameter.first] + p_.functions[FunctionId(parameter.first)].params.size() > kMostParameters;
    });
    chosen_ = std::move(kept);
    DropAllUnfit();  // what was passed to one that is not chosen any more
  }

  // Which never fail: what is passed is a constructor without strict fields, or another of these.
  void FindSure() {
    sure_ = chosen_;
    Repeat([&](bool backwards) {
      size_t before = sure_.size();
      ForEachFunction(backwards, [&](uint32_t f) {
        ForEachArgument(f, [&](Parameter parameter, Value argument) {
          if (sure_.contains(parameter) && !IsSure(f, argument)) sure_.erase(parameter);
        });
      });
      return sure_.size() != before;
    });
  }
  bool IsSure(uint32_t f, Value value) const {
    if (const Parameter* own = ChosenAt(f, value)) return sure_.contains(*own);
    const Function& function = p_.functions[FunctionId(f)];
    const Node& node = function.nodes[value.node];
    if (node.kind != NodeKind::Op) return false;
    if (node.op == ir::Op::Seq) return IsSure(f, node.operands[0]) && IsSure(f, node.operands[1]);
    return node.op == ir::Op::Construct &&
           llvm::none_of(p_.types[node.results[0].type].constructors[node.attr].fields, [](const ir::FieldType& field) { return field.strict; });
  }

  // The Construct that an argument is, under any guards; null: it is not seen.
  static const Node* MadeBy(const Function& function, Value argument) {
    const Node* node = &function.nodes[argument.node];
    while (node->kind == NodeKind::Op && node->op == ir::Op::Seq) node = &function.nodes[node->operands[1].node];
    return node->kind == NodeKind::Op && node->op == ir::Op::Construct ? node : nullptr;
  }

  llvm::ArrayRef<ir::FieldType> FieldsOf(Parameter parameter) const {
    return p_.types[p_.functions[FunctionId(parameter.first)].params[parameter.second].type.type].constructors[0].fields;
  }

  template <typename Nodes, typename Blocks>
  static void ForEachNode(const Function& function, BlockId id, Nodes nodes, Blocks blocks) {
    for (NodeId node : function.blocks[id].nodes) {
      nodes(node);
      for (BlockId inner : function.nodes[node].blocks) ForEachNode(function, inner, nodes, blocks);
    }
    blocks(function.blocks[id]);
  }
  template <typename Visit>
  void ForEachArgument(uint32_t f, Visit visit) const {
    const Function& function = p_.functions[FunctionId(f)];
    ForEachNode(function, function.body, [&](NodeId id) {
      const Node& node = function.nodes[id];
      if (node.kind != NodeKind::Apply) return;
      for (uint32_t k = 0; k < node.operands.size(); ++k) visit({node.callee.index, k}, node.operands[k]);
    }, [&](const Block& block) {
      if (!block.again) return;
      for (uint32_t k = 0; k < block.yields.size(); ++k) visit({f, k}, block.yields[k]);
    });
  }

  // ---------------------------------------------------------------- in parts

  // Of a parameter that is chosen: the unit, then its fields.
  struct Parts {
    Value whole;
    std::vector<Value> fields;
  };

  // New parameters, and nodes for them, behind the others; the old ones stay for now.
  void Split(FunctionId id) {
    CheckBudget();
    Function& function = p_.functions[id];
    uint32_t count = static_cast<uint32_t>(function.params.size());
    for (uint32_t i = 0; i < count; ++i) {
      if (!chosen_.contains({id.index, i})) continue;
      auto add = [&](std::string name, ir::PortType type) {
        Node param;
        param.kind = NodeKind::Param;
        param.attr = static_cast<uint32_t>(function.params.size());
        param.results = {type};
        param.name = name;
        function.params.push_back({std::move(name), type});
        NodeId made = function.nodes.Add(std::move(param));
        std::vector<NodeId>& nodes = function.blocks[function.body].nodes;
        auto behind = llvm::find_if(nodes, [&](NodeId at) { return function.nodes[at].kind != NodeKind::Param; });
        nodes.insert(behind, made);
        return Value{made, 0};
      };
      Parts parts;
      std::string name = function.params[i].name;
      llvm::ArrayRef<ir::FieldType> fields = FieldsOf({id.index, i});
      parts.whole = add(name, {p_.types.Builtin(ir::TypeKind::Unit)});
      for (uint32_t k = 0; k < fields.size(); ++k)
        parts.fields.push_back(add(fields[k].name.empty() ? name + "." + std::to_string(k) : fields[k].name, PartType({id.index, i}, k)));
      parts_[{id.index, i}] = std::move(parts);
    }
  }

  // Calls pass parts behind the other arguments.
  void PassParts(FunctionId id) {
    Function& function = p_.functions[id];
    PassIn(function, id, function.body);
  }
  void PassIn(Function& function, FunctionId id, BlockId block) {
    std::vector<NodeId> nodes;
    for (NodeId at : std::vector<NodeId>(function.blocks[block].nodes)) {
      for (BlockId inner : llvm::SmallVector<BlockId, 2>(function.nodes[at].blocks)) PassIn(function, id, inner);
      if (function.nodes[at].kind == NodeKind::Apply) {
        FunctionId callee = function.nodes[at].callee;
        llvm::SmallVector<Value, 4> operands = function.nodes[at].operands;
        AddParts(function, id, callee, operands, nodes);
        function.nodes[at].operands = std::move(operands);
      }
      nodes.push_back(at);
    }
    if (function.blocks[block].again) {
      std::vector<Value> yields = function.blocks[block].yields;
      AddParts(function, id, id, yields, nodes);
      function.blocks[block].yields = std::move(yields);
    }
    function.blocks[block].nodes = std::move(nodes);
  }

  template <typename List>
  void AddParts(Function& function, FunctionId id, FunctionId callee, List& arguments, std::vector<NodeId>& nodes) {
    CheckBudget();
    auto count = static_cast<uint32_t>(arguments.size());
    for (uint32_t i = 0; i < count; ++i) {
      auto it = parts_.find({callee.index, i});
      if (it == parts_.end()) continue;
      Parts parts = PartsOf(function, id, arguments[i], {callee.index, i}, nodes);
      arguments.push_back(parts.whole);
      for (Value field : parts.fields) arguments.push_back(field);
    }
  }

  Value Add(Function& function, std::vector<NodeId>& nodes, Node node, ir::PosId pos) {
    node.pos = pos;
    NodeId id = function.nodes.Add(std::move(node));
    nodes.push_back(id);
    return {id, 0};
  }
  Value Unit(Function& function, std::vector<NodeId>& nodes, ir::PosId pos) {
    if (!unit_.valid()) {
      ir::Constant constant{p_.types.Builtin(ir::TypeKind::Unit), 0, ""};
      unit_ = p_.constants.Add(std::move(constant));
    }
    return Add(function, nodes, OpNode(ir::Op::Const, {}, {p_.types.Builtin(ir::TypeKind::Unit)}, unit_.index), pos);
  }
  Value Seq(Function& function, std::vector<NodeId>& nodes, Value first, Value second, ir::PosId pos) {
    const Node &sure = function.nodes[first.node], &unit = function.nodes[second.node];
    if (sure.kind == NodeKind::Op && sure.op == ir::Op::Const) return second;
    if (unit.kind == NodeKind::Op && unit.op == ir::Op::Const && function.TypeOf(first) == function.TypeOf(second)) return first;
    return Add(function, nodes, OpNode(ir::Op::Seq, {first, second}, function.TypeOf(second)), pos);
  }

  Parts PartsOf(Function& function, FunctionId id, Value argument, Parameter parameter, std::vector<NodeId>& nodes) {
    const Node node = function.nodes[argument.node];
    ir::PosId pos = node.pos;
    if (const Parameter* own = ChosenAt(id.index, argument)) return parts_.at(*own);
    llvm::ArrayRef<ir::FieldType> fields = FieldsOf(parameter);
    Parts parts;
    if (node.kind == NodeKind::Op && node.op == ir::Op::Seq && MadeBy(function, argument)) {
      if (IsSure(id.index, node.operands[0])) return PartsOf(function, id, node.operands[1], parameter, nodes);
      Parts inner = PartsOf(function, id, node.operands[1], parameter, nodes);
      parts.whole = Seq(function, nodes, node.operands[0], inner.whole, pos);
      for (Value field : inner.fields) parts.fields.push_back(Seq(function, nodes, node.operands[0], field, pos));
      return parts;
    }
    if (node.kind == NodeKind::Op && node.op == ir::Op::Construct) {
      // The first strict field that fails is what all of it is.
      parts.whole = Unit(function, nodes, pos);
      for (uint32_t k = static_cast<uint32_t>(fields.size()); k-- > 0;)
        if (fields[k].strict) parts.whole = Seq(function, nodes, node.operands[k], parts.whole, pos);
      size_t strict = llvm::count_if(fields, [](const ir::FieldType& field) { return field.strict; });
      for (uint32_t k = 0; k < fields.size(); ++k) {
        bool guarded = strict > (fields[k].strict ? 1u : 0u);
        parts.fields.push_back(guarded ? Seq(function, nodes, parts.whole, node.operands[k], pos) : node.operands[k]);
      }
      return parts;
    }
    parts.whole = Seq(function, nodes, argument, Unit(function, nodes, pos), pos);
    for (uint32_t k = 0; k < fields.size(); ++k)
      parts.fields.push_back(Add(function, nodes, OpNode(ir::Op::Field, {argument}, PartType(parameter, k), k), pos));
    return parts;
  }

  // Fields and guards of what came as a whole are those of its parts.
  void TakeParts(FunctionId id) {
    Function& function = p_.functions[id];
    std::map<Value, Value> instead;
    for (uint32_t n = 0; n < function.nodes.size(); ++n) {
      Node& node = function.nodes[NodeId(n)];
      if (node.kind != NodeKind::Op || (node.op != ir::Op::Field && node.op != ir::Op::Seq)) continue;
      const Parameter* parameter = ChosenAt(id.index, node.operands[0]);
      if (!parameter) continue;
      const Parts& parts = parts_.at(*parameter);
      if (node.op == ir::Op::Seq && sure_.contains(*parameter)) instead[{NodeId(n), 0}] = node.operands[1];
      else if (node.op == ir::Op::Seq) node.operands[0] = parts.whole;
      else instead[{NodeId(n), 0}] = parts.fields[node.attr & 0xffff];
    }
    if (instead.empty()) return;
    auto replace = [&](Value& value) {
      for (auto it = instead.find(value); it != instead.end(); it = instead.find(value)) value = it->second;
    };
    for (Node& node : function.nodes)
      for (Value& operand : node.operands) replace(operand);
    for (Block& block : function.blocks)
      for (Value& value : block.yields) replace(value);
  }

  Program& p_;
  std::set<Parameter> chosen_, sure_;
  std::set<std::pair<Parameter, uint32_t>> values_;  // with the number of a field
  std::map<Parameter, Parts> parts_;
  ir::ConstId unit_;
};

}  // namespace

void UnboxParameters(Program& program) {
  for (int round = 0; round < kMostRounds && Unboxer(program).Run(); ++round) Prune(program, true);
}

}  // namespace df::fg
