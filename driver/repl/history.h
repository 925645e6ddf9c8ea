// driver/repl/history.h
//
// The actions of a session that have to do with references and arrays: what looks at one later is a graph of its own, which does these
// actions again, in order (docs/repl.md).
#pragma once

#include <vector>

#include "runtime/run/action_log.h"
#include "tagged_ir/graph.h"
#include "typecheck/core/core.h"

namespace df {

class History {
 public:
  struct Action {
    Symbol name;                // its definition
    Symbol cell;                // where its value is kept when it is done again
    core::VarId cell_var;
    ActionLog log;
    bool changes = false;       // it may change what others see
    std::vector<size_t> needs;  // the actions whose values it uses, by number
  };

  const Action& operator[](size_t number) const { return actions_[number]; }
  void Add(Action action) { actions_.push_back(std::move(action)); }
  void Clear() { actions_.clear(); }

  // The actions whose values the definition may use, by number.
  std::vector<size_t> NeedsOf(const core::Program& program, core::VarId definition) const;
  // Whether an action that uses these values, with this graph, may change what others see. What the functions do that a value holds is not in
  // the graph.
  bool MayChange(const core::Program& program, const std::vector<size_t>& needs, const ir::Graph& graph) const;
  // What is to be done again before something that uses these values: they, and what changed what they may share with others. An action finds
  // references as they are `now`; a value was made with them as they were.
  std::vector<size_t> Before(const std::vector<size_t>& needs, bool now) const;

 private:
  std::vector<Action> actions_;
};

// Whether the graph makes a reference or an array.
bool HasStores(const ir::Graph& graph);

}  // namespace df
