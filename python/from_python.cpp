// Python values as inputs.
#include "python/from_python.h"

#include <charconv>
#include <cmath>

#include "python/arrays.h"

namespace df::python {

namespace {

[[noreturn]] void Refuse(const std::string& what, const std::string& why) {
  nb::object error = PythonPart("dfc.errors", "InputError");
  nb::object message = Own(PyUnicode_DecodeUTF8((what + " " + why).data(), static_cast<Py_ssize_t>(what.size() + 1 + why.size()), "replace"));
  PyErr_SetObject(error.ptr(), message.ptr());
  throw Raised();
}

std::string TypeOf(nb::handle value) { return nb::str(nb::type_name(value.type())).c_str(); }

[[noreturn]] void Mismatch(const TypePlan& plan, nb::handle value, const std::string& what) {
  const std::string type = TypeOf(value);
  Refuse(what, "is of type `" + plan.name + "` and does not take a value of Python's type `" + type + "`");
}

struct Nesting {
  Nesting() {
    if (Py_EnterRecursiveCall(" while a Python value becomes an input of a graph")) throw Raised();
  }
  ~Nesting() { Py_LeaveRecursiveCall(); }
};

// ---------------------------------------------------------------- parts

std::string Utf8(nb::handle value) {
  Py_ssize_t size = 0;
  nb::object bytes = Own(PyUnicode_AsUTF8String(value.ptr()));
  char* data = nullptr;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) < 0) throw Raised();
  return {data, static_cast<size_t>(size)};
}

// A whole number; `fits` says whether it is one of 64 bits. Throws Raised with a TypeError if it is none.
int64_t Whole(nb::handle value, bool* fits, nb::object* number) {
  *number = PyLong_Check(value.ptr()) ? nb::borrow(value) : Own(PyNumber_Index(value.ptr()));
  int overflow = 0;
  const long long word = PyLong_AsLongLongAndOverflow(number->ptr(), &overflow);
  if (word == -1 && !overflow && PyErr_Occurred()) throw Raised();
  *fits = overflow == 0;
  return word;
}

int64_t Int(const TypePlan& plan, nb::handle value, const std::string& what) {
  if (!PyLong_Check(value.ptr()) && !PyIndex_Check(value.ptr())) Mismatch(plan, value, what);
  bool fits;
  nb::object number;
  const int64_t word = Whole(value, &fits, &number);
  if (!fits) Refuse(what, "is an Int, and the number has more than 64 bits");
  return word;
}

double Real(const TypePlan& plan, nb::handle value, const std::string& what) {
  if (PyFloat_Check(value.ptr())) return PyFloat_AsDouble(value.ptr());
  if (PyUnicode_Check(value.ptr())) Mismatch(plan, value, what);
  const double real = PyFloat_AsDouble(value.ptr());
  if (real == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw Raised();
    PyErr_Clear();
    Mismatch(plan, value, what);
  }
  return real;
}

bool Truth(const TypePlan& plan, nb::handle value, const std::string& what) {
  if (value.ptr() == Py_True) return true;
  if (value.ptr() == Py_False) return false;
  static constexpr std::string_view kNumpys = "bool";
  if (std::string type = TypeOf(value); !type.starts_with("numpy.") && type != "bool_" && type != kNumpys) Mismatch(plan, value, what);
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw Raised();
  return truth != 0;
}

// Which constructor a value of a data type is, and its fields. Constructors are tuples with their name before the fields; records are objects with
// attributes or dicts; one without fields may be its name alone.
const ConstructorPlan& Fields(const TypePlan& plan, nb::handle value, std::vector<nb::object>* fields, const std::string& what) {
  if (plan.form == Form::Tuple) {
    const ConstructorPlan& constructor = plan.constructors[0];
    if (!PySequence_Check(value.ptr()) || PyUnicode_Check(value.ptr())) Mismatch(plan, value, what);
    nb::object items = Own(PySequence_Tuple(value.ptr()));
    if (static_cast<size_t>(PyTuple_Size(items.ptr())) != constructor.fields.size())
      Refuse(what, "is of type `" + plan.name + "`, and the value has " + std::to_string(PyTuple_Size(items.ptr())) + " parts");
    for (size_t k = 0; k < constructor.fields.size(); ++k) fields->push_back(nb::borrow(PyTuple_GetItem(items.ptr(), static_cast<Py_ssize_t>(k))));
    return constructor;
  }
  const bool tuple = PyTuple_Check(value.ptr()) && PyTuple_Size(value.ptr()) > 0;
  nb::object tag = PyUnicode_Check(value.ptr()) ? nb::borrow(value) : tuple ? nb::borrow(PyTuple_GetItem(value.ptr(), 0)) : nb::object();
  if (tag.is_valid() && PyUnicode_Check(tag.ptr())) {
    for (const ConstructorPlan& constructor : plan.constructors) {
      const int same = PyObject_RichCompareBool(tag.ptr(), constructor.tag.ptr(), Py_EQ);
      if (same < 0) throw Raised();
      if (!same) continue;
      const size_t size = tuple ? static_cast<size_t>(PyTuple_Size(value.ptr())) - 1 : 0;
      if (size != constructor.fields.size())
        Refuse(what, "has `" + constructor.name + "` with " + std::to_string(size) + " fields, and it has " + std::to_string(constructor.fields.size()));
      for (size_t k = 0; k < size; ++k) fields->push_back(nb::borrow(PyTuple_GetItem(value.ptr(), static_cast<Py_ssize_t>(k + 1))));
      return constructor;
    }
    Refuse(what, "is of type `" + plan.name + "`, which has no constructor `" + Utf8(tag) + "`");
  }
  // A class of the program's says which record it is; of others the fields do.
  for (const bool exact : {true, false}) {
    for (const ConstructorPlan& constructor : plan.constructors) {
      if (!constructor.record.is_valid() || (exact && value.type().ptr() != constructor.record.ptr())) continue;
      fields->clear();
      for (const nb::object& name : constructor.attributes) {
        PyObject* field = PyDict_Check(value.ptr()) ? PyDict_GetItemWithError(value.ptr(), name.ptr()) : PyObject_GetAttr(value.ptr(), name.ptr());
        if (!field) {
          PyErr_Clear();
          break;
        }
        fields->push_back(PyDict_Check(value.ptr()) ? nb::borrow(field) : nb::steal(field));
      }
      if (fields->size() == constructor.fields.size()) return constructor;
    }
  }
  Mismatch(plan, value, what);
}

// What a Maybe that is no Nothing holds.
nb::object Held(const TypePlan& plan, nb::handle value, const std::string& what) {
  if (!plan.marked) return nb::borrow(value);
  if (!PyTuple_Check(value.ptr()) || PyTuple_Size(value.ptr()) != 2) Refuse(what, "is of type `" + plan.name + "`: a Just of it is (\"Just\", value)");
  return nb::borrow(PyTuple_GetItem(value.ptr(), 1));
}

// Refuses what is no list, as a str.
nb::object Items(const TypePlan& plan, nb::handle value, const std::string& what) {
  if (PyUnicode_Check(value.ptr())) Mismatch(plan, value, what);
  nb::object items = nb::steal(PySequence_List(value.ptr()));
  if (items.is_valid()) return items;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw Raised();
  PyErr_Clear();
  Mismatch(plan, value, what);
}

ArrayIn TensorOf(const TypePlan& plan, nb::handle value, const std::string& what) {
  ArrayIn array;
  if (PyUnicode_Check(value.ptr())) Mismatch(plan, value, what);
  if (!ArrayOf(value, &array) || array.element != plan.dtype) {
    try {
      array = MakeArray(value, plan.dtype);
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError)) throw;
      const std::string why = nb::str(error.value()).c_str();
      Refuse(what, "is of type `" + plan.name + "`: " + why);
    }
  }
  if (array.shape == plan.dims) return array;
  std::string shape;
  for (int64_t dim : array.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(dim);
  Refuse(what, "is of type `" + plan.name + "`, and the array has the shape [" + shape + "]");
}

// ---------------------------------------------------------------- text

// Writes values as one writes them in the language.
class TextWriter {
 public:
  explicit TextWriter(const std::string& what) : what_(what) {}

  // `inner`: as a field of a constructor.
  void Write(const TypePlan& plan, nb::handle value, bool inner) {
    switch (plan.form) {
      case Form::Unit: text += "()"; return;
      case Form::Bool: text += Truth(plan, value, what_) ? "True" : "False"; return;
      case Form::Int: return Number(std::to_string(Int(plan, value, what_)), inner);
      case Form::Integer: return Integer(plan, value, inner);
      case Form::Float:
      case Form::Double: return Floating(plan, Real(plan, value, what_), inner);
      case Form::Char:
      case Form::String: return Characters(plan, value);
      case Form::Tensor: {
        const ArrayIn array = TensorOf(plan, value, what_);
        return Elements(plan, PythonPart("dfc._values", "as_lists")(value, NameOf(plan.dtype)), 0);
      }
      case Form::List: return List(plan, value);
      case Form::Maybe: {
        if (value.is_none()) {
          text += "Nothing";
          return;
        }
        Nesting nesting;
        Open(inner);
        text += "Just ";
        Write(*plan.element, Held(plan, value, what_), true);
        return Close(inner);
      }
      case Form::Tuple:
      case Form::Data: break;
    }
    Nesting nesting;
    std::vector<nb::object> fields;
    const ConstructorPlan& constructor = Fields(plan, value, &fields, what_);
    const bool tuple = plan.form == Form::Tuple, closed = tuple || (inner && !fields.empty());
    if (closed) text += '(';
    if (!tuple) text += constructor.name;
    for (size_t k = 0; k < fields.size(); ++k) {
      text += !tuple ? " " : k ? "," : "";
      Write(*constructor.fields[k], fields[k], !tuple);
    }
    if (closed) text += ')';
  }

  std::string text;

 private:
  void Open(bool inner) {
    if (inner) text += '(';
  }
  void Close(bool inner) {
    if (inner) text += ')';
  }
  void Number(const std::string& numeral, bool inner) {
    const bool closed = inner && numeral[0] == '-';
    Open(closed);
    text += numeral;
    Close(closed);
  }

  void Integer(const TypePlan& plan, nb::handle value, bool inner) {
    if (!PyLong_Check(value.ptr()) && !PyIndex_Check(value.ptr())) Mismatch(plan, value, what_);
    bool fits;
    nb::object number;
    const int64_t word = Whole(value, &fits, &number);
    if (fits) return Number(std::to_string(word), inner);
    // Python writes no decimal numeral of many digits, and takes long for one.
    nb::object numeral = Own(PyNumber_ToBase(number.ptr(), 16));
    Number(Utf8(numeral), inner);
  }

  void Floating(const TypePlan& plan, double real, bool inner) {
    if (std::isnan(real)) {
      text += "NaN";
      return;
    }
    if (std::isinf(real)) return Number(real < 0 ? "-Infinity" : "Infinity", inner);
    char digits[40];
    const auto end = plan.form == Form::Float ? std::to_chars(digits, digits + sizeof digits, static_cast<float>(real))
                                              : std::to_chars(digits, digits + sizeof digits, real);
    Number(std::string(digits, end.ptr), inner);
  }

  void Characters(const TypePlan& plan, nb::handle value) {
    if (!PyUnicode_Check(value.ptr())) Mismatch(plan, value, what_);
    const Py_ssize_t length = PyUnicode_GetLength(value.ptr());
    if (plan.form == Form::Char && length != 1) Refuse(what_, "is a Char, and the text has " + std::to_string(length) + " characters");
    text += plan.form == Form::Char ? '\'' : '"';
    for (Py_ssize_t i = 0; i < length; ++i) {
      const Py_UCS4 c = PyUnicode_ReadChar(value.ptr(), i);
      if (c >= ' ' && c < 127 && c != '\\' && c != '"' && c != '\'') text += static_cast<char>(c);
      else text += '\\' + std::to_string(c) + (plan.form == Form::Char ? "" : "\\&");
    }
    text += plan.form == Form::Char ? '\'' : '"';
  }

  void List(const TypePlan& plan, nb::handle value) {
    Nesting nesting;
    nb::object items = Items(plan, value, what_);
    text += '[';
    for (Py_ssize_t i = 0; i < PyList_Size(items.ptr()); ++i) {
      if (i) text += ',';
      Write(*plan.element, PyList_GetItem(items.ptr(), i), false);
    }
    text += ']';
  }

  // Of a tensor, as nested lists of Python.
  void Elements(const TypePlan& plan, nb::handle value, size_t axis) {
    if (axis == plan.dims.size()) {
      if (plan.dtype == ElementType::Bool) text += value.ptr() == Py_True ? "True" : "False";
      else if (plan.dtype == ElementType::Int64) text += std::to_string(PyLong_AsLongLong(value.ptr()));
      else Floating(plan, PyFloat_AsDouble(value.ptr()), false);
      return;
    }
    text += '[';
    for (Py_ssize_t i = 0; i < PyList_Size(value.ptr()); ++i) {
      if (i) text += ',';
      Elements(plan, PyList_GetItem(value.ptr(), i), axis + 1);
    }
    text += ']';
  }

  const std::string& what_;
};

// ---------------------------------------------------------------- arrays by name

// Takes a value apart into the arrays that it would be in a file: docs/files.md has the names.
class PartsWriter {
 public:
  explicit PartsWriter(const std::string& what) : what_(what) {}

  void Field(const TypePlan& plan, nb::handle value, const std::string& path) {
    if (plan.form != Form::Maybe || !plan.plain) return Write(plan, value, path);
    if (!value.is_none()) Write(*plan.element, Held(plan, value, what_), path);
  }

  std::vector<NamedArray> parts;

  static ElementType DtypeOf(Form form) {
    switch (form) {
      case Form::Bool: return ElementType::Bool;
      case Form::Float: return ElementType::Float32;
      case Form::Double: return ElementType::Float64;
      default: return ElementType::Int64;
    }
  }

  // As an element of a list, one of an array.
  static bool OneArray(const TypePlan& element) {
    return element.form == Form::Bool || element.form == Form::Int || element.form == Form::Integer || element.form == Form::Float ||
           element.form == Form::Double;
  }

 private:
  void Write(const TypePlan& plan, nb::handle value, const std::string& path) {
    Nesting nesting;
    switch (plan.form) {
      case Form::Unit: return;
      case Form::Tensor: parts.push_back({path, TensorOf(plan, value, what_)}); return;
      case Form::Bool: return Add(path, ElementType::Bool, static_cast<uint8_t>(Truth(plan, value, what_)));
      case Form::Int:
      case Form::Integer: return Add(path, ElementType::Int64, Int(plan, value, what_));
      case Form::Float: return Add(path, ElementType::Float32, static_cast<float>(Real(plan, value, what_)));
      case Form::Double: return Add(path, ElementType::Float64, Real(plan, value, what_));
      case Form::List: return List(plan, value, path);
      case Form::Maybe: {
        const size_t before = parts.size();
        const std::string below = Join(path, value.is_none() ? "Nothing" : "Just");
        if (!value.is_none()) Field(*plan.element, Held(plan, value, what_), Join(below, "0"));
        return Mark(below, before);
      }
      case Form::Tuple:
      case Form::Data: break;
      default: Refuse(what_, "holds a text and tensors");
    }
    std::vector<nb::object> fields;
    const ConstructorPlan& constructor = Fields(plan, value, &fields, what_);
    const bool alone = plan.constructors.size() == 1 && !fields.empty();
    const std::string below = alone ? path : Join(path, constructor.name);
    const size_t before = parts.size();
    for (size_t k = 0; k < fields.size(); ++k) {
      const std::string& name = constructor.field_names[k];
      Field(*constructor.fields[k], fields[k], Join(below, name.empty() ? std::to_string(k) : name));
    }
    if (!alone) Mark(below, before);
  }

  static std::string Join(const std::string& path, const std::string& part) { return path.empty() ? part : path + "." + part; }

  void Mark(const std::string& path, size_t before) {
    if (parts.size() == before) parts.push_back({path, {this, ElementType::Bool, {0}}});
  }

  template <typename T>
  void Add(const std::string& path, ElementType element, T value) {
    auto held = std::make_shared<T>(value);
    parts.push_back({path, {held.get(), element, {}, {}, held}});
  }

  void List(const TypePlan& plan, nb::handle value, const std::string& path) {
    if (plan.element->form == Form::Unit) Refuse(what_, "holds a list of ()");
    if (OneArray(*plan.element)) {
      parts.push_back({path, MakeArray(value, DtypeOf(plan.element->form))});
      return;
    }
    nb::object items = Items(plan, value, what_);
    const Py_ssize_t size = PyList_Size(items.ptr());
    for (Py_ssize_t i = 0; i < size; ++i) {
      const std::string below = Join(path, std::to_string(i));
      const size_t before = parts.size();
      Write(*plan.element, PyList_GetItem(items.ptr(), i), below);
      Mark(below, before);
    }
    if (size == 0) parts.push_back({path, {this, ElementType::Bool, {0}}});
  }

  const std::string& what_;
};

// ---------------------------------------------------------------- lists

// A list of numbers, or of tensors, in an array. False: it is none.
bool GiveArray(const TypePlan& plan, nb::handle value, Target& target, const std::string& what, std::string* error) {
  const TypePlan* leaf = plan.element;
  while (leaf->form == Form::List) leaf = leaf->element;
  const bool listed = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
  if (leaf->form != Form::Tensor && !PartsWriter::OneArray(*leaf)) return false;
  if (listed && (plan.element != leaf || leaf->form == Form::Tensor || leaf->form == Form::Integer)) return false;
  const ElementType wanted = leaf->form == Form::Tensor ? leaf->dtype : PartsWriter::DtypeOf(leaf->form);
  ArrayIn array;
  if (!listed && !ArrayOf(value, &array)) return false;
  if (listed || array.element != wanted) {
    try {
      array = MakeArray(value, wanted);
    } catch (nb::python_error& raised) {
      if (!raised.matches(PyExc_TypeError) && !raised.matches(PyExc_ValueError) && !raised.matches(PyExc_OverflowError)) throw;
      // Of a list what is wrong is said where each element is looked at.
      if (listed) return false;
      Refuse(what, "is of type `" + plan.name + "`: " + nb::str(raised.value()).c_str());
    }
  }
  if (listed && array.shape.size() != 1) return false;
  if (!target.SetArray(array, error)) Refuse(what, "is of type `" + plan.name + "`: " + *error);
  return true;
}

bool IsLazy(nb::handle value) {
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || PyUnicode_Check(value.ptr())) return false;
  if (PyIter_Check(value.ptr())) return true;
  return !PySequence_Check(value.ptr()) && PyObject_HasAttrString(value.ptr(), "__iter__");
}

}  // namespace

void Give(const TypePlan& plan, nb::handle value, Target& target, const std::string& what) {
  std::string error;
  bool fine = true;
  switch (plan.form) {
    case Form::Int: fine = target.Set(Int(plan, value, what), &error); break;
    case Form::Float:
    case Form::Double: fine = target.Set(Real(plan, value, what), &error); break;
    case Form::Bool: fine = target.Set(Truth(plan, value, what), &error); break;
    case Form::String: {
      Py_ssize_t size = 0;
      const char* utf8 = PyUnicode_Check(value.ptr()) ? PyUnicode_AsUTF8AndSize(value.ptr(), &size) : nullptr;
      if (utf8) {
        fine = target.SetString({utf8, static_cast<size_t>(size)}, &error);
        break;
      }
      // One with lone surrogates is no UTF-8.
      PyErr_Clear();
      TextWriter writer(what);
      writer.Write(plan, value, false);
      fine = target.SetText(writer.text, &error);
      break;
    }
    case Form::Tensor: fine = target.SetArray(TensorOf(plan, value, what), &error); break;
    case Form::Maybe:
      if (value.is_none()) {
        if (!target.Clear(&error)) Refuse(what, error);
        return;
      }
      [[fallthrough]];
    default: {
      if (plan.form == Form::List) {
        if (GiveArray(plan, value, target, what, &error)) return;
        if (IsLazy(value) && target.SetIterator(*plan.element, Own(PyObject_GetIter(value.ptr())), &error)) return;
      }
      if (plan.tensors && !plan.texts) {
        PartsWriter writer(what);
        writer.Field(plan, value, "");
        fine = target.SetParts(writer.parts, &error);
      } else {
        TextWriter writer(what);
        writer.Write(plan, value, false);
        fine = target.SetText(writer.text, &error);
      }
    }
  }
  if (!fine) Refuse(what, "is of type `" + plan.name + "`: " + error);
}

}  // namespace df::python
