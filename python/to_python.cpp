// Results as Python values.
#include "python/to_python.h"

#include <nanobind/ndarray.h>

namespace df::python {

namespace {

// The interpreter's own bound on nesting.
struct Nesting {
  Nesting() {
    if (Py_EnterRecursiveCall(" while a result of a graph becomes a Python value")) throw Raised();
  }
  ~Nesting() { Py_LeaveRecursiveCall(); }
};

nb::object Text(const std::string& utf8) { return Own(PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogatepass")); }

// Of a Char that is no character of its own: a surrogate.
nb::object Character(char32_t c) {
  static constexpr char32_t kHighest = 0x10FFFF;
  return Own(PyUnicode_FromOrdinal(static_cast<int>(c <= kHighest ? c : 0xFFFD)));
}

nb::object Whole(const View& view) {
  if (std::optional<int64_t> value = view.integer()) return Own(PyLong_FromLongLong(*value));
  return PythonPart("dfc._values", "long_integer")(nb::str(view.show().c_str()));
}

nb::dlpack::dtype TypeOf(ElementType element) {
  switch (element) {
    case ElementType::Float32: return nb::dtype<float>();
    case ElementType::Int64: return nb::dtype<int64_t>();
    case ElementType::Bool: return nb::dtype<bool>();
    default: return nb::dtype<double>();
  }
}

nb::object Tensor(const View& view) {
  Array array = *view.array();
  std::vector<size_t> shape(array.shape.begin(), array.shape.end());
  nb::capsule owner(new std::shared_ptr<const void>(std::move(array.owner)),
                    [](void* held) noexcept { delete static_cast<std::shared_ptr<const void>*>(held); });
  nb::ndarray<nb::numpy, nb::ro> made(array.data, shape.size(), shape.data(), owner, nullptr, TypeOf(array.element));
  return nb::cast(made);
}

nb::object Fields(const ConstructorPlan& constructor, const View& view, bool tagged) {
  const size_t size = constructor.fields.size();
  nb::object tuple = Own(PyTuple_New(static_cast<Py_ssize_t>(size + tagged)));
  if (tagged) PyTuple_SetItem(tuple.ptr(), 0, nb::object(constructor.tag).release().ptr());
  for (size_t k = 0; k < size; ++k)
    PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(k + tagged), ToPython(*constructor.fields[k], view.field(k)).release().ptr());
  return tuple;
}

}  // namespace

nb::object ToPython(const TypePlan& plan, const View& view) {
  switch (plan.form) {
    case Form::Unit: return Own(PyTuple_New(0));
    case Form::Bool: return nb::bool_(view.boolean());
    case Form::Char: return Character(view.character());
    case Form::Int:
    case Form::Integer: return Whole(view);
    case Form::Float:
    case Form::Double: return Own(PyFloat_FromDouble(view.real()));
    case Form::String: return Text(*view.text());
    case Form::Tensor: return Tensor(view);
    case Form::List: {
      Nesting nesting;
      std::vector<View> elements = view.elements();
      nb::object list = Own(PyList_New(static_cast<Py_ssize_t>(elements.size())));
      for (size_t i = 0; i < elements.size(); ++i)
        PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), ToPython(*plan.element, elements[i]).release().ptr());
      return list;
    }
    case Form::Maybe: {
      Nesting nesting;
      if (view.constructor_index() == plan.nothing) return nb::none();
      nb::object held = ToPython(*plan.element, view.field(0));
      return plan.marked ? nb::object(nb::make_tuple("Just", held)) : held;
    }
    case Form::Tuple: {
      Nesting nesting;
      return Fields(plan.constructors[0], view, false);
    }
    case Form::Data: break;
  }
  Nesting nesting;
  const ConstructorPlan& constructor = plan.constructors[view.constructor_index()];
  if (!constructor.record.is_valid()) return Fields(constructor, view, true);
  nb::object fields = Fields(constructor, view, false);
  return Own(PyObject_CallObject(constructor.record.ptr(), fields.ptr()));
}

}  // namespace df::python
