#include "runtime/engines/tagged/exec/frameless_ahead.h"

#include "runtime/engines/tagged/exec/worker.h"

#include <algorithm>

namespace df::tagged {

using namespace frameless;

namespace frameless {

Made Construct(const Value* constants, const uint32_t* list, uint32_t fields, uint32_t constructor,
                                 const Slots& slots, uint64_t owned) {
  Data* data = Data::NewRaw(constructor, fields);
  Value* to = data->fields();
  for (const uint32_t* end = list + fields; list != end; ++list, ++to) owned = PutOperand(constants, slots, *list, to, owned);
  return {data, owned};
}

Made ConstructAllButLast(const Value* constants, const uint32_t* list, uint32_t fields, uint32_t constructor,
                                           const Slots& slots, uint64_t owned) {
  Data* data = Data::NewRaw(constructor, fields);
  Value* to = data->fields();
  for (const uint32_t* end = list + fields - 1; list != end; ++list, ++to)
    owned = PutOperand(constants, slots, *list, to, owned);
  ::new (to) Value();
  return {data, owned};
}

}  // namespace frameless

Made Ahead::MakeCell(const SiteCode& site, const uint32_t* list, const Slots& slots, Path& path, uint64_t owned) {
  DelayCell* cell = worker.NewScheduledCell(path.Tag(), &site);
  ++cells;
  Value* to = cell->operands();
  const Value* constants = worker.constants.data();
  for (uint32_t i = 0, count = cell->num_operands(); i < count; ++i) owned = PutOperand(constants, slots, list[i], to + i, owned);
  if (&site == chain) cell->set_ahead(fuel ? level : std::min(level + 1, kMostAhead));
  return {cell, owned};
}

}  // namespace df::tagged
