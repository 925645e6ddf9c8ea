"""Random patterns: nested, as-, bang, irrefutable, literals, records."""

from haskell_types import OPAQUE


class Patterns:
    def pattern(self, t, d, sure, lazy=False):
        """(text, [(name, type)]) of a pattern; sure: one that always fits. lazy: `t` must not be looked at."""
        r = self.r
        if lazy or isinstance(t, tuple) and t[0] in OPAQUE or d <= 0 or self.chance(0.25):
            if t[0] == "Stream" and d > 0 and not lazy and self.chance(0.4):
                x, y = self.name("x"), self.name("s")
                return "(%s : %s)" % (x, y), [(x, t[1]), (y, t)]
            return self.variable(t, bang=not lazy)
        if self.chance(0.1):
            x = self.name("w")
            inner, bound = self.pattern(t, d - 1, sure)
            return "%s@%s" % (x, "(%s)" % inner if inner[0] in "~!" else inner), [(x, t)] + bound
        if self.chance(0.06):
            inner, bound = self.pattern(t, d - 1, sure=sure or not self.fails)
            return ("~" + inner if inner[0] not in "~!" else inner), bound
        if not sure and t in ("Int", "Integer", "Small"):
            n = r.randint(-2, 5)
            return ("(%d)" % n if n < 0 else str(n)), []
        if not sure and t == "Char":
            return "'%s'" % r.choice("abcxyz09"), []
        if not sure and t == "Bool":
            return r.choice(("True", "False")), []
        if not sure and t == "Ordering":
            return r.choice(("LT", "EQ", "GT")), []
        if isinstance(t, tuple) and t[0] == "(,)":
            return self.joined(t[1:], d, sure, lambda p: "(%s)" % ", ".join(p))
        if not sure and isinstance(t, tuple):
            if t[0] == "Maybe":
                return self.joined(t[1:], d, sure, lambda p: "(Just %s)" % p[0]) if self.chance(0.7) else ("Nothing", [])
            if t[0] == "Either":
                side = r.choice((1, 2))
                return self.joined(t[side:side + 1], d, sure, lambda p: "(%s %s)" % (("Left", "Right")[side - 1], p[0]))
            if t[0] == "[]":
                return self.list_pattern(t, d, sure)
        name = t if isinstance(t, str) else t[0]
        data = self.world.data.get(name)
        if data and (not sure or len(data.constructors) == 1):
            return self.constructor_pattern(data, r.choice(data.constructors), t, d, sure)
        return self.variable(t)

    def joined(self, types, d, sure, join):
        made = [self.pattern(u, d - 1, sure) for u in types]
        return join([p for p, _ in made]), [b for _, bound in made for b in bound]

    def list_pattern(self, t, d, sure):
        if t[1] == "Char" and self.chance(0.2):
            return '"%s"' % "".join(self.r.choice("abx") for _ in range(self.r.randint(0, 3))), []
        kind = self.r.choice(("nil", "cons", "cons", "cons", "list", "two"))
        if kind == "nil":
            return "[]", []
        if kind == "list":
            return self.joined((t[1],) * self.r.randint(1, 2), d, sure, lambda p: "[%s]" % ", ".join(p))
        if kind == "two":
            return self.joined((t[1], t[1], t), d, sure, lambda p: "(%s : %s : %s)" % tuple(p))
        return self.joined((t[1], t), d, sure, lambda p: "(%s : %s)" % tuple(p))

    def constructor_pattern(self, data, c, t, d, sure):
        types = data.fields(c, t)
        if c.labels and self.chance(0.4):
            kept = [i for i in range(len(types)) if self.chance(0.6)]
            return self.joined([types[i] for i in kept], d, sure, lambda p: "%s { %s }" % (c.name, ", ".join(
                "%s = %s" % (c.labels[i], q) for i, q in zip(kept, p))) if kept else "%s {}" % c.name)
        if c.infix:
            return self.joined(types, d, sure, lambda p: "(%s %s %s)" % (p[0], c.name, p[1]))
        return self.joined(types, d, sure, lambda p: "(%s)" % " ".join([c.name] + p) if p else c.name)

    def variable(self, t, bang=True):
        if self.chance(0.12):
            return "_", []
        x = self.name("x")
        bang = bang and t[0] not in ("->", "rigid", "IO")  # `seq` of a function looks at nothing (docs/language.md)
        return ("!" + x if bang and self.chance(0.06) else x), [(x, t)]
