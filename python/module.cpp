// The extension module dfc._native: programs and the compiler, for the package's Python part (python/dfc/).
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <set>

#include "compiler/compiler.h"
#include "python/function.h"
#include "python/interrupts.h"
#include "tagged_ir/entries.h"
#include "tagged_ir/file.h"

namespace df::python {

namespace {

std::chrono::milliseconds Milliseconds(double seconds) {
  static constexpr double kLongest = 1e9;
  return std::chrono::milliseconds(static_cast<int64_t>(std::ceil(std::min(std::max(seconds, 0.0), kLongest) * 1000)));
}

RunSettings SettingsOf(nb::dict given) {
  RunSettings settings;
  for (auto [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    if (value.is_none()) continue;
    if (name == "threads") settings.threads = nb::cast<uint32_t>(value);
    else if (name == "batch") settings.batch = nb::cast<uint32_t>(value);
    else if (name == "max_memory") settings.max_memory = nb::cast<uint64_t>(value);
    else if (name == "max_frames") settings.max_frames = nb::cast<uint64_t>(value);
    else if (name == "timeout") settings.timeout = Milliseconds(nb::cast<double>(value));
    else if (name == "device") settings.device = nb::cast<std::string>(value);
    else if (name == "engine") {
      const std::string engine = nb::cast<std::string>(value);
      if (engine == "tagged") settings.engine = RunEngine::Tagged;
      else if (engine == "reference") settings.engine = RunEngine::Reference;
      else if (engine == "demand") settings.engine = RunEngine::Demand;
      else throw nb::value_error(("there is no engine `" + engine + "`").c_str());
    } else {
      throw nb::type_error(("there is no setting `" + name + "`").c_str());
    }
  }
  return settings;
}

// A program with its entries as Python sees them.
class NativeProgram {
 public:
  explicit NativeProgram(nb::bytes bytes) {
    const std::string_view view(bytes.c_str(), bytes.size());
    std::string error;
    std::optional<ir::Graph> graph;
    std::optional<Program> program;
    {
      nb::gil_scoped_release unlocked;
      program = Program::FromBytes(view, &error);
      if (program) graph = ir::Deserialize(view, &error);
    }
    if (!graph) {
      nb::object raised = PythonPart("dfc.errors", "Error")(error.c_str());
      PyErr_SetObject(raised.type().ptr(), raised.ptr());
      throw nb::python_error();
    }
    loaded_ = std::make_shared<Loaded>(Loaded{std::move(*program), Plans(graph->types)});
    entries_ = ir::EntriesOf(*graph);
    if (!entries_.empty()) return;
    ir::Entry& main = entries_.emplace_back();
    main.inputs = graph->graph_inputs;
    for (const ir::Port& result : graph->graph_results) main_results_.push_back(result.type);
  }

  // (name, [(parameter, name, type, annotation)], result's type, annotation) of each entry.
  nb::list Entries() const {
    nb::list entries;
    for (const ir::Entry& entry : entries_) {
      nb::list inputs;
      const std::vector<Input> given = InputsOf(entry);
      for (const Input& input : given)
        inputs.append(nb::make_tuple(input.python_name, input.name.c_str(), input.plan->name.c_str(), input.plan->annotation.c_str(),
                                     input.plan->form == Form::Maybe));
      std::string type, annotation;
      const std::vector<const TypePlan*> results = ResultsOf(entry);
      for (const TypePlan* result : results) {
        type += (type.empty() ? "" : ", ") + result->name;
        annotation += (annotation.empty() ? "" : ", ") + result->annotation;
      }
      if (results.size() != 1) type = "(" + type + ")", annotation = "tuple[" + annotation + "]";
      entries.append(nb::make_tuple(entry.name.c_str(), inputs, type.c_str(), annotation.c_str()));
    }
    return entries;
  }

  nb::object Function(const std::string& name, nb::dict settings) const {
    RunSettings run = SettingsOf(settings);
    run.entry = name;
    for (const ir::Entry& entry : entries_)
      if (entry.name == name) return MakeFunction(loaded_, std::move(run), InputsOf(entry), ResultsOf(entry), name.empty() ? "main" : name);
    throw nb::key_error(name.c_str());
  }

  nb::dict Classes() const { return loaded_->plans.classes(); }

 private:
  std::vector<Input> InputsOf(const ir::Entry& entry) const {
    std::vector<Input> inputs;
    std::set<std::string> names;
    nb::object python_name = PythonPart("dfc._values", "python_name");
    for (const ir::Port& port : entry.inputs) {
      std::string name = nb::cast<std::string>(python_name(port.name.c_str()));
      while (!names.insert(name).second) name += '_';
      PyObject* word = PyUnicode_FromString(name.c_str());
      PyUnicode_InternInPlace(&word);
      const std::string function = entry.name.empty() ? "main" : entry.name;
      inputs.push_back({port.name, nb::steal(word), &loaded_->plans[port.type.type], function + ": the input `" + port.name + "`"});
    }
    return inputs;
  }

  std::vector<const TypePlan*> ResultsOf(const ir::Entry& entry) const {
    if (!entry.name.empty()) return {&loaded_->plans[entry.result.type]};
    std::vector<const TypePlan*> results;
    for (ir::PortType result : main_results_) results.push_back(&loaded_->plans[result.type]);
    return results;
  }

  std::shared_ptr<const Loaded> loaded_;
  std::vector<ir::Entry> entries_;
  std::vector<ir::PortType> main_results_;
};

nb::tuple PlaceOf(const Diagnosis::Place& place) {
  return nb::make_tuple(place.file.c_str(), place.line, place.column, place.end_line, place.end_column);
}

// The bytes of the graph or None, and what is to be said.
nb::tuple Compile(const std::string& source, const std::string& name, std::vector<std::string> folders, std::vector<std::string> exports, bool optimize,
                  double timeout) {
  CompileRequest request;
  request.source = source;
  request.name = name;
  request.module_folders = std::move(folders);
  request.exports = std::move(exports);
  request.optimize = optimize;
  request.timeout = Milliseconds(timeout);
  if (interrupts::IsMainThread()) {
    if (!interrupts::Enter()) throw nb::python_error();
    request.interrupt = interrupts::Flag();
  }
  CompileResult result;
  {
    nb::gil_scoped_release unlocked;
    result = CompileSource(request);
  }
  if (request.interrupt && request.interrupt->load() && PyErr_CheckSignals() != 0) throw nb::python_error();
  nb::list diagnostics;
  for (const Diagnosis& d : result.diagnostics) {
    nb::list notes;
    for (const Diagnosis::Note& note : d.notes) notes.append(nb::make_tuple(note.text.c_str(), PlaceOf(note.place)));
    diagnostics.append(nb::make_tuple(d.code.c_str(), d.severity == Diagnosis::Severity::Error, d.message.c_str(), PlaceOf(d.place), notes,
                                      d.hint.c_str(), d.text.c_str()));
  }
  nb::object graph = nb::none();
  if (result.graph) graph = nb::bytes(result.graph->data(), result.graph->size());
  return nb::make_tuple(graph, diagnostics);
}

}  // namespace

}  // namespace df::python

NB_MODULE(_native, module) {
  namespace nb = nanobind;
  using namespace df::python;
  nb::set_leak_warnings(false);  // functions and classes of programs that a host holds to its end
  interrupts::Begin();
  nb::register_exception_translator(
      [](const std::exception_ptr& raised, void*) {
        try {
          std::rethrow_exception(raised);
        } catch (Raised&) {
        }
      });
  module.attr("Function") = FunctionType();
  nb::class_<NativeProgram>(module, "NativeProgram")
      .def(nb::init<nb::bytes>())
      .def("entries", &NativeProgram::Entries)
      .def("function", &NativeProgram::Function)
      .def("classes", &NativeProgram::Classes);
  module.def("compile", &Compile);
}
