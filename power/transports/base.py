# SPDX-License-Identifier: Apache-2.0
"""The seam between the driver and a wire: write, read, clear, close, and a log of all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, TextIO

from power.errors import MeterError

Clock = Callable[[], float]
UtcClock = Callable[[], datetime]


class Transport(Protocol):
    """Carry messages to one meter and its replies back.

    `write` and `read` raise `MeterSilent` when the time is over and `MeterUnreachable` when the
    link is gone. Not safe for several threads.
    """

    name: str

    def write(self, message: str) -> None:
        """Send one program message; the transport adds the terminator."""
        ...

    def read(self, timeout_s: float) -> bytes:
        """Return one whole reply, terminator included, within the time-out."""
        ...

    def clear(self) -> None:
        """Throw away whatever was sent or received and not yet used, as far as the wire can."""
        ...

    def close(self) -> None:
        """Release the link; safe to call twice."""
        ...


class WireLog:
    """Append every event of a conversation to a file of JSON lines.

    A line has `utc`, `monotonic_s`, `event` (`open`, `sent`, `received`, `cleared`, `failed`,
    `closed`) and `text`, or `hex` for bytes that are no text. Each line is flushed, so that what
    was said survives a killed process.
    """

    def __init__(self, path: Path, clock: Clock, utc: UtcClock) -> None:
        self._file: TextIO = open(path, "a", encoding="utf-8")
        self._clock = clock
        self._utc = utc

    def __enter__(self) -> WireLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def note(self, event: str, content: str | bytes) -> None:
        """Write one line; `content` is a message, a reply or a reason."""
        line: dict[str, Any] = {
            "utc": self._utc().isoformat(timespec="microseconds"),
            "monotonic_s": round(self._clock(), 6),
            "event": event,
        }
        if isinstance(content, str):
            line["text"] = content
        elif all(32 <= byte < 127 or byte in b"\r\n" for byte in content):
            line["text"] = content.decode("ascii")
        else:
            line["hex"] = content.hex()
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        self._file.close()


class LoggedTransport:
    """Pass everything through to another transport and note it in a wire log, which it owns."""

    def __init__(self, inner: Transport, log: WireLog) -> None:
        self.name = inner.name
        self._inner = inner
        self._log = log
        self._open = True
        log.note("open", inner.name)

    def write(self, message: str) -> None:
        """Send and note one message; it is noted before it leaves."""
        self._log.note("sent", message)
        try:
            self._inner.write(message)
        except MeterError as error:
            self._log.note("failed", f"{type(error).__name__}: {error}")
            raise

    def read(self, timeout_s: float) -> bytes:
        """Return and note one reply."""
        try:
            reply = self._inner.read(timeout_s)
        except MeterError as error:
            self._log.note("failed", f"{type(error).__name__}: {error}")
            raise
        self._log.note("received", reply)
        return reply

    def clear(self) -> None:
        """Clear the link and note it."""
        try:
            self._inner.clear()
        except MeterError as error:
            self._log.note("failed", f"{type(error).__name__}: {error}")
            raise
        self._log.note("cleared", "")

    def close(self) -> None:
        """Release the link and note it once."""
        if self._open:
            self._open = False
            try:
                self._inner.close()
                self._log.note("closed", "")
            finally:
                self._log.close()
