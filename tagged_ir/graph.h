// tagged_ir/graph.h
//
// The tagged graph: one static graph for a whole program, after the Call/Merge/Return transform. Its meaning
// is docs/graph.md. Tables with 32-bit handles; append-only while it is built, then read-only and shareable.
//
// This folder stands alone: no front-end type appears here, so that a compiled graph runs without the
// compiler. Look at it: dfc --emit=tagged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/id.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "tagged_ir/op.h"

namespace df::ir {

using TypeId = Id<struct IrTypeTag>;
using NodeId = Id<struct IrNodeTag>;
using ScopeId = Id<struct IrScopeTag>;
using SiteId = Id<struct IrSiteTag>;  // a label: what a Call or Delay puts in front of a tag
using ConstId = Id<struct IrConstTag>;
using PosId = Id<struct IrPosTag>;

// ---------------------------------------------------------------- types

enum class TypeKind : uint8_t { Trigger, Alt, Unit, Bool, Char, Int, Integer, Float, Double, Text, Activations, State, Store, Frozen, Data, Tensor };

// What an edge carries. A lazy edge carries a value or a reference; others values only. Any edge may carry an
// error.
struct PortType {
  TypeId type;
  bool lazy = false;
  friend bool operator==(PortType, PortType) = default;
};

struct FieldType {
  PortType type;  // lazy unless the field is strict or always evaluated
  bool strict = false;
  std::string name;  // of a record's field; else empty
};
struct Constructor {
  std::string name;  // "(,)", ":", "Just"
  std::vector<FieldType> fields;
};
struct Type {
  TypeKind kind;
  std::string name;                       // Data: "(Int, Bool)", "Maybe Int"; Tensor: "Tensor Float [2, 3]"; unique in the graph
  std::vector<Constructor> constructors;  // Data
  TypeKind element = TypeKind::Unit;      // Tensor: Float, Double, Int or Bool
  std::vector<int64_t> dims = {};         // Tensor: its shape
};

// Rows [0, Frozen] are the built-in kinds in the order of TypeKind; data types and tensors follow.
class TypeTable {
 public:
  TypeTable();
  TypeId Builtin(TypeKind kind) const { return TypeId(static_cast<uint32_t>(kind)); }
  // Declares a data type; its constructors may be filled in later (recursive types) through operator[].
  TypeId AddData(std::string name);
  TypeId Find(std::string_view data_name) const;  // invalid if there is none
  // The row of that tensor type, made if there is none yet (tagged_ir/tensor_type.h).
  TypeId Tensor(TypeKind element, llvm::ArrayRef<int64_t> dims);
  TypeId FindBuiltin(std::string_view name) const;
  Type& operator[](TypeId id) { return rows_[id]; }
  const Type& operator[](TypeId id) const { return rows_[id]; }
  bool Contains(TypeId id) const { return rows_.Contains(id); }
  uint32_t size() const { return rows_.size(); }
  bool HasTensors() const;
  TypeId next_id() const { return rows_.next_id(); }
  TypeKind Kind(TypeId id) const { return rows_[id].kind; }
  std::string Print(PortType type) const;  // "Int", "lazy (Int, Bool)"

 private:
  Table<TypeId, Type> rows_;
};

// ---------------------------------------------------------------- places

// Where something comes from. `function` is the source function's name, `inlined_at` the place of the call
// that was inlined away, if it was: backtraces show that call as if it were still there.
//
// A function that takes apart what another one builds may have become one with it (lower/mono/fuse.cpp). The code that came from the builder
// is inlined at a position that is nothing but `giver`: whoever called the one function is, for that code, at `given` of the call's place.
struct Pos {
  uint32_t file = 0;  // index into Graph::files
  uint32_t line = 0;  // from 1; 0: unknown
  uint32_t column = 0;
  std::string function;
  PosId inlined_at;
  PosId given;         // of a call of such a function: the place of the call whose result it was given
  bool giver = false;  // then nothing else but inlined_at is set
};

// ---------------------------------------------------------------- scopes and call sites

enum class ScopeKind : uint8_t { Root, Function, Loop };

// Parts of a graph that is cut (tagged_ir/cut); a scope that was put on none.
inline constexpr uint32_t kMostParts = 256;
inline constexpr uint16_t kAnywhere = UINT16_MAX;

// What a label enters: a function's body, a loop, or (without a label) the root.
struct Scope {
  Scope() = default;
  Scope(ScopeKind kind, std::string name, ScopeId parent, PosId pos, bool spread = false)
      : kind(kind), spread(spread), name(std::move(name)), parent(parent), pos(pos) {}

  ScopeKind kind = ScopeKind::Root;
  // Of a function: its result is a list, of which its last two parameters say the pieces that are computed, from the one up to before the
  // other (tagged_ir/spread.h).
  bool spread = false;
  // Of a function: the part that it stands on, with its loops, where the graph is cut (tagged_ir/cut).
  uint16_t place = kAnywhere;
  std::string name;  // a function's unique name ("fact", "main.bad"); a loop's too ("gcd.loop")
  ScopeId parent;  // Loop: the scope in which it stands; Function: the scope its Outers may name, or invalid
  PosId pos;
};

enum class SiteKind : uint8_t { Call, Delay };

struct Site {
  SiteKind kind;
  ScopeId caller;  // the scope (function, loop or root) in which the Call or Delay stands
  ScopeId callee;  // always a Function
  PosId pos;
  std::string reason;  // Delay: why it was not computed at once
};

// ---------------------------------------------------------------- constants

struct Constant {
  TypeId type;
  // Unit: 0. Bool: 0, 1. Char: code point. Int: the number. Float, Double: the bits (of a float in the low
  // half).
  int64_t word = 0;
  // Integer: decimal digits, '-' in front if negative. Text: UTF-8. Tensor: its elements in row-major order, each
  // little-endian (a Bool is one byte, 0 or 1).
  std::string text;
};

// ---------------------------------------------------------------- nodes

// One result of a node.
struct Edge {
  NodeId node;
  uint32_t port = 0;
  friend auto operator<=>(Edge, Edge) = default;
};

struct Node {
  Op op;
  // Where it stands. Its operands and results have the tags of this scope, but for what crosses scopes:
  // result 0 of a Call and results 1.. of a Delay appear in the site's callee, result 0 of an Enter in the
  // loop; operand 0 of a Return comes from the callee, operands 0 and 1 of an Exit from the loop, operand 1
  // of an Outer from the scope it names. So Call, Return and Delay stand in the site's caller, Enter and Exit
  // in the loop's parent, EntryMerge in the function, LoopMerge and NextIteration in the loop, Start, Input
  // and Result in the root.
  ScopeId scope;
  uint32_t attr = 0;  // see op.def: a constant, site, loop, scope, constructor, field, input or result
  PosId pos;
  uint32_t first_input = 0;
  uint32_t num_inputs = 0;
  uint32_t first_result = 0;
  uint32_t num_results = 0;
};

// A named input of the whole graph; a result, if main yields several.
struct Port {
  std::string name;
  PortType type;
};

// The constructor, with a list of characters in its one strict field, of the data type by which a graph says that its
// result is a text to be printed as it is, and not a value to be shown.
inline constexpr const char* kShownText = "PrimShown";

struct Graph {
  std::string name;  // the module or file
  TypeTable types;
  std::vector<std::string> files;
  Table<PosId, Pos> positions;
  Table<ScopeId, Scope> scopes;  // row 0 is the root
  Table<SiteId, Site> sites;     // site i puts label i in front
  Table<ConstId, Constant> constants;
  Table<NodeId, Node> nodes;
  std::vector<Edge> inputs;       // of all nodes; see Node::first_input
  std::vector<PortType> results;  // of all nodes; see Node::first_result
  std::vector<Port> graph_inputs;
  std::vector<Port> graph_results;
  bool action = false;  // the one result says what to do (tagged_ir/action.h) and is not a value to show
  bool unshown = false;  // the result's type has no text (its source had no `Show` instance): it can be written to files, and not printed
  // Whoever made the graph promises that in each activation every call, loop and Force that begins is needed for each result of
  // the activation; those that need late parameters, for each result that needs these. An engine may then wait for all of them.
  bool demanded = false;

  // Inputs may be invalid edges at first (cycles) and be set later with SetInput.
  NodeId AddNode(Op op, ScopeId scope, llvm::ArrayRef<Edge> in, llvm::ArrayRef<PortType> out,
                 uint32_t attr = 0, PosId pos = {});
  // An EntryMerge grows with its call sites: builders collect its edges and set them once, at the end.
  void ReplaceInputs(NodeId node, llvm::ArrayRef<Edge> in);
  void SetInput(NodeId node, uint32_t index, Edge edge) { inputs[nodes[node].first_input + index] = edge; }

  llvm::ArrayRef<Edge> InputsOf(NodeId node) const {
    const Node& n = nodes[node];
    return llvm::ArrayRef<Edge>(inputs.data() + n.first_input, n.num_inputs);
  }
  llvm::ArrayRef<PortType> ResultsOf(NodeId node) const {
    const Node& n = nodes[node];
    return llvm::ArrayRef<PortType>(results.data() + n.first_result, n.num_results);
  }
  PortType TypeOf(Edge edge) const { return results[nodes[edge.node].first_result + edge.port]; }
  SiteId SiteOf(NodeId node) const { return SiteId(nodes[node].attr); }
  ScopeId LoopOf(NodeId node) const { return ScopeId(nodes[node].attr); }
};

// The scope under whose tags the tokens of an edge travel.
ScopeId ScopeOfEdge(const Graph& graph, Edge edge);

// Sources of the library have the names of their modules, `Data.List`, and no path: whether `file` is one.
bool IsLibraryFile(std::string_view file);

// Visits each node once, after the nodes it takes the operands `operands_of(node)` from; an edge that leads back to a
// node in progress is left out. `operands_of` gives a range of Edge. Ends early, with false, if `visit` gives false.
// The stack is on the heap: a chain may be as long as the graph.
template <typename OperandsOf, typename Visit>
bool ForEachInPostOrder(const Graph& graph, OperandsOf operands_of, Visit visit) {
  std::vector<bool> seen(graph.nodes.size(), false);
  struct Step {
    NodeId node;
    uint32_t next;
  };
  std::vector<Step> stack;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (seen[i]) continue;
    seen[i] = true;
    stack.push_back({NodeId(i), 0});
    while (!stack.empty()) {
      Step& step = stack.back();
      llvm::ArrayRef<Edge> operands = operands_of(step.node);
      if (step.next == operands.size()) {
        if (!visit(step.node)) return false;
        stack.pop_back();
        continue;
      }
      NodeId operand = operands[step.next++].node;
      if (seen[operand.index]) continue;
      seen[operand.index] = true;
      stack.push_back({operand, 0});
    }
  }
  return true;
}

// Whether node `n` has `count` results of which results[1] is a control edge, etc., is checked here, with
// everything else that docs/graph.md says of a well-formed graph: op signatures, scopes of both ends of each
// edge, one trigger Call per site, Returns and EntryMerges wired to the same sites, Switch and BranchMerge
// with as many sides as their predicate has alternatives, no lazy edge into a strict operand, no cycle that
// could never fire, handles in range. Returns "" or what is wrong, naming the node. Never crashes, whatever
// the tables hold.
std::string Verify(const Graph& graph);

}  // namespace df::ir
