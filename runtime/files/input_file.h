// runtime/files/input_file.h
//
// An input of a graph from the bytes of a file: docs/files.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/files/array_names.h"
#include "runtime/run/engine.h"

namespace df {

// Every type is read from a packet. A text takes any other file as it is, and is made as it is looked at. Other types are read from arrays
// (.npy, .npz, .safetensors), or from a text as a user types it. A Maybe takes what its Just holds. On failure nullopt, and `error` says what is wrong.
// All arrays of the file have to be used, unless `unused` takes the others, which further inputs may ask for.
// Throws std::bad_alloc beyond the memory limit. In `count` are the bytes of the file, if they were counted: those of a text stay.
std::optional<Value> ReadInputFile(const ir::Graph& graph, const ir::Port& port, std::string bytes, std::string* error,
                                   std::vector<SurplusArray>* unused = nullptr, memory::CountedBytes count = {});

// The shape of the tensor in a packet or a file of arrays, or in a text as a user types it, whatever its elements are; nullopt if it holds none, or
// says nothing; then `why` says what it is instead.
std::optional<std::vector<int64_t>> ShapeOfFile(std::string bytes, std::string_view name, std::string* why);
std::optional<std::vector<int64_t>> ShapeOfText(std::string_view text);

// The value of an input that was not given, if it has one: a Maybe is Nothing.
std::optional<Value> DefaultInput(const ir::Graph& graph, const ir::Port& port);

}  // namespace df
