// lower/gradient/table.h
//
// --gradient=table: forward passes and gradients are functions of their own, and what a gradient needs of a forward pass is
// kept in a table of activations (docs/gradients.md; Jeong et al., EuroSys 2018, section 5). Cuts each paired body in two,
//
//   f.paired(x .., dy ..) -> [y .., dx ..]   becomes   f.forward(table, x ..) -> [y .., table]
//                                                      f.gradient(table, dy ..) -> [dx ..]
//
// by what hangs on a cotangent. Runs on pruned function graphs, so that the nodes are those of the paired bodies. Look at it:
// dfc --emit=functions --gradient=table
#pragma once

#include "lower/graph/function_graph.h"

namespace df::fg {

void KeepActivationsInTables(Program& program);

}  // namespace df::fg
