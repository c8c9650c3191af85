# SPDX-License-Identifier: Apache-2.0
"""The picture of the rules: baselines as dots, the frontier, the entry as a star with its offset.

Matplotlib is the optional dependency `plot`; it is imported only to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from power.logs.fonts import svg_of
from referee.errors import InputError, needing
from referee.extras.ovic.rules.frontier import Baseline
from referee.extras.ovic.rules.score import OvicRules, OvicScore

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES = (8.0, 5.0)
_DOTS_PER_INCH = 120
_POINTS = 200
# The curve reaches from this share of the fastest latency shown to this share of the slowest.
_MARGIN = 1.15
_FORMS = (".svg", ".png")


def figure_of(
    rules: OvicRules,
    baselines: Sequence[Baseline] = (),
    set_aside: Sequence[Baseline] = (),
    entry: OvicScore | None = None,
) -> Figure:
    """Return the figure; `set_aside` are baselines that the frontier does not use.

    Raises MissingLibrary without matplotlib.
    """
    with needing("a chart", "matplotlib", "event"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.subplots()
    axes.set_title(f"OVIC {rules.task}, {rules.name}", parse_math=False)
    axes.set_xlabel("latency, ms")
    axes.set_ylabel(f"{rules.accuracy}, %")
    axes.axvspan(
        rules.fastest_ms, rules.slowest_ms, color="0.93", label="80 % to 120 % of the target"
    )
    _frontier(axes, rules, [*baselines, *set_aside], entry)
    _dots(axes, baselines, "o", "tab:blue", "baselines")
    _dots(axes, set_aside, "x", "tab:red", "set aside")
    if entry is not None:
        _star(axes, entry)
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as .svg or .png, as the path's suffix says; the same at each run."""
    if path.suffix.lower() not in _FORMS:
        raise InputError(f"{path} must end in {' or '.join(_FORMS)}")
    try:
        if path.suffix.lower() == ".png":
            figure.savefig(path, format="png", dpi=_DOTS_PER_INCH)
        else:
            path.write_bytes(svg_of(figure, style={"svg.hashsalt": "ovic"}))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from None


def _frontier(
    axes: Axes, rules: OvicRules, baselines: Sequence[Baseline], entry: OvicScore | None
) -> None:
    shown_ms = [
        rules.fastest_ms,
        rules.slowest_ms,
        *(baseline.latency_ms for baseline in baselines),
    ]
    if entry is not None:
        shown_ms.append(entry.latency_ms)
    first_ms, last_ms = min(shown_ms) / _MARGIN, max(shown_ms) * _MARGIN
    times_ms = [first_ms * (last_ms / first_ms) ** (n / _POINTS) for n in range(_POINTS + 1)]
    label = f"frontier {rules.frontier.k:.4g} ln t {rules.frontier.a0:+.4g}"
    axes.plot(times_ms, [rules.frontier.at(ms) for ms in times_ms], color="0.3", label=label)


def _dots(axes: Axes, baselines: Sequence[Baseline], marker: str, colour: str, label: str) -> None:
    if baselines:
        times_ms = [baseline.latency_ms for baseline in baselines]
        accuracies = [baseline.accuracy for baseline in baselines]
        axes.plot(times_ms, accuracies, marker, color=colour, label=label)


def _star(axes: Axes, entry: OvicScore) -> None:
    """Draw the entry where the rules score it, and its offset from the frontier."""
    colour = "tab:green" if entry.valid else "tab:red"
    offset = "invalid" if entry.metric is None else f"M = {entry.metric:+.2f}"
    place_ms = entry.clamped_ms
    axes.plot([place_ms] * 2, [entry.frontier, entry.accuracy], ":", color=colour)
    axes.plot(
        [place_ms], [entry.accuracy], "*", color=colour, markersize=16, label=f"entry, {offset}"
    )
    if entry.clamped_ms != entry.latency_ms:
        axes.plot(
            [entry.latency_ms, place_ms], [entry.accuracy] * 2, "--", color=colour, linewidth=1
        )
