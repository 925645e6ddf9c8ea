// Every kernel of backends/cuda beside the loop of backends/cpu that it repeats: the same bits, at even and odd sizes, for rows at even
// distances, at places of their own, and shared. Built twice: for the host (unit_cuda_emulated), and, with nvcc, for the card (unit_cuda),
// where exit code 77 says that there is none.
//
//   unit_cuda [--thorough]    also every seventh Float through each function, and large products
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/elementwise.h"
#include "backends/cpu/layout.h"
#include "backends/cpu/product.h"
#include "backends/cpu/random.h"
#include "backends/cpu/reduce.h"
#include "backends/cuda/memory.h"
#include "tagged_ir/op_facts.h"
#include "tagged_ir/signature.h"

using namespace df;
using cuda::Element;
using ir::Op;

namespace {

#ifdef DFC_EMULATED
constexpr bool kEmulated = true;
#else
constexpr bool kEmulated = false;
#endif

cuda::Stream stream;
int failures = 0, checks = 0;

template <typename T>
constexpr Element kElement = std::is_same_v<T, float>    ? Element::Float
                             : std::is_same_v<T, double> ? Element::Double
                             : sizeof(T) == 1            ? Element::Bool
                                                         : Element::Int;

// Elements on the card.
template <typename T>
class OnCard {
 public:
  explicit OnCard(const std::vector<T>& elements) : OnCard(elements.size()) {
    cuda::CopyToCard(memory_, elements.data(), count_ * sizeof(T), stream);
    cuda::Synchronise(stream);
  }
  explicit OnCard(size_t count) : count_(count), memory_(cuda::AllocateMemory(std::max<size_t>(count, 1) * sizeof(T))) {}
  ~OnCard() { cuda::FreeMemory(memory_); }
  OnCard(const OnCard&) = delete;
  OnCard& operator=(const OnCard&) = delete;
  char* at(size_t element = 0) const { return memory_ + element * sizeof(T); }
  std::vector<T> Back() const {
    std::vector<T> elements(count_);
    cuda::CopyToHost(elements.data(), memory_, count_ * sizeof(T), stream);
    cuda::Synchronise(stream);
    return elements;
  }

 private:
  size_t count_;
  char* memory_;
};

std::mt19937_64 random_bits(17);

// Numbers of all sizes; `special`: some are infinite, NaN, subnormal or -0.
template <typename T>
std::vector<T> Numbers(size_t count, bool special = false) {
  std::vector<T> x(count);
  for (T& v : x) {
    uint64_t bits = random_bits();
    if constexpr (std::is_integral_v<T>) {
      v = sizeof(T) == 1 ? static_cast<T>(bits & 1) : bits % 3 ? static_cast<T>(bits % 7) : static_cast<T>(bits);
    } else {
      v = static_cast<T>((static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * std::exp2(static_cast<double>(bits % 16) - 8));
      if (!special || bits / 16 % 8) continue;
      constexpr T kLimit = std::numeric_limits<T>::infinity();
      const T specials[] = {T(0), -T(0), kLimit, -kLimit, T(NAN), std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::min() / 3,
                            std::numeric_limits<T>::max(), T(1), T(-1), T(88.9), T(-104.2), T(9.3e18), T(-3e30), T(0.5), T(1) / 3};
      v = specials[bits / 128 % 16];
    }
  }
  return x;
}

template <typename T>
bool Same(T a, T b) {
  if (a != a && b != b) return true;  // which NaN is the processor's choice
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <typename T>
void Check(const std::string& what, const std::vector<T>& want, const std::vector<T>& got) {
  ++checks;
  size_t differ = 0, first = 0;
  for (size_t i = 0; i < want.size(); ++i)
    if (!Same(want[i], got[i]) && differ++ == 0) first = i;
  if (differ == 0) return;
  ++failures;
  std::printf("%s: %zu of %zu differ, first %zu: %.17g on the host, %.17g on the card\n", what.c_str(), differ, want.size(), first,
              static_cast<double>(want[first]), static_cast<double>(got[first]));
}

// `rows` rows of `length` elements on the card, the way `how` says.
enum class How { Even, Gaps, Places, Shared };
constexpr How kHows[] = {How::Even, How::Gaps, How::Places, How::Shared};
const char* const kHowNames[] = {"even", "gaps", "places", "shared"};

template <typename T>
struct RowsOnCard {
  std::vector<T> host;  // as they are seen: all rows without gaps
  cuda::Rows rows;

  RowsOnCard(std::vector<T> elements, size_t count, size_t length, How how) {
    if (how == How::Shared)
      for (size_t i = 1; i < count; ++i) std::copy_n(elements.begin(), length, elements.begin() + static_cast<ptrdiff_t>(i * length));
    host = elements;
    size_t stride = how == How::Gaps || how == How::Places ? length + 3 : length;
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    if (how == How::Places) std::shuffle(order.begin(), order.end(), random_bits);
    std::vector<T> memory(count * stride + 1);
    for (size_t i = 0; i < count; ++i) std::copy_n(elements.begin() + static_cast<ptrdiff_t>(i * length), length, memory.begin() + static_cast<ptrdiff_t>(order[i] * stride + 1));
    memory_ = std::make_unique<OnCard<T>>(memory);
    rows.offset = sizeof(T);
    rows.base = memory_->at();
    rows.stride = how == How::Shared ? 0 : stride * sizeof(T);
    if (how != How::Places) return;
    std::vector<const char*> at(count);
    for (size_t i = 0; i < count; ++i) at[i] = memory_->at(order[i] * stride);
    at_ = std::make_unique<OnCard<const char*>>(at);
    rows.at = reinterpret_cast<const char* const*>(at_->at());
  }

 private:
  std::unique_ptr<OnCard<T>> memory_;
  std::unique_ptr<OnCard<const char*>> at_;
};

// ---------------------------------------------------------------- products

template <typename T>
void Product(size_t m, size_t k, size_t n, int tile, How how, bool special) {
  auto name = [&](const char* form) {
    return std::string("product ") + form + " " + std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n) + " of " +
           std::to_string(sizeof(T)) + " bytes, tile " + std::to_string(tile) + ", " + kHowNames[static_cast<int>(how)];
  };
  std::vector<T> x_host = Numbers<T>(m * k, special), y = Numbers<T>(k * n, special), want(m * n);
  RowsOnCard<T> x(x_host, m, k, how);
  cuda::Product p;
  p.element = kElement<T>;
  p.m = m, p.k = k, p.n = n;
  p.tile = tile;
  OnCard<T> out(m * n), plain(y);
  p.out = out.at();
  p.x = x.rows;
  cpu::MatMul(x.host.data(), y.data(), want.data(), m, k, n);
  p.y = {plain.at(), n * sizeof(T)};
  cuda::Run(p, stream);
  Check(name("x y"), want, out.Back());

  std::vector<T> turned(k * n);
  cpu::Turn(y.data(), n, k, n, turned.data());
  RowsOnCard<T> columns(turned, n, k, how == How::Shared ? How::Gaps : how);
  OnCard<T> out_turned(m * n);
  p.y = columns.rows;
  p.y_turned = true;
  p.out = out_turned.at();
  cuda::Run(p, stream);
  Check(name("x yT"), want, out_turned.Back());

  // A sum that goes on: both are given by rows of the inner dimension.
  std::vector<T> before = Numbers<T>(m * n), left = Numbers<T>(k * m, special);
  RowsOnCard<T> x_rows(left, k, m, how), y_rows(y, k, n, how);
  OnCard<T> sum(before);
  want = before;
  std::vector<const T*> x_at(k), y_at(k);
  for (size_t l = 0; l < k; ++l) {
    x_at[l] = x_rows.host.data() + l * m;
    y_at[l] = y_rows.host.data() + l * n;
  }
  cpu::AddTransposedProduct(x_at.data(), y_at.data(), want.data(), k, m, n, false);
  p.x = x_rows.rows;
  p.y = y_rows.rows;
  p.x_turned = true;
  p.y_turned = false;
  p.goes_on = true;
  p.out = sum.at();
  cuda::Run(p, stream);
  Check(name("+ xT y"), want, sum.Back());
}

template <typename T>
void EachProduct(size_t rows, size_t m, size_t k, size_t n, How how) {
  RowsOnCard<T> x(Numbers<T>(rows * m * k), rows, m * k, how), y(Numbers<T>(rows * k * n), rows, k * n, kHows[(static_cast<int>(how) + 1) % 4]);
  std::vector<T> want(rows * m * n);
  OnCard<T> out(want.size());
  for (bool turned : {false, true}) {
    for (size_t r = 0; r < rows; ++r) {
      const T *left = x.host.data() + r * m * k, *right = y.host.data() + r * k * n;
      T* to = want.data() + r * m * n;
      if (turned) cpu::MatMulTransposed(left, k, right, k, to, n, m, k, n);
      else cpu::MatMul(left, right, to, m, k, n);
    }
    cuda::EachProduct p;
    p.element = kElement<T>;
    p.x = x.rows, p.y = y.rows;
    p.y_turned = turned;
    p.out = out.at();
    p.rows = rows, p.m = m, p.k = k, p.n = n;
    cuda::Run(p, stream);
    Check("product of each row", want, out.Back());
  }
}

void Products(bool thorough) {
  const size_t sizes[][3] = {{1, 1, 1},   {1, 7, 33},   {3, 16, 5},   {25, 37, 75}, {33, 64, 70}, {64, 9, 129},
                             {130, 17, 3}, {1, 600, 64}, {2, 0, 3},    {70, 33, 140}, {5, 130, 1}};
  int which = 0;
  for (auto [m, k, n] : sizes)
    for (int tile = -1; tile < cuda::kProductTiles; ++tile) {
      if (kEmulated && m * n * k > 60000 && tile > 0 && tile != which % 7) continue;
      How how = kHows[which++ % 4];
      Product<float>(m, k, n, tile, how, which % 3 == 0);
      Product<double>(m, k, n, tile, how, which % 3 == 1);
      if (tile < 0) EachProduct<float>(5, m, k, n, how);
      if (tile < 0) EachProduct<double>(3, m, k, n, how);
      if (tile < 0) EachProduct<int64_t>(2, m, k, n, how);
    }
  if (!thorough) return;
  const size_t large[][3] = {{25, 300, 750}, {256, 600, 1500}, {64, 2048, 5120}, {128, 1100, 1024}, {2000, 300, 750}, {300, 7000, 750}, {1, 2048, 5120}, {999, 1001, 1003}};
  for (auto [m, k, n] : large)
    for (int tile = -1; tile < cuda::kProductTiles; ++tile) {
      Product<float>(m, k, n, tile, kHows[which++ % 4], false);
      if (tile < 0) Product<double>(m, k, n, tile, kHows[which % 4], false);
    }
}

// ---------------------------------------------------------------- elementwise

// One op as a chain: loads, the op, a store.
template <typename T>
cuda::Chain ChainOf(Op op, size_t rows, size_t length, std::initializer_list<std::pair<cuda::Rows, Element>> in, char* out, Element result) {
  cuda::Chain chain;
  chain.rows = rows;
  chain.length = static_cast<uint32_t>(length);
  chain.element = kElement<T>;
  uint8_t k = 0;
  for (const auto& [x, element] : in) {
    chain.inputs[k] = {x, static_cast<uint32_t>(length), element};
    chain.steps[k] = {cuda::Chain::Kind::Load, Op::Add, k, {k, 0, 0}};
    ++k;
  }
  uint8_t y = k > 1 ? 1 : 0, z = k > 2 ? 2 : 0;
  chain.steps[k] = {cuda::Chain::Kind::Op, op, 3, {0, y, z}};
  chain.outputs[0] = {out, length * BytesOf(result), result};
  chain.steps[k + 1] = {cuda::Chain::Kind::Store, op, 0, {3, 0, 0}};
  chain.num_steps = k + 2u;
  chain.num_slots = 4;
  return chain;
}

std::string NameOf(Op op) { return std::string(ir::InfoOf(op).name); }

// The ops of a chain on elements of the type, of so many operands; not those to a Bool.
std::vector<Op> OpsOfChains(Element element, size_t operands) {
  std::vector<Op> ops;
  for (uint32_t i = 0; i < ir::OpCount(); ++i) {
    const auto op = static_cast<Op>(i);
    const ir::Signature& row = ir::SignatureOf(op);
    if (ir::IsElementwise(op) && !ir::IsComparison(op) && row.operands.size() == operands && row.operands[0].pattern != ir::Pattern::Truth &&
        cuda::CanChain(op, element))
      ops.push_back(op);
  }
  return ops;
}

template <typename T>
void Elementwise(size_t rows, size_t length, How how) {
  size_t count = rows * length;
  RowsOnCard<T> x(Numbers<T>(count, true), rows, length, how), y(Numbers<T>(count, true), rows, length, kHows[(static_cast<int>(how) + 1) % 4]);
  for (size_t i = 0; i < count && how != How::Shared && rows == 1; i += 5) y.host[i] = y.host[i];
  OnCard<T> out(count);
  OnCard<uint8_t> out_bools(count);
  std::vector<T> want(count);
  std::vector<uint8_t> want_bools(count);
  auto name = [&](Op op) { return NameOf(op) + " of " + std::to_string(sizeof(T)) + " bytes, " + kHowNames[static_cast<int>(how)]; };
  for (Op op : OpsOfChains(kElement<T>, 1)) {
    cpu::Unary(op, x.host.data(), want.data(), count);
    cuda::Run(ChainOf<T>(op, rows, length, {{x.rows, kElement<T>}}, out.at(), kElement<T>), stream);
    Check(name(op), want, out.Back());
  }
  for (Op op : OpsOfChains(kElement<T>, 2)) {
    cpu::Binary(op, x.host.data(), y.host.data(), want.data(), count);
    cuda::Run(ChainOf<T>(op, rows, length, {{x.rows, kElement<T>}, {y.rows, kElement<T>}}, out.at(), kElement<T>), stream);
    Check(name(op), want, out.Back());
  }
  for (Op op : {Op::Eq, Op::Ne, Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
    cpu::Compare(op, x.host.data(), y.host.data(), want_bools.data(), count);
    cuda::Run(ChainOf<T>(op, rows, length, {{x.rows, kElement<T>}, {y.rows, kElement<T>}}, out_bools.at(), Element::Bool), stream);
    Check(name(op), want_bools, out_bools.Back());
  }
  RowsOnCard<uint8_t> choose(Numbers<uint8_t>(count), rows, length, how);
  cpu::Select(choose.host.data(), x.host.data(), y.host.data(), want.data(), count);
  cuda::Run(ChainOf<T>(Op::Where, rows, length, {{choose.rows, Element::Bool}, {x.rows, kElement<T>}, {y.rows, kElement<T>}}, out.at(), kElement<T>), stream);
  Check(name(Op::Where), want, out.Back());
}

template <typename From, typename To>
void Conversion(size_t rows, size_t length, How how) {
  RowsOnCard<From> x(Numbers<From>(rows * length, true), rows, length, how);
  OnCard<To> out(rows * length);
  std::vector<To> want(rows * length);
  cpu::Convert(x.host.data(), want.data(), want.size());
  cuda::Convert(x.rows, kElement<From>, kElement<To>, out.at(), rows, length, stream);
  Check("conversion", want, out.Back());
}

// A cell of an LSTM, c = sigmoid i * tanh u + sigmoid f * c, in one chain, with a bias that is repeated.
void WholeChain() {
  constexpr size_t kRows = 33, kLength = 50;
  RowsOnCard<float> i(Numbers<float>(kRows * kLength), kRows, kLength, How::Gaps), u(Numbers<float>(kRows * kLength), kRows, kLength, How::Places);
  RowsOnCard<float> bias(Numbers<float>(kRows * 10), kRows, 10, How::Shared), one(Numbers<float>(kRows), kRows, 1, How::Places);
  OnCard<float> out(kRows * kLength), other(kRows * kLength);
  cuda::Chain chain;
  chain.rows = kRows;
  chain.length = kLength;
  chain.inputs[0] = {i.rows, kLength};
  chain.inputs[1] = {u.rows, kLength};
  chain.inputs[2] = {bias.rows, 10};
  chain.inputs[3] = {one.rows, 1};
  chain.outputs[0] = {out.at(), kLength * sizeof(float)};
  chain.outputs[1] = {other.at(), kLength * sizeof(float)};
  using Kind = cuda::Chain::Kind;
  const cuda::Chain::Step steps[] = {
      {Kind::Load, Op::Add, 0, {0}},  {Kind::Load, Op::Add, 1, {1}},          {Kind::Load, Op::Add, 2, {2}},       {Kind::Load, Op::Add, 3, {3}},
      {Kind::Op, Op::Add, 0, {0, 2}}, {Kind::Op, Op::Sigmoid, 0, {0}},        {Kind::Op, Op::Tanh, 4, {1}},        {Kind::Op, Op::Mul, 4, {0, 4}},
      {Kind::Store, Op::Add, 1, {4}}, {Kind::Op, Op::Sub, 4, {3, 4}},         {Kind::Op, Op::FDiv, 4, {4, 1}},     {Kind::Store, Op::Add, 0, {4}}};
  for (const auto& step : steps) chain.steps[chain.num_steps++] = step;
  chain.num_slots = 5;
  cuda::Run(chain, stream);
  std::vector<float> want(kRows * kLength), want_other(kRows * kLength);
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < kLength; ++c) {
      size_t at = r * kLength + c;
      float x = i.host[at] + bias.host[r * 10 + c % 10], v = u.host[at];
      cpu::Unary(Op::Sigmoid, &x, &x, 1);
      cpu::Unary(Op::Tanh, &v, &v, 1);
      want_other[at] = x * v;
      want[at] = (one.host[r] - x * v) / u.host[at];
    }
  Check("chain", want, out.Back());
  Check("chain, between", want_other, other.Back());
}

void AllFloats() {
  constexpr size_t kCount = size_t{1} << 24;
  std::vector<float> x(kCount), want(kCount);
  OnCard<float> out(kCount);
  for (uint64_t first = 0; first < (uint64_t{1} << 32); first += 7 * kCount) {
    for (size_t i = 0; i < kCount; ++i) {
      auto bits = static_cast<uint32_t>(std::min<uint64_t>(first + 7 * i, UINT32_MAX));
      std::memcpy(&x[i], &bits, sizeof(bits));
    }
    OnCard<float> in(x);
    for (Op op : OpsOfChains(Element::Float, 1)) {
      cpu::Unary(op, x.data(), want.data(), kCount);
      cuda::Run(ChainOf<float>(op, 1, kCount, {{{in.at(), 0}, Element::Float}}, out.at(), Element::Float), stream);
      Check("all floats, " + NameOf(op), want, out.Back());
    }
  }
}

// ---------------------------------------------------------------- reductions

template <typename T>
void Reductions(size_t rows, cuda::Axis axis, How how) {
  size_t each = axis.outer * axis.length * axis.inner, lines = axis.outer * axis.inner;
  bool special = axis.length % 2 == 0;
  RowsOnCard<T> x(Numbers<T>(rows * each, special), rows, each, how);
  cpu::AxisView view{axis.outer, axis.length, axis.inner};
  std::string size = " [" + std::to_string(axis.outer) + ", " + std::to_string(axis.length) + ", " + std::to_string(axis.inner) + "] of " + std::to_string(sizeof(T)) + " bytes";
  OnCard<T> out(rows * lines), out_all(rows * each);
  std::vector<T> want(rows * lines), want_all(rows * each);
  auto each_row = [&](auto compute) {
    for (size_t r = 0; r < rows; ++r) compute(r);
  };
  const std::pair<cuda::Reduction, cpu::Reduce> kinds[] = {{cuda::Reduction::Sum, cpu::Reduce::Sum}, {cuda::Reduction::Mean, cpu::Reduce::Mean},
                                                           {cuda::Reduction::Max, cpu::Reduce::Max}, {cuda::Reduction::Min, cpu::Reduce::Min}};
  for (auto [ours, theirs] : kinds) {
    if (std::is_integral_v<T> && ours == cuda::Reduction::Mean) continue;
    each_row([&](size_t r) { cpu::ReduceAxis(theirs, x.host.data() + r * each, view, want.data() + r * lines); });
    cuda::Reduce(ours, kElement<T>, x.rows, axis, out.at(), rows, stream);
    Check("reduction " + std::to_string(static_cast<int>(ours)) + size, want, out.Back());
  }
  OnCard<int64_t> places(rows * lines);
  std::vector<int64_t> want_places(rows * lines);
  each_row([&](size_t r) { cpu::ArgMax(x.host.data() + r * each, view, want_places.data() + r * lines); });
  cuda::Reduce(cuda::Reduction::ArgMax, kElement<T>, x.rows, axis, places.at(), rows, stream);
  Check("argmax" + size, want_places, places.Back());
  if constexpr (!std::is_integral_v<T>) {
    for (bool logarithm : {false, true}) {
      if (logarithm && sizeof(T) == 8) continue;
      each_row([&](size_t r) { cpu::Softmax(x.host.data() + r * each, view, logarithm, want_all.data() + r * each); });
      cuda::Softmax(kElement<T>, x.rows, axis, logarithm, out_all.at(), rows, stream);
      Check((logarithm ? "log softmax" : "softmax") + size, want_all, out_all.Back());
    }
    if (axis.inner != 1) return;
    RowsOnCard<T> scale(Numbers<T>(rows * axis.length), rows, axis.length, How::Shared), bias(Numbers<T>(rows * axis.length), rows, axis.length, how);
    each_row([&](size_t r) {
      cpu::LayerNorm(x.host.data() + r * each, axis.outer, axis.length, scale.host.data() + r * axis.length, bias.host.data() + r * axis.length, T(1e-5), want_all.data() + r * each);
    });
    cuda::LayerNorm(kElement<T>, x.rows, scale.rows, bias.rows, axis.outer, axis.length, out_all.at(), rows, stream);
    Check("layer norm" + size, want_all, out_all.Back());
  }
}

// ---------------------------------------------------------------- moving

template <typename T>
void Moves(How how) {
  constexpr size_t kRows = 7, kA = 5, kB = 6, kC = 11, kEach = kA * kB * kC;
  RowsOnCard<T> x(Numbers<T>(kRows * kEach), kRows, kEach, how);
  std::vector<T> want(kRows * kEach);
  OnCard<T> out(kRows * kEach);
  int64_t dims[] = {kA, kB, kC};
  const size_t strides[] = {kB * kC, kC, 1};
  for (std::array<uint8_t, 3> axes : {std::array<uint8_t, 3>{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}}) {
    cuda::Order order;
    order.rank = 3;
    for (size_t i = 0; i < 3; ++i) {
      order.dims[i] = static_cast<size_t>(dims[axes[i]]);
      order.strides[i] = strides[axes[i]];
    }
    for (size_t r = 0; r < kRows; ++r)
      cpu::Transpose(reinterpret_cast<const char*>(x.host.data() + r * kEach), dims, axes, sizeof(T), reinterpret_cast<char*>(want.data() + r * kEach));
    cuda::Transpose(x.rows, order, sizeof(T), out.at(), kRows, stream);
    Check("transpose", want, out.Back());
  }
  // Columns 2 .. 5 of a matrix of each row.
  size_t parts = kA * kB;
  std::vector<T> want_part(kRows * parts * 4);
  OnCard<T> part(want_part.size());
  for (size_t r = 0; r < kRows; ++r)
    cpu::CopyBlocks(reinterpret_cast<const char*>(x.host.data() + r * kEach + 2), kC * sizeof(T), reinterpret_cast<char*>(want_part.data() + r * parts * 4), 4 * sizeof(T), 4 * sizeof(T), parts);
  cuda::Blocks blocks{x.rows, kC * sizeof(T), 4 * sizeof(T), parts, part.at(), 4 * sizeof(T), parts * 4 * sizeof(T), sizeof(T)};
  blocks.x.offset += 2 * sizeof(T);
  cuda::Copy(blocks, kRows, stream);
  Check("copy", want_part, part.Back());

  std::vector<int64_t> at(kRows);
  for (int64_t& i : at) i = static_cast<int64_t>(random_bits() % kEach);
  RowsOnCard<int64_t> words(at, kRows, 1, How::Even);
  RowsOnCard<T> element(Numbers<T>(kRows), kRows, 1, how);
  want = x.host;
  for (size_t r = 0; r < kRows; ++r) want[r * kEach + static_cast<size_t>(at[r])] = element.host[r];
  cuda::Copy({x.rows, 0, kEach * sizeof(T), 1, out.at(), 0, kEach * sizeof(T), sizeof(T)}, kRows, stream);
  cuda::SetElement(words.rows, element.rows, sizeof(T), out.at(), kEach * sizeof(T), kRows, stream);
  Check("set element", want, out.Back());

  for (auto [rows, columns] : {std::pair<size_t, size_t>{1, 1}, {32, 32}, {37, 70}, {300, 5}}) {
    std::vector<T> matrix = Numbers<T>(rows * columns), turned(rows * columns);
    if constexpr (sizeof(T) > 1) cpu::Turn(matrix.data(), columns, rows, columns, turned.data());
    else
      for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) turned[j * rows + i] = matrix[i * columns + j];
    OnCard<T> from(matrix), to(matrix.size());
    cuda::Turn(from.at(), rows, columns, sizeof(T), to.at(), stream);
    Check("turn", turned, to.Back());
  }
}

template <typename T>
void OneHots() {
  constexpr size_t kRows = 6, kEach = 3, kSize = 5;
  std::vector<int64_t> at(kRows * kEach);
  for (int64_t& i : at) i = static_cast<int64_t>(random_bits() % 7) - 1;
  RowsOnCard<int64_t> indices(at, kRows, kEach, How::Places);
  std::vector<T> want(kRows * kEach * kSize, T(0));
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] >= 0 && at[i] < static_cast<int64_t>(kSize)) want[i * kSize + static_cast<size_t>(at[i])] = T(1);
  OnCard<T> out(want.size());
  cuda::OneHot(kElement<T>, indices.rows, kEach, kSize, out.at(), kRows, stream);
  Check("one-hot", want, out.Back());
}

template <typename T>
void Scatters(How how) {
  constexpr size_t kTable = 9, kTerms = 60, kColumns = 150;
  std::vector<T> table = Numbers<T>(kTable * kColumns);
  RowsOnCard<T> x(Numbers<T>(kTerms * kColumns), kTerms, kColumns, how);
  std::vector<std::vector<uint32_t>> terms(kTable);
  OnCard<T> out(table);
  for (uint32_t i = 0; i < kTerms; ++i) {
    size_t row = random_bits() % (kTable - 1);
    terms[row].push_back(i);
    for (size_t c = 0; c < kColumns; ++c) table[row * kColumns + c] += x.host[i * kColumns + c];
  }
  std::vector<uint32_t> targets, first = {0}, order;
  for (uint32_t row = 0; row < kTable; ++row) {
    if (terms[row].empty()) continue;
    targets.push_back(row);
    order.insert(order.end(), terms[row].begin(), terms[row].end());
    first.push_back(static_cast<uint32_t>(order.size()));
  }
  OnCard<uint32_t> targets_there(targets), first_there(first), order_there(order);
  auto words = [](const OnCard<uint32_t>& on_card) { return reinterpret_cast<const uint32_t*>(on_card.at()); };
  cuda::Run(cuda::Scatter{kElement<T>, x.rows, words(targets_there), words(first_there), words(order_there), static_cast<uint32_t>(targets.size()), kColumns, out.at()}, stream);
  Check("scatter", table, out.Back());

  // More rows than a block looks up at once, all to one row, in their own order.
  constexpr size_t kMany = 300;
  RowsOnCard<T> many(Numbers<T>(kMany * kColumns), kMany, kColumns, how);
  std::vector<T> sum = Numbers<T>(kColumns);
  OnCard<T> sum_there(sum);
  for (size_t i = 0; i < kMany; ++i)
    for (size_t c = 0; c < kColumns; ++c) sum[c] += many.host[i * kColumns + c];
  OnCard<uint32_t> zero(std::vector<uint32_t>{0}), all(std::vector<uint32_t>{0, kMany});
  cuda::Run(cuda::Scatter{kElement<T>, many.rows, words(zero), words(all), nullptr, 1, kColumns, sum_there.at()}, stream);
  Check("scatter to one row", sum, sum_there.Back());
}

template <typename T>
void Random() {
  for (size_t count : {1, 2, 3, 4, 5, 1001}) {
    std::vector<T> want(count);
    OnCard<T> out(count);
    cpu::Uniform(0x123456789abcdefull + count, want.data(), count);
    cuda::Uniform(kElement<T>, 0x123456789abcdefull + count, out.at(), count, stream);
    Check("uniform", want, out.Back());
  }
}

}  // namespace

int main(int argc, char** argv) {
  bool thorough = argc > 1 && std::string(argv[1]) == "--thorough";
  cuda::Card card = cuda::FindCard();
  if (!card.missing.empty()) {
    std::printf("no card: %s\n", card.missing.c_str());
    return 77;
  }
  stream = cuda::NewStream();
  Products(thorough);
  for (How how : kHows) {
    for (auto [rows, length] : {std::pair<size_t, size_t>{1, 1}, {5, 150}, {33, 31}, {1, 1000}}) {
      Elementwise<float>(rows, length, how);
      Elementwise<double>(rows, length, how);
      Elementwise<int64_t>(rows, length, how);
    }
    Conversion<float, double>(5, 300, how);
    Conversion<float, int64_t>(5, 300, how);
    Conversion<double, float>(5, 300, how);
    Conversion<double, int64_t>(5, 300, how);
    Conversion<int64_t, float>(5, 300, how);
    Conversion<int64_t, double>(5, 300, how);
    for (cuda::Axis axis : {cuda::Axis{1, 1, 1}, {1, 5, 1}, {3, 16, 1}, {2, 37, 1}, {1, 1001, 1}, {2, 7, 5}, {1, 40, 33}, {4, 300, 1}}) {
      Reductions<float>(3, axis, how);
      Reductions<double>(3, axis, how);
      Reductions<int64_t>(3, axis, how);
    }
    Moves<float>(how);
    Moves<double>(how);
    Moves<uint8_t>(how);
    Scatters<float>(how);
    Scatters<double>(how);
  }
  if (!kEmulated) {  // many elements a thread
    Elementwise<float>(300, 5001, How::Places);
    Elementwise<double>(300, 5001, How::Gaps);
  }
  WholeChain();
  OneHots<float>();
  OneHots<int64_t>();
  Random<float>();
  Random<double>();
  if (thorough) AllFloats();
  cuda::FreeStream(stream);
  std::printf("%s: %d of %d comparisons differ\n", card.name.c_str(), failures, checks);
  return failures > 0;
}
