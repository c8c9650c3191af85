# SPDX-License-Identifier: Apache-2.0
"""The shared output of the commands: one JSON object, or an energy with its verdict as text."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from power.energy.accuracy import NOT_ESTABLISHED
from power.energy.conditions import NOT_RECORDED
from power.energy.duration import written
from power.energy.verdict import EnergyResult, Finding

if TYPE_CHECKING:
    from power.energy.phases import RunPhase


# How much of a phase's ± is due to time is said where it is no small part of it.
_TOLD = 0.05


def result_text(result: EnergyResult) -> str:
    """Return an energy with its verdict as text for people."""
    lines = []
    if result.energy_wh is None:
        lines.append(f"energy   none ({result.verdict.value})")
    else:
        limit = result.uncertainty_wh
        lines.append(
            f"energy   {result.energy_wh:.6g} Wh"
            + (f" ± {limit:.2g} Wh" if limit is not None else "")
            + f" ({result.verdict.value})"
        )
    for name, word in (("positive", "taken"), ("negative", "given")):
        part_wh = result.both_ways.get(f"energy_{name}_wh")
        part_limit_wh = result.both_ways.get(f"uncertainty_{name}_wh")
        if part_wh is not None:
            plus = "" if part_limit_wh is None else f" ± {part_limit_wh:.2g} Wh"
            lines.append(f"{word:8} {part_wh:.6g} Wh{plus}")
    if (charge_ah := result.both_ways.get("charge_ah")) is not None:
        lines.append(f"charge   {charge_ah:.6g} Ah")
    lines += duration_lines(result)
    if result.energy_wh is not None and result.uncertainty_wh is not None:
        lines += _certainty(result)
    lines += [finding_line(finding) for finding in result.findings]
    return "\n".join(lines)


def duration_lines(result: EnergyResult) -> list[str]:
    """Return the line that says how long the meter integrated, as exactly as that is known."""
    lasted = result.duration
    if lasted is None:
        return []
    seconds = written(lasted.seconds, lasted.off_s)
    if not lasted.off_s:
        return [f"time     {seconds} s of integration"]
    return [f"time     {seconds} s ± {lasted.off_s:.2g} s of integration"]


def finding_line(finding: Finding) -> str:
    """Return a finding as a line for people."""
    severity = finding.severity.value
    return f"{'note' if severity == 'VALID' else severity.lower():8} {finding.text}"


def _certainty(result: EnergyResult) -> list[str]:
    """Return the terms of the ± in Wh, largest first, and what people answered or may answer."""
    terms = sorted(result.budget_wh.items(), key=lambda term: -term[1])
    used = [(name, wh) for name, wh in terms if wh > 0]
    listed = ", ".join(f"{name} {wh:.2g}" for name, wh in used)
    lines = [f"± terms  {listed} (Wh)"]
    quoted = ", ".join(name for name, _ in used if name in NOT_ESTABLISHED)
    if quoted:
        lines.append(f"         {quoted}: not established by a manual (docs/power.md, Accuracy)")
    ambient, calibrated = (result.conditions.get(key) for key in ("ambient_c", "calibrated"))
    degrees = f"{ambient:g} °C" if isinstance(ambient, (int, float)) else ambient
    given = [f"ambient  {degrees}"] if ambient is not None else []
    given += [f"calibrated {calibrated}"] if calibrated is not None else []
    lines += ["; ".join(given)] if given else []
    for answer, question in (
        (ambient, "--ambient-c: how warm was it? The ± holds at 18 to 28 °C"),
        (calibrated, "--calibrated: when? The ± holds for 12 months after a calibration"),
    ):
        if answer == NOT_RECORDED:
            lines.append(f"         {question}")
    return lines


def phase_lines(phases: Sequence[RunPhase]) -> list[str]:
    """Return a line for each phase between marks."""
    lines = []
    for phase in phases:
        plus = "" if phase.uncertainty_wh is None else f" ± {phase.uncertainty_wh:.2g} Wh"
        if phase.uncertainty_wh is not None and phase.time_wh >= _TOLD * phase.uncertainty_wh:
            plus += f" ({phase.time_wh:.2g} by time)"
        name = "before the first mark" if phase.text is None else phase.text
        lines.append(
            f"phase    {name}: {phase.energy_wh:.6g} Wh{plus} in {phase.seconds:.1f} s, mean "
            f"{written(phase.mean_power_w, phase.mean_power_uncertainty_w, 4)} W"
        )
    return lines


def begun_line(start_utc: str) -> str:
    """Return the line that says when a run began, by this computer's zone and in UTC."""
    begun = datetime.fromisoformat(start_utc).astimezone(UTC)
    return f"begun    {begun.astimezone():%Y-%m-%d %H:%M:%S %Z} ({begun:%Y-%m-%dT%H:%M:%SZ})"


def begun_to_json(start_utc: str) -> dict[str, str]:
    """Return when a run began as JSON values, in UTC and by this computer's zone."""
    begun = datetime.fromisoformat(start_utc)
    return {
        "begun_utc": begun.astimezone(UTC).isoformat(timespec="milliseconds"),
        "begun_local": begun.astimezone().isoformat(timespec="milliseconds"),
    }


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object; raise ValueError for a number that is not finite."""
    print(json.dumps(value, allow_nan=False))


def say(text: str) -> None:
    """Print a line on stderr; a full disk or a closed terminal behind it ends nothing."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
