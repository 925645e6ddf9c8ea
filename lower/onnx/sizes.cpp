// See sizes.h.
#include "lower/onnx/sizes.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <set>

#include "fmt/format.h"

namespace df::to_onnx {
namespace {

// Polynomials that are looked for: of so many terms beside the number, of so many factors each.
constexpr size_t kMostTerms = 3;
constexpr size_t kMostFactors = 3;
constexpr double kLargestFactor = 1e9;

using Numbers = std::vector<int64_t>;  // one of each program

class Fitter {
 public:
  explicit Fitter(const SizedPrograms& sized) : sized_(sized) {
    std::vector<uint32_t> none;
    AddProducts(none, 0);
  }

  // The polynomial that has these values.
  std::optional<Size> Fit(const Numbers& wanted) {
    auto [at, is_new] = found_.try_emplace(wanted);
    if (is_new)
      for (size_t terms = 1; terms <= kMostTerms && !at->second; ++terms) {
        std::vector<size_t> chosen;
        at->second = Choose(wanted, terms, 0, chosen);
      }
    return at->second;
  }

 private:
  struct Product {
    std::vector<uint32_t> variables;
    Numbers values;
  };

  void AddProducts(std::vector<uint32_t>& variables, uint32_t from) {
    if (!variables.empty()) {
      Product made{variables, {}};
      for (const auto& values : sized_.values) {
        int64_t product = 1;
        for (uint32_t variable : variables) product *= values[variable];
        made.values.push_back(product);
      }
      products_.push_back(std::move(made));
    }
    if (variables.size() == kMostFactors) return;
    for (uint32_t next = from; next < sized_.names.size(); ++next) {
      variables.push_back(next);
      AddProducts(variables, next);
      variables.pop_back();
    }
  }

  std::optional<Size> Choose(const Numbers& wanted, size_t terms, size_t from, std::vector<size_t>& chosen) {
    if (chosen.size() == terms) return Solve(wanted, chosen);
    for (size_t next = from; next < products_.size(); ++next) {
      chosen.push_back(next);
      std::optional<Size> found = Choose(wanted, terms, next + 1, chosen);
      chosen.pop_back();
      if (found) return found;
    }
    return std::nullopt;
  }

  // The factors of these products and the number, by elimination in as many programs as there are unknowns; then all programs are asked.
  std::optional<Size> Solve(const Numbers& wanted, const std::vector<size_t>& chosen) const {
    const size_t unknowns = chosen.size() + 1;
    if (unknowns >= wanted.size()) return std::nullopt;
    std::vector<std::vector<long double>> rows(unknowns, std::vector<long double>(unknowns + 1, 1));
    for (size_t r = 0; r < unknowns; ++r) {
      for (size_t c = 0; c < chosen.size(); ++c) rows[r][c] = static_cast<long double>(products_[chosen[c]].values[r]);
      rows[r][unknowns] = static_cast<long double>(wanted[r]);
    }
    for (size_t c = 0; c < unknowns; ++c) {
      size_t best = c;
      for (size_t r = c; r < unknowns; ++r)
        if (std::fabs(rows[r][c]) > std::fabs(rows[best][c])) best = r;
      if (rows[best][c] == 0) return std::nullopt;
      std::swap(rows[c], rows[best]);
      for (size_t r = 0; r < unknowns; ++r) {
        if (r == c) continue;
        const long double by = rows[r][c] / rows[c][c];
        for (size_t k = c; k <= unknowns; ++k) rows[r][k] -= by * rows[c][k];
      }
    }
    Numbers factors;
    for (size_t c = 0; c < unknowns; ++c) {
      const long double factor = rows[c][unknowns] / rows[c][c];
      if (!(std::fabs(factor) < kLargestFactor)) return std::nullopt;
      factors.push_back(std::llround(factor));
      if (c < chosen.size() && factors.back() == 0) return std::nullopt;
    }
    for (size_t r = 0; r < wanted.size(); ++r) {
      __int128 sum = factors.back();
      for (size_t c = 0; c < chosen.size(); ++c) sum += static_cast<__int128>(factors[c]) * products_[chosen[c]].values[r];
      if (sum != wanted[r]) return std::nullopt;
    }
    Size size;
    for (size_t c = 0; c < chosen.size(); ++c) size.push_back({factors[c], products_[chosen[c]].variables});
    if (factors.back() != 0) size.push_back({factors.back(), {}});
    return size;
  }

  const SizedPrograms& sized_;
  std::vector<Product> products_;
  std::map<Numbers, std::optional<Size>> found_;
};

bool AllSame(const Numbers& numbers) {
  for (int64_t number : numbers)
    if (number != numbers[0]) return false;
  return true;
}

class Finder {
 public:
  explicit Finder(const SizedPrograms& sized) : sized_(sized), first_(*sized.programs[0]), fitter_(sized) { sizes_.names = sized.names; }

  OpenSizes Run() {
    for (const fg::Program* other : sized_.programs) CompareFunctions(*other);
    for (uint32_t t = 0; t < first_.types.size(); ++t) AddType(ir::TypeId(t));
    for (uint32_t c = 0; c < first_.constants.size(); ++c) AddConstant(ir::ConstId(c));
    return std::move(sizes_);
  }

 private:
  [[noreturn]] void Refuse(ir::PosId pos, std::string why) const {
    throw Refusal{"a program of any size", std::move(why), "a signature that has numbers for the sizes makes a model for these", pos.valid() ? pos : first_.functions[first_.main].pos};
  }

  void CompareFunctions(const fg::Program& other) const {
    if (other.functions.size() != first_.functions.size() || other.types.size() != first_.types.size() || other.constants.size() != first_.constants.size())
      Refuse({}, "what is to be computed depends on the sizes");
    for (uint32_t f = 0; f < first_.functions.size(); ++f) {
      const fg::Function &mine = first_.functions[fg::FunctionId(f)], &theirs = other.functions[fg::FunctionId(f)];
      if (mine.nodes.size() != theirs.nodes.size() || mine.blocks.size() != theirs.blocks.size()) Refuse(mine.pos, "what is to be computed depends on the sizes");
      for (uint32_t n = 0; n < mine.nodes.size(); ++n) {
        const fg::Node &a = mine.nodes[fg::NodeId(n)], &b = theirs.nodes[fg::NodeId(n)];
        bool same = a.kind == b.kind && a.op == b.op && a.attr == b.attr && a.callee == b.callee && a.operands == b.operands && a.blocks == b.blocks &&
                    a.results.size() == b.results.size();
        for (size_t r = 0; same && r < a.results.size(); ++r) same = a.results[r].type == b.results[r].type;
        if (!same) Refuse(a.pos, "what is to be computed depends on the sizes");
      }
      for (uint32_t b = 0; b < mine.blocks.size(); ++b) {
        const fg::Block &x = mine.blocks[fg::BlockId(b)], &y = theirs.blocks[fg::BlockId(b)];
        if (x.nodes != y.nodes || x.yields != y.yields || x.again != y.again) Refuse(mine.pos, "what is to be computed depends on the sizes");
      }
    }
  }

  void AddType(ir::TypeId id) {
    const ir::Type& type = first_.types[id];
    for (const fg::Program* other : sized_.programs) {
      const ir::Type& theirs = other->types[id];
      if (theirs.kind != type.kind || theirs.element != type.element || theirs.dims.size() != type.dims.size())
        Refuse({}, fmt::format("the type `{}` depends on the sizes", type.name));
    }
    for (size_t k = 0; k < type.dims.size(); ++k) {
      Numbers numbers;
      for (const fg::Program* program : sized_.programs) numbers.push_back(program->types[id].dims[k]);
      auto [at, is_new] = seen_.try_emplace(numbers[0], numbers);
      if (at->second != numbers) Refuse({}, fmt::format("the size {} of `{}` stands for two", numbers[0], type.name));
      if (!is_new || AllSame(numbers)) continue;
      std::optional<Size> size = fitter_.Fit(numbers);
      if (!size) Refuse({}, fmt::format("a size of the type `{}` is not made of a few sums and products of sizes", type.name));
      sizes_.sizes.emplace(numbers[0], *std::move(size));
    }
  }

  // The whole number that a constant is, or is one over.
  static std::optional<int64_t> WholeOf(ir::TypeKind kind, const ir::Constant& constant, bool inverse) {
    double number = 0;
    if (kind == ir::TypeKind::Int) return inverse ? std::nullopt : std::optional(constant.word);
    if (kind == ir::TypeKind::Float) {
      float single;
      std::memcpy(&single, &constant.word, sizeof single);
      number = single;
    } else if (kind == ir::TypeKind::Double) {
      std::memcpy(&number, &constant.word, sizeof number);
    } else {
      return std::nullopt;
    }
    const double whole = inverse ? 1 / number : number;
    if (!(std::fabs(whole) < 1e15)) return std::nullopt;
    const auto rounded = static_cast<double>(std::llround(whole));
    const double again = inverse ? 1 / rounded : rounded;
    const bool same = kind == ir::TypeKind::Float ? static_cast<float>(again) == static_cast<float>(number) : again == number;
    return same ? std::optional(std::llround(whole)) : std::nullopt;
  }

  void AddConstant(ir::ConstId id) {
    const ir::Constant& constant = first_.constants[id];
    bool same = true;
    for (const fg::Program* other : sized_.programs) {
      const ir::Constant& theirs = other->constants[id];
      same = same && theirs.type == constant.type && theirs.word == constant.word && theirs.text == constant.text;
    }
    if (same) return;
    for (bool inverse : {false, true}) {
      Numbers numbers;
      for (const fg::Program* program : sized_.programs)
        if (std::optional<int64_t> whole = WholeOf(first_.types.Kind(constant.type), program->constants[id], inverse)) numbers.push_back(*whole);
      if (numbers.size() != sized_.programs.size()) continue;
      if (std::optional<Size> size = fitter_.Fit(numbers)) {
        sizes_.numbers[id.index] = {*std::move(size), inverse};
        return;
      }
    }
    Refuse({}, "one of its constants depends on the sizes");
  }

  const SizedPrograms& sized_;
  const fg::Program& first_;
  Fitter fitter_;
  std::map<int64_t, Numbers> seen_;
  OpenSizes sizes_;
};

}  // namespace

std::string PrintSize(const Size& size, const std::vector<std::string>& names) {
  std::string text;
  for (const SizeTerm& term : size) {
    const int64_t factor = term.factor < 0 ? -term.factor : term.factor;
    if (text.empty()) text = term.factor < 0 ? "-" : "";
    else text += term.factor < 0 ? " - " : " + ";
    if (factor != 1 || term.variables.empty()) text += fmt::format("{}{}", factor, term.variables.empty() ? "" : "*");
    for (size_t i = 0; i < term.variables.size(); ++i) text += (i ? "*" : "") + names[term.variables[i]];
  }
  return text;
}

OpenSizes FindSizes(const SizedPrograms& sized) { return Finder(sized).Run(); }

}  // namespace df::to_onnx
