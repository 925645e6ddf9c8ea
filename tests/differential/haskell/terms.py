"""Random terms of a given type.

A term ends by construction: recursion goes through entries whose first argument is a budget that gets smaller (or through
a smaller part of a value), lists without an end have a type of their own, and counts are of the type Small.
"""

from library import Entry, read
from leaves import Leaves
from scope import Again, Impossible, Scope
from tree import Node, plain
from haskell_types import GROUND, OPAQUE, functions, holds, match, signature, substitute, unfold, variables


# Operators that stand beside each other without parentheses: what fixity says of them is tested.
CHAINS = {"Int": ("+", "-", "*", "+", "`max`"), "Integer": ("+", "-", "*"), "Bool": ("&&", "||"), "Double": ("+", "-", "*")}
# Local functions without a signature, used at several types.
POLYMORPHIC = (("x y = (y, x)", "p -> q -> (q, p)"), ("x = [x, x]", "p -> [p]"), ("h x = h (h x)", "(p -> p) -> p -> p"),
               ("h k x = h (k x)", "(q -> r) -> (p -> q) -> p -> r"), ("x = \\y -> (x, [y])", "p -> q -> (p, [q])"),
               ("(x, y) = (y, x, y)", "(p, q) -> (q, p, q)"), ("h x = if h x then Just x else Nothing", "(p -> Bool) -> p -> Maybe p"),
               ("h xs = case xs of { y : ys | h y -> ys; _ -> xs }", "(p -> Bool) -> [p] -> [p]"),
               ("x y = if x < y then [x, y] else [y]", "Ord p => p -> p -> [p]"), ("x y = show x ++ show y", "(Show p, Show q) => p -> q -> [Char]"),
               ("x = if x == minimum [x, x] then x else x", "Ord p => p -> p"),
               ("x = go [] x where { go a n | n > 3 = a | otherwise = go (n : a) (n + 1) }", "Int -> [Int]"))


class Terms(Leaves):
    def term(self, t, d, s):
        self.room -= 1
        if d > 0 and self.room > 0:
            options = self.options(t, s)
            for _ in range(5):
                make = self.pick(options)
                try:
                    return make(t, d - 1, s)
                except Impossible:
                    pass
        return self.leaf(t, s)

    def options(self, t, s):
        options = [(self.leaf, 2), (self.call, 8), (self.if_, 2), (self.case, 3), (self.let, 2.5), (self.local, 1),
                   (self.immediate, 0.5), (self.polymorphic, 0.3)]
        if any(u[0] == "->" and unfold(u)[1] == t for _, u in s.env):
            options.append((self.apply, 6))
        if any(a.entry.result == t and a.left[0] > 0 for a in s.again):
            options.append((self.recur, 7))
        if self.fails:
            options += [(self.error, 0.3), (self.strictly, 0.5)]
        if self.spins and not s.safe:
            options.append((self.spin, 0.25))
        head = t if isinstance(t, str) else t[0]
        if head in ("Bool", "Ordering", "Maybe", "Either", "(,)", "()") or head in self.world.data:
            options.append((self.construct, 6))
        if head in self.world.data:
            options.append((self.update, 1.5))
        if head == "[]":
            options += [(self.list, 2), (self.comprehension, 2.5), (self.cons, 2), (self.do, 0.7)]
            if t[1] in ("Int", "Integer", "Char", "Bool") or t[1] in self.world.data:
                options.append((self.sequence, 1.5))
        if t in CHAINS or head in ("[]", "->"):
            options.append((self.chain, 1))
        if head in ("Maybe", "Either", "St", "IO"):
            options.append((self.do, 2))
        if head in ("Map", "Set"):
            options.append((self.collection, 3))
        if self.readable(t):
            options.append((self.reread, 0.25))
        if head == "->":
            options += [(self.lambda_, 6), (self.section, 3), (self.partial, 5)]
        if head == "Stream":
            options += [(self.knot, 3), (self.cons, 1), (self.stream_sequence, 2)]
        if t == "Small":
            return [(self.leaf, 4), (self.small, 2)]
        return options

    def guarded(self, t, d, s):
        """The term, with its type where inference would not find the same one."""
        e = self.term(t, d, s)
        return e if e.op in ("var", "ann") else Node("ann", t, [e])

    # ------------------------------------------------------------ calls

    def choose(self, constraints, s, depth=1):
        """A type without variables that has these classes."""
        for _ in range(12):
            t = self.ground_type(depth)
            if all(self.world.has(c, t, s.given) for c in constraints):
                return t
        return "Int"

    def settle(self, entry, result, t, s):
        """What the variables of an entry stand for if `result`, of its type, is `t`; and which of these were chosen."""
        found = {}
        if not match(result, t, found):
            raise Impossible()
        open_ = [v for v in variables(functions(entry.params, entry.result)) if v not in found]
        for v in open_:
            needed = [c for c, w in entry.constraints if w == v]
            known = [u for _, u in s.env if u[0] not in OPAQUE and u != "Small"
                     and all(self.world.has(c, u, s.given) for c in needed)]
            found[v] = self.r.choice(known) if known and self.chance(0.6) else self.choose(needed, s)
        if any(not self.world.has(c, found[v], s.given) for c, v in entry.constraints):
            raise Impossible()
        return found, open_

    def candidates(self, t, given):
        """Entries whose result may be `t`."""
        return [e for e in self.world.entries if (self.fails or not e.partial) and match(e.result, t, {})]

    def call(self, t, d, s):
        entries = self.candidates(t, s.given)
        if not entries:
            raise Impossible()
        for _ in range(4):
            entry = self.pick([(e, e.weight) for e in entries])
            try:
                found, open_ = self.settle(entry, entry.result, t, s)
                return self.application(entry, entry.params, t, found, open_, d, s)
            except Impossible:
                pass
        raise Impossible()

    def application(self, entry, params, t, found, open_, d, s):
        """The entry, applied to arguments for the first `params`."""
        args, open_ = [], set(open_)
        for i, p in enumerate(params):
            u = substitute(p, found)
            if i == 0 and entry.fuel is not None:
                args.append(self.budget(entry, d, s))
                continue
            own = entry.name[0] == "f" and entry.name[1:].isdigit()
            e = self.spin(u, d, s) if self.spins and own and self.chance(0.12) else self.term(u, d, s)
            mine = open_ & set(variables(p))
            container = entry.container and i == len(entry.params) - 1 and e.op != "list"
            if (mine or entry.annotate or container) and e.op not in ("var", "ann"):
                e = Node("ann", u, [e])
            open_ -= mine
            args.append(e)
        infix = len(args) == 2 and not entry.operator and self.chance(0.08)
        return Node("call", t, args, (entry.name, infix))

    def budget(self, entry, d, s):
        if d > 0 and self.chance(0.2):
            return Node("call", "Int", [self.term("Int", d, s), self.literal("Int", str(min(entry.fuel, 9) + 1))], ("mod", True))
        return self.literal("Int", str(self.r.choice((0, 1, 2, 3, 5, entry.fuel))) if self.chance(0.7) else str(entry.fuel))

    def partial(self, t, d, s):
        """A function from the tables with fewer arguments than it takes."""
        wanted = len(unfold(t)[0])
        options = []
        for e in self.world.entries:
            if (self.fails or not e.partial) and 1 <= len(e.params) and not e.annotate:
                for n in range(len(e.params)):
                    rest = functions(e.params[n:], e.result)
                    if (n > 0 or e.fuel is None) and len(unfold(rest)[0]) <= wanted and match(rest, t, {}):
                        options.append(((e, n, rest), e.weight))
        for _ in range(3):
            if not options:
                break
            e, n, rest = self.pick(options)
            try:
                found, open_ = self.settle(e, rest, t, s)
                if set(open_) - set(variables(functions(e.params[:n], "Int"))):
                    continue  # nothing would say what the variable is
                return self.application(e, e.params[:n], t, found, open_, d, s)
            except Impossible:
                pass
        raise Impossible()

    def section(self, t, d, s):
        params, result = unfold(t)
        if len(params) != 1:
            raise Impossible()
        options = []
        for e in self.world.entries:
            if e.operator and len(e.params) == 2 and (self.fails or not e.partial) and not e.annotate and e.name != "-":
                for side in (0, 1):
                    rest = ("->", e.params[1 - side], e.result)
                    if match(rest, t, {}):
                        options.append((e, side, rest))
        if not options:
            raise Impossible()
        e, side, rest = self.r.choice(options)
        found, open_ = self.settle(e, rest, t, s)
        u = substitute(e.params[side], found)
        arg = self.term(u, d, s)
        if open_ and arg.op != "var":
            arg = Node("ann", u, [arg])
        return Node("lsect" if side == 0 else "rsect", t, [arg], e.name)

    def apply(self, t, d, s):
        """A variable that is a function, applied."""
        name, u = self.r.choice([(n, u) for n, u in s.env if u[0] == "->" and unfold(u)[1] == t])
        return Node("apply", t, [Node("var", u, info=name)] + [self.term(p, d - 1, s) for p in unfold(u)[0]])

    def recur(self, t, d, s):
        left = [a for a in s.again if a.entry.result == t and a.left[0] > 0]
        if not left:
            raise Impossible()
        a = self.r.choice(left)
        a.left[0] -= 1
        first = a.smaller()
        inner = s if self.chance(0.1) else s.without_recursion()
        rest = [self.spin(p, d, s) if self.spins and self.chance(0.06) else self.term(p, d - 1, inner) for p in a.entry.params[1:]]
        return Node("call", t, self.said(a.entry, [first] + rest), (a.entry.name, False))

    def said(self, entry, args):
        """The arguments of a recursive call; those with a type that says what a type variable is which the result does not say."""
        unsaid = set(variables(functions(entry.params, entry.result), "rigid")) - set(variables(entry.result, "rigid"))
        made = []
        for p, e in zip(entry.params, args):
            mine = set(variables(p, "rigid"))
            made.append(Node("ann", p, [e]) if unsaid & mine and e.op != "var" else e)
            unsaid -= mine
        return made

    def immediate(self, t, d, s):
        """A lambda that is applied at once."""
        params = [self.any_type(1) for _ in range(self.r.choice((1, 2)))]
        bound, patterns = [], []
        for p in params:
            words, new = self.pattern(p, 1, sure=True)
            patterns.append(words)
            bound += new
        args = [self.guarded(p, d, s) for p in params]
        return Node("apply", t, [Node("lam", None, [self.term(t, d, s.plus(bound))], patterns)] + args)

    # ------------------------------------------------------------ control and binding

    def chain(self, t, d, s):
        """a + b * c - d, x : y ++ zs, f . g . h: as the operators' fixities have it."""
        count = self.r.choice((2, 3, 3, 4))
        if t in CHAINS:
            ops = [self.r.choice(CHAINS[t]) for _ in range(count - 1)]
            return Node("chain", t, [self.term(t, d - 1, s) for _ in range(count)], ops)
        if t[0] == "[]":
            ops = [self.r.choice((":", "++")) for _ in range(count - 1)]
            return Node("chain", t, [self.term(t[1] if o == ":" else t, d - 1, s) for o in ops] + [self.term(t, d - 1, s)], ops)
        if t[1] == t[2]:
            return Node("chain", t, [self.guarded(t, d - 1, s) for _ in range(count)], ["."] * (count - 1))
        raise Impossible()

    def polymorphic(self, t, d, s):
        """A term around a local function that has a general type by inference."""
        words, signature = self.r.choice(POLYMORPHIC)
        entry = read("9 %s :: %s" % (self.name("h"), signature))[0]
        self.world.entries.append(entry)
        try:
            body = self.term(t, d, s)
        finally:
            self.world.entries.remove(entry)
        return Node("let", t, [Node("text", info="%s %s" % (entry.name, words)), body])

    def if_(self, t, d, s):
        return Node("if", t, [self.term("Bool", d, s), self.term(t, d, s), self.term(t, d, s)])

    def error(self, t, d, s):
        self.errors += 1
        return self.literal(t, '(error "e%d")' % self.errors)

    def strictly(self, t, d, s):
        """Something that may fail is evaluated, and not used."""
        u = self.ground_type(0)
        value = Node("ann", u, [self.error(u, d, s) if self.chance(0.4) else self.term(u, d, s)])
        body = self.term(t, d, s)
        kind = self.r.choice(("seq", "case", "lambda"))
        if kind == "seq":
            return Node("call", t, [value, body], ("seq", False))
        if kind == "case":
            return Node("case", t, [value, Node("alt", None, [plain(body)], "!" + self.name("x"))])
        return Node("apply", t, [Node("lam", None, [body], ["!" + self.name("x")]), value])

    def spin(self, t, d, s):
        return Node("call", t, [self.literal("Int", "0")], ("spin", False))

    def alternatives(self, u, t, d, s):
        """Alternatives of a case on type u; they fit every value unless the program may fail."""
        alts = []
        for i in range(self.r.choice((1, 2, 2, 3))):
            words, bound = self.pattern(u, 2, sure=False)
            alts.append(Node("alt", None, [self.choices_of(t, d, s.plus(bound), otherwise=self.chance(0.75))], words))
        if not (self.fails and self.chance(0.12)):
            words, bound = self.pattern(u, 1, sure=True)
            alts.append(Node("alt", None, [self.choices_of(t, d, s.plus(bound), otherwise=True)], words))
        return alts

    def case(self, t, d, s):
        u = self.known_type(s, self.ground_type(1) if self.chance(0.9) else ("Stream", self.ground_type(0)))
        return Node("case", t, [self.guarded(u, d if self.chance(0.4) else 0, s)] + self.alternatives(u, t, d, s))

    def choices_of(self, t, d, s, otherwise):
        """The right-hand side of a clause: an expression, or guarded ones; otherwise: one always fits."""
        if otherwise and (self.room < 0 or self.chance(0.6)):
            return plain(self.term(t, d, s))
        branches = []
        for _ in range(self.r.choice((1, 1, 2))):
            quals, inner = [], s
            for _ in range(self.r.choice((1, 1, 1, 2))):
                if self.chance(0.3):
                    u = self.known_type(inner, self.ground_type(1))
                    words, bound = self.pattern(u, 2, sure=False)
                    quals.append(Node("gen", None, [self.guarded(u, min(d, 1), inner)], words))
                    inner = inner.plus(bound)
                else:
                    quals.append(Node("cond", None, [self.term("Bool", min(d, 2), inner)]))
            branches.append(Node("branch", None, quals + [self.term(t, d, inner)]))
        if otherwise:
            branches.append(Node("branch", None, [self.literal("Bool", "otherwise"), self.term(t, d, s)]))
        return Node("rhs", None, branches)

    def bindings(self, d, s, count):
        """Definitions for a let or a where, and what they bind."""
        made, inner = [], s
        for _ in range(count):
            u = self.any_type(1)
            if self.chance(0.25):
                made.append(self.local_function(d, inner))
                inner = inner.plus([made[-1].bound])
                continue
            words, bound = (self.pattern(u, 1, sure=True) if u[0] == "(,)" and self.chance(0.8)
                            else self.variable(u, bang=False))
            if words == "_":
                continue
            value = (Node("ann", u, [self.spin(u, d, s)]) if self.spins and self.chance(0.1) else
                     self.guarded(u, d, inner.without_recursion() if self.chance(0.5) else inner))
            made.append(Node("bind", None, [value], words))
            inner = inner.plus(bound)
        if not made:
            return self.bindings(d, s, count)
        return [m.node if isinstance(m, Local) else m for m in made], inner

    def let(self, t, d, s):
        if self.chance(0.12):
            return self.pair_knot(t, d, s)
        made, inner = self.bindings(d, s, self.r.choice((1, 1, 2)))
        return Node("let", t, made + [self.term(t, d, inner)])

    def local_function(self, d, s):
        params = [self.any_type(0) for _ in range(self.r.choice((1, 1, 2)))]
        result = self.any_type(1)
        name = self.name("g")
        clauses = self.clauses(params, result, d, s.without_recursion(), where=False)
        return Local(Node("fun", None, clauses, (name, signature(params, result))), (name, functions(params, result)))

    def local(self, t, d, s):
        """A recursive local function with free variables, on a budget of its own."""
        name, k = self.name("g"), self.name("k")
        params = ["Int"] + [self.any_type(0) for _ in range(self.r.choice((0, 1)))]
        entry = Entry(name, params, t, fuel=4)
        extra = [(self.name("y"), p) for p in params[1:]]
        inner = s.without_recursion().plus(extra)
        base = self.term(t, d, inner)
        step = Scope(inner.env + [(k, "Int")], inner.given, [Again(entry, self.one_less(k), [2])])
        again = self.term(t, d, step) if self.chance(0.3) else self.recur(t, d, step)
        rhs = Node("rhs", None, [Node("branch", None, [self.literal("Bool", "%s <= 0" % k), base]),
                                 Node("branch", None, [self.literal("Bool", "otherwise"), again])])
        f = Node("fun", None, [Node("clause", None, [rhs], [k] + [n for n, _ in extra])], (name, signature(params, t)))
        call = Node("call", t, [self.literal("Int", str(self.r.randint(0, 4)))] + [self.term(p, d, s) for p in params[1:]], (name, False))
        return Node("let", t, [f, call])

    def one_less(self, k):
        return lambda: Node("call", "Int", [Node("var", "Int", info=k), self.literal("Int", str(self.r.choice((1, 1, 2))))], ("-", True))

    # ------------------------------------------------------------ data and lists

    def construct(self, t, d, s, smallest=False):
        r = self.r
        if t in ("Bool", "Ordering"):
            return self.literal(t, r.choice(("True", "False") if t == "Bool" else ("LT", "EQ", "GT")))
        if t == "()":
            return self.literal(t, "()")
        head = t if isinstance(t, str) else t[0]
        if head == "(,)":
            return Node("tuple", t, [self.term(u, d, s) for u in t[1:]])
        if head == "Maybe":
            if self.chance(0.3) or smallest and self.chance(0.4):
                return self.literal(t, "Nothing")
            return Node("call", t, [self.term(t[1], d, s)], ("Just", False))
        if head == "Either":
            side = r.choice((0, 1))
            return Node("call", t, [self.term(t[1 + side], d, s)], (("Left", "Right")[side], False))
        data = self.world.data[head]
        c = data.constructors[0] if smallest else r.choice(data.constructors)
        args = [self.term(u, d, s) for u in data.fields(c, t)]
        if c.labels and self.chance(0.4):
            return Node("record", t, args, (c.name, c.labels))
        return Node("call", t, args, (c.name, c.infix))

    def collection(self, t, d, s):
        """A map or a set of some elements, or an empty one."""
        letter = t[0][0]
        if not self.world.has("Ord", t[1], s.given) or self.chance(0.1):
            return self.literal(t, letter + ".empty")
        element = t[1] if letter == "S" else ("(,)", t[1], t[2])
        parts = [Node("tuple", element, [self.term(u, d, s) for u in element[1:]]) if letter == "M" else self.term(element, d, s)
                 for _ in range(self.r.choice((1, 2, 3)))]
        return Node("call", t, [Node("list", ("[]", element), parts)], (letter + ".fromList", False))

    def readable(self, t):
        """Whether `read` knows the type: of the library's types, some."""
        if isinstance(t, str):
            return t in GROUND or t in ("Ordering", "()")
        return t[0] in ("[]", "(,)", "Maybe", "Either") and all(self.readable(u) for u in t[1:])

    def reread(self, t, d, s):
        """read (show e)"""
        shown = Node("call", ("[]", "Char"), [self.guarded(t, d, s)], ("show", False))
        return Node("ann", t, [Node("call", t, [shown], ("read", False))])

    def update(self, t, d, s):
        data = self.world.data[t if isinstance(t, str) else t[0]]
        c = self.r.choice(data.constructors)
        if not c.labels or len(data.constructors) > 1 and not self.fails:
            raise Impossible()
        types = data.fields(c, t)
        changed = [i for i in range(len(types)) if self.chance(0.5)] or [0]
        return Node("update", t, [self.guarded(t, d, s)] + [self.term(types[i], d, s) for i in changed], [c.labels[i] for i in changed])

    def list(self, t, d, s):
        return Node("list", t, [self.term(t[1], d, s) for _ in range(self.r.choice((1, 2, 3)))])

    def cons(self, t, d, s):
        return Node("call", t, [self.term(t[1], d, s), self.term(t, d, s)], (":", True))

    def sequence(self, t, d, s):
        u, r = t[1], self.r
        if u in ("Int", "Integer"):
            low = r.randint(-2, 4)
            if self.chance(0.3):
                step = r.choice((1, 2, 3, -1, -2))
                kids = [self.literal(u, str(n)) for n in (low, low + step, low + step * r.randint(-1, 5))]
                return Node("enum", t, kids, (True, True))
            end = self.literal(u, str(low + r.randint(-1, 6)))
            return Node("enum", t, [self.literal(u, str(low)), end], (False, True))
        if u == "Char":
            return Node("enum", t, [self.literal(u, "'a'"), self.literal(u, "'%s'" % r.choice("abdef"))], (False, True))
        if u == "Bool" or "Enum" in self.world.data[u].deriving:
            kids = [self.term(u, d, s) for _ in range(r.choice((1, 2)))]
            return Node("enum", t, kids, (False, len(kids) == 2))
        raise Impossible()

    def stream_sequence(self, t, d, s):
        if t[1] not in ("Int", "Integer"):
            raise Impossible()
        low = self.r.randint(-3, 5)
        kids = [self.literal(t[1], str(low))]
        if self.chance(0.4):
            kids.append(self.literal(t[1], str(low + self.r.choice((1, 2, 5, -1)))))
        return Node("enum", t, kids, (len(kids) == 2, False))

    def comprehension(self, t, d, s):
        quals, inner = [], s
        for i in range(self.r.choice((1, 1, 2, 2, 3))):
            kind = "gen" if i == 0 else self.r.choice(("gen", "cond", "cond", "let"))
            if kind == "gen":
                u = self.ground_type(0) if self.chance(0.7) else self.any_type(1)
                words, bound = self.pattern(u, 1, sure=False)
                quals.append(Node("gen", None, [self.guarded(("[]", u), d, inner)], words))
                inner = inner.plus(bound)
            elif kind == "cond":
                quals.append(Node("cond", None, [self.term("Bool", d, inner)]))
            else:
                made, inner = self.bindings(d, inner, 1)
                if made:
                    quals.append(Node("letq", None, made))
        return Node("comp", t, [self.term(t[1], d, inner)] + quals)

    def do(self, t, d, s):
        """Statements in a monad: lists, Maybe, Either, the program's own state."""
        kids, inner = [], s
        for _ in range(self.r.choice((1, 2, 2, 3))):
            if self.chance(0.2):
                made, inner = self.bindings(d, inner, 1)
                if made:
                    kids.append(Node("letq", None, made))
                continue
            u = self.any_type(0)
            if u[0] == "Stream":
                continue
            words, bound = self.pattern(u, 1, sure=t[0] in ("Either", "St", "IO"))
            kids.append(Node("gen", None, [self.guarded(t[:-1] + (u,), d, inner)], words))
            inner = inner.plus(bound)
        kids.append(Node("cond", None, [self.term(t, d, inner) if self.chance(0.4) else
                                        Node("call", t, [self.term(t[-1], d, inner)], (self.r.choice(("return", "pure")), False))]))
        return Node("do", t, kids)

    # ------------------------------------------------------------ functions, knots

    def lambda_(self, t, d, s):
        if self.chance(0.12) and not holds(t[1], "Stream") and t[1][0] not in ("->", "rigid"):
            return Node("lamcase", t, self.alternatives(t[1], t[2], d, s))
        params, result = unfold(t)
        taken = len(params) if self.chance(0.8) else self.r.randint(1, len(params))
        result = functions(params[taken:], result)
        patterns, bound = [], []
        for p in params[:taken]:
            words, new = self.pattern(p, 1, sure=True)
            patterns.append(words)
            bound += new
        return Node("lam", t, [self.term(result, d, s.plus(bound))], patterns)

    def knot(self, t, d, s):
        """A stream in terms of itself: its head is there before its tail is asked for."""
        xs = self.name("s")
        inner = s.without_recursion()
        me = Node("var", t, info=xs)
        first = self.term(t[1], d, inner)
        kind = self.r.choice(("map", "scanl", "zipWith", "iterate"))
        if kind == "map":
            rest = Node("call", t, [self.term(("->", t[1], t[1]), d, inner), me], ("map", False))
        elif kind == "scanl":
            u = self.ground_type(0)
            stream = ("Stream", u)
            rest = Node("call", t, [self.term(functions([t[1], u], t[1]), d, inner), self.term(t[1], d, inner),
                                    Node("ann", stream, [self.term(stream, d, inner)])], ("scanl", False))
        elif kind == "zipWith":
            second = self.term(t[1], d, inner)
            tail = Node("call", t, [me], ("tail", False))
            rest = Node("call", t, [second, Node("call", t, [self.term(functions([t[1], t[1]], t[1]), d, inner), me, tail],
                                                 ("zipWith", False))], (":", True))
        else:
            u = ("Stream", "Int")
            rest = Node("call", t, [self.term(functions(["Int", t[1]], t[1]), d, inner), Node("ann", u, [self.term(u, d, inner)]), me],
                        ("zipWith", False))
        value = Node("ann", t, [Node("call", t, [first, rest], (":", True))])
        return Node("let", t, [Node("bind", None, [value], xs), self.term(t, d, s.plus([(xs, t)])) if self.chance(0.4) else me])

    def pair_knot(self, t, d, s):
        """`let (x, y) = f y z in ...`, where f does not need its first parameter for the second component."""
        u, v = self.ground_type(0), self.ground_type(1)
        x, y, f, p, q = (self.name(c) for c in "xygpq")
        inner = s.without_recursion()
        whole = ("(,)", u, v)
        body = Node("tuple", whole, [self.term(u, d, inner.plus([(p, v), (q, u)])), self.term(v, d, inner.plus([(q, u)]))])
        g = Node("fun", None, [Node("clause", None, [plain(body)], [p, q])], (f, signature([v, u], whole)))
        use = Node("ann", whole, [Node("call", whole, [Node("var", v, info=y), self.term(u, d, inner)], (f, False))])
        bound = [(x, u), (y, v)]
        return Node("let", t, [g, Node("bind", None, [use], "(%s, %s)" % (x, y)),
                             self.term(t, d, s.plus(bound * 2))])


class Local:
    """A local function: its node, and its name with its type."""

    def __init__(self, node, bound):
        self.node, self.bound = node, bound
