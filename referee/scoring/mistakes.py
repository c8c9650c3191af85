# SPDX-License-Identifier: Apache-2.0
"""Classic mistakes of a contestant's program, found by asking what the score would be without.

Each suspicion is a way to repair the detections. Where repaired ones score far better than those
that were sent, the mistake was made: no other sign of it is as sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.ilsvrc import evaluate

Boxes = NDArray[np.float64]

# A repair must gain this much to be told: more than any lucky match, less than any real mistake.
_LEAST_GAIN = 0.02
_LEAST_RATIO = 1.5

# Sides of the square inputs that detectors of these years have.
_INPUT_SIDES = (224, 300, 320, 384, 416, 448, 512, 608, 640)


@dataclass(frozen=True)
class Mistake:
    """Name a mistake, and the mAP that the same detections have without it.

    `repaired_mean_ap` is None for a mistake that is seen without a repair.
    """

    code: str
    text: str
    repaired_mean_ap: float | None


def find_mistakes(
    truth: GroundTruth, detections: Detections, sizes: Mapping[int, tuple[int, int]]
) -> tuple[Mistake, ...]:
    """Return the mistakes that explain a low score, the one that costs most first.

    `detections` and `sizes` (width, height in pixels) use the image ids of `truth`. It costs one
    evaluation a suspicion.
    """
    found = list(_equal_confidences(detections))
    known = np.isin(detections.image_id, np.fromiter(sizes, dtype=np.int64, count=len(sizes)))
    rows = detections.select(known)
    if not len(rows):
        return tuple(found)
    sent = evaluate(truth, rows).mean_ap or 0.0
    best: dict[str, Mistake] = {}
    for code, text, repaired in _repairs(rows, sizes):
        mean_ap = evaluate(truth, repaired).mean_ap or 0.0
        better = mean_ap >= sent + _LEAST_GAIN and mean_ap >= _LEAST_RATIO * sent
        known_best = best.get(code)
        if better and (known_best is None or mean_ap > (known_best.repaired_mean_ap or 0.0)):
            best[code] = Mistake(code, text, mean_ap)
    ordered = sorted(best.values(), key=lambda m: -(m.repaired_mean_ap or 0.0))
    return tuple(ordered + found)


def _equal_confidences(detections: Detections) -> Iterator[Mistake]:
    if len(detections) > 1 and np.all(detections.confidence == detections.confidence[0]):
        yield Mistake(
            "confidences_equal",
            f"All confidences are {detections.confidence[0]:g}: the score orders detections by "
            "confidence, so each false one costs as much as it can. Send what the detector says.",
            None,
        )


def _repairs(
    rows: Detections, sizes: Mapping[int, tuple[int, int]]
) -> Iterator[tuple[str, str, Detections]]:
    """Yield code, sentence and repaired detections of each suspicion."""
    for step, word in ((1, "one too low"), (-1, "one too high")):
        yield (
            "classes_off_by_one",
            f"The class ids are {word}: they count from 1 in the order of the class list.",
            replace(rows, class_id=rows.class_id + step),
        )
    wide = np.array([sizes[i] for i in rows.image_id.tolist()], dtype=np.float64)
    scale = np.concatenate([wide, wide], axis=1)
    shapes: list[tuple[str, str, Callable[[Boxes], Boxes]]] = [
        (
            "x_y_swapped",
            "x and y are swapped: send xmin, ymin, xmax, ymax.",
            lambda box: box[:, [1, 0, 3, 2]],
        ),
        (
            "width_height_sent",
            "Width and height were sent in the place of xmax and ymax.",
            lambda box: np.concatenate([box[:, :2], box[:, :2] + box[:, 2:] - 1], axis=1),
        ),
        (
            "boxes_normalised",
            "The boxes are fractions of the image: multiply by its width and height in pixels.",
            lambda box: box * scale,
        ),
    ]
    for side in _INPUT_SIDES:
        shapes.append(
            (
                "boxes_in_network_input",
                f"The boxes are pixels of a network input of {side}x{side}: scale them to the "
                "image as it was sent.",
                lambda box, side=side: box * (scale / side),  # type: ignore[misc]
            )
        )
    for code, text, repair in shapes:
        yield code, text, replace(rows, box=np.ascontiguousarray(repair(rows.box)))
