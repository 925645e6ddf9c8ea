// lower/graph/sink_fields.h
//
// Fields are read where they are needed. In
//
//   insert x t@(Node l y r) = if x < y then Node (insert x l) y r else if y < x then Node l y (insert x r) else t
//
// a match reads `l`, `y` and `r` at once. But on the side that gives `t` neither `l` nor `r` is used, and while `t` is there
// they have two holders. So their Field ops move behind the tests: on each side that makes a new node they are the last
// use of `t`, whose fields then move, and no subtree is touched to count its holders.
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void SinkFields(Program& program);

}  // namespace df::fg
