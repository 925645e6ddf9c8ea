"""The Jupyter kernel: cells in notebooks, as nbclient runs them, and what a front end asks."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
manager = pytest.importorskip("jupyter_client.manager")


@pytest.fixture(scope="module", autouse=True)
def kernelspec(tmp_path_factory):
    """The kernel, installed into a prefix of its own."""
    prefix = tmp_path_factory.mktemp("prefix")
    said = subprocess.run([sys.executable, "-m", "dfc.kernel", "install", "--prefix", str(prefix)], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    before = os.environ.get("JUPYTER_PATH")
    os.environ["JUPYTER_PATH"] = str(prefix / "share" / "jupyter")
    yield
    if before is None:
        del os.environ["JUPYTER_PATH"]
    else:
        os.environ["JUPYTER_PATH"] = before


def run(*cells, **how):
    """The outputs of each cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, kernel_name="dfc", timeout=120, **how).execute()
    return [cell.outputs for cell in notebook.cells]


def texts(outputs):
    return [output.get("text") or "\n".join(output.get("traceback", [])) or output["data"]["text/plain"] for output in outputs]


def test_cells():
    cells = run("f :: Int -> Int\nf 0 = 1\nf n = n * f (n - 1)\n\nf 5\nf 6",  # clauses on lines of their own, then two expressions
                "it + 1",
                "import Data.List\nsort [3, 1, 2]\n:type f",
                "putStrLn \"hello\"",
                "area r =\n  let square = r * r\n\n  in 3 * square\narea 2",
                "-- a comment\n",
                "even' 0 = True\neven' n = odd' (n - 1)\nodd' 0 = False\nodd' n = even' (n - 1)\neven' 10")
    assert texts(cells[0]) == ["120", "720"]
    assert [output.output_type for output in cells[0]] == ["execute_result"] * 2
    assert texts(cells[1]) == ["721"]
    assert texts(cells[2]) == ["[1,2,3]", "f :: Int -> Int\n"]
    assert cells[3][0].name == "stdout" and texts(cells[3]) == ["hello\n"]
    assert texts(cells[4]) == ["12"]
    assert cells[5] == []
    assert texts(cells[6]) == ["True"]


def test_failures_are_told_with_their_cell():
    cells = run("x = 1 + \"a\"\nx", "1 `div` 0\n2", "g :: Int -> Int\ng x = x `div` (x - x)", "g 1", "3", allow_errors=True)
    (first,) = cells[0]
    assert first.output_type == "error" and first.ename.startswith("DF0") and "In[1]:" in "\n".join(first.traceback)
    (second,) = cells[1]  # what follows a failure in its cell is not done
    assert second.ename == "run" and "divi" in second.evalue
    assert "In[3]:2" in "\n".join(cells[3][0].traceback)
    assert texts(cells[4]) == ["3"]


def test_pictures():
    graph, plot, numbers, none = run("fact n = if n == 1 then n else n * fact (n - 1)\nmain = fact (10 :: Int)\n:graph main",
                                     "data Row = Row { step :: Int, loss :: Double }\n:plot [Row n (1 / fromIntegral n) | n <- [1 .. 10]]",
                                     ":plot [1, 4, 9 :: Int]", ":plot \"text\"")
    assert "Call" in graph[0].data["text/plain"] if "text/plain" in graph[0].data else False
    import shutil

    if shutil.which("dot"):
        assert graph[0].data["image/svg+xml"].startswith("<svg")
    assert "polyline" in plot[0].data["image/svg+xml"] and ">loss<" in plot[0].data["image/svg+xml"]
    assert "polyline" in numbers[0].data["image/svg+xml"]
    assert "image/svg+xml" not in none[0].data and none[0].data["text/plain"] == '"text"'


class Talk:
    """A kernel and a client of it."""

    def __enter__(self):
        self.manager = manager.KernelManager(kernel_name="dfc")
        self.manager.start_kernel()
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)
        return self

    def __exit__(self, *_):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def execute(self, code, **how):
        said = []
        reply = self.client.execute_interactive(code, timeout=60, output_hook=said.append, **how)
        return reply["content"], [message for message in said if message["msg_type"] not in ("status", "execute_input")]


def test_what_a_front_end_asks():
    with Talk() as talk:
        client = talk.client
        talk.execute("answerOfAll = 42 :: Int")

        def ask(call, *words):
            call(*words)
            return client.get_shell_msg(timeout=60)["content"]

        got = ask(client.complete, "1 + answerO", 11)
        assert got["matches"] == ["answerOfAll"] and (got["cursor_start"], got["cursor_end"]) == (4, 11)
        got = ask(client.complete, ":ty", 3)
        assert got["matches"] == ["type"] and got["cursor_start"] == 1
        got = ask(client.inspect, "foldr (+) answerOfAll", 15)
        assert got["found"] and "answerOfAll :: Int" in got["data"]["text/plain"]
        assert not ask(client.inspect, "nothingHasThisName", 3)["found"]
        assert ask(client.is_complete, "f x = (1 +")["status"] == "incomplete"
        assert ask(client.is_complete, "1 + 1")["status"] == "complete"
        assert ask(client.is_complete, "1 + )")["status"] == "invalid"


def test_an_interrupt_ends_the_run_and_not_the_session():
    with Talk() as talk:
        talk.execute("kept = 7 :: Int\nspin :: Int -> Int\nspin n = if n < 0 then n else spin (n + 1)")
        threading.Timer(1.0, talk.manager.interrupt_kernel).start()
        began = time.monotonic()
        reply, said = talk.execute("spin 0")
        assert time.monotonic() - began < 10
        assert reply["status"] == "error" and "interrupted" in reply["evalue"]
        reply, said = talk.execute("kept")
        assert reply["status"] == "ok" and said[0]["content"]["data"]["text/plain"] == "7"


def test_input_is_asked_for():
    with Talk() as talk:
        asked = []

        def answer(message):
            asked.append(message)
            talk.client.input("Ada")

        reply, said = talk.execute("name <- getLine\nputStrLn (\"hello \" ++ name)", allow_stdin=True, stdin_hook=answer)
        assert reply["status"] == "ok" and len(asked) == 1
        assert "".join(m["content"].get("text", "") for m in said) == "hello Ada\n"


def test_a_session_that_dies_is_told():
    from dfc.kernel.session import Session, SessionEnded

    session = Session()
    assert session.ask("execute", code="1")["ok"]
    os.kill(session._process.pid, signal.SIGKILL)
    with pytest.raises(SessionEnded, match="exit code -9"):
        session.ask("execute", code="2")
    session.close()
