// tagged_ir/places.h
//
// Chains of positions: where something stands, the call by which that came to stand there, and so on (ir::Pos::inlined_at), and what
// of them is the program's own. Passes that move code extend the chains (docs/call-paths.md).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tagged_ir/graph.h"

namespace df::ir {

// Positions of a table that grows with them. Equal requests give equal positions.
class Places {
 public:
  // `added` is told of each position that is added, with the one that it copies, or an invalid one.
  Places(Table<PosId, Pos>& positions, const std::vector<std::string>& files, std::function<void(PosId)> added = {})
      : positions_(positions), files_(files), added_(std::move(added)) {}

  // The place `pos` of a body that was inlined at `site`. `action`: whether the body gives an action; a place of the program's own in it
  // stays as it is, for call paths end there, and whoever is the caller then need not have called it in the source
  // (runtime/text/describe.cpp). Of places of the library behind each other the first is kept, since paths tell none of them. A chain of
  // kMostInlined places stays as it is.
  PosId InlinedAt(PosId pos, PosId site, bool action = false);
  static constexpr uint32_t kMostInlined = 32;

  // The place of a call that became one with the call whose result it is given; the place at which that one's code then is inlined.
  PosId WithGiven(PosId call, PosId given);
  PosId Giver();

  // Whether it, or what it was inlined to in the end, is the program's own.
  bool IsOwn(PosId pos) const;

 private:
  enum class Whose { Own, Library, Nobody, Giver };
  Whose WhoseIs(PosId pos) const;
  PosId Add(Pos pos, PosId from);
  PosId Append(PosId pos, PosId site);
  uint32_t Length(PosId pos);

  Table<PosId, Pos>& positions_;
  const std::vector<std::string>& files_;
  std::function<void(PosId)> added_;
  std::map<std::pair<uint32_t, uint32_t>, PosId> inlined_, given_;
  std::vector<uint32_t> lengths_;  // by position, 0 where it was not asked for: chains do not change
  PosId giver_;
};

// Gives the positions that the graph refers to new numbers, and drops the others.
void DropUnusedPositions(Graph& graph);

}  // namespace df::ir
