#include "lower/mono/placed.h"

namespace df::mono {

bool IsPlaced(const Program& program, const Function& function) {
  if (program.placed.empty() || function.local || function.from_library || !function.pos.valid()) return false;
  const ir::Pos& pos = program.positions[function.pos];
  return llvm::any_of(program.placed, [&](const fg::Placed& placed) {
    return placed.function == function.source_name && pos.file < program.files.size() && placed.file == program.files[pos.file];
  });
}

}  // namespace df::mono
