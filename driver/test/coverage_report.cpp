// What is told of the places that ran.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

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
  else if (c == '"') out += "&quot;";
  else if (c != '\r') out += c;
}

constexpr std::string_view kStyle =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<style>\nbody { font-family: sans-serif; margin: 2em; color: #222 }\n"
    "pre { font-family: monospace; line-height: 1.35; background: #fafafa; padding: 1em; border: 1px solid #ddd }\n"
    "table { border-collapse: collapse } td, th { padding: .3em 1em; text-align: left; border-bottom: 1px solid #ddd }\n"
    "td.n { text-align: right } b { font-weight: normal } b.ran { background: #d7f5d7 } b.not { background: #ffc9c9 }\n"
    "i { color: #999; font-style: normal } s { color: #575; text-decoration: none }\n"
    ".bar { width: 12em; background: #ffc9c9 } .bar div { background: #8fd18f; height: .8em }\n</style>\n";

std::string Escaped(std::string_view text) {
  std::string out;
  for (char c : text) AddEscaped(out, c);
  return out;
}

double Percent(size_t ran, size_t all) { return all ? 100.0 * static_cast<double>(ran) / static_cast<double>(all) : 100.0; }

// A file's text: in front of a line its number, and how often the first place that begins on it ran; a colour for each stretch that is within the
// same innermost place.
void AddSource(std::string& out, const std::string& path, const std::vector<const CoveredPlace*>& places) {
  const std::vector<std::string> lines = LinesOfFile(path);
  // Of each byte of each line the place around it. An inner place begins later and comes later.
  std::vector<std::vector<const CoveredPlace*>> around;
  std::vector<std::string> counts(lines.size());
  for (const std::string& line : lines) around.emplace_back(line.size(), nullptr);
  for (const CoveredPlace* place : places) {
    if (place->line <= lines.size() && counts[place->line - 1].empty()) counts[place->line - 1] = fmt::format("{}\u00d7", place->hits);
    for (uint32_t n = place->line; n <= place->end_line && n <= lines.size(); ++n) {
      const std::string& line = lines[n - 1];
      const size_t from = n == place->line ? ByteOf(line, place->column) : std::min(line.find_first_not_of(" \t"), line.size());
      const size_t to = n == place->end_line ? ByteOf(line, place->end_column) : line.size();
      for (size_t i = from; i < to; ++i) around[n - 1][i] = place;
    }
  }
  for (size_t n = 0; n < lines.size(); ++n) {
    out += fmt::format("<i id=l{0}>{0:>5}</i> <s>{1:>8}</s>  ", n + 1, counts[n]);
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

// The page of a file, by its path: `src/Main.hs` is src-Main.hs.html.
std::string PageName(const std::string& path, std::set<std::string>& taken) {
  std::string name = path;
  while (name.starts_with("./")) name.erase(0, 2);
  for (char& c : name)
    if (c == '/') c = '-';
  if (name.starts_with('-') || name == "index") name = "file" + name;
  while (!taken.insert(name).second) name += "-";
  return name + ".html";
}

std::string FilePage(const std::string& path, const std::vector<const CoveredPlace*>& places) {
  std::string out(kStyle);
  out += fmt::format("<title>{0}</title>\n<h2>{0}</h2>\n<p>{1} of {2} places ran, {3:.0f}%. <b class=ran>ran</b> <b class=not>did not run</b> "
                     "<a href=\"index.html\">all files</a></p>\n", Escaped(path), CountRan(places), places.size(), Percent(CountRan(places), places.size()));
  std::string missing;
  for (const CoveredPlace* place : places)
    if (place->hits == 0) missing += fmt::format("{}<a href=\"#l{}\">{}:{} {}</a>", missing.empty() ? "" : ", ", place->line, place->line, place->column, place->what);
  if (!missing.empty()) out += fmt::format("<p>Not run: {}</p>\n", missing);
  out += "<pre>\n";
  AddSource(out, path, places);
  return out + "</pre>\n</html>\n";
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
  out << fmt::format("coverage: {} of {} places, {:.0f}%\n", ran, all, Percent(ran, all));
}

bool WriteCoverageHtml(const std::vector<CoveredPlace>& places, const std::string& folder, std::string& fault) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder, error)) {
    fault = fmt::format("error: there can be no folder `{}`\n", folder);
    return false;
  }
  SourceManager sources;
  Diagnostics diags(sources);
  bool fine = true;
  std::set<std::string> taken;
  std::string rows;
  size_t all = 0, ran = 0;
  for (const auto& [file, of_file] : Grouped(places)) {
    const std::string page = PageName(file, taken);
    const size_t count = CountRan(of_file);
    fine &= WriteFile(folder + "/" + page, FilePage(file, of_file), diags);
    rows += fmt::format("<tr><td><a href=\"{}\">{}</a><td class=n>{} of {}<td class=n>{:.0f}%<td><div class=bar><div style=\"width: {:.0f}%\"></div></div>\n",
                        Escaped(page), Escaped(file), count, of_file.size(), Percent(count, of_file.size()), Percent(count, of_file.size()));
    all += of_file.size();
    ran += count;
  }
  fine &= WriteFile(folder + "/index.html",
                    fmt::format("{}<title>coverage</title>\n<h2>Coverage: {} of {} places ran, {:.0f}%</h2>\n<table>\n<tr><th>file<th>ran<th><th>\n{}"
                                "</table>\n</html>\n", kStyle, ran, all, Percent(ran, all), rows), diags);
  if (fine) return true;
  llvm::raw_string_ostream text(fault);
  Render(diags, text);
  return false;
}

}  // namespace df::test
