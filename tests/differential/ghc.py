"""Checks the oracle itself: many random programs in one GHC run against evaluate.py.

    python3 ghc.py [FIRST [COUNT]]
"""

import subprocess
import sys
import tempfile

import evaluate
from generate import Generator, program_source

HEADER = """import Control.Exception
import System.IO

report :: Show a => Int -> a -> IO ()
report i v = do
  r <- try (evaluate (let s = show v in length s `seq` s))
  putStrLn (show i ++ " " ++ either failure ("value " ++) r)

failure :: SomeException -> String
failure e = "error " ++ case fromException e of
  Just (ErrorCallWithLocation m _) -> m
  Nothing -> show e

"""


def main():
    sys.setrecursionlimit(100000)
    first, count = (int(sys.argv[1]) if len(sys.argv) > 1 else 1), (int(sys.argv[2]) if len(sys.argv) > 2 else 300)
    text, expected = HEADER, {}
    for seed in range(first, first + count):
        functions = Generator(seed).program()
        try:
            result, _ = evaluate.run(functions, functions[-1].result, 50000)
        except evaluate.TooBig:
            continue
        expected[seed] = "%s %s" % result
        body = program_source(functions).replace("main ::", "result ::").replace("main =", "result =")
        text += "p%d :: IO ()\np%d = report %d result\n where\n" % (seed, seed, seed)
        text += "\n".join("  " + line for line in body.splitlines()) + "\n\n"
    text += "main :: IO ()\nmain = sequence_ [%s]\n" % ", ".join("p%d" % s for s in expected)
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/All.hs", "w") as f:
            f.write(text)
        subprocess.run(["ghc", "-O0", "-w", "-v0", "-o", folder + "/all", folder + "/All.hs"], check=True)
        output = subprocess.run([folder + "/all"], capture_output=True, text=True, check=True).stdout
    bad = other_error = 0
    for line in output.splitlines():
        seed, got = line.split(" ", 1)
        if expected[int(seed)].startswith("error") and got.startswith("error") and expected[int(seed)] != got:
            other_error += 1  # Haskell's exceptions are imprecise: `error "a" `div` 0` may be either
        elif expected[int(seed)] != got:
            bad += 1
            print("seed %s: GHC %s, oracle %s" % (seed, got, expected[int(seed)]))
    print("%d programs agreed (%d of them on another error), %d differ" % (len(expected) - bad, other_error, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
