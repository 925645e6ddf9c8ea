"""Where the program `dfc` is: in the wheel, or on PATH."""

from __future__ import annotations

import os
import shutil
import sys


def path() -> str:
    """The program: what $DFC names, the one of this package, or the one on PATH."""
    named = os.environ.get("DFC")
    if named:
        return named
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "dfc")
    found = own if os.path.exists(own) else shutil.which("dfc")
    if not found:
        raise FileNotFoundError("there is no program `dfc`: it is not in this package and not on PATH; $DFC may name it")
    return found


def main() -> None:
    """The command `dfc` of an environment into which the wheel was installed."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "dfc")
    os.execv(own, ["dfc", *sys.argv[1:]])
