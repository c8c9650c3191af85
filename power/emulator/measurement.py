# SPDX-License-Identifier: Apache-2.0
"""The measuring part: update ticks, ranges, over-range, integration, status bits.

Values are constant between two updates. Each update covers the time since the previous one. Its
power is the mean of the load over that time, so no part of a load is missed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from power.emulator.display_values import Averaging, MaxHold, Overlay
from power.emulator.formats import NO_DATA
from power.emulator.inputs import Inputs
from power.emulator.integrator import EmulatedIntegrator
from power.emulator.load import Drawn, Load
from power.emulator.memory import Memory
from power.emulator.ranging import best_range, over_bits, zero_limit
from power.emulator.settings import EmulatedModel, EmulatedSettings

# After a long time without a question or an integration only this many last updates are computed.
_MOST_IDLE_TICKS = 20

UPD, ITG, ITM = 0, 1, 2


@dataclass(frozen=True)
class Values:
    """The values of one update, before rounding; NaN is no data, infinity is over range."""

    volts: float = NO_DATA
    amperes: float = NO_DATA
    watts: float = NO_DATA
    voltage_peak: float = NO_DATA
    voltage_trough: float = NO_DATA
    current_peak: float = NO_DATA
    current_trough: float = NO_DATA
    power_peak: float = NO_DATA
    power_trough: float = NO_DATA
    frequency: float = NO_DATA
    energy_wh: float = 0.0
    positive_wh: float = 0.0
    negative_wh: float = 0.0
    charge_ah: float = 0.0
    positive_ah: float = NO_DATA
    negative_ah: float = NO_DATA
    time_s: float = 0.0


class EmulatedMeasurement:
    """The measurement of a load in update ticks; `advance` brings it to a moment of the clock.

    RATE and START restart the phase of the ticks, because the recorded rows of a real meter show
    exactly one second of energy at TIME 1. `profile_from_start` restarts the load profile at each
    START. The meter was switched on `on_for_s` ago, and the load profile begins now.
    """

    def __init__(
        self,
        load: Load,
        model: EmulatedModel,
        settings: EmulatedSettings,
        now: float,
        profile_from_start: bool,
        on_for_s: float = 0.0,
    ) -> None:
        self.inputs = Inputs(load, model, settings, now)
        self.model = model
        self.settings = settings
        self.integrator = EmulatedIntegrator()
        self.values = Values()
        self.condition = 0
        self.latched = 0
        self.filters: dict[int, str] = {}
        self.overlay = Overlay()
        self.averaging = Averaging()
        self.max_hold = MaxHold()
        self.memory: Memory[Values] = Memory()
        self.late_final = False
        self.updates = 0
        self._profile_from_start = profile_from_start
        self._origin_s = now - on_for_s
        self._tick = 0
        self._last_s = self._origin_s
        self._blank_ticks = 1
        self._energy_known_s = self._origin_s
        self._switching = False
        self._gap_s = 0.0

    def advance(self, now: float) -> None:
        """Do every update that is due, and end the integration if its timer has expired."""
        due = math.floor((now - self._origin_s) / self.settings.rate_s + 1e-9)
        if not self.integrator.running and due - self._tick > _MOST_IDLE_TICKS:
            self._tick = due - _MOST_IDLE_TICKS
            self._last_s = self._origin_s + self._tick * self.settings.rate_s
            self._energy_known_s = self._last_s
        while self._tick < due:
            at_s = self._origin_s + (self._tick + 1) * self.settings.rate_s
            self._expire(at_s)
            self._tick += 1
            self._update(at_s)
        self._expire(now)

    def next_update_s(self) -> float:
        """Return when the next update is due."""
        return self._origin_s + (self._tick + 1) * self.settings.rate_s

    def restart_updates(self, now: float) -> None:
        """Begin a new phase of updates; the first values come after one interval."""
        self._origin_s, self._tick, self._last_s = now, 0, now
        self.blank()

    def blank(self, ticks: int = 1) -> None:
        """Show no data until `ticks` updates are complete."""
        self._blank_ticks = max(self._blank_ticks, ticks)
        self.values = Values(**{**self._counters(), "frequency": NO_DATA})

    def start(self, now: float) -> None:
        """Start the integrator."""
        timer_s = self.settings.timer_s
        self.integrator.start(
            now, continuous=self.settings.integrate_mode == "CONTinuous", timer_s=timer_s
        )
        if self._profile_from_start:
            self.inputs.begin_profile(now)
        self._energy_known_s = now
        self._switching, self._gap_s = False, 0.0
        self.restart_updates(now)
        self._set_bits(self.condition | 1 << ITG | (1 << ITM if timer_s else 0))

    def stop(self, now: float, state: str = "STOP") -> None:
        """Stop the integrator, at a command, a key, or a loss of power (`ERROR`)."""
        if state == "STOP" and not self.integrator.running:
            self.integrator.stop(now)
        self._integrate(now)
        self.integrator.end(now, state)
        self._show_counters()
        self._set_bits(self.condition & ~(1 << ITG | 1 << ITM))

    def reset(self) -> None:
        """Reset the integrator."""
        self.integrator.reset()
        self.overlay.hyphen = ""
        self._show_counters(at_once=True)

    def force_bits(self, bits: int, updates: int) -> None:
        """Set condition bits for this many updates, beginning now."""
        self.overlay.force(bits, self.updates + updates)
        self._set_bits(self.condition | bits)

    def true_energy_wh(self, now: float) -> float:
        """Return the exact integral of the profile over the integrated time."""
        if self.integrator.state == "RESET":
            return 0.0
        end = now if self.integrator.running else self.integrator.ended_s
        return self.inputs.energy_j(self.integrator.started_s, end) / 3600

    def _expire(self, now: float) -> None:
        integrator, timer_s = self.integrator, self.settings.timer_s
        if not integrator.running or timer_s == 0:
            return
        end_s = integrator.expires_s(timer_s)
        if now < end_s - 1e-9:
            return
        self._integrate(end_s)
        if self.settings.integrate_mode == "CONTinuous":
            integrator.restart(end_s)
        else:
            integrator.end(end_s, "TIMEUP")
            self._set_bits(self.condition & ~(1 << ITG | 1 << ITM))
        self._show_counters()

    def _integrate(self, to_s: float) -> None:
        """Count the energy since the last count; a current below the zero limit counts as none.

        The meter measures nothing while a range switches. It fills the gap with the first power
        after the switch (IM WT310E-01EN, page 5-12).
        """
        if not self.integrator.running or to_s <= self._energy_known_s:
            return
        span_s = to_s - self._energy_known_s
        if self._blank_ticks and self._switching:
            self._gap_s += span_s
            self._energy_known_s = to_s
            return
        external = self.settings.sensor_range_v is not None
        joules = 0.0 if external else self.inputs.energy_j(self._energy_known_s, to_s)
        joules, span_s = joules * (1 + self._gap_s / span_s), span_s + self._gap_s
        self._gap_s, self._switching = 0.0, False
        amperes = self.inputs.load.current_a(joules / span_s)
        drawn = self.inputs.drawn(self._energy_known_s, to_s)
        given_j = self.inputs.given_j(self._energy_known_s, to_s, joules)
        mixed = given_j not in (0.0, joules)
        seen_a = drawn.amperes if mixed else amperes
        if abs(seen_a) <= zero_limit(self.settings, "CURRent"):
            joules = given_j = amperes = 0.0
        factor = self.inputs.power_scale(drawn)
        charges_c = self.inputs.counted_c(joules, given_j, amperes * span_s)
        self.integrator.add(
            (joules - given_j) * factor,
            given_j * factor,
            *(charge_c * self.inputs.scale("CURRent") for charge_c in charges_c),
        )
        self._energy_known_s = to_s

    def _update(self, at_s: float) -> None:
        drawn = self.inputs.drawn(self._last_s, at_s)
        self._last_s = at_s
        self.updates += 1
        self._integrate(at_s)
        switched = self._auto_range(drawn)
        bits = self.condition & (1 << ITG | 1 << ITM)
        bits |= over_bits(self.inputs.load, self.settings, drawn)
        bits |= self.overlay.forced_bits(self.updates)
        self._set_bits(bits | 1 << UPD)
        self._set_bits(bits)
        if switched:
            self._switching = self.integrator.running
            self._blank_ticks = max(self._blank_ticks, 2)
        self._blank_ticks = max(0, self._blank_ticks - 1)
        if self._blank_ticks:
            self.averaging.clear()
            self.values = Values(**self._counters())
        else:
            shown = self._held(self._averaged(self.inputs.shown(drawn)))
            self.values = Values(**shown, **self._counters())
        self.memory.offer(self.values, at_s)

    def _averaged(self, shown: dict[str, float]) -> dict[str, float]:
        settings = self.settings
        if not settings.averaging:
            self.averaging.clear()
            return shown
        return self.averaging.apply(shown, settings.averaging_type, settings.averaging_count)

    def _held(self, shown: dict[str, float]) -> dict[str, float]:
        if self.settings.max_hold:
            return self.max_hold.apply(shown)
        self.max_hold.clear()
        return shown

    def _counters(self) -> dict[str, float]:
        integrator = self.integrator
        return {
            "energy_wh": integrator.energy_wh,
            "positive_wh": integrator.positive_j / 3600,
            "negative_wh": integrator.negative_j / 3600,
            "charge_ah": (integrator.positive_c + integrator.negative_c) / 3600,
            **self._charges(),
            # Whole seconds (page 6-25); the allowance is for the clock's binary fractions.
            "time_s": float(math.floor(integrator.elapsed_s(self._last_s) + 1e-6)),
        }

    def _charges(self) -> dict[str, float]:
        """Return the charge of each direction, which DC mode alone has (01EN, page 5-1)."""
        if self.settings.mode != "DC":
            return {}
        positive_c, negative_c = self.integrator.positive_c, self.integrator.negative_c
        return {"positive_ah": positive_c / 3600, "negative_ah": negative_c / 3600}

    def _show_counters(self, at_once: bool = False) -> None:
        """Show energy and time now, or at the next update if the options say so."""
        if self.late_final and not at_once:
            return
        self.values = Values(**{**vars(self.values), **self._counters()})

    def _auto_range(self, drawn: Drawn) -> bool:
        """Change ranges by the rules of IM WT310E-01EN, page 2-7, and tell whether one changed."""
        changed = False
        load, settings = self.inputs.load, self.settings
        part = drawn.part(max(load.shares))
        for quantity, rms, peak in (
            ("VOLTage", load.volts, load.voltage_peak_v),
            (settings.input_of_current, abs(part.amperes), part.peak_a),
        ):
            if not settings.automatic(quantity):
                continue
            best = best_range(self.model, settings, quantity, rms, peak)
            if best != settings.range_of(quantity):
                self.set_range(quantity, best)
                changed = True
        if changed and self.integrator.running:
            self.overlay.hyphen = "before"
        return changed

    def set_range(self, quantity: str, value: float) -> None:
        """Set a range without a check."""
        if quantity == "VOLTage":
            self.settings.voltage_range_v = value
        elif quantity == "SENSor":
            self.settings.sensor_range_v = value
        else:
            self.settings.current_range_a, self.settings.sensor_range_v = value, None

    def _set_bits(self, bits: int) -> None:
        """Set the condition register and latch the transitions that the filters pick (7-5)."""
        for bit in range(16):
            before, after = self.condition >> bit & 1, bits >> bit & 1
            wanted = self.filters.get(bit + 1, "NEVer")
            if before != after and wanted in ("BOTH", "RISE" if after else "FALL"):
                self.latched |= 1 << bit
        self.condition = bits
