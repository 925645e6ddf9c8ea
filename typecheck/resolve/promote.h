// typecheck/resolve/promote.h
//
// DataKinds: a type may name a constructor whose declaration has not been read yet.
#pragma once

#include "typecheck/state/state.h"

namespace df::check {

// Reads the declaration that has the constructor, if the module has one. Declared here for `resolve`, set in declare/data.cpp.
inline void (*declare_constructor)(State& s, Symbol name) = nullptr;

}  // namespace df::check
