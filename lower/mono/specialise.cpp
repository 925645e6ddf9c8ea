// See specialise.h.
#include "lower/mono/specialise.h"

#include "tagged_ir/tensor_rules.h"

namespace df::mono {

bool Specialiser::Run(core::VarId entry) {
  const core::Var& var = p_.core.vars[entry];
  TypeArgs types = DefaultTypes(var.scheme);
  p_.main = Instance(entry, types, var.span);
  ShowMain(p_.core.types.Substitute(var.scheme.type, var.scheme.tyvars, types), var.span);
  while (!work_.empty() && !too_many_) {
    Work work = std::move(work_.front());
    work_.pop_front();
    Translate(work);
  }
  SettlePolys();
  if (const df::TypeId type = p_.core.types.endless; type.valid())
    p_.diags.Report(Diag::FamilyEndless, var.span, Text(p_.core.types.cons[p_.core.types.Head(type)].name), df::Types::kMostReductions);
  return !p_.diags.has_errors();
}

// A main whose type was left open takes Haskell's defaults, a variable without classes is the unit type.
Specialiser::TypeArgs Specialiser::DefaultTypes(const core::Scheme& scheme) const {
  TypeArgs types;
  for (TyVarId var : scheme.tyvars) {
    df::Builtin builtin = df::Builtin::Unit;
    for (const core::Pred& pred : scheme.preds) {
      if (p_.core.types.Kind(pred.type) != TypeKind::Var || p_.core.types.VarOf(pred.type) != var) continue;
      std::string_view name = Text(p_.core.classes[pred.cls].name);
      bool fractional = name == "Fractional" || name == "Floating" || name == "RealFrac" || name == "RealFloat";
      bool number = name == "Num" || name == "Integral" || name == "Real" || name == "Enum";
      if (fractional) builtin = df::Builtin::Double;
      else if (number && builtin != df::Builtin::Double) builtin = df::Builtin::Integer;
    }
    types.push_back(p_.core.types.Scalar(builtin));
  }
  return types;
}

// ---------------------------------------------------------------- instances

void Specialiser::CountTypeNodes(df::TypeId type, uint32_t& count) const {
  if (++count > kMaxTypeNodes || p_.core.types.Kind(type) != TypeKind::App) return;
  CountTypeNodes(p_.core.types.FnOf(type), count);
  CountTypeNodes(p_.core.types.ArgOf(type), count);
}

bool Specialiser::AnyIsLarge(const TypeArgs& types) const {
  return llvm::any_of(types, [&](df::TypeId type) {
    uint32_t nodes = 0;
    CountTypeNodes(type, nodes);
    return nodes > kMaxTypeNodes;
  });
}

FunId Specialiser::Instance(core::VarId top, const TypeArgs& types, Span use) {
  auto [it, fresh] = instances_.try_emplace({top.index, types});
  if (!fresh) return it->second;
  const core::Var& var = p_.core.vars[top];
  // Types that grow at each step double in size soon: their size ends the search before their number does. A few large ones are none that
  // grow: a record of a thousand fields, a function of as many parameters.
  const bool large = AnyIsLarge(types);
  uint32_t copies = ++copies_of_[top.index];
  if ((copies > options_.max_instances || (large && copies > kFewCopies)) && !too_many_) {
    too_many_ = true;
    p_.diags.Report(Diag::TooManyInstances, use, Text(var.name), copies);
  }
  std::string name(Text(var.name));
  if (copies > 1 && !too_many_ && !large && types.size() <= kMaxTypeNodes)
    for (size_t i = 0; i < types.size(); ++i) name += (i ? "," : "@") + p_.core.types.Print(types[i]);
  Function function;
  function.name = p_.UniqueName(name);
  function.source_name = std::string(Text(var.name));
  function.pos = p_.PosOf(var.span, function.source_name);
  function.from_library = var.from_library;
  function.spread = var.from_library && Text(var.name).starts_with("primSpread");
  FunId id = p_.functions.Add(std::move(function));
  it->second = id;
  if (var.from_library) NoteTextFunction(var, types, id);
  work_.push_back({id, top, types, called_ ? *called_ : Use{use, var.name, function_name_}, top == current_ && !var.from_library});
  return id;
}

// Simplify knows these by what they do to literals.
void Specialiser::NoteTextFunction(const core::Var& var, const TypeArgs& types, FunId id) {
  std::string_view name = Text(var.name);
  if (name == "primTextAppend") p_.text_append = id;
  if (name == "primTextOnto") p_.text_onto = id;
  if (name == "primTextPack") p_.text_pack = id;
  if (name == "primTextPackOnto") p_.text_pack_onto = id;
  if (name == "primTensorLiteral") p_.tensor_literals.insert(id.index);
  if (name == "++" && types[0] == p_.core.types.Scalar(df::Builtin::Char)) p_.list_append = id;
}

void Specialiser::Translate(const Work& work) {
  const core::Var& var = p_.core.vars[work.top];
  const core::Expr* value = p_.core.DefinitionOf(work.top);
  function_name_ = p_.functions[work.fun].source_name;
  called_ = var.from_library ? std::optional(work.use) : std::nullopt;
  current_ = work.top;
  calls_itself_ = work.by_itself;
  doing_ = &work;
  type_vars_.assign(var.scheme.tyvars.begin(), var.scheme.tyvars.end());
  type_values_.assign(work.types.begin(), work.types.end());
  type_values_.resize(type_vars_.size(), p_.core.types.Scalar(df::Builtin::Unit));
  locals_.clear();
  df::TypeId type = Ground(var.scheme.type);
  Expr* body;
  if (value) {
    body = Expression(value);
  } else {
    // A name that no module defines: only an instance method without a default.
    body = p_.NewFail(fmt::format("No instance nor default method for class operation {}", Text(var.name)), 1, type,
                      Pos(var.span));
  }
  Function& function = p_.functions[work.fun];
  function.params.clear();  // if it was translated before
  for (; body->kind == Kind::Lambda; body = body->head) function.params.append(body->params.begin(), body->params.end());
  function.body = body;
  function.result = p_.ResultAfter(type, function.params.size());
}

bool Specialiser::MatchType(df::TypeId pattern, df::TypeId type, llvm::ArrayRef<TyVarId> vars,
                            llvm::MutableArrayRef<df::TypeId> bound) const {
  const df::Types& types = p_.core.types;
  switch (types.Kind(pattern)) {
    case TypeKind::Var:
      for (size_t i = 0; i < vars.size(); ++i) {
        if (vars[i] != types.VarOf(pattern)) continue;
        if (bound[i].valid()) return bound[i] == type;
        bound[i] = type;
        return true;
      }
      return false;
    case TypeKind::App:
      return types.Kind(type) == TypeKind::App && MatchType(types.FnOf(pattern), types.FnOf(type), vars, bound) &&
             MatchType(types.ArgOf(pattern), types.ArgOf(type), vars, bound);
    default: return pattern == type;
  }
}

Specialiser::Specialiser(Program& program, const LowerOptions& options) : p_(program), options_(options) {
  for (const core::Instance& instance : p_.core.instances)
    instances_at_[{instance.cls.index, p_.core.types.Head(instance.head).index}].push_back(&instance);
}

// Of several that match, the one whose head another one's matches as well: `C [Char]` before `C [a]`.
const core::Instance* Specialiser::FindInstance(core::ClassId cls, df::TypeId type, TypeArgs& bound) const {
  const core::Instance* found = nullptr;
  TypeArgs variables;
  auto matches = [&](const core::Instance& instance, df::TypeId at) {
    variables.assign(instance.tyvars.size(), {});
    return MatchType(instance.head, at, instance.tyvars, variables);
  };
  auto at = instances_at_.find({cls.index, p_.core.types.Head(type).index});
  if (at != instances_at_.end())
    for (const core::Instance* instance : at->second) {
      if ((found && !matches(*found, instance->head)) || !matches(*instance, type)) continue;
      found = instance;
      bound = variables;
    }
  for (df::TypeId& argument : bound)
    if (!argument.valid()) argument = p_.core.types.Scalar(df::Builtin::Unit);
  return found;
}

bool Specialiser::Resolve(core::VarId method, const TypeArgs& types, core::VarId& top, TypeArgs& top_types) {
  const core::Var& var = p_.core.vars[method];
  const core::Class& cls = p_.core.classes[var.cls];
  const size_t params = cls.params.size();
  if (types.size() < params) return false;
  const core::Instance* instance = FindInstance(var.cls, core::ClassType(p_.core, var.cls, llvm::ArrayRef(types).take_front(params)), top_types);
  if (instance && var.method_index < instance->methods.size() && instance->methods[var.method_index].valid()) {
    top = instance->methods[var.method_index];
    top_types.insert(top_types.end(), types.begin() + static_cast<std::ptrdiff_t>(params), types.end());
    return true;
  }
  top = var.method_index < cls.defaults.size() ? cls.defaults[var.method_index] : core::VarId();
  top_types = types;
  return top.valid();
}

// ---------------------------------------------------------------- types

df::TypeId Specialiser::Ground(df::TypeId type) {
  df::Types& types = p_.core.types;
  type = types.Substitute(type, type_vars_, type_values_);
  if (types.IsGround(type)) return type;
  // What nothing determines can be anything: `length []` does not look at its elements.
  llvm::SmallVector<TyVarId> rest;
  types.FreeVars(type, rest);
  llvm::SmallVector<df::TypeId> units(rest.size(), types.Scalar(df::Builtin::Unit));
  return types.Substitute(type, rest, units);
}

Specialiser::TypeArgs Specialiser::Ground(llvm::ArrayRef<df::TypeId> types) {
  TypeArgs out;
  for (df::TypeId type : types) out.push_back(Ground(type));
  return out;
}

VarId Specialiser::NewLocal(core::VarId var) {
  if (!var.valid()) return {};
  const core::Var& source = p_.core.vars[var];
  VarId made = p_.NewVar(std::string(Text(source.name)), Ground(source.scheme.type));
  Local local;
  local.instances.push_back({{}, made});
  locals_[var.index] = std::move(local);
  return made;
}

// ---------------------------------------------------------------- expressions

Expr* Specialiser::Expression(const core::Expr* expr) {
  switch (expr->kind) {
    case core::ExprKind::Var: return Variable(llvm::cast<core::VarExpr>(expr));
    case core::ExprKind::Con:
      return Saturated(llvm::cast<core::ConExpr>(expr)->con, {}, expr, {}, Ground(expr->type), Pos(expr->span));
    case core::ExprKind::Literal: {
      const auto* literal = llvm::cast<core::LiteralExpr>(expr);
      return Literal(literal->literal, Text(literal->text), Ground(expr->type), expr->span);
    }
    case core::ExprKind::App: return Application(llvm::cast<core::AppExpr>(expr));
    case core::ExprKind::Lambda: {
      const auto* lambda = llvm::cast<core::LambdaExpr>(expr);
      Expr* made = p_.New(Kind::Lambda, Ground(expr->type), Pos(expr->span));
      for (core::VarId param : lambda->params) made->params.push_back(NewLocal(param));
      made->head = Expression(lambda->body);
      return made;
    }
    case core::ExprKind::Let: return Let(llvm::cast<core::LetExpr>(expr));
    case core::ExprKind::Case: return Case(llvm::cast<core::CaseExpr>(expr));
    case core::ExprKind::Fail:
      return p_.NewFail(std::string(Text(llvm::cast<core::FailExpr>(expr)->message)), 1, Ground(expr->type),
                        Pos(expr->span));
    case core::ExprKind::Match:
    case core::ExprKind::FatBar:
    case core::ExprKind::Fall: break;
  }
  llvm_unreachable("matches are compiled away before lowering");
}

Expr* Specialiser::Variable(const core::VarExpr* expr) {
  const core::Var& var = p_.core.vars[expr->var];
  df::TypeId type = Ground(expr->type);
  if (core::VarId prim = PrimitiveOf(expr); prim.valid()) return Saturated({}, prim, expr, {}, type, Pos(expr->span));
  if (var.scheme.tyvars.empty() != expr->type_args.empty()) return expr->type_args.empty() ? PolyValue(expr) : PolyUse(expr);
  TypeArgs types = Ground(expr->type_args);
  if (var.kind != core::VarKind::Local) return TopVariable(expr->var, types, type, expr->span);
  return LocalVariable(expr->var, types, type, expr->span);
}

Expr* Specialiser::TopVariable(core::VarId top, const TypeArgs& types, df::TypeId type, Span span) {
  const core::Var& var = p_.core.vars[top];
  if (var.kind != core::VarKind::Method) return p_.NewFun(Instance(top, types, span), type, Pos(span));
  core::VarId definition;
  TypeArgs definition_types;
  if (!types.empty() && Resolve(top, types, definition, definition_types))
    return p_.NewFun(Instance(definition, definition_types, span), type, Pos(span));
  return p_.NewFail(fmt::format("No instance nor default method for class operation {}", Text(var.name)), 1, type,
                    Pos(span));
}

Expr* Specialiser::Application(const core::AppExpr* expr) {
  // f a b c is one App or several: collect all arguments.
  llvm::SmallVector<const core::AppExpr*, 4> chain = {expr};
  const core::Expr* head = expr->fn;
  while (const auto* inner = llvm::dyn_cast<core::AppExpr>(head)) {
    chain.push_back(inner);
    head = inner->fn;
  }
  llvm::SmallVector<Expr*, 4> args;
  for (const core::AppExpr* app : llvm::reverse(chain))
    for (const core::Expr* arg : app->args) args.push_back(FunctionArgument(Expression(arg)));
  df::TypeId type = Ground(expr->type);
  // The place of a call is that of the function in it: x `div` 0 fails at `div`, not at x.
  ir::PosId pos = Pos(head->span.valid() ? head->span : expr->span);
  if (const auto* con = llvm::dyn_cast<core::ConExpr>(head)) return Saturated(con->con, {}, head, args, type, pos);
  if (const auto* var = llvm::dyn_cast<core::VarExpr>(head))
    if (core::VarId prim = PrimitiveOf(var); prim.valid()) return Saturated({}, prim, head, args, type, pos);
  return p_.NewApp(Expression(head), args, type, pos);
}

// A function that is chosen, `if c then f else g`, gets a name, and with it parameters where that loses nothing
// (arity.cpp): let s = c; chosen x = if s then f x else g x in chosen.
Expr* Specialiser::FunctionArgument(Expr* arg) {
  if (arg->kind != Kind::Case || !p_.IsFunction(arg->type)) return arg;
  VarId scrutinee = p_.NewVar("chosen", arg->head->type), chosen = p_.NewVar("chosen", arg->type);
  Expr* value = arg->head;
  arg->head = p_.NewVarExpr(scrutinee, value->pos);
  return p_.NewLet(scrutinee, value, p_.NewLet(chosen, arg, p_.NewVarExpr(chosen, arg->pos), arg->pos), arg->pos);
}

// The primitive that a variable is: itself, or by way of an instance that says `(+) = primIntAdd`. Invalid if it is none.
core::VarId Specialiser::PrimitiveOf(const core::VarExpr* expr) {
  const core::Var& var = p_.core.vars[expr->var];
  if (var.kind == core::VarKind::Primitive) return expr->var;
  if (var.kind != core::VarKind::Method || expr->type_args.empty()) return {};
  core::VarId definition;
  TypeArgs types;
  if (!Resolve(expr->var, Ground(expr->type_args), definition, types)) return {};
  const auto* alias = llvm::dyn_cast_or_null<core::VarExpr>(p_.core.DefinitionOf(definition));
  return alias && p_.core.vars[alias->var].kind == core::VarKind::Primitive ? alias->var : core::VarId();
}

// A constructor or primitive with any number of arguments: missing ones become parameters of a lambda, surplus ones
// are applied to the result.
Expr* Specialiser::Saturated(core::ConId con, core::VarId prim, const core::Expr* head, llvm::ArrayRef<Expr*> args,
                             df::TypeId type, ir::PosId pos) {
  llvm::SmallVector<df::TypeId> params;
  uint32_t arity;
  if (con.valid()) {
    arity = static_cast<uint32_t>(p_.core.constructors[con].fields.size());
  } else {
    llvm::SmallVector<df::TypeId> declared;
    p_.core.types.SplitFun(p_.core.vars[prim].scheme.type, declared);
    arity = static_cast<uint32_t>(declared.size());
  }
  df::TypeId result = p_.core.types.SplitFun(Ground(head->type), params, arity);
  llvm::SmallVector<Expr*, 4> all(args.begin(), args.begin() + std::min<size_t>(arity, args.size()));
  llvm::SmallVector<VarId, 4> missing;
  for (uint32_t i = static_cast<uint32_t>(all.size()); i < arity; ++i) {
    missing.push_back(p_.NewVar(fmt::format("p{}", i + 1), i < params.size() ? params[i] : type));
    all.push_back(p_.NewVarExpr(missing.back(), pos));
  }
  TypeArgs hidden;
  if (con.valid())
    if (const size_t count = p_.core.constructors[con].exists.size()) hidden = Ground(llvm::cast<core::ConExpr>(head)->type_args.take_back(count));
  Expr* made = con.valid() ? Construction(con, hidden, all, result, head->span, pos) : Primitive(prim, all, result, head->span, pos);
  if (!missing.empty()) {
    Expr* lambda = p_.New(Kind::Lambda, type, pos);
    lambda->params.assign(missing.begin(), missing.end());
    lambda->head = made;
    return lambda;
  }
  return args.size() > arity ? p_.NewApp(made, args.drop_front(arity), type, pos) : made;
}

Expr* Specialiser::Construction(core::ConId con, const TypeArgs& hidden, llvm::ArrayRef<Expr*> args, df::TypeId type, Span span,
                                ir::PosId pos) {
  if (p_.Packs(type)) {
    bool fresh = false;
    const core::ConId original = con;
    con = p_.AddVariant(type, con, hidden, &fresh);
    if (fresh) {
      std::vector<Work> again = std::exchange(looks_at_[type.index], {});
      work_.insert(work_.end(), again.begin(), again.end());
      if (p_.packed[p_.PackedIndex(type)].variants.size() > kMostVariants || AnyIsLarge(hidden)) ReportPacked(type, original, span);
    }
  }
  const core::DataCon& data = p_.core.constructors[con];
  const TyCon& tycon = p_.core.types.cons[data.tycon];
  if (tycon.is_newtype) return args[0];
  if (con == p_.core.true_con || con == p_.core.false_con)
    return p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Bool), con == p_.core.true_con, ""}, type, pos);
  if (con == p_.core.unit_con) return p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Unit), 0, ""}, type, pos);
  if (tycon.builtin == df::Builtin::State) {
    Expr* nothing = p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Unit), 0, ""}, p_.core.types.Scalar(df::Builtin::Unit), pos);
    return p_.NewOp(ir::Op::NewState, {nothing}, type, pos);
  }
  Expr* made = p_.New(Kind::Con, type, pos);
  made->con = con;
  made->args.assign(args.begin(), args.end());
  return made;
}

Expr* Specialiser::Primitive(core::VarId prim, llvm::ArrayRef<Expr*> args, df::TypeId type, Span span,
                             ir::PosId pos) {
  std::string_view name = Text(p_.core.vars[prim].prim);
  if (name == "<pack>") return Packed(args[0], type, pos);
  if (name == "<unpack>") return Unpacked(args[0], type, pos);
  if (name == "<type>") return StringLiteral(p_.core.types.Print(args[0]->type), type, span);
  if (name == "<coerce>") return Coerced(args[0], type, span, pos);
  if (ir::IsHostInput(name)) return p_.NewVarExpr(p_.HostInputNamed(name, type), pos);
  if (std::optional<fg::DiffMode> mode = fg::DiffModeNamed(name)) return Derivative(*mode, args, type, pos);
  if (name == "HasReals") {  // whether gradients may be asked for with respect to what an array holds
    llvm::SmallVector<df::TypeId> held;
    p_.core.types.Head(args[0]->type, &held);
    const bool reals = Differentiates() && HasReals(held[0]);
    return p_.NewConst({p_.ir_types.Builtin(ir::TypeKind::Bool), reals, ""}, type, pos);
  }
  if (name == "Zero") return Zero(type, 0, pos);
  // "Concat 0": the op's attribute stands behind its name.
  auto [op_name, digits] = llvm::StringRef(name).split(' ');
  bool each = digits == "First"                         ? args.size() == 1
              : digits == "Fill" || digits == "Second" ? args.size() == 2
              : digits == "Step"                       ? args.size() == 3
                                                       : ir::OpNamed(digits.str()).has_value();
  if (op_name == "Each" && each)
    return Each(digits, args, type, pos);
  std::optional<ir::Op> op = ir::OpNamed(op_name);
  uint32_t attr = 0;
  bool good = digits.empty() || !digits.getAsInteger(0, attr);
  if (!good || !op || ir::InfoOf(*op).cls != ir::OpClass::Ordinary || ir::IsTableOp(*op)) {
    p_.diags.Report(Diag::BadPrimitive, span, name, args.size());
    return p_.NewFail(std::string(name), 1, type, pos);
  }
  if (*op == ir::Op::Seq && args.size() == 2) {
    Expr* made = p_.New(Kind::Case, type, pos);
    made->head = args[0];
    made->alts.push_back({core::AltKind::Default, {}, {}, {}, args[1]});
    return made;
  }
  if (*op == ir::Op::Fail && attr != ir::kThrown && args.size() == 1) return Failure(args[0], attr, type, span, pos);
  Expr* made = p_.NewOp(*op, args, type, pos);
  made->attr = ir::HasElementNumber(*op) ? ElementNumber(made) : attr;
  return CheckTensors(Text(p_.core.vars[prim].name), made, span) ? made : p_.NewFail("a tensor of no shape", 1, type, pos);
}

// The value itself: newtypes have gone, and types that differ in newtypes alone are one type of the graph (Program::IrType).
Expr* Specialiser::Coerced(Expr* value, df::TypeId type, Span span, ir::PosId pos) {
  if (p_.IrType(value->type) == p_.IrType(type)) return value;
  p_.diags.Report(Diag::CoerceRefused, called_ ? called_->span : span, p_.core.types.Print(value->type), p_.core.types.Print(type),
                  "a newtype that holds itself, below another type, is not the same in a graph");
  return p_.NewFail("coerce", 1, type, pos);
}

// Whether the module Gradient was read.
bool Specialiser::Differentiates() {
  if (!differentiates_) {
    differentiates_ = false;
    for (uint32_t i = 0; i < p_.core.vars.size() && !*differentiates_; ++i) {
      Symbol prim = p_.core.vars[core::VarId(i)].prim;
      differentiates_ = prim.valid() && fg::DiffModeNamed(Text(prim)).has_value();
    }
  }
  return *differentiates_;
}

// The attribute of an op on an array: which type its elements have, and how they are stored.
uint32_t Specialiser::ElementNumber(const Expr* op) {
  const bool reads = op->op == ir::Op::ReadStore || op->op == ir::Op::ReadFrozen;
  ir::TypeId element = p_.IrType(reads ? op->type : op->args.back()->type);
  ir::TypeKind kind = p_.ir_types.Kind(element);
  const bool word = kind >= ir::TypeKind::Unit && kind <= ir::TypeKind::Double && kind != ir::TypeKind::Integer;
  return element.index << 2 | (kind == ir::TypeKind::Bool ? 0 : word ? 1 : 2);
}

bool Specialiser::CheckTensors(std::string_view name, const Expr* op, Span span) {
  bool any = p_.BuiltinOf(op->type) == df::Builtin::Tensor;
  for (const Expr* arg : op->args) any |= p_.BuiltinOf(arg->type) == df::Builtin::Tensor;
  if (!any || op->op == ir::Op::Seq || op->op == ir::Op::Fail) return true;
  if (too_many_) return false;
  if (called_) span = called_->span;
  auto fresh = [&] { return bad_shapes_.insert({span.file.index, span.begin}).second; };
  llvm::SmallVector<df::TypeId, 4> types;
  for (const Expr* arg : op->args) types.push_back(arg->type);
  types.push_back(op->type);
  llvm::SmallVector<ir::TypeId, 4> rows;
  for (df::TypeId type : types) {
    ir::TypeKind element;
    llvm::SmallVector<int64_t> dims;
    if (p_.BuiltinOf(type) == df::Builtin::Tensor)
      if (std::string fault = p_.TensorShape(type, &element, &dims); !fault.empty()) {
        std::string text = p_.core.types.Print(type);
        const bool open = fault.starts_with("nothing says");
        if (open ? !open_shapes_.insert({called_ ? called_->function : function_name_, text}).second || !fresh() : !fresh()) return false;
        auto& diag = p_.diags.Report(Diag::TensorType, span, text, fault);
        std::string hint = "an annotation says it, `(x :: Tensor Float [2, 3])`, or a signature";
        if (!p_.core.main_params.empty()) hint += "; of main's inputs `dfc run` of a source file looks at the data";
        if (open && open_shapes_.size() == 1) diag.Hint(hint);
        if (!open && calls_itself_) {
          diag.Note(Span(), fmt::format("`{}` calls itself at other sizes; all sizes are settled before the program runs, where no test on values ends this", function_name_))
              .Hint("a list of tensors, or a loop over an index, goes on as long as values say");
          too_many_ = true;
        }
        return false;
      }
    rows.push_back(p_.IrType(type));
  }
  llvm::SmallVector<const ir::Type*, 4> shapes;  // once no more rows are added
  for (ir::TypeId row : rows) shapes.push_back(&p_.ir_types[row]);
  std::string fault = ir::TensorFault(op->op, op->attr, llvm::ArrayRef(shapes).drop_back(), *shapes.back());
  if (!fault.empty() && fresh())
    p_.diags.Report(Diag::TensorShape, span, called_ ? Text(called_->name) : name, fault);
  return fault.empty();
}

// vjp f x t, jvp f x t: of f x' with respect to x' at x.
Expr* Specialiser::Derivative(fg::DiffMode mode, llvm::ArrayRef<Expr*> args, df::TypeId type, ir::PosId pos) {
  Expr* made = p_.New(Kind::Diff, type, pos);
  made->attr = static_cast<uint32_t>(mode);
  if (mode == fg::DiffMode::Stop) {
    made->head = args[0];
    return made;
  }
  VarId var = p_.NewVar("x", args[1]->type);
  made->bindings.push_back({var, args[1]});
  made->args.push_back(args[2]);
  df::TypeId result = p_.ResultAfter(args[0]->type, 1);
  made->head = p_.NewApp(args[0], p_.NewVarExpr(var, pos), result, pos);
  return made;
}

// The message is packed when the failure happens: an error is a datum, and holds no list that somebody has to force.
Expr* Specialiser::Failure(Expr* message, uint32_t kind, df::TypeId type, Span span, ir::PosId pos) {
  Expr* text = TextOfLiteral(p_, message);
  if (!text) {
    core::VarId pack = LibraryFunction("primTextPack");
    Expr* head = p_.NewFun(Instance(pack, {}, span), p_.core.vars[pack].scheme.type, pos);
    text = p_.NewApp(head, message, p_.core.types.Scalar(df::Builtin::Text), pos);
  }
  Expr* made = p_.NewOp(ir::Op::Fail, text, type, pos);
  made->attr = kind;
  return made;
}

// The body says at which types it needs a binding; then the bindings are translated at these types, which may ask for
// more of the same group. What nothing asks for is dropped.
Expr* Specialiser::Let(const core::LetExpr* expr) {
  for (const core::Binding& binding : expr->bindings) {
    Local local;
    local.binding = &binding;
    locals_[binding.var.index] = std::move(local);
  }
  Expr* body = Expression(expr->body);
  Expr* made = p_.New(Kind::Let, body->type, Pos(expr->span));
  made->recursive = expr->recursive;
  made->head = body;
  std::vector<size_t> done(expr->bindings.size(), 0);
  for (bool again = true; again && !too_many_;) {
    again = false;
    for (size_t i = 0; i < expr->bindings.size(); ++i) {
      const core::Binding& binding = expr->bindings[i];
      const core::Var& var = p_.core.vars[binding.var];
      while (done[i] < locals_[binding.var.index].instances.size()) {
        again = true;
        auto [types, id] = locals_[binding.var.index].instances[done[i]++];
        if (done[i] > options_.max_instances || (done[i] > kFewCopies && AnyIsLarge(types))) {
          too_many_ = true;
          p_.diags.Report(Diag::TooManyInstances, var.span, Text(var.name), done[i]);
          break;
        }
        size_t outer = type_vars_.size();
        type_vars_.append(var.scheme.tyvars.begin(), var.scheme.tyvars.end());
        type_values_.append(types.begin(), types.end());
        type_values_.resize(type_vars_.size(), p_.core.types.Scalar(df::Builtin::Unit));
        bool is_function = p_.IsFunction(p_.vars[id].type);
        std::string saved = function_name_;
        if (is_function && Text(var.name) != "%poly") function_name_ = std::string(Text(var.name));
        Expr* value = Expression(binding.value);
        function_name_ = saved;
        made->bindings.push_back({id, value});
        type_vars_.truncate(outer);
        type_values_.truncate(outer);
      }
    }
    if (!expr->recursive) break;
  }
  return made->bindings.empty() ? body : made;
}

Expr* Specialiser::Case(const core::CaseExpr* expr) {
  Expr* scrutinee = Expression(expr->scrutinee);
  df::TypeId type = Ground(expr->type);
  df::TypeId scrutinee_type = Ground(expr->scrutinee->type);
  ir::PosId pos = Pos(expr->span);
  if (!expr->alts.empty() && expr->alts[0].kind == core::AltKind::Con && p_.Packs(scrutinee_type)) return PackedCase(expr, scrutinee);
  // Matching a newtype's constructor does nothing: the parts are only named.
  bool newtype = !expr->alts.empty() && expr->alts[0].kind == core::AltKind::Con &&
                 p_.core.types.cons[p_.core.constructors[expr->alts[0].con].tycon].is_newtype;
  if (newtype) {
    const core::Alt& alt = expr->alts[0];
    VarId whole = expr->binder.valid() ? NewLocal(expr->binder) : p_.NewVar("held", scrutinee_type);
    VarId part = NewLocal(alt.vars[0]);
    Expr* body = Expression(alt.body);
    return p_.NewLet(whole, scrutinee, p_.NewLet(part, p_.NewVarExpr(whole, pos), body, pos), pos);
  }
  Expr* made = p_.New(Kind::Case, type, pos);
  made->head = scrutinee;
  made->var = NewLocal(expr->binder);
  for (const core::Alt& alt : expr->alts) {
    Alt row{alt.kind, alt.con, {}, {}, nullptr};
    for (core::VarId var : alt.vars) row.vars.push_back(NewLocal(var));
    if (alt.kind == core::AltKind::Literal) {
      Expr* literal = Literal(alt.literal, Text(alt.text), scrutinee_type, expr->span);
      if (literal->kind != Kind::Const) {
        p_.diags.Report(Diag::NoLiteral, expr->span, p_.core.types.Print(scrutinee_type));
        continue;
      }
      row.constant = literal->constant;
    }
    row.body = Expression(alt.body);
    made->alts.push_back(std::move(row));
  }
  return made;
}

bool Specialise(Program& program, core::VarId entry, const LowerOptions& options) {
  return Specialiser(program, options).Run(entry);
}

}  // namespace df::mono
