// Products and normalisations: see node.h.
#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

void MatMul(Node& n) { n.out = {n.w.MatMul(n.In(0), n.In(1))}; }

void Gemm(Node& n) {
  Bound x = n.In(0), y = n.In(1);
  n.Real(x);
  if (x.rank() != 2 || y.rank() != 2) throw Fault{"it is of matrices"};
  if (n.Int("transA", 0) != 0) x = n.w.Permute(x, {1, 0});
  if (n.Int("transB", 0) != 0) y = n.w.Permute(y, {1, 0});
  Bound product = n.w.MatMul(x, y);
  auto scaled = [&](const Bound& each, double by) { return by == 1 ? each : n.w.Let(each.element, each.dims, fmt::format("{} * T.fill {}", n.w.Use(each), NumberText(each.element, by))); };
  product = scaled(product, n.Real("alpha", 1));
  if (n.Has(2)) product = n.w.Elementwise(product.element, {product, n.w.Broadcast(scaled(n.In(2), n.Real("beta", 1)), product.dims)}, "{0} + {1}");
  n.out = {product};
}

// Rows of a matrix, less their mean, over their deviation.
Bound Normalised(Node& n, const Bound& rows, double epsilon, std::vector<Bound>* moments = nullptr) {
  const auto axes = std::vector<size_t>{1};
  const Bound mean = n.w.Reduce("mean", rows, axes, true), rest = n.w.Elementwise(rows.element, {rows, mean}, "{0} - {1}");
  const Bound variance = n.w.Reduce("mean", n.w.Elementwise(rows.element, {rest}, "{0} * {0}"), axes, true);
  const Bound deviation = n.w.Let(rows.element, variance.dims, fmt::format("sqrt ({} + T.fill {})", n.w.Use(variance), NumberText(rows.element, epsilon)));
  if (moments) *moments = {mean, n.w.Elementwise(rows.element, {deviation}, "1 / {0}")};
  return n.w.Elementwise(rows.element, {rest, deviation}, "{0} / {1}");
}

Bound Scaled(Node& n, const Bound& x, const Bound& scale, const std::optional<Bound>& shift) {
  const Bound product = n.w.Elementwise(x.element, {x, scale}, "{0} * {1}");
  return shift ? n.w.Elementwise(x.element, {product, *shift}, "{0} + {1}") : product;
}

void LayerNormalization(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const size_t axis = n.Axis(n.Int("axis", -1), x.rank());
  const Bound rows = n.w.Reshape(x, {CountOf(x.dims, 0, axis), CountOf(x.dims, axis, x.rank())});
  std::vector<Bound> moments;
  const Bound normal = n.w.Reshape(Normalised(n, rows, n.Real("epsilon", 1e-5), &moments), x.dims);
  n.out = {Scaled(n, normal, n.In(1), n.Has(2) ? n.in[2] : std::nullopt)};
  Dims kept = x.dims;
  std::fill(kept.begin() + static_cast<std::ptrdiff_t>(axis), kept.end(), 1);
  if (n.Wanted(1)) n.out.push_back(n.w.Reshape(moments[0], kept));
  if (n.Wanted(2)) {
    if (!n.Wanted(1)) n.out.push_back(moments[0]);
    n.out.push_back(n.w.Reshape(moments[1], kept));
  }
}

// Over the root of the mean of the squares, of each row.
void RMSNormalization(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const size_t axis = n.Axis(n.Int("axis", -1), x.rank());
  const Bound rows = n.w.Reshape(x, {CountOf(x.dims, 0, axis), CountOf(x.dims, axis, x.rank())});
  const Bound mean = n.w.Reduce("mean", n.w.Elementwise(x.element, {rows}, "{0} * {0}"), {1}, true);
  const Bound root = n.w.Let(x.element, mean.dims, fmt::format("sqrt ({} + T.fill {})", n.w.Use(mean), NumberText(x.element, n.Real("epsilon", 1e-5))));
  n.out = {Scaled(n, n.w.Reshape(n.w.Elementwise(x.element, {rows, root}, "{0} / {1}"), x.dims), n.In(1), std::nullopt)};
}

// A value of each channel, the second axis.
Bound OfChannels(Node& n, const Bound& each, const Bound& x) {
  Dims dims(x.rank(), 1);
  if (x.rank() < 2 || CountOf(each.dims) != x.dims[1]) throw Fault{"it does not have a number for each channel"};
  dims[1] = x.dims[1];
  return n.w.Reshape(each, dims);
}

// By the batch's own mean and variance, which become a part of the running ones.
void TrainedNormalization(Node& n) {
  const Bound& x = n.In(0);
  const double kept = n.Real("momentum", 0.9);
  if (x.rank() < 2 || n.opset < 14) throw Fault{"it is in training mode, of an opset before 14"};
  std::vector<size_t> axes;
  for (size_t i = 0; i < x.rank(); ++i)
    if (i != 1) axes.push_back(i);
  const Bound mean = n.w.Reduce("mean", x, axes, true), rest = n.w.Elementwise(x.element, {x, mean}, "{0} - {1}");
  const Bound variance = n.w.Reduce("mean", n.w.Elementwise(x.element, {rest}, "{0} * {0}"), axes, true);
  const Bound normal = n.w.Elementwise(x.element, {rest, variance}, fmt::format("{{0}} / sqrt ({{1}} + T.fill {})", NumberText(x.element, n.Real("epsilon", 1e-5))));
  n.out = {Scaled(n, normal, OfChannels(n, n.In(1), x), OfChannels(n, n.In(2), x))};
  for (const auto& [before, own] : {std::pair(n.In(3), mean), std::pair(n.In(4), variance)})
    n.out.push_back(n.w.Elementwise(x.element, {before, n.w.Reshape(own, {x.dims[1]})}, fmt::format("{{0}} * T.fill {} + {{1}} * T.fill {}", NumberText(x.element, kept), NumberText(x.element, 1 - kept))));
}

void BatchNormalization(Node& n) {
  n.Real(n.In(0));
  if (n.Int("training_mode", 0) != 0) return TrainedNormalization(n);
  n.OnlyFirst();
  const Bound& x = n.In(0);
  const Bound deviation = n.w.Let(x.element, n.In(4).dims, fmt::format("sqrt ({} + T.fill {})", n.w.Use(n.In(4)), NumberText(x.element, n.Real("epsilon", 1e-5))));
  const Bound scale = n.w.Elementwise(x.element, {n.In(1), deviation}, "{0} / {1}");
  const Bound shift = n.w.Elementwise(x.element, {n.In(2), n.In(3), scale}, "{0} - {1} * {2}");
  n.out = {Scaled(n, x, OfChannels(n, scale, x), OfChannels(n, shift, x))};
}

void InstanceNormalization(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  if (x.rank() < 3) throw Fault{"its operand has no channels"};
  const Bound rows = n.w.Reshape(x, {CountOf(x.dims, 0, 2), CountOf(x.dims, 2, x.rank())});
  const Bound normal = n.w.Reshape(Normalised(n, rows, n.Real("epsilon", 1e-5)), x.dims);
  n.out = {Scaled(n, normal, OfChannels(n, n.In(1), x), OfChannels(n, n.In(2), x))};
}

void GroupNormalization(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const int64_t groups = n.Int("num_groups", 0);
  if (x.rank() < 2 || groups <= 0 || x.dims[1] % groups != 0 || n.opset < 21) throw Fault{"its groups are not parts of the channels"};
  const Bound rows = n.w.Reshape(x, {x.dims[0] * groups, CountOf(x.dims) / std::max<int64_t>(1, x.dims[0] * groups)});
  const Bound normal = n.w.Reshape(Normalised(n, rows, n.Real("epsilon", 1e-5)), x.dims);
  n.out = {Scaled(n, normal, OfChannels(n, n.In(1), x), OfChannels(n, n.In(2), x))};
}

void GlobalAveragePool(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  std::vector<size_t> axes;
  for (size_t i = 2; i < x.rank(); ++i) axes.push_back(i);
  n.out = {n.w.Reduce("mean", x, axes, true)};
}
void GlobalMaxPool(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  std::vector<size_t> axes;
  for (size_t i = 2; i < x.rank(); ++i) axes.push_back(i);
  n.out = {n.w.Reduce("max", x, axes, true)};
}

}  // namespace

void AddLayers(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {
      {"MatMul", MatMul}, {"Gemm", Gemm}, {"LayerNormalization", LayerNormalization}, {"RMSNormalization", RMSNormalization}, {"BatchNormalization", BatchNormalization},
      {"InstanceNormalization", InstanceNormalization}, {"GroupNormalization", GroupNormalization}, {"GlobalAveragePool", GlobalAveragePool},
      {"GlobalMaxPool", GlobalMaxPool}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
