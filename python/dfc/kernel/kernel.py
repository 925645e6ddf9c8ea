"""The kernel: Jupyter's messages on one side, a session on the other."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
from typing import Any

from ipykernel.kernelbase import Kernel

from .. import __version__
from . import pictures
from .session import Session, SessionEnded

# A name with qualifiers, or an operator.
_WORD = re.compile(r"(?:[A-Z][\w']*\.)*(?:[\w']+|[!#$%&*+./<=>?@\\^|~:-]+)")


def _name_at(code: str, cursor: int) -> str:
    for found in _WORD.finditer(code):
        if found.start() <= cursor <= found.end() and not (found.end() == cursor < len(code) and _WORD.match(code, cursor)):
            return found.group()
    return ""


def _replaced(before: str, words: list[str]) -> int:
    """How many characters at the end of `before` the words begin with."""
    start = os.path.commonprefix(words)
    return max((n for n in range(len(start) + 1) if before.endswith(start[:n])), default=0)


class DfcKernel(Kernel):
    implementation = "dfc"
    implementation_version = __version__
    language_info = {"name": "haskell", "mimetype": "text/x-haskell", "file_extension": ".df", "pygments_lexer": "haskell", "codemirror_mode": "haskell"}
    help_links = []

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self._session: Session | None = None

    @property
    def banner(self) -> str:
        return "dfc %s: definitions and expressions; `:help` lists the commands" % __version__

    def _open(self) -> Session:
        if self._session is None:
            self._session = Session()
        return self._session

    def _lost(self) -> None:
        self._session = None

    @contextlib.contextmanager
    def _interrupts_go_to(self, session: Session):
        """While a cell runs, Ctrl-C is the session's: it ends the run, and says so in its own words."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, lambda *_: session.interrupt())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _line(self) -> str:
        before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return self.raw_input() + "\n"
        except (EOFError, NotImplementedError):  # StdinNotImplementedError: a front end that has nobody to ask
            return ""
        finally:
            if before is not None:
                signal.signal(signal.SIGINT, before)

    def _send(self, kind: str, **content: Any) -> None:
        self.send_response(self.iopub_socket, kind, content)

    def _show(self, event: dict[str, Any]) -> None:
        """One event of a cell."""
        if event["event"] == "output":
            self._send("stream", name=event["stream"], text=event["text"])
        elif event["event"] == "result":
            self._send("execute_result", execution_count=self.execution_count, data={"text/plain": event["text"]}, metadata={"type": event["type"]})
        elif event["event"] == "picture":
            self._send("display_data", data=self._picture(event), metadata={})

    @staticmethod
    def _picture(event: dict[str, Any]) -> dict[str, str]:
        if event["format"] == "dot":
            svg, data = pictures.graph(event["dot"]), {"text/plain": event["text"]}
        else:
            value = event["value"]
            svg = pictures.plot(value, event["title"])
            data = {"text/plain": json.dumps(value)}
            table = pictures.table(value)
            if svg is None and table is not None:
                data["text/html"] = table
        return {"image/svg+xml": svg, **data} if svg is not None else data

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, *, cell_meta=None, cell_id=None):
        failure: list[dict[str, Any]] = []
        self._allow_stdin = allow_stdin

        def take(event):
            if event["event"] == "messages":
                errors = [row for row in event["rows"] if row.get("severity") == "error"]
                if errors:
                    failure.append({"ename": errors[0].get("code", "interrupted" if errors[0]["message"] == "interrupted" else "run"), "evalue": errors[0]["message"],
                                    "traceback": event["text"].rstrip("\n").split("\n")})
                elif not silent:
                    self._send("stream", name="stderr", text=event["text"])
            elif not silent:
                self._show(event)

        try:
            session = self._open()
            with self._interrupts_go_to(session):
                done = session.ask("execute", take, self._line, code=code, name="In[%d]" % self.execution_count)
        except (SessionEnded, OSError) as ended:
            self._lost()
            text = "%s\nwhat was defined is lost; the next cell begins a new session" % ended
            failure.append({"ename": "session", "evalue": str(ended), "traceback": text.split("\n")})
            done = {"ok": False}
        if not done["ok"]:
            told = failure[0] if failure else {"ename": "interrupted", "evalue": "interrupted", "traceback": ["error: interrupted"]}
            told["traceback"] = [line for each in failure for line in each["traceback"]] or told["traceback"]
            if not silent:
                self._send("error", **told)
            return {"status": "error", "execution_count": self.execution_count, **told}
        reply = {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}
        if done.get("quit"):
            self._lost()
            reply["payload"] = [{"source": "ask_exit", "keepkernel": False}]
        return reply

    def do_complete(self, code, cursor_pos):
        before = code[:cursor_pos]
        try:
            words = self._open().ask("words", before=before)["words"]
        except (SessionEnded, OSError):
            self._lost()
            words = []
        return {"status": "ok", "matches": words, "cursor_start": cursor_pos - _replaced(before, words), "cursor_end": cursor_pos, "metadata": {}}

    def do_inspect(self, code, cursor_pos, detail_level=0, omit_sections=()):
        name, text = _name_at(code, cursor_pos), ""
        if name:
            try:
                text = self._open().ask("info", name=name)["text"]
            except (SessionEnded, OSError):
                self._lost()
        return {"status": "ok", "found": bool(text), "data": {"text/plain": text} if text else {}, "metadata": {}}

    def do_is_complete(self, code):
        try:
            status = self._open().ask("complete", code=code)["complete"]
        except (SessionEnded, OSError):
            self._lost()
            status = "unknown"
        return {"status": status, "indent": "  "} if status == "incomplete" else {"status": status}

    def do_shutdown(self, restart):
        if self._session is not None:
            self._session.close()
            self._lost()
        return {"status": "ok", "restart": restart}
