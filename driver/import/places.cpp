// Ops that take elements from places, or put them there: see node.h. A place is a number in row-major order; where an index is known only while the
// model runs, one that is out of range becomes a place of -1, at which the run fails.
#include <algorithm>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostIndices = int64_t{1} << 22;
constexpr int kMostToOnePlace = 64;

std::vector<int64_t> Counted(int64_t count) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

// base + stride * an index among `size` elements, which may be counted from their end.
Bound PlacesAt(Node& n, const Bound& index, int64_t size, int64_t stride, std::vector<int64_t> base) {
  if (index.element != Element::Int) throw Fault{"its indices are no Ints"};
  if (index.known) {
    for (size_t i = 0; i < base.size(); ++i) {
      int64_t at = (*index.known)[i];
      if (at < 0) at += size;
      if (at < 0 || at >= size) throw Fault{fmt::format("there is no index {} in {} elements", at, size)};
      base[i] += at * stride;
    }
    return n.w.Ints(index.dims, std::move(base));
  }
  const Bound plain = n.w.Elementwise(Element::Int, {index}, fmt::format("T.select (T.less {{0}} 0) ({{0}} + T.fill {}) {{0}}", size));
  const std::string place = fmt::format("T.select (T.less {{0}} 0) (-1) (T.select (T.less {{0}} (T.fill {})) ({{1}} + {{0}} * T.fill {}) (-1))", size, stride);
  return n.w.Elementwise(Element::Int, {plain, n.w.Ints(index.dims, std::move(base))}, place);
}

// Of each element of a tensor of that shape, where it would be but for one axis.
std::vector<int64_t> PlacesBut(const Dims& dims, size_t axis, const Dims& within) {
  if (CountOf(dims) > kMostIndices) throw Fault{"it has too many indices"};
  std::vector<int64_t> base(static_cast<size_t>(CountOf(dims)));
  for (size_t i = 0; i < base.size(); ++i) {
    size_t rest = i;
    for (size_t d = dims.size(); d-- > 0;) {
      if (d != axis) base[i] += static_cast<int64_t>(rest % static_cast<size_t>(dims[d])) * CountOf(within, d + 1, within.size());
      rest /= static_cast<size_t>(dims[d]);
    }
  }
  return base;
}

// The places of indices along an axis, each of an element of `x`.
Bound ElementPlaces(Node& n, const Bound& x, const Bound& index, size_t axis) {
  if (index.rank() != x.rank()) throw Fault{"its indices do not have the operand's axes"};
  for (size_t d = 0; d < x.rank(); ++d)
    if (d != axis && index.dims[d] > x.dims[d]) throw Fault{"it has more indices than the operand has elements"};
  return PlacesAt(n, index, x.dims[axis], CountOf(x.dims, axis + 1, x.rank()), PlacesBut(index.dims, axis, x.dims));
}

// The rows of x, [count, width], at these places.
Bound RowsAt(Node& n, const Bound& x, int64_t count, int64_t width, const Bound& places) {
  const int64_t wanted = CountOf(places.dims);
  const Bound rows = n.w.Reshape(x, {count, width}), at = n.w.Reshape(places, {wanted});
  return n.w.Let(x.element, {wanted, width}, fmt::format("T.gather {} {}", n.w.Use(rows), n.w.Use(at)));
}

void GatherElements(Node& n) {
  const Bound &x = n.In(0), &index = n.In(1);
  if (x.rank() == 0) throw Fault{"its operand has no axis"};
  const Bound places = ElementPlaces(n, x, index, n.Axis(n.Int("axis", 0), x.rank()));
  n.out = {n.w.Reshape(RowsAt(n, x, CountOf(x.dims), 1, places), index.dims)};
}

// Places of rows, of indices [.., deep] into the axes of x from `batch` on; those before it are counted.
Bound RowPlaces(Node& n, const Bound& x, const Bound& index, size_t batch, size_t* deep) {
  if (index.rank() <= batch || x.rank() < batch) throw Fault{"its operands do not have those axes"};
  const int64_t last = index.dims.back();
  if (last < 1 || static_cast<size_t>(last) > x.rank() - batch) throw Fault{"its indices do not have the operand's axes"};
  *deep = static_cast<size_t>(last);
  for (size_t d = 0; d < batch; ++d)
    if (x.dims[d] != index.dims[d]) throw Fault{"its operands do not have the same batches"};
  const int64_t outer = CountOf(x.dims, 0, batch), count = CountOf(index.dims, 0, index.rank() - 1), inner = CountOf(x.dims, batch, batch + *deep);
  if (count > kMostIndices) throw Fault{"it has too many indices"};
  const Bound table = n.w.Reshape(index, {count, last});
  std::optional<Bound> sum;
  for (size_t k = 0; k < *deep; ++k) {
    std::vector<int64_t> base(static_cast<size_t>(count));
    if (k == 0)
      for (size_t i = 0; i < base.size(); ++i) base[i] = static_cast<int64_t>(i) / (count / std::max<int64_t>(1, outer)) * inner;
    Bound column;
    if (table.known) {
      std::vector<int64_t> values;
      for (int64_t i = 0; i < count; ++i) values.push_back((*table.known)[static_cast<size_t>(i * last) + k]);
      column = n.w.Ints(std::move(values));
    } else {
      column = n.w.Reshape(n.w.Take(table, 1, {static_cast<int64_t>(k)}), {count});
    }
    const Bound part = PlacesAt(n, column, x.dims[batch + k], CountOf(x.dims, batch + k + 1, batch + *deep), std::move(base));
    if (!sum) {
      sum = part;
    } else if (sum->known && part.known) {
      for (size_t i = 0; i < sum->known->size(); ++i) (*sum->known)[i] += (*part.known)[i];
    } else {
      sum = n.w.Elementwise(Element::Int, {*sum, part}, "T.select (T.less {0} 0) (-1) (T.select (T.less {1} 0) (-1) ({0} + {1}))");
    }
  }
  return *sum;
}

void GatherND(Node& n) {
  const Bound &x = n.In(0), &index = n.In(1);
  const int64_t given = n.Int("batch_dims", 0);
  if (given < 0 || given >= static_cast<int64_t>(x.rank())) throw Fault{"its batches are not those of the operand"};
  const auto batch = static_cast<size_t>(given);
  size_t deep = 0;
  const Bound places = RowPlaces(n, x, index, batch, &deep);
  Dims dims(index.dims.begin(), index.dims.end() - 1);
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch + deep), x.dims.end());
  n.out = {n.w.Reshape(RowsAt(n, x, CountOf(x.dims, 0, batch + deep), CountOf(x.dims, batch + deep, x.rank()), places), dims)};
}

// Rows times, or the larger or smaller of them and, each of those that come to its place: of those that come to one place one after the other.
Bound Combined(Node& n, Bound x, const Bound& places, const Bound& rows, const std::string& reduction) {
  const char* text = reduction == "add" ? "{1} + {2}" : reduction == "mul" ? "{1} * {2}" : reduction == "max" ? "T.max {1} {2}" : reduction == "min" ? "T.min {1} {2}" : nullptr;
  if (!text || x.element == Element::Bool) throw Fault{fmt::format("its reduction is `{}`, which is not known of such elements", reduction)};
  if (!places.known) throw Fault{fmt::format("its places are computed while the model runs, and its reduction is `{}`", reduction)};
  std::vector<int64_t> left = *places.known;
  for (int rounds = 0; std::any_of(left.begin(), left.end(), [](int64_t each) { return each >= 0; }); ++rounds) {
    if (rounds == kMostToOnePlace) throw Fault{fmt::format("more than {} come to one place", kMostToOnePlace)};
    std::vector<int64_t> from(static_cast<size_t>(x.dims[0])), some(from.size());
    for (size_t i = 0; i < left.size(); ++i) {
      if (left[i] < 0 || some[static_cast<size_t>(left[i])] != 0) continue;
      from[static_cast<size_t>(left[i])] = static_cast<int64_t>(i);
      some[static_cast<size_t>(left[i])] = 1;
      left[i] = -1;
    }
    const Bound come = RowsAt(n, rows, rows.dims[0], rows.dims[1], n.w.Ints(std::move(from)));
    x = n.w.Elementwise(x.element, {n.w.Known(Element::Bool, {x.dims[0], 1}, std::move(some)), x, come}, fmt::format("T.select {{0}} ({}) {{1}}", text));
  }
  return x;
}

// x as [count, width] with these rows at these places: of each row it is said which one of both tensors it becomes. A place that is known only
// while the model runs must not come twice, and fails if it does; of those that are known the last counts.
Bound Scattered(Node& n, const Bound& x, int64_t count, int64_t width, const Bound& places, const Bound& rows) {
  const std::string reduction = n.Text("reduction", "none");
  const int64_t more = CountOf(places.dims);
  if (x.element != rows.element) throw Fault{"its operands have elements of two types"};
  const Bound before = n.w.Reshape(x, {count, width}), fresh = n.w.Reshape(rows, {more, width}), at = n.w.Reshape(places, {more});
  if (reduction == "add" && x.element != Element::Bool && (x.element != Element::Int || x.width == Width{}))
    return n.w.Let(x.element, before.dims, fmt::format("T.scatterAdd {} {} {}", n.w.Use(before), n.w.Use(at), n.w.Use(fresh)));
  if (reduction != "none") return Combined(n, before, at, fresh, reduction);
  const Bound both = n.w.Concat({before, fresh}, 0);
  if (at.known) {
    std::vector<int64_t> source = Counted(count);
    for (size_t i = 0; i < at.known->size(); ++i) source[static_cast<size_t>((*at.known)[i])] = count + static_cast<int64_t>(i);
    return RowsAt(n, both, count + more, width, n.w.Ints(std::move(source)));
  }
  const Bound often = n.w.Let(Element::Int, {count}, fmt::format("T.scatterAdd 0 {} (T.fill 1)", n.w.Use(at)));
  const Bound which = n.w.Let(Element::Int, {count}, fmt::format("T.scatterAdd 0 {} T.iota", n.w.Use(at)));
  const Bound source = n.w.Elementwise(Element::Int, {often, which}, fmt::format("T.select (T.equal {{0}} 0) T.iota (T.select (T.equal {{0}} 1) ({{1}} + T.fill {}) (-1))", count));
  return RowsAt(n, both, count + more, width, source);
}

void ScatterND(Node& n) {
  const Bound x = n.In(0), index = n.In(1);
  size_t deep = 0;
  const Bound places = RowPlaces(n, x, index, 0, &deep);
  Dims dims(index.dims.begin(), index.dims.end() - 1);
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(deep), x.dims.end());
  if (n.In(2).dims != dims) throw Fault{"its rows do not fit its indices"};
  n.out = {n.w.Reshape(Scattered(n, x, CountOf(x.dims, 0, deep), CountOf(x.dims, deep, x.rank()), places, n.In(2)), x.dims)};
}

void ScatterElements(Node& n) {
  const Bound x = n.In(0), index = n.In(1);
  if (x.rank() == 0 || n.In(2).dims != index.dims) throw Fault{"its operands do not fit each other"};
  const Bound places = ElementPlaces(n, x, index, n.Axis(n.Int("axis", 0), x.rank()));
  n.out = {n.w.Reshape(Scattered(n, x, CountOf(x.dims), 1, places, n.In(2)), x.dims)};
}

void OneHot(Node& n) {
  Bound index = n.In(0);
  const std::vector<double> depth = n.KnownReals(1, "number of classes");
  const Bound& values = n.In(2);
  if (depth.size() != 1 || !(depth[0] >= 1 && depth[0] <= 1e9) || values.dims != Dims{2}) throw Fault{"its classes do not have a number and two values"};
  const auto classes = static_cast<int64_t>(depth[0]);
  if (index.element == Element::Bool) throw Fault{"its indices are Bools"};
  if (index.element != Element::Int) index = n.w.Elementwise(Element::Int, {index}, "T.convert {0}");
  Dims dims = index.dims, wide(index.rank() + 1, 1);
  const size_t axis = n.Axis(n.Int("axis", -1), wide.size());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  wide[axis] = classes;
  const Bound counted = n.w.Let(Element::Int, {classes}, "T.iota");
  const Bound at = n.w.Elementwise(Element::Int, {n.w.Reshape(index, dims)}, fmt::format("T.select (T.less {{0}} 0) ({{0}} + T.fill {}) {{0}}", classes));
  n.out = {n.w.Elementwise(values.element, {at, n.w.Reshape(counted, wide)},
                           fmt::format("T.select (T.equal {{0}} {{1}}) (T.fill ({0} T.! 1)) (T.fill ({0} T.! 0))", n.w.Use(values)))};
}

// Where the elements are that are not 0, and those at which a condition holds: how many they are has to be known.
void NonZero(Node& n) {
  const Bound& x = n.In(0);
  if (!x.known) throw Fault{"how many there are is computed while the model runs, and the language has a type for each shape"};
  std::vector<std::vector<int64_t>> at(std::max<size_t>(1, x.rank()));
  for (size_t i = 0; i < x.known->size(); ++i) {
    if ((*x.known)[i] == 0) continue;
    size_t rest = i;
    for (size_t d = x.rank(); d-- > 0; rest /= static_cast<size_t>(x.dims[d])) at[d].push_back(static_cast<int64_t>(rest % static_cast<size_t>(x.dims[d])));
    if (x.rank() == 0) at[0].push_back(0);
  }
  const auto rank = static_cast<int64_t>(x.rank() == 0 ? 0 : at.size()), found = static_cast<int64_t>(at[0].size());
  std::vector<int64_t> all;
  for (const auto& each : at) all.insert(all.end(), each.begin(), each.end());
  if (x.rank() == 0) all.clear();
  n.out = {n.w.Ints({rank, found}, std::move(all))};
}
void Compress(Node& n) {
  Bound x = n.In(0);
  const Bound& wanted = n.In(1);
  if (!wanted.known || wanted.element != Element::Bool) throw Fault{"its condition is computed while the model runs, and the language has a type for each shape"};
  size_t axis = 0;
  if (n.HasAttribute("axis")) axis = n.Axis(n.Int("axis", 0), x.rank());
  else x = n.w.Reshape(x, {CountOf(x.dims)});
  std::vector<int64_t> at;
  for (size_t i = 0; i < wanted.known->size(); ++i) {
    if ((*wanted.known)[i] == 0) continue;
    if (static_cast<int64_t>(i) >= x.dims[axis]) throw Fault{fmt::format("there is no index {}", i)};
    at.push_back(static_cast<int64_t>(i));
  }
  n.out = {n.w.Take(x, axis, at)};
}

// Of [batch, times, ..] for each of the batch those times that `at`, [batch, count], says; -1 fails the run.
Bound TakenByBatch(Node& n, const Bound& x, const Bound& at) {
  const int64_t batch = x.dims[0], times = x.dims[1], count = at.dims[1], width = CountOf(x.dims, 2, x.rank());
  std::vector<int64_t> starts;
  for (int64_t b = 0; b < batch; ++b) starts.push_back(b * times);
  const Bound places = n.w.Elementwise(Element::Int, {n.w.Ints({batch, 1}, std::move(starts)), at}, "T.select (T.less {1} 0) (-1) ({0} + {1})");
  Dims dims = x.dims;
  dims[1] = count;
  return n.w.Reshape(RowsAt(n, x, batch * times, width, places), dims);
}
// The batch's axis first, another second; and back.
std::pair<std::vector<size_t>, std::vector<size_t>> BatchFirst(size_t rank, size_t batch, size_t second) {
  std::vector<size_t> order = {batch, second}, back(rank);
  for (size_t i = 0; i < rank; ++i)
    if (i != batch && i != second) order.push_back(i);
  for (size_t i = 0; i < rank; ++i) back[order[i]] = i;
  return {order, back};
}

void ReverseSequence(Node& n) {
  const Bound &x = n.In(0), &lengths = n.In(1);
  const size_t batch = n.Axis(n.Int("batch_axis", 1), x.rank()), time = n.Axis(n.Int("time_axis", 0), x.rank());
  if (batch == time || lengths.element != Element::Int || lengths.dims != Dims{x.dims[batch]} || CountOf(x.dims) > kMostIndices) throw Fault{"its lengths do not fit its operand"};
  const auto [order, back] = BatchFirst(x.rank(), batch, time);
  const int64_t size = x.dims[time];
  const Bound at = n.w.Elementwise(Element::Int, {n.w.Reshape(lengths, {x.dims[batch], 1}), n.w.Ints({1, size}, Counted(size))},
                                   fmt::format("T.select (T.greater {{0}} (T.fill {})) (-1) (T.select (T.less {{1}} {{0}}) ({{0}} - 1 - {{1}}) {{1}})", size));
  n.out = {n.w.Permute(TakenByBatch(n, n.w.Permute(x, order), at), back)};
}

// A part of a cache is another now, for each of the batch from an index on: of each place it is said whether it is an old or a new one.
void TensorScatter(Node& n) {
  const Bound &x = n.In(0), &fresh = n.In(1);
  const std::string mode = n.Text("mode", "linear");
  const size_t axis = n.Axis(n.Int("axis", -2), x.rank());
  Dims dims = x.dims;
  if (axis < fresh.rank()) dims[axis] = fresh.dims[axis];
  if (axis == 0 || fresh.dims != dims || x.element != fresh.element || dims[axis] > x.dims[axis] || (mode != "linear" && mode != "circular")) throw Fault{"what it writes does not fit the cache"};
  const int64_t batch = x.dims[0], size = x.dims[axis], more = dims[axis];
  const Bound start = n.Has(2) ? n.In(2) : n.w.Ints({batch}, std::vector<int64_t>(static_cast<size_t>(batch)));
  if (start.element != Element::Int || start.dims != Dims{batch}) throw Fault{"it does not say of each batch where it writes"};
  const auto [order, back] = BatchFirst(x.rank(), 0, axis);
  const Bound both = n.w.Permute(n.w.Concat({x, fresh}, axis), order);
  const bool circular = mode == "circular";
  const Bound apart = n.w.Elementwise(Element::Int, {n.w.Reshape(start, {batch, 1}), n.w.Ints({1, size}, Counted(size))}, circular ? fmt::format("T.zipWith (\\a e -> (e - a) `mod` {}) {{0}} {{1}}", size) : "{1} - {0}");
  Bound at = n.w.Elementwise(Element::Int, {apart, n.w.Ints({1, size}, Counted(size))},
                             fmt::format("T.select (T.less {{0}} 0) {{1}} (T.select (T.less {{0}} (T.fill {0})) ({{0}} + T.fill {1}) {{1}})", more, size));
  if (!circular) at = n.w.Elementwise(Element::Int, {n.w.Reshape(start, {batch, 1}), at}, fmt::format("T.select (T.less {{0}} 0) (-1) (T.select (T.greater {{0}} (T.fill {})) (-1) {{1}})", size - more));
  n.out = {n.w.Permute(TakenByBatch(n, both, at), back)};
}

}  // namespace

void AddPlaces(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"GatherElements", GatherElements}, {"GatherND", GatherND}, {"ScatterElements", ScatterElements}, {"Scatter", ScatterElements},
                                                 {"ScatterND", ScatterND}, {"OneHot", OneHot}, {"NonZero", NonZero}, {"Compress", Compress},
                                                 {"ReverseSequence", ReverseSequence}, {"TensorScatter", TensorScatter}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
