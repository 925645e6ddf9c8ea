#!/usr/bin/env python3
"""What `dfc repl --protocol=json` promises a program that talks to it. One function per promise.

    protocol.py --dfc build/dfc [--only NAME]
"""

import itertools
import json
import signal
import subprocess
import time

from promises import main, test


class Session:
    def __init__(self, d):
        self.process = subprocess.Popen([d.dfc, "repl", "--protocol=json"], cwd=d.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ready = self.event()
        assert self.ready["event"] == "ready" and self.ready["protocol"] == 1, self.ready

    def send(self, request):
        self.process.stdin.write((request if isinstance(request, bytes) else json.dumps(request).encode()) + b"\n")
        self.process.stdin.flush()

    def event(self):
        line = self.process.stdout.readline()
        assert line, "the session has ended: %s" % self.process.stderr.read().decode()
        return json.loads(line)

    def rest(self):
        """The events up to the one that is `done`."""
        events = [self.event()]
        while events[-1]["event"] != "done":
            events.append(self.event())
        return events

    def ask(self, what, **fields):
        self.send({"id": 1, "do": what, **fields})
        return self.rest()

    def run(self, code):
        return self.ask("execute", code=code, name="cell")

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(20)
        said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        assert code == 0 and not said, (code, said)


def without_id(events):
    return [{key: value for key, value in event.items() if key != "id"} for event in events]


DONE = {"event": "done", "ok": True, "code": 0}


@test
def a_reference_is_what_earlier_cells_made_it(d):
    s = Session(d)
    assert s.run("import Data.IORef\nr <- newIORef 0\nmodifyIORef r (+ 1)\nx <- readIORef r") == [dict(DONE, id=1)]
    assert without_id(s.run("modifyIORef r (+ 1)\n(x, 'a')")) == [{"event": "result", "text": "(1,'a')", "type": "(Integer, Char)"}, DONE]
    assert without_id(s.run("readIORef r")) == [{"event": "output", "stream": "stdout", "text": "2\n"}, DONE]
    s.end()


@test
def a_value_has_its_type(d):
    s = Session(d)
    assert without_id(s.run("1 + 1")) == [{"event": "result", "text": "2", "type": "Integer"}, DONE]
    assert without_id(s.run("x = [True]\n(x, it)")) == [{"event": "result", "text": "([True],2)", "type": "([Bool], Integer)"}, DONE]
    assert without_id(s.run("")) == [DONE]
    assert all(event["id"] == 1 for event in s.run("3"))
    s.end()


@test
def definitions_that_follow_each_other_are_one_input(d):
    s = Session(d)
    events = s.run("f :: Int -> Int\nf 0 = 1\n\nf n = n * f (n - 1)\ninfixl 6 <+>\na <+> b = f a + b\nf 3 <+> 1\n:{\nlet\n  y = 5\n:}\ny")
    assert [event["text"] for event in events[:-1]] == ["721", "5"], events
    # An import counts for what stands below it, and a `where` in the first column belongs to what is above.
    events = s.run("import Data.List (sort)\ng xs = sort ys\n where\n  ys = xs\ng [2, 1]")
    assert [event["text"] for event in events[:-1]] == ["[1,2]"], events
    s.end()


@test
def messages_have_text_and_parts(d):
    s = Session(d)
    messages, done = s.run("\n1 + 'a'\n2")
    assert messages["event"] == "messages" and not done["ok"] and done["code"] == 1
    (row,) = messages["rows"]
    assert row["severity"] == "error" and row["code"].startswith("DF") and (row["file"], row["line"]) == ("cell", 2), row
    assert "cell:2" in messages["text"] and messages["text"].startswith("error[DF"), messages
    output, messages, done = s.run("[1, 2 `div` 0]")
    assert output == {"id": 1, "event": "output", "stream": "stdout", "text": "[1,\n"}, output
    assert messages["rows"][0]["phase"] == "run" and "div" in messages["rows"][0]["message"], messages
    # What failed left everything as it was, and warnings are no failures.
    messages, done = s.run("h (Just x) = x")
    assert messages["rows"][0]["severity"] == "warning" and done["ok"]
    s.end()


@test
def what_is_written_comes_as_it_is(d):
    s = Session(d)
    events = s.run("import System.IO\nputStr \"a\\228\\8364\" >> hPutStrLn stderr \"b\" >> putStrLn \"c\"")
    said = [(stream, "".join(e["text"] for e in group)) for stream, group in itertools.groupby(events[:-1], lambda e: e["stream"])]
    assert said == [("stdout", "a\u00e4\u20ac"), ("stderr", "b\n"), ("stdout", "c\n")], events
    # A value whose text is large goes out in parts.
    events = s.run("replicate 400000 'x'")
    assert events[-1]["ok"] and "".join(e["text"] for e in events[:-1]) == '"' + "x" * 400000 + '"'
    events = s.run("concatMap show [1 .. 400000 :: Int]")
    assert events[-1]["ok"] and len("".join(e["text"] for e in events[:-1])) > 2000000 and events[0]["event"] == "output"
    s.end()


@test
def input_is_asked_for(d):
    s = Session(d)
    s.send({"id": 7, "do": "execute", "code": "a <- getLine\nb <- getLine\nputStrLn (b ++ a)"})
    assert s.event() == {"id": 7, "event": "input"}
    s.send({"do": "input", "text": "one\n"})
    assert s.event()["event"] == "input"
    s.send({"do": "input", "text": "two\n"})
    events = s.rest()
    assert events[0]["text"] == "twoone\n" and events[-1]["ok"], events
    # The end of it: an error of the program's, which has its words for it.
    s.send({"id": 8, "do": "execute", "code": "getLine"})
    assert s.event()["event"] == "input"
    s.send({"do": "input", "text": ""})
    messages, done = s.rest()
    assert "end of file" in messages["text"] and not done["ok"], messages
    s.end()


@test
def an_interrupt_ends_the_run_and_nothing_else(d):
    s = Session(d)
    s.run("kept = 7 :: Int")
    for code in ("length [1 ..]", "getLine", "foldr (\\n m -> n + m) 0 [1 ..]"):
        s.send({"id": 2, "do": "execute", "code": code + "\n8"})
        if code == "getLine":
            assert s.event()["event"] == "input"
        time.sleep(0.5)
        s.process.send_signal(signal.SIGINT)
        events = s.rest()
        assert not events[-1]["ok"] and events[-1]["code"] == 130 and "interrupted" in events[0]["text"], events
        assert s.run("kept")[0]["text"] == "7"
    # One that comes while nothing runs is nobody's.
    s.process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert s.run("kept")[0]["text"] == "7"
    s.end()


@test
def questions_of_an_editor(d):
    s = Session(d)
    complete = lambda code: s.ask("complete", code=code)[0]["complete"]
    for code, wanted in (("1 + 1", "complete"), ("f x = (", "incomplete"), ("let", "incomplete"), ("1 )", "invalid"), (":type f", "complete"), ("", "complete"),
                         ("f x = y\n  where", "incomplete"), ("f x = y\n  where y = 1", "incomplete"), ("f x = y\n  where y = 1\n", "complete")):
        assert complete(code) == wanted, (code, complete(code))
    assert s.ask("words", before="x + repl")[0]["words"] == ["replicate"]
    assert s.ask("words", before="1\n:gr")[0]["words"] == ["graph"]
    assert s.ask("info", name="foldr")[0]["text"].count("foldr ::") == 1
    assert s.ask("info", name="nothing'")[0]["text"] == ""
    s.end()


@test
def pictures(d):
    s = Session(d)
    s.run("fact n = if n == 1 then n else n * fact (n - 1)\nfact (3 :: Int)")
    picture, done = s.run(":graph it")
    assert picture["event"] == "picture" and picture["format"] == "dot" and picture["dot"].startswith("digraph") and "scope" in picture["text"], picture
    picture, done = s.run("data R = R { step :: Int, loss :: Double }\n:plot [R 1 0.5, R 2 (0 / 0)]")
    assert picture["format"] == "records" and picture["value"] == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": None}], picture
    messages, done = s.run(":plot putStrLn \"a\"")
    assert not done["ok"] and "an action has no value" in messages["text"], messages
    messages, done = s.run(":plot [1 `div` 0]")
    assert not done["ok"] and "div" in messages["text"], messages
    s.end()


@test
def what_is_no_request(d):
    s = Session(d)
    for line, message in ((b"{", "a request is no JSON"), (b"[1]", "a request is no object"), (b'{"do": "fly"}', "there is no request `fly`"), (b"{}", "there is no request ``"),
                          (b"\xff\xfe", "a request is no JSON"), (b"[" * 17000000, "longer than the 16 MiB")):
        s.send(line)
        (done,) = s.rest()
        assert not done["ok"] and message in done["message"], done
    assert s.run("1")[0]["text"] == "1"
    s.send({"do": "quit"})
    s.rest()
    assert s.process.wait(20) == 0
    s.end()


@test
def a_file_comes_first(d):
    d.file("a.df", "twice x = x + x\n")
    process = subprocess.run([d.dfc, "repl", "--protocol=json", "a.df"], cwd=d.path, input=b'{"do":"execute","code":"twice 4"}\n', capture_output=True, timeout=60)
    events = [json.loads(line) for line in process.stdout.splitlines()]
    assert process.returncode == 0 and events[1]["text"] == "8", (events, process.stderr)
    # What is wrong with it is told before `ready`.
    d.file("b.df", "x = 1 +\n")
    process = subprocess.run([d.dfc, "repl", "--protocol=json", "b.df"], cwd=d.path, input=b"", capture_output=True, timeout=60)
    events = [json.loads(line) for line in process.stdout.splitlines()]
    assert [event["event"] for event in events] == ["messages", "ready"], events


@test
def plots_at_the_prompt_are_lines_of_json(d):
    d.expect(0, "repl", stdin="data R = R { a :: Int, b :: Maybe Double }\n:plot [R 1 (Just 0.5), R 2 Nothing]\n:plot (1, 'x')\n",
             out='{"a":1,"b":0.5}\n{"a":2,"b":null}\n1\n"x"\n')


if __name__ == "__main__":
    main()
