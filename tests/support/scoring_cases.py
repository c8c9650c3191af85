# SPDX-License-Identifier: Apache-2.0
"""Small contests as plain values, and a generator of difficult ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth


@dataclass(frozen=True)
class Contest:
    """The input of a scorer, as lists that print well."""

    images: list
    classes: list
    truth: list
    blacklist: list
    rows: list
    difficult: list

    def ground_truth(self):
        """Return the arrays of the ground truth."""
        flags = [number in self.difficult for number in range(len(self.truth))]
        truth = make_truth(self.images, self.classes, self.truth, self.blacklist)
        return replace(truth, difficult=np.array(flags) if any(flags) else None)

    def detections(self):
        """Return the arrays of the detections."""
        return make_detections(self.rows)


def make_truth(images, classes, boxes, blacklist=()):
    """Build ground truth from lists of ids and `(image, class, box)`."""
    return GroundTruth(
        image_ids=np.array(sorted(images), dtype=np.int64),
        class_ids=np.array(sorted(classes), dtype=np.int64),
        box_image_id=np.array([image for image, _, _ in boxes], dtype=np.int64),
        box_class_id=np.array([klass for _, klass, _ in boxes], dtype=np.int64),
        box=np.array([box for _, _, box in boxes], dtype=np.float64).reshape(-1, 4),
        blacklist=np.array(sorted(blacklist), dtype=np.int64).reshape(-1, 2),
        class_names={},
    )


def make_detections(rows):
    """Build detections from `(image, class, confidence, box)`."""
    return Detections.from_rows([(i, c, s, *box) for i, c, s, box in rows])


# The values are few on purpose. So there are ties, exact hits on the threshold (half of a box;
# five pixels more on each side), thin boxes, and boxes that compete for each other.
_corners = st.sampled_from([0, 0, 5, 10, 20])
_extents = st.sampled_from([0, 4, 9, 9, 14, 19, 19, 24, 39])
_shifts = st.sampled_from([-5, -2, 0, 0, 0, 0, 2, 5, 10])
_confidences = st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.5, -2.0, 1e-300])
_odd = st.sampled_from([float("nan"), float("inf"), float("-inf"), -5.0, 0.5, 1e308])


@st.composite
def _boxes(draw):
    x, y = draw(_corners), draw(_corners)
    return (x, y, x + draw(_extents), y + draw(_extents))


@st.composite
def _rows_near(draw, truth):
    """Draw a detection of a truth box: its corners moved a little, its class mostly right."""
    image, klass, box = draw(st.sampled_from(truth))
    if draw(st.integers(0, 7)) == 0:
        klass = draw(st.sampled_from([other for _, other, _ in truth]))
    moved = tuple(edge + draw(_shifts) for edge in box)
    return (image, klass, draw(_confidences), moved)


@st.composite
def _rows_anywhere(draw, images, classes):
    """Draw a detection whose every field may be odd."""
    return (
        draw(st.one_of(st.sampled_from(images or [1]), st.integers(-1, 9))),
        draw(st.one_of(st.sampled_from(classes), st.integers(-1, 4))),
        draw(st.one_of(_confidences, _odd)),
        draw(st.one_of(_boxes(), st.tuples(*[st.one_of(_corners, _odd)] * 4))),
    )


@st.composite
def contests(draw):
    """Draw a contest: ties, exact hits, duplicates, inverted and broken boxes, odd ids."""
    images = draw(st.lists(st.integers(1, 8), unique=True, max_size=3))
    classes = draw(st.sampled_from([[1], [1, 2], [2, 7, 90]]))
    pairs = st.tuples(st.sampled_from(images or [1]), st.sampled_from(classes))
    truth = []
    if images:
        some = st.tuples(pairs, _boxes()).map(lambda t: (*t[0], t[1]))
        truth = draw(st.lists(some, max_size=12))
    rows = draw(st.lists(_rows_anywhere(images, classes), max_size=6))
    if truth:
        rows += draw(st.lists(_rows_near(truth), max_size=20))
    return Contest(
        images=sorted(images),
        classes=classes,
        truth=truth,
        blacklist=draw(st.lists(pairs, max_size=1)),
        rows=draw(st.permutations(rows)),
        difficult=draw(st.lists(st.integers(0, max(0, len(truth) - 1)), max_size=3)),
    )
