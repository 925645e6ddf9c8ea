// See sum_parts.h.
#include "tagged_ir/sum_parts.h"

namespace df::ir {

bool ReadSumItems(llvm::StringRef name, llvm::SmallVectorImpl<SumItem>* items) {
  if (!name.consume_front("add#")) return false;
  for (;;) {
    SumItem item{SumItem::Kind::Whole};
    if (!name.consume_front("=")) {
      if (name.consumeInteger(10, item.weight)) return false;
      item.kind = SumItem::Kind::One;
      if (name.consume_front("*")) item.kind = SumItem::Kind::Pair;
      else if (name.consume_front("+")) {
        if (name.consumeInteger(10, item.count)) return false;
        item.kind = SumItem::Kind::Record;
      }
    }
    items->push_back(item);
    if (!name.consume_front(",")) break;
  }
  return name.ltrim('\'').empty();
}

std::optional<uint32_t> ReadSumPart(llvm::StringRef name) {
  uint32_t weight;
  if (!name.consume_front("part#") || name.consumeInteger(10, weight) || !name.ltrim('\'').empty()) return std::nullopt;
  return weight;
}

bool IsSumRecord(const TypeTable& types, TypeId type) {
  const Type& row = types[type];
  return row.kind == TypeKind::Data && row.constructors.size() > 1 && row.constructors[0].fields.empty() &&
         llvm::StringRef(row.constructors[1].name).starts_with("add#");
}

bool FindSumParts(const TypeTable& types, TypeId type, uint32_t con, uint32_t weight, llvm::SmallVectorImpl<SumPart>* parts) {
  const Constructor& row = types[type].constructors[con];
  auto count = static_cast<uint32_t>(row.fields.size());
  if (count == 0) return true;
  auto is_data = [&](uint32_t field) { return types.Kind(row.fields[field].type.type) == TypeKind::Data; };
  const bool record = IsSumRecord(types, type);
  if (count == 1 && is_data(0) && IsSumRecord(types, row.fields[0].type.type))
    if (std::optional<uint32_t> from = ReadSumPart(row.name)) {
      parts->push_back({0, 1, false, *from + weight});
      return *from + weight >= weight;
    }
  if (!record) {
    if (row.fields[0].type.type != type) parts->push_back({0, count, true, 0});
    else for (uint32_t k = 0; k < count; ++k) parts->push_back({k, 1, false, 0});
    return true;
  }
  llvm::SmallVector<SumItem, 8> items;
  if (!ReadSumItems(row.name, &items)) return false;
  uint32_t field = 0;
  for (const SumItem& item : items) {
    const uint32_t width = item.kind == SumItem::Kind::Pair ? 2 : 1;
    if (field + width > count) return false;
    const TypeId held = row.fields[field].type.type;
    switch (item.kind) {
      case SumItem::Kind::Whole:
        if (held != type) return false;
        parts->push_back({field, 1, false, weight});
        break;
      case SumItem::Kind::Record:
        if (!is_data(field) || !IsSumRecord(types, held)) return false;
        if (weight >= item.weight && weight - item.weight < item.count) parts->push_back({field, 1, false, weight - item.weight});
        break;
      case SumItem::Kind::One:
        if (is_data(field) && IsSumRecord(types, held)) return false;
        if (weight == item.weight) parts->push_back({field, 1, !is_data(field), 0});
        break;
      case SumItem::Kind::Pair:
        if (weight == item.weight) parts->push_back({field, 2, true, 0});
        break;
    }
    field += width;
  }
  return field == count;
}

}  // namespace df::ir
