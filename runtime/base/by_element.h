// runtime/base/by_element.h
//
// Code that is the same for tensors of each type of elements: f is called with a value of that type, as in
//
//   ForNumbers(tensor.element(), [&](auto t) { using T = decltype(t); ... });
#pragma once

#include <cstdint>

#include "tagged_ir/graph.h"

namespace df {

template <typename F>
auto ForReals(ir::TypeKind element, F f) {
  return element == ir::TypeKind::Float ? f(float{}) : f(double{});
}
// Also Int.
template <typename F>
auto ForNumbers(ir::TypeKind element, F f) {
  switch (element) {
    case ir::TypeKind::Float: return f(float{});
    case ir::TypeKind::Double: return f(double{});
    default: return f(int64_t{});
  }
}
// Also Bool.
template <typename F>
auto ForElements(ir::TypeKind element, F f) {
  return element == ir::TypeKind::Bool ? f(uint8_t{}) : ForNumbers(element, f);
}

}  // namespace df
