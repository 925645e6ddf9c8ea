// compiler/compiler.h
//
// The compiler as a library: a source in memory to the bytes of a graph, what is wrong with it as data. This header needs nothing but
// the standard library; it is what the CMake package `dfc` installs beside embed.h, with the target dfc::compiler.
//
//   df::CompileRequest request{.source = "main :: Int -> Int\nmain n = n * n\n"};
//   df::CompileResult result = df::CompileSource(request);
//   if (result.graph) auto program = df::Program::FromBytes(*result.graph, &error);
//   else for (const df::Diagnosis& d : result.diagnostics) std::cerr << d.text;
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace df {

struct CompileRequest {
  std::string source;
  std::string name = "main.df";              // in messages and call paths; modules that it imports are looked for beside it,
  std::vector<std::string> module_folders = {};  // and in these
  std::vector<std::string> exports = {};     // definitions that are the graph's entries; none: `main`
  bool warnings = true;
  bool optimize = true;
  std::chrono::milliseconds timeout{0};      // 0: none
  uint64_t max_memory = 0;                   // bytes of the whole process; 0: 80% of what the machine or its control group has
  const std::atomic<bool>* interrupt = nullptr;  // ends it
};

// A message of the compiler, in its parts.
struct Diagnosis {
  enum class Severity : uint8_t { Error, Warning };
  // Lines and columns count from 1, in characters; the end is behind the last one. A line 0: there is no place.
  struct Place {
    std::string file;
    uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  };
  struct Note {
    std::string text;
    Place place;
  };
  std::string code;  // "DF0203"
  Severity severity = Severity::Error;
  std::string message;
  Place place;
  std::vector<Note> notes;
  std::string hint;  // how to mend it; "" if there is nothing to say
  std::string text;  // all of it, with the line of the source, as dfc prints it
};

struct CompileResult {
  std::optional<std::string> graph;  // the bytes of a .graph file; none after errors
  std::vector<Diagnosis> diagnostics;
};

// Any thread; compilations of one process go one after the other.
CompileResult CompileSource(const CompileRequest& request);

}  // namespace df
