// Names that are not in scope: what may have been meant, and where it would be.
#include "typecheck/explain/name.h"

#include "stdlib/stdlib.h"
#include "typecheck/explain/origin.h"
#include "typecheck/explain/usual_module.h"
#include "typecheck/state/deps.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

struct ForeignName {
  std::string_view name, hint;
};
constexpr ForeignName kForeignNames[] = {
#define DF_FOREIGN(name, hint) {name, hint},
#define DF_FOREIGN_MODULE(prefix, hint)
#define DF_FOREIGN_TENSOR(name, hint)
#include "typecheck/explain/foreign.def"
};
constexpr ForeignName kForeignModules[] = {
#define DF_FOREIGN(name, hint)
#define DF_FOREIGN_MODULE(prefix, hint) {prefix, hint},
#define DF_FOREIGN_TENSOR(name, hint)
#include "typecheck/explain/foreign.def"
};
constexpr ForeignName kForeignTensors[] = {
#define DF_FOREIGN(name, hint)
#define DF_FOREIGN_MODULE(prefix, hint)
#define DF_FOREIGN_TENSOR(name, hint) {name, hint},
#include "typecheck/explain/foreign.def"
};

bool EqualButForCase(std::string_view a, std::string_view b) {
  return llvm::StringRef(a.data(), a.size()).equals_insensitive(llvm::StringRef(b.data(), b.size()));
}

// A binder of this name in a definition: a parameter, or a name of its `where`.
Span FindBinder(llvm::ArrayRef<ast::Decl*> decls, Symbol name) {
  for (const ast::Decl* decl : decls) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl);
    if (!function) continue;
    for (const ast::Clause& clause : function->clauses) {
      std::vector<std::pair<Symbol, Span>> names;
      for (const ast::Pat* param : clause.params) PatternNames(param, names);
      for (const ast::Decl* local : clause.rhs.where) {
        if (const auto* inner = llvm::dyn_cast<ast::FunctionDecl>(local))
          names.push_back({inner->name.text, inner->name.span});
        if (const auto* pattern = llvm::dyn_cast<ast::PatBindDecl>(local)) PatternNames(pattern->pat, names);
      }
      for (const auto& [other, span] : names)
        if (other == name) return span;
      if (Span inner = FindBinder(clause.rhs.where, name); inner.valid()) return inner;
    }
  }
  return Span();
}

// What is missing says in which namespace to look; an import list names things of any.
bool Has(const ModuleExports& module, Symbol name, Diag missing) {
  switch (missing) {
    case Diag::UnboundName: return module.values.count(name);
    case Diag::UnboundConstructor: return module.constructors.count(name);
    case Diag::UnboundType: return module.types.count(name);
    case Diag::UnboundClass: return module.classes.count(name);
    default: return module.values.count(name) || module.types.count(name) || module.classes.count(name) || module.constructors.count(name);
  }
}

bool HintAtModule(State& s, Symbol name, Diag missing);

// What a program may import, to suggest from: all modules of the library but the parts of the Prelude.
std::vector<std::string_view> ModuleNames(const State& s) {
  std::vector<std::string_view> names;
  for (const LibraryModule& module : LibraryModules())
    if (!IsInternalModule(module.name)) names.push_back(module.name);
  for (const auto& [name, exports] : s.env.own_modules) names.push_back(Text(name));
  for (const auto& [name, exports] : s.env.modules)
    if (!IsInternalModule(Text(name)) && std::find(names.begin(), names.end(), Text(name)) == names.end())
      names.push_back(Text(name));
  return names;
}

// The module that the import list of this one calls `qualifier`.
const ModuleExports* QualifiedModule(const State& s, Symbol qualifier) {
  for (const ast::Import& import : s.module.imports)
    if ((import.as.text.valid() ? import.as.text : import.module.text) == qualifier)
      if (const ModuleExports* found = FindModule(s, import.module.text)) return found;
  return nullptr;
}

// `getEnv` where `System.Environment` is imported.
bool HintAtNotHere(State& s, Symbol name) {
  for (const ast::Import& import : s.module.imports) {
    if (import.qualified || s.env.own_modules.count(import.module.text)) continue;
    std::string hint = NotHereHint(Text(import.module.text), Text(name));
    if (hint.empty()) continue;
    s.diags.Hint(std::move(hint));
    return true;
  }
  return false;
}

// A constructor that a pattern or an expression of a type of the program's has, and the type has not.
bool HintAtConstructors(State& s) {
  TypeId head = s.constructed_type.valid() ? s.unify.Head(s.constructed_type) : TypeId();
  if (!head.valid() || s.types.Kind(head) != TypeKind::Con) return false;
  const TyCon& type = s.types.cons[s.types.ConOf(head)];
  const size_t count = type.constructors.size();
  if (count == 0 || count > 6 || !Shown(s, type.span).valid()) return false;
  std::string all;
  for (size_t i = 0; i < count; ++i)
    all += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == count ? " and " : ", ",
                       Text(s.program.constructors[type.constructors[i]].name));
  s.diags.Hint(fmt::format("the {} of `{}` {} {}", count == 1 ? "constructor" : "constructors", Text(type.name),
                          count == 1 ? "is" : "are", all));
  return true;
}

// What another library calls a function of the module `Tensor`; `T.exp` is the Prelude's.
bool HintAtForeignTensor(State& s, Symbol name) {
  std::string plain = llvm::StringRef(Text(name)).lower();
  std::erase(plain, '_');
  if (VarId var = LookUpValue(s, {name, {}, Span()}); var.valid() && s.program.vars[var].kind == core::VarKind::Method) {
    const core::Var& method = s.program.vars[var];
    for (const char* cls : {"Num", "Fractional", "Floating"})
      if (method.cls == KnownClass(s, cls)) {
        s.diags.Hint(fmt::format("`{}` of the Prelude works on tensors, element by element", Text(name)));
        return true;
      }
  }
  for (const ForeignName& foreign : kForeignTensors) {
    llvm::SmallVector<llvm::StringRef> names;
    llvm::StringRef(foreign.name).split(names, ' ');
    if (!llvm::is_contained(names, plain)) continue;
    s.diags.Hint(std::string(foreign.hint));
    return true;
  }
  return false;
}

// A name that was looked for in the wrong module: `T.dropout` is that of `NN`.
void HintAtOtherModule(State& s, Symbol name, Diag missing) {
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* found = FindModule(s, import.module.text);
    if (!found || !Has(*found, name, missing)) continue;
    const Symbol alias = import.as.text.valid() ? import.as.text : import.module.text;
    return void(s.diags.Hint(import.qualified ? fmt::format("did you mean `{}.{}`, of the module `{}`?", Text(alias), Text(name), Text(import.module.text))
                                             : fmt::format("did you mean `{}`, of the module `{}`?", Text(name), Text(import.module.text))));
  }
  if (missing == Diag::UnboundName && LookUpValue(s, {name, {}, Span()}).valid())
    return void(s.diags.Hint(fmt::format("did you mean `{}`, without the name of a module?", Text(name))));
  HintAtModule(s, name, missing);
}

void HintAtQualified(State& s, const ast::Name& name, Diag missing) {
  std::vector<std::string_view> names;
  if (const ModuleExports* module = QualifiedModule(s, name.qualifier)) {
    for (const auto& [other, entity] : module->values) names.push_back(Text(other));
    for (const auto& [other, entity] : module->constructors) names.push_back(Text(other));
    for (const auto& [other, entity] : module->types) names.push_back(Text(other));
    for (const ast::Import& import : s.module.imports)
      if ((import.as.text.valid() ? import.as.text : import.module.text) == name.qualifier &&
          HintAtPrivate(s, import.module.text, name.text, missing))
        return;
    const bool of_tensors = llvm::any_of(s.module.imports, [&](const ast::Import& import) {
      return Text(import.module.text) == "Tensor" && (import.as.text.valid() ? import.as.text : import.module.text) == name.qualifier;
    });
    if (of_tensors && missing == Diag::UnboundType &&
        Text(name.text) == "Tensor") return void(s.diags.Hint("the type is always there: it is written `Tensor`"));
    if (of_tensors && missing == Diag::UnboundName && HintAtForeignTensor(s, name.text)) return;
    for (const ast::Import& import : s.module.imports)
      if ((import.as.text.valid() ? import.as.text : import.module.text) == name.qualifier && !s.env.own_modules.count(import.module.text))
        if (std::string hint = NotHereHint(Text(import.module.text), Text(name.text)); !hint.empty()) return void(s.diags.Hint(std::move(hint)));
    std::string_view near = NearestName(Text(name.text), names);
    if (!near.empty()) return void(s.diags.Hint(fmt::format("did you mean `{}.{}`?", Text(name.qualifier), near)));
    for (const ForeignName& foreign : kForeignNames)
      if (foreign.name == Text(name.text)) return void(s.diags.Hint(std::string(foreign.hint)));
    return HintAtOtherModule(s, name.text, missing);
  }
  for (std::string_view module : ModuleNames(s))
    if (module == Text(name.qualifier)) return void(s.diags.Hint(fmt::format("add `import qualified {}`", module)));
  for (const ast::Import& import : s.module.imports)
    names.push_back(Text(import.as.text.valid() ? import.as.text : import.module.text));
  std::string_view near = NearestName(Text(name.qualifier), names);
  if (!near.empty()) return void(s.diags.Hint(fmt::format("did you mean `{}.{}`?", near, Text(name.text))));
  // `Map.insert`, `M.insert`: a module that has the name, and that may be called so.
  for (const LibraryModule& module : LibraryModules()) {
    std::string_view last = module.name.substr(module.name.rfind('.') + 1);
    if (!IsInternalModule(module.name) && last.starts_with(Text(name.qualifier)) && ModuleOffers(module.text, Text(name.text)))
      return void(s.diags.Hint(fmt::format("add `import qualified {} as {}`", module.name, Text(name.qualifier))));
  }
  s.diags.Hint(fmt::format("no import is called `{}`", Text(name.qualifier)));
}

// The module that has the name, if it is not imported, or is imported under another name.
bool HintAtModule(State& s, Symbol name, Diag missing) {
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* found = FindModule(s, import.module.text);
    if (!found) continue;
    if (!Has(*found, name, missing)) {
      if (HintAtPrivate(s, import.module.text, name, missing)) return true;
      continue;
    }
    std::string_view module = Text(import.module.text);
    if (import.qualified)
      s.diags.Hint(fmt::format("`{}` is imported qualified: `{}.{}`", module,
                              Text(import.as.text.valid() ? import.as.text : import.module.text), Text(name)));
    else s.diags.Hint(fmt::format("the import of `{}` leaves it out", module));
    return true;
  }
  if (const ModuleExports* prelude = HasExtension(s, "NoImplicitPrelude") ? FindModule(s, Intern("Prelude")) : nullptr;
      prelude && Has(*prelude, name, missing)) {
    s.diags.Hint(fmt::format("the Prelude has it, which `NoImplicitPrelude` leaves out: add `import Prelude ({})`", PrintName(name)));
    return true;
  }
  for (const auto& [module, exports] : s.env.own_modules)
    if (Has(exports, name, missing)) {
      s.diags.Hint(fmt::format("the module `{0}` has it: add `import {0}`", Text(module)));
      return true;
    }
  if (missing == Diag::UnboundConstructor && s.scope->types.Find(name)) {
    s.diags.Hint(fmt::format("`{0}` is a type; `(e :: {0})` says that an expression has it", Text(name)));
    return true;
  }
  std::string_view best = UsualModule(Text(name), missing);
  if (best.empty()) return false;
  std::string_view alias = UsualAlias(best);
  if (alias.empty() || missing == Diag::UnboundConstructor)
    s.diags.Hint(fmt::format("the module `{0}` has it: add `import {0}`", best));
  else if (missing != Diag::UnboundName)
    s.diags.Hint(fmt::format("the module `{0}` has it: add `import {0} ({1})`", best, Text(name)));
  else
    s.diags.Hint(fmt::format("the module `{0}` has it: `{1}.{2}` with `import qualified {0} as {1}`", best, alias, Text(name)));
  return true;
}

}  // namespace

void ReportUnknownModule(State& s, const ast::Import& import) {
  std::string_view name = Text(import.module.text);
  Diagnostics& diag = s.Error(Diag::UnknownModule, import.module.span, name);
  s.failed_imports.push_back(import);
  for (const ForeignName& foreign : kForeignModules)
    if (name.starts_with(foreign.name) &&
        (name.size() == foreign.name.size() || name[foreign.name.size()] == '.' || foreign.name.back() == '.'))
      return void(diag.Hint(std::string(foreign.hint)));
  if (IsInternalModule(name)) return;
  std::string_view near = NearestName(name, ModuleNames(s));
  if (!near.empty()) return void(diag.Hint(fmt::format("did you mean `{}`?", near)));
  std::string file(name);
  std::replace(file.begin(), file.end(), '.', '/');
  diag.Hint(fmt::format("a module of your own would be in `{0}.df`, `{0}.hs` or `{0}.lhs`, beside the program", file));
}

bool MayBeImported(const State& s, const ast::Name& name) {
  return llvm::any_of(s.failed_imports, [&](const ast::Import& import) {
    Symbol qualifier = import.as.text.valid() ? import.as.text : import.module.text;
    if (name.qualifier.valid() ? name.qualifier != qualifier && name.qualifier != import.module.text : import.qualified) return false;
    if (!import.has_items || import.hiding) return true;
    return llvm::any_of(import.items, [&](const ast::Item& item) {
      return item.all_members || item.name.text == name.text ||
             llvm::any_of(item.members, [&](const ast::Name& member) { return member.text == name.text; });
    });
  });
}

void ReportUnbound(State& s, Diag id, const ast::Name& name, std::vector<std::string_view> candidates) {
  std::string_view text = Text(name.text);
  std::string shown(text);
  if (name.qualifier.valid()) shown = fmt::format("{}.{}", Text(name.qualifier), text);
  if (MayBeImported(s, name)) {
    s.tainted.push_back(s.region.valid() ? s.region : name.span);
    s.maybe_imported.push_back(name.span);
    s.maybe_imported_type |= id == Diag::UnboundType || id == Diag::UnboundClass;
    ++s.unreported;
    return;
  }
  // A missing type is usually missing in many signatures: the first of them is enough.
  if (id != Diag::UnboundName && id != Diag::UnboundConstructor &&
      !s.unbound_types.insert({static_cast<uint32_t>(id), name.text.index}).second && s.diags.has_errors())
    return;
  if (id == Diag::UnboundConstructor && s.meant_as_functions.contains(name.text.index)) {
    s.tainted.push_back(s.region.valid() ? s.region : name.span);
    return;
  }
  // In one definition a name that is missing twice is one mistake.
  if ((id == Diag::UnboundName || id == Diag::UnboundConstructor) &&
      !s.unbound_here.insert({Intern(shown).index, s.definition}).second) {
    s.unbound.push_back(name.span);
    s.tainted.push_back(s.region.valid() ? s.region : name.span);
    ++s.unreported;
    return;
  }
  Diagnostics& diag = s.Error(id, name.span, shown);
  if (id == Diag::UnboundName || id == Diag::UnboundConstructor) s.unbound.push_back(name.span);
  if (s.diags.dropped() > 0) return;  // nobody reads it, and to look for what was meant takes its time
  if (name.qualifier.valid()) return HintAtQualified(s, name, id);
  if (text == "...") return void(diag.Hint("a sequence is written with two points: `[1 .. 3]`"));
  // A name that differs in case only, of whatever kind: `true`, `just`, `Length`.
  auto by_case = [&](const auto& names) {
    std::string_view found;
    names.ForEach([&](Symbol other, const auto&) {
      if (other != name.text && EqualButForCase(Text(other), text) && (found.empty() || Text(other) < found))
        found = Text(other);
    });
    return found;
  };
  std::string_view cased;
  for (std::string_view other : candidates)
    if (cased.empty() && other != text && EqualButForCase(other, text)) cased = other;
  if (cased.empty() && id == Diag::UnboundName) cased = by_case(s.scope->constructors);
  // `Sum` is the one of Data.Monoid before it is `sum`.
  if (std::string_view value = cased.empty() && id == Diag::UnboundConstructor ? by_case(s.scope->values) : ""; !value.empty())
    if (s.exports.values.count(Intern(value)) || UsualModule(text, id).empty()) cased = value;
  if (!cased.empty()) return void(diag.Hint(fmt::format("did you mean `{}`?", cased)));
  if (const ConId* con = id == Diag::UnboundType ? s.scope->constructors.Find(name.text) : nullptr)
    return void(diag.Hint(fmt::format("`{}` is a constructor of the type `{}`", text, Text(s.types.cons[s.program.constructors[*con].tycon].name))));
  // Something that is known, but not here.
  if (id == Diag::UnboundName) {
    if (Span binder = FindBinder(s.module.decls, name.text); binder.valid())
      NoteOnce(s, binder, fmt::format("a `{}` is bound here, and known within that clause only", text));
  }
  for (const ForeignName& foreign : kForeignNames)
    if (foreign.name == text) return void(s.diags.Hint(std::string(foreign.hint)));
  if (HintAtNotHere(s, name.text)) return;
  // Of names that are as near the module's own come first.
  std::stable_partition(candidates.begin(), candidates.end(), [&](std::string_view other) {
    const Symbol own = Intern(other);
    return IsLocal(s, own) || s.exports.values.count(own) || s.exports.constructors.count(own) || s.exports.types.count(own) ||
           s.exports.classes.count(own);
  });
  // A near name, above all one of the module's own, or just this one in a module that is not imported: `sort` is not `sqrt`.
  std::string_view near = NearestName(text, candidates);
  bool is_near = !near.empty() && near != text;
  const Symbol symbol = Intern(near);
  bool own = is_near && (s.exports.values.count(symbol) || s.exports.constructors.count(symbol) ||
                         s.exports.types.count(symbol) || s.exports.classes.count(symbol));
  if (id == Diag::UnboundConstructor && !own && HintAtConstructors(s)) return;
  // `x.shape`
  auto of_tensors = [](const ast::Import& import) { return Text(import.module.text) == "Tensor"; };
  if (id == Diag::UnboundName && !is_near && llvm::any_of(s.module.imports, of_tensors) && HintAtForeignTensor(s, name.text)) return;
  if (!own && UsualModule(text, id).empty())
    if (std::string hint = NotHereHint("System", text); !hint.empty()) return void(s.diags.Hint(std::move(hint)));
  if ((own || !HintAtModule(s, name.text, id)) && is_near) s.diags.Hint(fmt::format("did you mean `{}`?", near));
}

void HintAtMembers(State& s, Symbol method, const ast::Name& cls) {
  for (const ast::Import& import : s.module.imports) {
    const ModuleExports* found = FindModule(s, import.module.text);
    if (!found || !found->values.count(method) || !found->classes.count(cls.text)) continue;
    std::string_view module = Text(import.module.text), name = Text(cls.text);
    if (import.has_items && !import.hiding)
      return void(s.diags.Hint(fmt::format("`import {} ({} (..))` brings the methods too", module, name)));
    return void(s.diags.Hint(fmt::format("the import of `{}` leaves it out", module)));
  }
  HintAtModule(s, method, Diag::UnboundName);
}

bool HintAtPrivate(State& s, Symbol module, Symbol name, Diag missing) {
  auto own = s.env.own_declared.find(module);
  if (own == s.env.own_declared.end() || !Has(own->second, name, missing)) return false;
  s.diags.Hint(fmt::format("`{}` defines it, and does not export it", Text(module)));
  return true;
}

}  // namespace df::check
