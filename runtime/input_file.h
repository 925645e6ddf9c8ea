// runtime/input_file.h
//
// An input of a graph from the bytes of a file: docs/files.md.
#pragma once

#include <optional>
#include <string>

#include "runtime/engine.h"

namespace df {

// A text takes the file as it is, and is made as it is looked at. Other types are read from arrays (.npy, .npz, .safetensors),
// or from a text as a user types it. A Maybe takes what its Just holds. On failure nullopt, and `error` says what is wrong.
// Throws std::bad_alloc beyond the memory limit.
std::optional<Value> ReadInputFile(const ir::Graph& graph, const ir::Port& port, std::string bytes, std::string* error);

// The value of an input that was not given, if it has one: a Maybe is Nothing.
std::optional<Value> DefaultInput(const ir::Graph& graph, const ir::Port& port);

}  // namespace df
