// python/types.h
//
// What a type of a graph is in Python: made once per program, so that a call looks nothing up.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/embed/embed.h"
#include "tagged_ir/graph.h"

namespace df::python {

namespace nb = nanobind;

// Python has raised: its error is set.
struct Raised {};

// The result of a call of Python's API, or Raised.
inline nb::object Own(PyObject* object) {
  if (!object) throw Raised();
  return nb::steal(object);
}

enum class Form : uint8_t { Unit, Bool, Char, Int, Integer, Float, Double, String, Tensor, List, Maybe, Tuple, Data };

struct TypePlan;

struct ConstructorPlan {
  std::string name;
  std::vector<const TypePlan*> fields;
  std::vector<std::string> field_names;  // "" of a field without a name
  nb::object tag;                        // its name, as a str
  nb::object record;                     // the class of its values, if its fields have names; else null
  std::vector<nb::object> attributes;    // names of fields, of such a class
};

struct TypePlan {
  Form form = Form::Unit;
  std::string name;        // "Maybe Int"
  std::string annotation;  // "int | None"
  // List and Maybe.
  const TypePlan* element = nullptr;
  // Maybe: the element may be a Maybe too, so that Just is marked: ("Just", None).
  bool marked = false;
  uint32_t nothing = 0, just = 0;
  // Maybe: an array file has its arrays if and only if it is a Just.
  bool plain = false;
  std::vector<ConstructorPlan> constructors;  // Tuple, Data
  ElementType dtype = ElementType::Float64;   // Tensor
  std::vector<int64_t> dims;
  // What is inside, at any depth.
  bool tensors = false, texts = false;
};

// The plans of all types of a program.
class Plans {
 public:
  explicit Plans(const ir::TypeTable& types);
  const TypePlan& operator[](ir::TypeId type) const { return plans_[type.index]; }
  // Classes of records by name: those of `program.types`.
  nb::dict classes() const { return classes_; }

 private:
  void Fill(const ir::TypeTable& types, ir::TypeId type);
  void MakeClasses(TypePlan& plan);
  std::deque<TypePlan> plans_;
  nb::dict classes_;
};

// A function of the package's Python part: dfc.NAME of that module.
nb::object PythonPart(const char* module, const char* name);

}  // namespace df::python
