"""Random terms that hold no others, or only small ones: variables, literals, what a class offers."""

from haskell_types import GROUND, OPAQUE, unfold
from scope import Impossible
from tree import Node

DEEPEST_LEAF = 20  # leaves within leaves that may still be made of other variables


class Leaves:
    def leaf(self, t, d_or_s, s=None):
        s = s or d_or_s
        known = [n for n, u in s.env if u == t or t == "Int" and u == "Small"]
        if known and self.chance(0.85):
            return Node("var", t, info=self.r.choice(known[-6:] if self.chance(0.7) else known))
        self.leaves += 1
        try:
            # A type whose smallest value holds a Bool, which a comparison of such values may give, and so on, would have no end.
            return (self.from_known(t, s) if self.leaves <= DEEPEST_LEAF and self.chance(0.8) else None) or self.atom(t, s)
        except Impossible:
            if known:
                return Node("var", t, info=self.r.choice(known))
            raise
        finally:
            self.leaves -= 1

    def from_known(self, t, s):
        """A small term of type t from a variable of another type, so that leaves depend on something; or None."""
        r, options = self.r, []
        for name, u in s.env[-8:]:
            x = Node("var", u, info=name)
            if t == "Bool":
                if u in ("Int", "Integer", "Small"):
                    options.append(Node("call", t, [x, self.atom("Int", s)], (r.choice(("<", ">", "==", "/=", "<=")), True)))
                    options.append(Node("call", t, [x], (r.choice(("even", "odd")), False)))
                elif u == "Char" or u == "Double":
                    options.append(Node("call", t, [x, self.atom(u, s)], (r.choice(("<", ">=", "==")), True)))
                elif u[0] == "[]":
                    options.append(Node("call", t, [x], ("null", False)))
                elif u in self.world.data and self.world.has("Ord", u, {}):
                    options.append(Node("call", t, [x, self.leaf(u, s)], (r.choice(("<", ">=", "==")), True)))
            elif t == "Int":
                if u[0] == "[]":
                    options.append(Node("call", t, [x], ("length", False)))
                elif u in ("Bool", "Char"):
                    options.append(Node("call", t, [x], ("fromEnum", False)))
                elif u == "Integer":
                    options.append(Node("call", t, [x], ("fromIntegral", False)))
            elif t in ("Integer", "Double") and u == "Int":
                options.append(Node("call", t, [x], ("fromIntegral", False)))
            if u[0] == "(,)" and len(u) == 3 and t in u[1:]:
                options.append(Node("call", t, [x], ("fst" if u[1] == t else "snd", False)))
            elif t[0] == "[]" and u == t[1]:
                options.append(Node("list", t, [x] * r.choice((1, 2))))
            elif t[0] == "Maybe" and u == t[1]:
                options.append(Node("call", t, [x], ("Just", False)))
            elif u[0] == "->" and u[2] == t and u[1] in [v for _, v in s.env]:
                options.append(Node("apply", t, [x, self.leaf(u[1], s)]))
        return r.choice(options) if options else None

    def known_type(self, s, usual):
        """The type of some variable that a pattern may look at, or the usual choice."""
        known = [u for _, u in s.env[-8:] if u[0] not in OPAQUE and u != "Small"]
        return self.r.choice(known) if known and self.chance(0.7) else usual

    def literal(self, t, words):
        return Node("lit", t, info="(%s)" % words if words.startswith("-") else words)

    def atom(self, t, s):
        r = self.r
        if t == "Small":
            return self.literal(t, str(r.randint(0, 5)))
        if t in ("Int", "Integer"):
            if self.chance(0.03):
                return self.literal(t, r.choice(("9223372036854775807", "-9223372036854775807", "4611686018427387904")))
            return self.literal(t, str(r.choice((0, 1, 1, 2, 2, 3, 4, 5, 7, 9, -1, -2, -3))))
        if t == "Double":
            return self.literal(t, r.choice(("0.0", "0.5", "1.0", "1.5", "-2.25", "10.0", "100.125")))
        if t == "Char":
            return self.literal(t, "'%s'" % r.choice("abcxyz09 "))
        if t == ("[]", "Char") and self.chance(0.6):
            return self.literal(t, '"%s"' % "".join(r.choice("abc xyz019") for _ in range(r.randint(0, 5))))
        if t == "()":
            return self.literal(t, "()")
        if isinstance(t, str) or t[0] in self.world.data or t[0] in ("Maybe", "Either", "(,)"):
            return self.construct(t, 0, s, smallest=True)
        if t[0] == "[]":
            return Node("list", t, [self.leaf(t[1], s) for _ in range(r.choice((0, 1, 2, 2, 3)))])
        if t[0] == "Stream":
            return Node("call", t, [self.leaf(t[1], s)], ("repeat", False))
        if t[0] in ("St", "IO"):
            return Node("call", t, [self.leaf(t[-1], s)], ("pure", False))
        if t[0] in ("Map", "Set"):
            return self.collection(t, 0, s)
        if t[0] == "->":
            params, result = unfold(t)
            names = [(self.name("x"), p) for p in params]
            return Node("lam", t, [self.leaf(result, s.plus(names))], [n for n, _ in names])
        return self.from_class(t, s)

    def from_class(self, t, s):
        """A value of a type variable: an application of a variable, or a method that makes one of other things."""
        known = {v: n for n, v in s.env}
        for name, u in s.env:
            params, result = unfold(u)
            if params and result == t and all(p in GROUND or p in known for p in params):
                args = [Node("var", p, info=known[p]) if p in known else self.leaf(p, s) for p in params]
                return Node("apply", t, [Node("var", u, info=name)] + args)
        makers = [e for e in self.world.entries if e.constraints and e.result == ("?", "a") and all(p in ("Int", "Bool") for p in e.params)
                  and all(c in s.given.get(t[1], ()) for c, _ in e.constraints)]
        if not makers:
            raise Impossible()
        e = self.r.choice(makers)
        return Node("call", t, [Node("ann", p, [self.leaf(p, s)]) for p in e.params], (e.name, False))

    def small(self, t, d, s):
        kind = self.r.choice(("mod", "length", "min"))
        literal = self.literal("Int", str(self.r.randint(2, 6)))
        if kind == "mod":
            return Node("call", t, [self.term("Int", d, s), literal], ("mod", True))
        if kind == "min":
            return Node("call", t, [literal, self.small(t, d, s) if d > 0 else self.leaf(t, s)], ("min", False))
        xs = Node("call", None, [Node("ann", ("[]", "Int"), [self.term(("[]", "Int"), d, s)])], ("length", False))
        return Node("call", t, [literal, xs], ("min", False))
