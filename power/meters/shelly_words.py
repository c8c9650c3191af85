# SPDX-License-Identifier: Apache-2.0
"""What Shelly devices say of themselves: their faults, their ratings, and what measures; pure.

The entries of `errors` are those of Shelly's "Gen2+ Device API": EM, EM1, PM1, Switch, Cover
and Light.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from power.errors import MeterRefused, MeterReplyError

PHASES = 3
"""So many phases has a first-generation meter whose values belong together."""

_BROKEN = "power_meter"
_UNSET = "ct_type_not_set"
_RANGE = "out_of_range"
# The neutral wire is no part of the power, so its faults cost none.
_LISTS = ("errors", "a_errors", "b_errors", "c_errors")
_NEUTRAL = "n_errors"
_MOST_FAULTS, _MOST_TEXT = 8, 40

# Mains are 264 V at most. Relays and dimmers carry 16 A, transformers 120 A unless the model says.
_MOST_V, _RELAY_A, _CLAMP_A = 264.0, 16.0, 120.0
_CLAMPS_OF_MODEL = re.compile(r"EU(50|63|80|400)$")
# What the makers' pages say of plugs. A device of another name counts as a relay.
_PLUGS_W = {
    "SHPLG-1": 3500.0,
    "SHPLG2-1": 3500.0,
    "SHPLG-S": 2500.0,
    "SHPLG-U1": 1800.0,
    "SNPL-00112EU": 2500.0,
    "SNPL-10112EU": 2500.0,
    "SNPL-00110IT": 2500.0,
    "SNPL-00112UK": 2800.0,
    "SNPL-00116US": 1800.0,
    "S3PL-00112EU": 2500.0,
    "S3PL-20112EU": 2500.0,
}
# These switch, and show a power that somebody has typed in, or 0.
_WITHOUT_METER = ("SHSW-1", "SHSW-L")


@dataclass(frozen=True)
class Told:
    """What a device says is wrong, though it measures: a value out of range, and other faults."""

    over_range: bool
    fault: str


def told_by(status: Mapping[str, object]) -> Told:
    """Return what a status says is wrong.

    Raises `MeterReplyError` where the device's own meter does not work, also that of one phase, and
    `MeterRefused` where nobody has told it which transformer it has.
    """
    entries = list(_entries(status, _LISTS))
    if status.get("is_valid") is False or any(entry.startswith(_BROKEN) for entry in entries):
        raise MeterReplyError("the device says that its own power meter does not work")
    refuse_unset(status)
    over_range = any(entry.startswith(_RANGE) for entry in entries)
    others = [entry for entry in entries if not entry.startswith(_RANGE)]
    others += [f"neutral: {entry}" for entry in _entries(status, (_NEUTRAL,))]
    faults = [entry[:_MOST_TEXT] for entry in others[:_MOST_FAULTS]]
    return Told(over_range, ", ".join(faults))


def refuse_unset(status: Mapping[str, object]) -> None:
    """Raise `MeterRefused` for a meter that does not know its current transformer."""
    if _UNSET in _entries(status, _LISTS):
        raise MeterRefused(
            "the device does not know which current transformer it has (ct_type_not_set), so its "
            "power is wrong. Set the type on the device's own page"
        )


def measures(about: Mapping[str, object], meter: object) -> bool:
    """Tell whether an entry of `meters` is that of a real one: it has a counter of its own."""
    if about.get("num_meters") == 0 or about.get("type") in _WITHOUT_METER:
        return False
    return isinstance(meter, Mapping) and "total" in meter


def rated_w(model: str, *, clamps: bool, phases: int) -> float:
    """Return the largest power that a device can measure."""
    if not clamps:
        return _PLUGS_W.get(model, _MOST_V * _RELAY_A)
    named = _CLAMPS_OF_MODEL.search(model)
    return _MOST_V * (float(named[1]) if named else _CLAMP_A) * phases


def _entries(status: Mapping[str, object], lists: tuple[str, ...]) -> Iterator[str]:
    """Yield the entries of lists of faults, which may be left out, empty or null."""
    for name in lists:
        value = status.get(name)
        yield from map(str, value if isinstance(value, list) else [value] if value else [])
