// Pictures in other sizes, and channels that become places: see node.h.
#include <algorithm>
#include <cmath>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostSide = int64_t{1} << 20, kMostShares = int64_t{1} << 22;

// How the places of one axis of the result look at those of the operand.
struct Side {
  int64_t size = 0, out = 0;
  double scale = 1;
  double from = 0, to = 1;  // which part of it is looked at
};

double WhereOf(const std::string& how, const Side& side, int64_t at) {
  const auto x = static_cast<double>(at);
  const auto out = static_cast<double>(side.out), size = static_cast<double>(side.size);
  if (how == "asymmetric") return x / side.scale;
  if (how == "half_pixel") return (x + 0.5) / side.scale - 0.5;
  if (how == "pytorch_half_pixel") return side.out > 1 ? (x + 0.5) / side.scale - 0.5 : 0;
  if (how == "align_corners") return side.out > 1 ? x * (size - 1) / (out - 1) : 0;
  if (how == "half_pixel_symmetric") {
    const double wanted = side.scale * size, shift = size / 2 * (1 - out / wanted);
    return shift + (x + 0.5) / side.scale - 0.5;
  }
  if (how == "tf_crop_and_resize") return side.from * (size - 1) + (side.out > 1 ? x * (side.to - side.from) * (size - 1) / (out - 1) : (side.to - side.from) * (size - 1) / 2);
  throw Fault{fmt::format("its places are `{}`, which is not known", how)};
}

int64_t NearestOf(const std::string& how, double at) {
  if (how == "round_prefer_floor") return static_cast<int64_t>(std::ceil(at - 0.5));
  if (how == "round_prefer_ceil") return static_cast<int64_t>(std::floor(at + 0.5));
  if (how == "floor") return static_cast<int64_t>(std::floor(at));
  if (how == "ceil") return static_cast<int64_t>(std::ceil(at));
  throw Fault{fmt::format("its rounding is `{}`, which is not known", how)};
}

// One axis in another size.
Bound Resized(Node& n, const Bound& x, size_t axis, const Side& side, const std::string& mode, const std::string& where, const std::string& nearest) {
  const auto within = [&](int64_t at) { return std::min(std::max<int64_t>(at, 0), side.size - 1); };
  std::vector<int64_t> low, high;
  std::vector<double> share;
  for (int64_t k = 0; k < side.out; ++k) {
    const double at = WhereOf(where, side, k);
    if (!(std::abs(at) < 1e15)) throw Fault{"a scale is none"};
    if (mode == "nearest") {
      low.push_back(within(NearestOf(nearest, at)));
      continue;
    }
    const double inside = std::min(std::max(at, 0.0), static_cast<double>(side.size - 1)), floor = std::floor(inside);
    low.push_back(static_cast<int64_t>(floor));
    high.push_back(within(low.back() + 1));
    share.push_back(inside - floor);
  }
  const Bound first = n.w.Gather(x, axis, n.w.Ints(std::move(low)));
  if (mode == "nearest") return first;
  const Bound second = n.w.Gather(x, axis, n.w.Ints(std::move(high)));
  std::string bytes;
  for (double each : share) {
    const auto small = static_cast<float>(each);
    if (x.element == Element::Float) bytes.append(reinterpret_cast<const char*>(&small), sizeof small);
    else bytes.append(reinterpret_cast<const char*>(&each), sizeof each);
  }
  Dims dims(x.rank(), 1);
  dims[axis] = side.out;
  const Bound shares = n.w.Reshape(n.w.Weight("shares", x.element, {side.out}, std::move(bytes)), dims);
  // Where nothing of the second is wanted it may be an infinity.
  return n.w.Elementwise(x.element, {first, second, shares}, "T.select (T.equal {2} 0) {0} ({0} * (1 - {2}) + {1} * {2})");
}

double Cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// One axis in another size, where each element is a sum of several: a product with a matrix of their shares. Smaller pictures look at more of them
// with `antialias`.
Bound Blended(Node& n, const Bound& x, size_t axis, const Side& side, const std::string& mode, const std::string& where) {
  const bool cubic = mode == "cubic", only_inside = n.Int("exclude_outside", 0) != 0;
  const double narrow = n.Int("antialias", 0) != 0 ? std::min(side.scale, 1.0) : 1, reach = (cubic ? 2 : 1) / narrow, a = n.Real("cubic_coeff_a", -0.75);
  if (!(reach < 4096) || CountOf({side.size, side.out}) > kMostShares) throw Fault{"it looks at too many elements"};
  const auto first = static_cast<int64_t>(std::floor(-reach)) + 1, count = 2 - 2 * first;
  std::vector<double> matrix(static_cast<size_t>(side.size * side.out));
  std::vector<int64_t> outside;
  for (int64_t k = 0; k < side.out; ++k) {
    const double at = WhereOf(where, side, k);
    if (!(std::abs(at) < 1e15)) throw Fault{"a scale is none"};
    outside.push_back(where == "tf_crop_and_resize" && (at < 0 || at > static_cast<double>(side.size - 1)));
    const auto base = static_cast<int64_t>(std::ceil(at)) - 1;
    std::vector<double> shares;
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      const double far = narrow * (static_cast<double>(base + first + i) - at);
      shares.push_back(cubic ? Cubic(far, a) : std::max(0.0, 1 - std::abs(far)));
      if (only_inside && (base + first + i < 0 || base + first + i >= side.size)) shares.back() = 0;
      sum += shares.back();
    }
    if (sum == 0) throw Fault{"a place is too far from the picture"};
    for (int64_t i = 0; i < count; ++i)
      matrix[static_cast<size_t>(std::min(std::max<int64_t>(base + first + i, 0), side.size - 1) * side.out + k)] += shares[static_cast<size_t>(i)] / sum;
  }
  const Bound made = ByMatrix(n, x, axis, side.out, matrix);
  if (std::find(outside.begin(), outside.end(), 1) == outside.end()) return made;
  Dims dims(x.rank(), 1);
  dims[axis] = side.out;
  return n.w.Elementwise(x.element, {n.w.Known(Element::Bool, dims, std::move(outside)), made}, fmt::format("T.select {{0}} (T.fill {}) {{1}}", NumberText(x.element, n.Real("extrapolation_value", 0))));
}

// Sizes that keep how the sides are to each other: no larger than wanted, or no smaller.
double KeptScale(Node& n, const Bound& x, const std::vector<size_t>& axes, const std::vector<int64_t>& sizes) {
  const std::string policy = n.Text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || sizes.empty()) return 0;
  if (policy != "not_larger" && policy != "not_smaller") throw Fault{fmt::format("its `keep_aspect_ratio_policy` is `{}`, which is not known", policy)};
  double scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const double own = static_cast<double>(sizes[i]) / static_cast<double>(std::max<int64_t>(1, x.dims[axes[i]]));
    scale = i == 0 ? own : policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
  }
  return scale;
}

void Resize(Node& n) {
  Bound x = n.In(0);
  const bool upsample = n.op() == "Upsample", old = upsample || n.opset < 11;
  const std::string mode = n.Text("mode", "nearest"), where = old ? "asymmetric" : n.Text("coordinate_transformation_mode", "half_pixel");
  const std::string nearest = old ? "floor" : n.Text("nearest_mode", "round_prefer_floor");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") throw Fault{fmt::format("its mode is `{}`, and `nearest`, `linear` and `cubic` are known", mode)};
  if (mode != "nearest") n.Real(x);
  const bool cropped = where == "tf_crop_and_resize", blended = mode == "cubic" || (mode == "linear" && (cropped || n.Int("antialias", 0) != 0 || n.Int("exclude_outside", 0) != 0));
  if (cropped && !blended) throw Fault{"it is cropped, and takes the nearest"};
  std::vector<size_t> axes;
  for (int64_t axis : n.Ints("axes", {})) axes.push_back(n.Axis(axis, x.rank()));
  if (axes.empty())
    for (size_t i = 0; i < x.rank(); ++i) axes.push_back(i);
  std::vector<double> scales;
  const size_t operand = old ? 1 : 2;
  if (n.Has(operand)) scales = n.KnownReals(operand, "scales");
  else
    for (double each : n.Reals("scales")) scales.push_back(each);
  const std::vector<int64_t> sizes = !old && n.Has(3) && scales.empty() ? n.KnownInts(3, "sizes") : std::vector<int64_t>();
  if ((scales.empty() ? sizes.size() : scales.size()) != axes.size()) throw Fault{"it does not have a scale for each axis"};
  std::vector<double> part;
  if (cropped) part = n.KnownReals(1, "crops");
  if (cropped && part.size() != 2 * axes.size()) throw Fault{"it does not say which part it is cropped to"};
  const double kept = KeptScale(n, x, axes, sizes);
  for (size_t i = 0; i < axes.size(); ++i) {
    Side side;
    if (cropped) side.from = part[i], side.to = part[axes.size() + i];
    side.size = x.dims[axes[i]];
    if (side.size < 1) throw Fault{"of no elements none can be made"};
    if (kept != 0) {
      side.scale = kept;
      side.out = static_cast<int64_t>(std::floor(kept * static_cast<double>(side.size) + 0.5));
    } else if (scales.empty()) {
      side.out = sizes[i];
      side.scale = static_cast<double>(side.out) / static_cast<double>(side.size);
    } else {
      side.scale = scales[i];
      if (!(side.scale > 0 && side.scale < 1e6)) throw Fault{"a scale is none"};
      const double wanted = static_cast<double>(side.size) * side.scale;
      side.out = static_cast<int64_t>(std::floor(wanted));
      // The standard aligns with the size before it is rounded, and runtimes with the one behind it.
      if (where == "align_corners" && static_cast<double>(side.out) != wanted) throw Fault{"its corners are aligned, and its scale gives no whole size"};
    }
    if (side.out < 1 || side.out > kMostSide) throw Fault{"a size is none"};
    if (side.out == side.size && side.scale == 1 && !cropped) continue;
    x = blended ? Blended(n, x, axes[i], side, mode, where) : Resized(n, x, axes[i], side, mode, where, nearest);
  }
  n.out = {x};
}

void DepthToSpace(Node& n) {
  const Bound& x = n.In(0);
  const int64_t b = n.Int("blocksize", 0);
  if (x.rank() != 4 || b < 1 || b > kMostSide || x.dims[1] % (b * b) != 0) throw Fault{"its channels are no blocks"};
  const int64_t batch = x.dims[0], depth = x.dims[1] / (b * b), height = x.dims[2], width = x.dims[3];
  const bool rows = n.Text("mode", "DCR") == "CRD";
  const Bound blocks = rows ? n.w.Permute(n.w.Reshape(x, {batch, depth, b, b, height, width}), {0, 1, 4, 2, 5, 3})
                            : n.w.Permute(n.w.Reshape(x, {batch, b, b, depth, height, width}), {0, 3, 4, 1, 5, 2});
  n.out = {n.w.Reshape(blocks, {batch, depth, height * b, width * b})};
}

void SpaceToDepth(Node& n) {
  const Bound& x = n.In(0);
  const int64_t b = n.Int("blocksize", 0);
  if (x.rank() != 4 || b < 1 || b > kMostSide || x.dims[2] % b != 0 || x.dims[3] % b != 0) throw Fault{"its picture has no such blocks"};
  if (n.Text("mode", "DCR") != "DCR") throw Fault{"its mode is not known"};
  const int64_t batch = x.dims[0], depth = x.dims[1], height = x.dims[2] / b, width = x.dims[3] / b;
  const Bound blocks = n.w.Permute(n.w.Reshape(x, {batch, depth, height, b, width, b}), {0, 3, 5, 1, 2, 4});
  n.out = {n.w.Reshape(blocks, {batch, depth * b * b, height, width})};
}

// Over a power of the squares of some channels around.
void LRN(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const int64_t size = n.Int("size", 0);
  if (x.rank() < 2 || size < 1 || size > 4096 || CountOf(x.dims) == 0) throw Fault{"it does not say how many channels are looked at"};
  const int64_t before = (size - 1) / 2, behind = size - 1 - before;
  Dims border = x.dims;
  std::vector<Bound> parts;
  const auto pad = [&](int64_t count) {
    border[1] = count;
    if (count > 0) parts.push_back(n.w.Fill(x.element, border, 0));
  };
  pad(before);
  parts.push_back(n.w.Elementwise(x.element, {x}, "{0} * {0}"));
  pad(behind);
  const Bound wide = n.w.Concat(parts, 1);
  std::optional<Bound> sum;
  for (int64_t k = 0; k < size; ++k) {
    std::vector<int64_t> at;
    for (int64_t c = 0; c < x.dims[1]; ++c) at.push_back(c + k);
    const Bound part = n.w.Take(wide, 1, at);
    sum = sum ? n.w.Elementwise(x.element, {*sum, part}, "{0} + {1}") : part;
  }
  const auto number = [&](double value) { return "T.fill " + NumberText(x.element, value); };
  n.out = {n.w.Elementwise(x.element, {x, *sum}, fmt::format("{{0}} / (({} + {} * {{1}}) ** {})", number(n.Real("bias", 1)), number(n.Real("alpha", 0.0001) / static_cast<double>(size)), number(n.Real("beta", 0.75))))};
}

}  // namespace

void AddPictures(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"Resize", Resize}, {"Upsample", Resize}, {"DepthToSpace", DepthToSpace}, {"SpaceToDepth", SpaceToDepth}, {"LRN", LRN}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
