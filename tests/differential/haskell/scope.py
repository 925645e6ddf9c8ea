"""What a term may use where it stands."""


class Impossible(Exception):
    """No term of this type can be made here."""


class Scope:
    """What a term may use: variables, the constraints of type variables, and the calls that recursion allows."""

    def __init__(self, env=(), given=None, again=(), safe=False):
        self.env, self.given, self.again, self.safe = list(env), given or {}, list(again), safe

    def plus(self, bound):
        return Scope(self.env + list(bound), self.given, self.again, self.safe)

    def without_recursion(self):
        return Scope(self.env, self.given, (), self.safe)


class Again:
    """A recursive call that a body may make: `entry` with its first argument smaller. left: how many calls the body may have."""

    def __init__(self, entry, smaller, left):
        self.entry, self.smaller, self.left = entry, smaller, left
