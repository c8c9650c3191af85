# SPDX-License-Identifier: Apache-2.0
"""Boxes in the forms that programs have: the same boxes by other names."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.box_formats import BOX_FORMATS, to_corners, to_xywh
from referee.core.coco_boxes import CocoResults, CocoTruth
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.errors import ArgumentError

# Halves of pixels up to 4096: each form holds them exactly.
halves = st.integers(0, 8192).map(lambda value: value / 2)
boxes = st.lists(st.tuples(halves, halves, halves, halves), min_size=1, max_size=20)


def in_form(xywh, box_format):
    """Return boxes x, y, w, h in a form, by its definition."""
    x, y, w, h = np.asarray(xywh).T
    return np.column_stack(
        {
            "corners": (x, y, x + w - 1, y + h - 1),
            "xyxy": (x, y, x + w, y + h),
            "xywh": (x, y, w, h),
            "cxcywh": (x + w / 2, y + h / 2, w, h),
        }[box_format]
    )


@given(boxes, st.sampled_from(BOX_FORMATS))
def test_every_form_gives_the_same_box(xywh, box_format):
    """A box in any form has the same inclusive corners, and the same x, y, width, height."""
    given_boxes = in_form(xywh, box_format)
    assert (to_xywh(given_boxes, box_format) == np.asarray(xywh)).all()
    assert (to_corners(given_boxes, box_format) == in_form(xywh, "corners")).all()


@given(boxes, st.sampled_from(BOX_FORMATS[1:]), st.sampled_from([64, 256, 1024]))
def test_fractions_with_sizes_are_pixels(xywh, box_format, size):
    """Fractions of the image with its size give the boxes that pixels give, by id and by row."""
    pixels, n = in_form(xywh, box_format), len(xywh)
    ids, scores = np.arange(n) % 3, np.ones(n)
    plain = Detections.from_arrays(ids, ids, scores, 2 * pixels + 2, box_format=box_format)
    by_row = np.full((n, 2), size)
    for sizes in ({0: (size, size), 1: (size, size), 2: (size, size)}, by_row):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            told = Detections.from_arrays(
                ids, ids, scores, (2 * pixels + 2) / size, box_format=box_format, sizes=sizes
            )
        assert (told.box == plain.box).all()


def test_each_image_has_its_own_size():
    """Width scales x and width, height scales y and height, by the image of the box."""
    sizes = {7: (100, 50), 8: (200, 400)}
    told = GroundTruth.from_arrays(
        [8, 7],
        [1, 1],
        [[0.5, 0.5, 0.2, 0.1], [0.5, 0.5, 0.2, 0.1]],
        box_format="cxcywh",
        sizes=sizes,
    )
    assert [[80, 180, 119, 219], [40, 22.5, 59, 26.5]] == told.box.tolist()


def test_coco_boxes_stay_as_they_are():
    """COCO's own form keeps every bit, which corners would not."""
    box = [[10.1, 0.2, 0.3, 1e-9]]
    assert box == CocoTruth.from_arrays([1], [1], box).box.tolist()
    assert box == CocoResults.from_arrays([1], [1], [0.5], box).box.tolist()


def test_an_area_and_a_crowd_are_kept():
    """Ground truth for COCO has the areas and crowds that it was given, or areas of boxes."""
    told = CocoTruth.from_arrays(
        [1, 2],
        [1, 1],
        [[0, 0, 9, 9], [0, 0, 8, 9]],
        area=[5, 6],
        crowd=[False, True],
        images=[1, 2, 3],
    )
    assert ([5, 6], [False, True], [1, 2, 3]) == (
        told.area.tolist(),
        told.crowd.tolist(),
        told.image_ids.tolist(),
    )
    assert [72.0] == CocoTruth.from_arrays([1], [1], [[0, 0, 8, 9]]).area.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"box_format": "yxyx"}, "box_format is 'yxyx': give one of 'corners', 'xyxy'"),
        ({"sizes": {1: (9, 9)}}, "fractions of the image, which have edges"),
        ({"box_format": "xywh", "sizes": {2: (9, 9)}}, "no width and height of image 1"),
        (
            {"box_format": "xywh", "sizes": [[9, 9], [9, 9]]},
            "a row of both for each of the 1 boxes",
        ),
        ({"box_format": "xywh", "sizes": {1: (0, 9)}}, "finite and above 0"),
        ({"box_format": "xywh", "sizes": {1: (9, 9, 3)}}, "sizes must be a mapping|the shape"),
    ],
)
def test_what_is_no_form_is_refused(change, words):
    """A wrong name or size is told with what to give."""
    with pytest.raises(ArgumentError, match=words):
        Detections.from_arrays([1], [1], [1.0], [[3, 3, 5, 5]], **change)
    with pytest.raises(ArgumentError, match=words):
        GroundTruth.from_arrays([1], [1], [[3, 3, 5, 5]], **change)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GroundTruth.from_arrays([1], [1], [[3, 3, -1, 5]], box_format="xywh"), "below 0"),
        (lambda: GroundTruth.from_arrays([1], [1], [[3, 3, 2, 5]], box_format="xyxy"), "inverted"),
        (lambda: CocoTruth.from_arrays([1], [1], [[3, 3, -1, 5]]), "below 0"),
        (lambda: CocoTruth.from_arrays([1], [1], [[3, 3, np.inf, 5]]), "not finite"),
        (lambda: CocoTruth.from_arrays([1], [1], [[3, 3, 1, 5]], area=[-1]), "area must be"),
        (lambda: CocoTruth.from_arrays([1], [1], [[3, 3, 1, 5]], crowd=[2]), "crowd must be"),
        (lambda: CocoTruth.from_arrays([1], [1], [[3, 3, 1, 5]], images=[2]), "image 1, which"),
        (lambda: CocoTruth.from_arrays([1, 1], [1], [[3, 3, 1, 5]]), "must be as long"),
        (lambda: CocoResults.from_arrays([1], [1], [1.0, 1.0], [[3, 3, 1, 5]]), "must be as long"),
    ],
)
def test_boxes_that_no_object_has_are_refused(make, words):
    """Ground truth has finite boxes of an extent, in any form, and columns of one length."""
    with pytest.raises(ArgumentError, match=words):
        make()


def test_fractions_without_sizes_are_told():
    """Boxes of fractions in any form get the warning, if no sizes are given."""
    with pytest.warns(UserWarning, match="lie between 0 and 1"):
        CocoResults.from_arrays([1], [1], [0.5], [[0.1, 0.1, 0.2, 0.2]])
