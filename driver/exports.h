// driver/exports.h
//
// `--export predict,train`: a graph with several entries (tagged_ir/entries.h), made of a checked module.
#pragma once

#include <string>

#include "driver/options.h"
#include "driver/pipeline.h"
#include "tagged_ir/graph.h"

namespace df {

// What is compiled in place of `main`: a function of the call of an entry, which gives the entry's result; it becomes the program's main.
// False, and reported, where a name is none of the module's definitions, its type is open, or it takes or gives functions.
bool DefineEntries(Pipeline& pipeline, const ast::Ast& ast, llvm::ArrayRef<std::string> names);

// Leaves of a graph with entries the one that `--entry` names, or the only one. False, and reported, where there is none.
bool ChooseEntry(ir::Graph& graph, const Options& options, Diagnostics& diags);

}  // namespace df
