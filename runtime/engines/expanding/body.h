// runtime/engines/expanding/body.h
//
// What the expanding engine copies: the graph of one function or loop as an image in one piece of memory. docs/expanding-engine.md.
//
//   nodes      Node each: what it does, how many operands are missing, where they and its results are
//   operands   Value each, Dead as long as nothing has come; constants are there from the beginning
//   children   a pointer per call, loop or delayed call that something may come for after it has begun
//   ports      by result of a node, and one more: the first of its edges
//   edges      Edge each: to which node of the same copy, as which operand
//
// All places are numbers within the copy, so that a copy is one memcpy.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ops/kernels.h"
#include "runtime/value/value.h"
#include "tagged_ir/graph.h"

namespace df::expanding {

inline constexpr uint32_t kNone = UINT32_MAX;

enum class Code : uint8_t {
  Op, Const, Input, Result, Switch, BranchMerge, Construct, Force, Outer,
  Call,          // of a function or a loop: trigger, then the arguments that go with it
  LateArgument,  // an argument that may hang on what the call gives
  Delay,         // trigger, then what is captured
  LateOperand,   // operand of a Delay whose body runs; one per operand, behind the Delay's node
  Next,          // the next iteration: predicate, trigger, then the values that go with it
  LateNext,      // a value of the next iteration that may come later, predicate
  Decide,        // the predicate of a loop
  Exit,          // predicate, value
  Return,        // a result of the function
  Publish,       // a value that Outers of other scopes read
};

struct Node {
  Code code;
  uint8_t flags;
  ir::Op op;                  // Op
  ir::TypeKind operand_type;  // of the first operand; of a predicate: Bool or Alt
  uint32_t missing;           // operands that have not come
  uint32_t num_operands;
  uint32_t first_operand;
  uint32_t first_port;
  uint32_t attr;              // as the graph's; Call, Delay, Next: the site; Return, Exit: which result; LateArgument, LateNext:
                              // which of the late ones of the site that first_port says; LateOperand: which; Outer: the operand
                              // in its scope's copy
  uint32_t id;                // in the graph
};

enum Flag : uint8_t {
  kSpecial = 1,     // its rule for operands that come is not just counting
  kOvertake = 2,    // the first failed operand is its result as soon as those before it are there
  kFired = 4,
};

struct Edge {
  uint32_t node;
  uint32_t operand;
};

struct Body {
  ir::ScopeId scope;
  ir::ScopeKind kind;
  bool needs_outer = false;  // it, or what it calls, reads Outers
  uint32_t num_nodes = 0, num_operands = 0, num_children = 0, num_ports = 0, num_edges = 0;
  uint32_t operands_at = 0, children_at = 0, ports_at = 0, edges_at = 0;  // bytes from the image
  uint32_t bytes = 0;
  std::vector<uint64_t> image;
  std::vector<uint32_t> counted;  // operands that are constants with a count
  uint32_t num_exits = 0;         // of a loop
};

enum class SiteKind : uint8_t { Root, Call, Delay, Loop };

// A label, and what a copy made under it is given and gives.
struct Site {
  struct Late {
    uint32_t operand;  // here
    uint32_t port;     // there
  };
  SiteKind kind = SiteKind::Root;
  uint32_t label = 0;  // site or loop
  const Body* callee = nullptr;
  bool keeps_home = false;              // of a delayed call: its body looks for its maker's copy, or gives cotangents to it
  std::vector<uint32_t> together;       // by operand of the Call: port in the callee, or kNone
  std::vector<Late> late;
  uint32_t child = kNone;               // where the caller keeps the copy, or the delayed call's cell
  std::vector<uint32_t> next_together;  // by operand of Next, but for the predicate
  std::vector<Late> next_late;
  uint32_t next_child = kNone;          // where an iteration keeps the next one
  std::vector<uint32_t> returns;        // by result: port in the caller, or kNone
  uint32_t num_returns = 0;             // that are not kNone
  uint32_t cell_result = kNone;         // of a delayed call: the result that its cell gets
  ir::NodeId node;                      // the trigger's Call or Enter, or the Delay
};

struct Program {
  std::vector<Body> bodies;     // by scope
  std::vector<Site> sites;      // by site, then loops by scope, then the root
  std::vector<Value> constants; // by ConstId
  std::vector<KernelTypes> types;  // by node of the graph
  uint32_t start_port = kNone;  // in the root's copy
  const Site& LoopSite(uint32_t num_sites, uint32_t scope) const { return sites[num_sites + scope]; }
};

// Of a verified graph. "" or why it cannot be run.
std::string Compile(const ir::Graph& graph, Program& program);

}  // namespace df::expanding
