// What a graph that acts must look like: see action.h.
#include "tagged_ir/action.h"

#include <fmt/format.h>

namespace df::ir {

bool IsListOf(const TypeTable& types, TypeId type, TypeId element, ListType* list) {
  if (!types.Contains(type) || types.Kind(type) != TypeKind::Data) return false;
  const std::vector<Constructor>& rows = types[type].constructors;
  if (rows.size() != 2) return false;
  ListType found;
  found.cons = rows[0].name == ":" ? 0 : 1;
  found.nil = 1 - found.cons;
  const Constructor& cons = rows[found.cons];
  if (cons.name != ":" || rows[found.nil].name != "[]" || !rows[found.nil].fields.empty()) return false;
  if (cons.fields.size() != 2 || cons.fields[0].type.type != element || cons.fields[1].type.type != type) return false;
  // What is read later stands behind a reference.
  if (!cons.fields[1].type.lazy) return false;
  if (list) *list = found;
  return true;
}

bool IsText(const TypeTable& types, TypeId type, ListType* list) {
  return IsListOf(types, type, types.Builtin(TypeKind::Char), list);
}

namespace {

bool IsListOfTexts(const TypeTable& types, TypeId type) {
  if (!types.Contains(type) || types[type].constructors.size() != 2) return false;
  for (const Constructor& c : types[type].constructors)
    if (c.fields.size() == 2) return IsText(types, c.fields[0].type.type) && IsListOf(types, type, c.fields[0].type.type);
  return false;
}

}  // namespace

// Closures are data of types that are named as the functions' are.
bool GivesAction(const TypeTable& types, TypeId type, TypeId action) {
  return type == action || types[type].name.ends_with(" -> " + types[action].name);
}

std::string CheckAction(const Graph& graph, ActionType* type) {
  if (graph.graph_results.size() != 1) return "an action is one result";
  const TypeTable& types = graph.types;
  TypeId action = graph.graph_results[0].type.type;
  if (types.Kind(action) != TypeKind::Data) return "the result is not an action";
  ActionType found;
  const std::vector<Constructor>& rows = types[action].constructors;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const std::vector<FieldType>& fields = rows[i].fields;
    bool goes_on = !fields.empty() && fields.back().type.type == action;
    auto holds = [&](TypeKind kind) { return types.Kind(fields[0].type.type) == kind; };
    bool known;
    if (rows[i].name == "PrimPut") {
      found.put = i;
      known = goes_on && fields.size() == 2 && IsText(types, fields[0].type.type);
    } else if (rows[i].name == "PrimError") {
      found.error = i;
      known = goes_on && fields.size() == 2 && IsText(types, fields[0].type.type);
    } else if (rows[i].name == "PrimFlush") {
      found.flush = i;
      known = goes_on && fields.size() == 1;
    } else if (rows[i].name == "PrimBuffer") {
      found.buffer = i;
      known = goes_on && fields.size() == 2 && holds(TypeKind::Int);
    } else if (rows[i].name == "PrimExit") {
      found.exit = i;
      known = fields.size() == 1 && holds(TypeKind::Int);
    } else if (rows[i].name == "PrimDone") {
      found.done = i;
      known = fields.size() == 2 && IsText(types, fields[0].type.type);
    } else {
      known = false;
    }
    if (!known) return fmt::format("`{}` is not a step of an action", rows[i].name);
  }
  if (type) *type = found;
  return "";
}

std::string CheckHostInputs(const Graph& graph) {
  const TypeTable& types = graph.types;
  for (const Port& port : graph.graph_inputs) {
    bool good = true;
    if (port.name == kStandardInput) good = graph.action && port.type.lazy && IsText(types, port.type.type);
    else if (port.name == kProgramName) good = IsText(types, port.type.type);
    else if (port.name == kArguments) good = IsListOfTexts(types, port.type.type);
    if (!good) return fmt::format("input `{}`: {}", port.name,
                                  port.name == kStandardInput && !graph.action ? "the graph does not act" : "not of its type");
  }
  return "";
}

}  // namespace df::ir
