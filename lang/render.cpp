#include "lang/render.h"
namespace df {
void Render(const Diagnostic& d, const SourceManager& sources, llvm::raw_ostream& out, const RenderOptions&) {
  out << sources.Describe(d.span) << ": " << d.message << "\n";
}
void Render(const Diagnostics& diagnostics, llvm::raw_ostream& out, const RenderOptions& options) {
  for (const Diagnostic& d : diagnostics.all()) Render(d, diagnostics.sources(), out, options);
}
std::string_view NearestName(std::string_view, const std::vector<std::string_view>&) { return {}; }
}  // namespace df
