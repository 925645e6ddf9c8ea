#!/usr/bin/env python3
"""What a run may do with files and the environment, and that a prompt does an action once. One function per promise.

    files.py --dfc build/dfc [--only NAME]
"""

import os
import subprocess

from promises import main, test

COPY = """import System.Environment
main :: IO ()
main = do
  [from, to] <- getArgs
  readFile from >>= writeFile to
  putStrLn "done"
"""


def write(d, name, text):
    path = os.path.join(d.path, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(d, name):
    with open(os.path.join(d.path, name), encoding="utf-8") as file:
        return file.read()


def copying(d):
    write(d, "copy.df", COPY)
    write(d, "in/a", "text\n")
    write(d, "secret", "secret\n")
    os.makedirs(os.path.join(d.path, "out"), exist_ok=True)
    d.expect(0, "copy.df", "-o", "copy.graph")


@test
def a_source_may_do_what_its_user_may(d):
    copying(d)
    d.expect(0, "run", "copy.df", "--", "in/a", "out/b", out="done\n")
    assert read(d, "out/b") == "text\n"
    d.expect(1, "run", "copy.df", "--deny", "--", "in/a", "out/c", err="in/a: openFile: permission denied (the run may not: `--allow-read=DIR` grants it)")
    d.expect(0, "run", "copy.df", "--deny", "--allow-read=in", "--allow-write=out", "--", "in/a", "out/c", out="done\n")


@test
def a_graph_file_may_do_nothing(d):
    copying(d)
    for more, err in (((), "`--allow-read=DIR` grants it"), (("--allow-read=in",), "out/b: openFile: permission denied (the run may not: `--allow-write=DIR`")):
        d.expect(1, "run", "copy.graph", *more, "--", "in/a", "out/b", err=err)
    for engine in ("tagged", "reference", "demand", "expanding"):
        d.expect(0, "run", "copy.graph", "--engine=" + engine, "--allow-read=in", "--allow-write=out", "--", "in/a", "out/" + engine, out="done\n")
        assert read(d, "out/" + engine) == "text\n"


@test
def nothing_leads_out_of_a_folder_that_is_granted(d):
    copying(d)
    os.symlink(os.path.join(d.path, "secret"), os.path.join(d.path, "in/absolute"))
    os.symlink("../secret", os.path.join(d.path, "in/relative"))
    os.symlink("..", os.path.join(d.path, "in/up"))
    os.symlink("a", os.path.join(d.path, "in/inside"))
    os.symlink("../secret", os.path.join(d.path, "out/over"))
    grants = ("--allow-read=in", "--allow-write=out")
    for name in ("in/absolute", "in/relative", "in/up/secret"):
        d.expect(1, "run", "copy.graph", *grants, "--", name, "out/x", err="a link leads out of the folder that is granted")
    for name in ("secret", "in/../secret", "/etc/passwd", "in/../../etc/passwd", "/proc/self/environ"):
        d.expect(1, "run", "copy.graph", *grants, "--", name, "out/x", err="`--allow-read=DIR` grants it")
    d.expect(1, "run", "copy.graph", *grants, "--", "in/a", "out/over", err="a link leads out")
    d.expect(1, "run", "copy.graph", *grants, "--", "in/a", "out/../secret", err="`--allow-write=DIR` grants it")
    assert read(d, "secret") == "secret\n"
    d.expect(0, "run", "copy.graph", *grants, "--", "in/inside", "out/y", out="done\n")
    d.expect(0, "run", "copy.graph", *grants, "--", os.path.join(d.path, "in/a"), "out/../out/z", out="done\n")
    d.expect(2, "run", "copy.graph", "--allow-read=nowhere", "--", "in/a", "out/y", err="nowhere")


@test
def the_environment_is_granted(d):
    write(d, "env.df", 'import System.Environment\nmain = do { v <- lookupEnv "HOME"; print (fmap (const ()) v); getEnv "NOT_THERE_X" >>= putStrLn }\n')
    d.expect(0, "env.df", "-o", "env.graph")
    d.expect(1, "run", "env.graph", err="HOME: getEnv: permission denied (the run may not: `--allow-env` grants it)")
    for words in (("env.graph", "--allow-env"), ("env.df",)):
        d.expect(1, "run", *words, out="Just ()\n", err="NOT_THERE_X: getEnv: does not exist (no environment variable)")


@test
def the_time_needs_no_grant(d):
    write(d, "time.df", "import System.CPUTime\nimport Data.Time.Clock\n"
                        "main = do { a <- getCurrentTime; t <- getCPUTime; b <- getCurrentTime; print (t > 0, diffUTCTime b a >= 0, diffUTCTime b a < 60) }\n")
    d.expect(0, "time.df", "-o", "time.graph")
    d.expect(0, "run", "time.graph", out="(True,True,True)\n")


@test
def a_disk_that_is_full_is_an_error(d):
    write(d, "full.df", "import Control.Exception\nimport System.IO\nmain = do\n"
                        "  r <- try (writeFile \"/dev/full\" \"x\") :: IO (Either IOException ())\n  print r\n"
                        "  h <- openFile \"/dev/full\" WriteMode\n  hPutStr h \"abc\"\n  hFlush h\n")
    d.expect(1, "run", "full.df", out="Left /dev/full: hClose: resource exhausted (No space left on device)\n",
             err="/dev/full: hFlush: resource exhausted (No space left on device)")


@test
def a_large_file_is_read_in_constant_memory(d):
    write(d, "large", "0123456789abcde\n" * (1 << 19))
    write(d, "count.df", "import Data.Char (isDigit)\nmain = readFile \"large\" >>= print . length . filter isDigit\n")
    d.expect(0, "run", "count.df", "--max-memory=24M", out="5242880\n")


@test
def waits_for_a_file_end(d):
    os.mkfifo(os.path.join(d.path, "pipe"))
    write(d, "wait.df", "main = readFile \"pipe\" >>= putStr\n")
    writer = subprocess.Popen(["sh", "-c", "exec 3> pipe; echo first >&3; sleep 20"], cwd=d.path)
    try:
        d.expect(3, "run", "wait.df", "--timeout=1s", out="first\n", err="time limit")
    finally:
        writer.kill()
        writer.wait()


@test
def at_a_prompt_an_action_is_done_once(d):
    write(d, "f", "before\n")
    d.expect(0, "repl", stdin="s <- readFile \"f\"\nwriteFile \"f\" \"after\\n\"\ns\nappendFile \"f\" \"more\\n\"\nreadFile \"f\"\nlines it\n",
             out='"before\\n"\n"after\\nmore\\n"\n["after","more"]\n')
    assert read(d, "f") == "after\nmore\n"
    d.expect(0, "repl", stdin="import Control.Exception\nr <- try (readFile \"nope\") :: IO (Either IOException String)\nwriteFile \"nope\" \"there\"\nr\n"
                              "x <- try (evaluate (1 `div` 0)) :: IO (Either ArithException Int)\nx\n",
             out="Left nope: openFile: does not exist (No such file or directory)\nLeft divide by zero\n")


if __name__ == "__main__":
    main()
