// Long rows of comparisons of one variable with constants, `if n == 0 then .. else if n == 1 ..`, become one match on literals, of which the
// one is searched for that fits (build/literal.cpp). They come from guards, from literals of types with an `==` of their own, Word8 for
// example, and from functions of all numbers that are needed at one type.
#include "lower/mono/mono.h"

namespace df::mono {
namespace {

constexpr size_t kFew = 8;  // as many stay what they are

class Joiner {
 public:
  explicit Joiner(Program& program) : p_(program) {}

  void Visit(Expr* expr) {
    if (expr->kind == Kind::Case) Join(expr);
    ForEachChild(expr, [&](Expr* child) { Visit(child); });
  }

 private:
  // What a case asks of a variable: the constants it compares it with, and what is done if it is none of them.
  struct Test {
    VarId var;
    Expr* scrutinee = nullptr;
    std::vector<Alt> literals;
    Expr* otherwise = nullptr;
  };

  bool IsLiteral(const Expr* expr) const {
    if (expr->kind != Kind::Const) return false;
    switch (p_.ir_types.Kind(p_.constants[expr->constant].type)) {
      case ir::TypeKind::Char:
      case ir::TypeKind::Int:
      case ir::TypeKind::Integer:
      case ir::TypeKind::Float:
      case ir::TypeKind::Double: return true;
      default: return false;
    }
  }

  bool Read(Expr* expr, Test& test) const {
    if (expr->kind != Kind::Case || expr->var.valid() || expr->alts.empty()) return false;
    return expr->head->kind == Kind::Var ? ReadMatch(expr, test) : ReadComparison(expr, test);
  }
  // Of a match the last alternative is for all that is left.
  static bool ReadMatch(Expr* expr, Test& test) {
    if (expr->alts[0].kind != core::AltKind::Literal) return false;
    test.var = expr->head->var;
    test.scrutinee = expr->head;
    for (const Alt& alt : expr->alts) {
      if (alt.kind == core::AltKind::Default || &alt == &expr->alts.back()) {
        test.otherwise = alt.body;
        break;
      }
      test.literals.push_back(alt);
    }
    return true;
  }
  bool ReadComparison(Expr* expr, Test& test) const {
    Expr* head = expr->head;
    if (head->kind != Kind::Op || (head->op != ir::Op::Eq && head->op != ir::Op::Ne)) return false;
    Expr* var = head->args[0];
    Expr* literal = head->args[1];
    if (var->kind != Kind::Var) std::swap(var, literal);
    if (var->kind != Kind::Var || !IsLiteral(literal)) return false;
    Expr* sides[2] = {nullptr, nullptr};  // by the answer
    for (const Alt& alt : expr->alts) {
      if (alt.kind == core::AltKind::Literal) return false;
      for (bool answer : {false, true}) {
        const bool fits = alt.kind == core::AltKind::Default || alt.con == (answer ? p_.core.true_con : p_.core.false_con);
        if (fits && !sides[answer]) sides[answer] = alt.body;
      }
    }
    // An alternative for both answers would be met twice.
    if (!sides[0] || !sides[1] || sides[0] == sides[1]) return false;
    const bool equal = head->op == ir::Op::Eq;
    test.var = var->var;
    test.scrutinee = var;
    test.literals.push_back({core::AltKind::Literal, {}, {}, literal->constant, sides[equal]});
    test.otherwise = sides[!equal];
    return true;
  }

  void Join(Expr* expr) {
    Test first;
    if (!Read(expr, first)) return;
    std::vector<Alt> literals;
    llvm::DenseSet<uint32_t> known;
    auto add = [&](const std::vector<Alt>& more) {
      for (const Alt& alt : more)
        if (known.insert(alt.constant.index).second) literals.push_back(alt);  // a later one is never taken
    };
    add(first.literals);
    Expr* otherwise = first.otherwise;
    size_t joined = 1;
    for (;; ++joined) {
      Test next;
      if (!Read(otherwise, next) || next.var != first.var) break;
      add(next.literals);
      otherwise = next.otherwise;
    }
    if (joined == 1 || literals.size() <= kFew) return;
    literals.push_back({core::AltKind::Default, {}, {}, {}, otherwise});
    expr->head = first.scrutinee;
    expr->alts = std::move(literals);
  }

  Program& p_;
};

}  // namespace

void JoinTests(Program& program) {
  Joiner joiner(program);
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    if (Expr* body = program.functions[FunId(i)].body) joiner.Visit(body);
}

}  // namespace df::mono
