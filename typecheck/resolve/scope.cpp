// Imports, look-up of names, and what is reported when there is none.
#include "typecheck/checker.h"
#include "typecheck/explain/usual_module.h"
#include "typecheck/stack_class.h"

namespace df::check {

bool IsLibraryOnly(Symbol name) {
  std::string_view text = Text(name);
  return text.size() > 4 && (text.starts_with("prim") || text.starts_with("Prim")) && text[4] >= 'A' && text[4] <= 'Z';
}

bool IsInternalModule(std::string_view name) { return name.starts_with("Prelude."); }

namespace {

template <typename T>
const T* Look(const Names<T>& names, const ast::Name& name) {
  return names.Find(name.text, name.qualifier);
}
template <typename T>
const T* Look(const std::map<Symbol, T>& names, const ast::Name& name) {
  auto it = names.find(name.text);
  return it == names.end() ? nullptr : &it->second;
}

}  // namespace

bool Checker::ImportsPrelude() const {
  const Symbol prelude = Intern("Prelude");
  return module_.name.text != prelude && !HasExtension("NoImplicitPrelude") &&
         llvm::none_of(module_.imports, [&](const ast::Import& import) { return import.module.text == prelude; });
}

void Checker::OpenScope() {
  auto builtins = [&](Scope& scope) {
    scope.types = env_.builtin.types, scope.constructors = env_.builtin.constructors;
  };
  Symbol prelude = Intern("Prelude");
  const bool implicit = ImportsPrelude() && env_.modules.count(prelude);
  if (options_.library || options_.imported) {
    scope_ = &own_scope_;
    builtins(own_scope_);
    if (implicit) ImportAll(prelude, env_.modules[prelude], prelude, true);
  } else {
    scope_ = &env_.user;
    if (!env_.user_started) {
      env_.user_started = true;
      builtins(env_.user);
      if (implicit) ImportAll(prelude, env_.modules[prelude], prelude, true);
    }
  }
  for (const ast::Import& import : module_.imports) ImportModule(import);
}

void Checker::ImportAll(Symbol module, const ModuleExports& exports, Symbol qualifier, bool unqualified) {
  if (options_.repl) env_.prompt_imports.push_back({module, qualifier, !unqualified, exports});
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

const ModuleExports* Checker::FindModule(Symbol name) const {
  if (!options_.library)
    if (auto own = env_.own_modules.find(name); own != env_.own_modules.end()) return &own->second;
  auto found = env_.modules.find(name);
  return found == env_.modules.end() ? nullptr : &found->second;
}

void Checker::ImportModule(const ast::Import& import) {
  const ModuleExports* found = FindModule(import.module.text);
  if (!found || (!options_.library && IsInternalModule(Text(import.module.text)))) {
    ReportUnknownModule(import);
    return;
  }
  const ModuleExports& all = *found;
  Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
  if (!import.has_items) {
    ImportAll(import.module.text, all, qualifier, !import.qualified);
    return;
  }
  ModuleExports chosen;
  for (const ast::Item& item : import.items) {
    if (uint32_t cls = StackClass(item.name.text); cls != 0 && !Look(all.classes, item.name) && OffersStackClass(all, cls)) {
      // The operations of one of mtl's classes.
      for (const auto& [name, entity] : all.values)
        if (IsMethodOf(name, cls) && (item.all_members || llvm::any_of(item.members, [&](const ast::Name& m) { return m.text == name; })))
          chosen.values[name] = entity;
      continue;
    }
    if (import.hiding)
      if (const ConId* con = Look(all.constructors, item.name)) chosen.constructors[item.name.text] = *con;
    const ast::Name* unknown = Select(item, all, chosen);
    if (!unknown || import.hiding) continue;
    std::vector<std::string_view> names;
    for (const auto& [other, entity] : all.values) names.push_back(Text(other));
    for (const auto& [other, entity] : all.types) names.push_back(Text(other));
    for (const auto& [other, entity] : all.classes) names.push_back(Text(other));
    if (unknown != &item.name)
      for (const auto& [other, entity] : all.constructors) names.push_back(Text(other));
    Diagnostics& diag =
        Error(Diag::NotExported, unknown->span, Text(import.module.text), Text(unknown->text));
    std::string_view near = NearestName(Text(unknown->text), names);
    std::string_view wanted = Text(unknown->text);
    std::string_view usual = std::isalpha(static_cast<unsigned char>(wanted[0])) ? UsualModule(wanted, Diag::UnboundName) : "";
    if (wanted == "Tensor") {
      diag.Hint("the type `Tensor` is there without an import");
    } else if (HintAtPrivate(import.module.text, unknown->text, Diag::NotExported)) {
    } else if (std::string hint = env_.own_modules.count(import.module.text) ? "" : NotHereHint(Text(import.module.text), wanted); !hint.empty()) {
      diag.Hint(std::move(hint));
    } else if (!usual.empty() && usual != Text(import.module.text)) {
      diag.Hint(fmt::format("the module `{0}` has it: `import {0} ({1})`", usual, wanted));
    } else if (!near.empty()) {
      diag.Hint(fmt::format("did you mean `{}`?", near));
    }
    // The others of the list are there.
    failed_imports_.push_back(import);
    failed_imports_.back().items = llvm::ArrayRef(&item, 1);
  }
  if (!import.hiding) {
    ImportAll(import.module.text, chosen, qualifier, !import.qualified);
    return;
  }
  ModuleExports rest = all;
  for (const auto& [name, entity] : chosen.values) rest.values.erase(name);
  for (const auto& [name, entity] : chosen.constructors) rest.constructors.erase(name);
  for (const auto& [name, entity] : chosen.types) rest.types.erase(name);
  for (const auto& [name, entity] : chosen.classes) rest.classes.erase(name);
  ImportAll(import.module.text, rest, qualifier, !import.qualified);
}

constexpr const char* kSequencePatterns[] = {"Empty", ":<|", ":|>"};

// Whether this is the type `Seq`.
bool Checker::HasSequencePatterns(const TypeName& type) const {
  ConId front = KnownCon(":<|");
  return IsSequencePattern(front) && !type.is_synonym() && types_.Head(program_.constructors[front].fields[1].type) == type.con;
}

// Adds what the item of an import or export list names, found in `from`, to `out`. Returns the name that
// is not there, or nullptr.
template <typename From>
const ast::Name* Checker::Select(const ast::Item& item, const From& from, ModuleExports& out) {
  bool known = false;
  // The members that `from` has: all of them, or those that the item lists.
  std::vector<Symbol> members;
  const ClassId* cls = Look(from.classes, item.name);
  const TypeName* type = Look(from.types, item.name);
  if (const VarId* var = Look(from.values, item.name)) out.values[item.name.text] = *var, known = true;
  if (cls) {
    out.classes[item.name.text] = *cls, known = true;
    for (VarId method : program_.classes[*cls].methods) members.push_back(program_.vars[method].name);
  }
  if (type) {
    out.types[item.name.text] = *type, known = true;
    if (!type->is_synonym())
      for (ConId con : types_.cons[type->con].constructors) {
        members.push_back(program_.constructors[con].name);
        for (const core::Field& field : program_.constructors[con].fields)
          if (field.name.valid()) members.push_back(field.name);
      }
    // The patterns of `Seq` count as its constructors.
    if (HasSequencePatterns(*type))
      for (const char* pattern : kSequencePatterns) members.push_back(Intern(pattern));
  }
  // `import Data.Sequence (pattern Empty)`
  if (const ConId* con = Look(from.constructors, item.name); con && IsSequencePattern(*con))
    out.constructors[item.name.text] = *con, known = true;
  if (!known) return &item.name;
  auto add = [&](const ast::Name& member) {
    const VarId* var = Look(from.values, member);
    const ConId* con = Look(from.constructors, member);
    // Something else may have the name here.
    if (var) {
      auto owner = env_.field_owner.find(var->index);
      bool method = cls && program_.vars[*var].kind == core::VarKind::Method && program_.vars[*var].cls == *cls;
      if (!method && !(type && owner != env_.field_owner.end() && owner->second == type->con)) var = nullptr;
    }
    if (con && !IsSequencePattern(*con) && !(type && program_.constructors[*con].tycon == type->con)) con = nullptr;
    if (var) out.values[member.text] = *var;
    if (con) out.constructors[member.text] = *con;
    return var || con;
  };
  if (item.all_members)
    for (Symbol member : members) add({member, item.name.qualifier, item.name.span});
  for (const ast::Name& member : item.members)
    if (std::find(members.begin(), members.end(), member.text) == members.end() || !add(member))
      return &member;
  return nullptr;
}

// Does an import of this module go by the name? The Prelude needs none, as a rule.
bool Checker::IsImportedAs(Symbol name) const {
  return (Text(name) == "Prelude" && ImportsPrelude()) || llvm::any_of(module_.imports, [&](const ast::Import& import) {
    return (import.as.text.valid() ? import.as : import.module).text == name;
  });
}

// `module M` in the export list of a program's module: what is in scope as `x` and as `M.x`.
void Checker::ExportInScope(Symbol qualifier, ModuleExports& out) const {
  auto add = [&](const auto& names, auto& to) {
    names.ForEach([&](Symbol name, const auto& entity) {
      const auto* qualified = names.Find(name, qualifier);
      if (qualified && IsSame(*qualified, entity)) to[name] = entity;
    });
  };
  // Of several imports that bring one name the scope knows the last.
  for (const ast::Import& import : module_.imports) {
    const ModuleExports* exports = FindModule(import.module.text);
    if (import.qualified || !exports || (import.as.text.valid() ? import.as : import.module).text != qualifier) continue;
    auto add_provided = [&](const auto& from, auto& to, NameKind kind) {
      for (const auto& [name, entity] : from)
        if (!IsLibraryOnly(name) && Provides(import, {name, {}, Span()}, kind)) to[name] = entity;
    };
    add_provided(exports->values, out.values, NameKind::Value);
    add_provided(exports->constructors, out.constructors, NameKind::Constructor);
    add_provided(exports->types, out.types, NameKind::Type);
    add_provided(exports->classes, out.classes, NameKind::Type);
  }
  add(scope_->values, out.values);
  add(scope_->constructors, out.constructors);
  add(scope_->types, out.types);
  add(scope_->classes, out.classes);
}

// What the library declares can be found by the checker itself; of several with one name the first, which is the Prelude's.
void Checker::MakeKnown() {
  auto enter = [&](auto& names, const auto& from) {
    for (const auto& [name, entity] : from)
      if (!names.Find(name)) names.Add(name, entity);
  };
  enter(env_.library.values, exports_.values);
  enter(env_.library.constructors, exports_.constructors);
  enter(env_.library.types, exports_.types);
  enter(env_.library.classes, exports_.classes);
}

const ast::Name* Checker::SelectExport(const ast::Item& item, ModuleExports& out) {
  if (item.name.qualifier.valid() && IsOwnQualifier(item.name.qualifier)) {
    ast::Item plain = item;
    plain.name.qualifier = Symbol();
    return Select(plain, exports_, out);
  }
  if (IsAmbiguous(&ModuleExports::values, item.name) || IsAmbiguous(&ModuleExports::types, item.name) ||
      IsAmbiguous(&ModuleExports::classes, item.name))
    return nullptr;
  return Select(item, *scope_, out);
}

// A module offers what its export list names, or all that it declares.
void Checker::Export() {
  Symbol module = OwnQualifier();
  if (options_.library) MakeKnown();
  else env_.own_declared[module] = exports_;
  auto& modules = options_.library ? env_.modules : env_.own_modules;
  if (!module_.has_exports) {
    modules[module] = exports_;
    return;
  }
  ModuleExports out;
  for (const ast::Item& item : module_.exports) ExportItem(item, out);
  modules[module] = std::move(out);
}

// Adds what an item of the export list names to `out`.
void Checker::ExportItem(const ast::Item& item, ModuleExports& out) {
  ModuleExports named;
  if (item.is_module && item.name.text == OwnQualifier()) {
    MergeExports(exports_, item.name, out);
  } else if (item.is_module && !options_.library && IsImportedAs(item.name.text)) {
    ExportInScope(item.name.text, named);
    MergeExports(named, item.name, out);
  } else if (item.is_module && options_.library && env_.modules.count(item.name.text)) {
    MergeExports(env_.modules[item.name.text], item.name, out);
  } else if (item.is_module) {
    Error(Diag::ExportUnknown, item.name.span, Text(item.name.text));
  } else if (const ast::Name* unknown = SelectExport(item, named)) {
    ReportUnknownExport(*unknown);
  } else {
    MergeExports(named, item.name, out);
  }
}

// Two entities of one name cannot leave a module; classes and types are of one kind here. (The library knows what it does.)
void Checker::MergeExports(const ModuleExports& from, const ast::Name& item, ModuleExports& out) {
  bool told = false;
  auto clash = [&](Symbol name) {
    if (!options_.library && !std::exchange(told, true)) Error(Diag::ExportConflict, item.span, PrintName(name));
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

void Checker::ReportUnknownExport(const ast::Name& name) {
  if (MayBeImported(name)) {
    ++unreported_;
    return;
  }
  Diagnostics& diag = Error(Diag::ExportUnknown, name.span, Text(name.text));
  std::vector<std::string_view> names;
  for (const auto& [other, var] : exports_.values) names.push_back(Text(other));
  for (const auto& [other, type] : exports_.types) names.push_back(Text(other));
  for (const auto& [other, cls] : exports_.classes) names.push_back(Text(other));
  if (std::string_view near = NearestName(Text(name.text), names); !near.empty()) diag.Hint(fmt::format("did you mean `{}`?", near));
}

// A program's export list is for people, but may not lie.
void Checker::CheckExports() {
  ModuleExports out;
  for (const ast::Item& item : module_.exports) ExportItem(item, out);
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

// Does the import bring this name into scope, given that its module has it as an entity of this kind?
bool Checker::Provides(const ast::Import& import, const ast::Name& name, NameKind kind) const {
  Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
  if (name.qualifier.valid() ? name.qualifier != qualifier : import.qualified) return false;
  if (!import.has_items) return true;
  bool listed = false;
  for (const ast::Item& item : import.items) {
    // By itself a constructor can be hidden, and not be imported; the patterns of `Seq` can.
    listed |= item.name.text == name.text &&
              (kind != NameKind::Constructor || import.hiding || item.name.text == Intern("Empty") || Text(name.text)[0] == ':');
    if (kind == NameKind::Type) continue;
    for (const ast::Name& member : item.members) listed |= member.text == name.text;
    if (!item.all_members) continue;
    const ModuleExports& all = *FindModule(import.module.text);
    if (uint32_t cls = StackClass(item.name.text); cls != 0 && !Look(all.classes, item.name)) listed |= IsMethodOf(name.text, cls);
    if (const ClassId* cls = Look(all.classes, item.name))
      for (VarId method : program_.classes[*cls].methods) listed |= program_.vars[method].name == name.text;
    if (const TypeName* type = Look(all.types, item.name); type && !type->is_synonym()) {
      for (ConId con : types_.cons[type->con].constructors) {
        listed |= program_.constructors[con].name == name.text;
        for (const core::Field& field : program_.constructors[con].fields) listed |= field.name == name.text;
      }
      if (HasSequencePatterns(*type))
        for (const char* pattern : kSequencePatterns) listed |= Text(name.text) == pattern;
    }
  }
  return listed != import.hiding;
}

bool Checker::IsInScopeAnyhow(VarId var) const {
  const Symbol name = program_.vars[var].name, prelude = Intern("Prelude");
  auto has = [&](const ModuleExports& exports) {
    auto found = exports.values.find(name);
    return found != exports.values.end() && found->second == var;
  };
  if (has(exports_)) return true;
  for (const ast::Import& import : module_.imports) {
    const ModuleExports* exports = FindModule(import.module.text);
    Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
    if (exports && has(*exports) && Provides(import, {name, qualifier, Span()}, NameKind::Value)) return true;
  }
  const ModuleExports* exports = ImportsPrelude() ? FindModule(prelude) : nullptr;
  return exports && has(*exports);
}

template <typename T>
bool Checker::IsAmbiguous(std::map<Symbol, T> ModuleExports::*names, const ast::Name& name) {
  if (options_.library || options_.repl || (name.qualifier.valid() && name.qualifier == generated_qualifier_)) return false;
  struct Meaning {
    T entity;
    Symbol module;
    Span span;
  };
  constexpr NameKind kKind = std::is_same_v<T, VarId>   ? NameKind::Value
                             : std::is_same_v<T, ConId> ? NameKind::Constructor
                                                        : NameKind::Type;
  llvm::SmallVector<Meaning, 2> meanings;
  auto offer = [&](Symbol module, Span span, const ast::Import* import) {
    const ModuleExports* exports = FindModule(module);
    if (!exports) return;
    auto found = (exports->*names).find(name.text);
    if (found == (exports->*names).end() || IsLibraryOnly(name.text)) return;
    if (llvm::any_of(meanings, [&](const Meaning& m) { return IsSame(m.entity, found->second); })) return;
    if (import && !Provides(*import, name, kKind)) return;
    meanings.push_back({found->second, module, span});
  };
  Symbol prelude = Intern("Prelude");
  for (const ast::Import& import : module_.imports) offer(import.module.text, import.module.span, &import);
  if (ImportsPrelude() && (!name.qualifier.valid() || name.qualifier == prelude)) offer(prelude, Span(), nullptr);
  auto own = (exports_.*names).find(name.text);
  bool defined = own != (exports_.*names).end() && !name.qualifier.valid();
  if (meanings.size() + defined < 2) return false;
  if (!ambiguous_.try_emplace({name.qualifier.index, name.text.index}, true).second) return true;
  std::string all;
  for (size_t i = 0; i < meanings.size(); ++i) {
    bool last = i + 1 == meanings.size() && !defined;
    all += fmt::format("{}`{}.{}`", i == 0 ? "" : last ? " or " : ", ", Text(meanings[i].module), Text(name.text));
  }
  if (defined) all += " or the one that is defined here";
  Diagnostics& diag = Error(Diag::AmbiguousName, name.span, Text(name.text), all);
  for (const Meaning& meaning : meanings)
    if (meaning.span.valid()) diag.Note(meaning.span, fmt::format("`{}` is imported here", Text(meaning.module)));
  // `f -1 = 0` defines the operator.
  if constexpr (std::is_same_v<T, VarId>)
    if (Span at = defined ? program_.vars[own->second].span : Span(); at.valid() && Text(name.text) == "-") {
      std::string_view line = diags_.sources().Text(Span{at.file, at.begin, at.end + 1});
      if (line.size() == 2 && std::isdigit(static_cast<unsigned char>(line[1]))) {
        diag.Note(at, "it is defined here");
        diag.Hint("a negative number as a pattern stands in parentheses: `f (-1) = ..`");
        return true;
      }
    }
  Symbol module = meanings.back().module;
  // `map` of the Prelude, or `insert` of Data.List, and of Data.Map: the others of that module's names would be next.
  auto apart = llvm::find_if(meanings, [&](const Meaning& meaning) {
    return !UsualAlias(Text(meaning.module)).empty() && llvm::any_of(module_.imports, [&](const ast::Import& import) {
      return import.module.text == meaning.module && (!import.has_items || import.hiding) && !import.qualified;
    });
  });
  if (!defined && apart != meanings.end())
    diag.Hint(fmt::format("`import qualified {0} as {1}` keeps them apart: `{1}.{2}` is the one of `{0}`", Text(apart->module),
                          UsualAlias(Text(apart->module)), Text(name.text)));
  else
    diag.Hint(fmt::format("`import {} hiding ({})` leaves one of them out", Text(module), PrintName(name.text)));
  return true;
}

void Checker::EnterImport(const ast::Import& import, const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope) const {
  const ModuleExports* exports = FindModule(import.module.text);
  if (!exports) return;
  const Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
  auto enter = [&](Symbol name, uint64_t key, NameKind kind) {
    const Fixity fixity = known.lookup(key);
    const WrittenName qualified = Written(qualifier, name);
    if (fixity == Fixity{} && !scope.fixities.count(name.index) && !scope.qualified.count(qualified)) return;
    if (!Provides(import, {name, qualifier, Span()}, kind)) return;
    scope.qualified[qualified] = fixity;
    if (!import.qualified) scope.fixities[name.index] = fixity;
  };
  for (const auto& [name, var] : exports->values) enter(name, FixityKey(var), NameKind::Value);
  for (const auto& [name, con] : exports->constructors) enter(name, FixityKey(con), NameKind::Constructor);
}

void Checker::EnterImported(const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope) const {
  // `..` stands for the fields that are in scope, by whichever import of the constructor's module.
  llvm::DenseMap<uint32_t /*ConId*/, std::vector<Symbol>> fields;
  auto visit_constructors = [&](auto visit) {
    for (const ast::Import& import : module_.imports) {
      const ModuleExports* exports = FindModule(import.module.text);
      if (!exports) continue;
      Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
      for (const auto& [name, con] : exports->constructors)
        if (Provides(import, {name, qualifier, Span()}, NameKind::Constructor)) visit(import, qualifier, *exports, name, con);
    }
  };
  for (const ast::Import& import : module_.imports) EnterImport(import, known, scope);
  visit_constructors([&](const ast::Import& import, Symbol qualifier, const ModuleExports& exports, Symbol, ConId con) {
    for (const core::Field& field : program_.constructors[con].fields)
      if (field.name.valid() && exports.values.count(field.name) && Provides(import, {field.name, qualifier, Span()}, NameKind::Value) &&
          !llvm::is_contained(fields[con.index], field.name))
        fields[con.index].push_back(field.name);
  });
  visit_constructors([&](const ast::Import& import, Symbol qualifier, const ModuleExports&, Symbol name, ConId con) {
    auto found = fields.find(con.index);
    auto set = [&](Symbol written) {
      if (found == fields.end()) scope.records.erase(Written(written, name));
      else scope.records[Written(written, name)] = found->second;
    };
    set(qualifier);
    if (!import.qualified) set(Symbol());
  });
}

bool Checker::IsLocal(Symbol name) const {
  auto it = locals_.find(name.index);
  return it != locals_.end() && !it->second.empty();
}

// `Main.f`: what this module defines, whatever is imported under the name.
template <typename T>
const T* Checker::FindOwn(std::map<Symbol, T> ModuleExports::*names, const ast::Name& name) const {
  if (!name.qualifier.valid() || !IsOwnQualifier(name.qualifier)) return nullptr;
  auto own = (exports_.*names).find(name.text);
  return own == (exports_.*names).end() ? nullptr : &own->second;
}

Symbol Checker::OwnQualifier() const { return module_.name.text.valid() ? module_.name.text : Intern("Main"); }

bool Checker::IsOwnQualifier(Symbol qualifier) const {
  return qualifier == OwnQualifier() || Text(qualifier) == kOwnQualifier;
}

VarId Checker::FindValue(const ast::Name& name, bool report) {
  if (name.qualifier.valid() && name.qualifier == generated_qualifier_)
    return KnownVar(Text(name.text).data());
  if (!name.qualifier.valid()) {
    if (IsLocal(name.text)) return locals_.find(name.text.index)->second.back();
  }
  if (const VarId* own = FindOwn(&ModuleExports::values, name)) return *own;
  if (const VarId* var = scope_->values.Find(name.text, name.qualifier))
    return report && IsAmbiguous(&ModuleExports::values, name) ? VarId() : *var;
  if (!report) return VarId();
  std::vector<std::string_view> names;
  if (diags_.dropped() > 0) {  // nobody reads what was meant
    ReportUnbound(Diag::UnboundName, name, names);
    return VarId();
  }
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
  // In a derived instance, perhaps of a type from elsewhere under another name.
  if (name.qualifier.valid() && Text(name.qualifier) == kOwnQualifier && instance_type_.valid())
    for (ConId con : types_.cons[instance_type_].constructors)
      if (program_.constructors[con].name == name.text) return con;
  if (const ConId* own = FindOwn(&ModuleExports::constructors, name)) return *own;
  if (const ConId* con = scope_->constructors.Find(name.text, name.qualifier))
    return report && IsAmbiguous(&ModuleExports::constructors, name) ? ConId() : *con;
  std::string_view text = Text(name.text);
  if (text.size() >= 3 && text[0] == '(' && text[1] == ',')
    return TupleConstructor(env_, program_, static_cast<uint32_t>(text.size() - 1));
  if (!report) return ConId();
  std::vector<std::string_view> names;
  if (diags_.dropped() > 0) {
    ReportUnbound(Diag::UnboundConstructor, name, names);
    return ConId();
  }
  scope_->constructors.ForEach([&](Symbol other, ConId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  ReportUnbound(Diag::UnboundConstructor, name, names);
  return ConId();
}

// Without a message.
const TypeName* Checker::LookUpType(const ast::Name& name) const {
  if (const TypeName* own = FindOwn(&ModuleExports::types, name)) return own;
  return scope_->types.Find(name.text, name.qualifier);
}

const TypeName* Checker::FindType(const ast::Name& name) {
  if (name.qualifier.valid() && name.qualifier == generated_qualifier_)
    return env_.builtin.types.Find(name.text);
  if (const TypeName* type = LookUpType(name))
    return IsAmbiguous(&ModuleExports::types, name) ? nullptr : type;
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
  if (const ClassId* own = FindOwn(&ModuleExports::classes, name)) return *own;
  if (const ClassId* cls = scope_->classes.Find(name.text, name.qualifier))
    return IsAmbiguous(&ModuleExports::classes, name) ? ClassId() : *cls;
  std::vector<std::string_view> names;
  scope_->classes.ForEach([&](Symbol other, ClassId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  if (!name.qualifier.valid() && scope_->types.Find(name.text)) {
    Error(Diag::TypeAsClass, name.span, Text(name.text));
    return ClassId();
  }
  ReportUnbound(Diag::UnboundClass, name, names);
  return ClassId();
}

// The class that an unknown name was meant to be: who needs its instance is not told that there is none.
ClassId Checker::NearestClass(const ast::Name& name) {
  std::vector<std::string_view> names;
  scope_->classes.ForEach([&](Symbol other, ClassId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  std::string_view near = NearestName(Text(name.text), names);
  const ClassId* cls = near.empty() ? nullptr : scope_->classes.Find(Intern(near));
  return cls ? *cls : ClassId();
}

// What the library has defined so far, of several things with one name the Prelude's; then what the library
// module that is being checked defines.
VarId Checker::KnownVar(const char* name) {
  Symbol symbol = Intern(name);
  if (const VarId* var = env_.library.values.Find(symbol)) return *var;
  const VarId* var = options_.library ? scope_->values.Find(symbol) : nullptr;
  return var ? *var : VarId();
}

ClassId Checker::KnownClass(const char* name) {
  Symbol symbol = Intern(name);
  if (const ClassId* cls = env_.library.classes.Find(symbol)) return *cls;
  const ClassId* cls = options_.library ? scope_->classes.Find(symbol) : nullptr;
  return cls ? *cls : ClassId();
}

ConId Checker::KnownCon(const char* name) const {
  Symbol symbol = Intern(name);
  if (const ConId* con = env_.builtin.constructors.Find(symbol)) return *con;
  if (const ConId* con = env_.library.constructors.Find(symbol)) return *con;
  const ConId* con = options_.library && scope_ ? scope_->constructors.Find(symbol) : nullptr;
  return con ? *con : ConId();
}

VarId Checker::Needed(const char* name, const char* construct, Span span) {
  VarId var = KnownVar(name);
  if (!var.valid()) Error(Diag::ConstructUnavailable, span, construct, name);
  return var;
}

}  // namespace df::check
