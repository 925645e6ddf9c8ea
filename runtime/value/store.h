// runtime/value/store.h
//
// Arrays that change, and what they held at a moment (docs/references.md). A value of type PrimStore is an array that ops on state tokens
// change in place; one of type PrimFrozen never changes. Both hold a buffer, which several may share: whoever is to change one that others
// hold as well takes a copy first. So freezing and thawing take no time by themselves.
//
// Tokens put the ops on one array in an order. A graph that does not keep to that (it was written by hand) gets what some order gives: while
// several workers share values, an array is looked at by one of them at a time.
#pragma once

#include <cstdint>

#include "runtime/value/value.h"

namespace df {

// How an element is stored: the low bits of the ops' attribute.
enum class StoreWidth : uint8_t { Byte, Word, Value };
inline constexpr uint32_t kStoreWidthBits = 2;

inline StoreWidth WidthOf(uint32_t attr) { return static_cast<StoreWidth>(attr & ((1u << kStoreWidthBits) - 1)); }

// `size` elements, each `first`. May throw std::bad_alloc.
Value NewStore(uint32_t attr, int64_t size, const Value& first);
// What the array holds now; an array that begins with what was frozen.
Value FreezeStore(const Value& store);
Value ThawStore(const Value& frozen);
int64_t StoreSize(const Value& array);
// False: out of range, or an array of other elements than `attr` says. Of both kinds of arrays.
bool ReadStore(const Value& array, uint32_t attr, int64_t index, Value* element);
// The same; of an array that changes. May throw std::bad_alloc, before anything has changed.
bool WriteStore(const Value& store, uint32_t attr, int64_t index, const Value& element);

// The same of an array of bytes or words, by an engine that holds it. False too if it is to be copied first, or if somebody else may look at it.
bool ReadStoreWord(Object* array, uint32_t attr, uint64_t index, uint64_t* bits);
bool WriteStoreWord(Object* array, uint32_t attr, uint64_t index, uint64_t bits);

// Frees an array, and what only it held.
void FreeStore(Object* object, DeadObjects& dead);

}  // namespace df
