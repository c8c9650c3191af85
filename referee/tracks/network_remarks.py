# SPDX-License-Identifier: Apache-2.0
"""Remarks to a contestant about the boxes of a session: counts, and likely mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.order import to_manifest_ids
from referee.formats.answer_formats import has_coco_boxes
from referee.scoring.mistakes.diagnosis import advice, find_mistakes
from referee.scoring.mistakes.posted import Posted
from referee.tracks.track import Remarks, SentAnswers

_CLASSES_SHOWN = 8

Sizes = Mapping[int, tuple[int, int]]


def network_remarks(
    sent: SentAnswers[Detections], truth: GroundTruth, accuracy: float | None
) -> Remarks:
    """Return the remarks about a session's detections."""
    posted = _posted(sent)
    numbers = posted.detections.image_id
    detections = posted.detections.with_image_ids(to_manifest_ids(numbers, sent.order))
    return Remarks(
        images_answered=len(np.intersect1d(detections.image_id, truth.image_ids)),
        lines=(
            ("detections", f"{len(detections)}: {_classes(detections, truth.class_names)}"),
            *_boxes(detections, sent.sizes),
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


def _boxes(detections: Detections, sizes: Sizes) -> Iterator[tuple[str, str]]:
    outside, inverted = _outside(detections, sizes), _inverted(detections)
    repeated = _repeated(detections)
    told = f"{outside} reach beyond their image, {inverted} inverted, {repeated} repeated"
    yield "boxes", told
    if outside:
        yield (
            "",
            "What lies beyond the image lowers the overlap: cut boxes off there.",
        )
    if repeated:
        yield "", "A repeated box counts as a false one: send each box once."


def _outside(detections: Detections, sizes: Sizes) -> int:
    """Count boxes with a corner beyond 0…width or 0…height of a known image."""
    unknown = (np.inf, np.inf)
    wide = np.array([sizes.get(i, unknown) for i in detections.image_id.tolist()]).reshape(-1, 2)
    box = detections.box
    return int(((box[:, :2] < 0).any(axis=1) | (box[:, 2:] > wide).any(axis=1)).sum())


def _inverted(detections: Detections) -> int:
    box = detections.box
    return int(((box[:, 2] < box[:, 0]) | (box[:, 3] < box[:, 1])).sum())


def _repeated(detections: Detections) -> int:
    """Count rows that repeat the image, class and box of an earlier row."""
    table = np.column_stack([detections.image_id, detections.class_id, detections.box])
    return len(table) - len(np.unique(table, axis=0)) if len(table) else 0
