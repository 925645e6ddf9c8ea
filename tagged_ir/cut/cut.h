// tagged_ir/cut/cut.h
//
// A graph cut by node (docs/cut.md): which part each node is on, which edges so go from one part to another, and what each edge carries there.
// A part is numbered from 0. Part 0 is where a run begins and ends: Start, Input and Result stand on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llvm/Support/raw_ostream.h"
#include "tagged_ir/graph.h"

namespace df::ir {

// A line of a placement: `fact 1`, `fact:8:15 1` (what stands in that line, and column, of fact), `%12 1`, `* 1`, or `type Tensor Float [5000, 16] 1`
// (what takes or gives a value of that type, or one that holds such: it then stays where it is).
struct PlacementRow {
  uint32_t line_of_file = 0;  // for messages
  NodeId node;                // valid: this one alone
  std::string type;           // not empty: of this type
  std::string scope;
  uint32_t line = 0, column = 0;  // 0: all of the scope
  uint32_t part = 0;
  // `* 0`: all that no other row names, and that has no place in the graph.
  bool names_rest() const { return scope == "*" && line == 0; }
};

// Reads a placement: a row a line, `#` begins a comment. On failure nullopt, and `error` says in which line what is wrong.
std::optional<std::vector<PlacementRow>> ParsePlacement(std::string_view text, std::string* error);

// A part that is a device, which computes the ops on tensors that stand there (docs/devices.md).
struct DevicePart {
  uint32_t part = 0;
  std::string name;
};

struct CutOptions {
  uint32_t parts = 0;  // 0: as many as the placements ask for
  uint64_t seed = 0;   // not 0: what has no place is put on any part, node by node
  std::vector<PlacementRow> rows;
  // Not empty: all parts but part 0 are such, and what has no place is on part 0.
  std::vector<DevicePart> devices;
  // What has no place stays without one, kAnywhere: it is wherever it is called from.
  bool leave = false;
};

struct Cut {
  uint32_t parts = 1;
  std::vector<uint32_t> part;  // of each node
  std::vector<std::string> device;  // of each part: which one it is, "": none; empty: none is
};

// The cut of a verified graph. Later rows go before earlier ones, rows before the places of scopes in the graph. What has no place: whole
// functions, with their loops, largest first to the part that has least (where parts are devices, on part 0); or, with a seed, each node anywhere.
// On failure nullopt, and `error`.
std::optional<Cut> MakeCut(const Graph& graph, const CutOptions& options, std::string* error);

// The tokens of one edge that go from one part to another: a Send there and a Recv here, once however many users it has.
struct Channel {
  Edge edge;
  uint32_t from = 0, to = 0;
  std::vector<std::pair<NodeId, uint32_t>> users;  // there: the operands that take it
};
// In the order of their edges.
std::vector<Channel> ChannelsOf(const Graph& graph, const Cut& cut);

// The cut for so many processes, of which each has a part: part p is that of process p modulo their number. Nothing, and `error`, if there are fewer parts, or
// what cannot leave a process would have to.
std::optional<Cut> CutForProcesses(const Graph& graph, const Cut& cut, uint32_t processes, std::string* error);

// A cut as a text for another process that has the graph: parts and how many nodes in a row are on each, "3: 0*12 1 0*7"; and back.
std::string WriteCut(const Cut& cut);
std::optional<Cut> ReadCut(const Graph& graph, std::string_view text);

// What is special about the tokens of an edge: those of triggers carry nothing but their tag; of control edges all are dead.
enum class Carries : uint8_t { Data, Trigger, Control };
Carries CarriesOf(const Graph& graph, Edge edge);

// "%13", "%13.1".
std::string EdgeText(Edge edge);
// "%13.1>0": the Send and the Recv of a channel have this name.
std::string ChannelName(const Channel& channel);

// What each part has, and what goes between them.
void PrintParts(const Graph& graph, const Cut& cut, llvm::raw_ostream& out);
// The nodes of each part in the text form of graphs, with Sends and Recvs for what crosses. No text that can be read back: each part lacks the others.
void PrintCutGraph(const Graph& graph, const Cut& cut, llvm::raw_ostream& out);
// Graphviz: a cluster per part, in it one per scope; a pair of boxes for each channel.
void PrintCutDot(const Graph& graph, const Cut& cut, llvm::raw_ostream& out);

}  // namespace df::ir
