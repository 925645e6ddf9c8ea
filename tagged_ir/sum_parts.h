// tagged_ir/sum_parts.h
//
// What sums of tensors are made of (the op Accumulate): sums proper, and *records* of sums, which hold terms of several. A record of weights has a
// gradient for each; what a function gives to them is one object, whose constructor says by its name which of its fields belong to which weight.
//
//   add#=,=,2*,3,4+2   two records of this type; the fields of a product or of rows, of weight 2; a tensor or a sum, of weight 3; a record of 2 weights,
//                      which are weights 4 and 5 of this one. Weights are counted from 0. Behind the names of equals stand apostrophes.
//   part#3             of a sum: weight 3 of the record in its field; of a record: the weights from 3 on of that record
//
// Constructor 0 of a record has no field: zero. Constructor 1 is an `add#`, which tells records from other data.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "tagged_ir/graph.h"

namespace df::ir {

// Of a constructor's fields: what belongs together.
struct SumPart {
  uint32_t field = 0;   // the first
  uint32_t fields = 1;
  // A term; or a sum or record in the field, of which a weight is asked for.
  bool term = true;
  uint32_t weight = 0;
};

bool IsSumRecord(const TypeTable& types, TypeId type);

// Adds what constructor `con` of a sum, or of a record, holds of a weight (of a sum: 0). False: it is none. Shapes are not looked at.
bool FindSumParts(const TypeTable& types, TypeId type, uint32_t con, uint32_t weight, llvm::SmallVectorImpl<SumPart>* parts);

// What the name of a record's constructor lists, in order. False: it lists something else.
struct SumItem {
  enum class Kind : uint8_t { Whole, Pair, One, Record } kind;
  uint32_t weight = 0, count = 1;
};
bool ReadSumItems(llvm::StringRef name, llvm::SmallVectorImpl<SumItem>* items);
// Of "part#3" 3; none of others.
std::optional<uint32_t> ReadSumPart(llvm::StringRef name);

}  // namespace df::ir
