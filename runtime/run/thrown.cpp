// What thrown values say: see thrown.h.
#include "runtime/run/thrown.h"

#include "lang/utf8.h"
#include "tagged_ir/action.h"

namespace df {
namespace {

constexpr size_t kLongestMessage = 1 << 20;  // a text may have no end

const Value* FieldsOf(const ir::Graph& graph, const RuntimeError& error) {
  if (!error.thrown.counted() || !error.node.valid()) return nullptr;
  const ir::Edge from = graph.InputsOf(error.node)[0];
  if (!ir::IsException(graph.types, graph.TypeOf(from).type)) return nullptr;
  return static_cast<Data*>(error.thrown.object())->fields();
}

// The characters of a text, forced one after the other.
Outcome Characters(Execution& execution, Value text, std::string& bytes) {
  for (;;) {
    if (Outcome outcome = execution.Force(text); !outcome.ok()) return outcome;
    if (text.is_word() || bytes.size() > kLongestMessage) return {};
    Value c = static_cast<Data*>(text.object())->fields()[0];
    if (Outcome outcome = execution.Force(c); !outcome.ok()) return outcome;
    AppendUtf8(static_cast<uint32_t>(c.word()), bytes);
    text = Value(static_cast<Data*>(text.object())->fields()[1]);
  }
}

}  // namespace

bool IsThrown(const ir::Graph& graph, const RuntimeError& error, ir::TypeId type) {
  return error.node.valid() && graph.TypeOf(graph.InputsOf(error.node)[0]).type == type;
}

bool AsksForExit(Execution& execution, const ir::Graph& graph, const Outcome& outcome, int64_t* code) {
  const Value* fields = outcome.stop == Stop::Failed ? FieldsOf(graph, outcome.error) : nullptr;
  if (!fields) return false;
  Value number = fields[ir::kExitCodeOfException];
  if (!execution.Force(number).ok() || number.word() < 0) return false;
  *code = number.word();
  return true;
}

void SayThrown(Execution& execution, const ir::Graph& graph, Outcome& outcome) {
  const Value* fields = outcome.stop == Stop::Failed ? FieldsOf(graph, outcome.error) : nullptr;
  if (fields) {
    Outcome said = Characters(execution, fields[ir::kSaidOfException], outcome.error.message);
    for (int nested = 0; !said.ok() && nested < 2; ++nested) {  // what it says fails itself
      outcome = std::move(said);
      said = {};
      if (const Value* inner = FieldsOf(graph, outcome.error)) said = Characters(execution, inner[ir::kSaidOfException], outcome.error.message);
    }
  }
  outcome.error.thrown = Value();
}

}  // namespace df
