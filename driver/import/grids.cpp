// Pictures at places that are computed, between their elements: see node.h.
#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr size_t kMostTaps = 64;

// Of each place what one element along an axis adds: where it is, and its share.
struct Tap {
  Bound at, share;
};

struct Grid {
  Node& n;
  const std::string mode, outside;
  const bool corners;

  // Where along an axis of that size, of numbers in [-1, 1]; what is outside comes to the border, or is mirrored there.
  Bound Where(const Bound& given, int64_t size) const {
    const Element e = given.element;
    Bound at = n.w.Elementwise(e, {given}, corners ? fmt::format("({{0}} + 1) / 2 * {}", size - 1) : fmt::format("(({{0}} + 1) * {} - 1) / 2", size));
    at = n.w.Elementwise(e, {at}, "T.max (-1.0e9) (T.min 1.0e9 {0})");
    if (mode == "nearest") at = n.w.Elementwise(e, {at}, "T.map (\\e -> fromIntegral (round e :: Int)) {0}");
    const double low = corners ? 0 : -0.5, high = static_cast<double>(size) - (corners ? 1 : 0.5), range = high - low;
    if (outside == "border") return n.w.Elementwise(e, {at}, fmt::format("T.select (T.less {{0}} (T.fill {})) 0 (T.select (T.greater {{0}} (T.fill {})) {} {{0}})", NumberText(e, low), NumberText(e, high), size - 1));
    if (outside != "reflection") return at;
    if (range == 0) return n.w.Fill(e, at.dims, 0);
    const Bound turns = n.w.Elementwise(e, {at}, fmt::format("T.map (\\e -> fromIntegral (floor e :: Int)) (({{0}} - {}) / {})", NumberText(e, low), NumberText(e, 2 * range)));
    const Bound far = n.w.Elementwise(e, {at, turns}, fmt::format("{{0}} - {} - {{1}} * {}", NumberText(e, low), NumberText(e, 2 * range)));
    return n.w.Elementwise(e, {at, far}, fmt::format("T.select (T.less {{0}} (T.fill {0})) (T.min {{1}} ({2} - {{1}}) + {0}) (T.select (T.greater {{0}} (T.fill {1})) (T.min {{1}} ({2} - {{1}}) + {0}) {{0}})",
                                                     NumberText(e, low), NumberText(e, high), NumberText(e, 2 * range)));
  }

  // An element's index, of those that there are, and its share, which is 0 where there is none.
  Tap Inside(const Bound& at, const Bound& share, int64_t size) const {
    if (outside == "reflection") {
      const int64_t period = corners ? 2 * (size - 1) : 2 * size;
      if (period == 0) return {n.w.Elementwise(Element::Int, {at}, "{0} * 0"), share};
      const Bound rest = n.w.Elementwise(Element::Int, {at}, fmt::format("T.map (\\e -> e `mod` {}) {{0}}", period));
      return {n.w.Elementwise(Element::Int, {rest}, fmt::format("T.min {{0}} ({} - {{0}})", corners ? period : period - 1)), share};
    }
    const Bound near = n.w.Elementwise(Element::Int, {at}, fmt::format("T.max 0 (T.min {} {{0}})", size - 1));
    return {near, outside == "border" ? share : n.w.Elementwise(share.element, {near, at, share}, "T.select (T.equal {0} {1}) {2} 0")};
  }

  std::vector<Tap> Taps(const Bound& where, int64_t size) const {
    const Element e = where.element;
    const Bound first = n.w.Elementwise(Element::Int, {where}, "T.map floor {0}"), part = n.w.Elementwise(e, {where, first}, "{0} - T.convert {1}");
    std::vector<std::string> shares = {"1 - {0}", "{0}"};
    int64_t offset = 0;
    if (mode == "nearest") shares = {"{0} * 0 + 1"};
    if (mode == "cubic") {  // with the factor -0.75
      shares = {"((-0.75 * ({0} + 1) + 3.75) * ({0} + 1) - 6) * ({0} + 1) + 3", "(1.25 * {0} - 2.25) * {0} * {0} + 1", "(1.25 * (1 - {0}) - 2.25) * (1 - {0}) * (1 - {0}) + 1",
                "((-0.75 * (2 - {0}) + 3.75) * (2 - {0}) - 6) * (2 - {0}) + 3"};
      offset = -1;
    }
    std::vector<Tap> taps;
    for (const std::string& share : shares) {
      taps.push_back(Inside(n.w.Elementwise(Element::Int, {first}, fmt::format("{{0}} + ({})", offset)), n.w.Elementwise(e, {part}, share), size));
      ++offset;
    }
    return taps;
  }
};

void GridSample(Node& n) {
  const Bound &x = n.In(0), &places = n.In(1);
  n.Real(x);
  n.Real(places);
  std::string mode = n.Text("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  const Grid grid{n, mode, n.Text("padding_mode", "zeros"), n.Int("align_corners", 0) != 0};
  if ((mode != "linear" && mode != "cubic" && mode != "nearest") || (grid.outside != "zeros" && grid.outside != "border" && grid.outside != "reflection")) throw Fault{fmt::format("its mode is `{}`, outside `{}`", mode, grid.outside)};
  if (x.rank() < 3 || x.rank() > 5 || places.rank() != x.rank() || places.dims[0] != x.dims[0] || places.dims.back() != static_cast<int64_t>(x.rank()) - 2) throw Fault{"its places do not fit its picture"};
  const int64_t batch = x.dims[0], channels = x.dims[1], area = CountOf(x.dims, 2, x.rank()), count = CountOf(places.dims, 1, places.rank() - 1);
  if (area == 0 || count == 0 || batch == 0) throw Fault{"of no elements none can be made"};
  const Bound rows = n.w.Reshape(n.w.Permute(n.w.Reshape(x, {batch, channels, area}), {0, 2, 1}), {batch * area, channels});
  std::vector<int64_t> starts;
  for (int64_t b = 0; b < batch; ++b) starts.push_back(b * area);
  // Of all axes so far the sums of what each adds.
  std::vector<Tap> all = {{n.w.Broadcast(n.w.Ints({batch, 1}, std::move(starts)), {batch, count}), n.w.Fill(x.element, {batch, count}, 1)}};
  for (size_t axis = 2; axis < x.rank(); ++axis) {
    const auto last = static_cast<int64_t>(x.rank() - 1 - axis);  // the places name the last axis first
    Bound given = n.w.Reshape(n.w.Take(places, places.rank() - 1, {last}), {batch, count});
    if (given.element != x.element) given = n.w.Elementwise(x.element, {given}, "T.convert {0}");
    const std::vector<Tap> taps = grid.Taps(grid.Where(given, x.dims[axis]), x.dims[axis]);
    const int64_t stride = CountOf(x.dims, axis + 1, x.rank());
    if (all.size() * taps.size() > kMostTaps) throw Fault{"it looks at too many elements of each place"};
    std::vector<Tap> more;
    for (const Tap& so_far : all)
      for (const Tap& tap : taps)
        more.push_back({n.w.Elementwise(Element::Int, {so_far.at, tap.at}, fmt::format("{{0}} + {{1}} * {}", stride)), n.w.Elementwise(x.element, {so_far.share, tap.share}, "{0} * {1}")});
    all = std::move(more);
  }
  std::optional<Bound> sum;
  for (const Tap& tap : all) {
    const Bound seen = n.w.Let(x.element, {batch * count, channels}, fmt::format("T.gather {} {}", n.w.Use(rows), n.w.Use(n.w.Reshape(tap.at, {batch * count}))));
    const Bound part = n.w.Elementwise(x.element, {seen, n.w.Reshape(tap.share, {batch * count, 1})}, "{0} * {1}");
    sum = sum ? n.w.Elementwise(x.element, {*sum, part}, "{0} + {1}") : part;
  }
  Dims dims = {batch, channels};
  dims.insert(dims.end(), places.dims.begin() + 1, places.dims.end() - 1);
  n.out = {n.w.Reshape(n.w.Permute(n.w.Reshape(*sum, {batch, count, channels}), {0, 2, 1}), dims)};
}

}  // namespace

void AddGrids(Handlers& all) { all["GridSample"] = GridSample; }

}  // namespace df::from_onnx
