// tests/unit/runtime/evaluated.h
//
// Values that are computed already, as text.
#pragma once

#include <string>

#include "runtime/run/engine.h"
#include "runtime/text/show.h"
#include "tagged_ir/graph.h"

namespace df::test {

// Values are shown by an execution; these need none of what it can do.
struct Evaluated : Execution {
  Outcome Start(std::vector<Value>) override { return {}; }
  llvm::ArrayRef<Value> results() const override { return {}; }
  Value TakeResult(size_t) override { return {}; }
  Outcome Force(Value&) override { return {}; }
  Outcome GiveUp(Stop) override { return {}; }
  Stats stats() const override { return {}; }
};

inline std::string Shown(const ir::Graph& graph, ir::PortType type, const Value& value) {
  Evaluated execution;
  std::string text;
  llvm::raw_string_ostream out(text);
  Show(execution, graph, type, value, out);
  return text;
}

}  // namespace df::test
