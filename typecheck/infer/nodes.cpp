// Nodes of core, as the elaboration makes them.
#include "typecheck/infer/nodes.h"

#include "typecheck/state/state.h"

namespace df::check {

VarId NewVar(State& s, Symbol name, TypeId type, bool top, Span span) {
  VarId id = s.program.NewLocal(name, type, span);
  core::Var& var = s.program.vars[id];
  var.from_library = s.options.library;
  if (top) var.kind = core::VarKind::Top;
  return id;
}

core::Expr* ErrorNode(State& s, TypeId type, Span span) {
  s.unify.MarkAny(type);
  core::FailExpr node{};
  node.type = type;
  node.span = span;
  node.message = Intern("this expression did not compile");
  return s.Node(node);
}

core::Expr* AppNode(State& s, const core::Expr* fn, llvm::ArrayRef<const core::Expr*> args, Span span) {
  if (args.empty()) return const_cast<core::Expr*>(fn);
  core::AppExpr node{};
  TypeId type = fn->type;
  for (size_t i = 0; i < args.size(); ++i) {
    TypeId to;
    if (!s.unify.IsFun(type, nullptr, &to)) break;
    type = to;
  }
  node.type = type;
  node.span = span;
  node.fn = fn;
  node.args = s.program.Copy<const core::Expr*>(args);
  return s.Node(node);
}

core::Expr* LambdaNode(State& s, llvm::ArrayRef<VarId> params, const core::Expr* body, Span span) {
  if (params.empty()) return const_cast<core::Expr*>(body);
  core::LambdaExpr node{};
  node.type = body->type;
  for (size_t i = params.size(); i-- > 0;)
    node.type = s.types.Fun(s.program.vars[params[i]].scheme.type, node.type);
  node.span = span;
  node.params = s.program.Copy<VarId>(params);
  node.body = body;
  return s.Node(node);
}

core::Expr* LetNode(State& s, VarId var, const core::Expr* value, const core::Expr* body, bool recursive) {
  core::LetExpr node{};
  node.type = body->type;
  node.span = body->span;
  node.recursive = recursive;
  node.bindings = s.program.Copy<core::Binding>({core::Binding{var, value}});
  node.body = body;
  return s.Node(node);
}

core::Expr* VarNode(State& s, VarId local, Span span) {
  core::VarExpr node{};
  node.type = s.program.vars[local].scheme.type;
  node.span = span;
  node.var = local;
  return s.Node(node);
}

core::Expr* IfNode(State& s, const core::Expr* cond, const core::Expr* then_, const core::Expr* else_, Span span) {
  core::CaseExpr node{};
  node.type = then_->type;
  node.span = span;
  node.scrutinee = cond;
  core::Alt yes{}, no{};
  yes.kind = no.kind = core::AltKind::Con;
  yes.con = s.program.true_con;
  yes.body = then_;
  no.con = s.program.false_con;
  no.body = else_;
  node.alts = s.program.Copy<core::Alt>({no, yes});
  return s.Node(node);
}

core::Expr* ListNode(State& s, llvm::ArrayRef<core::Expr*> elements, TypeId element, Span span) {
  TypeId list = s.types.List(element);
  auto con = [&](ConId id, TypeId type) {
    core::ConExpr node{};
    node.span = span;
    node.con = id;
    node.type = type;
    node.type_args = s.program.Copy<TypeId>({element});
    return s.Node(node);
  };
  core::Expr* result = con(s.program.nil_con, list);
  if (elements.empty()) return result;
  core::Expr* cons = con(s.program.cons_con, s.types.Fun(element, s.types.Fun(list, list)));
  for (size_t i = elements.size(); i-- > 0;) result = AppNode(s, cons, {elements[i], result}, elements[i]->span);
  return result;
}

core::Expr* MatchNode(State& s, core::MatchContext context, Symbol name, llvm::ArrayRef<VarId> scrutinees, llvm::ArrayRef<core::Row> rows,
                      TypeId type, Span span) {
  core::MatchExpr node{};
  node.type = type;
  node.span = span;
  node.context = context;
  node.name = name;
  node.scrutinees = s.program.Copy<VarId>(scrutinees);
  node.rows = s.program.Copy<core::Row>(rows);
  return s.Node(node);
}

core::Expr* FallNode(State& s, TypeId type, Span span) {
  core::FallExpr node{};
  node.type = type;
  node.span = span;
  return s.Node(node);
}

const core::Pat* MakePat(State& s, core::Pat pat) {
  const core::Pat* made = s.program.NewPat(pat);
  s.pats.push_back(const_cast<core::Pat*>(made));
  return made;
}

const core::Pat* BangPat(State& s, const core::Pat* pat) {
  core::Pat bang{};
  bang.kind = core::PatKind::Bang;
  bang.type = pat->type;
  bang.span = pat->span;
  bang.args = s.program.Copy<const core::Pat*>({pat});
  return MakePat(s, bang);
}

core::Row FailRow(State& s, TypeId scrutinee, TypeId result, std::string_view message, Span span) {
  core::Pat pat{};
  pat.kind = core::PatKind::Wildcard;
  pat.type = scrutinee;
  pat.span = span;
  core::FailExpr fail{};
  fail.type = result;
  fail.span = span;
  fail.message = Intern(message);
  return {s.program.Copy<const core::Pat*>({MakePat(s, pat)}), s.Node(fail), span};
}

}  // namespace df::check
