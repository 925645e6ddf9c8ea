// runtime/text/show_json.h
//
// Values as JSON: for logs, and for results that other programs read.
#pragma once

#include <string>

#include "runtime/run/engine.h"

namespace df {

// Appends `value` to `out`, evaluated as far as it goes: numbers as show prints them (one that is not finite is null), records as
// objects, tuples, lists and tensors as arrays, texts as strings, Nothing as null and Just x as x; another constructor without
// fields is its name, one with fields an object of one entry, its name. The outcome is fine and `fault` says why if it is nested too deep.
Outcome ShowJson(Execution& execution, const ir::Graph& graph, ir::PortType type, Value value, std::string* out, std::string* fault);

// A text in quotes.
std::string JsonString(std::string_view text);

}  // namespace df
