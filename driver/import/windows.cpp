// Convolutions and pools: windows of a picture are gathered as rows, by a table of places that is a weight or a literal. See node.h.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostPlaces = int64_t{1} << 24;

// Where windows are, along each axis of a picture.
struct Windows {
  Dims size, kernel, strides, dilations, before, behind, out;

  int64_t kernels() const { return CountOf(kernel); }
  int64_t outs() const { return CountOf(out); }
};

constexpr int64_t kMostSize = int64_t{1} << 30;  // of a window, and of how far it goes

// What the node says of them, as it stands there.
Windows StatedWindows(Node& n, const Bound& x, const Dims& kernel) {
  const size_t rank = kernel.size();
  Windows w;
  w.size.assign(x.dims.begin() + 2, x.dims.end());
  w.kernel = kernel;
  w.strides = n.Ints("strides", Dims(rank, 1));
  w.dilations = n.Ints("dilations", Dims(rank, 1));
  return w;
}

void CheckSizes(const Windows& w, size_t axis) {
  for (int64_t each : {w.strides[axis], w.dilations[axis], w.kernel[axis]})
    if (each < 1 || each > kMostSize) throw Fault{"a stride, a dilation or a window has no size"};
}

Windows WindowsOf(Node& n, const Bound& x, const Dims& kernel, bool ceil) {
  if (x.rank() < 3 || kernel.size() != x.rank() - 2) throw Fault{"its windows do not have the picture's axes"};
  const size_t rank = kernel.size();
  Windows w = StatedWindows(n, x, kernel);
  const Dims pads = n.Ints("pads", Dims(2 * rank, 0));
  const std::string mode = n.Text("auto_pad", "NOTSET");
  if (w.strides.size() != rank || w.dilations.size() != rank || pads.size() != 2 * rank) throw Fault{"strides, dilations or pads do not have the picture's axes"};
  for (size_t i = 0; i < rank; ++i) {
    CheckSizes(w, i);
    if (kernel[i] > kMostSize / w.dilations[i]) throw Fault{"a window is too large"};
    const int64_t reach = (kernel[i] - 1) * w.dilations[i] + 1;
    int64_t before = pads[i], behind = pads[i + rank];
    if (mode == "VALID") before = behind = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t out = (w.size[i] + w.strides[i] - 1) / w.strides[i], all = std::max<int64_t>(0, (out - 1) * w.strides[i] + reach - w.size[i]);
      before = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
      behind = all - before;
    }
    if (before < 0 || behind < 0 || before > kMostSize || behind > kMostSize) throw Fault{"a pad has no size"};
    const int64_t room = w.size[i] + before + behind - reach;
    if (room < 0) throw Fault{"a window is larger than the picture"};
    int64_t out = room / w.strides[i] + 1;
    // One more, that begins within the picture or before it.
    if (ceil && room % w.strides[i] != 0 && out * w.strides[i] < w.size[i] + before) ++out;
    w.before.push_back(before);
    w.behind.push_back(behind);
    w.out.push_back(out);
  }
  if (CountOf(w.out) > kMostPlaces / std::max<int64_t>(1, CountOf(kernel))) throw Fault{"its windows have too many places"};
  return w;
}

// For each place of the kernel, of each window: its element in the picture, -1 if there is none. `at` says where along an axis, for a window and a
// place of the kernel; a number out of the axis is none.
template <typename At>
std::vector<int64_t> PlacesBy(const Windows& w, At where) {
  std::vector<int64_t> places;
  Dims k(w.size.size(), 0);
  auto next = [](Dims& at, const Dims& size) {
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < size[i]) return true;
      at[i] = 0;
    }
    return false;
  };
  do {
    Dims o(w.size.size(), 0);
    do {
      int64_t place = 0;
      for (size_t i = 0; i < o.size(); ++i) {
        const int64_t at = where(i, o[i], k[i]);
        if (at < 0 || at >= w.size[i]) place = -1;
        if (place >= 0) place = place * w.size[i] + at;
      }
      places.push_back(place);
    } while (next(o, w.out));
  } while (next(k, w.kernel));
  return places;
}
std::vector<int64_t> Places(const Windows& w) {
  return PlacesBy(w, [&](size_t axis, int64_t out, int64_t kernel) { return out * w.strides[axis] + kernel * w.dilations[axis] - w.before[axis]; });
}

// What stands at these places of each picture, [channels, kernel, windows * batch]. The table of places is the same for all channels: rows are gathered,
// which have those of all channels and pictures.
Bound Gathered(Node& n, const Bound& x, const Windows& w, const std::vector<int64_t>& places, double outside) {
  const int64_t batch = x.dims[0], channels = x.dims[1], area = CountOf(w.size);
  Bound rows = n.w.Reshape(n.w.Permute(n.w.Reshape(x, {batch, channels, area}), {2, 1, 0}), {area, channels * batch});
  std::vector<int64_t> at = places;
  if (std::find(at.begin(), at.end(), -1) != at.end()) {
    rows = n.w.Concat({rows, n.w.Fill(x.element, {1, channels * batch}, outside)}, 0);
    std::replace(at.begin(), at.end(), int64_t{-1}, area);
  }
  CountOf({static_cast<int64_t>(at.size()), channels, batch});
  const Bound seen = n.w.Reshape(n.w.Gather(rows, 0, n.w.Ints(std::move(at))), {w.kernels(), w.outs(), channels, batch});
  return n.w.Reshape(n.w.Permute(seen, {2, 0, 1, 3}), {channels, w.kernels(), w.outs() * batch});
}

// [channels, out.., batch] as ONNX has it.
Bound Pictures(Node& n, const Bound& x, int64_t channels, int64_t batch, const Windows& w) {
  Dims dims = {batch, channels};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  return n.w.Reshape(n.w.Permute(n.w.Reshape(x, {channels * w.outs(), batch}), {1, 0}), dims);
}

}  // namespace

Bound Convolved(Node& n, const Bound& x, const Bound& weight, const std::optional<Bound>& bias) {
  if (weight.rank() != x.rank() || x.rank() < 3) throw Fault{"its weight does not have the picture's axes"};
  const int64_t groups = n.Int("group", 1), outs = weight.dims[0], channels = x.dims[1], batch = x.dims[0];
  if (groups < 1 || channels % groups != 0 || outs % groups != 0 || weight.dims[1] != channels / groups) throw Fault{"its groups are not parts of the channels"};
  const Windows w = WindowsOf(n, x, Dims(weight.dims.begin() + 2, weight.dims.end()), false);
  const int64_t rows = channels / groups * w.kernels(), columns = w.outs() * batch;
  const Bound seen = n.w.Reshape(Gathered(n, x, w, Places(w), 0), {groups, rows, columns});
  Bound made = n.w.Reshape(n.w.MatMul(n.w.Reshape(weight, {groups, outs / groups, rows}), seen), {outs, columns});
  if (bias) made = n.w.Elementwise(made.element, {made, n.w.Reshape(*bias, {outs, 1})}, "{0} + {1}");
  return Pictures(n, made, outs, batch, w);
}

namespace {

void Conv(Node& n) {
  n.Real(n.In(0));
  n.out = {Convolved(n, n.In(0), n.In(1), n.Has(2) ? n.in[2] : std::nullopt)};
}

// The windows of a transposed convolution: each place of the result sees those of the picture that a convolution would have spread there.
Windows TransposedOf(Node& n, const Bound& x, const Dims& kernel) {
  const size_t rank = kernel.size();
  Windows w = StatedWindows(n, x, kernel);
  const Dims pads = n.Ints("pads", Dims(2 * rank, 0)), more = n.Ints("output_padding", Dims(rank, 0)), wanted = n.Ints("output_shape", {});
  const std::string mode = n.Text("auto_pad", "NOTSET");
  if (w.strides.size() != rank || w.dilations.size() != rank || pads.size() != 2 * rank || more.size() != rank || (!wanted.empty() && wanted.size() != rank))
    throw Fault{"strides, dilations, pads or the shape do not have the picture's axes"};
  for (size_t i = 0; i < rank; ++i) {
    CheckSizes(w, i);
    if (w.size[i] < 1 || w.size[i] > kMostSize / w.strides[i] || kernel[i] > kMostSize / w.dilations[i] || more[i] < 0 || more[i] > kMostSize) throw Fault{"a window is too large"};
    const int64_t full = w.strides[i] * (w.size[i] - 1) + more[i] + (kernel[i] - 1) * w.dilations[i] + 1;
    int64_t before = pads[i], behind = pads[i + rank];
    if (mode == "VALID") before = behind = 0;
    if (!wanted.empty() || mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t all = full - (wanted.empty() ? w.size[i] * w.strides[i] : wanted[i]);
      if (all < 0) throw Fault{"its shape is larger than what it spreads to"};
      before = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
      behind = all - before;
    }
    if (before < 0 || behind < 0 || before > kMostSize || behind > kMostSize || full - before - behind < 1) throw Fault{"a pad has no size"};
    w.before.push_back(before);
    w.behind.push_back(behind);
    w.out.push_back(full - before - behind);
  }
  if (CountOf(w.out) > kMostPlaces / std::max<int64_t>(1, CountOf(kernel))) throw Fault{"its windows have too many places"};
  return w;
}

void ConvTranspose(Node& n) {
  const Bound &x = n.In(0), &weight = n.In(1);
  n.Real(x);
  if (weight.rank() != x.rank() || x.rank() < 3) throw Fault{"its weight does not have the picture's axes"};
  const int64_t groups = n.Int("group", 1), channels = x.dims[1], batch = x.dims[0], each = weight.dims[1];
  if (groups < 1 || channels % groups != 0 || weight.dims[0] != channels || each > (int64_t{1} << 30) / groups) throw Fault{"its groups are not parts of the channels"};
  const Windows w = TransposedOf(n, x, Dims(weight.dims.begin() + 2, weight.dims.end()));
  const std::vector<int64_t> places = PlacesBy(w, [&](size_t axis, int64_t out, int64_t kernel) -> int64_t {
    const int64_t spread = out + w.before[axis] - kernel * w.dilations[axis];
    return spread % w.strides[axis] == 0 ? spread / w.strides[axis] : -1;
  });
  const int64_t own = channels / groups, rows = own * w.kernels(), columns = w.outs() * batch;
  const Bound seen = n.w.Reshape(Gathered(n, x, w, places, 0), {groups, rows, columns});
  const Bound kernels = n.w.Reshape(n.w.Permute(n.w.Reshape(weight, {groups, own, each, w.kernels()}), {0, 2, 1, 3}), {groups, each, rows});
  Bound made = n.w.Reshape(n.w.MatMul(kernels, seen), {each * groups, columns});
  if (n.Has(2)) made = n.w.Elementwise(made.element, {made, n.w.Reshape(n.In(2), {each * groups, 1})}, "{0} + {1}");
  n.out = {Pictures(n, made, each * groups, batch, w)};
}

// Where the largest of each window is, counted through all pictures in row-major order.
Bound LargestPlaces(Node& n, const Bound& seen, const Windows& w, const std::vector<int64_t>& places, int64_t channels, int64_t batch) {
  const int64_t outs = w.outs(), columns = outs * batch, area = CountOf(w.size);
  const Bound rows = n.w.Reshape(n.w.Permute(seen, {0, 2, 1}), {channels * columns, w.kernels()});
  const Bound which = n.w.Reshape(n.w.Let(Element::Int, {channels * columns}, "T.argmaxRows " + n.w.Use(rows)), {channels, outs, batch});
  std::vector<int64_t> at, of_channel, of_picture;
  for (int64_t o = 0; o < outs; ++o) at.push_back(o);
  for (int64_t c = 0; c < channels; ++c) of_channel.push_back(c * area);
  for (int64_t b = 0; b < batch; ++b) of_picture.push_back(b * channels * area);
  const Bound entry = n.w.Elementwise(Element::Int, {which, n.w.Ints({outs, 1}, std::move(at))}, fmt::format("{{0}} * {} + {{1}}", outs));
  const Bound place = n.w.Gather(n.w.Ints(places), 0, n.w.Reshape(entry, {channels * columns}));
  return n.w.Elementwise(Element::Int, {n.w.Reshape(place, {channels, outs, batch}), n.w.Ints({channels, 1, 1}, std::move(of_channel)), n.w.Ints({batch}, std::move(of_picture))}, "{0} + {1} + {2}");
}

void MaxPool(Node& n) {
  const Bound& x = n.In(0);
  if (x.element == Element::Bool) throw Fault{"it is of numbers"};
  const Windows w = WindowsOf(n, x, n.Ints("kernel_shape", {}), n.Int("ceil_mode", 0) != 0);
  const int64_t channels = x.dims[1], batch = x.dims[0];
  const std::vector<int64_t> places = Places(w);
  if (x.element == Element::Int && x.width.bits > 32) throw Fault{"it is of numbers of 64 bits"};
  const double least = x.element != Element::Int ? -INFINITY : x.width.has_sign ? -std::ldexp(1.0, x.width.bits - 1) : 0;
  const Bound seen = Gathered(n, x, w, places, least);
  n.out = {Pictures(n, n.w.Reduce("max", seen, {1}, false), channels, batch, w)};
  if (!n.Wanted(1)) return;
  if (n.Int("storage_order", 0) != 0) throw Fault{"its result 1 is asked for by columns"};
  n.out.push_back(Pictures(n, LargestPlaces(n, seen, w, places, channels, batch), channels, batch, w));
}

void AveragePool(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const Windows w = WindowsOf(n, x, n.Ints("kernel_shape", {}), n.Int("ceil_mode", 0) != 0);
  const std::vector<int64_t> places = Places(w);
  const int64_t channels = x.dims[1], batch = x.dims[0], outs = w.outs();
  const Bound seen = Gathered(n, x, w, places, 0);
  Bound sum = n.w.Reduce("sum", seen, {1}, false);
  // How many each window has; what is beyond the pads, where the last window hangs over, never counts.
  const bool pads = n.Int("count_include_pad", 0) != 0;
  std::string bytes;
  Dims o(w.size.size(), 0);
  for (int64_t i = 0; i < outs; ++i) {
    double count = 0;
    if (!pads) {
      for (int64_t k = 0; k < w.kernels(); ++k) count += places[static_cast<size_t>(k * outs + i)] >= 0;
    } else {
      count = 1;
      int64_t rest = i;
      for (size_t a = w.size.size(); a-- > 0;) {
        const int64_t at = rest % w.out[a] * w.strides[a] - w.before[a];
        rest /= w.out[a];
        int64_t own = 0;
        for (int64_t k = 0; k < w.kernel[a]; ++k) own += at + k * w.dilations[a] < w.size[a] + w.behind[a];
        count *= static_cast<double>(own);
      }
    }
    if (x.element == Element::Float) {
      const auto value = static_cast<float>(count);
      bytes.append(reinterpret_cast<const char*>(&value), 4);
    } else {
      bytes.append(reinterpret_cast<const char*>(&count), 8);
    }
  }
  sum = n.w.Reshape(sum, {channels, outs, batch});
  const Bound counts = n.w.Weight("counts", x.element, {outs}, std::move(bytes));
  n.out = {Pictures(n, n.w.Elementwise(x.element, {sum, n.w.Reshape(counts, {outs, 1})}, "{0} / {1}"), channels, batch, w)};
}

// The columns of a convolution added up where they came from.
void Col2Im(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const Dims image = n.KnownInts(1, "sizes"), block = n.KnownInts(2, "sizes");
  Bound picture = x;
  picture.dims = {1, 1};
  picture.dims.insert(picture.dims.end(), image.begin(), image.end());
  const Windows w = WindowsOf(n, picture, block, false);
  if (x.rank() != 3 || x.dims[1] % w.kernels() != 0 || x.dims[2] != w.outs()) throw Fault{"its columns are not those of such windows"};
  const int64_t batch = x.dims[0], channels = x.dims[1] / w.kernels(), area = CountOf(image), width = batch * channels;
  std::vector<int64_t> places = Places(w);
  std::replace(places.begin(), places.end(), int64_t{-1}, area);  // what fell outside goes to one row more
  const Bound rows = n.w.Reshape(n.w.Permute(n.w.Reshape(x, {batch, channels, w.kernels(), w.outs()}), {2, 3, 0, 1}), {w.kernels() * w.outs(), width});
  const Bound sums = n.w.Let(x.element, {area + 1, width}, fmt::format("T.scatterAdd 0 {} {}", n.w.Use(n.w.Ints(std::move(places))), n.w.Use(rows)));
  const Bound inside = n.w.Let(x.element, {area, width}, fmt::format("T.slice 0 {}", n.w.Use(sums)));
  Dims dims = {batch, channels};
  dims.insert(dims.end(), image.begin(), image.end());
  n.out = {n.w.Reshape(n.w.Permute(n.w.Reshape(inside, {area, batch, channels}), {1, 2, 0}), dims)};
}

// The p-th root of the sum of p-th powers.
void LpPool(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const int64_t p = n.Int("p", 2);
  if (p < 1 || p > 64) throw Fault{"its power is none"};
  const Windows w = WindowsOf(n, x, n.Ints("kernel_shape", {}), n.Int("ceil_mode", 0) != 0);
  const Bound powers = n.w.Elementwise(x.element, {x}, p == 1 ? "abs {0}" : fmt::format("abs {{0}} ** {}", p));
  const Bound sum = n.w.Reduce("sum", Gathered(n, powers, w, Places(w), 0), {1}, false);
  n.out = {Pictures(n, p == 1 ? sum : n.w.Elementwise(x.element, {sum}, fmt::format("{{0}} ** (1 / {})", p)), x.dims[1], x.dims[0], w)};
}

}  // namespace

void AddWindows(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"Conv", Conv}, {"ConvTranspose", ConvTranspose}, {"MaxPool", MaxPool}, {"AveragePool", AveragePool}, {"LpPool", LpPool}, {"Col2Im", Col2Im}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
