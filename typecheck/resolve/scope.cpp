// Imports and exports: what is in scope in a module, and what it offers.
#include "typecheck/resolve/scope.h"

#include "typecheck/explain/name.h"
#include "typecheck/explain/usual_module.h"
#include "typecheck/resolve/find.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

template <typename From> const ast::Name* Select(State& s, const ast::Item& item, const From& from, ModuleExports& out);
void MergeExports(State& s, const ModuleExports& from, const ast::Name& item, ModuleExports& out);
void ReportUnknownExport(State& s, const ast::Name& name);

void ImportAll(State& s, Symbol module, const ModuleExports& exports, Symbol qualifier, bool unqualified) {
  if (s.options.repl) s.env.prompt_imports.push_back({module, qualifier, !unqualified, exports});
  auto add = [&](auto& names, const auto& from) {
    for (const auto& [name, entity] : from) {
      if (!s.options.library && IsLibraryOnly(name)) continue;
      names.Add(name, entity, qualifier);
      if (unqualified) names.Add(name, entity);
    }
  };
  add(s.scope->values, exports.values);
  add(s.scope->constructors, exports.constructors);
  add(s.scope->types, exports.types);
  add(s.scope->classes, exports.classes);
}

void ImportModule(State& s, const ast::Import& import) {
  const ModuleExports* found = FindModule(s, import.module.text);
  if (!found || (!s.options.library && IsInternalModule(Text(import.module.text)))) {
    ReportUnknownModule(s, import);
    return;
  }
  const ModuleExports& all = *found;
  Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
  if (!import.has_items) {
    ImportAll(s, import.module.text, all, qualifier, !import.qualified);
    return;
  }
  ModuleExports chosen;
  for (const ast::Item& item : import.items) {
    if (import.hiding)
      if (const ConId* con = Look(all.constructors, item.name)) chosen.constructors[item.name.text] = *con;
    const ast::Name* unknown = Select(s, item, all, chosen);
    if (!unknown || import.hiding) continue;
    std::vector<std::string_view> names;
    for (const auto& [other, entity] : all.values) names.push_back(Text(other));
    for (const auto& [other, entity] : all.types) names.push_back(Text(other));
    for (const auto& [other, entity] : all.classes) names.push_back(Text(other));
    if (unknown != &item.name)
      for (const auto& [other, entity] : all.constructors) names.push_back(Text(other));
    Diagnostics& diag =
        s.Error(Diag::NotExported, unknown->span, Text(import.module.text), Text(unknown->text));
    std::string_view near = NearestName(Text(unknown->text), names);
    std::string_view wanted = Text(unknown->text);
    std::string_view usual = std::isalpha(static_cast<unsigned char>(wanted[0])) ? UsualModule(wanted, Diag::UnboundName) : "";
    if (wanted == "Tensor") {
      diag.Hint("the type `Tensor` is there without an import");
    } else if (HintAtPrivate(s, import.module.text, unknown->text, Diag::NotExported)) {
    } else if (std::string hint = s.env.own_modules.count(import.module.text) ? "" : NotHereHint(Text(import.module.text), wanted); !hint.empty()) {
      diag.Hint(std::move(hint));
    } else if (!usual.empty() && usual != Text(import.module.text)) {
      diag.Hint(fmt::format("the module `{0}` has it: `import {0} ({1})`", usual, wanted));
    } else if (!near.empty()) {
      diag.Hint(fmt::format("did you mean `{}`?", near));
    }
    // The others of the list are there.
    s.failed_imports.push_back(import);
    s.failed_imports.back().items = llvm::ArrayRef(&item, 1);
  }
  if (!import.hiding) {
    ImportAll(s, import.module.text, chosen, qualifier, !import.qualified);
    return;
  }
  ModuleExports rest = all;
  for (const auto& [name, entity] : chosen.values) rest.values.erase(name);
  for (const auto& [name, entity] : chosen.constructors) rest.constructors.erase(name);
  for (const auto& [name, entity] : chosen.types) rest.types.erase(name);
  for (const auto& [name, entity] : chosen.classes) rest.classes.erase(name);
  ImportAll(s, import.module.text, rest, qualifier, !import.qualified);
}

// What counts as a field of Text.Parsec.Token's GenTokenParser: in the package fields, of types of higher rank among them, here functions.
constexpr const char* kTokenParts[] = {"identifier", "reserved", "operator", "reservedOp", "charLiteral", "stringLiteral", "natural", "integer",
                                       "float", "naturalOrFloat", "decimal", "hexadecimal", "octal", "symbol", "lexeme", "whiteSpace", "parens",
                                       "braces", "angles", "brackets", "squares", "semi", "comma", "colon", "dot", "semiSep", "semiSep1",
                                       "commaSep", "commaSep1"};

bool HasTokenParts(const State& s, const TypeName& type) {
  if (type.is_synonym()) return false;
  const auto& constructors = s.types.cons[type.con].constructors;
  return constructors.size() == 1 && Text(s.program.constructors[constructors[0]].name) == "PrimTokensOf";
}

// Adds what the item of an import or export list names, found in `from`, to `out`. Returns the name that
// is not there, or nullptr.
template <typename From>
const ast::Name* Select(State& s, const ast::Item& item, const From& from, ModuleExports& out) {
  bool known = false;
  // The members that `from` has: all of them, or those that the item lists.
  std::vector<Symbol> members;
  const ClassId* cls = Look(from.classes, item.name);
  const TypeName* type = Look(from.types, item.name);
  if (const VarId* var = Look(from.values, item.name)) out.values[item.name.text] = *var, known = true;
  if (cls) {
    out.classes[item.name.text] = *cls, known = true;
    for (VarId method : s.program.classes[*cls].methods) members.push_back(s.program.vars[method].name);
    for (const TypeFamily& family : s.types.families)
      if (family.owner == cls->index) members.push_back(s.types.cons[family.con].name);
  }
  if (type) {
    out.types[item.name.text] = *type, known = true;
    if (!type->is_synonym())
      for (ConId con : s.types.cons[type->con].constructors) {
        members.push_back(s.program.constructors[con].name);
        for (const core::Field& field : s.program.constructors[con].fields)
          if (field.name.valid()) members.push_back(field.name);
      }
    // The patterns of `Seq` count as its constructors.
    if (HasSequencePatterns(s, *type))
      for (const char* pattern : kSequencePatterns) members.push_back(Intern(pattern));
    if (HasTokenParts(s, *type))
      for (const char* part : kTokenParts) members.push_back(Intern(part));
  }
  // `import Data.Sequence (pattern Empty)`
  if (const ConId* con = Look(from.constructors, item.name); con && IsSequencePattern(s, *con))
    out.constructors[item.name.text] = *con, known = true;
  // `pattern P`
  auto add_synonym = [&](const ast::Name& name) {
    const Symbol matcher = Intern("%" + std::string(Text(name.text)));
    const VarId* var = Look(from.values, {matcher, name.qualifier, name.span});
    if (!var) return false;
    out.values[matcher] = *var;
    if (const VarId* maker = Look(from.values, name)) out.values[name.text] = *maker;
    return true;
  };
  known = add_synonym(item.name) || known;
  if (!known) return &item.name;
  auto add = [&](const ast::Name& member) {
    const VarId* var = Look(from.values, member);
    const ConId* con = Look(from.constructors, member);
    // Something else may have the name here.
    if (var) {
      auto owner = s.env.field_owner.find(var->index);
      bool method = cls && s.program.vars[*var].kind == core::VarKind::Method && s.program.vars[*var].cls == *cls;
      bool part = type && s.program.vars[*var].from_library && HasTokenParts(s, *type);
      if (!method && !part && !(type && owner != s.env.field_owner.end() && owner->second == type->con)) var = nullptr;
    }
    if (con && !IsSequencePattern(s, *con) && !(type && s.program.constructors[*con].tycon == type->con)) con = nullptr;
    if (var) out.values[member.text] = *var;
    if (con) out.constructors[member.text] = *con;
    const TypeName* family = cls ? Look(from.types, member) : nullptr;
    if (family && (family->is_synonym() || s.types.cons[family->con].family == UINT32_MAX || s.types.families[s.types.cons[family->con].family].owner != cls->index))
      family = nullptr;
    if (family) out.types[member.text] = *family;
    return var || con || family;
  };
  // The pattern synonyms that a module of the program has for the type count as its constructors.
  if constexpr (std::is_same_v<From, ModuleExports>)
    if (type && !type->is_synonym() && item.all_members)
      for (const auto& [name, var] : from.values) {
        TypeId of;
        if (Text(name)[0] != '%' || !s.types.IsFun(s.program.vars[var].scheme.type, &of, nullptr) || s.types.Head(of) != type->con) continue;
        add_synonym({Intern(Text(name).substr(1)), item.name.qualifier, item.name.span});
      }
  if (item.all_members)
    for (Symbol member : members) add({member, item.name.qualifier, item.name.span});
  for (const ast::Name& member : item.members)
    if (!(type && add_synonym(member)) && (std::find(members.begin(), members.end(), member.text) == members.end() || !add(member)))
      return &member;
  return nullptr;
}

// `module M` in the export list of a program's module: what is in scope as `x` and as `M.x`.
void ExportInScope(const State& s, Symbol qualifier, ModuleExports& out) {
  auto add = [&](const auto& names, auto& to) {
    names.ForEach([&](Symbol name, const auto& entity) {
      const auto* qualified = names.Find(name, qualifier);
      if (qualified && IsSame(*qualified, entity)) to[name] = entity;
    });
  };
  // Of several imports that bring one name the scope knows the last.
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* exports = FindModule(s, import.module.text);
    if (import.qualified || !exports || (import.as.text.valid() ? import.as : import.module).text != qualifier) continue;
    auto add_provided = [&](const auto& from, auto& to, NameKind kind) {
      for (const auto& [name, entity] : from)
        if (!IsLibraryOnly(name) && Provides(s, import, {name, {}, Span()}, kind)) to[name] = entity;
    };
    add_provided(exports->values, out.values, NameKind::Value);
    add_provided(exports->constructors, out.constructors, NameKind::Constructor);
    add_provided(exports->types, out.types, NameKind::Type);
    add_provided(exports->classes, out.classes, NameKind::Type);
  }
  add(s.scope->values, out.values);
  add(s.scope->constructors, out.constructors);
  add(s.scope->types, out.types);
  add(s.scope->classes, out.classes);
}

// What the library declares can be found by the checker itself; of several with one name the first, which is the Prelude's.
void MakeKnown(State& s) {
  auto enter = [&](auto& names, const auto& from) {
    for (const auto& [name, entity] : from)
      if (!names.Find(name)) names.Add(name, entity);
  };
  enter(s.env.library.values, s.exports.values);
  enter(s.env.library.constructors, s.exports.constructors);
  enter(s.env.library.types, s.exports.types);
  enter(s.env.library.classes, s.exports.classes);
}

const ast::Name* SelectExport(State& s, const ast::Item& item, ModuleExports& out) {
  if (item.name.qualifier.valid() && IsOwnQualifier(s, item.name.qualifier)) {
    ast::Item plain = item;
    plain.name.qualifier = Symbol();
    return Select(s, plain, s.exports, out);
  }
  if (IsAmbiguous(s, &ModuleExports::values, item.name) || IsAmbiguous(s, &ModuleExports::types, item.name) ||
      IsAmbiguous(s, &ModuleExports::classes, item.name))
    return nullptr;
  return Select(s, item, *s.scope, out);
}

// Adds what an item of the export list names to `out`.
void ExportItem(State& s, const ast::Item& item, ModuleExports& out) {
  ModuleExports named;
  if (item.is_module && item.name.text == OwnQualifier(s)) {
    MergeExports(s, s.exports, item.name, out);
  } else if (item.is_module && !s.options.library && IsImportedAs(s, item.name.text)) {
    ExportInScope(s, item.name.text, named);
    MergeExports(s, named, item.name, out);
  } else if (item.is_module && s.options.library && s.env.modules.count(item.name.text)) {
    MergeExports(s, s.env.modules[item.name.text], item.name, out);
  } else if (item.is_module) {
    s.Error(Diag::ExportUnknown, item.name.span, Text(item.name.text));
  } else if (const ast::Name* unknown = SelectExport(s, item, named)) {
    ReportUnknownExport(s, *unknown);
  } else {
    MergeExports(s, named, item.name, out);
  }
}

// Two entities of one name cannot leave a module; classes and types are of one kind here. (The library knows what it does.)
void MergeExports(State& s, const ModuleExports& from, const ast::Name& item, ModuleExports& out) {
  bool told = false;
  auto clash = [&](Symbol name) {
    if (!s.options.library && !std::exchange(told, true)) s.Error(Diag::ExportConflict, item.span, PrintName(name));
  };
  auto add = [&](const auto& names, auto& to) {
    for (const auto& [name, entity] : names)
      if (auto [it, fresh] = to.try_emplace(name, entity); !fresh && !IsSame(it->second, entity)) clash(name);
  };
  add(from.values, out.values);
  add(from.constructors, out.constructors);
  add(from.types, out.types);
  add(from.classes, out.classes);
  for (const auto& [name, type] : from.types)
    if (out.classes.count(name)) clash(name);
  for (const auto& [name, cls] : from.classes)
    if (out.types.count(name)) clash(name);
}

void ReportUnknownExport(State& s, const ast::Name& name) {
  if (MayBeImported(s, name)) {
    ++s.unreported;
    return;
  }
  Diagnostics& diag = s.Error(Diag::ExportUnknown, name.span, Text(name.text));
  std::vector<std::string_view> names;
  for (const auto& [other, var] : s.exports.values) names.push_back(Text(other));
  for (const auto& [other, type] : s.exports.types) names.push_back(Text(other));
  for (const auto& [other, cls] : s.exports.classes) names.push_back(Text(other));
  if (std::string_view near = NearestName(Text(name.text), names); !near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
}

}  // namespace

void OpenScope(State& s) {
  auto builtins = [&](Scope& scope) {
    scope.types = s.env.builtin.types, scope.constructors = s.env.builtin.constructors;
  };
  Symbol prelude = Intern("Prelude");
  const bool implicit = ImportsPrelude(s) && s.env.modules.count(prelude);
  if (s.options.library || s.options.imported) {
    s.scope = &s.own_scope;
    builtins(s.own_scope);
    if (implicit) ImportAll(s, prelude, s.env.modules[prelude], prelude, true);
  } else {
    s.scope = &s.env.user;
    if (!s.env.user_started) {
      s.env.user_started = true;
      builtins(s.env.user);
      if (implicit) ImportAll(s, prelude, s.env.modules[prelude], prelude, true);
    }
  }
  for (const ast::Import& import : s.module.imports) ImportModule(s, import);
}

void Export(State& s) {
  Symbol module = OwnQualifier(s);
  if (s.options.library) MakeKnown(s);
  else s.env.own_declared[module] = s.exports;
  auto& modules = s.options.library ? s.env.modules : s.env.own_modules;
  if (!s.module.has_exports) {
    modules[module] = s.exports;
    return;
  }
  ModuleExports out;
  for (const ast::Item& item : s.module.exports) ExportItem(s, item, out);
  modules[module] = std::move(out);
}

void CheckExports(State& s) {
  ModuleExports out;
  for (const ast::Item& item : s.module.exports) ExportItem(s, item, out);
}

}  // namespace df::check
