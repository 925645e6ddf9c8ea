"""Random classes with methods and defaults, and instances: of these, and own ones of the library's classes."""

from declarations import HEADS, METHODS, Class
from haskell_types import parse, rigid, signature, substitute, text, unfold, variables
from library import Entry, read
from scope import Again, Impossible, Scope
from tree import Node, plain


class Instances:
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
