// Cotangents of records of weights: what a function gives to the weights of a record is one object, whose constructor says which of its fields are
// terms of which weight (tagged_ir/sum_parts.h). See gradient/types.h.
#include "lower/gradient/types.h"
#include "tagged_ir/sum_parts.h"

namespace df::fg {
namespace {

// A constructor may have so many fields; what is more goes into records of its own.
constexpr size_t kMostInRecord = 24;

}  // namespace

// Whether cotangents of a data type are records of sums: it has one constructor, and all its real numbers are matrices, vectors beside them, and
// records of such, none of which may be unevaluated.
bool GradientTypes::IsRecord(ir::TypeId type) {
  if (!flat_records || p_.types.Kind(type) != ir::TypeKind::Data || IsSum(type)) return false;
  auto [it, fresh] = weights_.try_emplace(type.index, 0);
  if (!fresh) return it->second > 0;
  if (p_.types[type].constructors.size() != 1 || !HoldsSums(type)) return false;
  uint32_t count = 0;
  for (const ir::FieldType& field : std::vector<ir::FieldType>(p_.types[type].constructors[0].fields)) {
    if (!Active(field.type.type)) continue;
    bool vector = p_.types.Kind(field.type.type) == ir::TypeKind::Tensor && !p_.types[field.type.type].dims.empty();
    bool fits = !field.type.lazy && (IsRecord(field.type.type) || (vector && IsReal(field.type.type)));
    if (!fits) return false;
    count += WeightsIn(field.type.type);
  }
  weights_[type.index] = count;
  return count > 0;
}

uint32_t GradientTypes::WeightsIn(ir::TypeId type) const {
  auto it = weights_.find(type.index);
  return it != weights_.end() && it->second > 0 ? it->second : 1;
}

// The number of the first weight of an active field.
uint32_t GradientTypes::FirstWeight(ir::TypeId type, uint32_t field) const {
  uint32_t first = 0, active = 0;
  for (const ir::FieldType& row : p_.types[type].constructors[0].fields) {
    if (!active_.find(row.type.type.index)->second) continue;
    if (active++ == field) break;
    first += WeightsIn(row.type.type);
  }
  return first;
}

// The first rows of a record's cotangent: zero, and what all its fields are given for.
std::vector<ir::Constructor> GradientTypes::RowsOfRecord(ir::TypeId type) {
  ir::Constructor row{"add#", {}};
  uint32_t next = 0;
  for (uint32_t i = 0; i < p_.types[type].constructors[0].fields.size(); ++i) {
    const ir::FieldType field = p_.types[type].constructors[0].fields[i];
    if (!Active(field.type.type)) continue;
    row.name += fmt::format("{}{}", row.fields.empty() ? "" : ",", next);
    if (IsRecord(field.type.type)) row.name += fmt::format("+{}", WeightsIn(field.type.type));
    next += WeightsIn(field.type.type);
    row.fields.push_back({Strict(FieldCotangent(type, 0, i)), true, ""});
  }
  return {{"zero#", {}}, std::move(row)};
}

// The constructor of these fields and this name; of those with other fields apostrophes tell it apart.
uint32_t GradientTypes::RowNamed(ir::TypeId cotangent, std::string name, llvm::ArrayRef<ir::TypeId> fields) {
  std::vector<ir::Constructor>& rows = p_.types[cotangent].constructors;
  for (;; name += '\'') {
    auto row = llvm::find_if(rows, [&](const ir::Constructor& con) { return con.name == name; });
    if (row == rows.end()) break;
    if (llvm::equal(row->fields, fields, [](const ir::FieldType& field, ir::TypeId type) { return field.type.type == type; }))
      return static_cast<uint32_t>(row - rows.begin());
  }
  ir::Constructor made{std::move(name), {}};
  for (ir::TypeId field : fields) made.fields.push_back({Strict(field), true, ""});
  rows.push_back(std::move(made));
  return static_cast<uint32_t>(rows.size() - 1);
}

// Appends what a value gives to a record's weights from `weight` on. What is written out in this function is taken apart: it need not be built.
void GradientTypes::ListParts(const Writer& w, Value value, uint32_t weight, std::vector<RecordPart>& parts) const {
  const ir::TypeId type = w.TypeOf(value).type;
  const Node& node = w.function().nodes[value.node];
  const bool written = node.kind == NodeKind::Op && node.op == ir::Op::Construct, record = ir::IsSumRecord(p_.types, type);
  auto whole = [&] {
    auto known = record_of_.find(type.index);
    parts.push_back({known == record_of_.end() ? 0 : WeightsIn(known->second), weight, {value}});
  };
  if (!written || (!record && !IsSum(type))) return whole();
  const ir::Constructor& row = p_.types[type].constructors[node.attr];
  if (row.fields.empty()) return;
  if (ir::ReadSumPart(row.name)) return whole();
  if (!record) {
    bool sum = row.fields[0].type.type == type;
    if (!sum) return parts.push_back({0, weight, Values(node.operands.begin(), node.operands.end())});
    for (Value operand : node.operands) ListParts(w, operand, weight, parts);
    return;
  }
  llvm::SmallVector<ir::SumItem, 8> items;
  ir::ReadSumItems(row.name, &items);
  const Value* next = node.operands.begin();
  for (const ir::SumItem& item : items) {
    if (item.kind == ir::SumItem::Kind::Pair) {
      parts.push_back({0, weight + item.weight, {next[0], next[1]}});
      next += 2;
    } else {
      ListParts(w, *next++, weight + item.weight, parts);
    }
  }
}

Value GradientTypes::Record(Writer& w, ir::TypeId type, llvm::ArrayRef<RecordPart> parts) {
  const ir::TypeId cotangent = Cotangent(type);
  const uint32_t all = WeightsIn(type);
  auto is_whole = [&](const RecordPart& part) { return part.weights == all && w.TypeOf(part.fields[0]).type == cotangent; };
  if (parts.empty()) return ZeroOf(w, cotangent);
  if (parts.size() == 1 && is_whole(parts[0])) return parts[0].fields[0];
  std::vector<Value> made;
  std::string name;
  Values fields;
  auto construct = [&] {
    llvm::SmallVector<ir::TypeId, 8> types;
    for (Value field : fields) types.push_back(w.TypeOf(field).type);
    made.push_back(w.Construct(cotangent, RowNamed(cotangent, "add#" + name, types), fields));
    name.clear();
    fields.clear();
  };
  for (const RecordPart& part : parts) {
    if (fields.size() + part.fields.size() > kMostInRecord) construct();
    if (!name.empty()) name += ',';
    if (is_whole(part)) name += '=';
    else name += fmt::format("{}", part.weight);
    if (part.fields.size() == 2) name += '*';
    else if (!is_whole(part) && part.weights) name += fmt::format("+{}", part.weights);
    fields.append(part.fields.begin(), part.fields.end());
  }
  construct();
  if (made.size() == 1) return made[0];
  std::vector<RecordPart> wholes;
  for (Value value : made) wholes.push_back({all, 0, {value}});
  return Record(w, type, wholes);
}

Value GradientTypes::AddRecords(Writer& w, ir::TypeId type, llvm::ArrayRef<Value> records, llvm::ArrayRef<std::optional<Value>> fields) {
  std::vector<RecordPart> parts;
  for (Value record : records) ListParts(w, record, 0, parts);
  for (uint32_t i = 0; i < fields.size(); ++i)
    if (fields[i]) ListParts(w, *fields[i], FirstWeight(type, i), parts);
  return Record(w, type, parts);
}

Value GradientTypes::FieldOfRecord(Writer& w, ir::TypeId type, Value record, uint32_t field) {
  const ir::TypeId from = Cotangent(type), to = p_.types[from].constructors[1].fields[field].type.type;
  return w.Construct(to, RowNamed(to, fmt::format("part#{}", FirstWeight(type, field)), from), record);
}

}  // namespace df::fg
