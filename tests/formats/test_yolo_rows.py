# SPDX-License-Identifier: Apache-2.0
"""The rows of a YOLO label file: boxes, outlines, keypoints, and every mistake named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from referee.formats import yolo_rows
from referee.formats.faults import Faults
from referee.formats.yolo_rows import Keypoints, LabelRows, read_label_rows

PATH = Path("labels/a.txt")


def read(text: str | bytes, **options) -> LabelRows:
    """Read rows that have no fault."""
    faults = Faults()
    rows = read_label_rows(
        PATH, text if isinstance(text, bytes) else text.encode(), faults, **options
    )
    faults.raise_if_any()
    return rows


def fault(text: str, **options) -> str:
    """Return the faults of rows."""
    faults = Faults()
    read_label_rows(PATH, text.encode(), faults, **options)
    return str(faults.error())


@pytest.mark.parametrize(
    "text",
    [
        "0 0.5 0.25 0.1 0.2\n1 0.1 0.1 0.2 0.2\n",
        "0 0.5 0.25 0.1 0.2\r\n1 0.1 0.1 0.2 0.2",
        "\ufeff0 0.5 0.25 0.1 0.2 \n\n1\t0.1 0.1 0.2 0.2   \n\n",
        "0.0 0.5 0.25 0.1 0.2\n1.0 .1 1e-1 0.2 0.2\n",
        "0, 0.5, 0.25, 0.1, 0.2\n1, 0.1, 0.1, 0.2, 0.2\n",
    ],
)
def test_rows_of_all_tools_are_read(text):
    """Windows' line ends, a byte order mark, trailing blanks, and classes as floats are usual."""
    assert [[0, 0.5, 0.25, 0.1, 0.2], [1, 0.1, 0.1, 0.2, 0.2]] == read(text).table.tolist()


@pytest.mark.parametrize("text", ["", "\n", "  \r\n\r\n", "\ufeff"])
def test_an_empty_file_has_no_object(text):
    """An image without objects has an empty file."""
    assert (0, 5) == read(text).table.shape


def test_an_outline_is_boxed():
    """The box around a segment stands for it, and so does that of a turned box."""
    rows = read("0 0.1 0.2 0.5 0.2 0.3 0.6\n1 0.1 0.1 0.2 0.1 0.2 0.3 0.1 0.3\n")
    assert np.allclose([[0, 0.3, 0.4, 0.4, 0.4], [1, 0.15, 0.2, 0.1, 0.2]], rows.table)
    assert 2 == rows.outlines


def test_keypoints_leave_the_box():
    """With the number of keypoints that the data set says, the first four numbers are the box."""
    text = "0 0.5 0.5 0.2 0.2 0.45 0.45 2 0.55 0.55 1\n"
    rows = read(text, keypoints=Keypoints(2, 3))
    assert ([[0, 0.5, 0.5, 0.2, 0.2]], 0) == (rows.table.tolist(), rows.outlines)
    assert "has 5 fields, not 11" in fault("0 0.5 0.5 0.2 0.2\n", keypoints=Keypoints(2, 3))


def test_rows_that_repeat_are_counted_and_left_out():
    """Of equal rows one is an object: a second one could never be found."""
    rows = read("0 0.5 0.5 0.2 0.2\n1 0.5 0.5 0.2 0.2\n0 0.50 0.5 0.2 0.2\n0 .5 .5 .2 .2\n")
    assert (2, 2) == (len(rows.table), rows.duplicates)


def test_rounding_takes_a_number_a_little_beyond():
    """A number that rounding took beyond the image is as it was written."""
    rows = read("0 0.5 1.0000001 1.004 -0.000001e0\n".replace("-0.000001e0", "0.2"))
    assert [[0, 0.5, 1.0000001, 1.004, 0.2]] == rows.table.tolist()
    assert [[0, -0.001, 0.5, 0.2, 0.2]] == read("0 -0.001 0.5 0.2 0.2\n").table.tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 320 240 64 48", "line 1, column 2: 320 is above 1: the numbers are fractions"),
        ("0 0.5 0.5 1.3 0.2", "column 4: 1.3 is above 1"),
        ("0 -0.3 0.5 0.2 0.2", "column 2: -0.3 is below 0"),
        ("0 0.5 0.5 -0.005 0.2", "has a width or height below 0"),
        ("0.5 0.5 0.2 0.2 0", "'0.5' is not a class index, which comes first"),
        ("cat 0.5 0.5 0.2 0.2", "'cat' is not a class index"),
        ("-1 0.5 0.5 0.2 0.2", "'-1' is no class index: the first class is 0"),
        ("0 0.5 0.5 0.2 0.2 0.9", "with a confidence it is a detection"),
        ("0 0.5 0.5 0.2", "has 4 fields: give class cx cy w h"),
        ("0", "has 1 field:"),
        (f"0 {'0.5 ' * 55}", "for keypoints say kpt_shape"),
        ("0 0.5 nan 0.2 0.2", "'nan' is not a finite number"),
        ("0 0.5 inf 0.2 0.2", "'inf' is not a finite number"),
        ("0 0.5 x 0.2 0.2", "column 3: 'x' is not a number"),
        ("0 0.5 0.5 0.2 0.2\n0 0,5 0,5 0,2 0,2", "line 2"),
        (f"{10**30} 0.5 0.5 0.2 0.2", "is beyond the data set's"),
    ],
)
def test_each_mistake_is_named_with_its_line(text, said):
    """A row that is no label says which file, line and column, and what was meant."""
    told = fault(text)
    assert said in told
    assert told.startswith("labels/a.txt, line ")


def test_a_class_beyond_the_names_is_named():
    """An index for which the data set has no class is a fault."""
    assert "line 2, class: '2' is beyond the data set's 2 classes, which are 0 to 1" in fault(
        "1 0.5 0.5 0.2 0.2\n2 0.5 0.5 0.2 0.2\n", classes=2
    )


def test_every_fault_of_a_file_is_told():
    """One run of the program tells all faults."""
    assert 3 == fault("x 1 1 1 1\n0 2 2 2 2\n0 0.5\n").count("labels/a.txt, line")


def test_fast_and_slow_read_the_same(monkeypatch):
    """What the fast reader takes is to the bit what the slow one reads."""
    chance = np.random.default_rng(5)
    text = "\n".join(
        f"{int(chance.integers(0, 9))} {' '.join(map(repr, chance.uniform(0, 1, 4).tolist()))}"
        for _ in range(200)
    )
    fast = read(text).table
    monkeypatch.setattr(yolo_rows, "_fast", lambda *_: None)
    assert fast.tobytes() == read(text).table.tobytes()


def test_utf_16_is_said_so():
    """A file that PowerShell wrote is named as what it is."""
    with pytest.raises(Exception, match="UTF-16"):
        read("0 0.5 0.5 0.2 0.2".encode("utf-16"))
