// Products along an axis with a matrix that is known: transforms of Fourier, and windows for them. See node.h.
#include <cmath>
#include <cstring>
#include <numbers>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostEntries = int64_t{1} << 22;

// A weight of these numbers.
Bound Table(Node& n, const char* name, Element element, const Dims& dims, const std::vector<double>& values) {
  std::string bytes;
  for (double each : values) {
    const auto small = static_cast<float>(each);
    if (element == Element::Float) bytes.append(reinterpret_cast<const char*>(&small), sizeof small);
    else bytes.append(reinterpret_cast<const char*>(&each), sizeof each);
  }
  return n.w.Weight(name, element, dims, std::move(bytes));
}

int64_t KnownOne(Node& n, size_t operand, const char* what) {
  const std::vector<int64_t>& given = n.KnownInts(operand, what);
  if (given.size() != 1) throw Fault{fmt::format("its {} is no single number", what)};
  return given[0];
}

}  // namespace

Bound ByMatrix(Node& n, const Bound& x, size_t axis, int64_t out, const std::vector<double>& entries) {
  const int64_t in = x.dims[axis];
  std::vector<size_t> order, back;
  for (size_t i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  for (size_t i = 0; i < order.size(); ++i) back.push_back(i);
  order.push_back(axis);
  back.insert(back.begin() + static_cast<std::ptrdiff_t>(axis), x.rank() - 1);
  const Bound made = n.w.MatMul(n.w.Permute(x, order), Table(n, "matrix", x.element, {in, out}, entries));
  return n.w.Permute(made, back);
}

namespace {

// Of [.., size, parts], whose second last axis it is along: `length` numbers, or so many of them as are not known from the others.
Bound Fourier(Node& n, const Bound& x, int64_t length, bool inverse, bool half) {
  const int64_t size = x.dims[x.rank() - 2], parts = x.dims.back();
  if (parts != 1 && parts != 2) throw Fault{"its numbers are neither real nor complex"};
  const bool to_real = inverse && half;
  const int64_t given = to_real ? std::min(size, length / 2 + 1) : std::min(size, length), out = half && !inverse ? length / 2 + 1 : length, out_parts = to_real ? 1 : 2;
  if (length < 1 || length > kMostEntries || size * parts > kMostEntries / out / out_parts) throw Fault{"its table would be too large"};
  std::vector<double> table(static_cast<size_t>(size * parts * out * out_parts));
  for (int64_t j = 0; j < given; ++j) {
    const double often = to_real && j != 0 && 2 * j != length ? 2 : 1, by = inverse ? often / static_cast<double>(length) : 1;
    for (int64_t k = 0; k < out; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % length) / static_cast<double>(length), c = by * std::cos(angle), s = by * (inverse ? std::sin(angle) : -std::sin(angle));
      const auto at = [&](int64_t part, int64_t out_part) -> double& { return table[static_cast<size_t>(((j * parts + part) * out + k) * out_parts + out_part)]; };
      at(0, 0) = c;
      if (out_parts == 2) at(0, 1) = s;
      if (parts == 2) at(1, 0) = -s;
      if (parts == 2 && out_parts == 2) at(1, 1) = c;
    }
  }
  Dims flat(x.dims.begin(), x.dims.end() - 2), dims = flat;
  flat.push_back(size * parts);
  dims.insert(dims.end(), {out, out_parts});
  // In Doubles: what large numbers leave of each other is small.
  const Bound wide = x.element == Element::Double ? x : n.w.Elementwise(Element::Double, {x}, "T.convert {0}");
  const Bound made = n.w.Reshape(n.w.MatMul(n.w.Reshape(wide, flat), Table(n, "waves", Element::Double, {size * parts, out * out_parts}, table)), dims);
  return x.element == Element::Double ? made : n.w.Elementwise(x.element, {made}, "T.convert {0}");
}

void Dft(Node& n) {
  Bound x = n.In(0);
  n.Real(x);
  if (x.rank() < 2) throw Fault{"its operand has no axis"};
  const size_t axis = n.Axis(n.opset < 20 ? n.Int("axis", 1) : n.Has(2) ? KnownOne(n, 2, "axis") : -2, x.rank()), before_last = x.rank() - 2;
  if (axis > before_last) throw Fault{"its axis is that of real and imaginary parts"};
  std::vector<size_t> order;
  for (size_t i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[axis], order[before_last]);
  const bool inverse = n.Int("inverse", 0) != 0, half = n.Int("onesided", 0) != 0;
  const int64_t length = n.Has(1) ? KnownOne(n, 1, "length") : inverse && half ? 2 * (x.dims[axis] - 1) : x.dims[axis];
  n.out = {n.w.Permute(Fourier(n, n.w.Permute(x, order), length, inverse, half), order)};
}

void Stft(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  if (x.rank() != 3) throw Fault{"its signal has no batch"};
  const int64_t step = KnownOne(n, 1, "step"), length = n.Has(3) ? KnownOne(n, 3, "length") : n.Has(2) && n.In(2).rank() == 1 ? n.In(2).dims[0] : x.dims[1];
  if (step < 1 || length < 1 || length > x.dims[1]) throw Fault{"its frames have no size"};
  const int64_t frames = 1 + (x.dims[1] - length) / step;
  std::vector<int64_t> at;
  if (CountOf({frames, length}) > kMostEntries) throw Fault{"it has too many frames"};
  for (int64_t f = 0; f < frames; ++f)
    for (int64_t i = 0; i < length; ++i) at.push_back(f * step + i);
  Bound seen = n.w.Reshape(n.w.Gather(x, 1, n.w.Ints(std::move(at))), {x.dims[0], frames, length, x.dims[2]});
  if (n.Has(2)) seen = n.w.Elementwise(x.element, {seen, n.w.Reshape(n.In(2), {length, 1})}, "{0} * {1}");
  n.out = {Fourier(n, seen, length, false, n.Int("onesided", 1) != 0)};
}

// A sum of cosines of once and twice the angle.
template <const double* kShares>
void Window(Node& n) {
  Width width;
  const auto code = static_cast<int32_t>(n.Int("output_datatype", 1));
  const Element element = ElementOf(code, "its result", &width);
  const int64_t size = KnownOne(n, 0, "size");
  if ((element != Element::Float && element != Element::Double) || IsSmallFloat(code)) throw Fault{"it is of Floats and Doubles here"};
  if (size < 1 || size > kMostEntries) throw Fault{"it has no such size"};
  const double all = static_cast<double>(n.Int("periodic", 1) != 0 ? size : std::max<int64_t>(1, size - 1));
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / all;
    values.push_back(kShares[0] - kShares[1] * std::cos(angle) + kShares[2] * std::cos(2 * angle));
  }
  n.out = {Table(n, "window", element, {size}, values)};
}
constexpr double kHann[] = {0.5, 0.5, 0}, kHamming[] = {25.0 / 46, 21.0 / 46, 0}, kBlackman[] = {0.42, 0.5, 0.08};

// The places of a picture, [-1, 1] along each axis, moved by a matrix for each of the batch.
void AffineGrid(Node& n) {
  const Bound& theta = n.In(0);
  n.Real(theta);
  const std::vector<int64_t>& size = n.KnownInts(1, "sizes");
  if (size.size() < 4 || size.size() > 5) throw Fault{"its sizes are of no picture"};
  const size_t axes = size.size() - 2;
  const auto count = static_cast<int64_t>(axes);
  if (theta.dims != Dims({size[0], count, count + 1})) throw Fault{"its matrices do not fit its sizes"};
  const Dims picture(size.begin() + 2, size.end());
  const int64_t places = CountOf(picture);
  if (places > kMostEntries) throw Fault{"its grid is too large"};
  const bool corners = n.Int("align_corners", 0) != 0;
  std::vector<double> table(static_cast<size_t>((count + 1) * places), 1);
  for (int64_t p = 0; p < places; ++p) {
    int64_t rest = p;
    for (size_t a = axes; a-- > 0; rest /= picture[a]) {
      const auto at = static_cast<double>(rest % picture[a]), all = static_cast<double>(picture[a]);
      const double where = corners ? (picture[a] > 1 ? 2 * at / (all - 1) - 1 : -1) : (2 * at + 1) / all - 1;
      table[(axes - 1 - a) * static_cast<size_t>(places) + static_cast<size_t>(p)] = where;  // x, the last axis, first
    }
  }
  const Bound moved = n.w.MatMul(theta, Table(n, "grid", theta.element, {count + 1, places}, table));
  Dims dims = {size[0]};
  dims.insert(dims.end(), picture.begin(), picture.end());
  dims.push_back(count);
  n.out = {n.w.Reshape(n.w.Permute(moved, {0, 2, 1}), dims)};
}

// Of each channel the sum of a step and of those before it, by its weights. What stands before the first step is a state.
void CausalConvWithState(Node& n) {
  const Bound &x = n.In(0), &weight = n.In(1);
  n.Real(x);
  if (x.rank() != 3 || weight.rank() != 3 || weight.dims[0] != x.dims[1] || weight.dims[1] != 1 || weight.dims[2] < 1 || weight.dims[2] > 1024) throw Fault{"its weight does not fit its channels"};
  const int64_t batch = x.dims[0], channels = x.dims[1], length = x.dims[2], taps = weight.dims[2];
  const std::string activation = n.Text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish") throw Fault{fmt::format("its activation `{}` is not known", activation)};
  Bound wide = x;
  if (n.Has(3) && n.In(3).dims != Dims({batch, channels, taps - 1})) throw Fault{"its state does not fit its weight"};
  if (taps > 1) wide = n.w.Concat({n.Has(3) ? n.In(3) : n.w.Fill(x.element, {batch, channels, taps - 1}, 0), x}, 2);
  const auto part = [&](int64_t from, int64_t count) {
    std::vector<int64_t> at;
    for (int64_t i = 0; i < count; ++i) at.push_back(from + i);
    return n.w.Take(wide, 2, at);
  };
  Bound sum = n.Has(2) ? n.w.Broadcast(n.w.Reshape(n.In(2), {channels, 1}), x.dims) : n.w.Fill(x.element, x.dims, 0);
  for (int64_t k = 0; k < taps; ++k) sum = n.w.Elementwise(x.element, {sum, part(k, length), n.w.Reshape(n.w.Take(weight, 2, {k}), {channels, 1})}, "{0} + {1} * {2}");
  n.out = {activation == "none" ? sum : n.w.Elementwise(x.element, {sum}, "{0} * T.sigmoid {0}"), part(length, taps - 1)};
}

}  // namespace

void AddSignals(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"DFT", Dft}, {"STFT", Stft}, {"HannWindow", Window<kHann>}, {"HammingWindow", Window<kHamming>}, {"BlackmanWindow", Window<kBlackman>},
                                                 {"AffineGrid", AffineGrid}, {"CausalConvWithState", CausalConvWithState}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
