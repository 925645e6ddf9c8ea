// tagged_ir/cut/outline.h
//
// Cuts within functions as calls, for the tagged engine, which has no tokens that could be sent (docs/cut.md, "Cut within a function"). What of
// a function stands on another part than the function itself becomes functions of its own there, its *pieces*, called from where it stood:
//
//   fact n = if n == 1 then n else n * fact (n - 1)          with the product on part 1
//   fact n = if n == 1 then n else fact#1 n (fact (n - 1))   on part 0;   fact#1 n r = n * r   on part 1
//
// A piece is what can be computed at one moment, so that its call needs nothing that comes later; what hangs on a result that comes from
// somewhere else meanwhile is another piece.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tagged_ir/cut/cut.h"

namespace df::ir {

// What stays with the frame of its function, whatever its part is: nodes that choose, start, enter and leave; and what has tokens of state,
// tables or arrays that change. Constants go with those that use them. `MovableTypes`: which rows of types may be of a piece's arguments and results.
std::vector<bool> MovableTypes(const Graph& graph);
bool CanLeaveFrame(const Graph& graph, const std::vector<bool>& movable, NodeId node);

struct Outlined {
  uint32_t pieces = 0;  // functions that were made
  uint32_t nodes = 0;   // that stand in them
  uint32_t loops = 0;   // that went whole
  uint32_t stay = 0;    // nodes that the cut has elsewhere, and which stay with their frames
};

// Rewrites a verified graph so, and puts its functions, and their pieces, on their parts (Scope::place). A function stands where the merge of
// its trigger does. Parts may be kAnywhere. Nodes keep their numbers.
Outlined Outline(Graph& graph, const Cut& cut);

// The same by placements, for so many processes: the cut of MakeCut, where what has no place stays without one unless it is asked for parts or
// a seed. False, and `error`: it cannot be cut so, or nothing of what a row names can stand elsewhere.
bool CutIntoCalls(Graph& graph, CutOptions options, uint32_t processes, std::string* error);

}  // namespace df::ir
