// Errors overtake: an op fails as soon as its operands up to the first failed one are there, although its region may be
// waiting for others. This works on the graph itself, node by node; it is only entered when an error has appeared.
#include "runtime/engines/tagged/exec/engine.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

// Whether the token of `edge` is there: its slot has a value, and every Switch on the way has taken this side.
bool Worker::IsAvailable(Frame* frame, Edge edge) const {
  std::vector<Edge> todo{edge};
  while (!todo.empty()) {
    Edge now = todo.back();
    todo.pop_back();
    for (;;) {
      Op op = graph_.nodes[now.node].op;
      if (op == Op::Const || (op == Op::Expand && IsConstant(SlotOf(now)))) {  // it is there when its trigger is
        now = graph_.InputsOf(now.node)[0];
        continue;
      }
      if (op != Op::Switch) break;
      Edge predicate = graph_.InputsOf(now.node)[0];
      uint32_t slot = SlotOf(predicate);
      if (!(IsConstant(slot) || frame->Has(slot)) || KindOf(frame, slot) != ValueKind::Word) return false;
      bool is_bool = graph_.types.Kind(graph_.TypeOf(predicate).type) == ir::TypeKind::Bool;
      auto word = static_cast<uint64_t>(WordOf(frame, slot));
      if ((is_bool ? word == 0 : word) != now.port) return false;
      todo.push_back(predicate);
      now = graph_.InputsOf(now.node)[1];
    }
    uint32_t slot = SlotOf(now);
    if (slot != kNone && !frame->Has(slot)) return false;
  }
  return true;
}

// The side that a predicate which is there and no error chooses.
bool Worker::Chosen(Frame* frame, Edge predicate, uint32_t* side) const {
  if (!IsAvailable(frame, predicate)) return false;
  uint32_t slot = SlotOf(predicate);
  if (KindOf(frame, slot) != ValueKind::Word) return false;
  bool is_bool = graph_.types.Kind(graph_.TypeOf(predicate).type) == ir::TypeKind::Bool;
  auto word = static_cast<uint64_t>(WordOf(frame, slot));
  *side = is_bool ? word == 0 : static_cast<uint32_t>(word);
  return true;
}

// The error on `edge`, which is there, goes to all who can fail by it at once.
void Worker::PassError(Frame* frame, Edge edge) {
  ++frame->refs;  // results that are sent from here must not finish it
  std::vector<Edge> todo{edge};
  while (!todo.empty()) {
    Edge now = todo.back();
    todo.pop_back();
    uint32_t row = program_.RowOf(now), slot = program_.slot_of[row];
    if (slot == kNone) continue;
    Value error = Read(frame, slot);
    for (Edge use : program_.UsersOf(row)) PassErrorToUser(frame, use, error, todo);
    const ScopeCode& scope = frame->scope();
    if (scope.kind == ir::ScopeKind::Function)
      for (uint32_t r = 0; r < scope.num_results; ++r)
        if (scope.results[r] == row) SendResult(frame, r, error);
    if (frame->flags & kOuterWaiters) AnswerOuters(frame, row);
  }
  Unref(frame);
}

// `use` is a node and the operand at which the error has come.
void Worker::PassErrorToUser(Frame* frame, Edge use, const Value& error, std::vector<Edge>& todo) {
  NodeId id = use.node;
  const ir::Node& node = graph_.nodes[id];
  llvm::ArrayRef<Edge> in = graph_.InputsOf(id);
  uint32_t side = 0;
  bool implied = program_.implied[node.first_input + use.port];
  switch (node.op) {
    case Op::Switch:
      if (use.port == 1 && Chosen(frame, in[0], &side) && side < node.num_results) todo.push_back({id, side});
      return;
    case Op::BranchMerge:
      if (use.port != 0 && !implied && !(Chosen(frame, in[0], &side) && side + 1 == use.port)) return;
      break;
    case Op::Exit:
      if (use.port == 0 || (use.port == 1 && (implied || (Chosen(frame, in[0], &side) && side == 1))))
        SendResult(frame, program_.result_of_node[id.index], error);
      return;
    case Op::Result: return execution_.SetResult(node.attr, error);
    case Op::Delay:
      if (use.port == 0 || !IsAvailable(frame, in[0]) || !frame->Has(SlotOf({id, 0}))) return;
      return CellOperand(frame, program_.sites[node.attr], SlotOf({id, 0}), use.port - 1, Read(frame, SlotOf(in[use.port])));
    case Op::Construct: {
      const auto& fields = graph_.types[graph_.ResultsOf(id)[0].type].constructors[node.attr].fields;
      if (use.port == 0 || !fields[use.port - 1].strict) return;
      [[fallthrough]];
    }
    default:
      for (uint32_t k = 0; k < use.port; ++k)
        if (!IsAvailable(frame, in[k])) return;
  }
  uint32_t row = program_.RowOf({id, 0}), slot = program_.slot_of[row];
  if (slot == kNone || frame->Has(slot)) return;
  frame->Set(slot, error);
  // An event of its own happens when its region runs: that an error overtakes wakes nobody who could not fail by it.
  if (run_.trace) Trace(frame, id, slot);
  todo.push_back({id, 0});
}

// A side has been taken: errors that waited before its Switches and merges go on.
void Worker::PassSwitches(Frame* frame, const Branch& branch, uint32_t side) {
  auto failed = [&](Edge edge) {
    uint32_t slot = SlotOf(edge);
    return slot != kNone && KindOf(frame, slot) == ValueKind::Error && IsAvailable(frame, edge);
  };
  for (NodeId id : branch.switches)
    if (side < graph_.nodes[id].num_results && failed(graph_.InputsOf(id)[1])) PassError(frame, {id, side});
  for (NodeId id : branch.merges) {
    if (side + 1 >= graph_.nodes[id].num_inputs || !failed(graph_.InputsOf(id)[side + 1])) continue;
    std::vector<Edge> todo;
    PassErrorToUser(frame, {id, side + 1}, frame->Get(SlotOf(graph_.InputsOf(id)[side + 1])), todo);
    for (Edge edge : todo) PassError(frame, edge);
  }
}

}  // namespace df::tagged
