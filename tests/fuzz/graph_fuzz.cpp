// Fuzzes the two readers of graphs: files, and the text form (whatever does not begin as a file does).
//
// A graph that is accepted has to be written and read back the same in both forms.

#include <cstdlib>
#include <string>

#include "llvm/Support/raw_ostream.h"
#include "tagged_ir/file.h"
#include "tagged_ir/text.h"

using namespace df::ir;

namespace {

// Texts grow by their inlined-at chains, once per node; beyond this they are not looked at.
constexpr size_t kLargest = 1 << 20;

void Require(bool condition, const char* what, const std::string& detail) {
  if (condition) return;
  llvm::errs() << "broken promise: " << what << ": " << detail << '\n';
  std::abort();
}

std::string ToText(const Graph& graph) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Print(graph, out);
  return text;
}

void CheckAccepted(const Graph& graph) {
  std::string error;
  std::string bytes = Serialize(graph);
  std::optional<Graph> again = Deserialize(bytes, &error);
  Require(again.has_value(), "a written file reads back", error);
  Require(Serialize(*again) == bytes, "a file is written the same again", "");
  std::string text = ToText(graph);
  if (text.size() > kLargest) return;
  again = ParseText(text, &error);
  Require(again.has_value(), "a printed graph reads back", error);
  Require(ToText(*again) == text, "a graph is printed the same again", "");
  std::string drawing;
  llvm::raw_string_ostream out(drawing);
  PrintDot(graph, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string error;
  std::optional<Graph> graph =
      LooksLikeGraphFile(bytes) ? Deserialize(bytes, &error) : ParseText(bytes, &error);
  if (graph)
    CheckAccepted(*graph);
  else
    Require(!error.empty(), "what is refused is refused for a reason", "");
  return 0;
}
