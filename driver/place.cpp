#include "driver/place.h"

#include "driver/cluster/cluster.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/system/files.h"
#include "fmt/format.h"
#include "lang/render.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/engines/plan/build.h"
#include "tagged_ir/cut/outline.h"
#include "tagged_ir/cut/skeleton.h"
#include "tagged_ir/text.h"

namespace df {
namespace {

// A row of what `--stats` says.
struct CutRow {
  const char* label;
  const char* key;
  uint64_t CutCounts::*count;
};
constexpr CutRow kCutRows[] = {
    {"tokens", "tokens", &CutCounts::tokens},
    {"dead ones", "dead", &CutCounts::dead},
    {"sent", "sent", &CutCounts::sent},
    {"live triggers", "sent_triggers", &CutCounts::sent_triggers},
    {"dead, sent", "sent_dead", &CutCounts::sent_dead},
    {"control, sent", "sent_control", &CutCounts::sent_control},
    {"dead, withheld", "withheld", &CutCounts::withheld},
    {"of delayed calls", "cell_messages", &CutCounts::cell_messages},
    {"told skeletons", "told", &CutCounts::told},
    {"skeletons fired", "skeleton_firings", &CutCounts::skeleton_firings},
    {"tags for Recvs", "tags_made", &CutCounts::tags_made},
    {"waves", "waves", &CutCounts::waves},
    {"parts lost", "lost", &CutCounts::lost},
    {"not sent twice", "repeated", &CutCounts::repeated},
    {"Recvs left", "receives_left", &CutCounts::receives_left},
    {"tokens untaken", "untaken", &CutCounts::untaken},
    {"records left", "records_left", &CutCounts::records_left},
};

constexpr uint64_t kMaxPlacementBytes = 16 << 20;

void Print(const ir::Graph& graph, const ir::Cut& cut, EmitCut what, llvm::raw_ostream& out) {
  switch (what) {
    case EmitCut::Parts: return ir::PrintParts(graph, cut, out);
    case EmitCut::Dot: return ir::PrintCutDot(graph, cut, out);
    case EmitCut::Skeleton: return ir::PrintSkeletons(graph, cut, out);
    case EmitCut::Graph: return ir::PrintCutGraph(graph, cut, out);
    case EmitCut::Outlined: break;  // the graph in one piece again
  }
}

// Those of the placement file, if there is one; what is wrong in it is in `error`. False: it cannot be read.
bool ReadRows(const CutArguments& arguments, std::vector<ir::PlacementRow>& rows, std::string* error, Diagnostics& diags) {
  if (arguments.placement.empty()) return true;
  std::optional<std::string> text = ReadFile(arguments.placement, kMaxPlacementBytes, diags);
  if (!text) return false;
  if (std::optional<std::vector<ir::PlacementRow>> read = ir::ParsePlacement(*text, error)) rows = std::move(*read);
  return true;
}

void ReportCut(const CutArguments& arguments, std::string error, Diagnostics& diags) {
  if (error.starts_with("line ")) error = fmt::format("`{}`, {}", DisplayName(arguments.placement), error);
  diags.Report(Diag::CannotCut, {}, error);
}

// The graph with calls of what stands elsewhere.
bool OutlineParts(ir::Graph& graph, const CutArguments& arguments, uint32_t processes, Diagnostics& diags) {
  ir::CutOptions options;
  options.parts = arguments.parts;
  options.seed = arguments.seed;
  std::string error;
  if (!ReadRows(arguments, options.rows, &error, diags)) return false;
  if (error.empty() && ir::CutIntoCalls(graph, std::move(options), processes, &error)) return true;
  ReportCut(arguments, error, diags);
  return false;
}

ExitCode Produce(Pipeline& pipeline, const Options& options, std::string& text) {
  std::optional<std::string> bytes = ReadFile(options.file, options.file.ends_with(".graph") ? kMaxGraphBytes : kMaxSourceBytes, pipeline.diags);
  if (!bytes) return ExitCode::Failed;
  const bool compiled = options.file.ends_with(".graph") || HoldsGraph(*bytes);
  std::optional<ir::Graph> graph =
      compiled ? LoadGraph(DisplayName(options.file), *bytes, pipeline.diags) : GraphOfMain(pipeline, options, std::move(*bytes));
  if (!graph) return compiled ? ExitCode::BadGraph : ExitCode::Failed;
  llvm::raw_string_ostream out(text);
  if (options.cut.emit == EmitCut::Outlined) {
    if (!OutlineParts(*graph, options.cut, /*processes=*/2, pipeline.diags)) return ExitCode::Usage;
    ir::Print(*graph, out);
    return ExitCode::Fine;
  }
  std::optional<ir::Cut> cut = CutOf(*graph, options.cut, /*processes=*/1, pipeline.diags);
  if (!cut) return ExitCode::Usage;
  Print(*graph, *cut, options.cut.emit, out);
  return ExitCode::Fine;
}

}  // namespace

std::optional<ir::Cut> CutOf(const ir::Graph& graph, const CutArguments& arguments, uint32_t processes, Diagnostics& diags) {
  ir::CutOptions options;
  options.parts = arguments.parts;
  options.seed = arguments.seed;
  options.devices = arguments.devices;
  std::string error;
  if (!ReadRows(arguments, options.rows, &error, diags)) return std::nullopt;
  std::optional<ir::Cut> cut = error.empty() ? ir::MakeCut(graph, options, &error) : std::nullopt;
  // Where nobody says how many, each process has one.
  if (cut && options.parts == 0 && cut->parts < processes) {
    options.parts = processes;
    cut = ir::MakeCut(graph, options, &error);
  }
  if (cut && processes > 1) cut = ir::CutForProcesses(graph, *cut, processes, &error);
  if (cut) return cut;
  ReportCut(arguments, error, diags);
  return std::nullopt;
}

bool PlaceCalls(ir::Graph& graph, const Options& options, Console& console) {
  SourceManager sources;
  Diagnostics diags(sources);
  OutlineParts(graph, options.cut, ProcessesOf(options), diags);
  console.Show(diags);
  return !diags.has_errors();
}

bool PrepareDevices(const ir::Graph& graph, const Options& options, std::optional<DeviceCut>& cut, Console& console) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::optional<ir::Cut> parts = CutOf(graph, options.cut, /*processes=*/1, diags);
  DeviceCut made;
  made.of_node.assign(graph.nodes.size(), 0);
  // Parts of one name are on one device, and those of the run's own on that.
  for (const ir::DevicePart& device : options.cut.devices) {
    if (!parts) break;
    size_t number = 0;
    if (device.name != options.device) {
      number = static_cast<size_t>(llvm::find(made.names, device.name) - made.names.begin()) + 1;
      if (number > made.names.size()) made.names.push_back(device.name);
    }
    bool computes = options.cut.seed != 0;  // by chance it may be nothing
    for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
      if (parts->part[i] != device.part) continue;
      made.of_node[i] = static_cast<uint8_t>(number);
      computes |= tagged::IsDeferrable(graph, ir::NodeId(i));
    }
    if (computes) continue;
    diags.Report(Diag::CannotCut, {}, fmt::format("part {} is to be `{}`, and has no op on tensors for it", device.part, device.name));
    parts.reset();
  }
  console.Show(diags);
  if (parts) cut = std::move(made);
  return parts.has_value();
}

bool PrepareCut(const ir::Graph& graph, const Options& options, std::optional<CutRun>& cut, Console& console) {
  SourceManager sources;
  Diagnostics diags(sources);
  std::optional<ir::Cut> parts = CutOf(graph, options.cut, ProcessesOf(options), diags);
  console.Show(diags);
  if (!parts) return false;
  cut.emplace();
  cut->options.cut = std::move(*parts);
  cut->options.receive = options.cut.receive;
  cut->options.dead = options.cut.dead;
  cut->options.losses = options.cut.losses;
  return true;
}

std::optional<CutRun> SharedCut(const ir::Graph& graph, const CutArguments& arguments) {
  std::optional<ir::Cut> parts = ir::ReadCut(graph, arguments.shared);
  if (!parts) return std::nullopt;
  CutRun cut;
  cut.options.cut = std::move(*parts);
  cut.options.receive = arguments.receive;
  cut.options.dead = arguments.dead;
  return cut;
}

ExitCode PlaceCommand(const Options& options, Console& console) {
  Pipeline pipeline;
  std::string text;
  ExitCode code = ExitCode::Failed;
  std::unique_ptr<CompileBudget> budget = BudgetOf(options, console);
  pipeline.Within([&] { code = Produce(pipeline, options, text); });
  code = CodeOf(pipeline.ended(), code);
  if (code == ExitCode::Fine) {
    if (options.output.empty() || options.output == "-") console.out() << text;
    else if (!WriteFile(options.output, text, pipeline.diags)) code = ExitCode::Failed;
  }
  console.Show(pipeline.diags);
  return code;
}

void PrintCut(const CutCounts& counts, llvm::raw_ostream& out) {
  for (const CutRow& row : kCutRows) out << fmt::format("{:<16}{:>16}\n", row.label, counts.*row.count);
}

void PrintCut(const CutCounts& counts, llvm::json::OStream& json) {
  json.attributeObject("cut", [&] {
    for (const CutRow& row : kCutRows) json.attribute(row.key, counts.*row.count);
  });
}

}  // namespace df
