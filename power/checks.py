# SPDX-License-Identifier: Apache-2.0
"""The checks behind an energy verdict: each looks at a run and returns findings in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from power.accuracy import accuracy_of, power_uncertainty_w
from power.cross_check import CrossCheck
from power.meter import Flag, Identity, InputMode, IntegrationState, MeterSettings, Reading
from power.verdict import Finding, invalid, note, suspect

ENDED = (IntegrationState.STOP, IntegrationState.TIMEUP)
# Readings further apart than this many updates leave a gap.
GAP_UPDATES = 2.5
# More of a run than this share must not go without readings.
MOST_UNSEEN = 0.5
# The first updates after START have no data on a real meter (recorded at 1 s updates; how long it
# takes at shorter ones is not known).
BLANK_UPDATES = 2
BLANK_S = 1.0
# Above its rated range a crest can be cut without a sign; 128 % was recorded with half the power.
ABOVE_RANGE = 1.1
_SECOND = 1.0


@dataclass(frozen=True)
class Run:
    """Hold the readings of one integration, from the first that was not RESET."""

    readings: tuple[Reading, ...]
    settings: MeterSettings

    @staticmethod
    def of(readings: Sequence[Reading], settings: MeterSettings) -> Run | None:
        """Return the run within the readings, or None if nothing ever ran."""
        for index, reading in enumerate(readings):
            if reading.state is not IntegrationState.RESET:
                return Run(tuple(readings[index:]), settings)
        return None

    @property
    def final(self) -> Reading:
        """Return the last reading."""
        return self.readings[-1]

    @property
    def running(self) -> tuple[Reading, ...]:
        """Return the readings while the integrator ran."""
        return tuple(row for row in self.readings if row.state is IntegrationState.START)

    @property
    def tolerance_s(self) -> float:
        """Return by how much times may differ: an update, and a second because TIME is whole."""
        return self.settings.update_interval_s + _SECOND

    @property
    def power_range_w(self) -> float | None:
        """Return the largest voltage range times the largest current range in use, in watts."""
        volts = self._range("voltage_range_v")
        amperes = self._range("current_range_a")
        return None if volts is None or amperes is None else volts * amperes

    def _range(self, name: str) -> float | None:
        fixed: float | None = getattr(self.settings, name)
        seen = [value for row in self.readings if (value := getattr(row, name)) is not None]
        return max(seen) if seen else fixed


def ending(run: Run) -> Iterator[Finding]:
    """Check that the run ended, in a proper state, and that its last reading is confirmed."""
    state = run.final.state
    if state is IntegrationState.START:
        yield invalid("not_ended", "The integration was still running at the last reading.")
    elif state is IntegrationState.RESET:
        yield invalid("meter_reset", "The integrator was reset before its result was read.")
    elif state is IntegrationState.ERROR:
        yield invalid(
            "meter_error",
            "The meter ended the integration with an error: its power failed or it overflowed.",
        )
    if not _is_number(run.final.energy_wh) or not _is_number(run.final.integration_s):
        yield invalid("no_final_energy", "The last reading has no energy or no integration time.")
        return
    ended = [row for row in run.readings if row.state in ENDED]
    if not ended:
        return
    last = run.final
    # The reading before last must be an update older, else it can show the same stale value.
    earlier = [
        row
        for row in ended
        if last.monotonic_s - row.monotonic_s >= 0.9 * run.settings.update_interval_s
    ]
    if not earlier:
        yield suspect(
            "final_unconfirmed",
            "The final energy was not read twice, one update apart; read it again at the meter.",
        )
    elif (earlier[-1].energy_wh, earlier[-1].integration_s) != (
        last.energy_wh,
        last.integration_s,
    ):
        yield invalid(
            "final_differs",
            f"The energy still changed after the end: {earlier[-1].energy_wh} Wh, then "
            f"{last.energy_wh} Wh.",
        )


def window(run: Run, session_s: float) -> Iterator[Finding]:
    """Check that the meter integrated as long as the session lasted."""
    measured = run.final.integration_s
    if measured is None or not math.isfinite(measured):
        return
    if abs(measured - session_s) > run.tolerance_s:
        yield invalid(
            "window",
            f"The meter integrated {measured:g} s, but the session lasted {session_s:.1f} s.",
        )
    timer_s = run.settings.timer_s
    if run.final.state is IntegrationState.TIMEUP and measured != timer_s:
        yield invalid(
            "timer",
            f"The meter's timer ended the run at {measured:g} s, but was set to {timer_s} s.",
        )


def order(run: Run) -> Iterator[Finding]:
    """Check that state, time and energy only went forward, and the meter's clock with ours."""
    ended = False
    for row in run.readings:
        if ended and row.state is IntegrationState.START:
            yield invalid("restarted", "The integration ended and was started again.")
            break
        ended = ended or row.state in ENDED or row.state is IntegrationState.ERROR
    if any(row.state is IntegrationState.RESET for row in run.readings[:-1]):
        yield invalid("meter_reset", "The integrator was reset during the run.")
    yield from _backwards(run)
    yield from _clock(run)
    gaps = [
        later.monotonic_s - earlier.monotonic_s
        for earlier, later in zip(run.readings, run.readings[1:], strict=False)
        if earlier.state is IntegrationState.START
        and later.monotonic_s - earlier.monotonic_s > GAP_UPDATES * run.settings.update_interval_s
    ]
    if gaps:
        yield note(
            "gap",
            f"Gaps between readings: {len(gaps)}, the longest {max(gaps):.1f} s; the meter's own "
            "integrator went on.",
        )
    duration_s = run.final.integration_s or 0.0
    if sum(gaps) > MOST_UNSEEN * duration_s:
        yield suspect(
            "few_samples",
            f"Nobody watched the meter for {sum(gaps):.1f} of {duration_s:g} s, so that clipping "
            "or a change of range there would have gone unseen.",
        )


def _backwards(run: Run) -> Iterator[Finding]:
    floor_wh = noise_floor_w(run) * run.settings.update_interval_s / 3600
    time_back = energy_back = False
    for earlier, later in zip(run.readings, run.readings[1:], strict=False):
        if earlier.integration_s is not None and later.integration_s is not None:
            time_back = time_back or later.integration_s < earlier.integration_s
        if earlier.energy_wh is not None and later.energy_wh is not None:
            span_s = max(1.0, later.monotonic_s - earlier.monotonic_s)
            energy_back = energy_back or later.energy_wh < earlier.energy_wh - floor_wh * span_s
    if time_back:
        yield invalid("time_went_back", "The integration time went back: the meter was restarted.")
    if energy_back:
        yield invalid("energy_went_back", "The energy went down during the run.")


def _clock(run: Run) -> Iterator[Finding]:
    """Compare TIME with our clock at every running reading; a held display or a stop shows here."""
    rows = [row for row in run.running if row.integration_s is not None]
    if not rows:
        return
    offsets = [row.monotonic_s - (row.integration_s or 0.0) for row in rows]
    spread_s = max(offsets) - min(offsets)
    if spread_s > run.tolerance_s + 0.001 * (rows[-1].monotonic_s - rows[0].monotonic_s):
        yield suspect(
            "clock",
            f"The meter's integration time and our clock moved {spread_s:.1f} s apart during the "
            "run: it was paused or its display was held.",
        )


def ranges(run: Run) -> Iterator[Finding]:
    """Check for over-range, cut peaks, and ranges that changed."""
    flags = frozenset[Flag]().union(*(row.flags for row in run.readings))
    over = {reason for row in run.readings for reason in row.absent.values() if "over" in reason}
    if over or Flag.OVER_RANGE in flags:
        yield invalid("over_range", "A value was over its range; choose a larger range and repeat.")
    for flag, name in (
        (Flag.VOLTAGE_PEAK_OVER, "voltage"),
        (Flag.CURRENT_PEAK_OVER, "current"),
    ):
        if flag in flags:
            yield invalid(
                "peak_over",
                f"Peaks of the {name} were cut off, so the energy is too low; choose a larger "
                f"{name} range and repeat.",
            )
    for name, unit in (("voltage_range_v", "V"), ("current_range_a", "A")):
        yield from _range_changes(run, name, unit)
    fixed = None not in (run.settings.voltage_range_v, run.settings.current_range_a)
    if fixed and flags & {Flag.AUTO_RANGE, Flag.RANGE_SWITCHED}:
        yield invalid(
            "range_changed",
            "The meter switched itself to auto-range: the input was excessive for its range.",
        )
    elif Flag.RANGE_SWITCHED in flags:
        yield suspect("range_switched", "The meter reports that a range switched during the run.")
    if not fixed:
        yield suspect(
            "auto_range",
            "The run was made on auto-range; while a range switches the meter fills in estimates.",
        )


def _range_changes(run: Run, name: str, unit: str) -> Iterator[Finding]:
    fixed: float | None = getattr(run.settings, name)
    seen = sorted({value for row in run.readings if (value := getattr(row, name)) is not None})
    word = name.split("_")[0]
    if fixed is None:
        if len(seen) > 1:
            listed = ", ".join(f"{value:g} {unit}" for value in seen)
            yield suspect("range_switched", f"The {word} range switched during the run: {listed}.")
        return
    others = [value for value in seen if not math.isclose(value, fixed, rel_tol=1e-3)]
    if others:
        yield invalid(
            "range_changed",
            f"The {word} range was set to {fixed:g} {unit} and changed to {others[-1]:g} {unit}.",
        )


def missing(run: Run) -> Iterator[Finding]:
    """Check for running readings without numbers, after the first updates, which never have any."""
    rows = run.running
    if not rows:
        yield suspect("few_samples", "There is no reading while the integration ran.")
        return
    blank_s = max(BLANK_S, BLANK_UPDATES * run.settings.update_interval_s)
    begin_s = rows[0].monotonic_s + blank_s
    late = [row for row in rows if row.monotonic_s > begin_s]
    holes = [row for row in late if row.absent]
    if holes:
        names = sorted({name for row in holes for name in row.absent})
        yield suspect(
            "no_data",
            f"{len(holes)} of {len(late)} readings lacked a number for {', '.join(names)}.",
        )


def plausibility(
    run: Run, identity: Identity | None, session_s: float, *, active: bool
) -> Iterator[Finding]:
    """Check powers against sign, size, range, voltage and current."""
    powers = [row.power_w for row in run.running if row.power_w is not None]
    floor_w = noise_floor_w(run, identity)
    negative = [power for power in powers if power < -floor_w]
    if negative:
        yield suspect(
            "negative_power",
            f"{len(negative)} readings had negative power, down to {min(negative):.3g} W; check "
            "the wiring.",
        )
    final = run.final
    if active and final.energy_wh is not None and final.integration_s:
        mean_w = 3600 * final.energy_wh / final.integration_s
        if mean_w <= floor_w:
            yield invalid(
                "no_load",
                f"The device drew {mean_w:.3g} W on average, no more than the meter's own error: "
                "it was not connected through the meter, or runs from a battery or second cable.",
            )
    yield from _above_range(run)
    if run.settings.mode is InputMode.DC:
        yield from _mean_of_alternating(run, floor_w)
        return
    odd = [
        row
        for row in run.running
        if row.power_w is not None
        and row.voltage_v is not None
        and row.current_a is not None
        and abs(row.power_w) > 1.02 * abs(row.voltage_v * row.current_a) + 2 * floor_w
    ]
    if odd:
        yield suspect(
            "implausible", f"{len(odd)} readings had more power than voltage times current."
        )


def _above_range(run: Run) -> Iterator[Finding]:
    """Look at the readings after the end, too: the device is mostly still there."""
    for name, range_name in (("voltage_v", "voltage_range_v"), ("current_a", "current_range_a")):
        shares = [
            abs(value) / size
            for row in run.readings
            if (value := getattr(row, name)) is not None
            and (size := getattr(row, range_name) or getattr(run.settings, range_name))
        ]
        if shares and max(shares) > ABOVE_RANGE:
            word = name.split("_")[0]
            yield suspect(
                "above_range",
                f"The {word} reached {max(shares):.0%} of its range, where crests may be cut off "
                "without a sign; choose a larger range.",
            )


def _mean_of_alternating(run: Run, floor_w: float) -> Iterator[Finding]:
    odd = [
        row
        for row in run.running
        if row.power_w is not None
        and row.voltage_v is not None
        and row.current_a is not None
        and row.power_w > 10 * floor_w
        and abs(row.voltage_v * row.current_a) < 0.1 * row.power_w
    ]
    if odd:
        yield note(
            "mode",
            "DC mode on an AC load: voltage and current are means near zero; power and energy "
            "are right.",
        )


def agreement(run: Run, compared: CrossCheck | None) -> Iterator[Finding]:
    """Check the integrator against the sampled powers."""
    if compared is None:
        if run.running:
            yield suspect(
                "few_samples", "Too few readings have numbers to check the integrator against."
            )
        return
    difference = abs(compared.difference_wh)
    if difference <= compared.allowance_wh:
        return
    text = (
        f"Samples give {compared.sampled_wh:.6g} Wh where the integrator counted "
        f"{compared.counted_wh:.6g} Wh; {compared.allowance_wh:.2g} Wh may be explained."
    )
    far = difference > 3 * compared.allowance_wh + 0.1 * abs(compared.counted_wh)
    yield invalid("cross_check", text) if far else suspect("cross_check", text)


def suspension(suspended_s: float) -> Finding:
    """Return the finding that the host slept during the session."""
    return suspect("suspended", f"The computer slept for {suspended_s:.1f} s during the session.")


def uncertainty(energy_wh: float | None, uncertainty_wh: float | None) -> Iterator[Finding]:
    """Note an uncertainty above 1 %, or an unknown one."""
    if uncertainty_wh is None or energy_wh is None:
        yield note("uncertain", "The ranges are not known, so the uncertainty is not either.")
    elif energy_wh > 0 and uncertainty_wh > 0.01 * energy_wh:
        yield note(
            "uncertain",
            f"The uncertainty is {uncertainty_wh / energy_wh:.1%} of the energy; smaller ranges "
            "would lower it.",
        )


def noise_floor_w(run: Run, identity: Identity | None = None) -> float:
    """Return the power that the meter may show without a load: its error at zero, in watts."""
    power_range_w = run.power_range_w
    if power_range_w is None:
        return 1e-3
    return power_uncertainty_w(accuracy_of(identity, run.settings.mode), 0.0, power_range_w)


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
