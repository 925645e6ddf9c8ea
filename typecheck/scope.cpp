// Imports, look-up of names, and what is reported when there is none.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// `primIntAdd`: names that the library keeps to itself.
bool IsLibraryOnly(Symbol name) {
  std::string_view text = Text(name);
  return text.size() > 4 && text.substr(0, 4) == "prim" && text[4] >= 'A' && text[4] <= 'Z';
}

}  // namespace

void Checker::OpenScope() {
  auto builtins = [&](Scope& scope) {
    scope.types = env_.builtin.types, scope.constructors = env_.builtin.constructors;
  };
  Symbol prelude = Intern("Prelude");
  bool names_prelude = false;
  for (const ast::Import& import : module_.imports) names_prelude |= import.module.text == prelude;
  if (options_.library) {
    scope_ = &own_scope_;
    builtins(own_scope_);
    if (module_.name.text != prelude && !names_prelude && env_.modules.count(prelude))
      ImportAll(env_.modules[prelude], prelude, true);
  } else {
    scope_ = &env_.user;
    if (!env_.user_started) {
      env_.user_started = true;
      builtins(env_.user);
      if (!names_prelude && env_.modules.count(prelude)) ImportAll(env_.modules[prelude], prelude, true);
    }
  }
  for (const ast::Import& import : module_.imports) ImportModule(import);
}

void Checker::ImportAll(const ModuleExports& exports, Symbol qualifier, bool unqualified) {
  auto add = [&](auto& names, const auto& from) {
    for (const auto& [name, entity] : from) {
      if (!options_.library && IsLibraryOnly(name)) continue;
      names.Add(name, entity, qualifier);
      if (unqualified) names.Add(name, entity);
    }
  };
  add(scope_->values, exports.values);
  add(scope_->constructors, exports.constructors);
  add(scope_->types, exports.types);
  add(scope_->classes, exports.classes);
}

void Checker::ImportModule(const ast::Import& import) {
  auto found = env_.modules.find(import.module.text);
  if (found == env_.modules.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, exports] : env_.modules) names.push_back(Text(name));
    Diagnostics& diag = Error(Diag::UnknownModule, import.module.span, Text(import.module.text));
    std::string_view near = NearestName(Text(import.module.text), names);
    if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
    return;
  }
  const ModuleExports& all = found->second;
  Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
  if (!import.has_items) {
    ImportAll(all, qualifier, !import.qualified);
    return;
  }
  // What the items name, with the members that `T(..)` brings along.
  ModuleExports chosen;
  for (const ast::ImportItem& item : import.items) {
    Symbol name = item.name.text;
    bool known = false;
    if (auto it = all.values.find(name); it != all.values.end()) chosen.values.insert(*it), known = true;
    if (auto it = all.classes.find(name); it != all.classes.end()) {
      chosen.classes.insert(*it), known = true;
      if (item.with_members)
        for (VarId method : program_.classes[it->second].methods)
          chosen.values[program_.vars[method].name] = method;
    }
    if (auto it = all.types.find(name); it != all.types.end()) {
      chosen.types.insert(*it), known = true;
      if (item.with_members && !it->second.is_synonym())
        for (ConId con : types_.cons[it->second.con].constructors) {
          chosen.constructors[program_.constructors[con].name] = con;
          for (const core::Field& field : program_.constructors[con].fields)
            if (auto selector = all.values.find(field.name); selector != all.values.end())
              chosen.values.insert(*selector);
        }
    }
    if (import.hiding && all.constructors.count(name))
      chosen.constructors.insert(*all.constructors.find(name)), known = true;
    if (!known && !import.hiding) {
      std::vector<std::string_view> names;
      for (const auto& [other, entity] : all.values) names.push_back(Text(other));
      for (const auto& [other, entity] : all.types) names.push_back(Text(other));
      Diagnostics& diag = Error(Diag::NotExported, item.name.span, Text(import.module.text), Text(name));
      std::string_view near = NearestName(Text(name), names);
      if (!near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
    }
  }
  if (!import.hiding) {
    ImportAll(chosen, qualifier, !import.qualified);
    return;
  }
  ModuleExports rest = all;
  for (const auto& [name, entity] : chosen.values) rest.values.erase(name);
  for (const auto& [name, entity] : chosen.constructors) rest.constructors.erase(name);
  for (const auto& [name, entity] : chosen.types) rest.types.erase(name);
  for (const auto& [name, entity] : chosen.classes) rest.classes.erase(name);
  ImportAll(rest, qualifier, !import.qualified);
}

// A library module offers what its export list names, or all that it declares. Everything it declares can
// be found by the checker itself.
void Checker::Export() {
  Symbol module = module_.name.text.valid() ? module_.name.text : Intern("Main");
  auto enter = [&](auto& names, const auto& from) {
    for (const auto& [name, entity] : from) names.Add(name, entity);
  };
  enter(env_.library.values, exports_.values);
  enter(env_.library.constructors, exports_.constructors);
  enter(env_.library.types, exports_.types);
  enter(env_.library.classes, exports_.classes);
  ModuleExports& out = env_.modules[module];
  if (module_.exports.empty()) {
    out = exports_;
    return;
  }
  for (const ast::Name& item : module_.exports) {
    bool known = false;
    if (const VarId* var = scope_->values.Find(item.text)) out.values[item.text] = *var, known = true;
    if (const ClassId* cls = scope_->classes.Find(item.text)) {
      out.classes[item.text] = *cls, known = true;
      for (VarId method : program_.classes[*cls].methods) out.values[program_.vars[method].name] = method;
    }
    if (const TypeName* type = scope_->types.Find(item.text)) {
      out.types[item.text] = *type, known = true;
      if (!type->is_synonym())
        for (ConId con : types_.cons[type->con].constructors) {
          out.constructors[program_.constructors[con].name] = con;
          for (const core::Field& field : program_.constructors[con].fields)
            if (field.name.valid())
              if (const VarId* selector = scope_->values.Find(field.name)) out.values[field.name] = *selector;
        }
    }
    if (auto other = env_.modules.find(item.text); other != env_.modules.end() && item.text != module) {
      out.values.insert(other->second.values.begin(), other->second.values.end());
      out.constructors.insert(other->second.constructors.begin(), other->second.constructors.end());
      out.types.insert(other->second.types.begin(), other->second.types.end());
      out.classes.insert(other->second.classes.begin(), other->second.classes.end());
      known = true;
    }
    if (!known) Error(Diag::ExportUnknown, item.span, Text(item.text));
  }
}

// A program's export list is for people, but may not lie.
void Checker::CheckExports() {
  for (const ast::Name& item : module_.exports)
    if (!scope_->values.Find(item.text, item.qualifier) && !scope_->types.Find(item.text, item.qualifier) &&
        !scope_->classes.Find(item.text, item.qualifier) && !env_.modules.count(item.text) &&
        item.text != module_.name.text)
      Error(Diag::ExportUnknown, item.span, Text(item.text));
}

void Checker::BindLocal(Symbol name, VarId var) {
  locals_[name.index].push_back(var);
  local_trail_.push_back(name);
}

void Checker::UnbindTo(size_t mark) {
  while (local_trail_.size() > mark) {
    locals_[local_trail_.back().index].pop_back();
    local_trail_.pop_back();
  }
}

void Checker::ReportUnbound(Diag id, const ast::Name& name, const std::vector<std::string_view>& candidates) {
  // A missing type is usually missing in many signatures: the first of them is enough.
  if (id != Diag::UnboundName && id != Diag::UnboundConstructor &&
      !unbound_types_.insert({static_cast<uint32_t>(id), name.text.index}).second && diags_.has_errors())
    return;
  std::string text(Text(name.text));
  if (name.qualifier.valid()) text = std::string(Text(name.qualifier)) + "." + text;
  Diagnostics& diag = Error(id, name.span, text);
  std::string_view near = NearestName(Text(name.text), candidates);
  if (!near.empty() && near != Text(name.text)) {
    diag.Hint(fmt::format("did you mean `{}`?", near));
    return;
  }
  for (const auto& [module, exports] : env_.modules)
    if (exports.values.count(name.text) || exports.constructors.count(name.text) ||
        exports.types.count(name.text) || exports.classes.count(name.text)) {
      diag.Hint(fmt::format("the module `{0}` has it: add `import {0}`", Text(module)));
      return;
    }
}

VarId Checker::FindValue(const ast::Name& name, bool report) {
  if (name.qualifier.valid() && name.qualifier == generated_qualifier_)
    return KnownVar(Text(name.text).data());
  if (!name.qualifier.valid()) {
    auto it = locals_.find(name.text.index);
    if (it != locals_.end() && !it->second.empty()) return it->second.back();
  }
  if (const VarId* var = scope_->values.Find(name.text, name.qualifier)) return *var;
  if (!report) return VarId();
  std::vector<std::string_view> names;
  for (const auto& [symbol, vars] : locals_)
    if (!vars.empty()) names.push_back(Text(Symbol(symbol)));
  scope_->values.ForEach([&](Symbol other, VarId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  ReportUnbound(Diag::UnboundName, name, names);
  return VarId();
}

ConId Checker::FindConstructor(const ast::Name& name, bool report) {
  if (name.qualifier.valid() && name.qualifier == generated_qualifier_)
    return KnownCon(Text(name.text).data());
  if (const ConId* con = scope_->constructors.Find(name.text, name.qualifier)) return *con;
  std::string_view text = Text(name.text);
  if (text.size() >= 3 && text[0] == '(' && text[1] == ',')
    return TupleConstructor(env_, program_, static_cast<uint32_t>(text.size() - 1));
  if (!report) return ConId();
  std::vector<std::string_view> names;
  scope_->constructors.ForEach([&](Symbol other, ConId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  ReportUnbound(Diag::UnboundConstructor, name, names);
  return ConId();
}

const TypeName* Checker::FindType(const ast::Name& name) {
  if (name.qualifier.valid() && name.qualifier == generated_qualifier_)
    return env_.builtin.types.Find(name.text);
  if (const TypeName* type = scope_->types.Find(name.text, name.qualifier)) return type;
  std::vector<std::string_view> names;
  scope_->types.ForEach([&](Symbol other, const TypeName&) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  if (!name.qualifier.valid() && scope_->classes.Find(name.text)) {
    Error(Diag::ClassAsType, name.span, Text(name.text))
        .Hint(fmt::format("a class stands in a context: `{} a => ..`", Text(name.text)));
    return nullptr;
  }
  ReportUnbound(Diag::UnboundType, name, names);
  return nullptr;
}

ClassId Checker::FindClass(const ast::Name& name) {
  if (const ClassId* cls = scope_->classes.Find(name.text, name.qualifier)) return *cls;
  std::vector<std::string_view> names;
  scope_->classes.ForEach([&](Symbol other, ClassId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  ReportUnbound(Diag::UnboundClass, name, names);
  return ClassId();
}

// While a library module is checked, its own declarations and imports come first: the library has no other
// names for what it is just defining.
VarId Checker::KnownVar(const char* name) {
  Symbol symbol = Intern(name);
  if (options_.library)
    if (const VarId* var = scope_->values.Find(symbol)) return *var;
  const VarId* var = env_.library.values.Find(symbol);
  return var ? *var : VarId();
}

ClassId Checker::KnownClass(const char* name) {
  Symbol symbol = Intern(name);
  if (options_.library)
    if (const ClassId* cls = scope_->classes.Find(symbol)) return *cls;
  const ClassId* cls = env_.library.classes.Find(symbol);
  return cls ? *cls : ClassId();
}

ConId Checker::KnownCon(const char* name) {
  Symbol symbol = Intern(name);
  if (const ConId* con = env_.builtin.constructors.Find(symbol)) return *con;
  if (options_.library)
    if (const ConId* con = scope_->constructors.Find(symbol)) return *con;
  const ConId* con = env_.library.constructors.Find(symbol);
  return con ? *con : ConId();
}

VarId Checker::Needed(const char* name, const char* construct, Span span) {
  VarId var = KnownVar(name);
  if (!var.valid()) Error(Diag::ConstructUnavailable, span, construct, name);
  return var;
}

}  // namespace df::check
