"""Data types and classes of a random program: what they are, what they have, and their text."""

from library import FOLDABLE, FUNCTOR, Entry, read
from haskell_types import GROUND, OPAQUE, holds, match, rigid, substitute, text, variables

INFIX = (":+:", ":*:", ":>", ":-:", "`%s`")
CLASSES = {"Eq", "Ord", "Show"}


class Constructor:
    def __init__(self, name, fields, strict, labels=None, infix=False):
        self.name, self.fields, self.strict, self.labels, self.infix = name, fields, strict, labels, infix

    def text(self):
        fields = [("!" if s else "") + text(f, True) for f, s in zip(self.fields, self.strict)]
        if self.infix:
            return "%s %s %s" % (fields[0], self.name, fields[1])
        if self.labels:
            return "%s { %s }" % (self.name, ", ".join("%s :: %s" % (l, f if f[0] == "!" else text(t))
                                                     for l, f, t in zip(self.labels, fields, self.fields)))
        return " ".join([self.name] + fields)


class Data:
    """A data type; its first constructor holds nothing of the type itself, so that values end."""

    def __init__(self, name, params):
        self.name, self.params, self.constructors, self.deriving = name, params, [], []
        self.newtype, self.functor, self.fixities = False, False, []

    @property
    def type(self):
        return (self.name,) + tuple(("?", p) for p in self.params)

    def text(self):
        head = " ".join(["newtype" if self.newtype else "data", self.name] + self.params)
        body = " | ".join(c.text() for c in self.constructors)
        lines = self.fixities + ["%s = %s%s" % (head, body, " deriving (%s)" % ", ".join(self.deriving) if self.deriving else "")]
        return "\n".join(lines)

    def fields(self, constructor, t):
        """The fields' types in a value of type t."""
        found = {}
        match(self.type, t, found)
        return [substitute(f, found) for f in constructor.fields]


class Class:
    def __init__(self, name, parents):
        self.name, self.parents, self.methods, self.instances = name, parents, [], []  # methods: Entries over ("?", "a")
        self.defaults = set()


class World:
    """What is declared: types, classes, functions; and which types have which classes."""

    def __init__(self):
        self.data, self.classes, self.entries = {}, {}, []
        self.maps = self.io = False  # whether the program has maps and sets, and actions

    def has(self, cls, t, given):
        if isinstance(t, tuple) and t[0] == "rigid":
            return cls in given.get(t[1], ())
        if cls in self.classes:
            return any(match(head, t, found) and all(self.has(c, found[v], given) for c, v in context)
                       for head, context in self.classes[cls].instances for found in [{}])
        if cls in ("Num", "Integral"):
            return t in ("Int", "Integer") or cls == "Num" and t == "Double"
        if isinstance(t, str):
            return t not in self.data or cls in self.data[t].deriving
        if t[0] in OPAQUE:
            return False
        if t[0] in self.data and cls not in self.data[t[0]].deriving:
            return False
        if t[0] in self.data:
            return all(self.has(cls, a, given) for a in t[1:])
        return all(self.has(cls, a, given) for a in t[1:])

    def showable(self, t):
        """Whether a value of this type can be the program's result."""
        if isinstance(t, str):
            return t != "Small" and (t not in self.data or "Show" in self.data[t].deriving)
        return (t[0] not in OPAQUE and (t[0] not in self.data or "Show" in self.data[t[0]].deriving)
                and all(self.showable(a) for a in t[1:]))


# ---------------------------------------------------------------- random declarations


def make_data(g, index):
    """A random data type, declared in g.world, with its instances of Functor and Foldable where it can have them."""
    r, world = g.r, g.world
    name = "D%d" % index
    kind = r.choice(("enum", "enum", "tree", "tree", "tree", "record", "record", "newtype", "mixed", "mixed"))
    data = Data(name, [] if kind == "enum" else r.choice(([], ["a"], ["a"], ["a", "b"])))
    own = data.type if data.params else name

    def field(recursive):
        options = [("Int", 3), ("Bool", 1), ("Char", 1), ("Double", 0.5), ("Integer", 0.7)]
        options += [(("?", p), 5) for p in data.params]
        options += [(("[]", r.choice([("?", p) for p in data.params] or ["Int"])), 1), (("Maybe", "Int"), 0.6),
                    (("(,)", "Int", "Bool"), 0.5)]
        for other in world.data.values():
            options.append((substitute(other.type, {p: r.choice(GROUND[:4] + tuple(("?", q) for q in data.params)) for p in other.params})
                            if other.params else other.name, 1))
        if recursive:
            options += [(own, 7), (("[]", own), 2), (("Maybe", own), 1)]
        if kind == "mixed":
            options.append((("->", "Int", r.choice(["Int"] + [("?", p) for p in data.params])), 0.8))
        return g.pick(options)

    def constructor(letter, recursive, count):
        fields = [field(recursive) for _ in range(count)]
        strict = [g.chance(0.2) and not holds(f, "->") for f in fields]
        cname = "K%d%s" % (index, letter)
        if count == 2 and g.chance(0.3) and kind != "newtype":
            symbol = ":" + r.choice("+*>-&|") + ":" * r.choice((0, 1)) + "+-*"[index % 3]
            used = {c.name for d in world.data.values() for c in d.constructors} | {c.name for c in data.constructors}
            if symbol not in used:
                data.fixities.append("%s %d %s" % (r.choice(("infixr", "infixl", "infix")), r.randint(2, 8), symbol))
                return Constructor(symbol, fields, strict, infix=True)
        labels = ["l%d%s%d" % (index, letter.lower(), i) for i in range(count)] if count and (kind == "record" or g.chance(0.15)) else None
        return Constructor(cname, fields, strict, labels)

    if kind == "enum":
        data.constructors = [constructor(c, False, 0) for c in "ABCDE"[:r.randint(2, 5)]]
    elif kind == "newtype":
        data.newtype = True
        made = constructor("A", False, 1)
        made.strict = [False]
        data.constructors = [made]
    elif kind == "record":
        data.constructors.append(constructor("A", False, r.randint(1, 3)))
        if g.chance(0.4):
            data.constructors.append(constructor("B", True, r.randint(1, 3)))
    else:
        data.constructors.append(constructor("A", False, r.choice((0, 0, 1, 2))))
        for letter in "BCD"[:r.randint(1, 3)]:
            data.constructors.append(constructor(letter, True, r.randint(1, 3)))
    fields = [f for c in data.constructors for f in c.fields]
    world.data[name] = data
    if not any(holds(f, "->") or any(d.name != name and holds(f, d.name) and "Eq" not in d.deriving for d in world.data.values())
               for f in fields):
        data.deriving = ["Eq", "Ord", "Show"] + (["Enum", "Bounded"] if kind == "enum" else [])
    for c in data.constructors:
        for i, label in enumerate(c.labels or ()):
            world.entries.append(Entry(label, [own], c.fields[i], weight=2, partial=len(data.constructors) > 1))
    if kind == "enum":
        world.entries += read("""1 @ fromEnum :: %s -> Int\n1 ! succ :: %s -> %s\n1 ! pred :: %s -> %s
1 minBound :: %s\n1 maxBound :: %s""" % ((name,) * 7))
    return data


def backwards():
    """The container of templates.py."""
    data = Data("Backwards", ["a"])
    data.newtype, data.deriving = True, ["Eq", "Ord", "Show"]
    data.constructors = [Constructor("Backwards", [("[]", ("?", "a"))], [False])]
    return data


def instances(g, data):
    """The text of `instance Functor` and `instance Foldable`, or [] where a field is of a shape that these do not know."""
    if not data.params or data.params != ["a"]:
        return []
    try:
        maps = ["  fmap %s %s = %s" % ("f" if c.fields else "_", pattern(c), application(c, [mapped(data, f, "x%d" % i)
                                                                                        for i, f in enumerate(c.fields)]))
                for c in data.constructors]
        folds = []
        for c in data.constructors:
            body = "z"
            for i, f in reversed(list(enumerate(c.fields))):
                body = folded(data, f, "x%d" % i, body)
            folds.append("  foldr f z %s = %s" % (pattern(c), body))
    except KeyError:
        return []
    data.functor = True
    g.world.entries += read(FUNCTOR, data.name) + read(FOLDABLE, data.name)
    return ["instance Functor %s where\n%s" % (data.name, "\n".join(maps)),
            "instance Foldable %s where\n%s" % (data.name, "\n".join(folds))]


def pattern(c):
    names = ["x%d" % i for i in range(len(c.fields))]
    return "(%s %s %s)" % (names[0], c.name, names[1]) if c.infix else "(%s)" % " ".join([c.name] + names)


def application(c, parts):
    return "%s %s %s" % (parts[0], c.name, parts[1]) if c.infix else " ".join([c.name] + parts)


def mapped(data, t, x):
    """`x :: t` with f applied to each element."""
    if t == ("?", "a"):
        return "(f %s)" % x
    if not variables(t):
        return x
    if t == data.type:
        return "(fmap f %s)" % x
    if t[0] in ("[]", "Maybe"):
        return "(fmap (\\y -> %s) %s)" % (mapped(data, t[1], "y"), x)
    if t[0] == "->" and t[1] == "Int":
        return "(\\n -> %s)" % mapped(data, t[2], "(%s n)" % x)
    raise KeyError(t)


def folded(data, t, x, rest):
    if t == ("?", "a"):
        return "(f %s %s)" % (x, rest)
    if not variables(t):
        return rest
    if t == data.type:
        return "(foldr f %s %s)" % (rest, x)
    if t[0] in ("[]", "Maybe"):
        return "(foldr (\\y r -> %s) %s %s)" % (folded(data, t[1], "y", "r"), rest, x)
    raise KeyError(t)


METHODS = ("a -> Int", "a -> a -> Bool", "a -> a", "Int -> a", "a -> a -> a", "(a -> a) -> a -> [a]", "a -> [Int]",
           "Int -> a -> a", "a -> Maybe a", "Bool -> a")
HEADS = (("Int", ()), ("Bool", ()), ("Char", ()), (("[]", ("?", "b")), ("b",)), (("Maybe", ("?", "b")), ("b",)),
         (("(,)", ("?", "b"), ("?", "c")), ("b", "c")))
