#include "driver/place.h"

#include "driver/cluster/cluster.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/system/files.h"
#include "fmt/format.h"
#include "lang/render.h"
#include "tagged_ir/cut/skeleton.h"

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
  }
}

ExitCode Produce(Pipeline& pipeline, const Options& options, std::string& text) {
  std::optional<std::string> bytes = ReadFile(options.file, options.file.ends_with(".graph") ? kMaxGraphBytes : kMaxSourceBytes, pipeline.diags);
  if (!bytes) return ExitCode::Failed;
  const bool compiled = options.file.ends_with(".graph") || HoldsGraph(*bytes);
  std::optional<ir::Graph> graph =
      compiled ? LoadGraph(DisplayName(options.file), *bytes, pipeline.diags) : GraphOfMain(pipeline, options, std::move(*bytes));
  if (!graph) return compiled ? ExitCode::BadGraph : ExitCode::Failed;
  std::optional<ir::Cut> cut = CutOf(*graph, options.cut, /*processes=*/1, pipeline.diags);
  if (!cut) return ExitCode::Usage;
  llvm::raw_string_ostream out(text);
  Print(*graph, *cut, options.cut.emit, out);
  return ExitCode::Fine;
}

}  // namespace

std::optional<ir::Cut> CutOf(const ir::Graph& graph, const CutArguments& arguments, uint32_t processes, Diagnostics& diags) {
  ir::CutOptions options;
  options.parts = arguments.parts;
  options.seed = arguments.seed;
  std::string error;
  if (!arguments.placement.empty()) {
    std::optional<std::string> text = ReadFile(arguments.placement, kMaxPlacementBytes, diags);
    if (!text) return std::nullopt;
    std::optional<std::vector<ir::PlacementRow>> rows = ir::ParsePlacement(*text, &error);
    if (rows) options.rows = std::move(*rows);
  }
  std::optional<ir::Cut> cut = error.empty() ? ir::MakeCut(graph, options, &error) : std::nullopt;
  // Where nobody says how many, each process has one.
  if (cut && options.parts == 0 && cut->parts < processes) {
    options.parts = processes;
    cut = ir::MakeCut(graph, options, &error);
  }
  if (cut && processes > 1) cut = ir::CutForProcesses(graph, *cut, processes, &error);
  if (cut) return cut;
  if (error.starts_with("line ")) error = fmt::format("`{}`, {}", DisplayName(arguments.placement), error);
  diags.Report(Diag::CannotCut, {}, error);
  return std::nullopt;
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
