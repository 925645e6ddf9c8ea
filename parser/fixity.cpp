// parser/fixity.cpp
//
// Chains of operators -> trees, by the algorithm of Haskell 2010 section 10.6 with its recursion made an
// explicit stack, so that long chains cost neither native stack nor more than linear time.
#include "parser/fixity.h"

#include <vector>

#include "lang/budget.h"
#include "llvm/ADT/SmallVector.h"

namespace df {
namespace {

using namespace ast;

constexpr Fixity kNegation{Associativity::Left, 6};

std::string Spell(Fixity fixity) {
  const char* word = fixity.assoc == Associativity::Left    ? "infixl"
                     : fixity.assoc == Associativity::Right ? "infixr"
                                                            : "infix";
  return fmt::format("{} {}", word, fixity.precedence);
}

// The arena's arrays are handed out as constant; the tree is ours to rewrite until we return it.
template <typename T>
llvm::MutableArrayRef<T> Mutable(List<T> list) {
  return {const_cast<T*>(list.data()), list.size()};
}

class Resolver {
 public:
  Resolver(Ast& ast, FixityScope& scope, Diagnostics& diags)
      : ast_(ast),
        table_(scope.fixities),
        scope_(scope),
        diags_(diags),
        own_qualifier_(ast.module.name.text.valid() ? ast.module.name.text : Intern("Main")) {}

  void Run() {
    for (Decl* decl : ast_.module.decls)
      if (auto* data = llvm::dyn_cast<DataDecl>(decl)) DeclareFields(*data);
    Declare(ast_.module.decls);
    // What the module declares at top level stays, as `M.x` as well.
    for (const Undo& undo : undo_) {
      auto fixity = table_.find(undo.name);
      if (fixity == table_.end()) scope_.qualified.erase({own_qualifier_.index, undo.name});
      else scope_.qualified[{own_qualifier_.index, undo.name}] = fixity->second;
    }
    undo_.clear();
    for (Decl* decl : ast_.module.decls) Visit(decl);
  }

 private:
  // ---- scopes: a name that is bound again has the fixity declared beside it, or none
  void Set(Symbol name, const Fixity* fixity) {
    if (!name.valid()) return;  // the parser has said that it is missing
    auto it = table_.find(name.index);
    if (it == table_.end()) {
      if (!fixity) return;
      undo_.push_back({name.index, {}, false});
      table_[name.index] = *fixity;
      return;
    }
    undo_.push_back({name.index, it->second, true});
    if (fixity)
      it->second = *fixity;
    else
      table_.erase(it);
  }
  void Shadow(Symbol name) { Set(name, nullptr); }

  void Declare(List<Decl*> decls) {
    for (Decl* decl : decls) {
      if (auto* fn = llvm::dyn_cast<FunctionDecl>(decl)) {
        Shadow(fn->name.text);
      } else if (auto* bind = llvm::dyn_cast<PatBindDecl>(decl)) {
        Shadow(bind->pat);
      } else if (auto* foreign = llvm::dyn_cast<ForeignDecl>(decl)) {
        Shadow(foreign->name.text);
      } else if (auto* data = llvm::dyn_cast<DataDecl>(decl)) {
        for (const ConstructorDecl& con : data->constructors) {
          Shadow(con.name.text);
          for (const FieldDecl& field : con.fields)
            if (field.name.text.valid()) Shadow(field.name.text);
        }
      } else if (auto* cls = llvm::dyn_cast<ClassDecl>(decl)) {
        for (Decl* member : cls->members)
          if (auto* signature = llvm::dyn_cast<SignatureDecl>(member))
            for (const Name& name : signature->names) Shadow(name.text);
      }
    }
    llvm::DenseMap<uint32_t, Span> declared;
    for (Decl* decl : decls) {
      DeclareFixity(decl, declared);
      if (auto* cls = llvm::dyn_cast<ClassDecl>(decl))
        for (Decl* member : cls->members) DeclareFixity(member, declared);
    }
  }

  void DeclareFields(const DataDecl& data) {
    for (const ConstructorDecl& con : data.constructors) {
      if (!con.name.text.valid()) continue;
      std::vector<Symbol> fields;
      for (const FieldDecl& field : con.fields)
        if (field.name.text.valid()) fields.push_back(field.name.text);
      for (Symbol qualifier : {Symbol(), own_qualifier_}) {
        if (fields.empty()) scope_.records.erase(Written(qualifier, con.name.text));
        else scope_.records[Written(qualifier, con.name.text)] = fields;
      }
    }
  }

  // The fields that `..` stands for: all that are not given. `make` gives one its value.
  template <typename Field, typename Make>
  void WriteOut(const Name& con, Span dots, List<Field>& fields, Make make) {
    if (!dots.valid() || !con.text.valid()) return;
    llvm::SmallVector<Field> all(fields.begin(), fields.end());
    for (Symbol name : scope_.records.lookup(Written(con.qualifier, con.text)))
      if (llvm::none_of(fields, [&](const Field& given) { return given.field.text == name; }))
        all.push_back(make(Name{name, {}, dots}));
    fields = ast_.Copy<Field>(all);
  }

  void DeclareFixity(Decl* decl, llvm::DenseMap<uint32_t, Span>& declared) {
    auto* fixity = llvm::dyn_cast<FixityDecl>(decl);
    if (!fixity) return;
    Fixity value{fixity->assoc, fixity->precedence};
    for (const Name& op : fixity->ops) {
      if (!op.text.valid()) continue;
      auto [it, fresh] = declared.try_emplace(op.text.index, op.span);
      if (!fresh)
        diags_.Report(Diag::FixityTwice, op.span, Text(op.text)).Note(it->second, "the other one is here");
      Set(op.text, &value);
    }
  }

  void Shadow(const Pat* pat) {
    switch (pat->kind) {
      case PatKind::Var: Shadow(llvm::cast<VarPat>(pat)->name); break;
      case PatKind::As:
        Shadow(llvm::cast<AsPat>(pat)->name);
        Shadow(llvm::cast<AsPat>(pat)->pat);
        break;
      case PatKind::Con:
        for (Pat* arg : llvm::cast<ConPat>(pat)->args) Shadow(arg);
        break;
      case PatKind::Record:
        for (const FieldPat& field : llvm::cast<RecordPat>(pat)->fields) Shadow(field.pat);
        break;
      case PatKind::Tuple:
        for (Pat* element : llvm::cast<TuplePat>(pat)->elements) Shadow(element);
        break;
      case PatKind::List:
        for (Pat* element : llvm::cast<ListPat>(pat)->elements) Shadow(element);
        break;
      case PatKind::Infix:
        for (Pat* operand : llvm::cast<InfixPat>(pat)->operands) Shadow(operand);
        break;
      case PatKind::Bang: Shadow(llvm::cast<BangPat>(pat)->pat); break;
      case PatKind::Lazy: Shadow(llvm::cast<LazyPat>(pat)->pat); break;
      case PatKind::Paren: Shadow(llvm::cast<ParenPat>(pat)->pat); break;
      case PatKind::Typed: Shadow(llvm::cast<TypedPat>(pat)->pat); break;
      case PatKind::View: Shadow(llvm::cast<ViewPat>(pat)->pat); break;
      case PatKind::Wildcard:
      case PatKind::Literal:
      case PatKind::Error: break;
    }
  }

  // Bindings made while it lives are forgotten at its end.
  class Scope {
   public:
    explicit Scope(Resolver& resolver) : resolver_(resolver), mark_(resolver.undo_.size()) {}
    ~Scope() {
      auto& undo = resolver_.undo_;
      for (; undo.size() > mark_; undo.pop_back()) {
        if (undo.back().had)
          resolver_.table_[undo.back().name] = undo.back().old;
        else
          resolver_.table_.erase(undo.back().name);
      }
    }

   private:
    Resolver& resolver_;
    size_t mark_;
  };

  Fixity FixityOf(const Name& op) const {
    if (!op.text.valid()) return {};
    if (op.qualifier.valid()) return scope_.qualified.lookup(Written(op.qualifier, op.text));
    auto it = table_.find(op.text.index);
    return it == table_.end() ? Fixity{} : it->second;
  }

  // ---- chains
  struct Operator {
    Symbol text;
    Span span;
    Fixity fixity;
    Expr* expr = nullptr;  // null in patterns
    bool negation = false;
  };

  std::string Show(const Operator& op) const {
    return op.negation ? "prefix `-`" : fmt::format("`{}`", Text(op.text));
  }

  void Clash(const Operator& a, const Operator& b) {
    diags_.Report(Diag::FixityClash, b.span, Show(a), Spell(a.fixity), Show(b), Spell(b.fixity))
        .Note(a.span, Show(a) + " is here");
    auto compares = [](const Operator& op) {
      return op.fixity.precedence == 4 && op.fixity.assoc == Associativity::None;
    };
    // `a > 0 &&& b > 0`: what is between them is no operator at all.
    std::string_view between = a.span.end <= b.span.begin ? diags_.sources().Text({a.span.file, a.span.end, b.span.begin}) : "";
    std::string_view symbols = "&|";
    size_t odd = between.find_first_of(symbols);
    // `a == 0 or b == 0`
    auto says = [&](std::string_view word) { return between.find(fmt::format(" {} ", word)) != std::string_view::npos; };
    if (compares(a) && compares(b) && (says("or") || says("and"))) {
      diags_.Hint(fmt::format("`{}` is the operator for `{}`", says("or") ? "||" : "&&", says("or") ? "or" : "and"));
    } else if (odd != std::string_view::npos && compares(a) && compares(b)) {
      char c = between[odd];
      diags_.Hint(fmt::format("`{0}{0}` is the operator for `{1}`", c, c == '&' ? "and" : "or"));
    } else if (b.negation) diags_.Hint("a negative number among operators stands in parentheses: `(-1)`");
    else if (compares(a) && compares(b)) diags_.Hint("two comparisons are joined by `&&`: `a < b && b < c`");
  }

  // Whether `left`, which stands before `right`, takes what is between them. Reports operators that do not
  // mix.
  bool BindsLeft(const Operator& left, const Operator& right) {
    uint8_t l = left.fixity.precedence, r = right.fixity.precedence;
    if (l == r && (left.fixity.assoc != right.fixity.assoc || left.fixity.assoc == Associativity::None)) {
      Clash(left, right);
      return true;
    }
    return l > r || (l == r && left.fixity.assoc == Associativity::Left);
  }

  // Shunting-yard. next(i, operand) gives the i-th operand, or null if the i-th operator is a negation;
  // build(op, left, right) makes a node (left is null for a negation).
  template <typename Node, typename Build>
  Node* Chain(llvm::ArrayRef<Node*> operands, llvm::ArrayRef<Operator> ops, Build build) {
    llvm::SmallVector<Node*> values;
    llvm::SmallVector<const Operator*> pending;
    auto reduce = [&] {
      const Operator* op = pending.pop_back_val();
      Node* right = values.pop_back_val();
      Node* left = op->negation ? nullptr : values.pop_back_val();
      values.push_back(build(*op, left, right));
    };
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i]) values.push_back(operands[i]);
      if (i == ops.size()) break;
      const Operator& op = ops[i];
      if (op.negation) {
        // A negation binds as `-` does, so nothing as tight may stand before it.
        if (!pending.empty() && pending.back()->fixity.precedence >= kNegation.precedence)
          Clash(*pending.back(), op);
      } else {
        while (!pending.empty() && BindsLeft(*pending.back(), op)) reduce();
      }
      pending.push_back(&op);
    }
    while (!pending.empty()) reduce();
    return values.back();
  }

  Expr* Resolve(InfixExpr* infix) {
    CheckBudget();
    for (Expr*& operand : Mutable(infix->operands))
      if (operand) Visit(operand);
    llvm::SmallVector<Operator> ops;
    for (size_t i = 0; i < infix->ops.size(); ++i) {
      Operator op = OperatorOf(infix->ops[i]);
      if (!infix->operands[i]) {
        op.negation = true;
        op.fixity = kNegation;
      }
      ops.push_back(op);
    }
    const uint32_t errors = diags_.error_count();
    Expr* resolved = Chain<Expr>(infix->operands, ops, [&](const Operator& op, Expr* left, Expr* right) -> Expr* {
      if (op.negation) return ast_.New<NegateExpr>(Cover(op.span, right->span), right);
      return ast_.New<BinaryExpr>(Cover(left->span, right->span), op.expr, left, right);
    });
    // Which operands belong together is not known: no types follow from it.
    return diags_.error_count() == errors ? resolved : ast_.New<ErrorExpr>(resolved->span);
  }

  Operator OperatorOf(Expr* expr) const {
    const Name& name =
        llvm::isa<ConExpr>(expr) ? llvm::cast<ConExpr>(expr)->name : llvm::cast<VarExpr>(expr)->name;
    return {name.text, expr->span, FixityOf(name), expr, false};
  }

  // `(a + b *)` and `(* a + b)`: the operand's own operators must bind more tightly than the section's.
  // False if they do not.
  bool CheckSection(Expr* op_expr, Expr* operand, bool left) {
    Operator inner;
    if (auto* binary = llvm::dyn_cast<BinaryExpr>(operand)) {
      inner = OperatorOf(binary->op);
    } else if (auto* negate = llvm::dyn_cast<NegateExpr>(operand)) {
      inner = {Intern("-"),
               {negate->span.file, negate->span.begin, negate->span.begin + 1},
               kNegation,
               nullptr,
               true};
    } else {
      return true;
    }
    Operator op = OperatorOf(op_expr);
    uint8_t in = inner.fixity.precedence, out = op.fixity.precedence;
    Associativity side = left ? Associativity::Left : Associativity::Right;
    bool fine = in > out || (in == out && inner.fixity.assoc == side && op.fixity.assoc == side &&
                             !(inner.negation && !left));
    if (fine) return true;
    diags_.Report(Diag::SectionClash, op.span, Show(op), Spell(op.fixity), Show(inner), Spell(inner.fixity))
        .Note(inner.span, Show(inner) + " is here")
        .Hint(left && in == out ? "put the operand in parentheses; or is one missing at the end?" : "put the operand in parentheses");
    return false;
  }

  // ---- the walk
  void Visit(Pat*& pat) {
    CheckBudget();
    switch (pat->kind) {
      case PatKind::Con:
        for (Pat*& arg : Mutable(llvm::cast<ConPat>(pat)->args)) Visit(arg);
        break;
      case PatKind::Record: {
        auto* record = llvm::cast<RecordPat>(pat);
        WriteOut(record->name, record->wildcard, record->fields, [&](const Name& field) {
          return FieldPat{field, ast_.New<VarPat>(field.span, field.text)};
        });
        for (FieldPat& field : Mutable(record->fields)) Visit(field.pat);
        break;
      }
      case PatKind::Tuple:
        for (Pat*& element : Mutable(llvm::cast<TuplePat>(pat)->elements)) Visit(element);
        break;
      case PatKind::List:
        for (Pat*& element : Mutable(llvm::cast<ListPat>(pat)->elements)) Visit(element);
        break;
      case PatKind::As: Visit(llvm::cast<AsPat>(pat)->pat); break;
      case PatKind::Bang: Visit(llvm::cast<BangPat>(pat)->pat); break;
      case PatKind::Lazy: Visit(llvm::cast<LazyPat>(pat)->pat); break;
      case PatKind::Paren: Visit(llvm::cast<ParenPat>(pat)->pat); break;
      case PatKind::Typed: Visit(llvm::cast<TypedPat>(pat)->pat); break;
      case PatKind::View:
        Visit(llvm::cast<ViewPat>(pat)->view);
        Visit(llvm::cast<ViewPat>(pat)->pat);
        break;
      case PatKind::Infix: {
        auto* infix = llvm::cast<InfixPat>(pat);
        llvm::SmallVector<Operator> ops;
        for (Pat*& operand : Mutable(infix->operands)) Visit(operand);
        for (const Name& op : infix->ops)
          ops.push_back({op.text, op.span, FixityOf(op), nullptr, false});
        llvm::ArrayRef<Operator> first(ops);
        pat = Chain<Pat>(infix->operands, first, [&](const Operator& op, Pat* left, Pat* right) -> Pat* {
          const Name& name = infix->ops[static_cast<size_t>(&op - first.data())];
          return ast_.New<ConPat>(Cover(left->span, right->span), name, ast_.Copy<Pat*>({left, right}));
        });
        break;
      }
      case PatKind::Wildcard:
      case PatKind::Var:
      case PatKind::Literal:
      case PatKind::Error: break;
    }
  }

  void Visit(Decl* decl) {
    CheckBudget();
    switch (decl->kind) {
      case DeclKind::Function:
        for (Clause& clause : Mutable(llvm::cast<FunctionDecl>(decl)->clauses)) {
          Scope scope(*this);
          for (Pat*& param : Mutable(clause.params)) Visit(param);
          for (Pat* param : clause.params) Shadow(param);
          Visit(clause.rhs);
        }
        break;
      case DeclKind::PatBind:
        Visit(llvm::cast<PatBindDecl>(decl)->pat);
        Visit(llvm::cast<PatBindDecl>(decl)->rhs);
        break;
      case DeclKind::Class:
        for (Decl* member : llvm::cast<ClassDecl>(decl)->members) Visit(member);
        break;
      case DeclKind::Instance:
        for (Decl* member : llvm::cast<InstanceDecl>(decl)->members) Visit(member);
        break;
      case DeclKind::Signature:
      case DeclKind::Fixity:
      case DeclKind::Data:
      case DeclKind::TypeSynonym:
      case DeclKind::Deriving:
      case DeclKind::Foreign:
      case DeclKind::Default:
      case DeclKind::TypeFamily:
      case DeclKind::TypeInstance:
      case DeclKind::Role:
      case DeclKind::Error: break;
    }
  }

  void VisitDecls(List<Decl*> decls) {
    Declare(decls);
    for (Decl* decl : decls) Visit(decl);
  }

  void Visit(Rhs& rhs) {
    Scope scope(*this);
    VisitDecls(rhs.where);
    for (GuardedExpr& guarded : Mutable(rhs.guarded)) Visit(guarded);
  }

  void Visit(GuardedExpr& guarded) {
    Scope scope(*this);
    VisitStmts(guarded.guards);
    Visit(guarded.body);
  }

  // What the statements bind stays bound: the caller opens the scope.
  void VisitStmts(List<Stmt*> stmts) {
    for (Stmt* stmt : stmts) {
      if (auto* bind = llvm::dyn_cast<BindStmt>(stmt)) {
        Visit(bind->expr);
        Visit(bind->pat);
        Shadow(bind->pat);
      } else if (auto* let = llvm::dyn_cast<LetStmt>(stmt)) {
        VisitDecls(let->decls);
      } else {
        Visit(llvm::cast<ExprStmt>(stmt)->expr);
      }
    }
  }

  void Visit(List<Alternative> alternatives) {
    for (Alternative& alternative : Mutable(alternatives)) {
      Scope scope(*this);
      Visit(alternative.pat);
      Shadow(alternative.pat);
      Visit(alternative.rhs);
    }
  }

  void VisitAll(List<Expr*> exprs) {
    for (Expr*& expr : Mutable(exprs))
      if (expr) Visit(expr);
  }

  void Visit(Expr*& expr) {
    CheckBudget();
    switch (expr->kind) {
      case ExprKind::Infix: expr = Resolve(llvm::cast<InfixExpr>(expr)); break;
      case ExprKind::App:
        Visit(llvm::cast<AppExpr>(expr)->fn);
        VisitAll(llvm::cast<AppExpr>(expr)->args);
        break;
      case ExprKind::Lambda: {
        auto* lambda = llvm::cast<LambdaExpr>(expr);
        Scope scope(*this);
        for (Pat*& param : Mutable(lambda->params)) Visit(param);
        for (Pat* param : lambda->params) Shadow(param);
        Visit(lambda->body);
        break;
      }
      case ExprKind::Let: {
        auto* let = llvm::cast<LetExpr>(expr);
        Scope scope(*this);
        VisitDecls(let->decls);
        Visit(let->body);
        break;
      }
      case ExprKind::If: {
        auto* e = llvm::cast<IfExpr>(expr);
        Visit(e->cond);
        Visit(e->then_);
        Visit(e->else_);
        break;
      }
      case ExprKind::MultiIf:
        for (GuardedExpr& guarded : Mutable(llvm::cast<MultiIfExpr>(expr)->alternatives)) Visit(guarded);
        break;
      case ExprKind::Case:
        Visit(llvm::cast<CaseExpr>(expr)->scrutinee);
        Visit(llvm::cast<CaseExpr>(expr)->alternatives);
        break;
      case ExprKind::LambdaCase: Visit(llvm::cast<LambdaCaseExpr>(expr)->alternatives); break;
      case ExprKind::Do: {
        Scope scope(*this);
        VisitStmts(llvm::cast<DoExpr>(expr)->stmts);
        break;
      }
      case ExprKind::Comprehension: {
        auto* comprehension = llvm::cast<ComprehensionExpr>(expr);
        Scope scope(*this);
        VisitStmts(comprehension->stmts);
        for (List<Stmt*> branch : comprehension->beside) VisitStmts(branch);
        Visit(comprehension->element);
        break;
      }
      case ExprKind::Tuple: VisitAll(llvm::cast<TupleExpr>(expr)->elements); break;
      case ExprKind::TupleSection: VisitAll(llvm::cast<TupleSectionExpr>(expr)->elements); break;
      case ExprKind::List: VisitAll(llvm::cast<ListExpr>(expr)->elements); break;
      case ExprKind::Sequence: {
        auto* sequence = llvm::cast<SequenceExpr>(expr);
        Visit(sequence->from);
        if (sequence->then_) Visit(sequence->then_);
        if (sequence->to) Visit(sequence->to);
        break;
      }
      case ExprKind::LeftSection: {
        auto* section = llvm::cast<LeftSectionExpr>(expr);
        Visit(section->operand);
        if (!CheckSection(section->op, section->operand, true)) expr = ast_.New<ErrorExpr>(section->span);
        break;
      }
      case ExprKind::RightSection: {
        auto* section = llvm::cast<RightSectionExpr>(expr);
        Visit(section->operand);
        if (!CheckSection(section->op, section->operand, false)) expr = ast_.New<ErrorExpr>(section->span);
        break;
      }
      case ExprKind::Paren: Visit(llvm::cast<ParenExpr>(expr)->expr); break;
      case ExprKind::Typed: Visit(llvm::cast<TypedExpr>(expr)->expr); break;
      case ExprKind::RecordCon: {
        auto* record = llvm::cast<RecordConExpr>(expr);
        WriteOut(record->con, record->wildcard, record->fields, [&](const Name& field) {
          return FieldBinding{field, ast_.New<VarExpr>(field.span, field), true};
        });
        for (FieldBinding& field : Mutable(record->fields)) Visit(field.value);
        break;
      }
      case ExprKind::RecordUpdate:
        Visit(llvm::cast<RecordUpdateExpr>(expr)->record);
        for (FieldBinding& field : Mutable(llvm::cast<RecordUpdateExpr>(expr)->fields)) Visit(field.value);
        break;
      case ExprKind::Binary:
      case ExprKind::Negate:
      case ExprKind::TypeApp:
      case ExprKind::Var:
      case ExprKind::Con:
      case ExprKind::Literal:
      case ExprKind::Error: break;
    }
  }

  struct Undo {
    uint32_t name;
    Fixity old;
    bool had;
  };

  Ast& ast_;
  FixityTable& table_;
  FixityScope& scope_;
  Diagnostics& diags_;
  const Symbol own_qualifier_;
  std::vector<Undo> undo_;
};

}  // namespace

void ResolveFixity(Ast& ast, FixityScope& scope, Diagnostics& diags) {
  Resolver(ast, scope, diags).Run();
}

}  // namespace df
