// `dfc explain CODE`: what a diagnostic says, with the places of its arguments left open, and an example.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "driver/commands.h"
#include "lang/render.h"

namespace df {

namespace {

struct Example {
  std::string_view code, program, messages;
};

constexpr Example kExamples[] = {
#include "driver/explain_examples.inc"
};

struct Explanation {
  std::string_view code, text;
};

constexpr Explanation kTexts[] = {
#include "driver/explain_texts.inc"
};

// At most 100 characters a line.
void PrintWrapped(std::string_view text, llvm::raw_ostream& out) {
  while (!text.empty()) {
    size_t end = text.size() <= 100 ? text.size() : text.rfind(' ', 100);
    if (end == std::string_view::npos) end = text.size();
    out << text.substr(0, end) << "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void PrintIndented(std::string_view text, llvm::raw_ostream& out) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    out << (line.empty() ? "" : "  ") << line << "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

void PrintExample(std::string_view code, llvm::raw_ostream& out) {
  auto it = std::find_if(std::begin(kExamples), std::end(kExamples), [&](const Example& e) { return e.code == code; });
  if (it == std::end(kExamples)) {
    for (const Explanation& row : kTexts)
      if (row.code == code) PrintWrapped(row.text, out << "\n");
    return;
  }
  out << "\nFor example:\n\n";
  PrintIndented(it->program, out);
  if (!it->program.empty()) out << "\ngives\n\n";
  PrintIndented(it->messages, out);
}

}  // namespace

ExitCode ExplainCommand(const Options& options, Console& console) {
  std::string code = options.file;
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return std::toupper(c); });
  if (!code.empty() && code.size() <= 4 && std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::isdigit(c); }))
    code = "DF" + std::string(4 - code.size(), '0') + code;
  for (uint32_t i = 0; i < DiagCount(); ++i) {
    const DiagInfo& info = InfoOf(static_cast<Diag>(i));
    if (code != info.code && options.file != info.name) continue;
    console.out() << info.code << " (" << info.name << "), "
                  << (info.severity == Severity::Error ? "an error" : "a warning") << ":\n  ";
    for (const char* c = info.text; *c; ++c) {
      if (*c == '{' && c[1] != '{') {
        while (*c && *c != '}') ++c;
        console.out() << "...";
      } else {
        console.out() << *c;
      }
    }
    console.out() << "\n";
    PrintExample(info.code, console.out());
    return ExitCode::Fine;
  }
  SourceManager sources;
  Diagnostics diags(sources);
  diags.Report(Diag::UnknownDiagnostic, {}, options.file);
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < DiagCount(); ++i) names.push_back(InfoOf(static_cast<Diag>(i)).name);
  if (std::string_view near = NearestName(options.file, names); !near.empty()) diags.Hint(fmt::format("did you mean `{}`?", near));
  console.Show(diags);
  return ExitCode::Usage;
}

}  // namespace df
