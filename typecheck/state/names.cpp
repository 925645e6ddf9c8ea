// What names mean: modules, imports, what is in scope, local variables, the library's own. Nothing is reported here (resolve/find.h does).
#include "typecheck/state/names.h"

#include "typecheck/state/looks.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {



ConId KnownCon(const State& s, const char* name) {
  Symbol symbol = Intern(name);
  if (const ConId* con = s.env.builtin.constructors.Find(symbol)) return *con;
  if (const ConId* con = s.env.library.constructors.Find(symbol)) return *con;
  const ConId* con = s.options.library && s.scope ? s.scope->constructors.Find(symbol) : nullptr;
  return con ? *con : ConId();
}

}  // namespace

bool HasExtension(const State& s, std::string_view name) {
  return llvm::any_of(s.module.extensions, [&](Symbol extension) { return Text(extension) == name; });
}

// `Empty`, `:<|`, `:|>` of Data.Sequence: in a pattern they look at an end, in an expression they are functions.
bool IsSequencePattern(const State& s, ConId con) {
  if (!con.valid()) return false;
  const TyCon& type = s.types.cons[s.program.constructors[con].tycon];
  return (Text(type.name) == "PrimFront" || Text(type.name) == "PrimBack") && !Shown(s, type.span).valid();
}

bool IsLibraryOnly(Symbol name) {
  std::string_view text = Text(name);
  return text.size() > 4 && (text.starts_with("prim") || text.starts_with("Prim")) && text[4] >= 'A' && text[4] <= 'Z';
}

bool IsInternalModule(std::string_view name) { return name.starts_with("Prelude."); }

bool ImportsPrelude(const State& s) {
  const Symbol prelude = Intern("Prelude");
  return s.module.name.text != prelude && !HasExtension(s, "NoImplicitPrelude") &&
         llvm::none_of(s.module.imports, [&](const ast::Import& import) { return import.module.text == prelude; });
}

const ModuleExports* FindModule(const State& s, Symbol name) {
  if (!s.options.library)
    if (auto own = s.env.own_modules.find(name); own != s.env.own_modules.end()) return &own->second;
  auto found = s.env.modules.find(name);
  return found == s.env.modules.end() ? nullptr : &found->second;
}

bool HasSequencePatterns(const State& s, const TypeName& type) {
  ConId front = KnownCon(s, ":<|");
  return IsSequencePattern(s, front) && !type.is_synonym() && s.types.Head(s.program.constructors[front].fields[1].type) == type.con;
}

bool IsImportedAs(const State& s, Symbol name) {
  return (Text(name) == "Prelude" && ImportsPrelude(s)) || llvm::any_of(s.module.imports, [&](const ast::Import& import) {
    return (import.as.text.valid() ? import.as : import.module).text == name;
  });
}

void BindLocal(State& s, Symbol name, VarId var) {
  s.locals[name.index].push_back(var);
  s.local_trail.push_back(name);
}

void UnbindTo(State& s, size_t mark) {
  while (s.local_trail.size() > mark) {
    s.locals[s.local_trail.back().index].pop_back();
    s.local_trail.pop_back();
  }
}

bool Provides(const State& s, const ast::Import& import, const ast::Name& name, NameKind kind) {
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
    const ModuleExports& all = *FindModule(s, import.module.text);
    if (const ClassId* cls = Look(all.classes, item.name))
      for (VarId method : s.program.classes[*cls].methods) listed |= s.program.vars[method].name == name.text;
    if (const TypeName* type = Look(all.types, item.name); type && !type->is_synonym()) {
      for (ConId con : s.types.cons[type->con].constructors) {
        listed |= s.program.constructors[con].name == name.text;
        for (const core::Field& field : s.program.constructors[con].fields) listed |= field.name == name.text;
      }
      if (HasSequencePatterns(s, *type))
        for (const char* pattern : kSequencePatterns) listed |= Text(name.text) == pattern;
    }
  }
  return listed != import.hiding;
}

bool IsInScopeAnyhow(const State& s, VarId var) {
  const Symbol name = s.program.vars[var].name, prelude = Intern("Prelude");
  auto has = [&](const ModuleExports& exports) {
    auto found = exports.values.find(name);
    return found != exports.values.end() && found->second == var;
  };
  if (has(s.exports)) return true;
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* exports = FindModule(s, import.module.text);
    Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
    if (exports && has(*exports) && Provides(s, import, {name, qualifier, Span()}, NameKind::Value)) return true;
  }
  const ModuleExports* exports = ImportsPrelude(s) ? FindModule(s, prelude) : nullptr;
  return exports && has(*exports);
}

void EnterImport(const State& s, const ast::Import& import, const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope) {
  const ModuleExports* exports = FindModule(s, import.module.text);
  if (!exports) return;
  const Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
  auto enter = [&](Symbol name, uint64_t key, NameKind kind) {
    const Fixity fixity = known.lookup(key);
    const WrittenName qualified = Written(qualifier, name);
    if (fixity == Fixity{} && !scope.fixities.count(name.index) && !scope.qualified.count(qualified)) return;
    if (!Provides(s, import, {name, qualifier, Span()}, kind)) return;
    scope.qualified[qualified] = fixity;
    if (!import.qualified) scope.fixities[name.index] = fixity;
  };
  for (const auto& [name, var] : exports->values) enter(name, FixityKey(var), NameKind::Value);
  for (const auto& [name, con] : exports->constructors) enter(name, FixityKey(con), NameKind::Constructor);
}

void EnterImported(const State& s, const llvm::DenseMap<uint64_t, Fixity>& known, FixityScope& scope) {
  // `..` stands for the fields that are in scope, by whichever import of the constructor's module.
  llvm::DenseMap<uint32_t /*ConId*/, std::vector<Symbol>> fields;
  auto visit_constructors = [&](auto visit) {
    for (const ast::Import& import : s.module.imports) {
      const ModuleExports* exports = FindModule(s, import.module.text);
      if (!exports) continue;
      Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
      for (const auto& [name, con] : exports->constructors)
        if (Provides(s, import, {name, qualifier, Span()}, NameKind::Constructor)) visit(import, qualifier, *exports, name, con);
    }
  };
  for (const ast::Import& import : s.module.imports) EnterImport(s, import, known, scope);
  visit_constructors([&](const ast::Import& import, Symbol qualifier, const ModuleExports& exports, Symbol, ConId con) {
    for (const core::Field& field : s.program.constructors[con].fields)
      if (field.name.valid() && exports.values.count(field.name) && Provides(s, import, {field.name, qualifier, Span()}, NameKind::Value) &&
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

bool IsLocal(const State& s, Symbol name) {
  auto it = s.locals.find(name.index);
  return it != s.locals.end() && !it->second.empty();
}

Symbol OwnQualifier(const State& s) { return s.module.name.text.valid() ? s.module.name.text : Intern("Main"); }

bool IsOwnQualifier(const State& s, Symbol qualifier) {
  return qualifier == OwnQualifier(s) || Text(qualifier) == kOwnQualifier;
}

bool IsGenerated(const State& s, const ast::Name& name) { return name.qualifier.valid() && name.qualifier == s.generated_qualifier; }

VarId LookUpValue(const State& s, const ast::Name& name) {
  if (IsGenerated(s, name) && Text(name.text)[0] == '%') {
    uint32_t number = 0;
    return llvm::StringRef(Text(name.text)).drop_front().getAsInteger(10, number) ? KnownVar(s, Text(name.text).data()) : VarId(number);
  }
  if (IsGenerated(s, name)) return KnownVar(s, Text(name.text).data());
  if (!name.qualifier.valid() && IsLocal(s, name.text)) return s.locals.find(name.text.index)->second.back();
  if (const VarId* own = FindOwn(s, &ModuleExports::values, name)) return *own;
  const VarId* var = s.scope->values.Find(name.text, name.qualifier);
  return var ? *var : VarId();
}

ConId LookUpConstructor(const State& s, const ast::Name& name) {
  if (IsGenerated(s, name) && Text(name.text)[0] == '%') {
    uint32_t number = 0;
    if (!llvm::StringRef(Text(name.text)).drop_front().getAsInteger(10, number)) return ConId(number);
  }
  if (IsGenerated(s, name)) return KnownCon(s, Text(name.text).data());
  // In a derived instance, perhaps of a type from elsewhere under another name.
  if (name.qualifier.valid() && Text(name.qualifier) == kOwnQualifier && s.instance_type.valid())
    for (ConId con : s.types.cons[s.instance_type].constructors)
      if (s.program.constructors[con].name == name.text) return con;
  if (const ConId* own = FindOwn(s, &ModuleExports::constructors, name)) return *own;
  if (const ConId* con = s.scope->constructors.Find(name.text, name.qualifier)) return *con;
  std::string_view text = Text(name.text);
  if (text.size() >= 3 && text[0] == '(' && text[1] == ',')
    return TupleConstructor(s.env, s.program, static_cast<uint32_t>(text.size() - 1));
  return ConId();
}

VarId SynonymMatcher(const State& s, const ast::Name& name) {
  return LookUpValue(s, {Intern("%" + std::string(Text(name.text))), name.qualifier, name.span});
}

const TypeName* LookUpType(const State& s, const ast::Name& name) {
  if (const TypeName* own = FindOwn(s, &ModuleExports::types, name)) return own;
  return s.scope->types.Find(name.text, name.qualifier);
}

// What the library has defined so far, of several things with one name the Prelude's; then what the library
// module that is being checked defines.
VarId KnownVar(const State& s, const char* name) {
  Symbol symbol = Intern(name);
  if (const VarId* var = s.env.library.values.Find(symbol)) return *var;
  const VarId* var = s.options.library ? s.scope->values.Find(symbol) : nullptr;
  return var ? *var : VarId();
}

ClassId KnownClass(const State& s, const char* name) {
  Symbol symbol = Intern(name);
  if (const ClassId* cls = s.env.library.classes.Find(symbol)) return *cls;
  const ClassId* cls = s.options.library ? s.scope->classes.Find(symbol) : nullptr;
  return cls ? *cls : ClassId();
}

}  // namespace df::check
