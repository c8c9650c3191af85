# SPDX-License-Identifier: Apache-2.0
"""Faults that can be switched on while the emulated meter runs: one line of text each.

A line is a name and parameters, as `silent count=2` or `panel key=STOP`. In a schedule a time comes
first, in seconds since the emulator's start or since the integration's start (`start+12.5`).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

# Name, parameters with their defaults, and what it does; `emulate --help` shows this table.
CATALOGUE: dict[str, tuple[dict[str, str], str]] = {
    "silent": ({"count": "1"}, "drop the next replies"),
    "slow": ({"seconds": "5", "count": "1"}, "hold back the next replies"),
    "stale": ({}, "answer each question with the reply to the one before, until a device clear"),
    "garbage": ({"count": "1"}, "put random bytes into the next replies"),
    "truncate": ({"count": "1"}, "cut the next replies in half"),
    "items": (
        {"number": "3"},
        "change how many values are sent together, as a second program does",
    ),
    "no_data": ({"updates": "3", "fields": "U/I/P"}, "show NAN for some fields (or all)"),
    "over": ({"updates": "3"}, "go over range: INF, OVR1 and POA1 set"),
    "numerals": ({"on": "1"}, "write 9.91E+37 and 9.9E+37 instead of NAN and INF"),
    "negative": ({"updates": "3", "watts": "-12"}, "show a negative power"),
    "talk": ({"header": "1", "verbose": "0"}, "switch HEADer and VERBose"),
    "binary": ({"on": "1"}, "switch to FLOat output"),
    "deaf_start": ({"seconds": "0.2"}, "lose everything for this time after the next START"),
    "panel": ({"key": "STOP"}, "press START, STOP or RESET at the front panel"),
    "timeup": ({}, "let the timer end now"),
    "race": ({}, "let the timer end just before the next STOP command"),
    "refuse": ({"count": "1", "code": "813"}, "refuse the next commands"),
    "lose": ({"count": "1"}, "lose the next commands without any trace"),
    "clamp": ({"count": "1"}, "set the next range one size larger than asked"),
    "clip": (
        {"share": "0.5", "current": "1.28"},
        "cut crests: a share of the power, a current in ranges, peaks at the limit, no flag",
    ),
    "scaling": ({"factor": "2"}, "switch scaling on: multiply voltage, power and energy"),
    "force_range": ({}, "self-protection: current range 1 A and auto-range on"),
    "hyphen": ({"place": "before"}, "mark the ranges with a hyphen, before or after"),
    "hold": ({"on": "1"}, "hold the numeric data"),
    "leftover": ({"name": "averaging"}, "switch averaging, max_hold, scaling or hold on"),
    "mode200": ({}, "switch to the command mode WT200"),
    "errors": ({"count": "20"}, "fill the error queue"),
    "overrun": ({"count": "1"}, "lose the next messages and report 390, as RS-232 does"),
    "unplug": ({"seconds": "5"}, "drop all connections and refuse new ones"),
    "hang": ({"seconds": "5"}, "keep connections open but answer nothing at all"),
    "power": ({"seconds": "10"}, "lose mains: state ERROR, deaf for this time, settings kept"),
    "load": ({"watts": "5"}, "change the load from now on"),
    "off": ({}, "end every fault that still lasts"),
}


class BadFault(ValueError):
    """A line that is not a fault."""


@dataclass(frozen=True)
class Fault:
    """One parsed line."""

    name: str
    parameters: dict[str, str]

    def number(self, key: str) -> float:
        """Return a parameter as a number."""
        try:
            return float(self.parameters[key])
        except ValueError:
            raise BadFault(f"{key}={self.parameters[key]} of {self.name} is not a number") from None


def parse_fault(line: str) -> Fault:
    """Return the fault in a line; missing parameters have their defaults."""
    words = line.split()
    if not words or words[0] not in CATALOGUE:
        raise BadFault(f"{line!r} is not a fault; the faults are {', '.join(CATALOGUE)}")
    parameters = dict(CATALOGUE[words[0]][0])
    for word in words[1:]:
        key, equals, value = word.partition("=")
        if not equals or key not in parameters:
            known = ", ".join(parameters) or "none"
            raise BadFault(f"{word!r} is not a parameter of {words[0]}, which has: {known}")
        parameters[key] = value
    fault = Fault(words[0], parameters)
    for key in "count seconds updates number share current watts code factor".split():
        if key in parameters:
            fault.number(key)
    return fault


@dataclass(frozen=True)
class ScheduledFault:
    """One line of a schedule."""

    at_s: float
    after_start: bool
    fault: Fault


def parse_schedule(text: str) -> list[ScheduledFault]:
    """Return the entries of a schedule; empty lines and lines with # are skipped."""
    entries = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        when, _, rest = line.partition(" ")
        after_start = when.startswith("start+")
        try:
            entries.append(
                ScheduledFault(float(when.removeprefix("start+")), after_start, parse_fault(rest))
            )
        except ValueError as error:
            raise BadFault(f"line {number}: {error}") from None
    return entries


@dataclass
class ActiveFaults:
    """The faults of messages, replies and the link; each use of a fault lowers its count."""

    clock: Callable[[], float]
    seed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, Fault] = field(default_factory=dict)
    unplugged_until_s: float = 0.0
    hanging_until_s: float = 0.0
    stale: bool = False
    held: bytes | None = None
    on_unplug: list[Callable[[], None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)

    @property
    def unplugged(self) -> bool:
        """Tell whether there is no link now."""
        return self.clock() < self.unplugged_until_s

    @property
    def hanging(self) -> bool:
        """Tell whether the link is mute now."""
        return self.clock() < self.hanging_until_s

    def arm(self, fault: Fault) -> None:
        """Let a fault act as often as its `count` says."""
        self.counts[fault.name] = int(fault.number("count"))
        self.parameters[fault.name] = fault

    def take(self, name: str) -> Fault | None:
        """Use a fault once and return it, or None if it is not armed."""
        left = self.counts.get(name, 0)
        if left <= 0:
            return None
        self.counts[name] = left - 1
        return self.parameters[name]

    def unplug(self, seconds: float) -> None:
        """Cut every link for a while."""
        self.unplugged_until_s = self.clock() + seconds
        for drop in self.on_unplug:
            drop()

    def clear_link(self) -> None:
        """Drop late replies, as a device clear does."""
        self.stale, self.held = False, None

    def end_all(self) -> None:
        """End every fault that still lasts."""
        self.counts.clear()
        self.unplugged_until_s = self.hanging_until_s = 0.0
        self.clear_link()

    def tamper(self, reply: bytes) -> tuple[bytes | None, float]:
        """Return the spoilt reply, or None if it is lost, and its delay in seconds."""
        if self.take("silent"):
            return None, 0.0
        if self.stale:
            reply, self.held = self.held or b"0\n", reply
        if self.take("garbage"):
            reply = self._spoilt(reply)
        if self.take("truncate"):
            reply = reply[: len(reply) // 2]
        slow = self.take("slow")
        return reply, slow.number("seconds") if slow else 0.0

    def _spoilt(self, reply: bytes) -> bytes:
        """Replace or insert a few bytes that occur in no number.

        Noise that forms another valid number would prove nothing about a driver, because a wire
        without checksums cannot detect it.
        """
        noise = bytes(range(1, 9)) + b"!$%&?@~" + bytes(range(0x80, 0x100))
        at = self._rng.randrange(max(1, len(reply) - 1))
        extra = bytes(self._rng.choice(noise) for _ in range(self._rng.randrange(1, 6)))
        return reply[:at] + extra + reply[at + self._rng.randrange(2) :]
