# SPDX-License-Identifier: Apache-2.0
"""What only people know of a measurement: the temperature of the room, the date of calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

NOT_RECORDED = "not recorded"
"""The answer to a question that nobody answered."""


@dataclass(frozen=True)
class AmbientConditions:
    """The ambient temperature in °C and the day of the last calibration; None if nobody said."""

    ambient_c: float | None = None
    calibrated: date | None = None

    def words(self, *, asked: bool = True) -> dict[str, object]:
        """Return the answers for people and for JSON, with `NOT_RECORDED` in the gaps.

        Without `asked` nobody was asked, so there are no gaps: an answer that is missing is left
        out. The limits of a meter that is sampled depend on neither answer.
        """
        given = {
            "ambient_c": self.ambient_c,
            "calibrated": None if self.calibrated is None else self.calibrated.isoformat(),
        }
        return {
            name: NOT_RECORDED if answer is None else answer
            for name, answer in given.items()
            if asked or answer is not None
        }


UNKNOWN = AmbientConditions()
"""The conditions of a run about which nobody said anything."""


def parse_ambient(text: str) -> float:
    """Return a temperature in °C; one at which nobody measures is a ValueError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not -50 <= value <= 100:
        raise ValueError(f"{text!r} is not an ambient temperature in °C, such as 23")
    return value


def parse_calibrated(text: str) -> date:
    """Return a date of calibration; another form than 2026-01-31 is a ValueError."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a date of calibration, such as 2026-01-31") from None


def conditions_to_json(conditions: AmbientConditions) -> dict[str, object]:
    """Return the conditions as JSON values; a gap is null."""
    calibrated = conditions.calibrated
    return {
        "ambient_c": conditions.ambient_c,
        "calibrated": None if calibrated is None else calibrated.isoformat(),
    }


def conditions_from_json(value: Mapping[str, Any] | None) -> AmbientConditions:
    """Return the conditions that `conditions_to_json` wrote; None stands for facts without any."""
    if value is None:
        return UNKNOWN
    try:
        ambient, calibrated = value["ambient_c"], value["calibrated"]
        return AmbientConditions(
            None if ambient is None else float(ambient),
            None if calibrated is None else parse_calibrated(calibrated),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"these are not the conditions of a run: {error!r}") from None
