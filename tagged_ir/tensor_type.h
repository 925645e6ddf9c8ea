// tagged_ir/tensor_type.h
//
// What a tensor type is: an element type and a shape that is known. Its name in the graph says all of it,
// "Tensor Float [2, 3]", so that text and files need no other description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tagged_ir/graph.h"

namespace df::ir {

inline constexpr size_t kMaxRank = 8;
// Elements of one tensor: no product of dimensions overflows, and a size in bytes is far from doing so.
inline constexpr int64_t kMaxElements = int64_t{1} << 40;

bool IsElement(TypeKind kind);           // Float, Double, Int, Bool
// Of these: 4, 8, 8, 1.
inline size_t ElementBytes(TypeKind element) { return element == TypeKind::Bool ? 1 : element == TypeKind::Float ? 4 : 8; }
// The product of the dimensions; of no dimensions 1. -1 if a dimension is negative or there are too many elements.
int64_t ElementCount(llvm::ArrayRef<int64_t> dims);
// Of all elements of a tensor type.
inline size_t BytesOf(const Type& type) { return static_cast<size_t>(ElementCount(type.dims)) * ElementBytes(type.element); }
// "[2, 3]"
std::string ShapeText(llvm::ArrayRef<int64_t> dims);
// "Tensor Float [2, 3]"
std::string TensorName(TypeKind element, llvm::ArrayRef<int64_t> dims);
// Reads such a name, exactly as TensorName writes it, of a type that there is.
bool ParseTensorName(std::string_view name, TypeKind* element, std::vector<int64_t>* dims);
// "" or what is wrong with a row of kind Tensor.
std::string TensorTypeFault(const Type& type);
// "" or what is wrong with the elements of a constant of a valid tensor type (ir::Constant::text).
std::string TensorConstantFault(const Type& type, std::string_view bytes);

// The elements of a constant as nested lists: "[[1, 2.5], [nan, 0]]", of a tensor without dimensions one element. An element
// is written as the text form writes a scalar of its type.
std::string TensorText(const Type& type, std::string_view bytes);
// Reads such a text; false if its nesting or an element does not fit the type.
bool ParseTensorText(const Type& type, std::string_view text, std::string* bytes);

}  // namespace df::ir
