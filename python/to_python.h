// python/to_python.h
//
// Results as Python values. Tensors are numpy arrays that look at what the graph computed.
#pragma once

#include "python/types.h"

namespace df::python {

// With the interpreter's lock held. Throws Raised.
nb::object ToPython(const TypePlan& plan, const View& view);

}  // namespace df::python
