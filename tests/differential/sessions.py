#!/usr/bin/env python3
"""Random sessions at the prompt against a fresh program of the same definitions.

    sessions.py --dfc build/dfc [--count N] [--first SEED] [--keep FOLDER]

A session defines and redefines functions, operators (the Prelude's too) with and without fixities, records whose fields `..`
stands for, and imports modules of files and of the library in every way, takes imports back, and makes mistakes in between. Each expression
is written with as few parentheses as the fixities of that moment allow. The program that it is compared with has every version of every definition under a name of
its own, and parentheses everywhere: no fixity, no scope and no redefinition has a part in it.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

# What the Prelude says of the operators that sessions redefine; the meaning is a function of the program's.
PRELUDE = {"+": ("infixl", 6, "p_add"), "-": ("infixl", 6, "p_sub"), "*": ("infixl", 7, "p_mul"),
           "`max`": ("infixl", 9, "p_max"), "`min`": ("infixl", 9, "p_min"), "`subtract`": ("infixl", 9, "p_subtract")}
START = ["p_add a b = a + b", "p_sub a b = a - b", "p_mul a b = a * b", "p_max a b = max a b", "p_min a b = min a b",
         "p_subtract a b = b - a", "p_neg a = negate a"]
NEW = ["<+>", "|>", "&&&", "%%", "<->", "`plus`", "`minus`"]
LIBRARY = ["Data.List", "Data.Char", "Data.Bits", "Control.Monad.State", "Data.Array", "Data.Ratio", "Data.Monoid", "Control.Monad.Except",
           "Data.Text", "Data.Function", "Data.Complex"]


class Lit:
    def __init__(self, n):
        self.n = n


class Call:
    """`name` as the session writes it, `meaning` as the program does; an operator where `fixity` is given."""

    def __init__(self, name, meaning, args, fixity=None):
        self.name, self.meaning, self.args, self.fixity = name, meaning, args, fixity


class Neg:
    def __init__(self, arg):
        self.arg = arg


def oracle(e):
    if isinstance(e, Lit):
        return str(e.n)
    if isinstance(e, Neg):
        return "(p_neg %s)" % oracle(e.arg)
    return "(%s)" % " ".join([e.meaning] + [oracle(a) for a in e.args])


def atom(e):
    text = session(e)
    return text if isinstance(e, Lit) or (isinstance(e, Call) and not e.args) else "(%s)" % text


def session(e):
    """With as few parentheses as Haskell's rules allow."""
    if isinstance(e, Lit):
        return str(e.n)
    if isinstance(e, Neg):  # binds as `-` of the Prelude does, whatever `-` is
        inner = e.arg
        tight = not isinstance(inner, Neg) and not (isinstance(inner, Call) and inner.fixity and inner.fixity[1] <= 6)
        return "- " + (session(inner) if tight else atom(inner))
    if not e.fixity:
        return " ".join([e.name] + [atom(a) for a in e.args])
    way, level = e.fixity

    def side(arg, same):
        if isinstance(arg, Neg):
            return atom(arg)
        if not isinstance(arg, Call) or not arg.fixity:
            return session(arg)
        loose = arg.fixity[1] > level or (arg.fixity[1] == level and arg.fixity[0] == way == same)
        return session(arg) if loose else atom(arg)

    return "%s %s %s" % (side(e.args[0], "infixl"), e.name, side(e.args[1], "infixr"))


class Scope:
    """What is in scope: operators and functions of Int, each with its fixity and its meaning; records."""

    def __init__(self):
        self.ops = {name: row for name, row in PRELUDE.items()}
        self.ops.update({"Prelude." + name: row for name, row in PRELUDE.items() if name[0] != "`"})
        self.functions = {}  # name -> (arity, meaning)
        self.records = {}    # constructor, perhaps qualified -> (fields in their order, meaning of the constructor)

    def copy(self):
        other = Scope()
        other.ops, other.functions, other.records = dict(self.ops), dict(self.functions), dict(self.records)
        return other


def expression(rng, scope, variables, depth, without=()):
    """variables: name -> meaning; nothing that is called `without`."""
    pick = rng.random()
    if depth == 0 or pick < 0.15:
        names = [v for v in variables]
        if names and rng.random() < 0.7:
            v = rng.choice(names)
            return Call(v, variables[v], [])
        return Lit(rng.randrange(10))
    sub = lambda: expression(rng, scope, variables, depth - 1, without)
    functions = [n for n in scope.functions if n not in without and n not in variables]
    if pick < 0.3 and functions:
        name = rng.choice(functions)
        arity, meaning = scope.functions[name]
        return Call(name, meaning, [sub() for _ in range(arity)])
    if pick < 0.36:
        return Neg(sub())
    ops = [n for n in scope.ops if n not in without and n.strip("`") not in variables]
    name = rng.choice(ops)
    way, level, meaning = scope.ops[name]
    return Call(name, meaning, [sub(), sub()], (way, level))


class Maker:
    def __init__(self, seed, folder):
        self.rng, self.folder = random.Random(seed), folder
        self.program = list(START)   # the program's definitions
        self.lines = []              # the session's inputs
        self.wanted = []             # what they print
        self.errors = 0
        self.count = 0
        self.scope = Scope()
        self.modules = {}            # name -> Scope of what it offers
        self.imported = []           # (module, names it brought to scope)
        self.waiting = {}            # fixities that were entered by themselves

    def fresh(self, name):
        self.count += 1
        word = "".join(c if c.isalnum() else "o" for c in name)
        return "v%d_%s" % (self.count, word)

    def fixity(self):
        return self.rng.choice(["infixl", "infixr", "infix"]), self.rng.randrange(10)

    def define(self, scope, declare, others=()):
        """A function, an operator or a record in `scope`; declare(fixity or None, name, text) writes it. Returns nothing."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.6:
            name = rng.choice(list(PRELUDE) + NEW)
            bare = name.strip("`")
            fixity = self.fixity() if rng.random() < 0.6 else None
            a, b = "a", "b"
            without = {name, bare} | set(others)
            body = expression(rng, scope, {a: a, b: b}, 3, without)
            meaning = self.fresh(name)
            self.program.append("%s a b = %s" % (meaning, oracle(body)))
            text = "%s a b = %s" % (bare, session(body)) if name[0] == "`" else "a %s b = %s" % (name, session(body))
            given = declare(fixity, name, text)
            scope.ops[name] = (*(given or ("infixl", 9)), meaning)
            return name
        if kind < 0.85:
            name = rng.choice(["f", "g", "h", "k"])
            arity = rng.randrange(1, 4)
            variables = {v: v for v in "xyz"[:arity]}
            body = expression(rng, scope, variables, 3, {name} | set(others))
            meaning = self.fresh(name)
            self.program.append("%s %s = %s" % (meaning, " ".join(variables), oracle(body)))
            declare(None, name, "%s %s = %s" % (name, " ".join(variables), session(body)))
            scope.functions[name] = (arity, meaning)
            return name
        # A record whose fields change places, and a function that names them by `..`.
        con = rng.choice(["P", "Q"])
        fields = rng.sample(["s", "t", "u"] if con == "P" else ["p", "q", "r"], 2)
        name = "of" + con
        body = expression(rng, scope, {v: v for v in fields}, 3, {name} | set(others))
        meaning = self.fresh(name)
        self.program.append("%s %s = %s" % (meaning, " ".join(fields), oracle(body)))
        typed = "data %s = %s { %s }" % (con, con, ", ".join(f + " :: Int" for f in fields))
        declare(None, con, typed)
        declare(None, name, "%s %s {..} = %s" % (name, con, session(body)))
        scope.records[con] = (fields, meaning)
        return name

    # ---- modules
    def module(self, name):
        rng = self.rng
        scope, offered, text, hidden = Scope(), Scope(), [], []
        offered.ops, offered.functions = {}, {}
        imports = []
        for other in rng.sample(sorted(self.modules), min(len(self.modules), rng.randrange(2))):
            imports.append("import qualified %s as Other" % other)
            for op, row in self.modules[other].ops.items():
                scope.ops["`Other.%s" % op[1:] if op[0] == "`" else "Other." + op] = row
        defined = set()
        for _ in range(rng.randrange(1, 5)):
            pieces = []
            before = len(self.program)

            def declare(fixity, op, line):
                if fixity:
                    pieces.append("%s %d %s" % (*fixity, op))
                pieces.append(line)
                return fixity
            # What the module redefines counts in all of it: nothing may use the older one.
            made = self.define(scope, declare, defined | (set(PRELUDE) if rng.random() < 0.3 else set()))
            if made in defined or made in PRELUDE and any(made.strip("`") in line for line in text):
                del self.program[before:]
                scope = self.rebuild(scope, offered)
                continue
            defined.add(made)
            text += pieces
            if made in PRELUDE:
                hidden.append(made.strip("`") if made[0] == "`" else "(%s)" % made)
            if made in scope.ops:
                offered.ops[made] = scope.ops[made]
            if made in scope.functions:
                offered.functions[made] = scope.functions[made]
            for con, row in scope.records.items():
                offered.records[con] = row
        head = ["{-# LANGUAGE RecordWildCards #-}", "module %s where" % name]
        if hidden:
            head += ["import Prelude hiding (%s)" % ", ".join(hidden), "import qualified Prelude"]
        with open(os.path.join(self.folder, name + ".df"), "w") as file:
            file.write("\n".join(head + imports + text) + "\n")
        self.modules[name] = offered

    def rebuild(self, scope, offered):
        fresh = Scope()
        fresh.ops.update({n: r for n, r in scope.ops.items() if "Other." in n})
        fresh.ops.update(offered.ops)
        fresh.functions.update(offered.functions)
        fresh.records.update(offered.records)
        return fresh

    # ---- inputs
    def enter(self, *lines):
        self.lines += lines

    def declare(self, fixity, name, text):
        way = self.rng.random()
        if fixity is None:
            self.enter(text)
            return self.waiting.pop(name, None)
        if way < 0.5:
            self.enter(":{", "%s %d %s" % (*fixity, name), text, ":}")
            self.waiting.pop(name, None)
        else:
            self.enter("%s %d %s" % (*fixity, name), text)
        return fixity

    def mistake(self):
        rng = self.rng
        name = rng.choice(list(PRELUDE)[:3] + NEW[:5])
        line = rng.choice(["a %s b = nowhere a" % name, "a %s b = 'c' && b" % name, "a %s b = (a" % name, "import Nowhere.At.All",
                           "f x = nowhere x", ":type nowhere", "data P = P { s :: Nowhere }", "import M0 (nothingOfThisName)",
                           "1 + nowhere", "infixl 12 %s" % name, ":m - Data.Nowhere",
                           "a %s b = error \"x\" where c = nowhere" % name])
        if line.endswith("(a"):
            self.enter(line, "")
        else:
            self.enter(line)
        self.errors += 1

    def bring(self):
        rng = self.rng
        if not self.modules or rng.random() < 0.3:
            library = rng.choice(LIBRARY)
            self.enter(rng.choice(["import qualified %s as Lib", "import %s ()"]) % library)
            return
        name = rng.choice(sorted(self.modules))
        offered = self.modules[name]
        way = rng.randrange(4)
        qualifier, plain = name, True
        names = None
        if way == 0:
            self.enter(rng.choice(["import %s", ":m + %s", ":module +%s"]) % name)
        elif way == 1:
            qualifier, plain = "As" + name, False
            self.enter("import qualified %s as %s" % (name, qualifier))
        elif way == 2 and offered.ops:
            names = rng.sample(sorted(offered.ops), rng.randrange(1, len(offered.ops) + 1))
            self.enter("import %s (%s)" % (name, ", ".join(n.strip("`") if n[0] == "`" else "(%s)" % n for n in names)))
        else:
            hidden = rng.sample(sorted(offered.ops), rng.randrange(len(offered.ops) + 1)) if offered.ops else []
            names = [n for n in list(offered.ops) + list(offered.functions) + list(offered.records) if n not in hidden]
            self.enter("import %s hiding (%s)" % (name, ", ".join(n.strip("`") if n[0] == "`" else "(%s)" % n for n in hidden)))
        for table, mine in ((offered.ops, self.scope.ops), (offered.functions, self.scope.functions), (offered.records, self.scope.records)):
            for n, row in table.items():
                if names is not None and n not in names:
                    continue
                if plain:
                    mine[n] = row
                mine["`%s.%s" % (qualifier, n[1:]) if n[0] == "`" else "%s.%s" % (qualifier, n)] = row

    def ask(self):
        rng = self.rng
        if self.scope.records and rng.random() < 0.2:
            con = rng.choice(sorted(self.scope.records))
            fields, _ = self.scope.records[con]
            values = [str(rng.randrange(20)) for _ in fields]
            body = expression(rng, self.scope, dict(zip(fields, values)), 3)
            self.enter("case %s %s of { %s {..} -> %s } :: Int" % (con, " ".join(values), con, session(body)))
            self.wanted.append(oracle(body))
            return
        e = expression(rng, self.scope, {}, 4)
        self.enter("(%s) :: Int" % session(e))
        self.wanted.append(oracle(e))

    def make(self):
        rng = self.rng
        for i in range(rng.randrange(1, 4)):
            self.module("M%d" % i)
        self.enter(":set -XRecordWildCards")
        for _ in range(rng.randrange(8, 25)):
            what = rng.random()
            if what < 0.35:
                self.define(self.scope, self.declare)
            elif what < 0.5:
                self.bring()
            elif what < 0.6:
                self.mistake()
            elif what < 0.65:  # waits for its definition, and says nothing of what is there
                name, fixity = rng.choice(list(PRELUDE)[:3] + NEW[:5]), self.fixity()
                self.enter("%s %d %s" % (*fixity, name))
                self.waiting[name] = fixity
            else:
                self.ask()
        self.ask()


def run(dfc, folder, words, text):
    done = subprocess.run([dfc, *words], cwd=folder, input=text.encode(), capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def try_seed(dfc, seed, keep):
    with tempfile.TemporaryDirectory() as folder:
        maker = Maker(seed, folder)
        maker.make()
        text = "\n".join(maker.lines) + "\n"
        signatures = []
        for definition in maker.program:
            words = definition.split(" = ")[0].split()
            signatures.append("%s :: %sInt" % (words[0], "Int -> " * (len(words) - 1)))
        program = "\n".join(signatures + maker.program + ["main :: IO ()", "main = mapM_ print [%s]" % ", ".join(maker.wanted)]) + "\n"
        code, wanted, error = run(dfc, folder, ["run", "-"], program)
        assert code == 0, "seed %d: the program does not run: %s\n%s" % (seed, error, program)
        code, got, error = run(dfc, folder, ["repl"], text)
        # A mistake may have several messages; what is right has none.
        failed = error.count("error[") < maker.errors or code != (1 if maker.errors else 0) or got != wanted
        if failed:
            print("seed %d: exit code %d, %d errors of %d mistakes" % (seed, code, error.count("error["), maker.errors))
            for line, (a, b) in enumerate(zip(wanted.splitlines(), got.splitlines())):
                if a != b:
                    print("  answer %d: %s, right is %s" % (line + 1, b, a))
                    break
            if keep:
                os.makedirs(keep, exist_ok=True)
                base = os.path.join(keep, "session%d" % seed)
                for name in maker.modules:
                    with open(os.path.join(folder, name + ".df")) as module, open("%s.%s.df" % (base, name), "w") as copy:
                        copy.write(module.read())
                for ending, content in ((".in", text), (".df", program), (".out", got), (".wanted", wanted), (".err", error)):
                    with open(base + ending, "w") as file:
                        file.write(content)
        return not failed, len(maker.wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep")
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    failed = asked = 0
    for seed in range(args.first, args.first + args.count):
        ok, answers = try_seed(dfc, seed, args.keep)
        failed += not ok
        asked += answers
    print("%d sessions, %d answers: %d failed" % (args.count, asked, failed))
    sys.exit(1 if failed else 0)


main()
