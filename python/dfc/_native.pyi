from collections.abc import Callable
from inspect import Signature
from typing import Any

from ._values import Progress

class Function:
    """An entry of a program. It may be called by any number of threads at once."""

    __name__: str
    __qualname__: str
    __doc__: str
    __signature__: Signature
    __annotations__: dict[str, str]
    def __call__(self, *args: Any, **named: Any) -> Any: ...
    def progress(self) -> list[Progress]: ...

class NativeProgram:
    def __init__(self, graph: bytes) -> None: ...
    def entries(self) -> list[tuple[str, list[tuple[str, str, str, str, bool]], str, str]]: ...
    def function(self, name: str, settings: dict[str, Any]) -> Function: ...
    def classes(self) -> dict[str, type]: ...

def compile(source: str, name: str, folders: list[str], exports: list[str], optimize: bool, timeout: float) -> tuple[bytes | None, list[tuple[Any, ...]]]: ...
