# SPDX-License-Identifier: Apache-2.0
"""Load profiles: watts as a step function of time, with an exact integral."""

from __future__ import annotations

import csv
import json
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from power.bounded_file import MOST_BYTES, file_text


@dataclass(frozen=True)
class LoadProfile:
    """The power of a load over time, constant from each time in `times_s` to the next.

    `times_s` ascends from 0. Before 0 the first power holds. After the last time the last power
    holds, unless the profile repeats with `period_s`.
    """

    times_s: tuple[float, ...]
    watts: tuple[float, ...]
    period_s: float | None = None
    _sums_j: tuple[float, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        times, watts = self.times_s, self.watts
        if not times or len(times) != len(watts) or times[0] != 0:
            raise ValueError("a load profile needs as many powers as times, and begins at 0 s")
        if any(not math.isfinite(value) for value in (*times, *watts)):
            raise ValueError("times and powers of a load profile must be finite numbers")
        if any(later <= earlier for earlier, later in zip(times, times[1:], strict=False)):
            raise ValueError("the times of a load profile must ascend")
        if self.period_s is not None and not times[-1] < self.period_s < math.inf:
            raise ValueError("the period of a load profile must be longer than its last time")
        steps = (
            power * (later - earlier)
            for earlier, later, power in zip(times, times[1:], watts, strict=False)
        )
        object.__setattr__(self, "_sums_j", tuple(accumulate(steps, initial=0.0)))

    def power_w(self, at_s: float) -> float:
        """Return the power at a time."""
        return self.watts[self._segment(self._folded(at_s)[1])]

    def energy_j(self, from_s: float, to_s: float) -> float:
        """Return the exact integral between two times, in joules."""
        return self._cumulative_j(to_s) - self._cumulative_j(from_s)

    def segments(self, from_s: float, to_s: float) -> Iterator[tuple[float, float]]:
        """Yield the constant parts between two times, each as its seconds and its watts."""
        at_s = from_s
        while at_s < to_s:
            _, rest = self._folded(at_s)
            index = self._segment(rest)
            last = math.inf if self.period_s is None else self.period_s
            next_s = self.times_s[index + 1] if index + 1 < len(self.times_s) else last
            # Rounding must not stop the walk just before a boundary.
            end_s = max(min(to_s, at_s + next_s - rest), math.nextafter(at_s, math.inf))
            yield end_s - at_s, self.watts[index]
            at_s = end_s

    def continued(self, from_s: float, watts: float) -> LoadProfile:
        """Return this profile up to a time, and one power from then on."""
        if self.period_s is not None:
            raise ValueError("a repeating load cannot be changed")
        if from_s <= 0:
            return LoadProfile((0.0,), (watts,))
        kept = [
            (at_s, power)
            for at_s, power in zip(self.times_s, self.watts, strict=True)
            if at_s < from_s
        ]
        times, powers = zip(*kept, (from_s, watts), strict=True)
        return LoadProfile(times, powers)

    def _cumulative_j(self, at_s: float) -> float:
        rounds, rest = self._folded(at_s)
        index = self._segment(rest)
        whole = self._sums_j[index] + self.watts[index] * (rest - self.times_s[index])
        if rounds and self.period_s is not None:
            last = self.watts[-1] * (self.period_s - self.times_s[-1])
            whole += rounds * (self._sums_j[-1] + last)
        return whole

    def _folded(self, at_s: float) -> tuple[float, float]:
        if self.period_s is None:
            return 0.0, at_s
        rounds = math.floor(at_s / self.period_s)
        return float(rounds), at_s - rounds * self.period_s

    def _segment(self, at_s: float) -> int:
        return max(0, bisect_right(self.times_s, at_s) - 1)


def energy_wh(profile: LoadProfile, from_s: float, to_s: float) -> float:
    """Return the true energy of a profile between two of its times, in watt-hours."""
    return profile.energy_j(from_s, to_s) / 3600


def constant(watts: float) -> LoadProfile:
    """Return a load that never changes."""
    return LoadProfile((0.0,), (watts,))


def parse_steps(text: str) -> LoadProfile:
    """Return the profile in a text like `0:4.0,5:7.5,12:3` (seconds:watts)."""
    times, watts = [], []
    for part in text.split(","):
        seconds, colon, power = part.partition(":")
        try:
            if not colon:
                raise ValueError
            times.append(float(seconds))
            watts.append(float(power))
        except ValueError:
            raise ValueError(
                f"{part!r} is not a step; write seconds:watts, as in 0:4.0,5:7.5"
            ) from None
    return LoadProfile(tuple(times), tuple(watts))


def bursts(low_w: float, high_w: float, period_s: float, duty: float) -> LoadProfile:
    """Return a repeating load: high for the share `duty` (0 to 1) of each period, then low."""
    if not 0 < duty < 1 or period_s <= 0:
        raise ValueError("bursts need a period above 0 s and a duty between 0 and 1")
    return LoadProfile((0.0, duty * period_s), (high_w, low_w), period_s)


def read_csv(path: Path) -> LoadProfile:
    """Return a recorded profile: a power log, or two columns of seconds and watts.

    A power log is CSV or JSON lines. If the first line of CSV is a header, the columns `elapsed_s`
    and `power_w` are found by name. Rows without a power are skipped. Times count from the first
    row. Raises ValueError for a row of something else, so that none is lost unseen.
    """
    rows = _rows(file_text(path, MOST_BYTES).splitlines(keepends=True))
    columns = (0, 1)
    if rows and "power_w" in rows[0] and "elapsed_s" in rows[0]:
        columns = (rows[0].index("elapsed_s"), rows[0].index("power_w"))
    points = list(_points(path, rows, columns))
    if not points:
        raise ValueError(f"{path} holds no line of seconds and watts")
    first = points[0][0]
    times = tuple(seconds - first for seconds, _ in points)
    watts = tuple(power for _, power in points)
    try:
        return LoadProfile(times, watts)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _rows(lines: Sequence[str]) -> list[list[str]]:
    """Return the rows of CSV, or of JSON lines with the seconds and the watts of each object."""
    if not (lines and lines[0].startswith("{")):
        return [row for row in csv.reader(lines) if row]
    rows = [["elapsed_s", "power_w"]]
    for line in lines:
        try:
            value = json.loads(line)
            rows.append(["" if value[name] is None else str(value[name]) for name in rows[0]])
        except (ValueError, KeyError, TypeError, RecursionError):
            continue  # half a line of a killed program, or a line of something else
    return rows


_NUMBERS_BEGIN = tuple("+-.0123456789")


def _points(
    path: Path, rows: Sequence[list[str]], columns: tuple[int, int]
) -> Iterator[tuple[float, float]]:
    """Yield seconds and watts; raise ValueError for a row of something else below the header."""
    for number, row in enumerate(rows, start=1):
        fields = [row[column].strip() if column < len(row) else "" for column in columns]
        if number == 1 and not any(field.strip()[:1] in _NUMBERS_BEGIN for field in row):
            continue  # a header
        if not fields[1] and _is_number(fields[0]):
            continue  # a reading without a power
        if not all(map(_is_number, fields)):
            raise ValueError(f"{path}, row {number}: {row[:4]} is no row of seconds and watts")
        seconds, watts = map(float, fields)
        if math.isfinite(seconds) and math.isfinite(watts):
            yield seconds, watts


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
