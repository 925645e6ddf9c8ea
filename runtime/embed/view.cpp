// Results: evaluated to the last part, and looked at.
#include "lang/utf8.h"
#include "runtime/embed/embed_impl.h"
#include "runtime/text/show.h"
#include "runtime/value/tensor.h"
#include "runtime/value/value_type.h"

namespace df {

using ir::TypeKind;

namespace embed {

Core::~Core() { left.clear(); }

void Core::GiveUp(std::vector<Value>& values) {
  std::lock_guard lock(mutex);
  if (running) left.insert(left.end(), std::make_move_iterator(values.begin()), std::make_move_iterator(values.end()));
  values.clear();
}

// A cell that is full stands between a field and its value: the value takes its place. Fields are looked at in the order in which `show`
// prints them, so that of several errors the first is told.
Outcome EvaluateAll(Execution& execution, Value& value, llvm::function_ref<void(const TensorObject& tensor)> each) {
  llvm::SmallVector<Value*, 32> todo{&value};
  while (!todo.empty()) {
    Value& at = *todo.back();
    todo.pop_back();
    if (at.is_word()) continue;
    Value evaluated = at;
    if (Outcome outcome = execution.Force(evaluated); !outcome.ok()) return outcome;
    const bool reference = at.is_reference();
    if (reference) at = std::move(evaluated);
    if (at.is_word()) continue;
    if (TensorObject* tensor = TensorIn(at)) {
      tensor->data();
      each(*tensor);
    }
    if (at.object()->kind != ObjectKind::Data) continue;
    auto* data = static_cast<Data*>(at.object());
    for (uint32_t i = data->size(); i-- > 0;)
      if (!data->fields()[i].is_word()) todo.push_back(&data->fields()[i]);
  }
  return {};
}

}  // namespace embed

// ---------------------------------------------------------------- views

namespace {

const Data& DataOf(const View::Impl& impl) { return *static_cast<const Data*>(impl.value->object()); }

}  // namespace

View::Kind View::kind() const {
  switch (impl_->row().kind) {
    case TypeKind::Bool: return Kind::Bool;
    case TypeKind::Char: return Kind::Char;
    case TypeKind::Int: return Kind::Int;
    case TypeKind::Integer: return Kind::Integer;
    case TypeKind::Float: return Kind::Float;
    case TypeKind::Double: return Kind::Double;
    case TypeKind::Text: return Kind::Text;
    case TypeKind::Tensor: return Kind::Tensor;
    case TypeKind::Data: return Kind::Data;
    default: return Kind::Unit;
  }
}

std::string View::type() const { return impl_->graph().types.Print({impl_->type, false}); }
bool View::boolean() const { return impl_->row().kind == TypeKind::Bool && impl_->value->word() != 0; }
char32_t View::character() const { return impl_->row().kind == TypeKind::Char ? static_cast<char32_t>(impl_->value->word()) : U'\0'; }

std::optional<int64_t> View::integer() const {
  const TypeKind kind = impl_->row().kind;
  if ((kind != TypeKind::Int && kind != TypeKind::Integer) || !impl_->value->is_word()) return std::nullopt;
  return impl_->value->word();
}

double View::real() const {
  switch (impl_->row().kind) {
    case TypeKind::Float: return impl_->value->as_float();
    case TypeKind::Double: return impl_->value->as_double();
    default: return 0;
  }
}

std::optional<std::string> View::text() const {
  if (impl_->row().kind == TypeKind::Text) return std::string(static_cast<const TextObject*>(impl_->value->object())->text());
  ir::ListType list;
  if (!ir::IsText(impl_->graph().types, impl_->type, &list)) return std::nullopt;
  std::string text;
  for (const Value* at = impl_->value; !at->is_word(); at = static_cast<const Data*>(at->object())->fields() + 1)
    AppendUtf8(static_cast<uint32_t>(static_cast<const Data*>(at->object())->fields()->word()), text);
  return text;
}

std::optional<Array> View::array() const {
  if (impl_->row().kind != TypeKind::Tensor) return std::nullopt;
  const auto* tensor = static_cast<const TensorObject*>(impl_->value->object());
  Array array;
  switch (tensor->element()) {
    case TypeKind::Float: array.element = ElementType::Float32; break;
    case TypeKind::Int: array.element = ElementType::Int64; break;
    case TypeKind::Bool: array.element = ElementType::Bool; break;
    default: array.element = ElementType::Float64; break;
  }
  array.shape = tensor->dims().vec();
  array.data = tensor->elements();
  array.owner = std::shared_ptr<const void>(impl_->held, array.data);
  return array;
}

size_t View::constructor_index() const {
  if (impl_->row().kind != TypeKind::Data) return 0;
  return impl_->value->is_word() ? static_cast<size_t>(impl_->value->word()) : DataOf(*impl_).constructor;
}

std::string View::constructor() const { return kind() == Kind::Data ? impl_->row().constructors[constructor_index()].name : ""; }
size_t View::size() const { return kind() == Kind::Data && !impl_->value->is_word() ? DataOf(*impl_).size() : 0; }

View View::field(size_t index) const {
  const ir::TypeId type = impl_->row().constructors[constructor_index()].fields.at(index).type.type;
  return View(std::make_shared<const Impl>(Impl{impl_->held, DataOf(*impl_).fields() + index, type}));
}

std::string View::field_name(size_t index) const {
  return index < size() ? impl_->row().constructors[constructor_index()].fields[index].name : "";
}

bool View::is_list() const {
  ir::ListType list;
  return impl_->row().kind == TypeKind::Data && ListElement(impl_->graph().types, impl_->type, &list).valid();
}

std::vector<View> View::elements() const {
  std::vector<View> elements;
  ir::ListType list;
  if (impl_->row().kind != TypeKind::Data) return elements;
  const ir::TypeId element = ListElement(impl_->graph().types, impl_->type, &list);
  if (!element.valid()) return elements;
  for (const Value* at = impl_->value; !at->is_word(); at = static_cast<const Data*>(at->object())->fields() + 1)
    elements.push_back(View(std::make_shared<const Impl>(Impl{impl_->held, static_cast<const Data*>(at->object())->fields(), element})));
  return elements;
}

// What is shown is copied, which changes counts: not while the run goes on.
std::string View::show() const {
  embed::Evaluated evaluated;
  std::string text;
  llvm::raw_string_ostream out(text);
  Show(evaluated, impl_->graph(), {impl_->type, false}, *impl_->value, out);
  return out.str();
}

}  // namespace df
