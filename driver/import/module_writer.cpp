// See module_writer.h.
#include "driver/import/module_writer.h"

#include <cctype>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fmt/args.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "lang/budget.h"

namespace df::from_onnx {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;
constexpr size_t kMostText = size_t{64} << 20;
constexpr int64_t kLongestLiteral = 64;  // of known numbers; more are a weight
constexpr int64_t kMostSpread = 1024;    // of known numbers that are broadcast and known then

const char* NameOf(Element element) {
  return element == Element::Float ? "Float" : element == Element::Double ? "Double" : element == Element::Int ? "Int" : "Bool";
}

}  // namespace

int64_t CountOf(const Dims& dims, size_t from, size_t to) {
  int64_t count = 1;
  for (size_t i = from; i < to; ++i) {
    if (dims[i] < 0 || (dims[i] != 0 && count > kMostElements / dims[i])) throw Fault{fmt::format("a tensor of the shape {} is too large", ir::ShapeText(dims))};
    count *= dims[i];
  }
  return count;
}
int64_t CountOf(const Dims& dims) { return CountOf(dims, 0, dims.size()); }

Dims BroadcastDims(const std::vector<Bound>& all) {
  Dims dims;
  for (const Bound& each : all) {
    if (each.rank() > dims.size()) dims.insert(dims.begin(), each.rank() - dims.size(), 1);
    for (size_t i = 0; i < each.rank(); ++i) {
      int64_t& dim = dims[dims.size() - 1 - i];
      const int64_t own = each.dims[each.rank() - 1 - i];
      if (dim == 1) dim = own;
      else if (own != dim && own != 1) throw Fault{fmt::format("the shape {} does not fit the others", ir::ShapeText(each.dims))};
    }
  }
  return dims;
}

std::string TypeText(Element element, const Dims& dims) {
  if (dims.size() > ir::kMaxRank) throw Fault{fmt::format("a tensor has {} dimensions, and may have {}", dims.size(), ir::kMaxRank)};
  CountOf(dims);
  return fmt::format("Tensor {} {}", NameOf(element), ir::ShapeText(dims));
}

std::string NumberText(Element element, double value) {
  if (element == Element::Bool) return value != 0 ? "True" : "False";
  if (element == Element::Int) {
    if (!(std::abs(value) < 9e18)) throw Fault{fmt::format("{} is no Int", value)};
    return fmt::format("({})", static_cast<int64_t>(value));
  }
  if (std::isnan(value)) return "(0 / 0)";
  if (std::isinf(value)) return value > 0 ? "(1 / 0)" : "(negate (1 / 0))";
  std::string text = element == Element::Float ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (const size_t e = text.find('e'); e != std::string::npos && text.find('.') == std::string::npos) text.insert(e, ".0");
  return value < 0 || std::signbit(value) ? "(" + text + ")" : text;
}

void ModuleWriter::CheckSize() const {
  CheckBudget();
  if (bindings.size() > kMostText) throw Fault{"its module would be longer than 64 MiB"};
}

std::string ModuleWriter::Fresh(const std::string& name) {
  std::string clean;
  for (char c : name) clean += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  while (!clean.empty() && clean[0] == '_') clean.erase(0, 1);
  if (clean.empty() || !std::isalpha(static_cast<unsigned char>(clean[0]))) clean = "a" + clean;
  clean = clean.substr(0, 60);
  clean[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(clean[0])));
  static const char* const kWords[] = {"case", "class", "data", "default", "deriving", "do", "else", "foreign", "if", "import", "in", "infix", "infixl", "infixr",
                                       "instance", "let", "module", "newtype", "of", "then", "type", "where", "main", "net", "weights", "forall", "mdo", "rec", "proc", "i", "e",
                                       // what the module imports
                                       "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceiling", "cos", "cosh", "exp", "floor", "fromIntegral", "fromInteger", "fromRational",
                                       "div", "divMod", "log", "logBase", "mod", "negate", "pi", "properFraction", "quot", "quotRem", "recip", "rem", "round", "signum", "sin", "sinh", "sqrt", "tan", "tanh", "toInteger", "truncate", "xor", "shiftL", "shiftR"};
  for (const char* word : kWords)
    if (clean == word) clean += "_";
  // `v12` are the bindings' own.
  if (clean[0] == 'v' && clean.size() > 1 && clean.find_first_not_of("0123456789", 1) == std::string::npos) clean += "_";
  const int used = taken_[clean]++;
  if (used == 0) return clean;
  return Fresh(fmt::format("{}_{}", clean, used));
}

std::string ModuleWriter::LetOf(const std::string& type, const std::string& expression) {
  CheckSize();
  std::string name = fmt::format("v{}", ++made_);
  bindings += fmt::format("    {} :: {}\n    {} = {}\n", name, type, name, expression);
  return name;
}

Bound ModuleWriter::Let(Element element, const Dims& dims, const std::string& expression) {
  return {LetOf(TypeText(element, dims), expression), element, dims, std::nullopt};
}

Bound ModuleWriter::Weight(const std::string& name, Element element, const Dims& dims, std::string bytes) {
  TypeText(element, dims);
  const FileElement kind = element == Element::Float ? FileElement::Float32 : element == Element::Double ? FileElement::Float64 : element == Element::Int ? FileElement::Int64 : FileElement::Bool;
  weights.push_back({Fresh(name), kind, dims, std::move(bytes)});
  return {fmt::format("({} weights)", weights.back().name), element, dims, std::nullopt};
}

Bound ModuleWriter::Known(Element element, const Dims& dims, std::vector<int64_t> values) { return {"", element, dims, std::move(values)}; }
Bound ModuleWriter::Ints(const Dims& dims, std::vector<int64_t> values) { return Known(Element::Int, dims, std::move(values)); }
Bound ModuleWriter::Ints(std::vector<int64_t> values) {
  const Dims dims = {static_cast<int64_t>(values.size())};
  return Ints(dims, std::move(values));
}

std::string ModuleWriter::Use(const Bound& value) {
  if (!value.variable.empty()) return value.variable;
  const std::vector<int64_t>& all = *value.known;
  const Element e = value.element;
  const bool truth = e == Element::Bool;
  if (value.dims.empty()) return Let(e, {}, fmt::format("T.scalar {}", NumberText(e, all[0]))).variable;
  if (all.empty()) return Let(e, value.dims, truth ? "T.fill False" : "T.zeros").variable;
  const auto count = static_cast<int64_t>(all.size());
  if (count <= kLongestLiteral) {
    std::vector<std::string> texts;
    for (int64_t each : all) texts.push_back(NumberText(e, each));
    return Reshape(Let(e, {count}, fmt::format("[{}]", fmt::join(texts, ", "))), value.dims).variable;
  }
  if (truth) return Weight("truths", e, value.dims, std::string(all.begin(), all.end())).variable;
  std::string& there = long_[{value.dims, all}];
  if (!there.empty()) return there;
  std::string bytes(all.size() * 8, '\0');
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return there = Weight("numbers", Element::Int, value.dims, std::move(bytes)).variable;
}

// ---------------------------------------------------------------- shapes

Bound ModuleWriter::Reshape(const Bound& x, const Dims& dims) {
  if (x.dims == dims) return x;
  if (CountOf(x.dims) != CountOf(dims)) throw Fault{fmt::format("the shape {} does not become {}", ir::ShapeText(x.dims), ir::ShapeText(dims))};
  if (x.variable.empty()) return Known(x.element, dims, *x.known);
  Bound made = Let(x.element, dims, "T.reshape " + x.variable);
  made.known = x.known;
  return made;
}

Bound ModuleWriter::Broadcast(const Bound& x, const Dims& dims) {
  if (x.dims == dims) return x;
  const std::string wrong = fmt::format("the shape {} does not fit {}", ir::ShapeText(x.dims), ir::ShapeText(dims));
  if (x.dims.size() > dims.size()) throw Fault{wrong};
  Dims wide(dims.size() - x.dims.size(), 1);
  wide.insert(wide.end(), x.dims.begin(), x.dims.end());
  for (size_t i = 0; i < dims.size(); ++i)
    if (wide[i] != dims[i] && wide[i] != 1) throw Fault{wrong};
  if (x.known && CountOf(dims) <= kMostSpread) {
    std::vector<int64_t> spread(static_cast<size_t>(CountOf(dims)));
    for (size_t i = 0; i < spread.size(); ++i) {
      size_t rest = i, at = 0, step = 1;
      for (size_t axis = dims.size(); axis-- > 0;) {
        const auto size = static_cast<size_t>(dims[axis]);
        if (wide[axis] != 1) at += rest % size * step;
        step *= static_cast<size_t>(wide[axis]);
        rest /= size;
      }
      spread[i] = (*x.known)[at];
    }
    return Known(x.element, dims, std::move(spread));
  }
  Bound at{Use(x), x.element, x.dims, std::nullopt};
  if (CountOf(wide) == 1) return Let(x.element, dims, fmt::format("T.fill (T.item {})", Use(Reshape(at, {}))));
  for (size_t i = dims.size(); i-- > 0;) {
    if (wide[i] == dims[i]) continue;
    const int64_t before = CountOf(wide, 0, i), behind = CountOf(wide, i + 1, wide.size());
    if (before == 1) {
      at = Let(x.element, {dims[i], behind}, "T.broadcast " + Use(Reshape(at, {behind})));
    } else {
      const Bound spread = Let(x.element, {dims[i], before, behind}, "T.broadcast " + Use(Reshape(at, {before, behind})));
      at = SwapBlocks(spread, 1, dims[i], before, behind);
    }
    wide[i] = dims[i];
    at = Reshape(at, wide);
  }
  return Reshape(at, dims);
}

// [before, first, second, behind] becomes [before, second, first, behind].
Bound ModuleWriter::SwapBlocks(const Bound& x, int64_t before, int64_t first, int64_t second, int64_t behind) {
  const Element e = x.element;
  if (first == 1 || second == 1) return x;
  if (before == 1 && behind == 1) return Let(e, {second, first}, "T.transpose " + Use(Reshape(x, {first, second})));
  if (behind == 1) return Let(e, {before, second, first}, "T.transpose021 " + Use(Reshape(x, {before, first, second})));
  if (before != 1) {
    const Bound outer = Let(e, {first, before, second * behind}, "T.transpose102 " + Use(Reshape(x, {before, first, second * behind})));
    return Let(e, {before * second, first, behind}, "T.transpose102 " + Use(Reshape(outer, {first, before * second, behind})));
  }
  return Let(e, {second, first, behind}, "T.transpose102 " + Use(Reshape(x, {first, second, behind})));
}

Bound ModuleWriter::Permute(const Bound& x, const std::vector<size_t>& order) {
  if (x.known && CountOf(x.dims) <= kMostSpread) {
    Dims dims;
    for (size_t axis : order) dims.push_back(x.dims[axis]);
    std::vector<int64_t> moved(x.known->size());
    for (size_t i = 0; i < moved.size(); ++i) {
      size_t rest = i, from = 0;
      for (size_t k = order.size(); k-- > 0; rest /= static_cast<size_t>(dims[k]))
        from += rest % static_cast<size_t>(dims[k]) * static_cast<size_t>(CountOf(x.dims, order[k] + 1, x.rank()));
      moved[i] = (*x.known)[from];
    }
    return Known(x.element, dims, std::move(moved));
  }
  std::vector<size_t> now(order.size());
  std::iota(now.begin(), now.end(), size_t{0});
  Bound at = x;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t from = static_cast<size_t>(std::find(now.begin() + static_cast<std::ptrdiff_t>(i), now.end(), order[i]) - now.begin());
    if (from == i) continue;
    // The axes from here on that follow each other there too move together.
    size_t to = from + 1;
    while (to < now.size() && i + (to - from) < order.size() && now[to] == order[i + (to - from)]) ++to;
    Dims dims;
    for (size_t axis : now) dims.push_back(x.dims[axis]);
    at = SwapBlocks(at, CountOf(dims, 0, i), CountOf(dims, i, from), CountOf(dims, from, to), CountOf(dims, to, dims.size()));
    std::rotate(now.begin() + static_cast<std::ptrdiff_t>(i), now.begin() + static_cast<std::ptrdiff_t>(from), now.begin() + static_cast<std::ptrdiff_t>(to));
  }
  Dims dims;
  for (size_t axis : order) dims.push_back(x.dims[axis]);
  return Reshape(at, dims);
}

Bound ModuleWriter::Concat(const std::vector<Bound>& parts, size_t axis) {
  Dims dims = parts[0].dims;
  const int64_t before = CountOf(dims, 0, axis), behind = CountOf(dims, axis + 1, dims.size());
  dims[axis] = 0;
  std::string text;
  for (const Bound& part : parts) {
    if (part.element != parts[0].element) throw Fault{"parts of two types cannot stand behind each other"};
    if (part.dims.size() != dims.size()) throw Fault{"parts of other ranks cannot stand behind each other"};
    for (size_t i = 0; i < dims.size(); ++i)
      if (i != axis && part.dims[i] != dims[i]) throw Fault{fmt::format("the shapes {} and {} cannot stand behind each other", ir::ShapeText(parts[0].dims), ir::ShapeText(part.dims))};
    dims[axis] += part.dims[axis];
  }
  Bound at;
  int64_t width = 0;
  for (const Bound& part : parts) {
    const int64_t more = part.dims[axis] * behind;
    const Bound flat = Reshape({Use(part), part.element, part.dims, std::nullopt}, before == 1 ? Dims{more} : Dims{before, more});
    if (at.variable.empty()) at = flat;
    else at = Let(flat.element, before == 1 ? Dims{width + more} : Dims{before, width + more}, fmt::format("{} {} {}", before == 1 ? "T.concat" : "T.concatColumns", Use(at), Use(flat)));
    width += more;
  }
  return Reshape(at, dims);
}

Bound ModuleWriter::Take(const Bound& x, size_t axis, const std::vector<int64_t>& at) {
  Dims dims = x.dims;
  const int64_t all = dims[axis], count = static_cast<int64_t>(at.size());
  bool row = true;
  for (size_t i = 0; i < at.size(); ++i) row &= at[i] == at[0] + static_cast<int64_t>(i);
  if (row && count == all) return x;
  dims[axis] = count;
  if (x.known && (CountOf(dims) <= kMostSpread || x.rank() == 1)) {
    for (int64_t each : at)
      if (each < 0 || each >= all) throw Fault{fmt::format("there is no index {} in {} elements", each, all)};
    const auto behind = static_cast<size_t>(CountOf(dims, axis + 1, dims.size()));
    std::vector<int64_t> taken(static_cast<size_t>(CountOf(dims)));
    for (size_t i = 0; i < taken.size(); ++i) {
      const size_t before = i / behind / at.size(), k = i / behind % at.size();
      taken[i] = (*x.known)[(before * static_cast<size_t>(all) + static_cast<size_t>(at[k])) * behind + i % behind];
    }
    return Known(x.element, dims, std::move(taken));
  }
  if (count == 0) return Let(x.element, dims, x.element == Element::Bool ? "T.fill False" : "T.zeros");
  if (!row) return Gather(x, axis, Ints({count}, at));
  const int64_t before = CountOf(dims, 0, axis), behind = CountOf(dims, axis + 1, dims.size());
  Bound first = before == 1 ? Reshape(x, {all, behind}) : SwapBlocks(x, 1, before, all, behind);
  first = Reshape(first, {all, before * behind});
  first = Let(x.element, {count, before * behind}, fmt::format("T.slice {} {}", at[0], Use(first)));
  return Reshape(SwapBlocks(first, 1, count, before, behind), dims);
}

Bound ModuleWriter::Gather(const Bound& x, size_t axis, const Bound& at) {
  const int64_t all = x.dims[axis], count = CountOf(at.dims);
  const int64_t before = CountOf(x.dims, 0, axis), behind = CountOf(x.dims, axis + 1, x.dims.size());
  Bound index = at;
  if (at.known) {
    std::vector<int64_t> plain = *at.known;
    for (int64_t& each : plain) {
      if (each < 0) each += all;
      if (each < 0 || each >= all) throw Fault{fmt::format("there is no index {} in {} elements", each, all)};
    }
    index = Ints({count}, std::move(plain));
  } else {
    index = Reshape(at, {count});
    index = Let(Element::Int, {count}, fmt::format("T.select (T.less {0} 0) ({0} + T.fill {1}) {0}", Use(index), all));
  }
  const Bound first = Reshape(before == 1 ? x : SwapBlocks(x, 1, before, all, behind), {all, before * behind});
  const Bound rows = Let(x.element, {count, before * behind}, fmt::format("T.gather {} {}", Use(first), Use(index)));
  Dims dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), at.dims.begin(), at.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  return Reshape(SwapBlocks(rows, 1, count, before, behind), dims);
}

Bound ModuleWriter::Reduce(const std::string& name, const Bound& x, const std::vector<size_t>& axes, bool keep) {
  Dims kept = x.dims, rest;
  std::vector<bool> reduced(x.rank());
  for (size_t axis : axes) reduced[axis] = true;
  for (size_t i = 0; i < x.rank(); ++i) {
    if (!reduced[i]) rest.push_back(x.dims[i]);
    else kept[i] = 1;
  }
  const Dims& wanted = keep ? kept : rest;
  if (axes.empty()) return x;
  if (CountOf(x.dims) == 0 && name != "sum") {
    if (name == "mean") throw Fault{"of no elements there is no mean"};
    // The one that all others are larger, or smaller, than.
    const bool reals = x.element != Element::Int, most = name == "min";
    const int64_t top = static_cast<int64_t>(~uint64_t{0} >> (64 - x.width.bits + (x.width.has_sign ? 1 : 0)));
    return Let(x.element, wanted, reals ? (most ? "T.fill (1 / 0)" : "T.fill (negate (1 / 0))") : most ? fmt::format("T.fill {}", top) : fmt::format("T.fill {}", x.width.has_sign ? fmt::format("(negate {} - 1)", top) : "0"));
  }
  if (rest.empty() || axes.size() == x.rank()) return Reshape(Let(x.element, {}, fmt::format("T.scalar (T.{}{} {})", name, name == "max" || name == "min" ? "imum" : "", Use(x))), wanted);
  Bound at = x;
  Dims dims = x.dims;
  for (size_t axis = x.rank(); axis-- > 0;) {
    if (!reduced[axis]) continue;
    const int64_t before = CountOf(dims, 0, axis), size = dims[axis], behind = CountOf(dims, axis + 1, dims.size());
    dims[axis] = 1;
    if (before == 1) {
      at = Let(x.element, {behind}, fmt::format("T.{}0 {}", name, Use(Reshape(at, {size, behind}))));
    } else {
      const Bound rows = behind == 1 ? at : SwapBlocks(at, before, size, behind, 1);
      at = Let(x.element, {before * behind}, fmt::format("T.{}Rows {}", name, Use(Reshape(rows, {before * behind, size}))));
    }
    at = Reshape(at, dims);
  }
  return Reshape(at, wanted);
}

Bound ModuleWriter::AlongAxis(const std::string& function, const Bound& x, size_t axis) {
  const int64_t before = CountOf(x.dims, 0, axis), size = x.dims[axis], behind = CountOf(x.dims, axis + 1, x.dims.size());
  Bound rows = Reshape(behind == 1 ? x : SwapBlocks(x, before, size, behind, 1), {before * behind, size});
  rows = Let(x.element, rows.dims, function + " " + Use(rows));
  return Reshape(behind == 1 ? rows : SwapBlocks(rows, before, behind, size, 1), x.dims);
}

Bound ModuleWriter::MatMul(const Bound& x, const Bound& y) {
  if (x.dims.empty() || y.dims.empty()) throw Fault{"a product wants vectors or matrices"};
  const int64_t k = x.dims.back(), rows = y.rank() == 1 ? y.dims[0] : y.dims[y.rank() - 2];
  if (k != rows) throw Fault{fmt::format("a product of the shapes {} and {}", ir::ShapeText(x.dims), ir::ShapeText(y.dims))};
  if (x.element == Element::Bool || x.element != y.element) throw Fault{"a product wants numbers of one type"};
  if (y.rank() <= 2) {
    const int64_t m = CountOf(x.dims, 0, x.rank() - 1), n = y.rank() == 1 ? 1 : y.dims[1];
    Dims dims(x.dims.begin(), x.dims.end() - 1);
    if (y.rank() == 2) dims.push_back(n);
    return Reshape(Let(x.element, {m, n}, fmt::format("T.matmul {} {}", Use(Reshape(x, {m, k})), Use(Reshape(y, {k, n})))), dims);
  }
  const bool vector = x.rank() == 1;
  const int64_t m = vector ? 1 : x.dims[x.rank() - 2], n = y.dims.back();
  const Dims left(x.dims.begin(), x.dims.end() - (vector ? 1 : 2)), right(y.dims.begin(), y.dims.end() - 2);
  Dims outer(std::max(left.size(), right.size()), 1);
  for (size_t i = 0; i < outer.size(); ++i) {
    const int64_t a = i < left.size() ? left[left.size() - 1 - i] : 1, b = i < right.size() ? right[right.size() - 1 - i] : 1;
    outer[outer.size() - 1 - i] = a == 1 ? b : a;
  }
  const auto shape = [&] {
    Dims dims = outer;
    if (!vector) dims.push_back(m);
    dims.push_back(n);
    return dims;
  };
  if (CountOf(outer) == 1) return Reshape(Let(x.element, {m, n}, fmt::format("T.matmul {} {}", Use(Reshape(x, {m, k})), Use(Reshape(y, {k, n})))), shape());
  auto wide = [&](const Bound& each, int64_t r, int64_t c) {
    Dims own(each.dims.begin(), each.dims.end() - (each.rank() == 1 ? 1 : 2)), all = outer;
    own.insert(own.end(), {r, c});
    all.insert(all.end(), {r, c});
    return Reshape(Broadcast(Reshape(each, own), all), {CountOf(outer), r, c});
  };
  const Bound a = wide(x, m, k), b = wide(y, k, n);
  const Bound made = Let(x.element, {CountOf(outer), m, n}, fmt::format("T.stack [T.matmul (T.index {} i) (T.index {} i) | i <- [0 .. {}]]", Use(a), Use(b), CountOf(outer) - 1));
  return Reshape(made, shape());
}

// ---------------------------------------------------------------- element by element

Bound ModuleWriter::Apply(const std::string& function, const Bound& x) { return Let(x.element, x.dims, function + " " + Use(x)); }

Bound ModuleWriter::Elementwise(Element element, const std::vector<Bound>& operands, const std::string& expression) {
  const Dims dims = BroadcastDims(operands);
  fmt::dynamic_format_arg_store<fmt::format_context> names;
  for (const Bound& operand : operands) names.push_back(Use(Broadcast(operand, dims)));
  return Let(element, dims, fmt::vformat(expression, names));
}

Bound ModuleWriter::Fill(Element element, const Dims& dims, double value) { return Let(element, dims, "T.fill " + NumberText(element, value)); }

}  // namespace df::from_onnx
