// Numbers as whole multiples of a scale, less a zero point: see node.h. Sums of products are those of Ints.
#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

// A scale or a zero point as it is broadcast to x: one number, one for each index of an axis, or one for each block of it.
Bound Spread(Node& n, const Bound& each, const Bound& x) {
  if (CountOf(each.dims) == 1 && each.rank() <= 1) return n.w.Reshape(each, {});
  const size_t axis = n.Axis(n.Int("axis", 1), x.rank());
  if (each.rank() == 1) {
    Dims dims(x.rank(), 1);
    dims[axis] = each.dims[0];
    return n.w.Reshape(each, dims);
  }
  const int64_t block = n.Int("block_size", 0);
  if (each.rank() != x.rank() || block < 1) throw Fault{"its scale does not fit its operand"};
  std::vector<int64_t> at;
  for (int64_t i = 0; i < x.dims[axis]; ++i) at.push_back(i / block);
  return n.w.Take(each, axis, at);
}

// To the nearest whole number, ties to even, of numbers that are cut at 2^21 anyway.
std::string Rounding(Element element) {
  const char* many = element == Element::Float ? "12582912" : "6755399441055744";
  return fmt::format("(T.max (-2097152) (T.min 2097152 ({{0}})) + {0} - {0})", many);
}

// x over its scale as whole numbers of that width.
Bound Cut(Node& n, const Bound& ratio, const std::optional<Bound>& zero, Width width) {
  const int64_t most = (int64_t{1} << (width.bits - (width.has_sign ? 1 : 0))) - 1, least = width.has_sign ? -most - 1 : 0;
  Bound whole = n.w.Elementwise(Element::Int, {ratio}, "T.convert " + Rounding(ratio.element));
  if (zero) whole = n.w.Elementwise(Element::Int, {whole, *zero}, "{0} + {1}");
  Bound made = n.w.Elementwise(Element::Int, {whole}, fmt::format("T.max ({}) (T.min {} {{0}})", least, most));
  made.width = width;
  return made;
}

Bound AsFloats(Node& n, const Bound& x, Element element) { return x.element == element ? x : n.w.Elementwise(element, {x}, "T.convert {0}"); }

void SmallWidth(Width width) {
  if (width.bits > 16) throw Fault{"its result is wider than 16 bits"};
}

void QuantizeLinear(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  n.Real(n.In(1));
  const Bound scale = AsFloats(n, Spread(n, n.In(1), x), x.element), ratio = n.w.Elementwise(x.element, {x, scale}, "{0} / {1}");
  if (ratio.dims != x.dims) throw Fault{"its scale does not fit its operand"};
  Width width = {8, false};
  const int64_t stated = n.Int("output_dtype", 0);
  Element element = stated != 0 ? ElementOf(static_cast<int32_t>(stated), "its result", &width) : Element::Int;
  int64_t small = IsSmallFloat(stated) ? stated : 0;
  if (n.Has(2)) {
    element = n.In(2).element;
    width = n.In(2).width;
    small = n.In(2).half;
  }
  if (small != 0 && !(small == onnx::TensorProto::FLOAT16 || small == onnx::TensorProto::BFLOAT16)) {
    n.w.has_halves = true;
    n.out = {RoundedTo(n, AsFloats(n, ratio, Element::Float), small, n.Int("saturate", 1) != 0)};
    n.out[0].half = static_cast<int32_t>(small);
    return;
  }
  if (element != Element::Int) throw Fault{"its result is of no type that numbers are quantised to"};
  SmallWidth(width);
  n.out = {Cut(n, ratio, n.Has(2) ? std::optional(Spread(n, n.In(2), x)) : std::nullopt, width)};
}

void DequantizeLinear(Node& n) {
  const Bound &x = n.In(0), &scale = n.In(1);
  n.Real(scale);
  Bound plain = x;
  // The zero point of floats is 0.
  if (n.Has(2) && x.element == Element::Int) plain = n.w.Elementwise(Element::Int, {x, Spread(n, n.In(2), x)}, "{0} - {1}");
  if (x.element == Element::Bool) throw Fault{"it is of numbers"};
  n.out = {n.w.Elementwise(scale.element, {AsFloats(n, plain, scale.element), Spread(n, scale, x)}, "{0} * {1}")};
  if (n.out[0].dims != x.dims) throw Fault{"its scale does not fit its operand"};
}

void DynamicQuantizeLinear(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  std::vector<size_t> axes;
  for (size_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  const Bound most = n.w.Reduce("max", x, axes, false), least = n.w.Reduce("min", x, axes, false);
  const Bound range = n.w.Elementwise(x.element, {most, least}, "T.max 0 {0} - T.min 0 {1}");
  const Bound scale = n.w.Elementwise(x.element, {range}, "T.select (T.equal {0} 0) 1 {0} / 255");
  Bound zero = n.w.Elementwise(Element::Int, {n.w.Elementwise(x.element, {least, scale}, "T.max 0 (T.min 255 (negate (T.min 0 {0}) / {1}))")}, "T.convert " + Rounding(x.element));
  zero.width = {8, false};
  n.out = {Cut(n, n.w.Elementwise(x.element, {x, scale}, "{0} / {1}"), zero, {8, false}), scale, zero};
}

// Less its zero point, of which there may be one for each row of the first, or for each column of the second.
Bound Shifted(Node& n, const Bound& x, size_t operand, bool rows) {
  if (x.element != Element::Int) throw Fault{"it is of whole numbers"};
  if (!n.Has(operand)) return {n.w.Use(x), x.element, x.dims, std::nullopt};
  Bound zero = n.In(operand);
  if (zero.element != Element::Int) throw Fault{"its zero point is no whole number"};
  if (CountOf(zero.dims) == 1) zero = n.w.Reshape(zero, {});
  else if (rows && zero.rank() == 1) zero = n.w.Reshape(zero, {zero.dims[0], 1});
  const Bound made = n.w.Elementwise(Element::Int, {x, zero}, "{0} - {1}");
  if (made.dims != x.dims) throw Fault{"its zero point does not fit its operand"};
  return made;
}
// Likewise of weights, of which each result's channel may have one.
Bound ShiftedWeight(Node& n, const Bound& x, size_t operand) {
  if (x.element != Element::Int || x.rank() < 3) throw Fault{"its weight is of no whole numbers"};
  if (!n.Has(operand)) return {n.w.Use(x), x.element, x.dims, std::nullopt};
  Dims dims(x.rank(), 1);
  if (CountOf(n.In(operand).dims) != 1) dims[0] = CountOf(n.In(operand).dims);
  const Bound made = n.w.Elementwise(Element::Int, {x, n.w.Reshape(n.In(operand), dims)}, "{0} - {1}");
  if (made.dims != x.dims) throw Fault{"its zero point does not fit its weight"};
  return made;
}

void MatMulInteger(Node& n) {
  n.out = {Wrap(n.w, n.w.MatMul(Shifted(n, n.In(0), 2, true), Shifted(n, n.In(1), 3, false)), {32, true})};
}
void ConvInteger(Node& n) {
  n.out = {Wrap(n.w, Convolved(n, Shifted(n, n.In(0), 2, false), ShiftedWeight(n, n.In(1), 3), std::nullopt), {32, true})};
}

// Sums of products by the scales of both, over that of the result.
void Rescaled(Node& n, const Bound& sums, const Bound& x_scale, const Bound& y_scale, const Bound& scale, const std::optional<Bound>& zero) {
  n.Real(scale);
  const Width width = zero ? zero->width : n.In(0).width;
  if (zero && (zero->element != Element::Int || CountOf(zero->dims) != 1)) throw Fault{"the zero point of its result is no single number"};
  SmallWidth(width);
  const Bound by = n.w.Elementwise(scale.element, {x_scale, y_scale, n.w.Reshape(scale, {})}, "{0} * {1} / {2}");
  const Bound ratio = n.w.Elementwise(scale.element, {AsFloats(n, sums, scale.element), by}, "{0} * {1}");
  if (ratio.dims != sums.dims) throw Fault{"its scales do not fit its result"};
  n.out = {Cut(n, ratio, zero ? std::optional(n.w.Reshape(*zero, {})) : std::nullopt, width)};
}
std::optional<Bound> Optional(Node& n, size_t i) { return n.Has(i) ? n.in[i] : std::nullopt; }
Bound Single(Node& n, const Bound& x) { return CountOf(x.dims) == 1 ? n.w.Reshape(x, {}) : x; }

void QLinearMatMul(Node& n) {
  Bound rows = Single(n, n.In(1));
  if (rows.rank() == 1) rows = n.w.Reshape(rows, {rows.dims[0], 1});
  Rescaled(n, n.w.MatMul(Shifted(n, n.In(0), 2, true), Shifted(n, n.In(3), 5, false)), rows, Single(n, n.In(4)), n.In(6), Optional(n, 7));
}
void QLinearConv(Node& n) {
  const Bound sums = Convolved(n, Shifted(n, n.In(0), 2, false), ShiftedWeight(n, n.In(3), 5), Optional(n, 8));
  Bound scales = Single(n, n.In(4));
  if (scales.rank() != 0) {
    Dims dims(sums.rank(), 1);
    dims[1] = CountOf(scales.dims);
    scales = n.w.Reshape(scales, dims);
  }
  Rescaled(n, sums, Single(n, n.In(1)), scales, n.In(6), Optional(n, 7));
}

}  // namespace

void AddQuantised(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"QuantizeLinear", QuantizeLinear}, {"DequantizeLinear", DequantizeLinear}, {"DynamicQuantizeLinear", DynamicQuantizeLinear},
                                                 {"MatMulInteger", MatMulInteger}, {"ConvInteger", ConvInteger}, {"QLinearMatMul", QLinearMatMul}, {"QLinearConv", QLinearConv}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
