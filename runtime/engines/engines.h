// runtime/engines/engines.h
//
// All engines by name.
#pragma once

#include <memory>

#include "runtime/run/engine.h"

namespace df {

enum class EngineKind : uint8_t { Reference, Tagged, Demand, Expanding };

std::unique_ptr<Execution> MakeReferenceExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeDemandExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeExpandingExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeExecution(EngineKind kind, const ir::Graph& graph, const RunOptions& options);

}  // namespace df
