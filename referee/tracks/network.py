# SPDX-License-Identifier: Apache-2.0
"""The network track, held since 2015: object detection over HTTP, scored by mAP per watt-hour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections, pack, unpack, unpack_all
from referee.core.flags import flag_rows
from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.formats import answers
from referee.formats.answer_formats import AnswerFormat, has_coco_boxes
from referee.formats.detection_lines import parse_lines
from referee.formats.number_text import detection_lines, detection_rows
from referee.scoring import lpirc
from referee.scoring.ilsvrc import evaluate
from referee.scoring.live import LiveScore
from referee.scoring.mistakes.boxes import are_fractions
from referee.scoring.mistakes.diagnosis import advice, find_mistakes
from referee.scoring.mistakes.posted import Posted
from referee.scoring.score_report import energy_report, ilsvrc_report
from referee.scoring.uncertainty import measure_uncertainty
from referee.tracks.track import (
    Champion,
    Figure,
    Outcome,
    Ranking,
    Remarks,
    Report,
    SentAnswers,
    Track,
)

# What a row without confidences was read as: a COCO result, and any other row.
_READ_AS = {
    True: "an object of image_id, category_id and bbox [x, y, width, height] without a score",
    False: "image, class, xmin, ymin, xmax, ymax",
}
_FRACTIONS = (
    "boxes between 0 and 1: they seem to be fractions of the image, and the referee takes pixels; "
    "multiply x by the image's width and y by its height"
)

_CLASSES_SHOWN = 8
# 200 confidences that are rounded to four digits sum to at most this.
_SUM_MOST = 1.01
# The most confident rows show whether cut boxes score better: an evaluation of them takes 50 ms.
_ROWS_JUDGED = 50_000
# A difference of the mAP that four digits show.
_SEEN = 0.0001

Sizes = Mapping[int, tuple[int, int]]


class _Scorer(LiveScore):
    """The ILSVRC score of detections as they arrive, by the rules of the development kit."""

    def outcome(self) -> Outcome:
        """Return mAP, and every number that explains it."""
        result = self.result()
        return Outcome(
            result.mean_ap,
            result.detections,
            partial(ilsvrc_report, result),
            partial(measure_uncertainty, result),
        )


class NetworkTrack(Track[Detections]):
    """The track of object detection: contestants fetch images and post boxes."""

    name = "network"
    accuracy = Figure("mean_ap", "mAP")
    score = Figure("score", "score", "mAP/Wh")
    ranking = Ranking("score", quotient_of=("mean_ap", "energy_wh"))
    champions = {
        year: Champion(entry.mean_ap or 0.0, entry.energy_wh or 0.0, entry.score or 0.0)
        for year, entry in lpirc.CHAMPIONS.items()
    }
    sigma_prizes = True
    form_fields = answers.FORM_FIELDS

    # What a function of the formats, the scoring or the detections does is that function.
    parse_form = staticmethod(answers.parse_form)
    flag = staticmethod(flag_rows)
    pack = staticmethod(pack)
    unpack = staticmethod(unpack)
    unpack_all = staticmethod(unpack_all)
    join = staticmethod(Detections.concatenate)
    rows = staticmethod(detection_rows)
    text = staticmethod(detection_lines)
    from_text = staticmethod(parse_lines)
    score_of = staticmethod(lpirc.score)

    def parse(self, answer_format: AnswerFormat, body: bytes) -> Detections:
        """Parse detections in any of the formats."""
        return answer_format.parse(body)

    def lacks(self, answer: Detections, answer_format: str) -> tuple[str, ...]:
        """Say that no row has a confidence, as if a column was lost, or that boxes lack pixels."""
        coco = has_coco_boxes(answer_format)
        lacking = []
        if answer.without_confidence and len(answer):
            lacking.append(
                f"confidence missing: each row was read as {_READ_AS[coco]}, and counts with "
                "confidence 1.0"
            )
        if are_fractions(answer.box, coco=coco):
            lacking.append(_FRACTIONS)
        return tuple(lacking)

    def in_manifest_ids(self, answer: Detections, order: NDArray[np.int64]) -> Detections:
        """Replace the contestant's image numbers by the manifest's image ids."""
        return answer.with_image_ids(to_manifest_ids(answer.image_id, order))

    def answers_from_text(self, text: bytes, counts: Sequence[int]) -> Iterator[Detections]:
        """Yield the answers in a text, which is read as a whole."""
        rows, start = self.from_text(text), 0
        for count in counts:
            yield rows.select(slice(start, start + count))
            start += count

    def scorer(self, truth: GroundTruth) -> _Scorer:
        """Return the track's scorer."""
        return _Scorer(truth)

    def images_answered(self, answer: Detections) -> NDArray[np.int64]:
        """Return the image ids of the rows, also of those that can never match."""
        return np.unique(answer.image_id)

    def report(self, outcome: Outcome, energy_wh: float | None, images_processed: int) -> Report:
        """Return the numbers that explain the mAP, then energy, score and normalised accuracy."""
        report = outcome.report()
        return report | energy_report(
            outcome.accuracy, report["images"], energy_wh, images_processed
        )

    def remarks(
        self, sent: SentAnswers[Detections], truth: GroundTruth, accuracy: float | None
    ) -> Remarks:
        """Return counts of the boxes, and likely mistakes of the contestant's program."""
        posted = _posted(sent)
        numbers = posted.detections.image_id
        detections = posted.detections.with_image_ids(to_manifest_ids(numbers, sent.order))
        return Remarks(
            images_answered=len(np.intersect1d(detections.image_id, truth.image_ids)),
            lines=(
                ("detections", f"{len(detections)}: {_classes(detections, truth.class_names)}"),
                *_boxes(detections, sent.sizes, truth),
            ),
            warnings=tuple(advice(find_mistakes(truth, posted, sent.sizes, accuracy), accuracy)),
        )


def _posted(sent: SentAnswers[Detections]) -> Posted:
    as_coco = [has_coco_boxes(answer_format) for answer_format, _ in sent.answers]
    return Posted(
        detections=Detections.concatenate([answer for _, answer in sent.answers]),
        as_coco=np.repeat(np.array(as_coco, dtype=bool), [len(a) for _, a in sent.answers]),
        order=sent.order,
        source_ids=sent.source_ids,
    )


def _classes(detections: Detections, names: Mapping[int, str]) -> str:
    """Return the most frequent classes with their counts, as text."""
    classes, counts = np.unique(detections.class_id, return_counts=True)
    ranked = np.argsort(-counts, kind="stable")
    shown = [
        f"{names.get(class_id, f'class {class_id}')} {count}"
        for class_id, count in zip(
            classes[ranked[:_CLASSES_SHOWN]].tolist(),
            counts[ranked[:_CLASSES_SHOWN]].tolist(),
            strict=True,
        )
    ]
    more = len(classes) - _CLASSES_SHOWN
    return ", ".join(shown or ["none"]) + (f" and {more} more classes" if more > 0 else "")


def _boxes(detections: Detections, sizes: Sizes, truth: GroundTruth) -> Iterator[tuple[str, str]]:
    outside, inverted = _outside(detections, sizes), _inverted(detections)
    distinct = _distinct(detections)
    repeated = len(detections) - len(distinct)
    text = f"{outside} reach beyond their image, {inverted} inverted, {repeated} repeated"
    yield "boxes", text
    if outside:
        yield from (("", text) for text in _cut_off(detections, sizes, truth))
    if repeated:
        yield "", "A repeated box counts as a false one: send each box once."
    above_one = _above_one(distinct)
    if above_one:
        yield (
            "",
            f"The confidences of several classes sum to more than 1 in {above_one} of the boxes. "
            "The score takes them as they are. Core Vision reads the sum as that of any object.",
        )


def _cut_off(detections: Detections, sizes: Sizes, truth: GroundTruth) -> Iterator[str]:
    """Yield the advice to cut boxes off at the image, where that makes the mAP higher."""
    ranked = np.argsort(-detections.confidence, kind="stable")
    sent = detections.select(ranked[:_ROWS_JUDGED])
    most = np.tile(_wide(sent, sizes), 2)
    # A box that lies wholly outside stays as it is: cut off, it would be a line on the edge.
    reaches = np.column_stack([sent.box[:, 2:] >= 0, sent.box[:, :2] <= most[:, :2]])
    inside = reaches.all(axis=1, keepdims=True)
    cut = np.where(inside, np.clip(sent.box, 0.0, most), sent.box)
    before = evaluate(truth, sent).mean_ap or 0.0
    after = evaluate(truth, replace(sent, box=cut)).mean_ap or 0.0
    if after - before >= _SEEN:
        yield (
            "What lies beyond the image lowers the overlap: cut boxes off there, and the mAP is "
            f"{after:.4f}, not {before:.4f}."
        )


def _outside(detections: Detections, sizes: Sizes) -> int:
    """Count boxes with a corner beyond 0…width or 0…height of a known image."""
    box, wide = detections.box, _wide(detections, sizes)
    return int(((box[:, :2] < 0).any(axis=1) | (box[:, 2:] > wide).any(axis=1)).sum())


def _wide(detections: Detections, sizes: Sizes) -> NDArray[np.float64]:
    """Return width and height of each row's image; an unknown one has no end."""
    unknown = (np.inf, np.inf)
    wide = [sizes.get(image, unknown) for image in detections.image_id.tolist()]
    return np.array(wide, dtype=np.float64).reshape(-1, 2)


def _inverted(detections: Detections) -> int:
    box = detections.box
    return int(((box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])).sum())


def _distinct(detections: Detections) -> Detections:
    """Leave out rows that repeat the image, class and box of an earlier row."""
    if not len(detections):
        return detections
    table = np.column_stack([detections.image_id, detections.class_id, detections.box])
    first = np.unique(table, axis=0, return_index=True)[1]
    return detections.select(np.sort(first))


def _above_one(distinct: Detections) -> int:
    """Count boxes that several classes share, with confidences that sum to more than 1.

    Core ML's NonMaximumSuppression.proto: "The sum of the confidences for a prediction should not
    exceed 1".
    """
    if not len(distinct):
        return 0
    boxes = np.column_stack([distinct.image_id, distinct.box])
    box_of = np.unique(boxes, axis=0, return_inverse=True)[1].ravel()
    several = np.bincount(box_of) > 1
    return int((several & (np.bincount(box_of, distinct.confidence) > _SUM_MOST)).sum())


TRACK = NetworkTrack()
