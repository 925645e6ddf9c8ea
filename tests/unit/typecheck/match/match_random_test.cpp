// Random matches, compiled and as they stand, on random arguments with undefined parts: the same result, the same
// failure, and the same things forced (a part that is undefined shows it).
#include <random>
#include <set>

#include "tests/unit/catch.h"
#include "tests/unit/typecheck/match/core_eval.h"

namespace df::test {
namespace {

using namespace core;

class Generator {
 public:
  Generator(Builder& builder, uint32_t seed) : b_(builder), random_(seed) {}

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool guards = true;    // bodies may fall
  bool laziness = true;  // bang and lazy patterns, undefined arguments
  bool tests = true;     // literals by a test

  TypeId Type() {
    TypeId all[] = {b_.type_t, b_.type_t, b_.type_pair, b_.type_int, b_.type_bool, b_.type_string};
    return all[Below(6)];
  }

  const Pat* Pattern(TypeId type, int depth, std::vector<VarId>& vars) {
    uint32_t choice = Below(10);
    if (depth == 0 || choice < 2) return b_.Any(type);
    if (choice < 4) {
      vars.push_back(b_.Local("v", type));
      return b_.Name(vars.back());
    }
    if (choice == 4) {
      vars.push_back(b_.Local("w", type));
      VarId var = vars.back();
      return b_.As(var, Pattern(type, depth - 1, vars));
    }
    if (laziness && choice == 5) return b_.Bang(Pattern(type, depth - 1, vars));
    if (laziness && choice == 6) return b_.Lazy(Pattern(type, depth - 1, vars));
    if (type == b_.type_int) return tests && Below(3) == 0 ? b_.IntByTest(Below(3)) : b_.Int(Below(3));
    if (type == b_.type_bool) return b_.Con(Below(2) ? b_.program.true_con : b_.program.false_con);
    if (type == b_.type_string) {
      const char* all[] = {"", "a", "ab", "b"};
      return b_.String(all[Below(4)]);
    }
    if (type == b_.type_pair)
      return b_.Con(b_.pair, {Pattern(b_.type_t, depth - 1, vars), Pattern(b_.type_int, depth - 1, vars)});
    switch (Below(3)) {
      case 0: return b_.Con(b_.a);
      case 1: return b_.Con(b_.c, {Pattern(b_.type_int, depth - 1, vars)});
      default: {
        const Pat* left = Pattern(b_.type_t, depth - 1, vars);
        return b_.Con(b_.b, {left, Pattern(b_.type_t, depth - 1, vars)});
      }
    }
  }

  // An Int over the variables.
  const Expr* Body(const std::vector<VarId>& vars, int depth) {
    std::vector<VarId> ints, bools, ts;
    for (VarId var : vars) {
      TypeId type = b_.program.vars[var].scheme.type;
      if (type == b_.type_int) ints.push_back(var);
      if (type == b_.type_bool) bools.push_back(var);
      if (type == b_.type_t) ts.push_back(var);
    }
    uint32_t choice = depth == 0 ? Below(2) : Below(9);
    if (choice == 0 && !ints.empty()) return b_.Use(ints[Below(ints.size())]);
    if (choice == 2 && guards) return b_.Fall(b_.type_int);
    if (choice == 3 && !bools.empty())
      return b_.If(b_.Use(bools[Below(bools.size())]), Body(vars, depth - 1), Body(vars, depth - 1));
    if (choice == 4 && !ints.empty())
      return b_.IfEqual(b_.Use(ints[Below(ints.size())]), Below(3), Body(vars, depth - 1), Body(vars, depth - 1));
    if (choice == 5 && !ts.empty() && guards) {  // a pattern guard, or a case of its own
      MatchContext context = Below(2) ? MatchContext::Guard : MatchContext::Case;
      return Match(context, {ts[Below(ts.size())]}, 1 + Below(2), vars, depth - 1);
    }
    if (choice == 6 && guards) return b_.FatBar(Body(vars, depth - 1), Body(vars, depth - 1));
    if (choice == 7) {
      VarId var = b_.Local("x", b_.type_int);
      std::vector<VarId> inner = vars;
      inner.push_back(var);
      const Expr* value = Body(vars, 0);
      return b_.Let(var, value, Body(inner, depth - 1));
    }
    return b_.Number(100 + next_++);
  }

  const Expr* Match(MatchContext context, const std::vector<VarId>& scrutinees, uint32_t rows,
                    const std::vector<VarId>& scope, int depth) {
    std::vector<Row> out;
    for (uint32_t i = 0; i < rows; ++i) {
      std::vector<VarId> vars = scope;
      std::vector<const Pat*> pats;
      for (VarId scrutinee : scrutinees)
        pats.push_back(Pattern(b_.program.vars[scrutinee].scheme.type, 3, vars));
      const Expr* body = Body(vars, depth);
      out.push_back(b_.Row(pats, body));
    }
    return b_.Match(context, scrutinees, out, b_.type_int);
  }

  ValuePtr Argument(TypeId type, int depth) {
    if (laziness && Below(6) == 0) return Bottom();
    if (type == b_.type_int) return Number(Below(4));
    if (type == b_.type_bool) return Data(Below(2) ? b_.program.true_con : b_.program.false_con);
    if (type == b_.type_char) return Number('a' + Below(2));
    if (type == b_.type_string) {
      if (depth == 0 || Below(3) == 0) return Data(b_.program.nil_con);
      ValuePtr head = Argument(b_.type_char, 0);
      return Data(b_.program.cons_con, {head, Argument(type, depth - 1)});
    }
    if (type == b_.type_pair) {
      ValuePtr left = Argument(b_.type_t, depth - 1);
      return Data(b_.pair, {left, Argument(b_.type_int, depth - 1)});
    }
    uint32_t choice = Below(depth <= 0 ? 2 : 4);
    if (choice == 0) return Data(b_.a);
    if (choice == 1) return Data(b_.c, {Argument(b_.type_int, depth - 1)});
    ValuePtr left = Argument(b_.type_t, depth - 1);
    return Data(b_.b, {left, Argument(b_.type_t, depth - 1)});
  }

 private:
  Builder& b_;
  std::mt19937 random_;
  int64_t next_ = 0;
};

bool IsFailure(const std::string& result) { return result.substr(0, 4) == "fail"; }

TEST_CASE("compiled matches do what Haskell says, and force nothing else") {
  SourceManager sources;
  sources.Add("random", "");
  Builder b;
  size_t numbers = 0, failures = 0, bottoms = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Generator gen(b, seed);
    Diagnostics diags(sources);
    std::vector<VarId> params;
    for (uint32_t i = 0, n = 1 + gen.Below(3); i < n; ++i) params.push_back(b.Local("p", gen.Type()));
    const Expr* match = gen.Match(MatchContext::Case, params, 1 + gen.Below(6), {}, 3);
    const Expr* compiled = b.Compile(params, match, diags);
    for (int run = 0; run < 20; ++run) {
      std::vector<std::pair<VarId, ValuePtr>> inputs;
      for (VarId param : params) inputs.push_back({param, gen.Argument(b.program.vars[param].scheme.type, 3)});
      std::string expected = Evaluate(b.program, match, inputs);
      std::string got = Evaluate(b.program, compiled, inputs);
      ++(expected == "bottom" ? bottoms : IsFailure(expected) ? failures : numbers);
      // The messages of failures are tested elsewhere.
      if (IsFailure(expected) && IsFailure(got)) continue;
      if (got != expected) {
        std::string text;
        llvm::raw_string_ostream out(text);
        b.program.definitions[0].value = match;
        Dump(b.program, out);
        UNSCOPED_INFO("seed " << seed << "\n" << text);
      }
      REQUIRE(got == expected);
    }
  }
  CHECK(numbers > 2000);
  CHECK(failures > 400);
  CHECK(bottoms > 1000);
}

// Every value up to a depth, of which the patterns of the test below can see all.
std::vector<ValuePtr> AllValues(const Builder& b, TypeId type, int depth) {
  std::vector<ValuePtr> out;
  if (type == b.type_int) {
    for (int i = 0; i < 4; ++i) out.push_back(Number(i));
  } else if (type == b.type_bool) {
    out = {Data(b.program.false_con), Data(b.program.true_con)};
  } else {
    out.push_back(Data(b.a));
    for (const ValuePtr& value : AllValues(b, b.type_int, 0)) out.push_back(Data(b.c, {value}));
    if (depth > 0) {
      std::vector<ValuePtr> inner = AllValues(b, type, depth - 1);
      for (const ValuePtr& left : inner)
        for (const ValuePtr& right : inner) out.push_back(Data(b.b, {left, right}));
    }
  }
  return out;
}

TEST_CASE("a match is reported exactly if some value fits no row, and a row exactly if no value reaches it") {
  SourceManager sources;
  sources.Add("random", "");
  Builder b;
  size_t open = 0, redundant = 0;
  std::vector<ValuePtr> ts = AllValues(b, b.type_t, 2), bools = AllValues(b, b.type_bool, 0);
  for (uint32_t seed = 0; seed < 80; ++seed) {
    Generator gen(b, seed);
    gen.guards = gen.laziness = gen.tests = false;
    Diagnostics diags(sources);
    std::vector<VarId> params{b.Local("p", b.type_t), b.Local("q", b.type_bool)};
    std::vector<Row> rows;
    size_t count = 1 + gen.Below(7);
    for (size_t i = 0; i < count; ++i) {
      std::vector<VarId> vars;
      const Pat* left = gen.Pattern(b.type_t, 2, vars);
      const Pat* right = gen.Pattern(b.type_bool, 2, vars);
      rows.push_back(b.Row({left, right}, b.Number(static_cast<int64_t>(i))));
    }
    const Expr* match = b.Match(MatchContext::Case, params, rows, b.type_int);
    b.Compile(params, match, diags);
    std::set<std::string> results;
    for (const ValuePtr& t : ts)
      for (const ValuePtr& flag : bools) results.insert(Evaluate(b.program, match, {{params[0], t}, {params[1], flag}}));
    bool fails = results.count("fail: no alternative of `case` fits") != 0;
    size_t reached = results.size() - fails;
    size_t reported_open = 0, reported_rows = 0;
    for (const Diagnostic& diagnostic : diags.all())
      ++(diagnostic.id == Diag::NeverReached ? reported_rows : reported_open);
    INFO("seed " << seed);
    CHECK(reported_open == (fails ? 1 : 0));
    CHECK(reported_rows == count - reached);
    open += reported_open;
    redundant += reported_rows;
  }
  CHECK(open > 15);
  CHECK(redundant > 15);
}

}  // namespace
}  // namespace df::test
