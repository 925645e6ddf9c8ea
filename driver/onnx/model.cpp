// Function graphs to a model, refusals to messages: see model.h.
#include "driver/onnx/model.h"

#include <cctype>

#include "lower/onnx/dfc_op.h"
#include "lower/onnx/export.h"
#include "tagged_ir/file.h"

namespace df {
namespace {

// The character that stands there, in a source that was read; not valid if there is none.
Span SpanAt(const SourceManager& sources, const std::string& file, uint32_t line, uint32_t column) {
  for (uint32_t f = sources.FileCount(); f-- > 0;) {
    const FileId id(f);
    if (sources.Name(id) != file) continue;
    const std::string_view text = sources.Text(id);
    size_t at = 0;
    for (uint32_t l = sources.Locate(id, 0).line; l < line && at != std::string_view::npos; ++l)
      if (at = text.find('\n', at); at != std::string_view::npos) ++at;
    if (at == std::string_view::npos || at >= text.size()) return {};
    auto inside = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    for (uint32_t c = 1; c < column && at < text.size(); ++c)
      for (++at; at < text.size() && inside(text[at]); ++at) {}
    size_t end = at + 1;
    auto word = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '\'' || inside(c); };
    while (end < text.size() && (word(text[end]) && word(text[end - 1]))) ++end;
    return {id, static_cast<uint32_t>(at), static_cast<uint32_t>(end)};
  }
  return {};
}

// Where the program's own code stands: what was inlined from the library is where it was called.
Span SpanOf(const SourceManager& sources, const fg::Program& program, ir::PosId id) {
  Span span;
  for (; id.valid(); id = program.positions[id].inlined_at) {
    const ir::Pos& pos = program.positions[id];
    if (pos.giver || pos.line == 0 || pos.file >= program.files.size()) continue;
    if (span.valid() && !ir::IsLibraryFile(sources.Name(span.file))) break;
    if (const Span found = SpanAt(sources, program.files[pos.file], pos.line, pos.column); found.valid()) span = found;
  }
  return span;
}

// The model's bytes, or the message that there is none.
std::optional<std::string> Told(Pipeline& pipeline, const fg::Program& functions, OnnxModel model) {
  if (!model.refusal) return std::move(model.bytes);
  const to_onnx::Refusal& refusal = *model.refusal;
  pipeline.diags.Report(Diag::NoOnnx, SpanOf(pipeline.sources, functions, refusal.pos), refusal.what, refusal.why);
  if (!refusal.hint.empty()) pipeline.diags.Hint(refusal.hint);
  return std::nullopt;
}

}  // namespace

LowerOptions LowerOptionsOfModels(LowerOptions options) {
  options.own_show = false;
  options.SwitchOff(Optimisation::Offers);
  return options;
}

std::optional<std::string> OnnxModelOf(Pipeline& pipeline, const fg::Program& functions, const LowerOptions& options, bool with_dfc_op) {
  PassScope pass("write the model");
  OnnxModel model;
  if (!pipeline.Within([&] { model = ExportOnnx(functions); })) return std::nullopt;
  if (model.refusal && with_dfc_op) {
    std::optional<ir::Graph> graph = pipeline.Graph(functions, LowerOptionsOfModels(options));
    if (!graph) return std::nullopt;
    model = ExportDfcOp(functions, ir::Serialize(*graph));
  }
  return Told(pipeline, functions, std::move(model));
}

std::optional<std::string> OnnxModelOf(Pipeline& pipeline, const OpenEntry& entry, const std::vector<fg::Program>& programs) {
  PassScope pass("write the model");
  SizedPrograms sized{entry.names, {}, {}};
  for (uint32_t i = 0; i < programs.size(); ++i) {
    sized.values.push_back(entry.ValuesOf(i));
    sized.programs.push_back(&programs[i]);
  }
  OnnxModel model;
  if (!pipeline.Within([&] { model = ExportOnnx(sized); })) return std::nullopt;
  return Told(pipeline, programs[0], std::move(model));
}

}  // namespace df
