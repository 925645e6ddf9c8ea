// String literals in trees: the packed text that one is, and how one is built.
#include "lang/utf8.h"
#include "lower/mono/mono.h"

namespace df::mono {

static bool IsNil(const Program& program, const Expr* expr) { return expr->kind == Kind::Con && expr->con == program.core.nil_con; }

static bool Unpacks(const Program& program, const Expr* expr) {
  return expr->kind == Kind::App && expr->head->kind == Kind::Fun && expr->head->fun == program.text_append && expr->args.size() == 3;
}

bool UnpacksBeforeNil(const Program& program, const Expr* expr) { return Unpacks(program, expr) && IsNil(program, expr->args[2]); }

Expr* TextOfLiteral(Program& program, const Expr* expr) {
  if (UnpacksBeforeNil(program, expr) && expr->args[0]->kind == Kind::Const) return expr->args[0];
  if (IsNil(program, expr)) return program.NewText("", expr->pos);
  // A literal of one character is built at once.
  if (expr->kind != Kind::Con || expr->args.size() != 2 || expr->args[0]->kind != Kind::Const || !IsNil(program, expr->args[1]))
    return nullptr;
  const ir::Constant& c = program.constants[expr->args[0]->constant];
  if (program.ir_types.Kind(c.type) != ir::TypeKind::Char) return nullptr;
  std::string text;
  AppendUtf8(static_cast<uint32_t>(c.word), text);
  return program.NewText(text, expr->pos);
}

// primTextAppend looks how long a text is, and builds a long one in chunks. Of a literal this is known: a short one is built by one call
// (inlined where the list is needed, the question took 2 KB of each literal's graph).
static void BuildShort(Program& program, Expr* expr) {
  ForEachChild(expr, [&](Expr* child) { BuildShort(program, child); });
  if (!Unpacks(program, expr) || expr->args[0]->kind != Kind::Const || expr->args[1]->kind != Kind::Const) return;
  const std::string& text = program.constants[expr->args[0]->constant].text;
  const Expr* from = expr->args[1];
  if (text.size() > 256 || program.constants[from->constant].word != 0) return;
  Expr* to = program.NewConst({program.ir_types.Builtin(ir::TypeKind::Int), static_cast<int64_t>(text.size()), ""}, from->type, from->pos);
  Expr* head = program.NewFun(program.text_onto, expr->type, expr->head->pos);
  *expr = *program.NewApp(head, {expr->args[0], expr->args[1], to, expr->args[2]}, expr->type, expr->pos);
}

void BuildShortLiterals(Program& program) {
  if (!program.text_append.valid() || !program.text_onto.valid() || !program.functions[program.text_onto].body) return;
  for (Function& function : program.functions)
    if (function.body) BuildShort(program, function.body);
}

}  // namespace df::mono
