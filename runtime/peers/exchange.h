// runtime/peers/exchange.h
//
// Who sends what to whom where several processes have made pieces of one call, and pieces that are neighbours can be joined: each process gets what its
// neighbour has made and joins it with its own, then what the pair beside it has, then the four beside these. So a process sends and gets as many
// joined pieces as the number of processes has binary digits, and not as there are processes. docs/spread.md.
//
//   of five processes that make 0 .. 4:   0 <-> 1    2 <-> 3    4        0..2, 2..4
//                                         0 <-> 2    1 <-> 3             0..4
//                                         all get 4 from 4; 4 gets 0..4 from 0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace df {

struct Exchange {
  using Range = std::pair<uint64_t, uint64_t>;  // of pieces: from, up to before

  // What a process has in the end, in order: its own pieces, and those that it gets from the first of these; the others have them, too.
  struct Need {
    Range range;
    std::vector<uint32_t> from;  // nobody: they are its own
  };
  // What it joins, once all of it is there, and sends; the smaller ones first.
  struct Gift {
    Range range;
    std::vector<uint32_t> to;
  };
  std::vector<Need> needs;
  std::vector<Gift> gifts;  // with its own pieces, if they go as they are
};

struct Maker {
  Exchange::Range range;
  uint32_t rank;
};

// Of the process of that rank. `makers` make all pieces, in order; `others` make none, and need all.
Exchange PlanExchange(const std::vector<Maker>& makers, const std::vector<uint32_t>& others, uint32_t rank);

}  // namespace df
