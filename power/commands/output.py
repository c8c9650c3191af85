# SPDX-License-Identifier: Apache-2.0
"""The shared output of the commands: one JSON object, or an energy with its verdict as text."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

from power.energy.verdict import EnergyResult


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
    if result.integration_s is not None:
        lines.append(f"time     {result.integration_s:g} s by the meter's integrator")
    if result.energy_wh is not None and result.uncertainty_wh is not None:
        lines += _certainty(result)
    lines += [
        f"{'note' if finding.severity.value == 'VALID' else finding.severity.value.lower():8} "
        f"{finding.text}"
        for finding in result.findings
    ]
    return "\n".join(lines)


def _certainty(result: EnergyResult) -> list[str]:
    """Return the terms of the ± in Wh, largest first, and what people answered."""
    terms = sorted(result.budget_wh.items(), key=lambda term: -term[1])
    listed = ", ".join(f"{name} {wh:.2g}" for name, wh in terms if wh > 0)
    ambient, calibrated = (result.conditions.get(key) for key in ("ambient_c", "calibrated"))
    degrees = f"{ambient:g} °C" if isinstance(ambient, (int, float)) else ambient
    return [
        f"± terms  {listed} (Wh)",
        f"ambient  {degrees}; calibrated {calibrated}",
    ]


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; raise ValueError for a number that is not finite."""
    print(json.dumps(value, allow_nan=False))


def say(text: str) -> None:
    """Print a line on stderr; a full disk or a closed terminal behind it ends nothing."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)
