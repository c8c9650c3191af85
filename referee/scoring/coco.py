# SPDX-License-Identifier: Apache-2.0
"""The twelve COCO numbers for boxes, as pycocotools computes them.

Source: cocodataset/cocoapi, PythonAPI/pycocotools/cocoeval.py. That module needs three calls,
prints, and ignores some rows silently. Here one function does all, prints nothing, and counts the
ignored rows.
"""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from referee.core.arguments import finite_number, is_one_of, require_one_of, several, told
from referee.core.coco_boxes import CocoResults, CocoTruth, unlike_coco
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.core.sealed import seal
from referee.core.shown import Shown
from referee.errors import ArgumentError, InputError
from referee.scoring.coco_evaluators import chosen_evaluator, hand_over, precision_and_recall
from referee.scoring.live import Mapped
from referee.scoring.truth_index import Positions

NUMBERS = (
    "AP",
    "AP50",
    "AP75",
    "AP_small",
    "AP_medium",
    "AP_large",
    "AR1",
    "AR10",
    "AR100",
    "AR_small",
    "AR_medium",
    "AR_large",
)
"""Names of the twelve numbers, in COCO's order; AP is the mean over IoU .50:.05:.95."""

MAX_DETECTIONS = 100
"""Detections per image and category that COCO scores; it drops the weaker ones."""

IOUS = tuple((np.arange(50, 100, 5) / 100).tolist())
"""The IoUs over which COCO averages."""

SIZES = ("all", "small", "medium", "large")
"""COCO's sizes of objects: below 32², up to 96², and above 96² pixels of area."""

# Counting by a table of all pairs takes a tenth of the time of sorting; this table has 256 MiB.
_MOST_PAIRS = 2**25


@dataclass(frozen=True, repr=False)
class CocoResult(Shown):
    """COCO's numbers as fractions; None, where COCO prints -1, means nothing to average.

    `numbers` maps each of `NUMBERS` to its value. `ap` maps category ids to AP (all IoUs, all
    areas, 100 detections). `ious` are the IoUs: COCO's, unless others were asked for, over which AP
    and AR average then. `ignored` counts ignored rows by reason: unknown image, unlisted
    category, a score or box that is not finite, beyond `MAX_DETECTIONS`. `evaluator` names the
    program and its version.
    """

    numbers: dict[str, float | None]
    ap: dict[int, float | None]
    images: int
    truth_boxes: int
    crowd_regions: int
    detections: int
    ignored: dict[str, int]
    evaluator: str
    ious: tuple[float, ...]
    _precision: NDArray[Any] = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        seal(self)

    def _facts(self) -> Mapping[str, object]:
        return {
            **self.numbers,
            "images": self.images,
            "boxes": self.truth_boxes,
            "detections": self.detections,
            "evaluator": self.evaluator,
        }

    def _columns(self) -> tuple[str, ...]:
        return ("category", "AP")

    def _rows(self, most: int) -> tuple[Sequence[tuple[object, ...]], int]:
        return list(self.ap.items())[:most], len(self.ap)

    @property
    def mean_ap(self) -> float | None:
        """Return AP, the headline number."""
        return self.numbers["AP"]

    def average_precision(
        self, iou: float | None = None, size: str = "all", category_id: int | None = None
    ) -> float | None:
        """Return AP at one IoU or over all, of one size of `SIZES`, of one category or of all.

        It is None if no such object is in the ground truth. Raises ArgumentError for an IoU, size
        or category that was not evaluated.
        """
        ious = _place(iou, self.ious, "iou")
        categories = _place(category_id, tuple(self.ap), "category_id")
        return _mean_of_known(self._precision[ious, :, categories, SIZES.index(_size(size)), -1])


def evaluate(truth: CocoTruth, results: CocoResults, evaluator: str | None = None) -> CocoResult:
    """Compute the twelve numbers and AP per category, see `prepare`."""
    return prepare(truth, results, evaluator).evaluate()


def evaluate_coco(
    truth: CocoTruth | GroundTruth,
    results: CocoResults | Detections,
    *,
    ious: Iterable[float] | None = None,
    evaluator: str | None = None,
) -> CocoResult:
    """Compute COCO's twelve numbers, AP per category, and AP by IoU and size of objects.

    Inclusive corners become COCO's boxes: width = xmax - xmin + 1. An object's size is its
    annotation's own area, or that of its box. Crowd regions count as COCO counts them. Warns of
    what a `GroundTruth` says and COCO's metric does not know: a blacklist, difficult objects.
    `ious` replace COCO's ten: AP and AR average over them, and AP50 and AP75 are None where .5 and
    .75 are not among them. See `prepare` for the rest. Raises ArgumentError for an IoU that is not
    above 0 and at most 1.
    """
    require_one_of("truth", truth, GroundTruth, CocoTruth)
    require_one_of("results", results, Detections, CocoResults)
    if isinstance(truth, GroundTruth):
        for sentence in unlike_coco(truth):
            warnings.warn(sentence, stacklevel=2)
        truth = CocoTruth.from_ground_truth(truth)
    if isinstance(results, Detections):
        results = CocoResults.from_detections(results)
    at = None if ious is None else _distinct(ious)
    return prepare(truth, results, evaluator, ious=at).evaluate()


def _distinct(ious: Iterable[float]) -> tuple[float, ...]:
    distinct = tuple(sorted({finite_number(iou, "an IoU") for iou in several(ious, "ious")}))
    if not distinct or not all(0 < iou <= 1 for iou in distinct):
        raise ArgumentError(f"ious are {list(distinct)}: give IoUs above 0 and at most 1")
    return distinct


def _place(value: Any, listed: tuple[Any, ...], name: str) -> slice:
    """Return the slice that takes one of the values listed, or all for None."""
    if value is None:
        return slice(None)
    if not is_one_of(value, listed):
        raise ArgumentError(f"{name} {told(value)} was not evaluated: give one of {list(listed)}")
    place = listed.index(value)
    return slice(place, place + 1)


def _size(size: str) -> str:
    if not is_one_of(size, SIZES):
        raise ArgumentError(f"size is {told(size)}: give one of {', '.join(SIZES)}")
    return size


@dataclass(frozen=True, eq=False)
class PreparedEvaluation:
    """One ground truth and one set of results in the hands of an evaluator."""

    evaluator: str
    truth: CocoTruth
    matched: Callable[[], Any]
    detections: int
    ignored: dict[str, int]
    ious: tuple[float, ...]

    def evaluate(self) -> CocoResult:
        """Compute the twelve numbers and AP per category."""
        precision, recall = precision_and_recall(self.matched())
        truth = self.truth
        return CocoResult(
            numbers=_twelve_numbers(precision, recall, self.ious),
            ap=_category_ap(truth, precision),
            images=len(truth.image_ids),
            truth_boxes=int((~truth.crowd).sum()),
            crowd_regions=int(truth.crowd.sum()),
            detections=self.detections,
            ignored=self.ignored,
            evaluator=f"{self.evaluator} {importlib.metadata.version(self.evaluator)}",
            ious=self.ious,
            _precision=precision,
        )


def prepare(
    truth: CocoTruth,
    results: CocoResults,
    evaluator: str | None = None,
    mapped: Mapped = map,
    ious: tuple[float, ...] | None = None,
) -> PreparedEvaluation:
    """Hand ground truth and results to an evaluator, which copies what it needs of them.

    A caller that drops its results before it calls `evaluate` saves their memory. `mapped` is as in
    `LiveScore`: two threads may share the work. `ious` are ascending.

    The default `evaluator` is the fastest that is installed and that this process may use, see
    `chosen_evaluator`. hotcoco gives pycocotools' numbers bit for bit.

    Rows of unknown images and rows that are not finite are set aside and counted, because
    pycocotools would stop at an unknown image. The `area` of a result is width times height. So a
    box inverted in one direction has a negative area, and COCO ignores it if it matches nothing.
    Annotations are numbered from 1, because pycocotools takes number 0 for "unmatched".

    Raises InputError if an annotation names an unlisted image or category, or if the evaluator is
    not installed or cannot run in this process.
    """
    name = chosen_evaluator(evaluator)
    _require_listed(truth)
    kept, ignored = _sort_out(truth, results)
    matched = hand_over(name, truth, kept, mapped, ious)
    return PreparedEvaluation(name, truth, matched, len(results), ignored, ious or IOUS)


def _require_listed(truth: CocoTruth) -> None:
    """Refuse annotations that pycocotools would ignore silently."""
    for ids, listed, what in (
        (truth.image_id, truth.image_ids, "image"),
        (truth.category_id, truth.category_ids, "category"),
    ):
        unknown = ids[~np.isin(ids, listed)]
        if len(unknown):
            raise InputError(f"an annotation is of {what} {unknown[0]}, which is not listed")


def _sort_out(truth: CocoTruth, results: CocoResults) -> tuple[CocoResults, dict[str, int]]:
    """Set bad rows aside and count each under its first reason; rows beyond the limit stay."""
    image = Positions(truth.image_ids)(results.image_id)
    category = Positions(truth.category_ids)(results.category_id)
    reasons = {
        "unknown_image": image < 0,
        "class_out_of_range": category < 0,
        "not_finite": ~(np.isfinite(results.score) & _finite_rows(results.box)),
    }
    kept = np.ones(len(results), dtype=np.bool_)
    ignored = {}
    for name, applies in reasons.items():
        ignored[name] = int((kept & applies).sum())
        kept &= ~applies
    pair = (image * len(truth.category_ids) + category)[kept]
    few = len(truth.image_ids) * len(truth.category_ids) <= _MOST_PAIRS
    counts = np.bincount(pair) if few else np.unique(pair, return_counts=True)[1]
    beyond = counts[counts > MAX_DETECTIONS] - MAX_DETECTIONS
    ignored["beyond_100_per_image_and_class"] = int(beyond.sum())
    return results if kept.all() else results.select(kept), ignored


def _finite_rows(box: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which boxes (n, 4) are finite; to look at each row takes ten times as long."""
    finite = np.isfinite(box)
    if finite.all():
        return np.ones(len(box), dtype=np.bool_)
    rows: NDArray[np.bool_] = np.logical_and.reduce(finite, axis=1)
    return rows


def _twelve_numbers(
    precision: NDArray[Any], recall: NDArray[Any], ious: tuple[float, ...]
) -> dict[str, float | None]:
    """Average the arrays as COCOeval.summarize does; None where there is nothing to average."""
    everything = slice(None)
    at_50, at_75 = (np.flatnonzero(np.array(ious) == iou) for iou in (0.5, 0.75))
    small, medium, large = (SIZES.index(size) for size in ("small", "medium", "large"))
    parts = (
        *(precision[ious_of, :, :, 0, -1] for ious_of in (everything, at_50, at_75)),
        *(precision[:, :, :, size, -1] for size in (small, medium, large)),
        *(recall[:, :, 0, limit] for limit in range(recall.shape[-1])),
        *(recall[:, :, size, -1] for size in (small, medium, large)),
    )
    return dict(zip(NUMBERS, map(_mean_of_known, parts), strict=True))


def _category_ap(truth: CocoTruth, precision: NDArray[Any]) -> dict[int, float | None]:
    """Average the precision of all areas and 100 detections over IoU and recall levels."""
    return {
        category_id: _mean_of_known(precision[:, :, place, 0, -1])
        for place, category_id in enumerate(truth.category_ids.tolist())
    }


def _mean_of_known(values: NDArray[Any]) -> float | None:
    """Return the mean of the values above -1, or None if there is none."""
    known = values[values > -1]
    return float(np.mean(known)) if known.size else None
