# SPDX-License-Identifier: Apache-2.0
"""The score of AIoTBench as a table of text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from referee.extras.aiotbench.score import Score, Summary, WorkloadScore
from referee.extras.aiotbench.submission import (
    Configuration,
    open_points,
    remarks,
    unproved_networks,
)

_LEFT = "{:<8}  {:<36}"
_RIGHT = "  {:>7}  {:>9}  {:>7}  {:>12}  {:>10}  {:>12}"
_HEAD = _LEFT.format("workload", "model and implementation") + _RIGHT.format(
    "images", "accuracy", "Table 1", "mean time, s", "VIPS", "VOPS, M/s"
)
_LINE = 100
_MILLION = 1e6


def score_table(score: Score, configuration: Configuration | None) -> str:
    """Return the score as lines of text: the workloads, the sums, and what is missing."""
    points = open_points(score, configuration)
    return "\n".join(_lines(score, configuration, points))


def _lines(
    score: Score, configuration: Configuration | None, points: Sequence[str]
) -> Iterator[str]:
    yield f"{score.rules.name}, {score.rules.published.isoformat()}"
    for part, table in (configuration or {}).items():
        yield f"{part}: " + ", ".join(f"{name} {value}" for name, value in table.items())
    yield ""
    if score.workloads:
        yield from _table(score.workloads)
    for figure in ("sum", "average", "maximum"):
        yield _summary_line(figure, score.vips, score.vops)
    for title, workloads in (
        ("Outside the official set", score.additional),
        ("Another network than that of the name", score.others),
    ):
        if workloads:
            yield ""
            yield f"{title}; not in the figures above:"
            yield from _table(workloads)
    yield ""
    for sentence in (*remarks(score), *unproved_networks(score), *points):
        yield from wrap(sentence, _LINE, subsequent_indent="  ")
    if points:
        yield "Without this the result is not a submission to AIoTBench."


def _table(workloads: Sequence[WorkloadScore]) -> Iterator[str]:
    yield _HEAD
    for workload in workloads:
        name = f"{workload.workload.model.name}, {workload.workload.implementation.name}"
        yield _LEFT.format(workload.workload.workload_id, name) + _RIGHT.format(
            workload.images,
            f"{100 * workload.accuracy:.3f} %",
            f"{100 * workload.workload.model.reference_accuracy:g} %",
            f"{workload.mean_time_s:.6g}",
            f"{workload.vips:.6g}",
            f"{workload.vops / _MILLION:.6g}",
        )


def _summary_line(figure: str, vips: Summary | None, vops: Summary | None) -> str:
    left = _LEFT.format(figure, "")
    if vips is None or vops is None:
        return left + _RIGHT.format("", "", "", "", "none", "none")
    values = (f"{getattr(vips, figure):.6g}", f"{getattr(vops, figure) / _MILLION:.6g}")
    return left + _RIGHT.format("", "", "", "", *values)
