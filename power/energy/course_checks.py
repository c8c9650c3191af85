# SPDX-License-Identifier: Apache-2.0
"""Checks of the course of a run: its end, its length, its order, its holes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from power.energy.measured_run import ENDED, Run, noise_floor_w
from power.energy.verdict import Finding, invalid, note, suspect
from power.meter import IntegrationState, Reading

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
    ended = [row for row in run.readings if row.state in ENDED]
    if not ended:
        return
    last = run.final
    # The earlier reading must be an update older. Otherwise it may show the same stale value.
    earlier = [
        row
        for row in ended
        if last.monotonic_s - row.monotonic_s >= 0.9 * run.settings.update_interval_s
    ]
    if not earlier:
        yield suspect(
            "final_unconfirmed",
            "The final energy was not read twice, one update apart. Read it at the meter's panel.",
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
    if measured is None or not math.isfinite(measured) or run.final.state is IntegrationState.START:
        return  # a meter that still integrates has not said how long it did
    if abs(measured - session_s) > run.tolerance_s:
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
    close = abs(measured - session_s) <= run.tolerance_s
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
    gaps = _gaps_s(run)
    if gaps:
        yield note(
            "gap",
            f"Gaps between readings: {len(gaps)}, the longest {max(gaps):.1f} s. The meter's own "
            "integrator went on.",
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
    rows = run.running
    if not rows:
        return []
    at_s = [row.monotonic_s for row in rows]
    first = rows[0]
    end_s = max(at_s[-1], first.monotonic_s - (first.integration_s or 0.0) + _duration_s(run))
    after = [row.monotonic_s for row in run.readings if row.monotonic_s > at_s[-1]]
    if after:
        at_s.append(min(after[0], end_s))
    steps = [later - earlier for earlier, later in zip(at_s, at_s[1:], strict=False)]
    return [step for step in steps if step > GAP_UPDATES * run.settings.update_interval_s]


def _duration_s(run: Run) -> float:
    return run.final.integration_s or 0.0


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
    """Compare TIME with our clock at each running reading, to find a pause or a held display.

    A reading that came late after a gap may have been on its way since the reading before. So its
    offset is an interval, and there is a pause only if no one offset fits all readings.
    """
    rows = [row for row in run.running if row.integration_s is not None]
    if not rows or run.settings.sampling is not None:
        return  # a program that integrates has no clock but ours
    late_s = LATE_UPDATES * run.settings.update_interval_s
    most = [row.monotonic_s - (row.integration_s or 0.0) for row in rows]
    # The first reading has none before it that bounds its delay.
    least = []
    for offset_s, row, before in zip(most[1:], rows[1:], rows, strict=False):
        gap_s = row.monotonic_s - before.monotonic_s
        least.append(offset_s - (gap_s if gap_s > late_s else 0.0))
    spread_s = max(least, default=-math.inf) - min(most)
    if spread_s > run.tolerance_s + 0.001 * (rows[-1].monotonic_s - rows[0].monotonic_s):
        yield suspect(
            "clock",
            f"The meter's integration time and our clock moved {spread_s:.1f} s apart during the "
            "run. The meter was paused, or its display was held.",
        )


def missing(run: Run) -> Iterator[Finding]:
    """Check for running readings without numbers; the first updates never have any."""
    if not run.running:
        yield suspect("few_samples", "There is no reading while the integration ran.")
        return
    late = after_the_blank(run)
    # Some meters that are sampled measure neither voltage nor current.
    optional = {"voltage_v", "current_a"} if run.settings.sampling is not None else set()
    holes = [row for row in late if row.missing.keys() - optional]
    if holes:
        names = sorted({name for row in holes for name in row.missing.keys() - optional})
        yield suspect(
            "no_data",
            f"{len(holes)} of {len(late)} readings lacked a number for {', '.join(names)}.",
        )


def after_the_blank(run: Run) -> list[Reading]:
    """Return the running readings without those of the first updates, which have no data."""
    rows = run.running
    blank_s = max(BLANK_S, BLANK_UPDATES * run.settings.update_interval_s)
    return [row for row in rows if row.monotonic_s > rows[0].monotonic_s + blank_s]


def wall_clock(run: Run) -> Iterator[Finding]:
    """Tell by how much the computer's wall clock was set during the run; the run counts by another.

    A program that is held up between its two clocks puts one reading off. So the middle one of
    three neighbours counts.
    """
    rows = run.readings
    moved_s = [
        (row.utc - rows[0].utc).total_seconds() - (row.monotonic_s - rows[0].monotonic_s)
        for row in rows
    ]
    smooth_s = [sorted(three)[1] for three in zip(moved_s, moved_s[1:], moved_s[2:], strict=False)]
    steps = [
        f"{later_s - earlier_s:+.1f} s"
        for earlier_s, later_s in zip(smooth_s, smooth_s[1:], strict=False)
        if abs(later_s - earlier_s) > CLOCK_SET_S
    ]
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


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
