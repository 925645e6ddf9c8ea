"""Random Haskell programs: data types, classes with instances, higher-order and recursive functions, lists, laziness, errors.

    python3 generate.py SEED

A program is well typed and ends, by construction. There are three kinds: what is total; with `spin`, which never ends, in
places that may not be needed; and with what may fail (`error`, head, incomplete patterns, division by what may be zero). The
last two are never one program: beside a failure something endless may be started first.
"""

import random
import re
import sys

import declarations
from declarations import HEADS, METHODS, Class, World
from library import ACTIONS, CHARS, FUNCTIONS, LISTS, MAPS, MONADS, Entry, read
from patterns import Patterns
from templates import HIGHER, HIGHER_ENTRIES, HIGHER_MONADS, STATE, STATE_ENTRIES
from terms import Again, Impossible, Scope, Terms
from tree import Node, plain
from haskell_types import GROUND, functions, holds, parse, rigid, signature, substitute, text, unfold, variables

HEADER = "{-# LANGUAGE ScopedTypeVariables, BangPatterns, LambdaCase #-}\nmodule Main where\n"
MAP_IMPORTS = "import qualified Data.Map as M\nimport qualified Data.Set as S\n"
LIBRARY = read(FUNCTIONS)


class Dice:
    """Choices made from `Random.random` alone: the only method that gives the same numbers in every version of Python."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def choice(self, items):
        return items[int(self.random() * len(items))]

    def randint(self, low, high):
        return low + int(self.random() * (high - low + 1))

    def sample(self, items, count):
        left = list(items)
        return [left.pop(int(self.random() * len(left))) for _ in range(count)]

    def weighted(self, options):
        """One of [(what, weight)]."""
        point = self.random() * sum(w for _, w in options)
        for what, weight in options:
            point -= weight
            if point < 0:
                return what
        return options[-1][0]


class Generator(Terms, Patterns):
    def __init__(self, seed):
        self.r = Dice(seed)
        self.fresh = self.errors = 0
        self.fails = self.spins = False
        self.leaves = 0  # of which one stands within the other
        self.room = 0  # how many more terms this definition may have beyond leaves
        self.world = World()

    # ------------------------------------------------------------ choices

    def name(self, prefix):
        self.fresh += 1
        return "%s%d" % (prefix, self.fresh)

    def chance(self, p):
        return self.r.random() < p

    def pick(self, options):
        return self.r.weighted(options)

    def ground_type(self, depth):
        """A type of first-order values, without variables."""
        r = self.r
        options = [("Int", 6), ("Integer", 2), ("Bool", 2), ("Char", 1), ("Double", 1), ("Ordering", 0.3)]
        for data in self.world.data.values():
            if not data.params:
                options.append((data.name, 4))
            elif depth:
                options.append(((data.name,) + tuple(self.ground_type(0) for _ in data.params), 4))
        if depth and self.world.maps:
            key = self.pick([(k, 1) for k in ("Int", "Char", "Integer", ("[]", "Char"), *self.world.data) if self.world.has("Ord", k, {})
                             and not (k in self.world.data and self.world.data[k].params)])
            options += [(("Map", key, self.ground_type(depth - 1)), 3), (("Set", key), 1)]
        if depth:
            options += [(("[]", self.ground_type(depth - 1)), 4), (("Maybe", self.ground_type(depth - 1)), 1.5),
                        (("(,)",) + tuple(self.ground_type(depth - 1) for _ in range(r.choice((2, 2, 3)))), 2),
                        (("Either", self.ground_type(0), self.ground_type(0)), 0.8), (("[]", "Char"), 1)]
        return self.pick(options)

    def any_type(self, depth):
        """Types of local values: functions and lists without an end too."""
        if depth and self.chance(0.15):
            return ("->", self.ground_type(0), self.ground_type(0) if self.chance(0.8) else ("->", "Int", "Int"))
        if depth and self.chance(0.08):
            return ("Stream", self.ground_type(0))
        return self.ground_type(depth)

    # ------------------------------------------------------------ functions

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

    # ------------------------------------------------------------ classes

    def declare_class(self, depth):
        """A class with its methods and defaults, and its instances."""
        world, r = self.world, self.r
        parents = [c for c in world.classes if self.chance(0.5)] or (["Ord"] if self.chance(0.15) else [])
        cls = Class("C%d" % len(world.classes), parents)
        for i, words in enumerate(r.sample(METHODS, r.choice((1, 2, 3)))):
            params, result = unfold(parse(words))
            cls.methods.append(Entry("m%s%s" % (cls.name[1:], "abc"[i]), params, result, [(cls.name, "a")], weight=5))
        heads = [h for h in HEADS if h[0] == "Int" or self.chance(0.45)]
        for data in world.data.values():
            if self.chance(0.8):
                heads.append((data.type if data.params else data.name, tuple(data.params)))
        if any(p in world.classes for p in parents):
            common = [h for h, _ in world.classes[[p for p in parents if p in world.classes][0]].instances]
            for p in parents:
                common = [h for h in common if any(h == k for k, _ in world.classes[p].instances)]
            heads = [(h, v) for h, v in heads if self.normal(h) in [self.normal(c) for c in common]]
        if "Ord" in parents:
            heads = [(h, v) for h, v in heads if isinstance(h, str) and world.has("Ord", h, {})]
        lines = ["class %s%s a where" % (self.context([(p, "a") for p in parents]), cls.name)]
        own = {"a": {cls.name, *parents} | ({"Eq"} if "Ord" in parents else set())}
        for p in parents:
            own["a"] |= set(world.classes[p].parents) if p in world.classes else set()
        bodies = []
        world.classes[cls.name] = cls
        for method in cls.methods:
            lines.append("  %s :: %s" % (method.name, signature(method.params, method.result)))
            if self.chance(0.5):
                self.room = 25
                try:
                    params, result = self.inside(method)
                    clauses = self.clauses(params, result, depth - 1, Scope(given=own))
                    bodies.append(Node("def", None, clauses, (method.name, None, "  ")))
                    cls.defaults.add(method.name)
                except Impossible:
                    pass
            world.entries.append(method)  # a default may call what stands before it
        made = [Node("block", None, bodies, "\n".join(lines))]
        for method in cls.methods:
            world.entries.remove(method)
        for head, tvars in heads:
            try:
                made.append(self.instance(cls, head, tvars, depth))
            except Impossible:
                pass
        world.entries += cls.methods
        return made

    def own_instances(self, data):
        """Instances of library classes with random bodies instead of derived ones."""
        made = []

        def instance(cls, method, result, context=""):
            self.room = 25
            names = {"mempty": "", "show": "x"}.get(method, "xy")
            body = self.term(result, 2, Scope([(x, data.name) for x in names]))
            head = {"mempty": "mempty", "show": "show x"}.get(method, "x %s y" % method if not method[0].isalpha() else "%s x y" % method)
            made.append(Node("block", None, [Node("text", info="  %s = %s" % (head, body))],
                             "instance %s %s where" % (cls, data.name)))

        if "Show" not in data.deriving:
            instance("Show", "show", ("[]", "Char"))
            data.deriving.append("Show")
        instance("Eq", self.r.choice(("==", "/=")), "Bool")
        data.deriving.append("Eq")
        instance("Ord", *self.r.choice((("compare", "Ordering"), ("<=", "Bool"))))
        data.deriving.append("Ord")
        if self.chance(0.6):
            instance("Semigroup", "<>", data.name)
            instance("Monoid", "mempty", data.name)
            self.world.entries += read("""3 <> :: T -> T -> T\n2 mconcat :: [T] -> T\n2 mempty :: T
1 foldMap :: (Int -> T) -> [Int] -> T\n1 mappend :: T -> T -> T""".replace("T", data.name))
        return made

    def normal(self, head):
        """An instance's head without its variables' names."""
        return head if isinstance(head, str) else head[0]

    def context(self, constraints):
        return "(%s) => " % ", ".join("%s %s" % c for c in constraints) if constraints else ""

    def instance(self, cls, head, tvars, depth):
        """One instance; its methods may call those of the same class at the parts of the type, and earlier ones at the whole."""
        context = [(c, v) for v in tvars for c in [cls.name] + ([p for p in cls.parents if p in self.world.classes])]
        given = self.given(context)
        t = rigid(head)
        bodies = []
        for method in cls.methods:
            if method.name in cls.defaults and self.chance(0.5):
                continue
            params = [self.at(p, t) for p in method.params]
            result = self.at(method.result, t)
            known = list(self.world.entries)
            self.room = 25
            try:
                self.world.entries += cls.methods if tvars else []
                clauses = self.method(cls, method, params, result, t, depth, Scope(given=given))
            except Impossible:
                if method.name in cls.defaults:
                    continue
                body = self.leaf(result, Scope(given=given))  # if there is no term at all, then no instance
                clauses = [Node("clause", None, [plain(body)], ["_"] * len(params))]
            finally:
                self.world.entries = known
            bodies.append(Node("def", None, clauses, (method.name, None, "  ")))
        words = "instance %s%s %s where" % (self.context(context), cls.name, self.atomic(head))
        cls.instances.append((head, context))
        return Node("block", None, bodies, words)

    def method(self, cls, method, params, result, t, depth, s):
        """Equations: one per constructor of the first parameter, with recursion on its parts, or ordinary ones."""
        if params and params[0] == t and (t[0] == "[]" or (t if isinstance(t, str) else t[0]) in self.world.data) and self.chance(0.8):
            clauses = []
            for pattern, bound, smaller in self.shapes(t):
                rest, more = [], []
                for p in params[1:]:
                    words, new = self.pattern(p, 1, sure=True)
                    rest.append(words)
                    more += new
                again = []
                if smaller:
                    again = [Again(Entry(method.name, params, result), lambda: Node("var", t, info=self.r.choice(smaller)), [2])]
                clauses.append(self.equation([pattern] + rest, result, depth, Scope(bound + more, s.given, again), last=True))
            return clauses
        return self.clauses(params, result, depth, s)

    def at(self, t, whole):
        return substitute(t, {"a": whole}) if "a" in variables(t) else t

    def atomic(self, head):
        return text(head, True)

    # ------------------------------------------------------------ the program

    def program(self):
        """The tree of the program; `main` is a value of a type that can be printed."""
        world = self.world
        kind = self.pick([("total", 4), ("spin", 2), ("fails", 4)])
        self.fails, self.spins = kind == "fails", kind == "spin"
        world.entries = list(LIBRARY)
        depth, header = self.r.choice((2, 3, 3, 4)), HEADER
        for module, table, chance in (("Data.List", LISTS, 0.3), ("Data.Char", CHARS, 0.2)):
            if self.chance(chance):
                world.entries += read(table)
                header += "import %s\n" % module
        world.maps, world.io = self.chance(0.25), self.chance(0.25)
        if world.maps:
            world.entries += read(MAPS)
            header += MAP_IMPORTS
        monads = ["Maybe %s", "[%s]", "Either e %s"]
        decls = []
        if world.io:
            world.entries += read(ACTIONS)
            header += "import System.IO\n"
            monads = ["IO %s"] * 3 + monads
        if self.spins:
            decls.append(Node("text", info="spin :: Int -> a\nspin n = spin (n + 1)"))
        for i in range(self.r.choice((0, 1, 1, 2, 2, 3))):
            data = declarations.make_data(self, i)
            own = self.chance(0.2) and not data.params and "Enum" not in data.deriving and "Eq" in data.deriving
            if own:
                data.deriving = ["Show"] if self.chance(0.6) else []
            decls.append(Node("text", info=data.text()))
            if own:
                decls += self.own_instances(data)
            decls += [Node("text", info=t) for t in declarations.instances(self, data)]
        if self.chance(0.2):
            decls.append(Node("text", info=STATE))
            world.entries += read(STATE_ENTRIES)
            monads += ["St s %s"] * 2
        if self.chance(0.25) or world.io:
            header += "import Control.Monad\n"
            for monad in self.r.sample(monads, 2):
                world.entries += read(MONADS, monad=monad)
        if self.chance(0.2):
            decls.append(Node("text", info=HIGHER))
            world.data["Backwards"] = declarations.backwards()
            world.entries += read(HIGHER_ENTRIES)
            for monad in self.r.sample(monads, 2):
                world.entries += read(HIGHER_MONADS, monad=monad)
        for _ in range(self.r.choice((0, 0, 1, 1, 2))):
            decls += self.declare_class(min(depth, 3))
        for _ in range(self.r.choice((1, 2, 3, 3, 4, 5))):
            decls += self.define(depth)
        main = self.actions(depth) if world.io else self.main(depth)
        decls.append(Node("def", None, [Node("clause", None, [plain(main)], [])], ("main", text(main.type), "")))
        return Node("program", None, decls, header)

    def comparisons(self):
        """Some values of a data type, each compared with each: what an instance of Ord says on all of them."""
        data = self.r.choice([d for d in self.world.data.values() if "Ord" in d.deriving])
        t = (data.name,) + tuple(self.r.choice(GROUND) for _ in data.params) if data.params else data.name
        x, y, values = self.name("x"), self.name("x"), self.name("x")
        made = Node("list", ("[]", t), [self.construct(t, 2, Scope()) for _ in range(self.r.choice((2, 3)))])
        compared = Node("tuple", None, [Node("call", "Ordering", [Node("var", t, info=x), Node("var", t, info=y)], ("compare", True)),
                                        Node("call", "Bool", [Node("var", t, info=x), Node("var", t, info=y)], ("==", True))])
        each = [Node("gen", None, [Node("var", ("[]", t), info=values)], v) for v in (x, y)]
        result = ("[]", ("(,)", "Ordering", "Bool"))
        return Node("let", result, [Node("bind", None, [Node("ann", ("[]", t), [made])], values), Node("comp", result, [compared] + each)])

    def enumeration(self, data):
        """Some lists of an enumeration's values, those before and those after another."""
        x, y, v = self.construct(data.name, 0, Scope()), self.construct(data.name, 0, Scope()), self.name("x")
        words = self.r.choice(("[%s ..]" % x, "[%s, %s ..]" % (x, y) if str(x) != str(y) else "[%s ..]" % y, "[%s .. maxBound]" % x,
                               "[succ {0} | {0} <- [minBound ..], {0} /= maxBound]".format(v),
                               "[pred {0} | {0} <- [%s ..], {0} > minBound]".format(v) % x))
        return Node("ann", ("[]", data.name), [Node("lit", info=words)])

    def strict_in_what_fails(self):
        """What fails only because of a bang pattern: the value is not used."""
        r, x, y, n = self.r, self.name("x"), self.name("y"), self.r.randint(0, 9)
        failing = r.choice(('error "strict"', "(head [] :: Int)", "(%d `div` (0 :: Int))" % n))
        words = r.choice(("(\\ !{x} -> {n}) {failing}", "let {{ !{x} = {failing} }} in {n}", "let {{ {y} !{x} = {n} }} in {y} {failing}",
                          "case (%d, {failing}) of (_, !{x}) -> {n}" % n, "let {{ {y} 0 {x} = {n}; {y} _ !{x} = {n} }} in {y} %d {failing}" % r.randint(0, 1),
                          "sum [{n} | !{x} <- [{failing}]]")).format(x=x, y=y, n=n, failing=failing)
        strict = [c for data in self.world.data.values() for c in data.constructors if any(c.strict)]
        if strict and self.chance(0.3):
            c = r.choice(strict)
            con = "(%s)" % c.name if c.infix else c.name
            made = con + " " + " ".join('(error "strict")' if s else "undefined" for s in c.strict)
            matched = "case %s of {{ %s %s -> %d }}" % ("{}", con, " ".join("_" for _ in c.strict), n)
            # A value with a name is looked at twice, or it would move to where it is looked at.
            words = matched.format("(%s)" % made)
            if n > 2:
                words = "let { %s = %s } in (%s) + (%s)" % (x, made, matched.format(x), matched.format(x))
        return Node("ann", "Int", [Node("lit", info="(%s)" % words)])

    def at_two_types(self):
        """A local function without a signature, used at two types."""
        r, f, x = self.r, self.name("f"), self.name("x")
        types = [t for t in GROUND if self.world.showable(t)]
        first, second = (Node("ann", t, [self.term(t, 1, Scope())]) for t in r.sample(types, 2))
        body, result = r.choice((("({x}, [{x}])", lambda t: ("(,)", t, ("[]", t))), ("[{x}, {x}]", lambda t: ("[]", t)),
                                 ("if null [{x}] then Nothing else Just {x}", lambda t: ("Maybe", t)),
                                 ("(show {x}, {x})", lambda t: ("(,)", ("[]", "Char"), t)),
                                 ("[y | y <- [{x}], y == {x}]", lambda t: ("[]", t)),
                                 ("foldr (:) [{x}] (replicate 2 {x})", lambda t: ("[]", t))))
        words = "let {{ {f} {x} = %s }} in ({f} {a}, {f} {b})" % body
        types = ("(,)", result(first.type), result(second.type))
        return Node("ann", types, [Node("lit", info="(%s)" % words.format(f=f, x=x, a=first, b=second))])

    def with_constants(self):
        """A recursive local function that is given one function, recursive too so that it stays one, with different constants."""
        r, f, g, n = self.r, self.name("f"), self.name("g"), self.r.randint(0, 3)
        first, second = r.sample(range(-3, 9), 2)
        inner = r.choice(("a * 2 + b", "a - b", "max a b", "b - 2 * a"))
        words = ("let {{ {f} h k y = if k == (0 :: Int) then y else {f} h (k - 1) (h y); {g} :: Int -> Int -> Int; {g} a b = if a > 4 then {g} (a - 1) (b + 1) else {inner} }} in "
                 "({f} ({g} ({first})) {n} 1, {f} ({g} ({second})) {n} 1)")
        return Node("ann", ("(,)", "Int", "Int"), [Node("lit", info="(%s)" % words.format(f=f, g=g, n=n, first=first, second=second, inner=inner))])

    def updated(self, data, constructor):
        """A record beside what it is with one or two of its fields updated."""
        t = (data.name,) + tuple(self.r.choice(GROUND) for _ in data.params) if data.params else data.name
        types, x = data.fields(constructor, t), self.name("x")
        made = Node("call", t, [self.term(u, 0, Scope()) for u in types], (constructor.name, False))
        changed = self.r.sample(range(len(types)), min(len(types), self.r.randint(1, 2)))
        record = Node("var", t, info=x)
        update = Node("update", t, [record] + [self.term(types[i], 1, Scope()) for i in changed], [constructor.labels[i] for i in changed])
        pair = Node("tuple", ("(,)", t, t), [record, update])
        return Node("let", pair.type, [Node("bind", None, [Node("ann", t, [made])], x), pair])

    def used(self, e):
        """A call of one of the program's functions with all its arguments, of a type without variables."""
        found = {v: self.choose([c for c, w in e.constraints if w == v], Scope()) for v in variables(functions(e.params, e.result))}
        more, result = unfold(e.result)
        t = substitute(result, found)
        call = self.application(e, e.params + more, t, found, list(found), 2, Scope())
        if t[0] == "Stream":
            t = ("[]", t[1])
            call = Node("call", t, [self.literal("Small", str(self.r.randint(0, 6))), call], ("take", False))
        return Node("ann", t, [call])

    def own_functions(self, count):
        own = [e for e in self.world.entries if re.fullmatch(r"[fc]\d+|m\d+[abc]", e.name)]
        return self.r.sample(own, min(count, len(own)))

    def main(self, depth):
        """A tuple of what some of the program's functions give."""
        self.room = 60
        parts = [self.comparisons()] if self.chance(0.4) and any("Ord" in d.deriving for d in self.world.data.values()) else []
        parts += [self.enumeration(d) for d in self.world.data.values() if "Enum" in d.deriving and self.chance(0.6)][:1]
        for e in self.own_functions(4):
            use = self.used(e)
            if self.world.showable(use.type) and len(parts) < 3:
                parts.append(use)
        while not parts or len(parts) < 3 and self.chance(0.25):
            t = self.ground_type(1)
            if self.world.showable(t):
                parts.append(Node("ann", t, [self.term(t, depth, Scope())]))
        if self.fails and self.chance(0.12):
            parts.append(self.strict_in_what_fails())
        if self.chance(0.12):
            parts.append(self.at_two_types())
        if self.chance(0.08):
            parts.append(self.with_constants())
        records = [(d, c) for d in self.world.data.values() if "Show" in d.deriving for c in d.constructors if c.labels]
        if records and self.chance(0.3):
            parts.append(self.updated(*self.r.choice(records)))
        if len(parts) == 1:
            return parts[0]
        return Node("tuple", ("(,)",) + tuple(p.type for p in parts), parts)

    def actions(self, depth):
        """An action of some lines: what the program's functions do, or give, and others."""
        self.room = 80
        unit = ("IO", "()")
        kids, s = [], Scope()
        for e in self.own_functions(5):
            use = self.used(e)
            if use.type[0] == "IO":
                words, bound = self.pattern(use.type[1], 1, sure=True)
                kids.append(Node("gen", None, [use], words))
                s = s.plus(bound)
            elif self.world.showable(use.type):
                kids.append(Node("cond", None, [Node("call", unit, [use], ("print", False))]))
        for _ in range(self.r.choice((1, 2, 3))):
            kids.append(Node("cond", None, [self.guarded(unit, depth, s)]))
        return Node("do", unit, kids)


if __name__ == "__main__":
    print(Generator(int(sys.argv[1])).program())
