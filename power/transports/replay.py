# SPDX-License-Identifier: Apache-2.0
"""A transport that replays a wire log, to examine a recorded conversation and for tests."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from power.bounded_file import MOST_BYTES, file_text
from power.errors import MeterSilent, MeterUnreachable

_KINDS = ("open", "sent", "received", "cleared", "failed", "closed")


@dataclass(frozen=True)
class WireEvent:
    """One line of a wire log."""

    monotonic_s: float
    event: str
    content: bytes


class ReplayEnded(MeterUnreachable):
    """The driver took a step that is not in the recorded conversation."""


def read_wire_log(path: Path) -> list[WireEvent]:
    """Return the events of a wire log, without a last line that a killed writer left incomplete."""
    events = []
    lines = file_text(path, MOST_BYTES).split("\n")
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            value = json.loads(line)
            content = bytes.fromhex(value["hex"]) if "hex" in value else value["text"].encode()
            events.append(WireEvent(float(value["monotonic_s"]), str(value["event"]), content))
        except (KeyError, TypeError, ValueError) as error:
            if number == len(lines):
                break
            raise ValueError(f"{path}, line {number}: {error!r}") from None
    return events


class ReplayTransport:
    """A recorded conversation as a transport: it answers like the meter did.

    The driver must say the same as in the recording. One link follows another. `clock` gives the
    recorded times, so the driver gets the same readings as it did then. Events of other kinds than
    those of a conversation are passed over.
    """

    def __init__(self, events: list[WireEvent], name: str = "replay") -> None:
        self.name = name
        self._events = [one for one in events if one.event in _KINDS]
        self._at = 0
        self._now_s = events[0].monotonic_s if events else 0.0

    def clock(self) -> float:
        """Return the recorded time of the last event, or later after a sleep."""
        return self._now_s

    def sleep(self, seconds: float) -> None:
        """Let the time pass, but not beyond the next recorded event."""
        ahead = self._events[self._at : self._at + 1]
        later_s = self._now_s + seconds
        self._now_s = min([later_s, *(max(self._now_s, one.monotonic_s) for one in ahead)])

    def reopen(self) -> ReplayTransport:
        """Return this transport at the beginning of the next recorded link."""
        self._skip("closed", "failed")
        self._take("open")
        return self

    def write(self, message: str) -> None:
        """Check that the recording goes on with this message."""
        event = self._take("sent")
        if event.content.decode("utf-8", "replace") != message:
            raise ReplayEnded(
                f"the recorded conversation goes on with {event.content!r}, not {message!r}"
            )
        self._fail_if_recorded()

    def read(self, timeout_s: float) -> bytes:
        """Return the recorded reply, or raise the recorded failure."""
        self._fail_if_recorded()
        return self._take("received").content

    def clear(self) -> None:
        """Pass the recorded device clear."""
        self._fail_if_recorded()
        self._take("cleared")

    def close(self) -> None:
        """Pass the recorded end of a link, if it comes next."""
        self._skip("closed")

    @property
    def left(self) -> int:
        """Return how many recorded events were not replayed."""
        return len(self._events) - self._at

    def _take(self, kind: str) -> WireEvent:
        if self._at >= len(self._events):
            raise ReplayEnded(f"the recorded conversation ends before another {kind!r}")
        event = self._events[self._at]
        if event.event != kind:
            raise ReplayEnded(
                f"the recorded conversation goes on with {event.event!r}, not {kind!r}"
            )
        self._at += 1
        self._now_s = event.monotonic_s
        return event

    def _skip(self, *kinds: str) -> None:
        while self._at < len(self._events) and self._events[self._at].event in kinds:
            self._at += 1

    def _fail_if_recorded(self) -> None:
        if self._at < len(self._events) and self._events[self._at].event == "failed":
            reason = self._take("failed").content.decode("utf-8", "replace")
            kind, _, text = reason.partition(": ")
            raise MeterSilent(text) if kind == MeterSilent.__name__ else MeterUnreachable(text)
