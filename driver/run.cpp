// `dfc run`: a source is compiled in memory, a compiled graph is read and verified; then the graph runs.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>

#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/evaluate.h"
#include "driver/exports.h"
#include "driver/cluster/launch.h"
#include "driver/place.h"
#include "driver/system/files.h"
#include "driver/system/signals.h"
#include "lang/render.h"
#include "runtime/base/memory.h"
#include "runtime/files/input_file.h"
#include "runtime/files/value_file.h"
#include "runtime/run/limits.h"
#include "runtime/text/show.h"
#include "tagged_ir/action.h"
#include "tagged_ir/file.h"

namespace df {
namespace {

// "n (Int), eps (Double)"
std::string ListInputs(const ir::Graph& graph) {
  std::string list;
  for (const ir::Port& port : graph.graph_inputs) {
    if (ir::IsHostInput(port.name)) continue;
    if (!list.empty()) list += ", ";
    list += fmt::format("`{}` ({})", port.name, graph.types.Print({port.type.type}));
  }
  return list.empty() ? "it has no inputs" : "its inputs are " + list;
}

// Several inputs may have their arrays in one file: what one does not ask for, another may.
class SharedFiles {
 public:
  // What an input that could not be read would have asked for is not known.
  void Read(const InputArgument& input, bool good, const std::vector<SurplusArray>& unused) {
    File& file = files_.try_emplace(input.text, File{input.name, unused, false}).first->second;
    file.failed |= !good;
    std::map<std::string_view, const SurplusArray*> surplus;
    for (const SurplusArray& array : unused) surplus.emplace(array.name, &array);
    std::erase_if(file.unused, [&](const SurplusArray& array) { return !surplus.contains(array.name); });
    for (SurplusArray& array : file.unused)
      if (array.remark.empty()) array.remark = surplus.at(array.name)->remark;
  }
  void Report(Diagnostics& diags) const {
    for (const auto& [path, file] : files_) {
      std::string faults;
      for (size_t i = 0; i < std::min<size_t>(file.unused.size(), 5); ++i) faults += (i ? "; " : "") + TooMuch(file.unused[i]);
      if (!faults.empty() && !file.failed) diags.Report(Diag::BadInput, {}, file.input, faults);
    }
  }

 private:
  struct File {
    std::string input;  // the first that reads it
    std::vector<SurplusArray> unused;
    bool failed = false;
  };
  std::map<std::string, File> files_;  // by `@PATH`
};

// A misspelt path is told before a source is compiled. A folder is none.
bool FilesAreThere(const Options& options, Diagnostics& diags) {
  for (const InputArgument& input : options.inputs) {
    if (input.text.size() < 2 || !input.text.starts_with('@') || input.text == "@-") continue;
    std::error_code error;
    if (std::filesystem::is_directory(input.text.substr(1), error))
      diags.Report(Diag::CannotRead, {}, input.text.substr(1), "it is a directory");
    else if (!std::filesystem::exists(input.text.substr(1), error))
      diags.Report(Diag::CannotRead, {}, input.text.substr(1), (error ? error : std::make_error_code(std::errc::no_such_file_or_directory)).message());
  }
  return !diags.has_errors();
}

// An argument for which there is no input. If it is the misspelt name of one that got no value, that is all to be said: that input
// counts as given.
void ReportUnknown(const ir::Graph& graph, llvm::ArrayRef<InputArgument> arguments, const InputArgument& argument, Diagnostics& diags, std::vector<bool>& given) {
  auto is_free = [&](size_t i) {
    const std::string& name = graph.graph_inputs[i].name;
    return !given[i] && !ir::IsHostInput(name) && llvm::none_of(arguments, [&](const InputArgument& a) { return a.name == name; });
  };
  std::vector<std::string_view> names;
  for (size_t i = 0; i < given.size(); ++i)
    if (is_free(i)) names.push_back(graph.graph_inputs[i].name);
  const std::string_view near = NearestName(argument.name, names);
  diags.Report(Diag::UnknownInput, {}, argument.name);
  if (near.empty()) {
    diags.Hint((argument.name == "state" ? "a run that `--resume` goes on with has a parameter of this name; " : "") + ListInputs(graph));
    return;
  }
  diags.Hint(fmt::format("did you mean `{}`?", near));
  for (size_t i = 0; i < given.size(); ++i)
    if (graph.graph_inputs[i].name == near) given[i] = true;
}

void ReportBad(const InputArgument& argument, std::string_view error, llvm::ArrayRef<std::pair<std::string, std::string>> sizes, Diagnostics& diags) {
  diags.Report(Diag::BadInput, {}, argument.name, error);
  for (const auto& [input, text] : sizes)
    if (input == argument.name && !text.empty()) diags.Note({}, text);
  std::error_code none;
  if (!argument.text.starts_with('@') && std::filesystem::is_regular_file(argument.text, none))
    diags.Hint(fmt::format("`--input {0}=@{1}` is the file `{1}`", argument.name, argument.text));
}

// The values of the graph's inputs, in their order. All that is wrong with them is reported at once.
// `sizes` says of each parameter of a source's main which sizes its type leaves open, and which input said how large they are.
// `current` is the one that is being read.
std::optional<std::vector<Value>> ReadInputs(const ir::Graph& graph, const std::vector<InputArgument>& arguments,
                                             llvm::ArrayRef<std::pair<std::string, std::string>> sizes,
                                             std::atomic<const InputArgument*>& current, Diagnostics& diags) {
  std::vector<Value> values(graph.graph_inputs.size());
  std::vector<bool> given(values.size());
  SharedFiles files;
  for (const InputArgument& argument : arguments) {
    auto port = std::find_if(graph.graph_inputs.begin(), graph.graph_inputs.end(),
                             [&](const ir::Port& p) { return p.name == argument.name; });
    if (port == graph.graph_inputs.end() || ir::IsHostInput(port->name)) {
      ReportUnknown(graph, arguments, argument, diags, given);
      files.Read(argument, false, {});
      continue;
    }
    size_t index = port - graph.graph_inputs.begin();
    if (given[index]) {
      diags.Report(Diag::RepeatedInput, {}, argument.name);
      continue;
    }
    given[index] = true;
    current.store(&argument);
    std::string error;
    std::optional<Value> value;
    if (argument.text.size() > 1 && argument.text.starts_with('@')) {
      memory::CountedBytes count;
      std::optional<std::string> bytes = ReadFile(argument.text.substr(1), kMaxInputBytes, diags, &count);
      if (!bytes) continue;
      std::vector<SurplusArray> unused;
      const bool shared = llvm::count_if(arguments, [&](const InputArgument& a) { return a.text == argument.text; }) > 1;
      value = ReadInputFile(graph, *port, std::move(*bytes), &error, shared ? &unused : nullptr, std::move(count));
      if (shared) files.Read(argument, value.has_value(), unused);
    } else {
      value = ParseInput(graph, port->type, argument.text, &error);
    }
    if (value) values[index] = std::move(*value);
    else ReportBad(argument, error, sizes, diags);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Port& port = graph.graph_inputs[i];
    if (given[i] || ir::IsHostInput(port.name)) continue;  // the run itself provides those
    if (std::optional<Value> value = DefaultInput(graph, port)) {
      values[i] = std::move(*value);
      continue;
    }
    diags.Report(Diag::MissingInput, {}, port.name, graph.types.Print({port.type.type}))
        .Hint(fmt::format("{1}`--input {0}=VALUE` or `--input {0}=@FILE`", port.name,
                          port.name == fmt::format("arg{}", i + 1) ? "`main` is a function, perhaps since one lacks an argument there; " : ""));
  }
  files.Report(diags);
  if (diags.has_errors()) return std::nullopt;
  return values;
}

// " while the input `x` is read from `/dev/stdin`"
std::string WhileItIsRead(const InputArgument* input) {
  if (!input) return " while the inputs are read";
  const std::string text = fmt::format(" while the input `{}` is read", input->name);
  return input->text.starts_with('@') ? fmt::format("{} from `{}`", text, DisplayName(input->text.substr(1))) : text;
}

// The same within the run's memory and time. What an input is may take long to find out, too: a text is decoded, an archive unpacked.
ExitCode ReadWithinLimits(const ir::Graph& graph, const Options& options, llvm::ArrayRef<std::pair<std::string, std::string>> sizes,
                          std::vector<Value>& inputs, Console& console, Diagnostics& diags) {
  PassScope pass("read the inputs");
  const uint64_t most = options.max_memory ? options.max_memory : DefaultMemoryLimit();
  std::atomic<const InputArgument*> current = nullptr;
  try {
    memory::LimitScope scope(memory::counters.current, most);
    Limits limits;
    limits.timeout = options.timeout;
    LastResort in_time(limits, std::chrono::milliseconds(0), [&] { return WhileItIsRead(current.load()); });
    std::optional<std::vector<Value>> read = ReadInputs(graph, options.inputs, sizes, current, diags);
    if (!read) return ExitCode::Usage;
    inputs = std::move(*read);
    return ExitCode::Fine;
  } catch (const ReadingStopped& stopped) {
    console.Error(stopped.reason() + WhileItIsRead(current.load()));
    return CodeOf(stopped.stop());
  } catch (const std::bad_alloc&) {
    console.Error(fmt::format("the memory limit of {} is reached", PrintBytes(most)) + WhileItIsRead(current.load()));
    return ExitCode::Limit;
  }
}

bool HasSuffix(const std::string& file, std::string_view suffix) { return file.ends_with(suffix); }

// The graph to run, from a source or from a compiled graph; else the exit code.
ExitCode Load(Pipeline& pipeline, const Options& options, std::optional<ir::Graph>& graph, GraphOrigin& origin) {
  std::optional<std::string> bytes = ReadFile(
      options.file, HasSuffix(options.file, ".graph") ? kMaxGraphBytes : kMaxSourceBytes, pipeline.diags);
  if (!bytes) return ExitCode::Failed;
  if (HasSuffix(options.file, ".graph") || HoldsGraph(*bytes)) {
    origin = GraphOrigin::File;
    pipeline.Within([&] { graph = LoadGraph(DisplayName(options.file), *bytes, pipeline.diags); });
    return graph ? ExitCode::Fine : ExitCode::BadGraph;
  }
  graph = GraphOfMain(pipeline, options, std::move(*bytes));
  return graph ? ExitCode::Fine : ExitCode::Failed;
}

// Whether it was launched to compute for another process, which has the inputs.
bool ComputesForOther(const Options& options) {
  std::string ignored;
  if (!options.launched) return false;
  const std::optional<LaunchPlace> place = FindLaunchPlaceHere(&ignored);
  return place && place->rank != 0;
}

}  // namespace

ExitCode RunCommand(const Options& options, Console& console) {
  auto began = std::chrono::steady_clock::now();
  std::optional<ir::Graph> graph;
  RunContext context;
  context.before = alive::Now();
  std::vector<Value> inputs;
  {
    // The compiler's memory is given back before the run.
    Pipeline pipeline;
    std::unique_ptr<CompileBudget> budget = BudgetOf(options, console);
    const bool has_inputs = !ComputesForOther(options);
    ExitCode code = !has_inputs || FilesAreThere(options, pipeline.diags) ? Load(pipeline, options, graph, context.origin) : ExitCode::Usage;
    std::vector<std::pair<std::string, std::string>> sizes;
    const core::Program& program = pipeline.session.program;
    for (size_t i = 0; i < program.main_param_sizes.size(); ++i)
      sizes.emplace_back(Text(program.main_params[i]), program.main_param_sizes[i]);
    code = CodeOf(pipeline.ended(), code);
    context.spent = budget->spent();
    budget.reset();  // the inputs are the run's
    const int64_t before = memory::counters.current;
    if (graph && !ChooseEntry(*graph, options, pipeline.diags)) code = ExitCode::Usage, graph.reset();
    if (graph && has_inputs) code = ReadWithinLimits(*graph, options, sizes, inputs, console, pipeline.diags);
    context.in_use = static_cast<uint64_t>(std::max<int64_t>(0, memory::counters.current - before));
    console.Show(pipeline.diags);
    if (code != ExitCode::Fine) return code;
  }
  std::optional<CutRun> cut;
  if (options.cut.calls && !PlaceCalls(*graph, options, console)) return ExitCode::Usage;
  std::optional<DeviceCut> devices;
  if (!options.cut.devices.empty()) {
    if (!PrepareDevices(*graph, options, devices, console)) return ExitCode::Usage;
  } else if (options.cut.asked && !PrepareCut(*graph, options, cut, console)) {
    return ExitCode::Usage;
  }
  context.cut = cut ? &*cut : nullptr;
  context.devices = devices ? &*devices : nullptr;
  context.load = std::chrono::steady_clock::now() - began;
  InterruptScope interrupts;
  return Evaluate(*graph, std::move(inputs), options, interrupts.flag(), console, std::move(context));
}

}  // namespace df
