#include "driver/repl/history.h"

#include <algorithm>
#include <numeric>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "typecheck/core/parts.h"

namespace df {
namespace {

// All definitions of the user's that one may use. Methods are found by types, which lowering knows: here a name with a context may use
// those of any instance.
class Reach {
 public:
  explicit Reach(const core::Program& program) : program_(program) {}

  llvm::DenseSet<uint32_t> From(core::VarId definition) {
    Add(definition);
    while (!vars_.empty()) {
      work_.push_back(program_.DefinitionOf(vars_.pop_back_val()));
      while (!work_.empty()) LookAt(work_.pop_back_val());
    }
    return std::move(reached_);
  }

 private:
  void Add(core::VarId var) {
    const core::Var& row = program_.vars[var];
    if (row.kind == core::VarKind::Local) return;
    if (row.kind == core::VarKind::Method || !row.scheme.preds.empty()) AddInstances();
    if (row.kind == core::VarKind::Top && !row.from_library && reached_.insert(var.index).second) vars_.push_back(var);
  }
  void AddInstances() {
    if (std::exchange(instances_, true)) return;
    for (const core::Instance& instance : program_.instances)
      for (core::VarId method : instance.methods)
        if (method.valid() && !instance.from_library) Add(method);
    for (const core::Class& cls : program_.classes)
      for (core::VarId method : cls.defaults)
        if (method.valid()) Add(method);
  }
  void LookAt(const core::Expr* expr) {
    if (!expr || !seen_.insert(expr).second) return;
    if (const auto* var = llvm::dyn_cast<core::VarExpr>(expr)) Add(var->var);
    core::ForEachPart(*expr, [&](const core::Expr* part) { work_.push_back(part); });
  }

  const core::Program& program_;
  llvm::DenseSet<uint32_t> reached_;
  llvm::DenseSet<const core::Expr*> seen_;
  llvm::SmallVector<core::VarId> vars_;
  llvm::SmallVector<const core::Expr*> work_;
  bool instances_ = false;
};

// Whether a value of the type may hold a function, as far as its type constructors and those of their fields tell.
bool MayHoldFunctions(const core::Program& program, TypeId root) {
  const Types& types = program.types;
  llvm::DenseSet<uint32_t> seen;
  llvm::SmallVector<TypeId> work{root};
  while (!work.empty()) {
    TypeId type = work.pop_back_val();
    if (!seen.insert(type.index).second) continue;
    switch (types.Kind(type)) {
      case TypeKind::App: work.append({types.FnOf(type), types.ArgOf(type)}); break;
      case TypeKind::Con: {
        const TyCon& con = types.cons[types.ConOf(type)];
        if (con.builtin == Builtin::Function || con.builtin == Builtin::IO || con.packs) return true;
        for (core::ConId id : con.constructors)
          for (const core::Field& field : program.constructors[id].fields) work.push_back(field.type);
        break;
      }
      case TypeKind::Var: case TypeKind::Dim: break;
      case TypeKind::Meta: case TypeKind::Forall: return true;
    }
  }
  return false;
}

}  // namespace

bool History::MayChange(const core::Program& program, const std::vector<size_t>& needs, const ir::Graph& graph) const {
  if (needs.empty()) return false;
  return llvm::any_of(graph.nodes, [](const ir::Node& node) { return node.op == ir::Op::WriteStore; }) ||
         llvm::any_of(needs, [&](size_t need) { return MayHoldFunctions(program, program.vars[actions_[need].cell_var].scheme.type); });
}

std::vector<size_t> History::NeedsOf(const core::Program& program, core::VarId definition) const {
  std::vector<size_t> needs;
  if (actions_.empty()) return needs;
  const llvm::DenseSet<uint32_t> reached = Reach(program).From(definition);
  for (size_t i = 0; i < actions_.size(); ++i)
    if (reached.contains(actions_[i].cell_var.index)) needs.push_back(i);
  return needs;
}

std::vector<size_t> History::Before(const std::vector<size_t>& needs, bool now) const {
  if (needs.empty()) return {};
  // What an action uses, its own value included, may hold the same references from then on.
  std::vector<size_t> with(actions_.size());
  std::iota(with.begin(), with.end(), 0);
  auto root = [&](size_t i) {
    while (with[i] != i) i = with[i] = with[with[i]];
    return i;
  };
  for (size_t i = 0; i < actions_.size(); ++i)
    for (size_t need : actions_[i].needs) with[root(i)] = root(need);
  // Backwards: an action uses what is older than it is, and the changes that are.
  std::vector<bool> again(actions_.size()), touched(actions_.size());
  for (size_t need : needs) {
    again[need] = true;
    if (now) touched[root(need)] = true;
  }
  for (size_t i = actions_.size(); i-- > 0;) {
    again[i] = again[i] || (actions_[i].changes && touched[root(i)]);
    if (!again[i]) continue;
    touched[root(i)] = true;
    for (size_t need : actions_[i].needs) again[need] = true;
  }
  std::vector<size_t> numbers;
  for (size_t i = 0; i < actions_.size(); ++i)
    if (again[i]) numbers.push_back(i);
  return numbers;
}

bool HasStores(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes, [](const ir::Node& node) { return node.op == ir::Op::NewStore || node.op == ir::Op::Thaw; });
}

}  // namespace df
