// runtime/value/value_type.h
//
// What types of the graph mean to those who read and write values in other forms than that of `show`.
#pragma once

#include <string>
#include <vector>

#include "tagged_ir/action.h"
#include "tagged_ir/graph.h"

namespace df {

// A list type's elements; invalid if `type` is no list.
ir::TypeId ListElement(const ir::TypeTable& types, ir::TypeId type, ir::ListType* list);
// What a Maybe may hold; invalid if `type` is no Maybe. `just` and `nothing` are its constructors.
ir::TypeId MaybeElement(const ir::TypeTable& types, ir::TypeId type, uint32_t* nothing, uint32_t* just);
// Which types have at least one array in a file whatever the value is; a Maybe is never one of them, and () is none.
class Presence {
 public:
  explicit Presence(const ir::TypeTable& types) : types_(types), known_(types.size(), Unknown) {}
  bool Always(ir::TypeId type);
  // Whether a Maybe in a field is there if and only if it is a Just.
  bool Plain(ir::TypeId type, uint32_t* nothing, uint32_t* just, ir::TypeId* held);

 private:
  enum Known : uint8_t { Unknown, No, Yes };
  const ir::TypeTable& types_;
  std::vector<Known> known_;
};

// Numbers, truth values and characters.
bool IsScalar(ir::TypeKind kind);
// "layer1" and "weight": "layer1.weight"; "" and "weight": "weight".
std::string JoinPath(const std::string& path, const std::string& part);
// "an Int", "a Model".
std::string WithArticle(std::string_view type);
// The name of a constructor's field in a path: its own, or its number from 0.
std::string FieldPart(const ir::Constructor& constructor, size_t field);

}  // namespace df
