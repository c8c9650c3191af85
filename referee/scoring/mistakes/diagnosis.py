# SPDX-License-Identifier: Apache-2.0
"""Classic mistakes of a contestant's program, proved by the score of the repaired answers.

A session's detections can be read in several ways: as the protocol says, or as programs that make
a classic mistake mean them. Images, classes and boxes have such readings. The reading with the best
mAP wins. Its faults are reported only if its mAP is clearly better than that of the detections as
sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.ilsvrc import evaluate
from referee.scoring.mistakes.boxes import box_readings
from referee.scoring.mistakes.classes import class_readings
from referee.scoring.mistakes.images import image_readings
from referee.scoring.mistakes.posted import Fault, Posted
from referee.scoring.result import IlsvrcResult

Ints = NDArray[np.int64]
Boxes = NDArray[np.float64]

# A repair is reported only if it gains this much mAP, this ratio, and this many true positives.
# Among a hundred readings of random boxes, one always gains mAP by a match or two of a rare class.
_LEAST_GAIN = 0.02
_LEAST_RATIO = 1.5
_LEAST_MATCHES = 5
# Another order of the same rows gains less. Few matches say nothing about an order.
_LEAST_RATIO_RANKED = 1.2
_LEAST_RANKED = 20
# An evaluation of 50,000 rows takes 50 ms. The less confident rows cannot prove a mistake.
_ROWS_JUDGED = 50_000
# Finding two faults that hide each other takes hundreds of evaluations, so each uses fewer rows.
_ROWS_PAIRED = 2_000
# Two faults that hide each other leave at most this mAP.
_MOST_WHEN_HIDDEN = 0.1

_CONFIDENCE_TURNED = Fault(
    "confidences_turned",
    "The confidences are 1 minus what they should be: the surest boxes have the lowest. A sure box "
    "has a confidence near 1.",
)

Choice = tuple[int, int, int]
"""One reading each of images, classes and boxes, as indices; 0 is the protocol's reading."""

_AS_SENT: Choice = (0, 0, 0)


@dataclass(frozen=True)
class Mistake:
    """A mistake of a contestant's program: a code, advice in words, and the proof.

    `repaired_mean_ap` is the mAP of the same detections when all reported faults are repaired. It
    is None for a mistake that no repair can prove.
    """

    code: str
    text: str
    repaired_mean_ap: float | None


def find_mistakes(
    truth: GroundTruth, posted: Posted, sizes: Mapping[int, tuple[int, int]]
) -> tuple[Mistake, ...]:
    """Return the mistakes that explain a low score; the 50,000 most confident rows decide.

    `truth` and `sizes` (width, height in pixels) use the contest's image ids. The search takes
    about fifty evaluations. It takes some hundreds more if the score is low and no single mistake
    explains it.
    """
    return (*_proved(truth, posted, sizes), *_equal_confidences(posted.detections))


def _proved(
    truth: GroundTruth, posted: Posted, sizes: Mapping[int, tuple[int, int]]
) -> Iterator[Mistake]:
    """Yield the faults of the best reading: change one family at a time, then pairs of families."""
    readings = _Readings(truth, posted, sizes)
    if not len(posted.detections) or not len(truth.box):
        return
    best = _AS_SENT
    while (better := readings.best(_one_changed(best, readings.lengths), best)) != best:
        best = better
    sent = readings.result(_AS_SENT)
    if best == _AS_SENT and _map_of(sent) <= _MOST_WHEN_HIDDEN:
        best = readings.best(_two_changed(readings.lengths), best, _ROWS_PAIRED)
    repaired, faults = readings.result(best), readings.faults(best)
    # The search for pairs used few rows. All rows must confirm its result.
    if not _clearly_better(repaired, sent):
        best, repaired, faults = _AS_SENT, sent, ()
    turned = readings.turned(best)
    if turned is not None and _ranks_better(turned, repaired):
        repaired, faults = turned, (*faults, _CONFIDENCE_TURNED)
    for fault in faults:
        yield Mistake(fault.code, fault.text, repaired.mean_ap)


def advice(mistakes: Sequence[Mistake], mean_ap: float | None) -> Iterator[str]:
    """Yield sentences: first the proved mistakes and the repaired mAP, then the other mistakes."""
    repaired = [m for m in mistakes if m.repaired_mean_ap is not None]
    yield from (mistake.text for mistake in repaired)
    if repaired and mean_ap is not None:
        what = "Repaired" if len(repaired) == 1 else "With all of this repaired"
        yield f"{what}, the mAP is {repaired[0].repaired_mean_ap:.4f}, not {mean_ap:.4f}."
    yield from (mistake.text for mistake in mistakes if mistake.repaired_mean_ap is None)


class _Readings:
    """Every reading of a session's detections, and the mAP of each."""

    def __init__(
        self, truth: GroundTruth, posted: Posted, sizes: Mapping[int, tuple[int, int]]
    ) -> None:
        ranked = np.argsort(-posted.detections.confidence, kind="stable")
        judged = posted.select(ranked[:_ROWS_JUDGED])
        self._truth = truth
        self._confidence = judged.detections.confidence
        self._images = list(image_readings(judged))
        self._classes = list(class_readings(judged.detections.class_id, truth))
        self._boxes = list(box_readings(judged))
        self._sizes = [_sizes_of(reading.image_id, sizes) for reading in self._images]

    @property
    def lengths(self) -> Choice:
        """Return the number of readings of the images, of the classes and of the boxes."""
        return len(self._images), len(self._classes), len(self._boxes)

    def faults(self, choice: Choice) -> tuple[Fault, ...]:
        """Return the faults that a choice of readings assumes."""
        image, klass, box = choice
        return (
            *self._images[image].faults,
            *self._classes[klass].faults,
            *self._boxes[box].faults,
        )

    def result(self, choice: Choice, rows: int = _ROWS_JUDGED) -> IlsvrcResult:
        """Score the most confident rows under a choice of readings."""
        return evaluate(self._truth, self._read(choice).select(slice(rows)))

    def _read(self, choice: Choice) -> Detections:
        image, klass, box = choice
        return Detections(
            self._images[image].image_id,
            self._classes[klass].class_id,
            self._confidence,
            self._boxes[box].corners(self._sizes[image]),
        )

    def turned(self, choice: Choice) -> IlsvrcResult | None:
        """Score the rows with 1 minus their confidence; None if some are no such confidences."""
        sent = self._confidence
        if not np.all((sent >= 0) & (sent <= 1)) or np.all(sent == sent[0]):
            return None
        return evaluate(self._truth, replace(self._read(choice), confidence=1.0 - sent))

    def best(self, choices: Iterable[Choice], known: Choice, rows: int = _ROWS_JUDGED) -> Choice:
        """Return the choice with the best mAP if it clearly beats `known`, else `known`."""
        before = self.result(known, rows)
        if _LEAST_RATIO * _map_of(before) > 1.0:
            return known  # No mAP is that much higher: it would exceed 1.
        best, highest = known, before
        for choice in choices:
            result = self.result(choice, rows)
            if _map_of(result) > _map_of(highest) and _clearly_better(result, before):
                best, highest = choice, result
        return best


def _clearly_better(result: IlsvrcResult, before: IlsvrcResult) -> bool:
    gained = _map_of(result) - _map_of(before)
    return (
        gained >= _LEAST_GAIN
        and _map_of(result) >= _LEAST_RATIO * _map_of(before)
        and result.true_positives >= before.true_positives + _LEAST_MATCHES
    )


def _ranks_better(turned: IlsvrcResult, before: IlsvrcResult) -> bool:
    """Tell whether the other order is clearly better; it finds the same objects."""
    return (
        turned.true_positives >= _LEAST_RANKED
        and _map_of(turned) - _map_of(before) >= _LEAST_GAIN
        and _map_of(turned) >= _LEAST_RATIO_RANKED * _map_of(before)
    )


def _map_of(result: IlsvrcResult) -> float:
    return result.mean_ap or 0.0


def _one_changed(known: Choice, lengths: Choice) -> Iterator[Choice]:
    """Yield the choices that change one more family from the protocol's reading."""
    for family, length in enumerate(lengths):
        if known[family] == 0:
            for reading in range(1, length):
                yield (*known[:family], reading, *known[family + 1 :])  # type: ignore[misc]


def _two_changed(lengths: Choice) -> Iterator[Choice]:
    """Yield the choices that change exactly two families from the protocol's reading."""
    for choice in product(*map(range, lengths)):
        if choice.count(0) == 1:
            yield choice  # type: ignore[misc]


def _sizes_of(image_id: Ints, sizes: Mapping[int, tuple[int, int]]) -> Boxes:
    """Return width and height of each row's image, or 1 and 1 for an unknown image."""
    rows = [sizes.get(image, (1, 1)) for image in image_id.tolist()]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def _equal_confidences(detections: Detections) -> Iterator[Mistake]:
    confidence = detections.confidence
    if len(confidence) > 1 and np.all(confidence == confidence[0]):
        yield Mistake(
            "confidences_equal",
            f"All confidences are {confidence[0]:g}. The score orders detections by confidence, so "
            "each false one costs as much as it can. Send the confidence of your detector.",
            None,
        )
