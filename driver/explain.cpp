// `dfc explain CODE`: what a diagnostic says, with the places of its arguments left open.
#include <algorithm>
#include <cctype>

#include "driver/commands.h"

namespace df {

ExitCode ExplainCommand(const Options& options, Console& console) {
  std::string code = options.file;
  std::transform(code.begin(), code.end(), code.begin(), [](unsigned char c) { return std::toupper(c); });
  for (uint32_t i = 0; i < DiagCount(); ++i) {
    const DiagInfo& info = InfoOf(static_cast<Diag>(i));
    if (code != info.code) continue;
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
    console.out() << "\ndocs/language.md says what the language accepts.\n";
    return ExitCode::Fine;
  }
  SourceManager sources;
  Diagnostics diags(sources);
  diags.Report(Diag::UnknownDiagnostic, {}, options.file);
  console.Show(diags);
  return ExitCode::Usage;
}

}  // namespace df
