# SPDX-License-Identifier: Apache-2.0
"""Posts and files have one grammar: the same rows, or the same sentence."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import InputError, Refusal
from referee.formats import coco_results, detection_lines
from referee.formats.answers import parse_csv, parse_json
from referee.formats.detections_file import read_detections
from referee.formats.fast_reading import read_rows

GOOD = b"7 12 0.5 1 2 30 40"
BOM = b"\xef\xbb\xbf"

# Each of these stands once as image id, once as class id and once as coordinate.
CELLS = [
    *("", "0", "-0", "+7", "-7", "007", "7.0", "7.", "7.00", ".5", "5.", "1.5", "1e2", "1E2"),
    *("1e-05", "1e", "e5", "0x10", "0b1", "0o7", "1_0", "_1", "1__0", "--1", "+-1", "1-", "1+1"),
    *("nan", "NaN", "-nan", "inf", "-Infinity", "infinit", "1e400", "-1e400", "1e30", "9" * 18),
    *("9" * 19, "9" * 20, str(2**63), str(2**63 - 1), str(-(2**63)), "9" * 5000, "0" * 5000 + "7"),
    *("7.jpg", "7.JPEG", "007.jpg", "7.0.jpg", "7.png", "x.jpg", ".jpg", "a/7.jpg", "١", "７"),
    *("²", "½", "−7", "1,5", "'7'", '"7"', "7;", "7#", "null", "true", "\x00", "7\x00", "\x0b7"),
    *(
        "7\x0c",
        "\x1f7",
        "7\x7f",
        "\x1b[31m7",
        "7\u00a0",
        "\u20287",
        "\u200b7",
        "7\ufeff",
        "\\7",
        "%37",
    ),
]
# What a file may have and a post may not.
FILES_ONLY = (
    b"image_id,class_id,confidence\n" + GOOD,
    b"# comment\n" + GOOD,
    GOOD + b" # comment",
)
LINES = [
    *(b"", b"\n", b" ", b"\t\t", b"\r\n\r\n", b"\r", b"\x0c", b"\x00", b",", b",,,,,,", BOM),
    *(GOOD, GOOD + b"\n", b"\n\n" + GOOD, GOOD + b"\r\n" + GOOD, GOOD + b"\r" + GOOD + b"\r"),
    *(GOOD + b"\n\r" + GOOD, GOOD + b"\x0b" + GOOD, GOOD + b"\x0c" + GOOD, GOOD + b"\x1e" + GOOD),
    *(GOOD + "\u2028".encode() + GOOD, GOOD + b"\x85" + GOOD, BOM + GOOD, BOM + BOM + GOOD),
    *(GOOD + b"\n" + BOM + GOOD, BOM + b"\n" + GOOD, GOOD + b"\n" + GOOD[:11], GOOD[:11]),
    *(b"7,12,,1,2,30,40", b"1,,58", b"7,12,0.5,1,2,30,40,", b",7,12,0.5,1,2,30,40"),
    *(b"7,12,,0.5,1,2,30,40", b"7, 12 ,0.5\t,\t1, 2,30 ,40", b"7 12,0.5 1,2 30,40"),
    *(b" 7 12 0.5 1 2 30 40 ", b"\t7\t12\t0.5\t1\t2\t30\t40\t", b"7  12   0.5 1 2 30 40"),
    *(b"7,12,0.5,1,2,30 40", b"7;12;0.5;1;2;30;40", b"7|12|0.5|1|2|30|40", b"7,12,0,5,1,2,30,40"),
    *(b"7 12 1 2 30 40", b"7 12 1 2 30 40\n" + GOOD, GOOD + b"\n7 12 1 2 30 40", b"7 12 1 2 30"),
    *(GOOD + b" 9", GOOD + b"\n" + GOOD + b" 9", *FILES_ONLY),
    *(b"\xff\xfe7\x00 \x001\x00", b"\xfe\xff\x007"),
    *(b"\xff" + GOOD, GOOD + b"\xff", b"7 12 0.5 \xd9\xa1 2 30 40", b"x" * 9 + b" " + GOOD),
    *(b"\n".join([GOOD, b"x" + GOOD] * 30), b"\n".join([b"1 2 3"] * 30), b"-", b"hello world"),
]
RESULT = {"image_id": 7, "category_id": 12, "bbox": [1, 2, 30, 39], "score": 0.5}
VALUES = [
    *("7", "-7", "7.0", "7.5", "1e2", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "null"),
    *("true", "false", '"7"', '""', "[]", "[7]", "{}", '{"a": 1}', str(2**63), str(2**70), "0x7"),
    *(
        "007",
        "+7",
        ".5",
        "5.",
        "1_0",
        "nan",
        "'7'",
        "9" * 5000,
        str(10**400),
        "[1,2,3]",
        "-0",
        "1e30",
    ),
    *("[1,2,3,4]", '[1,2,3,"4"]', "[1,2,3,null]", "[1,2,3,4,5]", "[NaN,1e400,-1e400,1e-400]"),
]
JSONS = [
    *(
        b"[]",
        b"[ ]",
        b" \n[]\n",
        BOM + b"[]",
        b"[",
        b"[1]",
        b"[null]",
        b"[[]]",
        b"[{}]",
        b"[{},{}]",
    ),
    *(b"[]]", b"[,]", b"[{}", b"{}", b'{"annotations": []}', b"[\x00]", b"[]\x00", b'["\x01"]'),
    *(b'[{"image_id": 7,}]', b"[" * 100_000, b"[\xff]", b"[// comment\n]", b"[]" + BOM),
    *(json.dumps([RESULT] * 2).encode("utf-16"), json.dumps([RESULT]).encode("utf-8-sig")),
    json.dumps([RESULT, RESULT | {"extra": "\x00"}]).encode(),
    b'[{"image_id": 1, "image_id": 7, "category_id": 12, "bbox": [1,2,30,39]}]',
    json.dumps([RESULT, {k: v for k, v in RESULT.items() if k != "score"}]).encode(),
]


def odd_lines():
    """Yield bodies of lines: each odd body, and the good row with each odd cell in each place."""
    yield from LINES
    for cell, place in itertools.product(CELLS, (0, 1, 4)):
        row = GOOD.split()
        row[place] = cell.encode()
        yield b",".join(row)
        if cell:
            yield GOOD + b"\n" + b" ".join(row) + b"\n"


def odd_json():
    """Yield bodies of JSON: each odd body, and a good object with each odd value in each place."""
    yield from JSONS
    for value, field in itertools.product(VALUES, RESULT):
        fields = {name: json.dumps(good) for name, good in RESULT.items()} | {field: value}
        body = ",".join(f'"{name}": {text}' for name, text in fields.items())
        yield f"[{{{body}}}]".encode()


def rows(detections):
    """Return every bit of the rows, so that NaN equals itself."""
    columns = (detections.image_id, detections.class_id, detections.confidence, detections.box)
    return [np.ascontiguousarray(column).tobytes() for column in columns]


def posted(parse, body):
    """Return the rows of a post, or its refusal."""
    try:
        return rows(parse(body))
    except Refusal as refusal:
        return str(refusal).removeprefix("Nothing was stored: ").removesuffix(".")


def from_file(path, body):
    """Return the rows of a file, or its refusal."""
    path.write_bytes(body)
    try:
        return rows(read_detections(path))
    except InputError as error:
        return str(error).removeprefix(f"{path}, ")


def test_there_are_hundreds_of_odd_inputs():
    """The lists hold good and bad inputs, at least two hundred together."""
    outcomes = [posted(parse_csv, body) for body in odd_lines()]
    outcomes += [posted(parse_json, body) for body in odd_json()]
    assert len(outcomes) > 200
    assert 50 < sum(isinstance(outcome, str) for outcome in outcomes) < len(outcomes) - 50


@pytest.mark.slow
@pytest.mark.parametrize("least_bytes", [0, 2**14])
def test_lines_are_the_same_posted_and_in_a_file(tmp_path, monkeypatch, least_bytes):
    """Each odd body gives the same in a post and in a file, but for comments and headers."""
    monkeypatch.setattr(detection_lines, "_FEW", least_bytes)
    for body in odd_lines():
        same = posted(parse_csv, body) == from_file(tmp_path / "lines.txt", body)
        assert same == (body not in FILES_ONLY), body


def test_arrays_change_nothing(monkeypatch):
    """Each odd body of lines gives the same result as whole arrays and cell by cell."""
    cell_by_cell = [posted(parse_csv, body) for body in odd_lines()]
    monkeypatch.setattr(detection_lines, "_FEW", 0)
    assert cell_by_cell == [posted(parse_csv, body) for body in odd_lines()]


def test_json_is_the_same_posted_and_in_a_file(tmp_path):
    """Each odd body of JSON gives the same rows or sentence in a post and in a file."""
    for body in odd_json():
        assert posted(parse_json, body) == from_file(tmp_path / "results.json", body), body


def test_types_change_nothing(monkeypatch):
    """Each odd body of JSON gives the same decoded by its types and object by object."""
    by_types = [posted(parse_json, body) for body in odd_json()]
    monkeypatch.setattr(coco_results, "_read_piece", lambda piece, room: None)
    assert by_types == [posted(parse_json, body) for body in odd_json()]


ANY_NUMBER = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(2**70), 2**70).map(str),
    st.decimals(-(10**9), 10**9, places=12).map(str),
    st.sampled_from(["-0", "-0.0", "1e23", "5e-324", "1E+5", "0.1e-7", "9007199254740993.0"]),
)


@given(st.lists(st.lists(ANY_NUMBER, min_size=5, max_size=5), min_size=1, max_size=3))
def test_numbers_decoded_by_types_have_the_same_bits(entries):
    """A number of JSON has the bits that Python's own decoder gives."""
    body = ",".join(
        f'{{"image_id": 1, "category_id": 2, "bbox": [{",".join(row[:4])}], "score": {row[4]}}}'
        for row in entries
    )
    body = f"[{body}]".encode()
    rows = read_rows(coco_results._pieces(body))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coco_results, "_read_piece", lambda piece, room: None)
        expected = coco_results.parse_results(body)
    assert rows is not None
    assert expected.box.tobytes() == rows[3].tobytes()
    assert expected.score.tobytes() == rows[2].tobytes()


def test_no_sentence_holds_a_control_character():
    """No sentence holds a control character, so it fits a header and a terminal."""
    outcomes = [posted(parse_csv, body) for body in odd_lines()]
    outcomes += [posted(parse_json, body) for body in odd_json()]
    sentences = [outcome for outcome in outcomes if isinstance(outcome, str)]
    assert [] == [sentence for sentence in sentences if not sentence.isprintable()]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"1,,58", "line 1 has 3 fields, not 7: give image_id,class_id,confidence,xmin,"),
        (b"7,12,,1,2,30,40", "line 1, confidence: '' is not a number"),
        (b"7,12,0.5,1,2,30,40,", "line 1 has 8 fields, not 7"),
        (b"7 12 0.5 1_0 2 30 40", "line 1, xmin: '1_0' is not a number"),
        (b"\xff\xfe7\x00", "the text is in UTF-16: save it as UTF-8"),
        (b"7\x00 12 0.5 1 2 30 40", r"line 1, image_id: '7\x00' is not a whole number"),
    ],
)
def test_sentences(body, sentence):
    """A refusal names the fault with its line and field."""
    assert posted(parse_csv, body).startswith(sentence)


@pytest.mark.parametrize(
    ("cell", "image_id"),
    [("7.jpg", 7), ("007", 7), ("7.0", 7), ("1e2", 100), ("9" * 18, 10**18 - 1)]
    + [(str(2**63 - 1), 2**63 - 1), (str(2**63), -1), ("9" * 5000, -1), ("1e30", -1)],
)
def test_image_ids(cell, image_id):
    """A number or a file's name names an image; a number beyond 64 bits names none."""
    assert [image_id] == parse_csv(f"{cell} 1 1 1 1 1 1".encode()).image_id.tolist()
