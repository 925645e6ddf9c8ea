"""dfc on Ray: Ray places the processes, starts lost ones anew and scales; docs/python.md, "Ray and Dask".

    results = dfc.ray.map("model.graph", "predict", pieces)     # a loaded graph in actors
    with dfc.ray.cluster(8) as cluster:                         # eight `dfc worker`s, one run on all of them
        print(cluster.run("fib.graph", "--input", "n=40"))
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import ray
import ray.util
from ray.util.actor_pool import ActorPool

from . import _remote
from .errors import Error

__all__ = ["Actors", "Cluster", "actors", "cluster", "map"]


class _Caller:
    """An actor: the graph, loaded once."""

    def __init__(self, graph, entry, settings):
        self._call = _remote.caller(graph, entry, settings)

    def calls(self, pieces):
        return [self._call(piece) for piece in pieces]


class _Worker:
    """An actor that owns a `dfc worker`."""

    def __init__(self, key, words):
        self._worker = _remote.WorkerProcess(key, ray.util.get_node_ip_address(), words)

    def address(self):
        if not self._worker.alive():
            os._exit(1)  # Ray starts the actor anew, and with it a worker
        return self._worker.address

    def processes(self):
        return os.getpid(), self._worker.pid


def _raise(error: ray.exceptions.RayTaskError) -> None:
    """The exception of the graph itself, as a call in this process raises it."""
    if isinstance(error.cause, Error):
        raise error.cause from None
    raise error


class Actors:
    """What actors() gives: processes that hold a graph, for any number of maps. A context manager: at its end they go."""

    def __init__(self, given: tuple[Any, ...], count: int):
        kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Caller)
        self._actors = [kind.remote(*given) for _ in range(count)]

    def map(self, xs: Iterable[Any], *, chunk: int = 1) -> list[Any]:
        """The results for each of `xs`, in their order."""
        return self._map(list(_remote.chunks(xs, chunk)))

    def _map(self, pieces: list[list[Any]]) -> list[Any]:
        pool = ActorPool(self._actors)
        try:
            return [result for results in pool.map(lambda actor, piece: actor.calls.remote(piece), pieces) for result in results]
        except ray.exceptions.RayTaskError as error:
            _raise(error)
            raise

    def close(self) -> None:
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _processors() -> int:
    if not ray.is_initialized():
        ray.init()
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def actors(graph: Any, entry: str, count: int | None = None, **settings: Any) -> Actors:
    """So many actors with the graph loaded and one processor each, for several maps: by default as many as Ray has processors. The rest as of map()."""
    given = _remote.prepared(graph, entry, settings)
    there = _processors()
    if count is not None and count < 1:
        raise ValueError("there is one actor at least")
    return Actors(given, count or there)


def map(graph: Any, entry: str, xs: Iterable[Any], *, actors: int | None = None, chunk: int = 1, **settings: Any) -> list[Any]:
    """The results of an entry for each of `xs`, in their order. An entry with several parameters takes tuples.

    graph     a dfc.Program, its bytes, or a .graph file
    actors    how many processes, each with the graph loaded and one processor; default: as many as Ray has processors, or pieces to compute
    chunk     so many pieces go at once: for pieces of less than some milliseconds
    settings  those of dfc.load, for each actor; threads is 1 by default

    What a lost actor had is computed again by the one that Ray starts in its place. The first failure ends the call.
    """
    given = _remote.prepared(graph, entry, settings)
    pieces = list(_remote.chunks(xs, chunk))
    if actors is not None and actors < 1:
        raise ValueError("there is one actor at least")
    if not pieces:
        return []
    with Actors(given, min(actors or _processors(), len(pieces))) as there:
        return there._map(pieces)


class Cluster(_remote.Cluster):
    """What cluster() gives: the workers' addresses, and runs on them."""

    def __init__(self, workers: int, words: list[str], wait: float, options: dict[str, Any]):
        key = _remote.new_key()
        super().__init__(key)
        self._wait = wait
        kind = ray.remote(**({"num_cpus": 1, "max_restarts": -1, "max_task_retries": -1} | options))(_Worker)
        self._actors = [kind.remote(key, words) for _ in range(workers)]
        try:
            self.addresses
        except BaseException:
            self.close()
            raise

    def _ask(self, calls: list[Any]) -> list[Any]:
        there, missing = ray.wait(calls, num_returns=len(calls), timeout=self._wait)
        if missing:
            raise Error("%d of %d workers are there within %g s: Ray has %g processors" % (len(there), len(calls), self._wait, ray.cluster_resources().get("CPU", 0)))
        try:
            return ray.get(calls)
        except ray.exceptions.RayTaskError as error:
            _raise(error)
            raise
        except ray.exceptions.RayActorError as error:
            raise Error("a worker cannot be started: %s" % error) from None

    @property
    def addresses(self) -> list[str]:
        """Of all workers; one that was lost has a new one, of the worker that Ray has started in its place."""
        return self._ask([actor.address.remote() for actor in self._actors])

    @property
    def processes(self) -> list[tuple[int, int]]:
        """Of each worker its actor's process, and its own."""
        return self._ask([actor.processes.remote() for actor in self._actors])

    def _give_back(self) -> None:
        for actor in self._actors:
            ray.kill(actor)


def cluster(workers: int, *, threads: int | None = None, max_memory: str | None = None, wait: float = 60, **options: Any) -> Cluster:
    """So many `dfc worker`s, each owned by an actor of Ray's, and a key for them. `threads`, `max_memory`: what `dfc worker` takes; `options`: of ray.remote, as
    num_cpus or scheduling_strategy. Raises dfc.Error if they are not there within `wait` seconds."""
    if workers < 1:
        raise ValueError("there is one worker at least")
    if not ray.is_initialized():
        ray.init()
    words = (["--threads", str(threads)] if threads else []) + (["--max-memory", max_memory] if max_memory else [])
    return Cluster(workers, words, wait, options)
