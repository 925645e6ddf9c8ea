// Redefinition at the prompt. As in GHCi, what was defined before keeps the meaning that a name had then: nothing is
// checked anew. So that this surprises nobody, the prompt says who still means the older entity.
#include <algorithm>

#include "typecheck/core/parts.h"
#include "typecheck/session.h"

namespace df {
namespace {

// Which of some top-level variables an expression mentions.
class Mentions {
 public:
  explicit Mentions(const llvm::DenseSet<uint32_t>& wanted) : wanted_(wanted) {}

  llvm::DenseSet<uint32_t> In(const core::Expr* root) {
    llvm::DenseSet<uint32_t> found;
    work_.push_back(root);
    while (!work_.empty()) {
      const core::Expr* expr = work_.pop_back_val();
      if (!expr || !seen_.insert(expr).second) continue;
      if (const auto* var = llvm::dyn_cast<core::VarExpr>(expr)) {
        if (wanted_.contains(var->var.index)) found.insert(var->var.index);
      }
      core::ForEachPart(*expr, [&](const core::Expr* part) { work_.push_back(part); });
    }
    return found;
  }

 private:
  const llvm::DenseSet<uint32_t>& wanted_;
  llvm::DenseSet<const core::Expr*> seen_;  // nodes may be shared
  llvm::SmallVector<const core::Expr*> work_;
};

void CollectTyCons(const Types& types, TypeId root, llvm::DenseSet<uint32_t>& out) {
  llvm::SmallVector<TypeId> work{root};
  while (!work.empty()) {
    TypeId type = work.pop_back_val();
    if (!type.valid()) continue;
    if (types.Kind(type) == TypeKind::Con) out.insert(types.ConOf(type).index);
    if (types.Kind(type) != TypeKind::App) continue;
    work.push_back(types.FnOf(type));
    work.push_back(types.ArgOf(type));
  }
}

}  // namespace

void CheckSession::Impl::FindOutdated(const core::Program& program, const check::Scope& before) {
  outdated.clear();
  // What the user's older names stood for. A library entity is not outdated by one of the same name.
  llvm::DenseSet<uint32_t> values, types, classes;
  std::map<uint32_t, size_t> row_of_value, row_of_type, row_of_class;
  auto replaced = [&](Symbol name, bool is_type, uint32_t older, llvm::DenseSet<uint32_t>& set,
                      std::map<uint32_t, size_t>& rows) {
    set.insert(older);
    rows[older] = outdated.size();
    outdated.push_back({name, is_type, {}});
  };
  before.values.ForEach([&](Symbol name, core::VarId older) {
    const core::VarId* now = env.user.values.Find(name);
    if (now && *now != older && program.vars[older].kind == core::VarKind::Top && !program.vars[older].from_library)
      replaced(name, false, older.index, values, row_of_value);
  });
  before.types.ForEach([&](Symbol name, check::TypeName older) {
    const check::TypeName* now = env.user.types.Find(name);
    if (older.is_synonym() || !now || (!now->is_synonym() && now->con == older.con)) return;
    // A type of the user's was declared in a module after the library's.
    if (env.library.types.Find(name) && env.library.types.Find(name)->con == older.con) return;
    replaced(name, true, older.con.index, types, row_of_type);
  });
  before.classes.ForEach([&](Symbol name, core::ClassId older) {
    const core::ClassId* now = env.user.classes.Find(name);
    const core::ClassId* library = env.library.classes.Find(name);
    if (!now || *now == older || (library && *library == older)) return;
    replaced(name, true, older.index, classes, row_of_class);
  });
  if (outdated.empty()) return;

  Mentions mentions(values);
  auto add_user = [&](size_t row, const std::string& user) {
    std::vector<std::string>& users = outdated[row].users;
    if (std::find(users.begin(), users.end(), user) == users.end()) users.push_back(user);
  };
  auto look_at = [&](core::VarId var, const std::string& user) {
    const core::Scheme& scheme = program.vars[var].scheme;
    if (const core::Expr* body = program.DefinitionOf(var))
      for (uint32_t older : mentions.In(body)) add_user(row_of_value[older], user);
    llvm::DenseSet<uint32_t> cons;
    CollectTyCons(program.types, scheme.type, cons);
    for (uint32_t con : cons)
      if (types.contains(con)) add_user(row_of_type[con], user);
    for (const core::Pred& pred : scheme.preds)
      if (classes.contains(pred.cls.index)) add_user(row_of_class[pred.cls.index], user);
  };
  env.user.values.ForEach([&](Symbol name, core::VarId var) {
    bool field = env.field_owner.count(var.index);  // goes with its type
    if (program.vars[var].kind == core::VarKind::Top && !program.vars[var].from_library && !field)
      look_at(var, std::string(Text(name)));
  });
  for (const core::Instance& instance : program.instances) {
    if (instance.derived) continue;  // goes with its type
    for (core::VarId method : instance.methods)
      if (method.valid() && !program.vars[method].from_library && !classes.contains(instance.cls.index))
        look_at(method, fmt::format("instance {}", core::PrintPred(program, instance.cls, instance.head)));
  }
  for (Outdated& row : outdated) std::sort(row.users.begin(), row.users.end());
  outdated.erase(std::remove_if(outdated.begin(), outdated.end(), [](const Outdated& row) { return row.users.empty(); }),
                 outdated.end());
  std::sort(outdated.begin(), outdated.end(),
            [](const Outdated& a, const Outdated& b) { return Text(a.name) < Text(b.name); });
}

std::vector<CheckSession::Outdated> CheckSession::TakeOutdated() { return std::exchange(impl_->outdated, {}); }

}  // namespace df
