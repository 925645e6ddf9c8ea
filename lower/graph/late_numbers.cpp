// See late_numbers.h.
//
// Each value of type Float, Double, Int or Bool is a variable: the results of nodes, the results of functions, the fields of data types.
// Late are the variables of ops that make a number of a tensor, and whatever those flow into; that is one pass along the flows.
// Where a type has to be the same on both sides (a call's result and its callee's; two lazy ports, between which nothing can be
// computed) the variables are one. Where a late number meets what is not late, an Expand or a GetElement is put between.
//
// Most Ints and Bools of a program have nothing to do with tensors: so an argument, a result or a field of these types is late only if constants
// are all else that it may be. And it gets somewhere only if it is added up, by a loop or a recursion, or becomes part of a tensor: what a function
// gives to its caller alone would be read there. A branch on a late Bool that chooses between numbers (choice.h) becomes Wheres.
#include "lower/graph/late_numbers.h"

#include <map>
#include <set>

#include "lang/budget.h"
#include "lang/components.h"
#include "llvm/ADT/STLExtras.h"
#include "lower/graph/choice.h"
#include "tagged_ir/tensor_rules.h"
#include "tagged_ir/tensor_type.h"

namespace df::fg {
namespace {

using ir::Op;
using ir::PortType;
using ir::TypeId;
using ir::TypeKind;

// Each may take so many Ints from late to not late; then all of them are.
constexpr size_t kRounds = 16;

class LateNumbers {
 public:
  explicit LateNumbers(Program& program) : p_(program) {}

  void Run() {
    MakeVariables();
    PinInterface();
    for (FunctionId f(0); f.index < p_.functions.size(); ++f.index) CollectFunction(f);
    if (!Solve()) return;
    for (FunctionId f(0); f.index < p_.functions.size(); ++f.index) RewriteFunction(f);
    ChangeTypes();
  }

 private:
  // A set of values that have one type. As a parent it is a union-find tree.
  struct Variable {
    uint32_t parent = 0;
    bool number = false;  // of a type that tensors' elements have
    bool whole = false;   // Int or Bool
    bool constant = false;
    bool pinned = false;  // seen from outside: stays a number
    bool source = false;  // an op on a tensor gives it
    bool local = false;   // an op gives it, in a block
    bool taken = false;   // by an op that takes a late number as well
    bool cyclic = false;  // it flows into itself
    bool useful = false;  // as a late number it would get somewhere else
    bool late = false;
  };

  // ---------------------------------------------------------------- variables

  static bool IsWhole(TypeKind kind) { return kind == TypeKind::Int || kind == TypeKind::Bool; }
  uint32_t Add(TypeId type) {
    uint32_t id = static_cast<uint32_t>(variables_.size());
    TypeKind kind = p_.types.Kind(type);
    variables_.push_back({.parent = id, .number = ir::IsElement(kind), .whole = IsWhole(kind)});
    return id;
  }
  bool IsChoice(FunctionId f, NodeId id) const { return choices_[f.index].count(id) > 0; }
  static bool PassesOn(Op op) { return op == Op::Construct || op == Op::Field || op == Op::Force || op == Op::Seq; }
  void MakeVariables() {
    auto next = [&] { return static_cast<uint32_t>(variables_.size()); };
    for (FunctionId f(0); f.index < p_.functions.size(); ++f.index) {
      const Function& function = p_.functions[f];
      results_.push_back(next());
      for (PortType result : function.results) Add(result.type);
      params_.push_back(next());
      for (const Param& param : function.params) Add(param.type.type);
      std::vector<uint32_t>& nodes = nodes_.emplace_back();
      choices_.push_back(FindChoices(p_, function));
      for (NodeId id(0); id.index < function.nodes.size(); ++id.index) {
        const Node& node = function.nodes[id];
        nodes.push_back(next());
        for (PortType result : node.results) Add(result.type);
        if (node.kind == NodeKind::Param) Unify(params_.back() + node.attr, nodes.back());
        if (IsChoice(f, id))
          for (uint32_t r = 0; r < node.results.size(); ++r) variables_[nodes.back() + r].local = true;
        if (node.kind != NodeKind::Op || PassesOn(node.op)) continue;
        variables_[nodes.back()].local = true;
        variables_[nodes.back()].constant = node.op == Op::Const;
        variables_[nodes.back()].source = variables_[nodes.back()].number && IsSource(function, node);
      }
    }
    for (TypeId t(0); t.index < p_.types.size(); ++t.index)
      for (uint32_t c = 0; c < p_.types[t].constructors.size(); ++c) {
        fields_[{t.index, c}] = next();
        for (const ir::FieldType& field : p_.types[t].constructors[c].fields) Add(field.type.type);
      }
  }
  uint32_t Find(uint32_t v) {
    while (variables_[v].parent != v) v = variables_[v].parent = variables_[variables_[v].parent].parent;
    return v;
  }
  Variable& At(uint32_t v) { return variables_[Find(v)]; }
  uint32_t VariableOf(FunctionId f, Value value) const { return nodes_[f.index][value.node.index] + value.result; }
  uint32_t ParamOf(FunctionId f, uint32_t param) const { return params_[f.index] + param; }
  uint32_t Field(TypeId type, uint32_t constructor, uint32_t field) const { return fields_.at({type.index, constructor}) + field; }

  void Unify(uint32_t a, uint32_t b) {
    a = Find(a), b = Find(b);
    if (a == b || !variables_[a].number) return;
    Variable &to = variables_[a], &from = variables_[b];
    from.parent = a;
    to.pinned |= from.pinned;
    to.source |= from.source;
    to.local &= from.local;
    to.taken |= from.taken;
  }
  // What one holds is what the other gets.
  void Flow(uint32_t from, uint32_t to) {
    if (variables_[from].number) flows_.push_back({from, to});
  }

  // What the program takes and gives keeps its type, and so do data types of constants.
  void PinInterface() {
    const Function& main = p_.functions[p_.main];
    for (uint32_t i = 0; i < main.results.size(); ++i) {
      At(results_[p_.main.index] + i).pinned = true;
      PinType(main.results[i].type);
    }
    for (uint32_t i = 0; i < main.params.size(); ++i) {
      At(params_[p_.main.index] + i).pinned = true;
      PinType(main.params[i].type.type);
    }
    for (const ir::Constant& constant : p_.constants) PinType(constant.type);
  }
  void PinType(TypeId type) {
    std::vector<TypeId> work = {type};
    while (!work.empty()) {
      TypeId at = work.back();
      work.pop_back();
      if (!pinned_types_.insert(at.index).second) continue;
      for (uint32_t c = 0; c < p_.types[at].constructors.size(); ++c)
        for (uint32_t k = 0; k < p_.types[at].constructors[c].fields.size(); ++k) {
          At(Field(at, c, k)).pinned = true;
          work.push_back(p_.types[at].constructors[c].fields[k].type.type);
        }
    }
  }

  // ---------------------------------------------------------------- flows

  void CollectFunction(FunctionId f) {
    const Function& function = p_.functions[f];
    std::vector<uint32_t> results;
    for (uint32_t i = 0; i < function.results.size(); ++i) results.push_back(results_[f.index] + i);
    CollectBlock(f, function.body, results, function.results);
  }

  void FlowInto(FunctionId f, Value value, uint32_t to, PortType type) {
    uint32_t from = VariableOf(f, value);
    if (type.lazy && p_.functions[f].TypeOf(value).lazy) Unify(from, to);
    else Flow(from, to);
  }

  void CollectBlock(FunctionId f, BlockId id, llvm::ArrayRef<uint32_t> results, llvm::ArrayRef<PortType> types) {
    const Function& function = p_.functions[f];
    const Block& block = function.blocks[id];
    for (NodeId node : block.nodes) CollectNode(f, node);
    for (uint32_t i = 0; i < block.yields.size(); ++i) {
      Value value = block.yields[i];
      if (block.again) {
        FlowInto(f, value, ParamOf(f, i), function.params[i].type);
      } else if (function.nodes[value.node].kind == NodeKind::Branch) {
        Unify(VariableOf(f, value), results[i]);  // perhaps in tail position, where nothing can stand behind it
      } else {
        FlowInto(f, value, results[i], types[i]);
      }
    }
  }

  void CollectNode(FunctionId f, NodeId id) {
    CheckBudget();
    const Function& function = p_.functions[f];
    const Node& node = function.nodes[id];
    uint32_t own = nodes_[f.index][id.index];
    switch (node.kind) {
      case NodeKind::Param:
      case NodeKind::Diff: return;
      case NodeKind::Op: return CollectOp(f, node, own);
      case NodeKind::Apply:
      case NodeKind::Delay:
        for (uint32_t k = 0; k < node.operands.size(); ++k)
          FlowInto(f, node.operands[k], ParamOf(node.callee, k), p_.functions[node.callee].params[k].type);
        for (uint32_t r = 0; r < node.results.size(); ++r) Unify(own + r, results_[node.callee.index] + r);
        return;
      case NodeKind::Branch: {
        std::vector<uint32_t> results;
        for (uint32_t r = 0; r < node.results.size(); ++r) results.push_back(own + r);
        for (BlockId block : node.blocks) CollectBlock(f, block, results, node.results);
        if (IsChoice(f, id))
          for (uint32_t result : results) Flow(VariableOf(f, node.operands[0]), result);
        return;
      }
    }
  }

  void CollectOp(FunctionId f, const Node& node, uint32_t own) {
    const Function& function = p_.functions[f];
    auto operand = [&](uint32_t k) { return VariableOf(f, node.operands[k]); };
    switch (node.op) {
      case Op::Construct:
        for (uint32_t k = 0; k < node.operands.size(); ++k)
          FlowInto(f, node.operands[k], Field(node.results[0].type, node.attr, k),
                   p_.types[node.results[0].type].constructors[node.attr].fields[k].type);
        return;
      case Op::Field: return Unify(own, Field(p_.functions[f].TypeOf(node.operands[0]).type, node.attr >> 16, node.attr & 0xffff));
      case Op::Force: return Unify(own, operand(0));
      case Op::Seq: return Unify(own, operand(1));
      default: break;
    }
    if (TakesLate(node)) At(operand(static_cast<uint32_t>(node.operands.size()) - 1)).taken = true;
    if (variables_[own].number && KeepsLate(function, node))
      for (uint32_t k = 0; k < node.operands.size(); ++k) Flow(operand(k), own);
  }

  // Ops on numbers that are ops on tensors as well. All operands have one type; that of the result may be another.
  bool KeepsLate(const Function& function, const Node& node) const {
    const ir::Late late = ir::FactsOf(node.op).late;
    if (late != ir::Late::KeptOfElements) return late == ir::Late::KeptLate;
    return llvm::all_of(node.operands, [&](Value v) { return ir::IsElement(p_.types.Kind(function.TypeOf(v).type)); }) &&
           (node.op != Op::Convert || p_.types.Kind(node.results[0].type) != TypeKind::Int);  // to Int is left to where it is looked at
  }

  // Ops whose last operand may be a number or a tensor without dimensions.
  bool TakesLate(const Node& node) const { return ir::FactsOf(node.op).late == ir::Late::TakenLate; }

  // A number of a tensor. Of elements only those of a tensor that is computed here: a loop over elements does best with numbers.
  // Whether a call is given the tensor that reads an element of it as well: both go through its elements, as `toList` does.
  bool IsReadOn(const Function& function, Value tensor) const {
    return llvm::any_of(function.nodes, [&](const Node& user) {
      if (user.kind != NodeKind::Apply && user.kind != NodeKind::Delay) return false;
      for (uint32_t i = 0; i < user.operands.size(); ++i)
        if (user.operands[i] == tensor && ReadsElement(p_.functions[user.callee], i)) return true;
      return false;
    });
  }
  static bool ReadsElement(const Function& function, uint32_t param) {
    return llvm::any_of(function.nodes, [&](const Node& node) {
      if (node.kind != NodeKind::Op || node.op != Op::GetElement) return false;
      const Node& from = function.nodes[node.operands[0].node];
      return from.kind == NodeKind::Param && from.attr == param;
    });
  }
  bool IsSource(const Function& function, const Node& node) const {
    switch (ir::FactsOf(node.op).late) {
      case ir::Late::MadeLate: return true;
      case ir::Late::ReadLate: {
        const Node& from = function.nodes[node.operands[0].node];
        if (from.kind != NodeKind::Op || ir::InfoOf(from.op).cls != ir::OpClass::Ordinary) return false;
        // Elements of tensors of Ints are boards, tables of choices and the like, of which single ones are looked at.
        if (IsWhole(p_.types.Kind(node.results[0].type)) && !p_.types[function.TypeOf(node.operands[0]).type].dims.empty()) return false;
        // What is made of numbers alone, as random tensors are, is computed at once.
        auto is_tensor = [&](Value v) { return p_.types.Kind(function.TypeOf(v).type) == TypeKind::Tensor; };
        if (llvm::none_of(from.operands, is_tensor) || IsReadOn(function, node.operands[0])) return false;
        return from.op != Op::Const && from.op != Op::Field && from.op != Op::Seq && from.op != Op::Fail && from.op != Op::SetElement;
      }
      case ir::Late::NotLate:
      case ir::Late::KeptLate:
      case ir::Late::KeptOfElements:
      case ir::Late::TakenLate: return false;
    }
    return false;
  }

  // ---------------------------------------------------------------- the solution

  // False if nothing is late.
  bool Solve() {
    onwards_.resize(variables_.size());
    backwards_.resize(variables_.size());
    for (auto [from, to] : flows_) {
      onwards_[Find(from)].push_back(Find(to));
      backwards_[Find(to)].push_back(Find(from));
    }
    for (const std::vector<uint32_t>& group : Components(onwards_))
      for (uint32_t v : group) variables_[v].cyclic = group.size() > 1 || llvm::is_contained(onwards_[v], v);
    for (size_t round = 0; FindLate(); ++round)
      if (!PinMixed(round >= kRounds)) return true;
    return false;
  }
  // Ints and Bools of which some are late and others are not: they stay what they are, and so may what they flow into. Whether there was any. `all`:
  // those that are late throughout as well.
  bool PinMixed(bool all) {
    bool any = false;
    for (auto [from, to] : flows_) {
      const Variable &x = At(from), &y = At(to);
      if (!y.late || !y.whole || y.local || y.pinned || (!all && (x.late || variables_[from].constant))) continue;
      At(to).pinned = any = true;
    }
    return any;
  }
  bool FindLate() {
    for (Variable& v : variables_) v.useful = v.late = false;
    auto spread = [&](auto begins, auto follow, bool Variable::*mark) {
      std::vector<uint32_t> work;
      auto reach = [&](uint32_t v) {
        if (variables_[v].*mark) return;
        variables_[v].*mark = true;
        work.push_back(v);
      };
      for (uint32_t v = 0; v < variables_.size(); ++v)
        if (Find(v) == v && variables_[v].number && !variables_[v].pinned && begins(variables_[v])) reach(v);
      while (!work.empty()) {
        uint32_t v = work.back();
        work.pop_back();
        for (uint32_t next : follow(v))
          if (!variables_[next].pinned) reach(next);
      }
    };
    spread([](const Variable& v) { return v.taken || (!v.local && (v.cyclic || !v.whole)); }, [&](uint32_t v) { return llvm::ArrayRef(backwards_[v]); },
           &Variable::useful);
    // An op's result that gets nowhere is read where it is used.
    auto useful = [&](uint32_t v) {
      std::vector<uint32_t> next;
      for (uint32_t to : onwards_[v])
        if (variables_[to].useful) next.push_back(to);
      return next;
    };
    spread([](const Variable& v) { return v.source && v.useful; }, useful, &Variable::late);
    return llvm::any_of(variables_, [](const Variable& v) { return v.late; });
  }
  bool IsLate(uint32_t v) { return At(v).late; }

  // ---------------------------------------------------------------- the graphs

  void RewriteFunction(FunctionId f) {
    f_ = f;
    emitted_.assign(p_.functions[f].nodes.size(), false);
    converted_.clear();
    behind_.clear();
    chosen_.clear();
    std::vector<uint32_t> results;
    for (uint32_t i = 0; i < p_.functions[f].results.size(); ++i) results.push_back(results_[f.index] + i);
    RewriteBlock(p_.functions[f].body, results);
    auto replace = [&](Value& value) {
      if (auto it = chosen_.find(value); it != chosen_.end()) value = it->second;
    };
    if (chosen_.empty()) return;
    for (Node& node : p_.functions[f].nodes) llvm::for_each(node.operands, replace);
    for (Block& block : p_.functions[f].blocks) llvm::for_each(block.yields, replace);
  }

  void RewriteBlock(BlockId id, llvm::ArrayRef<uint32_t> results) {
    std::vector<NodeId> out;
    RewriteNodes(id, std::move(p_.functions[f_].blocks[id].nodes), out);
    Block& block = p_.functions[f_].blocks[id];
    for (uint32_t i = 0; i < block.yields.size(); ++i)
      Meet(id, p_.functions[f_].blocks[id].yields[i], block.again ? ParamOf(f_, i) : results[i], block.pos, out);
    p_.functions[f_].blocks[id].nodes = std::move(out);
  }

  void RewriteNodes(BlockId block, const std::vector<NodeId>& nodes, std::vector<NodeId>& out) {
    for (NodeId node : nodes) {
      if (IsChosenLate(node)) {
        RewriteChoice(block, node, out);
      } else {
        RewriteNode(block, node, out);
        out.push_back(node);
      }
      emitted_[node.index] = true;
      for (auto it = behind_.lower_bound({node, 0}); it != behind_.end() && it->first.node == node; ++it)
        out.insert(out.end(), it->second.begin(), it->second.end());
    }
  }

  bool IsChosenLate(NodeId id) {
    if (!IsChoice(f_, id)) return false;
    const Node& node = p_.functions[f_].nodes[id];
    for (uint32_t r = 0; r < node.results.size(); ++r)
      if (!IsLate(nodes_[f_.index][id.index] + r)) return false;
    return IsLate(VariableOf(f_, node.operands[0]));
  }
  // Both sides stand where the branch stood.
  void RewriteChoice(BlockId block, NodeId id, std::vector<NodeId>& out) {
    const Node node = p_.functions[f_].nodes[id];
    for (BlockId side : node.blocks) RewriteNodes(block, std::move(p_.functions[f_].blocks[side].nodes), out);
    for (uint32_t r = 0; r < node.results.size(); ++r) {
      Value sides[2];
      for (size_t k : {0, 1}) {
        sides[k] = p_.functions[f_].blocks[node.blocks[k]].yields[r];
        Meet(block, sides[k], nodes_[f_.index][id.index] + r, node.pos, out);
      }
      chosen_[{id, r}] = Added(OpNode(Op::Where, {node.operands[0], sides[0], sides[1]}, {LateType(node.results[r].type), false}), node.pos, out);
    }
  }
  Value Added(Node node, ir::PosId pos, std::vector<NodeId>& to) {
    node.pos = pos;
    to.push_back(p_.functions[f_].nodes.Add(std::move(node)));
    return {to.back(), 0};
  }

  void RewriteNode(BlockId block, NodeId id, std::vector<NodeId>& out) {
    CheckBudget();
    // Nodes are added meanwhile, so that references to them do not last.
    Node node = p_.functions[f_].nodes[id];
    uint32_t own = nodes_[f_.index][id.index];
    if (node.kind == NodeKind::Branch) {
      std::vector<uint32_t> results;
      for (uint32_t r = 0; r < node.results.size(); ++r) results.push_back(own + r);
      for (BlockId inner : node.blocks) RewriteBlock(inner, results);
    }
    const bool keeps = node.kind == NodeKind::Op && KeepsLate(p_.functions[f_], node);
    for (uint32_t k = 0; k < node.operands.size(); ++k) {
      if (!variables_[VariableOf(f_, node.operands[k])].number) continue;
      if (node.kind == NodeKind::Apply || node.kind == NodeKind::Delay) {
        Meet(block, node.operands[k], ParamOf(node.callee, k), node.pos, out);
      } else if (node.op == Op::Construct) {
        Meet(block, node.operands[k], Field(node.results[0].type, node.attr, k), node.pos, out);
      } else if (keeps) {
        Meet(block, node.operands[k], own, node.pos, out);
      } else if (node.op != Op::Seq && node.op != Op::Force && !(TakesLate(node) && k + 1 == node.operands.size()) && IsLate(VariableOf(f_, node.operands[k]))) {
        node.operands[k] = Converted(block, node.operands[k], node.pos, out);
      }
    }
    if (node.op == Op::BoolToInt && keeps && IsLate(own)) {
      node.op = Op::Where;
      for (int64_t number : {1, 0}) node.operands.push_back(Number(number, LateType(node.results[0].type), node.pos, out));
    }
    Node& to = p_.functions[f_].nodes[id];
    to.op = node.op;
    to.operands = std::move(node.operands);
  }
  Value Number(int64_t number, TypeId type, ir::PosId pos, std::vector<NodeId>& to) {
    ir::Constant constant{p_.types.Builtin(TypeKind::Int), number, ""};
    if (type != constant.type) constant = {type, 0, Bytes(constant)};
    return Added(OpNode(Op::Const, {}, {type, false}, Constant(std::move(constant))), pos, to);
  }

  void Meet(BlockId block, Value& value, uint32_t to, ir::PosId pos, std::vector<NodeId>& out) {
    uint32_t from = VariableOf(f_, value);
    if (!variables_[from].number || IsLate(from) == IsLate(to)) return;
    value = Converted(block, value, pos, out);
  }

  // A number for a late one, or the other way round: in this block, or behind the value if that comes later.
  Value Converted(BlockId block, Value value, ir::PosId pos, std::vector<NodeId>& out) {
    bool later = !emitted_[value.node.index];
    auto [it, fresh] = converted_.try_emplace({later ? BlockId() : block, value});
    if (!fresh) return it->second;
    std::vector<NodeId>& to = later ? behind_[value] : out;
    auto add = [&](Op op, llvm::ArrayRef<Value> operands, TypeId type, uint32_t attr) { return Added(OpNode(op, operands, {type, false}, attr), pos, to); };
    const Node& from = p_.functions[f_].nodes[value.node];
    TypeId type = from.results[value.result].type;
    if (IsLate(VariableOf(f_, value)))
      it->second = add(Op::GetElement, {value, Number(0, p_.types.Builtin(TypeKind::Int), pos, to)}, type, 0);
    else if (from.kind == NodeKind::Op && from.op == Op::Const)
      it->second = add(Op::Const, {}, LateType(type), Constant({LateType(type), 0, Bytes(p_.constants[ir::ConstId(from.attr)])}));
    else
      it->second = add(Op::Expand, {value}, LateType(type), 0);
    return it->second;
  }

  uint32_t Constant(ir::Constant constant) { return p_.constants.Add(std::move(constant)).index; }
  // Of a number, as a tensor's element: little-endian.
  std::string Bytes(const ir::Constant& constant) const {
    std::string bytes;
    for (size_t i = 0; i < ir::ElementBytes(p_.types.Kind(constant.type)); ++i)
      bytes += static_cast<char>(static_cast<uint64_t>(constant.word) >> (8 * i));
    return bytes;
  }
  TypeId LateType(TypeId type) { return p_.types.Tensor(p_.types.Kind(type), {}); }

  void ChangeTypes() {
    auto change = [&](uint32_t v, PortType& type) {
      if (variables_[v].number && IsLate(v)) type.type = LateType(type.type);
    };
    for (uint32_t f = 0; f < p_.functions.size(); ++f) {
      Function& function = p_.functions[FunctionId(f)];
      for (uint32_t i = 0; i < function.params.size(); ++i) change(ParamOf(FunctionId(f), i), function.params[i].type);
      for (uint32_t i = 0; i < function.results.size(); ++i) change(results_[f] + i, function.results[i]);
      for (uint32_t n = 0; n < nodes_[f].size(); ++n) {
        Node& node = function.nodes[NodeId(n)];
        for (uint32_t r = 0; r < node.results.size(); ++r) change(nodes_[f][n] + r, node.results[r]);
      }
    }
    for (auto [place, first] : fields_) {
      auto fields = [&]() -> auto& { return p_.types[TypeId(place.first)].constructors[place.second].fields; };
      for (uint32_t k = 0; k < fields().size(); ++k) {
        PortType type = fields()[k].type;
        change(first + k, type);  // may add a type
        fields()[k].type = type;
      }
    }
  }

  Program& p_;
  std::vector<Variable> variables_;
  std::vector<std::vector<uint32_t>> nodes_;                   // by function and node: the first result's
  std::vector<uint32_t> results_, params_;                     // by function: the first one's
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> fields_;   // by type and constructor: the first field's
  std::set<uint32_t> pinned_types_;
  std::vector<std::pair<uint32_t, uint32_t>> flows_;
  std::vector<std::vector<uint32_t>> onwards_, backwards_;  // by variable
  std::vector<std::set<NodeId>> choices_;                       // by function
  // Of the function that is rewritten.
  FunctionId f_;
  std::vector<bool> emitted_;  // nodes that stand in a new block
  std::map<std::pair<BlockId, Value>, Value> converted_;
  std::map<Value, std::vector<NodeId>> behind_;  // conversions of values that come later
  std::map<Value, Value> chosen_;                // by the result of a branch that is no more: that of the Where
};

}  // namespace

void KeepNumbersLate(Program& program) { LateNumbers(program).Run(); }

}  // namespace df::fg
