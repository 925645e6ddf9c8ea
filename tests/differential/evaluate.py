"""What a random program means: call by need, operands from left to right, as Haskell evaluates it.

This is the oracle. It shares nothing with dfc: neither graphs, nor strictness analysis, nor kernels.

A program that fails may also never end, where something endless stands beside the failure: an operand of an op whose
other operand failed, an argument or a local definition of a call that failed, or of what encloses that function. An
engine may have begun that first. The oracle tries these, and says so (`Machine.may_hang`); in every other program a run
without an end is a fault.

Of `seq a b` where both fail dfc reports either: where `b` needs `a` on every path that does not fail by itself, nothing is
left of the `seq`. The other failures that the program may report then are `Machine.also`.
"""

import math


class Failure(Exception):
    """A run-time error; its text is what dfc must report."""


class TooBig(Exception):
    """The program computes for too long to be worth a test."""


class Thunk:
    __slots__ = ("term", "env", "value", "state")

    def __init__(self, term, env):
        self.term, self.env, self.value, self.state = term, env, None, 0

    def force(self):
        if self.state == 2:
            return self.value
        if self.state == 3:
            raise self.value
        if self.state == 1:
            raise Failure("<<loop>>")
        self.state = 1
        machine = self.env.machine
        if machine.tried is not None:
            machine.tried.append((self, self.term, self.env))
        try:
            self.value = machine.eval(self.term, self.env)
            self.state = 2
        except Failure as failure:
            self.value, self.state = failure, 3
            raise
        self.term = self.env = None
        return self.value


ATTEMPT = 5000  # steps after which what stands beside a failure counts as endless


class Env:
    __slots__ = ("machine", "names", "parent")

    def __init__(self, machine, parent=None):
        self.machine, self.names, self.parent = machine, {}, parent

    def look(self, name):
        env = self
        while env is not None:
            if name in env.names:
                return env.names[name]
            env = env.parent
        raise KeyError(name)


def wrap(v):
    return (v + (1 << 63)) % (1 << 64) - (1 << 63)


def quot(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def to_double(v):
    """As GHC without optimisation: what needs more than 64 bits is cut off, not rounded."""
    if -(1 << 63) <= v < 1 << 63:
        return float(v)
    cut = max(abs(v).bit_length() - 53, 0)
    magnitude = math.inf if abs(v).bit_length() > 1024 else float(abs(v) >> cut << cut)
    return math.copysign(magnitude, v)


def divide(name, t, a, b):
    if b == 0:
        raise Failure("divide by zero")
    if t == "Int" and b == -1 and name in ("div", "quot") and a == -(1 << 63):
        raise Failure("arithmetic overflow")
    if name == "div":
        return a // b
    if name == "mod":
        return a % b
    return quot(a, b) if name == "quot" else a - b * quot(a, b)


class Machine:
    def __init__(self, functions, fuel=20000, max_bits=4000):
        self.fuel, self.max_bits = fuel, max_bits
        self.calls = self.depth = self.max_depth = 0
        self.may_hang = False
        self.also = set()
        self.tried = None  # while something beside a failure is tried: what to undo
        self.top = Env(self)
        for f in functions:
            self.top.names[f.name] = (f, self.top)

    def beside(self, thunks, instead=False):
        """Something failed beside these: whether one of them never ends. Nothing is left of the attempt.

        instead: their failures may be reported too.
        """
        if self.may_hang and not instead:
            return
        if self.tried is not None:  # inside another attempt
            for thunk in thunks:
                try:
                    thunk.force()
                except Failure as failure:
                    self.also |= {str(failure)} if instead else set()
            return
        kept = self.fuel, self.calls, self.depth, self.max_depth
        for thunk in thunks:
            self.fuel, self.tried = ATTEMPT, []
            try:
                thunk.force()
            except Failure as failure:
                self.also |= {str(failure)} if instead else set()
            except TooBig:
                self.may_hang = True
            for done, term, env in self.tried:
                done.term, done.env, done.value, done.state = term, env, None, 0
        self.tried = None
        self.fuel, self.calls, self.depth, self.max_depth = kept

    def bound(self, t, v):
        if t == "Int":
            return wrap(v)
        if t == "Integer" and v.bit_length() > self.max_bits:
            raise TooBig()
        return v

    def bind(self, bindings, parent):
        env = Env(self, parent)
        for b in bindings:
            if b[0] == "val":
                env.names[b[1]] = Thunk(b[3], env)
            elif b[0] == "pair":
                whole = Thunk(b[3], env)
                for i, name in enumerate(b[1]):
                    part = Thunk(("part", b[2][i], whole, i), env)
                    env.names[name] = part
            else:
                env.names[b[1].name] = (b[1], env)
        return env

    def local(self, env):
        """The delayed values of an environment and of what encloses it: a function takes these as parameters."""
        found = []
        while env is not None:
            found += [v for v in env.names.values() if isinstance(v, Thunk)]
            env = env.parent
        return found

    def call(self, function, closure, args):
        self.calls += 1
        self.depth += 1
        self.max_depth = max(self.max_depth, self.depth)
        if self.depth > 3000:
            raise TooBig()
        env = Env(self, closure)
        for (name, _), arg in zip(function.params, args):
            env.names[name] = arg
        if function.where:
            env = self.bind(function.where, env)
        try:
            for guard, body in function.clauses:
                if guard is None or self.eval(guard, env):
                    return self.eval(body, env)
        except Failure:
            self.beside(self.local(env))
            raise
        finally:
            self.depth -= 1
        raise AssertionError("no clause")

    def arithmetic(self, name, t, operand_type, a, b):
        if name in ("div", "mod", "quot", "rem"):
            return self.bound(t, divide(name, t, a, b))
        if name in ("==", "/=", "<", "<=", ">", ">="):
            return {"==": a == b, "/=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[name]
        if name == "min":
            return a if a <= b else b
        if name == "max":
            return b if a <= b else a
        if name == "gcd":
            return self.bound(t, math.gcd(a, b))
        if name == "+":
            return self.bound(t, a + b)
        if name == "-":
            return self.bound(t, a - b)
        return self.bound(t, a * b)

    def within(self, e, env):
        """The value of a term in a new environment, whose values stand beside it."""
        try:
            return self.eval(e, env)
        except Failure:
            self.beside(self.local(env))
            raise

    def eval(self, e, env):
        self.fuel -= 1
        if self.fuel < 0:
            raise TooBig()
        op, t = e[0], e[1]
        if op == "lit":
            return e[2]
        if op == "var":
            return env.look(e[2]).force()
        if op == "part":
            return e[2].force()[e[3]].force()
        if op in ("bin", "section"):
            name, left, right = e[2], e[3], e[4]
            if op == "section":
                left, right = right, left
            try:
                a = self.eval(left, env)
            except Failure:
                if name not in ("&&", "||"):
                    self.beside([Thunk(right, env)], instead=name == "seq")
                raise
            if name == "seq":
                return self.eval(right, env)
            if name == "&&":
                return self.eval(right, env) if a else False
            if name == "||":
                return True if a else self.eval(right, env)
            return self.arithmetic(name, t, e[3][1], a, self.eval(right, env))
        if op == "un":
            return self.unary(e[2], t, self.eval(e[3], env))
        if op == "if":
            return self.eval(e[3] if self.eval(e[2], env) else e[4], env)
        if op == "call":
            function, closure = env.look(e[2])
            return self.call(function, closure, [Thunk(a, env) for a in e[3]])
        if op == "lambda":
            inner = Env(self, env)
            for (name, _), a in zip(e[2], e[4]):
                inner.names[name] = Thunk(a, env)
            return self.within(e[3], inner)
        if op == "fn":
            return (e, env)
        if op == "apply":
            function, closure = self.eval(e[2], env)
            inner = Env(self, closure)
            inner.names[function[2]] = Thunk(e[3], env)
            self.depth += 1
            if self.depth > 3000:
                raise TooBig()
            try:
                return self.within(function[3], inner)
            finally:
                self.depth -= 1
        if op == "let":
            return self.within(e[3], self.bind(e[2], env))
        if op == "case":
            v = self.eval(e[2], env)
            for w, body in e[3]:
                if v == w:
                    return self.eval(body, env)
            return self.eval(e[4], env)
        if op == "untuple":
            parts = self.eval(e[2], env)
            inner = Env(self, env)
            for name, part in zip(e[3], parts):
                inner.names[name] = part
            return self.within(e[4], inner)
        if op == "tuple":
            return tuple(Thunk(x, env) for x in e[2])
        if op == "error":
            raise Failure(e[2])
        raise AssertionError(op)

    def unary(self, name, t, v):
        if name == "not":
            return not v
        if name == "negate":
            return self.bound(t, -v)
        if name == "abs":
            return self.bound(t, abs(v))
        if name == "signum":
            return (v > 0) - (v < 0)
        if name == "even":
            return v % 2 == 0
        if name == "odd":
            return v % 2 != 0
        if name in ("fromIntegral", "toInteger", "fromInteger"):
            return to_double(v) if t == "Double" else self.bound(t, v)
        if name in ("fst", "snd"):
            return v[0 if name == "fst" else 1].force()
        raise AssertionError(name)


def show_double(v):
    """As GHC's show."""
    if v != v:
        return "NaN"
    if v in (math.inf, -math.inf):
        return "Infinity" if v > 0 else "-Infinity"
    sign = "-" if math.copysign(1, v) < 0 else ""
    v = abs(v)
    if v == 0:
        return sign + "0.0"
    mantissa, exponent = ("%r" % v if "e" in repr(v) else "%s" % repr(v)), 0
    if "e" in mantissa:
        mantissa, exponent = mantissa.split("e")
        exponent = int(exponent)
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + exponent - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0") or "0"
    if 0.1 <= v < 10 ** 7:
        if point <= 0:
            return sign + "0." + "0" * -point + digits
        return sign + digits[:point].ljust(point, "0") + "." + (digits[point:] or "0")
    return sign + digits[0] + "." + (digits[1:] or "0") + "e%d" % (point - 1)


def show(machine, t, v):
    """Forces and prints as Haskell's show; raises Failure where that fails."""
    if not isinstance(t, str):
        parts = []
        for i, (u, x) in enumerate(zip(t, v)):
            try:
                parts.append(show(machine, u, x.force()))
            except Failure:
                machine.beside(v[i + 1:])
                raise
        return "(" + ",".join(parts) + ")"
    if t == "Bool":
        return "True" if v else "False"
    if t == "Char":
        return "'%s'" % v
    return show_double(v) if t == "Double" else str(int(v))


def run(functions, main_type, fuel):
    """("value", text) or ("error", message), and the machine with its counts. Raises TooBig."""
    machine = Machine(functions, fuel)
    try:
        function, closure = machine.top.look("main")
        return ("value", show(machine, main_type, machine.call(function, closure, []))), machine
    except Failure as failure:
        return ("error", str(failure)), machine
