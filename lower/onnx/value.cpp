// See value.h.
#include "lower/onnx/value.h"

#include <algorithm>

namespace df::to_onnx {
namespace {

std::shared_ptr<Rep> Like(const Rep& rep) {
  auto made = std::make_shared<Rep>();
  made->kind = rep.kind;
  made->type = rep.type;
  return made;
}

bool Known(llvm::ArrayRef<const Rep*> reps) {
  return llvm::all_of(reps, [&](const Rep* rep) { return rep->constructor >= 0 && rep->constructor == reps[0]->constructor; });
}

}  // namespace

Tensor Or(Writer& writer, const Tensor& a, const Tensor& b) {
  if (!a.valid() || (b.valid() && b.id == a.id)) return b;
  if (!b.valid()) return a;
  return writer.Node("Or", {a, b}, Element::Bool, {});
}

Value FailedToo(Writer& writer, const Value& value, const Tensor& failed) {
  if (!value || !failed.valid()) return value;
  auto made = std::make_shared<Rep>(*value);
  made->failed = Or(writer, failed, value->failed);
  return made;
}

Value Join(Writer& writer, llvm::ArrayRef<Value> sides, const JoinLeaf& leaf) {
  std::vector<const Rep*> live;
  for (const Value& side : sides)
    if (side) live.push_back(side.get());
  if (live.empty()) return nullptr;
  auto tensors_of = [&](auto pick) {
    std::vector<Tensor> all;
    for (const Value& side : sides) all.push_back(side ? pick(*side) : Tensor());
    return all;
  };
  auto made = Like(*live[0]);
  if (llvm::any_of(live, [](const Rep* rep) { return rep->failed.valid(); })) {
    Tensor wanted;
    wanted.element = Element::Bool;
    made->failed = leaf(tensors_of([&](const Rep& rep) { return rep.failed.valid() ? rep.failed : writer.Bool(false); }), wanted);
  }
  std::erase_if(live, [](const Rep* rep) { return rep->none; });
  if (live.empty()) {
    made->none = true;
    return made;
  }
  made->kind = live[0]->kind;
  if (made->kind == RepKind::Unit) return made;
  made->possible.assign(live[0]->possible.size(), false);
  for (const Rep* rep : live)
    for (size_t k = 0; k < made->possible.size(); ++k) made->possible[k] = made->possible[k] || rep->possible[k];
  const bool known = live[0]->constructor >= 0 && Known(live);
  if (known) {
    made->constructor = live[0]->constructor;
  } else {
    Tensor wanted = live[0]->tensor;
    if (made->kind == RepKind::Data || live[0]->constructor >= 0) wanted = Tensor();
    made->tensor = leaf(tensors_of([&](const Rep& rep) { return rep.none ? Tensor() : rep.constructor >= 0 ? writer.Int(rep.constructor) : rep.tensor; }), wanted);
  }
  if (made->kind != RepKind::Data) return made;
  made->fields.resize(live[0]->fields.size());
  for (size_t k = 0; k < made->fields.size(); ++k) {
    size_t count = 0;
    for (const Rep* rep : live) count = std::max(count, rep->fields[k].size());
    for (size_t i = 0; i < count; ++i) {
      std::vector<Value> all;
      for (const Value& side : sides) all.push_back(side && !side->none && i < side->fields[k].size() ? side->fields[k][i] : nullptr);
      made->fields[k].push_back(Join(writer, all, leaf));
    }
  }
  return made;
}

Value MapLeaves(const Value& shape, const std::function<Tensor(const Tensor&)>& leaf) {
  if (!shape) return nullptr;
  auto made = std::make_shared<Rep>(*shape);
  if (shape->failed.valid()) made->failed = leaf(shape->failed);
  if (shape->tensor.valid()) made->tensor = leaf(shape->tensor);
  for (auto& fields : made->fields)
    for (Value& field : fields) field = MapLeaves(field, leaf);
  return made;
}

void Flatten(Writer& writer, const Value& shape, const Value& value, std::vector<Tensor>& leaves) {
  if (!shape) return;
  if (shape->failed.valid()) leaves.push_back(value && value->failed.valid() ? value->failed : writer.Bool(false));
  const bool there = value && !value->none;
  if (shape->tensor.valid()) {
    if (!there) leaves.push_back(writer.Zero(shape->tensor.element, shape->tensor.dims));
    else leaves.push_back(value->constructor >= 0 ? writer.Int(value->constructor) : value->tensor);
  }
  for (size_t k = 0; k < shape->fields.size(); ++k)
    for (size_t i = 0; i < shape->fields[k].size(); ++i)
      Flatten(writer, shape->fields[k][i], there && i < value->fields[k].size() ? value->fields[k][i] : nullptr, leaves);
}

bool SameStructure(const Value& a, const Value& b) {
  if (!a || !b) return !a == !b;
  if (a->kind != b->kind || a->none != b->none || a->failed.valid() != b->failed.valid() || a->tensor.valid() != b->tensor.valid() ||
      a->constructor != b->constructor || a->possible != b->possible || a->fields.size() != b->fields.size())
    return false;
  for (size_t k = 0; k < a->fields.size(); ++k) {
    if (a->fields[k].size() != b->fields[k].size()) return false;
    for (size_t i = 0; i < a->fields[k].size(); ++i)
      if (!SameStructure(a->fields[k][i], b->fields[k][i])) return false;
  }
  return true;
}

uint32_t DepthOf(const Value& value) {
  uint32_t depth = 0;
  if (!value) return 0;
  for (const auto& fields : value->fields)
    for (const Value& field : fields) depth = std::max(depth, DepthOf(field) + 1);
  return depth;
}

}  // namespace df::to_onnx
