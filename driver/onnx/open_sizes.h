// driver/onnx/open_sizes.h
//
// A definition whose type leaves sizes open, for a model of all of them: which they are, and numbers that stand for them where the program is
// compiled (lower/onnx/sizes.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/pipeline.h"

namespace df {

struct OpenEntry {
  // Of each parameter that is a tensor, its dimensions; nothing of others.
  std::vector<std::optional<std::vector<Dimension>>> params;
  std::vector<TypeId> variables;    // the atoms of these
  std::vector<std::string> names;   // of the variables

  // The numbers that stand for the variables in the program by that index.
  std::vector<int64_t> ValuesOf(uint32_t program) const;
  // The shape of a parameter there.
  std::optional<std::vector<int64_t>> ShapeOf(size_t param, uint32_t program) const;
};

// How many programs tell what a number stands for.
inline constexpr uint32_t kSizedPrograms = 5;

// The program's own definition of that name, after a check. nullopt: there is none, or its parameters leave no size open.
std::optional<OpenEntry> OpenSizesOf(const core::Program& program, std::string_view name);

}  // namespace df
