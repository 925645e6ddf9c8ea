"""Random well-typed programs that end: recursion, mutual recursion, loops, branches, delayed arguments, tuples, local
functions, functions as values, errors.

Every function's first parameter is its budget `n`: calls pass a smaller one, and a body calls only where `n > 0`.
"""

import random

from terms import FUNCTION, NUMBERS, Function, source, type_source


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.fresh = 0
        self.functions = []
        self.errors = 0

    # ------------------------------------------------------------ choices

    def name(self, prefix):
        self.fresh += 1
        return "%s%d" % (prefix, self.fresh)

    def chance(self, p):
        return self.r.random() < p

    def scalar(self):
        return self.r.choices(("Int", "Integer", "Bool", "Double", "Char"), (8, 3, 3, 2, 1))[0]

    def type(self, depth=1):
        if depth and self.chance(0.25):
            return tuple(self.type(depth - 1) for _ in range(self.r.choice((2, 2, 3))))
        return self.scalar()

    def any_type(self):
        """Values that are passed on, and not shown or evaluated as such, may be functions or hold some."""
        if self.chance(0.85):
            return self.type()
        return FUNCTION if self.chance(0.6) else (FUNCTION, self.scalar())

    def literal(self, t):
        r = self.r
        if t == FUNCTION:
            x = self.name("x")
            return ("fn", t, x, ("bin", "Int", r.choice("+-*"), ("var", "Int", x), self.literal("Int")))
        if t == "Bool":
            return ("lit", t, r.random() < 0.5)
        if t == "Char":
            return ("lit", t, r.choice("abcxyz09"))
        if t == "Double":
            return ("lit", t, r.choice((0.0, 0.5, 1.0, 1.5, -2.25, 10.0, 100.125)))
        if self.chance(0.04):
            return ("lit", t, r.choice((9223372036854775807, -9223372036854775807, 4611686018427387904)))
        if t == "Integer" and self.chance(0.08):
            return ("lit", t, r.choice((10 ** 20, -(10 ** 25), 2 ** 64)))
        return ("lit", t, r.randint(-4, 9))

    # ------------------------------------------------------------ terms

    def term(self, t, depth, env, calls):
        """A term of type t. env: [(name, type)]. calls: None, or the name of the budget that calls must pass smaller."""
        r = self.r
        known = [n for n, u in env if u == t]
        if depth <= 0:
            if known and self.chance(0.75):
                return ("var", t, r.choice(known))
            if isinstance(t, str):
                return self.literal(t)
            return ("tuple", t, [self.term(u, 0, env, None) for u in t])
        choices = [("leaf", 4 if known else 1), ("if", 4), ("let", 4), ("case", 2), ("lambda", 1.2), ("error", 0.7),
                   ("seq", 0.8), ("untuple", 1.5), ("spin", 0.25), ("pairlet", 2), ("fst", 1), ("localfun", 1.5), ("case2", 1)]
        if calls:
            choices.append(("call", 9))
        if t == FUNCTION:
            choices.append(("fn", 12))
        if t == "Int":
            choices.append(("apply", 5 if any(u == FUNCTION for _, u in env) else 0.7))
        if t in NUMBERS:
            choices += [("arith", 12), ("unary", 2), ("convert", 2), ("section", 1), ("errors", 0.5)]
        if t in ("Int", "Integer"):
            choices.append(("divide", 2.5))
        if t == "Bool":
            choices += [("compare", 9), ("logic", 4), ("parity", 1)]
        if not isinstance(t, str):
            choices.append(("tuple", 8))
        kind = r.choices([c for c, _ in choices], [w for _, w in choices])[0]
        return getattr(self, "t_" + kind)(t, depth - 1, env, calls)

    def t_leaf(self, t, d, env, calls):
        return self.term(t, 0, env, calls)

    def t_if(self, t, d, env, calls):
        return ("if", t, self.term("Bool", d, env, calls), self.term(t, d, env, calls), self.term(t, d, env, calls))

    def t_let(self, t, d, env, calls):
        bindings, inner = [], list(env)
        for _ in range(self.r.choice((1, 1, 2))):
            u = self.any_type()
            x = self.name("v")
            bindings.append(("val", x, u, self.term(u, d, inner, calls)))
            inner = inner + [(x, u)]
        return ("let", t, bindings, self.term(t, d, inner, calls))

    def t_pairlet(self, t, d, env, calls):
        u = tuple(self.scalar() for _ in range(self.r.choice((2, 2, 3))))
        if self.chance(0.4):
            u = (t,) + u[1:] if isinstance(t, str) else u
        names = [self.name("p") for _ in u]
        e = self.term(u, d, env, calls)
        return ("let", t, [("pair", names, u, e)], self.term(t, d, env + list(zip(names, u)), calls))

    def t_untuple(self, t, d, env, calls):
        u = tuple(self.scalar() for _ in range(self.r.choice((2, 2, 3))))
        names = [self.name("q") for _ in u]
        return ("untuple", t, self.term(u, d, env, calls), names, self.term(t, d, env + list(zip(names, u)), calls))

    def t_fst(self, t, d, env, calls):
        first = self.chance(0.5)
        other = self.scalar()
        u = (t, other) if first else (other, t)
        return ("un", t, "fst" if first else "snd", self.term(u, d, env, calls))

    def t_case(self, t, d, env, calls):
        s = self.r.choice(("Int", "Int", "Integer", "Char"))
        values = list(dict.fromkeys(self.literal(s)[2] for _ in range(self.r.choice((1, 2, 3)))))
        return ("case", t, self.term(s, d, env, calls), [(v, self.term(t, d, env, calls)) for v in values],
                self.term(t, d, env, calls))

    def t_case2(self, t, d, env, calls):
        return ("case", t, self.term("Bool", d, env, calls), [(True, self.term(t, d, env, calls))],
                self.term(t, d, env, calls))

    def t_lambda(self, t, d, env, calls):
        params = [(self.name("x"), self.scalar()) for _ in range(self.r.choice((1, 2)))]
        return ("lambda", t, params, self.term(t, d, env + params, calls),
                [self.term(u, d, env, calls) for _, u in params])

    def t_localfun(self, t, d, env, calls):
        # A local function with free variables; recursive on a budget of its own, literal at the call.
        f = Function(self.name("g"), [(self.name("k"), "Int")] + [(self.name("y"), self.any_type())
                                                                for _ in range(self.r.choice((0, 1, 2)))], t)
        k = f.params[0][0]
        inner = env + f.params
        step = self.term(t, d, inner, None)
        args = [self.term(u, min(d, 1), inner, None) for _, u in f.params[1:]]
        again = ("call", t, f.name, [("bin", "Int", "-", ("var", "Int", k), ("lit", "Int", 1))] + args)
        if t in NUMBERS and self.chance(0.6):
            again = ("bin", t, self.r.choice("+-"), *((step, again) if self.chance(0.5) else (again, step)))
        f.clauses = [(("bin", "Bool", "<=", ("var", "Int", k), ("lit", "Int", 0)), self.term(t, d, inner, None)),
                     (None, again)]
        call = ("call", t, f.name, [("lit", "Int", self.r.randint(0, 5))] +
                [self.term(u, d, env, calls) for _, u in f.params[1:]])
        body = call
        if t in NUMBERS and self.chance(0.4):
            body = ("bin", t, "+", call, self.term(t, d, env, calls))
        return ("let", t, [("fun", f)], body)

    def t_fn(self, t, d, env, calls):
        x = self.name("x")
        return ("fn", t, x, self.term("Int", d, env + [(x, "Int")], calls))

    def t_apply(self, t, d, env, calls):
        return ("apply", t, self.term(FUNCTION, d, env, calls), self.term(t, d, env, calls))

    def t_error(self, t, d, env, calls):
        self.errors += 1
        return ("error", t, "e%d" % self.errors)

    def t_errors(self, t, d, env, calls):
        """The right operand fails, at once; the left one does, or may, later: which message counts is the left one's to say."""
        if t in ("Int", "Integer") and self.chance(0.5):
            n = self.name("n")
            asked = ("bin", "Bool", self.r.choice(("==", "/=", "<", ">")), ("var", t, n), self.literal(t))
            known = ("if", t, asked, self.t_error(t, d, env, calls), self.literal(t))
            zero = ("bin", t, "-", ("var", t, n), ("var", t, n))
            return ("let", t, [("val", n, t, self.term(t, d, env, calls))],
                    ("bin", t, "+", known, ("bin", t, "div", self.literal(t), zero)))
        late = ("if", t, self.term("Bool", min(d, 1), env, calls), self.t_error(t, d, env, calls), self.t_error(t, d, env, calls))
        return ("bin", t, self.r.choice("+-*"), late, self.t_error(t, d, env, calls))

    def t_spin(self, t, d, env, calls):
        """What never ends: where it is needed, the oracle gives the program up; elsewhere it must not be started."""
        if t not in ("Int", "Integer"):
            return self.term(t, d, env, calls)
        return ("call", t, "spin" if t == "Int" else "grow", [self.literal(t)])

    def t_seq(self, t, d, env, calls):
        return ("bin", t, "seq", self.term(self.type(), d, env, calls), self.term(t, d, env, calls))

    def t_call(self, t, d, env, calls):
        fits = [f for f in self.functions if f.result == t] or None
        if not fits:
            return self.term(t, d, env, calls)
        f = self.r.choice(fits)
        n = ("var", "Int", calls)
        smaller = self.r.choice((("bin", "Int", "-", n, ("lit", "Int", 1)), ("bin", "Int", "-", n, ("lit", "Int", 2)),
                                 ("bin", "Int", "div", n, ("lit", "Int", 2))))
        args = [self.t_spin(u, d - 1, env, None) if self.chance(0.03) else self.term(u, d - 1, env, calls if self.chance(0.2) else None)
                for _, u in f.params[1:]]
        return ("call", t, f.name, [smaller] + args)

    def t_arith(self, t, d, env, calls):
        return ("bin", t, self.r.choice(("+", "+", "-", "*", "min", "max")), self.term(t, d, env, calls),
                self.term(t, d, env, calls))

    def t_section(self, t, d, env, calls):
        return ("section", t, self.r.choice(("+", "*")), self.term(t, d, env, calls), self.term(t, d, env, calls))

    def t_divide(self, t, d, env, calls):
        divisor = self.term(t, d, env, calls) if self.chance(0.35) else ("lit", t, self.r.choice((-3, 2, 3, 5, 7)))
        return ("bin", t, self.r.choice(("div", "mod", "quot", "rem", "gcd")), self.term(t, d, env, calls), divisor)

    def t_unary(self, t, d, env, calls):
        return ("un", t, self.r.choice(("negate", "abs")), self.term(t, d, env, calls))

    def t_convert(self, t, d, env, calls):
        s = self.r.choice(("Int", "Integer"))
        return ("un", t, "fromIntegral", self.term(s, d, env, calls))

    def t_compare(self, t, d, env, calls):
        u = self.r.choice(("Int", "Int", "Integer", "Double", "Char", "Bool"))
        return ("bin", t, self.r.choice(("==", "/=", "<", "<=", ">", ">=")), self.term(u, d, env, calls),
                self.term(u, d, env, calls))

    def t_logic(self, t, d, env, calls):
        if self.chance(0.3):
            return ("un", t, "not", self.term(t, d, env, calls))
        return ("bin", t, self.r.choice(("&&", "||")), self.term(t, d, env, calls), self.term(t, d, env, calls))

    def t_parity(self, t, d, env, calls):
        return ("un", t, self.r.choice(("even", "odd")), self.term("Int", d, env, calls))

    def t_tuple(self, t, d, env, calls):
        return ("tuple", t, [self.term(u, d, env, calls) for u in t])

    # ------------------------------------------------------------ functions

    def declare(self):
        params = [("n", "Int")] + [("a%d" % i, FUNCTION if self.chance(0.12) else self.type(1 if self.chance(0.3) else 0))
                                   for i in range(self.r.choice((0, 1, 1, 2, 2, 3)))]
        return Function("f%d" % len(self.functions), params, self.any_type())

    def loop(self, f, depth):
        # A self tail call with accumulators; sometimes a second exit.
        env = list(f.params)
        zero = ("bin", "Bool", "<=", ("var", "Int", "n"), ("lit", "Int", 0))
        f.clauses = [(zero, self.term(f.result, depth, env, None))]
        if self.chance(0.4):
            f.clauses.append((self.term("Bool", depth, env, None), self.term(f.result, depth, env, None)))

        def again():
            return ("call", f.result, f.name, [("bin", "Int", "-", ("var", "Int", "n"), ("lit", "Int", 1))] +
                    [self.term(t, depth - 1, env, "n" if self.chance(0.15) else None) if self.chance(0.8)
                     else ("var", t, p) for p, t in f.params[1:]])

        if self.chance(0.4):
            f.clauses.append((None, ("if", f.result, self.term("Bool", depth - 1, env, None), again(), again())))
        else:
            f.clauses.append((None, again()))

    def recursion(self, f, depth):
        env = list(f.params)
        if self.chance(0.35):
            for _ in range(self.r.choice((1, 2))):
                t = self.type()
                w = self.name("w")
                # Sometimes fails or calls, and is needed in some clauses only.
                f.where.append(("val", w, t, self.term(t, depth - 1, env, None)))
                env = env + [(w, t)]
        base = (("bin", "Bool", "<=", ("var", "Int", "n"), ("lit", "Int", 0)), self.term(f.result, depth, env, None))
        f.clauses = [base]
        if self.chance(0.4):
            f.clauses.append((self.term("Bool", depth - 1, env, None), self.term(f.result, depth, env, "n")))
        f.clauses.append((None, self.step(f, depth, env)))

    def step(self, f, depth, env):
        """A body that most probably calls: itself or another function, whose result the rest may use."""
        if self.chance(0.15):
            return self.term(f.result, depth, env, "n")
        calls = []
        for _ in range(self.r.choice((1, 1, 2))):
            g = f if self.chance(0.6) else self.r.choice(self.functions)
            calls.append((g.result, self.t_call(g.result, depth, env, "n")))
        if f.result in NUMBERS and calls[0][0] == f.result and self.chance(0.5):
            pair = (calls[0][1], self.term(f.result, depth - 1, env, None))
            return ("bin", f.result, self.r.choice("+-"), *(pair if self.chance(0.5) else pair[::-1]))
        bindings, inner = [], list(env)
        for t, e in calls:
            if not isinstance(t, str) and self.chance(0.5):
                names = [self.name("r") for _ in t]
                bindings.append(("pair", names, t, e))
                inner += list(zip(names, t)) * 3
            else:
                x = self.name("r")
                bindings.append(("val", x, t, e))
                inner += [(x, t)] * 3
        return ("let", f.result, bindings, self.term(f.result, depth, inner, "n" if self.chance(0.3) else None))

    def knot(self, depth):
        """`let (x, y) = f x 1 in y`, where f does not need its first parameter for its first result."""
        f = Function(self.name("k"), [("u", "Int"), ("v", "Int")], ("Int", "Int"))
        f.clauses = [(None, ("tuple", f.result, [self.term("Int", depth, [("v", "Int")], None),
                                                 self.term("Int", depth, f.params, None)]))]
        x, y = self.name("x"), self.name("y")
        body = self.term("Int", depth, [(x, "Int"), (y, "Int")], None)
        e = ("call", f.result, f.name, [("var", "Int", x), ("lit", "Int", self.r.randint(-3, 9))])
        return f, ("let", "Int", [("pair", [x, y], f.result, e)], ("bin", "Int", "+", body, ("var", "Int", y)))

    def program(self):
        """The functions, `main` last."""
        count = self.r.choice((1, 2, 3, 3, 4, 5))
        depth = self.r.choice((2, 3, 3, 4))
        for _ in range(count):
            self.functions.append(self.declare())
        for f in self.functions:
            (self.loop if self.chance(0.35) else self.recursion)(f, depth)
        t = self.type()
        main = Function("main", [], t)
        starts = []
        extra = []
        for _ in range(self.r.choice((1, 2))):
            f = self.r.choice(self.functions)
            x = self.name("m")
            args = [("lit", "Int", self.r.choice((0, 1, 2, 3, 5, 8, 12, 20, 40)))] + \
                   [self.t_spin(u, 1, [], None) if self.chance(0.06) else self.term(u, 1, [], None) for _, u in f.params[1:]]
            starts.append(("val", x, f.result, ("call", f.result, f.name, args)))
        if self.chance(0.2):
            f, e = self.knot(2)
            extra.append(f)
            starts.append(("val", self.name("m"), "Int", e))
        env = [(b[1], b[2]) for b in starts]
        if self.chance(0.7):
            parts = [self.shown(("var", t, x)) for x, t in env]
            main.result = tuple(e[1] for e in parts) if len(parts) > 1 else parts[0][1]
            body = ("tuple", main.result, parts) if len(parts) > 1 else parts[0]
        else:
            body = self.term(t, depth, env, None)
        main.clauses = [(None, ("let", main.result, starts, body))]
        return self.functions + extra + self.endless() + [main]

    def shown(self, e):
        """Something to print of a value: a function is applied."""
        if e[1] == FUNCTION:
            return ("apply", "Int", e, self.literal("Int"))
        if e[1][0] == FUNCTION:
            return self.shown(("un", FUNCTION, "fst", e))
        return e

    def endless(self):
        """A loop and a recursion without an end."""
        spin, grow = Function("spin", [("i", "Int")], "Int"), Function("grow", [("i", "Integer")], "Integer")
        for f, t in ((spin, "Int"), (grow, "Integer")):
            again = ("call", t, f.name, [("bin", t, "+", ("var", t, "i"), ("lit", t, 1))])
            f.clauses = [(None, again if f is spin else ("bin", t, "+", ("lit", t, 1), again))]
        return [spin, grow]


def program_source(functions):
    lines = []
    for f in functions:
        if f.name == "main":
            lines += ["main :: " + type_source(f.result), "main = " + source(f.clauses[0][1])]
        else:
            lines.append(f.source())
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    import sys

    import evaluate
    sys.setrecursionlimit(100000)
    functions = Generator(int(sys.argv[1])).program()
    print(program_source(functions))
    try:
        print("--", evaluate.run(functions, functions[-1].result, 50000)[0])
    except evaluate.TooBig:
        print("-- too big")
