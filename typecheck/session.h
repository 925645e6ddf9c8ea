// typecheck/session.h
//
// What a CheckSession keeps, for the files that implement it: check.cpp, info.cpp, outdated.cpp.
#pragma once

#include "typecheck/check.h"
#include "typecheck/state/env.h"

namespace df {

struct CheckSession::Impl {
  check::Env env;
  std::vector<Outdated> outdated;
  llvm::DenseMap<uint64_t, Fixity> known_fixities;  // by FixityKey: of all that modules offer
  FixityScope prelude_scope;  // of a module that imports the Prelude alone; empty before that was checked
  bool main_started = false;  // main_scope has the Prelude's

  // What a user sees now; before the first input the library's own names.
  const check::Scope& scope() const { return env.user_started ? env.user : env.library; }
  // Compares the scope with the one before the last Check.
  void FindOutdated(const core::Program& program, const check::Scope& before);
};

}  // namespace df
