// Attention as one op, and the rotation of places that goes before it: see node.h.
#include <cmath>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr const char* kMasked = "T.select {0} 0 (negate (1 / 0))";

// [batch, heads, places, size], of that or of [batch, places, heads * size].
Bound Heads(Node& n, const Bound& x, const char* attribute) {
  n.Real(x);
  if (x.rank() == 4) return x;
  const int64_t heads = n.Int(attribute, 0);
  if (x.rank() != 3 || heads < 1 || x.dims[2] % heads != 0) throw Fault{fmt::format("its operands have no heads: `{}` says how many", attribute)};
  return n.w.Permute(n.w.Reshape(x, {x.dims[0], x.dims[1], heads, x.dims[2] / heads}), {0, 2, 1, 3});
}

// Each head of keys or values as often as there are heads of queries for it.
Bound Repeated(Node& n, const Bound& x, int64_t heads) {
  if (x.dims[1] == heads) return x;
  if (x.dims[1] < 1 || heads % x.dims[1] != 0) throw Fault{"its heads of queries are no multiple of those of keys"};
  const Dims wide = {x.dims[0], x.dims[1], 1, x.dims[2], x.dims[3]}, all = {x.dims[0], x.dims[1], heads / x.dims[1], x.dims[2], x.dims[3]};
  return n.w.Reshape(n.w.Broadcast(n.w.Reshape(x, wide), all), {x.dims[0], heads, x.dims[2], x.dims[3]});
}

// What is added to the scores [batch, heads, queries, keys]: 0 where a key may be looked at, -infinity where not, or the model's own numbers.
class Bias {
 public:
  Bias(Node& n, Element element, int64_t batch, int64_t queries, int64_t keys) : n_(n), element_(element), batch_(batch), queries_(queries), keys_(keys) {}

  void Mask(const Bound& given) {
    Bound mask = given;
    if (mask.rank() == 0 || mask.rank() > 4) throw Fault{"its mask has no such axes"};
    const bool truths = mask.element == Element::Bool;
    if (!truths && mask.element != element_) throw Fault{"its mask has other elements than its operands"};
    if (const int64_t missing = keys_ - mask.dims.back(); missing > 0 && (n_.opset >= 24 || mask.dims.back() != 1)) {
      Dims dims = mask.dims;
      dims.back() = missing;
      mask = n_.w.Concat({{n_.w.Use(mask), mask.element, mask.dims, std::nullopt}, n_.w.Fill(mask.element, dims, truths ? 0 : -INFINITY)}, mask.rank() - 1);
    }
    Add(truths ? n_.w.Elementwise(element_, {mask}, kMasked) : mask);
  }

  // Of a query its place is `before` more than its index; where `filled` says of each batch how many keys there are, the last query looks at the last of these.
  void Frontier(int64_t before, const Bound* filled) {
    const int64_t left = n_.Int("left_window_size", -1), right = n_.Int("is_causal", 0) != 0 ? 0 : n_.Int("right_window_size", -1);
    if (left >= 0 || right >= 0) Within(before, filled, left, right);
  }

  void Filled(const Bound& filled) {
    std::vector<int64_t> at;
    for (int64_t j = 0; j < keys_; ++j) at.push_back(j);
    const Bound inside = n_.w.Elementwise(Element::Bool, {n_.w.Ints({1, 1, 1, keys_}, std::move(at)), n_.w.Reshape(filled, {batch_, 1, 1, 1})}, "T.less {0} {1}");
    Add(n_.w.Elementwise(element_, {inside}, kMasked));
  }

  const std::optional<Bound>& sum() const { return sum_; }

 private:
  // So far before the query's place, and so far behind it, or without an end (-1).
  void Within(int64_t before, const Bound* filled, int64_t left, int64_t right) {
    if (CountOf({queries_, keys_}) > kMostKnown) throw Fault{"its mask would have too many elements"};
    std::vector<int64_t> apart;
    for (int64_t i = 0; i < queries_; ++i)
      for (int64_t j = 0; j < keys_; ++j) apart.push_back(i + (filled ? -queries_ : before) - j);
    if (!filled) {
      for (int64_t& each : apart) each = (left < 0 || each <= left) && (right < 0 || -each <= right);
      return Add(n_.w.Elementwise(element_, {n_.w.Known(Element::Bool, {queries_, keys_}, std::move(apart))}, kMasked));
    }
    const Bound distance = n_.w.Elementwise(Element::Int, {n_.w.Ints({1, 1, queries_, keys_}, std::move(apart)), n_.w.Reshape(*filled, {batch_, 1, 1, 1})}, "{0} + {1}");
    if (left >= 0) Add(n_.w.Elementwise(element_, {distance}, fmt::format("T.select (T.lessEqual {{0}} {}) 0 (negate (1 / 0))", left)));
    if (right >= 0) Add(n_.w.Elementwise(element_, {distance}, fmt::format("T.select (T.greaterEqual {{0}} ({})) 0 (negate (1 / 0))", -right)));
  }

  void Add(const Bound& part) { sum_ = sum_ ? n_.w.Elementwise(element_, {*sum_, part}, "{0} + {1}") : part; }

  Node& n_;
  const Element element_;
  const int64_t batch_, queries_, keys_;
  std::optional<Bound> sum_;
};

// The shares of the keys; of a query that may look at none, 0.
Bound Shares(Node& n, const Bound& scores, const std::optional<Bound>& bias) {
  const Bound shares = n.w.AlongAxis("T.softmax", scores, 3);
  if (!bias) return shares;
  const Bound most = n.w.Reduce("max", *bias, {bias->rank() - 1}, true);
  return n.w.Elementwise(scores.element, {shares, most}, "T.select (T.equal {1} (negate (1 / 0))) 0 {0}");
}

void Attention(Node& n) {
  const Bound q = Heads(n, n.In(0), "q_num_heads");
  Bound k = Heads(n, n.In(1), "kv_num_heads"), v = Heads(n, n.In(2), "kv_num_heads");
  if (n.Has(4) != n.Has(5)) throw Fault{"it has keys or values of before, and not both"};
  const int64_t before = n.Has(4) ? n.In(4).rank() == 4 ? n.In(4).dims[2] : -1 : 0;
  if (before < 0) throw Fault{"what it has of before has no heads"};
  if (n.Has(4)) k = n.w.Concat({n.In(4), k}, 2), v = n.w.Concat({n.In(5), v}, 2);
  const int64_t batch = q.dims[0], heads = q.dims[1], queries = q.dims[2], size = q.dims[3], keys = k.dims[2];
  if (k.dims[0] != batch || v.dims[0] != batch || v.dims[1] != k.dims[1] || v.dims[2] != keys || k.dims[3] != size || k.element != q.element || v.element != q.element)
    throw Fault{"its queries, keys and values do not fit each other"};
  const Bound present_key = k, present_value = v;
  k = Repeated(n, k, heads);
  v = Repeated(n, v, heads);

  Bias bias(n, q.element, batch, queries, keys);
  if (n.Has(3)) bias.Mask(n.In(3));
  const Bound* filled = n.Has(6) ? &n.In(6) : nullptr;
  if (filled && (filled->element != Element::Int || filled->dims != Dims{batch} || n.Has(4))) throw Fault{"it does not say of each batch how many keys there are"};
  bias.Frontier(before, filled);
  if (filled) bias.Filled(*filled);

  const double scale = n.HasAttribute("scale") ? n.Real("scale", 1) : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, size))), cap = n.Real("softcap", 0);
  const int64_t shown = n.Int("qk_matmul_output_mode", 0);
  const Bound product = n.w.MatMul(q, n.w.Permute(k, {0, 1, 3, 2}));
  Bound scores = n.w.Elementwise(q.element, {product}, fmt::format("{{0}} * T.fill {}", NumberText(q.element, scale)));
  Bound seen = scores;
  if (cap > 0) scores = n.w.Elementwise(q.element, {scores}, fmt::format("T.fill {0} * tanh ({{0}} / T.fill {0})", NumberText(q.element, cap)));
  if (shown == 1) seen = scores;
  if (bias.sum()) {
    const Dims dims = scores.dims;
    scores = n.w.Elementwise(q.element, {scores, *bias.sum()}, "{0} + {1}");
    if (scores.dims != dims) throw Fault{"its mask does not fit its scores"};
  }
  if (shown == 2) seen = scores;
  const Bound shares = Shares(n, scores, bias.sum());
  if (shown == 3) seen = shares;
  Bound made = n.w.MatMul(shares, v);
  if (n.In(0).rank() == 3) made = n.w.Reshape(n.w.Permute(made, {0, 2, 1, 3}), {batch, queries, heads * v.dims[3]});
  n.out = {made, present_key, present_value, seen};
}

std::vector<int64_t> Every(int64_t from, int64_t to, int64_t step) {
  std::vector<int64_t> at;
  for (int64_t i = from; i < to; i += step) at.push_back(i);
  return at;
}

// Pairs of numbers of each head, turned by the angle of their place.
void RotaryEmbedding(Node& n) {
  const Bound given = n.In(0);
  n.Real(given);
  const int64_t heads = n.Int("num_heads", 0);
  if (given.rank() != 4 && (given.rank() != 3 || heads < 1 || given.dims[2] % heads != 0)) throw Fault{"its operand has no heads"};
  const Bound x = given.rank() == 4 ? n.w.Permute(given, {0, 2, 1, 3}) : n.w.Reshape(given, {given.dims[0], given.dims[1], heads, given.dims[2] / heads});
  const int64_t size = x.dims[3], stated = n.Int("rotary_embedding_dim", 0), turned = stated == 0 ? size : stated, half = turned / 2;
  if (turned < 2 || turned > size || turned % 2 != 0) throw Fault{"what it turns is no even part of a head"};
  const bool pairs = n.Int("interleaved", 0) != 0;
  const auto angles = [&](size_t operand) {
    const Bound table = n.Has(3) ? n.w.Gather(n.In(operand), 0, n.In(3)) : n.In(operand);
    if (table.element != x.element || (n.Has(3) && n.In(3).rank() != 2) || table.dims != Dims({x.dims[0], x.dims[1], half})) throw Fault{"its angles do not fit its operand"};
    return n.w.Reshape(table, {x.dims[0], x.dims[1], 1, half});
  };
  const Bound cosine = angles(1), sine = angles(2);
  const Bound first = n.w.Take(x, 3, pairs ? Every(0, turned, 2) : Every(0, half, 1)), second = n.w.Take(x, 3, pairs ? Every(1, turned, 2) : Every(half, turned, 1));
  const Bound real = n.w.Elementwise(x.element, {cosine, first, sine, second}, "{0} * {1} - {2} * {3}"), other = n.w.Elementwise(x.element, {sine, first, cosine, second}, "{0} * {1} + {2} * {3}");
  Dims wide = real.dims, whole = x.dims;
  wide.push_back(1);
  whole[3] = turned;
  Bound made = pairs ? n.w.Reshape(n.w.Concat({n.w.Reshape(real, wide), n.w.Reshape(other, wide)}, 4), whole) : n.w.Concat({real, other}, 3);
  if (turned < size) made = n.w.Concat({made, n.w.Take(x, 3, Every(turned, size, 1))}, 3);
  n.out = {given.rank() == 4 ? n.w.Permute(made, {0, 2, 1, 3}) : n.w.Reshape(made, given.dims)};
}

}  // namespace

void AddAttention(Handlers& all) {
  all["Attention"] = Attention;
  all["RotaryEmbedding"] = RotaryEmbedding;
}

}  // namespace df::from_onnx
