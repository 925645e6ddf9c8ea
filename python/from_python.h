// python/from_python.h
//
// Python values as inputs of a run, or as elements of a list that is given as it is asked for.
#pragma once

#include <functional>

#include "python/types.h"

namespace df::python {

// Where a value goes: an input of a Run, an Element. Each returns false with `error`.
class Target {
 public:
  virtual ~Target() = default;
  virtual bool Set(int64_t value, std::string* error) = 0;
  virtual bool Set(double value, std::string* error) = 0;
  virtual bool Set(bool value, std::string* error) = 0;
  virtual bool SetText(std::string_view text, std::string* error) = 0;
  virtual bool SetString(std::string_view utf8, std::string* error) = 0;
  virtual bool SetArray(const ArrayIn& array, std::string* error) = 0;
  virtual bool SetParts(const std::vector<NamedArray>& parts, std::string* error) = 0;
  // A Nothing.
  virtual bool Clear(std::string* error) = 0;
  // A list that is given as it is asked for; false: there is no such thing here.
  virtual bool SetIterator(const TypePlan& element, nb::object iterator, std::string* error) = 0;
};

// Throws Raised with an InputError, whose message begins with `what`: "predict: the input `x`".
void Give(const TypePlan& plan, nb::handle value, Target& target, const std::string& what);

}  // namespace df::python
