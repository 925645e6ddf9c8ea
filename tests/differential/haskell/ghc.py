"""What GHC says of random programs: many in one GHC run, each a module of its own.

Evaluation has a time and a memory limit; a program that reaches one is too big for a test.
"""

import os
import re
import subprocess
import tempfile

# Each program's answer is a line: its number, `value` or `error` or `big`, and the text.
MAIN = """import Control.Concurrent (setNumCapabilities)
import Control.Exception
import System.IO
import System.Mem
import System.Timeout (timeout)
{imports}

report :: Show a => Int -> a -> IO ()
report i v = do
  setAllocationCounter {allocation}
  enableAllocationLimit
  r <- try (timeout {time} (evaluate (let s = show v in length s `seq` s)))
  disableAllocationLimit
  putStrLn (show i ++ " " ++ either failure (maybe "big" ("value " ++)) r)
  hFlush stdout

failure :: SomeException -> String
failure e
  | Just AllocationLimitExceeded <- fromException e = "big"
  | Just StackOverflow <- fromException e = "big"
  | Just (ErrorCallWithLocation m _) <- fromException e = "error " ++ m
  | otherwise = "error " ++ map (\\c -> if c == '\\n' then ' ' else c) (show e)

main :: IO ()
main = do
{calls}
"""
ALLOCATION, TIME = 24000000, 400000  # bytes, microseconds: some hundred thousand steps


def module(text, name):
    """The program as a module whose `result` is its main."""
    text = text.replace("module Main where", "module %s (result) where" % name)
    return re.sub(r"^main( =| ::)", r"result\1", text, flags=re.M)


def answers(programs, folder=None, quiet=False):
    """{number: ("value", text) or ("error", text) or ("big", "")} of {number: source}. What GHC refuses is missing from it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or scratch
        for n, text in programs.items():
            with open(os.path.join(folder, "P%d.hs" % n), "w") as f:
                f.write(module(text, "P%d" % n))
        good = list(programs)
        while good:
            with open(os.path.join(folder, "Main.hs"), "w") as f:
                f.write(MAIN.format(imports="\n".join("import qualified P%d" % n for n in good), allocation=ALLOCATION, time=TIME,
                                    calls="\n".join("  report %d P%d.result" % (n, n) for n in good)))
            # Interpreted: that takes half of the time that compiling and linking would.
            done = subprocess.run(["ghc", "-O0", "-w", "-v0", "-fkeep-going", "-e", "main", "Main.hs"], cwd=folder,
                                  capture_output=True, text=True, timeout=1200)
            refused = {int(n): m for n, m in re.findall(r"^P(\d+)\.hs:(.*error(?:.*\n?){4})", done.stderr, re.M)}
            if not refused:
                break
            for n, message in refused.items() if not quiet else ():
                print("GHC refuses %d: %s" % (n, message[:400]), flush=True)
            good = [n for n in good if n not in refused]
        if not good:
            return {}
        if done.returncode:
            raise RuntimeError(done.stderr[:2000])
    found = {}
    for line in done.stdout.splitlines():
        n, kind, *rest = line.split(" ", 2)
        found[int(n)] = (kind, rest[0] if rest else "")
    return found
