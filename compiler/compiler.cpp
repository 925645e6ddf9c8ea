// Sources in memory to graphs in memory: the driver's pipeline, its messages as data.
#include "compiler/compiler.h"

#include <mutex>

#include "driver/compile.h"
#include "driver/compile_budget.h"
#include "lang/render.h"
#include "llvm/Support/raw_ostream.h"
#include "tagged_ir/file.h"

namespace df {
namespace {

Diagnosis::Place PlaceOf(Span span, const SourceManager& sources) {
  Diagnosis::Place place;
  if (!span.valid()) return place;
  const LineColumn begin = sources.Locate(span.file, span.begin), end = sources.Locate(span.file, span.end);
  place.file = std::string(sources.Name(span.file));
  place.line = begin.line;
  place.column = begin.column;
  place.end_line = end.line;
  place.end_column = end.column;
  return place;
}

Diagnosis Told(const Diagnostic& diagnostic, const SourceManager& sources) {
  Diagnosis told;
  const DiagInfo& info = InfoOf(diagnostic.id);
  told.code = info.code;
  told.severity = info.severity == Severity::Error ? Diagnosis::Severity::Error : Diagnosis::Severity::Warning;
  told.message = diagnostic.message;
  told.place = PlaceOf(diagnostic.span, sources);
  for (const DiagNote& note : diagnostic.notes) told.notes.push_back({note.text, PlaceOf(note.span, sources)});
  told.hint = diagnostic.hint;
  llvm::raw_string_ostream out(told.text);
  Render(diagnostic, sources, out);
  out.flush();
  return told;
}

Options OptionsOf(const CompileRequest& request) {
  Options options;
  options.file = request.name;
  options.module_folders = request.module_folders;
  options.exports = request.exports;
  options.warnings = request.warnings;
  options.lower.optimize = request.optimize;
  options.lower.own_show = request.exports.empty();
  return options;
}

}  // namespace

CompileResult CompileSource(const CompileRequest& request) {
  static std::mutex one_by_one;
  std::lock_guard lock(one_by_one);
  CompileResult result;
  CompileBudget budget(CompileLimits{request.timeout, request.max_memory, request.interrupt});
  Pipeline pipeline;
  std::optional<ir::Graph> graph;
  pipeline.Within([&] { graph = GraphOfMain(pipeline, OptionsOf(request), request.source); });
  for (const Diagnostic* diagnostic : InOrderOfPlace(pipeline.diags)) result.diagnostics.push_back(Told(*diagnostic, pipeline.sources));
  if (graph && !pipeline.diags.has_errors()) result.graph = ir::Serialize(*graph);
  return result;
}

}  // namespace df
