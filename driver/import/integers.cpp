// Ints that are narrower than those of the language, and what is known of numbers: see node.h.
#include <map>
#include <string_view>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

// What becomes of narrow Ints in an op. Kept: its results are among its operands' elements. Wrapped: they may be beyond the range, and come back
// as those of two's complement do. Apart: its results are no numbers of that type, or the op says itself of which they are.
enum class Rule : uint8_t { Kept, Wrapped, Apart };

struct Row {
  Rule rule;
  size_t operand = 0;  // whose width it is
};

const std::map<std::string_view, Row>& Rows() {
  static const std::map<std::string_view, Row> rows = [] {
    std::map<std::string_view, Row> made;
    for (const char* name : {"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Concat", "Split", "Slice", "Gather", "Expand", "Tile", "Pad", "Max", "Min", "Clip",
                             "GatherElements", "GatherND", "ScatterElements", "Scatter", "ScatterND", "Trilu", "TopK", "DepthToSpace", "SpaceToDepth", "ReduceMax", "ReduceMin", "Mod",
                             "Sign", "Compress", "Dropout", "Hardmax", "ReverseSequence", "CenterCropPad", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "TensorScatter", "Resize", "Upsample", "MaxPool"})
      made[name] = {Rule::Kept};
    made["Where"] = {Rule::Kept, 1};
    made["OneHot"] = {Rule::Kept, 2};
    for (const char* name : {"Add", "Sub", "Mul", "Div", "Neg", "Abs", "Sum", "ReduceSum", "ReduceProd", "CumSum", "Pow", "MatMul", "Range", "CumProd", "BitShift", "BitwiseNot"}) made[name] = {Rule::Wrapped};
    for (const char* name : {"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Shape", "Size", "ArgMax", "ArgMin", "NonZero", "Cast", "CastLike", "Constant",
                             "ConstantOfShape", "If", "Loop", "Scan", "LSTM", "GRU", "RNN", "EyeLike", "QuantizeLinear", "DequantizeLinear",
                             "DynamicQuantizeLinear", "QLinearMatMul", "QLinearConv", "MatMulInteger", "ConvInteger", "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss", "Attention",
                             "RotaryEmbedding", "CausalConvWithState", "DFT", "STFT", "HannWindow", "HammingWindow", "BlackmanWindow", "AffineGrid"})
      made[name] = {Rule::Apart};
    return made;
  }();
  return rows;
}

bool IsNarrow(const Bound& x) { return x.element == Element::Int && x.width != Width{}; }

// Of UINT64, the larger half of which are negative Ints here: where nobody asks which of two is the larger, nor for a quotient or a sign.
bool ForgetsSign(std::string_view op) {
  for (std::string_view each : {"Clip", "TopK", "ReduceMax", "ReduceMin", "Mod", "Sign", "Hardmax", "Div", "Abs", "Pow", "ArgMax",
                                "ArgMin", "Cast", "CastLike", "If", "Loop", "Scan"})
    if (op == each) return false;
  return true;
}

}  // namespace

void CheckWidths(const Node& n) {
  const auto row = Rows().find(n.op());
  const bool wrapped = row != Rows().end() && row->second.rule == Rule::Wrapped;
  for (const std::optional<Bound>& x : n.in) {
    if (!x || !IsNarrow(*x)) continue;
    if (row == Rows().end()) throw Fault{fmt::format("its operands have elements of type {}INT{}", x->width.has_sign ? "" : "U", x->width.bits)};
    if (x->width == Width{64, false} && !ForgetsSign(n.op())) throw Fault{"its operands have elements of type UINT64, of which it would see the larger half as negative"};
    // Of a power's exponent and of axes the type is another.
    if (wrapped && n.op() != "Pow" && n.op() != "CumSum" && n.op() != "CumProd" && n.Has(0) && x->width != n.in[0]->width) throw Fault{"its operands have elements of two types"};
  }
}

void SetWidths(Node& n) {
  const auto row = Rows().find(n.op());
  if (row == Rows().end() || row->second.rule == Rule::Apart || !n.Has(row->second.operand) || !IsNarrow(*n.in[row->second.operand])) return;
  const Width width = n.in[row->second.operand]->width;
  for (size_t i = 0; i < n.out.size(); ++i) {
    if (n.out[i].element != Element::Int || (i == 1 && (n.op() == "TopK" || n.op() == "MaxPool"))) continue;
    if (row->second.rule == Rule::Wrapped) n.out[i] = Wrap(n.w, n.out[i], width);
    n.out[i].width = width;
  }
}

Bound Wrap(ModuleWriter& w, const Bound& x, Width width) {
  Bound made = x;
  if (width.bits == 64) {
    made.width = width;
    return made;
  }
  const int unused = 64 - width.bits;
  if (x.known) {
    for (int64_t& each : *made.known) {
      const uint64_t bits = static_cast<uint64_t>(each) << unused;
      each = width.has_sign ? static_cast<int64_t>(bits) >> unused : static_cast<int64_t>(bits >> unused);
    }
    made.variable.clear();
  } else {
    const int64_t all = int64_t{1} << width.bits, half = all / 2;
    const std::string text = width.has_sign ? fmt::format("T.map (\\e -> (e + {0}) `mod` {1} - {0})", half, all) : fmt::format("T.map (\\e -> e `mod` {})", all);
    made = w.Apply(text, x);
  }
  made.width = width;
  return made;
}

bool Fold(Node& n, Element result, int64_t (*f)(const std::vector<int64_t>& x)) {
  const std::vector<Bound> all = n.All();
  for (const Bound& each : all)
    if (!each.known) return false;
  const Dims dims = BroadcastDims(all);
  if (CountOf(dims) > kMostKnown) return false;
  std::vector<int64_t> values(static_cast<size_t>(CountOf(dims))), x(all.size());
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = 0; k < all.size(); ++k) {
      size_t rest = i, at = 0, step = 1;
      for (size_t axis = 0; axis < all[k].rank(); ++axis) {
        const auto own = static_cast<size_t>(all[k].dims[all[k].rank() - 1 - axis]), wide = static_cast<size_t>(dims[dims.size() - 1 - axis]);
        if (own != 1) at += rest % wide * step;
        step *= own;
        rest /= wide;
      }
      x[k] = (*all[k].known)[at];
    }
    values[i] = f(x);
  }
  n.out = {n.w.Known(result, dims, std::move(values))};
  return true;
}

}  // namespace df::from_onnx
