// typecheck/state/options.h
//
// What a check of one module is told beside its syntax.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/interner.h"
#include "llvm/ADT/ArrayRef.h"

namespace df {

struct CheckOptions {
  bool library = false;     // the module may use `foreign import prim`, and declares the built-in classes
  bool imported = false;    // a module of the program that others import: no `main` is looked for, its exports are kept
  bool repl = false;        // definitions may replace earlier ones of the same name; no monomorphic `main` needed
  bool generalises = false;  // definitions without parameters do not fall under that restriction, as at GHCi's prompt
  bool warnings = true;     // exhaustiveness, redundancy
  Symbol entry;             // the definition that is printed; by default `main`, or the prompt's `it`
  bool shows_entry = true;  // false: its value is taken apart, and needs no Show instance
  bool arrays_entry = false;  // without one it may do that can be written as arrays: core::Program::main_unshown
  // The shape of what a run gives an input of `main` of this name: it binds the dimensions that main's type leaves open. None, and
  // why, if that is not known.
  std::function<std::optional<std::vector<int64_t>>(llvm::ArrayRef<std::string_view> inputs, size_t which, std::string* why)> shape_of_input;
  bool entry_is_bound = false;  // it is an action whose value gets a name, and is not printed
  bool restricted = true;   // the monomorphism restriction and defaulting hold; `:type` does without
};

}  // namespace df
