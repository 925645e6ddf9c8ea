// What the prompt tells of names: `:info`, `:browse`, `:kind`, in the form that GHCi prints.
#include <algorithm>
#include <cassert>

#include "typecheck/explain/usual_module.h"
#include "typecheck/module.h"
#include "typecheck/session.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"

namespace df {
namespace {

using check::Env;
using check::Scope;

class Describer {
 public:
  // `sources` is null where places are not told.
  Describer(const core::Program& program, const Env& env, const SourceManager* sources)
      : program_(program), types_(program.types), env_(env), sources_(sources) {}

  std::string Value(Symbol name, core::VarId var) const {
    return check::PrintName(name) + " :: " + check::PrintScheme(program_, program_.vars[var].scheme) +
           Place(program_.vars[var].span, " \t") + '\n';
  }

  std::string Family(const TypeFamily& family, const std::string& name) const {
    std::string out = "type family " + name;
    for (TyVarId param : family.params) out += fmt::format(" {}", Text(types_.vars[param].name));
    if (family.closed) out += " where";
    for (const FamilyEquation& equation : family.equations) {
      out += family.closed ? "\n  " : "\ntype instance ";
      out += name;
      for (TypeId arg : equation.left) out += " " + types_.PrintArgument(arg);
      out += " = " + types_.Print(equation.right);
    }
    return out;
  }

  // A data type; with a valid `only` the other constructors are left out.
  std::string Data(TyConId con, core::ConId only = {}) const {
    return Data(con, [&](core::ConId id) { return !only.valid() || id == only; });
  }
  // The constructors that `shows` refuses are left out.
  template <typename F>
  std::string Data(TyConId con, F shows) const {
    const TyCon& row = types_.cons[con];
    std::string name = check::PrintName(row.builtin == Builtin::Function ? Intern("(->)") : row.name);
    std::string out = fmt::format("type {} :: {}\n", name, env_.kinds.Print(env_.KindOf(con)));
    if (row.family != UINT32_MAX) return out + Family(types_.families[row.family], name) + Place(row.span, "\n  \t") + '\n';
    out += row.is_newtype ? "newtype " : "data ";
    out += name;
    for (TyVarId param : row.params) out += fmt::format(" {}", Text(types_.vars[param].name));
    bool first = true, left_out = false;
    for (core::ConId id : row.constructors) {
      bool shown = shows(id);
      if (!shown && left_out) continue;
      left_out = !shown;
      out += first ? " = " : " | ";
      out += left_out ? "..." : Constructor(id);
      first = false;
    }
    return out + Place(row.span, "\n  \t") + '\n';
  }

  std::string SynonymOf(Symbol name, const check::Synonym& synonym) const {
    // A function of types that the checker computes is what its synonym stands for.
    const bool computed = types_.IsTangent(synonym.body) && Text(name) == "Tangent";
    std::string out = fmt::format("type {} :: {}\ntype {}{}", Text(name), SynonymKind(synonym), computed ? "family " : "", Text(name));
    for (TyVarId param : synonym.params) out += fmt::format(" {}", Text(types_.vars[param].name));
    if (computed && sources_)
      return out + "\n  \t-- Computed by the type checker: the real numbers of an `a`, `()` if it has none" + Place(synonym.span, "\n  \t") + '\n';
    if (computed) return out + '\n';
    // `String` itself is told as what it is.
    std::string body = Text(name) == "String" ? "[Char]" : types_.Print(synonym.body);
    return out + " = " + body + Place(synonym.span, "\n  \t") + '\n';
  }

  // A class; with a valid `only` the other methods are left out.
  std::string Class(core::ClassId cls, core::VarId only = {}) const {
    const core::Class& row = program_.classes[cls];
    std::string out = fmt::format("type {} :: {}\nclass ", Text(row.name), ClassKind(cls));
    std::vector<std::string> supers;
    for (core::ClassId super : row.superclasses)
      supers.push_back(fmt::format("{} {}", Text(program_.classes[super].name), Text(types_.vars[row.param].name)));
    for (const core::Pred& pred : row.contexts) supers.push_back(core::PrintPred(program_, pred.cls, pred.type));
    if (supers.size() == 1) out += supers[0] + " => ";
    if (supers.size() > 1) out += fmt::format("({}) => ", fmt::join(supers, ", "));
    out += Text(row.name);
    for (TyVarId param : row.params) out += fmt::format(" {}", Text(types_.vars[param].name));
    for (const core::Dependency& dependency : row.dependencies) {
      auto names = [&](const std::vector<uint32_t>& params) {
        std::vector<std::string_view> text;
        for (uint32_t param : params) text.push_back(Text(types_.vars[row.params[param]].name));
        return fmt::format("{}", fmt::join(text, " "));
      };
      out += fmt::format("{}{} -> {}", &dependency == &row.dependencies[0] ? " | " : ", ", names(dependency.from), names(dependency.to));
    }
    bool first = true, left_out = false;
    for (core::VarId method : row.methods) {
      const core::Var& var = program_.vars[method];
      if (check::IsLibraryOnly(var.name)) continue;
      if (only.valid() && method != only && left_out) continue;
      left_out = only.valid() && method != only;
      if (first) out += " where";
      first = false;
      core::Scheme scheme = var.scheme;  // the class's own constraint goes without saying
      scheme.preds.erase(std::remove_if(scheme.preds.begin(), scheme.preds.end(),
                                        [&](const core::Pred& pred) {
                                          return pred.cls == cls && pred.type == var.scheme.preds[0].type;
                                        }),
                         scheme.preds.end());
      out += left_out ? "\n  ..."
                      : fmt::format("\n  {} :: {}", check::PrintName(var.name), check::PrintScheme(program_, scheme));
    }
    return out + Place(row.span, "\n  \t") + '\n';
  }

  std::string ClassKind(core::ClassId cls) const {
    const core::Class& row = program_.classes[cls];
    if (!row.args.valid()) return KindArgument(env_.class_kinds[cls.index]) + " -> Constraint";
    std::string out;
    KindId kind = env_.KindOf(row.args), from;
    while (env_.kinds.IsArrow(kind, &from, &kind)) out += KindArgument(from) + " -> ";
    return out + "Constraint";
  }

  std::string SynonymKind(const check::Synonym& synonym) const {
    std::string kind;
    for (KindId param : synonym.param_kinds) kind += KindArgument(param) + " -> ";
    return kind + env_.kinds.Print(synonym.result_kind);
  }

  // The instances that `wanted` accepts.
  template <typename F>
  std::string Instances(F wanted) const {
    std::string out;
    for (uint32_t i = 0; i < program_.instances.size(); ++i) {
      const core::Instance& row = program_.instances[core::InstanceId(i)];
      TyConId head = types_.Head(row.head);
      auto current = env_.instances.find({row.cls.index, head.index});
      // One that a failed input left behind is not there.
      if (current == env_.instances.end() || !llvm::is_contained(current->second, core::InstanceId(i)) ||
          !wanted(row.cls, head))
        continue;
      if (head.valid() && check::IsLibraryOnly(types_.cons[head].name)) continue;  // a type that no program can name
      core::Scheme scheme;
      scheme.preds = row.context;
      scheme.type = row.head;
      std::vector<std::string> context;
      for (const core::Pred& pred : row.context)
        context.push_back(core::PrintPred(program_, pred.cls, pred.type));
      out += "instance ";
      if (context.size() == 1) out += context[0] + " => ";
      if (context.size() > 1) out += fmt::format("({}) => ", fmt::join(context, ", "));
      out += core::PrintPred(program_, row.cls, row.head);
      out += Place(row.span, " ") + '\n';
    }
    return out;
  }

  static std::string PrintFixity(Symbol name, std::optional<Fixity> fixity) {
    if (!fixity) return "";
    const char* assoc = fixity->assoc == ast::Associativity::Left    ? "infixl"
                        : fixity->assoc == ast::Associativity::Right ? "infixr"
                                                                     : "infix";
    std::string_view text = Text(name);
    bool word = std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_';
    return word ? fmt::format("{} {} `{}`\n", assoc, fixity->precedence, text)
                : fmt::format("{} {} {}\n", assoc, fixity->precedence, text);
  }

 private:
  std::string Place(Span span, const char* before) const {
    if (!sources_) return "";
    if (!span.valid()) return fmt::format("{}-- Built in", before);
    // The buffer of a library module has the module's name.
    std::string_view file = sources_->Name(span.file);
    for (const auto& [name, exports] : env_.modules)
      if (Text(name) == file) return fmt::format("{}-- Defined in `{}`", before, check::IsInternalModule(file) ? "Prelude" : file);
    return fmt::format("{}-- Defined at {}", before, sources_->Describe(span));
  }

  // A kind to the left of an arrow.
  std::string KindArgument(KindId kind) const {
    std::string text = env_.kinds.Print(kind);
    return env_.kinds.IsArrow(kind) ? "(" + text + ")" : text;
  }

  std::string Constructor(core::ConId id) const {
    const core::DataCon& row = program_.constructors[id];
    auto field = [&](const core::Field& f) { return (f.strict ? "!" : "") + types_.PrintArgument(f.type); };
    if (!row.fields.empty() && row.fields[0].name.valid()) {
      std::vector<std::string> fields;
      for (const core::Field& f : row.fields)
        fields.push_back(fmt::format("{} :: {}", check::PrintName(f.name),
                                     f.strict ? "!" + types_.PrintArgument(f.type) : types_.Print(f.type)));
      return fmt::format("{} {{{}}}", check::PrintName(row.name), fmt::join(fields, ", "));
    }
    if (Text(row.name).starts_with(':') && row.fields.size() == 2)
      return fmt::format("{} {} {}", field(row.fields[0]), Text(row.name), field(row.fields[1]));
    std::string out = check::PrintName(row.name);
    for (const core::Field& f : row.fields) out += " " + field(f);
    return out;
  }

  const core::Program& program_;
  const Types& types_;
  const Env& env_;
  const SourceManager* sources_;
};

}  // namespace

std::string CheckSession::Info(Symbol name, Symbol qualifier, const SourceManager& sources) const {
  const Env& env = impl_->env;
  const Scope& scope = impl_->scope();
  Describer describe(program, env, &sources);
  std::vector<std::string> parts;
  // As declared where the name comes from; what is defined at the prompt comes from no module.
  auto fixity_of = [&](uint64_t key) -> std::string {
    std::optional<Fixity> fixity;
    if (auto known = impl_->known_fixities.find(key); known != impl_->known_fixities.end()) {
      if (known->second != Fixity{}) fixity = known->second;
    } else if (auto found = main_scope.fixities.find(name.index); found != main_scope.fixities.end()) {
      fixity = found->second;
    }
    return Describer::PrintFixity(name, fixity);
  };
  auto of_type = [&](TyConId con) {
    return describe.Instances([&](core::ClassId, TyConId head) { return head == con; });
  };
  if (const core::VarId* var = scope.values.Find(name, qualifier)) {
    const core::Var& row = program.vars[*var];
    std::string text;
    auto owner = env.field_owner.find(var->index);
    if (row.kind == core::VarKind::Method) {
      text = describe.Class(row.cls, *var);
    } else if (owner != env.field_owner.end()) {
      core::ConId only;  // a field of one constructor is shown with that one alone
      size_t with_field = 0;
      for (core::ConId con : program.types.cons[owner->second].constructors)
        for (const core::Field& field : program.constructors[con].fields)
          if (field.name == name) only = con, ++with_field;
      text = describe.Data(owner->second, with_field == 1 ? only : core::ConId());
    } else {
      text = describe.Value(name, *var);
    }
    parts.push_back(text + fixity_of(check::FixityKey(*var)));
  }
  if (std::string_view text = Text(name); text.starts_with("(,"))
    if (core::ConId tuple = program.TupleCon(static_cast<uint32_t>(text.size()) - 1); tuple.valid()) {
      TyConId con = program.constructors[tuple].tycon;
      parts.push_back(describe.Data(con) + of_type(con));
    }
  const check::TypeName* type = scope.types.Find(name, qualifier);
  const core::ConId* con = scope.constructors.Find(name, qualifier);
  bool own_type = con && type && !type->is_synonym() && program.constructors[*con].tycon == type->con;
  if (con && !own_type)
    parts.push_back(describe.Data(program.constructors[*con].tycon, *con) + fixity_of(check::FixityKey(*con)));
  if (type)
    parts.push_back(type->is_synonym() ? describe.SynonymOf(name, env.synonyms[type->synonym])
                                       : describe.Data(type->con) + of_type(type->con));
  if (const core::ClassId* cls = scope.classes.Find(name, qualifier))
    parts.push_back(describe.Class(*cls) +
                    describe.Instances([&](core::ClassId of, TyConId) { return of == *cls; }));
  return fmt::format("{}", fmt::join(parts, "\n"));
}

std::optional<std::string> CheckSession::Browse(Symbol module) const {
  const Env& env = impl_->env;
  Describer describe(program, env, nullptr);
  std::vector<std::pair<std::string_view, std::string>> rows;
  auto add_value = [&](Symbol name, core::VarId var) {
    core::VarKind kind = program.vars[var].kind;  // methods and fields are told with their class and type
    if (kind != core::VarKind::Method && !env.field_owner.count(var.index) && !check::IsLibraryOnly(name))
      rows.push_back({Text(name), describe.Value(name, var)});
  };
  const check::ModuleExports* exports = nullptr;
  auto add_type = [&](Symbol name, check::TypeName type) {
    // A module's constructors are those that it offers.
    auto shows = [&](core::ConId con) {
      if (!exports) return true;
      auto found = exports->constructors.find(program.constructors[con].name);
      return found != exports->constructors.end() && found->second == con;
    };
    rows.push_back({Text(name), type.is_synonym() ? describe.SynonymOf(name, env.synonyms[type.synonym])
                                                  : describe.Data(type.con, shows)});
  };
  auto add_class = [&](Symbol name, core::ClassId cls) { rows.push_back({Text(name), describe.Class(cls)}); };
  if (module.valid()) {
    auto own = env.own_modules.find(module), found = env.modules.find(module);
    if (own == env.own_modules.end() && found == env.modules.end()) return std::nullopt;
    exports = own != env.own_modules.end() ? &own->second : &found->second;
    for (const auto& [name, var] : exports->values) add_value(name, var);
    for (const auto& [name, type] : exports->types) add_type(name, type);
    for (const auto& [name, cls] : exports->classes) add_class(name, cls);
  } else {
    const Scope& scope = impl_->scope();
    scope.values.ForEach([&](Symbol name, core::VarId var) {
      // The prompt's own names for older results, `it'3`, are nobody's definitions.
      if (!program.vars[var].from_library && !Text(name).starts_with("it'")) add_value(name, var);
    });
    scope.types.ForEach([&](Symbol name, check::TypeName type) {
      const check::TypeName* library = env.library.types.Find(name);
      const check::TypeName* builtin = env.builtin.types.Find(name);
      auto same = [&](const check::TypeName* other) {
        return other && other->con == type.con && other->synonym == type.synonym;
      };
      if (!same(library) && !same(builtin)) add_type(name, type);
    });
    scope.classes.ForEach([&](Symbol name, core::ClassId cls) {
      const core::ClassId* library = env.library.classes.Find(name);
      if (!library || *library != cls) add_class(name, cls);
    });
  }
  std::sort(rows.begin(), rows.end());
  std::string out;
  for (const auto& [name, text] : rows) out += text;
  return out;
}

std::string CheckSession::KindOfType(const ast::Ast& ast, Diagnostics& diags) {
  Env& env = impl_->env;
  Scope before = env.user;
  bool started = env.user_started;
  CheckOptions options;
  options.repl = true;
  options.warnings = false;
  options.restricted = false;  // nothing is published
  size_t synonyms = env.synonyms.size();
  std::string kind;
  check::State state(program, env, diags, options, ast, main_scope.fixities);
  if (check::CheckModule(state) && env.synonyms.size() > synonyms)
    kind = env.kinds.Print(env.synonyms.back().result_kind);
  env.user = std::move(before);
  env.user_started = started;
  env.synonyms.resize(synonyms);
  return kind;
}

std::string CheckSession::KindOfName(Symbol name) const {
  Describer describe(program, impl_->env, nullptr);
  if (const check::TypeName* type = impl_->scope().types.Find(name))
    return type->is_synonym() ? describe.SynonymKind(impl_->env.synonyms[type->synonym]) : "";
  const core::ClassId* cls = impl_->scope().classes.Find(name);
  return cls ? describe.ClassKind(*cls) : "";
}

}  // namespace df
