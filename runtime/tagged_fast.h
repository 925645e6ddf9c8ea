// runtime/tagged_fast.h
//
// The instructions of the fast code as an enumeration.
#pragma once

#include <cstdint>

namespace df::tagged {

inline constexpr uint32_t kMostArguments = 32;  // that a fast Call or Next takes

enum class Fast : uint16_t {
#define DF_FAST_BINARY(name, type, condition, expression) name##RR, name##RK, name##KR,
#define DF_FAST_COMPARE(name, expression) name##RR, name##RK, name##KR, Branch##name##RR, Branch##name##RK,
#define DF_FAST_UNARY(name, type, condition, expression) name,
#define DF_FAST(name, operands) name,
#include "runtime/tagged_fast_ops.def"
};

}  // namespace df::tagged
