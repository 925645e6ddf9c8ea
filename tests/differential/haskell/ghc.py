"""What GHC says of random programs: many in one GHC run, each a module of its own.

Evaluation has a time and a memory limit; a program that reaches one is too big for a test. A program whose main is an action is
run; its answer has what it wrote (`written`), and each is given the same input.
"""

import json
import os
import re
import subprocess
import tempfile

# Each program's answer is a line: its number, `value` or `error` or `big`, and the text. Before that of an action stands what it
# writes, between lines with its number.
MAIN = """import Control.Concurrent (setNumCapabilities)
import Control.Exception
import GHC.IO.Handle (hDuplicateTo)
import System.IO
import System.Mem
import System.Timeout (timeout)
{imports}

limited :: Int -> IO String -> IO ()
limited i action = do
  r <- tried action
  answer <- either said (return . maybe "big" ("value " ++)) r
  putStrLn (show i ++ " " ++ answer)
  hFlush stdout

tried :: IO a -> IO (Either SomeException (Maybe a))
tried action = do
  setAllocationCounter {allocation}
  enableAllocationLimit
  r <- try (timeout {time} action)
  disableAllocationLimit
  return r

-- The message of a failure may fail itself: then that is the failure.
said :: SomeException -> IO String
said e = tried (evaluate (whole (failure e))) >>= either said (return . maybe "big" id)

report :: Show a => Int -> a -> IO ()
report i v = limited i (evaluate (whole (show v)))

-- A text whose characters are computed, too: any of them may fail.
whole :: String -> String
whole s = foldr seq s s

run :: Int -> IO () -> IO ()
run i action = do
  input <- openFile "input" ReadMode
  hDuplicateTo input stdin
  let mark = "\\SOH" ++ show i
  putStrLn mark
  limited i ((action >> return "") `finally` putStrLn mark)

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
INPUT = "3 14\nhello, world\n-7\n\nlast"


def is_action(text):
    return "\nmain :: IO ()\n" in text


def written(output, message=""):
    """An action's output and why it failed, as a line."""
    return json.dumps([output, message])


def module(text, name):
    """The program as a module whose `result` is its main."""
    text = text.replace("module Main where", "module %s (result) where" % name)
    return re.sub(r"^main( =| ::)", r"result\1", text, flags=re.M)


def answers(programs, folder=None):
    """{number: ("value", text), ("error", text), ("big", "") or ("refused", message)} of {number: source}."""
    found = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or scratch
        for n, text in programs.items():
            with open(os.path.join(folder, "P%d.hs" % n), "w") as f:
                f.write(module(text, "P%d" % n))
        with open(os.path.join(folder, "input"), "w") as f:
            f.write(INPUT)
        good = list(programs)
        while good:
            with open(os.path.join(folder, "Main.hs"), "w") as f:
                f.write(MAIN.format(imports="\n".join("import qualified P%d" % n for n in good), allocation=ALLOCATION, time=TIME,
                                    calls="\n".join("  %s %d P%d.result" % ("run" if is_action(programs[n]) else "report", n, n)
                                                    for n in good)))
            # Interpreted: that takes half of the time that compiling and linking would.
            done = subprocess.run(["ghc", "-O0", "-w", "-v0", "-fkeep-going", "-e", "main", "Main.hs"], cwd=folder,
                                  capture_output=True, text=True, timeout=1200)
            refused = {int(n): m for n, m in re.findall(r"^P(\d+)\.hs:(.*error(?:.*\n?){4})", done.stderr, re.M)}
            if not refused:
                break
            for n, message in refused.items():
                found[int(n)] = ("refused", re.sub(r"\s+", " ", message)[:300])
            good = [n for n in good if n not in found]
        if not good:
            return found
        if done.returncode:
            raise RuntimeError(done.stderr[:2000])
    # What actions write: from the line after the first mark up to the second.
    outputs = {int(n): output for n, output in re.findall("\x01(\\d+)\n(.*?)\x01\\1\n", done.stdout, re.S)}
    for line in re.sub("\x01(\\d+)\n.*?\x01\\1\n", "", done.stdout, flags=re.S).splitlines():
        n, kind, *rest = line.split(" ", 2)
        text = rest[0] if rest else ""
        found[int(n)] = (kind, written(outputs[int(n)], text) if int(n) in outputs else text)
    return found
