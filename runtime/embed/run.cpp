// Runs: inputs by name, execution, results.
#include <algorithm>
#include <iterator>
#include <new>

#include "backends/devices.h"
#include "runtime/base/memory.h"
#include "runtime/embed/embed_impl.h"
#include "runtime/files/input_file.h"
#include "runtime/files/value_file.h"
#include "runtime/run/limits.h"
#include "runtime/run/progress.h"
#include "runtime/run/thrown.h"
#include "runtime/text/describe.h"
#include "runtime/text/show.h"
#include "runtime/value/tensor.h"

namespace df {

using embed::Core;
using embed::Evaluated;
using embed::Held;
using embed::InputMaker;
using ir::TypeKind;

namespace {

// A thread of the host program that runs graphs: its free blocks go to one that comes later, and it begins with those of one that has ended.
struct HostThread {
  HostThread() {
    const memory::SmallBlocks& own = memory::small_blocks;
    const bool fresh = !own.next && std::all_of(std::begin(own.free), std::end(own.free), [](const memory::FreeBlocks& f) { return !f.count && !f.more; });
    if (fresh) memory::TakeOverSmallBlocks();
  }
  ~HostThread() { memory::HandOverSmallBlocks(); }
};
void EnterThread() { static thread_local HostThread thread; }

int64_t NanosecondsNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

EngineKind KindOf(RunEngine engine) {
  switch (engine) {
    case RunEngine::Tagged: return EngineKind::Tagged;
    case RunEngine::Reference: return EngineKind::Reference;
    case RunEngine::Demand: return EngineKind::Demand;
  }
  return EngineKind::Tagged;
}

// A scalar, or a constructor of scalars.
Datum MakeDatum(const ir::Graph& graph, ir::PortType type, const Value& value, bool inner) {
  Datum datum;
  Evaluated evaluated;
  llvm::raw_string_ostream out(datum.text);
  Show(evaluated, graph, type, value, out);
  out.flush();
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
        datum.fields.push_back(MakeDatum(graph, fields[i].type, data->fields()[i], true));
      break;
    }
    default: break;
  }
  return datum;
}

Failure::Code CodeOf(const Outcome& outcome) {
  using Code = Failure::Code;
  switch (outcome.stop) {
    case Stop::Done: return Code::None;
    case Stop::MemoryLimit:
    case Stop::FrameLimit:
    case Stop::Timeout: return Code::Limit;
    case Stop::Interrupted: return Code::Interrupted;
    case Stop::Internal: return Code::Internal;
    case Stop::Failed: break;
  }
  switch (outcome.error.code) {
    case ErrorCode::DivideByZero: return Code::DivideByZero;
    case ErrorCode::Overflow: return Code::Overflow;
    case ErrorCode::User:
    case ErrorCode::Io: return Code::User;
    case ErrorCode::NoMatch: return Code::NoMatch;
    case ErrorCode::Range: return Code::Range;
    case ErrorCode::Loop: return Code::Loop;
  }
  return Code::User;
}

RunStatus StatusOf(Stop stop) {
  switch (stop) {
    case Stop::Done: return RunStatus::Done;
    case Stop::Failed: return RunStatus::Failed;
    case Stop::MemoryLimit: return RunStatus::MemoryLimit;
    case Stop::FrameLimit: return RunStatus::FrameLimit;
    case Stop::Timeout: return RunStatus::Timeout;
    case Stop::Interrupted: return RunStatus::Interrupted;
    case Stop::Internal: return RunStatus::Internal;
  }
  return RunStatus::Internal;
}

}  // namespace

struct Run::Impl {
  struct Input {
    std::optional<Value> value;
    bool once = false;  // for one Execute
    // Elements that it looks at where the host program has them.
    const char* begin = nullptr;  // null: not known where
    size_t bytes = 0;
    std::vector<std::shared_ptr<const void>> owners = {};
  };

  Impl(std::shared_ptr<Program::Impl> p, RunSettings s);
  ~Impl();
  Input* Find(std::string_view name, std::string* error);
  const ir::Port& PortOf(const Input& input) const { return ports[static_cast<size_t>(&input - inputs.data())]; }
  // Puts what `make` makes for the input of that name there.
  template <typename Make>
  bool Set(std::string_view name, std::string* error, Make make) {
    Input* input = Find(name, error);
    if (!input) return false;
    std::optional<Value> value = make(InputMaker(graph, PortOf(*input)));
    if (!value) return false;
    *input = {std::move(value), false};
    return true;
  }

  bool Gather();
  RunStatus Refuse(std::string message);
  RunStatus End(Outcome outcome);
  Outcome Start();
  Outcome Evaluate();
  void KeepOwners(const TensorObject& tensor);
  void ForgetResults();

  const std::shared_ptr<Core> core;
  const std::shared_ptr<Program::Impl> program;
  const ir::Graph& graph;
  RunSettings settings;
  size_t entry = SIZE_MAX;       // of a graph with entries
  std::string refused;           // why nothing can be run
  std::vector<ir::Port> ports;
  std::vector<ir::PortType> result_types;
  std::vector<Input> inputs;
  std::vector<Value> gathered;   // for the engine
  RunOptions options;
  std::unique_ptr<Execution> execution;
  Repeatable* again = nullptr;   // the same
  std::shared_ptr<Held> held;    // the results
  mutable std::vector<std::optional<Datum>> data;
  Failure failure;
};

Run::Impl::Impl(std::shared_ptr<Program::Impl> p, RunSettings s)
    : core(std::make_shared<Core>()), program(std::move(p)), graph(program->graph), settings(std::move(s)) {
  core->program = program;
  if (!program->Find(settings.entry, &entry)) {
    refused = settings.entry.empty() ? "the graph has several entries, and none is chosen" : "the graph has no entry `" + settings.entry + "`";
    entry = SIZE_MAX;
  } else if (entry == SIZE_MAX) {
    ports = graph.graph_inputs;
    for (const ir::Port& result : graph.graph_results) result_types.push_back(result.type);
  } else {
    ports = program->entries[entry].inputs;
    result_types = {program->entries[entry].result};
  }
  inputs.resize(ports.size());
  // Asked for once: the system's files say what they are.
  options.limits.max_memory = settings.max_memory ? settings.max_memory : DefaultMemoryLimit();
  options.limits.max_frames = settings.max_frames;
  options.limits.timeout = settings.timeout;
  options.limits.interrupt = settings.interrupt ? settings.interrupt : &core->cancel;
  options.threads = settings.threads ? std::min(settings.threads, kMostThreads) : DefaultThreads();
  options.batch = settings.batch;
  std::string no_device;
  core->device = MakeDevice(settings.device, settings.max_device_memory, &no_device);
  if (!no_device.empty() && refused.empty()) refused = no_device;
  options.device = core->device.get();
}

// Views may hold on to what the run holds: nobody else gives anything up meanwhile.
Run::Impl::~Impl() {
  ForgetResults();
  Repeatable::Scope outer;
  std::vector<std::vector<std::shared_ptr<const void>>> owners;  // go without the lock
  for (Input& input : inputs) owners.push_back(std::move(input.owners));
  std::lock_guard lock(core->mutex);
  core->left.clear();
  gathered.clear();
  inputs.clear();
  execution.reset();
}

Run::Impl::Input* Run::Impl::Find(std::string_view name, std::string* error) {
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].name == name) return &inputs[i];
  if (error) *error = "there is no input `" + std::string(name) + "`";
  return nullptr;
}

RunStatus Run::Impl::Refuse(std::string message) {
  failure.code = Failure::Code::Host;
  failure.message = std::move(message);
  failure.text = "error: " + failure.message;
  return RunStatus::Failed;
}

RunStatus Run::Impl::End(Outcome outcome) {
  if (outcome.stop != Stop::Failed) outcome.error.message = outcome.detail;
  failure.code = CodeOf(outcome);
  failure.message = outcome.error.message;
  for (PathLine& line : PathOf(outcome.error, graph))
    failure.path.push_back({std::move(line.what), std::move(line.file), line.line, line.column, std::move(line.function), line.left_out});
  failure.text = Describe(outcome.error, graph);
  return StatusOf(outcome.stop);
}

void Run::Impl::ForgetResults() {
  data.clear();
  if (!held || held.use_count() > 1) return held.reset();
  core->GiveUp(held->values);
  held->owners.clear();
}

// The engine's inputs. A list that is given as it is asked for begins with what its host says.
bool Run::Impl::Gather() {
  gathered.clear();
  for (Input& input : inputs) {
    if (!input.value) {
      std::optional<Value> value = DefaultInput(graph, PortOf(input));
      if (!value) {
        Refuse("the input `" + PortOf(input).name + "` is not set");
        return false;
      }
      gathered.push_back(std::move(*value));
      continue;
    }
    if (input.once) {
      gathered.push_back(std::move(*input.value));
      input.value.reset();
      input.once = false;
      AskHost(gathered.back());
      if (!gathered.back().is_error()) continue;
      Refuse(static_cast<const ErrorObject*>(gathered.back().object())->message);
      return false;
    }
    gathered.push_back(*input.value);
  }
  if (entry == SIZE_MAX) return true;
  Value call = Value::Word(static_cast<int64_t>(entry));
  if (!gathered.empty()) {
    Data* data = Data::New(static_cast<uint32_t>(entry), static_cast<uint32_t>(gathered.size()));
    std::move(gathered.begin(), gathered.end(), data->fields());
    call = Value::Adopt(ValueKind::Object, data);
  }
  gathered.clear();
  gathered.push_back(std::move(call));
  return true;
}

Outcome Run::Impl::Start() {
  if (execution && again)
    if (std::optional<Outcome> outcome = again->Again(gathered, options.limits)) return std::move(*outcome);
  const EngineKind kind = KindOf(settings.engine);
  execution = nullptr;
  execution = MakeExecution(kind, graph, options, program->CodeFor(kind, options));
  again = dynamic_cast<Repeatable*>(execution.get());
  return execution->Start(std::move(gathered));
}

// A result may be an input, or a part of one.
void Run::Impl::KeepOwners(const TensorObject& tensor) {
  for (const Input& input : inputs) {
    if (input.owners.empty() || (input.begin && (tensor.elements() < input.begin || tensor.elements() >= input.begin + input.bytes))) continue;
    for (const std::shared_ptr<const void>& owner : input.owners)
      if (std::find(held->owners.begin(), held->owners.end(), owner) == held->owners.end()) held->owners.push_back(owner);
  }
}

Outcome Run::Impl::Evaluate() {
  for (size_t i = 0; i < result_types.size(); ++i) {
    Value value = execution->TakeResult(i);
    if (Outcome outcome = embed::EvaluateAll(*execution, value, [&](const TensorObject& tensor) { KeepOwners(tensor); }); !outcome.ok()) return outcome;
    if (entry != SIZE_MAX) value = Value(static_cast<const Data*>(value.object())->fields()[0]);
    held->values.push_back(std::move(value));
  }
  return {};
}

RunStatus Run::Execute() {
  Impl& impl = *impl_;
  Core& core = *impl.core;
  if (impl.failure.code != Failure::Code::None) impl.failure = {};
  impl.ForgetResults();
  if (!impl.refused.empty()) return impl.Refuse(impl.refused);
  EnterThread();
  Repeatable::Scope outer;  // the program that this one was called back by
  {
    std::lock_guard lock(core.mutex);
    core.left.clear();
    core.running = true;
  }
  core.steps.store(0, std::memory_order_relaxed);
  core.elements.store(0, std::memory_order_relaxed);
  core.began.store(std::max<int64_t>(1, NanosecondsNow()), std::memory_order_relaxed);
  ProgressScope progress(&core.steps);
  struct Running {
    Core& core;
    ~Running() {
      core.began.store(0, std::memory_order_relaxed);
      std::lock_guard lock(core.mutex);
      core.running = false;
      core.cancel.store(false, std::memory_order_relaxed);
    }
  } running{core};
  if (!impl.held) impl.held = std::make_shared<Held>(Held{impl.core, {}, {}});
  Outcome outcome;
  try {
    if (!impl.Gather()) return RunStatus::Failed;
    // A short run does not look at it.
    if (impl.options.limits.interrupt->load(std::memory_order_relaxed)) outcome.stop = Stop::Interrupted, outcome.detail = "interrupted";
    else outcome = impl.Start();
    if (outcome.ok()) outcome = impl.Evaluate();
  } catch (const std::bad_alloc&) {
    outcome.stop = Stop::MemoryLimit;
    outcome.detail = LimitCheck(impl.options.limits).Detail(Stop::MemoryLimit);
  }
  if (outcome.ok()) return RunStatus::Done;
  if (impl.execution) SayThrown(*impl.execution, impl.graph, outcome);
  impl.held->values.clear();
  RunStatus status = impl.End(std::move(outcome));
  if (status != RunStatus::Failed) impl.execution = nullptr;
  return status;
}

void Run::Cancel() { impl_->core->cancel.store(true); }

Progress Run::progress() const {
  const Core& core = *impl_->core;
  Progress progress;
  progress.steps = core.steps.load(std::memory_order_relaxed);
  progress.elements = core.elements.load(std::memory_order_relaxed);
  const int64_t began = core.began.load(std::memory_order_relaxed);
  progress.running = began != 0;
  if (began != 0) progress.time = std::chrono::milliseconds((NanosecondsNow() - began) / 1'000'000);
  return progress;
}

Run::Run(const Program& program, RunSettings settings) {
  EnterThread();
  impl_.reset(new Impl(program.impl_, std::move(settings)));
}
Run::Run(Run&&) noexcept = default;
Run::~Run() = default;

// ---------------------------------------------------------------- inputs

bool Run::SetInput(std::string_view name, int64_t value, std::string* error) {
  return impl_->Set(name, error, [&](const InputMaker& make) { return make.Int(value, error); });
}
bool Run::SetInput(std::string_view name, double value, std::string* error) {
  return impl_->Set(name, error, [&](const InputMaker& make) { return make.Real(value, error); });
}
bool Run::SetInput(std::string_view name, bool value, std::string* error) {
  return impl_->Set(name, error, [&](const InputMaker& make) { return make.Bool(value, error); });
}
bool Run::SetInputText(std::string_view name, std::string_view text, std::string* error) {
  return impl_->Set(name, error, [&](const InputMaker& make) { return make.Text(text, error); });
}
bool Run::SetInputString(std::string_view name, std::string_view utf8, std::string* error) {
  return impl_->Set(name, error, [&](const InputMaker& make) { return make.String(utf8, error); });
}
bool Run::SetInputArray(std::string_view name, const ArrayIn& array, std::string* error) {
  bool shared = false;
  if (!impl_->Set(name, error, [&](const InputMaker& make) { return make.Array(array, &shared, error); })) return false;
  Impl::Input& input = *impl_->Find(name, nullptr);
  if (!shared || !array.owner) return true;
  input.begin = static_cast<const char*>(array.data);
  input.bytes = BytesOf(array.element);
  for (int64_t dim : array.shape) input.bytes *= static_cast<size_t>(dim);
  input.owners = {array.owner};
  return true;
}
bool Run::SetInputParts(std::string_view name, const std::vector<NamedArray>& parts, std::string* error) {
  return impl_->Set(name, error, [&](const InputMaker& make) { return make.Parts(parts, error); });
}
bool Run::SetInputList(std::string_view name, Next given, std::string* error) {
  Next next = [given = std::move(given), core = impl_->core.get()](Element& element) {
    if (!given(element)) return false;
    core->elements.fetch_add(1, std::memory_order_relaxed);
    return true;
  };
  if (!impl_->Set(name, error, [&](const InputMaker& make) { return make.List(std::move(next), error); })) return false;
  impl_->Find(name, nullptr)->once = true;
  return true;
}

bool Run::SetInputFile(std::string_view name, const std::string& path, std::string* error) {
  Impl::Input* input = impl_->Find(name, error);
  if (!input) return false;
  std::string reason;
  std::optional<std::string> bytes = embed::ReadWhole(path, &reason);
  *input = {};
  try {
    memory::LimitScope limit(memory::counters.current, impl_->options.limits.max_memory);
    if (bytes) input->value = ReadInputFile(impl_->graph, impl_->PortOf(*input), std::move(*bytes), &reason);
  } catch (const std::bad_alloc&) {
    reason = path + ": the memory limit is reached";
  }
  if (!input->value && error) *error = reason;
  return input->value.has_value();
}

bool Run::SetInputView(std::string_view name, const View& view, std::string* error) {
  Impl::Input* input = impl_->Find(name, error);
  if (!input) return false;
  const View::Impl& from = *view.impl_;
  auto refuse = [&](const char* what) {
    if (error) *error = "the input `" + std::string(name) + "` does not take " + what;
    return false;
  };
  if (from.held->core != impl_->core) return refuse("a result of another run");
  if (from.type != impl_->PortOf(*input).type.type) return refuse("a result of another type");
  *input = {*from.value, false, nullptr, 0, from.held->owners};
  return true;
}

void Run::ClearInput(std::string_view name) {
  if (Impl::Input* input = impl_->Find(name, nullptr)) *input = {};
}

// ---------------------------------------------------------------- results

size_t Run::result_count() const { return impl_->held ? impl_->held->values.size() : 0; }

const Datum& Run::result(size_t index) const {
  const Impl& impl = *impl_;
  impl.data.resize(result_count());
  std::optional<Datum>& datum = impl.data.at(index);
  if (!datum) datum = MakeDatum(impl.graph, impl.result_types[index], impl.held->values[index], false);
  return *datum;
}

View Run::view(size_t index) const {
  const Impl& impl = *impl_;
  return View(std::make_shared<const View::Impl>(View::Impl{impl.held, &impl.held->values.at(index), impl.result_types[index].type}));
}

bool Run::WriteResult(size_t index, const std::string& path, std::string* error) const {
  auto fail = [&](std::string what) {
    if (error) *error = path + ": " + what;
    return false;
  };
  const Impl& impl = *impl_;
  if (index >= result_count()) return fail("there is no such result");
  llvm::StringRef name(path);
  bool npy = name.ends_with(".npy"), npz = name.ends_with(".npz");
  if (!npy && !npz && !name.ends_with(".safetensors")) return fail("the name ends in none of .npy, .npz and .safetensors");
  Evaluated evaluated;
  std::vector<ValueArray> parts;
  std::string fault, why;
  TakeApart(evaluated, impl.graph, impl.result_types[index], impl.held->values[index], "result", &parts, &fault);
  if (!fault.empty()) return fail(fault);
  if (npz && !CanUseZip(&why)) return fail(why);
  if (npy && parts.size() != 1) return fail("a .npy file holds one array, and the result is " + std::to_string(parts.size()));
  std::vector<ArrayToWrite> arrays = ToWrite(parts);
  return embed::WriteWhole(path, npy ? WriteNpy(arrays[0]) : npz ? WriteNpz(arrays) : WriteSafetensors(arrays)) || fail("cannot be written");
}

const std::string& Run::error() const { return impl_->failure.text; }
const Failure& Run::failure() const { return impl_->failure; }

}  // namespace df
