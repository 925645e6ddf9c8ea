// What a graph that acts must look like: see action.h.
#include "tagged_ir/action.h"

#include <fmt/format.h>

#include "llvm/ADT/STLExtras.h"

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

bool IsException(const TypeTable& types, TypeId type) {
  if (!types.Contains(type) || types.Kind(type) != TypeKind::Data || types[type].constructors.size() != 1) return false;
  const Constructor& row = types[type].constructors[0];
  return row.name == "PrimException" && row.fields.size() == 4 && IsText(types, row.fields[kSaidOfException].type.type) &&
         types.Kind(row.fields[kExitCodeOfException].type.type) == TypeKind::Int;
}

namespace {

// Collects what the constructors of an action's type and its replies are.
class ActionReader {
 public:
  ActionReader(const TypeTable& types, TypeId action) : types_(types), action_(action) {}

  // Whether this is a step, at this index.
  bool Step(const Constructor& row, uint32_t index) {
    const std::vector<FieldType>& fields = row.fields;
    auto kind = [&](size_t i) { return types_.Kind(fields[i].type.type); };
    auto text = [&](size_t i) { return IsText(types_, fields[i].type.type); };
    auto action = [&](size_t i) { return fields[i].type.type == action_; };
    const bool goes_on = (row.name == "PrimAsk" || row.name == "PrimCatch") && !fields.empty() && Continuation(fields.back().type.type);
    const size_t size = fields.size();
    struct Form {
      std::string_view name;
      uint32_t ActionType::*where;
      bool good;
    };
    const Form forms[] = {
        {"PrimPut", &ActionType::put, size == 2 && text(0) && action(1)},
        {"PrimError", &ActionType::error, size == 2 && text(0) && action(1)},
        {"PrimFlush", &ActionType::flush, size == 1 && action(0)},
        {"PrimBuffer", &ActionType::buffer, size == 2 && kind(0) == TypeKind::Int && action(1)},
        {"PrimExit", &ActionType::exit, size == 1 && kind(0) == TypeKind::Int},
        {"PrimDone", &ActionType::done, size == 1},
        {"PrimServe", &ActionType::serve, size == 2 && action(0) && action(1)},
        {"PrimAsk", &ActionType::ask,
         size == 4 && kind(0) == TypeKind::Int && kind(1) == TypeKind::Int && text(2) && goes_on},
        {"PrimPutTo", &ActionType::put_to, size == 3 && kind(0) == TypeKind::Int && text(1) && action(2)},
        {"PrimCatch", &ActionType::enter, size == 2 && action(0) && goes_on},
        {"PrimUncatch", &ActionType::leave, size == 1 && action(0)},
        {"PrimAgain", &ActionType::again, size == 0},
    };
    for (const Form& form : forms) {
      if (form.name != row.name) continue;
      found.*form.where = index;
      return form.good;
    }
    return false;
  }

  // Whether this is PrimReplies, with the continuations of the steps, if they have some.
  bool Replies(TypeId type) {
    if (!types_.Contains(type) || types_.Kind(type) != TypeKind::Data || types_[type].constructors.size() != 1) return false;
    const Constructor& row = types_[type].constructors[0];
    if (row.name != "PrimResume" || row.fields.size() != 3 || row.fields[2].type.type != type || !row.fields[2].type.lazy) return false;
    found.replies = type;
    return Continuation(row.fields[0].type.type) && Reply(row.fields[1].type.type);
  }

  ActionType found;

 private:
  // There is one type of them, and one of replies.
  bool Continuation(TypeId type) {
    if (!continuation_.valid()) continuation_ = type;
    return type == continuation_ && types_.Kind(type) == TypeKind::Data;
  }
  bool Reply(TypeId type) {
    if (!types_.Contains(type) || types_.Kind(type) != TypeKind::Data || types_[type].constructors.size() != 2) return false;
    for (uint32_t i = 0; i < 2; ++i) {
      const Constructor& row = types_[type].constructors[i];
      const std::vector<FieldType>& fields = row.fields;
      if (row.name == "PrimReply" && fields.size() == 2 && types_.Kind(fields[0].type.type) == TypeKind::Int && IsText(types_, fields[1].type.type)) {
        found.reply = i;
        found.text = fields[1].type.type;
      } else if (row.name == "PrimRaised" && fields.size() == 1 && IsException(types_, fields[0].type.type)) {
        found.raised = i;
        found.exception = fields[0].type.type;
      } else {
        return false;
      }
    }
    return found.reply != found.raised;
  }

  const TypeTable& types_;
  const TypeId action_;
  TypeId continuation_;
};

}  // namespace

std::string CheckAction(const Graph& graph, ActionType* type) {
  if (graph.graph_results.size() != 1) return "an action is one result";
  const TypeTable& types = graph.types;
  TypeId action = graph.graph_results[0].type.type;
  if (types.Kind(action) != TypeKind::Data) return "the result is not an action";
  ActionReader reader(types, action);
  const std::vector<Constructor>& rows = types[action].constructors;
  for (uint32_t i = 0; i < rows.size(); ++i)
    if (!reader.Step(rows[i], i)) return fmt::format("`{}` is not a step of an action", rows[i].name);
  for (const Port& port : graph.graph_inputs)
    if (port.name == kReplies && !reader.Replies(port.type.type)) return fmt::format("input `{}`: not of its type", port.name);
  if (llvm::count_if(graph.graph_inputs, [](const Port& port) { return ComesLater(port.name); }) > 1)
    return "a graph reads its input, or asks for it: not both";
  if (type) *type = reader.found;
  return "";
}

std::string CheckHostInputs(const Graph& graph) {
  const TypeTable& types = graph.types;
  for (const Port& port : graph.graph_inputs) {
    bool good = true;
    if (port.name == kReplies) good = graph.action && port.type.lazy;  // of which type CheckAction looks
    else if (port.name == kStandardInput) good = graph.action && port.type.lazy && IsText(types, port.type.type);
    else if (port.name == kProgramName) good = IsText(types, port.type.type);
    else if (port.name == kArguments) good = IsListOfTexts(types, port.type.type);
    if (!good) return fmt::format("input `{}`: {}", port.name,
                                  ComesLater(port.name) && !graph.action ? "the graph does not act" : "not of its type");
  }
  return "";
}

}  // namespace df::ir
