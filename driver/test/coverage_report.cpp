// What is told of the places that ran.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "driver/system/files.h"
#include "driver/test/coverage.h"
#include "lang/diagnostics.h"
#include "lang/render.h"

namespace df::test {
namespace {

using ByFile = std::map<std::string, std::vector<const CoveredPlace*>>;

ByFile Grouped(const std::vector<CoveredPlace>& places) {
  ByFile files;
  for (const CoveredPlace& place : places) files[place.file].push_back(&place);
  return files;
}

size_t CountRan(const std::vector<const CoveredPlace*>& places) {
  return static_cast<size_t>(std::count_if(places.begin(), places.end(), [](const CoveredPlace* place) { return place->hits > 0; }));
}

std::vector<std::string> LinesOfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Places are in columns of characters, a line is bytes.
size_t ByteOf(std::string_view line, uint32_t column) {
  size_t at = 0;
  for (uint32_t n = 1; n < column && at < line.size(); ++n) {
    ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xC0) == 0x80) ++at;
  }
  return at;
}

void AddEscaped(std::string& out, char c) {
  if (c == '<') out += "&lt;";
  else if (c == '>') out += "&gt;";
  else if (c == '&') out += "&amp;";
  else if (c != '\r') out += c;
}

// A file's text, with a span for each stretch that is within the same innermost place.
void AddSource(std::string& out, const std::string& path, const std::vector<const CoveredPlace*>& places) {
  const std::vector<std::string> lines = LinesOfFile(path);
  // Of each byte of each line the place around it. An inner place begins later and comes later.
  std::vector<std::vector<const CoveredPlace*>> around;
  for (const std::string& line : lines) around.emplace_back(line.size(), nullptr);
  for (const CoveredPlace* place : places)
    for (uint32_t n = place->line; n <= place->end_line && n <= lines.size(); ++n) {
      const std::string& line = lines[n - 1];
      const size_t from = n == place->line ? ByteOf(line, place->column) : std::min(line.find_first_not_of(" \t"), line.size());
      const size_t to = n == place->end_line ? ByteOf(line, place->end_column) : line.size();
      for (size_t i = from; i < to; ++i) around[n - 1][i] = place;
    }
  for (size_t n = 0; n < lines.size(); ++n) {
    out += fmt::format("<i>{:>5}</i> ", n + 1);
    const CoveredPlace* open = nullptr;
    for (size_t i = 0; i <= lines[n].size(); ++i) {
      const CoveredPlace* place = i < lines[n].size() ? around[n][i] : nullptr;
      if (place != open) {
        if (open) out += "</b>";
        if (place) out += fmt::format("<b class={} title=\"{}: {} times\">", place->hits ? "ran" : "not", place->what, place->hits);
        open = place;
      }
      if (i < lines[n].size()) AddEscaped(out, lines[n][i]);
    }
    out += '\n';
  }
}

}  // namespace

void ReportCoverage(const std::vector<CoveredPlace>& places, llvm::raw_ostream& out) {
  size_t all = 0, ran = 0;
  for (const auto& [path, rows] : Grouped(places)) {
    const std::vector<std::string> lines = LinesOfFile(path);
    out << fmt::format("{}: {} of {} places ran\n", path, CountRan(rows), rows.size());
    for (const CoveredPlace* place : rows)
      if (place->hits == 0)
        out << fmt::format("  {}:{}:{}: {} did not run: {}\n", path, place->line, place->column, place->what,
                           Stripped(place->line <= lines.size() ? std::string_view(lines[place->line - 1]) : std::string_view()));
    all += rows.size();
    ran += CountRan(rows);
  }
  out << fmt::format("coverage: {} of {} places, {:.0f}%\n", ran, all, all ? 100.0 * static_cast<double>(ran) / static_cast<double>(all) : 100.0);
}

bool WriteCoverageHtml(const std::vector<CoveredPlace>& places, const std::string& path, std::string& fault) {
  std::string out =
      "<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>coverage</title>\n<style>\nb { font-weight: normal }\nb.ran { background: #d7f5d7 }\n"
      "b.not { background: #ffd0d0 }\ni { color: #999; font-style: normal }\n</style>\n";
  for (const auto& [file, rows] : Grouped(places)) {
    std::string name;
    for (char c : file) AddEscaped(name, c);
    out += fmt::format("<h2>{}: {} of {} places ran</h2>\n<pre>\n", name, CountRan(rows), rows.size());
    AddSource(out, file, rows);
    out += "</pre>\n";
  }
  SourceManager sources;
  Diagnostics diags(sources);
  if (WriteFile(path, out, diags)) return true;
  llvm::raw_string_ostream text(fault);
  Render(diags, text);
  return false;
}

}  // namespace df::test
