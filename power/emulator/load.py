# SPDX-License-Identifier: Apache-2.0
"""The emulated circuit at the meter's terminals: voltage, power factor, and power over time."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

from power.emulator.profile import LoadProfile
from power.emulator.waveform import Waveform, crest, power_factor, spectrum, swing

# Samples above 333 % of range (666 % at crest factor 6) are cut there (IM WT310E-01EN, page 5-12).
PEAK_LIMIT = {"3": 10 / 3, "6": 20 / 3, "A6": 20 / 3}
# Display goes to -OL- above 140 % (280 %) of range, and to zero at 0.5 % (1 %) of it
# (IM WT310E-02EN, page 1-12).
OVER_LIMIT = {"3": 1.4, "6": 2.8, "A6": 2.8}
ZERO_LIMIT = {"3": 0.005, "6": 0.01, "A6": 0.01}

SINE = Waveform()
# Less is a load that draws current and no power; its current would grow without a limit.
_LEAST_FACTOR = 0.01


@dataclass(frozen=True)
class Drawn:
    """A load over some time: mean power, rms current, and the highest peak of the current.

    `most_w` and `least_w` are the highest and the lowest momentary power.
    """

    watts: float
    amperes: float
    peak_a: float
    most_w: float = 0.0
    least_w: float = 0.0

    def part(self, share: float) -> Drawn:
        """Return the part that flows through one element."""
        return Drawn(
            share * self.watts,
            share * self.amperes,
            share * self.peak_a,
            share * self.most_w,
            share * self.least_w,
        )


@dataclass(frozen=True)
class Load:
    """The connected load: a profile of watts at a fixed voltage.

    `frequency_hz` 0 means direct current. `crest` is the current's peak over its rms. `shares` are
    the parts of the power that flow through the elements of the meter, which all have the same
    voltage and power factor.

    `voltage_waveform` and `current_waveform` are of known harmonics. A given `current_waveform`
    decides power factor and crest. Without it the current is a sine behind the voltage.
    """

    profile: LoadProfile
    volts: float = 120.0
    power_factor: float = 1.0
    frequency_hz: float = 60.0
    crest: float = math.sqrt(2)
    shares: tuple[float, ...] = (1.0,)
    voltage_waveform: Waveform = SINE
    current_waveform: Waveform | None = None

    def __post_init__(self) -> None:
        if self.current_waveform is not None:
            factor = power_factor(self.voltage_waveform, self.current_waveform)
            if factor < _LEAST_FACTOR:
                raise ValueError("voltage and current have no power in common; change a phase")
            object.__setattr__(self, "power_factor", min(1.0, factor))
            object.__setattr__(self, "crest", crest(self.current_waveform))
        if self.volts <= 0 or not 0 < self.power_factor <= 1 or self.frequency_hz < 0:
            raise ValueError("a load needs volts above 0, a power factor up to 1, hertz from 0")
        if not self.shares or min(self.shares) < 0 or not math.isclose(sum(self.shares), 1.0):
            raise ValueError("the shares of a load must not be negative, and add up to 1")

    def current_a(self, watts: float) -> float:
        """Return the rms current at a power; its sign is the power's for direct current."""
        amperes = watts / (self.volts * self.power_factor)
        return amperes if self.frequency_hz == 0 else abs(amperes)

    def drawn(self, from_s: float, to_s: float) -> Drawn:
        """Return what the load draws between two times of its profile."""
        span_s = to_s - from_s
        parts = list(self.profile.segments(from_s, to_s))
        mean_square = sum(seconds * watts**2 for seconds, watts in parts) / span_s
        watts = self.profile.energy_j(from_s, to_s) / span_s
        swings = [self.swing_w(power) for _, power in parts] or [self.swing_w(watts)]
        return Drawn(
            watts,
            math.copysign(self.current_a(math.sqrt(mean_square)), self.current_a(watts)),
            self.current_peak_a(max((abs(power) for _, power in parts), default=abs(watts))),
            max(most for _, most in swings),
            min(least for least, _ in swings),
        )

    def swing_w(self, watts: float) -> tuple[float, float]:
        """Return the lowest and the highest momentary power of a period at a mean power."""
        if self.frequency_hz == 0:
            return watts, watts
        low, high = swing(self.voltage_waveform, self.shape_of_current)
        ends = (watts * low / self.power_factor, watts * high / self.power_factor)
        return min(ends), max(ends)

    @property
    def voltage_peak_v(self) -> float:
        """Return the highest voltage of a period."""
        return self.volts if self.frequency_hz == 0 else self.volts * crest(self.voltage_waveform)

    @property
    def shape_of_current(self) -> Waveform:
        """Return the waveform of the current; without one a sine behind the voltage."""
        if self.current_waveform is not None:
            return self.current_waveform
        behind = cmath.phase(spectrum(self.voltage_waveform)[1]) - math.acos(self.power_factor)
        return Waveform(((1, 1.0, math.degrees(behind)),))

    def current_peak_a(self, watts: float) -> float:
        """Return the highest current of a period."""
        amperes = abs(self.current_a(watts))
        return amperes if self.frequency_hz == 0 else amperes * self.crest
