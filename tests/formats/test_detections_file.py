# SPDX-License-Identifier: Apache-2.0
"""Detections from well-formed and malformed files."""

from __future__ import annotations

import json
import math

import pytest

from referee.errors import InputError
from referee.formats import fast_reading, number_table
from referee.formats.detections_file import read_detections


def write(folder, content):
    """Write a file of text, or of JSON, and return its path."""
    path = folder / "answers.txt"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def table(detections):
    """Return the rows of detections as lists."""
    columns = (detections.image_id, detections.class_id, detections.confidence)
    columns = zip(*(column.tolist() for column in columns), detections.box.tolist(), strict=True)
    return [[*ids, *box] for *ids, box in columns]


def test_lines_are_separated_by_blanks_or_commas(tmp_path):
    """Both separators, exponents, signs and Windows line ends are read."""
    path = write(tmp_path, "1 159 0.88 -1.5 2 3e2 4\r\n\r\n2, 7,1e-05,1,2,3,4\r\n3\t1\t1 1 2 3 4")
    expected = [
        [1, 159, 0.88, -1.5, 2.0, 300.0, 4.0],
        [2, 7, 1e-05, 1.0, 2.0, 3.0, 4.0],
        [3, 1, 1.0, 1.0, 2.0, 3.0, 4.0],
    ]
    assert expected == table(read_detections(path))


def test_six_numbers_have_confidence_one(tmp_path):
    """Lines of six numbers have confidence 1.0."""
    assert [[1, 2, 1.0, 3, 4, 5, 6]] == table(read_detections(write(tmp_path, "1 2 3 4 5 6\n")))


def test_numbers_that_are_not_finite_are_taken(tmp_path):
    """NaN and infinity are read, and left to the scorer."""
    row = table(read_detections(write(tmp_path, "1 2 nan inf -inf NaN 6\n")))[0]
    assert math.isnan(row[2])
    assert [math.inf, -math.inf] == row[3:5]


def test_nothing_is_an_empty_answer(tmp_path):
    """A file without lines, and an empty list, hold no detections."""
    assert 0 == len(read_detections(write(tmp_path, "")))
    assert 0 == len(read_detections(write(tmp_path, [])))


def test_coco_results_become_inclusive_corners(tmp_path):
    """A box [x, y, w, h] ends at x+w-1, y+h-1."""
    row = {"image_id": 5001, "category_id": 90, "bbox": [1.5, 2, 10, 20], "score": 0.5}
    assert [[5001, 90, 0.5, 1.5, 2.0, 10.5, 21.0]] == table(read_detections(write(tmp_path, [row])))


def test_results_of_other_writers(tmp_path):
    """Ids may be whole numbers written as floats, and without scores each confidence is 1.0."""
    row = {"image_id": 5001.0, "category_id": 9, "bbox": [1, 2, 10, 20]}
    assert [[5001, 9, 1.0, 1.0, 2.0, 10.0, 21.0]] == table(read_detections(write(tmp_path, [row])))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1 1 1 1 1 1\n1 1 1 1 1 1\n", "line 2 has 6 fields, not 7: give image_id,class_id"),
        ("1 1 1 1 1 1\n1 1 1 1 1 1 1\n", "line 2 has 7 fields, not 6: give image_id,class_id,xmin"),
        ("1 1 0.5 1 1 1\n1 1 x 1 1 1", "line 2, xmin: 'x' is not a number"),
        ("1 1 0,5 1 1 1 1\n", "line 1 has 8 fields"),
        ("1,1,,1,1,1,1\n", "line 1, confidence: '' is not a number"),
        ("a 1 0.5 1 1 1 1\n", "line 1, image_id: 'a' is not a whole number"),
        ("1 1.5 0.5 1 1 1 1\n", "line 1, class_id: '1.5' is not a whole number"),
        ("1 1 0.5 1 1 1 " + "9" * 60 + "x", "'" + "9" * 40 + "…' is not a number"),
        ('{"annotations": []}', "the JSON is an object, as ground truth is"),
        ('[{"image_id": 1}', "line 1, column 17: not JSON"),
        ("[3]", "row 1 is not an object"),
        ('[{"image_id": 1}]', "row 1 has no bbox"),
        ('[{"bbox": [1, 2, 3, 4]}]', "row 1 has no image_id"),
        ('[{"image_id": 1, "category_id": 1, "bbox": 5}]', "row 1, bbox: give four numbers"),
        (
            '[{"image_id": 1, "category_id": 1, "bbox": [1,1,1,1], "score": 1},'
            ' {"image_id": 1, "category_id": 1, "bbox": [1,1,1,1]}]',
            "row 2 has no score",
        ),
        (
            '[{"image_id": true, "category_id": 1, "bbox": [1,1,1,1], "score": 1}]',
            "row 1, image_id: true is not a whole number",
        ),
        (
            '[{"image_id": 1, "category_id": 1, "bbox": [1,1,"1",1], "score": 1}]',
            'row 1, bbox: "1" is not a number',
        ),
        (
            '[{"image_id": 1, "category_id": 1, "bbox": [1,1,1,1], "score": "x"}]',
            'row 1, score: "x" is not a number',
        ),
    ],
)
def test_bad_rows_are_named(tmp_path, text, message):
    """A malformed row is named by line or index, with its field."""
    with pytest.raises(InputError) as error:
        read_detections(write(tmp_path, text))
    assert message in str(error.value)
    assert "answers.txt" in str(error.value)


def test_a_fault_in_a_long_file_keeps_its_line(tmp_path, monkeypatch):
    """Whoever reads a long file, its odd lines are read and its faults have their line."""
    monkeypatch.setattr(fast_reading, "_LONG", 2**12)
    monkeypatch.setattr(number_table, "_BLOCK", 2**10)
    lines = ["1 2 0.5 1 2 3 4"] * 5000
    lines[4000] = "7.jpg 2 nan 1 2 3 4"
    found = read_detections(write(tmp_path, "\n".join(lines)))
    assert (5000, 7) == (len(found), found.image_id[4000])
    lines[4321] = "1 2 0.5 1 2 3 4x"
    with pytest.raises(InputError, match="line 4322, ymax: '4x' is not a number"):
        read_detections(write(tmp_path, "\n".join(lines)))


def test_absent_file_and_folder(tmp_path):
    """The error for an unreadable path gives the reason."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_detections(tmp_path / "nothing")
    with pytest.raises(InputError, match="is a folder: name a file"):
        read_detections(tmp_path)
