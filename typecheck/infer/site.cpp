// Places that library functions are told.
#include "typecheck/infer/site.h"

#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"

namespace df::check {

bool WantsSite(const State& s, VarId var) {
  const core::Var& row = s.program.vars[var];
  if (s.options.library || !row.from_library) return false;
  TypeId from, to;
  if (!s.types.IsFun(row.scheme.type, &from, &to)) return false;
  const TyConId tycon = s.types.Head(from);
  return tycon.valid() && Text(s.types.cons[tycon].name) == "PrimSite";
}

core::Expr* WithSite(State& s, core::Expr* use, Span span) {
  TypeId from, to;
  s.unify.IsFun(use->type, &from, &to);
  const SourceManager& sources = s.diags.sources();
  LineColumn at = sources.Locate(span.file, span.begin);
  // An operator in backquotes begins with them.
  const std::string_view text = sources.Text(span.file);
  if (span.begin > 0 && text[span.begin - 1] == '`') --at.column;
  core::LiteralExpr word{};
  word.span = span;
  auto text_node = [&](std::string_view value) {
    word.literal = core::LiteralKind::String;
    word.type = s.types.List(s.types.Scalar(Builtin::Char));
    word.text = Intern(value);
    return s.Node(word);
  };
  auto number_node = [&](uint32_t value) {
    word.literal = core::LiteralKind::Integer;
    word.type = s.types.Scalar(Builtin::Int);
    word.text = Intern(std::to_string(value));
    return s.Node(word);
  };
  const std::string_view module = s.module.name.text.valid() ? Text(s.module.name.text) : "Main";
  core::Expr* con = UseCon(s, s.types.cons[s.types.Head(from)].constructors[0], span);
  core::Expr* site = AppNode(s, con, {text_node(module), text_node(sources.Name(span.file)), number_node(at.line), number_node(at.column)}, span);
  return AppNode(s, use, {site}, span);
}

}  // namespace df::check
