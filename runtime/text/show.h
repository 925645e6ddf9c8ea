// runtime/text/show.h
//
// Values as Haskell's `show` prints them, and inputs read from text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "llvm/Support/raw_ostream.h"
#include "runtime/run/engine.h"
#include "runtime/value/show_number.h"

namespace df {

// Prints `value` of static type `type`, byte for byte as GHC's show: digits of Double and Float, escapes of
// Char and String, negative numbers in parentheses as arguments of constructors, tuples, lists, records.
// Forces what is lazy as it goes, without native recursion; what was printed before an error has been written
// to `out`.
Outcome Show(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, llvm::raw_ostream& out);

// Appends a list of characters, or a packed text, as it is.
Outcome WriteRaw(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, std::string* out);

// A datum on one line, for traces: nothing is forced, large ones are cut short; references, errors and dead
// tokens too.
void PrintDatum(const ir::Graph& graph, ir::PortType type, const Value& value, llvm::raw_ostream& out);

// An input as a user types it: "30", "-2.5", "True", "'c'", "(3,4)". nullopt and `error` ("`abc` is not an
// Int") otherwise.
std::optional<Value> ParseInput(const ir::Graph& graph, ir::PortType type, std::string_view text, std::string* error);

}  // namespace df
