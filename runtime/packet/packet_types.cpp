#include "runtime/packet/packet_types.h"

#include "runtime/value/value_type.h"

namespace df {

PacketTypes::PacketTypes(const ir::Graph& graph) : graph_(graph) {
  first_.reserve(graph.types.size() + 1);
  for (uint32_t t = 0; t < graph.types.size(); ++t) {
    first_.push_back(static_cast<uint32_t>(constructors_.size()));
    for (const ir::Constructor& c : type(t).constructors) {
      constructors_.push_back({static_cast<uint32_t>(fields_.size()), static_cast<uint32_t>(c.fields.size())});
      for (const ir::FieldType& field : c.fields) {
        Field& row = fields_.emplace_back(Of(field.type));
        row.strict = field.strict;
      }
    }
  }
  first_.push_back(static_cast<uint32_t>(constructors_.size()));
}

std::string PacketTypes::NameOf(uint32_t type) const { return WithArticle(graph_.types.Print({ir::TypeId(type)})); }

}  // namespace df
