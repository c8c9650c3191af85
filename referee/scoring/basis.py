# SPDX-License-Identifier: Apache-2.0
"""What a result rests on: only results on equal images, truth and rules can be compared."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from referee.core.ground_truth import GroundTruth
from referee.scoring.rules import Rules


@dataclass(frozen=True)
class Basis:
    """The images, the truth boxes and the rules of a result; the first two as digests."""

    images: str
    truth: str
    rules: Rules

    def difference(self, other: Basis) -> str | None:
        """Return what differs between two, in words, or None."""
        if self.images != other.images:
            return "images"
        if self.truth != other.truth:
            return "ground truth"
        # The name and version of rules decide nothing.
        unnamed = [replace(basis.rules, name="", version="") for basis in (self, other)]
        return None if unnamed[0] == unnamed[1] else "rules"


def basis_of(truth: GroundTruth, rules: Rules) -> Basis:
    """Return the basis of a result; ground truth in another order of its rows is the same.

    Classes without a truth box belong to it only where rules count them.
    """
    box = truth.box + 0.0  # -0.0 and 0.0 are one place.
    difficult = truth.difficult if rules.ignore_difficult else None
    flags = np.zeros(len(box)) if difficult is None else difficult.astype(np.float64)
    order = np.lexsort((flags, *box.T, truth.box_class_id, truth.box_image_id))
    blacklist = truth.blacklist.reshape(-1, 2)
    listed = blacklist[np.lexsort(blacklist.T)] if len(blacklist) else blacklist
    parts = (
        truth.box_image_id[order],
        truth.box_class_id[order],
        box[order],
        flags[order],
        listed,
        *([truth.class_ids] if rules.missing_as_zero else []),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
    images = hashlib.sha256(np.ascontiguousarray(truth.image_ids).tobytes())
    return Basis(images.hexdigest(), digest.hexdigest(), rules)
