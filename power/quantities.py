# SPDX-License-Identifier: Apache-2.0
"""The quantities that a WT310 can show beside those of each reading: names, units, columns.

The names are those of the manual (IM WT310E-17EN, page 6-24). A harmonic has its order behind its
name: UK3 is the voltage of the third order. Harmonics need the meter's option G5.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ALWAYS = frozenset("U I P WH TIME URANGE IRANGE LAMBDA FU UPPEAK UMPEAK IPPEAK IMPEAK".split())
"""What is in each reading anyway."""

UNITS = {
    **{"S": "VA", "Q": "var", "PHI": "deg", "FI": "Hz", "PPPEAK": "W", "PMPEAK": "W"},
    **{name: "V" for name in ("URMS", "UMN", "UDC", "URMN", "UAC")},
    **{name: "A" for name in ("IRMS", "IMN", "IDC", "IRMN", "IAC")},
    **{"WHP": "Wh", "WHM": "Wh", "AH": "Ah", "AHP": "Ah", "AHM": "Ah"},
    **{"UTHD": "%", "ITHD": "%"},
}
"""The quantities that have no order, with their units."""

HARMONIC_UNITS = {
    **{"UK": "V", "IK": "A", "PK": "W", "PHIUK": "deg", "PHIIK": "deg"},
    **{"UHDFK": "%", "IHDFK": "%", "PHDFK": "%"},
}
"""The quantities of one harmonic order, with their units."""

BOTH_WAYS = ("WHP", "WHM", "AH")
"""What the meter integrates for a load that gives back: energy taken, energy given, charge."""

DC_ALONE = ("AHP", "AHM")
"""What the meter integrates in the input mode DC alone (IM WT310E-01EN, page 5-1)."""

COLUMN = "item_"
"""The beginning of the name of a quantity's column in a power log."""

MOST = 20
"""So many may be chosen at most; each makes a reading's reply longer."""

_HIGHEST_ORDER = 50
_HARMONIC = re.compile(r"([A-Z]+)(\d{1,2})")


def parse_quantities(text: str) -> tuple[str, ...]:
    """Return the names in a text like `P,S,UTHD,UK3`, each once, without those of each reading.

    Raises ValueError for a name that the meter does not have.
    """
    names = [name.strip().upper() for name in text.split(",")]
    for name in names:
        if name not in ALWAYS and unit_of(name) is None:
            known = ", ".join((*sorted(UNITS), *(f"{one}1" for one in sorted(HARMONIC_UNITS))))
            raise ValueError(
                f"{name!r} is no quantity of the meter. Choose from {known} (a harmonic has its "
                f"order from 1 to {_HIGHEST_ORDER} behind its name)"
            )
    chosen = tuple(dict.fromkeys(name for name in names if name not in ALWAYS))
    if len(chosen) > MOST:
        raise ValueError(f"{len(chosen)} quantities are too many; choose {MOST} at most")
    return chosen


def unit_of(name: str) -> str | None:
    """Return the unit of a quantity, None if there is none of this name."""
    return UNITS.get(name) or _harmonic_unit(name)


def item_of(name: str, element: str) -> str:
    """Return a quantity as an output item of the meter: function, element, order."""
    harmonic = _HARMONIC.fullmatch(name)
    if name not in UNITS and harmonic is not None:
        return f"{harmonic[1]},{element},{int(harmonic[2])}"
    return f"{name},{element}"


def columns_of(names: Iterable[str]) -> tuple[str, ...]:
    """Return the columns of quantities in a power log."""
    return tuple(f"{COLUMN}{name}" for name in names)


def _harmonic_unit(name: str) -> str | None:
    match = _HARMONIC.fullmatch(name)
    if match is None or not 1 <= int(match[2]) <= _HIGHEST_ORDER or match[2][0] == "0":
        return None
    return HARMONIC_UNITS.get(match[1])
