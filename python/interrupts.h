// python/interrupts.h
//
// Ctrl-C while a graph runs. Python's own handler only notes the signal, for the interpreter to look at between its steps; so a handler of this
// module goes before it, which sets a flag that runs look at, and calls Python's.
#pragma once

#include <atomic>

namespace df::python::interrupts {

// To be called with the interpreter's lock, when the module is loaded, by the thread that loads it.
void Begin();
// Whether this thread is the one that Python tells of signals.
bool IsMainThread();
// What runs of the main thread look at.
const std::atomic<bool>* Flag();
// Before a run of the main thread. False: Python has raised.
bool Enter();

}  // namespace df::python::interrupts
