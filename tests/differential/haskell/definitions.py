"""Random functions and constants of the top level: plain, by clauses, with fuel, in tail position, over the structure of data."""

from haskell_types import functions, holds, rigid, signature, substitute, unfold, variables
from library import Entry
from scope import Again, Impossible, Scope
from tree import Node, plain


class Definitions:
    def clauses(self, params, result, d, s, where=True):
        """Equations for a function; the last fits always unless the program may fail."""
        made, count = [], self.r.choice((1, 1, 2, 2, 3))
        for i in range(count):
            last = i == count - 1
            patterns, bound = [], []
            for p in params:
                words, new = self.pattern(p, 2, sure=last and not (self.fails and self.chance(0.1)))
                patterns.append(words)
                bound += new
            made.append(self.equation(patterns, result, d, s.plus(bound), last, where))
        return made

    def equation(self, patterns, result, d, s, last, where=True):
        definitions = []
        if where and self.chance(0.35):
            definitions, s = self.bindings(d - 1, s, self.r.choice((1, 2)))
        rhs = self.choices_of(result, d, s, otherwise=last or self.chance(0.6))
        return Node("clause", None, [rhs] + definitions, patterns)

    def param_type(self, tvars):
        """The type of a parameter of a function of the top level."""
        own = [("?", v) for v in tvars]
        if own and self.chance(0.7):
            a = self.r.choice(own)
            other = self.r.choice(own + ["Int", "Bool"])
            options = [(a, 4), (("[]", a), 4), (("->", a, other), 3), (("->", other, a), 1.5), (("Maybe", a), 1),
                       (("(,)", a, other), 1), (functions([a, other], a), 1.5), (("Stream", a), 0.4)]
            options += [(("Map", "Int", a), 1)] if self.world.maps else []
            options += [((data.name, a) + tuple("Int" for _ in data.params[1:]), 3) for data in self.world.data.values() if data.params]
            return self.pick(options)
        return self.pick([(self.ground_type(1), 7), (("->", "Int", self.ground_type(0)), 2), ("Small", 0.5), (("Stream", "Int"), 0.4),
                          (functions(["Int", "Int"], "Int"), 1)])

    def head(self):
        """Type variables with their constraints, parameters and result of a new function."""
        tvars = self.r.choice(("", "", "a", "a", "ab"))
        constraints = []
        for v in tvars:
            for c in ["Eq", "Ord"] + list(self.world.classes):
                if self.chance(0.15 if c in ("Eq", "Ord") else 0.4):
                    constraints.append((c, v))
        params = [self.param_type(tvars) for _ in range(self.r.choice((1, 1, 2, 2, 3)))]
        used = set(variables(functions(params, "Int")))
        tvars = [v for v in tvars if v in used]
        constraints = [(c, v) for c, v in constraints if v in used]
        result = self.param_type(tvars) if self.chance(0.6) else self.ground_type(1)
        if holds(result, "Stream") and self.chance(0.5):
            result = "Int"
        if self.world.io and self.chance(0.35):
            result = ("IO", self.ground_type(0))
        return tvars, constraints, params, result

    def given(self, constraints):
        """What the constraints say, superclasses too."""
        given = {}
        for c, v in constraints:
            known = given.setdefault(v, set())
            known.add(c)
            if c == "Ord":
                known.add("Eq")
            for p in self.world.classes[c].parents if c in self.world.classes else ():
                known.add(p)
        return given

    def define(self, depth):
        """One function, or two that call each other."""
        kind = self.pick([("plain", 4), ("fuel", 4), ("structure", 4), ("mutual", 1.5), ("point-free", 1.5), ("constant", 0.8)])
        for _ in range(12):
            self.room = self.r.choice((25, 60, 60, 120))
            try:
                return getattr(self, "define_" + kind.replace("-", "_"))(depth)
            except Impossible:
                continue
        return []

    def definition(self, entry, constraints, clauses):
        tvars = variables(functions(entry.params, entry.result))
        words = signature(entry.params, entry.result)
        if constraints:
            words = "(%s) => %s" % (", ".join("%s %s" % c for c in constraints), words)
        if tvars:
            words = "forall %s. %s" % (" ".join(tvars), words)
        return Node("def", None, clauses, (entry.name, words, ""))

    def inside(self, entry):
        """Parameters and result as the function's own body sees them."""
        return [rigid(p) for p in entry.params], rigid(entry.result)

    def define_plain(self, depth):
        _, constraints, params, result = self.head()
        entry = Entry(self.name("f"), params, result, constraints, weight=5)
        own, out = self.inside(entry)
        more, last = unfold(out) if self.chance(0.4) else ([], out)  # `f x = \y -> ..`, or f x y, where the type says x -> (y -> ..)
        made = [self.definition(entry, constraints, self.clauses(own + more, last, depth, Scope(given=self.given(constraints))))]
        self.world.entries.append(entry)
        return made

    def define_point_free(self, depth):
        _, constraints, params, result = self.head()
        entry = Entry(self.name("f"), params[:1], result, constraints, weight=5)
        own, out = self.inside(entry)
        constraints = [(c, v) for c, v in constraints if v in variables(functions(entry.params, result))]
        entry.constraints = constraints
        body = self.term(functions(own, out), depth, Scope(given=self.given(constraints)))
        made = [self.definition(entry, constraints, [Node("clause", None, [plain(body)], [])])]
        self.world.entries.append(entry)
        return made

    def define_constant(self, depth):
        t = ("Stream", self.ground_type(0)) if self.chance(0.5) else self.ground_type(1)
        entry = Entry(self.name("c"), [], t, weight=4)
        body = self.term(t, depth, Scope())
        self.world.entries.append(entry)
        return [self.definition(entry, [], [Node("clause", None, [plain(body)], [])])]

    def fuel_body(self, entry, constraints, group, depth):
        """Equations of a recursion on a budget: a base, and steps that may call the group with less."""
        own, out = self.inside(entry)
        n = self.name("n")
        names = [(self.name("a"), p) for p in own[1:]]
        given = self.given(constraints)
        env = [(n, "Int")] + names
        base = self.choices_of(out, depth - 1, Scope(env, given), otherwise=True)
        left = [self.r.choice((1, 1, 2, 3))]
        again = [Again(Entry(e.name, [rigid(p) for p in e.params], rigid(e.result)), self.one_less(n), left) for e in group]
        s = Scope(env, given, again)
        definitions = []
        if self.chance(0.3):
            definitions, s = self.bindings(depth - 1, s, 1)
        step = self.choices_of(out, depth, s, otherwise=True) if self.chance(0.6) else plain(self.recur(out, depth, s))
        zero = Node("branch", None, [self.literal("Bool", "%s <= 0" % n), self.as_term(base, out)])
        branches = step.kids if len(step.kids) > 1 or len(step.kids[0].kids) > 1 else \
            [Node("branch", None, [self.literal("Bool", "otherwise")] + step.kids[0].kids)]
        return [Node("clause", None, [Node("rhs", None, [zero] + branches)] + definitions, [n] + [a for a, _ in names])]

    def as_term(self, rhs, t):
        """A right-hand side as one expression."""
        if len(rhs.kids) == 1 and len(rhs.kids[0].kids) == 1:
            return rhs.kids[0].kids[0]
        return Node("case", t, [self.literal("()", "()"), Node("alt", None, [rhs], "_")])

    def define_fuel(self, depth, count=1):
        entries = []
        for _ in range(count):
            _, constraints, params, result = self.head() if count == 1 else ([], [], [self.ground_type(1)], self.ground_type(1))
            used = variables(functions(params[:2], result))
            constraints = [(c, v) for c, v in constraints if v in used]
            entries.append(Entry(self.name("f"), ["Int"] + params[:2], result, constraints, 6, fuel=4))
        loop = count == 1 and self.chance(0.3)
        if loop:
            entries[0].fuel = self.r.choice((12, 40))
        made = []
        for entry in entries:
            clauses = self.tail_loop(entry, depth) if loop else self.fuel_body(entry, entry.constraints, entries, depth)
            made.append(self.definition(entry, entry.constraints, clauses))
        self.world.entries += entries
        return made

    def define_mutual(self, depth):
        return self.define_fuel(depth, 2)

    def tail_loop(self, entry, depth):
        """A self tail call with accumulators."""
        own, out = self.inside(entry)
        n = self.name("n")
        names = [(self.name("a"), p) for p in own[1:]]
        s = Scope([(n, "Int")] + names, self.given(entry.constraints))
        branches = [Node("branch", None, [self.literal("Bool", "%s <= 0" % n), self.term(out, depth, s)])]
        if self.chance(0.4):
            branches.append(Node("branch", None, [self.term("Bool", 2, s), self.term(out, depth, s)]))
        args = [self.term(p, depth - 1, s) if self.chance(0.8) else Node("var", p, info=a) for a, p in names]
        args = self.said(Entry(entry.name, own, out), [self.one_less(n)()] + args)
        call = Node("call", out, args, (entry.name, False))
        branches.append(Node("branch", None, [self.literal("Bool", "otherwise"), call]))
        patterns = [n] + [("!" if p[0] not in ("->", "rigid") and self.chance(0.2) else "") + a for a, p in names]
        return [Node("clause", None, [Node("rhs", None, branches)], patterns)]

    def define_structure(self, depth):
        """A recursion over a list or a value of a data type: one equation per constructor."""
        tvars, constraints, params, result = self.head()
        over = [("[]", ("?", v)) for v in tvars] + [("[]", "Int")]
        over += [substitute(data.type, {p: self.r.choice([("?", v) for v in tvars] + ["Int"]) for p in data.params})
                 if data.params else data.name for data in self.world.data.values() if not data.newtype] * 2
        t = self.r.choice(over)
        entry = Entry(self.name("f"), [t] + params[:1], result, weight=6)
        used = variables(functions(entry.params, result))
        entry.constraints = constraints = [(c, v) for c, v in constraints if v in used]
        own, out = self.inside(entry)
        given = self.given(constraints)
        clauses = []
        for pattern, bound, smaller in self.shapes(own[0]):
            names = [(self.name("a"), p) for p in own[1:]]
            again = []
            if smaller:
                inner = Entry(entry.name, own, out)
                again = [Again(inner, lambda: Node("var", own[0], info=self.r.choice(smaller)), [max(2, len(smaller))])]
            s = Scope(bound + names, given, again)
            if smaller and self.chance(0.5):
                x = self.name("r")
                value = self.recur(out, depth, s)
                bind = Node("bind", None, [Node("ann", out, [value])], x)
                rhs = plain(Node("let", out, [bind, self.term(out, depth, s.plus([(x, out)] * 2))]))
                clauses.append(Node("clause", None, [rhs], [pattern] + [a for a, _ in names]))
            else:
                clauses.append(self.equation([pattern] + [a for a, _ in names], out, depth, s, last=True))
        if self.fails and len(clauses) > 1 and self.chance(0.1):
            clauses.pop()
        self.world.entries.append(entry)
        return [self.definition(entry, constraints, clauses)]

    def shapes(self, t):
        """(pattern, variables, those of type t) for each constructor of t."""
        if t[0] == "[]":
            x, xs = self.name("x"), self.name("s")
            return [("[]", [], []), ("(%s : %s)" % (x, xs), [(x, t[1]), (xs, t)], [xs])]
        found = []
        data = self.world.data[t if isinstance(t, str) else t[0]]
        for c in data.constructors:
            names = [(self.name("x"), u) for u in data.fields(c, t)]
            words = [n for n, _ in names]
            pattern = "(%s %s %s)" % (words[0], c.name, words[1]) if c.infix else "(%s)" % " ".join([c.name] + words)
            found.append((pattern, names, [n for n, u in names if u == t]))
        return found
