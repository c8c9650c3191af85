# SPDX-License-Identifier: Apache-2.0
"""The requests of PTDaemon's clients: one line of text each, a word and its parameters; pure.

SPEC gives the protocol's guide to its licensees only. This module holds what public clients send
and expect: MLCommons' power-dev (`ptd_client_server/lib/server.py`, `compliance/check.py`) and the
harness of SPEC CPU 2017 (`bin/util.pl`). What no public client uses is marked *not established*.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NO_MARK = "notset"
"""The mark of a measurement to which nobody gave one."""

MOST_SAMPLES = 500_000
"""An untimed measurement ends by itself after this many samples; its answer says so."""

MOST_LINE = 1024
"""The longest request, in bytes with its line end."""

_MOST_RAMPUP = 10_000
_LONGEST_INTERVAL_MS = 3_600_000
# Marks become fields of the log's lines, and parts of file names.
_MARK = re.compile(r"[!-+\--~][ -+\--~]{0,254}")


class RequestRefused(Exception):
    """A request that is not carried out and changes nothing; its text is the answer."""


@dataclass(frozen=True)
class Hello:
    """`Hello`: a client asks whether PTDaemon is here."""


@dataclass(frozen=True)
class Identify:
    """`Identify`: which meter, which version, what it can measure."""


@dataclass(frozen=True)
class ReadRanges:
    """`RR`: the ranges of current and voltage."""


@dataclass(frozen=True)
class SetRange:
    """`SR,A,VALUE` or `SR,V,VALUE`; a `size` of None is `Auto`."""

    quantity: str
    size: float | None


@dataclass(frozen=True)
class Start:
    """`Go,MS,RAMPUP[,MARK]`, or `Timed,MS,SAMPLES,RAMPUP[,MARK]` with a number of samples.

    An `interval_ms` of 0 is the meter's own. The first `rampup` samples do not count.
    """

    interval_ms: int
    rampup: int
    mark: str
    samples: int | None = None


@dataclass(frozen=True)
class Stop:
    """`Stop`: end the measurement; its samples stay."""


@dataclass(frozen=True)
class Reset:
    """`Reset`: end the measurement and forget its samples."""


@dataclass(frozen=True)
class SetMark:
    """`Mark,MARK`: another mark for the samples from now on."""

    mark: str


@dataclass(frozen=True)
class ReadNow:
    """`R*`: the newest sample."""


@dataclass(frozen=True)
class ReadLast:
    """`RL,COUNT`: the last samples; a count of None (`RL`, `RL,*`) is all that nobody has read."""

    count: int | None


@dataclass(frozen=True)
class Total:
    """`Watts`, `Volts`, `Amps` or `PF`: mean, least and most of a measurement's samples."""

    quantity: str


@dataclass(frozen=True)
class Uncertainty:
    """`Uncertainty`: mean, least and most of the limit of error, as shares of the power."""


Request = (
    Hello
    | Identify
    | ReadRanges
    | SetRange
    | Start
    | Stop
    | Reset
    | SetMark
    | ReadNow
    | ReadLast
    | Total
    | Uncertainty
)


@dataclass(frozen=True)
class _Word:
    """One word of the protocol: its form, how many parameters it takes, and its request."""

    form: str
    least: int
    most: int
    make: Callable[[Sequence[str]], Request]


_WORDS = {
    word.form.partition(",")[0].partition("[")[0].lower(): word
    for word in (
        _Word("Hello", 0, 0, lambda given: Hello()),
        _Word("Identify", 0, 0, lambda given: Identify()),
        _Word("RR", 0, 0, lambda given: ReadRanges()),
        _Word("SR,A|V,RANGE|Auto", 2, 2, lambda given: _set_range(*given)),
        _Word("Go,MS,RAMPUP[,MARK]", 2, 3, lambda given: _start(given)),
        # Not established: no public client sends it, so the order of its parameters is ours.
        _Word("Timed,MS,SAMPLES,RAMPUP[,MARK]", 3, 4, lambda given: _timed(given)),
        _Word("Stop", 0, 0, lambda given: Stop()),
        _Word("Reset", 0, 0, lambda given: Reset()),
        _Word("Mark,MARK", 1, 1, lambda given: SetMark(_mark(given[0]))),
        _Word("R*", 0, 0, lambda given: ReadNow()),
        _Word("RL[,COUNT|*]", 0, 1, lambda given: _read_last(given)),
        _Word("Watts", 0, 0, lambda given: Total("Watts")),
        _Word("Volts", 0, 0, lambda given: Total("Volts")),
        _Word("Amps", 0, 0, lambda given: Total("Amps")),
        _Word("PF", 0, 0, lambda given: Total("PF")),
        _Word("Uncertainty", 0, 0, lambda given: Uncertainty()),
    )
}
# Clients learn from the unknown word that a meter measures direct current, and ask for this one.
_DIRECT = "DC-RL"


def parse(line: str, *, direct_current: bool = False) -> Request:
    """Return the request of a line without its line end; raise `RequestRefused` with the answer.

    Words and parameters are the same in capitals and small letters. A meter on direct current
    knows `DC-RL` in place of `RL`.
    """
    word, *given = (field.strip() for field in line.split(","))
    known = _known(word, direct_current)
    if known is None:
        raise RequestRefused(
            f"Unknown command {word[:40]!a}; known are {', '.join(words(direct_current))}"
        )
    if not known.least <= len(given) <= known.most:
        raise RequestRefused(
            f"Invalid number of parameters, {len(given)}; the form is {known.form}"
        )
    return known.make(given)


def words(direct_current: bool = False) -> list[str]:
    """Return the words of the protocol as clients write them."""
    names = [word.form.partition(",")[0].partition("[")[0] for word in _WORDS.values()]
    return [_DIRECT if name == "RL" and direct_current else name for name in names]


def _known(word: str, direct_current: bool) -> _Word | None:
    name = word.lower()
    if direct_current:
        name = {"rl": "", _DIRECT.lower(): "rl"}.get(name, name)
    return _WORDS.get(name)


def _set_range(quantity: str, text: str) -> SetRange:
    if quantity.upper() not in ("A", "V"):
        raise RequestRefused(f"Error in parameter 1: {quantity!a} is neither A nor V")
    if text.lower() == "auto":
        return SetRange(quantity.upper(), None)
    try:
        size = float(text)
    except ValueError:
        size = math.nan
    if not 0 < size < math.inf:
        raise RequestRefused(f"Error in parameter 2: {text!a} is neither Auto nor a range above 0")
    return SetRange(quantity.upper(), size)


def _start(given: Sequence[str]) -> Start:
    interval_ms = _whole(1, given[0], 0, _LONGEST_INTERVAL_MS)
    rampup = _whole(2, given[1], 0, _MOST_RAMPUP)
    return Start(interval_ms, rampup, _mark(given[2]) if len(given) > 2 else NO_MARK)


def _timed(given: Sequence[str]) -> Start:
    interval_ms = _whole(1, given[0], 0, _LONGEST_INTERVAL_MS)
    samples = _whole(2, given[1], 1, MOST_SAMPLES)
    rampup = _whole(3, given[2], 0, _MOST_RAMPUP)
    return Start(interval_ms, rampup, _mark(given[3]) if len(given) > 3 else NO_MARK, samples)


def _read_last(given: Sequence[str]) -> ReadLast:
    if not given or given[0] == "*":
        return ReadLast(None)
    return ReadLast(_whole(1, given[0], 1, MOST_SAMPLES))


def _whole(position: int, text: str, least: int, most: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= most:
        return int(text)
    raise RequestRefused(
        f"Error in parameter {position}: {text[:40]!a} is no whole number from {least} to {most}"
    )


def _mark(text: str) -> str:
    if _MARK.fullmatch(text) is None:
        raise RequestRefused(
            f"Error in parameter: {text[:40]!a} is no mark; give 1 to 255 printable ASCII "
            "characters without a comma"
        )
    return text
