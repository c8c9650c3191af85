# SPDX-License-Identifier: Apache-2.0
"""What a change of the settings that judge models means for those that are judged already."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Settings = Mapping[str, Any]
"""The settings of `[ovic]` by which a model was found valid or not, by name."""

# A larger value of these refuses no model that a smaller one takes; None sets no bound.
_MORE_IS_WIDER = frozenset({"overhang", "slower", "process_s", "process_memory_mb"})


def changed(before: Settings, now: Settings) -> list[str]:
    """Return the names of the settings that differ; one that only one side knows does not."""
    return [name for name in before if name in now and before[name] != now[name]]


def only_wider(before: Settings, now: Settings) -> bool:
    """Tell whether each model that was valid is so now: what has a score may keep it."""
    return all(
        name in _MORE_IS_WIDER and _bound(now[name]) >= _bound(before[name])
        for name in changed(before, now)
    )


def change_text(before: Settings, now: Settings) -> str:
    """Return what changed, for people: `boxes was 100 and is 25`."""
    return ", ".join(
        f"{name} was {_shown(before[name])} and is {_shown(now[name])}"
        for name in changed(before, now)
    )


def _bound(value: float | None) -> float:
    return math.inf if value is None else value


def _shown(value: Any) -> str:
    return "left out" if value is None else str(value).lower()
