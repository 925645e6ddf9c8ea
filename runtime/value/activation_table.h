// runtime/value/activation_table.h
//
// Tables of activations: what a gradient needs of a forward pass that is a function of its own (--gradient=table, the baseline
// of docs/gradients.md). A value of type ActivationTable is a place in a table: the table, and an activation there. Activations
// are named by their call paths; each path has a number, which whoever comes first gives it. An entry is written once, under an
// activation's number and that of the value in the graph, and stays until nobody holds a place in the table any more.
//
// Workers may write and read at once: entries are spread over shards, each with a lock of its own, which is taken while
// several workers share values.
#pragma once

#include <cstdint>

#include "runtime/value/value.h"

namespace df {

// The first activation of a new table.
Value NewActivationTable();
// Where call site `site` leads from there.
Value ActivationAt(const Value& place, uint32_t site);
// Writes entry `number` of the activation. One that is there stays: it is the same.
void PutActivation(const Value& place, uint32_t number, const Value& value);
// Entry `number` of the activation; false if there is none.
bool GetActivation(const Value& place, uint32_t number, Value* value);

// Frees a place, and the table with the last one.
void FreeActivation(Object* object, DeadObjects& dead);

}  // namespace df
