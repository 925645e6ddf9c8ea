// runtime/packet/packet_types.h
//
// A graph's types as packing and reading look them up: once per field of each value. Made once for a graph, which outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "tagged_ir/graph.h"

namespace df {

class PacketTypes {
 public:
  // A place for a value.
  struct Field {
    uint32_t type = 0;
    ir::TypeKind kind = ir::TypeKind::Unit;
    bool lazy = false;    // may hold a reference
    bool strict = false;  // may not hold an error
  };
  struct Constructor {
    uint32_t first_field, size;
  };

  explicit PacketTypes(const ir::Graph& graph);
  const ir::Graph& graph() const { return graph_; }
  const ir::Type& type(uint32_t type) const { return graph_.types[ir::TypeId(type)]; }
  Field Of(ir::PortType port) const { return {port.type.index, graph_.types.Kind(port.type), port.lazy, false}; }
  // Of a data type.
  llvm::ArrayRef<Constructor> ConstructorsOf(uint32_t type) const {
    return llvm::ArrayRef(constructors_).slice(first_[type], first_[type + 1] - first_[type]);
  }
  // Whether there is a constructor of so many fields; what these are.
  const Field* FieldsOf(uint32_t type, uint32_t constructor, uint32_t size) const {
    const uint32_t row = first_[type] + constructor;
    return row < first_[type + 1] && constructors_[row].size == size ? fields_.data() + constructors_[row].first_field : nullptr;
  }
  const Field* FieldsOf(const Constructor& constructor) const { return fields_.data() + constructor.first_field; }
  // "an Int", "a Maybe Int"
  std::string NameOf(uint32_t type) const;

 private:
  const ir::Graph& graph_;
  std::vector<uint32_t> first_;  // by type, in constructors_
  std::vector<Constructor> constructors_;
  std::vector<Field> fields_;
};

}  // namespace df
