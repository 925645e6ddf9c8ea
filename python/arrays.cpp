// Arrays of Python, which the host program gives to a graph.
#include "python/arrays.h"

#include <nanobind/ndarray.h>

#include <cstring>

namespace df::python {

namespace {

// A buffer that is looked at. Its owner may go on any thread.
struct HeldBuffer {
  Py_buffer buffer{};
  ~HeldBuffer() {
    if (!buffer.obj || !Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    PyBuffer_Release(&buffer);
    PyGILState_Release(state);
  }
};

struct HeldArray {
  nb::ndarray<nb::ro> array;
  ~HeldArray() {
    if (!Py_IsInitialized()) return;
    const PyGILState_STATE state = PyGILState_Ensure();
    array = {};
    PyGILState_Release(state);
  }
};

bool ElementOf(const char* format, Py_ssize_t size, ElementType* element) {
  if (!format) return false;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (!*format || format[1]) return false;
  switch (*format) {
    case 'f': *element = ElementType::Float32; return true;
    case 'd': *element = ElementType::Float64; return true;
    case '?': *element = ElementType::Bool; return true;
    case 'l':
    case 'q': *element = ElementType::Int64; return size == 8;
    default: return false;
  }
}

bool FromBuffer(nb::handle value, ArrayIn* array) {
  auto held = std::make_shared<HeldBuffer>();
  Py_buffer& buffer = held->buffer;
  if (PyObject_GetBuffer(value.ptr(), &buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    return false;
  }
  if (!ElementOf(buffer.format, buffer.itemsize, &array->element)) return false;
  array->data = buffer.buf;
  array->shape.assign(buffer.shape, buffer.shape + buffer.ndim);
  if (buffer.strides) array->strides.assign(buffer.strides, buffer.strides + buffer.ndim);
  array->owner = std::move(held);
  return true;
}

bool FromDlpack(nb::handle value, ArrayIn* array) {
  auto held = std::make_shared<HeldArray>();
  try {
    held->array = nb::cast<nb::ndarray<nb::ro>>(value);
  } catch (const nb::cast_error&) {
    return false;
  } catch (const nb::python_error&) {
    throw;
  }
  const auto& given = held->array;
  const nb::dlpack::dtype dtype = given.dtype();
  if (given.device_type() != nb::device::cpu::value) {
    PyErr_SetString(PyExc_BufferError, "the elements of the tensor are on a device: `.cpu()` copies them");
    throw Raised();
  }
  if (dtype == nb::dtype<float>()) array->element = ElementType::Float32;
  else if (dtype == nb::dtype<double>()) array->element = ElementType::Float64;
  else if (dtype == nb::dtype<int64_t>()) array->element = ElementType::Int64;
  else if (dtype == nb::dtype<bool>()) array->element = ElementType::Bool;
  else return false;
  const auto bytes = static_cast<int64_t>(BytesOf(array->element));
  array->data = given.data();
  for (size_t k = 0; k < given.ndim(); ++k) {
    array->shape.push_back(static_cast<int64_t>(given.shape(k)));
    array->strides.push_back(given.stride(k) * bytes);
  }
  array->owner = std::move(held);
  return true;
}

}  // namespace

const char* NameOf(ElementType element) {
  switch (element) {
    case ElementType::Float32: return "float32";
    case ElementType::Int64: return "int64";
    case ElementType::Bool: return "bool";
    default: return "float64";
  }
}

bool ArrayOf(nb::handle value, ArrayIn* array) {
  if (PyObject_CheckBuffer(value.ptr())) return !PyBytes_Check(value.ptr()) && FromBuffer(value, array);
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()) || !PyObject_HasAttr(value.ptr(), name)) return false;
  return FromDlpack(value, array);
}

ArrayIn MakeArray(nb::handle value, ElementType element) {
  nb::object made = PythonPart("dfc._values", "make_array")(value, NameOf(element));
  ArrayIn array;
  if (!FromBuffer(made, &array)) {
    PyErr_SetString(PyExc_TypeError, "no array");
    throw Raised();
  }
  return array;
}

}  // namespace df::python
