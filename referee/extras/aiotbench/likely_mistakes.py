# SPDX-License-Identifier: Apache-2.0
"""Figures of a log that look like a mistake: another unit of time, labels that are one off."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from referee.extras.aiotbench.score import WorkloadScore

UNITS = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}
"""The units that the times of a log may have, and how many of each are a second."""

# Multiply-accumulates a second. A Raspberry Pi Zero does 200 million of these models, and a phone
# some thousand million. In a log of milliseconds each device seems a thousand times slower.
_SLOWEST_A_SECOND, _SLOW_A_SECOND = 2e8, 2e9
# Nobody waits so long for one of 24 workloads; a fast phone's log in milliseconds says months.
_PATIENCE_S = 48 * 3600.0
# A picture cannot be read from a disk and decoded in less.
_FASTEST_S = 5e-5

_UNITS = {unit: per_s for unit, per_s in UNITS.items() if per_s > 1}
_LARGEST = ("ms", UNITS["ms"])
_IN_WORDS = {"ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}

# Neighbours of ImageNet are alike, but not one answer in ten names the neighbour by chance.
_SHIFTED_SHARE, _SHIFTED_ANSWERS = 0.1, 3
_MANY_IMAGES, _CHANCE = 100, 0.01


def likely_mistakes(score: WorkloadScore) -> Iterator[str]:
    """Yield a sentence for each figure of a workload that looks like a mistake in the log."""
    yield from _unit(score)
    shifted = list(_shifted(score))
    yield from shifted
    if not shifted and score.images >= _MANY_IMAGES and score.accuracy <= _CHANCE:
        yield (
            f"{score.workload.workload_id}: {100 * score.accuracy:.3g} % right is no better than "
            "chance. Do both labels count from the same number?"
        )


def _unit(score: WorkloadScore) -> Iterator[str]:
    """Ask about times that no device comes near, by their size and by the log's own length."""
    name, mean_s = score.workload.workload_id, score.mean_time_s
    work = score.workload.model.flops / mean_s
    length_s = mean_s * score.images
    if mean_s < _FASTEST_S:
        yield (
            f"{name}: the mean time is {mean_s:.3g} s, in which no device reads a picture. The log "
            "must be in seconds."
        )
    if work >= _SLOWEST_A_SECOND and not (work < _SLOW_A_SECOND and length_s > _PATIENCE_S):
        return
    unit, per_s = next(
        (unit for unit in _UNITS.items() if work * unit[1] >= _SLOWEST_A_SECOND), _LARGEST
    )
    yield (
        f"{name}: the mean time is {mean_s:.6g} s. At that pace its {score.images} images took "
        f"{_duration(length_s)}, with {work / 1e6:.3g} million multiply-accumulates a second: no "
        f"device is known to be so slow. Is the log in {_IN_WORDS[unit]}? Then add --time-unit "
        f"{unit}: VIPS is {per_s * score.vips:.6g}, not {score.vips:.6g}."
    )


def _duration(seconds: float) -> str:
    days = timedelta(seconds=seconds).total_seconds() / 86400
    if days >= 2:
        return f"{days:.3g} days"
    return f"{seconds / 3600:.3g} hours" if seconds >= 7200 else f"{seconds / 60:.3g} minutes"


def _shifted(score: WorkloadScore) -> Iterator[str]:
    """Name labels that are one off, with the accuracy that equal numbering would give."""
    for share, sign in ((score.one_above, "plus"), (score.one_below, "minus")):
        answers = round(share * score.images)
        if answers < _SHIFTED_ANSWERS or share < max(_SHIFTED_SHARE, score.accuracy):
            continue
        yield (
            f"{score.workload.workload_id}: predict_label is real_label {sign} 1 in {answers} of "
            f"{score.images} lines, and equal in {100 * score.accuracy:.3f} %. So the two labels "
            f"count from different numbers. Counted from the same one the accuracy is "
            f"{100 * share:.3f} %: mend the log; the sample for boards has --first-label for it."
        )
