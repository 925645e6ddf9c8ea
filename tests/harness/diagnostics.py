#!/usr/bin/env python3
"""Every diagnostic of lang/diag/*.def is shown by some test: a golden test, or one of command_*.py, expects its code.

Those that no such test can reach, and why, are in NOT_GOLDEN; a code that is reached must not be there.
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

NOT_GOLDEN = {
    "DF0111": "a number of a million digits; tests/unit/parser",
    "DF0112": "a source of gigabytes; tests/unit/parser",
    "DF0122": "thousands of brackets; tests/unit/parser",
    "DF0123": "a hundred thousand operators; tests/unit/parser",
    "DF0303": "a string pattern of thousands of characters",
    "DF0406": "a fault in the library itself",
    "DF0829": "megabytes at the prompt; tests/harness/repl.py",
}


def main():
    declared = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "lang/diag/*.def"))):
        with open(path, encoding="utf-8") as file:
            for code, name in re.findall(r"^DF_DIAG\((DF\d+),\s*(\w+)", file.read(), re.M):
                if code in declared:
                    sys.exit("%s is declared twice" % code)
                declared[code] = name
    shown = set()
    for path in glob.glob(os.path.join(ROOT, "tests/golden/**/*.df"), recursive=True):
        with open(path, encoding="utf-8", errors="replace") as file:
            shown.update(re.findall(r"^-- (?:ERR|OUT): .*\[(DF\d{4})\]", file.read(), re.M))
    for path in glob.glob(os.path.join(ROOT, "tests/harness/command_*.py")):
        with open(path, encoding="utf-8") as file:
            shown.update(re.findall(r"error\[(DF\d{4})\]", file.read()))
    faults = ["%s (%s) is in no golden test" % (code, declared[code])
              for code in sorted(set(declared) - shown - set(NOT_GOLDEN))]
    for code in sorted(shown & set(NOT_GOLDEN)):
        print("%s is in a golden test: it need not be in NOT_GOLDEN any more" % code)
    faults += ["%s is in NOT_GOLDEN and is not declared" % code for code in sorted(set(NOT_GOLDEN) - set(declared))]
    print("\n".join(faults + ["%d diagnostics, %d without a golden test" % (len(declared), len(faults))]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
