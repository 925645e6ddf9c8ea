// See gradient/table.h. A body is copied twice, each time with the nodes that its side computes; for a body that is not cut,
// but calls some that are, the copy has all nodes, and each such call becomes one of the forward function, one of the gradient
// and a table for the two.
#include "lower/gradient/table.h"

#include <map>

#include "lower/gradient/cut.h"
#include "lower/gradient/errors.h"
#include "lower/gradient/writer.h"

namespace df::fg {
namespace {

enum class Side : uint8_t { Forward, Gradient, Whole };

// The forward function and the gradient of a body that is cut.
struct Halves {
  FunctionId forward, gradient;
};

// Numbers of entries and sites, the same on both sides; types of what is kept.
struct Shared {
  explicit Shared(Program& program) : p(program), cuts(program), table(program.types.Builtin(ir::TypeKind::Activations)) {}

  Program& p;
  Cuts cuts;
  ir::TypeId table;
  std::vector<Halves> halves;  // by function

  uint32_t Entry(FunctionId function, Value value) { return Number(entries_, {function.index, value.node.index, value.result}); }
  uint32_t Site(FunctionId function, NodeId call) { return Number(sites_, {function.index, call.index, 0}); }
  // Tables hold values. What may be a reference, or an error that nobody needs, is kept in a constructor's field.
  ir::TypeId Box(ir::TypeId type) {
    auto [it, fresh] = boxes_.try_emplace(type.index);
    if (!fresh) return it->second;
    std::string name = "kept# " + p.types[type].name;
    it->second = p.types.AddData(name);
    p.types[it->second].constructors = {{"kept#", {{{type, true}, false, ""}}}};
    return it->second;
  }

 private:
  using Key = std::tuple<uint32_t, uint32_t, uint32_t>;
  static uint32_t Number(std::map<Key, uint32_t>& numbers, Key key) {
    return numbers.try_emplace(key, static_cast<uint32_t>(numbers.size())).first->second;
  }
  std::map<Key, uint32_t> entries_, sites_;
  std::map<uint32_t, ir::TypeId> boxes_;
};

// The parameters and results of one side, in order: those of the body behind the table.
Function Signature(const Shared& shared, const Function& function, const Cut& cut, Side side) {
  bool gradient = side == Side::Gradient;
  Function made;
  made.name = function.name + (gradient ? ".gradient" : ".forward");
  made.pos = function.pos;
  made.paired = gradient;  // its nodes come in the order of the paired body
  made.delayed = function.delayed && !gradient;
  made.params.push_back({"table", {shared.table, false}});
  for (const Param& param : function.params)
    if (param.cotangent == gradient) made.params.push_back(param);
  for (uint32_t k = 0; k < function.results.size(); ++k)
    if (cut.cotangents[k] == gradient) made.results.push_back(function.results[k]);
  // The table comes back when everything is in it. What a Delay stands for has one result: that waits until then.
  if (!gradient && !made.delayed) made.results.push_back({shared.table, false});
  for (Param& param : made.params) param.cotangent = false;
  return made;
}

class SideBuilder {
 public:
  SideBuilder(Shared& shared, FunctionId id, const Function& from, const Cut* cut, Side side)
      : s_(shared), id_(id), from_(from), cut_(cut), side_(side), w_(shared.p, to_, from.pos) {}

  Function Run() {
    if (side_ == Side::Whole) {
      to_.name = from_.name;
      to_.params = from_.params;
      to_.results = from_.results;
      to_.pos = from_.pos;
      to_.delayed = from_.delayed;
      to_.paired = from_.paired;
    } else {
      to_ = Signature(s_, from_, *cut_, side_);
    }
    home_.resize(from_.nodes.size());
    for (uint32_t b = 0; b < from_.blocks.size(); ++b)
      for (NodeId node : from_.blocks[BlockId(b)].nodes) home_[node.index] = BlockId(b);
    if (cut_) {
      errors_.emplace(s_.p, from_, [&](uint32_t k) { return !cut_->cotangents[k]; });
      for (Value value : cut_->kept) kept_[home_[value.node.index].index].push_back(value);
    }
    to_.body = blocks_[from_.body.index] = to_.blocks.Add({});
    if (side_ != Side::Whole) {
      w_.block = to_.body;
      Node node;
      node.kind = NodeKind::Param;
      node.results = {{s_.table, false}};
      table_ = {w_.Add(std::move(node)), 0};
    }
    std::optional<Value> full = CopyBlock(from_.body);
    std::vector<Value> yields;
    for (uint32_t k = 0; k < from_.results.size() && !from_.blocks[from_.body].again; ++k)
      if (side_ == Side::Whole || cut_->cotangents[k] == (side_ == Side::Gradient))
        yields.push_back(Mapped(from_.blocks[from_.body].yields[k], from_.body));
    if (from_.blocks[from_.body].again)
      for (Value value : from_.blocks[from_.body].yields) yields.push_back(Mapped(value, from_.body));
    if (side_ == Side::Forward) {
      w_.block = to_.body;
      if (to_.delayed) yields[0] = full ? w_.Seq(*full, Late(yields[0], to_.results[0])) : yields[0];
      else yields.push_back(full ? *full : table_);
    }
    to_.blocks[to_.body].again = from_.blocks[from_.body].again;
    to_.blocks[to_.body].pos = from_.blocks[from_.body].pos;
    to_.blocks[to_.body].yields = std::move(yields);
    Resolve();
    return std::move(to_);
  }

 private:
  bool Needs(Value value) const {
    return side_ == Side::Whole || (side_ == Side::Forward ? cut_->forward : cut_->gradient).count(value);
  }
  bool Needs(NodeId id) const {
    for (uint32_t k = 0; k < from_.nodes[id].results.size(); ++k)
      if (Needs({id, k})) return true;
    return false;
  }

  // What stands for a value of the body; in `block`, if it is a cotangent of a Delay. Values of later nodes are not there yet:
  // a number that no node has stands for them until Resolve.
  Value Mapped(Value value, BlockId block) {
    const Node& node = from_.nodes[value.node];
    if (node.kind == NodeKind::Delay && s_.cuts.IsCutCall(node) && value.result > 0) return OfDelay(value, block);
    return {NodeId(kUnresolved + value.node.index), value.result};
  }
  // The same with a type that is known now, for helpers that ask for it.
  Value Late(Value value, PortType type) {
    if (value.node.index < kUnresolved) return value;
    Node node = OpNode(ir::Op::Seq, {}, type);  // `Seq of nothing` is replaced by what it stands for
    NodeId id = to_.nodes.Add(std::move(node));
    stands_for_[id.index] = value;
    return {id, 0};
  }
  void Resolve() {
    auto resolve = [&](Value& value) {
      for (;;) {
        if (auto it = stands_for_.find(value.node.index); it != stands_for_.end()) value = it->second;
        else if (value.node.index >= kPlace) value = places_.at(value.node.index - kPlace);
        else if (value.node.index >= kUnresolved) value = map_.at({NodeId(value.node.index - kUnresolved), value.result});
        else return;
      }
    };
    for (Node& node : to_.nodes)
      for (Value& operand : node.operands) resolve(operand);
    for (Block& block : to_.blocks)
      for (Value& yield : block.yields) resolve(yield);
  }

  // Copies what this side needs of a block. Forward: gives the table, once what is kept of the block is in it.
  std::optional<Value> CopyBlock(BlockId id) {
    BlockId outer = std::exchange(w_.block, blocks_.at(id.index));
    std::vector<Value> full;
    if (id == from_.body) CopyParams();
    w_.pos = from_.pos;
    if (side_ == Side::Gradient)
      for (Value value : kept_[id.index]) map_[value] = Get(value);
    for (NodeId node : from_.blocks[id].nodes) {
      if (from_.nodes[node].kind == NodeKind::Param || !Needs(node)) continue;
      w_.pos = from_.nodes[node].pos;
      CopyNode(node, id, full);
    }
    std::optional<Value> done;
    if (side_ == Side::Forward) {
      w_.pos = from_.pos;
      for (Value value : kept_[id.index]) done = Put(done ? *done : table_, value, id);
      for (Value part : full) done = done ? w_.Seq(part, *done) : w_.Seq(part, table_);
    }
    w_.block = outer;
    return done;
  }

  // Those of this side, behind the table. What only the gradient needs of a parameter is kept all the same.
  void CopyParams() {
    for (NodeId id : from_.blocks[from_.body].nodes) {
      if (from_.nodes[id].kind != NodeKind::Param) continue;
      Node copy = from_.nodes[id];
      if (side_ != Side::Whole) {
        auto is_here = [&](uint32_t i) { return from_.params[i].cotangent == (side_ == Side::Gradient); };
        if (!is_here(copy.attr)) continue;
        uint32_t before = 1;
        for (uint32_t i = 0; i < copy.attr; ++i) before += is_here(i);
        copy.attr = before;
      }
      map_[{id, 0}] = {w_.Add(std::move(copy)), 0};
    }
  }

  void CopyNode(NodeId id, BlockId block, std::vector<Value>& full) {
    const Node& node = from_.nodes[id];
    if (s_.cuts.IsCutCall(node)) return CopyCall(id, block, full);
    Node copy = node;
    for (Value& operand : copy.operands) operand = Mapped(operand, block);
    if (node.kind == NodeKind::Branch) return CopyBranch(id, std::move(copy), full);
    NodeId made = w_.Add(std::move(copy));
    for (uint32_t k = 0; k < node.results.size(); ++k) map_[{id, k}] = {made, k};
  }

  void CopyBranch(NodeId id, Node copy, std::vector<Value>& full) {
    const Node& node = from_.nodes[id];
    copy.blocks.clear();
    copy.results.clear();
    std::vector<uint32_t> kept;
    for (uint32_t k = 0; k < node.results.size(); ++k)
      if (Needs({id, k})) kept.push_back(k), copy.results.push_back(node.results[k]);
    std::vector<std::optional<Value>> tables;
    bool any = false;
    for (BlockId inner : node.blocks) {
      BlockId made = blocks_[inner.index] = to_.blocks.Add({});
      copy.blocks.push_back(made);
      tables.push_back(CopyBlock(inner));
      any |= tables.back().has_value();
      to_.blocks[made].again = from_.blocks[inner].again;
      to_.blocks[made].pos = from_.blocks[inner].pos;
      std::vector<Value> yields;
      if (from_.blocks[inner].again) {
        for (Value value : from_.blocks[inner].yields) yields.push_back(Mapped(value, inner));
      } else {
        for (uint32_t k : kept) yields.push_back(Mapped(from_.blocks[inner].yields[k], inner));
      }
      to_.blocks[made].yields = std::move(yields);
    }
    if (any) {
      copy.results.push_back({s_.table, false});
      for (size_t k = 0; k < tables.size(); ++k) to_.blocks[copy.blocks[k]].yields.push_back(tables[k] ? *tables[k] : table_);
    }
    NodeId made = w_.Add(std::move(copy));
    for (uint32_t k = 0; k < kept.size(); ++k) map_[{id, kept[k]}] = {made, k};
    if (any) full.push_back({made, static_cast<uint32_t>(kept.size())});
  }

  // A call or Delay of a function that is cut, or the part of it that this side has.
  void CopyCall(NodeId id, BlockId block, std::vector<Value>& full) {
    const Node& node = from_.nodes[id];
    bool delay = node.kind == NodeKind::Delay;
    bool values = side_ != Side::Gradient || !s_.cuts.CallsValues(cut_->forward, id, node);
    bool gradient = side_ == Side::Whole || s_.cuts.CallsGradient(side_ == Side::Forward ? cut_->forward : cut_->gradient, id, node);
    // The other side goes on with it, perhaps for other cotangents than are computed on this one.
    bool shared = side_ == Side::Gradient ? !values : side_ == Side::Forward && s_.cuts.CallsGradient(cut_->gradient, id, node);
    Value place = shared ? w_.Op(ir::Op::TableAt, table_, s_.table, s_.Site(id_, id)) : w_.Op(ir::Op::NewTable, w_.Unit(), s_.table);
    if (values) {
      Value done = CallForward(id, block, place);
      if (shared && !delay) full.push_back(done);
      if (gradient && !delay) place = w_.Seq(done, place);
    }
    places_[id.index] = place;
    if (gradient && !delay) CallGradient(id, block, place);
  }

  // Gives what is there when the table is full.
  Value CallForward(NodeId id, BlockId block, Value place) {
    const Node& node = from_.nodes[id];
    Node call = node;
    call.callee = s_.halves[node.callee.index].forward;
    call.operands = {place};
    call.results.clear();
    const Function& callee = s_.p.functions[node.callee];
    for (uint32_t i = 0; i < node.operands.size(); ++i)
      if (!callee.params[i].cotangent) call.operands.push_back(Mapped(node.operands[i], block));
    std::vector<uint32_t> values;
    for (uint32_t k = 0; k < node.results.size(); ++k)
      if (!s_.cuts.Of(node.callee)->cotangents[k]) values.push_back(k), call.results.push_back(node.results[k]);
    if (!callee.delayed) call.results.push_back({s_.table, false});
    auto last = static_cast<uint32_t>(call.results.size()) - 1;
    NodeId made = w_.Add(std::move(call));
    for (uint32_t k = 0; k < values.size(); ++k) map_[{id, values[k]}] = {made, k};
    return {made, last};
  }

  // The call of the gradient with this place, in the current block; its results stand for the cotangents if it is an Apply.
  NodeId CallGradient(NodeId id, BlockId block, Value place) {
    const Node& node = from_.nodes[id];
    const Cut& cut = *s_.cuts.Of(node.callee);
    Node call;
    call.kind = NodeKind::Apply;
    call.callee = s_.halves[node.callee.index].gradient;
    call.pos = node.pos;
    call.operands = {place};
    const Function& callee = s_.p.functions[node.callee];
    for (uint32_t i = 0; i < node.operands.size(); ++i)
      if (callee.params[i].cotangent) call.operands.push_back(Mapped(node.operands[i], block));
    for (uint32_t k = 0; k < node.results.size(); ++k)
      if (cut.cotangents[k]) call.results.push_back(node.results[k]);
    NodeId made = w_.Add(std::move(call));
    if (node.kind == NodeKind::Apply)
      for (uint32_t k = 0, next = 0; k < node.results.size(); ++k)
        if (cut.cotangents[k]) map_[{id, k}] = {made, next++};
    return made;
  }

  // A cotangent that comes back from a delayed expression: its gradient is called in the block that asks, where the expression
  // has surely been forced.
  Value OfDelay(Value value, BlockId block) {
    const Node& node = from_.nodes[value.node];
    auto [it, fresh] = delayed_.try_emplace({value.node.index, block.index});
    if (fresh) {
      BlockId outer = std::exchange(w_.block, blocks_.at(block.index));
      PortType type = node.results[0];
      Value forced = w_.Op(ir::Op::Force, Late(Mapped({value.node, 0}, block), type), type.type);
      Value place = w_.Seq(forced, Late({NodeId(kPlace + value.node.index), 0}, {s_.table, false}));
      it->second = CallGradient(value.node, block, place);
      w_.block = outer;
    }
    uint32_t result = 0;
    for (uint32_t k = 0; k < value.result; ++k) result += s_.cuts.Of(node.callee)->cotangents[k];
    return {it->second, result};
  }

  // The type of a kept value, which is lazy if the table is not to look at it.
  PortType Kept(Value value) const {
    PortType type = from_.TypeOf(value);
    type.lazy |= errors_->MayBe(value);
    return type;
  }
  Value Put(Value table, Value value, BlockId block) {
    PortType type = Kept(value);
    Value kept = Mapped(value, block);
    if (type.lazy) kept = w_.Construct(s_.Box(type.type), 0, kept);
    return w_.Op(ir::Op::TablePut, {table, kept}, s_.table, s_.Entry(id_, value));
  }
  Value Get(Value value) {
    PortType type = Kept(value);
    ir::TypeId held = type.lazy ? s_.Box(type.type) : type.type;
    Value kept = w_.Op(ir::Op::TableGet, table_, held, s_.Entry(id_, value));
    if (!type.lazy) return kept;
    kept = w_.Field(kept, 0, 0);
    return from_.TypeOf(value).lazy ? kept : w_.Forced(kept);
  }

  // Numbers of nodes that are still to come: of a node of the body, and of the table's place for a Delay.
  static constexpr uint32_t kUnresolved = 1u << 30, kPlace = 3u << 29;

  Shared& s_;
  const FunctionId id_;
  const Function& from_;
  const Cut* cut_;
  const Side side_;
  Function to_;
  Writer w_;
  Value table_;
  std::optional<UnneededErrors> errors_;             // that the forward pass may have
  std::vector<BlockId> home_;                        // of each node of the body
  std::map<uint32_t, std::vector<Value>> kept_;      // by block
  std::map<uint32_t, BlockId> blocks_;
  std::map<Value, Value> map_;
  std::map<uint32_t, Value> places_;                 // by call: the table's place for it
  std::map<uint32_t, Value> stands_for_;
  std::map<std::pair<uint32_t, uint32_t>, NodeId> delayed_;  // by Delay and block: the call of its gradient
};

}  // namespace

void KeepActivationsInTables(Program& program) {
  Shared shared(program);
  uint32_t count = program.functions.size();
  for (uint32_t f = 0; f < count; ++f) {
    const Cut* cut = shared.cuts.Of(FunctionId(f));
    shared.halves.emplace_back();
    if (!cut) continue;
    shared.halves[f].forward = program.functions.Add(Signature(shared, program.functions[FunctionId(f)], *cut, Side::Forward));
    shared.halves[f].gradient = program.functions.Add(Signature(shared, program.functions[FunctionId(f)], *cut, Side::Gradient));
  }
  std::vector<std::pair<FunctionId, Function>> made;
  for (uint32_t f = 0; f < count; ++f) {
    FunctionId id(f);
    const Function& function = program.functions[id];
    auto build = [&](Side side) { return SideBuilder(shared, id, function, shared.cuts.Of(id), side).Run(); };
    if (shared.cuts.Of(id)) {
      made.emplace_back(shared.halves[f].forward, build(Side::Forward));
      made.emplace_back(shared.halves[f].gradient, build(Side::Gradient));
    } else if (llvm::any_of(function.nodes, [&](const Node& node) { return shared.cuts.IsCutCall(node); })) {
      made.emplace_back(id, build(Side::Whole));
    }
  }
  for (auto& [id, function] : made) program.functions[id] = std::move(function);
}

}  // namespace df::fg
