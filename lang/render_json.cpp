// lang/render_json.cpp
//
// Diagnostics as JSON lines, for editors and other programs.
#include "lang/render.h"
#include "llvm/Support/JSON.h"

namespace df {
namespace {

std::string Clean(std::string_view text) {
  return llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size()));
}

void AddPlace(llvm::json::Object& object, Span span, const SourceManager& sources) {
  if (!span.valid()) return;
  LineColumn begin = sources.Locate(span.file, span.begin);
  LineColumn end = sources.Locate(span.file, span.end);
  object["file"] = Clean(sources.Name(span.file));
  object["line"] = begin.line;
  object["column"] = begin.column;
  object["end_line"] = end.line;
  object["end_column"] = end.column;
  object["begin"] = span.begin;
  object["end"] = span.end;
}

}  // namespace

void RenderJson(const Diagnostics& diagnostics, llvm::raw_ostream& out) {
  const SourceManager& sources = diagnostics.sources();
  for (const Diagnostic* diagnostic : InOrderOfPlace(diagnostics)) {
    const DiagInfo& info = InfoOf(diagnostic->id);
    llvm::json::Object object{{"severity", info.severity == Severity::Error ? "error" : "warning"},
                              {"code", info.code},
                              {"name", info.name},
                              {"message", Clean(diagnostic->message)}};
    AddPlace(object, diagnostic->span, sources);
    if (!diagnostic->hint.empty()) object["hint"] = Clean(diagnostic->hint);
    llvm::json::Array notes;
    for (const DiagNote& note : diagnostic->notes) {
      llvm::json::Object row{{"message", Clean(note.text)}};
      AddPlace(row, note.span, sources);
      notes.push_back(std::move(row));
    }
    if (!notes.empty()) object["notes"] = std::move(notes);
    out << llvm::json::Value(std::move(object)) << "\n";
  }
}

}  // namespace df
