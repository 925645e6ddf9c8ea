#include "runtime/value/value_type.h"

namespace df {

ir::TypeId ListElement(const ir::TypeTable& types, ir::TypeId type, ir::ListType* list) {
  const std::vector<ir::Constructor>& rows = types[type].constructors;
  if (rows.size() != 2) return {};
  list->cons = rows[0].name == ":" ? 0 : 1;
  list->nil = 1 - list->cons;
  const ir::Constructor& cons = rows[list->cons];
  if (cons.name != ":" || cons.fields.size() != 2 || rows[list->nil].name != "[]" || !rows[list->nil].fields.empty()) return {};
  return cons.fields[1].type.type == type ? cons.fields[0].type.type : ir::TypeId();
}

ir::TypeId MaybeElement(const ir::TypeTable& types, ir::TypeId type, uint32_t* nothing, uint32_t* just) {
  const std::vector<ir::Constructor>& constructors = types[type].constructors;
  if (constructors.size() != 2) return {};
  // Graphs come from anywhere: the names alone are no promise.
  *nothing = constructors[0].name == "Nothing" ? 0 : 1;
  *just = 1 - *nothing;
  const ir::Constructor &none = constructors[*nothing], &some = constructors[*just];
  if (none.name != "Nothing" || !none.fields.empty() || some.name != "Just" || some.fields.size() != 1) return {};
  return some.fields[0].type.type;
}

bool Presence::Always(ir::TypeId type) {
  if (known_[type.index] != Unknown) return known_[type.index] == Yes;
  known_[type.index] = No;  // of a type inside itself
  const ir::Type& row = types_[type];
  ir::ListType list;
  uint32_t nothing, just;
  bool always = (row.kind != ir::TypeKind::Data && row.kind != ir::TypeKind::Unit) || ListElement(types_, type, &list).valid();
  if (!always && !MaybeElement(types_, type, &nothing, &just).valid()) {
    always = row.constructors.size() != 1 || row.constructors[0].fields.empty();
    if (!always)
      for (const ir::FieldType& field : row.constructors[0].fields) always |= Always(field.type.type);
  }
  known_[type.index] = always ? Yes : No;
  return always;
}

bool Presence::Plain(ir::TypeId type, uint32_t* nothing, uint32_t* just, ir::TypeId* held) {
  *held = MaybeElement(types_, type, nothing, just);
  return held->valid() && Always(*held);
}

bool IsScalar(ir::TypeKind kind) {
  switch (kind) {
    case ir::TypeKind::Bool:
    case ir::TypeKind::Char:
    case ir::TypeKind::Int:
    case ir::TypeKind::Integer:
    case ir::TypeKind::Float:
    case ir::TypeKind::Double: return true;
    default: return false;
  }
}

std::string WithArticle(std::string_view type) {
  const bool vowel = type.find_first_of("AEIOU") == 0 && type != "Unit";
  return std::string(vowel ? "an " : "a ").append(type);
}

std::string JoinPath(const std::string& path, const std::string& part) { return path.empty() ? part : path + "." + part; }

std::string FieldPart(const ir::Constructor& constructor, size_t field) {
  const std::string& name = constructor.fields[field].name;
  return name.empty() ? std::to_string(field) : name;
}

}  // namespace df
