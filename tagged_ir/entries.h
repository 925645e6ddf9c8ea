// tagged_ir/entries.h
//
// Graphs with several entries, as `--export` makes them. Such a graph is one like others: its one input is the call of an entry, a value of a
// data type that has a constructor for each, named as the entry, with its arguments as fields; its result is of a type with the same
// constructors, each with the entry's result in its one field. So what a whole-program pass keeps of a graph it keeps of all entries, every
// engine runs it, and its file says what there is. docs/embedding.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tagged_ir/graph.h"

namespace df::ir {

// The name of the one input. No name in a program has a `<`.
inline constexpr std::string_view kEntryCall = "<entry>";

struct Entry {
  std::string name;
  std::vector<Port> inputs;
  PortType result;
};

// In the order of the constructors; empty if the graph has no entries but its root.
std::vector<Entry> EntriesOf(const Graph& graph);
// "predict :: Model -> Tensor Double [3] -> Double"
std::string SignatureOf(const Graph& graph, const Entry& entry);
// Makes of a graph with entries one that has that entry alone: its inputs and its result are the graph's.
void LeaveEntry(Graph& graph, size_t entry);
// "" if the graph has no entries, or its input and result are as said above; else what is wrong.
std::string CheckEntries(const Graph& graph);

}  // namespace df::ir
