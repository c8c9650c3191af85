# SPDX-License-Identifier: Apache-2.0
"""The sentences of what came in a folder of YOLO labels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.formats.yolo_counts import (
    FolderCounts,
    LabelCounts,
    folder_line,
    folder_warnings,
    label_line,
    label_warnings,
)

PLAIN = LabelCounts(
    images=10,
    labelled=8,
    empty=1,
    boxes=30,
    outlines=0,
    duplicates=0,
    beyond=0,
    turned=(),
    other_texts=2,
    names="data.yaml",
)


def test_the_line_says_what_came_and_what_was_taken():
    """Images with and without objects, files that are not used, and how classes are numbered."""
    assert (
        "ground truth: 30 boxes in 8 label files of 10 images; 3 images have no object; 2 other"
        " .txt files are not used; class index k is class k+1; class names of data.yaml"
    ) == label_line(PLAIN)
    assert [] == label_warnings(PLAIN)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"names": None}, "came without class names"),
        ({"duplicates": 3}, "3 rows of the labels repeat another one"),
        ({"outlines": 4}, "4 of 30 objects are outlines: the box around each counts"),
        ({"beyond": 5}, "5 of 30 boxes reach beyond their image"),
        ({"turned": ("x/a.jpg", "b.jpg")}, "EXIF data turn 2 images, the first is a.jpg"),
    ],
)
def test_each_odd_thing_is_a_warning(change, said):
    """One sentence for each thing that somebody should look at."""
    (sentence,) = label_warnings(replace(PLAIN, **change))
    assert said in sentence


def test_detections_are_counted_too():
    """Files of no image, and rows without confidence, are told."""
    counts = FolderCounts(files=5, rows=9, strange=("z.txt",), with_confidence=False)
    assert "9 boxes in 5 files, of which 4 belong to images" in folder_line(counts)
    strange, confidence = folder_warnings(counts)
    assert "1 of 5 files of detections belong to no image" in strange
    assert "each has 1.0" in confidence
