# SPDX-License-Identifier: Apache-2.0
"""What a power log does not hold: who measured, with which settings, from when to when.

The file stands beside the log, with the suffix `.json`. It is written when the integration starts
and again at its end, so that the log of a killed recorder has its facts too.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from power.meter import Flag, Identity, InputMode, MeterSettings, Reading


@dataclass(frozen=True)
class RunFacts:
    """Hold the facts of one recorded run; `session_s` is None until it has ended."""

    identity: Identity | None
    settings: MeterSettings
    session_s: float | None = None
    flags: frozenset[Flag] = frozenset()
    voltage_range_v: float | None = None
    current_range_a: float | None = None

    def ended(self, session_s: float | None, last: Reading) -> RunFacts:
        """Return these facts with those of the end added."""
        return replace(
            self,
            session_s=session_s,
            flags=last.flags,
            voltage_range_v=last.voltage_range_v,
            current_range_a=last.current_range_a,
        )


def facts_path(log: Path) -> Path:
    """Return where the facts of a log are."""
    return log.with_suffix(".json")


def save_facts(log: Path, facts: RunFacts) -> None:
    """Write the facts beside the log, whole or not at all."""
    value = asdict(facts)
    value["settings"]["mode"] = facts.settings.mode.value
    value["flags"] = sorted(flag.value for flag in facts.flags)
    partial = facts_path(log).with_suffix(".json.part")
    partial.write_text(json.dumps(value, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    os.replace(partial, facts_path(log))


def load_facts(log: Path) -> RunFacts | None:
    """Return the facts beside a log, or None if there are none; a broken file is a ValueError."""
    path = facts_path(log)
    if not path.exists():
        return None
    try:
        return _facts(json.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} does not hold the facts of a run: {error!r}") from None


def _facts(value: dict[str, Any]) -> RunFacts:
    settings = {**value["settings"], "mode": InputMode(value["settings"]["mode"])}
    return RunFacts(
        identity=None if value["identity"] is None else Identity(**value["identity"]),
        settings=MeterSettings(**settings),
        session_s=value["session_s"],
        flags=frozenset(Flag(name) for name in value["flags"]),
        voltage_range_v=value["voltage_range_v"],
        current_range_a=value["current_range_a"],
    )
