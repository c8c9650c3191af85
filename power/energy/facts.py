# SPDX-License-Identifier: Apache-2.0
"""The facts of a run: what a judgement needs beside the readings, stored and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from power.energy.judge import judge_energy
from power.energy.verdict import (
    EnergyResult,
    Finding,
    finding_from_json,
    finding_to_json,
    with_findings,
)
from power.meter import Flag, Identity, MeterSettings, Reading
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

    `session_s` is None until the run has ended. `active` and `suspended_s` are arguments of
    `judge_energy`. The meter reported `flags` and the ranges at the end; a power log has no columns
    for them. `added` holds findings that do not come from the judge, such as a restart of the
    computer or a reason for auto-range.
    """

    identity: Identity | None
    settings: MeterSettings
    session_s: float | None = None
    suspended_s: float = 0.0
    active: bool = True
    flags: frozenset[Flag] = frozenset()
    voltage_range_v: float | None = None
    current_range_a: float | None = None
    added: tuple[Finding, ...] = ()

    def ended(self, session_s: float | None, last: Reading) -> RunFacts:
        """Return these facts with the session's length, and with flags and ranges of `last`."""
        return replace(
            self,
            session_s=session_s,
            flags=last.flags,
            voltage_range_v=last.voltage_range_v,
            current_range_a=last.current_range_a,
        )


def judge_run(readings: Sequence[Reading], facts: RunFacts) -> EnergyResult:
    """Return the energy of a run, judged from its readings and its stored facts alone.

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
    )
    return with_findings(result, facts.added)


def facts_to_json(facts: RunFacts) -> dict[str, Any]:
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
    }


def facts_from_json(value: Mapping[str, Any]) -> RunFacts:
    """Return the facts that `facts_to_json` wrote; another value is a ValueError.

    Facts from earlier versions lack `suspended_s`, `active` and `added`.
    """
    try:
        identity = value["identity"]
        return RunFacts(
            identity=None if identity is None else identity_from_json(identity),
            settings=settings_from_json(value["settings"]),
            session_s=value["session_s"],
            suspended_s=value.get("suspended_s", 0.0),
            active=value.get("active", True),
            flags=flags_from_json(value["flags"]),
            voltage_range_v=value["voltage_range_v"],
            current_range_a=value["current_range_a"],
            added=tuple(finding_from_json(finding) for finding in value.get("added", [])),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"these are not the facts of a run: {error!r}") from None


def _with_end(readings: Sequence[Reading], facts: RunFacts) -> list[Reading]:
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
    return [*readings[:-1], end]
