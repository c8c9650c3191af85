# SPDX-License-Identifier: Apache-2.0
"""The referee's health in one word, for programs that watch it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def health_of(obstacles: Sequence[str], board: Mapping[str, Any]) -> dict[str, Any]:
    """Return `healthy`, and the sentences that say why not.

    `obstacles` keep sessions from starting, `alarms` are on the console's red bar. The referee is
    healthy without either. A session goes on while it is not.
    """
    alarms = [alarm["text"] for alarm in board["alarms"]]
    return {
        "healthy": not obstacles and not alarms,
        "obstacles": list(obstacles),
        "alarms": alarms,
        "utc": board["utc"],
    }
