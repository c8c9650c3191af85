# SPDX-License-Identifier: Apache-2.0
"""A curve of any length in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

BINS_MOST = 600
"""The bins of a whole run: more than a chart has columns of pixels to show them apart."""


@dataclass
class _Bin:
    """The values of one stretch of time: the least, the greatest, their sum and their number."""

    low: float
    high: float
    total: float
    count: int

    def take(self, other: _Bin) -> None:
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.total += other.total
        self.count += other.count


class Thinned:
    """Values over time, thinned into bins of equal width.

    Bin k holds the values from k times `width_s` on, before the next bin. When a value comes after
    the last bin that there is room for, pairs of bins become one, and `width_s` doubles. So no
    peak is ever lost: a bin keeps its least and its greatest value. Memory and the time for a value
    do not grow with the length of the run.
    """

    def __init__(self, width_s: float = 0.1, most: int = BINS_MOST) -> None:
        """Begin with bins of this width, at most so many; raise ValueError for none at all."""
        if width_s <= 0 or most < 2:
            raise ValueError("a curve needs two bins of more than 0 s")
        self.width_s = width_s
        self._most = most
        self._bins: list[_Bin | None] = []

    def __len__(self) -> int:
        return len(self._bins)

    def add(self, at_s: float, value: float | None) -> None:
        """Add a value at a time of 0 s or more; an earlier time counts as 0 s.

        A value of None makes the curve as long as its time, and adds nothing to it.
        """
        place = int(max(0.0, at_s) / self.width_s)
        while place >= self._most:
            self._halve()
            place //= 2
        self._bins.extend([None] * (place + 1 - len(self._bins)))
        if value is not None:
            self._put(place, _Bin(value, value, value, 1))

    def bins(self, first: int = 0) -> list[tuple[float, float, float] | None]:
        """Return least, mean and greatest value of each bin from `first` on; None has no value."""
        return [
            None if value is None else (value.low, value.total / value.count, value.high)
            for value in self._bins[max(0, first) :]
        ]

    def _put(self, place: int, more: _Bin) -> None:
        there = self._bins[place]
        if there is None:
            self._bins[place] = more
        else:
            there.take(more)

    def _halve(self) -> None:
        """Make one bin of each two."""
        narrow, self._bins = self._bins, [None] * ((len(self._bins) + 1) // 2)
        self.width_s *= 2
        for place, value in enumerate(narrow):
            if value is not None:
                self._put(place // 2, value)
