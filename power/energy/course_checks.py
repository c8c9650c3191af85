# SPDX-License-Identifier: Apache-2.0
"""Checks of the course of a run: its end, its length, its order, its holes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from power.energy.accuracy import CLOCKS_SHARE
from power.energy.measured_run import ENDED, Run, noise_floor_w
from power.energy.verdict import Finding, invalid, note, suspect
from power.meter import IntegrationState, MeterFlag
from power.readings import Columns

# Readings further apart than this many updates leave a gap.
GAP_UPDATES = 2.5
# A reply this many updates after the reading before it may have been late on its way.
LATE_UPDATES = 1.5
# At most this share of a run may be without readings.
MOST_UNSEEN = 0.5
# The first updates after START have no data on a real meter. This was recorded at an interval of
# 1 s; the number at shorter intervals is not known.
BLANK_UPDATES = 2
BLANK_S = 1.0
# A wall clock that moves further between two readings was set: NTP slews by 0.5 ms a second.
CLOCK_SET_S = 0.5
# No computer sleeps for less, and two clocks that are read one after the other differ by less.
SLEEP_LEAST_S = 0.1


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
    ended = run.rows.where(run.rows.having(lambda kind: kind.state in ENDED))
    if not len(ended):
        return
    last = run.final
    # The earlier reading must be an update older. Otherwise it may show the same stale value.
    age_s = last.monotonic_s - ended.numbers("monotonic_s")
    earlier = np.flatnonzero(age_s >= 0.9 * run.settings.update_interval_s)
    if not len(earlier):
        yield suspect(
            "final_unconfirmed",
            "The final energy was not read twice, one update apart."
            + ("" if run.sampled else " Read it at the meter's panel."),
        )
        return
    before = ended.reading(int(earlier[-1]))
    if (before.energy_wh, before.integration_s) != (last.energy_wh, last.integration_s):
        yield invalid(
            "final_differs",
            f"The energy still changed after the end: {before.energy_wh} Wh, then "
            f"{last.energy_wh} Wh.",
        )


def window(run: Run, session_s: float, clocks_share: float = CLOCKS_SHARE) -> Iterator[Finding]:
    """Check that the meter integrated as long as the session lasted.

    The meter's clock and ours drift apart by a share of the time.
    """
    measured = run.final.integration_s
    if measured is None or not math.isfinite(measured) or run.final.state is IntegrationState.START:
        return  # a meter that still integrates has not said how long it did
    tolerance_s = run.tolerance_s + clocks_share * session_s
    if abs(measured - session_s) > tolerance_s:
        yield invalid(
            "window",
            f"The meter integrated {measured:g} s, but the session lasted {session_s:.1f} s.",
        )
    timer_s = run.settings.timer_s
    if run.final.state is IntegrationState.TIMEUP and measured != timer_s:
        yield invalid(
            "timer",
            f"The meter's timer ended the run at {measured:g} s, but it was set to {timer_s} s.",
        )
    close = abs(measured - session_s) <= tolerance_s
    stopped = run.final.state is IntegrationState.STOP and measured < timer_s
    if close and stopped and session_s >= timer_s:
        # The tolerance hides the last second, but a run of full length ends by its timer.
        yield suspect(
            "stopped_short",
            f"Somebody stopped the meter at {measured:g} s, before its timer of {timer_s} s ended "
            "the run.",
        )


def order(run: Run) -> Iterator[Finding]:
    """Check that state, time and energy went forward, in step with our clock and without gaps."""
    if _restarted(run):
        yield invalid("restarted", "The integration ended and was started again.")
    if run.rows.having(lambda kind: kind.state is IntegrationState.RESET)[:-1].any():
        yield invalid("meter_reset", "The integrator was reset during the run.")
    yield from _backwards(run)
    yield from clock(run)
    gaps = _gaps_s(run)
    if gaps:
        yield note(
            "gap",
            f"Gaps between readings: {len(gaps)}, the longest {max(gaps):.1f} s. "
            + ("The integration" if run.sampled else "The meter's own integrator")
            + " went on.",
        )
    duration_s = _duration_s(run)
    if sum(gaps) > MOST_UNSEEN * duration_s:
        yield suspect(
            "few_samples",
            f"There are no readings for {min(sum(gaps), duration_s):.1f} of {duration_s:g} s. "
            "Clipping or a change of range in that time would not show.",
        )


def _gaps_s(run: Run) -> list[float]:
    """Return the times without readings while the integration ran, in seconds.

    After the end nothing is missed, so the last gap ends where the integration did.
    """
    at_s = run.running.numbers("monotonic_s")
    if not len(at_s):
        return []
    begun_s = _none(run.running.numbers("integration_s")[0]) or 0.0
    end_s = max(float(at_s[-1]), float(at_s[0]) - begun_s + _duration_s(run))
    all_s = run.rows.numbers("monotonic_s")
    after = np.flatnonzero(all_s > at_s[-1])
    steps = np.diff(at_s)
    gaps_s: list[float] = steps[steps > GAP_UPDATES * run.settings.update_interval_s].tolist()
    if len(after):
        step = min(float(all_s[after[0]]), end_s) - float(at_s[-1])
        gaps_s += [step] if step > GAP_UPDATES * run.settings.update_interval_s else []
    return gaps_s


def _duration_s(run: Run) -> float:
    return run.final.integration_s or 0.0


def _restarted(run: Run) -> bool:
    """Tell whether the meter reports a second begin, or the readings show one."""
    if MeterFlag.RESTARTED in run.final.flags:
        return True
    ended = run.rows.having(lambda kind: kind.state in (*ENDED, IntegrationState.ERROR))
    if not ended.any():
        return False
    first = int(np.argmax(ended))
    end = run.rows.reading(first).state
    # A run that ended has one end, so another end comes from a run that nobody saw.
    again = {IntegrationState.START, *ENDED} - {end}
    return bool(run.rows.having(lambda kind: kind.state in again)[first:].any())


def _backwards(run: Run) -> Iterator[Finding]:
    floor_wh = noise_floor_w(run) * run.settings.update_interval_s / 3600
    at_s, energy_wh = run.rows.numbers("monotonic_s"), run.rows.numbers("energy_wh")
    # A comparison with a value that is missing is false.
    time_back = (np.diff(run.rows.numbers("integration_s")) < 0).any()
    span_s = np.maximum(1.0, np.diff(at_s))
    energy_back = (energy_wh[1:] < energy_wh[:-1] - floor_wh * span_s).any()
    if time_back:
        yield invalid("time_went_back", "The integration time went back: the meter was restarted.")
    if energy_back and not run.settings.both_ways:
        yield invalid("energy_went_back", "The energy went down during the run.")


def clock(run: Run) -> Iterator[Finding]:
    """Compare TIME with our clock at each running reading, to find a pause or a held display.

    A reading that came late after a gap may have been on its way since the reading before. So its
    offset is an interval, and there is a pause only if no one offset fits all readings.
    """
    counted_s = run.running.numbers("integration_s")
    rows = run.running.where(~np.isnan(counted_s))
    if not len(rows) or run.sampled:
        return  # a program that integrates has no clock but ours
    late_s = LATE_UPDATES * run.settings.update_interval_s
    at_s = rows.numbers("monotonic_s")
    most = at_s - rows.numbers("integration_s")
    # The first reading has none before it that bounds its delay.
    gap_s = np.diff(at_s)
    least = most[1:] - np.where(gap_s > late_s, gap_s, 0.0)
    spread_s = float(least.max(initial=-math.inf) - most.min())
    if spread_s > run.tolerance_s + 0.001 * float(at_s[-1] - at_s[0]):
        yield suspect(
            "clock",
            f"The meter's integration time and our clock moved {spread_s:.1f} s apart during the "
            "run. The meter was paused, or its display was held.",
        )


def missing(run: Run) -> Iterator[Finding]:
    """Check for running readings without numbers; the first updates never have any."""
    if not len(run.running):
        yield suspect("few_samples", "There is no reading while the integration ran.")
        return
    late = after_the_blank(run)
    # Some meters that are sampled measure neither voltage nor current.
    optional = {"voltage_v", "current_a"} if run.sampled else set()
    holes = late.where(late.having(lambda kind: bool(kind.missing.keys() - optional)))
    if len(holes):
        names = sorted({name for kind in holes.seen() for name in kind.missing.keys() - optional})
        yield suspect(
            "no_data",
            f"{len(holes)} of {len(late)} readings lacked a number for {', '.join(names)}.",
        )


def after_the_blank(run: Run) -> Columns:
    """Return the running readings without those of the first updates, which have no data."""
    at_s = run.running.numbers("monotonic_s")
    blank_s = max(BLANK_S, BLANK_UPDATES * run.settings.update_interval_s)
    return run.running.where(at_s > (at_s[0] if len(at_s) else 0.0) + blank_s)


def wall_clock(run: Run) -> Iterator[Finding]:
    """Tell by how much the computer's wall clock was set during the run; the run counts by another.

    A program that is held up between its two clocks puts one reading off. So the middle one of
    three neighbours counts.
    """
    at_s, utc_us = run.rows.numbers("monotonic_s"), run.rows.utc_us
    moved_s = (utc_us - utc_us[0]) / 1e6 - (at_s - at_s[0])
    before, here, after = moved_s[:-2], moved_s[1:-1], moved_s[2:]
    smooth_s = np.maximum(np.minimum(before, here), np.minimum(np.maximum(before, here), after))
    set_s = np.diff(smooth_s)
    steps = [f"{step_s:+.1f} s" for step_s in set_s[np.abs(set_s) > CLOCK_SET_S]]
    if steps:
        yield note(
            "clock_set",
            f"The computer's wall clock was set during the run, by {', '.join(steps)}. Start, end "
            "and readings are timed by a clock that nobody sets.",
        )


def suspension(suspended_s: float) -> Iterator[Finding]:
    """Check whether the host slept during the session."""
    if suspended_s >= SLEEP_LEAST_S:
        yield suspect(
            "suspended", f"The computer slept for {suspended_s:.1f} s during the session."
        )


def _none(value: float) -> float | None:
    """Return a column's value as a reading has it."""
    return None if math.isnan(value) else float(value)


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
