"""Scripts that need the modules of another interpreter than the one that ctest starts them with."""

import os
import subprocess
import sys


def go_on_in(python, script, *words):
    """Ends with what the script gives under that interpreter, or as skipped (77) where there is none; does nothing if this is it."""
    if python == sys.executable:
        return
    if not os.path.exists(python):
        print("there is no " + python)
        sys.exit(77)
    sys.exit(subprocess.run([python, "-B", script, *words]).returncode)
