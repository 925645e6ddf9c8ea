// Look-up of names, with a message where there is none or more than one.
#include "typecheck/resolve/find.h"

#include "typecheck/explain/name.h"
#include "typecheck/explain/usual_module.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"
#include "typecheck/state/state.h"

namespace df::check {

template <typename T>
bool IsAmbiguous(State& s, std::map<Symbol, T> ModuleExports::*names, const ast::Name& name) {
  if (s.options.library || s.options.repl || (IsGenerated(s, name))) return false;
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
    const ModuleExports* exports = FindModule(s, module);
    if (!exports) return;
    auto found = (exports->*names).find(name.text);
    if (found == (exports->*names).end() || IsLibraryOnly(name.text)) return;
    if (llvm::any_of(meanings, [&](const Meaning& m) { return IsSame(m.entity, found->second); })) return;
    if (import && !Provides(s, *import, name, kKind)) return;
    meanings.push_back({found->second, module, span});
  };
  Symbol prelude = Intern("Prelude");
  for (const ast::Import& import : s.module.imports) offer(import.module.text, import.module.span, &import);
  if (ImportsPrelude(s) && (!name.qualifier.valid() || name.qualifier == prelude)) offer(prelude, Span(), nullptr);
  auto own = (s.exports.*names).find(name.text);
  bool defined = own != (s.exports.*names).end() && !name.qualifier.valid();
  if (meanings.size() + defined < 2) return false;
  if (!s.ambiguous.try_emplace({name.qualifier.index, name.text.index}, true).second) return true;
  std::string all;
  for (size_t i = 0; i < meanings.size(); ++i) {
    bool last = i + 1 == meanings.size() && !defined;
    all += fmt::format("{}`{}.{}`", i == 0 ? "" : last ? " or " : ", ", Text(meanings[i].module), Text(name.text));
  }
  if (defined) all += " or the one that is defined here";
  Diagnostics& diag = s.Error(Diag::AmbiguousName, name.span, Text(name.text), all);
  for (const Meaning& meaning : meanings)
    if (meaning.span.valid()) diag.Note(meaning.span, fmt::format("`{}` is imported here", Text(meaning.module)));
  // `f -1 = 0` defines the operator.
  if constexpr (std::is_same_v<T, VarId>)
    if (Span at = defined ? s.program.vars[own->second].span : Span(); at.valid() && Text(name.text) == "-") {
      std::string_view line = s.diags.sources().Text(Span{at.file, at.begin, at.end + 1});
      if (line.size() == 2 && std::isdigit(static_cast<unsigned char>(line[1]))) {
        diag.Note(at, "it is defined here");
        diag.Hint("a negative number as a pattern stands in parentheses: `f (-1) = ..`");
        return true;
      }
    }
  Symbol module = meanings.back().module;
  // `map` of the Prelude, or `insert` of Data.List, and of Data.Map: the others of that module's names would be next.
  auto apart = llvm::find_if(meanings, [&](const Meaning& meaning) {
    return !UsualAlias(Text(meaning.module)).empty() && llvm::any_of(s.module.imports, [&](const ast::Import& import) {
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

VarId FindValue(State& s, const ast::Name& name) {
  const VarId var = LookUpValue(s, name);
  const bool local = !name.qualifier.valid() && IsLocal(s, name.text);
  if (IsGenerated(s, name) || local || FindOwn(s, &ModuleExports::values, name)) return var;
  if (var.valid()) return IsAmbiguous(s, &ModuleExports::values, name) ? VarId() : var;
  std::vector<std::string_view> names;
  if (s.diags.dropped() == 0) {  // else nobody reads what was meant
    for (const auto& [symbol, vars] : s.locals)
      if (!vars.empty()) names.push_back(Text(Symbol(symbol)));
    s.scope->values.ForEach([&](Symbol other, VarId) { names.push_back(Text(other)); });
    std::sort(names.begin(), names.end());
  }
  ReportUnbound(s, Diag::UnboundName, name, names);
  return VarId();
}

ConId FindConstructor(State& s, const ast::Name& name) {
  const ConId con = LookUpConstructor(s, name);
  if (IsGenerated(s, name) || FindOwn(s, &ModuleExports::constructors, name)) return con;
  if (con.valid()) return IsAmbiguous(s, &ModuleExports::constructors, name) ? ConId() : con;
  std::vector<std::string_view> names;
  if (s.diags.dropped() == 0) {
    s.scope->constructors.ForEach([&](Symbol other, ConId) { names.push_back(Text(other)); });
    std::sort(names.begin(), names.end());
  }
  ReportUnbound(s, Diag::UnboundConstructor, name, names);
  return ConId();
}

const TypeName* FindType(State& s, const ast::Name& name) {
  if (IsGenerated(s, name))
  {
    const TypeName* builtin = s.env.builtin.types.Find(name.text);
    return builtin ? builtin : s.env.library.types.Find(name.text);
  }
  if (const TypeName* type = LookUpType(s, name))
    return IsAmbiguous(s, &ModuleExports::types, name) ? nullptr : type;
  std::vector<std::string_view> names;
  s.scope->types.ForEach([&](Symbol other, const TypeName&) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  if (!name.qualifier.valid() && s.scope->classes.Find(name.text)) {
    s.Error(Diag::ClassAsType, name.span, Text(name.text))
        .Hint(fmt::format("a class stands in a context: `{} a => ..`", Text(name.text)));
    return nullptr;
  }
  ReportUnbound(s, Diag::UnboundType, name, names);
  return nullptr;
}

ClassId FindClass(State& s, const ast::Name& name) {
  if (const ClassId* own = FindOwn(s, &ModuleExports::classes, name)) return *own;
  if (const ClassId* cls = s.scope->classes.Find(name.text, name.qualifier))
    return IsAmbiguous(s, &ModuleExports::classes, name) ? ClassId() : *cls;
  std::vector<std::string_view> names;
  s.scope->classes.ForEach([&](Symbol other, ClassId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  if (!name.qualifier.valid() && s.scope->types.Find(name.text)) {
    s.Error(Diag::TypeAsClass, name.span, Text(name.text));
    return ClassId();
  }
  ReportUnbound(s, Diag::UnboundClass, name, names);
  return ClassId();
}

ClassId NearestClass(State& s, const ast::Name& name) {
  std::vector<std::string_view> names;
  s.scope->classes.ForEach([&](Symbol other, ClassId) { names.push_back(Text(other)); });
  std::sort(names.begin(), names.end());
  std::string_view near = NearestName(Text(name.text), names);
  const ClassId* cls = near.empty() ? nullptr : s.scope->classes.Find(Intern(near));
  return cls ? *cls : ClassId();
}

VarId Needed(State& s, const char* name, const char* construct, Span span) {
  VarId var = KnownVar(s, name);
  if (!var.valid()) s.Error(Diag::ConstructUnavailable, span, construct, name);
  return var;
}

template bool IsAmbiguous(State&, std::map<Symbol, VarId> ModuleExports::*, const ast::Name&);
template bool IsAmbiguous(State&, std::map<Symbol, TypeName> ModuleExports::*, const ast::Name&);
template bool IsAmbiguous(State&, std::map<Symbol, ClassId> ModuleExports::*, const ast::Name&);

}  // namespace df::check
