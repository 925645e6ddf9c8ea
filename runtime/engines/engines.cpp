// Choosing an engine.
#include "runtime/engines/engines.h"

namespace df {

std::unique_ptr<Execution> MakeExecution(EngineKind kind, const ir::Graph& graph, const RunOptions& options) {
  switch (kind) {
    case EngineKind::Reference: return MakeReferenceExecution(graph, options);
    case EngineKind::Demand: return MakeDemandExecution(graph, options);
    case EngineKind::Expanding: return MakeExpandingExecution(graph, options);
    case EngineKind::Tagged: return MakeTaggedExecution(graph, options);
  }
  return nullptr;
}

}  // namespace df
