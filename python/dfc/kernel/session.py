"""A session of `dfc repl --protocol=json` (docs/repl.md): requests, and the events that answer them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from typing import Any

from .. import _program


class SessionEnded(Exception):
    """The process is gone: killed, or ended by a fault of its own."""


class Session:
    def __init__(self, words: list[str] | None = None):
        self._said = tempfile.TemporaryFile()  # what no event is, as the last words of a process that ends
        # A session of its own: a signal for this process's group is not for it, which gets its interrupts from here.
        self._process = subprocess.Popen([*(words or [_program.path()]), "repl", "--protocol=json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said,
                                         start_new_session=True)
        self._left = b""
        self._count = 0
        self.version = self._event().get("version", "")

    def _event(self) -> dict[str, Any]:
        while b"\n" not in self._left:
            got = os.read(self._process.stdout.fileno(), 1 << 16)
            if not got:
                self._process.wait()
                self._said.seek(0)
                said = self._said.read().decode("utf-8", "replace").strip()
                raise SessionEnded("the session has ended, with exit code %d%s" % (self._process.returncode, ": " + said if said else ""))
            self._left += got
        line, self._left = self._left.split(b"\n", 1)
        return json.loads(line)

    def _send(self, request: dict[str, Any]) -> None:
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            pass  # its end is told by what is read next

    def ask(self, what: str, on_event: Callable[[dict[str, Any]], None] = lambda event: None, on_input: Callable[[], str] = lambda: "", **fields: Any) -> dict[str, Any]:
        """The event `done` of a request; the events before it go to `on_event`. `on_input` gives a line with its end, or "" at the end of the input; a
        KeyboardInterrupt of it interrupts the run."""
        self._count += 1
        self._send({"id": self._count, "do": what, **fields})
        while True:
            event = self._event()
            if event["event"] == "done":
                return event
            if event["event"] != "input":
                on_event(event)
                continue
            try:
                text = on_input()
            except KeyboardInterrupt:
                self.interrupt()
            else:
                self._send({"do": "input", "text": text})

    def interrupt(self) -> None:
        """Ends what runs; the session goes on."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def close(self) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._said.close()
