// Who writes main's value as text: the run-time system, which prints data by constructors, or the program's own `show`.
// See specialise.h.
#include "lower/mono/specialise.h"

#include "llvm/ADT/DenseSet.h"

namespace df::mono {
namespace {

// Decides whether the run-time system's text (runtime/text/show.cpp) is that of the type's Show instance. It is for the
// built-in types, and for data types with derived instances as far as their fields go; the graph has no newtypes and
// no fixities.
class Structure {
 public:
  Structure(Program& program, core::ClassId show) : p_(program), show_(show) {}

  bool Shows(df::TypeId type) {
    // Types may contain larger and larger ones without end.
    if (seen_.size() > kMaxTypes) return false;
    if (!seen_.insert(type.index).second) return true;
    llvm::SmallVector<df::TypeId> args;
    TyConId head = p_.core.types.Head(type, &args);
    if (!head.valid() || p_.core.types.cons[head].is_newtype) return false;
    const TyCon con = p_.core.types.cons[head];
    switch (con.builtin) {
      case df::Builtin::Function:
      case df::Builtin::IO: return false;
      case df::Builtin::Tensor: return true;
      case df::Builtin::None: break;
      default: return llvm::all_of(args, [&](df::TypeId arg) { return Shows(arg); });
    }
    if (!HasDataInstance(head) || args.size() != con.params.size()) return false;
    for (core::ConId id : con.constructors) {
      const core::DataCon data = p_.core.constructors[id];
      if (data.infix || Text(data.name)[0] == ':') return false;
      for (const core::Field& field : data.fields)
        if (!Shows(p_.core.types.Substitute(field.type, con.params, args))) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMaxTypes = 1000;

  // Derived, for all types that it is for; of the library's types, Maybe and Either have instances written out that say
  // the same.
  bool HasDataInstance(TyConId head) const {
    bool has = false;
    for (const core::Instance& instance : p_.core.instances) {
      if (instance.cls != show_ || p_.core.types.Head(instance.head) != head) continue;
      std::string_view name = Text(p_.core.types.cons[head].name);
      has = instance.derived || (instance.from_library && (name == "Maybe" || name == "Either"));
      if (!has) return false;
    }
    return has;
  }

  Program& p_;
  core::ClassId show_;
  llvm::DenseSet<uint32_t> seen_;
};

}  // namespace

// Asks for `show` at the type of main's value, if only that can print it.
void Specialiser::ShowMain(df::TypeId main, Span span) {
  llvm::SmallVector<df::TypeId> params;
  df::TypeId type = p_.SplitFun(main, params);
  if (!options_.own_show || (options_.records && core::IsRecordList(p_.core, type))) return;
  core::VarId show = LibraryMethod("Show", "show");
  TypeArgs bound;
  if (!show.valid() || !p_.core.types.IsGround(type)) return;
  core::ClassId cls = p_.core.vars[show].cls;
  // What has no instance is an action, or a function that is only looked at.
  if (!FindInstance(cls, type, bound) || Structure(p_, cls).Shows(type)) return;
  core::VarId definition;
  TypeArgs types;
  if (Resolve(show, {type}, definition, types)) p_.show_main = Instance(definition, types, span);
}

}  // namespace df::mono
