// runtime/npy.h
//
// numpy's files of one array (.npy, format versions 1 to 3) as tensors. What is read may come from anywhere: nothing in it is
// believed before it was compared with the tensor type that is expected.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/tensor.h"

namespace df {

// The array in `bytes`, which has to be of this tensor type: Float is <f4, Double <f8, Int <i8 or <i4, Bool |b1, row-major.
// nullopt and `error` otherwise. Throws std::bad_alloc beyond the memory limit.
std::optional<Value> ReadNpy(const ir::Type& type, std::string_view bytes, std::string* error);

}  // namespace df
