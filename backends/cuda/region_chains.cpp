#include "backends/cuda/region_chains.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/signature.h"

namespace df::cuda {

bool CanChain(ir::Op op, Element element) {
  const ir::OpFacts& facts = ir::FactsOf(op);
  if (facts.shape == ir::Shape::Chosen) return true;
  switch (facts.element) {
    case ir::Element::Plain:
    case ir::Element::Compared: return element != Element::Int || ir::SignatureOf(op).operands[0].pattern != ir::Pattern::Floating;
    case ir::Element::Own: return element != Element::Int;
    case ir::Element::OwnOfFloats: return element == Element::Float;
    case ir::Element::NoElement:
    case ir::Element::Converted:
    case ir::Element::Libm: return false;
  }
  return false;
}

uint32_t OpenChain::Load(uint32_t value, const Chain::Input& input) {
  for (uint32_t n = 0; n < nodes.size(); ++n)
    if (nodes[n].load && nodes[n].loaded == value && nodes[n].input.period == input.period && nodes[n].input.element == input.element) return n;
  Node& node = nodes.emplace_back();
  node.load = true;
  node.input = input;
  node.loaded = value;
  ++loads;
  return static_cast<uint32_t>(nodes.size() - 1);
}

uint32_t OpenChain::Apply(ir::Op op, llvm::ArrayRef<uint32_t> in) {
  Node& node = nodes.emplace_back();
  node.op = op;
  node.in.assign(in.begin(), in.end());
  return static_cast<uint32_t>(nodes.size() - 1);
}

namespace {

// One chain: each node that is needed in turn, a load just before its first use; a slot is given again after its last.
Chain AssembleOne(const OpenChain& open, size_t rows, llvm::ArrayRef<ChainStore> stores) {
  Chain chain;
  chain.rows = rows;
  chain.length = static_cast<uint32_t>(open.length);
  chain.element = open.element.value_or(Element::Float);
  std::vector<uint32_t> uses(open.nodes.size(), 0);
  auto store_of = [&](uint32_t n) { return llvm::find_if(stores, [n](const ChainStore& s) { return s.node == n; }); };
  for (uint32_t n = static_cast<uint32_t>(open.nodes.size()); n-- > 0;) {
    uses[n] += store_of(n) != stores.end();
    if (uses[n] > 0)
      for (uint32_t in : open.nodes[n].in) ++uses[in];
  }
  std::vector<int> slot(open.nodes.size(), -1);
  std::vector<uint8_t> free;
  uint32_t inputs = 0, outputs = 0;
  auto take = [&] {
    if (free.empty()) free.push_back(static_cast<uint8_t>(chain.num_slots++));
    uint8_t s = free.back();
    free.pop_back();
    return s;
  };
  auto used = [&](uint32_t n) {
    if (--uses[n] == 0) free.push_back(static_cast<uint8_t>(slot[n]));
  };
  auto load = [&](uint32_t n) {
    if (slot[n] >= 0) return;
    slot[n] = take();
    chain.inputs[inputs] = open.nodes[n].input;
    chain.steps[chain.num_steps++] = {Chain::Kind::Load, ir::Op::Add, static_cast<uint8_t>(slot[n]), {static_cast<uint8_t>(inputs++), 0, 0}};
  };
  for (uint32_t n = 0; n < open.nodes.size(); ++n) {
    if (uses[n] == 0) continue;
    const OpenChain::Node& node = open.nodes[n];
    auto store = store_of(n);
    if (node.load) {
      if (store == stores.end()) continue;
      load(n);
    } else {
      Chain::Step step{Chain::Kind::Op, node.op, 0, {0, 0, 0}};
      for (uint32_t in : node.in)
        if (open.nodes[in].load) load(in);
      for (size_t k = 0; k < 3; ++k) step.in[k] = static_cast<uint8_t>(slot[node.in[k < node.in.size() ? k : 0]]);
      for (uint32_t in : node.in) used(in);
      slot[n] = take();
      step.out = static_cast<uint8_t>(slot[n]);
      chain.steps[chain.num_steps++] = step;
    }
    if (store == stores.end()) continue;
    chain.outputs[outputs] = store->to;
    chain.steps[chain.num_steps++] = {Chain::Kind::Store, node.op, static_cast<uint8_t>(outputs++), {static_cast<uint8_t>(slot[n]), 0, 0}};
    used(n);
  }
  return chain;
}

}  // namespace

std::vector<Chain> Assemble(const OpenChain& open, size_t rows, llvm::ArrayRef<ChainStore> stores) {
  std::vector<Chain> chains;
  for (; !stores.empty(); stores = stores.drop_front(std::min<size_t>(stores.size(), Chain::kMostOutputs)))
    chains.push_back(AssembleOne(open, rows, stores.take_front(Chain::kMostOutputs)));
  return chains;
}

}  // namespace df::cuda
