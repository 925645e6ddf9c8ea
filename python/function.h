// python/function.h
//
// Entries of graphs as Python's callables. A type of its own, not one of nanobind's: a call of a warm graph is to cost little more than the run.
#pragma once

#include "python/types.h"

namespace df::python {

// What is loaded: shared by its functions.
struct Loaded {
  Program program;
  Plans plans;
};

struct Input {
  std::string name;
  nb::object python_name;  // as a parameter: "x_" for "x'"
  const TypePlan* plan;
  std::string what;  // in messages: "predict: the input `x`"
};

// The type of functions, for the module.
nb::object FunctionType();
// An entry with settings of its runs.
nb::object MakeFunction(std::shared_ptr<const Loaded> loaded, RunSettings settings, std::vector<Input> inputs, std::vector<const TypePlan*> results,
                        const std::string& name);

}  // namespace df::python
