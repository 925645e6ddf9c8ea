#!/usr/bin/env python3
"""Every diagnostic of lang/diag/*.def is shown by some test: its code occurs in what a golden test expects.

Those that a golden test cannot reach, and why, are in NOT_GOLDEN; a code that is reached must not be there.
"""

import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

NOT_GOLDEN = {
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
    for folder in ("golden", "tour", "robust"):
        for path in glob.glob(os.path.join(ROOT, "tests", folder, "**"), recursive=True):
            if os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    shown.update(re.findall(r"\bDF\d{4}\b", file.read()))
    faults = ["%s (%s) is in no golden test" % (code, declared[code])
              for code in sorted(set(declared) - shown - set(NOT_GOLDEN))]
    faults += ["%s is in NOT_GOLDEN and in a golden test" % code for code in sorted(shown & set(NOT_GOLDEN))]
    faults += ["%s is in NOT_GOLDEN and is not declared" % code for code in sorted(set(NOT_GOLDEN) - set(declared))]
    print("\n".join(faults + ["%d diagnostics, %d without a golden test" % (len(declared), len(faults))]))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
