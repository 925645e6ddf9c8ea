// lower/options/options.h
//
// What lowering may do, and which of its passes are switched off.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace df {

enum class Optimisation : uint8_t {
#define DF_OPTIMISATION(name, text, description) name,
#include "lower/options/optimisations.def"
};

struct OptimisationInfo {
  Optimisation id;
  const char* name;  // of its switch
  const char* description;
};
llvm::ArrayRef<OptimisationInfo> Optimisations();

// A pass of the compiler, in the order of lower/lower.cpp. `off_by`: what switches it off; passes that are always there look at
// other switches inside, such as simplify at Inline.
struct PassInfo {
  const char* name;
  std::optional<Optimisation> off_by;
  const char* description;
};
std::vector<PassInfo> Passes();

// How a gradient gets at its forward pass: in one body with it; by computing it anew; from a table. The latter two are there to
// compare with (docs/gradients.md).
enum class GradientKind : uint8_t { Paired, Recompute, Table };

struct LowerOptions {
  bool optimize = true;      // off: the plain translation, without any of the optimisations
  uint32_t without = 0;      // a bit for each optimisation that is switched off
  bool loops = true;         // self tail calls become loops
  GradientKind gradient = GradientKind::Paired;
  // Who writes main's value as text if its type has a Show instance of its own: that, or nobody, as the value is taken apart.
  bool own_show = true;
  bool records = false;      // a list of records is taken apart in any case
  uint32_t max_instances = 20000;  // specialisation stops with a diagnostic beyond this many copies of a function

  bool Does(Optimisation what) const { return optimize && !(without >> static_cast<uint32_t>(what) & 1); }
  void SwitchOff(Optimisation what) { without |= 1u << static_cast<uint32_t>(what); }
};

}  // namespace df
