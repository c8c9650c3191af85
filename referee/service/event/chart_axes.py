# SPDX-License-Identifier: Apache-2.0
"""The axes of charts: equal values are one place, and an axis has at least two labels."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

# Figures that differ by less, as a share, are equal but for the rounding of their computation.
_NOISE = 1e-9
# Above this ratio of the largest to the smallest value an axis is logarithmic.
_WIDE = 8.0
# Below this ratio the decades alone may be fewer than two labels.
_DECADES = 200.0
# An axis shows at least this share of its largest value, so that its labels stay short.
_LEAST_SPAN = 0.01


def in_places(values: Sequence[float]) -> list[float]:
    """Return values in which those that are equal but for noise are the same number."""
    places: dict[float, float] = {}
    first: float | None = None
    for value in sorted(values):
        if first is None or abs(value - first) > _NOISE * max(abs(value), abs(first)):
            first = value
        places[value] = first
    return [places[value] for value in values]


def scale_across(axes: Axes, values: Sequence[float], margin: float) -> None:
    """Give the x axis its scale and its limits: `margin` is the room beside the values, as a share.

    Call it when everything is drawn. A chart without a value has the scale from 0 to 1.
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    if low > 0 and high / low > _WIDE:
        room = (high / low) ** margin
        axes.set_xscale("log")
        axes.set_xlim(low / room, high * room)
        steps = (1.0,) if high / low > _DECADES else (1.0, 2.0, 5.0)
        axes.xaxis.set_major_locator(LogLocator(subs=steps))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        return
    linear_across(axes, values, margin)


def linear_across(axes: Axes, values: Sequence[float], margin: float) -> None:
    """Do as `scale_across` does, with an even scale whatever the values are."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    span = high - low
    if span <= _LEAST_SPAN * high:
        # One place: it stands in the middle, and the labels around it are round.
        middle = (low + high) / 2
        low, high = (0.5 * middle, 1.5 * middle) if middle > 0 else (0.0, 1.0)
    else:
        low, high = low - margin * span, high + margin * span
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 2.5, 5, 10], min_n_ticks=2))
    axes.ticklabel_format(axis="x", useOffset=False)
