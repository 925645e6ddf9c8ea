// typecheck/match/cover.h
//
// What a decision tree says of a match: the rows that no path reaches, and values that no row covers.
// Every path of a tree can be taken (match/tree.h), so this is the usefulness of L. Maranget, Warnings for pattern
// matching, 2007, read off the tree.
#pragma once

#include "typecheck/match/tree.h"

namespace df {

// "no clause of `f` fits": what a match says at run time when it fails.
std::string MatchFailure(const core::MatchExpr& match);

// Reports redundant rows of the tree of `match` on `scrutinees`, and, unless a failing match falls to an enclosing one (`may_fall`), what is not covered.
void ReportCoverage(const core::Program& program, const core::MatchExpr& match,
                    llvm::ArrayRef<core::VarId> scrutinees, const TreeNode* root, const std::vector<bool>& can_fall,
                    bool may_fall, Diagnostics& diags);

}  // namespace df
