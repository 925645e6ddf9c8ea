// lang/render.h
//
// Diagnostics as text for people: place, message, the source line with the span underlined, notes, hint.
// Also as JSON for programs, one object a line.
#pragma once

#include "lang/diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace df {

struct RenderOptions {
  bool color = false;
  uint32_t max_line_columns = 160;  // longer source lines are shown around the span
};

void Render(const Diagnostic& diagnostic, const SourceManager& sources, llvm::raw_ostream& out,
            const RenderOptions& options = {});
// All of them in order of place, then a count of what was dropped.
void Render(const Diagnostics& diagnostics, llvm::raw_ostream& out, const RenderOptions& options = {});

// One JSON object a line, in order of place: severity, code, name, message, hint, place (file, line, column, end_line,
// end_column, and the byte offsets begin and end), and notes with message and place. Missing parts are left out.
void RenderJson(const Diagnostics& diagnostics, llvm::raw_ostream& out);

// The candidate nearest to `name` by edit distance (insert, delete, replace, swap neighbours), if it is near enough
// to be a misspelling; else "".
std::string_view NearestName(std::string_view name, const std::vector<std::string_view>& candidates);

// Their order in what is rendered: by file and offset; what has no place comes first.
std::vector<const Diagnostic*> InOrderOfPlace(const Diagnostics& diagnostics);

}  // namespace df
