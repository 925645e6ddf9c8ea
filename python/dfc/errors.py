"""What goes wrong, as exceptions. All are dfc.Error."""

from __future__ import annotations

from dataclasses import dataclass, field


class Error(Exception):
    """All that this package raises of its own: a file that is no graph, besides what is below."""


class InputError(Error, TypeError, ValueError):
    """A value of Python that the parameter's type does not take."""


@dataclass(frozen=True)
class Place:
    """A line of a call path, innermost first: where it failed, then each call that led there."""

    what: str  # "at", "called at", "... 9,980 more calls ..."
    file: str  # "" if it is not known, as line and column are then 0
    line: int
    column: int
    function: str
    left_out: int = 0  # the line stands for so many calls


class RunError(Error, RuntimeError):
    """A run that failed. `message` is what failed, `path` where, str() all of it as dfc prints it."""

    kind = "error"

    def __init__(self, text: str, message: str = "", path: tuple[Place, ...] = ()):
        super().__init__(text)
        self.message = message or text
        self.path = path

    @property
    def place(self) -> Place | None:
        return self.path[0] if self.path else None


class DivideByZeroError(RunError, ZeroDivisionError):
    kind = "divide by zero"


class ArithmeticOverflowError(RunError, OverflowError):
    kind = "overflow"


class UserError(RunError):
    """`error`, and what the library says with it."""

    kind = "user"


class NoMatchError(RunError):
    """No pattern matched."""

    kind = "no match"


class RangeError(RunError, LookupError):
    kind = "range"


class LoopError(RunError):
    """A value that needs itself."""

    kind = "loop"


class LimitError(RunError):
    kind = "limit"


class MemoryLimitError(LimitError, MemoryError):
    pass


class FrameLimitError(LimitError, RecursionError):
    pass


class TimeLimitError(LimitError):
    pass


class InterruptedRunError(RunError):
    kind = "interrupted"


class HostError(RunError):
    """What the calling program did wrong: an input that is not set."""

    kind = "host"


class InternalError(RunError):
    kind = "internal"


# By RunStatus and Failure::Code of runtime/embed/embed.h.
_OF_STATUS = {2: MemoryLimitError, 3: FrameLimitError, 4: TimeLimitError, 5: InterruptedRunError, 6: InternalError}
_OF_CODE = {1: DivideByZeroError, 2: ArithmeticOverflowError, 3: UserError, 4: NoMatchError, 5: RangeError, 6: LoopError,
            7: LimitError, 8: InterruptedRunError, 9: HostError, 10: InternalError}


def run_error(status: int, code: int, message: str, path: list, text: str) -> RunError:
    kind = _OF_STATUS.get(status) or _OF_CODE.get(code, RunError)
    return kind(text.removeprefix("error: "), message, tuple(Place(*line) for line in path))


@dataclass(frozen=True)
class Span:
    """Lines and columns from 1, in characters; the end is behind the last one. Line 0: there is no place."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler, in its parts."""

    code: str  # "DF0203"
    severity: str  # "error", "warning"
    message: str
    span: Span
    notes: tuple[tuple[str, Span], ...] = field(default=())
    hint: str = ""  # how to mend it
    text: str = ""  # all of it, with the line of the source, as dfc prints it

    def __str__(self) -> str:
        return self.text or self.message


class CompileError(Error):
    """A source that is wrong. `diagnostics` has what the compiler says, warnings too."""

    def __init__(self, diagnostics, advice=""):
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        self.advice: str = advice  # what a caller from Python can do about it
        text = "\n".join(str(d).rstrip() for d in self.diagnostics) or "the source cannot be compiled"
        super().__init__(text + ("\n" + advice if advice else ""))

    def __reduce__(self):
        return CompileError, (self.diagnostics, self.advice)


def diagnostic(code, is_error, message, span, notes, hint, text) -> Diagnostic:
    return Diagnostic(code, "error" if is_error else "warning", message, Span(*span), tuple((note, Span(*at)) for note, at in notes), hint, text)
