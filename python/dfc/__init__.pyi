import os
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from . import errors as errors
from ._native import Function as Function
from ._values import Progress as Progress
from .errors import CompileError as CompileError
from .errors import Diagnostic as Diagnostic
from .errors import Error as Error
from .errors import InputError as InputError
from .errors import Place as Place
from .errors import RunError as RunError

__version__: str

class _Settings(TypedDict, total=False):
    engine: Literal["tagged", "reference", "demand"] | None
    threads: int | None
    batch: int | None
    timeout: float | None
    max_memory: int | None
    max_frames: int | None
    device: str | None

class Program:
    warnings: tuple[Diagnostic, ...]
    types: SimpleNamespace
    functions: dict[str, Function]
    def __init__(self, graph: bytes, warnings: Iterable[Diagnostic] = ..., **settings: Unpack[_Settings]) -> None: ...
    def with_settings(self, **settings: Unpack[_Settings]) -> Program: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def __call__(self, *args: Any, **named: Any) -> Any: ...
    def __bytes__(self) -> bytes: ...
    def __getattr__(self, name: str) -> Function: ...

def load(path: str | os.PathLike[str], **settings: Unpack[_Settings]) -> Program: ...
def compile(
    source: str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    export: str | Iterable[str] = (),
    name: str = "main.df",
    module_folders: Iterable[str | os.PathLike[str]] = (),
    optimize: bool = True,
    compile_timeout: float = 0,
    **settings: Unpack[_Settings],
) -> Program: ...
