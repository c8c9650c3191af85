# SPDX-License-Identifier: Apache-2.0
"""A device's own energy counter, beside the energy of the samples; pure."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from power.sampled.source import Sample

COUNTER_SHARE = 0.02
"""Samples and the device's own energy counter may differ by this share of the energy."""

CONFIRMING_SHARE = 0.5
"""A witness that allows for more than this share of the energy confirms nothing."""

_ROUNDING = 1e-12

KEPT = 4096
"""So many samples are kept for the lag of a counter; of a longer one the newest stand for all."""


@dataclass(frozen=True)
class EnergyCounter:
    """The device's own energy counter, as the driver tells it.

    It may be `lag_s` late, and grows in steps of `step_wh`. When it is full, at `wraps_wh`, it
    begins anew; 0 means never. It `lasts` unless it begins at zero whenever the device is opened.
    It is no `witness` if the driver makes the powers of it.
    """

    lag_s: float = 0.0
    step_wh: float = 0.0
    wraps_wh: float = 0.0
    lasts: bool = True
    witness: bool = True

    @staticmethod
    def of(source: object) -> EnergyCounter:
        """Return what an open device tells of its counter; older drivers tell less."""
        return EnergyCounter(
            getattr(source, "counter_lag_s", 0.0),
            getattr(source, "counter_step_wh", 0.0),
            getattr(source, "counter_wraps_wh", 0.0),
            getattr(source, "counter_lasts", True),
            getattr(source, "counter_witness", True),
        )


NO_COUNTER = EnergyCounter()
"""The counter of a driver that tells nothing."""


def growth(before: float, now: float, *, wraps: float, most: float) -> float | None:
    """Return by how much a counter has grown, also over its end at `wraps`; in any one unit.

    None means that it did not count from one value to the other, because that would be more than
    `most`: it began anew, or one of the values is wrong.
    """
    grown = now - before if now >= before else now - before + wraps
    return grown if 0 <= grown <= most else None


class CounterBeside:
    """The device's counter beside the samples, over the same part of a run.

    Only the ends count: what the counter shows at the first sample of the run, and at the last. A
    counter that began anew divides the run into parts, each with its own ends.
    """

    def __init__(self, counter: EnergyCounter, before: Sequence[Sample]) -> None:
        self.restarted = self.known = False
        self._counter = counter
        self._recent = deque(before, KEPT)
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)
        self._last_s = 0.0
        self._counted_wh = self._sampled_wh = 0.0
        self._catching_up_wh = self._behind_wh = self._steps_wh = 0.0

    def add(self, sample: Sample, sampled_wh: float, most_w: float | None) -> None:
        """Note the counter at a sample, and the energy of all samples so far.

        `most_w` is the rated power, by which the counter cannot grow faster.
        """
        self._recent.append(sample)
        if sample.counter_wh is None:
            return
        self.known = self._counter.witness
        if self._first is None:
            self._begin(sample, sample.counter_wh, sampled_wh)
            return
        grown_wh = self._growth_wh(sample, sample.counter_wh, most_w)
        if grown_wh is None:
            self.restarted = True
            self.divide()
            self._begin(sample, sample.counter_wh, sampled_wh)
            return
        self._counted_wh += grown_wh
        self._sampled_wh += sampled_wh - self._last[1]
        self._last, self._last_s = (sample.counter_wh, sampled_wh), sample.at_s

    def opened_again(self, counter: EnergyCounter) -> None:
        """Go on with a device that was opened again; its counter may have begun at zero."""
        self._counter = counter
        if not counter.lasts:
            self.divide()

    def divide(self) -> None:
        """End a part of the run."""
        if self._first is not None:
            self._behind_wh += self._lag_wh()
            self._first = None

    def differs(self) -> bool:
        """Tell whether both energies differ by more than the counter and a tolerance can explain.

        The counter may lag behind at the end of the run. At its begin it may count what was before,
        of which the samples may not show all, so what it shows too much has both lags.
        """
        difference_wh = self._counted_wh - self._sampled_wh
        allowed_wh = self._allowed_wh(self._behind())
        if difference_wh > 0:
            allowed_wh += self._catching_up_wh
        return abs(difference_wh) > allowed_wh + 1e-9

    def confirms(self, energy_wh: float) -> bool:
        """Tell whether the counter would show that an energy is wrong by half."""
        allowed_wh = self._allowed_wh(self._behind() + self._catching_up_wh)
        return self.known and allowed_wh <= CONFIRMING_SHARE * abs(energy_wh)

    def _begin(self, sample: Sample, counter_wh: float, sampled_wh: float) -> None:
        self._first = self._last = (counter_wh, sampled_wh)
        self._last_s = sample.at_s
        self._catching_up_wh += self._lag_wh()
        self._steps_wh += self._counter.step_wh

    def _growth_wh(self, sample: Sample, counter_wh: float, most_w: float | None) -> float | None:
        grown_wh = counter_wh - self._last[0]
        # The difference of two large doubles may exceed a step in its last bits.
        rounding_wh = _ROUNDING * abs(self._last[0])
        if -self._counter.step_wh - rounding_wh <= grown_wh <= 0:
            return grown_wh  # rounded otherwise
        most_wh = math.inf
        if most_w is not None:
            seconds = sample.at_s - self._last_s + self._counter.lag_s
            most_wh = most_w * seconds / 3600 + self._counter.step_wh
        return growth(self._last[0], counter_wh, wraps=self._counter.wraps_wh, most=most_wh)

    def _allowed_wh(self, lag_wh: float) -> float:
        share_wh = COUNTER_SHARE * max(abs(self._counted_wh), abs(self._sampled_wh))
        return share_wh + lag_wh + self._steps_wh

    def _behind(self) -> float:
        return self._behind_wh + (self._lag_wh() if self._first is not None else 0.0)

    def _lag_wh(self) -> float:
        """Return the energy of the counter's lag up to the newest sample.

        Each power is the middle one of three neighbours, so that one false power allows nothing.
        """
        lag_s, recent = self._counter.lag_s, list(self._recent)
        if not lag_s or not recent:
            return 0.0
        from_s = recent[-1].at_s - lag_s
        recent = [sample for sample in recent if sample.at_s >= from_s]
        powers_w = [abs(sample.power_w) for sample in recent]
        steady_w = [
            median(powers_w[max(0, at - 1) : at + 2])
            if 0 < at < len(powers_w) - 1
            else min(powers_w[max(0, at - 1) : at + 2])
            for at in range(len(powers_w))
        ]
        times_s = [sample.at_s for sample in recent]
        covered_s = times_s[-1] - times_s[0]
        covered_ws = sum(
            (later - earlier) * power_w
            for earlier, later, power_w in zip(times_s, times_s[1:], steady_w[1:], strict=False)
        )
        return (covered_ws + (lag_s - covered_s) * median(steady_w)) / 3600
