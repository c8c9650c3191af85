# SPDX-License-Identifier: Apache-2.0
"""The judge of a session's energy, and the facts that it needs beside the readings.

Every program uses this one judge, and the judge is pure. The energy is the integrator's last WH
value. Everything else only decides whether that energy may be used.

Findings by code, INVALID: `no_readings`, `not_started`, `not_ended`, `meter_reset`, `meter_error`,
`restarted`, `time_went_back`, `energy_went_back`, `no_final_energy`, `final_differs`, `window`,
`timer`, `over_range`, `peak_over`, `range_changed`, `no_load`, `negative_energy`, `scaling`,
`samples_missing`, `never_settled`, `clipping` (cut), `cross_check` (far off, or too low with a
gap). SUSPECT: `final_unconfirmed`, `auto_range`, `range_switched`, `above_range`, `clipping`,
`no_data`, `negative_power`, `clock`, `few_samples`, `suspended`, `implausible`, `cross_check`,
`no_load_half`, `settings_changed`, `unchecked`, `elements_differ`, `calibration`, `unspecified`,
`stopped_short`, `not_official`, `samples_missed`, `slow_samples`, `samples_lost`,
`impossible_power`, `counter_differs`, `counter_restarted`, `volt_amperes_differ`, `no_witness`,
`witness_coarse`, `device_restarted`, `device_fault`, `one_part`, `sampling_changed`,
`parts_missing`, `parts_differ`. Notes: `gap`, `clock_set`, `uncertain`, `spec_1_percent`,
`readings_over_1_percent`, `mode`, `elements`, `items_empty`. A rescue adds `stopped` and
`rescued_alone` (SUSPECT) and `rescued` (a note); a recording that left the meter early adds `left`
(SUSPECT), and `record --official` adds `official_bound` (SUSPECT).
With `both_ways` in the settings negative power and energy are none of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from power.energy import certainty_checks, course_checks, unofficial_checks, value_checks
from power.energy.accuracy import CLOCKS_SHARE
from power.energy.both_ways import BothWays, both_ways, both_ways_to_json
from power.energy.both_ways import findings as both_ways_findings
from power.energy.conditions import (
    UNKNOWN,
    AmbientConditions,
    conditions_from_json,
    conditions_to_json,
)
from power.energy.duration import Duration, duration_of, mean_power
from power.energy.judge_rules import FIRST_RULE, RULE, by_first_rule
from power.energy.measured_run import (
    ENDED,
    CrossCheck,
    Run,
    cross_check,
    switching_limit_wh,
)
from power.energy.uncertainty import EnergyLimit, Measuring, energy_limit
from power.energy.verdict import EnergyResult as EnergyResult
from power.energy.verdict import (
    Finding,
    finding_from_json,
    finding_to_json,
    invalid,
    with_findings,
    worst,
)
from power.energy.verdict import Verdict as Verdict
from power.meter import Identity, MeterFlag, MeterSettings, Reading
from power.readings import Columns, Readings
from power.values import (
    flags_from_json,
    flags_to_json,
    identity_from_json,
    identity_to_json,
    settings_from_json,
    settings_to_json,
)


@dataclass(frozen=True)
class RunFacts:
    """The facts of one run: the meter, its settings, the run's length, and what was noticed.

    `session_s` is None until the run has ended. `stopped_s`, `active` and `suspended_s` are
    arguments of `judge_energy`. The meter reported `flags` and the ranges at the end; a power log
    has no columns for them. `added` holds findings that do not come from the judge, such as a
    restart of the computer or a reason for auto-range. `conditions` are the answers of people.
    """

    identity: Identity | None
    settings: MeterSettings
    session_s: float | None = None
    suspended_s: float = 0.0
    active: bool = True
    flags: frozenset[MeterFlag] = frozenset()
    voltage_range_v: float | None = None
    current_range_a: float | None = None
    added: tuple[Finding, ...] = ()
    conditions: AmbientConditions = UNKNOWN
    stopped_s: tuple[float, float] | None = None

    def ended(self, session_s: float | None, last: Reading) -> RunFacts:
        """Return these facts with the session's length, and with flags and ranges of `last`."""
        return replace(
            self,
            session_s=session_s,
            flags=last.flags,
            voltage_range_v=last.voltage_range_v,
            current_range_a=last.current_range_a,
        )


def judge_run(readings: Sequence[Reading], facts: RunFacts, *, rule: int = RULE) -> EnergyResult:
    """Return the energy of a run, judged from its readings and its stored facts alone.

    `rule` is that of the judge who first judged it (see `power.energy.judge_rules`).
    Readings of a power log lack flags and ranges; the facts add theirs to the last reading. Raises
    ValueError if the facts lack the session's length.
    """
    if facts.session_s is None:
        raise ValueError("the facts of the run lack `session_s`: the run had not ended yet")
    result = judge_energy(
        _with_end(readings, facts),
        session_s=facts.session_s,
        settings=facts.settings,
        identity=facts.identity,
        active=facts.active,
        suspended_s=facts.suspended_s,
        conditions=facts.conditions,
        stopped_s=facts.stopped_s,
        rule=rule,
    )
    return with_findings(result, facts.added)


@np.errstate(all="ignore")
def judge_energy(
    readings: Sequence[Reading],
    *,
    session_s: float,
    settings: MeterSettings,
    identity: Identity | None = None,
    active: bool = True,
    suspended_s: float = 0.0,
    conditions: AmbientConditions = UNKNOWN,
    stopped_s: tuple[float, float] | None = None,
    rule: int = RULE,
) -> EnergyResult:
    """Return the energy of a session from its readings, in order of time.

    `readings` begin before or at the start of the integration. They end with two readings after its
    end, one update apart. `session_s` is the session's true length by the host's monotonic clock,
    from the start to the deadline or the early logout. `settings` were read back before the start;
    a range of None (auto-range) makes the verdict SUSPECT. `active` is False if the device had no
    reason to draw power. `suspended_s` says how long the host slept. `conditions` say how warm it
    was, and when the meter was calibrated. `stopped_s` are the least and the most seconds from the
    START to a STOP of this program, None if it sent none. `rule` is one of
    `power.energy.judge_rules`; a new run has the newest.

    The top of this module lists the findings.
    """
    readings = Readings.of(readings)
    run = Run.of(readings, settings)
    if run is None:
        return _without_run(readings, session_s, settings, conditions)
    compared = cross_check(run)
    measuring = Measuring(identity, settings, conditions)
    lasted = _duration(run, session_s, stopped_s)
    # A run whose STOP nobody noted counts with whole seconds, as 1.0 has stored its limit.
    seconds = run.final.integration_s
    if stopped_s is not None and lasted is not None:
        seconds = lasted.high_s
    parts = both_ways(run, measuring, seconds or 0.0)
    flowed_wh = run.final.energy_wh if parts is None else parts.flowed_wh
    counted = lasted if rule > FIRST_RULE else Duration(run.final.integration_s or 0.0)
    limit = _limit(run, measuring, flowed_wh, seconds, rule)
    findings = [
        *_of_the_course(run, session_s, rule),
        *value_checks.plausibility(run, identity, flowed_wh, counted, active=active),
        *both_ways_findings(run, parts),
        *course_checks.wall_clock(run),
        *course_checks.suspension(suspended_s),
        *_of_the_values(run, compared, identity),
        *certainty_checks.uncertainty(flowed_wh, limit, sampled=settings.sampling is not None),
        *certainty_checks.circumstances(run, measuring),
    ]
    if rule == FIRST_RULE:
        findings = by_first_rule(findings, far_off=value_checks.far_off(compared))
    result = _result(run, session_s, findings, limit, compared, conditions)
    result = _with_duration(result, lasted)
    return _with_parts(result, run, parts)


def _without_run(
    readings: Readings, session_s: float, settings: MeterSettings, conditions: AmbientConditions
) -> EnergyResult:
    return EnergyResult(
        Verdict.INVALID,
        None,
        None,
        (_never_ran(readings),),
        session_s=session_s,
        conditions=conditions.words(asked=settings.sampling is None),
        element=settings.element,
    )


def _of_the_course(run: Run, session_s: float, rule: int) -> Iterator[Finding]:
    """Yield what is wrong with how the run began, went on and ended, and with its settings."""
    yield from course_checks.ending(run)
    yield from course_checks.window(run, session_s, CLOCKS_SHARE if rule > FIRST_RULE else 0.0)
    yield from course_checks.order(run)
    yield from value_checks.ranges(run)
    yield from value_checks.settings_after(run)
    yield from course_checks.missing(run)


def _of_the_values(
    run: Run, compared: CrossCheck | None, identity: Identity | None
) -> Iterator[Finding]:
    """Yield what is wrong with the values beside the energy, and with the kind of meter."""
    yield from value_checks.agreement(run, compared)
    yield from value_checks.quantities(run)
    yield from unofficial_checks.other_meter(run, identity)
    yield from certainty_checks.elements(run)


def _result(
    run: Run,
    session_s: float,
    findings: Sequence[Finding],
    limit: EnergyLimit | None,
    compared: CrossCheck | None,
    conditions: AmbientConditions,
) -> EnergyResult:
    """Return the energy under the worst of the findings; an INVALID run has none."""
    final, verdict = run.final, worst(findings)
    energy_wh = _finite(final.energy_wh)
    usable = verdict is not Verdict.INVALID
    return EnergyResult(
        verdict=verdict,
        energy_wh=energy_wh if usable else None,
        uncertainty_wh=limit.total_wh if usable and limit is not None else None,
        findings=tuple(findings),
        integrator_wh=energy_wh,
        cross_check_wh=(
            None if compared is None or energy_wh is None else energy_wh + compared.difference_wh
        ),
        integration_s=final.integration_s,
        session_s=session_s,
        end_state=final.state,
        samples=len(run.rows),
        budget_wh={} if limit is None else limit.terms_wh,
        over_one_percent=None if limit is None else limit.over_one_percent,
        conditions=conditions.words(asked=not run.sampled),
        element=run.settings.element,
        elements=final.elements,
    )


def _duration(run: Run, session_s: float, stopped_s: tuple[float, float] | None) -> Duration | None:
    """Return how long the meter integrated, None while it still does."""
    final, timer_s = run.final, run.settings.timer_s
    if final.state not in ENDED:
        return duration_of(final.integration_s, None, timer_s=math.inf)
    ended = np.flatnonzero(run.rows.having(lambda kind: kind.state in ENDED))
    return duration_of(
        final.integration_s,
        final.state,
        timer_s=timer_s,
        session_s=session_s,
        stopped_s=stopped_s,
        seen_s=float(run.rows.numbers("monotonic_s")[ended[0]]),
        exact=run.sampled,
    )


def _with_duration(result: EnergyResult, lasted: Duration | None) -> EnergyResult:
    """Return the result with how long the meter integrated, and the mean power in that time."""
    if lasted is None:
        return result
    mean_w, off_w = mean_power(result.energy_wh, lasted)
    return replace(
        result,
        duration_s=lasted.seconds,
        duration_uncertainty_s=lasted.off_s,
        mean_power_w=mean_w,
        mean_power_uncertainty_w=off_w,
    )


def _with_parts(result: EnergyResult, run: Run, parts: BothWays | None) -> EnergyResult:
    """Return the result with the energies of both directions, where they are expected."""
    if not run.settings.both_ways:
        return result
    usable = result.verdict is not Verdict.INVALID
    return replace(result, both_ways=both_ways_to_json(parts if usable else None))


def facts_to_json(facts: RunFacts) -> dict[str, object]:
    """Return the facts as JSON values."""
    return {
        "identity": None if facts.identity is None else identity_to_json(facts.identity),
        "settings": settings_to_json(facts.settings),
        "session_s": facts.session_s,
        "suspended_s": facts.suspended_s,
        "active": facts.active,
        "flags": flags_to_json(facts.flags),
        "voltage_range_v": facts.voltage_range_v,
        "current_range_a": facts.current_range_a,
        "added": [finding_to_json(finding) for finding in facts.added],
        "conditions": conditions_to_json(facts.conditions),
        # Facts of 1.0 have no such key, and stay the same in every byte.
        **({} if facts.stopped_s is None else {"stopped_s": list(facts.stopped_s)}),
    }


def facts_from_json(value: Mapping[str, Any]) -> RunFacts:
    """Return the facts that `facts_to_json` wrote; another value is a ValueError."""
    try:
        identity = value["identity"]
        return RunFacts(
            identity=None if identity is None else identity_from_json(identity),
            settings=settings_from_json(value["settings"]),
            session_s=value["session_s"],
            suspended_s=value["suspended_s"],
            active=value["active"],
            flags=flags_from_json(value["flags"]),
            voltage_range_v=value["voltage_range_v"],
            current_range_a=value["current_range_a"],
            added=tuple(finding_from_json(finding) for finding in value["added"]),
            conditions=conditions_from_json(value["conditions"]),
            stopped_s=_two_times(value.get("stopped_s")),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"these are not the facts of a run: {error!r}") from None


def _two_times(value: Any) -> tuple[float, float] | None:
    """Return the least and the most of a time that JSON has; another value is a ValueError."""
    if value is None:
        return None
    least_s, most_s = (float(one) for one in value)
    if not 0 <= least_s <= most_s < math.inf:
        raise ValueError(f"{value} are not the least and the most of a time")
    return least_s, most_s


def _with_end(readings: Sequence[Reading], facts: RunFacts) -> Sequence[Reading]:
    """Return the readings; the last one gets the flags and ranges of the facts."""
    if not readings:
        return []
    last = readings[-1]
    volts, amperes = facts.voltage_range_v, facts.current_range_a
    end = replace(
        last,
        flags=last.flags | facts.flags,
        voltage_range_v=last.voltage_range_v if volts is None else volts,
        current_range_a=last.current_range_a if amperes is None else amperes,
    )
    return Readings.of(readings).ending_with(end)


def _never_ran(readings: Sequence[Reading]) -> Finding:
    if readings:
        return invalid(
            "not_started", "The integration never ran: every reading was in state RESET."
        )
    return invalid("no_readings", "The meter was never read.")


def _limit(
    run: Run,
    measuring: Measuring,
    flowed_wh: float | None,
    seconds: float | None,
    rule: int,
) -> EnergyLimit | None:
    """Return the energy's limit of error; without sampled powers the mean power stands in.

    Integrator and timer add their shares of what flowed.
    """
    final = run.final
    if (
        final.energy_wh is None
        or flowed_wh is None
        or not seconds
        or MeterFlag.SAMPLING_CHANGED in final.flags
        or (rule > FIRST_RULE and unofficial_checks.contradicted(final.flags))
    ):
        return None
    rows: Sequence[Reading] | Columns = run.running
    if np.isnan(run.running.numbers("power_w")).all():
        rows = [replace(final, power_w=3600 * final.energy_wh / seconds)]
    limit = energy_limit(rows, flowed_wh, seconds, measuring)
    switching_wh = switching_limit_wh(run)
    if limit is None or not switching_wh or rule == FIRST_RULE:
        return limit
    return replace(limit, terms_wh={**limit.terms_wh, "range switching": switching_wh})


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
