# SPDX-License-Identifier: Apache-2.0
"""An entry from its model to its score: accuracy, latency, metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.extras.ovic.judging.accuracy import (
    Progress,
    classification_accuracy,
    detection_accuracy,
)
from referee.extras.ovic.judging.benchmark import Measurement, Place, Plan, benchmark, here
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.dataset import images_in, labelled_images
from referee.extras.ovic.rules.model_rules import ModelRules
from referee.extras.ovic.rules.score import OvicRules, OvicScore, ovic_score
from referee.formats.text import Read, read_bytes


@dataclass(frozen=True)
class Accuracy:
    """An accuracy in percent over images; `right` counts a classifier's right answers."""

    percent: float
    images: int
    right: int | None = None


@dataclass(frozen=True)
class Entry:
    """A scored entry; without a stable measurement there is no score."""

    accuracy: Accuracy
    measurement: Measurement
    score: OvicScore | None


def accuracy_of(
    model: Path,
    rules: ModelRules,
    images: Path,
    ground_truth: Path,
    central_share: float,
    limits: Limits,
    progress: Progress = lambda done, total: None,
    read: Read = read_bytes,
) -> Accuracy:
    """Return the model's accuracy on the images of the ground truth.

    The ground truth of detection is COCO instances JSON, that of classification is lines
    `file,label`. `read` reads it.
    """
    if rules.task == "detection":
        mean_ap, count = detection_accuracy(
            model, rules, ground_truth, images, central_share, limits, progress, read
        )
        return Accuracy(100 * mean_ap, count)
    labelled = labelled_images(images, ground_truth, read)
    right, count = classification_accuracy(model, rules, labelled, central_share, limits, progress)
    return Accuracy(100 * right / count, count, right)


def measure_until_stable(
    model: Path,
    images: Sequence[Path],
    plan: Plan,
    limits: Limits,
    attempts: int,
    progress: Progress = lambda done, total: None,
    place: Place = here,
) -> Measurement:
    """Measure until a measurement is stable; return the last one after `attempts`."""
    with place() as measure:
        measurement = benchmark(model, images, plan, limits, progress, measure)
        for _ in range(attempts - 1):
            if measurement.stability.stable:
                break
            measurement = benchmark(model, images, plan, limits, progress, measure)
    return measurement


def judge_entry(
    model: Path,
    rules: ModelRules,
    scoring: OvicRules,
    images: Path,
    ground_truth: Path,
    plan: Plan,
    limits: Limits,
    attempts: int,
    progress: Progress = lambda done, total: None,
    place: Place = here,
) -> Entry:
    """Return accuracy, latency and score of a model that is valid.

    The latency comes first: a place that cannot measure is known before the long accuracy. The
    accuracy is always computed on this machine.
    """
    measurement = measure_until_stable(
        model, images_in(images), plan, limits, attempts, progress, place
    )
    accuracy = accuracy_of(model, rules, images, ground_truth, plan.central_share, limits, progress)
    score = None
    if measurement.stability.stable:
        score = ovic_score(scoring, accuracy.percent, measurement.latency.mean)
    return Entry(accuracy, measurement, score)
