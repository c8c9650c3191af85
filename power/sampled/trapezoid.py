# SPDX-License-Identifier: Apache-2.0
"""The energy under samples of power within a window of time: a sum and a trapezoid, pure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from power.sampled.source import Sample


@dataclass(frozen=True)
class Segment:
    """A time in which the power goes in a straight line; `seen` tells whether samples show it."""

    from_s: float
    to_s: float
    from_w: float
    to_w: float
    seen: bool

    def energy_ws(self, begin_s: float, end_s: float) -> float:
        """Return the energy in the part of this piece that lies between two moments."""
        begin_s, end_s = max(begin_s, self.from_s), min(end_s, self.to_s)
        if end_s <= begin_s:
            return 0.0
        return (end_s - begin_s) * (self._power_w(begin_s) + self._power_w(end_s)) / 2

    def overlap_s(self, begin_s: float, end_s: float) -> float:
        """Return how long this piece lies between two moments."""
        return max(0.0, min(end_s, self.to_s) - max(begin_s, self.from_s))

    def _power_w(self, at_s: float) -> float:
        share = (at_s - self.from_s) / (self.to_s - self.from_s)
        return self.from_w + share * (self.to_w - self.from_w)


def pieces(before: Sample, sample: Sample, longest_gap_s: float) -> Iterator[Segment]:
    """Yield the course of the power between two samples, in order of time.

    A mean holds for its span. Where no span reaches, the power goes straight from one sample to the
    next. If that is longer than `longest_gap_s`, or samples were lost there, nobody has seen what
    the power did.
    """
    span_from_s = max(before.at_s, sample.at_s - sample.span_s)
    if span_from_s > before.at_s:
        seen = span_from_s - before.at_s <= longest_gap_s and not sample.lost
        yield Segment(before.at_s, span_from_s, before.power_w, sample.power_w, seen)
    if sample.at_s > span_from_s:
        yield Segment(span_from_s, sample.at_s, sample.power_w, sample.power_w, True)


@dataclass(frozen=True)
class Update:
    """What a meter shows for one update interval: means over it, and the energy up to its end.

    `number` counts from 1. `unseen_s` is how long of it no sample showed.
    """

    number: int
    power_w: float
    energy_ws: float
    voltage_v: float | None
    current_a: float | None
    unseen_s: float


class Integral:
    """The energy from `begin_s` on, with a value for each update interval; times never go back.

    The first sample that is added may lie before the begin. `end_s` may be set as long as no sample
    after it has been added.
    """

    def __init__(self, begin_s: float, interval_s: float, longest_gap_s: float) -> None:
        self.begin_s = begin_s
        self.end_s = math.inf
        self.energy_ws = 0.0
        self.unseen_s = 0.0
        self.samples = 0
        self.newest: Sample | None = None
        self.update: Update | None = None
        self._interval_s = interval_s
        self._longest_gap_s = longest_gap_s
        self._marked = Update(0, 0.0, 0.0, None, None, 0.0)
        self._unseen_before_s = 0.0
        self._volts: list[float] = []
        self._amperes: list[float] = []

    @property
    def complete(self) -> bool:
        """Tell whether the samples reach the end."""
        return self.newest is not None and self.newest.at_s >= self.end_s

    def add(self, sample: Sample) -> None:
        """Add the next sample; one that is not later than the one before is left out."""
        before = self.newest
        if before is not None and sample.at_s <= before.at_s:
            return
        self.newest = sample
        if before is None:
            # Nothing is known before the first sample but its own span.
            before = Sample(max(self.begin_s, sample.at_s - sample.span_s), sample.power_w)
            if before.at_s > self.begin_s:
                self._take(
                    Segment(self.begin_s, before.at_s, sample.power_w, sample.power_w, False)
                )
        if self.begin_s < sample.at_s and before.at_s < self.end_s:
            self.samples += 1
            self._volts += [] if sample.voltage_v is None else [sample.voltage_v]
            self._amperes += [] if sample.current_a is None else [sample.current_a]
        for piece in pieces(before, sample, self._longest_gap_s):
            self._take(piece)

    def hold(self) -> None:
        """Go on with the last power up to the end, because no sample comes; nobody has seen it."""
        last = self.newest
        if last is None or last.at_s >= self.end_s:
            return
        self._take(Segment(last.at_s, self.end_s, last.power_w, last.power_w, False))
        self.newest = Sample(self.end_s, last.power_w)

    def _take(self, piece: Segment) -> None:
        from_s = self.begin_s
        while (mark_s := self._mark_s()) <= min(piece.to_s, self.end_s):
            self._count(piece, from_s, mark_s)
            self._show()
            from_s = mark_s
        self._count(piece, from_s, self.end_s)

    def _count(self, piece: Segment, from_s: float, to_s: float) -> None:
        self.energy_ws += piece.energy_ws(from_s, to_s)
        self.unseen_s += 0.0 if piece.seen else piece.overlap_s(from_s, to_s)

    def _mark_s(self) -> float:
        # A multiple, because a sum of intervals would drift.
        return self.begin_s + (self._marked.number + 1) * self._interval_s

    def _show(self) -> None:
        """Close an update interval."""
        self._marked = self.update = Update(
            self._marked.number + 1,
            (self.energy_ws - self._marked.energy_ws) / self._interval_s,
            self.energy_ws,
            _mean(self._volts),
            _mean(self._amperes),
            self.unseen_s - self._unseen_before_s,
        )
        self._unseen_before_s = self.unseen_s
        del self._volts[:-1], self._amperes[:-1]


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
