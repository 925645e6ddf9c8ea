// Errors overtake: an op fails as soon as its operands up to the first failed one are there, although its region may be
// waiting for others. This works on the graph itself, node by node; it is only entered when an error has appeared.
#include "runtime/engines/tagged/exec/calls.h"
#include "runtime/engines/tagged/exec/delayed_calls.h"
#include "runtime/engines/tagged/exec/engine.h"
#include "runtime/engines/tagged/exec/errors.h"

namespace df::tagged {

using ir::Edge;
using ir::NodeId;
using ir::Op;

bool IsAvailable(const Worker& w, Frame* frame, Edge edge) {
  std::vector<Edge> todo{edge};
  while (!todo.empty()) {
    Edge now = todo.back();
    todo.pop_back();
    for (;;) {
      Op op = w.graph.nodes[now.node].op;
      if (op == Op::Const || (op == Op::Expand && IsConstant(w.SlotOf(now)))) {  // it is there when its trigger is
        now = w.graph.InputsOf(now.node)[0];
        continue;
      }
      if (op != Op::Switch) break;
      Edge predicate = w.graph.InputsOf(now.node)[0];
      uint32_t slot = w.SlotOf(predicate);
      if (!(IsConstant(slot) || frame->Has(slot)) || w.KindOf(frame, slot) != ValueKind::Word) return false;
      bool is_bool = w.graph.types.Kind(w.graph.TypeOf(predicate).type) == ir::TypeKind::Bool;
      auto word = static_cast<uint64_t>(w.WordOf(frame, slot));
      if ((is_bool ? word == 0 : word) != now.port) return false;
      todo.push_back(predicate);
      now = w.graph.InputsOf(now.node)[1];
    }
    uint32_t slot = w.SlotOf(now);
    if (slot != kNone && !frame->Has(slot)) return false;
  }
  return true;
}

// The side that a predicate which is there and no error chooses.
bool Chosen(const Worker& w, Frame* frame, Edge predicate, uint32_t* side) {
  if (!IsAvailable(w, frame, predicate)) return false;
  uint32_t slot = w.SlotOf(predicate);
  if (w.KindOf(frame, slot) != ValueKind::Word) return false;
  bool is_bool = w.graph.types.Kind(w.graph.TypeOf(predicate).type) == ir::TypeKind::Bool;
  auto word = static_cast<uint64_t>(w.WordOf(frame, slot));
  *side = is_bool ? word == 0 : static_cast<uint32_t>(word);
  return true;
}

void PassError(Worker& w, Frame* frame, Edge edge) {
  ++frame->refs;  // results that are sent from here must not finish it
  std::vector<Edge> todo{edge};
  while (!todo.empty()) {
    Edge now = todo.back();
    todo.pop_back();
    uint32_t row = w.program.RowOf(now), slot = w.program.slot_of[row];
    if (slot == kNone) continue;
    Value error = w.Read(frame, slot);
    for (Edge use : w.program.UsersOf(row)) PassErrorToUser(w, frame, use, error, todo);
    const ScopeCode& scope = frame->scope();
    if (scope.kind == ir::ScopeKind::Function)
      for (uint32_t r = 0; r < scope.num_results; ++r)
        if (scope.results[r] == row) SendResult(w, frame, r, error);
    if (frame->flags & kOuterWaiters) AnswerOuters(w, frame, row);
  }
  w.Unref(frame);
}

// `use` is a node and the operand at which the error has come.
void PassErrorToUser(Worker& w, Frame* frame, Edge use, const Value& error, std::vector<Edge>& todo) {
  NodeId id = use.node;
  const ir::Node& node = w.graph.nodes[id];
  llvm::ArrayRef<Edge> in = w.graph.InputsOf(id);
  uint32_t side = 0;
  bool implied = w.program.implied[node.first_input + use.port];
  switch (node.op) {
    case Op::Switch:
      if (use.port == 1 && Chosen(w, frame, in[0], &side) && side < node.num_results) todo.push_back({id, side});
      return;
    case Op::BranchMerge:
      if (use.port != 0 && !implied && !(Chosen(w, frame, in[0], &side) && side + 1 == use.port)) return;
      break;
    case Op::Exit:
      if (use.port == 0 || (use.port == 1 && (implied || (Chosen(w, frame, in[0], &side) && side == 1))))
        SendResult(w, frame, w.program.result_of_node[id.index], error);
      return;
    case Op::Result: return w.execution.SetResult(node.attr, error);
    case Op::Delay:
      if (use.port == 0 || !IsAvailable(w, frame, in[0]) || !frame->Has(w.SlotOf({id, 0}))) return;
      return CellOperand(w, frame, w.program.sites[node.attr], w.SlotOf({id, 0}), use.port - 1, w.Read(frame, w.SlotOf(in[use.port])));
    case Op::Construct: {
      const auto& fields = w.graph.types[w.graph.ResultsOf(id)[0].type].constructors[node.attr].fields;
      if (use.port == 0 || !fields[use.port - 1].strict) return;
      [[fallthrough]];
    }
    default:
      for (uint32_t k = 0; k < use.port; ++k)
        if (!IsAvailable(w, frame, in[k])) return;
  }
  uint32_t row = w.program.RowOf({id, 0}), slot = w.program.slot_of[row];
  if (slot == kNone || frame->Has(slot)) return;
  frame->Set(slot, error);
  // An event of its own happens when its region runs: that an error overtakes wakes nobody who could not fail by it.
  if (w.run.trace) w.Trace(frame, id, slot);
  todo.push_back({id, 0});
}

void PassSwitches(Worker& w, Frame* frame, const Branch& branch, uint32_t side) {
  auto failed = [&](Edge edge) {
    uint32_t slot = w.SlotOf(edge);
    return slot != kNone && w.KindOf(frame, slot) == ValueKind::Error && IsAvailable(w, frame, edge);
  };
  for (NodeId id : branch.switches)
    if (side < w.graph.nodes[id].num_results && failed(w.graph.InputsOf(id)[1])) PassError(w, frame, {id, side});
  for (NodeId id : branch.merges) {
    if (side + 1 >= w.graph.nodes[id].num_inputs || !failed(w.graph.InputsOf(id)[side + 1])) continue;
    std::vector<Edge> todo;
    PassErrorToUser(w, frame, {id, side + 1}, frame->Get(w.SlotOf(w.graph.InputsOf(id)[side + 1])), todo);
    for (Edge edge : todo) PassError(w, frame, edge);
  }
}

}  // namespace df::tagged
