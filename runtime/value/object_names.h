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

// A mark in a place of the header that these objects do not use. Who lets an object go last looks at it while, at the end of a run, another thread
// may take the mark away: who reads that it is gone may free the object.
inline bool HasName(Object& object) { return std::atomic_ref(object.few_fields).load(std::memory_order_acquire) != 0; }
inline void SetNamed(Object& object, bool named) { std::atomic_ref(object.few_fields).store(named, std::memory_order_release); }
inline void LoseName(Object& object) {
  if (HasName(object)) [[unlikely]] object_name_lost.load()(object);
}

}  // namespace df
