// tagged_ir/action.h
//
// Graphs that act. The graph itself is pure: its one result is a value that says what to do, step by step, and what
// comes from outside are inputs. The program that runs the graph takes the steps (runtime/run/perform.h). docs/io.md.
//
//   data PrimAction = PrimPut [Char] PrimAction      writes a text
//                   | PrimFlush PrimAction           writes what is buffered
//                   | PrimBuffer Int PrimAction      from now on buffers: 0 nothing, 1 lines, 2 blocks
//                   | PrimExit Int                   ends, with this exit code
//                   | PrimDone [Char] PrimAnswer     ends, and leaves this of the input (the answer is the prompt's)
//                   | PrimError [Char] PrimAction    writes a text on the standard error
#pragma once

#include <string>
#include <string_view>

#include "tagged_ir/graph.h"

namespace df::ir {

// Inputs of a graph that acts, which it has as far as it looks at them. No name in a program has a `<`.
inline constexpr std::string_view kStandardInput = "<stdin>";  // lazy [Char]: read as it is looked at
inline constexpr std::string_view kArguments = "<args>";       // [[Char]]
inline constexpr std::string_view kProgramName = "<program>";  // [Char]

inline bool IsHostInput(std::string_view name) {
  return name == kStandardInput || name == kArguments || name == kProgramName;
}

// The constructors of the result's type; UINT32_MAX for one that the type lacks.
struct ActionType {
  uint32_t put = UINT32_MAX, flush = UINT32_MAX, buffer = UINT32_MAX, exit = UINT32_MAX, done = UINT32_MAX,
           error = UINT32_MAX;
};

// The shape of a list type, if `type` is one whose elements have the type `element`.
struct ListType {
  uint32_t nil = 0, cons = 0;
};
bool IsListOf(const TypeTable& types, TypeId type, TypeId element, ListType* list = nullptr);
// [Char]
bool IsText(const TypeTable& types, TypeId type, ListType* list = nullptr);

// Whether values of the type are of the type `action`, or functions that give one once they have all their arguments.
bool GivesAction(const TypeTable& types, TypeId type, TypeId action);

// "" if the host inputs of a graph have their types; else what is wrong. Only a graph that acts reads the standard input.
std::string CheckHostInputs(const Graph& graph);
// "" if the graph's result is an action; else what is wrong. `type` may be null.
std::string CheckAction(const Graph& graph, ActionType* type);

}  // namespace df::ir
