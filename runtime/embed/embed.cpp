// The embedding interface over graphs and engines.
#include "runtime/embed/embed.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "backends/devices.h"
#include "runtime/base/memory.h"
#include "runtime/engines/engines.h"
#include "runtime/files/input_file.h"
#include "runtime/files/value_file.h"
#include "runtime/run/engine.h"
#include "runtime/run/limits.h"
#include "runtime/text/describe.h"
#include "runtime/text/show.h"
#include "runtime/value/tensor.h"
#include "tagged_ir/file.h"

namespace df {

using ir::TypeKind;

struct Program::Impl {
  ir::Graph graph;
};

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

namespace {

std::optional<std::string> ReadWhole(const std::string& path, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.bad() && file) return bytes;
  *error = path + ": cannot be read";
  return std::nullopt;
}

// The old file or the whole new one.
bool WriteWhole(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(beside, path, error);
  if (file && !error) return true;
  std::filesystem::remove(beside, error);
  return false;
}

}  // namespace

std::optional<Program> Program::Load(const std::string& path, std::string* error) {
  std::optional<std::string> bytes = ReadWhole(path, error);
  if (!bytes) return std::nullopt;
  auto program = FromBytes(*bytes, error);
  if (!program) *error = path + ": " + *error;
  return program;
}

std::optional<Program> Program::FromBytes(std::string_view bytes, std::string* error) {
  std::optional<ir::Graph> graph = ir::Deserialize(bytes, error);
  if (!graph) return std::nullopt;
  return Program(std::make_unique<Impl>(Impl{std::move(*graph)}));
}

namespace {

EngineKind KindOf(RunEngine engine) {
  switch (engine) {
    case RunEngine::Tagged: return EngineKind::Tagged;
    case RunEngine::Reference: return EngineKind::Reference;
    case RunEngine::Demand: return EngineKind::Demand;
  }
  return EngineKind::Tagged;
}

std::vector<Program::Port> Ports(const ir::Graph& graph, const std::vector<ir::Port>& ports) {
  std::vector<Program::Port> out;
  for (const ir::Port& port : ports) out.push_back({port.name, graph.types.Print({port.type.type, false})});
  return out;
}

// A scalar, or a constructor of scalars; an already evaluated value, as Show leaves it behind.
Datum MakeDatum(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, bool inner) {
  Datum datum;
  if (!execution.Force(value).ok()) return datum;
  if (inner) {
    llvm::raw_string_ostream out(datum.text);
    Show(execution, graph, type, value, out);
  }
  switch (graph.types.Kind(type.type)) {
    case TypeKind::Bool: datum.boolean = value.word() != 0; break;
    case TypeKind::Char: datum.character = static_cast<char32_t>(value.word()); break;
    case TypeKind::Int: datum.integer = value.word(); break;
    case TypeKind::Integer:
      if (value.is_word()) datum.integer = value.word();
      break;
    case TypeKind::Float: datum.real = value.as_float(); break;
    case TypeKind::Double: datum.real = value.as_double(); break;
    case TypeKind::Data: {
      if (inner || value.is_word()) break;
      const auto* data = static_cast<const Data*>(value.object());
      const auto& fields = graph.types[type.type].constructors[data->constructor].fields;
      for (uint32_t i = 0; i < data->size(); ++i)
        datum.fields.push_back(MakeDatum(execution, graph, fields[i].type, data->fields()[i], true));
      break;
    }
    default: break;
  }
  return datum;
}

}  // namespace

std::vector<Program::Port> Program::inputs() const { return Ports(impl_->graph, impl_->graph.graph_inputs); }
std::vector<Program::Port> Program::results() const { return Ports(impl_->graph, impl_->graph.graph_results); }

struct Run::Impl {
  const ir::Graph& graph;
  RunSettings settings;
  std::vector<std::optional<Value>> inputs;
  std::vector<Datum> results;
  std::string error;
  // Of each result what WriteResult writes, with bytes of its own: the execution and its threads are gone by then.
  struct Written {
    std::vector<ValueArray> arrays;
    std::string fault;
  };
  std::vector<Written> written;

  // The input of this name, if its type is one of `kinds`.
  std::optional<Value>* Find(std::string_view name, TypeKind* kind, std::string* error) {
    for (size_t i = 0; i < graph.graph_inputs.size(); ++i) {
      if (graph.graph_inputs[i].name != name) continue;
      *kind = graph.types.Kind(graph.graph_inputs[i].type.type);
      return &inputs[i];
    }
    if (error) *error = "there is no input `" + std::string(name) + "`";
    return nullptr;
  }
  bool Refuse(std::string_view name, const char* what, std::string* error) {
    if (error) *error = "the input `" + std::string(name) + "` does not take " + what;
    return false;
  }
};

Run::Run(const Program& program, RunSettings settings)
    : impl_(new Impl{program.impl_->graph, settings, {}, {}, {}, {}}) {
  impl_->inputs.resize(impl_->graph.graph_inputs.size());
}
Run::Run(Run&&) noexcept = default;
Run::~Run() = default;

bool Run::SetInput(std::string_view name, int64_t value, std::string* error) {
  TypeKind kind;
  std::optional<Value>* input = impl_->Find(name, &kind, error);
  if (!input) return false;
  switch (kind) {
    case TypeKind::Int:
    case TypeKind::Integer: *input = Value::Word(value); return true;
    case TypeKind::Double: *input = Value::Double(static_cast<double>(value)); return true;
    case TypeKind::Float: *input = Value::Float(static_cast<float>(value)); return true;
    default: return impl_->Refuse(name, "a whole number", error);
  }
}

bool Run::SetInput(std::string_view name, double value, std::string* error) {
  TypeKind kind;
  std::optional<Value>* input = impl_->Find(name, &kind, error);
  if (!input) return false;
  if (kind == TypeKind::Double) *input = Value::Double(value);
  else if (kind == TypeKind::Float) *input = Value::Float(static_cast<float>(value));
  else return impl_->Refuse(name, "a floating-point number", error);
  return true;
}

bool Run::SetInput(std::string_view name, bool value, std::string* error) {
  TypeKind kind;
  std::optional<Value>* input = impl_->Find(name, &kind, error);
  if (!input) return false;
  if (kind != TypeKind::Bool) return impl_->Refuse(name, "a Bool", error);
  *input = Value::Word(value);
  return true;
}

bool Run::SetInputText(std::string_view name, std::string_view text, std::string* error) {
  TypeKind kind;
  std::optional<Value>* input = impl_->Find(name, &kind, error);
  if (!input) return false;
  std::string reason;
  *input = ParseInput(impl_->graph, impl_->graph.graph_inputs[input - impl_->inputs.data()].type, text, &reason);
  if (!*input && error) *error = reason;
  return input->has_value();
}

bool Run::SetInputFile(std::string_view name, const std::string& path, std::string* error) {
  TypeKind kind;
  std::optional<Value>* input = impl_->Find(name, &kind, error);
  if (!input) return false;
  std::string reason;
  std::optional<std::string> bytes = ReadWhole(path, &reason);
  input->reset();
  try {
    uint64_t most = impl_->settings.max_memory ? impl_->settings.max_memory : DefaultMemoryLimit();
    memory::LimitScope limit(memory::counters.current, most);
    const ir::Port& port = impl_->graph.graph_inputs[static_cast<size_t>(input - impl_->inputs.data())];
    if (bytes) *input = ReadInputFile(impl_->graph, port, std::move(*bytes), &reason);
  } catch (const std::bad_alloc&) {
    reason = path + ": the memory limit is reached";
  }
  if (!*input && error) *error = reason;
  return input->has_value();
}

bool Run::WriteResult(size_t index, const std::string& path, std::string* error) const {
  auto fail = [&](std::string what) {
    if (error) *error = path + ": " + what;
    return false;
  };
  const Impl& impl = *impl_;
  if (index >= impl.written.size()) return fail("there is no such result");
  llvm::StringRef name(path);
  bool npy = name.ends_with(".npy"), npz = name.ends_with(".npz");
  if (!npy && !npz && !name.ends_with(".safetensors")) return fail("the name ends in none of .npy, .npz and .safetensors");
  const auto& [parts, fault] = impl.written[index];
  if (!fault.empty()) return fail(fault);
  std::string why;
  if (npz && !CanUseZip(&why)) return fail(why);
  if (npy && parts.size() != 1) return fail("a .npy file holds one array, and the result is " + std::to_string(parts.size()));
  std::vector<ArrayToWrite> arrays = ToWrite(parts);
  return WriteWhole(path, npy ? WriteNpy(arrays[0]) : npz ? WriteNpz(arrays) : WriteSafetensors(arrays)) ||
         fail("cannot be written");
}

RunStatus Run::Execute() {
  Impl& impl = *impl_;
  impl.results.clear();
  impl.error.clear();
  impl.written.clear();
  std::vector<Value> inputs;
  for (size_t i = 0; i < impl.inputs.size(); ++i) {
    if (!impl.inputs[i])
      if (std::optional<Value> value = DefaultInput(impl.graph, impl.graph.graph_inputs[i])) {
        inputs.push_back(std::move(*value));
        continue;
      }
    if (!impl.inputs[i]) {
      impl.error = "error: the input `" + impl.graph.graph_inputs[i].name + "` is not set";
      return RunStatus::Failed;
    }
    inputs.push_back(*impl.inputs[i]);
  }
  RunOptions options;
  options.limits.max_memory = impl.settings.max_memory;
  options.limits.max_frames = impl.settings.max_frames;
  options.limits.timeout = impl.settings.timeout;
  options.limits.interrupt = impl.settings.interrupt;
  options.threads = std::min(impl.settings.threads, kMostThreads);
  options.batch = impl.settings.batch;
  std::string no_device;
  std::unique_ptr<Device> device = MakeDevice(impl.settings.device, impl.settings.max_device_memory, &no_device);
  if (!no_device.empty()) {
    impl.error = "error: " + no_device;
    return RunStatus::Failed;
  }
  options.device = device.get();
  auto execution =
      MakeExecution(KindOf(impl.settings.engine), impl.graph, options);
  Outcome outcome = execution->Start(inputs);
  for (size_t i = 0; outcome.ok() && i < impl.graph.graph_results.size(); ++i) {
    ir::PortType type = impl.graph.graph_results[i].type;
    std::string text;
    llvm::raw_string_ostream out(text);
    outcome = Show(*execution, impl.graph, type, execution->results()[i], out);
    if (!outcome.ok()) break;
    impl.results.push_back(MakeDatum(*execution, impl.graph, type, execution->results()[i], false));
    impl.results.back().text = out.str();
    auto& [arrays, fault] = impl.written.emplace_back();
    outcome = TakeApart(*execution, impl.graph, type, execution->results()[i], "result", &arrays, &fault);
    for (ValueArray& array : arrays) {
      if (const TensorObject* tensor = TensorIn(array.tensor)) array.bytes.assign(tensor->data(), tensor->bytes());
      array.tensor = Value();
    }
  }
  if (outcome.ok()) return RunStatus::Done;
  impl.written.clear();
  impl.results.clear();
  if (outcome.stop != Stop::Failed) outcome.error.message = outcome.detail;
  impl.error = Describe(outcome.error, impl.graph);
  switch (outcome.stop) {
    case Stop::MemoryLimit: return RunStatus::MemoryLimit;
    case Stop::FrameLimit: return RunStatus::FrameLimit;
    case Stop::Timeout: return RunStatus::Timeout;
    case Stop::Interrupted: return RunStatus::Interrupted;
    case Stop::Internal: return RunStatus::Internal;
    default: return RunStatus::Failed;
  }
}

size_t Run::result_count() const { return impl_->results.size(); }
const Datum& Run::result(size_t index) const { return impl_->results[index]; }
const std::string& Run::error() const { return impl_->error; }

}  // namespace df
