// typecheck/core/parts.h
//
// The expressions directly below one, in the order in which they are written. Of a match that is not compiled yet there are none: this is
// for what a checked program has.
#pragma once

#include "llvm/Support/Casting.h"
#include "typecheck/core/core.h"

namespace df::core {

template <typename Visit>
void ForEachPart(const Expr& expr, Visit&& visit) {
  if (const auto* app = llvm::dyn_cast<AppExpr>(&expr)) {
    visit(app->fn);
    for (const Expr* arg : app->args) visit(arg);
  } else if (const auto* lambda = llvm::dyn_cast<LambdaExpr>(&expr)) {
    visit(lambda->body);
  } else if (const auto* let = llvm::dyn_cast<LetExpr>(&expr)) {
    for (const Binding& binding : let->bindings) visit(binding.value);
    visit(let->body);
  } else if (const auto* match = llvm::dyn_cast<CaseExpr>(&expr)) {
    visit(match->scrutinee);
    for (const Alt& alt : match->alts) visit(alt.body);
  }
}

}  // namespace df::core
