// driver/import/module_writer.h
//
// The module that an ONNX model becomes, binding by binding, and what its ops are written with: functions of the module Tensor on operands whose
// shapes are known. A name of the model is a `Bound`: a variable of the module with its type, or whole numbers and Bools that are known, as
// shapes are, which become one when they are needed as such.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driver/import/import_onnx.h"
#include "tagged_ir/tensor_type.h"

namespace df::from_onnx {

using Dims = std::vector<int64_t>;
using Element = ir::TypeKind;  // Float, Double, Int, Bool

// What is wrong with the model, or what the language lacks.
struct Fault {
  std::string text;
};

// Of Ints: those of ONNX that are narrower are Ints here, whose results are brought back to their range (integers.cpp).
struct Width {
  int bits = 64;
  bool has_sign = true;
  bool operator==(const Width&) const = default;
};

struct Bound {
  std::string variable;  // "": only known
  Element element = Element::Float;
  Dims dims;
  std::optional<std::vector<int64_t>> known;  // elements of a constant of Ints or Bools
  Width width = {};
  int32_t half = 0;  // of Floats: ONNX's FLOAT16 or BFLOAT16, of what is such in the model

  size_t rank() const { return dims.size(); }
};

int64_t CountOf(const Dims& dims);
int64_t CountOf(const Dims& dims, size_t from, size_t to);
// The shape to which all of them are broadcast.
Dims BroadcastDims(const std::vector<Bound>& all);
// "Tensor Float [2, 3]"
std::string TypeText(Element element, const Dims& dims);
// A literal of that element type: "(-0.5)".
std::string NumberText(Element element, double value);

class ModuleWriter {
 public:
  // A binding of that type.
  Bound Let(Element element, const Dims& dims, const std::string& expression);
  // One of any type.
  std::string LetOf(const std::string& type, const std::string& expression);
  // A weight: an array of the record.
  Bound Weight(const std::string& name, Element element, const Dims& dims, std::string bytes);
  Bound Known(Element element, const Dims& dims, std::vector<int64_t> values);  // no binding yet; of Bools 0 and 1
  Bound Ints(const Dims& dims, std::vector<int64_t> values);
  Bound Ints(std::vector<int64_t> values);                    // of one dimension
  // Its variable: what is only known becomes a constant or, if it is long, a weight.
  std::string Use(const Bound& value);
  // A variable of this name, or one like it that is free.
  std::string Fresh(const std::string& name);

  // ---- shapes
  Bound Reshape(const Bound& x, const Dims& dims);
  Bound Broadcast(const Bound& x, const Dims& dims);
  Bound Permute(const Bound& x, const std::vector<size_t>& order);
  Bound Concat(const std::vector<Bound>& parts, size_t axis);
  // The elements at these indices of an axis.
  Bound Take(const Bound& x, size_t axis, const std::vector<int64_t>& at);
  Bound Gather(const Bound& x, size_t axis, const Bound& at);
  // `name`: sum, mean, max or min.
  Bound Reduce(const std::string& name, const Bound& x, const std::vector<size_t>& axes, bool keep);
  // A function of rows on each row along an axis; the shape stays.
  Bound AlongAxis(const std::string& function, const Bound& x, size_t axis);
  Bound MatMul(const Bound& x, const Bound& y);

  // ---- element by element
  Bound Apply(const std::string& function, const Bound& x);  // "T.relu"
  // An expression of operands of one shape, to which they are broadcast: "{0} + {1}".
  Bound Elementwise(Element element, const std::vector<Bound>& operands, const std::string& expression);
  Bound Fill(Element element, const Dims& dims, double value);

  std::vector<ImportedArray> weights;
  std::string bindings;
  bool has_loops = false;   // there are functions that call themselves, with strict parameters
  bool has_halves = false;  // the model has elements of 16 bits or less, which are Floats here
  bool has_bits = false;    // there are functions of Data.Bits
  ReadBeside read_beside;
  std::map<const void*, Bound> constants;  // of the model, by where they are in it

 private:
  Bound SwapBlocks(const Bound& x, int64_t before, int64_t first, int64_t second, int64_t behind);
  void CheckSize() const;

  std::map<std::string, int> taken_;
  size_t made_ = 0;
  std::map<std::pair<Dims, std::vector<int64_t>>, std::string> long_;  // known numbers that are weights already
};

}  // namespace df::from_onnx
