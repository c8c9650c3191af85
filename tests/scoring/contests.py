# SPDX-License-Identifier: Apache-2.0
"""Small contests as plain values, and a generator of nasty ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth


@dataclass(frozen=True)
class Contest:
    """Hold what a scorer needs, as lists that print well."""

    images: list
    classes: list
    truth: list
    blacklist: list
    rows: list

    def ground_truth(self):
        """Return the arrays of the ground truth."""
        return make_truth(self.images, self.classes, self.truth, self.blacklist)

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


# Few values on purpose: they make ties, exact threshold hits (half of a box; five pixels more on
# each side) and boxes that compete for each other.
_edges = st.sampled_from([0, 1, 4, 5, 9, 10, 14, 15, 19, 20, 24, 29, 30])
_confidences = st.sampled_from([0.0, -0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.5, -2.0, 1e-300])
_odd = st.sampled_from([float("nan"), float("inf"), float("-inf"), -5.0, 0.5, 1e308])


@st.composite
def _truth_boxes(draw):
    x, y = draw(_edges), draw(_edges)
    return (x, y, x + draw(_edges), y + draw(_edges))


_detected_boxes = st.one_of(
    _truth_boxes(),
    st.tuples(_edges, _edges, _edges, _edges),
    st.tuples(*[st.one_of(_edges, _odd)] * 4),
)


@st.composite
def contests(draw):
    """Draw a contest: ties, exact hits, duplicates, inverted and broken boxes, odd ids."""
    images = draw(st.lists(st.integers(1, 8), unique=True, max_size=4))
    classes = draw(st.one_of(st.just([1]), st.just([1, 2, 3]), st.just([2, 7, 90])))
    pairs = st.tuples(st.sampled_from(images or [1]), st.sampled_from(classes))
    truth = []
    if images:
        some = st.tuples(pairs, _truth_boxes()).map(lambda t: (*t[0], t[1]))
        truth = draw(st.lists(some, max_size=10))
    near = [box for _, _, box in truth]
    boxes = st.one_of(_detected_boxes, st.sampled_from(near)) if near else _detected_boxes
    row = st.tuples(
        st.one_of(st.sampled_from(images or [1]), st.integers(-1, 9)),
        st.one_of(st.sampled_from(classes), st.integers(-1, 4)),
        st.one_of(_confidences, _confidences, _odd),
        boxes,
    )
    return Contest(
        images=sorted(images),
        classes=classes,
        truth=truth,
        blacklist=draw(st.lists(pairs, max_size=2)),
        rows=draw(st.lists(row, max_size=25)),
    )
