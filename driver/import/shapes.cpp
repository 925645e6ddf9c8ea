// Ops that move elements, and what is known of shapes: see node.h.
#include <cmath>
#include <numeric>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

void Identity(Node& n) {
  n.OnlyFirst();
  n.out = {n.In(0)};
}
void Dropout(Node& n) {
  if (n.Has(2) && !(n.In(2).known && n.In(2).known->size() == 1 && n.In(2).known->front() == 0)) throw Fault{"it is in training mode"};
  n.out = {n.In(0)};
  if (n.Wanted(1)) n.out.push_back(n.w.Fill(Element::Bool, n.In(0).dims, 1));
}

void Constant(Node& n) {
  if (const auto* tensor = n.Tensor("value")) n.out = {ConstantOf(*tensor, "constant", n.w)};
  else if (n.HasAttribute("value_int")) n.out = {n.w.Ints({}, {n.Int("value_int", 0)})};
  else if (n.HasAttribute("value_float")) n.out = {n.w.Fill(Element::Float, {}, n.Real("value_float", 0))};
  else if (n.HasAttribute("value_ints")) {
    std::vector<int64_t> all = n.Ints("value_ints", {});
    n.out = {n.w.Ints(std::move(all))};
  } else if (n.HasAttribute("value_floats")) {
    onnx::TensorProto tensor;
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (double each : n.Reals("value_floats")) tensor.add_float_data(static_cast<float>(each));
    tensor.add_dims(tensor.float_data_size());
    n.out = {BoundOf(tensor, "constant", n.w)};
  } else {
    throw Fault{"a constant that is no number"};
  }
}

void ConstantOfShape(Node& n) {
  const Dims dims = n.KnownInts(0, "dimensions");
  CountOf(dims);
  if (const auto* tensor = n.Tensor("value")) {
    const Bound one = ConstantOf(*tensor, "constant", n.w);
    n.out = {n.w.Broadcast(n.w.Reshape(one, {}), dims)};
    n.out[0].width = one.width;
  } else n.out = {n.w.Fill(Element::Float, dims, 0)};
}

void Shape(Node& n) {
  const Bound& x = n.In(0);
  const auto rank = static_cast<int64_t>(x.rank());
  auto at = [&](const char* name, int64_t otherwise) {
    int64_t axis = n.Int(name, otherwise);
    if (axis < 0) axis += rank;
    return std::min(std::max<int64_t>(axis, 0), rank);
  };
  const int64_t from = at("start", 0), to = std::max(from, at("end", rank));
  n.out = {n.w.Ints({to - from}, {x.dims.begin() + from, x.dims.begin() + to})};
}
void Size(Node& n) { n.out = {n.w.Ints({}, {CountOf(n.In(0).dims)})}; }

void Reshape(Node& n) {
  const Bound& x = n.In(0);
  Dims dims = n.Has(1) ? n.KnownInts(1, "dimensions") : n.Ints("shape", {});
  const bool zeros = n.Int("allowzero", 0) != 0;
  int64_t open = -1, rest = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zeros) {
      if (i >= x.rank()) throw Fault{"there is no dimension to be kept"};
      dims[i] = x.dims[i];
    }
    if (dims[i] == -1 && open < 0) open = static_cast<int64_t>(i);
    else if (dims[i] < 0) throw Fault{"a dimension is negative"};
    else rest = CountOf({rest, dims[i]});
  }
  if (open >= 0) {
    if (rest == 0 || CountOf(x.dims) % rest != 0) throw Fault{fmt::format("the shape {} has no such dimension", ir::ShapeText(x.dims))};
    dims[static_cast<size_t>(open)] = CountOf(x.dims) / rest;
  }
  n.out = {n.w.Reshape(x, dims)};
}

void Flatten(Node& n) {
  const Bound& x = n.In(0);
  const int64_t given = n.Int("axis", 1), rank = static_cast<int64_t>(x.rank());
  if (given < -rank || given > rank) throw Fault{fmt::format("there is no axis {}", given)};
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  n.out = {n.w.Reshape(x, {CountOf(x.dims, 0, axis), CountOf(x.dims, axis, x.rank())})};
}

std::vector<int64_t> AxesOf(Node& n, size_t operand) { return n.Has(operand) ? n.KnownInts(operand, "axes") : n.Ints("axes", {}); }

void Squeeze(Node& n) {
  const Bound& x = n.In(0);
  std::vector<bool> gone(x.rank());
  const bool all = !n.Has(1) && !n.HasAttribute("axes");
  for (int64_t axis : AxesOf(n, 1)) gone[n.Axis(axis, x.rank())] = true;
  Dims dims;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (all ? x.dims[i] == 1 : gone[i]) {
      if (x.dims[i] != 1) throw Fault{fmt::format("axis {} has {} elements", i, x.dims[i])};
      continue;
    }
    dims.push_back(x.dims[i]);
  }
  n.out = {n.w.Reshape(x, dims)};
}

void Unsqueeze(Node& n) {
  const Bound& x = n.In(0);
  const std::vector<int64_t> axes = AxesOf(n, 1);
  std::vector<bool> fresh(x.rank() + axes.size());
  for (int64_t axis : axes) fresh[n.Axis(axis, fresh.size())] = true;
  Dims dims;
  size_t next = 0;
  for (bool one : fresh) {
    if (!one && next == x.rank()) throw Fault{"an axis is named twice"};
    dims.push_back(one ? 1 : x.dims[next++]);
  }
  n.out = {n.w.Reshape(x, dims)};
}

void Transpose(Node& n) {
  const Bound& x = n.In(0);
  std::vector<size_t> order;
  for (size_t i = x.rank(); i-- > 0;) order.push_back(i);
  if (n.HasAttribute("perm")) {
    order.clear();
    std::vector<bool> seen(x.rank());
    for (int64_t axis : n.Ints("perm", {})) {
      order.push_back(n.Axis(axis, x.rank()));
      if (seen[order.back()]) throw Fault{"an axis is named twice"};
      seen[order.back()] = true;
    }
    if (order.size() != x.rank()) throw Fault{"`perm` does not name all axes"};
  }
  n.out = {n.w.Permute(x, order)};
}

void Concat(Node& n) {
  const std::vector<Bound> all = n.All();
  if (all[0].rank() == 0) throw Fault{"its operands have no axis"};
  const size_t axis = n.Axis(n.Int("axis", n.opset < 4 ? 1 : 0), all[0].rank());
  bool known = true;
  for (const Bound& each : all) known = known && each.known && each.rank() == 1 && each.element == all[0].element;
  if (!known) {
    n.out = {n.w.Concat(all, axis)};
    return;
  }
  std::vector<int64_t> values;
  for (const Bound& each : all) values.insert(values.end(), each.known->begin(), each.known->end());
  const Dims dims = {static_cast<int64_t>(values.size())};
  n.out = {n.w.Known(all[0].element, dims, std::move(values))};
}

void Split(Node& n) {
  const Bound& x = n.In(0);
  const size_t axis = n.Axis(n.Int("axis", 0), x.rank());
  std::vector<int64_t> sizes = n.Has(1) ? n.KnownInts(1, "sizes") : n.Ints("split", {});
  if (sizes.empty()) {
    int64_t count = n.Int("num_outputs", 0);
    if (count == 0)
      while (n.Wanted(static_cast<int>(count))) ++count;
    if (count <= 0 || count > 10'000) throw Fault{"it has no parts"};
    const int64_t each = (x.dims[axis] + count - 1) / count;
    for (int64_t i = 0, left = x.dims[axis]; i < count; ++i, left -= each) sizes.push_back(std::max<int64_t>(0, std::min(each, left)));
  }
  int64_t from = 0;
  for (int64_t size : sizes) {
    if (size < 0 || size > x.dims[axis] - from) throw Fault{"its parts are not those of its operand"};
    std::vector<int64_t> at(static_cast<size_t>(size));
    std::iota(at.begin(), at.end(), from);
    n.out.push_back(n.w.Take(x, axis, at));
    from += size;
  }
}

void Slice(Node& n) {
  Bound x = n.In(0);
  const std::vector<int64_t> starts = n.Has(1) ? n.KnownInts(1, "starts") : n.Ints("starts", {}), ends = n.Has(2) ? n.KnownInts(2, "ends") : n.Ints("ends", {});
  std::vector<int64_t> axes = AxesOf(n, 3), steps = n.Has(4) ? n.KnownInts(4, "steps") : std::vector<int64_t>(starts.size(), 1);
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) throw Fault{"starts, ends, axes and steps are not as many"};
  for (size_t i = 0; i < starts.size(); ++i) {
    const size_t axis = n.Axis(axes[i], x.rank());
    const int64_t size = x.dims[axis], step = steps[i];
    if (step == 0) throw Fault{"a step is 0"};
    auto clamped = [&](int64_t at) {
      if (at < 0) at = at < -size ? -1 : at + size;
      return step > 0 ? std::min(std::max<int64_t>(at, 0), size) : std::min(std::max<int64_t>(at, -1), size - 1);
    };
    const int64_t from = clamped(starts[i]), to = ends[i] < -size && step < 0 ? -1 : clamped(ends[i]);
    std::vector<int64_t> at;
    for (int64_t k = from; step > 0 ? k < to : k > to; k += step) {
      at.push_back(k);
      if (step > size || step < -size) break;
    }
    x = n.w.Take(x, axis, at);
  }
  n.out = {x};
}

void Gather(Node& n) {
  const Bound &x = n.In(0), &at = n.In(1);
  if (at.element != Element::Int || x.rank() == 0) throw Fault{"its operands do not fit each other"};
  const size_t axis = n.Axis(n.Int("axis", 0), x.rank());
  if (!x.known || !at.known || x.rank() != 1) {
    n.out = {n.w.Gather(x, axis, at)};
    return;
  }
  std::vector<int64_t> values;
  for (int64_t i : *at.known) {
    if (i < 0) i += x.dims[0];
    if (i < 0 || i >= x.dims[0]) throw Fault{fmt::format("there is no index {}", i)};
    values.push_back((*x.known)[static_cast<size_t>(i)]);
  }
  n.out = {n.w.Known(x.element, at.dims, std::move(values))};
}

void Expand(Node& n) {
  const Bound& x = n.In(0);
  Dims dims = n.KnownInts(1, "dimensions");
  if (dims.size() < x.rank()) dims.insert(dims.begin(), x.rank() - dims.size(), 1);
  for (size_t i = 0; i < x.rank(); ++i) {
    int64_t& dim = dims[dims.size() - x.rank() + i];
    if (dim == 1) dim = x.dims[i];
  }
  n.out = {n.w.Broadcast(x, dims)};
}

void Tile(Node& n) {
  Bound x = n.In(0);
  const std::vector<int64_t> repeats = n.KnownInts(1, "repeats");
  if (repeats.size() != x.rank()) throw Fault{"`repeats` does not name all axes"};
  for (size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 0) throw Fault{"a repeat is negative"};
    if (repeats[axis] == 1) continue;
    Dims wide = x.dims;
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    Dims spread = wide, dims = x.dims;
    spread[axis] = repeats[axis];
    dims[axis] = CountOf({dims[axis], repeats[axis]});
    x = n.w.Reshape(n.w.Broadcast(n.w.Reshape(x, wide), spread), dims);
  }
  n.out = {x};
}

// Which elements of an axis stand around it: mirrored, the outermost again, from the other end.
std::vector<int64_t> Around(const std::string& mode, int64_t size, int64_t before, int64_t behind) {
  if (mode != "edge" && mode != "reflect" && mode != "wrap") throw Fault{fmt::format("its mode is `{}`, which is not known", mode)};
  if (size < 1 || before <= -size || behind <= -size || (mode == "reflect" && (before >= size || behind >= size)) || before > kMostKnown || behind > kMostKnown) throw Fault{"a pad is larger than what it repeats"};
  std::vector<int64_t> at;
  for (int64_t k = -before; k < size + behind; ++k) {
    if (mode == "edge") at.push_back(std::min(std::max<int64_t>(k, 0), size - 1));
    else if (mode == "wrap") at.push_back((k % size + size) % size);
    else at.push_back(k < 0 ? -k : k >= size ? 2 * (size - 1) - k : k);
  }
  return at;
}

void Pad(Node& n) {
  Bound x = n.In(0);
  const std::string mode = n.Text("mode", "constant");
  const std::vector<int64_t> pads = n.Has(1) ? n.KnownInts(1, "pads") : n.Ints("pads", {});
  std::vector<int64_t> axes;
  if (n.Has(3)) axes = n.KnownInts(3, "axes");
  else
    for (size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (pads.size() != 2 * axes.size()) throw Fault{"`pads` is not twice as long as there are axes"};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = n.Axis(axes[i], x.rank());
    auto border = [&](int64_t size) {
      Dims dims = x.dims;
      dims[axis] = size;
      if (n.Has(2)) return n.w.Broadcast(n.w.Reshape(n.In(2), {}), dims);
      return n.w.Fill(x.element, dims, n.Real("value", 0));
    };
    const int64_t before = pads[i], behind = pads[i + axes.size()];
    constexpr int64_t kMost = int64_t{1} << 31;
    if (before < -kMost || before > kMost || behind < -kMost || behind > kMost) throw Fault{"a pad is too large"};
    if (mode != "constant") {
      if (before != 0 || behind != 0) x = n.w.Take(x, axis, Around(mode, x.dims[axis], before, behind));
      continue;
    }
    if (before < 0 || behind < 0) {
      std::vector<int64_t> at;
      for (int64_t k = std::max<int64_t>(0, -before); k < x.dims[axis] + std::min<int64_t>(0, behind); ++k) at.push_back(k);
      x = n.w.Take(x, axis, at);
    }
    std::vector<Bound> parts;
    if (before > 0) parts.push_back(border(before));
    parts.push_back(x);
    if (behind > 0) parts.push_back(border(behind));
    if (parts.size() > 1) x = n.w.Concat(parts, axis);
  }
  n.out = {x};
}

// As many elements as wanted, the same ones before them as behind them left out, or zeros there.
void CenterCropPad(Node& n) {
  Bound x = n.In(0);
  const std::vector<int64_t> sizes = n.KnownInts(1, "sizes");
  std::vector<int64_t> axes = n.Ints("axes", {});
  if (!n.HasAttribute("axes"))
    for (size_t i = 0; i < x.rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (axes.size() != sizes.size()) throw Fault{"it does not have a size for each axis"};
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = n.Axis(axes[i], x.rank());
    const int64_t size = x.dims[axis], wanted = sizes[i];
    if (wanted < 0 || wanted > (int64_t{1} << 31)) throw Fault{"a size is none"};
    if (wanted <= size) {
      std::vector<int64_t> at(static_cast<size_t>(wanted));
      std::iota(at.begin(), at.end(), (size - wanted) / 2);
      x = n.w.Take(x, axis, at);
      continue;
    }
    Dims before = x.dims, behind = x.dims;
    before[axis] = (wanted - size) / 2;
    behind[axis] = wanted - size - before[axis];
    std::vector<Bound> parts = {x, n.w.Fill(x.element, behind, 0)};
    if (before[axis] > 0) parts.insert(parts.begin(), n.w.Fill(x.element, before, 0));
    x = n.w.Concat(parts, axis);
  }
  n.out = {x};
}

// Of Floats or Doubles, from one on by a step up to another.
void RangeOfReals(Node& n) {
  const Bound& x = n.In(0);
  std::vector<double> bounds;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<double> one = n.KnownReals(i, "bounds");
    if (one.size() != 1 || n.In(i).element != x.element) throw Fault{"a bound is no single number"};
    bounds.push_back(one[0]);
  }
  const double count = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
  if (!(count <= 100'000)) throw Fault{"it is longer than 100000"};
  onnx::TensorProto tensor;
  tensor.set_data_type(x.element == Element::Float ? onnx::TensorProto::FLOAT : onnx::TensorProto::DOUBLE);
  for (double i = 0; i < count; ++i) {
    if (x.element == Element::Float) tensor.add_float_data(static_cast<float>(bounds[0] + i * bounds[2]));
    else tensor.add_double_data(bounds[0] + i * bounds[2]);
  }
  tensor.add_dims(std::max<int64_t>(0, static_cast<int64_t>(count)));
  n.out = {BoundOf(tensor, "range", n.w)};
  n.out[0].half = x.half;
}

void Range(Node& n) {
  if (n.In(0).element == Element::Float || n.In(0).element == Element::Double) return RangeOfReals(n);
  for (size_t i = 0; i < 3; ++i)
    if (n.KnownInts(i, "bounds").size() != 1) throw Fault{"a bound is no single number"};
  const int64_t to = n.KnownInts(1, "bounds")[0], step = n.KnownInts(2, "bounds")[0];
  if (step == 0) throw Fault{"its step is 0"};
  std::vector<int64_t> all;
  for (int64_t k = n.KnownInts(0, "bounds")[0]; step > 0 ? k < to : k > to;) {
    if (all.size() >= 100'000) throw Fault{"it is longer than 100000"};
    all.push_back(k);
    if (__builtin_add_overflow(k, step, &k)) break;
  }
  n.out = {n.w.Ints(std::move(all))};
}

}  // namespace

void AddShapeOps(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {
      {"Identity", Identity}, {"Dropout", Dropout}, {"Constant", Constant}, {"ConstantOfShape", ConstantOfShape}, {"Shape", Shape}, {"Size", Size},
      {"Reshape", Reshape}, {"Flatten", Flatten}, {"Squeeze", Squeeze}, {"Unsqueeze", Unsqueeze}, {"Transpose", Transpose}, {"Concat", Concat},
      {"Split", Split}, {"Slice", Slice}, {"Gather", Gather}, {"Expand", Expand}, {"Tile", Tile}, {"Pad", Pad}, {"Range", Range}, {"CenterCropPad", CenterCropPad}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
