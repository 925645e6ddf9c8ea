"""What dfc.ray and dfc.dask share: a graph that goes to other processes, and a `dfc worker` that a process owns."""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import Program, _program
from .errors import Error, RunError


def graph_bytes(graph: Any) -> bytes:
    """The bytes of a program, of what dfc.Program.__bytes__ gave, or of a .graph file."""
    if isinstance(graph, Program):
        return bytes(graph)
    if isinstance(graph, (bytes, bytearray, memoryview)):
        return bytes(graph)
    with open(graph, "rb") as file:
        return file.read()


@functools.lru_cache(maxsize=4)
def caller(graph: bytes, entry: str, settings: tuple[tuple[str, Any], ...]) -> Callable[[Any], Any]:
    """A function of one piece, kept by its process: of an entry with several parameters a piece is the tuple of them."""
    program = Program(graph, **dict(settings))
    function = program.functions.get(entry or "main")
    if function is None:
        raise Error("the graph has no entry `%s`: it has %s" % (entry or "main", ", ".join(program.functions)))
    if len(inspect.signature(function).parameters) == 1:
        return function
    return lambda piece: function(*piece)


def prepared(graph: Any, entry: str, settings: dict[str, Any]) -> tuple[bytes, str, tuple[tuple[str, Any], ...]]:
    """What every process is given; a wrong graph, entry or setting is told here, before anything is sent."""
    given = graph_bytes(graph), entry, tuple(sorted(({"threads": 1} | settings).items()))
    caller(*given)
    return given


def chunks(xs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    if size < 1:
        raise ValueError("a chunk has one piece at least")
    chunk: list[Any] = []
    for x in xs:
        chunk.append(x)
        if len(chunk) == size:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def new_key() -> bytes:
    """The key of a cluster."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "key")
        done = subprocess.run([_program.path(), "keygen", "-o", file], capture_output=True, text=True)
        if done.returncode != 0:
            raise Error(done.stderr.strip())
        with open(file, "rb") as key:
            return key.read()


def write_key(folder: str, key: bytes) -> str:
    file = os.path.join(folder, "cluster.key")
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(key)
    return file


class WorkerProcess:
    """A `dfc worker` of this process. It ends with it, however that ends: what it reads comes to its end."""

    def __init__(self, key: bytes, host: str, words: list[str]):
        self._folder = tempfile.mkdtemp(prefix="dfc-worker-")
        self._log = open(os.path.join(self._folder, "log"), "w+b")
        command = [_program.path(), "worker", "--owned", "--listen", "tcp://%s:*" % host, "--key", write_key(self._folder, key), *words]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True)
        line = self._process.stdout.readline()
        if not line.startswith("listening on "):
            self._process.wait()
            self._log.seek(0)
            raise Error("the worker cannot start: " + self._log.read().decode("utf-8", "replace").strip())
        self.address = line.removeprefix("listening on ").strip()

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __del__(self):
        if hasattr(self, "_process"):
            self.close()


class Cluster:
    """`dfc worker`s whose processes another engine owns. A context manager: at its end they are given back."""

    def __init__(self, key: bytes):
        self._folder = tempfile.mkdtemp(prefix="dfc-cluster-")
        self.key = write_key(self._folder, key)

    @property
    def addresses(self) -> list[str]:
        """Of the workers that are there now."""
        raise NotImplementedError

    @property
    def words(self) -> list[str]:
        """What `dfc run FILE` takes to run on them."""
        return ["--workers", ",".join(self.addresses), "--key", self.key]

    def run(self, graph: Any, *words: str, timeout: float | None = None) -> str:
        """What `dfc run` prints, of a program, a .graph or a .df file; `words`: its options, as "--input", "n=30". The notes of a run, as that a worker was
        lost, are in `notes`."""
        file = graph
        if isinstance(graph, (Program, bytes, bytearray, memoryview)):
            file = os.path.join(self._folder, "run.graph")
            with open(file, "wb") as out:
                out.write(graph_bytes(graph))
        done = subprocess.run([_program.path(), "run", os.fspath(file), *self.words, *words], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        self.notes = done.stderr
        if done.returncode != 0:
            raise RunError(done.stderr.strip().removeprefix("error: ") or "exit code %d" % done.returncode)
        return done.stdout

    def _give_back(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        self._give_back()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
