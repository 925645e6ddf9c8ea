// tagged_ir/spread.h
//
// What of a graph several processes may compute in pieces (docs/spread.md): calls of functions that are marked `spread`. The result of such a
// function is a list, and its last two parameters, from and to, are numbers of pieces. Whoever marks it promises that what it gives for
// (from, k) with what it gives for (k, to) behind it does as well as what it gives for (from, to).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tagged_ir/graph.h"

namespace df::ir {

// A function that is a piece of another one: what of that stands on another part, and is called there (tagged_ir/cut/outline.h). The mark is in its name,
// behind that of the scope from which it was taken, `fact#1`; no name in a program has it. The source has no such functions and calls: a call path that
// comes through a piece is told as if it stood where it is called.
inline constexpr char kPieceMark = '#';
inline bool IsPiece(const Scope& scope) { return scope.kind == ScopeKind::Function && scope.name.find(kPieceMark) != std::string::npos; }

// Call sites that enter a function that is marked.
uint32_t CountSpreadCalls(const Graph& graph);

// Where the spine of a program runs, all that is in no piece, when several processes run it. At the root only: the others compute calls that
// it gives away. Everywhere: each process computes what all need, its own share of the pieces, and takes the other pieces from those that have them.
enum class Spine : uint8_t { Root, Everywhere };

// Decided by the graph alone, so that all processes decide the same, before they begin. Everywhere if there is something to share, and the
// graph does not read the standard input, which only the root has.
Spine SpineOf(const Graph& graph);

// Where pieces can be given to a spread function that are there, to be joined: its parameter before from and to is a Maybe of the list that it gives.
// The constructor for them; nothing if it is no such type.
std::optional<uint32_t> GivenPieces(const TypeTable& types, PortType parameter, PortType result);

// "" or what is wrong with the marks of a graph that is otherwise well formed.
std::string CheckSpread(const Graph& graph);

}  // namespace df::ir
