// python/arrays.h
//
// Arrays of Python: of what has the buffer protocol (numpy), of what has __dlpack__ (PyTorch, JAX), of nested lists.
#pragma once

#include "python/types.h"

namespace df::python {

// What `value` holds, with an owner that keeps it alive and may be dropped by any thread. False: it is no array of one of the four element types;
// nothing is raised. Throws Raised if an array cannot be looked at, as of a tensor on a device.
bool ArrayOf(nb::handle value, ArrayIn* array);
// The same of anything that numpy makes an array of, with these elements.
ArrayIn MakeArray(nb::handle value, ElementType element);
const char* NameOf(ElementType element);

}  // namespace df::python
