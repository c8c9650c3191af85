# SPDX-License-Identifier: Apache-2.0
"""Translation between a source's image ids and the contest's image numbers 1…N."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth

Numbering = Literal["own", "contest"]
"""Which numbers image ids are: the source's own ids, or the contest's 1…N."""

Ints = NDArray[np.int64]

NO_IMAGE = -(2**63)
"""Stands for an image or class that the source has not; no source uses it."""


def contest_image_ids(own_ids: Iterable[int]) -> dict[int, int]:
    """Map each own id to its number in the contest: the k-th in ascending order becomes k."""
    return {own: number for number, own in enumerate(sorted(set(own_ids)), start=1)}


def ids_of_names(names: Iterable[str]) -> dict[str, int]:
    """Give an id to each image of a source that has names alone.

    If all names are whole numbers, they are the ids, unless two are the same number. Otherwise the
    ids are 1…N in ascending order of names.
    """
    ordered = sorted(names)
    if all(name.isascii() and name.isdigit() for name in ordered):
        numbers = {name: int(name) for name in ordered}
        if len(set(numbers.values())) == len(ordered):
            return numbers
    return {name: number for number, name in enumerate(ordered, start=1)}


def renumber(truth: GroundTruth, mapping: Mapping[int, int]) -> GroundTruth:
    """Return the same ground truth with other image ids; boxes keep their order.

    The mapping must be one to one. Raises KeyError for an image id that is not in it.
    """
    new_ids = np.array([mapping[own] for own in truth.image_ids.tolist()], dtype=np.int64)

    def renamed(of: Ints) -> Ints:
        return new_ids[np.searchsorted(truth.image_ids, of)]

    coco = truth.coco
    blacklist = truth.blacklist.reshape(-1, 2).copy()
    blacklist[:, 0] = [mapping[own] for own in blacklist[:, 0].tolist()]
    return replace(
        truth,
        image_ids=np.sort(new_ids),
        box_image_id=renamed(truth.box_image_id),
        blacklist=blacklist,
        coco=coco and replace(coco, image_id=renamed(coco.image_id)),
    )


def in_own_ids(
    detections: Detections, truth: GroundTruth, numbering: Numbering | None = None
) -> tuple[Detections, Numbering]:
    """Return detections under the source's own image ids, and the numbering that they had.

    Without `numbering` it is guessed: "contest" if more rows name an image that way, else "own".
    """
    image_id, numbering = own_image_ids(detections.image_id, truth, numbering)
    return replace(detections, image_id=image_id), numbering


def own_image_ids(
    image_id: Ints, truth: GroundTruth, numbering: Numbering | None = None
) -> tuple[Ints, Numbering]:
    """Do for image ids alone, shape (n,), what `in_own_ids` does for detections."""
    if numbering is None:
        numbering = "own"
        if not _counts_from_1(truth):
            own, contest = _explained(image_id, truth)
            numbering = "contest" if contest > own else "own"
    if numbering == "own":
        return image_id, "own"
    numbers = contest_image_ids(truth.image_ids.tolist())
    return _renumber(image_id, {number: own for own, number in numbers.items()}), "contest"


def fits_both(image_id: Ints, truth: GroundTruth) -> bool:
    """Tell whether both numberings explain as many rows, and name other images.

    `image_id` is as the detections have it. Then `own_image_ids` can only guess.
    """
    if _counts_from_1(truth):
        return False
    own, contest = _explained(image_id, truth)
    return own == contest > 0


def _counts_from_1(truth: GroundTruth) -> bool:
    """Tell whether the source's own ids are the numbers of the contest."""
    return np.array_equal(truth.image_ids, np.arange(1, len(truth.image_ids) + 1))


def _explained(image_id: Ints, truth: GroundTruth) -> tuple[int, int]:
    """Return how many rows name an image by its own id, and by its number in the contest."""
    own = np.isin(image_id, truth.image_ids).sum()
    contest = ((image_id >= 1) & (image_id <= len(truth.image_ids))).sum()
    return int(own), int(contest)


def _renumber(image_id: Ints, mapping: Mapping[int, int]) -> Ints:
    ids, inverse = np.unique(image_id, return_inverse=True)
    new_ids = np.array([mapping.get(own, NO_IMAGE) for own in ids.tolist()], dtype=np.int64)
    return new_ids[inverse]
