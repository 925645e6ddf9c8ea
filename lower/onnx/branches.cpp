// Branches and loops: see functions.h.
#include <algorithm>

#include "fmt/format.h"
#include "lower/onnx/functions.h"

namespace df::to_onnx {

// ---------------------------------------------------------------- sides

// Readers of protobuf take messages that are 100 deep in each other, and a graph within another one is three deeper.
void Functions::CheckNesting(const Subgraph* graph) const {
  constexpr uint32_t kMostNested = 30;
  if (graph->depth > kMostNested)
    Refuse("this branch", fmt::format("branches and loops stand in each other, more than {} deep, and readers of models take no more", kMostNested));
}

// The graphs of the sides that there may be: `which[0]` or else (`which[1]` or else ..).
Functions::Sides Functions::Open(const Value& predicate, size_t count) {
  Sides sides{w_.current(), predicate, predicate->possible.empty(), {}, {}, {}, {}, {}};
  if (predicate->constructor >= 0) {
    sides.which = {static_cast<uint32_t>(predicate->constructor)};
  } else if (sides.boolean && predicate->tensor.known) {
    sides.which = {*predicate->tensor.known ? 0u : 1u};
  } else {
    for (uint32_t k = 0; k < count; ++k)
      if (sides.boolean || predicate->possible[k]) sides.which.push_back(k);
  }
  sides.rests = {sides.here};
  for (size_t i = 0; i + 1 < sides.which.size(); ++i) {
    sides.graphs.push_back(w_.InnerOf(sides.rests.back(), fmt::format("side{}", sides.which[i])));
    sides.rests.push_back(w_.InnerOf(sides.rests.back(), i + 2 < sides.which.size() ? "else" : fmt::format("side{}", sides.which[i + 1])));
  }
  sides.graphs.push_back(sides.rests.back());
  CheckNesting(sides.rests.back());
  return sides;
}

// One tensor for those that the sides give: what is the same on all, and not of a side, stays.
Tensor Functions::LeafOf(Sides& sides, llvm::ArrayRef<Tensor> tensors, const Tensor& wanted) {
  const auto first = llvm::find_if(tensors, [](const Tensor& each) { return each.valid(); });
  const bool same = llvm::all_of(tensors, [&](const Tensor& each) { return !each.valid() || each.id == first->id; });
  if (same && w_.Visible(*first, sides.here)) return *first;
  std::vector<Tensor> given;
  for (size_t i = 0; i < tensors.size(); ++i) {
    w_.SetCurrent(sides.graphs[i]);
    given.push_back(tensors[i].valid() ? tensors[i] : w_.Zero(wanted.element, wanted.dims));
  }
  w_.SetCurrent(sides.here);
  sides.given.push_back(std::move(given));
  sides.outputs.push_back(w_.Declare(sides.here, wanted.element, wanted.dims));
  return sides.outputs.back();
}

Value Functions::JoinSides(Sides& sides, llvm::ArrayRef<Value> values) {
  return Join(w_, values, [&](llvm::ArrayRef<Tensor> tensors, const Tensor& wanted) { return LeafOf(sides, tensors, wanted); });
}

// The Ifs, from the innermost out. If the sides give nothing, there are none.
void Functions::Close(Sides& sides) {
  if (sides.outputs.empty()) return;
  const size_t last = sides.which.size() - 1;
  auto give = [&](size_t side) {
    for (const auto& given : sides.given) w_.Output(sides.graphs[side], given[side]);
  };
  give(last);
  for (size_t i = last; i-- > 0;) {
    give(i);
    w_.SetCurrent(sides.rests[i]);
    const Tensor& index = sides.predicate->tensor;
    const Tensor condition = sides.boolean ? index : ops_.Equal(index, w_.Int(sides.which[i]));
    std::vector<Tensor> results;
    for (const Tensor& output : sides.outputs) results.push_back(i == 0 ? output : w_.Declare(sides.rests[i], output.element, output.dims));
    w_.NodeInto("If", condition, results, {Attribute{"then_branch", sides.graphs[i]}, Attribute{"else_branch", sides.rests[i + 1]}});
    if (i == 0) continue;
    for (const Tensor& result : results) w_.Output(sides.rests[i], result);
  }
  w_.SetCurrent(sides.here);
}

// The nodes in a block and in the blocks of its branches.
void Functions::NodesIn(const fg::Function& function, fg::BlockId block, std::vector<fg::NodeId>& nodes) {
  for (fg::NodeId id : function.blocks[block].nodes) {
    nodes.push_back(id);
    for (fg::BlockId inner : function.nodes[id].blocks) NodesIn(function, inner, nodes);
  }
}

// One result of a Branch, whose sides are written for it alone: another one of them may be waiting for it.
void Functions::EvalBranchResult(Activation& at, fg::NodeId id, uint32_t result) {
  std::vector<fg::NodeId> inside;
  for (fg::BlockId block : at.function->nodes[id].blocks) NodesIn(*at.function, block, inside);
  std::vector<Activation::NodeState> states;
  for (fg::NodeId node : inside) states.push_back(std::exchange(at.nodes[node.index], {}));
  std::vector<Subgraph*> graphs = at.graphs;
  EvalBranch(at, id, result);
  for (size_t i = 0; i < inside.size(); ++i) at.nodes[inside[i].index] = std::move(states[i]);
  at.graphs = std::move(graphs);
}

// Sets the results of a Branch, or one of them.
void Functions::EvalBranch(Activation& at, fg::NodeId id, std::optional<uint32_t> only) {
  const fg::Node& node = at.function->nodes[id];
  const Value predicate = Evaluated(Eval(at, node.operands[0]));
  std::vector<uint32_t> wanted;
  for (uint32_t r = 0; r < node.results.size(); ++r)
    if (!only || *only == r) wanted.push_back(r);
  std::vector<Value> results(node.results.size());
  if (predicate->none) {
    for (uint32_t r : wanted) results[r] = FailedToo(w_, Surely(node.results[r].type), predicate->failed);
  } else {
    Sides sides = Open(predicate, node.blocks.size());
    std::vector<std::vector<Value>> given(sides.which.size());
    for (size_t i = 0; i < sides.which.size(); ++i) {
      const fg::BlockId block = node.blocks[sides.which[i]];
      at.graphs[block.index] = sides.graphs[i];
      w_.SetCurrent(sides.graphs[i]);
      for (uint32_t r : wanted) given[i].push_back(Eval(at, at.function->blocks[block].yields[r]));
    }
    w_.SetCurrent(sides.here);
    for (size_t w = 0; w < wanted.size(); ++w) {
      std::vector<Value> all;
      for (const auto& side : given) all.push_back(side[w]);
      Value joined = all[0];
      if (!llvm::all_equal(all)) {
        for (size_t i = 0; i < all.size(); ++i) {
          w_.SetCurrent(sides.graphs[i]);
          all[i] = Settled(all[i], false);
        }
        w_.SetCurrent(sides.here);
        joined = JoinSides(sides, all);
      } else if (predicate->failed.valid()) {
        joined = Evaluated(joined);
      }
      results[wanted[w]] = joined;
    }
    Close(sides);
    for (uint32_t r : wanted) results[r] = FailedToo(w_, results[r], predicate->failed);
  }
  auto& state = at.nodes[id.index];
  state.results.resize(node.results.size());
  for (uint32_t r : wanted) state.results[r] = results[r];
}

// ---------------------------------------------------------------- loops

// As the transform to tagged graphs finds them: the Branch at the end of a block, if the block yields just its results; else invalid.
fg::NodeId Functions::TailBranch(const fg::Function& function, fg::BlockId id) {
  const fg::Block& block = function.blocks[id];
  if (block.again || block.yields.empty()) return {};
  const fg::NodeId last = block.yields[0].node;
  const fg::Node& node = function.nodes[last];
  if (node.kind != fg::NodeKind::Branch || node.results.size() != block.yields.size()) return {};
  for (uint32_t i = 0; i < block.yields.size(); ++i)
    if (block.yields[i] != fg::Value{last, i}) return {};
  return std::find(block.nodes.rbegin(), block.nodes.rend(), last) != block.nodes.rend() ? last : fg::NodeId();
}

bool Functions::HasAgain(const fg::Function& function, fg::BlockId id) {
  bool again = function.blocks[id].again;
  if (fg::NodeId tail = TailBranch(function, id); tail.valid())
    for (fg::BlockId inner : function.nodes[tail].blocks) again = again || HasAgain(function, inner);
  return again;
}

void Functions::FindInvariants(const fg::Function& function, fg::BlockId id, std::vector<bool>& invariant) {
  const fg::Block& block = function.blocks[id];
  if (block.again) {
    for (size_t i = 0; i < block.yields.size(); ++i) {
      const fg::Node& node = function.nodes[block.yields[i].node];
      if (node.kind != fg::NodeKind::Param || node.attr != i) invariant[i] = false;
    }
    return;
  }
  if (fg::NodeId tail = TailBranch(function, id); tail.valid())
    for (fg::BlockId inner : function.nodes[tail].blocks) FindInvariants(function, inner, invariant);
}

Functions::Tail Functions::EvalTail(Activation& at, fg::BlockId id) {
  const fg::Block& block = at.function->blocks[id];
  const std::vector<bool>& invariant = FactsOf(at.id).invariant;
  Tail tail;
  tail.next.resize(at.function->params.size());
  tail.results.resize(at.function->results.size());
  if (block.again) {
    tail.go_on = w_.Bool(true);
    for (size_t i = 0; i < block.yields.size(); ++i)
      if (!invariant[i]) tail.next[i] = Settled(Eval(at, block.yields[i]), false);
    return tail;
  }
  if (HasAgain(*at.function, id)) return EvalTailBranch(at, TailBranch(*at.function, id));
  tail.go_on = w_.Bool(false);
  for (size_t r = 0; r < block.yields.size(); ++r) tail.results[r] = Settled(Eval(at, block.yields[r]), false);
  return tail;
}

Functions::Tail Functions::EvalTailBranch(Activation& at, fg::NodeId branch) {
  const fg::Node& node = at.function->nodes[branch];
  const Value predicate = Evaluated(Eval(at, node.operands[0]));
  Tail out;
  out.next.resize(at.function->params.size());
  out.results.resize(at.function->results.size());
  if (predicate->none) {
    out.go_on = w_.Bool(false);
    for (size_t r = 0; r < out.results.size(); ++r) out.results[r] = Surely(at.function->results[r].type);
    return out;
  }
  Sides sides = Open(predicate, node.blocks.size());
  std::vector<Tail> tails;
  for (size_t i = 0; i < sides.which.size(); ++i) {
    const fg::BlockId block = node.blocks[sides.which[i]];
    at.graphs[block.index] = sides.graphs[i];
    w_.SetCurrent(sides.graphs[i]);
    tails.push_back(EvalTail(at, block));
  }
  w_.SetCurrent(sides.here);
  auto joined = [&](auto pick) {
    std::vector<Value> all;
    for (const Tail& tail : tails) all.push_back(pick(tail));
    return JoinSides(sides, all);
  };
  std::vector<Tensor> go_on;
  for (const Tail& tail : tails) go_on.push_back(tail.go_on);
  Tensor wanted;
  wanted.element = Element::Bool;
  out.go_on = LeafOf(sides, go_on, wanted);
  for (size_t i = 0; i < out.next.size(); ++i) out.next[i] = joined([&](const Tail& tail) { return tail.next[i]; });
  for (size_t r = 0; r < out.results.size(); ++r) out.results[r] = joined([&](const Tail& tail) { return tail.results[r]; });
  Close(sides);
  if (!predicate->failed.valid()) return out;
  // A failed predicate ends the loop.
  out.go_on = ops_.And(out.go_on, ops_.Not(predicate->failed));
  for (size_t r = 0; r < out.results.size(); ++r) {
    if (out.results[r]) {
      out.results[r] = FailedToo(w_, out.results[r], predicate->failed);
      continue;
    }
    auto failed = std::make_shared<Rep>(*Surely(at.function->results[r].type));
    failed->failed = predicate->failed;
    out.results[r] = failed;
  }
  return out;
}

// Writes the loop for parameters of these shapes. False: some may be more than that, and `shapes` says now what.
bool Functions::LoopOnce(fg::FunctionId id, const Activation* caller, const std::vector<Argument>& params, llvm::ArrayRef<Value> first,
                         std::vector<Value>& shapes, std::vector<Value>& results, ir::PosId pos) {
  const fg::Function& function = program_.functions[id];
  const std::vector<bool>& invariant = FactsOf(id).invariant;
  Subgraph* here = w_.current();
  Subgraph* body = w_.Inner(function.name);
  CheckNesting(body);
  w_.SetCurrent(body);
  w_.Input(Element::Int, {});  // which iteration it is
  w_.Input(Element::Bool, {});
  auto input = [&](const Tensor& like) { return w_.Input(like.element, like.dims); };
  std::vector<Argument> inner = params;
  for (size_t i = 0; i < inner.size(); ++i)
    if (!invariant[i]) inner[i] = {MapLeaves(shapes[i], input), nullptr};
  Activation& at = Enter(id, caller, std::move(inner), pos);
  const Tail tail = EvalTail(at, function.body);
  bool fits = true;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (invariant[i]) continue;
    Value wider = Join(w_, {shapes[i], tail.next[i]}, [](llvm::ArrayRef<Tensor>, const Tensor& wanted) {
      Tensor leaf = wanted;
      leaf.id = 0;
      leaf.known.reset();
      return leaf;
    });
    fits &= SameStructure(wider, shapes[i]);
    shapes[i] = wider;
  }
  if (fits) {
    w_.Output(body, tail.go_on);
    std::vector<Tensor> carried = {Tensor(), w_.Bool(true)}, next, given;
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (invariant[i]) continue;
      w_.SetCurrent(body);
      Flatten(w_, shapes[i], tail.next[i], next);
      w_.SetCurrent(here);
      Flatten(w_, shapes[i], first[i], carried);
    }
    w_.SetCurrent(body);
    for (const Value& result : tail.results) Flatten(w_, result, result, given);
    for (const Tensor& each : given) w_.Input(each.element, each.dims);
    for (const Tensor& each : next) w_.Output(body, each);
    for (const Tensor& each : given) w_.Output(body, each);
    w_.SetCurrent(here);
    for (const Tensor& each : given) carried.push_back(w_.Zero(each.element, each.dims));
    std::vector<Tensor> made = next;
    made.insert(made.end(), given.begin(), given.end());
    made = w_.Nodes("Loop", carried, made, Attribute{"body", body});
    size_t taken = next.size();
    for (size_t r = 0; r < tail.results.size(); ++r) {
      results.push_back(tail.results[r] ? MapLeaves(tail.results[r], [&](const Tensor&) { return made[taken++]; })
                                        : Surely(function.results[r].type));  // it never ends
    }
  }
  w_.SetCurrent(here);
  return fits;
}

std::vector<Value> Functions::Loop(fg::FunctionId id, const Activation* caller, std::vector<Argument> params, ir::PosId pos) {
  constexpr uint32_t kMostDepth = 16;
  const std::vector<bool> invariant = FactsOf(id).invariant;
  std::vector<Value> first(params.size()), results;
  for (size_t i = 0; i < params.size(); ++i) {
    if (invariant[i]) continue;
    first[i] = Settled(params[i].value ? params[i].value : params[i].ask(), false);
  }
  std::vector<Value> shapes = first;
  while (!LoopOnce(id, caller, params, first, shapes, results, pos))
    for (const Value& shape : shapes)
      if (DepthOf(shape) > kMostDepth) {
        pos_ = pos;
        Refuse(fmt::format("what the loop `{}` builds", program_.functions[id].name), "it becomes longer and longer, and ONNX's loops hand on tensors of one shape",
               "a Tensor with an accumulating loop takes the place of a list");
      }
  return results;
}

}  // namespace df::to_onnx
