// See split_types.h.
//
// By hand, of `main = go 0` with `go i = l : go (i + 1) where l = sum [loss i k | k <- [1 .. 3]]`, where the inner list is not fused away:
// [Double] is main's, and has a number in its constructor. Each value of a type in which [Double] occurs has a variable that says which
// [Double] that is. Values that flow into each other share it: the result of `go` and main's are one, the argument of `sum` is another. So the
// latter's type becomes `Inner [Double]`. Of a pair of two lists both are one; a field has the variable of what it is taken from.
#include "lower/graph/split_types.h"

#include <map>

#include "lang/budget.h"
#include "llvm/ADT/BitVector.h"

namespace df::fg {
namespace {

using ir::Op;
using ir::PortType;
using ir::TypeId;
using ir::TypeKind;

class Splitter {
 public:
  explicit Splitter(Program& program) : p_(program) {}

  void Run() {
    FindOutside();
    if (numbers_.empty()) return;
    FindHeld();
    for (const Function& function : p_.functions) AddFunction(function);
    for (FunctionId f(0); f.index < p_.functions.size(); ++f.index) CollectFunction(f);
    const Function& main = p_.functions[p_.main];
    for (uint32_t i = 0; i < main.results.size(); ++i) Pin(main.results[i].type, results_[p_.main.index][i]);
    for (uint32_t i = 0; i < main.params.size(); ++i) Pin(main.params[i].type.type, params_[p_.main.index][i]);
    FindUses();
    ChangeTypes();
  }

 private:
  // ---------------------------------------------------------------- types

  template <typename Visit>
  void ForEachField(TypeId type, Visit visit) const {
    for (const ir::Constructor& constructor : p_.types[type].constructors)
      for (const ir::FieldType& field : constructor.fields) visit(field.type.type);
  }

  // The data types in what main takes and gives, and in constants; of these, those that have numbers as fields.
  void FindOutside() {
    std::vector<TypeId> work;
    const Function& main = p_.functions[p_.main];
    for (PortType result : main.results) work.push_back(result.type);
    for (const Param& param : main.params) work.push_back(param.type.type);
    for (const ir::Constant& constant : p_.constants) work.push_back(constant.type);
    outside_.resize(p_.types.size());
    while (!work.empty()) {
      TypeId type = work.back();
      work.pop_back();
      if (outside_[type.index]) continue;
      outside_.set(type.index);
      bool number = false;
      ForEachField(type, [&](TypeId field) {
        number |= p_.types.Kind(field) == TypeKind::Float || p_.types.Kind(field) == TypeKind::Double;
        work.push_back(field);
      });
      if (number) numbers_.push_back(type);
    }
  }

  // Of each type, which of `numbers_` are in it.
  void FindHeld() {
    held_.assign(p_.types.size(), llvm::BitVector(static_cast<unsigned>(numbers_.size())));
    for (unsigned i = 0; i < numbers_.size(); ++i) held_[numbers_[i].index].set(i);
    for (bool changed = true; changed;) {
      changed = false;
      for (TypeId type(0); type.index < p_.types.size(); ++type.index) {
        llvm::BitVector all = held_[type.index];
        ForEachField(type, [&](TypeId field) { all |= held_[field.index]; });
        changed |= all != held_[type.index];
        held_[type.index] = std::move(all);
      }
    }
  }

  // ---------------------------------------------------------------- variables

  // A value's first variable: it has one for each type that it holds.
  uint32_t Add(TypeId type) {
    uint32_t first = static_cast<uint32_t>(parents_.size());
    for (unsigned i = 0; i < held_[type.index].count(); ++i) parents_.push_back(first + i);
    pinned_.resize(parents_.size());
    return first;
  }
  void AddFunction(const Function& function) {
    std::vector<uint32_t>&params = params_.emplace_back(), &results = results_.emplace_back();
    for (const Param& param : function.params) params.push_back(Add(param.type.type));
    for (PortType result : function.results) results.push_back(Add(result.type));
    auto& nodes = nodes_.emplace_back();
    for (const Node& node : function.nodes) {
      nodes.emplace_back();
      for (PortType result : node.results) nodes.back().push_back(Add(result.type));
    }
  }
  uint32_t Find(uint32_t v) {
    while (parents_[v] != v) v = parents_[v] = parents_[parents_[v]];
    return v;
  }
  // What both hold is the same.
  void Unify(TypeId a, uint32_t va, TypeId b, uint32_t vb) {
    for (unsigned i = 0; i < numbers_.size(); ++i) {
      const bool in_a = held_[a.index].test(i), in_b = held_[b.index].test(i);
      if (in_a && in_b) {
        uint32_t x = Find(va), y = Find(vb);
        parents_[y] = x;
        if (pinned_[y]) pinned_.set(x);
      }
      va += in_a, vb += in_b;
    }
  }
  void Pin(TypeId type, uint32_t v) {
    for (unsigned i = 0; i < held_[type.index].count(); ++i) pinned_.set(Find(v + i));
  }
  llvm::BitVector InnerOf(TypeId type, uint32_t v) {
    llvm::BitVector inner(static_cast<unsigned>(numbers_.size()));
    for (unsigned i : held_[type.index].set_bits())
      if (!pinned_[Find(v++)]) inner.set(i);
    return inner;
  }

  // ---------------------------------------------------------------- flows

  TypeId TypeOf(FunctionId f, Value value) const { return p_.functions[f].TypeOf(value).type; }
  void Flow(FunctionId f, Value value, TypeId type, uint32_t to) {
    Unify(TypeOf(f, value), nodes_[f.index][value.node.index][value.result], type, to);
  }

  void CollectFunction(FunctionId f) {
    const Function& function = p_.functions[f];
    CollectBlock(f, function.body, function.results, results_[f.index]);
  }

  void CollectBlock(FunctionId f, BlockId id, llvm::ArrayRef<PortType> types, llvm::ArrayRef<uint32_t> results) {
    const Function& function = p_.functions[f];
    const Block& block = function.blocks[id];
    for (NodeId node : block.nodes) CollectNode(f, node);
    for (uint32_t i = 0; i < block.yields.size(); ++i) {
      if (block.again) Flow(f, block.yields[i], function.params[i].type.type, params_[f.index][i]);
      else Flow(f, block.yields[i], types[i].type, results[i]);
    }
  }

  void CollectNode(FunctionId f, NodeId id) {
    CheckBudget();
    const Function& function = p_.functions[f];
    const Node& node = function.nodes[id];
    llvm::ArrayRef<uint32_t> own = nodes_[f.index][id.index];
    switch (node.kind) {
      case NodeKind::Param: return Unify(node.results[0].type, own[0], function.params[node.attr].type.type, params_[f.index][node.attr]);
      case NodeKind::Diff: return;
      case NodeKind::Op: return CollectOp(f, node, own);
      case NodeKind::Apply:
      case NodeKind::Delay: {
        const Function& callee = p_.functions[node.callee];
        for (uint32_t k = 0; k < node.operands.size(); ++k)
          Flow(f, node.operands[k], callee.params[k].type.type, params_[node.callee.index][k]);
        for (uint32_t r = 0; r < node.results.size(); ++r)
          Unify(node.results[r].type, own[r], callee.results[r].type, results_[node.callee.index][r]);
        return;
      }
      case NodeKind::Branch:
        for (BlockId block : node.blocks) CollectBlock(f, block, node.results, own);
        return;
    }
  }

  void CollectOp(FunctionId f, const Node& node, llvm::ArrayRef<uint32_t> own) {
    switch (node.op) {
      case Op::Construct:
        for (Value operand : node.operands) Flow(f, operand, node.results[0].type, own[0]);
        return;
      case Op::Field:
      case Op::Force: return Flow(f, node.operands[0], node.results[0].type, own[0]);
      case Op::Seq: return Flow(f, node.operands[1], node.results[0].type, own[0]);
      case Op::Fail:
      case Op::Match: return;
      default: break;
    }
    // Constants, and what goes through a table of activations.
    for (uint32_t r = 0; r < node.results.size(); ++r) Pin(node.results[r].type, own[r]);
    for (Value operand : node.operands) Pin(TypeOf(f, operand), nodes_[f.index][operand.node.index][operand.result]);
  }

  // ---------------------------------------------------------------- new types

  template <typename Visit>
  void ForEachValue(Visit visit) {
    for (uint32_t f = 0; f < p_.functions.size(); ++f) {
      Function& function = p_.functions[FunctionId(f)];
      for (uint32_t i = 0; i < function.params.size(); ++i) visit(function.params[i].type.type, params_[f][i]);
      for (uint32_t i = 0; i < function.results.size(); ++i) visit(function.results[i].type, results_[f][i]);
      for (uint32_t n = 0; n < nodes_[f].size(); ++n) {
        Node& node = function.nodes[NodeId(n)];
        for (uint32_t r = 0; r < node.results.size(); ++r) visit(node.results[r].type, nodes_[f][n][r]);
      }
    }
  }

  // A type that main has no part in, and that holds the same in all its values, needs no copy.
  void FindUses() {
    llvm::BitVector several(p_.types.size());
    ForEachValue([&](TypeId& type, uint32_t v) {
      if (held_[type.index].none() || outside_[type.index]) return;
      auto [it, fresh] = only_.try_emplace(type, InnerOf(type, v));
      if (!fresh && it->second != InnerOf(type, v)) several.set(type.index);
    });
    for (unsigned type : several.set_bits()) only_.erase(TypeId(type));
  }

  TypeId Inner(TypeId type, llvm::BitVector inner) {
    if (type.index >= held_.size()) return type;  // a copy
    inner &= held_[type.index];
    if (inner.none()) return type;
    std::vector<unsigned> key(inner.set_bits_begin(), inner.set_bits_end());
    auto [it, fresh] = made_.try_emplace({type, key}, type);
    if (!fresh) return it->second;
    auto only = only_.find(type);
    TypeId made = type;
    if (only == only_.end() || only->second != inner) {
      std::string name = "Inner " + p_.types[type].name;
      while (p_.types.Find(name).valid()) name += "'";
      made = p_.types.AddData(name);
    }
    it->second = made;
    std::vector<ir::Constructor> constructors = p_.types[type].constructors;
    for (ir::Constructor& constructor : constructors)
      for (ir::FieldType& field : constructor.fields) field.type.type = Inner(field.type.type, inner);
    p_.types[made].constructors = std::move(constructors);
    return made;
  }

  void ChangeTypes() {
    ForEachValue([&](TypeId& type, uint32_t v) {
      if (held_[type.index].any()) type = Inner(type, InnerOf(type, v));
    });
  }

  Program& p_;
  llvm::BitVector outside_;              // types in what main takes and gives
  std::vector<TypeId> numbers_;          // of these, with numbers as fields
  std::vector<llvm::BitVector> held_;    // by type
  std::vector<uint32_t> parents_;        // a union-find forest
  llvm::BitVector pinned_;               // of a tree's root: what is in it is seen from outside
  std::vector<std::vector<uint32_t>> params_, results_;           // by function: first variables
  std::vector<std::vector<llvm::SmallVector<uint32_t, 1>>> nodes_;
  std::map<TypeId, llvm::BitVector> only_;                        // what all values of a type have inside
  std::map<std::pair<TypeId, std::vector<unsigned>>, TypeId> made_;
};

}  // namespace

void SplitTypes(Program& program) { Splitter(program).Run(); }

}  // namespace df::fg
