// Writes each tagged graph in text form that is named on the command line as a graph file: write_graphs
// OUT_FOLDER FILE...
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tagged_ir/file.h"
#include "tagged_ir/text.h"

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::filesystem::path out = argv[1];
  std::filesystem::create_directories(out);
  for (int i = 2; i < argc; ++i) {
    std::filesystem::path path = argv[i];
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    std::string error;
    std::optional<df::ir::Graph> graph = df::ir::ParseText(text.str(), &error);
    if (!graph) {
      llvm::errs() << path.string() << ": " << error << '\n';
      return 1;
    }
    std::ofstream file(out / path.filename().replace_extension(".graph"), std::ios::binary);
    file << df::ir::Serialize(*graph);
    if (!file) return 1;
  }
  return 0;
}
