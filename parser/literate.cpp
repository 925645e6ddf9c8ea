#include "parser/literate.h"

#include <vector>

#include "llvm/ADT/StringRef.h"

namespace df {
namespace {

constexpr llvm::StringRef kBegin = "\\begin{code}", kEnd = "\\end{code}";

enum class Line : uint8_t { Blank, Text, Program, Begin, End };

Line ClassOf(llvm::StringRef line, bool first) {
  if (line.starts_with(">")) return Line::Program;
  if (line.rtrim() == kBegin) return Line::Begin;
  if (line.rtrim() == kEnd) return Line::End;
  if (line.trim().empty() || (first && line.starts_with("#!"))) return Line::Blank;
  return Line::Text;
}

}  // namespace

bool IsLiterate(std::string_view name) { return name.ends_with(".lhs"); }

FileId AddLiterate(SourceManager& sources, std::string name, std::string text, uint32_t first_line, Diagnostics& diags) {
  struct Fault {
    Diag id;
    uint32_t begin, end;
    const char* what = "";
  };
  std::vector<Fault> faults;
  std::string program = text;
  const auto blank = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (program[i] != '\r') program[i] = ' ';
  };
  Line before = Line::Blank;
  bool any = false, in_block = false;
  uint32_t block = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const llvm::StringRef line(text.data() + at, end - at);
    const uint32_t begin = static_cast<uint32_t>(at), last = static_cast<uint32_t>(at + line.rtrim("\r").size());
    const Line kind = ClassOf(line, at == 0);
    at = end + 1;
    if (in_block) {
      in_block = kind != Line::End;
      if (!in_block) blank(begin, end);
      continue;
    }
    if ((kind == Line::Program && before == Line::Text) || (kind == Line::Text && before == Line::Program))
      faults.push_back({Diag::LiterateBlank, begin, last});
    if (kind == Line::End) faults.push_back({Diag::LiterateUnclosed, begin, last, "this `\\end{code}` has no `\\begin{code}` before it"});
    if (kind == Line::Begin) in_block = true, block = begin;
    any |= kind == Line::Begin || kind == Line::Program;
    if (kind == Line::Program) program[begin] = ' ';
    else blank(begin, end);
    before = kind;
  }
  if (in_block)
    faults.push_back({Diag::LiterateUnclosed, block, static_cast<uint32_t>(block + kBegin.size()), "the `\\begin{code}` here has no `\\end{code}`"});
  const FileId file = sources.Add(std::move(name), std::move(program), first_line, std::move(text));
  if (!any)
    diags.Report(Diag::LiterateEmpty, {file, 0, 0}).Hint("a line of program begins with `>`, or stands between `\\begin{code}` and `\\end{code}`");
  for (const Fault& fault : faults) diags.Report(fault.id, {file, fault.begin, fault.end}, fault.what);
  return file;
}

}  // namespace df
