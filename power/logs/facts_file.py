# SPDX-License-Identifier: Apache-2.0
"""The file with the facts of a run, beside the power log: a log has no columns for them.

The file has the log's name with the suffix `.json`. It is written when the integration starts and
again at its end. So the log of a killed recorder has its facts too.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from power.energy.judge import RunFacts, facts_from_json, facts_to_json


def facts_path(log: Path) -> Path:
    """Return the path of the facts file of a log."""
    return log.with_suffix(".json")


def save_facts(log: Path, facts: RunFacts) -> None:
    """Write the facts beside the log; a failure leaves no partial file."""
    partial = facts_path(log).with_suffix(".json.part")
    text = json.dumps(facts_to_json(facts), indent=1, allow_nan=False)
    try:
        partial.write_text(text + "\n", encoding="utf-8")
        os.replace(partial, facts_path(log))
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def load_facts(log: Path) -> RunFacts | None:
    """Return the facts beside a log, or None if there are none; a broken file is a ValueError."""
    path = facts_path(log)
    if not path.exists():
        return None
    try:
        return facts_from_json(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
