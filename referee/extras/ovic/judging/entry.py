# SPDX-License-Identifier: Apache-2.0
"""An entry from its model to its score: accuracy, latency, metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.errors import InputError
from referee.extras.ovic.judging.benchmark import Measurement, Place, benchmark, here
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.dataset import (
    Dataset,
    LabelledImage,
    images_in,
    images_of_truth,
    labelled_images,
)
from referee.extras.ovic.judging.jobs import ModelFault, broken_protocol, run_job
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.judging.wire import WireError, unpack_arrays, unpack_numbers
from referee.extras.ovic.rules.detections import Overhang, clipped, overhang_of, said
from referee.extras.ovic.rules.model_checks import output_shapes, value_failures
from referee.extras.ovic.rules.model_rules import ModelRules
from referee.extras.ovic.rules.score import OvicRules, OvicScore, ovic_score
from referee.scoring import CocoResults, CocoTruth

Progress = Callable[[int, int], None]
Keep = Callable[[CocoResults], None]
Answer = tuple[int, int, list[NDArray[Any]]]
"""The width and height of an image, and the model's outputs for it."""

BATCH = 250
"""Images that one process answers; its limits hold for all of them together."""


@dataclass(frozen=True)
class Accuracy:
    """An accuracy in percent over images; `right` counts a classifier's right answers.

    `overhang` says what a detector's boxes did beyond the images.
    """

    percent: float
    images: int
    right: int | None = None
    overhang: Overhang | None = None


@dataclass(frozen=True)
class JudgedEntry:
    """A scored entry; without a stable measurement there is no score."""

    accuracy: Accuracy
    measurement: Measurement
    score: OvicScore | None


@dataclass(frozen=True)
class Trial:
    """A model that answers images: the rules that hold for it, and how it is run.

    `central_share` is the part of each image that it sees.
    """

    model: Path
    rules: ModelRules
    central_share: float
    limits: Limits
    progress: Progress = lambda done, total: None


@dataclass(frozen=True)
class Timing:
    """How a latency is measured: the plan of one measurement, its limits, and how often at most."""

    plan: Plan
    limits: Limits = Limits()
    attempts: int = 3


def accuracy_of(trial: Trial, dataset: Dataset, keep: Keep = lambda results: None) -> Accuracy:
    """Return the model's accuracy on the images of the ground truth.

    `keep` gets a detector's answers before they are scored.
    """
    if trial.rules.task == "detection":
        return detection_accuracy(trial, dataset, keep)
    right, count = classification_accuracy(trial, labelled_images(dataset))
    return Accuracy(100 * right / count, count, right)


def measure_until_stable(
    model: Path,
    images: Sequence[Path],
    timing: Timing,
    progress: Progress = lambda done, total: None,
    place: Place = here,
) -> Measurement:
    """Measure until a measurement is stable; return the last one after all attempts."""
    with place() as measure:
        asked = (model, images, timing.plan, timing.limits, progress, measure)
        measurement = benchmark(*asked)
        for _ in range(timing.attempts - 1):
            if measurement.stability.stable:
                break
            measurement = benchmark(*asked)
    return measurement


def judge_entry(
    trial: Trial,
    dataset: Dataset,
    scoring: OvicRules,
    timing: Timing,
    place: Place = here,
    keep: Keep = lambda results: None,
) -> JudgedEntry:
    """Return accuracy, latency and score of a model that is valid.

    The latency comes first: a place that cannot measure is known before the long accuracy. The
    accuracy is always computed on this machine. `keep` is that of `accuracy_of`.
    """
    images = images_in(dataset.images)
    measurement = measure_until_stable(trial.model, images, timing, trial.progress, place)
    accuracy = accuracy_of(trial, dataset, keep)
    score = None
    if measurement.stability.stable:
        score = ovic_score(scoring, accuracy.percent, measurement.latency.mean)
    return JudgedEntry(accuracy, measurement, score)


def classification_accuracy(trial: Trial, images: Sequence[LabelledImage]) -> tuple[int, int]:
    """Return how many images are right at the first place, and how many there are.

    Of equal scores the first class wins. Without a background, class k has the label k + 1.
    """
    answers = _answers(trial, [image.path for image in images])
    offset = 0 if trial.rules.background else 1
    right = sum(
        int(outputs[0][0].argmax()) + offset == image.label
        for image, (_, _, outputs) in zip(images, answers, strict=True)
    )
    return right, len(images)


def detection_accuracy(trial: Trial, dataset: Dataset, keep: Keep) -> Accuracy:
    """Return COCO's AP in percent, and the number of images; `keep` gets the answers first.

    A category id is the class index plus 1, as COCO's 90 numbers have it. Raises InputError if no
    class has ground truth.
    """
    # The evaluators are slow to import, and a classifier needs none.
    from referee.scoring import coco

    truth_file, paths = images_of_truth(dataset)
    answers = list(_answers(trial, list(paths.values())))
    truth = CocoTruth.from_ground_truth(truth_file.truth)
    results = coco_results(list(paths), answers)
    keep(results)
    result = coco.evaluate(truth, results)
    if result.mean_ap is None:
        raise InputError(f"{dataset.ground_truth}: no class has ground truth, so there is no mAP")
    overhang = sum((overhang_of(outputs) for _, _, outputs in answers), Overhang())
    return Accuracy(100 * result.mean_ap, len(paths), overhang=overhang)


def coco_results(image_ids: Sequence[int], answers: Iterable[Answer]) -> CocoResults:
    """Return the detections of all images as COCO results, in pixels of each image.

    Boxes end at the image, as the rules have them.
    """
    columns: list[list[NDArray[np.float64]]] = [[], [], [], []]
    for image_id, (width, height, outputs) in zip(image_ids, answers, strict=True):
        boxes, classes, scores, _ = said(outputs)
        top, left, bottom, right = (clipped(boxes) * [height, width, height, width]).T
        box = np.stack([left, top, right - left, bottom - top], axis=1)
        ids = np.full(len(boxes), image_id, dtype=np.float64)
        for column, values in zip(columns, (ids, classes + 1, scores, box), strict=True):
            column.append(values)
    ids, classes, scores, box = (np.concatenate(column) for column in columns)
    return CocoResults(ids.astype(np.int64), classes.astype(np.int64), scores, box)


def _answers(trial: Trial, images: Sequence[Path]) -> Iterator[Answer]:
    """Yield the model's outputs for each image, a job for each `BATCH` of them.

    Raises ModelFault if the model fails, and InputError if an image does.
    """
    model = trial.model
    for first in range(0, len(images), BATCH):
        batch = images[first : first + BATCH]
        done = run_job(
            model,
            "answer",
            trial.limits,
            partial(_show, trial.progress, first, len(images)),
            images=[str(path.resolve()) for path in batch],
            central_share=trial.central_share,
        )
        if done.failures:
            text = f"{model.name} cannot be scored: {done.failures[0]}"
            raise ModelFault(text, done.failures[0])
        try:
            answers = [_answer(trial.rules, message) for message in done.of("answer")]
        except WireError as error:
            raise broken_protocol(model, "scored", error) from None
        if len(answers) != len(batch):
            raise InputError(f"{model.name} answered {len(answers)} of {len(batch)} images")
        for answer in answers:
            _require_values(model, trial.rules, answer)
            yield answer
    trial.progress(len(images), len(images))


def _require_values(model: Path, rules: ModelRules, answer: Answer) -> None:
    """Raise ModelFault for values that a rule forbids.

    A photograph may leave fewer boxes than made images: those that are there are scored.
    """
    for failure in value_failures(rules, answer[2]):
        if failure.rule != "count":
            raise ModelFault(f"{model.name} cannot be scored: {failure}", failure)


def _show(progress: Progress, first: int, total: int, results: int) -> None:
    """Turn a batch's number of answers, after which one more message comes, into progress."""
    progress(min(first + min(results, BATCH), total), total)


def _answer(rules: ModelRules, message: dict[str, object]) -> Answer:
    """Return one answer; raise WireError unless it has the shapes of the rules."""
    ((width, height),) = unpack_numbers([message.get("size")], 2)
    outputs = unpack_arrays(message.get("outputs"))
    shapes = output_shapes(rules, rules.boxes)
    if [output.size for output in outputs] != [math.prod(shape) for shape in shapes]:
        raise WireError("an answer has outputs of other shapes than the rules ask for")
    return int(width), int(height), outputs
