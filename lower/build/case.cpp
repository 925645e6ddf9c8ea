// Matches: branches on Bool and on constructors. See build.h.
#include "lower/build/build.h"

namespace df::mono {

Builder::Yield Builder::Case(const Expr* expr, Shape shape, bool tail, Guards guards) {
  const Alt& first = expr->alts[0];
  if (!HasParts(expr->head)) p_.IrType(expr->head->type);  // as a field's type it may have no constructors yet
  bool literal = first.kind == core::AltKind::Literal;
  size_t constructors = p_.ConstructorsOf(expr->head->type).size();
  bool single = expr->alts.size() == 1 && (first.kind == core::AltKind::Default || constructors <= 1);
  // (Of () there is no constructor's number to look at.)
  const bool unit = first.kind == core::AltKind::Con && first.con == p_.core.unit_con;
  if (single && first.kind == core::AltKind::Con && !unit && self_.valid() && runaway_[self_.index] && !HasParts(expr->head))
    return GuardedCase(expr, shape, tail, std::move(guards));
  // A constructor of several that is the only alternative: the others were excluded before.
  if (single || (first.kind == core::AltKind::Con && constructors <= 1))
    return SingleCase(expr, shape, tail, std::move(guards));
  fg::Value scrutinee = Eval(expr->head);
  if (expr->var.valid()) BindValue(expr->var, scrutinee);
  if (FailsLate(scrutinee, 8))
    for (const Alt& alt : expr->alts)
      if (std::optional<fg::Value> token = TokenIn(alt.body)) {
        guards.push_back(*token);
        break;
      }
  if (literal) return LiteralCase(expr, scrutinee, shape, tail, std::move(guards));
  if (p_.BuiltinOf(expr->head->type) != df::Builtin::Bool)
    return DataCase(expr, scrutinee, shape, tail, std::move(guards));
  std::vector<std::function<Yield()>> sides;
  for (core::ConId con : {p_.core.true_con, p_.core.false_con}) {
    const Alt* taken = &expr->alts.back();
    for (const Alt& alt : expr->alts)
      if (alt.kind == core::AltKind::Default || alt.con == con) {
        taken = &alt;
        break;
      }
    sides.push_back([=, this] { return Build(taken->body, shape, tail, {}); });
  }
  return Branch(scrutinee, sides, shape, expr->type, tail, guards, expr->pos);
}

void Builder::BindFields(const Alt& alt, fg::Value data, ir::PosId pos) {
  if (alt.kind != core::AltKind::Con || alt.vars.empty()) return;
  const core::DataCon& con = p_.core.constructors[alt.con];
  const ir::Constructor row = p_.ir_types[TypeOf(data).type].constructors[con.index];
  for (uint32_t i = 0; i < alt.vars.size(); ++i) {
    ir::PortType type = row.fields[i].type;
    type.lazy = type.lazy && !FieldIsEvaluated(alt.vars[i]);
    fg::Value field = Op(ir::Op::Field, data, type, con.index << 16 | i, pos);
    Name(field, p_.vars[alt.vars[i]].name);
    BindValue(alt.vars[i], field);
  }
}

fg::Value Builder::NumberOf(fg::Value chosen, ir::PosId pos) {
  return Op(ir::Op::AltToInt, chosen, {Builtin(ir::TypeKind::Int), false}, 0, pos);
}

fg::Value Builder::IsNumber(fg::Value number, int64_t index, ir::PosId pos) {
  fg::Value wanted = Constant(p_.Intern({Builtin(ir::TypeKind::Int), index, ""}), pos);
  return Op(ir::Op::Eq, {number, wanted}, {Builtin(ir::TypeKind::Bool), false}, 0, pos);
}

Builder::Yield Builder::Impossible(const Expr* expr, Shape shape, bool tail) {
  // It has no need to wait: nobody comes here.
  if (shape == Shape::Late) shape = Shape::Single;
  return Build(p_.NewFail("impossible alternative", 1, expr->type, expr->pos), shape, tail, {});
}

// One way to go on: the scrutinee is evaluated, taken apart if it has parts, and must not have failed.
Builder::Yield Builder::SingleCase(const Expr* expr, Shape shape, bool tail, Guards guards) {
  const Alt& alt = expr->alts[0];
  fg::Value must;
  if (HasParts(expr->head)) {
    Yield yield = Build(expr->head, Shape::Parts, false, {});
    must = yield.values[0];
    Held held;
    held.in_parts = true;
    held.whole = must;
    held.parts.append(yield.values.begin() + 1, yield.values.end());
    for (size_t i = 0; i < alt.vars.size(); ++i) BindValue(alt.vars[i], held.parts[i]);
    if (expr->var.valid()) Bind(expr->var, std::move(held));
  } else {
    must = Eval(expr->head);
    if (expr->var.valid()) BindValue(expr->var, must);
    BindFields(alt, must, expr->pos);
  }
  const fg::Node& node = function_->nodes[must.node];
  // A constructor fails if a strict field does.
  bool lazy = expr->head->kind == Kind::Con &&
              llvm::none_of(p_.core.constructors[expr->head->con].fields, [](const core::Field& field) { return field.strict; });
  bool total = node.kind == fg::NodeKind::Op && (node.op == ir::Op::Const || (node.op == ir::Op::Construct && lazy));
  const bool waits = !total && !TypeOf(must).lazy && !IsState(must);
  // What was done before a failure is done before it is seen.
  std::optional<fg::Value> token = waits && FailsLate(must, 8) ? TokenIn(alt.body) : std::nullopt;
  if (token) must = Seq(*token, must, expr->pos);
  if (!total && (token || !strictness_.implied.contains(expr))) guards.push_back(must);
  if (waits) musts_.push_back(must);
  Yield yield = Build(alt.body, shape, tail, std::move(guards));
  if (waits) musts_.pop_back();
  return yield;
}

// The same behind a branch that an error does not take, where nothing else would end a recursion (runaway.h).
Builder::Yield Builder::GuardedCase(const Expr* expr, Shape shape, bool tail, Guards guards) {
  fg::Value scrutinee = Eval(expr->head);
  if (expr->var.valid()) BindValue(expr->var, scrutinee);
  ir::PosId pos = expr->pos;
  fg::Value chosen = Op(ir::Op::Match, scrutinee, {Builtin(ir::TypeKind::Alt), false}, 0, pos);
  fg::Value there = IsNumber(NumberOf(chosen, pos), 0, pos);
  std::vector<std::function<Yield()>> sides = {
      [&] {
        BindFields(expr->alts[0], scrutinee, pos);
        return Build(expr->alts[0].body, shape, tail, {});
      },
      [&] { return Impossible(expr, shape, tail); }};
  return Branch(there, sides, shape, expr->type, tail, guards, pos);
}

// Whether each constructor is given its number, as derived `==`, `compare` and `fromEnum` of an enumeration begin.
bool Builder::GivesNumbers(const Expr* expr) const {
  if (!optimize_ || expr->alts.size() != p_.ConstructorsOf(expr->head->type).size()) return false;
  if (const_cast<Program&>(p_).BuiltinOf(expr->type) != df::Builtin::Int) return false;
  return llvm::all_of(expr->alts, [&](const Alt& alt) {
    if (alt.kind != core::AltKind::Con || alt.body->kind != Kind::Const) return false;
    const ir::Constant& given = p_.constants[alt.body->constant];
    return given.text.empty() && given.word == static_cast<int64_t>(p_.core.constructors[alt.con].index);
  });
}

Builder::Yield Builder::DataCase(const Expr* expr, fg::Value scrutinee, Shape shape, bool tail, Guards guards) {
  ir::PosId pos = expr->pos;
  llvm::ArrayRef<core::ConId> constructors = p_.ConstructorsOf(expr->head->type);
  fg::Value chosen = Op(ir::Op::Match, scrutinee, {Builtin(ir::TypeKind::Alt), false}, 0, pos);
  size_t named = llvm::count_if(expr->alts, [](const Alt& alt) { return alt.kind == core::AltKind::Con; });
  if (GivesNumbers(expr)) {
    Yield yield;
    yield.values = {NumberOf(chosen, pos)};
    return Finish(std::move(yield), guards, pos);
  }
  const Alt& last = expr->alts.back();
  // Many constructors share a long alternative, or a few are told from very many (the derived instances of a type with n
  // constructors ask so n times): compare numbers instead of copying it.
  const size_t others = constructors.size() - named;
  const bool copies = last.kind == core::AltKind::Default && others > 1 &&
                      (SizeOf(last.body, 11) > 10 || others * SizeOf(last.body, 11) > 64 * named);
  if (copies) {
    std::vector<Choice> choices;
    for (size_t i = 0; i < named; ++i) {
      const Alt* alt = &expr->alts[i];
      int64_t index = p_.core.constructors[alt->con].index;
      choices.push_back({p_.Intern({Builtin(ir::TypeKind::Int), index, ""}), [=, this] {
                           BindFields(*alt, scrutinee, pos);
                           return Build(alt->body, shape, tail, {});
                         }});
    }
    const Choosing how{NumberOf(chosen, pos), [&] { return Build(last.body, shape, tail, {}); }, SizeOf(last.body, 11), shape, expr->type, tail, pos};
    return ChooseAmong(std::move(choices), how, std::move(guards));
  }
  std::vector<std::function<Yield()>> sides;
  for (core::ConId con : constructors) {
    const Alt* taken = nullptr;
    for (const Alt& alt : expr->alts)
      if (!taken && (alt.kind == core::AltKind::Default || alt.con == con)) taken = &alt;
    sides.push_back([=, this]() -> Yield {
      if (taken) {
        if (taken->kind == core::AltKind::Con) BindFields(*taken, scrutinee, pos);
        return Build(taken->body, shape, tail, {});
      }
      return Impossible(expr, shape, tail);  // the match was exhaustive without it
    });
  }
  return Branch(chosen, sides, shape, expr->type, tail, guards, pos);
}

// One block per side; what the sides yield, merged.
Builder::Yield Builder::Branch(fg::Value predicate, llvm::ArrayRef<std::function<Yield()>> sides, Shape shape,
                               df::TypeId type, bool tail, const Guards& guards, ir::PosId pos) {
  for (fg::Value guard : llvm::reverse(guards)) predicate = Seq(guard, predicate, pos);
  fg::Node node;
  node.kind = fg::NodeKind::Branch;
  node.operands = {predicate};
  node.pos = pos;
  fg::BlockId outer = block_;
  for (const std::function<Yield()>& side : sides) {
    fg::BlockId id = function_->blocks.Add({});
    node.blocks.push_back(id);
    block_ = id;
    size_t mark = Mark();
    Yield yield = side();
    Undo(mark);
    fg::Block& block = function_->blocks[id];
    block.yields.assign(yield.values.begin(), yield.values.end());
    block.again = yield.again;
    block.pos = yield.pos;
  }
  block_ = outer;
  if (tail && self_.valid()) {
    // The function's own results; what does not fit is found at its end.
    for (ir::PortType result : function_->results) node.results.push_back(result);
  } else if (shape != Shape::Parts) {
    node.results = {Strict(type)};
  } else {
    llvm::SmallVector<df::TypeId> elements;
    p_.IsTuple(type, &elements);
    node.results = {{Builtin(ir::TypeKind::Unit), false}};
    for (df::TypeId element : elements) node.results.push_back(Strict(element));
  }
  for (fg::BlockId id : node.blocks) {
    const fg::Block& block = function_->blocks[id];
    for (size_t i = 0; !block.again && i < block.yields.size(); ++i) {
      if (!TypeOf(block.yields[i]).lazy || node.results[i].lazy) continue;
      node.results[i].lazy = true;
      if (tail && self_.valid() && tuples_[self_.index]) Drop(PartOf(self_, i - 1));
    }
  }
  uint32_t count = static_cast<uint32_t>(node.results.size());
  fg::NodeId id = AddNode(std::move(node));
  Yield merged;
  for (uint32_t k = 0; k < count; ++k) merged.values.push_back({id, k});
  return merged;
}

}  // namespace df::mono
