// tagged_ir/signature.h
//
// The signature column of tagged_ir/op.def, parsed once: what the verifier matches each node against.
#pragma once

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "tagged_ir/graph.h"
#include "tagged_ir/op.h"

namespace df::ir {

// What one place of a signature accepts.
enum class Pattern : uint8_t { Concrete, AnyNumber, Integral, Floating, Comparable, Data, Tensor, Truth, Predicate, Any };

enum class Count : uint8_t { One, Many, Optional };

struct Place {
  Pattern pattern = Pattern::Any;
  TypeKind kind = TypeKind::Unit;  // Concrete
  // Places with the same variable have the same type; kNoVariable binds nothing.
  uint8_t variable = 0;
  bool lazy = false;
  Count count = Count::One;
};
inline constexpr uint8_t kNoVariable = 0xff;
inline constexpr uint8_t kMaxVariables = 4;

// Only the last place of each side may be Many or Optional.
struct Signature {
  llvm::SmallVector<Place, 4> operands;
  llvm::SmallVector<Place, 4> results;
};

const Signature& SignatureOf(Op op);

// The place that operand or result `index` is matched against, or null if there is none.
const Place* PlaceAt(llvm::ArrayRef<Place> places, uint32_t index);
// Whether a node may have `count` operands (results).
bool AcceptsCount(llvm::ArrayRef<Place> places, uint32_t count);
// Whether a type may stand there. A place for numbers accepts tensors of such numbers, too; which ops have tensors as
// operands, and of which shapes, is for tagged_ir/tensor_rules.h to say.
bool Accepts(const Place& place, const Type& type);
// "a number", "Int", for messages.
const char* Describe(const Place& place);

}  // namespace df::ir
