// runtime/base/raise_to.h
#pragma once

#include <atomic>

namespace df {

// The most of all values that any thread has given: a peak.
template <typename T>
void RaiseTo(std::atomic<T>& most, T value, std::memory_order order = std::memory_order_seq_cst) {
  for (T seen = most.load(order); value > seen && !most.compare_exchange_weak(seen, value, order);) {
  }
}

}  // namespace df
