// Losses of classes, and normalisations by a power: see node.h.
#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

// Of [batch, classes, ..] what stands at the class of each target [batch, ..], by its weight. A class that there is not fails the run.
Bound Loss(Node& n, const Bound& scores) {
  const Bound& target = n.In(1);
  const std::string how = n.Text("reduction", "mean");
  if (how != "none" && how != "mean" && how != "sum") throw Fault{fmt::format("its reduction is `{}`, which is not known", how)};
  Dims dims = scores.dims;
  if (scores.rank() < 2 || target.element != Element::Int) throw Fault{"it is of classes"};
  const int64_t classes = dims[1];
  dims.erase(dims.begin() + 1);
  if (target.dims != dims || classes < 1) throw Fault{"its targets do not fit its scores"};
  Bound weight = n.w.Fill(scores.element, {classes}, 1), at = target;
  if (n.Has(2)) weight = n.In(2);
  if (weight.dims != Dims{classes} || weight.element != scores.element) throw Fault{"it does not have a weight for each class"};
  std::optional<Bound> kept;
  if (n.HasAttribute("ignore_index")) {
    kept = n.w.Elementwise(Element::Bool, {target}, fmt::format("T.notEqual {{0}} ({})", n.Int("ignore_index", 0)));
    at = n.w.Elementwise(Element::Int, {*kept, target}, "T.select {0} {1} 0");
  }
  Bound weights = n.w.Let(scores.element, {CountOf(dims)}, fmt::format("T.gather {} {}", n.w.Use(weight), n.w.Use(n.w.Reshape(at, {CountOf(dims)}))));
  weights = n.w.Reshape(weights, dims);
  if (kept) weights = n.w.Elementwise(scores.element, {*kept, weights}, "T.select {0} {1} 0");
  Dims one = dims, every(scores.rank(), 1);
  one.insert(one.begin() + 1, 1);
  every[1] = classes;
  const Bound counted = n.w.Reshape(n.w.Let(Element::Int, {classes}, "T.iota"), every);
  const Bound picked = n.w.Reduce("sum", n.w.Elementwise(scores.element, {n.w.Reshape(at, one), counted, scores}, "T.select (T.equal {0} {1}) {2} 0"), {1}, false);
  Bound loss = n.w.Elementwise(scores.element, {weights, picked}, "negate ({0} * {1})");
  if (kept) loss = n.w.Elementwise(scores.element, {*kept, loss}, "T.select {0} {1} 0");
  if (how == "none") return loss;
  std::vector<size_t> axes;
  for (size_t i = 0; i < loss.rank(); ++i) axes.push_back(i);
  const Bound sum = n.w.Reduce("sum", loss, axes, false);
  return how == "sum" ? sum : n.w.Elementwise(scores.element, {sum, n.w.Reduce("sum", weights, axes, false)}, "{0} / {1}");
}

void NegativeLogLikelihoodLoss(Node& n) {
  n.Real(n.In(0));
  n.out = {Loss(n, n.In(0))};
}
void SoftmaxCrossEntropyLoss(Node& n) {
  n.Real(n.In(0));
  if (n.In(0).rank() < 2) throw Fault{"it is of classes"};
  const Bound logs = n.w.AlongAxis("T.logSoftmax", n.In(0), 1);
  n.out = {Loss(n, logs), logs};
}

// Over the sum of absolute values, or over the root of that of squares; of nothing but zeros, zeros.
void LpNormalization(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const int64_t p = n.Int("p", 2);
  if (p != 1 && p != 2) throw Fault{"its power is neither 1 nor 2"};
  const size_t axis = n.Axis(n.Int("axis", -1), x.rank());
  const Bound sum = n.w.Reduce("sum", n.w.Elementwise(x.element, {x}, p == 1 ? "abs {0}" : "{0} * {0}"), {axis}, true);
  n.out = {n.w.Elementwise(x.element, {x, sum}, p == 1 ? "T.select (T.equal {1} 0) 0 ({0} / {1})" : "T.select (T.equal {1} 0) 0 ({0} / sqrt {1})")};
}

void MeanVarianceNormalization(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  std::vector<size_t> axes;
  for (int64_t axis : n.Ints("axes", {0, 2, 3})) axes.push_back(n.Axis(axis, x.rank()));
  const Bound rest = n.w.Elementwise(x.element, {x, n.w.Reduce("mean", x, axes, true)}, "{0} - {1}");
  const Bound variance = n.w.Reduce("mean", n.w.Elementwise(x.element, {rest}, "{0} * {0}"), axes, true);
  n.out = {n.w.Elementwise(x.element, {rest, variance}, "{0} / (sqrt {1} + 1.0e-9)")};
}

}  // namespace

void AddLosses(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"NegativeLogLikelihoodLoss", NegativeLogLikelihoodLoss}, {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLoss},
                                                 {"LpNormalization", LpNormalization}, {"MeanVarianceNormalization", MeanVarianceNormalization}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
