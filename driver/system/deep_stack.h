// driver/system/deep_stack.h
//
// A thread with a stack of 1 GiB (of which only what is used takes memory): the parser and the checker recurse over
// nested expressions.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace df {

// Runs `body` there and waits for it. Takes a smaller stack if the system refuses that size.
void OnDeepStack(llvm::function_ref<void()> body);

// The part of the calling thread's stack that is not in use goes back to the system: a phase that went deep has left pages there.
void GiveBackDeepStack();

}  // namespace df
