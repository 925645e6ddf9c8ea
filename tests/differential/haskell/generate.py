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
from declarations import World
from definitions import Definitions
from instances import Instances
from library import ACTIONS, CHARS, FUNCTIONS, LISTS, MAPS, MONADS, read
from patterns import Patterns
from templates import HIGHER, HIGHER_ENTRIES, HIGHER_MONADS, STATE, STATE_ENTRIES
from scope import Scope
from terms import Terms
from tree import Node, plain
from haskell_types import GROUND, functions, substitute, text, unfold, variables

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


class Generator(Definitions, Instances, Terms, Patterns):
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
