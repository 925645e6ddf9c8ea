// Calls of graphs: inputs, a run without the interpreter's lock, results or an exception.
#include "python/function.h"

#include <structmember.h>

#include <algorithm>
#include <cstddef>

#include "python/from_python.h"
#include "python/interrupts.h"
#include "python/to_python.h"

namespace df::python {

namespace {

// All of a function but what Python sees of it.
struct Body {
  std::shared_ptr<const Loaded> loaded;
  RunSettings settings;
  std::vector<Input> inputs;
  std::vector<const TypePlan*> results;
  std::string name;
  // Runs that nobody uses, those of the main thread apart: they look at the flag of interrupts. The interpreter's lock guards them.
  std::vector<std::unique_ptr<Run>> idle[2];
  std::vector<const Run*> going;  // of calls, in the order of their begin; likewise
};

struct Function {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject* dict;
  Body* body;
};

// ---------------------------------------------------------------- inputs

// What a list that is given as it is asked for has raised.
struct Pending {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  void Take() { PyErr_Fetch(&type, &value, &trace); }
  bool Raise() {
    if (!type) return false;
    PyErr_Restore(type, value, trace);
    type = value = trace = nullptr;
    return true;
  }
  ~Pending() {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }
};

class ElementTarget : public Target {
 public:
  explicit ElementTarget(Element& element) : element_(element) {}
  bool Set(int64_t value, std::string* error) override { return element_.Set(value, error); }
  bool Set(double value, std::string* error) override { return element_.Set(value, error); }
  bool Set(bool value, std::string* error) override { return element_.Set(value, error); }
  bool SetText(std::string_view text, std::string* error) override { return element_.SetText(text, error); }
  bool SetString(std::string_view utf8, std::string* error) override { return element_.SetString(utf8, error); }
  bool SetArray(const ArrayIn& array, std::string* error) override { return element_.SetArray(array, error); }
  bool SetParts(const std::vector<NamedArray>& parts, std::string* error) override { return element_.SetParts(parts, error); }
  bool Clear(std::string* error) override { return element_.SetText("Nothing", error); }
  bool SetIterator(const TypePlan&, nb::object, std::string*) override { return false; }

 private:
  Element& element_;
};

// The elements of a list, from an iterator of Python, when the run asks for them.
struct Feed {
  const TypePlan* element;
  nb::object iterator;
  std::string what;
  Pending pending;

  // By the thread that executes, which does not hold the interpreter's lock.
  bool Next(Element& to) {
    nb::gil_scoped_acquire lock;
    try {
      nb::object item = nb::steal(PyIter_Next(iterator.ptr()));
      if (!item.is_valid()) {
        if (!PyErr_Occurred()) return false;
        throw Raised();
      }
      ElementTarget target(to);
      Give(*element, item, target, what);
      return true;
    } catch (Raised&) {
    } catch (nb::python_error& error) {
      error.restore();
    }
    pending.Take();
    throw std::runtime_error("an exception of Python");
  }
};

struct Call;

class RunTarget : public Target {
 public:
  RunTarget(Call& call, Run& run, const Input& input) : call_(call), run_(run), input_(input) {}
  bool Set(int64_t value, std::string* error) override { return run_.SetInput(input_.name, value, error); }
  bool Set(double value, std::string* error) override { return run_.SetInput(input_.name, value, error); }
  bool Set(bool value, std::string* error) override { return run_.SetInput(input_.name, value, error); }
  bool SetText(std::string_view text, std::string* error) override { return Kept(run_.SetInputText(input_.name, text, error)); }
  bool SetString(std::string_view utf8, std::string* error) override { return Kept(run_.SetInputString(input_.name, utf8, error)); }
  bool SetArray(const ArrayIn& array, std::string* error) override { return Kept(run_.SetInputArray(input_.name, array, error)); }
  bool SetParts(const std::vector<NamedArray>& parts, std::string* error) override { return Kept(run_.SetInputParts(input_.name, parts, error)); }
  bool Clear(std::string*) override {
    run_.ClearInput(input_.name);
    return true;
  }
  bool SetIterator(const TypePlan& element, nb::object iterator, std::string* error) override;

 private:
  // The run holds it no longer than for this call.
  bool Kept(bool set);
  Call& call_;
  Run& run_;
  const Input& input_;
};

// ---------------------------------------------------------------- a call

nb::object ErrorOf(RunStatus status, const Failure& failure) {
  nb::list path;
  for (const Failure::Place& place : failure.path)
    path.append(nb::make_tuple(place.what.c_str(), place.file.c_str(), place.line, place.column, place.function.c_str(), place.left_out));
  return PythonPart("dfc.errors", "run_error")(static_cast<int>(status), static_cast<int>(failure.code), failure.message.c_str(), path, failure.text.c_str());
}

struct Call {
  explicit Call(Body& b) : body(b), main(interrupts::IsMainThread()) {
    if (main && !interrupts::Enter()) throw Raised();
    auto& idle = body.idle[main];
    if (!idle.empty()) {
      run = std::move(idle.back());
      idle.pop_back();
      return;
    }
    RunSettings settings = body.settings;
    if (main) settings.interrupt = interrupts::Flag();
    run = std::make_unique<Run>(body.loaded->program, std::move(settings));
  }
  // Inputs are not held on to by a run that waits.
  ~Call() {
    for (const Input* input : kept) run->ClearInput(input->name);
    body.idle[main].push_back(std::move(run));
  }

  void Set(PyObject* const* given) {
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      const Input& input = body.inputs[i];
      RunTarget target(*this, *run, input);
      if (given[i]) {
        if (input.plan->form == Form::Double && PyFloat_CheckExact(given[i])) run->SetInput(input.name, PyFloat_AsDouble(given[i]));
        else Give(*input.plan, given[i], target, input.what);
      } else if (input.plan->form == Form::Maybe) {
        run->ClearInput(input.name);
      } else {
        PyErr_Format(PyExc_TypeError, "%s() needs the argument `%s`, of type `%s`", body.name.c_str(), input.name.c_str(), input.plan->name.c_str());
        throw Raised();
      }
    }
  }

  nb::object Execute() {
    for (;;) {
      RunStatus status;
      body.going.push_back(run.get());
      {
        nb::gil_scoped_release unlocked;
        status = run->Execute();
      }
      std::erase(body.going, run.get());
      if (status == RunStatus::Done) break;
      for (const std::unique_ptr<Feed>& feed : feeds)
        if (feed->pending.Raise()) throw Raised();
      // The signal's handler in Python decides: if it does not raise, the call goes on, which has no effects but its result.
      if (status == RunStatus::Interrupted && main) {
        if (!interrupts::Enter()) throw Raised();
        if (feeds.empty()) continue;
      }
      nb::object error = ErrorOf(status, run->failure());
      PyErr_SetObject(error.type().ptr(), error.ptr());
      throw Raised();
    }
    if (body.results.size() == 1) return ToPython(*body.results[0], run->view(0));
    nb::object results = Own(PyTuple_New(static_cast<Py_ssize_t>(body.results.size())));
    for (size_t i = 0; i < body.results.size(); ++i)
      PyTuple_SetItem(results.ptr(), static_cast<Py_ssize_t>(i), ToPython(*body.results[i], run->view(i)).release().ptr());
    return results;
  }

  Body& body;
  const bool main;
  std::unique_ptr<Run> run;
  std::vector<const Input*> kept;
  std::vector<std::unique_ptr<Feed>> feeds;
};

bool RunTarget::Kept(bool set) {
  if (set) call_.kept.push_back(&input_);
  return set;
}

bool RunTarget::SetIterator(const TypePlan& element, nb::object iterator, std::string* error) {
  auto feed = std::make_unique<Feed>(Feed{&element, std::move(iterator), "an element of " + input_.what, {}});
  Feed* next = feed.get();
  call_.feeds.push_back(std::move(feed));
  return Kept(run_.SetInputList(input_.name, [next](Element& to) { return next->Next(to); }, error));
}

// ---------------------------------------------------------------- Python's side

// Arguments by place and by name, in the order of the inputs; null: not given.
void Arrange(const Body& body, PyObject* const* args, size_t count, PyObject* names, std::vector<PyObject*>* given) {
  if (count > body.inputs.size()) {
    PyErr_Format(PyExc_TypeError, "%s() takes %zu arguments, and %zu are given", body.name.c_str(), body.inputs.size(), count);
    throw Raised();
  }
  std::copy(args, args + count, given->begin());
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t k = 0; k < named; ++k) {
    PyObject* name = PyTuple_GetItem(names, k);
    size_t i = 0;
    for (; i < body.inputs.size(); ++i) {
      const int same = PyObject_RichCompareBool(body.inputs[i].python_name.ptr(), name, Py_EQ);
      if (same < 0) throw Raised();
      if (same) break;
    }
    if (i == body.inputs.size() || (*given)[i]) {
      PyErr_Format(PyExc_TypeError, i == body.inputs.size() ? "%s() has no argument %R" : "%s() is given the argument %R twice", body.name.c_str(), name);
      throw Raised();
    }
    (*given)[i] = args[count + static_cast<size_t>(k)];
  }
}

PyObject* CallFunction(PyObject* self, PyObject* const* args, size_t flagged, PyObject* names) {
  Body& body = *reinterpret_cast<Function*>(self)->body;
  const auto count = static_cast<size_t>(PyVectorcall_NARGS(flagged));
  try {
    Call call(body);
    if (!names && count == body.inputs.size()) {
      call.Set(args);
    } else {
      std::vector<PyObject*> given(body.inputs.size());
      Arrange(body, args, count, names, &given);
      call.Set(given.data());
    }
    return call.Execute().release().ptr();
  } catch (Raised&) {
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

void FreeFunction(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  auto* function = reinterpret_cast<Function*>(self);
  Py_CLEAR(function->dict);
  delete function->body;
  auto free = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  free(self);
  Py_DECREF(type);
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(reinterpret_cast<Function*>(self)->dict);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<Function*>(self)->dict);
  return 0;
}

PyObject* Show(PyObject* self) {
  PyObject* doc = PyObject_GetAttrString(self, "__doc__");
  if (!doc) return nullptr;
  PyObject* shown = PyUnicode_FromFormat("<dfc function %U>", doc);
  Py_DECREF(doc);
  return shown;
}

PyObject* ProgressOf(PyObject* self, PyObject*) {
  try {
    nb::list all;
    const nb::object type = PythonPart("dfc._values", "Progress");
    for (const Run* run : reinterpret_cast<Function*>(self)->body->going) {
      const Progress now = run->progress();
      if (now.running) all.append(type(static_cast<double>(now.time.count()) / 1000, now.steps, now.elements));
    }
    return all.release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (Raised&) {
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyMethodDef methods[] = {
    {"progress", ProgressOf, METH_NOARGS, "How far the calls that go on have come, a Progress of each; from another thread, or an iterator that a call reads."},
    {nullptr, nullptr, 0, nullptr},
};
PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};
PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(FreeFunction)},
    {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Clear)},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(Show)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_getset, attributes},
    {0, nullptr},
};
PyType_Spec spec = {"dfc.Function", sizeof(Function), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

nb::object FunctionType() {
  static PyObject* const type = Own(PyType_FromSpec(&spec)).release().ptr();
  return nb::borrow(type);
}

nb::object MakeFunction(std::shared_ptr<const Loaded> loaded, RunSettings settings, std::vector<Input> inputs, std::vector<const TypePlan*> results,
                        const std::string& name) {
  auto* type = reinterpret_cast<PyTypeObject*>(FunctionType().ptr());
  nb::object made = Own(PyType_GenericAlloc(type, 0));
  auto* function = reinterpret_cast<Function*>(made.ptr());
  function->body = new Body{std::move(loaded), std::move(settings), std::move(inputs), std::move(results), name, {}};
  function->call = CallFunction;
  return made;
}

}  // namespace df::python
