// Convolutions and pools: windows of a picture are gathered as rows, by a table of places that is a weight or a literal. See node.h.
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
  bool padded() const {
    bool any = false;
    for (size_t i = 0; i < size.size(); ++i) any |= (out[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] >= size[i] + before[i] || before[i] > 0;
    return any;
  }
};

Windows WindowsOf(Node& n, const Bound& x, const Dims& kernel, bool ceil) {
  if (x.rank() < 3 || kernel.size() != x.rank() - 2) throw Fault{"its windows do not have the picture's axes"};
  const size_t rank = kernel.size();
  Windows w;
  w.size.assign(x.dims.begin() + 2, x.dims.end());
  w.kernel = kernel;
  w.strides = n.Ints("strides", Dims(rank, 1));
  w.dilations = n.Ints("dilations", Dims(rank, 1));
  const Dims pads = n.Ints("pads", Dims(2 * rank, 0));
  const std::string mode = n.Text("auto_pad", "NOTSET");
  if (w.strides.size() != rank || w.dilations.size() != rank || pads.size() != 2 * rank) throw Fault{"strides, dilations or pads do not have the picture's axes"};
  constexpr int64_t kMost = int64_t{1} << 30;
  for (size_t i = 0; i < rank; ++i) {
    for (int64_t each : {w.strides[i], w.dilations[i], kernel[i]})
      if (each < 1 || each > kMost) throw Fault{"a stride, a dilation or a window has no size"};
    if (kernel[i] > kMost / w.dilations[i]) throw Fault{"a window is too large"};
    const int64_t reach = (kernel[i] - 1) * w.dilations[i] + 1;
    int64_t before = pads[i], behind = pads[i + rank];
    if (mode == "VALID") before = behind = 0;
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
      const int64_t out = (w.size[i] + w.strides[i] - 1) / w.strides[i], all = std::max<int64_t>(0, (out - 1) * w.strides[i] + reach - w.size[i]);
      before = mode == "SAME_UPPER" ? all / 2 : all - all / 2;
      behind = all - before;
    }
    if (before < 0 || behind < 0 || before > kMost || behind > kMost) throw Fault{"a pad has no size"};
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

// For each place of the kernel, of each window: its element in the picture, -1 outside.
std::vector<int64_t> Places(const Windows& w) {
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
        const int64_t at = o[i] * w.strides[i] + k[i] * w.dilations[i] - w.before[i];
        if (at < 0 || at >= w.size[i]) place = -1;
        if (place >= 0) place = place * w.size[i] + at;
      }
      places.push_back(place);
    } while (next(o, w.out));
  } while (next(k, w.kernel));
  return places;
}

// What stands at these places of channels from..to of each picture, [places * channels.., batch], channel by channel.
Bound Gathered(Node& n, const Bound& x, const Windows& w, const std::vector<int64_t>& places, int64_t from, int64_t to, double outside) {
  const int64_t batch = x.dims[0], channels = x.dims[1], area = CountOf(w.size);
  Bound flat = n.w.Reshape(n.w.Permute(n.w.Reshape(x, {batch, channels * area}), {1, 0}), {channels * area, batch});
  if (w.padded()) flat = n.w.Concat({flat, n.w.Fill(x.element, {1, batch}, outside)}, 0);
  std::vector<int64_t> at;
  if (static_cast<int64_t>(places.size()) > kMostPlaces / std::max<int64_t>(1, to - from)) throw Fault{"its windows have too many places"};
  for (int64_t c = from; c < to; ++c)
    for (int64_t place : places) at.push_back(place < 0 ? channels * area : c * area + place);
  return n.w.Gather(flat, 0, n.w.Ints(std::move(at)));
}

// [channels, out.., batch] as ONNX has it.
Bound Pictures(Node& n, const Bound& x, int64_t channels, int64_t batch, const Windows& w) {
  Dims dims = {batch, channels};
  dims.insert(dims.end(), w.out.begin(), w.out.end());
  return n.w.Reshape(n.w.Permute(n.w.Reshape(x, {channels * w.outs(), batch}), {1, 0}), dims);
}

void Conv(Node& n) {
  const Bound &x = n.In(0), &weight = n.In(1);
  n.Real(x);
  if (weight.rank() != x.rank() || x.rank() < 3) throw Fault{"its weight does not have the picture's axes"};
  const int64_t groups = n.Int("group", 1), outs = weight.dims[0], channels = x.dims[1], batch = x.dims[0];
  if (groups < 1 || channels % groups != 0 || outs % groups != 0 || weight.dims[1] != channels / groups) throw Fault{"its groups are not parts of the channels"};
  const Windows w = WindowsOf(n, x, Dims(weight.dims.begin() + 2, weight.dims.end()), false);
  const std::vector<int64_t> places = Places(w);
  const int64_t rows = channels / groups * w.kernels(), columns = w.outs() * batch, each = outs / groups;
  const Bound kernels = n.w.Reshape(weight, {outs, rows});
  std::vector<Bound> parts;
  for (int64_t g = 0; g < groups; ++g) {
    const Bound seen = n.w.Reshape(Gathered(n, x, w, places, g * channels / groups, (g + 1) * channels / groups, 0), {rows, columns});
    std::vector<int64_t> own;
    for (int64_t k = 0; k < each; ++k) own.push_back(g * each + k);
    parts.push_back(n.w.MatMul(n.w.Take(kernels, 0, own), seen));
  }
  Bound made = n.w.Concat(parts, 0);
  if (n.Has(2)) made = n.w.Elementwise(made.element, {made, n.w.Reshape(n.In(2), {outs, 1})}, "{0} + {1}");
  n.out = {Pictures(n, made, outs, batch, w)};
}

void MaxPool(Node& n) {
  n.OnlyFirst();
  const Bound& x = n.In(0);
  n.Real(x);
  const Windows w = WindowsOf(n, x, n.Ints("kernel_shape", {}), n.Int("ceil_mode", 0) != 0);
  const int64_t channels = x.dims[1], batch = x.dims[0];
  const Bound seen = n.w.Reshape(Gathered(n, x, w, Places(w), 0, channels, -INFINITY), {channels, w.kernels(), w.outs() * batch});
  n.out = {Pictures(n, n.w.Reduce("max", seen, {1}, false), channels, batch, w)};
}

void AveragePool(Node& n) {
  const Bound& x = n.In(0);
  n.Real(x);
  const Windows w = WindowsOf(n, x, n.Ints("kernel_shape", {}), n.Int("ceil_mode", 0) != 0);
  const std::vector<int64_t> places = Places(w);
  const int64_t channels = x.dims[1], batch = x.dims[0], outs = w.outs();
  const Bound seen = n.w.Reshape(Gathered(n, x, w, places, 0, channels, 0), {channels, w.kernels(), outs * batch});
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

}  // namespace

void AddWindows(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"Conv", Conv}, {"MaxPool", MaxPool}, {"AveragePool", AveragePool}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
