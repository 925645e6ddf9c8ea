// runtime/engines/engines.h
//
// All engines by name.
#pragma once

#include <memory>

#include "runtime/run/engine.h"
#include "runtime/run/repeat.h"

namespace df {

enum class EngineKind : uint8_t { Reference, Tagged, Demand, Expanding };

std::unique_ptr<Execution> MakeReferenceExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeDemandExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeExpandingExecution(const ir::Graph& graph, const RunOptions& options);
std::unique_ptr<Execution> MakeExecution(EngineKind kind, const ir::Graph& graph, const RunOptions& options);

// What runs with these options have in common, made once; null: the engine has nothing of the kind. Of the options those matter that say
// how the engine works: its switches, whether there are batches, whether the device has memory of its own.
std::shared_ptr<const EngineCode> MakeCode(EngineKind kind, const ir::Graph& graph, const RunOptions& options);
std::shared_ptr<const EngineCode> MakeTaggedCode(const ir::Graph& graph, const RunOptions& options);
// A run with such code, which was made with like options.
std::unique_ptr<Execution> MakeExecution(EngineKind kind, const ir::Graph& graph, const RunOptions& options, std::shared_ptr<const EngineCode> code);
std::unique_ptr<Execution> MakeTaggedExecution(const ir::Graph& graph, const RunOptions& options, std::shared_ptr<const EngineCode> code);

}  // namespace df
