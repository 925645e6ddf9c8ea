// driver/compile.h
//
// From a source file to a checked module, and on to graphs: what the commands share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/compile_budget.h"
#include "driver/options.h"
#include "driver/pipeline.h"
#include "driver/system/console.h"

namespace df {

// "samples/fact.df" -> "fact": the name of a module's graph.
std::string GraphName(const std::string& file);

// Checks the text of options.file. False after errors, which are in pipeline.diags.
bool CheckText(Pipeline& pipeline, const Options& options, std::string text);

// The budget of a command that ends with its compilation, or goes on to a run of its own: where a phase does not react it ends the process.
std::unique_ptr<CompileBudget> BudgetOf(const Options& options, const Console& console);
// The exit code of a compilation that ended so.
ExitCode CodeOf(BudgetEnd end, ExitCode otherwise);

// The tagged graph of the text's `main`. nullopt after errors.
std::optional<ir::Graph> GraphOfMain(Pipeline& pipeline, const Options& options, std::string text);

// A verified graph from the bytes of the file `name`. Reports what is wrong with it.
std::optional<ir::Graph> LoadGraph(const std::string& name, const std::string& bytes, Diagnostics& diags);
// Whether these are the bytes of a graph, in a file's form or as text, and no source.
bool HoldsGraph(std::string_view bytes);

// Where a graph or a function is wanted by name: what to lower from, so that it is there. main, if it reaches the
// function; else the function itself. Reports if there is neither.
std::optional<fg::Program> FunctionsShowing(Pipeline& pipeline, const std::string& only, const std::string& name,
                                            const LowerOptions& options);

}  // namespace df
