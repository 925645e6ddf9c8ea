// Match compilation: warnings, messages, sharing and size.
#include "typecheck/match/match.h"

#include "tests/unit/catch.h"
#include "tests/unit/typecheck/match/core_eval.h"

namespace df::test {
namespace {

using namespace core;

struct Fixture {
  SourceManager sources;
  Diagnostics diags{sources};
  Builder b;
  Fixture() { sources.Add("test", std::string(1000, ' ')); }

  std::vector<std::string> Messages() const {
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : diags.all()) out.push_back(diagnostic.message);
    return out;
  }
  std::string Text(const DumpOptions& options = {}) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    Dump(b.program, out, options);
    return text;
  }
};
using Messages = std::vector<std::string>;

TEST_CASE("an uncovered case is shown by an example") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_int), t = b.Local("t", b.type_t);
  // f 0 _ = 1; f _ A = 2; f _ (C 0) = 3; f _ (B _ A) = 4
  const Expr* match = b.Match(
      MatchContext::Function, {x, t},
      {b.Row({b.Int(0), b.Any(b.type_t)}, b.Number(1)), b.Row({b.Any(b.type_int), b.Con(b.a)}, b.Number(2)),
       b.Row({b.Any(b.type_int), b.Con(b.b, {b.Any(b.type_t), b.Con(b.a)})}, b.Number(4)),
       b.Row({b.Any(b.type_int), b.Con(b.c, {b.Int(0)})}, b.Number(3))},
      b.type_int);
  b.Compile({x, t}, match, f.diags);
  CHECK(f.Messages() == Messages{"no clause of `f` fits `f 1 (B _ (B _ _))`"});
}

TEST_CASE("redundant rows are reported, also those that only earlier rows together cover") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_bool);
  const Expr* match =
      b.Match(MatchContext::Case, {x},
              {b.Row({b.Con(b.program.true_con)}, b.Number(1)), b.Row({b.Con(b.program.false_con)}, b.Number(2)),
               b.Row({b.Any(b.type_bool)}, b.Number(3))},
              b.type_int);
  b.Compile({x}, match, f.diags);
  CHECK(f.Messages() == Messages{"this alternative is never reached"});
}

TEST_CASE("a guard that may fail does not cover") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_bool), v = b.Local("v", b.type_bool);
  const Expr* body = b.If(b.Use(v), b.Number(1), b.Fall(b.type_int));
  const Expr* match = b.Match(MatchContext::Function, {x}, {b.Row({b.Name(v)}, body)}, b.type_int);
  const Expr* compiled = b.Compile({x}, match, f.diags);
  CHECK(f.Messages() == Messages{"no clause of `f` fits `f _`"});
  CHECK(f.diags.all()[0].notes.size() == 1);
  CHECK(Evaluate(b.program, compiled, {{x, Data(b.program.false_con)}}) == "fail: no clause of `f` fits");
  // The pattern's variable is the parameter itself: nothing is bound for it.
  CHECK(f.Text() ==
        "f :: Bool -> Int\n"
        "f = \\x ->\n"
        "  case x of\n"
        "    False -> fail \"no clause of `f` fits\"\n"
        "    True -> 1\n");
}

TEST_CASE("a clause's case does not fall into the next clause") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_t), v = b.Local("v", b.type_t);
  const Expr* inner =
      b.Match(MatchContext::Case, {v}, {b.Row({b.Con(b.a)}, b.Number(1))}, b.type_int);
  const Expr* match = b.Match(MatchContext::Function, {x},
                              {b.Row({b.Name(v)}, inner), b.Row({b.Any(b.type_t)}, b.Number(2))}, b.type_int);
  const Expr* compiled = b.Compile({x}, match, f.diags);
  CHECK(Evaluate(b.program, compiled, {{x, Data(b.c, {Number(0)})}}) == "fail: no alternative of `case` fits");
  CHECK(f.Messages() ==
        Messages{"this clause is never reached", "no alternative of `case` fits `B _ _`"});
}

TEST_CASE("a let that is scrutinised at once becomes the case's binder") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_int), s = b.Local("s", b.type_int), v = b.Local("v", b.type_int);
  const Expr* match = b.Match(MatchContext::Case, {s},
                              {b.Row({b.Int(0)}, b.Number(1)), b.Row({b.Name(v)}, b.Use(v))}, b.type_int);
  b.Compile({x}, b.Let(s, b.Use(x), match), f.diags);
  CHECK(f.Text() ==
        "f :: Int -> Int\n"
        "f = \\x ->\n"
        "  case x as s of\n"
        "    0 -> 1\n"
        "    _ -> s\n");
  CHECK(f.Messages().empty());
}

TEST_CASE("string patterns are lists of characters") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_string);
  const Expr* match =
      b.Match(MatchContext::Case, {x},
              {b.Row({b.String("ab")}, b.Number(1)), b.Row({b.String("ac")}, b.Number(2))}, b.type_int);
  const Expr* compiled = b.Compile({x}, match, f.diags);
  auto list = [&](std::string text) {
    ValuePtr out = Data(b.program.nil_con);
    while (!text.empty()) {
      out = Data(b.program.cons_con, {Number(text.back()), out});
      text.pop_back();
    }
    return out;
  };
  CHECK(Evaluate(b.program, compiled, {{x, list("ab")}}) == "1");
  CHECK(Evaluate(b.program, compiled, {{x, list("ac")}}) == "2");
  CHECK(Evaluate(b.program, compiled, {{x, list("abc")}}) == "fail: no alternative of `case` fits");
  CHECK(f.Messages() == Messages{"no alternative of `case` fits `[]`"});
}

TEST_CASE("a string that is too long for a pattern is refused") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_string);
  std::string text(5000, 'x');
  const Expr* match = b.Match(MatchContext::Case, {x}, {b.Row({b.String(text.c_str())}, b.Number(1))}, b.type_int);
  b.Compile({x}, match, f.diags);
  CHECK(f.diags.has_errors());
}

TEST_CASE("a body that several paths reach is written once") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_int), y = b.Local("y", b.type_int), v = b.Local("v", b.type_int);
  // f 0 0 = 1; f 1 0 = 2; f 2 0 = 3; f _ v = <large, v>
  const Expr* large = b.Use(v);
  for (int i = 0; i < 20; ++i) large = b.IfEqual(b.Use(v), i, b.Number(i), large);
  std::vector<Row> rows;
  for (int i = 0; i < 3; ++i) rows.push_back(b.Row({b.Int(i), b.Int(0)}, b.Number(i + 1)));
  rows.push_back(b.Row({b.Any(b.type_int), b.Name(v)}, large));
  const Expr* compiled = b.Compile({x, y}, b.Match(MatchContext::Function, {x, y}, rows, b.type_int), f.diags);
  CHECK(Size(compiled) < Size(large) + 60);
  CHECK(Evaluate(b.program, compiled, {{x, Number(1)}, {y, Number(7)}}) == "7");
  CHECK(Evaluate(b.program, compiled, {{x, Number(1)}, {y, Number(0)}}) == "2");
  CHECK(f.Messages().empty());
}

TEST_CASE("rows whose decision tree explodes stay linear") {
  Fixture f;
  Builder& b = f.b;
  // Row i asks for True in columns i and i + 1 only.
  constexpr size_t kColumns = 40;
  std::vector<VarId> params;
  for (size_t i = 0; i < kColumns; ++i) params.push_back(b.Local("p", b.type_bool));
  std::vector<Row> rows;
  for (size_t i = kColumns - 1; i-- > 0;) {
    std::vector<const Pat*> pats;
    for (size_t j = 0; j < kColumns; ++j)
      pats.push_back(j == i || j == i + 1 ? b.Con(b.program.true_con) : b.Any(b.type_bool));
    rows.push_back(b.Row(pats, b.Number(static_cast<int64_t>(i))));
  }
  const Expr* compiled = b.Compile(params, b.Match(MatchContext::Function, params, rows, b.type_int), f.diags);
  CHECK(Size(compiled) < 40 * kColumns);
  std::vector<std::pair<VarId, ValuePtr>> inputs;
  for (size_t i = 0; i < kColumns; ++i)
    inputs.push_back({params[i], Data(i == 17 || i == 18 ? b.program.true_con : b.program.false_con)});
  CHECK(Evaluate(b.program, compiled, inputs) == "17");
}

TEST_CASE("many clauses take linear time, with and without guards") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_int), y = b.Local("y", b.type_int);
  std::vector<Row> literals, guards;
  for (int i = 0; i < 20000; ++i) literals.push_back(b.Row({b.Int(i)}, b.Number(i)));
  const Expr* compiled = b.Compile({x}, b.Match(MatchContext::Function, {x}, literals, b.type_int), f.diags);
  CHECK(Evaluate(b.program, compiled, {{x, Number(19999)}}) == "19999");
  CHECK(f.Messages() == Messages{"no clause of `f` fits `f 20000`"});
  for (int i = 0; i < 3000; ++i)
    guards.push_back(b.Row({b.Any(b.type_int)}, b.IfEqual(b.Use(y), i, b.Number(i), b.Fall(b.type_int))));
  compiled = b.Compile({y}, b.Match(MatchContext::Function, {y}, guards, b.type_int), f.diags);
  CHECK(Evaluate(b.program, compiled, {{y, Number(2999)}}) == "2999");
}

TEST_CASE("literals of one value are one alternative") {
  Fixture f;
  Builder& b = f.b;
  VarId x = b.Local("x", b.type_int);
  Pat same = *b.Int(0);
  same.text = Intern("18446744073709551616");  // 2^64, which is 0 as an Int
  const Expr* match = b.Match(MatchContext::Case, {x},
                              {b.Row({b.Int(0)}, b.Number(1)), b.Row({b.program.NewPat(same)}, b.Number(2)),
                               b.Row({b.Any(b.type_int)}, b.Number(3))},
                              b.type_int);
  b.Compile({x}, match, f.diags);
  CHECK(f.Messages() == Messages{"this alternative is never reached"});
}

TEST_CASE("the verifier finds faults") {
  Fixture f;
  Builder& b = f.b;
  Var var;
  var.name = Intern("g");
  var.kind = VarKind::Top;
  var.scheme.type = b.type_int;
  VarId top = b.program.vars.Add(var);
  VarId stray = b.Local("stray", b.type_int);
  auto fault = [&](const Expr* value) {
    b.program.Define(top, value);
    return Verify(b.program, true);
  };
  CHECK(fault(b.Number(1)).empty());
  CHECK(fault(b.Truth(true)).find("should have `Int`") != std::string::npos);
  CHECK(fault(b.Use(stray)).find("not in scope") != std::string::npos);
  CHECK(fault(b.Fall(b.type_int)).find("a Fall is left") != std::string::npos);
  CHECK(fault(b.IfEqual(b.Truth(true), 0, b.Number(1), b.Truth(false))).find("an alternative") != std::string::npos);
  Alt only{AltKind::Con, b.program.true_con};
  only.body = b.Number(1);
  CHECK(fault(b.program.New(CaseExpr{ExprKind::Case, b.type_int, {}, b.Truth(true), {},
                                     b.program.Copy<Alt>({only})})).find("without an alternative") !=
        std::string::npos);
  CHECK(fault(b.program.New(AppExpr{ExprKind::App, b.type_int, {}, b.Number(1),
                                    b.program.Copy<const Expr*>({b.Number(2)})})).find("what is applied") !=
        std::string::npos);
}

}  // namespace
}  // namespace df::test
