# SPDX-License-Identifier: Apache-2.0
"""Comments, headers and gzip in files of lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from referee.errors import InputError
from referee.formats.csv_truth import read_blacklist, read_image_list
from referee.formats.detections_file import read_detections
from referee.formats.ground_truth import read_ground_truth
from referee.formats.text import plain_file, read_bytes

ROWS = "1,2,0.5,1,2,3,4\n2,2,0.25,1,2,3,4\n"
HEADER = "image_id,class_id,confidence,xmin,ymin,xmax,ymax\n"
NAMES = ("image_id", "class_id")


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROWS,
        "\ufeff" + HEADER + ROWS,
        "\n# made by a detector: Größe 7\n\n" + HEADER + ROWS,
        HEADER.upper().replace(",", " ") + ROWS,
        HEADER.replace("class_id", "category_id").replace("confidence", "score") + ROWS,
        HEADER.replace(",", '","').replace("image", '"image').replace("ymax", 'ymax"') + ROWS,
        ROWS.replace("\n", " # sure\n"),
        "#1,2\n" + ROWS + "\t# the end",
        ROWS.replace("\n", "\r\n# between\r\n"),
    ],
)
def test_comments_and_a_header_change_nothing(tmp_path, text):
    """A file with comments and a header gives the rows of the file without them."""
    (tmp_path / "plain.txt").write_text(ROWS)
    (tmp_path / "dressed.txt").write_bytes(text.encode())
    plain, dressed = (read_detections(tmp_path / f"{n}.txt") for n in ("plain", "dressed"))
    assert plain.box.tolist() == dressed.box.tolist()
    assert plain.confidence.tolist() == dressed.confidence.tolist()


def test_a_header_without_confidence(tmp_path):
    """A header of six columns goes before lines of six numbers."""
    (tmp_path / "a.txt").write_text("image_id class_id xmin ymin xmax ymax\n1 2 3 4 5 6\n")
    assert [1.0] == read_detections(tmp_path / "a.txt").confidence.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image_id,xmin,ymin,xmax,ymax,score,class_id\n" + ROWS, "line 1 names the columns"),
        ("# one\n\nimage_id,label\n", "line 3 names the columns image_id,label: give image_id,"),
        (HEADER + HEADER + ROWS, "line 2, image_id: 'image_id' is not a whole number"),
        (HEADER + "1,2,0.5,1,2,3,4\n# so\n1,2,x,1,2,3,4\n", "line 4, confidence: 'x' is not a"),
        ("1,2,0.5,1,2,3,4#\n", "line 1, ymax: '4#' is not a number"),
        ("1;2;0.5;1;2;3;4\n", "line 1 has 1 field, not 7: give image_id,class_id"),
        ("1;2;0.5;1;2;3;4\n", "separate them by commas or blanks, not by ';'"),
        ('{"image_id": 1}\n{"image_id": 2}\n', "line 2 has no category_id"),
        (
            '{"image_id": 1, "bbox": [1, 2, 3, 4]}',
            "the JSON is one result: COCO results are a list",
        ),
    ],
)
def test_faults_keep_their_line(tmp_path, text, message):
    """A fault is named with its line in the file as it is."""
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(InputError) as error:
        read_detections(tmp_path / "a.txt")
    assert message in str(error.value)


def test_every_list_may_have_comments_and_a_header(tmp_path):
    """Ground truth, the list of images and the blacklist are read in the same way."""
    truth, images, black = (tmp_path / name for name in ("truth.csv", "images.csv", "black.csv"))
    truth.write_text("# boxes\nimage_id,class_id,xmin,ymin,xmax,ymax\n1,1,0,0,9,9 # a cat\n")
    images.write_text("image_id,width,height\n# two\n1,50,40\n2,50,40\n")
    black.write_text("image_id,class_id\n2,1 # blurred\n")
    found = read_ground_truth(truth, images=images, blacklist=black)
    assert [1, 2] == found.truth.image_ids.tolist()
    assert [[2, 1]] == found.truth.blacklist.tolist()
    assert {1: (50, 40), 2: (50, 40)} == read_image_list(images)
    assert [[2, 1]] == read_blacklist(black, found.truth).tolist()


def test_gzip_is_unpacked(tmp_path):
    """Packed files of every kind are read as what they hold."""
    (tmp_path / "lines.gz").write_bytes(gzip.compress(ROWS.encode()))
    (tmp_path / "results.json.gz").write_bytes(gzip.compress(b"[]"))
    assert 2 == len(read_detections(tmp_path / "lines.gz"))
    assert 0 == len(read_detections(tmp_path / "results.json.gz"))


@pytest.mark.parametrize("cut", [3, 12, -1])
def test_damaged_gzip_is_refused(tmp_path, cut):
    """Packed data that end too early are named, and nothing is read from them."""
    (tmp_path / "lines.gz").write_bytes(gzip.compress(ROWS.encode() * 99)[:cut])
    with pytest.raises(InputError, match="lines.gz is not complete gzip data"):
        read_bytes(tmp_path / "lines.gz")


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", b"1,2\n", b"\xff\xfe1\x00", b"\xff,\xfe\n", b"hello world\n"]
)
def test_other_content_stays(content):
    """Nothing but comments and the header of these columns is taken out."""
    assert content == plain_file(Path("x"), content, NAMES)
