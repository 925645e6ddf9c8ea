// Sums and the like along axes: see node.h.
#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

// nullopt: nothing is to be done.
std::optional<std::vector<size_t>> ReducedAxes(Node& n, size_t rank) {
  std::vector<int64_t> given = n.Has(1) ? n.KnownInts(1, "axes") : n.Ints("axes", {});
  std::vector<size_t> axes;
  for (int64_t axis : given) {
    const size_t plain = n.Axis(axis, rank);
    if (std::find(axes.begin(), axes.end(), plain) == axes.end()) axes.push_back(plain);
  }
  if (!given.empty()) return axes;
  if (n.Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
  for (size_t i = 0; i < rank; ++i) axes.push_back(i);
  return axes;
}

Bound Reduced(Node& n, const Bound& x, const char* name) {
  if (x.element == Element::Bool || (x.element == Element::Int && std::string_view(name) == "mean")) throw Fault{"it is of numbers"};
  const auto axes = ReducedAxes(n, x.rank());
  return axes ? n.w.Reduce(name, x, *axes, n.Int("keepdims", 1) != 0) : x;
}

template <const char* kName>
void Plain(Node& n) { n.out = {Reduced(n, n.In(0), kName)}; }
constexpr char kSum[] = "sum", kMean[] = "mean", kMax[] = "max", kMin[] = "min";

// Of each element something, of that the sum, of that something.
Bound Around(Node& n, const char* before, const char* after) {
  n.Real(n.In(0));
  const Bound x = *before ? n.w.Elementwise(n.In(0).element, {n.In(0)}, before) : n.In(0);
  const Bound sum = Reduced(n, x, "sum");
  return *after ? n.w.Elementwise(sum.element, {sum}, after) : sum;
}
void L1(Node& n) { n.out = {Around(n, "abs {0}", "")}; }
void L2(Node& n) { n.out = {Around(n, "{0} * {0}", "sqrt {0}")}; }
void SumSquare(Node& n) { n.out = {Around(n, "{0} * {0}", "")}; }
void LogSum(Node& n) { n.out = {Around(n, "", "log {0}")}; }
void LogSumExp(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const auto axes = ReducedAxes(n, x.rank());
  if (!axes) throw Fault{"it has no axes"};
  const Bound most = n.w.Reduce("max", x, *axes, true);
  const Bound rest = n.w.Elementwise(x.element, {x, most}, "exp ({0} - {1})");
  const bool keep = n.Int("keepdims", 1) != 0;
  const Bound sum = n.w.Reduce("sum", rest, *axes, keep);
  n.out = {n.w.Elementwise(x.element, {sum, n.w.Reshape(most, sum.dims)}, "log {0} + {1}")};
}

// The first of several; along the last axis of a matrix, which others become.
Bound Index(Node& n, const Bound& x) {
  const size_t axis = n.Axis(n.Int("axis", 0), x.rank());
  if (n.Int("select_last_index", 0) != 0) throw Fault{"of several it wants the last"};
  std::vector<size_t> order;
  Dims dims;
  for (size_t i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i), dims.push_back(x.dims[i]);
  order.push_back(axis);
  const Bound last = n.w.Permute(x, order);
  const Bound rows = n.w.Reshape(last, {CountOf(dims), x.dims[axis]});
  Bound at = n.w.Let(Element::Int, {CountOf(dims)}, "T.argmaxRows " + n.w.Use(rows));
  if (n.Int("keepdims", 1) != 0) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return n.w.Reshape(at, dims);
}
void ArgMax(Node& n) {
  n.Real(n.In(0));
  n.out = {Index(n, n.In(0))};
}
void ArgMin(Node& n) {
  n.Real(n.In(0));
  n.out = {Index(n, n.w.Apply("negate", n.In(0)))};
}

template <const char* kFunction>
void Along(Node& n) {
  Bound x = n.In(0);
  n.Real(x);
  if (x.rank() == 0) throw Fault{"its operand has no axis"};
  const size_t axis = n.Axis(n.Int("axis", n.opset < 13 ? 1 : -1), x.rank());
  const Dims dims = x.dims;
  if (n.opset < 13) x = n.w.Reshape(x, {CountOf(dims, 0, axis), CountOf(dims, axis, dims.size())});
  n.out = {n.w.Reshape(n.w.AlongAxis(kFunction, x, n.opset < 13 ? 1 : axis), dims)};
}
constexpr char kSoftmax[] = "T.softmax", kLogSoftmax[] = "T.logSoftmax";

}  // namespace

void AddReductions(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {
      {"ReduceSum", Plain<kSum>}, {"ReduceMean", Plain<kMean>}, {"ReduceMax", Plain<kMax>}, {"ReduceMin", Plain<kMin>}, {"ReduceL1", L1}, {"ReduceL2", L2},
      {"ReduceSumSquare", SumSquare}, {"ReduceLogSum", LogSum}, {"ReduceLogSumExp", LogSumExp}, {"ArgMax", ArgMax}, {"ArgMin", ArgMin},
      {"Softmax", Along<kSoftmax>}, {"LogSoftmax", Along<kLogSoftmax>}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
