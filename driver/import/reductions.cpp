// Sums and the like along axes: see node.h.
#include <algorithm>

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

// A function of what is known, along the one axis that there is.
bool Folded(Node& n, const Bound& x, std::string_view name) {
  if (!x.known || x.rank() != 1 || x.known->empty() || name == "mean") return false;
  const auto axes = ReducedAxes(n, 1);
  if (!axes) return false;
  uint64_t value = static_cast<uint64_t>((*x.known)[0]);
  for (size_t i = 1; i < x.known->size(); ++i) {
    const int64_t at = static_cast<int64_t>(value), each = (*x.known)[i];
    if (name == "sum") value += static_cast<uint64_t>(each);
    else if (name == "product") value *= static_cast<uint64_t>(each);
    else value = static_cast<uint64_t>(name == "max" ? std::max(at, each) : std::min(at, each));
  }
  n.out = {n.w.Known(x.element, n.Int("keepdims", 1) != 0 ? Dims{1} : Dims{}, {static_cast<int64_t>(value)})};
  return true;
}

Bound Reduced(Node& n, const Bound& x, const char* name) {
  if (x.element == Element::Bool || (x.element == Element::Int && std::string_view(name) == "mean")) throw Fault{"it is of numbers"};
  const auto axes = ReducedAxes(n, x.rank());
  return axes ? n.w.Reduce(name, x, *axes, n.Int("keepdims", 1) != 0) : x;
}

template <const char* kName>
void Plain(Node& n) {
  const Bound& x = n.In(0);
  const std::string_view name = kName;
  if (x.element == Element::Bool && (name == "max" || name == "min")) {
    const Bound number = Reduced(n, n.w.Elementwise(Element::Int, {x}, "T.select {0} 1 0"), kName);
    n.out = {n.w.Elementwise(Element::Bool, {number}, "T.equal {0} 1")};
  } else if (x.element == Element::Bool || !Folded(n, x, name)) {
    n.out = {Reduced(n, x, kName)};
  }
}

// Halves of the rows times each other, until one is left.
Bound ProductOfRows(Node& n, Bound x) {
  const int64_t width = x.dims[1];
  while (x.dims[0] > 1) {
    const int64_t half = x.dims[0] / 2, odd = x.dims[0] % 2;
    auto rows = [&](int64_t from, int64_t count) { return n.w.Let(x.element, {count, width}, fmt::format("T.slice {} {}", from, n.w.Use(x))); };
    const Bound first = rows(0, half), second = rows(half, half);
    Bound made = n.w.Elementwise(x.element, {first, second}, "{0} * {1}");
    if (odd != 0) made = n.w.Concat({made, rows(2 * half, 1)}, 0);
    x = made;
  }
  return x;
}
void Product(Node& n) {
  const Bound& given = n.In(0);
  if (given.element == Element::Bool) throw Fault{"it is of numbers"};
  if (Folded(n, given, "product")) return;
  const auto axes = ReducedAxes(n, given.rank());
  n.out = {given};
  if (!axes) return;
  std::vector<size_t> order = *axes;
  Dims kept = given.dims, rest;
  for (size_t axis : *axes) kept[axis] = 1;
  for (size_t i = 0; i < given.rank(); ++i)
    if (std::find(axes->begin(), axes->end(), i) == axes->end()) order.push_back(i), rest.push_back(given.dims[i]);
  const int64_t width = CountOf(rest), count = CountOf(given.dims) == 0 ? 0 : CountOf(given.dims) / width;
  Bound made = n.w.Fill(given.element, {1, width}, 1);
  if (count > 0) made = ProductOfRows(n, n.w.Reshape(n.w.Permute(given, order), {count, width}));
  n.out = {n.w.Reshape(made, n.Int("keepdims", 1) != 0 ? kept : rest)};
}
constexpr char kSum[] = "sum", kMean[] = "mean", kMax[] = "max", kMin[] = "min";

// Of each element something, of that the sum, of that something.
Bound AroundSum(Node& n, const char* before, const char* after) {
  n.Real(n.In(0));
  const Bound x = *before ? n.w.Elementwise(n.In(0).element, {n.In(0)}, before) : n.In(0);
  const Bound sum = Reduced(n, x, "sum");
  return *after ? n.w.Elementwise(sum.element, {sum}, after) : sum;
}
void L1(Node& n) { n.out = {AroundSum(n, "abs {0}", "")}; }
void L2(Node& n) { n.out = {AroundSum(n, "{0} * {0}", "sqrt {0}")}; }
void SumSquare(Node& n) { n.out = {AroundSum(n, "{0} * {0}", "")}; }
void LogSum(Node& n) { n.out = {AroundSum(n, "", "log {0}")}; }
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
  const bool from_end = n.Int("select_last_index", 0) != 0;
  if (x.dims[axis] == 0) throw Fault{"of no elements none is the largest"};
  std::vector<size_t> order;
  Dims dims;
  for (size_t i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i), dims.push_back(x.dims[i]);
  order.push_back(axis);
  Bound last = n.w.Permute(x, order);
  if (from_end) {
    std::vector<int64_t> back;
    for (int64_t i = x.dims[axis]; i-- > 0;) back.push_back(i);
    last = n.w.Take(last, order.size() - 1, back);
  }
  const Bound rows = n.w.Reshape(last, {CountOf(dims), x.dims[axis]});
  Bound at = n.w.Let(Element::Int, {CountOf(dims)}, "T.argmaxRows " + n.w.Use(rows));
  if (from_end) at = n.w.Elementwise(Element::Int, {at}, fmt::format("T.fill {} - {{0}}", x.dims[axis] - 1));
  if (n.Int("keepdims", 1) != 0) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return n.w.Reshape(at, dims);
}
void ArgMax(Node& n) {
  if (n.In(0).element == Element::Bool) throw Fault{"it is of numbers"};
  n.out = {Index(n, n.In(0))};
}
void ArgMin(Node& n) {
  if (n.In(0).element == Element::Bool) throw Fault{"it is of numbers"};
  // Of Ints the complement, which each of them has.
  n.out = {Index(n, n.In(0).element == Element::Int ? n.w.Elementwise(Element::Int, {n.In(0)}, "-1 - {0}") : n.w.Apply("negate", n.In(0)))};
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
constexpr char kSoftmax[] = "T.softmax", kLogSoftmax[] = "T.logSoftmax", kHardmax[] = "(\\e -> T.oneHots (T.argmaxRows e))";

}  // namespace

void AddReductions(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {
      {"ReduceSum", Plain<kSum>}, {"ReduceMean", Plain<kMean>}, {"ReduceMax", Plain<kMax>}, {"ReduceMin", Plain<kMin>}, {"ReduceL1", L1}, {"ReduceL2", L2},
      {"ReduceSumSquare", SumSquare}, {"ReduceLogSum", LogSum}, {"ReduceLogSumExp", LogSumExp}, {"ArgMax", ArgMax}, {"ArgMin", ArgMin},
      {"Softmax", Along<kSoftmax>}, {"LogSoftmax", Along<kLogSoftmax>}, {"Hardmax", Along<kHardmax>}, {"ReduceProd", Product}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
