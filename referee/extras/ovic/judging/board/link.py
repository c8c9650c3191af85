# SPDX-License-Identifier: Apache-2.0
"""The link to a board's agent: a process of the SSH client, its pipes, and bounds on every wait."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import IO

from referee.errors import Unavailable
from referee.extras.ovic.judging.board.inbox import ALIVE_S
from referee.extras.ovic.judging.wire import message

_CHUNK = 65_536
_KEPT_ERRORS = 8_192
# A greeting of the board's shell, and the rows of the longest measurement.
_MOST_GREETING, _LONGEST_LINE = 65_536, 64 << 20
# Sending gives up when the board takes nothing for this long.
_STALLED_S = 30.0
# After the end of its input the agent empties its folder and ends.
_ENDING_S = 5.0

Explain = Callable[[int, str, str], str]
"""Says why the client ended: from its exit code, its standard error, and what was going on."""


class Link:
    """A connection whose owner sends messages and files, and receives messages.

    While the owner waits, the link tells the agent that it is still there. `board` names the board
    in messages. Each method raises Unavailable with a sentence when the link or the board fails.
    """

    def __init__(self, command: Sequence[str], board: str, explain: Explain) -> None:
        self._board = board
        self._explain = explain
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches us alone, and we end the agent in order.
        )
        self._stdin, self._stdout, self._stderr = map(_pipe, self._pipes())
        os.set_blocking(self._stdin.fileno(), False)
        self._selector = selectors.DefaultSelector()
        for pipe in (self._stdout, self._stderr):
            self._selector.register(pipe, selectors.EVENT_READ)
        self._unread, self._errors = b"", b""
        self._unsent = memoryview(b"")
        self._messages: deque[dict[str, object]] = deque()
        self._mark: str | None = None
        self._said_s = time.monotonic()

    def greet(self, mark: str, doing: str, wait_s: float) -> dict[str, object]:
        """Return the first message, which has this mark; skip what a shell writes before it."""
        self._mark = mark
        return self.receive(doing, wait_s)

    def send(self, content: bytes, doing: str) -> None:
        """Send bytes; end early if the agent has said something, which the caller should read."""
        self._unsent = memoryview(content)
        moved_s = time.monotonic()
        while self._unsent and not self._messages:
            before = len(self._unsent)
            self._turn(doing, moved_s + _STALLED_S)
            if len(self._unsent) < before:
                moved_s = time.monotonic()

    def receive(self, doing: str, wait_s: float) -> dict[str, object]:
        """Return the next message."""
        deadline_s = time.monotonic() + wait_s
        while not self._messages:
            self._turn(doing, deadline_s)
        return self._messages.popleft()

    def close(self) -> None:
        """End the connection: let the agent end by itself, and kill the client if it does not."""
        try:
            with contextlib.suppress(OSError):
                self._stdin.close()
            deadline_s = time.monotonic() + _ENDING_S
            # Nobody wants what still comes.
            with contextlib.suppress(Unavailable):
                while self._selector.get_map() and time.monotonic() < deadline_s:
                    self._read(deadline_s - time.monotonic())
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, deadline_s - time.monotonic()))
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._selector.close()
            self._stdout.close()
            self._stderr.close()

    def _pipes(self) -> tuple[IO[bytes] | None, ...]:
        return self._process.stdin, self._process.stdout, self._process.stderr

    def _turn(self, doing: str, deadline_s: float) -> None:
        """Send and receive what is possible now, or wait for it until the deadline."""
        now_s = time.monotonic()
        if now_s >= deadline_s:
            raise Unavailable(f"{self._board}: the board did not answer in time while {doing}")
        if not self._unsent and now_s >= self._said_s + ALIVE_S:
            self._unsent = memoryview(message("alive"))
        wait_s = min(deadline_s, self._said_s + ALIVE_S) - now_s
        if self._unsent:
            self._write()
            # Who has sent everything may have more to send, and waits for nothing.
            wait_s = wait_s if self._unsent else 0.0
        self._read(wait_s)
        if not self._selector.get_map() and not self._messages:
            raise Unavailable(self._explain(self._end(), self._text_of_errors(), doing))

    def _write(self) -> None:
        try:
            sent = os.write(self._stdin.fileno(), self._unsent[:_CHUNK])
            self._unsent = self._unsent[sent:]
            self._said_s = time.monotonic()
        except BlockingIOError:
            pass
        except BrokenPipeError:
            # The client has ended. What it leaves to read says why.
            self._unsent = memoryview(b"")
            self._said_s = time.monotonic()
        if self._unsent:
            self._selector.register(self._stdin, selectors.EVENT_WRITE)

    def _read(self, wait_s: float) -> None:
        """Wait for something to read, or for room to write; read what is there."""
        ready = [key.fileobj for key, _ in self._selector.select(max(0.0, wait_s))]
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(self._stdin)
        for pipe in (self._stdout, self._stderr):
            if pipe not in ready:
                continue
            chunk = os.read(pipe.fileno(), _CHUNK)
            if not chunk:
                self._selector.unregister(pipe)
            elif pipe is self._stderr:
                self._errors = (self._errors + chunk)[-_KEPT_ERRORS:]
            else:
                self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        *lines, self._unread = (self._unread + chunk).split(b"\n")
        for line in lines:
            message = _message(line)
            if self._mark is not None and (message or {}).get("mark") != self._mark:
                continue
            if message is None:
                raise Unavailable(f"{self._board}: the agent sent a line that is no message")
            self._mark = None
            self._messages.append(message)
        if len(self._unread) > (_LONGEST_LINE if self._mark is None else _MOST_GREETING):
            raise Unavailable(f"{self._board}: the agent sent a line without an end")

    def _end(self) -> int:
        try:
            return self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{self._board}: the SSH client does not end") from None

    def _text_of_errors(self) -> str:
        return self._errors.decode("utf-8", "replace")


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("a process has no pipes though it was asked for them")
    return pipe


def _message(line: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and isinstance(value.get("event"), str) else None
