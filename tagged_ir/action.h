// tagged_ir/action.h
//
// Graphs that act. The graph itself is pure: its one result is a value that says what to do, step by step, and what
// comes from outside are inputs. The program that runs the graph takes the steps (runtime/run/perform.h). docs/io.md.
//
//   data PrimAction = PrimPut [Char] PrimAction      writes a text
//                   | PrimFlush PrimAction           writes what is buffered
//                   | PrimBuffer Int PrimAction      from now on buffers: 0 nothing, 1 lines, 2 blocks
//                   | PrimExit Int                   ends, with this exit code
//                   | PrimDone PrimAnswer            ends (the answer is the prompt's)
//                   | PrimError [Char] PrimAction    writes a text on the standard error
//   and where the graph asks the root something, or catches what fails:
//                   | PrimServe PrimAction PrimAction   the steps to take, and what goes on once there is a reply: another PrimServe
//                   | PrimAsk Int Int [Char] (PrimReply -> PrimAction)   asks (Question), of a handle or number, with a text
//                   | PrimPutTo Int [Char] PrimAction   writes a text to a file's handle
//                   | PrimCatch PrimAction (PrimReply -> PrimAction)   what fails from there on is given to the function
//                   | PrimUncatch PrimAction         up to here
//                   | PrimAgain                      of a handler: not for me, go on to the next one
//   data PrimReply = PrimReply Int [Char] | PrimRaised PrimException
//   data PrimReplies = PrimResume (PrimReply -> PrimAction) PrimReply PrimReplies
#pragma once

#include <string>
#include <string_view>

#include "tagged_ir/graph.h"

namespace df::ir {

// Inputs of a graph that acts, which it has as far as it looks at them. No name in a program has a `<`.
inline constexpr std::string_view kStandardInput = "<stdin>";  // lazy [Char]: read as it is looked at
inline constexpr std::string_view kArguments = "<args>";       // [[Char]]
inline constexpr std::string_view kProgramName = "<program>";  // [Char]

inline constexpr std::string_view kReplies = "<replies>";      // lazy PrimReplies: what the root has to say, as it comes

inline bool IsHostInput(std::string_view name) {
  return name == kStandardInput || name == kArguments || name == kProgramName || name == kReplies;
}
// One of which not everything is there when the graph starts.
inline bool ComesLater(std::string_view name) { return name == kStandardInput || name == kReplies; }

// What PrimAsk asks, by its number; the library's words for it are in stdlib/Prelude/IO.df and stdlib/Prelude/File.df.
enum class Question : uint8_t {
  Line, Char, Contents, IsEnd,  // of a handle
  Open, Close, Flush, Buffer, IsOpen, Size,
  FileExists, DirectoryExists, List, MakeDirectory, MakeDirectories, RemoveFile, RemoveDirectory, RemoveTree, Rename, CurrentDirectory,
  Variable, Environment,
  Clock, ProcessorTime,  // need no grant
  Generator,             // nor does this: two words of the run, "s" and "t", which "S" and "T" set; "-": their signs, 1 and 2. 0 at the beginning
};
inline constexpr uint8_t kQuestions = static_cast<uint8_t>(Question::Generator) + 1;

// What a handler is told of a failure that is no value: the number in its PrimReply.
enum class Caught : uint8_t { Error, DivideByZero, Overflow, NoMatch, Io, Exit };

// The constructors of the result's type; UINT32_MAX for one that the type lacks.
struct ActionType {
  uint32_t put = UINT32_MAX, flush = UINT32_MAX, buffer = UINT32_MAX, exit = UINT32_MAX, done = UINT32_MAX,
           error = UINT32_MAX, serve = UINT32_MAX, ask = UINT32_MAX, put_to = UINT32_MAX, enter = UINT32_MAX, leave = UINT32_MAX,
           again = UINT32_MAX;
  uint32_t reply = 0, raised = 0;  // constructors of PrimReply
  TypeId replies = {}, exception = {}, text = {};  // the text in a reply
};

// data PrimException = PrimException PrimPacked (Int -> [Char] -> [Char]) [Char] Int: what is thrown. Its last fields are what is said of
// it, and the exit code that it asks for.
bool IsException(const TypeTable& types, TypeId type);
inline constexpr uint32_t kSaidOfException = 2, kExitCodeOfException = 3;

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
