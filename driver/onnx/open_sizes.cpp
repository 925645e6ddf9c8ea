// See open_sizes.h.
#include "driver/onnx/open_sizes.h"

#include <random>

#include "llvm/ADT/STLExtras.h"

namespace df {

// Numbers without a pattern, so that different sums and products of them are different; smaller ones where more are multiplied, since a tensor
// has 2^40 elements at most.
std::vector<int64_t> OpenEntry::ValuesOf(uint32_t program) const {
  constexpr int64_t kLeast[] = {40'000, 5'000, 1'000, 300};
  const int64_t least = kLeast[std::min<size_t>(variables.size(), std::size(kLeast)) - 1];
  std::mt19937_64 random(program + 1);
  std::vector<int64_t> values;
  while (values.size() < variables.size())
    if (const int64_t value = least + static_cast<int64_t>(random() % static_cast<uint64_t>(least)); !llvm::is_contained(values, value)) values.push_back(value);
  return values;
}

std::optional<std::vector<int64_t>> OpenEntry::ShapeOf(size_t param, uint32_t program) const {
  if (param >= params.size() || !params[param]) return std::nullopt;
  const std::vector<int64_t> values = ValuesOf(program);
  std::vector<int64_t> shape;
  for (const Dimension& dimension : *params[param]) {
    int64_t sum = 0;
    for (const DimTerm& term : dimension.terms()) {
      int64_t product = term.coefficient;
      for (TypeId atom : term.atoms) product *= values[static_cast<size_t>(llvm::find(variables, atom) - variables.begin())];
      sum += product;
    }
    shape.push_back(sum);
  }
  return shape;
}

std::optional<OpenEntry> OpenSizesOf(const core::Program& program, std::string_view name) {
  const core::Var* found = nullptr;
  for (const core::Definition& definition : program.definitions) {
    const core::Var& var = program.vars[definition.var];
    if (!var.from_library && var.kind == core::VarKind::Top && Text(var.name) == name && !var.scheme.tyvars.empty() && !found) found = &var;
  }
  if (!found) return std::nullopt;
  OpenEntry entry;
  llvm::SmallVector<TypeId> params;
  program.types.SplitFun(found->scheme.type, params);
  for (TypeId param : params) {
    TypeId shape;
    llvm::SmallVector<TypeId> dims;
    auto& dimensions = entry.params.emplace_back();
    if (!program.types.IsTensor(param, nullptr, &shape) || !program.types.SplitShape(shape, dims)) continue;
    dimensions.emplace();
    for (TypeId dim : dims) {
      dimensions->push_back(program.types.DimensionOf(dim));
      for (const DimTerm& term : dimensions->back().terms())
        for (TypeId atom : term.atoms)
          if (!llvm::is_contained(entry.variables, atom)) entry.variables.push_back(atom);
    }
  }
  if (entry.variables.empty()) return std::nullopt;
  for (TypeId variable : entry.variables) entry.names.push_back(program.types.Print(variable));
  return entry;
}

}  // namespace df
