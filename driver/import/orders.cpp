// Sums as one goes along, the largest, triangles, and sums of products that an equation names: see node.h.
#include <algorithm>
#include <cctype>
#include <map>

#include "driver/import/node.h"
#include "fmt/format.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostPairs = int64_t{1} << 22;

// With the rows of one axis first: [size, rest], and back.
std::vector<size_t> AxisFirst(size_t rank, size_t axis) {
  std::vector<size_t> order = {axis};
  for (size_t i = 0; i < rank; ++i)
    if (i != axis) order.push_back(i);
  return order;
}

Bound Reversed(Node& n, const Bound& x) {
  std::vector<int64_t> at;
  for (int64_t i = x.dims[0]; i-- > 0;) at.push_back(i);
  return n.w.Take(x, 0, at);
}

// Each row plus, or times, the one so many before it, for 1, 2, 4..
void Cumulated(Node& n, const char* text, double nothing) {
  const Bound& x = n.In(0);
  const std::vector<int64_t> given = n.KnownInts(1, "axis");
  if (x.element == Element::Bool || given.size() != 1 || x.rank() == 0) throw Fault{"it is of numbers along one axis"};
  const size_t axis = n.Axis(given[0], x.rank());
  const int64_t size = x.dims[axis];
  const std::vector<size_t> order = AxisFirst(x.rank(), axis);
  Dims wide;
  for (size_t each : order) wide.push_back(x.dims[each]);
  const int64_t rest = CountOf(wide, 1, wide.size());
  n.out = {x};
  if (CountOf(x.dims) == 0) return;
  Bound at = n.w.Reshape(n.w.Permute(x, order), {size, rest});
  const bool backwards = n.Int("reverse", 0) != 0;
  auto shifted = [&](const Bound& rows, int64_t by) {
    const Bound first = n.w.Let(x.element, {size - by, rest}, fmt::format("T.slice 0 {}", n.w.Use(rows)));
    return n.w.Concat({n.w.Fill(x.element, {by, rest}, nothing), first}, 0);
  };
  if (backwards) at = Reversed(n, at);
  if (n.Int("exclusive", 0) != 0) at = shifted(at, 1);
  for (int64_t by = 1; by < size; by *= 2) at = n.w.Elementwise(x.element, {at, shifted(at, by)}, text);
  if (backwards) at = Reversed(n, at);
  std::vector<size_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  n.out = {n.w.Permute(n.w.Reshape(at, wide), back)};
}

void CumSum(Node& n) { Cumulated(n, "{0} + {1}", 0); }
void CumProd(Node& n) { Cumulated(n, "{0} * {1}", 1); }

// The place of each element in the order is how many come before it, of equal ones those of lower index; so nothing is sorted, and each pair is
// compared. A NaN has no place, and the run fails.
void TopK(Node& n) {
  const Bound& x = n.In(0);
  const std::vector<int64_t> wanted = n.Has(1) ? n.KnownInts(1, "number of results") : std::vector<int64_t>{n.Int("k", -1)};
  if (x.element == Element::Bool || x.rank() == 0) throw Fault{"it is of numbers along an axis"};
  const size_t axis = n.Axis(n.Int("axis", -1), x.rank());
  const int64_t size = x.dims[axis], count = wanted.size() == 1 ? wanted[0] : -1;
  if (count < 1 || count > size) throw Fault{fmt::format("it wants {} of {} elements", count, size)};
  std::vector<size_t> order = AxisFirst(x.rank(), axis), back;
  std::rotate(order.begin(), order.begin() + 1, order.end());  // the axis last
  Dims outer;
  for (size_t i = 0; i + 1 < order.size(); ++i) outer.push_back(x.dims[order[i]]);
  const int64_t rows = CountOf(outer);
  if (rows > kMostPairs / size / size) throw Fault{fmt::format("it compares {} rows of {} elements, and may compare {} pairs", rows, size, kMostPairs)};
  const Bound matrix = n.w.Reshape(n.w.Permute(x, order), {rows, size});
  std::vector<int64_t> earlier;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t k = 0; k < size; ++k) earlier.push_back(k < i);
  const Bound before = n.w.Elementwise(Element::Int, {n.w.Reshape(matrix, {rows, size, 1}), n.w.Reshape(matrix, {rows, 1, size}), n.w.Ints({1, size, size}, std::move(earlier))},
                                       fmt::format("T.select (T.{} {{1}} {{0}}) 1 (T.select (T.equal {{0}} {{1}}) {{2}} 0)", n.Int("largest", 1) != 0 ? "greater" : "less"));
  // A NaN is not equal to itself.
  const Bound place = n.w.Elementwise(Element::Int, {n.w.Reduce("sum", before, {2}, false), matrix}, "T.select (T.equal {1} {1}) {0} (-1)");
  const Bound counted = n.w.Let(Element::Int, {count}, "T.iota");
  const Bound hits = n.w.Reshape(n.w.Elementwise(Element::Int, {n.w.Reshape(place, {rows, 1, size}), n.w.Reshape(counted, {1, count, 1})}, "T.select (T.equal {0} {1}) 1 0"), {rows * count, size});
  const Bound found = n.w.Let(Element::Int, {rows * count}, fmt::format("T.select (T.equal (T.maxRows {0}) 1) (T.argmaxRows {0}) (-1)", n.w.Use(hits)));
  const Bound first = n.w.Reshape(n.w.Elementwise(Element::Int, {n.w.Let(Element::Int, {rows, 1}, fmt::format("T.iota * T.fill {}", size)), n.w.Reshape(found, {rows, count})},
                                                  "T.select (T.less {1} 0) {1} ({0} + {1})"), {rows * count});
  const Bound values = n.w.Let(x.element, {rows * count, 1}, fmt::format("T.gather {} {}", n.w.Use(n.w.Reshape(matrix, {rows * size, 1})), n.w.Use(first)));
  Dims dims = outer;
  dims.push_back(count);
  for (size_t i = 0; i + 1 < order.size(); ++i) back.push_back(i);
  back.insert(back.begin() + static_cast<std::ptrdiff_t>(axis), order.size() - 1);
  n.out = {n.w.Permute(n.w.Reshape(values, dims), back), n.w.Permute(n.w.Reshape(found, dims), back)};
}

void Trilu(Node& n) {
  const Bound& x = n.In(0);
  if (x.rank() < 2) throw Fault{"it is of matrices"};
  std::vector<int64_t> given = {0};
  if (n.Has(1)) given = n.KnownInts(1, "diagonal");
  if (given.size() != 1) throw Fault{"its diagonal is no single number"};
  const int64_t rows = x.dims[x.rank() - 2], columns = x.dims[x.rank() - 1], k = std::min(std::max(given[0], -rows - 1), columns + 1);
  const bool upper = n.Int("upper", 1) != 0;
  if (CountOf({rows, columns}) > kMostPairs) throw Fault{"its matrices are too large"};
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) kept.push_back(upper ? j - i >= k : j - i <= k);
  const Bound mask = n.w.Known(Element::Bool, {rows, columns}, std::move(kept));
  n.out = {n.w.Elementwise(x.element, {x, mask}, x.element == Element::Bool ? "T.select {1} {0} (T.fill False)" : "T.select {1} {0} 0")};
}

void EyeLike(Node& n) {
  const Bound& x = n.In(0);
  Width width = x.width;
  const Element element = n.HasAttribute("dtype") ? ElementOf(static_cast<int32_t>(n.Int("dtype", 0)), "its result", &width) : x.element;
  if (x.rank() != 2 || CountOf(x.dims) > kMostPairs) throw Fault{"it is of matrices"};
  const int64_t k = n.Int("k", 0);
  std::vector<int64_t> ones;
  for (int64_t i = 0; i < x.dims[0]; ++i)
    for (int64_t j = 0; j < x.dims[1]; ++j) ones.push_back(j - i == k);
  const Bound mask = n.w.Known(Element::Bool, x.dims, std::move(ones));
  n.out = {element == Element::Bool ? mask : n.w.Elementwise(element, {mask}, "T.select {0} 1 0")};
  n.out[0].width = width;
}

// ---------------------------------------------------------------- equations

// An operand with a letter for each of its axes.
struct Lettered {
  Bound x;
  std::string letters;
};

// With these letters, in this order; the others, which nobody else has, are summed.
Lettered Ordered(Node& n, const Lettered& from, const std::string& letters) {
  std::vector<size_t> gone, order;
  std::string kept;
  for (size_t i = 0; i < from.letters.size(); ++i) {
    if (letters.find(from.letters[i]) == std::string::npos) gone.push_back(i);
    else kept += from.letters[i];
  }
  const Bound x = n.w.Reduce("sum", from.x, gone, false);
  for (char letter : letters) order.push_back(kept.find(letter));
  return {n.w.Permute(x, order), letters};
}

// The sum of products of two: a product of matrices for each of the letters that both have and that stay.
Lettered Multiplied(Node& n, const Lettered& x, const Lettered& y, const std::string& later) {
  std::string both, summed, left, right;
  for (char letter : x.letters) {
    const bool shared = y.letters.find(letter) != std::string::npos, stays = later.find(letter) != std::string::npos;
    if (shared) (stays ? both : summed) += letter;
    else if (stays) left += letter;
  }
  for (char letter : y.letters)
    if (x.letters.find(letter) == std::string::npos && later.find(letter) != std::string::npos) right += letter;
  const Lettered a = Ordered(n, x, both + left + summed), b = Ordered(n, y, both + summed + right);
  const size_t outer = both.size();
  const int64_t batch = CountOf(a.x.dims, 0, outer), rows = CountOf(a.x.dims, outer, outer + left.size()), inner = CountOf(a.x.dims, outer + left.size(), a.x.rank());
  const int64_t columns = CountOf(b.x.dims, outer + summed.size(), b.x.rank());
  Dims dims(a.x.dims.begin(), a.x.dims.begin() + static_cast<std::ptrdiff_t>(outer + left.size()));
  dims.insert(dims.end(), b.x.dims.begin() + static_cast<std::ptrdiff_t>(outer + summed.size()), b.x.dims.end());
  const Bound made = n.w.MatMul(n.w.Reshape(a.x, {batch, rows, inner}), n.w.Reshape(b.x, {batch, inner, columns}));
  return {n.w.Reshape(made, dims), both + left + right};
}

// Letters of their own for the axes that "..." stands for, which are the same, from the last on, in all operands.
std::string WithoutDots(const Node& n, const std::string& equation) {
  if (equation.find("...") == std::string::npos) return equation;
  std::string spare;
  for (char c = 'A'; c <= 'z'; ++c)
    if (std::isalpha(static_cast<unsigned char>(c)) && equation.find(c) == std::string::npos) spare += c;
  const size_t arrow = equation.find("->");
  size_t longest = 0;
  std::string made, once;
  const auto letters = [&](size_t count) { return spare.substr(spare.size() - count); };
  std::string terms = equation.substr(0, arrow);
  for (size_t operand = 0, from = 0; from <= terms.size(); ++operand) {
    const size_t to = std::min(terms.find(',', from), terms.size()), dots = terms.find("...", from);
    std::string term = terms.substr(from, to - from);
    if (dots < to) {
      const size_t plain = term.size() - 3, rank = n.In(operand).rank();
      if (rank < plain || rank - plain > spare.size()) throw Fault{"its equation does not fit its operands"};
      longest = std::max(longest, rank - plain);
      term.replace(dots - from, 3, letters(rank - plain));
    }
    made += (operand == 0 ? "" : ",") + term;
    from = to + 1;
  }
  std::string result = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  if (arrow == std::string::npos) {  // those axes, and then each letter that is there once
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(terms.begin(), terms.end(), c) == 1 && std::isalpha(static_cast<unsigned char>(c))) result += c;
    result = letters(longest) + result;
  } else if (const size_t dots = result.find("..."); dots != std::string::npos) {
    result.replace(dots, 3, letters(longest));
  }
  return made + "->" + result;
}

void Einsum(Node& n) {
  std::string equation;
  for (char c : n.Text("equation", ""))
    if (c != ' ') equation += c;
  equation = WithoutDots(n, equation);
  const size_t arrow = equation.find("->");
  const std::string all = equation.substr(0, arrow);
  std::vector<Lettered> terms = {{n.In(0), ""}};
  std::map<char, int64_t> sizes;
  std::map<char, int> often;
  for (char c : all) {
    if (c == ',') {
      terms.push_back({n.In(terms.size()), ""});
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(c))) throw Fault{"its equation has more than letters"};
    Lettered& term = terms.back();
    if (term.letters.find(c) != std::string::npos) throw Fault{"an operand of its equation has a letter twice"};
    if (term.letters.size() >= term.x.rank()) throw Fault{"its equation does not fit its operands"};
    const int64_t size = term.x.dims[term.letters.size()];
    if (!sizes.emplace(c, size).second && sizes[c] != size) throw Fault{fmt::format("`{}` has two sizes in its equation", c)};
    term.letters += c;
    ++often[c];
  }
  std::string result;
  if (arrow != std::string::npos) result = equation.substr(arrow + 2);
  else
    for (const auto& [letter, count] : often)
      if (count == 1) result += letter;
  for (size_t i = 0; i < result.size(); ++i)
    if (!sizes.contains(result[i]) || result.find(result[i], i + 1) != std::string::npos) throw Fault{"its equation's result has other letters than its operands"};
  if (terms.size() != n.in.size()) throw Fault{"its equation does not fit its operands"};
  for (const Lettered& term : terms)
    if (term.letters.size() != term.x.rank() || term.x.element != terms[0].x.element || term.x.element == Element::Bool) throw Fault{"its equation does not fit its operands"};
  Lettered at = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    std::string later = result;
    for (size_t k = i + 1; k < terms.size(); ++k) later += terms[k].letters;
    at = Multiplied(n, at, terms[i], later);
  }
  n.out = {Ordered(n, at, result).x};
}

}  // namespace

void AddOrders(Handlers& all) {
  const std::pair<const char*, Handler> ops[] = {{"CumSum", CumSum}, {"CumProd", CumProd}, {"TopK", TopK}, {"Trilu", Trilu}, {"EyeLike", EyeLike}, {"Einsum", Einsum}};
  for (const auto& [name, handler] : ops) all[name] = handler;
}

}  // namespace df::from_onnx
