"""Sources that would have the compiler work for ever, or take all memory: with --timeout and --max-memory each ends in time.

    python3 compile_bombs.py --dfc build/dfc [--only NAME] [--strict] [--show] [--prompts N]

Every bomb is compiled under --timeout=2s --max-memory=300M: it compiles, has an error of its own, or is ended by a limit with exit code 3 and
one message. `--strict`: within half a second of the time and 20% of the memory; without it twice as much, since others may use
the machine. Each, or each Nth, is also given to a prompt, which has to go on.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

TIME, MEMORY = 2.0, 300
PROMPT_GOES_ON = "prompt goes on"
BOMBS = []


def bomb(*codes):
    """A function that makes the source, and the exit codes that are right."""
    def add(function):
        BOMBS.append((function.__name__, function, codes))
        return function
    return add


def lines(*parts):
    return "\n".join(parts) + "\n"


# ---- text, syntax

@bomb(0, 3)
def deep_parentheses():
    return "main = " + "(" * 900 + "1" + ")" * 900 + "\n"


@bomb(1, 3)
def deeper_parentheses():
    return "main = " + "(" * 3000000 + "1" + ")" * 3000000 + "\n"


@bomb(0, 1, 3)
def long_operator_chain():
    return "main = " + " + ".join(["1"] * 300000) + "\n"


@bomb(0, 1, 3)
def long_append_chain():
    return "main = length (" + " ++ ".join(["[1 :: Int]"] * 100000) + ")\n"


@bomb(0, 1, 3)
def long_composition():
    return "main = (" + " . ".join(["(+ 1)"] * 50000) + ") (0 :: Int)\n"


@bomb(0, 3)
def long_comment():
    return "{-" + "x" * 50000000 + "-}\nmain = 1\n"


@bomb(0, 3)
def string_gaps():
    return 'main = length "' + "a\\   \\" * 1000000 + '"\n'


@bomb(0, 1, 3)
def long_do_block():
    return "main :: IO ()\nmain = do\n" + "  print 1\n" * 50000


@bomb(0, 1, 3)
def nested_do_blocks():
    source = "main :: IO ()\nmain = do\n"
    for depth in range(300):
        source += "  " * (depth + 1) + "x%d <- do\n" % depth
    return source + "  " * 301 + "return 1\n" + "".join("  " * (d + 1) + "return x%d\n" % d for d in reversed(range(300)))


@bomb(0, 1, 3)
def let_chain():
    return "main = " + "".join("let x%d = %s in " % (n, "x%d + 1" % (n - 1) if n else "1") for n in range(900)) + "x899\n"


@bomb(0, 1, 3)
def where_chain():
    return "main = x9999\n  where\n    x0 = 1\n" + "".join("    x%d = x%d + 1\n" % (n, n - 1) for n in range(1, 10000))


# ---- numbers

@bomb(0, 1, 3)
def huge_exponent():
    return "main = 1e999999999 :: Double\n"


@bomb(0, 1, 3)
def huge_exponent_rational():
    return "import Data.Ratio\nmain = numerator (1e999999999 :: Rational)\n"


@bomb(0, 1, 3)
def power_tower():
    return "main = (2 :: Integer) ^ (2 ^ (40 :: Integer) :: Integer)\n"


@bomb(0, 1, 3)
def digits():
    return "main = " + "7" * 10000000 + "\n"


@bomb(0, 1, 3)
def hexadecimal_digits():
    return "main = 0x" + "f" * 10000000 + "\n"


# ---- types

@bomb(0, 1, 3)
def pairs_of_pairs():
    return "main = let " + "; ".join("x%d = (x%d, x%d)" % (n, n - 1, n - 1) if n else "x0 = \\y -> y" for n in range(60)) + " in length [x59]\n"


@bomb(0, 1, 3)
def functions_of_pairs():
    return lines("f0 x = (x, x)", *("f%d x = f%d (f%d x)" % (n, n - 1, n - 1) for n in range(1, 8)), "main = length [f7 'a']")


@bomb(0, 1, 3)
def pair_function_tower():
    return lines("pair x f = f x x", *("f%d = \\x -> %s" % (n, "f%d (f%d x)" % (n - 1, n - 1) if n else "pair x") for n in range(6)),
                 "main = length [f5 (\\z -> z)]")


@bomb(0, 1, 3)
def synonyms():
    return lines("type A0 = (Int, Int)", *("type A%d = (A%d, A%d)" % (n, n - 1, n - 1) for n in range(1, 60)),
                 "f :: A59 -> Int", "f _ = 1", "main = 1")


@bomb(0, 1, 3)
def synonyms_shown():
    return lines("type A0 = (Int, Int)", *("type A%d = (A%d, A%d)" % (n, n - 1, n - 1) for n in range(1, 25)),
                 "f :: A24 -> Int", "f x = x", "main = f 'a'")


@bomb(0, 1, 3)
def data_tower():
    return lines("data D0 = D0 deriving (Eq, Ord, Show)",
                 *("data D%d = D%d D%d D%d deriving (Eq, Ord, Show)" % (n, n, n - 1, n - 1) for n in range(1, 300)), "main = 1")


@bomb(0, 1, 3)
def superclasses():
    source = ["class C0 a where { m0 :: a -> Int; m0 _ = 0 }"]
    for n in range(1, 60):
        source.append("class (%s) => C%d a where { m%d :: a -> Int; m%d _ = %d }" % (", ".join("C%d a" % k for k in range(n)), n, n, n, n))
    source += ["instance C%d Int" % n for n in range(60)]
    return lines(*source, "f :: C59 a => a -> Int", "f x = m0 x + m59 x + m20 x", "main = f (1 :: Int)")


@bomb(0, 1, 3)
def instances():
    return lines("{-# LANGUAGE FlexibleContexts, UndecidableInstances #-}", "data N a = N a", "data M a = M a",
                 "class C a where c :: a -> Int", "instance C Int where c _ = 1",
                 "instance (C (M a), C a) => C (N a) where c (N x) = c x + c (M x)",
                 "instance C a => C (M a) where c (M x) = c x",
                 "main = c (%s(1 :: Int)%s)" % ("N (" * 40, ")" * 40))


@bomb(1, 3)
def growing_instances():
    return lines("{-# LANGUAGE FlexibleContexts, UndecidableInstances #-}", "class C a where c :: a -> Int",
                 "instance (C [[a]], C [Maybe a]) => C [a] where c _ = 1", "main = c [1 :: Int]")


@bomb(1, 3)
def polymorphic_recursion():
    return lines("f :: Show a => Int -> a -> String", "f n x = if n == 0 then show x else f (n - 1) (x, x)", "main = f 3 'a'")


@bomb(1, 3)
def branching_polymorphic_recursion():
    return lines("f :: Show a => Int -> a -> String",
                 "f n x = if n == 0 then show x else f (n - 1) [x] ++ f (n - 1) (Just x) ++ f (n - 1) (x, 'a')", "main = f 3 'a'")


@bomb(0, 1, 3)
def types_of_doubling():
    source = ["f0 :: Show a => a -> String", "f0 x = show x"]
    for n in range(1, 40):
        source += ["f%d :: Show a => a -> String" % n, "f%d x = f%d [x] ++ f%d (Just x)" % (n, n - 1, n - 1)]
    return lines(*source, "main = f39 'a'")


@bomb(0, 1, 3)
def defaulting():
    return lines(*("x%d = fromIntegral x%d + 1" % (n, n - 1) if n else "x0 = 1" for n in range(2000)), "main = print x1999")


@bomb(0, 1, 3)
def dimensions():
    return lines("import Tensor (Tensor)", "import qualified Tensor as T",
                 "f :: Tensor Float [(a + b + c + d) * (a + b + c + d) * (a + b + c + d) * (a + b + c + d) * (a + b + c + d) * (a + b + c + d) * "
                 "(a + b + c + d) * (a + b + c + d) * (a + b + c + d) * (a + b + c + d) * (a + b + c + d) * (a + b + c + d)] -> Tensor Float [a]",
                 "f x = x", "main = 1")


# ---- matches

@bomb(0, 1, 3)
def triangle_of_patterns():
    size = 18
    rows = ["f " + " ".join("True" if k == n else "_" if k < n else "_" for k in range(size)) + " = %d" % n for n in range(size)]
    rows += ["f " + " ".join("False" if k in (n, (n + 7) % size) else "_" for k in range(size)) + " = %d" % (n + 100) for n in range(size)]
    return lines(*rows, "main = f " + " ".join(["False"] * size))


@bomb(0, 1, 3)
def crossed_patterns():
    size = 24
    rows = ["f " + " ".join("A" if k == n else "B" if k == n + 1 else "_" for k in range(size)) + " = %d" % n for n in range(size - 1)]
    return lines("data T = A | B | C | D", *rows, "main = f " + " ".join(["C"] * size))


@bomb(0, 1, 3)
def deep_pattern():
    return lines("f (%s_%s) = 1" % ("(Just " * 800, ")" * 800), "f _ = 2", "main = f Nothing")


@bomb(0, 1, 3)
def string_patterns():
    return lines(*('f "%s" = %d' % ("ab" * (n % 50) + str(n), n) for n in range(3000)), 'f _ = 0', 'main = f "abab"')


@bomb(0, 1, 3)
def nested_cases():
    source = "x"
    for n in range(400):
        source = "case %s of { Just y -> Just (y + 1); Nothing -> Just 0 }" % (source if n else "(Just 1)")
    return "main = " + source + "\n"


# ---- size

@bomb(0, 1, 3)
def list_of_numbers():
    return "main = sum xs\nxs :: [Int]\nxs = [" + ", ".join(map(str, range(200000))) + "]\n"


@bomb(0, 1, 3)
def list_of_strings():
    return "main = length xs\nxs :: [String]\nxs = [" + ", ".join('"s%d"' % n for n in range(200000)) + "]\n"


@bomb(0, 1, 3)
def list_of_pairs():
    return "main = length xs\nxs :: [(Int, Double)]\nxs = [" + ", ".join("(%d, %d.5)" % (n, n) for n in range(100000)) + "]\n"


@bomb(0, 1, 3)
def list_of_lists():
    return "main = length (concat xs)\nxs :: [[Int]]\nxs = [" + ", ".join("[%d, %d]" % (n, n + 1) for n in range(100000)) + "]\n"


@bomb(0, 1, 3)
def list_of_two_million():
    return "main = sum xs\nxs :: [Int]\nxs = [" + ", ".join(["1"] * 2000000) + "]\n"


@bomb(0, 1, 3)
def wide_function():
    return lines("f %s = x0" % " ".join("x%d" % n for n in range(3000)), "main = f %s" % " ".join(map(str, range(3000))))


@bomb(0, 1, 3)
def wide_record():
    return lines("data R = R { %s } deriving (Eq, Ord, Show)" % ", ".join("f%d :: Int" % n for n in range(2000)),
                 "main = f0 (R %s)" % " ".join(["1"] * 2000))


@bomb(1, 3)
def wide_tuple():
    return "main = fst (%s)\n" % ", ".join(["1"] * 5000)


@bomb(0, 1, 3)
def many_constructors():
    return lines("data T = %s deriving (Eq, Ord, Show, Enum, Bounded)" % " | ".join("C%d" % n for n in range(5000)),
                 "main = (minBound :: T)")


@bomb(0, 1, 3)
def many_constructors_read():
    return lines("data T = %s deriving (Eq, Ord, Show, Read)" % " | ".join("C%d Int T" % n for n in range(1500)), "main = 1")


@bomb(0, 1, 3)
def many_functions():
    return lines(*("f%d x = f%d (x + 1) * 2" % (n, n - 1) if n else "f0 x = x" for n in range(8000)), "main = f7999 1")


@bomb(0, 1, 3)
def mutual_recursion():
    size = 400
    return lines(*("f%d :: Int -> Int\nf%d x = if x == 0 then 0 else %s" %
                   (n, n, " + ".join("f%d (x - 1)" % ((n * k + 1) % size) for k in range(1, 8))) for n in range(size)), "main = f0 3")


# ---- what passes make of it

@bomb(0, 1, 3)
def doubling_inlines():
    return lines(*("f%d x = f%d (f%d x)" % (n, n - 1, n - 1) if n else "f0 x = x + 1" for n in range(40)), "main = f30 (1 :: Int) == 0 || True")


@bomb(0, 1, 3)
def closures():
    source = ["g0 f x = f (x + 1)"]
    for n in range(1, 16):
        source.append("g%d f x = g%d (\\y -> f (y + %d)) x + g%d (\\y -> f (y * %d)) x" % (n, n - 1, n, n - 1, n))
    return lines(*source, "main = g15 (\\x -> x) (1 :: Int)")


@bomb(0, 1, 3)
def numerals():
    return lines("two f x = f (f x)", "main = (" + "two " * 24 + ") (+ 1) (0 :: Int) `seq` ()")


@bomb(0, 1, 3)
def nested_gradients():
    source = "f"
    for _ in range(12):
        source = "(grad %s)" % source
    return lines("import Gradient (grad)", "f :: Double -> Double", "f x = x * x * sin x * exp x / (1 + x * x)", "main = %s 1.5" % source)


@bomb(0, 1, 3)
def gradient_of_a_chain():
    body = "x"
    for n in range(3000):
        body = "sin (%s * x)" % body if n % 2 else "(%s + x)" % body
    return lines("import Gradient (grad)", "f :: Double -> Double", *("f%d :: Double -> Double -> Double\nf%d x y = sin (y * x) + %s" %
                 (n, n, "f%d x (y * 2) * f%d y x" % (n - 1, n - 1) if n else "y") for n in range(30)), "f x = f29 x x", "main = grad f 1.5 == 0 || True")


@bomb(0, 1, 3)
def branches_of_branches():
    return lines("f :: Bool -> Bool", "f x = " + "".join("(if x then not else id) (" for _ in range(60)) + "x" + ")" * 60,
                 "main = f True")


def measured(args, folder, stdin=b"", patience=60):
    """(exit code, stdout, stderr, seconds, megabytes)"""
    out, err = (tempfile.TemporaryFile() for _ in range(2))
    begin = time.time()
    process = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=folder)
    try:
        process.stdin.write(stdin)
        process.stdin.close()
    except BrokenPipeError:
        pass
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.time() - begin > patience:
            process.kill()
        time.sleep(0.005)
    seconds = time.time() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    for file in (out, err):
        file.seek(0)
    return process.returncode, out.read().decode(errors="replace"), err.read().decode(errors="replace"), seconds, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--only")
    parser.add_argument("--write", nargs=2, help="the source of a bomb, and to which file")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--prompts", type=int, default=1, help="give each Nth to a prompt, too")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    if args.write:
        with open(args.write[1], "w") as file:
            file.write(next(source for name, source, _ in BOMBS if name == args.write[0])())
        return 0
    dfc = os.path.abspath(args.dfc)
    sanitized = subprocess.run(["grep", "-q", "__asan_", dfc]).returncode == 0
    most_seconds = TIME + (0.5 if args.strict else 10)
    most_memory = MEMORY * (1.2 if args.strict else 1.6) + (100 if sanitized else 0)
    failed = ran = 0
    for name, source, codes in BOMBS:
        if args.only and args.only != name:
            continue
        ran += 1
        faults = []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "Bomb.df")
            # By a process of its own: what this one has would count as dfc's, which begins as a copy of it.
            subprocess.run([sys.executable, "-B", os.path.abspath(__file__), "--dfc", dfc, "--write", name, path], check=True)
            limits = ["--timeout=%gs" % TIME, "--max-memory=%dM" % MEMORY]
            code, out, err, seconds, megabytes = measured([dfc, path, "-o", "x.graph", *limits], folder)
            if code not in codes:
                faults.append("exit %d, right is %s" % (code, codes))
            if seconds > most_seconds:
                faults.append("%.2f s" % seconds)
            if megabytes > most_memory and not sanitized:
                faults.append("%.0f MB" % megabytes)
            if code == 3 and err.count("limit of") != 1:
                faults.append("not one message about the limit")
            if len(err) > 20000:
                faults.append("%d bytes of messages" % len(err))
            if code == 3 and os.path.exists(os.path.join(folder, "x.graph")):
                faults.append("a graph was written")
            prompt_seconds, prompt_megabytes = 0, 0
            if ran % args.prompts == 0:
                # On a busy machine a prompt may take long to leave a phase.
                prompt_limits = limits if args.strict else ["--timeout=%gs" % (3 * TIME), limits[1]]
                prompt = ":load Bomb.df\nmain\n\"%s\"\n" % PROMPT_GOES_ON
                _, said, told, prompt_seconds, prompt_megabytes = measured([dfc, "repl", *prompt_limits], folder, prompt.encode())
                if PROMPT_GOES_ON not in said:
                    faults.append("the prompt ended: " + told[-200:])
                if prompt_megabytes > most_memory and not sanitized:
                    faults.append("prompt %.0f MB" % prompt_megabytes)
        first = next((line for line in err.splitlines() if "error" in line), "")[:110]
        if args.show or faults:
            print("%-34s exit %d  %5.2f s %4.0f MB   prompt %5.2f s %4.0f MB   %s" % (name, code, seconds, megabytes, prompt_seconds, prompt_megabytes, first))
        if faults:
            failed += 1
            print("FAIL %s: %s" % (name, "; ".join(faults)), flush=True)
    print("%d bombs, %d failed" % (ran, failed))
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
