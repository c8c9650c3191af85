# SPDX-License-Identifier: Apache-2.0
"""Numbers on command lines that several commands read."""

from __future__ import annotations

import argparse
import math


def watt_hours(text: str) -> float:
    """Read an energy, finite and greater than 0, by which a score divides."""
    value = float(text)
    if not math.isfinite(value) or value <= 0 or math.isinf(1 / value):
        raise argparse.ArgumentTypeError(f"{text} is not an energy: give watt-hours above 0")
    return value


def count(text: str) -> int:
    """Read a number of things, 1 or more."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is too small: give 1 or more")
    return value


def watts(text: str) -> float:
    """Read a power, finite and greater than 0."""
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a power: give watts above 0")
    return value
