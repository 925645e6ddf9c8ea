// backends/cuda/kernels.h
//
// The kernels, as functions of the host that put them into a stream; no header of CUDA is needed to call them. Each element goes through
// the roundings of backends/cpu: products are chains of fused multiplications and additions in the order of the inner dimension, sums
// are added in the order that reduce.h says, functions are those of backends/cpu/functions.inc. So the bits are those of the host, whatever
// tile or grid computes them. (Of a NaN only that it is one: processors differ in sign and payload of those that they make.)
//
// Without nvcc the same sources are compiled for the host, where the threads of a block take turns (launch.h): so that they are tested
// where there is no GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tagged_ir/op.h"

struct CUstream_st;

namespace df::cuda {

using Stream = CUstream_st*;

// Where the rows of an operand are, all of it on the device.
struct Rows {
  const char* base = nullptr;
  size_t stride = 0;                  // bytes from row to row; 0: there is one
  const char* const* at = nullptr;    // or each row's place
  size_t offset = 0;                  // to be added to either
};

enum class Element : uint8_t { Float, Double, Int, Bool };
constexpr size_t BytesOf(Element element) { return element == Element::Float ? 4 : element == Element::Bool ? 1 : 8; }

// ---------------------------------------------------------------- products (product.cu)

struct Product {
  Element element = Element::Float;  // or Double
  Rows x, y;
  bool x_turned = false;             // the rows of x are those of the inner dimension: [k, m]
  bool y_turned = false;             // the rows of y are columns of the result: [n, k]
  char* out = nullptr;               // [m, n]
  size_t m = 0, k = 0, n = 0;
  bool goes_on = false;              // `out` holds the chain so far
  int tile = -1;                     // which of the tiles; -1: the one that suits the sizes
};
constexpr int kProductTiles = 7;
// Offsets and places are of whole elements.
void Run(const Product& product, Stream stream);

// Of each row a small product by itself: the rows of x are matrices [m, k], those of y [k, n], or [n, k] if turned.
struct EachProduct {
  Element element = Element::Float;
  Rows x, y;
  bool y_turned = false;
  char* out = nullptr;
  size_t rows = 0, m = 0, k = 0, n = 0;
};
void Run(const EachProduct& products, Stream stream);

// ---------------------------------------------------------------- elementwise (chain.cu)

// Elementwise ops of rows of one length, one after another in one kernel: values between them stay on the chip.
struct Chain {
  static constexpr uint32_t kMostInputs = 24, kMostSteps = 56, kMostOutputs = 12, kMostSlots = 40;
  struct Input {
    Rows rows;
    uint32_t period = 0;  // elements of a row of it, which are repeated to fill the length
    Element element = Element::Float;
  };
  enum class Kind : uint8_t { Load, Op, Store };
  // Load: in[0] is an input, out a slot. Op: all are slots. Store: in[0] is a slot, out an output. Bools in slots are 0 and 1.
  struct Step {
    Kind kind;
    ir::Op op;
    uint8_t out, in[3];
  };
  struct Output {
    char* base = nullptr;
    size_t stride = 0;  // bytes from row to row
    Element element = Element::Float;
  };
  size_t rows = 0;
  uint32_t length = 0;
  uint32_t num_steps = 0, num_slots = 0;
  Element element = Element::Float;  // of slots; no Bool
  Step steps[kMostSteps];
  Input inputs[kMostInputs];
  Output outputs[kMostOutputs];
};
// Whether a chain may hold the op, on elements of the type (Float for Bools). Of tensors without dimensions Exp, Log, Tanh and
// Sigmoid have other bits (UnaryOfNumbers of backends/cpu/elementwise.h).
bool CanChain(ir::Op op, Element element);
void Run(const Chain& chain, Stream stream);

// `count` elements a row: as the scalar Convert. Not of Bools, nor to the type itself.
void Convert(const Rows& x, Element from, Element to, char* out, size_t rows, size_t count, Stream stream);

// ---------------------------------------------------------------- reductions (reduce.cu)

enum class Reduction : uint8_t { Sum, Mean, Max, Min, ArgMax };
// Of each row of x: a tensor [outer, length, inner], along the axis in the middle, as backends/cpu/reduce.h. Results follow each other.
struct Axis {
  size_t outer = 1, length = 1, inner = 1;
};
void Reduce(Reduction how, Element element, const Rows& x, Axis axis, char* out, size_t rows, Stream stream);
// Float or Double; the logarithm only of Floats.
void Softmax(Element element, const Rows& x, Axis axis, bool logarithm, char* out, size_t rows, Stream stream);
// Along the last axis: `outer` lines of `length` in each row.
struct ScaleAndBias {
  Rows scale, bias;
};
void LayerNorm(Element element, const Rows& x, const ScaleAndBias& by, Axis axis, char* out, size_t rows, Stream stream);

// ---------------------------------------------------------------- moving (layout.cu)

// Of each row `blocks` blocks of `bytes` bytes, `from_stride` apart, to places `to_stride` apart in rows that are `out_stride` apart.
struct Blocks {
  Rows x;
  size_t from_stride = 0, bytes = 0, blocks = 1;
  char* out = nullptr;
  size_t to_stride = 0, out_stride = 0;
  size_t element_bytes = 1;  // of which all these are multiples
};
void Copy(const Blocks& blocks, size_t rows, Stream stream);
// Axis i of the result is axis order[i] of the operand; elements of 1, 4 or 8 bytes.
struct Order {
  static constexpr uint32_t kMostAxes = 8;
  uint32_t rank = 0;
  size_t dims[kMostAxes] = {}, strides[kMostAxes] = {};  // of the result's axes: sizes, and steps in the operand, in elements
};
void Transpose(const Rows& x, const Order& order, size_t element_bytes, char* out, size_t rows, Stream stream);
// A matrix turned.
void Turn(const char* x, size_t rows, size_t columns, size_t element_bytes, char* out, Stream stream);
// Element words[row] of each row of `out` becomes the row of `element`, of which the first bytes count.
void SetElement(const Rows& words, const Rows& element, size_t element_bytes, char* out, size_t out_stride, size_t rows, Stream stream);
// Rows of `size` elements, 0 but for a 1 at the index, if it is inside.
void OneHot(Element element, const Rows& indices, size_t per_row, size_t size, char* out, size_t rows, Stream stream);

// ---------------------------------------------------------------- rows added to a table (scatter.cu)

// To row targets[t] of out, [.., columns], the rows of x with the numbers order[first[t]] .. order[first[t + 1] - 1], one after
// another in this order (order null: these numbers themselves). Targets differ. Float or Double.
struct Scatter {
  Element element = Element::Float;
  Rows x;
  const uint32_t *targets = nullptr, *first = nullptr, *order = nullptr;
  uint32_t num_targets = 0;
  size_t columns = 0;
  char* out = nullptr;
};
void Run(const Scatter& scatter, Stream stream);

// ---------------------------------------------------------------- random numbers (random.cu)

// As cpu::Uniform.
void Uniform(Element element, uint64_t key, char* out, size_t count, Stream stream);

}  // namespace df::cuda
