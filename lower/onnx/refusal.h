// lower/onnx/refusal.h
//
// Why a program is no ONNX model: what there is, where, and why that cannot be said. Thrown within this room.
#pragma once

#include <string>

#include "tagged_ir/graph.h"

namespace df::to_onnx {

struct Refusal {
  std::string what, why, hint;
  ir::PosId pos;
};

}  // namespace df::to_onnx
