// Types of a graph as they are in Python.
#include "python/types.h"

#include "runtime/value/value_type.h"

namespace df::python {

using ir::TypeId;
using ir::TypeKind;

nb::object PythonPart(const char* module, const char* name) { return nb::module_::import_(module).attr(name); }

namespace {

Form FormOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::Bool: return Form::Bool;
    case TypeKind::Char: return Form::Char;
    case TypeKind::Int: return Form::Int;
    case TypeKind::Integer: return Form::Integer;
    case TypeKind::Float: return Form::Float;
    case TypeKind::Double: return Form::Double;
    case TypeKind::Text: return Form::String;
    case TypeKind::Tensor: return Form::Tensor;
    case TypeKind::Data: return Form::Data;
    default: return Form::Unit;
  }
}

ElementType DtypeOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::Float: return ElementType::Float32;
    case TypeKind::Int: return ElementType::Int64;
    case TypeKind::Bool: return ElementType::Bool;
    default: return ElementType::Float64;
  }
}

const char* AnnotationOf(Form form) {
  switch (form) {
    case Form::Bool: return "bool";
    case Form::Int:
    case Form::Integer: return "int";
    case Form::Float:
    case Form::Double: return "float";
    case Form::Char:
    case Form::String: return "str";
    case Form::Tensor: return "numpy.ndarray";
    default: return "tuple";
  }
}

// As Python writes the type. Types inside themselves are named where they are records, else they are tuples.
std::string Annotate(const TypePlan& plan, int nesting = 0) {
  if (nesting > 8) return "Any";
  switch (plan.form) {
    case Form::List: return "list[" + Annotate(*plan.element, nesting + 1) + "]";
    case Form::Maybe: return (plan.marked ? "tuple" : Annotate(*plan.element, nesting + 1)) + " | None";
    case Form::Tuple: {
      std::string inside;
      for (const TypePlan* field : plan.constructors[0].fields) inside += (inside.empty() ? "" : ", ") + Annotate(*field, nesting + 1);
      return "tuple[" + inside + "]";
    }
    case Form::Data: {
      std::string names;
      bool tuples = false;
      for (const ConstructorPlan& constructor : plan.constructors) {
        if (constructor.record.is_valid()) names += (names.empty() ? "" : " | ") + constructor.name;
        else tuples = true;
      }
      return !tuples ? names : names.empty() ? "tuple" : names + " | tuple";
    }
    default: return AnnotationOf(plan.form);
  }
}

}  // namespace

Plans::Plans(const ir::TypeTable& types) {
  plans_.resize(types.size());
  for (uint32_t i = 0; i < types.size(); ++i) Fill(types, TypeId(i));
  // What holds a tensor holds it at any depth.
  for (bool more = true; more;) {
    more = false;
    auto take = [&](TypePlan& plan, const TypePlan* part) {
      if ((part->tensors && !plan.tensors) || (part->texts && !plan.texts)) more = true;
      plan.tensors |= part->tensors;
      plan.texts |= part->texts;
    };
    for (TypePlan& plan : plans_) {
      if (plan.element) take(plan, plan.element);
      for (const ConstructorPlan& constructor : plan.constructors)
        for (const TypePlan* field : constructor.fields) take(plan, field);
    }
  }
  for (TypePlan& plan : plans_)
    if (plan.form == Form::Data) MakeClasses(plan);
  for (TypePlan& plan : plans_) plan.annotation = Annotate(plan);
}

void Plans::Fill(const ir::TypeTable& types, TypeId id) {
  const ir::Type& type = types[id];
  TypePlan& plan = plans_[id.index];
  plan.name = types.Print({id, false});
  plan.form = FormOf(type.kind);
  plan.texts = plan.form == Form::Char || plan.form == Form::String;
  if (plan.form == Form::Tensor) {
    plan.tensors = true;
    plan.dtype = DtypeOf(type.element);
    plan.dims = type.dims;
  }
  if (plan.form != Form::Data) return;
  ir::ListType list;
  if (ir::IsText(types, id, &list)) {
    plan.form = Form::String;
    plan.texts = true;
    return;
  }
  if (TypeId element = ListElement(types, id, &list); element.valid()) {
    plan.form = Form::List;
    plan.element = &plans_[element.index];
    return;
  }
  if (TypeId element = MaybeElement(types, id, &plan.nothing, &plan.just); element.valid()) {
    plan.form = Form::Maybe;
    plan.element = &plans_[element.index];
    uint32_t nothing, just;
    plan.marked = MaybeElement(types, element, &nothing, &just).valid();
    plan.plain = Presence(types).Always(element);
    return;
  }
  if (type.constructors.size() == 1 && type.constructors[0].name.starts_with("(,")) plan.form = Form::Tuple;
  for (const ir::Constructor& constructor : type.constructors) {
    ConstructorPlan& row = plan.constructors.emplace_back();
    row.name = constructor.name;
    row.tag = Own(PyUnicode_FromStringAndSize(row.name.data(), static_cast<Py_ssize_t>(row.name.size())));
    for (const ir::FieldType& field : constructor.fields) {
      row.fields.push_back(&plans_[field.type.type.index]);
      row.field_names.push_back(field.name);
    }
  }
}

void Plans::MakeClasses(TypePlan& plan) {
  for (ConstructorPlan& constructor : plan.constructors) {
    if (constructor.field_names.empty() || constructor.field_names[0].empty()) continue;
    nb::list names;
    for (const std::string& name : constructor.field_names) names.append(nb::str(name.c_str()));
    nb::list annotations;
    for (const TypePlan* field : constructor.fields) annotations.append(nb::str(field->name.c_str()));
    nb::tuple made = nb::cast<nb::tuple>(PythonPart("dfc._values", "record_class")(constructor.tag, names, annotations));
    constructor.record = made[0];
    for (nb::handle name : nb::cast<nb::list>(made[1])) constructor.attributes.push_back(nb::borrow(name));
    classes_[constructor.tag] = constructor.record;
  }
}

}  // namespace df::python
