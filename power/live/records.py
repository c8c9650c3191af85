# SPDX-License-Identifier: Apache-2.0
"""The lines that a recording program sends to the program that shows it: one JSON object each.

Both sides are of one version, so the form may change. An object has one key, the kind of the line:
`run`, `reading`, `message` or `result`.
"""

from __future__ import annotations

import json
from typing import Any

from power.energy.verdict import EnergyResult, result_to_json
from power.live.run_view import RunView
from power.meter import Identity, MeterSettings, Reading
from power.values import reading_from_json, reading_to_json


def run_line(log: str, identity: Identity, settings: MeterSettings) -> bytes:
    """Return the line for a run that has started."""
    return _line(
        "run",
        {
            "log": log,
            "meter": f"{identity.maker} {identity.model} {identity.serial}",
            "timer_s": settings.timer_s,
            "update_interval_s": settings.update_interval_s,
            "voltage_range_v": settings.voltage_range_v,
            "current_range_a": settings.current_range_a,
        },
    )


def reading_line(reading: Reading, elapsed_s: float) -> bytes:
    """Return the line for a reading that came `elapsed_s` seconds after the start."""
    return _line("reading", {"elapsed_s": elapsed_s, "values": reading_to_json(reading)})


def message_line(text: str) -> bytes:
    """Return the line for a message to people."""
    return _line("message", text)


def result_line(result: EnergyResult) -> bytes:
    """Return the line for the judged energy of the run."""
    return _line("result", result_to_json(result))


def apply(view: RunView, line: bytes) -> None:
    """Bring a line into the view; raise ValueError for a line of something else."""
    match json.loads(line):
        case {"run": about}:
            view.begin(about)
        case {"reading": {"elapsed_s": elapsed_s, "values": values}}:
            view.add(reading_from_json(values), elapsed_s)
        case {"message": text}:
            view.tell(text)
        case {"result": result}:
            view.end(result)
        case _:
            raise ValueError(f"{line[:80]!r} is no line of a recording")


def _line(kind: str, value: Any) -> bytes:
    return json.dumps({kind: value}, allow_nan=False).encode() + b"\n"
