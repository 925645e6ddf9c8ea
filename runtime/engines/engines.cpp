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

std::shared_ptr<const EngineCode> MakeCode(EngineKind kind, const ir::Graph& graph, const RunOptions& options) {
  return kind == EngineKind::Tagged ? MakeTaggedCode(graph, options) : nullptr;
}

std::unique_ptr<Execution> MakeExecution(EngineKind kind, const ir::Graph& graph, const RunOptions& options, std::shared_ptr<const EngineCode> code) {
  return code ? MakeTaggedExecution(graph, options, std::move(code)) : MakeExecution(kind, graph, options);
}

}  // namespace df
