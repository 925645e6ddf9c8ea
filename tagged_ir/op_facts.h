// tagged_ir/op_facts.h
//
// What the rest of the program asks of an op: the column of facts of tagged_ir/op.def. Who needs one reads it here, so that an op is
// a row there, and not a case in many files. Switches over these words name all of them: a new word is a compiler's error wherever it is
// not known (-Werror=switch).
#pragma once

#include <array>
#include <cstdint>

#include "tagged_ir/op.h"

namespace df::ir {

// What Node::attr is. Printing, reading, files and the verifier go by it.
enum class Attribute : uint8_t {
  NoAttribute,        // 0
  InputNumber,        // of the graph's inputs
  ResultNumber,       // of the graph's results
  SiteNumber,         // of a call site
  LoopScope,          // a scope that is a loop
  OuterScope,         // a scope
  ConstantNumber,     // of the graph's constants
  ConstructorNumber,  // of the result's type
  FieldNumber,        // constructor * 65536 + field, of the operand's type
  FailureKind,        // 0 for `error`, 1 for a failed match, 2 for a value that is thrown, 3 for input and output
  Axes,               // an axis, an order of axes, which triangle of a matrix
  EntryNumber,        // in a table of activations; of what an array that changes holds
};

// Which shapes operands and result may have (tensor_rules.cpp).
enum class Shape : uint8_t {
  NoTensors,  // no operand and no result is a tensor
  Passed,     // whatever it is: the op passes it on, or keeps it, and does not look
  Elementwise,
  Chosen,
  Product,
  ProductTransposed,
  Reduced,
  IndexOfLargest,
  AlongAxis,
  Normalised,
  Joined,
  Sliced,
  SlicedAt,
  Gathered,
  Scattered,
  Permuted,
  Reshaped,
  Repeated,
  Marked,
  Counted,
  Summed,
  Sized,
  DimOf,
  ElementOf,
  ElementSet,
  Shown,
  Random,
  OfMatrices,  // linear algebra: Rule::Linear
};

// Of an op on each element by itself: how one is computed. Saying it makes an op elementwise: Shape::Elementwise, Batch::Batched, and
// Late::KeptLate or KeptOfElements.
enum class Element : uint8_t {
  NoElement,    // not element by element
  Plain,        // by an operation or two, with the same bits of numbers, of tensors and on each device
  Compared,     // plain, two elements to a Bool
  Converted,    // to elements of another type
  Own,          // by a function of backends/cpu/functions.inc, on each device; of numbers by libm's
  OwnOfFloats,  // Floats so; Doubles by the host's libm
  Libm,         // by the host's libm: a device without it leaves the op to the host
};

// Whether many activations may be computed together (docs/batching.md), by whichever device.
enum class Batch : uint8_t {
  Unsaid,
  Alone,
  Batched,
  BatchedAtInt,  // where its index is one Int
  OneByOne,      // each by itself, on the host: the result may be a tensor that could not be computed (docs/linear-algebra.md)
};

// What the op has to do with numbers that stay tensors without dimensions (lower/graph/late_numbers.h).
enum class Late : uint8_t {
  NotLate,
  KeptLate,        // an op on numbers that does the same to such tensors, with the same bits
  KeptOfElements,  // where its operands are such as tensors have as elements
  TakenLate,       // its last operand may be either
  MadeLate,        // it makes a number of a tensor
  ReadLate,        // it reads one of a tensor
};

// Whether the result may be a part of its first operand, with no work.
enum class Part : uint8_t { NoPart, PartAlways, PartOfSameType, PartOnFirstAxis };

// Whether computing it again takes less time than handing a tensor on from group to group.
enum class Recompute : uint8_t { Dearer, Cheaper, CheaperOfFloats };

// How long it takes besides looking at a few words.
enum class Cost : uint8_t {
  Bounded,         // not long; on Integers, however, unbounded
  LikeSum,         // on Integers as long as they are
  LikeConversion,  // an Integer is made of what is none
  LikeProduct,     // on Integers, as a sum if one of them is short
  LikeQuotient,    // on Integers, as a sum if the divisor is short
  LikeText,        // as long as a text is
};

struct OpFacts {
  Attribute attribute = Attribute::NoAttribute;
  Shape shape = Shape::NoTensors;
  Element element = Element::NoElement;
  Batch batch = Batch::Unsaid;
  Late late = Late::NotLate;
  int8_t index = -1;   // the operand that is an index, which may be out of range
  bool fails = false;  // it may give an error where its operands are none
  Part part = Part::NoPart;
  Recompute recompute = Recompute::Dearer;
  Cost cost = Cost::Bounded;
  const char* onnx = nullptr;  // the name in graph files where the result is a tensor: ONNX's op of that name means the same
};

namespace internal {

consteval auto MakeOpFacts() {
  using enum Attribute;
  using enum Shape;
  using enum Element;
  using enum Batch;
  using enum Late;
  using enum Part;
  using enum Recompute;
  using enum Cost;
#define DF_LIST(...) {__VA_ARGS__}
#define DF_OP(name, cls, signature, facts, meaning) OpFacts DF_LIST facts,
  std::array all = {
#include "tagged_ir/op.def"
  };
#undef DF_LIST
  // What follows from an element's rule.
  for (OpFacts& row : all) {
    if (row.element == NoElement) continue;
    row.shape = Elementwise;
    row.batch = Batched;
    row.late = row.element == Compared || row.element == Converted ? KeptOfElements : KeptLate;
  }
  return all;
}
inline constexpr auto kOpFacts = MakeOpFacts();

// Each row says what it has to.
consteval bool AllSaid(bool (*holds)(const OpFacts&)) {
  for (const OpFacts& row : kOpFacts)
    if (!holds(row)) return false;
  return true;
}
static_assert(AllSaid([](const OpFacts& row) { return row.batch != Batch::Unsaid || row.shape <= Shape::Passed; }),
              "op.def: of an op on tensors it is not said whether it may be batched");
static_assert(AllSaid([](const OpFacts& row) { return row.batch == Batch::Unsaid || row.shape > Shape::Passed; }),
              "op.def: an op that is batched has no rule of its shape");
static_assert(AllSaid([](const OpFacts& row) { return (row.batch != Batch::BatchedAtInt || row.index >= 0) && (row.index < 0 || row.fails); }),
              "op.def: an op is batched at an Int that is none, or has an index and cannot fail");
static_assert(AllSaid([](const OpFacts& row) { return !row.onnx || row.shape > Shape::Passed; }), "op.def: a name of ONNX's without tensors");

}  // namespace internal

inline const OpFacts& FactsOf(Op op) { return internal::kOpFacts[static_cast<size_t>(op)]; }

// Whether the op, given tensors, works on each element by itself.
inline bool IsElementwise(Op op) { return FactsOf(op).shape == Shape::Elementwise; }
// Ops that give a Bool of two operands of one type.
inline bool IsComparison(Op op) { return FactsOf(op).element == Element::Compared; }
// Whether the result may be a tensor that could not be computed though the operands could.
inline bool MayGiveFailedTensor(Op op) { return FactsOf(op).batch == Batch::OneByOne; }
// Whether the attribute is a number that is written as it is, of tensors' axes or in a table.
inline bool HasNumber(Op op) { return FactsOf(op).attribute >= Attribute::Axes; }
// Whether a tensor without dimensions has other bits than larger ones: those of the number, by libm.
inline bool IsOfLibmOnNumbers(Op op) { return FactsOf(op).element == Element::Own || FactsOf(op).element == Element::OwnOfFloats; }

}  // namespace df::ir
