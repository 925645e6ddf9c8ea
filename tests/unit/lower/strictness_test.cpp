#include "lower/mono/strictness.h"

#include "tests/unit/catch.h"

namespace df {
namespace {

// Mid-level programs by hand.
struct Tree {
  SourceManager sources;
  Diagnostics diags{sources};
  core::Program core;
  mono::Program program{core, diags};
  TypeId integer = core.types.Scalar(Builtin::Int);
  TypeId boolean = core.types.Scalar(Builtin::Bool);

  mono::FunId Function(const char* name, unsigned params) {
    mono::Function function;
    function.name = name;
    for (unsigned i = 0; i < params; ++i) function.params.push_back(program.NewVar(fmt::format("p{}", i), integer));
    return program.functions.Add(std::move(function));
  }
  mono::Expr* Var(mono::VarId var) { return program.NewVarExpr(var, {}); }
  mono::Expr* Param(mono::FunId fun, unsigned i) { return Var(program.functions[fun].params[i]); }
  mono::Expr* Op(ir::Op op, llvm::ArrayRef<mono::Expr*> args) { return program.NewOp(op, args, integer, {}); }
  mono::Expr* Call(mono::FunId fun, llvm::ArrayRef<mono::Expr*> args) {
    return program.NewApp(program.NewFun(fun, integer, {}), args, integer, {});
  }
  mono::Expr* Zero() { return program.NewConst({program.ir_types.Builtin(ir::TypeKind::Int), 0, ""}, integer, {}); }
  mono::Expr* If(mono::Expr* c, mono::Expr* a, mono::Expr* b) {
    mono::Expr* expr = program.New(mono::Kind::Case, integer, {});
    expr->head = c;
    expr->alts.push_back({core::AltKind::Con, core::ConId(0), {}, {}, a});
    expr->alts.push_back({core::AltKind::Default, {}, {}, {}, b});
    return expr;
  }
};

TEST_CASE("a parameter is strict if every path evaluates it") {
  Tree t;
  // go i acc unused = if i == 0 then acc else go (i - 1) (acc + i) unused
  mono::FunId go = t.Function("go", 3);
  mono::Expr* next = t.Call(go, {t.Op(ir::Op::Sub, {t.Param(go, 0), t.Zero()}),
                                 t.Op(ir::Op::Add, {t.Param(go, 1), t.Param(go, 0)}), t.Param(go, 2)});
  t.program.functions[go].body = t.If(t.Op(ir::Op::Eq, {t.Param(go, 0), t.Zero()}), t.Param(go, 1), next);
  t.program.main = go;
  mono::Strictness found = mono::AnalyseStrictness(t.program);
  CHECK(found.params[go.index] == std::vector<bool>{true, true, false});
  CHECK_FALSE(found.fails[go.index]);
}

TEST_CASE("a failing path says nothing about what the others need") {
  Tree t;
  // f x y = if x == 0 then error else y
  mono::FunId f = t.Function("f", 2);
  t.program.functions[f].body = t.If(t.Op(ir::Op::Eq, {t.Param(f, 0), t.Zero()}),
                                     t.program.NewFail("no", 0, t.integer, {}), t.Param(f, 1));
  t.program.main = f;
  mono::Strictness found = mono::AnalyseStrictness(t.program);
  CHECK(found.params[f.index] == std::vector<bool>{true, true});
}

TEST_CASE("mutual recursion is one fixpoint") {
  Tree t;
  // even n x = if n == 0 then x else odd (n - 1) x;  odd n x = if n == 0 then 0 else even (n - 1) x
  mono::FunId even = t.Function("even", 2), odd = t.Function("odd", 2);
  auto body = [&](mono::FunId self, mono::FunId other, mono::Expr* base) {
    return t.If(t.Op(ir::Op::Eq, {t.Param(self, 0), t.Zero()}), base,
                t.Call(other, {t.Op(ir::Op::Sub, {t.Param(self, 0), t.Zero()}), t.Param(self, 1)}));
  };
  t.program.functions[even].body = body(even, odd, t.Param(even, 1));
  t.program.functions[odd].body = body(odd, even, t.Zero());
  t.program.main = even;
  mono::Strictness found = mono::AnalyseStrictness(t.program);
  CHECK(found.params[even.index] == std::vector<bool>{true, false});
  CHECK(found.params[odd.index] == std::vector<bool>{true, false});
}

TEST_CASE("a let is strict if its body evaluates the variable") {
  Tree t;
  mono::FunId f = t.Function("f", 2);
  mono::VarId used = t.program.NewVar("used", t.integer), unused = t.program.NewVar("unused", t.integer);
  mono::Expr* branch = t.If(t.Op(ir::Op::Eq, {t.Var(used), t.Zero()}), t.Var(unused), t.Zero());
  t.program.functions[f].body =
      t.program.NewLet(used, t.Call(f, {t.Param(f, 0), t.Zero()}),
                       t.program.NewLet(unused, t.Call(f, {t.Param(f, 1), t.Zero()}), branch, {}), {});
  t.program.main = f;
  mono::Strictness found = mono::AnalyseStrictness(t.program);
  CHECK(found.strict_lets.contains(used.index));
  CHECK_FALSE(found.strict_lets.contains(unused.index));
}

}  // namespace
}  // namespace df
