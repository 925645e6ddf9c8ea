// tagged_ir/file_format.h
//
// The names that the writer and the reader of graph files share. docs/graph-file.md has the layout.
#pragma once

#include <cstdint>

#include "onnx/onnx.pb.h"
#include "tagged_ir/graph.h"
#include "tagged_ir/op_facts.h"

namespace df::ir::file {

inline constexpr const char* kDomain = "org.dfc";
inline constexpr const char* kProducer = "dfc";
// What stock readers must understand of ONNX itself: nothing newer than the oldest supported distribution
// has.
inline constexpr int64_t kIrVersion = 8;
inline constexpr int64_t kOnnxOpset = 15;

// Edges that close a cycle, in place of the inputs that are empty.
inline constexpr const char* kCycle = "cycle";
// Of Const and Field, beside AttributeName.
inline constexpr const char* kValue = "value";
inline constexpr const char* kField = "field";

// The tables, attributes of Start.
inline constexpr const char* kStrings = "strings";
inline constexpr const char* kFileTable = "file_table";
inline constexpr const char* kTypeTable = "type_table";
inline constexpr const char* kPosTable = "pos_table";
inline constexpr const char* kPosGivenTable = "pos_given_table";
inline constexpr const char* kScopeTable = "scope_table";
inline constexpr const char* kSpreadTable = "spread_table";
inline constexpr const char* kPlaceTable = "place_table";
inline constexpr const char* kSiteTable = "site_table";
inline constexpr const char* kNodeTable = "node_table";
inline constexpr const char* kInputTable = "input_table";
inline constexpr const char* kResultTable = "result_table";
// Of Start too: 1 if the graph acts, and if all that begins is needed; otherwise they are not there.
inline constexpr const char* kAction = "action";
inline constexpr const char* kUnshown = "unshown";
inline constexpr const char* kDemanded = "demanded";

// A type's number in the file. ActivationTable came with version 7, those of state with version 14: the types behind them keep the numbers
// that they had.
inline constexpr uint32_t kActivationsRow = 0x3fffffff;  // and downwards
inline constexpr uint32_t kFirstLateRow = static_cast<uint32_t>(TypeKind::Activations);
inline constexpr uint32_t kLateRows = static_cast<uint32_t>(TypeKind::Data) - kFirstLateRow;
inline uint32_t FileRow(TypeId type) {
  if (type.index < kFirstLateRow) return type.index;
  if (type.index < kFirstLateRow + kLateRows) return kActivationsRow - (type.index - kFirstLateRow);
  return type.index - kLateRows;
}
inline TypeId TypeOfFileRow(uint32_t row) {
  if (row < kFirstLateRow) return TypeId(row);
  if (row <= kActivationsRow && row > kActivationsRow - kLateRows) return TypeId(kFirstLateRow + (kActivationsRow - row));
  return TypeId(row + kLateRows);
}
// In place of a number of constructors: the type is a tensor, and its name says which.
inline constexpr int64_t kTensorRow = -1;
// ONNX's name for the elements; 0 if it has none.
inline int32_t ElementCode(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool: return onnx::TensorProto::BOOL;
    case TypeKind::Int: return onnx::TensorProto::INT64;
    case TypeKind::Float: return onnx::TensorProto::FLOAT;
    case TypeKind::Double: return onnx::TensorProto::DOUBLE;
    case TypeKind::Text: return onnx::TensorProto::STRING;
    default: return 0;
  }
}

// How Node::attr is called in the file; null if the op has none, or, for Const, one that is written as
// kValue.
inline const char* AttributeName(Op op) {
  switch (FactsOf(op).attribute) {
    case Attribute::NoAttribute:
    case Attribute::ConstantNumber: return nullptr;
    case Attribute::InputNumber:
    case Attribute::ResultNumber: return "index";
    case Attribute::SiteNumber: return "site";
    case Attribute::LoopScope: return "loop";
    case Attribute::OuterScope: return "outer";
    case Attribute::ConstructorNumber:
    case Attribute::FieldNumber: return "constructor";
    case Attribute::FailureKind: return "kind";
    case Attribute::Axes: return "axes";
    case Attribute::EntryNumber: return "number";
  }
  return nullptr;
}

// Ops that mean what ONNX's own do where their result is a tensor are written under ONNX's names (OpFacts::onnx), in its domain. (Those
// with axes are not: ONNX has them in other forms from version to version.)

// Of Gemm: the second matrix is transposed.
inline constexpr const char* kTransB = "transB";

}  // namespace df::ir::file
