# SPDX-License-Identifier: Apache-2.0
"""How long an integration lasted, as exactly as is known, and what may be divided by it.

The meter's own TIME is whole seconds, cut off: a run of 4.5 s shows 4. So TIME alone divides no
energy. These tell more:

- the meter's timer ended the run: it lasted as long as the timer was set;
- this program ended it: between START and STOP its own clock counts, and each was carried out
  between its sending and the meter's answer;
- somebody wanted the end: a STOP comes after that, and before the first reading that shows it;
- a program integrates: it knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from power.energy.accuracy import CLOCKS_SHARE
from power.meter import IntegrationState

# A start has two moments, its sending and the end of its writing, and times count from one of them.
_START_S = 0.02
# The meter's clock and ours differ by no more, and by `CLOCKS_SHARE`.
_CLOCKS_S = 1e-3
# Nobody reads more digits of a figure.
_MOST_DECIMALS = 12


@dataclass(frozen=True)
class Duration:
    """The time for which a meter integrated: at least `seconds - off_s`, at most that more."""

    seconds: float
    off_s: float = 0.0

    @property
    def low_s(self) -> float:
        """Return the least that it can have been."""
        return self.seconds - self.off_s

    @property
    def high_s(self) -> float:
        """Return the most that it can have been."""
        return self.seconds + self.off_s


def duration_of(
    counted_s: float | None,
    state: IntegrationState | None,
    *,
    timer_s: float,
    session_s: float | None = None,
    stopped_s: tuple[float, float] | None = None,
    seen_s: float | None = None,
    exact: bool = False,
) -> Duration | None:
    """Return how long an integration lasted; None if the meter does not tell its TIME, `counted_s`.

    `state` is how it ended, None if that is not known. `session_s` is how long it should have
    lasted, by our clock. `stopped_s` are the least and the most seconds between START and our own
    STOP, and `seen_s` is when a reading first showed the end. `exact` says that `counted_s` is not
    cut off, because a program integrates.
    """
    if counted_s is None or not math.isfinite(counted_s) or counted_s < 0:
        return None
    ended_by_timer = counted_s == timer_s and state in (IntegrationState.TIMEUP, None)
    exact = exact or counted_s != math.floor(counted_s)  # a program's, which cuts nothing off
    if exact or ended_by_timer or state is IntegrationState.TIMEUP:
        return Duration(counted_s)
    least_s, most_s = counted_s, counted_s + 1.0
    if stopped_s is not None:
        least_s, most_s = max(least_s, stopped_s[0]), min(most_s, stopped_s[1])
    else:
        most_s = min([most_s, *([timer_s] if timer_s > 0 else [])])
        most_s = most_s if seen_s is None else min(most_s, seen_s + _START_S)
        if session_s is not None and least_s <= session_s <= most_s:
            # Who wants the end sends STOP then or later, and nearly always at once.
            return Duration(session_s, most_s - session_s)
    if 0 < least_s - most_s <= _CLOCKS_S + CLOCKS_SHARE * counted_s:
        least_s, most_s = most_s, least_s  # both clocks say when a second was full
    if least_s > most_s:  # The clocks contradict each other: the meter's own counts.
        least_s, most_s = counted_s, counted_s + 1.0
    return Duration((least_s + most_s) / 2, (most_s - least_s) / 2)


def mean_power(
    energy_wh: float | None, duration: Duration | None
) -> tuple[float | None, float | None]:
    """Return an energy's mean power with the digits that its duration carries, and its error.

    The error is that of the duration alone. Both are None where the energy or the duration is not
    known, or the integration may have lasted no time at all.
    """
    if energy_wh is None or duration is None or duration.low_s <= 0:
        return None, None
    mean_w = 3600 * energy_wh / duration.seconds
    limits_w = (3600 * energy_wh / duration.low_s, 3600 * energy_wh / duration.high_s)
    told_w = carried(mean_w, max(abs(limit_w - mean_w) for limit_w in limits_w))
    return told_w, max(abs(limit_w - told_w) for limit_w in limits_w)


def carried(value: float, limit: float) -> float:
    """Return a value without the digits that its limit of error does not carry.

    The last digit is that of the limit's first one, and the value's first digit at least.
    """
    return round(value, decimals_carried(value, limit)) if limit > 0 else value


def decimals_carried(value: float, limit: float) -> int:
    """Return how many decimals a value has, as `carried` leaves them; below 0 for tens and more."""
    if limit <= 0 or not math.isfinite(limit):
        return _MOST_DECIMALS
    least = -math.floor(math.log10(abs(value))) if value else 0
    return min(_MOST_DECIMALS, max(least, -math.floor(math.log10(limit))))


def written(value: float, limit: float, digits: int = 6) -> str:
    """Return a value as text: with so many digits at most, and with none that its limit forbids."""
    decimals = decimals_carried(value, limit)
    if decimals >= _places(value, digits):
        return f"{value:.{digits}g}"
    return f"{round(value, decimals):.{max(0, decimals)}f}"


def _places(value: float, digits: int) -> int:
    """Return the decimals of a value with so many digits."""
    return digits - 1 - math.floor(math.log10(abs(value))) if value else digits
