# SPDX-License-Identifier: Apache-2.0
"""The second judgement of a session's energy, from its bundle alone."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from power.energy.judge import facts_from_json, judge_run
from power.energy.verdict import EnergyResult
from power.meter import Reading
from power.values import reading_from_json
from referee.errors import InputError


def judge_bundle(path: Path) -> EnergyResult:
    """Judge the energy again from the readings and run facts in a bundle.

    Raises `InputError` if the bundle cannot be read or lacks facts that the judge needs. They are
    missing if the session has not ended.
    """
    try:
        with zipfile.ZipFile(path) as bundle:
            run = json.loads(bundle.read("run.json"))
            lines = bundle.read("readings.jsonl").decode("utf-8").splitlines()
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: is not a bundle with run.json and readings.jsonl in it ({error})."
        ) from None
    if not isinstance(run, dict) or run.get("facts") is None:
        raise InputError(f"{path}: run.json does not say what measured, so it cannot be judged.")
    try:
        return judge_run(_in_order(map(json.loads, lines)), facts_from_json(run["facts"]))
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path}: the energy cannot be judged again: {error}.") from None


def _in_order(lines: Iterable[dict[str, Any]]) -> list[Reading]:
    """Return the readings in order, with session time in place of the monotonic clock."""
    found = []
    for line in lines:
        elapsed_s = line.pop("elapsed_s")
        found.append(replace(reading_from_json(line), monotonic_s=elapsed_s))
    return sorted(found, key=lambda reading: reading.monotonic_s)
