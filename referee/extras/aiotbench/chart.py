# SPDX-License-Identifier: Apache-2.0
"""A chart of AIoTBench: VIPS and VOPS of each workload, with the average.

Matplotlib is the optional dependency `plot`; it is imported only to draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.extras.aiotbench.ranking import DeviceRanking
from referee.extras.aiotbench.score import Score, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _ROW, _FRAME = 10.0, 0.28, 1.8  # inches
_MILLION = 1e6


def chart_of(score: Score, title: str) -> Figure:
    """Return a figure with a bar for each workload: VIPS on the left, VOPS on the right.

    A colour stands for an implementation. Bars of workloads outside the official set are hatched,
    and the average leaves them out. Raises ImportError without matplotlib.
    """
    from matplotlib.figure import Figure

    workloads = (*score.workloads, *score.additional)  # Other networks have no bar.
    rows = len(workloads)
    figure = Figure(figsize=(_WIDTH, _FRAME + _ROW * rows), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    figure.suptitle(title, parse_math=False)
    _bars(left, score, [workload.vips for workload in workloads], score.vips, 1.0)
    _bars(right, score, [workload.vops for workload in workloads], score.vops, _MILLION)
    left.set_xlabel("VIPS, images/s")
    right.set_xlabel("VOPS, million operations/s")
    left.invert_yaxis()  # The first workload stands on top.
    handles, labels = left.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    figure.legend(once.values(), once.keys(), loc="outside lower center", ncols=4)
    return figure


def ranking_chart(ranking: DeviceRanking) -> Figure:
    """Return a figure with a bar for each ranked device: the sum of VIPS, and that of VOPS.

    Raises ImportError without matplotlib.
    """
    from matplotlib.figure import Figure

    ranked = [device for device in ranking.devices if device.rank is not None]
    figure = Figure(figsize=(_WIDTH, _FRAME + _ROW * len(ranked)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    places = range(len(ranked))
    for axes, name, unit in ((left, "vips", 1.0), (right, "vops", _MILLION)):
        sums = [getattr(device.score, name).sum / unit for device in ranked]
        axes.barh(places, sums, color="C0")
        axes.grid(axis="x", alpha=0.3)
    left.set_yticks(places, [device.device for device in ranked], parse_math=False)
    left.set_xlabel("VIPS, images/s")
    right.set_xlabel("VOPS, million operations/s")
    left.invert_yaxis()  # The best device stands on top.
    return figure


def _bars(
    axes: Axes, score: Score, values: list[float], summary: Summary | None, unit: float
) -> None:
    """Draw a bar for each value, and a line at the average."""
    codes = [implementation.code for implementation in score.rules.implementations]
    for value, workload in zip(values, (*score.workloads, *score.additional), strict=True):
        implementation = workload.workload.implementation
        axes.barh(
            workload.workload.workload_id,
            value / unit,
            color=f"C{codes.index(implementation.code)}",
            hatch=None if implementation.official else "//",
            label=implementation.name,
        )
    if summary is not None:
        axes.axvline(summary.average / unit, color="black", linestyle="--", label="average")
    axes.grid(axis="x", alpha=0.3)
