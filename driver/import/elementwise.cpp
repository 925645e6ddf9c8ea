// Ops on each element by itself: see node.h.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "driver/import/node.h"
#include "fmt/args.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

using Ints = std::vector<int64_t>;

void OneType(const Node& n, size_t x, size_t y) {
  if (n.In(x).element != n.In(y).element) throw Fault{"its operands have elements of two types"};
}
int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }

template <const char* kText, int64_t (*kFold)(const Ints&)>
void Number(Node& n) {
  if (n.In(0).element == Element::Bool) throw Fault{"it is of numbers"};
  OneType(n, 0, 1);
  if (!Fold(n, Element::Int, kFold)) n.out = {n.w.Elementwise(n.In(0).element, {n.In(0), n.In(1)}, kText)};
}
constexpr char kAdd[] = "{0} + {1}", kSub[] = "{0} - {1}", kMul[] = "{0} * {1}";
int64_t FoldAdd(const Ints& x) { return Wrapped(static_cast<uint64_t>(x[0]) + static_cast<uint64_t>(x[1])); }
int64_t FoldSub(const Ints& x) { return Wrapped(static_cast<uint64_t>(x[0]) - static_cast<uint64_t>(x[1])); }
int64_t FoldMul(const Ints& x) { return Wrapped(static_cast<uint64_t>(x[0]) * static_cast<uint64_t>(x[1])); }
// Towards zero.
int64_t FoldDiv(const Ints& x) {
  if (x[1] == 0) throw Fault{"a division by zero"};
  return x[1] == -1 ? FoldSub({0, x[0]}) : x[0] / x[1];
}
int64_t FoldRem(const Ints& x) {
  if (x[1] == 0) throw Fault{"a division by zero"};
  return x[1] == -1 ? 0 : x[0] % x[1];
}
int64_t FoldMod(const Ints& x) {
  const int64_t rest = FoldRem(x);
  return rest != 0 && (rest < 0) != (x[1] < 0) ? rest + x[1] : rest;
}

void Div(Node& n) {
  if (n.In(0).element == Element::Bool) throw Fault{"it is of numbers"};
  OneType(n, 0, 1);
  if (Fold(n, Element::Int, FoldDiv)) return;
  n.out = {n.w.Elementwise(n.In(0).element, {n.In(0), n.In(1)}, n.In(0).element == Element::Int ? "T.zipWith quot {0} {1}" : "{0} / {1}")};
}

// Of Floats in Doubles, in which a quotient loses little.
Bound RealMod(Node& n, bool rest) {
  std::vector<Bound> wide;
  for (size_t i : {size_t{0}, size_t{1}}) wide.push_back(n.In(i).element == Element::Double ? n.In(i) : n.w.Elementwise(Element::Double, {n.In(i)}, "T.convert {0}"));
  const char* text = rest ? "T.zipWith (\\a e -> a - e * fromIntegral (truncate (a / e) :: Int)) {0} {1}" : "T.zipWith (\\a e -> a - e * fromIntegral (floor (a / e) :: Int)) {0} {1}";
  wide.push_back(n.w.Elementwise(Element::Double, wide, text));
  // By an infinity nothing is taken away, or all of it is missing; there is none of an infinity, nor by 0.
  const std::string endless = fmt::format("T.select (T.equal (abs {{0}}) (1 / 0)) (0 / 0) {}", rest ? "{0}" : "(T.select (T.less ({0} * signum {1}) 0) {1} {0})");
  const Bound made = n.w.Elementwise(Element::Double, wide, fmt::format("T.select (T.equal (abs {{1}}) (1 / 0)) ({}) (T.select (T.less (abs ({{0}} / {{1}})) (1 / 0)) {{2}} (0 / 0))", endless));
  return n.In(0).element == Element::Float ? n.w.Elementwise(Element::Float, {made}, "T.convert {0}") : made;
}

void Mod(Node& n) {
  OneType(n, 0, 1);
  const bool rest = n.Int("fmod", 0) != 0;
  if (n.In(0).element != Element::Int) {
    n.Real(n.In(0));
    n.out = {RealMod(n, rest)};
    return;
  }
  if (Fold(n, Element::Int, rest ? FoldRem : FoldMod)) return;
  n.out = {n.w.Elementwise(Element::Int, {n.In(0), n.In(1)}, rest ? "T.zipWith rem {0} {1}" : "T.zipWith mod {0} {1}")};
}

// One operand, Float or Double.
template <const char* kText>
void Real(Node& n) {
  n.Real(n.In(0));
  n.out = {n.w.Elementwise(n.In(0).element, {n.In(0)}, kText)};
}
// Of all numbers.
int64_t FoldNeg(const Ints& x) { return FoldSub({0, x[0]}); }
int64_t FoldAbs(const Ints& x) { return x[0] < 0 ? FoldNeg(x) : x[0]; }
int64_t FoldSign(const Ints& x) { return (x[0] > 0) - (x[0] < 0); }
template <const char* kText, int64_t (*kFold)(const Ints&)>
void Any(Node& n) {
  if (n.In(0).element == Element::Bool) throw Fault{"it is of numbers"};
  if (Fold(n, Element::Int, kFold)) return;
  n.out = {n.w.Elementwise(n.In(0).element, {n.In(0)}, kText)};
}
#define DF_TEXT(name, text) constexpr char k##name[] = text
DF_TEXT(Neg, "negate {0}");
DF_TEXT(Abs, "abs {0}");
DF_TEXT(Sign, "T.select (T.equal {0} 0) 0 (signum {0})");
DF_TEXT(Exp, "exp {0}");
DF_TEXT(Log, "log {0}");
DF_TEXT(Sqrt, "sqrt {0}");
DF_TEXT(Sin, "sin {0}");
DF_TEXT(Cos, "cos {0}");
DF_TEXT(Tan, "tan {0}");
DF_TEXT(Asin, "asin {0}");
DF_TEXT(Acos, "acos {0}");
DF_TEXT(Atan, "atan {0}");
DF_TEXT(Sinh, "sinh {0}");
DF_TEXT(Cosh, "cosh {0}");
DF_TEXT(Tanh, "tanh {0}");
DF_TEXT(Asinh, "asinh {0}");
DF_TEXT(Acosh, "acosh {0}");
DF_TEXT(Atanh, "atanh {0}");
DF_TEXT(Erf, "T.erf {0}");
DF_TEXT(Sigmoid, "T.sigmoid {0}");
DF_TEXT(Relu, "T.relu {0}");
DF_TEXT(Reciprocal, "1 / {0}");
DF_TEXT(Softplus, "T.relu {0} + log (1 + exp (negate (abs {0})))");
DF_TEXT(Softsign, "{0} / (1 + abs {0})");
DF_TEXT(HardSwish, "{0} * T.max 0 (T.min 1 ({0} / 6 + 0.5))");
DF_TEXT(Mish, "{0} * tanh (T.relu {0} + log (1 + exp (negate (abs {0}))))");
DF_TEXT(Floor, "T.map (\\e -> fromIntegral (floor e :: Int)) {0}");
DF_TEXT(Ceil, "T.map (\\e -> fromIntegral (ceiling e :: Int)) {0}");
DF_TEXT(Round, "T.map (\\e -> fromIntegral (round e :: Int)) {0}");
#undef DF_TEXT

// With numbers of the node's attributes as operands behind x.
Bound With(Node& n, const std::string& text, std::vector<double> numbers) {
  const Bound& x = n.In(0);
  n.Real(x);
  fmt::dynamic_format_arg_store<fmt::format_context> args;
  const std::string name = n.w.Use(x);
  args.push_back(name);
  for (double number : numbers) args.push_back("(T.fill " + NumberText(x.element, number) + ")");
  return n.w.Let(x.element, x.dims, fmt::vformat(text, args));
}

void LeakyRelu(Node& n) { n.out = {With(n, "T.select (T.less {0} 0) ({0} * {1}) {0}", {n.Real("alpha", 0.01)})}; }
void Elu(Node& n) { n.out = {With(n, "T.select (T.less {0} 0) ({1} * (exp {0} - 1)) {0}", {n.Real("alpha", 1)})}; }
void Celu(Node& n) { n.out = {With(n, "T.relu {0} + T.min 0 ({1} * (exp ({0} / {1}) - 1))", {n.Real("alpha", 1)})}; }
void Selu(Node& n) {
  n.out = {With(n, "{2} * T.select (T.greater {0} 0) {0} ({1} * (exp {0} - 1))", {n.Real("alpha", 1.67326319217681884765625), n.Real("gamma", 1.05070102214813232421875)})};
}
void HardSigmoid(Node& n) { n.out = {With(n, "T.max 0 (T.min 1 ({0} * {1} + {2}))", {n.Real("alpha", 0.2), n.Real("beta", 0.5)})}; }
void ThresholdedRelu(Node& n) { n.out = {With(n, "T.select (T.greater {0} {1}) {0} 0", {n.Real("alpha", 1)})}; }
void Shrink(Node& n) {
  n.out = {With(n, "T.select (T.less {0} {1}) ({0} + {2}) (T.select (T.greater {0} {3}) ({0} - {2}) 0)", {-n.Real("lambd", 0.5), n.Real("bias", 0), n.Real("lambd", 0.5)})};
}
void SwiGLU(Node& n) {
  n.Real(n.In(0));
  OneType(n, 0, 1);
  if (n.In(0).dims != n.In(1).dims) throw Fault{"its operands have two shapes"};
  n.out = {n.w.Elementwise(n.In(0).element, {n.In(0), n.In(1)}, fmt::format("{{0}} * T.sigmoid (T.fill {} * {{0}}) * {{1}}", NumberText(n.In(0).element, n.Real("alpha", 1))))};
}
void Swish(Node& n) { n.out = {With(n, "{0} * T.sigmoid ({1} * {0})", {n.Real("alpha", 1)})}; }
void Gelu(Node& n) {
  if (n.Text("approximate", "none") == "tanh") n.out = {With(n, "0.5 * {0} * (1 + tanh ({1} * ({0} + 0.044715 * {0} * {0} * {0})))", {0.7978845608028654})};
  else n.out = {With(n, "0.5 * {0} * (1 + T.erf ({0} / {1}))", {1.4142135623730951})};
}

void PRelu(Node& n) {
  n.Real(n.In(0));
  n.out = {n.w.Elementwise(n.In(0).element, {n.In(0), n.w.Broadcast(n.In(1), n.In(0).dims)}, "T.select (T.less {0} 0) ({0} * {1}) {0}")};
}

void Pow(Node& n) {
  if (n.In(0).element == Element::Int) {
    if (n.In(1).element == Element::Int) n.out = {n.w.Elementwise(Element::Int, {n.In(0), n.In(1)}, "T.zipWith (^) {0} {1}")};
    else {
      n.Real(n.In(1));  // in Doubles, and cut towards zero
      std::vector<Bound> wide;
      for (size_t i : {size_t{0}, size_t{1}}) wide.push_back(n.In(i).element == Element::Double ? n.In(i) : n.w.Elementwise(Element::Double, {n.In(i)}, "T.convert {0}"));
      n.out = {n.w.Elementwise(Element::Int, {n.w.Elementwise(Element::Double, wide, "{0} ** {1}")}, "T.convert {0}")};
    }
    return;
  }
  n.Real(n.In(0));
  Bound y = n.In(1);
  if (y.element == Element::Bool) throw Fault{"it is of numbers"};
  if (y.element != n.In(0).element) y = n.w.Let(n.In(0).element, y.dims, "T.convert " + n.w.Use(y));
  n.out = {n.w.Elementwise(n.In(0).element, {n.In(0), y}, "{0} ** {1}")};
}

// Of as many operands as there are.
Bound Folded(Node& n, const char* text) {
  const std::vector<Bound> all = n.All();
  Bound at = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    OneType(n, 0, i);
    at = n.w.Elementwise(at.element, {at, all[i]}, text);
  }
  if (at.element == Element::Bool) throw Fault{"it is of numbers"};
  return at;
}
void Sum(Node& n) { n.out = {Folded(n, "{0} + {1}")}; }
void Mean(Node& n) {
  const Bound sum = Folded(n, "{0} + {1}");
  n.Real(sum);
  n.out = {n.w.Let(sum.element, sum.dims, fmt::format("{} / T.fill {}", n.w.Use(sum), NumberText(sum.element, static_cast<double>(n.in.size()))))};
}

void Clip(Node& n) {
  Bound at = n.In(0);
  if (at.element == Element::Bool) throw Fault{"it is of numbers"};
  if (n.opset < 11) {
    if (n.HasAttribute("min")) at = n.w.Let(at.element, at.dims, fmt::format("T.max {} (T.fill {})", n.w.Use(at), NumberText(at.element, n.Real("min", 0))));
    if (n.HasAttribute("max")) at = n.w.Let(at.element, at.dims, fmt::format("T.min {} (T.fill {})", n.w.Use(at), NumberText(at.element, n.Real("max", 0))));
  }
  if (n.Has(1)) at = n.w.Elementwise(at.element, {at, n.In(1)}, "T.max {0} {1}");
  if (n.Has(2)) at = n.w.Elementwise(at.element, {at, n.In(2)}, "T.min {0} {1}");
  n.out = {at};
}

// Numbers in the order of what they are in the model: those of UINT64 less 2^63, and the same again gives them back.
Bound InOrder(Node& n, const Bound& x) {
  if (x.element != Element::Int || x.width != Width{64, false}) return x;
  Bound made = x;
  if (x.known) {
    for (int64_t& each : *made.known) each ^= INT64_MIN;
    made.variable.clear();
  } else {
    made = n.w.Elementwise(Element::Int, {x}, "{0} - 4611686018427387904 - 4611686018427387904");
  }
  made.width = x.width;
  return made;
}

int64_t FoldMax(const Ints& x) { return *std::max_element(x.begin(), x.end()); }
int64_t FoldMin(const Ints& x) { return *std::min_element(x.begin(), x.end()); }
template <const char* kText, int64_t (*kFold)(const Ints&)>
void Extreme(Node& n) {
  const Width width = n.In(0).width;
  for (size_t i = 0; i < n.in.size(); ++i) n.in[i] = InOrder(n, n.In(i));
  if (!Fold(n, n.In(0).element, kFold)) n.out = {Folded(n, kText)};
  n.out[0].width = width;
  n.out[0] = InOrder(n, n.out[0]);
}
constexpr char kMax[] = "T.max {0} {1}", kMin[] = "T.min {0} {1}";

template <const char* kFunction, int64_t (*kFold)(const Ints&)>
void Compared(Node& n) {
  OneType(n, 0, 1);
  for (std::optional<Bound>& each : n.in) each = InOrder(n, *each);
  if (!Fold(n, Element::Bool, kFold)) n.out = {n.w.Elementwise(Element::Bool, {n.In(0), n.In(1)}, kFunction)};
}
constexpr char kEqual[] = "T.equal {0} {1}", kLess[] = "T.less {0} {1}", kGreater[] = "T.greater {0} {1}";
constexpr char kLessOrEqual[] = "T.lessEqual {0} {1}", kGreaterOrEqual[] = "T.greaterEqual {0} {1}";
int64_t FoldEqual(const Ints& x) { return x[0] == x[1]; }
int64_t FoldLess(const Ints& x) { return x[0] < x[1]; }
int64_t FoldGreater(const Ints& x) { return x[0] > x[1]; }
int64_t FoldLessOrEqual(const Ints& x) { return x[0] <= x[1]; }
int64_t FoldGreaterOrEqual(const Ints& x) { return x[0] >= x[1]; }
int64_t FoldNot(const Ints& x) { return !x[0]; }
int64_t FoldAnd(const Ints& x) { return std::all_of(x.begin(), x.end(), [](int64_t each) { return each != 0; }); }
int64_t FoldOr(const Ints& x) { return std::any_of(x.begin(), x.end(), [](int64_t each) { return each != 0; }); }
int64_t FoldXor(const Ints& x) { return std::accumulate(x.begin(), x.end(), int64_t{0}) % 2; }

template <const char* kText, int64_t (*kFold)(const Ints&)>
void Logic(Node& n) {
  for (const Bound& each : n.All())
    if (each.element != Element::Bool) throw Fault{"it is of Bools"};
  if (!Fold(n, Element::Bool, kFold)) n.out = {n.w.Elementwise(Element::Bool, n.All(), kText)};
}
constexpr char kNot[] = "T.not {0}", kAnd[] = "T.select {0} {1} {0}", kOr[] = "T.select {0} {0} {1}", kXor[] = "T.notEqual {0} {1}";

void Where(Node& n) {
  if (n.In(0).element != Element::Bool || n.In(1).element != n.In(2).element) throw Fault{"its operands do not fit each other"};
  if (Fold(n, n.In(1).element, [](const Ints& x) { return x[0] != 0 ? x[1] : x[2]; })) return;
  n.out = {n.w.Elementwise(n.In(1).element, {n.In(0), n.In(1), n.In(2)}, "T.select {0} {1} {2}")};
}

void IsNaN(Node& n) {
  n.Real(n.In(0));
  n.out = {n.w.Elementwise(Element::Bool, {n.In(0)}, "T.notEqual {0} {0}")};
}
void IsInf(Node& n) {
  n.Real(n.In(0));
  const bool up = n.Int("detect_positive", 1) != 0, down = n.Int("detect_negative", 1) != 0;
  n.out = {n.w.Elementwise(Element::Bool, {n.In(0)}, up && down ? "T.equal (abs {0}) (1 / 0)" : up ? "T.equal {0} (1 / 0)" : down ? "T.equal {0} (negate (1 / 0))" : "T.less {0} {0}")};
}

void CastTo(Node& n, Element to, Width width) {
  const Bound& x = n.In(0);
  if (to == Element::Int && x.known) n.out = {n.w.Ints(x.dims, *x.known)};
  else if (to == Element::Bool && x.known) {
    Ints truths = *x.known;
    for (int64_t& each : truths) each = each != 0;
    n.out = {n.w.Known(to, x.dims, std::move(truths))};
  }
  else if (to == x.element) n.out = {x};
  else if (x.element == Element::Bool) n.out = {n.w.Elementwise(to, {x}, "T.select {0} 1 0")};
  else if (to == Element::Bool) n.out = {n.w.Elementwise(to, {x}, "T.notEqual {0} 0")};
  else n.out = {n.w.Elementwise(to, {x}, "T.convert {0}")};
  if (to != Element::Int) return;
  const bool fits = x.element == Element::Int && (x.width == width || (x.width.bits < width.bits && (width.has_sign || !x.width.has_sign)));
  if (fits) n.out[0].width = width;
  else n.out[0] = Wrap(n.w, n.out[0], width);
}

void Narrow(Node& n, int32_t code) {
  n.out[0].half = 0;
  if (!IsSmallFloat(code)) return;
  n.w.has_halves = true;
  n.out[0] = RoundedTo(n, n.out[0], code, n.Int("saturate", 1) != 0);
  n.out[0].half = code;
}

void Cast(Node& n) {
  Width width;
  const Element to = ElementOf(static_cast<int32_t>(n.Int("to", 0)), "its result", &width);
  CastTo(n, to, width);
  Narrow(n, static_cast<int32_t>(n.Int("to", 0)));
}
void CastLike(Node& n) {
  CastTo(n, n.In(1).element, n.In(1).width);
  Narrow(n, n.In(1).half);
}

}  // namespace

void AddElementwiseOps(Handlers& all) {
  all["Add"] = Number<kAdd, FoldAdd>;
  all["Sub"] = Number<kSub, FoldSub>;
  all["Mul"] = Number<kMul, FoldMul>;
  all["Div"] = Div;
  all["Mod"] = Mod;
#define DF_OP(name, kind) all[#name] = kind<k##name>
  DF_OP(Exp, Real);
  DF_OP(Log, Real);
  DF_OP(Sqrt, Real);
  DF_OP(Sin, Real);
  DF_OP(Cos, Real);
  DF_OP(Tan, Real);
  DF_OP(Asin, Real);
  DF_OP(Acos, Real);
  DF_OP(Atan, Real);
  DF_OP(Sinh, Real);
  DF_OP(Cosh, Real);
  DF_OP(Tanh, Real);
  DF_OP(Asinh, Real);
  DF_OP(Acosh, Real);
  DF_OP(Atanh, Real);
  DF_OP(Erf, Real);
  DF_OP(Sigmoid, Real);
  DF_OP(Relu, Real);
  DF_OP(Reciprocal, Real);
  DF_OP(Softplus, Real);
  DF_OP(Softsign, Real);
  DF_OP(HardSwish, Real);
  DF_OP(Mish, Real);
  DF_OP(Floor, Real);
  DF_OP(Ceil, Real);
  DF_OP(Round, Real);
#undef DF_OP
#define DF_OP(name, kind) all[#name] = kind<k##name, Fold##name>
  DF_OP(Neg, Any);
  DF_OP(Abs, Any);
  DF_OP(Sign, Any);
  DF_OP(Equal, Compared);
  DF_OP(Less, Compared);
  DF_OP(Greater, Compared);
  DF_OP(LessOrEqual, Compared);
  DF_OP(GreaterOrEqual, Compared);
  DF_OP(Not, Logic);
  DF_OP(And, Logic);
  DF_OP(Or, Logic);
  DF_OP(Xor, Logic);
#undef DF_OP
  const std::pair<const char*, Handler> more[] = {
      {"LeakyRelu", LeakyRelu}, {"Elu", Elu}, {"Celu", Celu}, {"Selu", Selu}, {"HardSigmoid", HardSigmoid}, {"ThresholdedRelu", ThresholdedRelu},
      {"Shrink", Shrink}, {"Swish", Swish}, {"SwiGLU", SwiGLU}, {"Gelu", Gelu}, {"PRelu", PRelu}, {"Pow", Pow}, {"Max", Extreme<kMax, FoldMax>}, {"Min", Extreme<kMin, FoldMin>}, {"Sum", Sum},
      {"Mean", Mean}, {"Clip", Clip}, {"Where", Where}, {"IsNaN", IsNaN}, {"IsInf", IsInf}, {"Cast", Cast}, {"CastLike", CastLike}};
  for (const auto& [name, handler] : more) all[name] = handler;
}

}  // namespace df::from_onnx
