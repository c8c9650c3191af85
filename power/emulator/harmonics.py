# SPDX-License-Identifier: Apache-2.0
"""Harmonics of the emulated load (option /G5, pages 6-21 to 6-28).

The load is a sine, so the fundamental holds all of it and the harmonics hold nothing. The meter
measures no component of direct current (page 6-21), so a load of direct current has no data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from power.emulator.formats import NO_DATA

FUNCTIONS = (
    *("UK", "IK", "PK", "LAMBDAK", "PHIK", "PHIUk", "PHIIk", "UHDFk", "IHDFk", "PHDFk"),
    *("UTHD", "ITHD", "FPLL"),
)
LIST_FUNCTIONS = ("U", "I", "P", "PHIU", "PHII", "UHDF", "IHDF", "PHDF")
MOST_ORDER = 50


def order(text: str) -> int | None:
    """Return a harmonic order: 0 for the total, None for the component of direct current."""
    if text.upper() in ("TOTAL", "TOT", ""):
        return 0
    return None if text.upper() == "DC" else int(text)


def value(
    function: str, orders: Sequence[str], amounts: Mapping[str, float], frequency_hz: float
) -> float:
    """Return a harmonic function; `amounts` holds U, I and P, `orders` the text of the order."""
    if function == "FPLL":
        return frequency_hz or NO_DATA
    if function in ("UTHD", "ITHD"):
        return 0.0 if frequency_hz else NO_DATA
    if function == "LAMBDAK":
        apparent = amounts["U"] * amounts["I"]
        return amounts["P"] / apparent if apparent and frequency_hz else NO_DATA
    listed = function[:-1]
    return component(listed, order(orders[0] if orders else ""), amounts, frequency_hz)


def component(
    function: str, number: int | None, amounts: Mapping[str, float], frequency_hz: float
) -> float:
    """Return one order of a function of `LIST_FUNCTIONS`; `number` is as `order` returns it."""
    if number is None or frequency_hz == 0:
        return NO_DATA
    if function in amounts:
        return amounts[function] if number <= 1 else 0.0
    if function in ("UHDF", "IHDF", "PHDF") and number >= 1:
        return 100.0 if number == 1 else 0.0
    # A phase needs an amplitude, and the harmonics have none.
    return NO_DATA


def orders_of(select: str, most: int) -> list[int | None]:
    """Return the orders of a list: the total, direct current, then those up to `most` (6-21)."""
    first, step = {"ALL": (1, 1), "ODD": (1, 2), "EVEN": (2, 2)}[select]
    return [0, None, *range(first, most + 1, step)]
