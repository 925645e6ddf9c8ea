#include "tests/unit/packet/random_values.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "fmt/format.h"
#include "runtime/run/engine_run.h"
#include "runtime/value/integer.h"
#include "runtime/value/tensor.h"

namespace df::test {

using ir::TypeKind;

TestGraph::TestGraph() {
  graph.name = "test";
  ir::ScopeId root = graph.scopes.Add({ir::ScopeKind::Root, "main", {}, {}});
  ir::ScopeId f = graph.scopes.Add({ir::ScopeKind::Function, "f", {}, {}});
  graph.scopes.Add({ir::ScopeKind::Loop, "f.loop", f, {}});
  graph.files = {"test.df"};
  graph.positions.Add({0, 1, 1, "f"});
  graph.positions.Add({0, 2, 2, "f"});
  graph.sites.Add({ir::SiteKind::Call, root, f, {}, {}});
  graph.sites.Add({ir::SiteKind::Call, f, f, {}, {}});
  operands.resize(2);
  delayed.resize(2);
  graph.AddNode(ir::Op::Start, root, {}, {{graph.types.Builtin(TypeKind::Trigger), false}});
}

ir::TypeId TestGraph::Data(std::string name, std::vector<ir::Constructor> constructors) {
  ir::TypeId id = graph.types.AddData(std::move(name));
  graph.types[id].constructors = std::move(constructors);
  return id;
}

ir::TypeId TestGraph::List(ir::TypeId element, std::string name) {
  ir::TypeId list = Data(std::move(name), {});
  graph.types[list].constructors = {{"[]", {}}, {":", {Field(element, true), Field(list, true)}}};
  return list;
}

uint32_t TestGraph::Delay(ir::TypeId result, std::vector<ir::PortType> types) {
  ir::SiteId site = graph.sites.Add({ir::SiteKind::Delay, ir::ScopeId(1), ir::ScopeId(1), {}, {}});
  operands.push_back(std::move(types));
  delayed.push_back(result);
  return site.index;
}

PackReferences::Is TestReferences::Look(const Value& reference, ir::TypeId, Value* value, PackReferences::Call* call, std::string* why) {
  TestCell* cell = TestCellIn(reference);
  if (cell->runs) {
    *why = "a delayed call that runs";
    return Is::NotGivable;
  }
  if (cell->full) {
    *value = cell->value;
    return Is::Value;
  }
  call->site = ir::SiteId(cell->site);
  call->tag = cell->tag;
  call->operands.append(cell->operands.begin(), cell->operands.end());
  call->types = test.operands[cell->site];
  return Is::Delayed;
}

bool TestReferences::Make(ir::SiteId site, TagNode* tag, ir::TypeId type, UnpackReferences::Call* call, std::string* why) {
  TestCell* cell = cells.New(&call->reference);
  cell->tag = tag;
  cell->site = site.index;
  if (test.delayed[site.index] != type) {
    *why = "a site of another type";
    return false;
  }
  cell->operands.resize(test.operands[site.index].size());
  call->operands = cell->operands;
  call->types = test.operands[site.index];
  ++made;
  return true;
}

Value TestReferences::Knot(const Value& object, ir::TypeId) {
  ++knots;
  return cells.Full(object);
}

// ---------------------------------------------------------------- types

void RandomValues::MakeTypes() {
  ir::TypeTable& types = test_.graph.types;
  std::vector<ir::TypeId> all;
  for (TypeKind kind : {TypeKind::Unit, TypeKind::Bool, TypeKind::Char, TypeKind::Int, TypeKind::Integer, TypeKind::Float, TypeKind::Double, TypeKind::Text})
    all.push_back(types.Builtin(kind));
  for (std::vector<int64_t> dims : {std::vector<int64_t>{}, {3}, {0, 2}, {2, 1, 3}, {70, 3}, {70, 60}})
    for (TypeKind element : {TypeKind::Float, TypeKind::Double, TypeKind::Int, TypeKind::Bool})
      if (Below(3) == 0) all.push_back(types.Tensor(element, dims));
  const size_t plain = all.size();
  const uint32_t count = 2 + Below(6);
  for (uint32_t i = 0; i < count; ++i) all.push_back(types.AddData("T" + std::to_string(i)));
  all.push_back(test_.List(all[Below(static_cast<uint32_t>(all.size()))], "[A]"));
  for (size_t t = plain; t + 1 < all.size(); ++t) {
    std::vector<ir::Constructor> constructors(1 + Below(Below(8) == 0 ? 60 : 4));
    for (size_t c = 0; c < constructors.size(); ++c) {
      constructors[c].name = "C" + std::to_string(c);
      constructors[c].fields.resize(Below(Below(30) == 0 ? 400 : 5));
      for (ir::FieldType& field : constructors[c].fields) {
        const uint32_t how = Below(4);
        field = TestGraph::Field(all[Below(static_cast<uint32_t>(all.size()))], how > 1, how == 0);
      }
    }
    types[all[t]].constructors = std::move(constructors);
  }
  MeasureTypes();
  for (int i = 0; i < 12; ++i) {
    std::vector<ir::PortType> operands(Below(4));
    for (ir::PortType& operand : operands) operand = AnyType();
    test_.Delay(all[Below(static_cast<uint32_t>(all.size()))], std::move(operands));
  }
  made_.resize(types.size());
}

// A type of which no value ends gets one more constructor.
void RandomValues::MeasureTypes() {
  constexpr int kNone = 1000;
  ir::TypeTable& types = test_.graph.types;
  heights_.assign(types.size(), kNone);
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t t = 0; t < types.size(); ++t) {
      const ir::Type& type = types[ir::TypeId(t)];
      int least = type.kind == TypeKind::Data ? kNone : 0;
      for (const ir::Constructor& c : type.constructors) {
        int height = 0;
        for (const ir::FieldType& field : c.fields) height = std::max(height, heights_[field.type.type.index] + 1);
        least = std::min(least, height);
      }
      if (least < heights_[t]) {
        heights_[t] = least;
        changed = true;
      }
    }
    for (uint32_t t = 0; !changed && t < types.size(); ++t)
      if (heights_[t] == kNone) {
        types[ir::TypeId(t)].constructors.push_back({"End", {}});
        changed = true;
      }
  }
}

ir::PortType RandomValues::AnyType() {
  const ir::TypeTable& types = test_.graph.types;
  for (;;) {
    ir::TypeId type(Below(types.size()));
    const TypeKind kind = types.Kind(type);
    if (kind != TypeKind::Data && Below(4)) continue;  // most values have several parts
    if (kind != TypeKind::Trigger && kind != TypeKind::Alt && (kind < TypeKind::Activations || kind >= TypeKind::Data)) return {type, Below(2) == 0};
  }
}

// ---------------------------------------------------------------- values

Value RandomValues::Make(ir::PortType type, bool strict, int depth) {
  if (!strict && Below(40) == 0) return MakeError();
  std::vector<Value>& made = made_[type.type.index];
  if (!made.empty() && Below(3) == 0) {
    Value value = made[Below(static_cast<uint32_t>(made.size()))];
    if (!value.is_reference() || type.lazy) return value;
  }
  Value value;
  if (type.lazy && Below(5) == 0 && depth > 0) {
    TestCell* cell = cells_.New(&value);
    std::vector<uint32_t> sites;
    for (uint32_t s = 0; s < test_.delayed.size(); ++s)
      if (test_.delayed[s] == type.type) sites.push_back(s);
    if (sites.empty() || Below(2) == 0) {
      cell->full = true;
      cell->value = MakeOf(type.type, depth - 1);
    } else {
      cell->site = sites[Below(static_cast<uint32_t>(sites.size()))];
      cell->tag = MakeTag();
      if (Below(2) == 0) made.push_back(value);  // may hold itself
      cell->operands.resize(test_.operands[cell->site].size());
      for (size_t i = 0; i < cell->operands.size(); ++i) {
        Value operand = Make(test_.operands[cell->site][i], false, depth - 1);
        cell->operands[i] = std::move(operand);
      }
    }
  } else {
    value = MakeOf(type.type, depth);
  }
  if (value.counted() && Below(2) == 0) made.push_back(value);
  return value;
}

Value RandomValues::MakeOf(ir::TypeId id, int depth) {
  const ir::Type& type = test_.graph.types[id];
  auto word = [&] { return static_cast<int64_t>(Below(3) == 0 ? random_() >> Below(64) : Below(40)); };
  switch (type.kind) {
    case TypeKind::Bool: return Value::Word(Below(2));
    case TypeKind::Char: return Value::Word(Below(2) ? Below(0x110000) : Below(128));
    case TypeKind::Int: return Value::Word(Below(2) ? word() : -word());
    case TypeKind::Float: return Value::Word(static_cast<int64_t>(random_() & 0xFFFFFFFF));
    case TypeKind::Double: return Value::Word(static_cast<int64_t>(random_()));
    case TypeKind::Integer: {
      Value value = Value::Word(Below(2) ? word() : -word());
      for (uint32_t i = Below(2) * Below(12); i > 0; --i) value = integer::Mul(value, Value::Word(static_cast<int64_t>(random_())), 1 << 20);
      return value;
    }
    case TypeKind::Text: {
      std::string text;
      for (uint32_t i = Below(Below(10) == 0 ? 3000 : 10); i > 0; --i) text += Below(4) ? "a" : "\u00e9\u4e2d";
      return Value::Adopt(ValueKind::Object, new TextObject(text));
    }
    case TypeKind::Tensor: return MakeTensorOf(type);
    case TypeKind::Data: break;
    default: return Value::Word(0);
  }
  auto height = [&](const ir::Constructor& c) {
    int most = 0;
    for (const ir::FieldType& field : c.fields) most = std::max(most, heights_[field.type.type.index] + 1);
    return most;
  };
  uint32_t chosen = Below(static_cast<uint32_t>(type.constructors.size()));
  if (depth <= 0)
    for (uint32_t c = 0; c < type.constructors.size(); ++c)
      if (height(type.constructors[c]) < height(type.constructors[chosen])) chosen = c;
  const auto size = static_cast<uint32_t>(type.constructors[chosen].fields.size());
  if (size == 0) return Value::Word(chosen);
  Value value = Value::Adopt(ValueKind::Object, Data::New(chosen, size));
  auto* data = static_cast<Data*>(value.object());
  for (uint32_t i = 0; i < size; ++i) {
    const ir::FieldType& field = type.constructors[chosen].fields[i];
    data->fields()[i] = Make(field.type, field.strict, size > 10 ? 0 : depth - 1);
  }
  // A lazy field of the same type may lead back.
  if (depth > 0 && Below(20) == 0)
    for (uint32_t i = 0; i < size; ++i) {
      const ir::FieldType& field = type.constructors[chosen].fields[i];
      if (!field.type.lazy || field.type.type != id) continue;
      data->fields()[i] = cells_.Full(value);
      break;
    }
  return value;
}

Value RandomValues::MakeError() {
  if (!errors_.empty() && Below(2) == 0) return errors_[Below(static_cast<uint32_t>(errors_.size()))];
  auto* error = new ErrorObject(static_cast<ErrorCode>(Below(6)), Below(2) ? "wrong" : "", Below(2) ? ir::NodeId(0) : ir::NodeId(),
                                Below(2) ? ir::PosId(Below(2)) : ir::PosId());
  Value value = Value::Adopt(ValueKind::Error, error);
  if (TagNode* tag = MakeTag()) {
    error->tag = new TagNodeCell(tag);
    DropTag(tag);
  }
  if (Below(2) == 0) errors_.push_back(value);
  return value;
}

TagNode* RandomValues::MakeTag() {
  TagNode* tag = tags_.empty() || Below(3) == 0 ? nullptr : HoldTag(tags_[Below(static_cast<uint32_t>(tags_.size()))]);
  for (uint32_t i = Below(Below(4) == 0 ? 300 : 8); i > 0; --i) {
    Label label = Below(4) == 0 ? Label{2, true, random_() >> Below(64)} : Label{Below(2), false, 0};
    TagNode* next = NewTag(label, tag);
    DropTag(tag);
    tag = next;
  }
  if (tag && Below(2) == 0) tags_.push_back(HoldTag(tag));
  return tag;
}

Value RandomValues::MakeTensorOf(const ir::Type& type) {
  const bool floating = type.element == TypeKind::Float || type.element == TypeKind::Double;
  if (floating && !type.dims.empty() && type.dims[0] > 3 && Below(2) == 0) {
    const size_t width = ir::BytesOf(type) / static_cast<size_t>(type.dims[0]);
    std::vector<int64_t> indices(static_cast<size_t>(type.dims[0]));
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<int64_t>(i);
    std::shuffle(indices.begin(), indices.end(), random_);
    indices.resize(Below(4));
    TensorRows* rows = TensorRows::New(indices.size(), width);
    std::copy(indices.begin(), indices.end(), rows->indices());
    for (size_t i = 0; i < indices.size() * width; ++i) rows->row(0)[i] = static_cast<char>(random_());
    return Value::Adopt(ValueKind::Object, new TensorObject(type, rows));
  }
  Value value = MakeTensor(type.element, type.dims);
  TensorObject& tensor = *TensorIn(value);
  for (size_t i = 0; i < tensor.bytes(); ++i) tensor.data()[i] = static_cast<char>(type.element == TypeKind::Bool ? Below(2) : random_());
  return value;
}

// ---------------------------------------------------------------- comparison

namespace {

std::vector<std::string> PathOf(const TagNode* tag) {
  RuntimeError error;
  FillPath(tag, error);
  std::vector<std::string> path = {fmt::format("{} labels, gap {}", error.path_length, error.path_gap)};
  for (const PathEntry& entry : error.path) path.push_back(fmt::format("{} {} {}", entry.site.index, entry.loop.index, entry.iteration));
  return path;
}

Value Followed(Value value) {
  for (TestCell* cell = TestCellIn(value); cell && cell->full; cell = TestCellIn(value)) value = Value(cell->value);
  return value;
}

}  // namespace

std::string Difference(const Value& first, const Value& second, size_t* count, bool sharing) {
  std::map<const Object*, const Object*> of_a, of_b;
  std::vector<std::pair<Value, Value>> todo = {{first, second}};
  while (!todo.empty()) {
    auto [a, b] = std::move(todo.back());
    todo.pop_back();
    a = Followed(std::move(a));
    b = Followed(std::move(b));
    if (a.kind() != b.kind()) return fmt::format("kinds {} and {}", static_cast<int>(a.kind()), static_cast<int>(b.kind()));
    if (!a.counted()) {
      if (a.word() != b.word()) return fmt::format("words {} and {}", a.word(), b.word());
      continue;
    }
    if (a.object()->kind != b.object()->kind) return "kinds of objects";
    auto [in_a, fresh_a] = of_a.try_emplace(a.object(), b.object());
    auto [in_b, fresh_b] = of_b.try_emplace(b.object(), a.object());
    if (sharing && (in_a->second != b.object() || in_b->second != a.object())) return "one is shared where the other is not";
    if (!fresh_a && !fresh_b) continue;
    switch (a.object()->kind) {
      case ObjectKind::Data: {
        auto *x = static_cast<Data*>(a.object()), *y = static_cast<Data*>(b.object());
        if (x->constructor != y->constructor || x->size() != y->size()) return "constructors";
        for (uint32_t i = 0; i < x->size(); ++i) todo.emplace_back(x->fields()[i], y->fields()[i]);
        break;
      }
      case ObjectKind::Text:
        if (static_cast<TextObject*>(a.object())->text() != static_cast<TextObject*>(b.object())->text()) return "texts";
        break;
      case ObjectKind::BigInteger:
        if (integer::Compare(a, b) != 0) return "Integers";
        break;
      case ObjectKind::Tensor: {
        TensorObject &x = *TensorIn(a), &y = *TensorIn(b);
        if (x.element() != y.element() || x.dims() != y.dims() || !x.rows() != !y.rows()) return "shapes of tensors";
        if (TensorRows *p = x.rows(), *q = y.rows(); p) {
          if (p->count != q->count || p->row_bytes != q->row_bytes || std::memcmp(p->indices(), q->indices(), p->count * 8) != 0 ||
              std::memcmp(p->row(0), q->row(0), p->count * p->row_bytes) != 0)
            return "rows of tensors";
        } else if (x.bytes() && std::memcmp(x.data(), y.data(), x.bytes()) != 0) {
          return "elements of tensors";
        }
        break;
      }
      case ObjectKind::Error: {
        auto *x = static_cast<ErrorObject*>(a.object()), *y = static_cast<ErrorObject*>(b.object());
        if (x->code != y->code || x->message != y->message || x->node != y->node || x->pos != y->pos) return "errors";
        if (PathOf(TagOfError(a)) != PathOf(TagOfError(b))) return "tags of errors";
        break;
      }
      case ObjectKind::Cell: {
        TestCell *x = TestCellIn(a), *y = TestCellIn(b);
        if (x->site != y->site || x->operands.size() != y->operands.size()) return "delayed calls";
        if (PathOf(x->tag) != PathOf(y->tag)) return "tags of delayed calls";
        for (size_t i = 0; i < x->operands.size(); ++i) todo.emplace_back(x->operands[i], y->operands[i]);
        break;
      }
      default: return "an object of no kind that is packed";
    }
  }
  if (count) *count = of_a.size();
  return "";
}

}  // namespace df::test
