// lower/graph/function_graph.h
//
// Function graphs: one dataflow graph per function, monomorphic and first order, before the Call/Merge/Return
// transform. A function's graph is structured: a Branch holds one block per alternative, so that gradients, loops and
// placement see branches as such; lower/transform/transform.h flattens blocks into Switch and BranchMerge.
//
// Every value is evaluated, or, on a lazy port, a value or a reference. A block's nodes are in an order in which each
// comes after its operands, but for knots: an Apply or Delay may use a later node's result, never so that the cycle
// goes only through strict operands and results that need them. Look at it: dfc --emit=functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/id.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include "tagged_ir/graph.h"

namespace df::fg {

using FunctionId = Id<struct FgFunctionTag>;
using NodeId = Id<struct FgNodeTag>;    // within one function
using BlockId = Id<struct FgBlockTag>;  // within one function

struct Value {
  NodeId node;
  uint32_t result = 0;
  friend auto operator<=>(Value, Value) = default;
};

enum class NodeKind : uint8_t {
  Param,      // parameter `attr` of the function; they come first in the body block
  Op,         // an Ordinary op, Construct or Force of the op table; attr as there (Const: index into Program::constants)
  Apply,      // calls `callee` with all its parameters; one result per result of the callee
  Delay,      // a reference to `callee` applied to the operands; `reason` says why it is not computed at once. Of a paired
              // callee the other results follow: cotangents, which come when it has been forced and its own has come
  Branch,     // operand 0 is the predicate (Bool or Alt); one block per alternative; results are what the blocks yield
  Diff,       // a derivative of `callee`, `attr` says which (DiffMode); gone after ExpandGradients (gradient.h)
};

// Operands of a Diff: the callee's parameters, the last of which it is differentiated by, then the cotangent of its
// result (Vjp) or the tangent of that parameter (Jvp). Results: the callee's result, then the tangent of the parameter
// (Vjp) or of the result (Jvp). Stop has one operand, which it gives.
enum class DiffMode : uint8_t { Vjp, Jvp, Stop };
std::optional<DiffMode> DiffModeNamed(std::string_view name);

struct Node {
  NodeKind kind;
  ir::Op op = ir::Op::Const;                // Op
  uint32_t attr = 0;
  FunctionId callee;                        // Apply, Delay
  llvm::SmallVector<Value, 4> operands;
  llvm::SmallVector<ir::PortType, 2> results;
  llvm::SmallVector<BlockId, 2> blocks;     // Branch: Bool: true, false; Alt: by constructor index
  ir::PosId pos;
  std::string name;                         // of the source variable it computes, for dumps; may be empty
  std::string reason;                       // Delay

  Node() = default;
  Node(const Node&) = default;
  Node& operator=(const Node&) = default;
  // Moves do not allocate: where a table of them grows they are moved and not copied.
  Node(Node&&) noexcept = default;
  Node& operator=(Node&&) noexcept = default;
};

inline Node OpNode(ir::Op op, llvm::ArrayRef<Value> operands, ir::PortType result, uint32_t attr = 0) {
  Node node;
  node.kind = NodeKind::Op;
  node.op = op;
  node.attr = attr;
  node.operands.assign(operands.begin(), operands.end());
  node.results = {result};
  return node;
}

struct Block {
  std::vector<NodeId> nodes;
  // What the block yields: the Branch's results, the function's results, or, if `again`, the function's next parameters:
  // a self tail call.
  std::vector<Value> yields;
  bool again = false;
  ir::PosId pos;  // of the self tail call, if `again`
};

struct Param {
  std::string name;
  ir::PortType type;  // lazy: the function may not need it
  // Of a paired function: a cotangent, which may come late. Not of one whose function was paired already, for a second derivative.
  bool cotangent = false;
  // A tensor that a recursion reads element by element: its cotangent is a sum of elements (gradient/elements.h).
  bool elements = false;
};

struct Function {
  std::string name;      // unique: "fact", "fact@Int" for a second instance, "main.bad" for a delayed expression
  std::vector<Param> params;
  std::vector<ir::PortType> results;
  Table<NodeId, Node> nodes;
  Table<BlockId, Block> blocks;
  BlockId body;
  ir::PosId pos;
  bool delayed = false;  // the body of a Delay: one result, evaluated; if it is paired, cotangents behind it
  // A function and its gradient (gradient.h): cotangents come late, so that any node may use values of later ones.
  bool paired = false;
  // Its last two parameters, of type Int, say which pieces of a list it computes: those from the one up to before the other. A call of it
  // stays a call, and may be cut into several of which each computes some pieces (docs/spread.md).
  bool spread = false;

  ir::PortType TypeOf(Value value) const { return nodes[value.node].results[value.result]; }
};

// A function that the source puts on a part of a cut graph (docs/cut.md): all of its copies, and what is written in it. A call of it stays a call.
struct Placed {
  std::string file, function;  // as positions have them
  uint32_t part = 0;
};

struct Program {
  std::string name;
  ir::TypeTable types;
  std::vector<std::string> files;
  Table<ir::PosId, ir::Pos> positions;
  Table<ir::ConstId, ir::Constant> constants;
  Table<FunctionId, Function> functions;
  FunctionId main;  // its parameters are the graph's inputs, its results the graph's results
  bool action = false;  // as in ir::Graph
  std::vector<Placed> placed;
};

// The part that a function stands on, else ir::kAnywhere.
uint16_t PartOf(const Program& program, const Function& function);

struct DumpOptions {
  std::string only;  // the function of this name, and its delayed expressions
};
void Dump(const Program& program, llvm::raw_ostream& out, const DumpOptions& options = {});

// "" or the first fault: types of operands and yields, strict operands not lazy, uses dominated by definitions (but for
// knots), `again` in tail position only, arities.
std::string Verify(const Program& program);

}  // namespace df::fg
