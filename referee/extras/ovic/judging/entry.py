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

from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.errors import InputError
from referee.extras.ovic.judging.benchmark import Measurement, Place, benchmark, here
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.dataset import (
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
from referee.formats.text import Read, read_bytes

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
    keep: Keep = lambda results: None,
) -> Accuracy:
    """Return the model's accuracy on the images of the ground truth.

    The ground truth of detection is COCO instances JSON or YOLO labels, and that of classification
    is lines `file,label`. `read` reads it. `keep` gets a detector's answers before they are scored.
    """
    if rules.task == "detection":
        return detection_accuracy(
            model, rules, ground_truth, images, central_share, limits, progress, read, keep
        )
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
    keep: Keep = lambda results: None,
) -> Entry:
    """Return accuracy, latency and score of a model that is valid.

    The latency comes first: a place that cannot measure is known before the long accuracy. The
    accuracy is always computed on this machine. `keep` is that of `accuracy_of`.
    """
    measurement = measure_until_stable(
        model, images_in(images), plan, limits, attempts, progress, place
    )
    accuracy = accuracy_of(
        model, rules, images, ground_truth, plan.central_share, limits, progress, keep=keep
    )
    score = None
    if measurement.stability.stable:
        score = ovic_score(scoring, accuracy.percent, measurement.latency.mean)
    return Entry(accuracy, measurement, score)


def classification_accuracy(
    model: Path,
    rules: ModelRules,
    images: Sequence[LabelledImage],
    central_share: float,
    limits: Limits,
    progress: Progress = lambda done, total: None,
) -> tuple[int, int]:
    """Return how many images are right at the first place, and how many there are.

    Of equal scores the first class wins. Without a background, class k has the label k + 1.
    """
    answers = _answers(
        model, rules, [image.path for image in images], central_share, limits, progress
    )
    offset = 0 if rules.background else 1
    right = sum(
        int(outputs[0][0].argmax()) + offset == image.label
        for image, (_, _, outputs) in zip(images, answers, strict=True)
    )
    return right, len(images)


def detection_accuracy(
    model: Path,
    rules: ModelRules,
    truth_path: Path,
    folder: Path,
    central_share: float,
    limits: Limits,
    progress: Progress = lambda done, total: None,
    read: Read = read_bytes,
    keep: Keep = lambda results: None,
) -> Accuracy:
    """Return COCO's AP in percent, and the number of images; `keep` gets the answers first.

    A category id is the class index plus 1, as COCO's 90 numbers have it. Raises InputError if no
    class has ground truth.
    """
    # The evaluators are slow to import, and a classifier needs none.
    from referee.scoring import coco

    truth_file, paths = images_of_truth(folder, truth_path, read)
    answers = list(_answers(model, rules, list(paths.values()), central_share, limits, progress))
    truth = CocoTruth.from_ground_truth(truth_file.truth)
    results = coco_results(list(paths), answers)
    keep(results)
    result = coco.evaluate(truth, results)
    if result.mean_ap is None:
        raise InputError(f"{truth_path}: no class has ground truth, so there is no mAP")
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


def _answers(
    model: Path,
    rules: ModelRules,
    images: Sequence[Path],
    central_share: float,
    limits: Limits,
    progress: Progress,
) -> Iterator[Answer]:
    """Yield the model's outputs for each image, a job for each `BATCH` of them.

    Raises ModelFault if the model fails, and InputError if an image does.
    """
    for first in range(0, len(images), BATCH):
        batch = images[first : first + BATCH]
        done = run_job(
            model,
            "answer",
            limits,
            partial(_show, progress, first, len(images)),
            images=[str(path.resolve()) for path in batch],
            central_share=central_share,
        )
        if done.failures:
            text = f"{model.name} cannot be scored: {done.failures[0]}"
            raise ModelFault(text, done.failures[0])
        try:
            answers = [_answer(rules, message) for message in done.of("answer")]
        except WireError as error:
            raise broken_protocol(model, "scored", error) from None
        if len(answers) != len(batch):
            raise InputError(f"{model.name} answered {len(answers)} of {len(batch)} images")
        for answer in answers:
            _require_values(model, rules, answer)
            yield answer
    progress(len(images), len(images))


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


def _answer(rules: ModelRules, message: dict[str, Any]) -> Answer:
    """Return one answer; raise WireError unless it has the shapes of the rules."""
    ((width, height),) = unpack_numbers([message.get("size")], 2)
    outputs = unpack_arrays(message.get("outputs"))
    shapes = output_shapes(rules, rules.boxes)
    if [output.size for output in outputs] != [math.prod(shape) for shape in shapes]:
        raise WireError("an answer has outputs of other shapes than the rules ask for")
    return int(width), int(height), outputs
