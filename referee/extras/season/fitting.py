# SPDX-License-Identifier: Apache-2.0
"""A ground truth under the image ids of a bundle's session."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from referee.core.counts import counted
from referee.extras.season.bundle_read import BundleRead
from referee.formats.image_ids import renumber
from referee.scoring import GroundTruth
from referee.service.evidence.bundle_file import NotABundle

Ints = NDArray[np.int64]


@lru_cache(maxsize=4)
def truth_digest(truth: GroundTruth) -> str:
    """Return the SHA-256 of what scores depend on, in hex; the file and its form change nothing."""
    return array_digest(
        truth.image_ids,
        truth.class_ids,
        truth.box_image_id,
        truth.box_class_id,
        truth.box,
        truth.blacklist,
        *(() if truth.difficult is None else (truth.difficult.astype(np.int64),)),
    )


def array_digest(*arrays: NDArray[np.int64] | NDArray[np.float64]) -> str:
    """Return the SHA-256 of arrays in hex; their lengths count too."""
    digest = sha256()
    for array in arrays:
        digest.update(f"{array.shape} ".encode())
        digest.update(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def fitted(truth: GroundTruth, bundle: BundleRead) -> tuple[GroundTruth, str]:
    """Return the ground truth with the session's image ids, and a digest of which image has which.

    An image that the ground truth does not list has no box. Raises `NotABundle` for a ground truth
    with an image or a class that the session has not: such a score could not be compared.
    """
    if not np.array_equal(truth.class_ids, bundle.class_ids):
        raise NotABundle(
            "session.json",
            f"The ground truth has {_many(truth.class_ids, 'class', 'classes')}, and the session "
            f"{_many(bundle.class_ids, 'class', 'classes')}. Is it of another contest?",
        )
    return _fitted(truth, bundle.source_ids.tobytes())


@lru_cache(maxsize=8)
def _fitted(truth: GroundTruth, packed: bytes) -> tuple[GroundTruth, str]:
    """Do the same for packed source ids; the sessions of an event share one list of images."""
    source_ids = np.frombuffer(packed, np.int64)
    strange = np.setdiff1d(truth.image_ids, source_ids)
    if len(strange):
        raise NotABundle(
            "images.csv",
            f"The ground truth has the image {strange[0]}, and the session has not. Is it of "
            "another contest?",
        )
    if len(np.unique(source_ids)) < len(source_ids):
        raise NotABundle("images.csv", "It has an image of the ground truth twice.")
    complete = replace(truth, image_ids=np.sort(source_ids))
    mapping = {int(own): number for number, own in enumerate(source_ids.tolist(), start=1)}
    return renumber(complete, mapping), array_digest(source_ids)


def _many(ids: Ints, singular: str, plural: str) -> str:
    """Tell how many ids there are, and the first and the last."""
    if not len(ids):
        return f"no {singular}"
    return f"{counted(len(ids), singular, plural)} ({ids[0]} to {ids[-1]})"
