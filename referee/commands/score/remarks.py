# SPDX-License-Identifier: Apache-2.0
"""What may be wrong with input that can be scored: sentences for the person at the command."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from referee.core.columns import fractions_fault
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.formats.image_ids import (
    Numbering,
    contest_image_ids,
    fits_both,
    renumber,
)
from referee.formats.truth_file import GroundTruthFile
from referee.scoring.mistakes.diagnosis import advice, find_mistakes
from referee.scoring.mistakes.posted import Posted

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def of_image_ids(image_id: Ints, truth: GroundTruth, chosen: Numbering | None) -> list[str]:
    """Warn if the ids fit both numberings and nobody chose one; `image_id` is as in the file."""
    if chosen is not None or not fits_both(image_id, truth):
        return []
    return [
        "the detections' image ids fit two numberings, the ground truth's own ids and 1 to"
        f" {len(truth.image_ids)} of a contest, and are read as own ids: say which they are with"
        " --image-ids own or --image-ids contest"
    ]


def of_boxes(box: Floats, truth: GroundTruth) -> list[str]:
    """Warn if all boxes lie between 0 and 1, as fractions of an image do."""
    pairs = ((truth.box, "ground truth"), (box, "detections"))
    faults = [fractions_fault(corners, whose) for corners, whose in pairs]
    return [fault for fault in faults if fault][:1]


def of_mistakes(
    truth_file: GroundTruthFile, detections: Detections, mean_ap: float | None, *, as_coco: bool
) -> list[str]:
    """Warn of the classic mistakes that the score proves, as the report of a rehearsal does.

    The detections have the source's image ids.
    """
    if mean_ap is None:
        return []
    numbers = contest_image_ids(truth_file.truth.image_ids.tolist())
    own = np.arange(1, len(numbers) + 1)
    posted = Posted(
        detections=_in_contest_numbers(detections, truth_file.truth.image_ids),
        as_coco=np.full(len(detections), as_coco),
        order=own,
        source_ids=own,
    )
    sizes = {numbers[image]: size for image, size in truth_file.sizes.items() if image in numbers}
    mistakes = find_mistakes(renumber(truth_file.truth, numbers), posted, sizes, mean_ap)
    return list(advice([it for it in mistakes if it.repaired_mean_ap is not None], mean_ap))


def _in_contest_numbers(detections: Detections, own_ids: Ints) -> Detections:
    """Return rows with the place of their image among the own ids, or 0 for an unknown image."""
    place = np.searchsorted(own_ids, detections.image_id).clip(max=len(own_ids) - 1)
    known = own_ids[place] == detections.image_id
    return detections.with_image_ids(np.where(known, place + 1, 0))
