#!/usr/bin/env python3
"""What the REPL promises, on a pipe and on a terminal. One function per promise.

    repl.py --dfc build/dfc [--only NAME]
"""

import os
import pty
import re
import select
import signal
import subprocess
import threading
import time

from promises import main, test


class Terminal:
    """The REPL on a terminal of its own."""

    def __init__(self, d):
        self.seen = b""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(d.path)
            # libedit does not free the words it completes from: no fault of ours under the sanitizers.
            os.environ.update(TERM="xterm", XDG_STATE_HOME=d.path, ASAN_OPTIONS="detect_leaks=0")
            os.execv(d.dfc, [d.dfc, "repl"])

    def wait_for(self, text):
        end = time.monotonic() + 60
        while text not in self.seen:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            assert ready, "%r does not appear in %r" % (text, self.seen)
            self.seen += os.read(self.terminal, 4096)
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def send(self, text):
        os.write(self.terminal, text)

    def exit_code(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            # What it still prints has to be read, or it waits for that.
            if select.select([self.terminal], [], [], 0)[0]:
                try:
                    self.seen += os.read(self.terminal, 4096)
                except OSError:  # its end is closed
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError("the session does not end")


@test
def types_have_the_names_of_the_library(d):
    # Of a name with a qualifier as well, and what stands for a type constructor is no `a`.
    d.expect(0, "repl",
             stdin="import qualified Data.Map as M\n:type M.insertWith\n:type (M.!)\n:type foldr (+)\n:type \\x -> x >>= return\n",
             out="M.insertWith :: Ord k => (a -> a -> a) -> k -> a -> Map k a -> Map k a\n"
                 "(M.!) :: Ord k => Map k a -> k -> a\n"
                 "foldr (+) :: (Foldable t, Num a) => a -> t a -> a\n"
                 "\\x -> x >>= return :: Monad m => m a -> m a\n")


@test
def an_instance_is_replaced_by_the_next(d):
    start = "data T = T | U deriving (Show, Eq)\nf x = show x ++ \"!\"\n"
    d.expect(0, "repl", stdin=start + "instance Show T where show _ = \"first\"\nT\ninstance Show T where { show T = \"a\"; show U = \"b\" }\n"
                              "[T, U]\nf T\n:info T\n",
             out="first\n[a,b]\n\"a!\"\ntype T :: *\ndata T = T | U\n  \t-- Defined at <repl>:1:6\n"
                 "instance Eq T -- Defined at <repl>:1:32\ninstance Show T -- Defined at <repl>:5:1\n")
    # One with an error leaves the one before, two at once are two, and those of the library stay.
    out, err = d.expect(1, "repl", stdin=start + "instance Show T where show _ = 'x'\n[T]\n"
                                     ":{\ninstance Ord T where compare _ _ = EQ\ninstance Ord T where compare _ _ = LT\n:}\ninstance Show Int where show _ = \"x\"\n[T]\n1\n")[:2]
    assert out == "[T]\n[T]\n1\n", out
    assert err.count("two instances") == 2, err


@test
def a_signature_and_its_definition_on_one_line(d):
    d.expect(0, "repl", stdin="f :: Int -> Int; f x = x + 1\nf 2\n3 :: Int\nlet { a :: Int; a = 4 } in a\n", out="3\n3\n4\n")


@test
def repl_on_a_pipe(d):
    d.expect(0, "repl", stdin="1 + 2\nit * 2\nit + it\n", out="3\n6\n12\n")
    d.expect(0, "repl", stdin="f x = y\n  where y = x + 1\nf 3\n", out="4\n")
    # Where it is split is said by a later line.
    d.expect(0, "repl", stdin="import qualified Tensor as T\n(a, b) = T.split ([1, 2, 3] :: Tensor Float [3])\na :: Tensor Float [1]\n", out="[1.0]\n")
    d.expect(0, "repl", stdin=":{\nf 0 = 1\nf n = n * f (n - 1)\n:}\nf 20\n", out="2432902008176640000\n")
    d.expect(0, "repl", stdin="f x = x\nf 1\nf x = x + 1\nf 1\n", out="1\n2\n")
    # No monomorphism restriction, as at GHCi's prompt.
    d.expect(0, "repl", stdin="y = 3\ny / 2\ny `div` 2\nadd = (+)\nadd 1.5 2\nadd 1 (2 :: Int)\n:t y\n", out="1.5\n1\n3.5\n3\ny :: Num a => a\n")
    d.expect(1, "repl", stdin="nope\n1 `div` 0\n7\n", out="7\n", err="nope")
    d.expect(0, "repl", stdin=":quit\n1\n", out="")
    d.expect(0, "repl", stdin="", out="")
    d.expect(0, "repl", stdin="1", out="1\n")


@test
def a_module_is_read_by_its_own_scope(d):
    # What is called `+` at the prompt is nobody else's affair.
    d.file("Mine.df", "module Mine where\npoly :: Int -> Int\npoly x = x * x + 3 * x - 1\n")
    d.expect(0, "repl", stdin="a + b = a Prelude.- b\nimport Mine\npoly 5\n", out="39\n")
    d.expect(0, "repl", stdin="a <*> b = ()\nimport Control.Monad.Except\n1 + 2 * 3\n", out="7\n")
    # Nor are the fields of a constructor.
    d.file("Field.df", "{-# LANGUAGE RecordWildCards #-}\nmodule Field where\nimport Base\ntotal P {..} = a - b\n")
    d.file("Base.df", "module Base where\ndata P = P { a, b :: Int }\n")
    d.expect(0, "repl", stdin="data P = P { b, c, a :: Int }\nimport qualified Field\nimport qualified Base\nField.total (Base.P 5 3)\n", out="2\n")
    d.expect(0, "repl", stdin=":set -XRecordWildCards\nimport qualified Base\nimport qualified Base as B\ndata P = P { c, d :: Int }\n"
                              "f B.P {..} = a - b\ng P {..} = c - d\n(f (Base.P 5 3), g (P 1 2))\n", out="(2,-1)\n")


@test
def every_library_module_is_read_by_its_own_scope(d):
    operators = "!! $ $! && ++ . <$> =<< ^ ^^ ** || + - * / == /= < <= > >= >>= >> <> <*> <* *> <$ div mod quot rem elem notElem seq".split()
    modules = sorted(word for word in d.modules() if not word.startswith("Prelude"))
    assert len(modules) > 60, modules
    imports = "".join("import qualified %s\n" % module for module in modules)
    probes = ('Data.List.sortBy (Data.Ord.comparing negate) [2,3,1]\nData.Map.toList (Data.Map.fromListWith max [(1,2),(1,5)])\n'
              'Data.Char.isSpace (Data.Char.chr 32)\nData.Bits.popCount (255 :: Int)\n', "[3,2,1]\n[(1,5)]\nTrue\n8\n")
    define = lambda op: "%s = ()\n" % (("a %s b" if not op[0].isalpha() else "%s a b") % op)
    for chosen in [operators] + [[op] for op in operators]:
        for fixity in ("", "infixr 0 "):
            fixities = "".join("%s%s\n" % (fixity, op if not op[0].isalpha() else "`%s`" % op) for op in chosen if fixity)
            d.expect(0, "repl", stdin=fixities + "".join(map(define, chosen)) + imports + probes[0], out=probes[1])
        if os.environ.get("DFC_SLOW_BUILD"):
            break


@test
def what_fails_leaves_no_fixity(d):
    d.expect(1, "repl", stdin="a + b = nowhere\n1 + 2 * 3\n", out="7\n")
    d.expect(1, "repl", stdin=":{\ninfixl 9 +\na + b = nowhere\n:}\n1 + 2 * 3\n", out="7\n")
    d.expect(1, "repl", stdin="import Data.Nowhere\ndata P = P { x :: Nowhere }\n1 + 2 * 3\n", out="7\n")
    # A fixity waits for its definition, also behind one that fails, and says nothing of what is there.
    d.expect(1, "repl", stdin="infixl 9 +\n1 + 2 * 3\na + b = nowhere\na + b = a Prelude.- b\n10 * 5 + 2\n1 Prelude.+ 2 * 3\n", out="7\n30\n7\n")
    d.expect(0, "repl", stdin="infixr 5 :>\ndata T = Int :> T | End deriving Show\n1 :> 2 :> End\n", out="1 :> (2 :> End)\n")


@test
def modules_as_in_ghci(d):
    d.file("Mine.df", "module Mine where\nsort :: Int -> Int\nsort x = x + 1\n")
    d.expect(0, "repl", stdin=":m + Data.Char Data.List\ntoUpper 'a'\nsort [2,1]\n", out="'A'\n[1,2]\n")
    d.expect(0, "repl", stdin=":module +Data.Char\nord 'a'\n", out="97\n")
    d.expect(1, "repl", stdin=":m + Data.Char\n:m - Data.Char\n1 + 1\nord 'a'\n", out="2\n", err="`ord`")
    d.expect(1, "repl", stdin=":m + Data.Char\n:m Data.List\nsort [2,1]\nord 'a'\n", out="[1,2]\n", err="`ord`")
    # What was defined stays, and so does what another import brings; a fixity goes with its operator.
    d.expect(0, "repl", stdin="import Data.List\nimport Mine\nsort 1\n:m - Mine\nsort [2,1]\nlength [1]\n", out="2\n[1,2]\n1\n")
    d.expect(0, "repl", stdin="import Data.List\nsort = 3\n:m - Data.List\nsort\n", out="3\n")
    d.expect(1, "repl", stdin=":m - Data.Char\n", err="DF0830")
    d.expect(1, "repl", stdin=":m + Data.Nowhere Data.Char\n", err="Data.Nowhere")


@test
def extensions_as_in_ghci(d):
    d.file("p.df", "f = \\case { 0 -> 1; n -> n * 2 }\n")
    d.expect(0, "repl", stdin=":set -XLambdaCase\n:load p.df\nf 4\n:set -XTupleSections -XBangPatterns\nmap (,1) [2]\n", out="8\n[(2,1)]\n")
    d.expect(1, "repl", stdin=":load p.df\n", err="LambdaCase")
    d.expect(0, "repl", stdin=":set -XStrict\nlet k _ = 1\nk 2\n", out="1\n")
    d.expect(1, "repl", stdin=":set -XLambdaCas\n", err="LambdaCase")
    d.expect(1, "repl", stdin=":set -Wall\n", err="-X")


@test
def long_and_endless_input(d):
    # 40,000 lines within a bracket take time in proportion, and an answer.
    begin = time.monotonic()
    d.expect(0, "repl", stdin="(" + "1 +\n" * 40000 + "1)\n", out="40001\n")
    d.expect(0, "repl", stdin="{-" + "{-\n" * 40000 + "-}\n" * 40000 + "-} 1 + 1\n2\n", out="2\n2\n")
    d.expect(0, "repl", stdin="1 +\n" + "  1 +\n" * 20000 + "  1\n", out="20002\n")
    slow = 20 if os.environ.get("DFC_SLOW_BUILD") else 1
    assert time.monotonic() - begin < 30 * slow, time.monotonic() - begin
    # What never ends is ended.
    for endless in ("(echo 'f ='; yes '  1 +')", "cat /dev/zero", "yes | tr -d '\\n'", "(echo ':{'; yes 'f 1 = 2')"):
        with subprocess.Popen("%s | exec timeout 100 %s repl" % (endless, d.dfc), shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            out, err = run.communicate(timeout=120)
            assert run.returncode == 3 and not out and b"DF0829" in err, (endless, run.returncode, out[:100], err[:500])
    # A signal is heard in the middle of it.
    for text in (b"(" + b"1 +\n" * 100000, b"1 +\n"):
        with subprocess.Popen([d.dfc, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            run.stdin.write(text)
            run.stdin.flush()
            time.sleep(0.3)
            run.terminate()
            assert run.wait(timeout=10 * slow) == 130, run.returncode


@test
def an_unfinished_line_takes_nothing_along(d):
    # What begins in the first column after it is an input of its own.
    _, err = d.expect(1, "repl", stdin="y =\n1 + 1\nlet z =\n:type not\n2 +\n3 + 3\ndata X = X |\n8\n",
                      out="2\nnot :: Bool -> Bool\n6\n8\n")
    assert err.count("error[DF0816]") == 4, err


@test
def repl_commands(d):
    d.file("p.df", "fact n = if n == 1 then n else n * fact (n - 1)\n")
    fact = "fact :: (Eq a, Num a) => a -> a\n"
    d.expect(0, "repl", "p.df", stdin=":t fact\nfact 5\n", out=fact + "120\n")
    d.expect(0, "repl", stdin=":load p.df\n:ty fact\n:r\nfact 5\n:t 1 + 2\n", out=fact + "120\n1 + 2 :: Num a => a\n")
    out, _ = d.expect(0, "repl", "p.df", stdin=":graph fact\nfact 3\n:g\n:help\n:set\n")
    assert "Mul" in out and ":reload" in out and "timeout" in out
    d.expect(0, "repl", stdin=":engine reference\n1 + 1\n:e tagged\n1 + 1\n", out="reference\n2\ntagged\n2\n")
    d.expect(1, "repl", stdin=":nothing\n", err=":nothing")
    d.expect(1, "repl", stdin=":reload\n", err="no file")
    d.expect(1, "repl", stdin=":set timeout soon\n", err="timeout")
    d.expect(1, "repl", stdin=":load missing.df\n", err="missing.df")
    d.expect(3, "repl", stdin=":set timeout 200ms\nspin n = if n == 0 - 1 then 0 else spin (n + 1)\nspin 0\n1\n", out="1\n")


@test
def actions(d):
    """As in GHCi: an action is done, its value is printed and is `it`; it reads the stream that the prompt reads."""
    d.expect(0, "repl", stdin='putStrLn "a"\nprint 1 >> return 2\nit + 1\nreturn ()\nmapM print [1, 2]\n', out="a\n1\n2\n3\n1\n2\n[(),()]\n")
    d.expect(0, "repl", stdin="name <- getLine\nhello\nname\ngetLine\nyou\nit ++ name\n", out='"hello"\n"you"\n"youhello"\n')
    d.expect(0, "repl", stdin="(a, b) <- return (1, 2)\na + b\nf <- return (+ 1)\nf 4\nxs <- return [1 ..]\ntake 3 xs\nreturn (+)\n", out="3\n5\n[1,2,3]\n")
    # What is not used of a line is there for the next reader.
    d.expect(0, "repl", stdin="getChar\n12 + 1\nimport System.IO\nisEOF\n7\n", out="'1'\n3\nFalse\n7\n")
    d.expect(0, "repl", stdin="n <- readLn :: IO Int\n42\nn * 2\ns <- getContents\nrest\nof it\n", out="84\n")
    d.expect(1, "repl", stdin="Just z <- return Nothing\nz\n", err="user error (Pattern match failure in do expression at <repl>:1:1)")
    d.expect(1, "repl", stdin="w <- Just 3\n", err="DF0823")
    d.expect(1, "repl", stdin="import System.Exit\nexitWith (ExitFailure 3)\n1\n", out="1\n", err="DF0824")
    d.expect(0, "repl", stdin="import System.Environment\nas <- getArgs\nas\n", out="[]\n")
    d.expect(1, "repl", stdin="x <- fail \"no\"\nx\n", err="user error (no)")
    for engine in ("reference", "demand"):
        d.expect(0, "repl", stdin=":set engine " + engine + "\nx <- getLine\n5\nread x + 1\n", out="6\n")


@test
def references(d):
    """As in GHCi: what an action does to a reference or an array is done, once, and what looks at one later finds it so."""
    begin = "import Data.IORef\nr <- newIORef 0\nmodifyIORef r (+ 1)\n"
    for setting in ("", ":set optimize off\n", ":set engine reference\n", ":set engine demand\n", ":set engine expanding\n"):
        d.expect(0, "repl", stdin=setting + begin + "readIORef r\nit + 1\nx <- readIORef r\nwriteIORef r 9\nx\nreadIORef r\n", out="1\n2\n1\n9\n")
    # Functions that hold one, references in records and lists, references to references, what is lazy in one, arrays.
    d.expect(0, "repl", stdin=begin + "let inc = modifyIORef r (+ 1)\ninc >> inc\nf <- return (\\n -> modifyIORef r (* n) >> readIORef r)\nf 2\nf 2\n", out="6\n12\n")
    d.expect(0, "repl", stdin="import Data.IORef\ndata C = C { bump :: IO (), look :: IO Int }\n"
             "new = newIORef 0 >>= \\r -> return (C (modifyIORef r (+ 1)) (readIORef r))\nc <- new\nd <- new\nbump c\nbump c\nbump d\nlook c\nlook d\n", out="2\n1\n")
    d.expect(0, "repl", stdin="import Data.IORef\na <- newIORef 'a'\nb <- newIORef a\nc <- newIORef 'c'\nreadIORef b >>= \\q -> writeIORef q 'x'\nwriteIORef b c\n"
             "readIORef b >>= \\q -> modifyIORef q succ\nreadIORef a\nreadIORef c\n", out="'x'\n'd'\n")
    d.expect(0, "repl", stdin="import Data.IORef\nz <- newIORef (let xs = 1 : map (* 2) xs in xs)\nmodifyIORef z (drop 3)\ntake 2 <$> readIORef z\n"
             "u <- newIORef (undefined :: Int)\nwriteIORef u 3\nreadIORef u\n", out="[8,16]\n3\n")
    d.expect(1, "repl", stdin="import Data.Array.IO\na <- newArray (0, 2) 1 :: IO (IOUArray Int Int)\nwriteArray a 1 7\nwriteArray a 1 8 >> writeArray a 3 1\ngetElems a\n",
             out="[1,8,1]\n", err="Index (3) out of range")


@test
def what_was_done_to_references_stays_done(d):
    begin = "import Data.IORef\nimport System.Exit\nimport Control.Monad\nimport Control.Exception\nr <- newIORef 0\n"
    d.expect(1, "repl", stdin=begin + 'modifyIORef r (+ 1) >> fail "no" >> modifyIORef r (+ 1)\nreadIORef r\n', out="1\n", err="user error (no)")
    d.expect(1, "repl", stdin=begin + "writeIORef r 5 >> putStrLn (show (1 `div` 0)) >> writeIORef r 6\nreadIORef r\n", out="5\n", err="divide by zero")
    d.expect(1, "repl", stdin=begin + "writeIORef r 8 >> exitWith (ExitFailure 3)\nreadIORef r\n", out="8\n", err="DF0824")
    d.expect(1, "repl", stdin=begin + "writeIORef r 4 >> putStrLn \"\" >> print (let l = l :: Int in l)\nreadIORef r\n", out="\n4\n", err="<<loop>>")
    d.expect(0, "repl", stdin=begin + "try (writeIORef r 5 >> throwIO (ErrorCall \"x\")) :: IO (Either ErrorCall ())\nmodifyIORef r (+ 1)\nreadIORef r\n", out="Left x\n6\n")
    # By step where it was stopped.
    d.expect(3, "repl", stdin=begin + ":set timeout 1s\nforM_ [1 ..] (\\n -> writeIORef r n >> putStr \"\")\n:unset timeout\nv <- readIORef r\nv > 3\nw <- readIORef r\nv == w\n",
             out="True\nTrue\n", err="the time limit of 1 s is reached")
    # What it asked and wrote is neither asked nor written again.
    d.expect(0, "repl", stdin=begin + "getLine >>= \\l -> writeIORef r (fromIntegral (length l)) >> putStrLn l >> appendFile \"log\" l\nfour\nmodifyIORef r (* 2)\nreadIORef r\n"
             "readFile \"log\"\n", out='four\n8\n"four"\n')
    d.file("two.df", "import Data.IORef\ntwo = 2\n")
    d.expect(1, "repl", stdin=begin + ":load two.df\nr <- newIORef two\nreadIORef r\n:reload\nreadIORef r\n", out="2\n", err="DF0201")
    d.expect(1, "repl", stdin=begin + "x <- readIORef r\n:plot x\n", err="DF0827")


@test
def references_on_a_terminal(d):
    terminal = Terminal(d)
    terminal.wait_for(b"dfc> ")
    terminal.send(b"import Data.IORef\nr <- newIORef 40\nmodifyIORef r (+ 1)\nreadIORef r >>= writeIORef r . (+ 1)\nreadIORef r\n")
    terminal.wait_for(b"\n42")
    terminal.wait_for(b"dfc> ")
    time.sleep(0.3)
    terminal.send(b"\x04")
    assert terminal.exit_code() == 0


@test
def actions_on_a_terminal(d):
    terminal = Terminal(d)
    terminal.wait_for(b"dfc> ")
    terminal.send(b'putStr ("na" ++ "me? ") >> getLine >>= \\s -> return (s ++ "!")\n')
    terminal.wait_for(b"name? ")
    terminal.send(b"Ada\n")
    terminal.wait_for(b'"Ada!"')
    terminal.wait_for(b"dfc> ")
    time.sleep(0.3)
    terminal.send(b"\x04")
    assert terminal.exit_code() == 0


@test
def lines_pasted_with_an_action(d):
    # What the action does not read is for the prompt; the rest of a line that it reads in part is for the next action.
    terminal = Terminal(d)
    terminal.wait_for(b"dfc> ")
    terminal.send(b"y <- getLine\npasted line\ny\n20 + 3\n")
    terminal.wait_for(b'"pasted line"')
    terminal.wait_for(b"\n23")
    terminal.wait_for(b"dfc> ")
    terminal.send(b"getChar\n")
    time.sleep(0.3)
    terminal.send(b"abc\n")
    terminal.wait_for(b"'a'")
    terminal.wait_for(b"dfc> ")
    terminal.send(b"20 + 4\n")
    terminal.wait_for(b"\n24")
    terminal.wait_for(b"dfc> ")
    terminal.send(b"getLine\n")
    terminal.wait_for(b'"bc"')
    terminal.wait_for(b"dfc> ")
    time.sleep(0.3)
    terminal.send(b"\x04")
    assert terminal.exit_code() == 0


@test
def repl_on_a_terminal(d):
    terminal = Terminal(d)
    wait_for, send = terminal.wait_for, terminal.send
    wait_for(b"dfc> ")
    send(b"6 * 7\n")
    wait_for(b"42")
    wait_for(b"dfc> ")
    send(b"spin n = if n == 0 - 1 then 0 else spin (n + 1)\n")
    wait_for(b"dfc> ")
    send(b"spin 0\n")
    time.sleep(1)
    send(b"\x03")  # stops the evaluation, not the session
    wait_for(b"interrupted")
    wait_for(b"dfc> ")
    send(b"spin 12")
    time.sleep(0.3)
    send(b"\x03")  # gives the line up
    wait_for(b"dfc> ")
    send(b"let x = 1\n")
    wait_for(b"dfc> ")
    send(b"(1,\n")
    wait_for(b"...> ")
    send(b" 2)\n")
    wait_for(b"(1,2)")
    wait_for(b"dfc> ")
    send(b"data T = A\n")
    wait_for(b"dfc> ")
    send(b"  | B\n")
    wait_for(b"unexpected `|`")
    wait_for(b"between `:{` and `:}`")
    wait_for(b"dfc> ")
    send(b"import Data.Compl\t\n")  # completion
    send(b"magnitude (3 :+ 4)\n")
    wait_for(b"5.0")
    wait_for(b"dfc> ")
    send(b"fromIntegr\t 3 * 1.5\n")
    wait_for(b"4.5")
    wait_for(b"dfc> ")
    time.sleep(0.3)  # a key between the prompt and the editor's own mode is the terminal's
    send(b"\x04")
    assert terminal.exit_code() == 0
    assert b"6\\040*\\0407" in d.bytes("dfc/history")


@test
def info(d):
    d.file("p.df", "infixl 5 +++\na +++ b = a + b + 1\n")
    d.expect(0, "repl", "p.df", stdin=":info +++\n:i (+++)\n",
             out="(+++) :: Num a => a -> a -> a \t-- Defined at p.df:2:3\ninfixl 5 +++\n" * 2)
    d.expect(0, "repl", stdin="data T a = L | N { left :: T a, label :: !a } deriving Eq\n:info T\n:info L\n:info label\n",
             out="type T :: * -> *\ndata T a = L | N {left :: T a, label :: !a}\n  \t-- Defined at <repl>:1:6\n"
                 "instance Eq a => Eq (T a) -- Defined at <repl>:1:56\n"
                 "type T :: * -> *\ndata T a = L | ...\n  \t-- Defined at <repl>:1:6\n"
                 "type T :: * -> *\ndata T a = ... | N {left :: T a, label :: !a}\n  \t-- Defined at <repl>:1:6\n")
    # Sums and products of sizes stand in parentheses as arguments; a function of types says that it is one.
    d.expect(0, "repl", stdin="import NN\nf :: Linear Float (i + h) (3 * h) -> Maybe (TreeLSTM Float (2 * h)) -> Tensor Float [i + h]\nf = f\n:t f\n",
             out="f :: Linear Float (i + h) (3 * h) -> Maybe (TreeLSTM Float (2 * h)) -> Tensor Float [i + h]\n")
    out, _ = d.expect(0, "repl", stdin="import NN\n:info TreeLSTM\n")
    assert "data TreeLSTM a h = TreeLSTM !(Linear a (2 * h) (5 * h))\n" in out, out
    out, _ = d.expect(0, "repl", stdin="import NN\n:browse NN\n")
    assert "data ChildSum a i h = ChildSum {sumGates :: !(Linear a (i + h) (3 * h)), forgetGate :: !(Linear a (i + h) h)}\n" in out, out
    d.expect(0, "repl", stdin="import Gradient\n:info Tangent\n",
             out="type Tangent :: * -> *\ntype family Tangent a\n  \t-- Computed by the type checker: the real numbers of an `a`, `()` if it has none\n  \t-- Defined in `Gradient`\n")
    out, _ = d.expect(0, "repl", stdin="import Gradient\n:browse Gradient\n")
    assert "type family Tangent a\n" in out, out
    d.expect(0, "repl", stdin="class Box f where\n  open :: f a -> a\n  shut :: Eq a => a -> f a\n:info open\n:info Box\n",
             out="type Box :: (* -> *) -> Constraint\nclass Box f where\n  open :: f a -> a\n  ...\n"
                 "  \t-- Defined at <repl>:1:7\n"
                 "type Box :: (* -> *) -> Constraint\nclass Box f where\n  open :: f a -> a\n"
                 "  shut :: Eq a => a -> f a\n  \t-- Defined at <repl>:1:7\n")
    out, _ = d.expect(0, "repl", stdin=":info Maybe (,) String\n")
    for part in ("data Maybe a = Nothing | Just a\n", "instance Ord a => Ord (Maybe a) -- Defined in `", "data (,) a b = (,) a b\n",
                 "type String = [Char]\n"):
        assert part in out, (part, out)
    out, _ = d.expect(0, "repl", stdin=":info Show\n")
    assert "Show Int" in out and "Prim" not in out, out  # nor types that no program can name
    d.expect(1, "repl", stdin=":info mapp\n", err="did you mean `map`?")
    d.expect(1, "repl", stdin=":info\n", err="`:info` wants an argument")


@test
def kinds(d):
    d.expect(0, "repl", stdin="newtype Fix f = Fix (f (Fix f))\ntype Pair a = (a, a)\n:kind Fix\n:k Maybe\n:k Either Int\n:k Pair\n"
                              ":k Functor\n:k (->)\n:k String\n",
             out="Fix :: (* -> *) -> *\nMaybe :: * -> *\nEither Int :: * -> *\nPair :: * -> *\n"
                 "Functor :: (* -> *) -> Constraint\n(->) :: * -> * -> *\nString :: *\n")
    d.expect(1, "repl", stdin=":kind Maybe a\n", err="variable `a` is not bound")
    d.expect(1, "repl", stdin=":kind Maybe Maybe\n", err="1 | Maybe Maybe\n  |       ^^^^^")


@test
def browse(d):
    d.expect(0, "repl", stdin="x = 'c'\ndata T = A deriving Eq\nclass C a where m :: a -> Int\n:browse\n",
             out="type C :: * -> Constraint\nclass C a where\n  m :: a -> Int\ntype T :: *\ndata T = A\nx :: Char\n")
    d.expect(0, "repl", stdin="1 + 1\n2 + 2\n:browse\n", out="2\n4\nit :: Integer\n")
    out, _ = d.expect(0, "repl", stdin=":browse Prelude\n")
    assert "\nmap :: (a -> b) -> [a] -> [b]\n" in out and "prim" not in out, out
    d.expect(1, "repl", stdin=":browse Preludee\n", err="did you mean `Prelude`?")


@test
def modules(d):
    """The program's own modules, beside the file that was loaded; at first beside the prompt."""
    d.file("Counter.hs", "module Counter (Counter, zero, tick, (+++)) where\ninfixr 5 +++\nnewtype Counter = Counter Int deriving Show\n"
                         "zero = Counter 0\ntick :: Counter -> Counter\ntick (Counter n) = Counter (n + 1)\na +++ b = a - b\n")
    d.file("p.df", "import Counter\ntwice = tick . tick\nmain = twice zero\n")
    shown = "Counter 2\nCounter 1\n9\n"
    d.expect(0, "repl", "p.df", stdin="main\ntick zero\n10 +++ 3 +++ 2\n", out=shown)
    d.expect(0, "repl", stdin="import Counter\ntick (tick zero)\ntick zero\n10 +++ 3 +++ 2\n", out=shown)
    d.expect(0, "repl", stdin="import qualified Counter as C\n10 C.+++ 3 C.+++ 2\n", out="9\n")
    d.expect(0, "repl", "p.df", stdin=":browse Counter\n:info +++\n",
             out="(+++) :: Num a => a -> a -> a\ntype Counter :: *\nnewtype Counter = ...\ntick :: Counter -> Counter\nzero :: Counter\n"
                 "(+++) :: Num a => a -> a -> a \t-- Defined at Counter.hs:7:3\ninfixr 5 +++\n")
    # The loaded file is a module too, and is read once: what it declares stays one type.
    d.expect(0, "repl", "Counter.hs", stdin="start = tick zero\nimport Counter\ntick start\nimport qualified Counter as C\nC.tick start\n"
                                            "10 C.+++ 3 C.+++ 2\n", out="Counter 2\nCounter 2\n9\n")
    d.expect(0, "repl", "p.df", stdin="import qualified Counter as C\nC.tick (twice zero)\n", out="Counter 3\n")
    os.mkdir(os.path.join(d.path, "sub"))
    d.file("sub/Other.df", "module Other where\nother = 7\n")
    d.file("sub/q.df", "import Other\nx = other + 1\n")
    d.expect(0, "repl", stdin=":load sub/q.df\nx\n:reload\nother\n", out="8\n7\n")
    # What failed can be asked for again, and leaves no instances behind.
    d.file("Broken.hs", "module Broken where\ndata T = T\ninstance Show T where show _ = 'c'\n")
    _, err = d.expect(1, "repl", stdin="import Broken\nimport Broken\n1 + 1\n", out="2\n")
    assert err.count("Broken.hs:3:") >= 2 and "two instances" not in err, err


@test
def it_survives_a_failure(d):
    d.expect(1, "repl", stdin="1 + 1\n1 `div` (0 :: Int)\nit\nnope\nit + 1\n", out="2\n2\n3\n")


@test
def an_input_has_limits(d):
    """One whose compilation is ended leaves no trace, and the prompt goes on."""
    bomb = "; ".join(["x0 = \\y -> y"] + ["x%d = (x%d, x%d)" % (n, n - 1, n - 1) for n in range(1, 40)])
    _, err = d.expect(3, "repl", stdin="a <+> b = a - b\n:set timeout 500ms\n:{\ninfixr 2 <+>\nb = let { %s } in length [x39]\nc = 1\n:}\n9 <+> 3 <+> 2\nc\n7\n" % bomb,
                      out="4\n7\n", err="error[DF0835]: the time limit of 0.5 s is reached while the program is compiled")
    assert "`c` is not" in err or "DF0201" in err, err
    _, err = d.expect(3, "repl", stdin=":set max-memory 40M\nxs = [%s] :: [Int]\n1 + 1\nxs\n" % ", ".join(map(str, range(450000))), out="2\n",
                      err="error[DF0835]: the memory limit of ")


@test
def no_interrupt_is_lost(d):
    # Whenever it comes: it ends the start of the program, or it is told, and what is asked next is answered. Told is also what it
    # ended, where that was the compilation of an input (DF0835).
    text = b":{\ngo :: Int -> Int\ngo n = if n < 0 then 0 else go (n + 1)\n:}\ngo 0\n"
    for step in range(24):
        process = subprocess.Popen([d.dfc, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        killer = threading.Timer(60, process.kill)
        killer.start()
        process.stdin.write(text)
        time.sleep(0.005 * step)
        process.send_signal(signal.SIGINT)
        told = process.stderr.readline()
        if told:
            assert re.match(rb"error(\[DF\d+\])?: interrupted", told), told
            if told.strip() == b"error: interrupted" or b"dropped" in told:  # `go 0` may come after it
                time.sleep(0.5)
                process.send_signal(signal.SIGINT)
                while b"error: interrupted" not in (told := process.stderr.readline()):  # what the dropped lines were for
                    assert told, "no answer to the second interrupt"
            process.stdin.write(b"6 * 7\n")
            assert process.stdout.readline() == b"42\n", told
        process.stdin.close()
        code = process.wait()
        killer.cancel()
        assert code in ((130, 2, -2, 1, 0) if told else (130, -2)), (code, told)


@test
def what_is_told_as_interrupted_is_not_kept(d):
    count = 200
    text = "".join("f%d :: Int -> Int\nf%d x = if x < %d then case (x, x + 1) of { (a, b) -> a * b } else x - %d\n" % (i, i, i, i) for i in range(count))
    for step in range(8):
        process = subprocess.Popen([d.dfc, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        killer = threading.Timer(60, process.kill)
        killer.start()
        process.stdin.write(b"1\n")
        assert process.stdout.readline() == b"1\n"
        process.stdin.write((":{\n" + text + ":}\n").encode())
        time.sleep(0.02 * step)
        process.send_signal(signal.SIGINT)
        told = process.stderr.readline()
        process.stdin.write(b"f%d 1000\n\"end\"\n" % (count - 1))
        answer = process.stdout.readline()
        # It was ended; or done, and there was an interrupt; or dropped before it was read to its end, of which the rest may be an input too.
        fits = {b"error: interrupted\n": [b"801\n"]}.get(told, [b"801\n", b'"end"\n'] if b"dropped" in told else [b'"end"\n'])
        assert answer in fits, (told, answer)
        process.stdin.close()
        process.wait()
        killer.cancel()


@test
def settings(d):
    out, err = d.expect(0, "repl", stdin=":set +s +t\n1 + 1\n:unset +s\n'c'\n:unset +t\n7\n", out="2\nit :: Integer\n'c'\nit :: Char\n7\n")
    assert err.count(" secs, ") == 1, err
    out, _ = d.expect(0, "repl", stdin=":set max-memory 1M\n:set timeout=2s\n:set optimize off\n:unset timeout\n:set\n")
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()}
    assert (rows["max-memory"], rows["timeout"], rows["optimize"]) == ("1", "off", "off"), out
    d.expect(1, "repl", stdin=":set tineout 3\n", err="did you mean `timeout`?")
    d.expect(1, "repl", stdin=":unset nothing\n", err="no setting `nothing`")
    d.expect(1, "repl", stdin=":quit now\n1\n", out="1\n", err="`:quit` takes no argument")
    d.expect(1, "repl", stdin=":inffo map\n", err="did you mean `:info`?")


@test
def redefinition(d):
    """As in GHCi: what was defined before keeps the older meaning. Here the prompt says so."""
    _, err = d.expect(0, "repl", stdin="f x = x + 1\ng x = f x * 2\nf x = x + 100\ng 1\nf 1\n", out="4\n101\n")
    assert "warning[DF0819]: `f` is new: `g` still uses the older `f`" in err, err
    _, err = d.expect(0, "repl", stdin="data T = A deriving Show\nv = A\ndata T = B deriving Show\nv\nB\n", out="A\nB\n")
    assert "`T` is new: `v` still has the older `T`" in err, err
    _, err = d.expect(0, "repl", stdin="f x = x\nf x = x + 1\nf 1\n", out="2\n")
    assert err == "", err
    _, err = d.expect(0, "repl", stdin="f 0 = 1\nf n = n + 1\nf 0\n", out="1\n")
    assert "warning[DF0818]" in err and ":{" in err, err
    d.expect(0, "repl", stdin="class C a where m :: a -> Int\ninstance C Int where m x = x\ninstance C a => C [a] where m = sum . map m\n"
                              "m [1, 2 :: Int]\nk x = m [x]\n:t k\n", out="3\nk :: C a => a -> Int\n")


@test
def hints_at_the_prompt(d):
    # A line goes on with the open bracket in whatever column it begins.
    d.expect(0, "repl", stdin="(1 +\n2)\nsum [1,\n2,\n3]\nxs = map (+ 1)\n  [1, 2\n, 3\n]\nxs\n", out="3\n6\n[2,3,4]\n")
    for command, hint in (":show bindings", "`:browse`"), (":!ls", "shell"):
        d.expect(1, "repl", stdin=command + "\n", out="", err=hint)
    d.expect(1, "repl", stdin="f :: Int -> Int\n", err="a signature goes with its definition")
    d.expect(0, "repl", stdin="f ::\n  Int -> Int\nf x = x + 1\nf 2\n", out="3\n")
    d.expect(1, "repl", stdin="f :: Int -> Int\n\n1 + 1\n", out="2\n", err="a signature goes with its definition")
    d.expect(0, "repl", stdin="xs = [\n  1,\n  2\n]\nxs\nf (\n  x\n) = x\nf 3\n", out="[1,2]\n3\n")
    # A fixity by itself holds for the definition that follows.
    d.expect(0, "repl", stdin="infixr 5 -+\nx -+ y = x - y\n10 -+ 3 -+ 2\nx -+ y = x - y\n10 -+ 3 -+ 2\n", out="9\n5\n")
    # Places count the lines of the session.
    d.expect(1, "repl", stdin="x = 1\n:{\ny = 2\nz = nope\n:}\n", err="<repl>:4:5")


@test
def it_is_quick(d):
    """`1+1` in under 50 ms each, start-up included; the library is checked once per session."""
    def seconds(lines):
        begin = time.monotonic()
        d.expect(0, "repl", stdin="1+1\n" * lines, out="2\n" * lines)
        return time.monotonic() - begin
    once = min(seconds(1) for _ in range(5))
    many = min(seconds(200) for _ in range(2))
    slow = 20 if os.environ.get("DFC_SLOW_BUILD") else 1
    assert many / 200 < 0.05 * slow, many
    assert once < 0.5 * slow, once


@test
def completes_file_names(d):
    d.file("shapes.df", "area = 12\n")
    terminal = Terminal(d)
    terminal.wait_for(b"dfc> ")
    terminal.send(b":load sha\t\n")
    terminal.wait_for(b"loaded shapes.df")
    terminal.wait_for(b"dfc> ")  # what is typed earlier is read in another mode of the terminal
    terminal.send(b"area\n")
    terminal.wait_for(b"12")
    terminal.wait_for(b"dfc> ")
    time.sleep(0.3)
    terminal.send(b"\x04")
    assert terminal.exit_code() == 0


if __name__ == "__main__":
    main()
