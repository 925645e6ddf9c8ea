// runtime/value/object_names.h
//
// Large objects that other processes keep under a name (runtime/packet/sent_objects.h). A name stands for an object as it is: when it goes,
// or is about to become another one in place, who gave the name is told. Texts, tensors and large Integers may have one.
#pragma once

#include <atomic>

#include "runtime/value/value.h"

namespace df {

// Set by who gives names, before the first. Called by any thread that holds the object last.
using ObjectNameLost = void (*)(Object& object);
extern constinit std::atomic<ObjectNameLost> object_name_lost;

// A mark in a place of the header that these objects do not use.
inline bool HasName(const Object& object) { return object.few_fields != 0; }
inline void SetNamed(Object& object, bool named) { object.few_fields = named; }
inline void LoseName(Object& object) {
  if (HasName(object)) [[unlikely]] object_name_lost.load()(object);
}

}  // namespace df
