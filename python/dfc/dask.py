"""dfc on Dask: docs/python.md, "Ray and Dask".

    results = dfc.dask.map("model.graph", "predict", pieces)    # a loaded graph in Dask's workers
    with dfc.dask.cluster(4) as cluster:                        # four `dfc worker`s, one run on all of them
        print(cluster.run("fib.graph", "--input", "n=40"))
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import distributed

from . import _remote
from .errors import Error

__all__ = ["Cluster", "cluster", "map"]


def _client(client: distributed.Client | None) -> distributed.Client:
    if client is not None:
        return client
    try:
        return distributed.default_client()
    except ValueError:
        raise Error("there is no client of Dask's: make one, distributed.Client(...), or hand one over") from None


def _calls(pieces, graph, entry, settings):
    call = _remote.caller(graph, entry, settings)
    return [call(piece) for piece in pieces]


def map(graph: Any, entry: str, xs: Iterable[Any], *, chunk: int = 1, client: distributed.Client | None = None, **settings: Any) -> list[Any]:
    """The results of an entry for each of `xs`, in their order. An entry with several parameters takes tuples.

    graph     a dfc.Program, its bytes, or a .graph file; each worker loads it once
    chunk     so many pieces go at once: a call of Dask's takes milliseconds
    settings  those of dfc.load; threads is 1 by default

    What a lost worker had is computed again by another one. The first failure ends the call.
    """
    graph, entry, settings_there = _remote.prepared(graph, entry, settings)
    client = _client(client)
    futures = client.map(_calls, list(_remote.chunks(xs, chunk)), graph=graph, entry=entry, settings=settings_there, pure=False)
    try:
        return [result for results in client.gather(futures) for result in results]
    finally:
        client.cancel(futures)


class _Worker:
    """An actor that owns a `dfc worker`."""

    def __init__(self, key, words):
        self._worker = _remote.WorkerProcess(key, urlsplit(distributed.get_worker().address).hostname or "127.0.0.1", words)

    def address(self):
        return self._worker.address if self._worker.alive() else None

    def processes(self):
        return os.getpid(), self._worker.pid

    def close(self):
        self._worker.close()


class Cluster(_remote.Cluster):
    """What cluster() gives: the workers' addresses, and runs on them."""

    def __init__(self, workers: int, words: list[str], wait: float, client: distributed.Client):
        key = _remote.new_key()
        super().__init__(key)
        self._futures = [client.submit(_Worker, key, words, actor=True, pure=False) for _ in range(workers)]
        try:
            self._actors = [future.result(timeout=wait) for future in self._futures]
        except distributed.TimeoutError:
            self.close()
            raise Error("the workers are not there within %g s: Dask has %d" % (wait, len(client.scheduler_info()["workers"]))) from None

    def _ask(self, method: str) -> list[Any]:
        """Of the actors that are there."""
        answers = []
        for actor in self._actors:
            try:
                answers.append(getattr(actor, method)().result(timeout=10))
            except Exception:  # Dask has no kind of its own for an actor that went with its worker
                continue
        return answers

    @property
    def addresses(self) -> list[str]:
        """Of the workers that are there: Dask starts no actor anew that was lost with its worker."""
        there = [address for address in self._ask("address") if address]
        if not there:
            raise Error("all workers of the cluster are lost")
        return there

    @property
    def processes(self) -> list[tuple[int, int]]:
        """Of each worker Dask's process, and its own."""
        return self._ask("processes")

    def _give_back(self) -> None:
        if hasattr(self, "_actors"):
            self._ask("close")
        for future in self._futures:
            future.cancel()


def cluster(workers: int, *, threads: int | None = None, max_memory: str | None = None, wait: float = 60, client: distributed.Client | None = None) -> Cluster:
    """So many `dfc worker`s, each owned by an actor of Dask's, and a key for them. `threads`, `max_memory`: what `dfc worker` takes."""
    if workers < 1:
        raise ValueError("there is one worker at least")
    words = (["--threads", str(threads)] if threads else []) + (["--max-memory", max_memory] if max_memory else [])
    return Cluster(workers, words, wait, _client(client))
