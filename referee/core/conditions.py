# SPDX-License-Identifier: Apache-2.0
"""What must be equal for sessions that are ranked together, and what of it differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

Value = str | float | bool | None
"""A condition's value; files are known by their SHA-256, and None is without one."""

EMULATED = "emulated"
"""The kind of an emulated meter."""

UNKNOWN = "unknown"
"""The value of a condition that a bundle or a station does not tell: nobody is accused of it."""

INPUTS = frozenset({"ground_truth", "sizes", "blacklist", "rules"})
"""The conditions that a proposal makes equal again, because they belong to the score alone."""


@dataclass(frozen=True)
class Conditions:
    """How a session was run and scored; `length_s` is without the `extra_s` that it was given.

    Any of them may be `UNKNOWN`. `meter` is the kind of meter, `mode` its input mode. `dwell_ms` is
    that of the screen. `rules` are those of the score, with their version.
    """

    track: str
    length_s: float | str
    extra_s: float | str
    meter: str
    mode: str | None
    shuffle: bool | str
    dwell_ms: float | str | None
    ground_truth: str | None
    sizes: str | None
    blacklist: str | None
    rules: str | None = None


NOTHING_KNOWN = Conditions(*[UNKNOWN] * len(fields(Conditions)))
"""The conditions of a session of which nothing is told."""


@dataclass(frozen=True)
class Difference:
    """A condition of a session that is not the `usual` one; `condition` names its field."""

    condition: str
    found: Value
    usual: Value


def usual_conditions(by_session: Mapping[int, Conditions]) -> Conditions | None:
    """Return what most sessions have, field by field; None without a session.

    Of values that are equally frequent it is that of the earliest session. But extra time and an
    emulated meter are not the rule as long as as many sessions had neither.
    """
    if not by_session:
        return None
    in_order = [by_session[number] for number in sorted(by_session)]
    usual: dict[str, Any] = {
        field.name: _most_frequent([getattr(one, field.name) for one in in_order], field.name)
        for field in fields(Conditions)
    }
    return Conditions(**usual)


def _most_frequent(values: list[Value], name: str) -> Value:
    counts = Counter(value for value in values if value != UNKNOWN)
    if not counts:
        return UNKNOWN
    most = max(counts.values())
    often = [value for value in counts if counts[value] == most]  # In the order of the sessions.
    if name == "extra_s":
        return min(often, key=lambda value: float(value or 0))
    return min(often, key=lambda value: value == EMULATED)


def differences(conditions: Conditions, usual: Conditions) -> tuple[Difference, ...]:
    """Return what of a session's conditions is not the usual one; what is unknown never differs."""
    return tuple(
        Difference(field.name, found, getattr(usual, field.name))
        for field in fields(Conditions)
        for found in [getattr(conditions, field.name)]
        if found not in (UNKNOWN, getattr(usual, field.name))
    )


def unknown_conditions(conditions: Conditions) -> tuple[str, ...]:
    """Return the conditions of a session that nobody tells."""
    return tuple(
        field.name for field in fields(conditions) if getattr(conditions, field.name) == UNKNOWN
    )


def to_review(found: Iterable[Difference]) -> tuple[Difference, ...]:
    """Return the differences that a person must let stand: those of the run, not of the score."""
    return tuple(one for one in found if one.condition not in INPUTS)
