# SPDX-License-Identifier: Apache-2.0
"""The judge of a session's energy: it computes uncertainty and verdict, and is pure.

Every program uses this one judge. The energy is the integrator's last WH value. Everything else
only decides whether that energy may be used.

Findings by code, INVALID: `no_readings`, `not_started`, `not_ended`, `meter_reset`,
`meter_error`, `restarted`, `time_went_back`, `energy_went_back`, `no_final_energy`,
`final_differs`, `window`, `timer`, `over_range`, `peak_over`, `range_changed`, `no_load`,
`cross_check` (far off). SUSPECT: `final_unconfirmed`, `auto_range`, `range_switched`,
`above_range`, `no_data`, `negative_power`, `clock`, `few_samples`, `suspended`, `implausible`,
`cross_check`. Notes: `gap`, `uncertain`, `mode`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from power.energy import course_checks, value_checks
from power.energy.accuracy import accuracy_of, energy_uncertainty_wh
from power.energy.cross_check import cross_check
from power.energy.measured_run import Run
from power.energy.verdict import EnergyResult as EnergyResult
from power.energy.verdict import Finding
from power.energy.verdict import Verdict as Verdict
from power.energy.verdict import invalid, worst
from power.meter import Identity, MeterSettings, Reading


def judge_energy(
    readings: Sequence[Reading],
    *,
    session_s: float,
    settings: MeterSettings,
    identity: Identity | None = None,
    active: bool = True,
    suspended_s: float = 0.0,
) -> EnergyResult:
    """Return the energy of a session from its readings, in order of time.

    `readings` begin before or at the start of the integration. They end with two readings after its
    end, one update apart. `session_s` is the session's true length by the host's monotonic clock,
    from the start to the deadline or the early logout. `settings` were read back before the start;
    a range of None (auto-range) makes the verdict SUSPECT. `active` is False if the device had no
    reason to draw power. `suspended_s` says how long the host slept.

    The top of this module lists the findings.
    """
    run = Run.of(readings, settings)
    if run is None:
        return EnergyResult(
            Verdict.INVALID, None, None, (_never_ran(readings),), session_s=session_s
        )
    findings = list(course_checks.ending(run))
    findings += course_checks.window(run, session_s)
    findings += course_checks.order(run)
    findings += value_checks.ranges(run)
    findings += course_checks.missing(run)
    findings += value_checks.plausibility(run, identity, session_s, active=active)
    if suspended_s > 0:
        findings.append(course_checks.suspension(suspended_s))
    final = run.final
    compared = cross_check(run.readings, settings.update_interval_s)
    findings += value_checks.agreement(run, compared)
    uncertainty_wh = _uncertainty_wh(run, identity)
    findings += value_checks.uncertainty(final.energy_wh, uncertainty_wh)
    verdict = worst(findings)
    energy_wh = _finite(final.energy_wh)
    usable = verdict is not Verdict.INVALID
    duration_s = final.integration_s
    return EnergyResult(
        verdict=verdict,
        energy_wh=energy_wh if usable else None,
        uncertainty_wh=uncertainty_wh if usable else None,
        findings=tuple(findings),
        integrator_wh=energy_wh,
        cross_check_wh=(
            None if compared is None or energy_wh is None else energy_wh + compared.difference_wh
        ),
        integration_s=duration_s,
        session_s=session_s,
        end_state=final.state,
        samples=len(run.readings),
        mean_power_w=(
            3600 * energy_wh / duration_s if energy_wh is not None and duration_s else None
        ),
    )


def _never_ran(readings: Sequence[Reading]) -> Finding:
    if readings:
        return invalid(
            "not_started", "The integration never ran: every reading was in state RESET."
        )
    return invalid("no_readings", "The meter was never read.")


def _uncertainty_wh(run: Run, identity: Identity | None) -> float | None:
    final, power_range_w = run.final, run.power_range_w
    if power_range_w is None or final.energy_wh is None or final.integration_s is None:
        return None
    return energy_uncertainty_wh(
        accuracy_of(identity, run.settings.mode),
        final.energy_wh,
        power_range_w,
        final.integration_s,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
