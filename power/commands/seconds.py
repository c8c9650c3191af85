# SPDX-License-Identifier: Apache-2.0
"""The types of options that are durations in seconds, written as `power.durations` reads them."""

from __future__ import annotations

import argparse
import math

from power.durations import FORMS, duration_s


def any_seconds(text: str) -> float:
    """Return a duration of 0 s or more; an `argparse` type."""
    try:
        return duration_s(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def some_seconds(text: str) -> float:
    """Return a duration above 0 s; an `argparse` type."""
    value = any_seconds(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time: give more than 0, as {FORMS}")
    return value


def whole_seconds(text: str) -> int:
    """Return a duration of whole seconds, 1 or more; an `argparse` type."""
    value = any_seconds(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is too short: give 1 s or more, as {FORMS}")
    if value != int(value):
        raise argparse.ArgumentTypeError(
            f"{text!r} has a fraction, and whole seconds are counted: give "
            f"{math.floor(value)} or {math.ceil(value)}"
        )
    return int(value)
