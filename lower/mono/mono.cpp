// The tables of mono::Program, and what several passes share: places, building, copying, call groups.
#include "lower/mono/mono.h"

#include "lang/budget.h"
#include "llvm/ADT/BitVector.h"

namespace df::mono {

// ---------------------------------------------------------------- places

ir::PosId Program::PosOf(Span span, const std::string& function) {
  uint32_t file = UINT32_MAX;
  if (span.valid()) {
    auto [it, fresh] = file_ids_.try_emplace(span.file.index, files.size());
    if (fresh) files.emplace_back(diags.sources().Name(span.file));
    file = it->second;
  }
  auto [it, fresh] = pos_ids_.try_emplace({file, span.begin, span.end, function});
  if (!fresh) return it->second;
  ir::Pos pos;
  pos.function = function;
  if (span.valid()) {
    LineColumn at = Locate(span);
    pos.file = file;
    pos.line = at.line;
    pos.column = at.column;
  }
  spans_.push_back(span);
  return it->second = positions.Add(std::move(pos));
}

LineColumn Program::Locate(Span span) {
  uint32_t begin = 0;
  std::string_view text = diags.sources().LineAt(span.file, span.begin, &begin);
  uint32_t offset = std::min<uint32_t>(span.begin - begin, static_cast<uint32_t>(text.size()));
  if (offset < kColumnStep) return diags.sources().Locate(span.file, span.begin);
  auto starts = [&](uint32_t i) { return (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80; };
  auto [it, fresh] = long_lines_.try_emplace({span.file.index, begin});
  LongLine& row = it->second;
  if (fresh) {
    row.line = diags.sources().Locate(span.file, begin).line;
    uint32_t column = 1;
    for (uint32_t i = 0; i < text.size(); ++i) {
      if (i % kColumnStep == 0) row.columns.push_back(column);
      column += starts(i);
    }
    row.columns.push_back(column);
  }
  LineColumn at{row.line, row.columns[offset / kColumnStep]};
  for (uint32_t i = offset / kColumnStep * kColumnStep; i < offset; ++i) at.column += starts(i);
  return at;
}

// The place in the user's program, rather than in the library function that was inlined there.
Span Program::SpanOf(ir::PosId pos) const {
  if (!pos.valid()) return {};
  ir::PosId known = pos;
  for (; pos.valid(); pos = positions[pos].inlined_at)
    if (!positions[pos].giver) known = pos;
  return spans_[known.index];
}

Span Program::InnermostSpanOf(ir::PosId pos) const {
  const Span outermost = SpanOf(pos);
  for (; pos.valid(); pos = positions[pos].inlined_at)
    if (!positions[pos].giver && spans_[pos.index].file == outermost.file) return spans_[pos.index];
  return outermost;
}

// ---------------------------------------------------------------- building

Expr* Program::New(Kind kind, df::TypeId type, ir::PosId pos) {
  CheckBudget();
  Expr* expr = new (arena_.Allocate()) Expr{kind, type, pos};
  ++made_;
  return expr;
}

// A node that stands in several places moves once: what is left of it has the new one as its head.
Expr* Program::Move(Expr* expr) {
  if (expr->moved) return expr->head;
  CheckBudget();  // what is left then is in pieces, and is only to be freed
  Expr* to = new (arena_.Allocate()) Expr(std::move(*expr));
  ++made_;
  expr->moved = true;
  expr->head = to;
  ForEachChild(to, [&](Expr*& child) { child = Move(child); });
  return to;
}

void Program::DropGarbage() {
  llvm::SpecificBumpPtrAllocator<Expr> all = std::move(arena_);
  made_ = 0;
  for (Function& function : functions)
    if (function.body) function.body = Move(function.body);
  kept_ = made_;
}

void Program::DropBodies() {
  for (Function& function : functions) function.body = nullptr;
  DropGarbage();
}

Expr* Program::NewVarExpr(VarId var, ir::PosId pos) {
  Expr* expr = New(Kind::Var, vars[var].type, pos);
  expr->var = var;
  return expr;
}

Expr* Program::NewFun(FunId fun, df::TypeId type, ir::PosId pos) {
  Expr* expr = New(Kind::Fun, type, pos);
  expr->fun = fun;
  return expr;
}

ir::ConstId Program::Intern(ir::Constant constant) {
  auto [it, fresh] = constant_ids_.try_emplace({constant.type.index, constant.word, constant.text});
  if (fresh) it->second = constants.Add(std::move(constant));
  return it->second;
}

Expr* Program::NewConst(ir::Constant constant, df::TypeId type, ir::PosId pos) {
  Expr* expr = New(Kind::Const, type, pos);
  expr->constant = Intern(std::move(constant));
  return expr;
}

Expr* Program::NewApp(Expr* head, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos) {
  if (args.empty()) return head;
  Expr* expr = New(Kind::App, type, pos);
  expr->head = head;
  expr->args.assign(args.begin(), args.end());
  return expr;
}

Expr* Program::NewLet(VarId var, Expr* value, Expr* body, ir::PosId pos) {
  Expr* expr = New(Kind::Let, body->type, pos);
  expr->bindings.push_back({var, value});
  expr->head = body;
  return expr;
}

Expr* Program::NewOp(ir::Op op, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos) {
  Expr* expr = New(Kind::Op, type, pos);
  expr->op = op;
  expr->args.assign(args.begin(), args.end());
  return expr;
}

VarId Program::HostInputNamed(std::string_view name, df::TypeId type) {
  for (const HostInput& input : host_inputs)
    if (input.name == name) return input.var;
  host_inputs.push_back({std::string(name), NewVar(std::string(name), type)});
  return host_inputs.back().var;
}

Expr* Program::NewFail(const std::string& message, uint32_t attr, df::TypeId type, ir::PosId pos) {
  Expr* expr = NewOp(ir::Op::Fail, {NewText(message, pos)}, type, pos);
  expr->attr = attr;
  return expr;
}

Expr* Program::NewText(const std::string& text, ir::PosId pos) {
  return NewConst({ir_types.Builtin(ir::TypeKind::Text), 0, text}, core.types.Scalar(df::Builtin::Text), pos);
}

std::string Program::UniqueName(const std::string& base) {
  CheckBudget();
  uint32_t& used = names_[base];
  if (used++ == 0) return base;
  for (;;) {
    std::string name = fmt::format("{}'{}", base, used);
    if (names_.try_emplace(name, 1).second) return name;
    ++used;
  }
}

// ---------------------------------------------------------------- copying

Expr* Program::CloneBody(const Function& function, llvm::SmallVectorImpl<VarId>& params, ir::PosId site) {
  llvm::DenseMap<uint32_t, VarId> fresh;
  for (VarId param : function.params) {
    params.push_back(NewVar(vars[param].name, vars[param].type));
    fresh[param.index] = params.back();
  }
  return Clone(function.body, fresh, {site, site.valid() && GivesAction(function.result)});
}

bool Program::GivesAction(df::TypeId type) {
  llvm::SmallVector<df::TypeId> params;
  return BuiltinOf(SplitFun(type, params)) == df::Builtin::Action;
}

// What the library goes on with when the root has answered. Nobody calls it but the root: it stands where the action is named.
static bool TakesReply(const Program& program, const Expr* lambda) {
  const df::Types& types = program.core.types;
  const df::TypeId param = program.vars[lambda->params[0]].type;
  return lambda->params.size() == 1 && types.Kind(param) == df::TypeKind::Con && Text(types.cons[types.ConOf(param)].name) == "PrimReply";
}

// Whether it is a function, or a partial application of one. Its places are told from its call on, and so is that of its name,
// wherever it is when it is called.
static bool IsFunctionValue(const Program& program, const Expr* expr) {
  if (expr->kind == Kind::Lambda) return !TakesReply(program, expr);
  const Expr* head = expr->kind == Kind::App ? expr->head : expr;
  return head->kind == Kind::Fun && expr->args.size() < program.functions[head->fun].params.size();
}

Expr* Program::Clone(const Expr* expr, llvm::DenseMap<uint32_t, VarId>& substitution, Inlining at) {
  CheckBudget();
  const bool value = at.site.valid() && IsFunctionValue(*this, expr);
  Expr* copy = New(expr->kind, expr->type, value ? expr->pos : places.InlinedAt(expr->pos, at.site, at.action));
  auto fresh = [&](VarId var) {
    if (!var.valid()) return var;
    VarId made = NewVar(vars[var].name, vars[var].type);
    substitution[var.index] = made;
    return made;
  };
  copy->op = expr->op;
  copy->attr = expr->attr;
  copy->fun = expr->fun;
  copy->constant = expr->constant;
  copy->con = expr->con;
  copy->recursive = expr->recursive;
  if (expr->kind == Kind::Var) {
    auto it = substitution.find(expr->var.index);
    copy->var = it == substitution.end() ? expr->var : it->second;
    return copy;
  }
  for (const Expr* arg : expr->args) copy->args.push_back(Clone(arg, substitution, at));
  if (expr->kind == Kind::Case) {
    copy->head = Clone(expr->head, substitution, at);
    copy->var = fresh(expr->var);
    for (const Alt& alt : expr->alts) {
      Alt made{alt.kind, alt.con, {}, alt.constant, nullptr};
      for (VarId var : alt.vars) made.vars.push_back(fresh(var));
      made.body = Clone(alt.body, substitution, at);
      copy->alts.push_back(std::move(made));
    }
    return copy;
  }
  for (VarId param : expr->params) copy->params.push_back(fresh(param));
  if (expr->kind == Kind::Let || expr->kind == Kind::Diff) {
    for (const Binding& binding : expr->bindings) copy->bindings.push_back({fresh(binding.var), nullptr});
    for (size_t i = 0; i < expr->bindings.size(); ++i)
      copy->bindings[i].value = Clone(expr->bindings[i].value, substitution, at);
  }
  if (expr->head) copy->head = Clone(expr->head, substitution, value ? Inlining() : at);
  if (expr->kind == Kind::App && copy->head->kind == Kind::Fun) copy->head->pos = copy->pos;
  return copy;
}

void Program::MoveTo(Expr* expr, Inlining at) {
  if (!at.site.valid()) return;
  const bool value = IsFunctionValue(*this, expr);
  if (!value) expr->pos = places.InlinedAt(expr->pos, at.site, at.action);
  ForEachChild(expr, [&](Expr* child) {
    if (!value || child != expr->head) MoveTo(child, at);
  });
  if (expr->kind == Kind::App && expr->head->kind == Kind::Fun) expr->head->pos = expr->pos;
}

// ---------------------------------------------------------------- looking at trees

bool IsAtom(const Program& program, const Expr* expr) {
  switch (expr->kind) {
    case Kind::Var:
    case Kind::Fun:
    case Kind::Const: return true;
    case Kind::App:
      return expr->head->kind == Kind::Fun &&
             expr->args.size() < program.functions[expr->head->fun].params.size() &&
             llvm::all_of(expr->args, [&](const Expr* arg) { return IsAtom(program, arg); });
    default: return false;
  }
}

static uint32_t CountNodes(const Expr* expr, uint32_t limit) {
  uint32_t count = 1;
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) {
    if (count < limit) count += CountNodes(child, limit - count);
  });
  return count;
}

uint32_t SizeOf(const Expr* expr, uint32_t limit) { return CountNodes(expr, limit); }

bool Mentions(const Expr* expr, FunId fun) {
  CheckBudget();
  if (!expr) return false;
  if (expr->kind == Kind::Fun && expr->fun == fun) return true;
  bool found = false;
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { found = found || Mentions(child, fun); });
  return found;
}

static void CollectCalls(const Expr* expr, std::vector<FunId>& calls) {
  if (expr->kind == Kind::Fun) calls.push_back(expr->fun);
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { CollectCalls(child, calls); });
}

// Tarjan's strongly connected components, with a stack of its own.
std::vector<std::vector<FunId>> CallGroups(const Program& program) {
  struct Visit {
    FunId fun;
    std::vector<FunId> calls;
    size_t next = 0;
  };
  std::vector<uint32_t> number(program.functions.size(), 0), low(program.functions.size(), 0);
  llvm::BitVector on_stack(program.functions.size());
  std::vector<FunId> stack;
  std::vector<Visit> visits;
  std::vector<std::vector<FunId>> groups;
  uint32_t count = 0;
  auto open = [&](FunId fun) {
    number[fun.index] = low[fun.index] = ++count;
    stack.push_back(fun);
    on_stack.set(fun.index);
    visits.push_back({fun, {}});
    if (program.functions[fun].body) CollectCalls(program.functions[fun].body, visits.back().calls);
  };
  open(program.main);
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.next < visit.calls.size()) {
      FunId callee = visit.calls[visit.next++];
      if (!number[callee.index]) open(callee);
      else if (on_stack.test(callee.index)) low[visit.fun.index] = std::min(low[visit.fun.index], number[callee.index]);
      continue;
    }
    FunId fun = visit.fun;
    visits.pop_back();
    if (!visits.empty()) low[visits.back().fun.index] = std::min(low[visits.back().fun.index], low[fun.index]);
    if (low[fun.index] != number[fun.index]) continue;
    groups.emplace_back();
    for (;;) {
      FunId member = stack.back();
      stack.pop_back();
      on_stack.reset(member.index);
      groups.back().push_back(member);
      if (member == fun) break;
    }
    std::reverse(groups.back().begin(), groups.back().end());
  }
  return groups;
}

void DropUnreachable(Program& program) {
  llvm::BitVector reached(program.functions.size());
  for (const std::vector<FunId>& group : CallGroups(program))
    for (FunId fun : group) reached.set(fun.index);
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    if (!reached.test(i)) program.functions[FunId(i)].body = nullptr;
}

}  // namespace df::mono
