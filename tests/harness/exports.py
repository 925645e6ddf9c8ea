#!/usr/bin/env python3
"""No module of the library exports a name that GHC's module of that name has not: it would make programs ambiguous.

    tests/harness/exports.py --dfc build/dfc             compares with exports.txt
    tests/harness/exports.py --dfc build/dfc --update    writes exports.txt anew; needs ghc with the packages containers, text and mtl
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = os.path.join(HERE, "exports.txt")
# `modify'` is of the modules of mtl, whose functions are those of transformers here. Of `Tree(Node)` `:browse` shows the fields.
MORE = {
    "Data.Graph": {"rootLabel", "subForest"},
    "Control.Monad.Trans.RWS": {"modify'"},
    "Control.Monad.Trans.RWS.Strict": {"modify'"},
    # A field by its later name, and what stands for a type family; of a class `:browse` lists the methods.
    "Test.Hspec.Core.Runner": {"configFailFast", "primFormat"},
    "Test.Hspec.Runner": {"configFailFast", "primFormat"},
    "Test.Hspec": {"evaluateExample"},
}


def library_modules():
    """The modules that a program may import, but those that only this library has and the Prelude, of whose classes `:browse`
    lists every method."""
    with open(os.path.join(HERE, "..", "..", "stdlib", "CMakeLists.txt")) as file:
        names = re.search(r"set\(modules\n(.*?)\)\n", file.read(), re.S).group(1).split()
    modules = [name.replace("/", ".") for name in names]
    return [m for m in modules if not m.startswith("Prelude") and not m.endswith(".Internal")]


def unqualified(name):
    return re.sub(r"^(?:[A-Z][\w']*\.)+(?=.)", "", name)


def ghc_exports(module, folders):
    """What GHC's interface file of the module lists; None if there is no such module."""
    for folder in folders:
        path = os.path.join(folder, module.replace(".", "/") + ".hi")
        if not os.path.exists(path):
            continue
        text = subprocess.run(["ghc", "--show-iface", path], capture_output=True, text=True, check=True).stdout
        text = text.split("\nexports:\n", 1)[1].split("\nmodule dependencies:", 1)[0]
        names = set()
        for line in re.sub(r"\n {4,}", " ", text).splitlines():
            group = re.match(r"^(\S+?)(\|?)\{(.*)\}$", line.strip())
            if not group:
                names.update(unqualified(name) for name in line.split())
                continue
            names.update(unqualified(name) for name in group.group(3).split())
            if not group.group(2):
                names.add(unqualified(group.group(1)))
        return names
    return None


def constructors(sides):
    """The constructors and fields on the right side of a declaration."""
    names = set()
    for side in re.split(r" \| ", sides):
        operator = re.search(r" (:[^\s\w()\[\]]+) ", " " + re.sub(r"\{.*", "", side) + " ")
        prefix = re.match(r"[A-Z]\w*", side.strip())
        if operator:
            names.add(operator.group(1))
        elif prefix:
            names.add(prefix.group(0))
        names.update(re.findall(r"[{,] ?\(?([\w']+)\)? ::", side))
    return names


def own_exports(dfc, modules):
    """Of each module what `:browse` lists."""
    lines = []
    for i, module in enumerate(modules):
        lines += ["import qualified %s as Q%d" % (module, i), '"== %s"' % module, ":browse %s" % module]
    text = subprocess.run([dfc, "repl"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True).stdout
    found, names = {}, set()
    for line in text.splitlines():
        mark = re.match(r'^"== (.*)"$', line)
        value = re.match(r"^\s*((?:\(\S+\)|[\w']+)(?:, (?:\(\S+\)|[\w']+))*) ::", line)
        if mark:
            names = found.setdefault(mark.group(1), set())
        elif line.startswith(("data ", "newtype ")):
            names.update(constructors(line.partition(" = ")[2]))
        elif line.startswith("type ") and " :: " in line:
            names.add(line.split()[1])
        elif value and not line.startswith(("type ", "class ")):
            names.update(name.strip("()") for name in value.group(1).split(", "))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    if args.update:
        listed = subprocess.run(["ghc-pkg", "field", "*", "import-dirs"], capture_output=True, text=True, check=True).stdout
        folders = [line.split(":", 1)[1].strip() for line in listed.splitlines() if line.startswith("import-dirs:")]
        with open(ANSWERS, "w") as file:
            for module in library_modules():
                names = ghc_exports(module, folders)
                if names is not None:
                    print(module + ":", *sorted(names), file=file)
    with open(ANSWERS) as file:
        answers = dict(line.rstrip("\n").split(": ", 1) for line in file)
    own = own_exports(args.dfc, list(answers))
    failures = 0
    for module, names in answers.items():
        more = own.get(module, set()) - set(names.split()) - MORE.get(module, set())
        if more or not own.get(module):
            failures += 1
            print("%s: %s" % (module, " ".join(sorted(more)) or "nothing is listed"))
    print("%d modules, %d that export more than GHC's" % (len(answers), failures))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
