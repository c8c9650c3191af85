# SPDX-License-Identifier: Apache-2.0
"""The seam between the driver and a wire: what a transport does, and the log of what it carried."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from power.append_file import AppendFile
from power.clock import real_elapsed_s
from power.errors import MeterError

_log = logging.getLogger(__name__)

Clock = Callable[[], float]
UtcClock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the wall clock, aware of its zone."""
    return datetime.now(UTC)


class Transport(Protocol):
    """A link to one meter; it carries messages to the meter and replies back.

    `write`, `read` and `clear` raise `MeterSilent` after the time-out and `MeterUnreachable` when
    the link is lost. Only one thread may use a transport.
    """

    name: str

    def write(self, message: str) -> None:
        """Send one program message; the transport adds the terminator."""
        ...

    def read(self, timeout_s: float) -> bytes:
        """Return one whole reply, terminator included, within the time-out."""
        ...

    def clear(self) -> None:
        """Discard unread messages and replies, as far as the wire can."""
        ...

    def close(self) -> None:
        """Release the link; never raises, and may be called twice."""
        ...


# Ten seconds of a PPK2: all of its samples would be 0.8 MB of text a second.
_STREAM_BYTES = 4_000_000


class WireLog:
    """A file of JSON lines, one for each event of a conversation; it never fails the conversation.

    A line has `utc`, `monotonic_s`, `event` (`open`, `sent`, `received`, `cleared`, `failed`,
    `closed`, `gap`) and `text`, or `hex` for bytes that are not text. Each line is written at once,
    so it survives a killed process. While the disk is full, lines are dropped and counted. When
    there is room again, a line `gap` says how many are missing. `lost` counts all dropped lines.
    Only the file's owner can read it. Several threads may write.

    Of a stream it keeps `stream_bytes` in all, however often its device is opened. Then a line
    `gap` says that the rest is left out.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock = real_elapsed_s,
        utc: UtcClock = utc_now,
        stream_bytes: int = _STREAM_BYTES,
    ) -> None:
        self._path = path
        self._file = AppendFile(path, mode=0o600)
        self._clock = clock
        self._utc = utc
        self._missing = 0
        self._reason = ""
        self._lock = threading.Lock()
        self._stream_left = stream_bytes
        self.lost = 0

    def note(self, event: str, content: str | bytes) -> None:
        """Write one line; `content` is a message, a reply or a reason."""
        with self._lock:
            if not self._file.flush():
                self._leave_out()
                return
            if self._missing:
                self._mark_gap()
            if not self._file.append(self._line(event, content)):
                self._tell_trouble()

    def note_stream(self, event: str, content: bytes) -> None:
        """Write bytes of a stream, as long as there is room for them in this log."""
        with self._lock:
            room = self._stream_left
            self._stream_left = max(0, room - len(content))
        if room:
            self.note(event, content)
            if len(content) >= room:
                self.note("gap", "the rest of the stream is left out")

    def close(self) -> None:
        """Close the file; the next note opens it again."""
        with self._lock:
            self._file.close()

    def _leave_out(self) -> None:
        self._missing += 1
        self.lost += 1
        self._reason = self._file.trouble

    def _mark_gap(self) -> None:
        text = f"{self._missing} records are missing here: {self._reason}"
        _log.warning("%s is written again; %s", self._path, text)
        self._missing = 0
        self._file.append(self._line("gap", text))

    def _tell_trouble(self) -> None:
        _log.warning(
            "the wire log %s cannot be written (%s): free some space; the conversation with the "
            "meter goes on without its log",
            self._path,
            self._file.trouble,
        )

    def _line(self, event: str, content: str | bytes) -> bytes:
        line: dict[str, object] = {
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
        return json.dumps(line).encode() + b"\n"


class LoggedTransport:
    """A transport that uses another one and notes every event in a wire log."""

    def __init__(self, inner: Transport, log: WireLog) -> None:
        self.name = inner.name
        self._inner = inner
        self._log = log
        self._open = True
        log.note("open", inner.name)

    def write(self, message: str) -> None:
        """Note one message, then send it."""
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
        """Release the link, note it once, and close the log's file."""
        if self._open:
            self._open = False
            self._inner.close()
            self._log.note("closed", "")
            self._log.close()
