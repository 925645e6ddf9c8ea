// See field_flow.h.
//
// Each variable, each function's result and each field of a site is a node: the set of sites whose values may be there. An
// edge says that all that is in one node may be in another; an alternative takes what its scrutinee's sites have in their
// fields. A set that grows beyond kMaxSites becomes *anything*, so that the work is linear in the program.
#include "lower/mono/field_flow.h"

#include "lang/budget.h"
#include "llvm/ADT/DenseSet.h"

namespace df::mono {
namespace {

constexpr size_t kMaxSites = 64;

class Flow {
 public:
  explicit Flow(const Program& program) : p_(const_cast<Program&>(program)) {}

  FieldFlow Run() {
    nodes_.resize(p_.vars.size() + p_.functions.size());
    anything_ = NewNode();
    MakeAnything(anything_);
    for (VarId param : p_.functions[p_.main].params) AddEdge(anything_, NodeOf(param));
    for (uint32_t i = 0; i < p_.functions.size(); ++i)
      if (const Expr* body = p_.functions[FunId(i)].body) AddEdge(Visit(body), ResultOf(FunId(i)));
    Propagate();
    return std::move(out_);
  }

 private:
  using NodeIndex = uint32_t;
  static constexpr NodeIndex kNothing = UINT32_MAX;  // of what holds no field that is looked at

  // What an alternative takes apart.
  struct Taking {
    core::ConId con;
    const Alt* alt;
  };
  struct Node {
    bool anything = false;
    llvm::SmallVector<uint32_t, 2> sites;
    llvm::SmallVector<NodeIndex, 2> edges;
    llvm::SmallVector<Taking, 1> takings;
  };
  struct Site {
    core::ConId con;
    SiteField first;  // of its fields
    NodeIndex nodes;  // the first field's; the others follow
  };

  NodeIndex NewNode() {
    nodes_.emplace_back();
    return static_cast<NodeIndex>(nodes_.size() - 1);
  }
  NodeIndex NodeOf(VarId var) const { return var.index; }
  NodeIndex ResultOf(FunId fun) const { return p_.vars.size() + fun.index; }

  // ---------------------------------------------------------------- constraints

  // The node of an expression's value.
  NodeIndex Visit(const Expr* expr) {
    CheckBudget();
    switch (expr->kind) {
      case Kind::Var: return NodeOf(expr->var);
      case Kind::Const: return kNothing;
      case Kind::Lambda: return anything_;  // none is left
      case Kind::Fun: return ResultOf(expr->fun);
      case Kind::Op: return VisitOp(expr);
      case Kind::Con: return expr->args.empty() ? kNothing : VisitCon(expr);
      case Kind::App: {
        FunId fun = expr->head->fun;
        const Function& callee = p_.functions[fun];
        for (size_t i = 0; i < expr->args.size(); ++i) AddEdge(Visit(expr->args[i]), NodeOf(callee.params[i]));
        return ResultOf(fun);
      }
      case Kind::Let:
        for (const Binding& binding : expr->bindings) AddEdge(Visit(binding.value), NodeOf(binding.var));
        return Visit(expr->head);
      case Kind::Case: return VisitCase(expr);
      case Kind::Diff: {
        // What a derivative gives is made by rules of its own.
        Visit(expr->head);
        for (const Expr* arg : expr->args) Visit(arg);
        for (const Binding& binding : expr->bindings) AddEdge(Visit(binding.value), NodeOf(binding.var));
        return anything_;
      }
    }
    return anything_;
  }

  NodeIndex VisitOp(const Expr* expr) {
    NodeIndex last = kNothing;
    for (const Expr* arg : expr->args) last = Visit(arg);
    if (expr->op == ir::Op::Seq) return last;
    return expr->op == ir::Op::Fail ? kNothing : anything_;
  }

  NodeIndex VisitCon(const Expr* expr) {
    NodeIndex value = NewNode();
    uint32_t site = NewSite(expr->con);
    Put(value, site);
    VisitFields(expr, site);
    return value;
  }

  void VisitFields(const Expr* expr, uint32_t site) {
    out_.sites[expr] = sites_[site].first;
    for (uint32_t i = 0; i < expr->args.size(); ++i) {
      const Expr* arg = expr->args[i];
      NodeIndex field = sites_[site].nodes + i;
      if (arg->kind == Kind::Con && arg->con == expr->con && arg->type == expr->type) {
        Put(field, site);
        VisitFields(arg, site);
      } else {
        AddEdge(Visit(arg), field);
      }
    }
  }

  uint32_t NewSite(core::ConId con) {
    uint32_t fields = static_cast<uint32_t>(p_.core.constructors[con].fields.size());
    sites_.push_back({con, out_.site_fields, static_cast<NodeIndex>(nodes_.size())});
    out_.site_fields += fields;
    nodes_.resize(nodes_.size() + fields);
    return static_cast<uint32_t>(sites_.size() - 1);
  }

  NodeIndex VisitCase(const Expr* expr) {
    NodeIndex head = Visit(expr->head);
    if (expr->var.valid()) AddEdge(head, NodeOf(expr->var));
    for (const Alt& alt : expr->alts)
      if (alt.kind == core::AltKind::Con && !alt.vars.empty()) AddTaking(head, {alt.con, &alt});
    if (expr->alts.size() == 1) return Visit(expr->alts[0].body);
    NodeIndex value = NewNode();
    for (const Alt& alt : expr->alts) AddEdge(Visit(alt.body), value);
    return value;
  }

  // ---------------------------------------------------------------- solving

  void AddEdge(NodeIndex from, NodeIndex to) {
    if (from == kNothing || from == to || !edges_.insert({from, to}).second) return;
    nodes_[from].edges.push_back(to);
    if (nodes_[from].anything) return MakeAnything(to);
    for (size_t i = 0; i < nodes_[from].sites.size(); ++i) Put(to, nodes_[from].sites[i]);
  }

  void AddTaking(NodeIndex node, Taking taking) {
    for (VarId var : taking.alt->vars) out_.origins.try_emplace(var.index);
    // What is in the node by now is still to be propagated.
    if (node != kNothing) nodes_[node].takings.push_back(taking);
  }

  // These two note what is new; Propagate follows it.
  void Put(NodeIndex node, uint32_t site) {
    CheckBudget();
    Node& row = nodes_[node];
    if (row.anything || llvm::is_contained(row.sites, site)) return;
    if (row.sites.size() == kMaxSites) return MakeAnything(node);
    row.sites.push_back(site);
    work_.push_back({node, site});
  }
  void MakeAnything(NodeIndex node) {
    Node& row = nodes_[node];
    if (row.anything) return;
    row.anything = true;
    row.sites.clear();
    work_.push_back({node, kAnything});
  }

  void Take(const Taking& taking, uint32_t site) {
    if (sites_[site].con != taking.con) return;
    for (uint32_t i = 0; i < taking.alt->vars.size(); ++i) {
      VarId var = taking.alt->vars[i];
      out_.origins[var.index].fields.push_back(sites_[site].first + i);
      AddEdge(sites_[site].nodes + i, NodeOf(var));
    }
  }
  void TakeAnything(const Taking& taking) {
    for (VarId var : taking.alt->vars) {
      out_.origins[var.index].known = false;
      MakeAnything(NodeOf(var));
    }
  }

  void Propagate() {
    while (!work_.empty()) {
      auto [node, site] = work_.back();
      work_.pop_back();
      // By index: what is found adds edges and nodes' sites.
      for (size_t i = 0; i < nodes_[node].edges.size(); ++i) {
        NodeIndex to = nodes_[node].edges[i];
        if (site == kAnything) MakeAnything(to);
        else Put(to, site);
      }
      for (size_t i = 0; i < nodes_[node].takings.size(); ++i) {
        Taking taking = nodes_[node].takings[i];
        if (site == kAnything) TakeAnything(taking);
        else Take(taking, site);
      }
    }
  }

  static constexpr uint32_t kAnything = UINT32_MAX;

  Program& p_;
  FieldFlow out_;
  std::vector<Node> nodes_;
  std::vector<Site> sites_;
  llvm::DenseSet<std::pair<NodeIndex, NodeIndex>> edges_;
  std::vector<std::pair<NodeIndex, uint32_t>> work_;  // a node and a site that came to it, or kAnything
  NodeIndex anything_ = kNothing;
};

}  // namespace

FieldFlow AnalyseFieldFlow(const Program& program) { return Flow(program).Run(); }

}  // namespace df::mono
