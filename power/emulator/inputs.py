# SPDX-License-Identifier: Apache-2.0
"""What the meter's inputs see of a load, in the present ranges, mode and scaling."""

from __future__ import annotations

from dataclasses import replace

from power.emulator.formats import OVER_RANGE
from power.emulator.load import OVER_LIMIT, PEAK_LIMIT, Drawn, Load
from power.emulator.profile import constant
from power.emulator.ranging import clipping, zero_limit
from power.emulator.settings import EmulatedModel, EmulatedSettings


class Inputs:
    """The inputs, to which the load is connected; an external sensor's range sees no load.

    `begins_s` is when the load's profile begins, by the emulator's clock. `clipped` is the share of
    the power that a fault leaves.
    """

    def __init__(
        self, load: Load, model: EmulatedModel, settings: EmulatedSettings, begins_s: float
    ) -> None:
        self.load = load
        self.clipped = 1.0
        self._model = model
        self._settings = settings
        self._begins_s = begins_s
        self._drawn_now_w: float | None = None

    def begin_profile(self, now: float) -> None:
        """Begin the load's profile anew; a load that was changed stays as it is."""
        self._begins_s = now
        if self._drawn_now_w is not None:
            # A profile that begins anew would repeat the change after the time it came at.
            self.load = replace(self.load, profile=constant(self._drawn_now_w))

    def change_load(self, watts: float, at_s: float) -> None:
        """Let the load draw another power from this time on; the past does not change."""
        from_s = at_s - self._begins_s
        self.load = replace(self.load, profile=self.load.profile.continued(from_s, watts))
        self._drawn_now_w = watts

    def drawn(self, from_s: float, to_s: float) -> Drawn:
        """Return what the meter's inputs saw of the load between two instants of the clock."""
        if self._settings.sensor_range_v is not None:
            return Drawn(0.0, 0.0, 0.0)
        return self.load.drawn(from_s - self._begins_s, to_s - self._begins_s)

    def energy_j(self, from_s: float, to_s: float) -> float:
        """Return the load's own energy between two instants of the clock, in joules."""
        origin = self._begins_s
        return self.load.profile.energy_j(from_s - origin, to_s - origin)

    def given_j(self, from_s: float, to_s: float, joules: float) -> float:
        """Return the part of an energy that the load gave back, zero or below."""
        origin = self._begins_s
        parts = list(self.load.profile.segments(from_s - origin, to_s - origin))
        given_j = sum(seconds * watts for seconds, watts in parts if watts < 0)
        if not given_j or self._settings.sensor_range_v is not None:
            return 0.0
        return given_j if any(watts > 0 for _, watts in parts) else joules

    def counted_c(self, joules: float, given_j: float, rms_c: float) -> tuple[float, float]:
        """Return the charge of each direction; the mean of an alternating current is zero."""
        load = self.load
        if load.frequency_hz > 0:
            return (0.0 if self._settings.mode == "DC" else rms_c), 0.0
        volts = load.volts * load.power_factor
        return (joules - given_j) / volts, given_j / volts

    def scale(self, quantity: str) -> float:
        """Return the factor by which scaling multiplies a value of all elements together.

        Voltage is that of the first element. Current and power divide among the elements, each
        with ratios of its own.
        """
        elements = self._model.elements
        if quantity == "VOLTage":
            return self._settings.scale(quantity, elements[0])
        parts = zip(elements, self.load.shares, strict=False)
        return sum(share * self._settings.scale(quantity, element) for element, share in parts)

    def power_scale(self, drawn: Drawn) -> float:
        """Return the factor of the shown power: what clipping and a fault leave of it, scaled."""
        return self._unclipped(drawn) * self.scale("POWer")

    def _unclipped(self, drawn: Drawn) -> float:
        """Return the share of the power that is left, with that of a fault."""
        return self.clipped * clipping(self.load, self._settings, drawn)

    def shown(self, drawn: Drawn) -> dict[str, float]:
        """Return the electrical values of an update in the present input mode and ranges."""
        load, settings = self.load, self._settings
        volts, amperes = load.volts, drawn.amperes
        most = max(load.shares)
        over_u = volts > OVER_LIMIT[settings.crest_factor] * settings.voltage_range_v
        over_i = abs(amperes) * most > OVER_LIMIT[settings.crest_factor] * settings.current_range_a
        watts = drawn.watts * self._unclipped(drawn)
        if settings.mode == "DC" and load.frequency_hz > 0:
            # The mean of an alternating quantity; power stays right. Recorded on a real meter.
            volts, amperes = 0.0, 0.0
        elif abs(amperes) * most <= zero_limit(self._settings, "CURRent"):
            amperes = watts = 0.0
        return {
            "volts": OVER_RANGE if over_u else volts * self.scale("VOLTage"),
            "amperes": OVER_RANGE if over_i else amperes * self.scale("CURRent"),
            "watts": OVER_RANGE if over_u or over_i else watts * self.scale("POWer"),
            **self._peaks(drawn),
            "frequency": self._frequency(),
        }

    def _peaks(self, drawn: Drawn) -> dict[str, float]:
        """Return the peaks, cut at the limit of the range (IM WT310E-01EN, page 5-12)."""
        limit, load = PEAK_LIMIT[self._settings.crest_factor], self.load
        volts = min(load.voltage_peak_v, limit * self._settings.voltage_range_v)
        volts *= self.scale("VOLTage")
        amperes = min(drawn.peak_a, limit * self._settings.current_range_a / max(load.shares))
        amperes *= self.scale("CURRent")
        lowest = 1.0 if load.frequency_hz == 0 else -1.0
        factor = self.power_scale(drawn)
        return {
            "power_peak": drawn.most_w * factor,
            "power_trough": drawn.least_w * factor,
            "voltage_peak": volts,
            "voltage_trough": lowest * volts,
            "current_peak": amperes,
            "current_trough": lowest * amperes,
        }

    def _frequency(self) -> float:
        """Return the frequency, or an error below the lowest that the update interval allows."""
        frequency = self.load.frequency_hz
        return frequency if frequency >= 2.0 / self._settings.rate_s else OVER_RANGE
