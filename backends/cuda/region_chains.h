// backends/cuda/region_chains.h
//
// The elementwise ops of a region that wait to be computed together (region_run.h): straight-line code on values of one length, which
// becomes a Chain (kernels.h). Knows values of the region by number and nothing of where they are.
#pragma once

#include <optional>
#include <vector>

#include "backends/cuda/kernels.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace df::cuda {

struct OpenChain {
  struct Node {
    bool load = false;
    ir::Op op = ir::Op::Add;
    llvm::SmallVector<uint32_t, 3> in;       // nodes before it
    Chain::Input input;                      // of a load
    uint32_t loaded = 0;                     // and the value that it loads
    llvm::SmallVector<uint32_t, 2> values;   // of the region that are this
  };
  // So many nodes fit into a Chain whatever is stored, with a slot for each.
  static constexpr size_t kMostNodes = 40, kMostAdded = 4;

  size_t length = 0;
  bool shared = false;                // computed once, for all rows
  std::optional<Element> element;     // of slots; none yet: Bools alone
  std::vector<Node> nodes;
  uint32_t loads = 0;

  bool HasRoom() const { return nodes.size() + kMostAdded <= kMostNodes && loads + 3 <= Chain::kMostInputs; }
  // The node that loads the value so; a new one if there is none.
  uint32_t Load(uint32_t value, const Chain::Input& input);
  uint32_t Apply(ir::Op op, llvm::ArrayRef<uint32_t> in);
};

// A node whose value is to be stored, and where.
struct ChainStore {
  uint32_t node;
  Chain::Output to;
};

// The chains that compute what is to be stored: several if it is too much for one.
std::vector<Chain> Assemble(const OpenChain& chain, size_t rows, llvm::ArrayRef<ChainStore> stores);

}  // namespace df::cuda
