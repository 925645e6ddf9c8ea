// tests/unit/lang/id_test.cpp
//
// The handle that means nothing is a key like others: errors leave such names in trees.
#include "lang/id.h"
#include "lang/interner.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "tests/unit/catch.h"

using namespace df;

TEST_CASE("a handle that means nothing is a key of sets and maps") {
  CHECK(kNoIndex != llvm::DenseMapInfo<uint32_t>::getEmptyKey());
  CHECK(kNoIndex != llvm::DenseMapInfo<uint32_t>::getTombstoneKey());
  llvm::DenseMap<uint32_t, int> map;
  CHECK(map.find(Symbol().index) == map.end());
  map[Symbol().index] = 1;
  map[Intern("x").index] = 2;
  CHECK(map.lookup(Symbol().index) == 1);
  CHECK(map.erase(Symbol().index));
  CHECK(map.size() == 1);
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> pairs;
  CHECK(pairs.insert({Symbol().index, Symbol().index}).second);
  CHECK(pairs.size() == 1);
  CHECK(!Symbol().valid());
}
