# SPDX-License-Identifier: Apache-2.0
"""Image ids of a source, and the numbers 1…N under which contestants know the images."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth

__all__ = ["Numbering", "contest_image_ids", "in_own_ids", "renumber", "renumber_detections"]

Numbering = Literal["own", "contest"]
"""Whether image ids are the source's own or the contest's 1…N."""

Ints = NDArray[np.int64]

_NO_IMAGE = -(2**63)


def contest_image_ids(own_ids: Iterable[int]) -> dict[int, int]:
    """Map each own id to its number in the contest: the k-th in ascending order becomes k."""
    return {own: number for number, own in enumerate(sorted(set(own_ids)), start=1)}


def renumber(truth: GroundTruth, mapping: Mapping[int, int]) -> GroundTruth:
    """Return the same ground truth with its image ids replaced; raise KeyError for an unmapped one.

    Boxes keep their order. The mapping must be one to one.
    """
    new_ids = np.array([mapping[own] for own in truth.image_ids.tolist()], dtype=np.int64)
    blacklist = truth.blacklist.reshape(-1, 2).copy()
    blacklist[:, 0] = [mapping[own] for own in blacklist[:, 0].tolist()]
    return replace(
        truth,
        image_ids=np.sort(new_ids),
        box_image_id=new_ids[np.searchsorted(truth.image_ids, truth.box_image_id)],
        blacklist=blacklist,
    )


def renumber_detections(detections: Detections, mapping: Mapping[int, int]) -> Detections:
    """Return the same rows with their image ids replaced; one that is not mapped becomes -2^63.

    That number names no image of a sensible source, so the scorer counts the row as unknown.
    """
    ids, inverse = np.unique(detections.image_id, return_inverse=True)
    new_ids = np.array([mapping.get(own, _NO_IMAGE) for own in ids.tolist()], dtype=np.int64)
    return replace(detections, image_id=new_ids[inverse])


def in_own_ids(
    detections: Detections, truth: GroundTruth, numbering: Numbering | None = None
) -> tuple[Detections, Numbering]:
    """Return detections in the own image ids of `truth`, and the numbering that they had.

    Without `numbering` it is the source's own, unless more rows name an image as contest ids.
    """
    count = len(truth.image_ids)
    if numbering is None:
        own = np.isin(detections.image_id, truth.image_ids).sum()
        contest = ((detections.image_id >= 1) & (detections.image_id <= count)).sum()
        numbering = "contest" if contest > own else "own"
    if numbering == "own":
        return detections, "own"
    numbers = contest_image_ids(truth.image_ids.tolist())
    back = {number: own_id for own_id, number in numbers.items()}
    return renumber_detections(detections, back), "contest"
