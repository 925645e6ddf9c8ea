"""Functions of a Haskell-like language, compiled to a static dataflow graph, called from Python.

    import dfc
    program = dfc.compile("square :: Double -> Double\\nsquare x = x * x\\n", export=["square"])
    program.square(3.0)

docs/python.md has values, errors and threads.
"""

from __future__ import annotations

import difflib
import inspect
import os
import types
from collections.abc import Iterable
from typing import Any

from . import errors
from ._native import Function, NativeProgram
from ._native import compile as _compile
from ._values import Progress
from .errors import CompileError, Diagnostic, Error, InputError, Place, RunError

__all__ = ["CompileError", "Diagnostic", "Error", "Function", "InputError", "Place", "Program", "Progress", "RunError", "compile", "errors", "load"]
__version__ = "0.1.0"


class Program:
    """A graph that is loaded. Its entries are attributes; one that was compiled without entries has `main`, and is called itself.

    `types` has the classes of its records, `functions` the entries by name, `warnings` what the compiler said.
    """

    def __init__(self, graph: bytes, warnings: Iterable[Diagnostic] = (), **settings: Any):
        self.warnings = tuple(warnings)
        self._graph = bytes(graph)
        self._native = NativeProgram(self._graph)
        self._settings = settings
        self.types = types.SimpleNamespace(**self._native.classes())
        self.functions: dict[str, Function] = {}
        for entry in self._native.entries():
            function = self._function(entry, settings)
            self.functions[function.__name__] = function
            if not hasattr(self, function.__name__):
                setattr(self, function.__name__, function)

    def _function(self, entry, settings):
        name, inputs, result, annotation = entry
        function = self._native.function(name, settings)
        shown = name or "main"
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters, optional = [], True
        for parameter, _, _, wanted, maybe in reversed(inputs):
            optional = optional and maybe  # Python has none without a default behind one with it
            parameters.append(inspect.Parameter(parameter, kind, annotation=wanted, default=None if optional else inspect.Parameter.empty))
        parameters.reverse()
        function.__name__ = function.__qualname__ = shown
        function.__module__ = "dfc"
        function.__signature__ = inspect.Signature(parameters, return_annotation=annotation)
        function.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": annotation}
        function.__doc__ = "%s :: %s" % (shown, " -> ".join([_as_argument(kind) for _, _, kind, _, _ in inputs] + [result]))
        return function

    def with_settings(self, **settings: Any) -> Program:
        """The same program, run with other settings; those that are not named stay."""
        return Program(self._graph, self.warnings, **(self._settings | settings))

    def __call__(self, *args: Any, **named: Any) -> Any:
        if "main" not in self.functions:
            raise TypeError("the program has no `main`: it has %s" % ", ".join(self.functions))
        return self.functions["main"](*args, **named)

    def __bytes__(self) -> bytes:
        return self._graph

    def save(self, path: str | os.PathLike) -> None:
        """Writes the .graph file that `dfc run` and load take."""
        with open(path, "wb") as file:
            file.write(self._graph)

    def __reduce__(self):
        return _again, (self._graph, self.warnings, self._settings)

    def __repr__(self) -> str:
        return "<dfc program: %s>" % "; ".join(function.__doc__ for function in self.functions.values())


def _again(graph, warnings, settings):
    return Program(graph, warnings, **settings)


def _as_argument(kind: str) -> str:
    return "(%s)" % kind if " -> " in kind else kind


# What runs of a program may be told (python/module.cpp reads them).
SETTINGS = ("engine", "threads", "batch", "timeout", "max_memory", "max_frames", "device")


def load(path: str | os.PathLike, **settings: Any) -> Program:
    """The program of a .graph file. Settings: engine, threads, batch, timeout (seconds), max_memory (bytes), max_frames, device."""
    with open(path, "rb") as file:
        graph = file.read()
    try:
        return Program(graph, **settings)
    except Error as error:
        raise Error("%s: %s" % (os.fspath(path), error)) from None


def compile(source: str | None = None, *, path: str | os.PathLike | None = None, export: str | Iterable[str] = (), name: str = "main.df",
            module_folders: Iterable[str | os.PathLike] = (), optimize: bool = True, compile_timeout: float = 0, **settings: Any) -> Program:
    """The program of a source, which is given or read from `path`. `export` names the definitions that are called; none: `main`.

    Raises CompileError, whose `diagnostics` are what the compiler says. Settings are those of load.
    """
    if (source is None) == (path is None):
        raise TypeError("compile takes a source or a path")
    if path is not None:
        name = os.fspath(path)
        with open(path, encoding="utf-8") as file:
            source = file.read()
    for given in settings:
        if given not in SETTINGS:  # before the source is looked at: a misspelt `export` would be told as a source without `main`
            near = difflib.get_close_matches(given, ("path", "export", "name", "module_folders", "optimize", "compile_timeout", *SETTINGS), 1)
            raise TypeError("compile: there is no setting `%s`%s" % (given, ": did you mean `%s`?" % near[0] if near else ""))
    exports = [export] if isinstance(export, str) else list(export)
    graph, said = _compile(source, name, [os.fspath(folder) for folder in module_folders], exports, optimize, compile_timeout)
    diagnostics = [errors.diagnostic(*told) for told in said]
    if graph is None:
        lacks_main = not exports and any(each.code == "DF0804" for each in diagnostics)
        raise CompileError(diagnostics, "name the definitions that are called, as in `dfc.compile(source, export=[\"f\"])`" if lacks_main else "")
    return Program(graph, diagnostics, **settings)
