// Which functions stand on a part, by where they come from.
#include <algorithm>

#include "lower/graph/function_graph.h"

namespace df::fg {

uint16_t PartOf(const Program& program, const Function& function) {
  if (program.placed.empty()) return ir::kAnywhere;
  std::string_view name = function.name;
  // What is written in another one is named after it, `f.go`.
  for (const Function* at = &function; at;) {
    if (at->pos.valid()) {
      const ir::Pos& pos = program.positions[at->pos];
      for (const Placed& placed : program.placed)
        if (placed.function == pos.function && pos.file < program.files.size() && placed.file == program.files[pos.file])
          return static_cast<uint16_t>(placed.part);
    }
    const size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) break;
    name = name.substr(0, dot);
    auto around = std::find_if(program.functions.begin(), program.functions.end(), [&](const Function& other) { return other.name == name; });
    at = around == program.functions.end() ? nullptr : &*around;
  }
  return ir::kAnywhere;
}

}  // namespace df::fg
